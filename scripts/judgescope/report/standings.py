"""The judges of a report in their order, and where the evidence of their claims is."""

from functools import cached_property, partial
from typing import Final

from judgescope.methods.claims import base
from judgescope.report.claims import FIRST, ReportedClaim, claims
from judgescope.report.questions import (
    Folding,
    MatrixQuestion,
    answers_of,
    folded,
    place_of,
)
from judgescope.report.report import Report, ShownJudge
from judgescope.statistics.headline import Merit, merit

MEASURES: Final = frozenset({"lexical"})
"""Engines of judges that compute a measure of the text."""
OF_PEOPLE: Final = frozenset({base.AGREEMENT, base.LABELS, base.PAIRS})
"""Kinds of claims that compare a judge with people."""


class Standings:
    """The judges of a report in their order, and their claims by column."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.answers = {
            judge.id: answers_of(report, claims(report, judge))
            for judge in report.judges
        }

    @cached_property
    def folding(self) -> Folding:
        """The columns, of the questions that a judge's claims answer."""
        asked: dict[MatrixQuestion, None] = {}
        for judge in self.report.real_judges:
            asked |= dict.fromkeys(self.answers[judge.id])
        return folded(asked, self.report.datasets)

    @cached_property
    def ranked(self) -> list[ShownJudge]:
        """The judges without controls, the best first, told ones last."""
        return sorted(self.report.real_judges, key=partial(rank, self.report))

    @property
    def shown(self) -> list[ShownJudge]:
        """The judges that are not told a rating of the text."""
        return [judge for judge in self.ranked if not judge.hint]

    @property
    def counted(self) -> list[ShownJudge]:
        """The judges that a headline may speak of.

        Measures of the text are left out while a model judges, planted judges while
        there is another.
        """
        judges = []
        for judge in self.shown:
            if not judge.planted:
                judges.append(judge)
        models = [judge for judge in judges if judge.engine not in MEASURES]
        return models or judges or self.shown

    def of_column(
        self, judge: ShownJudge, column: MatrixQuestion
    ) -> list[ReportedClaim]:
        """The claims of a judge that a column counts, in the order of the cards."""
        mine: list[ReportedClaim] = []
        for question, about in self.answers[judge.id].items():
            if self.folding.of_place.get(place_of(question)) == column:
                mine += about
        return mine

    def counts(self, column: MatrixQuestion) -> bool:
        """Whether a column counts claims: of damage, or where a judge has several."""
        several = any(
            len(self.of_column(judge, column)) > 1 for judge in self.report.real_judges
        )
        return several or column.noun == "kinds of damage"


def standings(report: Report) -> Standings:
    """The standings of a report, made once."""
    return report.once("standings", lambda: Standings(report))


def rank(report: Report, judge: ShownJudge) -> tuple[int, int, Merit, str]:
    """The sort key of judges: told last, planted before them; most claims that hold,
    then most that agree with limits, fewest that fail, the higher mean number, the id.

    If people rated only some of the datasets, judges of these come first.
    """
    every = []
    for claim in claims(report, judge):
        if claim.kind != FIRST:
            every.append(claim)
    signs = [claim.sign for claim in every]
    values = [
        claim.row.value
        for claim in every
        if claim.row.value is not None and claim.row.statistic != base.VERDICT
    ]
    mean = 0.0
    if values:
        mean = sum(values) / len(values)
    last = 2 * bool(judge.hint) + judge.planted
    rated = {dataset.id for dataset in report.rated}
    untested = 0
    if 0 < len(rated) < len(report.datasets):
        compared = [claim for claim in every if claim.kind in OF_PEOPLE]
        untested = int(not any(claim.dataset in rated for claim in compared))
    return last, untested, merit(signs, mean), judge.id


def evidence_id(claim: ReportedClaim) -> str:
    """The id of a claim's evidence on the page of its judge."""
    of_bar = claim.kind.startswith(base.BAR)
    level = claim.row.level if of_bar else ""
    parts = [claim.dataset, claim.kind, level, claim.row.judged, claim.row.cell]
    text = "-".join(filter(None, parts))
    kept = [letter if letter.isalnum() or letter in "._" else "-" for letter in text]
    return f"claim-{''.join(kept)}"


def href_of(report: Report, judge: ShownJudge, claim: ReportedClaim) -> str:
    """Where a claim's evidence is: on its judge's page, else in the list of all."""
    if judge.card:
        return f"{judge.card}#{evidence_id(claim)}"
    from judgescope.report.elements import page_of  # no audit needs these classes

    return f"{page_of('evidence')}#{judge_anchor(report, judge)}"


def judge_anchor(report: Report, judge: ShownJudge) -> str:
    """The id of a judge's claims in the list of all."""
    return f"evidence-{report.judges.index(judge)}"
