"""The command `judgescope passport`: what a judge was when it was tested, in one file.

The file has the judge's identity, its anchors with the verdicts of its baseline, its
numbers, and the looks that `judgescope gate` took since.
"""

import argparse
from collections.abc import Iterator
from datetime import date, timedelta
from math import isclose
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct, ValidationError, field
from msgspec.json import decode, encode
from msgspec.json import format as indented

from judgescope import __version__
from judgescope.cli.anchors import AnchoredJudge, AnchorIdentity
from judgescope.cli.context import check_input, check_output, plan_of_study
from judgescope.cli.show import rows_of, tables_of
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write
from judgescope.schema.cards.engines import ENGINES
from judgescope.statistics.arrays import Floats
from judgescope.statistics.gate import (
    FEWEST_ANCHORS,
    FEWEST_DRAWS,
    drift,
    level_of_look,
    power_of_fall,
    repeated_share,
)

SCHEMA: Final = "judgescope.passport/1"
WRITE_PASSPORT: Final = "write one: judgescope passport STUDY --judge JUDGE -o FILE"


class PassportNumber(Struct, kw_only=True):
    """A number of the judge with its interval, and where it stands."""

    table: str
    dataset: str
    aspect: str
    statistic: str
    level: str
    system: str = ""
    value: float
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0


class Anchor(Struct, kw_only=True):
    """A frozen text: its id, a hash of it, people's verdict, and the baseline's.

    None: not known, or not read.
    """

    target: str
    text: str
    people: float | None
    draws: list[float | None]


class Look(Struct, kw_only=True):
    """One look at the anchors: when, with what verdicts, and what it said."""

    on: str
    draws: list[float | None]
    p_right: float | None
    p_change: float
    right_before: float | None
    right_now: float | None
    level: float
    alarm: bool


class Passport(Struct, kw_only=True):
    """A judge as it was tested."""

    schema: str = SCHEMA
    version: str
    study: str
    judge: str
    dataset: str
    aspect: str
    identity: AnchorIdentity
    made: str
    expires: str
    horizon: int | None
    first_draw: int
    """The draw that the first look asks, from 0: the store had none from it on."""
    under_way: int | None = None
    """The draw that a look began to ask; None: the last look was finished."""
    anchors: list[Anchor]
    numbers: list[PassportNumber] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    @property
    def targets(self) -> list[str]:
        """Return the anchors' ids."""
        return [anchor.target for anchor in self.anchors]

    @property
    def people(self) -> Floats:
        """Return people's verdicts, (anchors,), NaN where there is none."""
        return known([anchor.people for anchor in self.anchors])

    @property
    def baseline(self) -> Floats:
        """Return the verdicts of the baseline, (anchors, draws), NaN = unread."""
        return np.array([known(anchor.draws) for anchor in self.anchors])


def known(values: list[float | None]) -> Floats:
    """Return numbers with NaN for None."""
    return np.array([np.nan if v is None else v for v in values], np.float64)


def or_none(values: Floats) -> list[float | None]:
    """Return numbers with None for NaN."""
    return [None if np.isnan(value) else float(value) for value in values]


def passport(args: argparse.Namespace) -> int:
    """Write the passport of a judge, from the replies that the study has."""
    check_output(
        args.output, [".json"], todo="choose another name: it may have later looks"
    )
    if args.horizon is not None and args.horizon < 1:
        raise UserError(
            "the number of looks must be 1 or more", where="--looks", got=args.horizon
        )
    if args.days < 1:
        raise UserError(
            "a passport must hold for a day or more", where="--days", got=args.days
        )
    plan = plan_of_study(args.study)
    dataset = args.dataset or _only(list(plan.datasets), "--dataset")
    aspect = args.aspect or _only(
        list(plan.aspects_of(dataset)) if dataset in plan.datasets else [], "--aspect"
    )
    anchored = AnchoredJudge(plan, dataset, args.judge, aspect)
    anchored.check()
    made = _made(anchored, args)
    write(made, args.output)
    print("\n".join(_lines(made, args)))
    return 0


def _only(names: list[str], option: str) -> str:
    if len(names) != 1:
        raise UserError(
            "the study has several: name one", where=option, got=None, allowed=names
        )
    return names[0]


def _sampled_draws(anchored: AnchoredJudge) -> int:
    """The number of draws of each text; UserError where they are too few or alike."""
    plan = anchored.plan
    card = plan.judges[anchored.judge]
    if ENGINES[plan.models[card.model].engine].decides:
        raise UserError(
            "a passport needs sampled draws, and a decision is the same in every draw",
            where=f"judge {anchored.judge}, key model",
            got=card.model,
            allowed="a model that writes text and is sampled",
        )
    if card.draws < FEWEST_DRAWS:
        raise UserError(
            "the baseline has too few draws of each text",
            where=f"judge {anchored.judge}, key draws",
            got=card.draws,
            allowed=f"{FEWEST_DRAWS} or more; 10 find a drift more often",
            todo="raise `draws` in the judge's card, and run the study again",
        )
    return card.draws


def _rated_targets(anchored: AnchoredJudge) -> list[str]:
    """The texts that people rated, sorted by id; UserError for too few."""
    every = sorted(anchored.texts)
    rated = anchored.people(every)
    targets = []
    for name, value in zip(every, rated, strict=True):
        if value == value:
            targets.append(name)
    if len(targets) < FEWEST_ANCHORS:
        raise UserError(
            "too few rated texts for anchors",
            where=f"dataset {anchored.dataset}, aspect {anchored.aspect}",
            got=len(targets),
            allowed=f"{FEWEST_ANCHORS} or more; 200 find a fall of .1",
            todo="have more texts rated, or name another aspect or dataset",
        )
    return targets


def _made(anchored: AnchoredJudge, args: argparse.Namespace) -> Passport:
    """The passport; UserError for too few draws or rated texts, and for scores."""
    count = _sampled_draws(anchored)
    targets = _rated_targets(anchored)
    draws = anchored.draws(targets, count)
    repeated = repeated_share(draws)
    # Share of draws that are their anchor's most frequent verdict: with fewer, neither
    # test of a look can alarm.
    fewest_repeated = 0.5
    if repeated < fewest_repeated:
        raise UserError(
            "the judge's draws seldom repeat: the gate compares verdicts, and these "
            "are scores",
            where=f"judge {anchored.judge}",
            got=f"{repeated:.0%} of the draws are the most frequent of their text",
            allowed=f"{fewest_repeated:.0%} or more",
            todo="use a judge that gives labels or whole ratings",
        )
    people = anchored.people(targets)
    anchors = []
    for at, target in enumerate(targets):
        text = anchored.texts[target]
        verdicts = or_none(draws[at])
        anchors.append(
            Anchor(target=target, text=text, people=float(people[at]), draws=verdicts)
        )
    today = date.today()
    return Passport(
        version=__version__,
        study=anchored.plan.study.study,
        judge=anchored.judge,
        dataset=anchored.dataset,
        aspect=anchored.aspect,
        identity=anchored.identity,
        made=today.isoformat(),
        expires=(today + timedelta(days=args.days)).isoformat(),
        horizon=args.horizon,
        first_draw=anchored.last_draw(targets) + 1,
        anchors=anchors,
        numbers=[*numbers(args.study, anchored.judge)],
    )


def numbers(study: Path, judge: str) -> Iterator[PassportNumber]:
    """Yield the numbers of a judge in the study's tables."""
    tables = tables_of(study)
    # Table -> the statistics whose numbers a passport has.
    statistics_of = {
        "agreement": ("normal_scores", "spearman"),
        "labels": ("balanced_accuracy", "tpr", "tnr"),
        "corrected": ("corrected_mean", "judge_bias"),
    }
    for table, statistics in statistics_of.items():
        if table not in tables:
            continue
        for row in rows_of(tables, table).to_dict("records"):
            wanted = row["judge"] == judge and row["statistic"] in statistics
            if not wanted or _number(row["value"]) is None:
                continue
            yield PassportNumber(
                table=table,
                dataset=row["dataset"],
                aspect=_named(row["aspect"], row.get("criterion")),
                statistic=row["statistic"],
                level=row["level"] or "",
                system=_text(row.get("system_subset")),
                value=float(row["value"]),
                ci_low=_number(row["ci_low"]),
                ci_high=_number(row["ci_high"]),
                n=int(row["n"]),
            )


def _number(value: float | None) -> float | None:
    if value is None or value != value:
        return None
    return float(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return ""


def _named(aspect: str, criterion: object) -> str:
    if _text(criterion):
        return f"{aspect}.{criterion}"
    return aspect


def write(made: Passport, path: Path) -> None:
    """Write a passport, with an indent, or nothing."""
    with atomic_write(path) as part:
        part.write_bytes(indented(encode(made), indent=1) + b"\n")


def read(path: Path) -> Passport:
    """Return a passport; raise UserError for another file."""
    check_input(path)
    try:
        made = decode(path.read_bytes(), type=Passport)
    except (ValidationError, ValueError) as error:
        raise UserError(
            "this file is no passport of a judge",
            where=str(path),
            got=str(error),
            allowed="a file that `judgescope passport` wrote",
            todo=WRITE_PASSPORT,
        ) from None
    if made.schema != SCHEMA:
        raise UserError(
            "this file is of another kind",
            where=f"{path}, key schema",
            got=made.schema,
            allowed=SCHEMA,
            todo=WRITE_PASSPORT,
        )
    _check_dates(made, path)
    _check_anchors(made, path)
    _check_looks(made, path)
    return made


def _check_dates(made: Passport, path: Path) -> None:
    """Raise UserError for a date that is none: dates are compared."""
    dates = {"made": made.made, "expires": made.expires}
    dates |= {f"looks, {n}": look.on for n, look in enumerate(made.looks, 1)}
    for key, written in dates.items():
        try:
            date.fromisoformat(written)
        except ValueError:
            raise UserError(
                "this is no date",
                where=f"{path}, key {key}",
                got=written,
                allowed="a date such as 2026-12-31",
                todo="restore the file that `judgescope passport` wrote",
            ) from None


def _check_anchors(made: Passport, path: Path) -> None:
    """Raise UserError for anchors that no passport has."""
    lengths = {len(anchor.draws) for anchor in made.anchors}
    too_few = len(made.anchors) < FEWEST_ANCHORS or min(lengths) < FEWEST_DRAWS
    if too_few or len(lengths) > 1:
        raise UserError(
            "the anchors are not those of a passport",
            where=f"{path}, key anchors",
            got=f"{len(made.anchors)} anchors with {sorted(lengths)} draws",
            allowed=f"{FEWEST_ANCHORS} anchors or more, all with the same number of "
            f"draws, {FEWEST_DRAWS} or more",
            todo="restore the file that `judgescope passport` wrote",
        )


def _check_looks(made: Passport, path: Path) -> None:
    """Raise UserError for a look that does not follow from its draws."""
    for number, look in enumerate(made.looks, 1):
        where = f"{path}, key looks, {number}"
        allowed = f"{len(made.anchors)} draws, one of each anchor"
        got = f"{len(look.draws)} draws"
        follows = len(look.draws) == len(made.anchors)
        if follows and (made.horizon is None or number <= made.horizon):
            level = level_of_look(number, made.horizon)
            tested = drift(made.baseline, known(look.draws), made.people, level)
            allowed = f"alarm {tested.alarm}, p_change {tested.p_change:.3g}"
            got = f"alarm {look.alarm}, p_change {look.p_change:.3g}"
            same_p = isclose(look.p_change, tested.p_change, rel_tol=1e-6)
            follows = look.alarm == tested.alarm and same_p
        if not follows:
            raise UserError(
                "this look does not follow from its draws: the file was changed",
                where=where,
                got=got,
                allowed=allowed,
                todo="restore the file that `judgescope gate` wrote",
            )


def _lines(made: Passport, args: argparse.Namespace) -> Iterator[str]:
    """Yield what the passport holds and what its anchors can show."""
    count = len(made.anchors[0].draws)
    yield (
        f"{made.judge}, {made.dataset}, {made.aspect}: {len(made.anchors)} anchors, "
        f"{count} draws each, {len(made.numbers)} numbers; expires {made.expires}"
    )
    if not (made.people == 0).any():
        yield (
            "no anchor has people's lowest verdict, so it is not known which fall a "
            "look finds"
        )
    level = level_of_look(1, made.horizon)
    falls = (0.05, 0.1, 0.2)
    for fall in falls:
        power = power_of_fall(made.baseline, made.people, fall, level)
        if power == power:
            yield (
                f"a fall of the true negative rate by {fall:g} is found at a look in "
                f"{power:.0%} of cases".replace("%", " %")
            )
    yield f"written to {args.output}"
