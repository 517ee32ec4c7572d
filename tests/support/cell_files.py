"""Files of cells, written aspect by aspect, for tests that need no job to write
them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from judgescope.schema.tables import table_of, write_parts


def write_part(name: str, path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write what a cell's file says on one aspect, instead of what it said on it
    before.
    """
    table = table_of(name, list(rows))
    about = {(row.get("aspect"), row.get("criterion")) for row in rows}
    assert len(about) < 2, about
    kept = []
    if path.is_file():
        with pq.ParquetFile(path) as file:
            parts = [
                file.read_row_group(number) for number in range(file.num_row_groups)
            ]
        kept = [part for part in parts if not about & set(pairs(part))]
    write_parts(name, [*kept, table], path)


def pairs(table: Any) -> list[tuple[str | None, str | None]]:
    """Return the aspect and the criterion of each row of a table."""
    columns = (table[name].to_pylist() for name in ("aspect", "criterion"))
    return list(zip(*columns, strict=True))
