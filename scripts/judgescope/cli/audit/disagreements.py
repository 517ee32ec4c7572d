"""The rows of a table in which a judge and people disagree most."""

from collections.abc import Sequence
from typing import Final, NamedTuple, overload

from judgescope.cli.audit.rated_rows import (
    AspectRows,
    aspects_of,
    first_draws,
    judge_columns,
)
from judgescope.cli.init.cards import StudyDraft
from judgescope.methods.disagreements import (
    RowsRatedByBoth,
    largest_first,
    rows_rated_by_both,
)

MOST_ROWS: Final = 10


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
        self._cells: list[_JudgedCell] = []
        for judge, aspect, column in judge_columns(draft):
            scores = first_draws(draft, column)
            self._cells.append(_cell(judge, by_aspect[aspect], scores))
        self._order = largest_first(
            [cell.rated for cell in self._cells], draft.table.numbers
        )

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._order)

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
        number, place = self._order[rank]
        cell = self._cells[number]
        row = int(cell.rated.rows[place])
        row_number = self._draft.table.numbers[row]
        return Disagreement(
            judge=cell.judge,
            aspect=cell.rated_rows.aspect,
            row=row_number,
            line=self._lines.get(row_number),
            judged=_in_words(cell.rated_rows, float(cell.rated.judged[place])),
            rated=_in_words(cell.rated_rows, float(cell.rated.rated[place])),
            distance=float(cell.rated.distances[place]),
            text=_text(self._draft, row),
        )


class _JudgedCell(NamedTuple):
    """The rows of one judge and aspect that both have rated."""

    judge: str
    rated_rows: AspectRows
    rated: RowsRatedByBoth


def _cell(
    judge: str, rated_rows: AspectRows, scores: Sequence[float | None]
) -> _JudgedCell:
    """Return the rows that have a score and at least one rating.

    People's labels count as the study counts them, if the judge gives labels too; a
    score is compared with their mean.
    """
    of_labels = rated_rows.are_labels(scores)
    of_people = rated_rows.truths if of_labels else rated_rows.means
    steps = None
    if rated_rows.compared:
        steps = 2.0
    elif of_labels:
        steps = float(max(1, len(rated_rows.labels) - 1))
    ordered = rated_rows.compared or not of_labels or rated_rows.ordered
    both = rows_rated_by_both(scores, of_people, steps=steps, ordered=ordered)
    return _JudgedCell(judge, rated_rows, both)


def _in_words(rated_rows: AspectRows, value: float) -> str:
    """Return a value as the table writes it: a number, a label or a choice."""
    words_of_choice = {1.0: "first", 0.0: "tie", -1.0: "second"}
    if rated_rows.compared:
        return words_of_choice.get(value, f"{value:+.2g}")
    if rated_rows.are_labels([value]):
        return rated_rows.labels[int(value)]
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _text(draft: StudyDraft, row: int) -> str:
    """Return the beginning of the judged text, "" in a table without texts."""
    names = draft.columns.texts or draft.columns.columns_of("text")
    cells = [draft.table.rows[row].get(name) for name in names]
    text = " | ".join(str(cell) for cell in cells if cell is not None)
    text = " ".join(text.split())
    # Characters of a text that a list of rows shows.
    longest_text = 120
    if len(text) <= longest_text:
        return text
    return f"{text[: longest_text - 1]}…"
