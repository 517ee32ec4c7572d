"""What an asking job notes beside its log: which keys it asks for, for which cells.

By it, another process reads the replies as they come; the job itself knows no parser.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgescope.core.files import whole
from judgescope.replies.key_table import KEY, Counts, Keys
from judgescope.replies.planning import Cell, Job
from judgescope.replies.store import Store

SUFFIX = ".note"
KEYS, CELLS = ".keys.npy", ".cells.npy"


@dataclass(frozen=True)
class Note:
    """A job's keys, ascending, the number of the first cell that wants each, and its journals."""

    dataset: str
    start: Path
    """With which the names of the job's journals begin."""
    cells: list[Cell]
    keys: Keys
    numbers: Counts

    def cells_of(self, keys: Sequence[str]) -> list[Cell | None]:
        """Return the cell of each key in hex, None for one that the job does not ask for."""
        if not len(self.keys):
            return [None] * len(keys)
        wanted = np.array([bytes.fromhex(key) for key in keys], KEY)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        there = self.keys[places] == wanted
        numbers = self.numbers[places].tolist()
        return [self.cells[n] if ok else None for n, ok in zip(numbers, there, strict=True)]

    def journals(self) -> list[Path]:
        """Return the journals that the job has begun."""
        return sorted(self.start.parent.glob(f"{self.start.name}.*.jsonl"))


def write_note(log: Path, dataset: str, job: Job, store: Store) -> None:
    """Note a job beside its log, before it asks; the note itself is written last and at once."""
    log.parent.mkdir(parents=True, exist_ok=True)
    np.save(log.with_suffix(KEYS), job.wanted.keys)
    np.save(log.with_suffix(CELLS), job.cell_numbers())
    start = store.shard / store.start
    told = {"dataset": dataset, "start": str(start), "cells": list(job.cells)}
    with whole(log.with_suffix(SUFFIX)) as part:
        part.write_text(json.dumps(told), encoding="utf-8")


def read_note(path: Path) -> Note:
    """Return a job's note; its keys stay on the disk until they are looked up."""
    told = json.loads(path.read_text(encoding="utf-8"))
    cells: list[Cell] = [(one[0], one[1], one[2]) for one in told["cells"]]
    arrays = (np.load(path.with_suffix(suffix), mmap_mode="r") for suffix in (KEYS, CELLS))
    return Note(told["dataset"], Path(told["start"]), cells, *arrays)


def clear(path: Path) -> None:
    """Take away the keys of a note that nobody needs any more."""
    for suffix in (KEYS, CELLS):
        path.with_suffix(suffix).unlink(missing_ok=True)
