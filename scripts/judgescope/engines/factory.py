"""Builds the engines that are asked, within a budget (see `requests.Ask`)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar, cast

from judgescope.core.errors import UserError
from judgescope.data.files import absolute, sha256_of, verify
from judgescope.engines.requests import Ask, Budget, Failure, Hold, Keep, Reply, Work
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.cards.vllm import ADAPTER_FILES
from judgescope.schema.loading import priced

EndpointCard = TypeVar("EndpointCard", bound=cards.EndpointModel)
FILES_NAMED = ("api_key_file", "proxy_auth_file", "ca_file", "tokenizer")
"""Keys of an endpoint's card whose values are files."""


def settled(
    card: cards.AskedModel, folder: Path, data: Path, trained: str | None = None
) -> cards.AskedModel:
    """Return a card with the paths and hashes of its files, which requests and engine
    need.

    `folder` is the card's folder, `data` replaces `{data}` in its paths, `trained` is
    the folder of the adapter that the study trains, which need not exist yet. Raises
    UserError for any other file that is missing or does not match the card.
    """
    if (
        isinstance(card, cards.VllmModel)
        and trained
        and Path(trained, ADAPTER_FILES[0]).is_file()
    ):
        card = card.model_copy(update={"adapter": adapter_in(Path(trained))})
    if isinstance(card, cards.OpenAIModel | cards.SystemOneModel):
        card = priced(located(card, folder, data))
        locate = ENGINES[card.engine].located if card.ca_file else None
        return card if locate is None else locate(card, folder, data)
    hashes = verify(card, folder, data, where=f"models/{card.model}.yaml")
    locate = ENGINES[card.engine].located
    result = cast(
        cards.AskedModel,
        card if locate is None else locate(card, folder, data),
    )
    if isinstance(card, cards.ProgramModel | cards.LlamaModel):
        return result.model_copy(update={"sha256": hashes})
    return result


def located(card: EndpointCard, folder: Path, data: Path) -> EndpointCard:
    """Return an endpoint's card with the absolute paths of its files."""
    named = {name: getattr(card, name, None) for name in FILES_NAMED}
    return card.model_copy(
        update={
            name: absolute(path, folder, data) for name, path in named.items() if path
        }
    )


def adapter_in(folder: Path) -> cards.Adapter:
    """Return the adapter in a folder, with the hash of its files."""
    paths = []
    for path in sorted(folder.glob("adapter_*")):
        paths.append((path, dict[str, str]()))
    return cards.Adapter(path=str(folder.absolute()), sha256=sha256_of(paths))


def asking(card: cards.AskedModel, budget: Budget | None = None) -> Ask:
    """Return the engine of a settled model card, within a budget."""
    if isinstance(card, cards.VllmModel):
        assert card.adapter != cards.TRAINED, (
            "a study trains its adapter before it asks"
        )
    build = ENGINES[card.engine].build
    if isinstance(
        card, cards.ProbedModel | cards.SystemOneModel
    ):  # reserves for each request that it sends
        return cast(Ask, build(card, budget=budget))
    engine = cast(Ask, build(card))
    if budget is None:
        return engine
    return within(budget, engine)


def within(budget: Budget, ask: Ask) -> Ask:
    """Return an engine that gets no more work than the budget allows.

    If finished requests free budget, the engine is called again for the rest; if not,
    the error is raised once all replies in flight are stored.
    """

    def ask_within(work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        rest = iter(work)
        upcoming: Work | None = None
        error: UserError | None = None
        held: dict[
            str, tuple[Hold, list[Reply]]
        ] = {}  # of requests that still lack replies

        def has_next() -> bool:
            nonlocal upcoming
            if error is None and upcoming is None:
                upcoming = next(rest, None)
            return error is None and upcoming is not None

        def allowed() -> Iterator[Work]:
            nonlocal upcoming, error
            while has_next():
                assert upcoming is not None
                try:
                    hold = budget.reserve(upcoming.request, len(upcoming.draws))
                except UserError as problem:
                    error = problem
                    return
                if hold is None:
                    return
                held[upcoming.request.key] = (hold, [])
                piece = upcoming
                upcoming = None
                yield piece

        def keep_and_settle(reply: Reply) -> None:
            keep(reply)
            hold, replies = held[reply.key]
            replies.append(reply)
            if len(replies) == hold.draws:  # all have arrived
                budget.settle(*held.pop(reply.key))

        failures: list[Failure] = []
        while has_next():
            failures += ask(allowed(), proven, keep_and_settle)
            for hold, replies in held.values():
                budget.settle(hold, replies)
            held.clear()
        if error is not None:
            raise error
        return failures

    return ask_within
