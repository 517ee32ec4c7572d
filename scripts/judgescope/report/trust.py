"""What may be said of every judge: the rows of table `verdicts`, and who is the best of several.

Nothing is decided here but who is above whom: a verdict is made where its statistic is computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from judgescope.methods.claims.base import (
    AGREEMENT,
    BAR,
    CRITERIA,
    DAMAGE,
    GRADED,
    HINTS,
    ORDER,
    PAIRS,
    RATING,
    SEQUENCE,
    SPANS,
    VERDICT,
)
from judgescope.report.headline import Measure, measures
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import LEVELS, label, written
from judgescope.statistics.verdict import Outcome

FIRST = "first"
"""The kind of claim that a judge is above every other: of several judges, not of one."""
PLANNED = "following the planned quality of {}"
RESPECTS = {
    AGREEMENT: "agreeing with people on {}",
    RATING: "finding people's rating on {}",
    ORDER: "ordering texts of one source as people do on {}",
    PAIRS: "choosing the better of two texts by {}",
    GRADED: "finding the rating of graded texts ({})",
    SEQUENCE: "ordering texts in a row by their errors ({})",
    SPANS: "marking the words that people mark as faulty ({})",
    DAMAGE: "noticing {}",
    CRITERIA: "telling damage to an aspect from damage beside it",
    HINTS: "withstanding false hints",
    FIRST: "being above every other judge on {}",
}
"""Kind -> what the claim is about, with a place for its subject where there are several."""
COUNTED = {
    **dict.fromkeys((AGREEMENT, RATING, ORDER, PAIRS, SPANS, FIRST), "aspects"),
    **{DAMAGE: "cases of damage", GRADED: "graded sets", SEQUENCE: "series of texts"},
}
"""What the subjects of a kind are, where their number is told."""
GOOD = {Outcome.BETTER, Outcome.AS_RATER, Outcome.MEETS, Outcome.NOTICED, Outcome.WITHSTANDS}
"""Outcomes that speak for a judge."""


@dataclass(frozen=True)
class Claim:
    """One claim about a judge on a dataset, as table `verdicts` has it.

    `kind` is what it is about, with the `subject` where there are several; `reasons` are codes;
    `row` has the deciding number, `others` what stands beside it, by statistic.
    """

    judge: str
    dataset: str
    kind: str
    respect: str
    subject: str
    outcome: Outcome
    reasons: tuple[str, ...]
    row: Row
    others: dict[str, Row]

    @property
    def family(self) -> str:
        """Return over how many claims Holm's correction was made, "" without."""
        return self.others[VERDICT].method if VERDICT in self.others else ""


def claims(report: Report, judge: Judge) -> list[Claim]:
    """Return all claims about a judge, by dataset, in the order of the methods."""
    return report.once(
        ("claims", judge.id),
        lambda: [claim for dataset in report.datasets for claim in _claims(report, dataset, judge)],
    )


def _claims(report: Report, dataset: Dataset, judge: Judge) -> Iterator[Claim]:
    rows = report.rows("verdicts").where(dataset=dataset.id, judge=judge.id)
    for kind in [*RESPECTS, *(form for form in rows.names("form") if form.startswith(BAR))]:
        for claim in _of_kind(report, dataset, judge, kind, rows.where(form=kind)):
            yield claim
            if kind == AGREEMENT and claim.outcome in GOOD:
                yield from _first(report, dataset, judge, claim)


def _of_kind(
    report: Report, dataset: Dataset, judge: Judge, kind: str, rows: Rows
) -> Iterator[Claim]:
    groups: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        place = (row.judged, row.level, row.cell)
        groups.setdefault(place, {})[row.statistic] = row
    for own in groups.values():
        if VERDICT not in own:
            continue
        verdict = own[VERDICT]
        outcome, reasons = _read(verdict.note)
        numbers = NUMBERS.get(kind, tuple(kind.split()[1:]))  # of a bar: "bar spearman"
        others = {name: row for name, row in own.items() if name not in numbers}
        row = next((own[name] for name in numbers if name in own), verdict)
        yield Claim(
            judge.id,
            dataset.id,
            kind,
            _respect(dataset, kind, own),
            _subject(report, kind, row),
            outcome,
            reasons,
            row,
            others,
        )


NUMBERS = {
    AGREEMENT: ("spearman",),
    **dict.fromkeys((RATING, GRADED), ("kappa_linear",)),
    **dict.fromkeys((ORDER, PAIRS, SEQUENCE), ("half_credit",)),
    SPANS: ("span_f1",),
    DAMAGE: ("D_exact",),
    CRITERIA: ("confusion_auc",),
    HINTS: ("hint_effect",),
}
"""Kind -> the deciding number's statistic; of a bar it stands in the kind."""


def _read(note: str) -> tuple[Outcome, tuple[str, ...]]:
    """Return outcome and reasons of a verdict; of a note that has none, no claim, with the note."""
    outcome, *reasons = note.split("; ")
    if outcome not in {*Outcome}:
        return Outcome.NO_CLAIM, (note,)
    return Outcome(outcome), tuple(reasons)


def _respect(dataset: Dataset, kind: str, own: dict[str, Row]) -> str:
    """Return what a claim is about, with a place for its subject; of a bar, which bar."""
    if kind == AGREEMENT and dataset.planned:
        return PLANNED
    if not kind.startswith(BAR):
        return RESPECTS[kind]
    name = kind.split()[1]
    if BAR not in own:
        return label(name)
    bar, aspect = own[BAR], own[VERDICT].judged
    at = f", {LEVELS[own[VERDICT].level][0]}," if own[VERDICT].level in LEVELS else ""
    of = " on {}" if aspect else ""
    return f"{label(name)}{at} {bar.note} {written(name, bar.value or 0.0)}{of}"


def _subject(report: Report, kind: str, row: Row) -> str:
    """Return what a claim is about among those of its kind."""
    if kind == DAMAGE:
        damage = next(one for one in report.damages if one.cell == row.cell)
        return f"{damage.name} ({damage.degree})" if damage.degree else damage.name
    if kind == GRADED:
        return report.aspect(row.judged)
    if kind == SEQUENCE and row.cell:
        name = report.perturbation(row.perturbation)
        return f"{name}, judged by {report.aspect(row.judged)}"
    return report.aspect(row.judged) if row.judged else ""


def _first(report: Report, dataset: Dataset, judge: Judge, claim: Claim) -> Iterator[Claim]:
    """Yield that a judge is above every other; nothing is said of the others."""
    measure = next(
        (
            one
            for one in measures(report, dataset)
            if one.kind == AGREEMENT and one.aspect == claim.row.judged
        ),
        None,
    )
    if measure is None:
        return
    others = [one for one in report.judges if not one.control and one.id != judge.id]
    known = [one for one in others if _known(measure, report, dataset, one)]
    if known and all(measure.above(report, dataset, judge, one) for one in known):
        yield Claim(
            judge.id,
            dataset.id,
            FIRST,
            RESPECTS[FIRST],
            claim.subject,
            Outcome.BETTER,
            (f"above: {len(known)}",),
            claim.row,
            {},
        )


def _known(measure: Measure, report: Report, dataset: Dataset, judge: Judge) -> bool:
    row = measure.row(report, dataset, judge)
    return row is not None and row.value is not None and not judge.hint
