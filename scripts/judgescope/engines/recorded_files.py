"""The files of a recorded model, as tables of rows by the keys that join them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.alttest import annotations
from judgescope.data.files import resolve
from judgescope.data.hanna import ENTRY, entries
from judgescope.data.rows import FileRow, read_rows
from judgescope.engines.base import EngineInputs
from judgescope.engines.recorded_rows import (
    SWAPPED,
    Key,
    Row,
    Table,
    indexed,
    is_missing,
    joined_name,
    row_key,
)
from judgescope.schema.cards import RecordedModel

REPLY = "reply"
"""The column with the reply of a comparison, in either order."""


_kept: dict[tuple[Path, str | None], list[tuple[int, FileRow]]] | None = None
"""The files that were read, while `files_kept`; None: none is kept."""


@contextmanager
def files_kept() -> Iterator[None]:
    """Read each file once for all models within: in a table with ten judges, the
    columns of each are a model.
    """
    global _kept
    outer = _kept
    _kept = {}
    try:
        yield
    finally:
        _kept = outer


def _rows(path: Path, kind: str | None) -> Iterable[tuple[int, FileRow]]:
    if _kept is None:
        return read_rows(path, kind)
    key = (path.absolute(), kind)
    if key not in _kept:
        _kept[key] = [*read_rows(path, kind)]
    return _kept[key]


class RecordedFiles:
    """The rows of a recorded model's files about one dataset.

    A role is a name under `files` of the card: that of a judge's form, `data` for all
    others, or `swapped` for comparisons that showed the second text first.
    """

    def __init__(self, card: RecordedModel, inputs: EngineInputs) -> None:
        self.card = card
        self.inputs = inputs
        self.tables: dict[str, Table] = {}
        """Role -> its rows, of the roles that were read."""
        self._by_aspect: dict[tuple[str, str], Table] = {}

    def rows_on(self, aspect: str, role: str) -> Table:
        """Return a role's rows on an aspect; all rows if they name no aspect."""
        aspect = slug(aspect) if self.card.rows.aspect else ""
        if (aspect, role) not in self._by_aspect:
            chosen = {}
            for key, same in self._table(role).items():
                if key[0] == aspect:
                    chosen[key] = same
            self._by_aspect[aspect, role] = chosen
        return self._by_aspect[aspect, role]

    def roles(self, role: str) -> list[str]:
        """Return the roles of a judge's files: comparisons may have one for each
        order.
        """
        both = role == "data" and self.card.rows.compares and SWAPPED in self.card.files
        if both:
            return [role, SWAPPED]
        return [role]

    def _table(self, role: str) -> Table:
        if role not in self.tables:
            rows = self._compared if self.card.rows.compares else self._judged
            self.tables[role] = indexed(self.card.rows, rows(role))
        return self.tables[role]

    def _judged(self, role: str) -> Iterator[tuple[Key, Row]]:
        """Yield a role's judgments of single texts."""
        for row in self._read(role):
            yield row_key(self.card.rows, row, self.inputs.names), row

    def _compared(self, role: str) -> Iterator[tuple[Key, Row]]:
        """Yield a role's comparisons, one per order; labels are turned into letters."""
        names = self.card.rows
        of_second = {"system": names.system_b, "text": names.text_b}
        second_names = names.model_copy(update=of_second)
        for each in self.roles(role):
            for row in self._read(each):
                first = row_key(names, row, self.inputs.names)
                second = row_key(second_names, row, self.inputs.names)
                orders = [(names.reply, each == SWAPPED or self._is_swapped(row))]
                if names.reply_swapped:
                    orders.append((names.reply_swapped, True))
                for path, swapped in orders:
                    # A key begins with the aspect, which is that of both texts.
                    key = second + first[1:] if swapped else first + second[1:]
                    where = f"{row.where}, column {path}"
                    reply = self._labelled(row.get(path or ""), where, swapped)
                    yield key, Row(row.where, {REPLY: reply}, row.fields)

    def _is_swapped(self, row: Row) -> bool:
        """Return whether a column says that the row showed its second text first."""
        for column, values in self.card.rows.swapped.items():
            if joined_name(row.get(column)) in values:
                return True
        return False

    def _labelled(self, reply: object, where: str, swapped: bool) -> object:
        """Return a reply; if replies are labels, the letter of the text that the label
        chose.
        """
        names = self.card.rows
        if isinstance(reply, list):
            return [self._labelled(draw, where, swapped) for draw in reply]
        if not names.labels:
            return reply
        if is_missing(reply, names.missing):
            return None
        known = list[str]()
        # Choice of a label -> the letter of the chosen text, if shown in the row's
        # order or swapped.
        columns_of_form: dict[str, tuple[str, str]] = {
            "first": ("A", "A"),
            "second": ("B", "B"),
            "tie": ("tie", "tie"),
            "text": ("A", "B"),
            "text_b": ("B", "A"),
        }
        for chosen, words in names.labels.items():
            known += words
            if joined_name(reply).strip().casefold() in map(str.casefold, words):
                return columns_of_form[chosen][swapped]
        raise UserError(
            "the choice of a recorded comparison is not among the labels",
            where=where,
            got=reply,
            allowed=known,
            todo="add it under `rows.labels` or `rows.missing` in "
            f"models/{self.card.model}.yaml",
        )

    def _read(self, role: str) -> Iterator[Row]:
        """Yield the rows of a role's files that are about the dataset."""
        card = self.card
        names = card.rows
        inputs = self.inputs
        for path, fields in resolve(card.files, role, inputs.folder, inputs.data):
            rows: Iterable[tuple[int, FileRow]]
            if card.kind == "alttest":
                rows = annotations(path)
            else:
                rows = _rows(path, card.kind)
            for number, cells in rows:
                where = f"{path}, row {number}"
                if names.lists:
                    for entry in entries(cells, inputs.dataset, where):
                        yield Row(f"{where} {entry[ENTRY]}", entry, fields)
                    continue
                row = Row(where, cells, fields)
                if names.dataset is None or self._is_here(row.get(names.dataset)):
                    yield row

    def _is_here(self, name: object) -> bool:
        """Return whether a row belongs to this dataset; a file may mix several."""
        dataset = self.inputs.dataset
        called = self.card.rows.datasets.get(dataset)
        if called is None:
            return slug(str(name)) == dataset
        return joined_name(name) == called
