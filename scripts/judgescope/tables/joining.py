"""Several files as one table: people's ratings in one, a judge's scores in another."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from judgescope.core.errors import UserError
from judgescope.core.names import NOT_JUDGED
from judgescope.data.rows import FileRow, TableRow, word_of
from judgescope.tables.opening import OpenedTable
from judgescope.tables.spelling import is_missing

LEAST_MATCHED: Final = 0.9
"""The least share of the smaller file's rows that have a partner."""


@dataclass(frozen=True)
class NamedTable:
    """An opened file and its path."""

    path: Path
    table: OpenedTable

    @property
    def columns(self) -> list[str]:
        """The names of its columns, in order."""
        return list(dict.fromkeys(chain.from_iterable(self.table.rows)))

    def is_key(self, column: str) -> bool:
        """Whether every row has its own value in a column."""
        values = [key_of(row, column) for row in self.table.rows]
        if "" in values:
            return False
        return len(set(values)) == len(values)


def key_of(row: TableRow, column: str) -> str:
    """The value by which a row is joined; 1, 1.0 and "1" are the same, "" is none.

    >>> key_of({"id": 1.0}, "id"), key_of({"id": " 1 "}, "id"), key_of({}, "id")
    ('1', '1', '')
    """
    cell = row.get(column)
    if is_missing(cell):
        return ""
    return word_of(cell)


def join(first: NamedTable, second: NamedTable, on: str | None) -> OpenedTable:
    """One table with the columns of both, a row for each row of the file in which the
    key may repeat.

    A row without a partner has `not judged` in the columns of the other file: nothing
    was lost there. Raises UserError without one key, or below LEAST_MATCHED.
    """
    key = _key(first, second, on)
    many = first
    single = second
    if not second.is_key(key):
        many = second
        single = first
    names = _other_names(many, single, key)
    partner_of = {key_of(row, key): row for row in single.table.rows}
    joined = OpenedTable(notes=[*first.table.notes, *second.table.notes])
    joined.lines = dict(many.table.lines)
    matched = 0
    joined_rows = []
    partners = set()
    for number, row in zip(many.table.numbers, many.table.rows, strict=True):
        name = key_of(row, key)
        partner = partner_of.get(name)
        if partner is not None:
            matched += 1
            partners.add(name)
        joined_rows.append((number, _with(row, partner, names, shown=many.path)))
    joined.fill(joined_rows)
    left = len(partner_of) - len(partners)
    shares = (matched / len(many.table.rows), len(partners) / len(partner_of))
    counts = (
        f"{matched} of {len(many.table.rows)} rows of {many.path.name} have a partner "
        f"among the {len(partner_of)} rows of {single.path.name} (column {key})"
    )
    if max(shares) < LEAST_MATCHED:
        raise UserError(
            "these files do not belong together: too few rows have a partner",
            where=f"{first.path} and {second.path}",
            got=counts,
            allowed=f"at least {LEAST_MATCHED:.0%} of the rows of one file",
            todo="name the column that both files share: --on COLUMN",
        )
    more = ""
    if left:
        more = f"; {left} rows of {single.path.name} have none"
    joined.notes.append(f"{counts}{more}")
    return joined


def _key(first: NamedTable, second: NamedTable, on: str | None) -> str:
    """The column by which rows are joined; raises UserError if it is not clear."""
    where = f"{first.path} and {second.path}"
    shared = [name for name in first.columns if name in second.columns]
    if on is not None and on not in shared:
        raise UserError(
            "the files do not share this column",
            where=f"{where}, --on",
            got=on,
            allowed=shared,
        )
    wanted = shared if on is None else [on]
    keys = []
    for name in wanted:
        if first.is_key(name) or second.is_key(name):
            keys.append(name)
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise UserError(
            "the files share no column that has a value of its own in every row of one "
            "of them",
            where=where,
            got=", ".join(wanted) or "no common column",
            todo="give both files a column with the same id of each text",
        )
    ids = [name for name in keys if name.casefold().split("_")[-1] == "id"]
    if len(ids) == 1:
        return ids[0]
    raise UserError(
        "the files can be joined by several columns",
        where=where,
        allowed=keys,
        todo=f"name one: --on {keys[0]}",
    )


def _other_names(many: NamedTable, single: NamedTable, key: str) -> dict[str, str]:
    """Column of the file of partners -> its name in the joined table.

    A column that both files have with the same cells is one; otherwise the name of the
    file tells them apart.
    """
    partner_of = {key_of(row, key): row for row in single.table.rows}
    names = {}
    for column in single.columns:
        if column == key:
            continue
        if column not in many.columns:
            names[column] = column
        elif not _agree(many.table.rows, partner_of, key, column):
            names[column] = f"{column} ({single.path.stem})"
    return names


def _agree(
    rows: Sequence[TableRow], partner_of: dict[str, FileRow], key: str, column: str
) -> bool:
    for row in rows:
        partner = partner_of.get(key_of(row, key))
        if partner is not None and key_of(row, column) != key_of(partner, column):
            return False
    return True


def _with(
    row: TableRow, partner: TableRow | None, names: dict[str, str], shown: Path
) -> FileRow:
    """A row with the cells of its partner; its own columns keep their names, except
    those that the partner has with other cells.
    """
    new: dict[str, Any] = {}
    for column, cell in row.items():
        differs = names.get(column, column) != column
        new[f"{column} ({shown.stem})" if differs else column] = cell
    for column, name in names.items():
        new[name] = NOT_JUDGED if partner is None else partner.get(column)
    return new
