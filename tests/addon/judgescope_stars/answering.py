"""An engine without a model: more stars for prompts with more small letters."""

from collections.abc import Iterable
from typing import Literal

from judgescope.engines.requests import Ask, Failure, Keep, Reply, Work
from judgescope.schema.cards import AddOnModel
from judgescope.schema.cards.base import Asking
from judgescope.schema.cards.engines import Engine

from .signs import STAR


class StarsModel(AddOnModel):
    """A model that answers in stars."""

    engine: Asking[Literal["stars"]]
    most: Asking[int] = 5
    """The most stars of a reply."""


def build(card: StarsModel) -> Ask:
    """Return the function that answers requests."""

    def ask(work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        for request, draws in work:
            small = sum(map(str.islower, request.prompt))
            for draw in draws:
                text = STAR * (1 + small % card.most)
                usage = {"prompt": 1, "completion": len(text)}
                version = {"engine": "stars", "model": card.name, "version": "1"}
                keep(Reply(request.key, draw, text, usage=usage, provenance=version))
        return []

    return ask


ENGINE = Engine(
    name="stars", card=StarsModel, build=build, asked=True, reads_prompts=True
)
