"""Claims about every judge, as table `verdicts` has them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from judgescope.methods.claims import base
from judgescope.methods.claims.agreement import FOUND as ENOUGH
from judgescope.methods.claims.base import (
    AGREEMENT,
    BAR,
    P_CLAIM,
    PERTURBATION,
    SEQUENCE,
    VERDICT,
)
from judgescope.methods.measures import DECIDES
from judgescope.report.headline import measures
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row
from judgescope.report.words import LEVELS, label, percent, written
from judgescope.statistics.verdict import Outcome, Sign, sign_of

FIRST = "first"
"""The kind of claim that a judge is above every other: of several judges, not of
one."""
PLANNED = "following the planned quality of {}"


class Kind(NamedTuple):
    """A kind of claims: what they are about, with a place for the subject, and what
    decides them.

    `subjects` are what such claims are counted as; `question` is the title of their
    column of the matrix, "" of kinds with several.
    """

    respect: str
    number: str = ""
    subjects: str = "aspects"
    question: str = ""


LABELLED = (
    f"finding at least {percent(ENOUGH)}% of the texts that people label “%s” on {{}}"
)
KINDS = {
    base.AGREEMENT: Kind("agreeing with people on {}"),
    base.LABELS: Kind("giving people's label on {}", "balanced_accuracy"),
    base.CAUGHT: Kind(LABELLED, "tnr", question="Bad texts found"),
    base.PASSED: Kind(LABELLED, "tpr", question="Good texts found"),
    base.RATING: Kind(
        "finding people's rating on {}", "kappa_linear", question="Right rating"
    ),
    base.ORDER: Kind(
        *("ordering texts of one source as people do on {}", "half_credit"),
        question="Order of one source's texts",
    ),
    base.PAIRS: Kind(
        *("choosing the better of two texts by {}", "half_credit"),
        question="Better of two texts",
    ),
    base.GRADED: Kind(
        *(
            "finding the rating of graded texts ({})",
            "kappa_linear",
            "graded sets",
            "Graded texts",
        )
    ),
    base.SEQUENCE: Kind(
        "ordering the texts of a chain by their errors ({})",
        *("half_credit", "chains", "Order in chains of errors"),
    ),
    base.SPANS: Kind(
        "marking the words that people mark as faulty ({})",
        "span_f1",
        question="Error spans",
    ),
    base.PERTURBATION: Kind("noticing {}", "D_exact", "perturbations"),
    base.CRITERIA: Kind(
        *("lowering the perturbed criterion alone", "confusion_auc", "cases"),
        "Criteria distinguished",
    ),
    base.HINTS: Kind(
        "withstanding false hints", "hint_effect", "cases", "False hints withstood"
    ),
    FIRST: Kind("being above every other judge on {}"),
}
GOOD = {
    Outcome.BETTER,
    Outcome.AS_RATER,
    Outcome.MEETS,
    Outcome.NOTICED,
    Outcome.WITHSTANDS,
}
"""Outcomes in favour of a judge."""
FOUND = {base.CAUGHT: 0, base.PASSED: 1}
"""Kind of claim on the texts of one of two labels -> the label's place."""


@dataclass(frozen=True)
class Claim:
    """One claim about a judge on a dataset, as table `verdicts` has it.

    `kind` is what it is about, with the `subject` where there are several; `reasons`
    are codes; `row` has the deciding number, `others` the further numbers, by
    statistic.
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
    def sign(self) -> Sign:
        """What is shown of the claim."""
        return sign_of(self.outcome, self.reasons)

    @property
    def p(self) -> float | None:
        """The p of the claim before Holm's correction; None where none is tested."""
        return self.others[P_CLAIM].value if P_CLAIM in self.others else None

    @property
    def family(self) -> str:
        """Return over how many claims Holm's correction was made, "" without."""
        return self.others[VERDICT].method if VERDICT in self.others else ""


def claims(report: Report, judge: Judge) -> list[Claim]:
    """Return all claims about a judge, by dataset, in the order of the methods."""
    return report.once(
        ("claims", judge.id),
        lambda: [
            claim
            for dataset in report.datasets
            for claim in _claims(report, dataset, judge)
        ],
    )


def _claims(report: Report, dataset: Dataset, judge: Judge) -> Iterator[Claim]:
    rows = report.rows("verdicts", dataset.id).where(judge=judge.id)
    for kind in [
        *KINDS,
        *(form for form in rows.names("form") if form.startswith(BAR)),
    ]:
        groups: dict[tuple[str, ...], dict[str, Row]] = {}
        for row in rows.where(form=kind):
            groups.setdefault((row.judged, row.level, row.cell), {})[row.statistic] = (
                row
            )
        for by_name in groups.values():
            if VERDICT in by_name:
                claim = _claim(report, dataset, judge, kind, by_name)
                yield claim
                if kind == AGREEMENT and claim.outcome in GOOD:
                    yield from _first(report, dataset, judge, claim)


def _claim(
    report: Report, dataset: Dataset, judge: Judge, kind: str, by_name: dict[str, Row]
) -> Claim:
    verdict = by_name[VERDICT]
    outcome, *reasons = verdict.note.split("; ")
    if outcome not in {*Outcome}:  # no claim, for that reason
        outcome, reasons = Outcome.NO_CLAIM, [verdict.note]
    if kind == AGREEMENT:
        number = DECIDES.get(verdict.level, "")
    else:
        number = (
            KINDS[kind].number if kind in KINDS else kind.split()[1]
        )  # "bar spearman"
    row = by_name.get(number, verdict)
    return Claim(
        judge.id,
        dataset.id,
        kind,
        _respect(dataset, kind, by_name),
        _subject(report, kind, row),
        Outcome(outcome),
        (*reasons,),
        row,
        {name: other for name, other in by_name.items() if name != number},
    )


def _respect(dataset: Dataset, kind: str, by_name: dict[str, Row]) -> str:
    """Return the topic of a claim, with a place for its subject; for a bar, which
    bar.
    """
    if kind == AGREEMENT and dataset.planned:
        return PLANNED
    if kind in FOUND:
        verdict = by_name[VERDICT]
        name = dataset.labels_on(verdict.judged)[FOUND[kind]]
        return KINDS[kind].respect % name.replace("{", "{{").replace("}", "}}")
    if not kind.startswith(BAR):
        return KINDS[kind].respect
    name, verdict = kind.split()[1], by_name[VERDICT]
    if (bar := by_name.get(BAR)) is None:
        return label(name)
    level = f" ({LEVELS[verdict.level][0]})" if verdict.level in LEVELS else ""
    subject = " on {}" if verdict.judged else ""
    return (
        f"{label(name)} of {bar.note} {written(name, bar.value or 0.0)}{level}{subject}"
    )


def _subject(report: Report, kind: str, row: Row) -> str:
    """Return the subject of a claim: what distinguishes it from others of its kind."""
    if kind == PERTURBATION:
        found = next(one for one in report.perturbations if one.cell == row.cell)
        return f"{found.name} ({found.degree})" if found.degree else found.name
    if kind == SEQUENCE and row.cell:
        name = report.perturbation(row.perturbation)
        return f"{name}, judged by {report.aspect(row.judged)}"
    return report.aspect(row.judged) if row.judged else ""


def _first(
    report: Report, dataset: Dataset, judge: Judge, claim: Claim
) -> Iterator[Claim]:
    """Yield the claim that a judge is above every other, for that judge alone."""
    if judge.planted:  # nobody chooses among simulated judges
        return
    for measure in measures(report, dataset):
        if measure.kind != AGREEMENT or measure.aspect != claim.row.judged:
            continue
        others = [
            one
            for one in report.judges
            if not (one.control or one.planted or one.hint or one is judge)
        ]
        known = [one for one in others if measure.defined([one])]
        if known and all(measure.above(judge, one) for one in known):
            first = replace(claim, kind=FIRST, respect=KINDS[FIRST].respect, others={})
            yield replace(
                first, outcome=Outcome.BETTER, reasons=(f"above: {len(known)}",)
            )
        return
