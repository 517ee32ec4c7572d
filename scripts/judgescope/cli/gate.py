"""The command `judgescope gate`: is the judge still the one of its passport?

Three answers: the judge moved (new draws of its anchors), the systems moved (their
corrected means, while the judge did not), or it cannot be told.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import date
from enum import IntEnum
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import to_builtins

from judgescope import __version__
from judgescope.cli.anchors import AnchoredJudge
from judgescope.cli.context import agrees, check_output, plan_of_study
from judgescope.cli.gate_floors import Floor, FloorResult, floors_of, read_floors
from judgescope.cli.passport import (
    Look,
    Passport,
    PassportNumber,
    known,
    numbers,
    or_none,
    read,
    write,
)
from judgescope.cli.terminal import plural
from judgescope.core.errors import UserError
from judgescope.plan.access import admit
from judgescope.plan.study import Plan
from judgescope.statistics.gate import drift, level_of_look
from judgescope.statistics.intervals import holm, t_quantile
from judgescope.statistics.verdict import Outcome


class GateStatus(IntEnum):
    """Exit codes, as those of `audit`; BROKEN: the input cannot be used."""

    SAME = 0
    MOVED = 1
    CANNOT_TELL = 2
    BROKEN = 3


WORDS: Final = {
    GateStatus.SAME: "nothing moved",
    GateStatus.MOVED: "moved",
    GateStatus.CANNOT_TELL: "cannot tell",
}


@dataclass(frozen=True)
class MovedSystem:
    """A corrected mean then and now, and p of no change after Holm."""

    then: PassportNumber
    now: PassportNumber
    p_holm: float


@dataclass(frozen=True)
class GateFindings:
    """What the gate says: an exit code, its sentence, and what it rests on."""

    status: GateStatus
    sentence: str
    passport: Passport
    systems: list[MovedSystem]
    asked: int
    floors: Sequence[FloorResult] = ()

    @property
    def answer(self) -> str:
        """The answer in two words or three."""
        if any(each.outcome is Outcome.MISSES for each in self.floors):
            return "below a floor"
        return WORDS[self.status]

    @property
    def last(self) -> Look | None:
        """Return the last look, None before the first."""
        if self.passport.looks:
            return self.passport.looks[-1]
        return None


def gate(args: argparse.Namespace) -> int:
    """Print what has moved since the passport; with --fresh after one new draw of each
    anchor. Return the exit code.
    """
    args.failed = GateStatus.BROKEN
    if args.markdown is not None:
        check_output(args.markdown, [args.markdown.suffix.lower()])
    made = read(args.passport)
    plan = plan_of_study(args.study)
    anchored = AnchoredJudge(plan, made.dataset, made.judge, made.aspect)
    check(made, anchored, args.passport)
    floors = floors_of(made, anchored, read_floors(args.require), args.slice)
    asked = 0
    if args.fresh and not _has_ended(made):
        with redirect_stdout(sys.stderr):  # an object stands alone on standard output
            asked = _look(made, anchored, args.passport)
        write(made, args.passport)
    now = []
    if _has_tables(plan):
        now = [*numbers(args.study, made.judge)]
    findings = gate_findings(made, now, asked, date.today())
    findings = with_floors(findings, floors)
    if args.json:
        print(json.dumps(as_json(findings), indent=1))
    else:
        print("\n".join(lines(findings)))
    if args.markdown is not None:
        with args.markdown.open("a", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(markdown(findings)) + "\n")
    return findings.status


def _has_tables(plan: Plan) -> bool:
    return any(Path(plan.results, "tables").glob("*.parquet"))


def check(made: Passport, anchored: AnchoredJudge, path: Path) -> None:
    """Raise UserError where the passport is not of this study, judge, texts and
    version, before anything is asked.
    """
    study = anchored.plan.study.study
    if made.study != study:
        raise UserError(
            "the passport is of another study",
            where=f"{path}, key study",
            got=made.study,
            allowed=study,
            todo="name the study of the passport, or make a passport of this one",
        )
    if made.version != __version__:
        raise UserError(
            "the passport is of another version, whose parsers may read otherwise",
            where=f"{path}, key version",
            got=made.version,
            allowed=__version__,
            todo="make a new passport with this version",
        )
    anchored.check()
    present = json.loads(json.dumps(anchored.identity))
    changed = [key for key in present if present[key] != made.identity.get(key)]
    if changed:
        raise UserError(
            "the judge of the study is another one than that of the passport",
            where=f"judge {made.judge}",
            got=f"changed: {', '.join(changed)}",
            todo="make a passport of the new judge, or restore the old cards",
        )
    lost = []
    for anchor in made.anchors:
        if anchored.texts.get(anchor.target) != anchor.text:
            lost.append(anchor.target)
    if lost:
        raise UserError(
            "anchors of the passport are gone or have other texts",
            where=f"dataset {made.dataset}",
            got=f"{len(lost)} of {len(made.anchors)}, first {lost[0]}",
            todo="restore the texts; anchors do not change",
        )


def _has_ended(made: Passport) -> bool:
    """Whether a further look could change nothing: an alarm stays, and so does an
    expiry.
    """
    alarmed = any(look.alarm for look in made.looks)
    return alarmed or date.today().isoformat() > made.expires


def _look(made: Passport, anchored: AnchoredJudge, path: Path) -> int:
    """Ask one new draw of each anchor, test it, and add the look to the passport.

    Return how many replies were requested.
    """
    look = len(made.looks) + 1
    if made.horizon is not None and look > made.horizon:
        raise UserError(
            "the declared number of looks is used up",
            where="the passport, key horizon",
            got=look,
            allowed=f"1 to {made.horizon}",
            todo="make a new passport",
        )
    level = level_of_look(look, made.horizon)
    draw = made.first_draw + len(made.looks)
    _check_unasked(made, anchored, path, draw)
    plan = anchored.plan
    admit(plan, agrees, [plan.judges[made.judge].model])
    print(f"look {look}: one draw of each of {len(made.anchors)} anchors")
    if made.under_way != draw:
        made.under_way = draw
        write(made, path)
    verdicts, asked = anchored.asked(made.targets, draw + 1)
    new = verdicts[:, -1]
    findings = drift(made.baseline, new, made.people, level)
    p_right, before, now = or_none(
        np.array([findings.p_right, findings.right_before, findings.right_now])
    )
    made.looks.append(
        Look(
            on=date.today().isoformat(),
            draws=or_none(new),
            p_right=p_right,
            p_change=findings.p_change,
            right_before=before,
            right_now=now,
            level=level,
            alarm=findings.alarm,
        )
    )
    made.under_way = None
    return asked


def _check_unasked(
    made: Passport, anchored: AnchoredJudge, path: Path, draw: int
) -> None:
    """Raise UserError where the store lacks draws of the baseline, which a look would
    ask and pay again, or has the draw of a look that did not begin.
    """
    lacking = anchored.missing(made.targets, draw)
    if lacking:
        raise UserError(
            "the store lacks replies of the passport's baseline: a look would ask them "
            "again",
            where=f"store {anchored.plan.study.store}, judge {made.judge}",
            got=f"{lacking:,} of {len(made.targets) * draw:,} replies are missing",
            todo="name the store that has them in the study's key store, or run the "
            "study and make a new passport",
        )
    if made.under_way == draw:
        return
    last = anchored.last_draw(made.targets)
    if last >= draw:
        raise UserError(
            "the draw of this look is in the store already, so it is no new one",
            where=f"{path}, look {len(made.looks) + 1}",
            got=f"the store has draws up to {last + 1}",
            allowed=f"draws up to {draw}",
            todo="use the passport that the last look changed; if it is lost, or a "
            "study asked more draws, make a new passport",
        )


# --- what it says ---------------------------------------------------------------------


def gate_findings(
    made: Passport, now: list[PassportNumber], asked: int, today: date
) -> GateFindings:
    """Return the answer of a passport's looks and the numbers of today."""
    systems = moved_systems(made.numbers, now, made.aspect)
    # Each look compares the systems once, so they share the looks' levels.
    level = level_of_look(max(1, len(made.looks)), made.horizon)
    moved = [each for each in systems if each.p_holm <= level]
    alarms = [look for look in made.looks if look.alarm]

    def answer(status: GateStatus, sentence: str) -> GateFindings:
        return GateFindings(status, sentence, made, systems, asked)

    if alarms:
        also = " Its systems' means cannot be compared." if moved else ""
        return answer(
            GateStatus.MOVED, f"The judge moved: look of {alarms[0].on}.{also}"
        )
    if today.isoformat() > made.expires:
        return answer(
            GateStatus.CANNOT_TELL, f"Cannot tell: the passport expired {made.expires}."
        )
    if not made.looks:
        return answer(
            GateStatus.CANNOT_TELL,
            "Cannot tell: no new draw of the anchors was asked; --fresh asks "
            f"{len(made.anchors)}.",
        )
    last = made.looks[-1].on
    if moved:
        names = ", ".join(each.now.system or "all texts" for each in moved)
        return answer(
            GateStatus.MOVED,
            f"The systems moved: {names}. No look at the judge alarmed, the last of "
            f"{last}.",
        )
    return answer(
        GateStatus.SAME,
        "Neither judge nor systems are shown to have moved: "
        f"{plural(len(made.looks), 'look')} without an alarm, the last of {last}.",
    )


def with_floors(findings: GateFindings, floors: Sequence[Floor]) -> GateFindings:
    """The findings with what the last look says of floors; without a look nothing.

    A floor that is missed is exit code 1, one that is open 2, if nothing moved.
    """
    last = findings.last
    if last is None or not floors:
        return findings
    results = [each.outcome(last.draws, findings.passport) for each in floors]
    outcomes = [each.outcome for each in results]
    status = findings.status
    sentence = findings.sentence
    if Outcome.MISSES in outcomes:
        status = GateStatus.MOVED
        below = [each.floor.part for each in results if each.outcome is Outcome.MISSES]
        sentence = f"Below the floor on {', '.join(dict.fromkeys(below))}. {sentence}"
    elif Outcome.CANNOT_TELL in outcomes and status == GateStatus.SAME:
        status = GateStatus.CANNOT_TELL
        sentence = f"Cannot tell whether every floor is met. {sentence}"
    return replace(findings, status=status, sentence=sentence, floors=results)


def moved_systems(
    then: list[PassportNumber], now: list[PassportNumber], aspect: str
) -> list[MovedSystem]:
    """Return each corrected mean with an interval then and now, with p of no change.

    aspect: the one of the passport; on others the judge was not looked at. t = Δ /
    √(se² + se²), se from the intervals, with the degrees of freedom of Welch 1947; Holm
    over all of them. Equal numbers of equal texts have p 1.
    """
    before = {_place(number): number for number in then}
    pairs = []
    for number in now:
        old = before.get(_place(number))
        if number.statistic != "corrected_mean" or old is None:
            continue
        if number.aspect != aspect:
            continue
        if None not in (old.ci_low, old.ci_high, number.ci_low, number.ci_high):
            pairs.append((old, number))
    p = [_p_of_change(old, new) for old, new in pairs]
    adjusted = holm(p).tolist()
    return [
        MovedSystem(old, new, p_holm)
        for (old, new), p_holm in zip(pairs, adjusted, strict=True)
    ]


def _place(number: PassportNumber) -> tuple[str, ...]:
    names = number.dataset, number.aspect, number.statistic
    return (*names, number.level, number.system)


def _p_of_change(old: PassportNumber, new: PassportNumber) -> float:
    from scipy.special import stdtr  # here: parsing a command line loads no scipy

    variances = [_error(number) ** 2 for number in (old, new)]
    variance = sum(variances)
    gap = abs(new.value - old.value)
    if variance == 0:
        return 1.0 if gap == 0 else 0.0
    shares = []
    for part, number in zip(variances, (old, new), strict=True):
        shares.append(part**2 / max(1, number.n - 1))
    return float(2 * stdtr(variance**2 / sum(shares), -gap / variance**0.5))


def _error(number: PassportNumber) -> float:
    low = number.value if number.ci_low is None else number.ci_low
    high = number.value if number.ci_high is None else number.ci_high
    # An end may be cut at the end of the scale: the longer side is whole.
    half = max(high - number.value, number.value - low)
    return half / t_quantile(max(1, number.n - 1))


def lines(findings: GateFindings) -> Iterator[str]:
    """Yield the answer, the looks and the means for a terminal."""
    made = findings.passport
    yield findings.sentence
    yield (
        f"{made.judge}, {made.dataset}, {made.aspect}; passport of {made.made}, "
        f"expires {made.expires}; {len(made.anchors)} anchors; requested now: "
        f"{findings.asked}"
    )
    last = findings.last
    if last is not None:
        yield f"last look {last.on}: {_of_look(last)}"
    yield from (each.words for each in findings.floors)
    for each in findings.systems:
        yield (
            f"{each.now.dataset}, {each.now.system or 'all texts'}: corrected mean "
            f"{_written(each.then)}, now {_written(each.now)} (Holm p "
            f"{each.p_holm:.2g})"
        )


def _of_look(look: Look) -> str:
    right = ""
    if look.right_before is not None and look.right_now is not None:
        right = f"right {look.right_before:.3f}, now {look.right_now:.3f}; "
    p_right = ""
    if look.p_right is not None:
        p_right = f"p {look.p_right:.2g} (fewer right), "
    return (
        f"{right}{p_right}p {look.p_change:.2g} (other verdicts), alarm at "
        f"{look.level / 2:.2g}"
    )


def _written(number: PassportNumber) -> str:
    return f"{number.value:.2f} [{number.ci_low:.2f}, {number.ci_high:.2f}]"


def markdown(findings: GateFindings) -> Iterator[str]:
    """Yield the answer as Markdown, for a summary of CI."""
    first, *more = lines(findings)
    yield f"## Gate: {findings.answer}"
    yield ""
    yield first
    yield ""
    for line in more:
        yield f"* {line}".replace("|", "\\|")


def as_json(findings: GateFindings) -> dict[str, object]:
    """Return the answer as an object; baseline and draws stay in the passport."""
    last = findings.last
    return {
        "schema": "judgescope.gate/1",
        "answer": findings.answer,
        "exit_code": int(findings.status),
        "sentence": findings.sentence,
        "judge": findings.passport.judge,
        "dataset": findings.passport.dataset,
        "aspect": findings.passport.aspect,
        "expires": findings.passport.expires,
        "anchors": len(findings.passport.anchors),
        "requested": findings.asked,
        "unread": int(np.isnan(known(last.draws)).sum()) if last else 0,
        "looks": [
            {key: value for key, value in to_builtins(look).items() if key != "draws"}
            for look in findings.passport.looks
        ],
        "floors": [
            {
                "part": each.floor.part,
                "statistic": each.floor.statistic,
                "least": each.floor.least,
                "outcome": each.outcome.value,
                "value": each.share.value,
                "ci_low": each.share.ci_low,
                "ci_high": each.share.ci_high,
                "n": each.share.n,
                "n_missing": each.share.n_missing,
            }
            for each in findings.floors
        ],
        "systems": [
            {
                "dataset": each.now.dataset,
                "aspect": each.now.aspect,
                "system": each.now.system,
                "then": to_builtins(each.then),
                "now": to_builtins(each.now),
                "p_holm": each.p_holm,
            }
            for each in findings.systems
        ],
    }
