"""Two labels in words, such as pass and fail: read as 1 and 0, and named in the study's cards."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from judgescope.cli.init.flags import Table
from judgescope.cli.init.guess import is_missing, numbers

Pair = tuple[str, str]
"""The worse label, then the better one."""
FAIL_PASS: Final[Pair] = ("fail", "pass")
"""The labels of ratings that are 0 and 1."""
PAIRS: Final[tuple[Pair, ...]] = (
    FAIL_PASS,
    ("failed", "passed"),
    ("no", "yes"),
    ("false", "true"),
    ("bad", "good"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("reject", "accept"),
    ("rejected", "accepted"),
    ("unacceptable", "acceptable"),
    ("unsafe", "safe"),
    ("unfaithful", "faithful"),
    ("not ok", "ok"),
)
"""Words that name two labels, whatever their case; others are named in a study's cards."""


def in_numbers(table: Table) -> tuple[Table, dict[str, Pair]]:
    """Return the table with 0 and 1 in place of two labels, and column -> its labels.

    A column has labels where all of its cells are words of one pair, and both words occur.
    """
    labels: dict[str, Pair] = {}
    for column in table.columns:
        cells = [row.get(column) for row in table.rows]
        words = {str(cell).strip().lower() for cell in cells if not is_missing(cell)}
        pair = next((pair for pair in PAIRS if words == {*pair}), None)
        if pair and not any(isinstance(cell, bool | list) for cell in cells):
            labels[column] = pair
    rows = [{**row, **_codes(row, labels)} for row in table.rows] if labels else table.rows
    return replace(table, rows=rows), labels


def _codes(row: Mapping[str, Any], labels: Mapping[str, Pair]) -> dict[str, int | None]:
    return {
        column: None if is_missing(cell) else pair.index(str(cell).strip().lower())
        for column, pair in labels.items()
        for cell in [row.get(column)]
    }


def is_labelled(table: Table, *columns: str) -> bool:
    """Return whether columns hold 0 and 1 and nothing else, both of them."""
    return {value for name in columns for value in numbers(table.rows, name) or ()} == {0.0, 1.0}


def read_as(pair: Pair) -> dict[str, str]:
    """Return the key `read_as` of cards, as the study's copy of the data has 0 and 1."""
    return {str(code): label for code, label in enumerate(pair)}
