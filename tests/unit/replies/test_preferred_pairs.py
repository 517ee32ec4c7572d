"""Which pairs of texts a judge is asked to compare, and in which order."""

import pytest
from pydantic import ValidationError

from judgescope.engines.base import Subject
from judgescope.replies.judging import shown
from judgescope.schema.cards import Judge

SUBJECTS = [
    Subject(f"{item}:{system}", item, system, "systems", f"Text {item}{system}")
    for item in "ab"
    for system in "xyz"
]
PREFERRED = [("a:z", "a:x"), ("b:x", "b:y"), ("c:x", "c:y")]


def asked(preferred: list[tuple[str, str]], **keys: str) -> list[tuple[str, ...]]:
    judge = Judge.model_validate({"judge": "it", "model": "it", "form": "compare"} | keys)
    return [tuple(each.target for each in texts) for texts in shown(judge, SUBJECTS, preferred)]


def test_pairs_are_those_that_people_compared_in_both_orders() -> None:
    there = [("a:z", "a:x"), ("a:x", "a:z"), ("b:x", "b:y"), ("b:y", "b:x")]
    assert asked(PREFERRED) == there


def test_one_order_is_that_in_which_people_saw_them() -> None:
    assert asked(PREFERRED, orders="one") == [("a:z", "a:x"), ("b:x", "b:y")]
    assert asked([], orders="one", pairs="adjacent")[:2] == [("a:x", "a:y"), ("a:y", "a:z")]


def test_all_pairs_may_be_asked_none_the_less() -> None:
    assert len(asked(PREFERRED, pairs="all")) == 12


def test_an_order_that_is_not_set_changes_no_dump() -> None:
    fields = {"judge": "it", "model": "it", "form": "compare"}
    assert "orders" not in Judge.model_validate(fields).model_dump()
    assert Judge.model_validate({**fields, "orders": "one"}).model_dump()["orders"] == "one"
    with pytest.raises(ValidationError, match="form compare"):
        Judge.model_validate({"judge": "it", "model": "it", "orders": "one"})
