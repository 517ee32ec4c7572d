"""A study whose judge is asked in batches, and the endpoint of batches."""

from pathlib import Path
from typing import Any

from batch_endpoint import BatchEndpoint
from batch_setup import MODEL, Asked
from judgescope.engines.requests import Reply
from judgescope.extensions.batch.batches import Batches, Fetched
from judgescope.replies.caps import Cap
from judgescope.replies.ledger import Ledger, SpentUnits
from judgescope.schema.cards import OpenAIModel
from scripted import Body, Said, reply

PRICE = {"input": 2, "output": 8, "batch": 0.5}
ONE = (7 * 2 + 3 * 8) * 1000 // 2
"""Billionths of a dollar for a reply in a batch: 7 tokens of prompt and 3 of reply, at
half."""
DRAWS = 8


def rate(body: Body) -> Said:
    return reply(f"Rating: {1 + body['seed'] % 5}")


class Night:
    """A study of eight draws, its store, and the batches of its model."""

    def __init__(
        self, folder: Path, endpoint: BatchEndpoint, *caps: Cap, **keys: Any
    ) -> None:
        self.endpoint, self.caps = endpoint, caps
        self.asked = Asked(folder)
        fields = MODEL.model_dump() | {"base_url": endpoint.url, "price": PRICE} | keys
        self.card = OpenAIModel.model_validate(fields)
        self.store = folder / "store"

    @property
    def batches(self) -> Batches:
        """Return the batches as a new process sees them."""
        return Batches(self.store, "s", self.card)

    def submit(self) -> int:
        """Submit and return how many requests the endpoint was sent in all."""
        self.batches.submit(self.asked.work(), self.caps)
        return sum(len(self.endpoint.lines(ident)) for ident in self.endpoint.batches)

    def fetch(self) -> list[Fetched]:
        return [self.batches.fetch(each) for each in self.batches.mine()]

    def booked(self) -> tuple[SpentUnits, SpentUnits]:
        """Return what was spent, and what is reserved."""
        state = Ledger(self.store / ".budget" / "s").state()
        held = [account.held for account in state.open.values()]
        return state.spent.get("it", SpentUnits()), sum(held, SpentUnits())

    def replies(self) -> dict[tuple[str, int], Reply]:
        return {(reply.key, reply.draw): reply for reply in self.asked.replies()}
