"""The tables of people's answers, as their readers see them."""

from typing import Any

from judgescope.extensions.people.answers import FormResults


def rows_of(results: FormResults, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table, column -> value."""
    columns, rows = results.tables[name]
    return [dict(zip(columns, row, strict=True)) for row in rows]
