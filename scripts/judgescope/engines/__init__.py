"""Engines: what answers for a judge. Those that compute or replay are built here (`base.Engine`).

Those that are asked come from `factory`: a job reaches, and is told the hash of, only what it runs.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import cast

from judgescope.data.rated import NO_NAMES, Names
from judgescope.engines.base import Engine
from judgescope.schema.cards import Model

ENGINES = {
    "lexical": "judgescope.engines.lexical.engine",
    "control": "judgescope.engines.controls",
    "recorded": "judgescope.engines.recorded.engine",
    "openai": "judgescope.engines.openai.engine",
    "command": "judgescope.engines.command",
    "vllm": "judgescope.engines.vllm.engine",
}
"""Engine -> its module, loaded only when a model needs it."""


def build(
    model: Model,
    *,
    seed: int,
    dataset: str,
    ratings: Mapping[tuple[str, str], Sequence[float]],
    folder: Path,
    data: Path,
    counted: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    names: Names = NO_NAMES,
) -> Engine:
    """Return the engine of a model card that computes or replays, for one dataset.

    `ratings` maps (target, aspect) to people's ratings; `folder` is the card's, `data` what
    `{data}` in its paths stands for. `counted` tells of texts with errors how many they have
    at most, and whether they are of as many kinds as there are ratings. `names` are those that the
    dataset's files give items and systems, for recorded rows.
    """
    module = import_module(ENGINES[model.engine])
    return cast(
        Engine,
        module.build(
            model,
            seed=seed,
            dataset=dataset,
            ratings=ratings,
            folder=folder,
            data=data,
            counted=counted,
            names=names,
        ),
    )
