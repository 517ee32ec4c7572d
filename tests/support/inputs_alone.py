"""Runs a job in a folder of results that holds nothing but the inputs of its spec."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from judgescope.core.job_files import job_files

CELLS = ("replies", "judgments", "scores")
"""Folders with a file for each cell; a file of hashes stands for these."""


@contextmanager
def inputs_alone(results: Path, spec: Struct) -> Iterator[None]:
    """Leave only a job's inputs in the folder of results while the job runs.

    What it writes stays in the folder; afterwards the other files are there again.
    """
    others = results.with_name(f"{results.name}.others")
    results.mkdir(parents=True, exist_ok=True)
    results.rename(others)
    results.mkdir()
    for path in job_files(spec).inputs:
        file = Path(path)
        if not file.is_relative_to(results):
            continue
        name = file.relative_to(results)
        for part in (name, *_cells_behind(name)):
            _copy(others / part, results / part)
    try:
        yield
    finally:
        shutil.copytree(results, others, dirs_exist_ok=True)
        shutil.rmtree(results)
        others.rename(results)


def _cells_behind(file: Path) -> list[Path]:
    """Return the folders for which a file of hashes stands."""
    kind, dataset = file.parts[:2]
    if file.name == "cells.sha256":
        return [Path(kind, dataset) for kind in CELLS]
    if kind == "scores" and file.suffix == ".json":
        return [Path(kind, dataset, file.stem) for kind in ("scores", "judgments")]
    if kind == "replies" and file.suffix == ".json":
        return [file.with_suffix("")]
    return []


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file():
        shutil.copy2(source, target)
