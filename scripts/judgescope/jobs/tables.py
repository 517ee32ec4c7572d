"""Join the datasets' parts of every result table and write each as CSV and Parquet."""

from importlib import import_module

import pyarrow as pa
import pyarrow.csv as csv

from judgescope.core.files import about
from judgescope.methods.base import JoinedTable, TablesSpec
from judgescope.schema.tables import KEYS, RESULT_COLUMNS, read_table, table_of, write_table


def main(spec: TablesSpec) -> None:
    """Write the tables of the spec."""
    for output, table in spec.tables.items():
        _write(table, output)


def _write(table: JoinedTable, output: str) -> None:
    """Add what the datasets make up together and sort by key; the CSV has what applies."""
    parts = [read_table("results", path) for path in table.parts]
    if table.across:
        rows = import_module(table.across).across(pa.concat_tables(parts).to_pylist())
        parts.append(table_of("results", rows))
    whole = pa.concat_tables(parts).sort_by([(name, "ascending") for name in KEYS["results"]])
    write_table("results", whole, f"{output}.parquet")
    used = [name for name in RESULT_COLUMNS.optional if whole[name].null_count < len(whole)]
    names = [*RESULT_COLUMNS.first, *used, RESULT_COLUMNS.last]
    with about(f"{output}.csv"):
        csv.write_csv(whole.select(names), f"{output}.csv")
