"""The table of prices that ships, for models whose cards have none."""

from functools import cache
from urllib.parse import urlsplit

from judgescope.core.paths import HOME
from judgescope.schema.cards import ListedPrice, OpenAIModel, PriceTable
from judgescope.schema.loading import load_yaml, validate_card

TABLE = HOME / "config" / "prices.yaml"


def priced(card: OpenAIModel) -> OpenAIModel:
    """Return a card with its price: its own, else the listed one of its model at its host."""
    if card.price is not None:
        return card
    listed = _prices().get((urlsplit(card.base_url).hostname or "", card.served_name))
    return card if listed is None else card.model_copy(update={"price": listed})


@cache
def _prices() -> dict[tuple[str, str], ListedPrice]:
    content, lines = load_yaml(TABLE)
    table: PriceTable = validate_card("prices", content, str(TABLE), lines)
    return {(row.host, row.model): row for row in table.prices}
