"""What people's answers say, as tables: how a statistic is a row, and a row a line."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgescope.statistics.result import Estimate

Row = dict[str, Any]
Table = tuple[Sequence[str], Sequence[Row]]
"""Columns and rows."""
NUMBERS = ["value", "lo", "hi", "n", "n_missing", "n_tied", "method", "note"]


def numbers_of(estimate: Estimate) -> Row:
    """Return what a row holds of an estimate."""
    return {key: getattr(estimate, key) for key in NUMBERS}


def written(row: Mapping[str, Any]) -> str:
    """Return the numbers of a row for people."""
    if row["value"] is None:
        return f"undefined ({row['note']})"
    bounds = "" if row["lo"] is None else f" [{row['lo']:.3f}, {row['hi']:.3f}]"
    return f"{row['value']:.3f}{bounds}, n = {row['n']}"


def write_tables(tables: Mapping[str, Table], folder: Path) -> list[Path]:
    """Write CSV tables into a folder by their file names, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, rows) in tables.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return [folder / name for name in tables]
