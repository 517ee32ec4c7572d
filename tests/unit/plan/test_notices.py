"""Lines of `check` about what a study cannot show."""

from types import SimpleNamespace
from typing import Any

import pytest

from judgescope.plan.notices import systems_untested


def plan_of(aspects: int, **card: Any) -> Any:
    data = SimpleNamespace(ratings="human", has_unknown_systems=False)
    data.__dict__.update(card)
    names = [f"a{number}" for number in range(aspects)]
    return SimpleNamespace(datasets={"d": data}, plain_aspects=lambda dataset: names)


def lines(systems: int, aspects: int, **card: Any) -> list[str]:
    items = [f"i{item}" for item in range(12) for _ in range(systems)]
    names = [f"s{system}" for _ in range(12) for system in range(systems)]
    return list(systems_untested(plan_of(aspects, **card), "d", items, names))


@pytest.mark.parametrize(("systems", "aspects"), [(5, 3), (6, 18), (8, 125), (1, 4)])
def test_no_line_where_the_test_can_pass_or_there_is_one_system(
    systems: int, aspects: int
) -> None:
    assert lines(systems, aspects) == []


def test_too_many_aspects_for_the_number_of_systems_are_named() -> None:
    [line] = lines(5, 4)
    assert "5 systems allow the test for 3 aspects, the study has 4" in line
    [line] = lines(3, 1)
    assert "3 systems are too few for it" in line


def test_unrated_and_anonymous_texts_have_no_line() -> None:
    assert lines(3, 1, ratings="none") == []
    assert lines(3, 1, has_unknown_systems=True) == []
