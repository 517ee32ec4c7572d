"""Columns of texts in a user's table, found by the lengths of their cells."""

from collections.abc import Callable, Iterable, Sequence

from judgescope.cli.init.column_values import columns_of
from judgescope.cli.init.role_names import describes, names_text
from judgescope.cli.init.roles import Guess
from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow


def longest(
    rows: Sequence[TableRow], columns: Iterable[str], long: int = 40
) -> str | None:
    """Return the column with the longest cells on average, None if all are short.

    long: the least average length of texts, in characters.
    """
    lengths = {column: _mean_size(rows, column, len) for column in columns}
    best = max(lengths, key=lambda column: lengths[column], default=None)
    return best if best is not None and lengths[best] >= long else None


def free_texts(
    rows: Sequence[TableRow],
    columns: Iterable[str],
    long: int = 40,
    fewest_words: int = 3,
) -> list[str]:
    """Return the columns of texts that people did not write about a text, the longest
    first.

    Texts have at least `long` characters, or `fewest_words` words, on average.
    """
    lengths = {}
    for column in columns:
        if describes(column):
            continue
        length = _mean_size(rows, column, len)
        word_count = _mean_size(rows, column, lambda cell: len(cell.split()))
        if length >= long or word_count >= fewest_words:
            lengths[column] = length
    return sorted(lengths, key=lambda column: -lengths[column])


def doubtful_texts(rows: Sequence[TableRow], columns: Guess) -> list[str]:
    """Return the unused columns of texts, if the name of the judged text's column is
    not clear.
    """
    text = columns.text
    if (text and names_text(text)) or columns.compared or columns.length:
        return []
    return free_texts(
        rows, [name for name in columns_of(rows) if name not in columns.used]
    )


def _mean_size(
    rows: Sequence[TableRow], column: str, size: Callable[[str], int]
) -> float:
    """Return the mean size of the cells with a text, over all rows."""
    total = 0
    for cell in cells_of(rows, column):
        if isinstance(cell, str):
            total += size(cell)
    return total / max(1, len(rows))
