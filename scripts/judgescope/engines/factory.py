"""The engines that are asked: each takes work and yields replies as they come (`requests.Ask`)."""

from importlib import import_module
from pathlib import Path
from typing import cast

from judgescope.core.errors import UserError
from judgescope.data.files import sha256_of, verify
from judgescope.engines import ENGINES
from judgescope.engines.budgeted import within
from judgescope.engines.requests import Ask, Budget
from judgescope.schema.cards import (
    TRAINED,
    Adapter,
    AskedModel,
    CommandModel,
    OpenAIModel,
    VllmModel,
)
from judgescope.schema.cards.models import ADAPTER_FILES


def settled(card: AskedModel, folder: Path, data: Path, trained: str | None = None) -> AskedModel:
    """Return a card with the paths and hashes of its files, which requests and engine need.

    `folder` is the card's, `data` what `{data}` in its paths stands for, `trained` the folder of
    the adapter that the study trains, which may not be there yet. Raises UserError for another file
    that is not there or not the one that the card describes.
    """
    if not isinstance(card, CommandModel | VllmModel):
        return card
    if isinstance(card, VllmModel) and trained and Path(trained, ADAPTER_FILES[0]).is_file():
        card = card.model_copy(update={"adapter": adapter_in(Path(trained))})
    hashes = verify(card, folder, data, where=f"models/{card.model}.yaml")
    found = cast(AskedModel, import_module(ENGINES[card.engine]).located(card, folder, data))
    told = {"sha256": hashes} if isinstance(card, CommandModel) else {}
    return found.model_copy(update=told)


def adapter_in(folder: Path) -> Adapter:
    """Return the adapter in a folder, as a card names one that is there."""
    found = [(path, dict[str, str]()) for path in sorted(folder.glob("adapter_*"))]
    return Adapter(path=str(folder.absolute()), sha256=sha256_of(found))


def asking(card: AskedModel, budget: Budget | None = None) -> Ask:
    """Return the engine of a settled model card that is asked, within a budget.

    Raises UserError for a card whose adapter is to be trained and is not there.
    """
    if isinstance(card, VllmModel) and card.adapter == TRAINED:
        raise UserError(
            "the adapter of this model is not there: a study has to train it",
            where=f"models/{card.model}.yaml, key adapter",
            got=TRAINED,
            todo="run the study that does (its key `distill`)",
        )
    module = import_module(ENGINES[card.engine])
    if budget is None or isinstance(card, OpenAIModel):
        return cast(Ask, module.build(card, budget) if budget else module.build(card))
    return within(budget, cast(Ask, module.build(card)))
