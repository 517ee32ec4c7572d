"""The folder of a training: its checkpoints while it runs, then its result, for all studies.

Its name is a hash of all that the result depends on. Only the holder of its lock writes there; the
kernel releases the lock of a process that has ended, also by kill -9.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.distill.specs import TrainSpec
from judgescope.schema.cards.models import ADAPTER_FILES

METHOD = 1
"""Counted up whenever the same input gives another result: all is then trained again."""
PACKAGES = ("accelerate", "peft", "torch", "transformers")
WHOLE = "whole"
"""The file in a checkpoint that is written when all others are on the disk."""
LOG, LOSSES = "training.parquet", "losses.parquet"


def key_of(spec: TrainSpec) -> str:
    """Return a hash of all that the result of a training depends on.

    Of the recipe that is everything: the sizes of batches change how sums are rounded, the device
    does, and the steps between checkpoints are those at which the log has what is held out. The
    file `student` has what was found of the base: its chat template, and its commit on the hub.
    """
    known = json.loads(Path(spec.student).read_text(encoding="utf-8"))
    inputs = {
        "method": METHOD,
        **{"model": spec.model.card, "seed": spec.seed, "recipe": spec.recipe},
        **{"train": _sha256(Path(spec.train)), "held_out": _sha256(Path(spec.held_out))},
        **{name: known[name] for name in ("chat_template", "commit")},
        "versions": {name: version(name) for name in PACKAGES},
    }
    return hashlib.sha256(canonical(inputs).encode()).hexdigest()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class TrainingFolder:
    """The folder of one training."""

    def __init__(self, checkpoints: Path, key: str) -> None:
        self.folder = checkpoints / key
        self.steps = self.folder / "steps"
        self.result = self.folder / "result"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all others out; UserError if another job is in."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    "another job is training the same judge on the same examples",
                    where=str(self.folder),
                    todo="run again when it has finished: this study uses the same adapter",
                ) from None
            yield

    @property
    def finished(self) -> bool:
        """Return whether the training is done."""
        return self.result.is_dir()

    def last_checkpoint(self) -> Path | None:
        """Return the last whole checkpoint; those that are not whole are removed."""
        checkpoints = {}
        for path in self.steps.glob("checkpoint-*"):
            if (path / WHOLE).is_file():
                checkpoints[int(path.name.rpartition("-")[2])] = path
            else:
                shutil.rmtree(path)
        return checkpoints[max(checkpoints)] if checkpoints else None

    def mark_whole(self, step: int) -> None:
        """Mark a step's checkpoint as whole, once it is on the disk."""
        folder = self.steps / f"checkpoint-{step}"
        _sync(*(path for path in folder.iterdir() if path.is_file()))
        (folder / WHOLE).touch()
        _sync(folder / WHOLE, folder)

    @contextmanager
    def finishing(self) -> Iterator[Path]:
        """Give a folder for the result, which gets its name when it is whole."""
        part = self.folder / "result.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        _sync(*(path for path in part.iterdir() if path.is_file()), part)
        part.rename(self.result)

    def copy_result(self, adapter: Path, log: Path, losses: Path) -> None:
        """Copy the result to a study's files, and remove the checkpoints."""
        shutil.rmtree(self.steps, ignore_errors=True)
        adapter.mkdir(parents=True, exist_ok=True)
        for name in ADAPTER_FILES:
            shutil.copyfile(self.result / name, adapter / name)
        for name, path in ((LOG, log), (LOSSES, losses)):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.result / name, path)


def _sync(*paths: Path) -> None:
    for path in paths:
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
