"""What the numbers come to: for every judge, by rules, what it may be trusted for, and why.

A rule looks at rows of the result tables and returns claims: something holds, it fails, or the data
do not decide it. Every claim has the rows that it rests on, so that a reader can check it. Better
than a control means better than every one of them, as `Measure.above` has it.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from metajudge.report.headline import Measure, measures, null_controls, without_width
from metajudge.report.report import Damage, Dataset, Judge, Report
from metajudge.report.rows import Row, Rows
from metajudge.report.words import spoken
from metajudge.statistics.multiple import holm

HOLDS, FAILS, OPEN = "holds", "fails", "open"
FLOORS = {"accuracy_adjacent": 0.5, "accuracy_comparison": 0.5, "confusion_auc": 0.5}
"""What a measure has by chance alone, where that is not 0."""
BASE, LEVEL = 0.05, 0.05
"""The base of the logarithm that D is, and the p-value at which damage counts as noticed."""
AGREEMENT, PLANNED = "agreeing with people on {}", "following the planned quality of {}"
FIRST, DAMAGE = "being better than every other judge on {}", "noticing {}"
APART, RATING = "telling damage to an aspect from damage beside it", "finding people's rating"
ORDER, BUILT = "ordering texts of one source as people do", "finding the rating of graded texts"
PAIRS = "choosing the better of two texts by {}"
ROW, HINTS = "ordering texts in a row by their errors", "withstanding false hints"
KINDS = {
    DAMAGE: "cases of damage",
    AGREEMENT: "aspects",
    PLANNED: "aspects",
    FIRST: "aspects",
    PAIRS: "aspects",
}
"""What the subjects of a respect are, where their number is told."""
NAMED = {
    ("kappa_linear", "direct"): RATING,
    ("accuracy_adjacent", "direct"): ORDER,
    ("kappa_linear", "global"): BUILT,
    ("accuracy_adjacent", "local"): ROW,
    ("accuracy_comparison", "pooled"): PAIRS,
    ("alpha_pair", ""): "agreeing with people as one more rater",
}
"""What a claim is about, by statistic and level."""


@dataclass(frozen=True)
class Claim:
    """One thing that a judge's numbers on one dataset show, do not show, or speak against.

    `respect` is what it is about, with a place for the `subject` where there are several: an
    aspect, a kind of damage. `why` is the rule's reason; `rows` are what it rests on.
    """

    judge: str
    dataset: str
    respect: str
    subject: str
    verdict: str
    why: str
    rows: tuple[Row, ...]


def claims(report: Report, judge: Judge) -> list[Claim]:
    """Return all claims about a judge, by dataset, in the order of the methods."""
    return [claim for dataset in report.datasets for claim in _claims(report, dataset, judge)]


def _claims(report: Report, dataset: Dataset, judge: Judge) -> Iterator[Claim]:
    agreed = PLANNED if dataset.planned else AGREEMENT
    for measure in measures(report, dataset):
        if measure.table == "agreement":
            yield from _beyond(report, dataset, judge, measure, agreed)
            yield from _first(report, dataset, judge, measure)
        elif told := NAMED.get((measure.statistic, measure.level)):
            yield from _beyond(report, dataset, judge, measure, told)
        elif measure.statistic == "confusion_index":
            yield from _apart(report, dataset, judge, measure)
        elif measure.statistic == "sway":
            yield from _swayed(report, dataset, judge, measure)
        elif measure.statistic == "D_avg_exact":
            yield from _noticed(report, dataset, judge)


def _beyond(
    report: Report, dataset: Dataset, judge: Judge, measure: Measure, respect: str
) -> Iterator[Claim]:
    """A measure holds above chance and every control; it fails below chance or a control.

    One that the judge alone lacks is undecided; nothing is said of one that no judge has.
    """
    row = measure.row(report, dataset, judge)
    if row is None:
        return
    subject = report.aspect(measure.aspect) if "{}" in respect else _wording(measure)
    claim = Claim(judge.id, dataset.id, respect, subject, OPEN, "", (row,))
    if row.value is not None:
        verdict, why = _held(report, dataset, judge, measure, row)
        yield replace(claim, verdict=verdict, why=why)
    elif any(_known(measure.row(report, dataset, one)) for one in report.judges if not one.control):
        yield replace(claim, why=spoken(row.note))


def _held(
    report: Report, dataset: Dataset, judge: Judge, measure: Measure, row: Row
) -> tuple[str, str]:
    """Return the verdict on a number that is held against chance and every control, and why."""
    floor = FLOORS.get(measure.statistic, 0.0)
    if row.lo is None or row.hi is None:
        return OPEN, "it has no interval"
    if without_width(row):
        return OPEN, "its interval has no width"
    controls = _controls(report, dataset, measure)
    worse = [one for one in controls if measure.above(report, dataset, one, judge)]
    level = [one for one in controls if not measure.above(report, dataset, judge, one)]
    if row.hi < floor:
        return FAILS, f"the interval lies below {floor:g}"
    if worse:
        return FAILS, f"below control {_ids(worse)}"
    if row.lo <= floor:
        return OPEN, f"the interval holds {floor:g}"
    if level:
        return OPEN, f"not told apart from control {_ids(level)}"
    return HOLDS, "above every control" if controls else f"above {floor:g}; there is no control"


def _wording(measure: Measure) -> str:
    return f"wording {measure.criterion}" if measure.criterion else ""


def _controls(report: Report, dataset: Dataset, measure: Measure) -> list[Judge]:
    """Return the controls that have the measure."""
    return [
        one
        for one in null_controls(report)
        if (row := measure.row(report, dataset, one)) and row.value is not None
    ]


def _first(report: Report, dataset: Dataset, judge: Judge, measure: Measure) -> Iterator[Claim]:
    """A judge is the best where it is above every other; nothing is said of the others."""
    row = measure.row(report, dataset, judge)
    others = [one for one in report.judges if not one.control and one.id != judge.id]
    known = [one for one in others if _known(measure.row(report, dataset, one))]
    if row and known and all(measure.above(report, dataset, judge, one) for one in known):
        aspect = report.aspect(measure.aspect)
        why = f"above each of {len(known)} other judges"
        yield Claim(judge.id, dataset.id, FIRST, aspect, HOLDS, why, (row,))


def _apart(report: Report, dataset: Dataset, judge: Judge, measure: Measure) -> Iterator[Claim]:
    """Aspects are kept apart at an index below 1, with an AUC above a half and every control."""
    index = measure.row(report, dataset, judge)
    larger = replace(measure, statistic="confusion_auc")
    auc = larger.row(report, dataset, judge)
    if index is None or auc is None:
        return
    claim = Claim(judge.id, dataset.id, APART, _wording(measure), OPEN, "", (index, auc))
    if index.value is None and auc.value is None:
        yield replace(claim, why=spoken(index.note))
    elif index.value is None:  # the judge did score: nothing was taken off
        yield replace(claim, verdict=FAILS, why=spoken(index.note))
    elif index.lo is not None and index.lo >= 1:
        why = "it takes off no less for damage that should leave the aspect alone"
        yield replace(claim, verdict=FAILS, why=why)
    else:
        verdict, why = _held(report, dataset, judge, larger, auc)
        if verdict == HOLDS and (index.hi is None or index.hi >= 1):
            verdict, why = OPEN, "the index's interval holds 1"
        yield replace(claim, verdict=verdict, why=f"AUC: {why}" if "index" not in why else why)


def _swayed(report: Report, dataset: Dataset, judge: Judge, measure: Measure) -> Iterator[Claim]:
    """A judge that follows false hints fails; that none was followed proves no steadiness."""
    row = measure.row(report, dataset, judge)
    if row is None or row.value is None:
        return
    claim = Claim(judge.id, dataset.id, HINTS, "", OPEN, "no text was swayed", (row,))
    if row.lo is None:
        yield replace(claim, why="it has no interval")
    elif row.lo > 0:
        yield replace(claim, verdict=FAILS, why="it follows hints that it would not have given")
    elif row.value:
        yield replace(claim, why="the interval holds 0")
    else:
        yield claim


def _noticed(report: Report, dataset: Dataset, judge: Judge) -> Iterator[Claim]:
    """Damage is noticed at p <= 0.05, Holm over all of the dataset, where no control gets there."""
    controls = {one.id: _reached(report, dataset, one) for one in null_controls(report)}
    none = not any(controls.values())
    for cell, (row, reached) in _reached(report, dataset, judge).items():
        damage = next(one for one in report.damages if one.cell == cell)
        subject = f"{damage.name} ({damage.degree})" if damage.degree else damage.name
        claim = Claim(judge.id, dataset.id, DAMAGE, subject, OPEN, "p > 0.05, Holm", (row,))
        too = [name for name, found in controls.items() if cell in found and found[cell][1]]
        against = _raised(report, dataset, judge, damage)
        if row.value is None:
            yield replace(claim, why=spoken(row.note))
        elif reached and too:
            yield replace(claim, why=f"noticed by control {', '.join(too)}, too")
        elif reached:
            why = "there is no control" if none else "no control notices it"
            yield replace(claim, verdict=HOLDS, why=f"p ≤ 0.05, Holm; {why}")
        elif against:
            yield replace(claim, verdict=FAILS, why="it scores the damage higher", rows=against)
        else:
            yield claim


def _reached(report: Report, dataset: Dataset, judge: Judge) -> dict[str, tuple[Row, bool]]:
    """Return each cell's D_exact, and whether its p = 0.05 ** D is significant among all cells."""
    return report.once(
        ("reached", dataset.id, judge.id), lambda: _significant(report, dataset, judge)
    )


def _significant(report: Report, dataset: Dataset, judge: Judge) -> dict[str, tuple[Row, bool]]:
    rows = _of_judge(report, dataset, judge)
    own = {row.cell: row for row in rows.where(statistic="D_exact")}
    cells = [one.cell for one in report.damages if one.cell in own]
    values = [own[cell].value for cell in cells]
    logs = [math.nan if d is None else min(d * math.log(BASE), 0.0) for d in values]
    told = holm(np.array(logs), log=True)
    return {
        cell: (own[cell], bool(p <= math.log(LEVEL))) for cell, p in zip(cells, told, strict=True)
    }


def _of_judge(report: Report, dataset: Dataset, judge: Judge) -> Rows:
    """Return a judge's rows of discernment."""
    table = report.rows("discernment")
    return report.once(
        ("discernment", dataset.id, judge.id),
        lambda: table.where(dataset=dataset.id, judge=judge.id),
    )


def _raised(report: Report, dataset: Dataset, judge: Judge, damage: Damage) -> tuple[Row, ...]:
    """Return the mean drops if scores rise on every aspect, and each interval says so; else ()."""
    rows = _of_judge(report, dataset, judge)
    drops = [
        row
        for aspect in dataset.aspects
        if (row := rows.at(dataset.id, judge.id, "mean_drop", aspect=aspect, cell=damage.cell))
        and row.value is not None
    ]
    risen = [row for row in drops if row.hi is not None and row.hi < 0]
    return tuple(drops) if drops and len(risen) == len(drops) else ()


def _known(row: Row | None) -> bool:
    return row is not None and row.value is not None


def _ids(judges: Iterable[Judge]) -> str:
    return ", ".join(judge.id for judge in judges)
