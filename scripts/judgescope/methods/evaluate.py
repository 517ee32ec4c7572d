"""The job of a method: read the tables of a dataset, write the rows of the method."""

import gc
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from judgescope.core.canonical import canonical
from judgescope.core.cells import joined
from judgescope.methods.base import StatisticsSpec, Turned
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.registry import METHODS
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import (
    read_groups,
    read_table,
    table_of,
    write_table,
)


def turned(table: pa.Table, sums: Mapping[tuple[str, str], float]) -> pa.Table:
    """Return ratings, scores or draws with values so that more is better: value' = sum
    - value.

    `sums`: (judge, "" for people, and aspect as a cell calls it) -> min + max of the
    scale, where its best end is the lowest; all others stay.
    """
    if not sums:
        return table
    names = table.column_names
    columns = list[list[Any]]()
    for name in ("judge", "aspect", "criterion", "value"):
        column = table[name].to_pylist() if name in names else [None] * len(table)
        columns.append(column)
    values = list[float | None]()
    for judge, aspect, criterion, value in zip(*columns, strict=True):
        total = sums.get((judge or "", joined(aspect, criterion)))
        if value is not None and total is not None:
            value = total - value
        values.append(value)
    index = names.index("value")
    return table.set_column(
        index, table.schema.field(index), pa.array(values, pa.float64())
    )


def statistics(spec: StatisticsSpec) -> None:
    """Write the rows of one method on a dataset: none where it can use none of the
    aspects.
    """
    write_rows(METHODS.load(spec.method).rows, spec)


def write_rows(
    rows: Callable[[EvaluationData], Iterable[ResultRow]], spec: StatisticsSpec
) -> None:
    """Write what a function yields of a dataset: nothing where it can use none of the
    aspects.
    """
    if not spec.aspects:
        write_table("results", table_of("results", []), spec.output)
        return
    data = evaluation_data(spec)
    n_texts = len(data.targets)
    write_table("results", table_of("results", [*rows(data)]), spec.output)
    del data
    # Texts from which the memory of a table's data is needed for the next table.
    many_texts = 10_000
    if n_texts > many_texts:
        gc.collect()  # a dataset and its sets of texts refer to each other


def _score_parts(
    path: str, sums: Mapping[tuple[str, str], float]
) -> Iterator[pa.Table]:
    """Yield the scores part by part; `sums`: see `turned`."""
    for part in read_groups("scores", path):
        yield turned(part, sums)


def evaluation_data(spec: StatisticsSpec) -> EvaluationData:
    """Read the tables of a dataset."""
    files = spec.files
    targets = [read_table("targets", files.targets[name]) for name in spec.targets]
    turns = spec.turned or Turned(ratings={}, scores={})
    people = {("", aspect): total for aspect, total in turns.ratings.items()}
    judges = dict[tuple[str, str], float]()
    for judge, totals in turns.scores.items():
        for aspect, total in totals.items():
            judges[judge, aspect] = total
    report = json.loads(Path(files.ingested).read_text(encoding="utf-8"))
    selected = []
    for name in ("sha256", "items", "targets", "originals", "ratings"):
        selected.append(report[name])
    return EvaluationData(
        spec=spec,
        items=read_table("items", files.items),
        targets=pa.concat_tables(targets),
        ratings=turned(read_table("ratings", files.ratings), people),
        scores=ScoreTables(lambda: _score_parts(files.scores, judges)),
        draws=turned(read_table("draws", files.draws), judges),
        statuses=read_table("statuses", files.statuses),
        data_sha=hashlib.sha256(canonical(selected).encode()).hexdigest()[:8],
    )
