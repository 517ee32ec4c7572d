"""The price that the card of a recorded model states for its judgments."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError

from judgescope.methods.base import Members, PriceStated
from judgescope.methods.cost import judge_estimates
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.cards import RecordedModel

SAID = "list price of 2024 for 900 tokens"


def recorded(**prices: Any) -> RecordedModel:
    card: dict[str, Any] = {"model": "m", "engine": "recorded", "dataset": "d"}
    card |= {"files": "x.csv", "rows": {"item": "id", "scores": {"clear": "c"}}}
    return RecordedModel.model_validate({**card, "prices": prices})


def estimates_of(judge: str, **stated: PriceStated | None) -> dict[str, Any]:
    """Return the cost of 400 judgments, of which 380 can be read."""
    facts = {}
    for name, price in stated.items():
        facts[name] = SimpleNamespace(engine="recorded", asked=False, stated=price)
    facts["both"] = SimpleNamespace(engine="derived", asked=False, stated=None)
    made = {"both": Members(members=[*stated], supervised=False)}
    spec = SimpleNamespace(judges=facts, made_of=made)
    data = cast(EvaluationData, SimpleNamespace(spec=spec))
    return dict(judge_estimates(data, {}, judge, 400, 380))


def test_a_form_has_a_separate_price_or_that_of_all_others() -> None:
    cheap = {"usd_per_1000": 0.1, "source": SAID}
    dear = {"usd_per_1000": 2.0, "source": SAID}
    card = recorded(**{"*": cheap, "big": dear})
    prices = [card.price_of(form) for form in ("big", "small")]
    assert [price.usd_per_1000 for price in prices if price] == [2.0, 0.1]
    assert recorded().price_of("big") is None
    with pytest.raises(ValidationError, match="source"):
        recorded(**{"*": {"usd_per_1000": 1.0}})


def test_a_stated_price_is_paid_for_unread_judgments_too_and_named() -> None:
    price = PriceStated(usd_per_1000=2.0, source=SAID)
    estimates = estimates_of("a", a=price)
    assert estimates["usd"].value == pytest.approx(0.8)
    assert estimates["usd_per_1000"].value == pytest.approx(1000 * 0.8 / 380)
    assert estimates["usd"].note == f"stated: {SAID}"


def test_a_derived_judge_costs_what_its_members_cost() -> None:
    prices = {
        name: PriceStated(usd_per_1000=price, source=SAID)
        for name, price in (("a", 2.0), ("b", 0.5))
    }
    assert estimates_of("both", **prices)["usd"].value == pytest.approx(1.0)


def test_without_a_stated_price_recorded_judgments_are_free() -> None:
    estimates = estimates_of("a", a=None)
    assert estimates["usd"].value == 0.0
    assert "free of charge" in estimates["usd"].note
