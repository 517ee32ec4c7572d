"""The rows of a table in which a judge and people disagree most."""

from collections.abc import Sequence
from typing import Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from judgescope.cli.audit.rated_rows import (
    AspectRows,
    aspects_of,
    first_draws,
    judge_columns,
)
from judgescope.cli.init.cards import StudyDraft
from judgescope.statistics.arrays import Floats

MOST_ROWS: Final = 10
LONGEST_TEXT: Final = 120
"""Characters of a text that a list of rows shows."""
WORDS_OF_CHOICE: Final = {1.0: "first", 0.0: "tie", -1.0: "second"}


class Disagreement(NamedTuple):
    """A row in which a judge's score is far from people's rating.

    `row` is the number that a spreadsheet shows (the header is 1), `line` the line of
    the file in which the row begins, None in files without lines. `distance` is between
    ranks of the two scales, 0 to 1; of labels and choices between values, 0 to 1.
    """

    judge: str
    aspect: str
    row: int
    line: int | None
    judged: str
    rated: str
    distance: float
    text: str


class DisagreementList(Sequence[Disagreement]):
    """The rows in which a judge and people differ, the largest distance first.

    A large table has millions of them, and a page shows ten: each is made when it is
    looked at. Of labels, bad texts that the judge passes come before good ones that it
    fails.
    """

    def __init__(self, draft: StudyDraft) -> None:
        self._draft = draft
        # The texts of a file of another tool are numbered, not its lines.
        of_another_tool = draft.table.known is not None and not draft.table.long
        self._lines = {} if of_another_tool else draft.table.lines
        by_aspect = aspects_of(draft)
        self._cells: list[_JudgedRows] = []
        for judge, aspect, column in judge_columns(draft):
            scores = first_draws(draft, column)
            self._cells.append(_judged_rows(judge, by_aspect[aspect], scores))
        self._cell, self._place = _ranked(self._cells, draft.table.numbers)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._place)

    @overload
    def __getitem__(self, index: int) -> Disagreement: ...

    @overload
    def __getitem__(self, index: slice) -> list[Disagreement]: ...

    def __getitem__(self, index: int | slice) -> Disagreement | list[Disagreement]:
        """Return one of them, or several."""
        if isinstance(index, slice):
            return [self._disagreement(rank) for rank in range(len(self))[index]]
        return self._disagreement(range(len(self))[index])

    def _disagreement(self, rank: int) -> Disagreement:
        cell = self._cells[self._cell[rank]]
        place = self._place[rank]
        row = int(cell.rows[place])
        row_number = self._draft.table.numbers[row]
        return Disagreement(
            judge=cell.judge,
            aspect=cell.rated_rows.aspect,
            row=row_number,
            line=self._lines.get(row_number),
            judged=_in_words(cell.rated_rows, float(cell.judged[place])),
            rated=_in_words(cell.rated_rows, float(cell.rated[place])),
            distance=float(cell.distances[place]),
            text=_text(self._draft, row),
        )


class _JudgedRows(NamedTuple):
    """The rows that a judge and people have both rated, each an array (rows,)."""

    judge: str
    rated_rows: AspectRows
    rows: NDArray[np.int64]
    judged: Floats
    rated: Floats
    distances: Floats
    """Rounded to six digits; -1 where both have the same value."""


def _judged_rows(
    judge: str, rated_rows: AspectRows, scores: Sequence[float | None]
) -> _JudgedRows:
    """Return the rows that have a score and at least one rating.

    People's labels count as the study counts them, if the judge gives labels too; a
    score is compared with their mean.
    """
    of_labels = rated_rows.are_labels(scores)
    of_people = rated_rows.truths if of_labels else rated_rows.means
    all_judged = np.array(scores, dtype=np.float64)
    all_rated = np.array(of_people, dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(all_judged) & ~np.isnan(all_rated))
    judged = all_judged[rows]
    rated = all_rated[rows]
    distances, places = np.unique(
        _distances(rated_rows, judged, rated), return_inverse=True
    )
    # NumPy rounds other digits than Python in the last place.
    rounded = np.array([round(each, 6) for each in distances.tolist()])
    if rounded.size:
        rounded = np.where(distances > 0, rounded, -1.0)[places]
    return _JudgedRows(judge, rated_rows, rows, judged, rated, rounded)


def _ranked(
    cells: Sequence[_JudgedRows], numbers: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cell and the place in it of each disagreement, in their order."""
    row_numbers = np.array(numbers, dtype=np.int64)
    of_cell = [np.zeros(0, dtype=np.int64)]
    places = [np.zeros(0, dtype=np.int64)]
    keys = [np.zeros((3, 0))]
    for at, cell in enumerate(cells):
        differ = np.flatnonzero(cell.distances >= 0)
        of_cell.append(np.full(len(differ), at, dtype=np.int64))
        places.append(differ)
        judged = cell.judged[differ]
        rated = cell.rated[differ]
        # From the last key to the first one, as `lexsort` has them.
        rows = row_numbers[cell.rows[differ]]
        keys.append(np.stack([rows, judged <= rated, -cell.distances[differ]]))
    order = np.lexsort(np.concatenate(keys, axis=1))
    return np.concatenate(of_cell)[order], np.concatenate(places)[order]


def _distances(rated_rows: AspectRows, judged: Floats, rated: Floats) -> Floats:
    """Return each row's distance, 0 to 1; 0 where both have the same value."""
    apart = np.abs(judged - rated)
    if rated_rows.compared:
        return apart / 2
    if rated_rows.are_labels(np.unique(judged).tolist()):
        if not rated_rows.ordered:
            return np.where(judged == rated, 0.0, 1.0)
        steps = max(1, len(rated_rows.labels) - 1)
        return apart / steps
    ranks_apart = np.abs(_ranks(judged) - _ranks(rated))
    return np.where(judged == rated, 0.0, ranks_apart)


def _ranks(values: Floats) -> Floats:
    """Return the middle rank of each value as a share of all, 0 to 1.

    >>> _ranks(np.array([3.0, 1.0, 3.0, 5.0]))
    array([0.5  , 0.125, 0.5  , 0.875])
    """
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    ranks: Floats = (below + up_to) / max(1, 2 * len(values))
    return ranks


def _in_words(rated_rows: AspectRows, value: float) -> str:
    """Return a value as the table writes it: a number, a label or a choice."""
    if rated_rows.compared:
        return WORDS_OF_CHOICE.get(value, f"{value:+.2g}")
    if rated_rows.are_labels([value]):
        return rated_rows.labels[int(value)]
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _text(draft: StudyDraft, row: int) -> str:
    """Return the beginning of the judged text, "" in a table without texts."""
    names = draft.columns.texts or draft.columns.columns_of("text")
    cells = [draft.table.rows[row].get(name) for name in names]
    text = " | ".join(str(cell) for cell in cells if cell is not None)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
