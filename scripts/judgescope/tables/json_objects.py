"""The rows in a JSON object: under one key, or an object of columns or of ids."""

from typing import Any, Final

from judgescope.data.rows import FileRow
from judgescope.tables.opening import OpenedTable


def under_a_key(table: OpenedTable) -> OpenedTable | None:
    """The rows of an object with one list of objects, as an API answers with a page;
    None for another object.

    >>> under_a_key(OpenedTable(content={"data": [{"a": 1}], "next": None})).rows
    [{'a': 1}]
    """
    if table.content is None:
        return None
    by_pandas = _saved_by_pandas(table.content)
    if by_pandas is not None:
        numbers = list(range(1, len(by_pandas) + 1))
        note = "the rows are those of an object of columns, or of ids"
        return OpenedTable(by_pandas, numbers, notes=[*table.notes, note])
    lists = {}
    for key, value in table.content.items():
        is_list = isinstance(value, list) and bool(value)
        if is_list and all(isinstance(entry, dict) for entry in value):
            lists[key] = value
    if len(lists) != 1:
        return None
    [(key, rows)] = lists.items()
    note = f"the rows of this object are those of its key {key}"
    numbers = list(range(1, len(rows) + 1))
    return OpenedTable(rows=rows, numbers=numbers, notes=[*table.notes, note])


def _saved_by_pandas(content: dict[str, Any]) -> list[FileRow] | None:
    """The rows of an object with a column, or a row, for each key, or with its columns
    and data apart; None for another object.

    >>> _saved_by_pandas({"human": {"0": 3, "1": 4}, "judge": {"0": 2, "1": 4}})
    [{'human': 3, 'judge': 2}, {'human': 4, 'judge': 4}]
    """
    columns = content.get("columns")
    data = content.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        cells = [each for each in data if isinstance(each, list)]
        if len(cells) == len(data) and all(len(row) == len(columns) for row in cells):
            return [dict(zip(map(str, columns), row, strict=True)) for row in cells]
    of_columns = _of_columns(content)
    if of_columns is not None:
        return of_columns
    parts = []
    for part in content.values():
        if isinstance(part, dict):
            parts.append(part)
    if len(parts) < max(2, len(content)):
        return None
    keys = list(parts[0])
    if len(keys) < 2 or any(list(part) != keys for part in parts):
        return None
    if all(key.isdigit() for key in keys):
        return [{name: content[name][key] for name in content} for key in keys]
    # A row for each id; an object of a few settings has fewer.
    if len(parts) < LEAST_ROWS:
        return None
    name = "id" if "id" not in keys else "key"
    return [{name: ident, **content[ident]} for ident in content]


def _of_columns(content: dict[str, Any]) -> list[FileRow] | None:
    """The rows of an object with a list of cells for each column; None for another.

    >>> _of_columns({"human": [3, 4], "judge": [2, 4]})
    [{'human': 3, 'judge': 2}, {'human': 4, 'judge': 4}]
    """
    columns = []
    for cells in content.values():
        if isinstance(cells, list):
            columns.append(cells)
    if len(columns) < max(2, len(content)):
        return None
    n_rows = len(columns[0])
    if n_rows < 2 or any(len(cells) != n_rows for cells in columns):
        return None
    # Lists of objects are tables of their own.
    if any(isinstance(cells[0], dict) for cells in columns):
        return None
    return [{name: content[name][row] for name in content} for row in range(n_rows)]


LEAST_ROWS: Final = 10
"""Objects with the same keys that are rows, and no settings or systems."""
