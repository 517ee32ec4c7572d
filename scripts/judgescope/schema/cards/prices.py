"""What tokens cost: the price of a model's card, and the list of prices that ships."""

from datetime import date as Date
from typing import Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from judgescope.schema.cards.base import Card, repeated


class Price(Card):
    """What a million tokens cost, in US dollars."""

    input: float = Field(ge=0)
    """Per million tokens of the prompt."""
    output: float = Field(ge=0)
    """Per million tokens of the reply."""
    cached_input: float | None = Field(None, ge=0)
    """Per million tokens of the prompt that were cached; default: `input`."""
    batch: float = Field(1, ge=0, le=1)
    """What a batch costs (`judgescope batch submit`), as a share of these prices."""

    @model_serializer(mode="wrap")
    def _without_batch(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out `batch` where it says nothing: jobs do not run again for it."""
        price: dict[str, Any] = dump(self)
        return {name: value for name, value in price.items() if (name, value) != ("batch", 1)}

    def of_batch(self) -> "Price":
        """Return the price of tokens in a batch."""
        cached = None if self.cached_input is None else self.cached_input * self.batch
        return Price(
            input=self.input * self.batch, output=self.output * self.batch, cached_input=cached
        )


class ListedPrice(Price):
    """The price of a provider's model in config/prices.yaml, with where and when it was read."""

    host: str = Field(exclude=True, pattern=r"^[a-z0-9.-]+$")
    """The host of the address at which the price holds."""
    model: str = Field(exclude=True, min_length=1)
    """The name by which the endpoint knows the model."""
    source: str = Field(exclude=True, pattern=r"^https://\S+$")
    """The page with the price."""
    date: Date = Field(exclude=True)
    """When the page was read."""
    note: str = Field("", exclude=True)
    """For what the price holds, if not for every request."""


class PriceTable(Card):
    """Prices that ship with the workflow; a model's card goes before it."""

    prices: list[ListedPrice]
    """A row per model of a provider."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        if twice := repeated(f"{row.model} at {row.host}" for row in self.prices):
            raise ValueError(f"a model has two prices: {twice}")
        return self
