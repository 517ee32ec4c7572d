"""Files of rows, as tests of formats write them."""

import csv
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def write_csv(path: Path, rows: list[Row]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
