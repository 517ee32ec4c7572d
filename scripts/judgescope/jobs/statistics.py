"""Compute one dataset's part of a result table."""

import hashlib
import json
from importlib import import_module
from pathlib import Path

import pyarrow as pa

from judgescope.core.canonical import canonical
from judgescope.jobs.run import run
from judgescope.methods.evaluation_data import EvaluationData, turned
from judgescope.methods.specs import StatisticsSpec, Turned
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: StatisticsSpec) -> None:
    """Write the rows of one method on a dataset."""
    rows = import_module(f"judgescope.methods.{spec.table}").rows(evaluation_data(spec))
    write_table("results", table_of("results", rows), spec.output)


def evaluation_data(spec: StatisticsSpec) -> EvaluationData:
    """Read the tables of a dataset."""
    out, dataset = spec.results, spec.dataset
    targets = [
        read_table("targets", f"{out}/targets/{dataset}/{name}.parquet") for name in spec.targets
    ]
    turns = spec.turned or Turned(ratings={}, scores={})
    people = {("", aspect): total for aspect, total in turns.ratings.items()}
    judges = {
        (judge, aspect): total
        for judge, own in turns.scores.items()
        for aspect, total in own.items()
    }
    return EvaluationData(
        spec=spec,
        items=read_table("items", f"{out}/items/{dataset}.parquet"),
        targets=pa.concat_tables(targets),
        ratings=turned(read_table("ratings", f"{out}/ratings/{dataset}.parquet"), people),
        scores=turned(read_table("scores", f"{out}/collected/{dataset}/scores.parquet"), judges),
        draws=turned(read_table("draws", f"{out}/collected/{dataset}/draws.parquet"), judges),
        statuses=read_table("statuses", f"{out}/collected/{dataset}/statuses.parquet"),
        data_sha=_data_sha(f"{out}/items/{dataset}.json"),
    )


def _data_sha(report: str) -> str:
    """Return eight digits that change with the files and with what was selected from them."""
    read = json.loads(Path(report).read_text(encoding="utf-8"))
    told = [read[name] for name in ("sha256", "items", "targets", "originals", "ratings")]
    return hashlib.sha256(canonical(told).encode()).hexdigest()[:8]


if __name__ == "__main__":
    run(main)
