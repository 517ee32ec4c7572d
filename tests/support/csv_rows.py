"""Tables of a test's rows: the file, the card of the dataset, and what is read."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.schema.cards import Dataset

Row = dict[str, Any]


def write_csv(path: Path, rows: list[Row]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def table_card(columns: Mapping[str, Any], scales: Row, **keys: object) -> Dataset:
    """Return the card of the dataset `d`, a table; `scales`: aspect -> its scale."""
    fields: Row = {"dataset": "d", "name": "D", "task": "qa", "format": "table"}
    fields |= {"files": "d.csv", "licence": "-", "citation": "-"}
    fields |= {"columns": columns, "aspects": scales}
    return Dataset.model_validate(fields | keys)


def read_lines(
    folder: Path, card: Dataset, head: Sequence[str], lines: Iterable[Sequence[str]]
) -> DatasetContent:
    """Write the table `d.csv` and return what is read of it."""
    write_csv(folder / "d.csv", [dict(zip(head, line, strict=True)) for line in lines])
    return read_dataset(card, folder, folder)
