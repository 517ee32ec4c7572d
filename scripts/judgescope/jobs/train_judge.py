"""Train a judge on its teacher's replies, once for all studies: an adapter and its losses."""

import signal
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.distill.specs import TrainSpec
from judgescope.distill.training.base import Chat, card_of, examples, opened
from judgescope.distill.training.checks import check_device, check_dtype
from judgescope.distill.training.folder import TrainingFolder, key_of
from judgescope.distill.training.train import Training, prepare
from judgescope.schema.cards import Recipe


def main(spec: TrainSpec, *, card: str, checkpoints: str) -> None:
    """Train, or go on from the last checkpoint, unless it is done; write adapter and tables."""
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # training can be killed at any time and resumes here
    folder = TrainingFolder(Path(checkpoints), key_of(spec))
    with folder.held():
        if folder.finished:
            print(f"was trained before: {folder.result}", flush=True)
        else:
            _trained(spec, card, folder)
        folder.copy_result(Path(spec.adapter), Path(spec.log), Path(spec.losses))


def _trained(spec: TrainSpec, card: str, folder: TrainingFolder) -> None:
    recipe = Recipe.model_construct(**spec.recipe)
    prepare(recipe.device)
    check_device(recipe.device)
    base = opened(card_of(card, spec.model))
    check_dtype(base, recipe.device)
    chat, longest = Chat(base), spec.max_tokens
    train = examples(Path(spec.train), chat, longest)
    if not train:
        raise UserError(
            "there are no training examples",
            where=spec.train,
            todo="look at how many of the teacher's replies could be read",
        )
    held_out = examples(Path(spec.held_out), chat, longest)
    Training(base, recipe, spec.seed, train, held_out).run(folder)
