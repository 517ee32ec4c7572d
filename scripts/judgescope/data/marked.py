"""Errors that people marked in the texts of a table: by offsets, or by marks in the
text.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from judgescope.data.draft import Draft, RowFault, TextKey
from judgescope.data.rated import GoldSpan
from judgescope.data.rows import FileRow, cell_list
from judgescope.data.wording import as_number, blank, counted
from judgescope.schema.cards.columns import SpanColumns


class MarkedText(NamedTuple):
    """A text without its marks, and the places that they enclosed."""

    text: str
    places: list[tuple[int, int]]


def unmarked(text: str, marks: tuple[str, str]) -> MarkedText:
    """Return a text without marks, with the places between them.

    Raises UserError for a mark without its counterpart.

    >>> unmarked("It <v>rained</v> a lot.", ("<v>", "</v>"))
    MarkedText(text='It rained a lot.', places=[(3, 9)])
    """
    begin, end = marks
    before, *pieces = text.split(begin)
    done = before
    places = []
    problem = end in before
    for piece in pieces:
        inside, separator, after = piece.partition(end)
        problem = problem or not separator or end in after
        places.append((len(done), len(done) + len(inside)))
        done += inside + after
    if problem:
        raise RowFault(
            "a mark of an error has no counterpart, or marks are nested",
            got=text,
            allowed=f"{begin}the error{end}",
        )
    return MarkedText(done, places)


class Marks:
    """The marked errors of a draft's texts; equal marks of several annotators are
    one.
    """

    def __init__(self, draft: Draft, columns: SpanColumns) -> None:
        self.draft = draft
        self.columns = columns
        self.texts: dict[TextKey, str] = {}
        """The texts in which errors may be marked."""
        self.spans: dict[tuple[TextKey, int, int, str], GoldSpan] = {}
        self.annotators = set[str]()
        self.n_merged = 0

    def add_listed(self, key: TextKey, row: FileRow) -> None:
        """Add the errors of a list in the text's row; an empty cell has none."""
        cell = self.draft.pick(row, str(self.columns.listed))
        if blank(cell):
            return
        errors = cell_list(cell)
        if errors is None:
            raise RowFault("the errors of a text must be a list of objects", got=cell)
        for error in errors:
            with self.draft.caught():
                if not isinstance(error, dict):
                    raise RowFault("a listed error must be an object", got=error)
                self.add_row(key, error)

    def add_row(self, key: TextKey, row: FileRow) -> None:
        """Add the error of a row, or the errors that are marked in its text.

        Raises UserError for an unknown text, and for marks in another text.
        """
        text = self.texts.get(key)
        if text is None:
            raise RowFault(
                "an error in an unknown text",
                got=", ".join(key),
                todo="check that item and system are those of a row of the texts",
            )
        if self.columns.marked is None:
            self.add(key, row, [self._place(row, text)])
            return
        cell = self.draft.pick(row, self.columns.marked)
        made = unmarked(str(cell), self.columns.marks)
        if made.text != text:
            raise RowFault(
                "a marked text differs from the text that is judged",
                got=made.text,
                allowed=text,
                todo="mark errors in the text as it is, or map the other column",
            )
        self.add(key, row, made.places)

    def add(
        self, key: TextKey, row: FileRow, places: Iterable[tuple[int, int]]
    ) -> None:
        """Add errors at some places of a text, with what the row says of them."""
        text = self.texts[key]
        # The category of errors that have none.
        default_category = "error"
        category = self._said(row, self.columns.category) or default_category
        if annotator := self._said(row, self.columns.annotator):
            self.annotators.add(annotator)
        correction = self._said(row, self.columns.correction)
        comment = self._said(row, self.columns.comment)
        for start, end in places:
            position = (key, start, end, category)
            if position in self.spans:
                self.n_merged += 1
                continue
            words = text[start:end]
            span = GoldSpan("", start, end, category, words, correction, comment)
            self.spans[position] = span

    def finish(self) -> None:
        """Give the draft all errors, with notes on annotators and equal marks."""
        self.draft.spans = [(key, span) for (key, *_), span in self.spans.items()]
        if self.annotators:
            self.draft.notes.append(
                f"errors marked by {counted(len(self.annotators), 'annotator')}"
            )
        if self.n_merged:
            self.draft.notes.append(
                f"{counted(self.n_merged, 'mark')} equal to another one of the text, "
                "counted once"
            )

    def _said(self, row: Mapping[str, object], column: str | None) -> str | None:
        """Return the text of a cell; None without a column or content."""
        cell = None
        if column:
            cell = self.draft.pick(dict(row), column)
        if blank(cell):
            return None
        return str(cell).strip()

    def _place(self, row: FileRow, text: str) -> tuple[int, int]:
        numbers = []
        for column in (self.columns.start, self.columns.end):
            cell = self.draft.pick(row, column)
            number = as_number(cell)
            if number is None or number != int(number):
                raise RowFault(f"`{column}` is not a position", got=cell)
            numbers.append(int(number))
        start, end = numbers
        if not 0 <= start < end <= len(text):
            raise RowFault(
                "an error lies outside its text",
                got=f"{start} to {end}",
                allowed=f"0 to {len(text)}, the start before the end",
                todo="count characters from 0; the end is after the last one",
            )
        return start, end
