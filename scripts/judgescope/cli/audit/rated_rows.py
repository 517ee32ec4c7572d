"""The rows of an audited table as numbers: who gave which text which value.

Pictures, counts and the rows to read need nothing but these; all statistics come from
the study that is made of the table.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from judgescope.cli.init.cards import StudyDraft, recorded_id
from judgescope.cli.init.column_values import number
from judgescope.cli.init.flags import EVERY
from judgescope.data.column_rows import cells_by_row, cells_of
from judgescope.data.rows import entries
from judgescope.tables.choices import FIRST, SECOND, TIE

CHOSEN = {FIRST: 1.0, TIE: 0.0, SECOND: -1.0}
"""Choice between two texts -> a number; of several people the mean counts."""


@dataclass(frozen=True)
class AspectRows:
    """The rows of one aspect.

    people (rows): the ratings of a row, by its raters, those that are missing left out;
    by_rater (raters, rows): the same, None where one is missing; `labels` are the words
    of the ratings, from the worst, () where these are numbers or choices.
    """

    aspect: str
    people: Sequence[Sequence[float]]
    by_rater: Sequence[Sequence[float | None]]
    labels: Sequence[str] = ()
    ordered: bool = True
    compared: bool = False

    def truth(self, row: int) -> float | None:
        """What people say of a row: their mean; of labels the lower median.

        Of labels without an order the one with more than half of the votes, None
        without. These are the rules of the study's claims.
        """
        return self.truths[row]

    @cached_property
    def truths(self) -> list[float | None]:
        """What people say of each row (`truth`)."""
        return [self.joined(ratings) for ratings in self.people]

    @cached_property
    def means(self) -> list[float | None]:
        """The mean of each row's ratings; None for a row without one."""
        means = list[float | None]()
        for ratings in self.people:
            means.append(sum(ratings) / len(ratings) if ratings else None)
        return means

    def joined(self, ratings: Sequence[float]) -> float | None:
        """What several ratings are together; None for no rating."""
        if not ratings:
            return None
        if not self.labels:
            return sum(ratings) / len(ratings)
        if self.ordered:
            return sorted(ratings)[(len(ratings) - 1) // 2]
        value, votes = Counter(ratings).most_common(1)[0]
        if 2 * votes > len(ratings):
            return value
        return None

    def are_labels(self, values: Sequence[float | None]) -> bool:
        """Whether a judge's values are labels, not scores that need a threshold."""
        codes = set(map(float, range(len(self.labels))))
        if not self.labels:
            return False
        return {*values} - {None} <= codes


def aspects_of(draft: StudyDraft) -> dict[str, AspectRows]:
    """Aspect -> its rows."""
    aspects = {}
    for aspect, group in draft.columns.ratings.items():
        by_column = [_lists(draft, column) for column in group]
        people = []
        for lists in zip(*by_column, strict=True):
            people.append(list(chain.from_iterable(lists)))
        by_rater = list[list[float | None]]()
        for of_column in by_column:
            # A column of lists has the ratings of raters without names, by place.
            for number_of_rater in range(max(map(len, of_column), default=0)):
                by_rater.append(
                    [_rating(values, number_of_rater) for values in of_column]
                )
        labels = draft.scales.get(aspect, {}).get("labels", ())
        aspects[aspect] = AspectRows(
            aspect,
            people,
            by_rater,
            labels=tuple(map(str, labels)),
            ordered=_ordered(draft, group),
            compared=bool(draft.columns.compared),
        )
    return aspects


def _rating(values: Sequence[float], rater: int) -> float | None:
    if rater < len(values):
        return values[rater]
    return None


def _ordered(draft: StudyDraft, columns: Sequence[str]) -> bool:
    labels = set()
    for name in columns:
        if name in draft.table.labels:
            labels.add(draft.table.labels[name])
    return labels.isdisjoint(draft.table.unordered)


def judge_columns(draft: StudyDraft) -> Iterator[tuple[str, str, str]]:
    """Yield the id of each judge, an aspect, and the column that has its scores."""
    for judge, scores in draft.columns.judges.items():
        for aspect in draft.columns.ratings:
            column = scores.get(aspect, scores.get(EVERY))
            if column is None:
                continue
            # Of choices each column is a judge of its own (`cards_of`).
            is_split = bool(draft.columns.compared) and len(scores) > 1
            yield (
                recorded_id(f"{judge}-{aspect}" if is_split else judge),
                aspect,
                column,
            )


def first_draws(draft: StudyDraft, column: str) -> list[float | None]:
    """A judge's score in each row, the first of several draws; None if it is
    missing.
    """
    firsts = []
    for draws in _numbers_of(draft, column):
        firsts.append(draws[0] if draws else None)
    return firsts


def draws_of(draft: StudyDraft, column: str) -> list[list[float]]:
    """All draws of a judge in each row."""
    return _lists(draft, column)


def _lists(draft: StudyDraft, column: str) -> list[list[float]]:
    """The numbers of each cell, choices as 1, 0 and -1."""
    lists = []
    for draws in _numbers_of(draft, column):
        lists.append([value for value in draws if value is not None])
    return lists


def _numbers_of(draft: StudyDraft, column: str) -> Iterator[list[float | None]]:
    """Yield the entries of each cell as numbers, choices as 1, 0 and -1; None for
    another entry.
    """
    known: dict[str, list[float | None]] = {}
    for cell in cells_of(draft.table.rows, column):
        if not isinstance(cell, str):
            yield _numbers_in(draft, cell)
            continue
        if cell not in known:
            known[cell] = _numbers_in(draft, cell)
        yield known[cell]


def _numbers_in(draft: StudyDraft, cell: object) -> list[float | None]:
    values = list[float | None]()
    for entry in entries(cell):
        value = number(entry)
        is_choice = value is not None and draft.columns.compared
        values.append(CHOSEN[int(value)] if is_choice and value is not None else value)
    return values


def sources_of(draft: StudyDraft) -> list[Hashable]:
    """The source of each row: an item, else its source columns, else the row."""
    columns = [draft.columns.item] if draft.columns.item else draft.columns.source
    if not columns:
        return list(range(len(draft.table.rows)))
    sources = list[Hashable]()
    for cells in cells_by_row(draft.table.rows, columns):
        sources.append(tuple(map(str, cells)))
    return sources
