"""A model that is asked for something else than judgments: its store, budget and engine, opened."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Reply, Request
from judgescope.replies.asking import obtain
from judgescope.replies.budget import spending
from judgescope.replies.lookup import Draw
from judgescope.replies.store import Store
from judgescope.schema.cards import PromptedModel
from judgescope.schema.loading import read_card

Obtain = Callable[[Iterable[Request]], dict[Draw, Reply]]
"""Requests -> the reply to every draw of them, asked for where the store lacks it."""


@contextmanager
def asker(
    spec: Mapping[str, Any], *, card: str, store: str, budget: str
) -> Iterator[tuple[PromptedModel, Obtain]]:
    """Open the model of a job's spec; what it is asked goes through the store and the caps.

    `card`, `store` and `budget` are the job's options: where the model is asked, where its replies
    lie, what may be spent.
    """
    model = read_card("model", Path(card)).model_copy(update=spec["model"])
    model = settled(model, Path(spec["folder"]), Path(spec["data"]))
    assert isinstance(model, PromptedModel)
    with (
        Store(Path(store), model.served_name) as shard,
        spending(budget, shard, model) as allowed,
    ):
        engine = asking(model, allowed)
        yield model, lambda requests: obtain(requests, shard, engine, model.price)
