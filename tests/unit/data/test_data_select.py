from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.data.rated import DatasetContent, Item, Output, Rating
from judgescope.data.select import Original, original, originals, select
from judgescope.schema.cards import Select

COUNT = 20


def rated(order: int = 1) -> DatasetContent:
    names = [f"i{number:02}" for number in range(COUNT)][::order]
    return DatasetContent(
        items=[
            Item(name, "s", ("r" * (index + 1),), {})
            for index, name in enumerate(names)
        ],
        outputs=[
            Output(f"{name}:{system}", name, system, "t", 1, "x")
            for name in names
            for system in ("m-1", "m-2")
        ],
        ratings=[
            Rating(f"{name}:{system}", "fluency", "r", 1.0)
            for name in names
            for system in ("m-1", "m-2")
        ],
        systems={"m-1": "M 1", "m-2": "M 2"},
    )


def chosen(
    rule: dict[str, Any], seed: int = 0, order: int = 1, dataset: str = "mine"
) -> DatasetContent:
    return select(rated(order), Select(**rule), seed, dataset)


def names(expected: DatasetContent) -> list[str]:
    return [item.item for item in expected.items]


def test_without_a_rule_everything_stays() -> None:
    assert chosen({}) == rated()


def test_drawn_items_come_with_their_outputs_and_ratings_in_order() -> None:
    result = chosen({"n": 7})
    assert len(result.items) == 7 and names(result) == sorted(names(result))
    assert {output.item for output in result.outputs} == set(names(result))
    assert {rating.target for rating in result.ratings} == {
        output.target for output in result.outputs
    }
    assert len(result.outputs) == len(result.ratings) == 14


def test_the_draw_depends_on_seed_and_dataset_and_not_on_the_order_of_the_data() -> (
    None
):
    assert names(chosen({"n": 7})) == names(chosen({"n": 7}))
    assert set(names(chosen({"n": 7}))) == set(names(chosen({"n": 7}, order=-1)))
    assert names(chosen({"n": 7})) != names(chosen({"n": 7}, seed=1))
    assert names(chosen({"n": 7})) != names(chosen({"n": 7}, dataset="other"))


def test_too_few_items_is_an_error_that_says_how_many() -> None:
    with pytest.raises(UserError, match="there are only 20 items") as error:
        chosen({"n": 21})
    assert "key select.n" in str(error.value) and "allowed: 1 to 20" in str(error.value)
    with pytest.raises(
        UserError, match="only 0 items whose original has 99 characters or more"
    ):
        chosen({"min_characters": 99})


@pytest.mark.parametrize("name", ["M 1", "m-1"])
def test_systems_are_dropped_by_name_or_id(name: str) -> None:
    result = chosen({"drop_systems": [name]})
    assert (
        {output.system for output in result.outputs} == {"m-2"} == set(result.systems)
    )
    assert len(result.ratings) == COUNT == len(result.items)


def test_an_unknown_system_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown system") as error:
        chosen({"drop_systems": ["M  2"]})
    assert "key select.drop_systems" in str(error.value) and "nearest: M 2" in str(
        error.value
    )


def test_short_originals_are_left_out_before_the_draw() -> None:
    assert names(chosen({"min_characters": 19})) == ["i18", "i19"]
    assert names(chosen({"min_characters": 19, "n": 2})) == ["i18", "i19"]


ITEM = Item("i", "s", ("One.", "Two. Two.", "Also. Two."), {})


def test_the_original_is_the_first_reference_or_the_first_with_most_of_something() -> (
    None
):
    assert original(ITEM, "first_reference") == Original(0, "One.")
    assert original(ITEM, "most_sentences") == Original(1, "Two. Two.")
    assert original(ITEM, "longest") == Original(2, "Also. Two.")
    assert original(ITEM, "none") is None


def test_of_equally_long_references_the_first_is_the_original() -> None:
    assert original(Item("i", "s", ("a", "bc", "de"), {}), "longest") == Original(
        1, "bc"
    )


def test_an_item_without_references_has_no_original() -> None:
    bare = Item("j", "s", (), {})
    result = originals(DatasetContent([ITEM, bare], [], []), Select())
    assert result == {"i": Original(0, "One.")}
