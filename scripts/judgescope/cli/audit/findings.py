"""What an audit found: the study made of a table, its results, and what pages show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Final

from judgescope.cli.audit import corrected_rates, further, judge_gaps, rubric_scores
from judgescope.cli.audit.crossed import Crossing, crossings
from judgescope.cli.audit.disagreements import MOST_ROWS, Disagreement, DisagreementList
from judgescope.cli.audit.headline import headline
from judgescope.cli.audit.slices import TableSlice
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.terminal import plain
from judgescope.methods.base import HUMAN
from judgescope.methods.claims.base import AGREEMENT, BAR
from judgescope.methods.measures import DECIDES
from judgescope.methods.verdicts import CASES, NOT_COMPUTED
from judgescope.report.claims import ReportedClaim, own_claims
from judgescope.report.false_claims import FalseClaims, false_claims
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.statistics.registry import statistic
from judgescope.statistics.verdict import Outcome

MEETS: Final = 0
MISSES: Final = 1
CANNOT_TELL: Final = 2
"""Exit codes: every judge meets every bar (or none is set), one misses, cannot tell."""
VERDICTS: Final = {MEETS: "meets", MISSES: "misses", CANNOT_TELL: "cannot tell"}


@dataclass(frozen=True)
class AuditFindings:
    """The findings of an audit: the study made from the file, and the results."""

    draft: StudyDraft
    report: Report
    texts: bool = True
    """Whether texts and other cells of the table may be shown."""
    slices: Sequence[TableSlice] = ()
    """The numbers on parts of the table."""

    @cached_property
    def judges(self) -> list[ShownJudge]:
        """Return the judges of the file."""
        return [judge for judge in self.report.judges if judge.engine == "recorded"]

    @cached_property
    def claims(self) -> dict[str, list[ReportedClaim]]:
        """Return judge -> the claims about it, except comparisons with other judges."""
        claims = dict[str, list[ReportedClaim]]()
        for judge in self.judges:
            claims[judge.id] = [
                replace(claim, reasons=tuple(self._reasons(claim)))
                for claim in own_claims(self.report, judge)
            ]
        return claims

    @cached_property
    def all_claims(self) -> list[ReportedClaim]:
        """Return the claims about all judges, judge by judge."""
        return list(chain(*self.claims.values()))

    def named(self, judge: str) -> str:
        """Return a judge's name as people wrote it, fit for a terminal; "" for
        people.
        """
        return plain(self.draft.judge_names.get(judge, judge))

    @cached_property
    def headline(self) -> str:
        """Return the first sentence of the page, at most 25 words."""
        return headline(self)

    @cached_property
    def crossings(self) -> list[Crossing]:
        """Return people by each judge, and people among themselves, by aspect."""
        return crossings(self.draft)

    @cached_property
    def disagreements(self) -> DisagreementList:
        """Return every row in which a judge and people differ, the worst first."""
        return DisagreementList(self.draft)

    @property
    def rows_to_read(self) -> list[Disagreement]:
        """Return the worst of these rows: those that a page shows."""
        return self.disagreements[:MOST_ROWS]

    @cached_property
    def gaps(self) -> list[judge_gaps.JudgeGap]:
        """Return how far judges are from the best one; empty for one judge."""
        if len(self.judges) < 2:
            return []
        return list(judge_gaps.judge_gaps(self.report, self.judges))

    @cached_property
    def place_choices(self) -> list[further.PlaceChoices]:
        """Return how often judge and people choose the first of two texts."""
        return list(further.choices_of_places(self.draft))

    @cached_property
    def repeated_draws(self) -> list[further.RepeatedDraws]:
        """Return how well draws of one judge agree."""
        return list(further.repeated_draws(self.draft))

    @cached_property
    def confidences(self) -> list[further.ConfidenceColumn]:
        """Return the columns with a judge's confidence."""
        return list(further.confidence_columns(self.draft))

    @cached_property
    def unrated(self) -> list[further.UnratedScores]:
        """Return how many scores are of texts that nobody rated."""
        return list(further.unrated_scores(self.draft))

    @cached_property
    def corrected(self) -> list[corrected_rates.CorrectedRate]:
        """Return judges' means, corrected by the rated texts, where some are not."""
        named = self.draft.columns.system is not None
        return list(corrected_rates.corrected_rates(self.report, named=named))

    @cached_property
    def rubric_scores(self) -> list[rubric_scores.RubricScore]:
        """Return judges' scores of the responses, where criteria have points."""
        return list(rubric_scores.rubric_scores(self.report, self.judges))

    @cached_property
    def false_claims(self) -> FalseClaims:
        """Return how many false claims are expected on the page."""
        return false_claims(self.all_claims)

    @property
    def people(self) -> list[ReportRow]:
        """Return the agreement of one rater with the others, by aspect; empty for one
        rater.
        """
        rows = self.report.rows("verdicts").where(judge=HUMAN, form=AGREEMENT)
        return [row for row in rows if row.statistic in DECIDES.values()]

    @property
    def status(self) -> int:
        """Return the exit code: that of the worst bar, 0 if no bar is set; those on
        parts count if they are to hold there. A part without numbers cannot tell.
        """
        if self.draft.require and not self.judges:
            return CANNOT_TELL
        bars = []
        for claim in self.all_claims:
            if claim.kind.startswith(BAR):
                bars.append(claim)
        on_parts = [claim for part in self.slices for claim in part.bars]
        outcomes = {claim.outcome for claim in (*bars, *on_parts)}
        if on_parts and not all(part.bars for part in self.slices):
            outcomes.add(Outcome.CANNOT_TELL)
        if Outcome.MISSES in outcomes:
            return MISSES
        if outcomes <= {Outcome.MEETS}:
            return MEETS
        return CANNOT_TELL

    def _reasons(self, claim: ReportedClaim) -> Iterator[str]:
        """Yield a claim's reasons, and what a bar needs in a file."""
        table = self.draft.table
        columns = self.draft.columns
        for code in claim.reasons:
            if code != NOT_COMPUTED:
                yield code
            elif _is_of_labels(claim.row.statistic) and not columns.compared:
                values = table.values(columns.rated)
                yield (
                    "it needs labels such as pass/fail; the ratings are numbers "
                    f"{min(values):g} to {max(values):g}"
                )
            else:
                yield "this file does not support it"


def _is_of_labels(name: str) -> bool:
    """Whether a bar is on labels, so that ratings in numbers cannot meet it."""
    return name in CASES or statistic(name).beats_controls
