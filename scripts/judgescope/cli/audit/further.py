"""What a table has beside one score and one rating of each text.

Draws of one judge, a judge's confidence, scores of texts that nobody rated, and choices
by the place of a text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import nan

from judgescope.cli.audit.rated_rows import (
    AspectRows,
    aspects_of,
    draws_of,
    first_draws,
    judge_columns,
    sources_of,
)
from judgescope.cli.init.cards import StudyDraft, recorded_id
from judgescope.cli.init.column_values import number
from judgescope.data.rows import entries
from judgescope.methods.row_numbers import agreement_of_draws, choices_by_place
from judgescope.report.rows import ReportRow
from judgescope.schema.rows import EstimateColumns
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of, split_header


@dataclass(frozen=True)
class RepeatedDraws:
    """How well the draws of one judge agree with each other."""

    judge: str
    aspect: str
    draws: int
    agreement: ReportRow
    """Krippendorff's alpha over draws."""
    flips: ReportRow
    """The share of texts with draws that differ."""


@dataclass(frozen=True)
class PlaceChoices:
    """How often the judge, and people, choose the text that is shown first."""

    judge: str
    aspect: str
    of_judge: ReportRow
    of_people: ReportRow
    gap: ReportRow

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        low, high = self.gap.ci_low, self.gap.ci_high
        return low is not None and high is not None and not low <= 0 <= high


@dataclass(frozen=True)
class UnratedScores:
    """How many scores of a judge are of texts that nobody rated."""

    judge: str
    aspect: str
    scored: int
    unrated: int


@dataclass(frozen=True)
class ConfidenceColumn:
    """A column with how sure a judge says to be."""

    column: str
    judge: str
    count: int
    rows: int
    low: float
    high: float


def repeated_draws(draft: StudyDraft) -> Iterator[RepeatedDraws]:
    """Yield the agreement of a judge with itself, for judges with several draws."""
    if draft.columns.compared:
        return
    aspects = aspects_of(draft)
    sources = sources_of(draft)
    for judge, aspect, column in judge_columns(draft):
        draws = draws_of(draft, column)
        most = max(map(len, draws), default=0)
        if most < 2:
            continue
        of_labels = aspects[aspect].are_labels(list(chain.from_iterable(draws)))
        padded = [of_text + [nan] * (most - len(of_text)) for of_text in draws]
        rated = aspects[aspect]
        numbers = agreement_of_draws(
            padded,
            sources,
            scale=list(map(float, range(len(rated.labels)))) if of_labels else None,
            labels=of_labels,
            ordered=rated.ordered,
        )
        yield RepeatedDraws(
            judge,
            aspect,
            most,
            _row(judge, aspect, "alpha_draws", numbers),
            _row(judge, aspect, "flip_rate", numbers),
        )


def choices_of_places(draft: StudyDraft) -> Iterator[PlaceChoices]:
    """Yield for each judge of pairs how often it chooses the first text."""
    if not draft.columns.compared:
        return
    aspects = aspects_of(draft)
    sources = sources_of(draft)
    for judge, aspect, column in judge_columns(draft):
        judged = [
            nan if value is None else value for value in first_draws(draft, column)
        ]
        truths = _truths(aspects[aspect])
        of_judge, of_people = choices_by_place(judged, truths, sources)
        yield PlaceChoices(
            judge,
            aspect,
            _row(judge, aspect, "first_choices", of_judge),
            _row("", aspect, "first_choices", of_people),
            _row(judge, aspect, "first_choices_gap", of_judge),
        )


def _truths(rated: AspectRows) -> list[float]:
    truths = []
    for at in range(len(rated.people)):
        truth = rated.truth(at)
        truths.append(nan if truth is None else truth)
    return truths


def unrated_scores(draft: StudyDraft) -> Iterator[UnratedScores]:
    """Yield the judges that scored texts which nobody rated, with the counts."""
    aspects = aspects_of(draft)
    for judge, aspect, column in judge_columns(draft):
        people = aspects[aspect].people
        scored = unrated = 0
        for score, ratings in zip(first_draws(draft, column), people, strict=True):
            if score is not None:
                scored += 1
                unrated += not ratings
        if unrated:
            yield UnratedScores(judge, aspect, scored, unrated)


def confidence_columns(draft: StudyDraft) -> Iterator[ConfidenceColumn]:
    """Yield the columns that say how sure a judge is: numbers from 0 to 1, or to 100.

    Each belongs to the judge whose column shares most words with it, or to the only
    judge.
    """
    columns = draft.columns
    for name in draft.table.columns:
        if name in columns.used or "confidence" not in classes_of(name):
            continue
        cells = chain.from_iterable(entries(row.get(name)) for row in draft.table.rows)
        filled = [cell for cell in cells if not is_missing(cell)]
        values = [value for value in map(number, filled) if value is not None]
        if not values or len(values) < len(filled):
            continue
        if min(values) < 0 or max(values) > 100:
            continue
        judge = _judge_of(name, columns.judges)
        yield ConfidenceColumn(
            name,
            recorded_id(judge) if judge else "",
            len(values),
            len(draft.table.rows),
            min(values),
            max(values),
        )


def _judge_of(column: str, judges: Mapping[str, Mapping[str, str]]) -> str:
    """The judge whose name or columns share most words with a header, "" if unclear."""
    if len(judges) == 1:
        return next(iter(judges))
    words = {*split_header(column)}
    shared = {}
    for judge, scores in judges.items():
        known = {*split_header(judge)}
        for name in scores.values():
            known.update(split_header(name))
        shared[judge] = len(words & known)
    most = max(shared.values(), default=0)
    best = [judge for judge, count in shared.items() if count == most]
    return best[0] if most and len(best) == 1 else ""


def _row(
    judge: str, aspect: str, statistic: str, numbers: Mapping[str, EstimateColumns]
) -> ReportRow:
    return ReportRow(
        judge=judge,
        aspect=aspect,
        statistic=statistic,
        level="pooled",
        **numbers[statistic],
    )
