"""Compute one dataset's part of a result table."""

import hashlib
import json
from importlib import import_module
from pathlib import Path

import pyarrow as pa

from judgescope.core.canonical import canonical
from judgescope.core.paths import Paths
from judgescope.methods.base import StatisticsSpec, Turned
from judgescope.methods.evaluation_data import EvaluationData, turned
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: StatisticsSpec) -> None:
    """Write the rows of one method on a dataset: none where it can use none of the aspects."""
    method = import_module(f"judgescope.methods.{spec.table}")
    rows = method.rows(evaluation_data(spec)) if spec.aspects else []
    write_table("results", table_of("results", rows), spec.output)


def evaluation_data(spec: StatisticsSpec) -> EvaluationData:
    """Read the tables of a dataset."""
    paths, dataset = Paths(spec.results), spec.dataset
    targets = [read_table("targets", paths.targets(dataset, name)) for name in spec.targets]
    turns = spec.turned or Turned(ratings={}, scores={})
    people = {("", aspect): total for aspect, total in turns.ratings.items()}
    judges = {
        (judge, aspect): total
        for judge, totals in turns.scores.items()
        for aspect, total in totals.items()
    }
    return EvaluationData(
        spec=spec,
        items=read_table("items", paths.items(dataset)),
        targets=pa.concat_tables(targets),
        ratings=turned(read_table("ratings", paths.ratings(dataset)), people),
        scores=turned(read_table("scores", paths.collected(dataset, "scores")), judges),
        draws=turned(read_table("draws", paths.collected(dataset, "draws")), judges),
        statuses=read_table("statuses", paths.collected(dataset, "statuses")),
        data_sha=_data_sha(paths.ingested(dataset)),
    )


def _data_sha(report: str) -> str:
    """Return eight digits that change with the files and with what was selected from them."""
    read = json.loads(Path(report).read_text(encoding="utf-8"))
    parts = [read[name] for name in ("sha256", "items", "targets", "originals", "ratings")]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()[:8]
