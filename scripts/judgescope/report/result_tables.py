"""The job that writes a study's result tables, the verdicts in words among them."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.csv as csv

from judgescope.core.files import naming_path
from judgescope.core.registry import module_of
from judgescope.methods.claims.base import VERDICT
from judgescope.report.report import ReadCounts, Report
from judgescope.report.rows import ReportRows
from judgescope.report.sections.sentences import sentences
from judgescope.report.specs import JoinedTable, TablesSpec
from judgescope.schema.tables import (
    KEYS,
    columns_of_csv,
    read_table,
    table_of,
    write_table,
)

VERDICTS = "verdicts"
"""The table whose claims have the sentence on their judge."""


def tables(spec: TablesSpec) -> None:
    """Join the datasets' parts and what they make up together; the CSV has what
    applies.
    """
    degrees = {name: card.degrees for name, card in spec.perturbations.items()}
    joined = {name: _joined(table, degrees) for name, table in spec.parts.items()}
    if VERDICTS in joined:
        joined[VERDICTS] = with_sentences(spec, joined)
    for name, table in joined.items():
        write_table("results", table, spec.tables[name])
        with naming_path(spec.csv[name]):
            csv.write_csv(columns_of_csv(table), spec.csv[name])


def _joined(table: JoinedTable, degrees: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return a table of all datasets, sorted by its key.

    degrees: perturbation -> its degrees, the weakest first.
    """
    parts = [read_table("results", path) for path in table.parts]
    if table.across:
        rows_of_datasets = pa.concat_tables(parts).to_pylist()
        rows = module_of(table.across).across(rows_of_datasets)
        parts.append(table_of("results", rows))
    return _sorted(pa.concat_tables(parts), degrees)


def _sorted(results: pa.Table, degrees: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return the rows of a result table by their keys, degrees as in their cards.

    degrees: perturbation -> its degrees, the weakest first; others follow by name.
    """
    places: list[int | None] = []
    for row in results.select(["perturbation", "degree"]).to_pylist():
        known = degrees.get(row["perturbation"], [])
        degree = row["degree"]
        rank = known.index(degree) if degree in known else len(known)
        places.append(None if degree is None else rank)
    keys: list[str] = []
    for name in KEYS["results"]:
        keys += ["place", name] if name == "degree" else [name]
    placed = results.append_column("place", pa.array(places, pa.int64()))
    return placed.sort_by([(name, "ascending") for name in keys]).drop_columns("place")


class RowsOnDemand(Mapping[str, ReportRows]):
    """Tables by name, each turned into rows when it is read: most never are."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self._tables = tables
        self._rows: dict[str, ReportRows] = {}

    def __getitem__(self, name: str) -> ReportRows:
        """Return the rows of a table; KeyError if there is none."""
        if name not in self._rows:
            self._rows[name] = ReportRows.of_table(self._tables[name])
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._tables)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._tables)


def with_sentences(spec: TablesSpec, tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return table `verdicts` in which each claim has the sentence on its judge.

    It is the sentence of the report, in column `sentence` of the rows of the statistic
    `verdict`. Controls have none.
    """
    counts = dict.fromkeys(spec.datasets, ReadCounts())
    sentence_of = sentences(Report(spec, RowsOnDemand(tables), counts))
    table = tables[VERDICTS]
    column = []
    for judge, statistic in zip(
        table["judge"].to_pylist(), table["statistic"].to_pylist(), strict=True
    ):
        column.append(sentence_of.get(judge) if statistic == VERDICT else None)
    index = table.schema.get_field_index("sentence")
    field = table.schema.field(index)
    return table.set_column(index, field, pa.array(column, field.type))
