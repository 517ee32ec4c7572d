"""The command `judgescope passport`: what a judge was when it was tested, in one file.

The file has the judge's identity, its anchors with the verdicts of its baseline, its
numbers, and the looks that `judgescope gate` took since.
"""

import argparse
from collections.abc import Iterator
from datetime import date, timedelta
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
from judgescope.statistics.arrays import Floats
from judgescope.statistics.gate import (
    FEWEST_ANCHORS,
    FEWEST_DRAWS,
    level_of_look,
    power_of_fall,
)

SCHEMA: Final = "judgescope.passport/1"
TABLES: Final = {
    "agreement": ("normal_scores", "spearman"),
    "labels": ("balanced_accuracy", "tpr", "tnr"),
    "corrected": ("corrected_mean", "judge_bias"),
}
"""Table -> the statistics whose numbers a passport has."""
FALLS: Final = (0.05, 0.1, 0.2)


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


def _made(anchored: AnchoredJudge, args: argparse.Namespace) -> Passport:
    """Return the passport; raise UserError for too few draws or rated texts."""
    count = anchored.plan.judges[anchored.judge].draws
    if count < FEWEST_DRAWS:
        raise UserError(
            "the baseline has too few draws of each text",
            where=f"judge {anchored.judge}, key draws",
            got=count,
            allowed=f"{FEWEST_DRAWS} or more; 10 find a drift more often",
            todo="raise `draws` in the judge's card, and run the study again",
        )
    every = sorted(anchored.texts)
    rated = anchored.people(every)
    targets = [name for name, value in zip(every, rated, strict=True) if value == value]
    if len(targets) < FEWEST_ANCHORS:
        raise UserError(
            "too few rated texts for anchors",
            where=f"dataset {anchored.dataset}, aspect {anchored.aspect}",
            got=len(targets),
            allowed=f"{FEWEST_ANCHORS} or more; 200 find a fall of .1",
        )
    draws = anchored.draws(targets, count, fresh=False)
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
        anchors=anchors,
        numbers=[*numbers(args.study, anchored.judge)],
    )


def numbers(study: Path, judge: str) -> Iterator[PassportNumber]:
    """Yield the numbers of a judge in the study's tables."""
    tables = tables_of(study)
    for table, statistics in TABLES.items():
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
    return None if value is None or value != value else float(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _named(aspect: str, criterion: object) -> str:
    return f"{aspect}.{criterion}" if _text(criterion) else aspect


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
            "this file is no passport of a judge", where=str(path), got=str(error)
        ) from None
    if made.schema != SCHEMA:
        raise UserError(
            "this file is of another kind",
            where=f"{path}, key schema",
            got=made.schema,
            allowed=SCHEMA,
        )
    return made


def _lines(made: Passport, args: argparse.Namespace) -> Iterator[str]:
    """Yield what the passport holds and what its anchors can show."""
    count = len(made.anchors[0].draws)
    yield (
        f"{made.judge}, {made.dataset}, {made.aspect}: {len(made.anchors)} anchors, "
        f"{count} draws each, {len(made.numbers)} numbers; expires {made.expires}"
    )
    level = level_of_look(1, made.horizon)
    for fall in FALLS:
        power = power_of_fall(made.baseline, made.people, fall, level)
        if power == power:
            yield (
                f"a fall of the true negative rate by {fall:g} is found at a look in "
                f"{power:.0%} of cases".replace("%", " %")
            )
    yield f"written to {args.output}"
