"""Engines: what answers for a judge, each behind the same two functions (`base.Engine`)."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

from metajudge.engines.asked import Ask
from metajudge.engines.base import Answer, Engine, Subject, request_key
from metajudge.schema.cards import Model, OpenAIModel

__all__ = ["ENGINES", "Answer", "Engine", "Subject", "asking", "build", "request_key"]

ENGINES = {
    "lexical": "metajudge.engines.lexical",
    "control": "metajudge.engines.control",
    "recorded": "metajudge.engines.recorded",
    "openai": "metajudge.engines.openai",
}
"""Engine -> its module, loaded only when a model needs it."""


def asking(card: OpenAIModel) -> Ask:
    """Return the engine of a model card that is asked."""
    return cast(Ask, import_module(ENGINES[card.engine]).build(card))


def build(
    model: Model,
    *,
    seed: int,
    dataset: str,
    ratings: Mapping[tuple[str, str], Sequence[float]],
    folder: Path,
    data: Path,
) -> Engine:
    """Return the engine of a model card that computes or replays, for one dataset.

    `ratings` maps (target, aspect) to people's ratings; `folder` is the card's, `data` what
    `{data}` in its paths stands for.
    """
    module = import_module(ENGINES[model.engine])
    return cast(
        Engine,
        module.build(model, seed=seed, dataset=dataset, ratings=ratings, folder=folder, data=data),
    )
