"""Claims about every judge, as table `verdicts` has them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from judgescope.methods.claims import base
from judgescope.methods.claims.base import (
    AGREEMENT,
    AS_RATER,
    BAR,
    P_CLAIM,
    PERTURBATION,
    SEQUENCE,
    VERDICT,
)
from judgescope.methods.claims.labels import ENOUGH_FOUND
from judgescope.methods.claims.rows import SIGN
from judgescope.methods.measures import DECIDES
from judgescope.report.headline import measures
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.words import LEVELS, label, percent, written
from judgescope.statistics.raters import UndecidedGap
from judgescope.statistics.verdict import Outcome, Sign, sign_of

FIRST = "first"
"""The kind of claim that a judge is above every other: of several judges, not of
one."""


class ClaimKind(NamedTuple):
    """A kind of claims: what they are about, with a place for the subject, and what
    decides them.

    `subjects` are what such claims are counted as; `question` is the title of their
    column of the matrix, "" of kinds with several.
    """

    respect: str
    number: str = ""
    subjects: str = "aspects"
    question: str = ""


KINDS = {
    base.AGREEMENT: ClaimKind("agreeing with people on {}"),
    base.LABELS: ClaimKind("giving people's label on {}", "balanced_accuracy"),
    base.CAUGHT: ClaimKind(
        "finding at least {enough} (default bar) of the texts that people label "
        "“{label}” on {}",
        number="tnr",
        question="Bad texts found",
    ),
    base.PASSED: ClaimKind(
        "finding at least {enough} (default bar) of the texts that people label "
        "“{label}” on {}",
        number="tpr",
        question="Good texts found",
    ),
    base.RATING: ClaimKind(
        "finding people's rating on {}", "kappa_linear", question="Right rating"
    ),
    base.ORDER: ClaimKind(
        "ordering texts of one source as people do on {}",
        number="half_credit",
        question="Order of one source's texts",
    ),
    base.PAIRS: ClaimKind(
        "choosing the better of two texts by {}",
        number="half_credit",
        question="Better of two texts",
    ),
    base.GRADED: ClaimKind(
        "finding the rating of graded texts ({})",
        number="kappa_linear",
        subjects="graded sets",
        question="Graded texts",
    ),
    base.SEQUENCE: ClaimKind(
        "ordering the texts of a chain by their errors ({})",
        number="half_credit",
        subjects="chains",
        question="Order in chains of errors",
    ),
    base.SPANS: ClaimKind(
        "marking the words that people mark as faulty ({})",
        number="span_f1",
        question="Error spans",
    ),
    base.PERTURBATION: ClaimKind(
        "noticing {}", number="D_exact", subjects="perturbations"
    ),
    base.CRITERIA: ClaimKind(
        "lowering the perturbed criterion alone",
        number="confusion_auc",
        subjects="cases",
        question="Criteria distinguished",
    ),
    base.HINTS: ClaimKind(
        "withstanding false hints",
        number="hint_effect",
        subjects="cases",
        question="False hints withstood",
    ),
    FIRST: ClaimKind("being above every other judge on {}"),
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


def details_of(reasons: Iterable[str]) -> dict[str, str]:
    """Reasons as table `verdicts` writes them: code -> its detail.

    >>> details_of(["these_systems: 6", "holm"])
    {'these_systems': '6', 'holm': ''}
    """
    details = {}
    for reason in reasons:
        code, _, detail = reason.partition(": ")
        details[code] = detail
    return details


@dataclass(frozen=True)
class ReportedClaim:
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
    sign: Sign
    """What is shown of the claim, as its table says."""
    row: ReportRow
    others: dict[str, ReportRow]
    undecided: UndecidedGap | None = None
    """What would decide whether the judge is as good as one more rater, where that is
    open."""

    @cached_property
    def codes(self) -> Mapping[str, str]:
        """The reasons: code -> its detail, "" for one without."""
        return details_of(self.reasons)

    @property
    def p(self) -> float | None:
        """The p of the claim before Holm's correction; None where none is tested."""
        if P_CLAIM in self.others:
            return self.others[P_CLAIM].value
        return None

    @property
    def family(self) -> str:
        """Return over how many claims Holm's correction was made, "" without."""
        if VERDICT in self.others:
            return self.others[VERDICT].method
        return ""


def own_claims(report: Report, judge: ShownJudge) -> list[ReportedClaim]:
    """Return the claims about a judge that no other judge changes.

    They are sorted by dataset, in the order of the methods.
    """
    return report.once(
        ("own claims", judge.id),
        lambda: without_default_bars(
            list(
                chain.from_iterable(
                    _claims(report, dataset, judge) for dataset in report.datasets
                )
            )
        ),
    )


def without_default_bars(claims: list[ReportedClaim]) -> list[ReportedClaim]:
    """Return claims without the default bar of a share for which the study has its own.

    Two bars on one share would contradict each other.
    """
    stated = {
        (claim.row.statistic, claim.dataset, claim.row.judged)
        for claim in claims
        if claim.kind.startswith(BAR)
    }
    kept = []
    for claim in claims:
        number = ""
        if claim.kind in FOUND:
            number = KINDS[claim.kind].number
        if (number, claim.dataset, claim.row.judged) not in stated:
            kept.append(claim)
    return kept


def claims(report: Report, judge: ShownJudge) -> list[ReportedClaim]:
    """Return all claims about a judge: its own, each with the claim of rank on it."""

    def ranked() -> list[ReportedClaim]:
        datasets = {dataset.id: dataset for dataset in report.datasets}
        every: list[ReportedClaim] = []
        for claim in own_claims(report, judge):
            every.append(claim)
            if claim.kind == AGREEMENT and claim.outcome in GOOD:
                every += _first(report, datasets[claim.dataset], judge, claim)
        return every

    return report.once(("claims", judge.id), ranked)


def _claims(
    report: Report, dataset: ShownDataset, judge: ShownJudge
) -> Iterator[ReportedClaim]:
    rows = report.rows("verdicts", dataset.id).where(judge=judge.id)
    bars = []
    for form in rows.names("form"):
        if form.startswith(BAR):
            bars.append(form)
    for kind in [*KINDS, *bars]:
        groups: dict[tuple[str, ...], dict[str, ReportRow]] = {}
        for row in rows.where(form=kind):
            by_statistic = groups.setdefault((row.judged, row.level, row.cell), {})
            by_statistic[row.statistic] = row
        for by_name in groups.values():
            if VERDICT in by_name:
                yield _claim(report, dataset, judge, kind, by_name)


def _claim(
    report: Report,
    dataset: ShownDataset,
    judge: ShownJudge,
    kind: str,
    by_name: dict[str, ReportRow],
) -> ReportedClaim:
    verdict = by_name[VERDICT]
    outcome, *reasons = verdict.note.split("; ")
    if outcome not in {*Outcome}:  # no claim, for that reason
        outcome = Outcome.NO_CLAIM
        reasons = [verdict.note]
    if kind == AGREEMENT:
        number = DECIDES.get(verdict.level, "")
    elif kind in KINDS:
        number = KINDS[kind].number
    else:
        _, number = kind.split()  # "bar spearman"
    row = by_name.get(number, verdict)
    # The statistic of how much more data would decide whether a bar is met.
    needed_statistic = "more_needed"
    needed = by_name.get(needed_statistic)
    if needed is not None:
        of_labels = needed._replace(method=dataset.rated_by.in_words(needed.method))
        by_name = {**by_name, needed_statistic: of_labels}
    gap = by_name.get(f"{AS_RATER}_{number}")
    return ReportedClaim(
        judge=judge.id,
        dataset=dataset.id,
        kind=kind,
        respect=_respect(dataset, kind, by_name),
        subject=_subject(report, kind, row),
        outcome=Outcome(outcome),
        reasons=tuple(reasons),
        sign=_sign(by_name, Outcome(outcome), reasons),
        row=row,
        others={name: other for name, other in by_name.items() if name != number},
        undecided=None if gap is None else UndecidedGap.of(gap.note),
    )


def _sign(
    by_name: Mapping[str, ReportRow], outcome: Outcome, reasons: Sequence[str]
) -> Sign:
    """The sign that the table has; of a row without one, that of its outcome."""
    stored = by_name.get(SIGN)
    if stored is None:
        return sign_of(outcome, reasons)
    return Sign(stored.note)


def _respect(dataset: ShownDataset, kind: str, by_name: dict[str, ReportRow]) -> str:
    """Return the topic of a claim, with a place for its subject; for a bar, which
    bar.
    """
    return dataset.rated_by.in_words(_respect_of_people(dataset, kind, by_name))


def _respect_of_people(
    dataset: ShownDataset, kind: str, by_name: dict[str, ReportRow]
) -> str:
    """Return the topic of a claim as if people gave the ratings."""
    verdict = by_name[VERDICT]
    if kind in FOUND:
        named = dataset.labels_on(verdict.judged)[FOUND[kind]]
        escaped = named.replace("{", "{{").replace("}", "}}")
        respect = KINDS[kind].respect.replace("{enough}", percent(ENOUGH_FOUND))
        return respect.replace("{label}", escaped)
    if not kind.startswith(BAR):
        return KINDS[kind].respect
    _, name = kind.split()
    bar = by_name.get(BAR)
    if bar is None:
        return label(name)
    level = ""
    if verdict.level in LEVELS:
        level = f" ({LEVELS[verdict.level][0]})"
    subject = " on {}" if verdict.judged else ""
    required = f"{bar.note} {written(name, bar.value or 0.0)}"
    return f"{label(name)} of {required}{level}{subject}"


def _subject(report: Report, kind: str, row: ReportRow) -> str:
    """Return the subject of a claim: what distinguishes it from others of its kind."""
    if kind == PERTURBATION:
        by_cell = {shown.cell: shown for shown in report.perturbations}
        shown = by_cell[row.cell]
        if shown.degree:
            return f"{shown.name} ({shown.degree})"
        return shown.name
    if kind == SEQUENCE and row.cell:
        name = report.perturbation(row.perturbation)
        return f"{name}, judged by {report.aspect(row.judged)}"
    if row.judged:
        return report.aspect(row.judged)
    return ""


def _first(
    report: Report, dataset: ShownDataset, judge: ShownJudge, claim: ReportedClaim
) -> Iterator[ReportedClaim]:
    """Yield the claim that a judge is above every other, for that judge alone."""
    if judge.planted:  # nobody chooses among simulated judges
        return
    rivals = []
    for other in report.judges:
        if not (other.control or other.planted or other.hint or other is judge):
            rivals.append(other)
    for measure in measures(report, dataset):
        if measure.kind != AGREEMENT or measure.aspect != claim.row.judged:
            continue
        known = [other for other in rivals if measure.defined([other])]
        if known and all(measure.above(judge, other) for other in known):
            yield replace(
                claim,
                kind=FIRST,
                respect=KINDS[FIRST].respect,
                outcome=Outcome.BETTER,
                reasons=(f"above: {len(known)}",),
                sign=Sign.HOLDS,
                others={},
            )
        return


def worst_first(about: Sequence[ReportedClaim]) -> list[ReportedClaim]:
    """Claims by what is to be read first: failures, then limited ones, not shown."""
    order = (Sign.FAILS, Sign.RULE, Sign.NOT_SHOWN, Sign.HOLDS, Sign.NO_CLAIM)
    return sorted(about, key=lambda claim: order.index(claim.sign))
