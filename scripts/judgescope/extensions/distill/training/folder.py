"""The folder of a training, shared by all studies: checkpoints while it runs, then the
result.

Its name is a hash of everything that the result depends on. Only the holder of its lock
writes there; the kernel releases the lock when a process ends, even by kill -9.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import locked, sync
from judgescope.extensions.distill.specs import TrainSpec
from judgescope.schema.cards.vllm import ADAPTER_FILES

COMPLETE = "whole"
"""The file that marks a complete checkpoint: it is written after all others are on
disk."""
LOG = "training.parquet"
LOSSES = "losses.parquet"


def key_of(spec: TrainSpec) -> str:
    """Return a hash of everything that the result of a training depends on.

    All of the recipe belongs to it: batch sizes and the device change the rounding of
    sums, and the checkpoints are the steps with held-out losses in the log. The file
    `student` has the chat template of the base model, and its commit on the hub.
    """
    packages = ("accelerate", "peft", "torch", "transformers")
    known = json.loads(Path(spec.student).read_text(encoding="utf-8"))
    inputs = {
        # Increased whenever the same input gives a different result: all judges are
        # then retrained.
        "method": 1,
        "model": spec.model.card,
        "seed": spec.seed,
        "recipe": spec.recipe,
        "train": _sha256(Path(spec.train)),
        "held_out": _sha256(Path(spec.held_out)),
        "chat_template": known["chat_template"],
        "commit": known["commit"],
        "versions": {name: version(name) for name in packages},
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
        """Lock the folder; raise UserError if another job has locked it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        taken = UserError(
            "another job is training the same judge on the same examples",
            where=str(self.folder),
            todo="run again once it has finished: this study will use the same adapter",
        )
        with locked(self.folder / "lock", taken):
            yield

    @property
    def finished(self) -> bool:
        """Return whether the training is done."""
        return self.result.is_dir()

    def last_checkpoint(self) -> Path | None:
        """Return the last complete checkpoint; incomplete ones are removed."""
        checkpoints = {}
        for path in self.steps.glob("checkpoint-*"):
            if (path / COMPLETE).is_file():
                checkpoints[int(path.name.rpartition("-")[2])] = path
            else:
                shutil.rmtree(path)
        if checkpoints:
            return checkpoints[max(checkpoints)]
        return None

    def mark_complete(self, step: int) -> None:
        """Mark a step's checkpoint as complete, once it is on disk."""
        folder = self.steps / f"checkpoint-{step}"
        sync(*(path for path in folder.iterdir() if path.is_file()))
        (folder / COMPLETE).touch()
        sync(folder / COMPLETE, folder)

    @contextmanager
    def finishing(self) -> Iterator[Path]:
        """Yield a folder for the result, which gets its final name once it is
        complete.
        """
        part = self.folder / "result.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        sync(*(path for path in part.iterdir() if path.is_file()), part)
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
