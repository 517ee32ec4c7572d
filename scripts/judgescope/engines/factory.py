"""Builds the engines that are asked, within a budget (see `requests.Ask`)."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

from judgescope.core.errors import UserError
from judgescope.data.files import absolute, sha256_of, verify
from judgescope.engines import ENGINES
from judgescope.engines.requests import Ask, Budget, Failure, Hold, Keep, Reply, Work
from judgescope.schema.cards import (
    TRAINED,
    Adapter,
    AskedModel,
    CommandModel,
    LlamaModel,
    OpenAIModel,
    ProbedModel,
    VllmModel,
)
from judgescope.schema.cards.models import ADAPTER_FILES
from judgescope.schema.loading import priced

FILES_NAMED = ("api_key_file", "proxy_auth_file", "ca_file", "tokenizer")
"""Keys of an endpoint's card whose values are files."""


def settled(card: AskedModel, folder: Path, data: Path, trained: str | None = None) -> AskedModel:
    """Return a card with the paths and hashes of its files, which requests and engine need.

    `folder` is the card's folder, `data` replaces `{data}` in its paths, `trained` is the folder of
    the adapter that the study trains, which need not exist yet. Raises UserError for any other file
    that is missing or does not match the card.
    """
    if isinstance(card, VllmModel) and trained and Path(trained, ADAPTER_FILES[0]).is_file():
        card = card.model_copy(update={"adapter": adapter_in(Path(trained))})
    if isinstance(card, OpenAIModel):
        card = priced(located(card, folder, data))
        if card.ca_file:
            import_module("judgescope.engines.openai.connection").trusted(card)
        return card
    hashes = verify(card, folder, data, where=f"models/{card.model}.yaml")
    result = cast(AskedModel, import_module(ENGINES[card.engine]).located(card, folder, data))
    if isinstance(card, CommandModel | LlamaModel):
        return result.model_copy(update={"sha256": hashes})
    return result


def located(card: OpenAIModel, folder: Path, data: Path) -> OpenAIModel:
    """Return an endpoint's card with the absolute paths of its files."""
    named = {name: getattr(card, name) for name in FILES_NAMED}
    return card.model_copy(
        update={name: absolute(path, folder, data) for name, path in named.items() if path}
    )


def adapter_in(folder: Path) -> Adapter:
    """Return the adapter in a folder, with the hash of its files."""
    paths = [(path, dict[str, str]()) for path in sorted(folder.glob("adapter_*"))]
    return Adapter(path=str(folder.absolute()), sha256=sha256_of(paths))


def asking(card: AskedModel, budget: Budget | None = None) -> Ask:
    """Return the engine of a settled model card, within a budget.

    Raises UserError for a card whose adapter is not trained yet.
    """
    if isinstance(card, VllmModel) and card.adapter == TRAINED:
        raise UserError(
            "this model's adapter has not been trained yet",
            where=f"models/{card.model}.yaml, key adapter",
            got=TRAINED,
            todo="run the study that trains it (its key `distill`)",
        )
    build = import_module(ENGINES[card.engine]).build
    if isinstance(card, ProbedModel):  # reserves for each request that it sends
        return cast(Ask, build(card, budget))
    engine = cast(Ask, build(card))
    return engine if budget is None else within(budget, engine)


def within(budget: Budget, ask: Ask) -> Ask:
    """Return an engine that gets no more work than the budget allows.

    If finished requests free budget, the engine is called again for the rest; if not, the error is
    raised once all replies in flight are stored.
    """

    def ask_within(work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        reserved = _ReservedWork(budget, iter(work), keep)
        failures: list[Failure] = []
        while reserved.has_next():
            failures += ask(reserved.work(), proven, reserved.keep)
            reserved.release()
        if reserved.error is not None:
            raise reserved.error
        return failures

    return ask_within


class _ReservedWork:
    """Work that the budget allows, and the holds of requests that still lack replies."""

    def __init__(self, budget: Budget, work: Iterator[Work], keep: Keep) -> None:
        self.budget, self._rest, self._keep = budget, work, keep
        self.error: UserError | None = None
        self._next: Work | None = None
        self._holds: dict[str, tuple[Hold, list[Reply]]] = {}

    def has_next(self) -> bool:
        if self.error is None and self._next is None:
            self._next = next(self._rest, None)
        return self.error is None and self._next is not None

    def work(self) -> Iterator[Work]:
        """Yield work until the budget allows no more."""
        while self.has_next():
            work = self._next
            assert work is not None
            try:
                hold = self.budget.reserve(work.request, len(work.draws))
            except UserError as error:
                self.error = error
                return
            if hold is None:
                return
            self._next = None
            self._holds[work.request.key] = (hold, [])
            yield work

    def keep(self, reply: Reply) -> None:
        """Store a reply; settle its request once all its draws have arrived."""
        self._keep(reply)
        hold, replies = self._holds[reply.key]
        replies.append(reply)
        if len(replies) == hold.draws:
            self.budget.settle(*self._holds.pop(reply.key))

    def release(self) -> None:
        for hold, replies in self._holds.values():
            self.budget.settle(hold, replies)
        self._holds.clear()
