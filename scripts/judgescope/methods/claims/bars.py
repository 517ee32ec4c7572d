"""Does a judge meet the bars that the study states (`require`)?

A bar is held against the row that the study's tables have: its interval decides, as it is shown.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from judgescope.core.cells import joined
from judgescope.methods.claims.base import BAR, LOST, Claim, Row
from judgescope.methods.claims.lost import NOT_PLANNED, Losses
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.specs import Bar, present
from judgescope.methods.undefined import ends
from judgescope.schema.tables import read_table
from judgescope.statistics.registry import statistic
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import (
    FEW_LOST,
    Outcome,
    more_needed,
    on_bar,
)

NO_INTERVAL: Final = "no_interval"
NOT_COMPUTED: Final = "not_computed"
"""The reason where no table of the study has the statistic for the judge."""
RATED: Final = "systems"
LEVELS: Final = ("", "by_source", "direct", "pooled", "by_system", "global", "local", "traditional")
"""Of a statistic with several levels, the first that a judge has a value at is meant, unless the
bar names one."""
APART: Final = ("judge_b", "aspect_b", "criterion_b", "k", "k_b", "degree")
"""Columns that are empty in rows of one judge as a whole."""
FORMS: Final = ("", "tokens")
"""Of a statistic in several forms (error spans), the first of these."""


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control), bar and aspect."""
    required = present(study.spec.required)
    rows = [row for path in required.parts for row in read_table("results", path).to_pylist()]
    wholes: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["perturbation"] in (None, "", RATED) and not any(row.get(key) for key in APART):
            wholes.setdefault((row["judge"], row["statistic"]), []).append(row)
    for judge, card in study.spec.judges.items():
        if card.engine == "control":
            continue
        for bar in required.bars:
            own = wholes.get((judge, bar.statistic), [])
            yield from _of_judge(study, judge, bar, own)


def _of_judge(study: EvaluationData, judge: str, bar: Bar, rows: list[Row]) -> Iterator[Claim]:
    """Yield the claims of one bar: an aspect that it names, or each that the judge has."""
    chosen: dict[str, Row] = {}
    for row in sorted(rows, key=_preferred):
        if bar.level in (None, row["level"] or "") and bar.aspect in (None, row["aspect"]):
            chosen.setdefault(joined(row["aspect"] or "", row.get("criterion")), row)
    if bar.aspect is None and len(chosen) > 1:
        chosen.pop("average", None)  # a plain bar is for each aspect
    if not chosen:
        nothing = Estimate.undefined("no table of the study has it for this judge")
        where = (judge, BAR, bar.statistic, bar.level or "", bar.aspect or "")
        yield Claim(*where, nothing, {}, outcome=Outcome.NO_CLAIM, reasons=(NOT_COMPUTED,))
    for aspect, row in chosen.items():
        yield Losses.checked(_claim(study, judge, bar, aspect, row))


def _preferred(row: Row) -> tuple[bool, int, int, str]:
    """Order rows: those with a value first, then by level and form, then those of all texts."""
    level = row["level"] or ""
    place = LEVELS.index(level) if level in LEVELS else len(LEVELS)
    form = row.get("form") or ""
    other = FORMS.index(form) if form in FORMS else len(FORMS)
    return row["value"] is None, place, other, row.get("systems") or ""


def _claim(study: EvaluationData, judge: str, bar: Bar, aspect: str, row: Row) -> Claim:
    name, wanted = bar.statistic, bar.bar
    found = Estimate(**{key: row[key] for key in Estimate.__slots__})
    most, counted = statistic(name).less_is_better, statistic(name).complete
    if counted:
        found = replace(found, lo=found.value, hi=found.value)
    outcome = on_bar(found, wanted, at_most=most)
    reasons: tuple[str, ...] = (
        (NO_INTERVAL,) if found.value is not None and found.lo is None else ()
    )
    lost = 0.0 if counted else _lost(study, judge, row["aspect"])
    if lost > FEW_LOST and not _holds(name, found, wanted, lost, outcome, most=most):
        outcome, reasons = Outcome.CANNOT_TELL, (*reasons, LOST)
    sources = int(np.unique(study.systems.given(judge).source).size)
    beside = {"bar": Estimate(wanted, note="at most" if most else "at least")}
    if outcome is Outcome.CANNOT_TELL and (need := more_needed(name, found, wanted, sources)):
        told = Estimate.undefined("more than 10,000", method=need.how)
        beside["more_needed"] = told if need.more is None else Estimate(need.more, method=need.how)
    return Claim(
        *(judge, BAR, name, row["level"] or "", aspect, found, {}),
        lost=lost,
        outcome=outcome,
        reasons=reasons,
        systems=row.get("systems"),
        beside=beside,
    )


def _holds(
    name: str, found: Estimate, bar: float, lost: float, outcome: Outcome, *, most: bool
) -> bool:
    """Return whether a verdict holds with lost judgments at the worst end, where that is known.

    Of a share it is: all of them count against the verdict. Of other statistics it is not.
    """
    if outcome not in {Outcome.MEETS, Outcome.MISSES} or not statistic(name).is_proportion:
        return outcome not in {Outcome.MEETS, Outcome.MISSES}
    assert found.value is not None and found.lo is not None and found.hi is not None
    against = float((outcome is Outcome.MEETS) == most)
    moved = [v * (1 - lost) + against * lost for v in (found.value, found.lo, found.hi)]
    shifted = replace(found, value=moved[0], lo=moved[1], hi=moved[2])
    return on_bar(shifted, bar, at_most=most) is outcome


def _lost(study: EvaluationData, judge: str, aspect: str | None) -> float:
    """Return the share of the judge's planned judgments of rated texts that gave no score."""
    counts = {"ok": 0, "lost": 0}
    for (perturbation, name, of), statuses in ends(study).items():
        if (perturbation, name) != (RATED, judge) or (aspect not in (None, "", "average", of)):
            continue
        for (status, _), n in statuses.items():
            if status != NOT_PLANNED:
                counts["ok" if status == "ok" else "lost"] += n
    asked = sum(counts.values())
    return counts["lost"] / asked if asked else 0.0
