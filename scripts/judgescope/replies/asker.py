"""A model that is asked for something else than judgments: its store, budget and engine, opened."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.prompts import Templates, messages
from judgescope.replies.asking import obtain
from judgescope.replies.budget import spending
from judgescope.replies.lookup import Draw
from judgescope.replies.specs import ModelSpec, PromptSpec, WriterSpec
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.loading import read_card

Obtain = Callable[[Iterable[Request]], dict[Draw, Reply]]
"""Requests -> the reply to every draw of them, asked for where the store lacks it."""
RequestFor = Callable[[str, Mapping[str, Any]], Request]
"""(what it is about, variables of its form) -> the request of a writer."""


@contextmanager
def asker(
    spec: ModelSpec, *, card: str, store: str, budget: str
) -> Iterator[tuple[PromptedModel, Obtain]]:
    """Open the model of a job's spec; what it is asked goes through the store and the caps.

    `card`, `store` and `budget` are the job's options: where the model is asked, where its replies
    lie, what may be spent.
    """
    model = read_card("model", Path(card)).model_copy(update=spec.card)
    model = settled(model, Path(spec.folder), Path(spec.data))
    assert isinstance(model, PromptedModel)
    with (
        Store(Path(store), model.served_name) as shard,
        spending(budget, shard, model) as allowed,
    ):
        engine = asking(model, allowed)
        yield model, lambda requests: obtain(requests, shard, engine, model.price)


@contextmanager
def writer(spec: WriterSpec, seed: int, **options: str) -> Iterator[tuple[RequestFor, Obtain]]:
    """Open a writer's model (see `asker`); yield how its requests are made, and obtained."""
    with asker(spec.model, **options) as (model, obtain):

        def request_for(about: str, variables: Mapping[str, Any]) -> Request:
            return prompted(spec, spec.templates, model, variables, seed=seed, about=about)

        yield request_for, obtain


def prompted(
    spec: PromptSpec,
    templates: Templates,
    model: PromptedModel,
    variables: Mapping[str, Any],
    *,
    seed: int,
    about: str,
) -> Request:
    """Return the request of a form that is filled with variables; `seed` is the study's."""
    filled = messages(spec.form, templates, **variables)
    decoding = Decoding.model_validate(spec.decoding)
    return request_of(model, decoding, filled, seed=seed, about=about)
