"""A column of sources that no header names: each of its values has a row of each
system, with few exceptions.
"""

from collections.abc import Sequence

from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow


def crossed_with(
    rows: Sequence[TableRow],
    candidates: Sequence[str],
    systems: Sequence[str],
    fewest: int = 10,
    least_filled: float = 0.8,
) -> str | None:
    """The only candidate whose values, at least `fewest`, have at most one row of each
    system, and one in `least_filled` of all pairs; None if there is none, or several.

    >>> rows = [{"task": f"t{at // 2}", "model": "ab"[at % 2]} for at in range(20)]
    >>> crossed_with(rows, ["task"], ["model"])
    'task'
    >>> crossed_with([*rows, rows[0]], ["task"], ["model"]) is None
    True
    """
    of_system = _cells_as_text(rows, systems)
    matching = []
    for column in candidates:
        of_column = _cells_as_text(rows, [column])
        values = set(of_column)
        pairs = set(zip(of_column, of_system, strict=True))
        cells = len(values) * len(set(of_system))
        is_crossed = len(rows) == len(pairs) >= least_filled * cells
        if is_crossed and len(values) >= fewest:
            matching.append(column)
    if len(matching) == 1:
        return matching[0]
    return None


def _cells_as_text(rows: Sequence[TableRow], columns: Sequence[str]) -> list[str]:
    cells = [cells_of(rows, column) for column in columns]
    return [str(row) for row in zip(*cells, strict=True)]
