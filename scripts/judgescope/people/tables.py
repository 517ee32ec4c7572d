"""What an import of answers writes and prints: tables, cards, and lines for people."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from judgescope.statistics.result import Estimate

Row = dict[str, Any]
Table = tuple[Sequence[str], Sequence[Row]]
"""Columns and rows."""
NUMBERS = ["value", "lo", "hi", "n", "n_missing", "n_tied", "method", "note"]


class Results(NamedTuple):
    """The tables by file name, the lines to print, and the cards that answers make.

    `folder` is that of the study's results they are written to; `responses` are how many were
    read, `about` says of what.
    """

    folder: str
    responses: int
    about: str
    tables: Mapping[str, Table]
    lines: list[str]
    cards: Sequence[Row] = ()

    def rows(self, name: str) -> Sequence[Row]:
        """Return the rows of a table."""
        return self.tables[name][1]

    def write(self, out: Path) -> list[Path]:
        """Write tables (CSV) and cards (YAML, named by their ids) and return their paths."""
        folder = out / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        for name, (columns, rows) in self.tables.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        for card in self.cards:
            path = folder / f"{_id(card)}.yaml"
            text = yaml.safe_dump(card, sort_keys=False, allow_unicode=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        return [folder / name for name in [*self.tables, *(f"{_id(c)}.yaml" for c in self.cards)]]


def _id(card: Row) -> str:
    return str(next(iter(card.values())))


def numbers_of(estimate: Estimate) -> Row:
    """Return what a row holds of an estimate."""
    return {key: getattr(estimate, key) for key in NUMBERS}


def formatted(row: Mapping[str, Any]) -> str:
    """Return the numbers of a row for people."""
    if row["value"] is None:
        return f"undefined ({row['note']})"
    bounds = "" if row["lo"] is None else f" [{row['lo']:.3f}, {row['hi']:.3f}]"
    return f"{row['value']:.3f}{bounds}, n = {row['n']}"
