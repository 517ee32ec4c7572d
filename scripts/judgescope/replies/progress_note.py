"""The note of an asking job: which requests it sends, and for which cells.

It lies next to the job's log while the job asks. Other commands read it, and the job's
journals, to count the replies that no parser reads.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from judgescope.core.files import atomic_write
from judgescope.replies.journal import KEY, Integers, Keys
from judgescope.replies.lookup import indices_in
from judgescope.replies.questions import QuestionCell, QuestionPlan
from judgescope.replies.store import Store

KEYS_SUFFIX: Final = ".keys.npy"
CELLS_SUFFIX: Final = ".cells.npy"


@dataclass(frozen=True)
class ProgressNote:
    """The requests of an asking job, and the journals to which it writes."""

    dataset: str
    journal_prefix: Path
    """The beginning of the paths of the job's journals."""
    cells: list[QuestionCell]
    keys: Keys
    """In ascending order."""
    cell_numbers: Integers
    """For each key, the index of the first cell that needs it."""

    def cells_of(self, keys: Sequence[str]) -> list[QuestionCell | None]:
        """The cell of each key (in hex); None if the job does not request the key."""
        binary = np.array([bytes.fromhex(key) for key in keys], KEY)
        cells: list[QuestionCell | None] = []
        for index in indices_in(self.keys, binary):
            if index < 0:
                cells.append(None)
            else:
                cells.append(self.cells[self.cell_numbers[index]])
        return cells

    def journals(self) -> list[Path]:
        """The journals that the job has started, sorted."""
        prefix = self.journal_prefix
        return sorted(prefix.parent.glob(f"{prefix.name}.*.jsonl"))


def write_note(log: Path, dataset: str, plan: QuestionPlan, store: Store) -> None:
    """Write the note of a job next to its log, before the job asks."""
    log.parent.mkdir(parents=True, exist_ok=True)
    np.save(log.with_suffix(KEYS_SUFFIX), plan.key_table.keys)
    np.save(log.with_suffix(CELLS_SUFFIX), plan.cell_numbers())
    note = {
        "dataset": dataset,
        "start": str(store.shard / store.start),
        "cells": list(plan.cells),
    }
    # The file is written last, so that a note is complete once it exists.
    note_suffix = ".note"
    with atomic_write(log.with_suffix(note_suffix)) as part:
        part.write_text(json.dumps(note), encoding="utf-8")


def read_note(path: Path) -> ProgressNote:
    """The note of a job; its keys stay on disk until they are looked up."""
    note = json.loads(path.read_text(encoding="utf-8"))
    cells: list[QuestionCell] = []
    for perturbation, judge, aspect in note["cells"]:
        cells.append((perturbation, judge, aspect))
    return ProgressNote(
        dataset=note["dataset"],
        journal_prefix=Path(note["start"]),
        cells=cells,
        keys=np.load(path.with_suffix(KEYS_SUFFIX), mmap_mode="r"),
        cell_numbers=np.load(path.with_suffix(CELLS_SUFFIX), mmap_mode="r"),
    )


def clear_note(path: Path) -> None:
    """Delete the keys of a note that is no longer needed."""
    for suffix in (KEYS_SUFFIX, CELLS_SUFFIX):
        path.with_suffix(suffix).unlink(missing_ok=True)
