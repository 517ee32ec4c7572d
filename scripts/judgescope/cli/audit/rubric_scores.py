"""What a file with criteria and points says of a judge: its score of the responses.

Numbers are those of the table rubrics, of which `judgescope.rubrics` has all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from judgescope.cli.init.cards import StudyDraft
from judgescope.methods.base import HUMAN
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.tables.words import split_header

TABLE: Final = "rubrics"
NO_SCORE: Final = (
    "the file has criteria, but no score of a response: {}; judgescope.rubrics has it "
    "from arrays of verdicts, labels, criteria and points"
)


@dataclass(frozen=True)
class RubricScore:
    """A judge's mean score of the responses, beside experts' and its error."""

    judge: str
    score: ReportRow
    """Points met of those to be had; criteria that were not read are in neither."""
    unmet: ReportRow
    """The same with unread criteria as unmet."""
    experts: ReportRow
    error: ReportRow
    """The judge's score minus experts', mean over responses."""


def rubric_scores(report: Report, judges: list[ShownJudge]) -> Iterator[RubricScore]:
    """Yield the scores of judges, where the table rubrics has them."""
    if TABLE not in report.tables:
        return
    complete = report.rows(TABLE).where(level="pooled", aspect="", slice="")
    experts = complete.where(judge=HUMAN, statistic="rubric_score").first
    for judge in judges:
        mine = complete.where(judge=judge.id)
        score = mine.where(statistic="rubric_score").first
        unmet = mine.where(statistic="rubric_score_unmet").first
        error = mine.where(statistic="rubric_error").first
        if score and unmet and error and experts:
            yield RubricScore(judge.id, score, unmet, experts, error)


def why_no_score(draft: StudyDraft) -> str:
    """Why a file with criteria has no score of a response, "" for any other file."""
    if draft.table.points:
        return ""
    if draft.table.points is not None:
        return NO_SCORE.format("its criteria have no points")
    words = {"criterion", "rubric"}
    for column in draft.table.columns:
        if words & {*split_header(column)}:
            return NO_SCORE.format("each row is a criterion of its own")
    return ""
