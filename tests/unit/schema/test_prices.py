"""The table of prices: which models it prices, and that a card goes before it."""

from datetime import date
from pathlib import Path

import pytest

from judgescope.core.errors import UserErrors
from judgescope.engines.factory import settled
from judgescope.replies.ledger import Account
from judgescope.schema import prices
from judgescope.schema.cards import ListedPrice, OpenAIModel, Price
from judgescope.schema.loading import load_yaml, read_card, validate_card
from running import HOME

TABLE = validate_card("prices", load_yaml(prices.TABLE)[0], "prices.yaml").prices
BY_TOKEN = {"openai", "openai-reasoning", "anthropic", "gemini"}
"""Shipped cards of a provider's model whose price is listed."""
ROW = {"host": "h.org", "model": "m", "input": 1, "output": 2, "source": "https://h.org/p"}


def card(host: str, name: str, **keys: object) -> OpenAIModel:
    fields = {"model": "it", "engine": "openai", "base_url": f"https://{host}/v1", "name": name}
    return OpenAIModel.model_validate(fields | keys)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.model)
def test_every_price_is_plausible_and_names_where_and_when_it_was_read(row: ListedPrice) -> None:
    assert (
        0 < row.input < row.output < 100 and row.batch in (0.5, 1) and date(2026, 1, 1) <= row.date
    )
    assert row.cached_input is None or row.cached_input < row.input
    found = prices.priced(card(row.host, row.model))
    assert found.price == row


def test_a_price_holds_for_one_model_at_one_host() -> None:
    row = TABLE[0]
    for host, name in (
        ("127.0.0.1", row.model),
        (row.host, "another"),
        (row.host, f"{row.model}x"),
    ):
        assert prices.priced(card(host, name)).price is None
    port = card(f"{row.host}:443", row.model)
    assert prices.priced(port).price == row
    assert prices.priced(port).identity() == port.identity()


def test_the_card_goes_before_the_table_also_where_it_says_nothing_is_paid() -> None:
    row = TABLE[0]
    free = card(row.host, row.model, price={"input": 0, "output": 0})
    assert prices.priced(free) is free


@pytest.mark.parametrize("path", [*(HOME / "config/models").glob("*.yaml")], ids=lambda p: p.stem)
def test_shipped_cards_of_priced_providers_have_a_price(path: Path) -> None:
    model = read_card("model", path)
    if isinstance(model, OpenAIModel):
        model = settled(model, path.parent, path.parent)
        assert isinstance(model, OpenAIModel)
        assert isinstance(model.price, ListedPrice) == (path.stem in BY_TOKEN)


def test_jobs_and_ledger_see_a_listed_price_as_any_other() -> None:
    """Without source and date, which change no number."""
    row = TABLE[0]
    content = row.model_dump()
    assert content.keys() == Price.model_fields.keys() - ({"batch"} if row.batch == 1 else set())
    assert Price.model_validate(content).input == row.input
    assert Account("it", content, "j", "h", 1).price == content


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"date": "soon"}, "key prices.0.date"),
        ({"date": "2026-11-26", "source": "a blog"}, "key prices.0.source"),
        ({"date": "2026-11-26", "input": -1}, "key prices.0.input"),
        ({"date": "2026-11-26", "outputs": 1}, "key prices.0.outputs"),
    ],
)
def test_a_wrong_row_is_named(change: dict[str, object], problem: str) -> None:
    with pytest.raises(UserErrors, match=problem):
        validate_card("prices", {"prices": [ROW | change]}, "prices.yaml")


def test_two_prices_of_a_model_are_refused() -> None:
    row = ROW | {"date": "2026-11-26"}
    with pytest.raises(UserErrors, match=r"two prices: m at h\.org"):
        validate_card("prices", {"prices": [row, row]}, "prices.yaml")
