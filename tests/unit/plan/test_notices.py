"""Lines of `check` about what a study cannot show."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from judgescope.plan.notices import (
    estimated,
    not_estimated,
    systems_untested,
    untriaged,
)


def plan_of(aspects: int, **card: Any) -> Any:
    data = SimpleNamespace(ratings="people", has_unknown_systems=False)
    data.__dict__.update(card)
    names = [f"a{number}" for number in range(aspects)]
    return SimpleNamespace(datasets={"d": data}, plain_aspects=lambda dataset: names)


def lines(systems: int, aspects: int, **card: Any) -> list[str]:
    items = [f"i{item}" for item in range(12) for _ in range(systems)]
    names = [f"s{system}" for _ in range(12) for system in range(systems)]
    return list(systems_untested(plan_of(aspects, **card), "d", items, names))


@pytest.mark.parametrize(("systems", "aspects"), [(5, 3), (6, 18), (8, 125), (1, 4)])
def test_no_line_where_the_test_can_pass_or_there_is_a_single_system(
    systems: int, aspects: int
) -> None:
    assert lines(systems, aspects) == []


def test_too_many_aspects_for_the_number_of_systems_are_named() -> None:
    [line] = lines(5, 4)
    assert "5 systems allow the test for 3 aspects, not for 4" in line
    [line] = lines(3, 1)
    assert "3 systems are too few for it" in line


def test_unrated_and_anonymous_texts_have_no_line() -> None:
    assert lines(3, 1, ratings="none") == []
    assert lines(3, 1, has_unknown_systems=True) == []


def estimating(**card: Any) -> Any:
    data = SimpleNamespace(ratings="people", has_unknown_systems=False, prefers=False)
    data.__dict__.update(card)
    study = SimpleNamespace(methods=["agreement", "corrected"])
    return SimpleNamespace(study=study, datasets={"d": data}, evaluated=["d"])


def texts_of(items: int, systems: int = 2) -> pa.Table:
    rows = [
        {"item": f"i{item}", "system": f"s{system}", "target": f"i{item}.s{system}"}
        for item in range(items)
        for system in range(systems)
    ]
    return pa.Table.from_pylist(rows)


def rated_of(items: int) -> set[str]:
    return {f"i{item}.s0" for item in range(items)}


def test_check_counts_the_rated_sources_of_corrected_means() -> None:
    assert list(estimated(estimating(), "d", texts_of(30), rated_of(12))) == [
        "corrected: people rated 12 of 30 sources"
    ]
    few = list(estimated(estimating(), "d", texts_of(30), rated_of(9)))
    assert "no number is corrected" in few[1]
    every = list(estimated(estimating(), "d", texts_of(30), rated_of(30)))
    assert "adds nothing" in every[1]
    alone = list(estimated(estimating(), "d", texts_of(30, 1), rated_of(12)))
    assert "no difference" in alone[1]


def test_data_without_ratings_by_people_is_said_to_have_no_corrected_numbers() -> None:
    assert list(not_estimated(estimating())) == []
    for change in ({"ratings": "none"}, {"ratings": "planned"}, {"prefers": True}):
        plan = estimating(**change)
        [line] = not_estimated(plan)
        assert "no ratings of texts" in line and " d:" in line
        assert list(estimated(plan, "d", texts_of(30), rated_of(12))) == []


def test_a_study_without_these_methods_has_no_such_line() -> None:
    plan = estimating(ratings="none")
    plan.study.methods = ["agreement"]
    assert list(not_estimated(plan)) == []
    assert list(estimated(plan, "d", texts_of(30), rated_of(12))) == []


@pytest.mark.parametrize(
    ("good_from", "labels", "words"),
    [
        (None, [], "name the rating"),
        ({"other": 3.0}, [], "name the rating"),
        (9.0, [], "good_from 9 is outside its scale, 1 to 5"),
        (4.0, [], ""),
        (None, ["fail", "pass"], ""),
    ],
)
def test_check_says_where_triage_decides_nothing(
    good_from: object, labels: list[str], words: str
) -> None:
    scale = SimpleNamespace(min=1.0, max=5.0, categorical=bool(labels))
    plan: Any = SimpleNamespace(
        study=SimpleNamespace(
            methods=["triage"], triage=SimpleNamespace(good_from=good_from)
        ),
        evaluated=["d"],
        plain_aspects=lambda dataset: ["clear"],
        scale_of=lambda dataset, aspect: scale,
    )
    lines = [*untriaged(plan)]
    assert len(lines) == bool(words)
    assert all(words in line for line in lines)
    plan.study.methods = ["agreement"]
    assert [*untriaged(plan)] == []
