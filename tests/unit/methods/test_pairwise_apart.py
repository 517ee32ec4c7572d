"""Votes on texts of a chain, by how many errors the two texts are apart."""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from judgescope.methods import pairwise
from methods_setup import ITEMS, TARGETS, Row, study

STEPS = 4
Pair = tuple[int, int]


def row_of(item: int) -> list[Row]:
    """Return an item's texts: so many errors as their step."""
    cell = {"item": f"i{item:02}", "perturbation": "worse", "degree": "single", "text": "a"}
    return [{**cell, "target": f"i{item:02}:{step}", "step": step} for step in range(1, STEPS + 1)]


def told(vote: Callable[[int, int, int], float | None], pairs: list[Pair]) -> list[Row]:
    """Return the rows of a judge that is asked about these pairs of steps of every item.

    vote(item, step, other) is 1 where the text shown first is called better.
    """
    place = {"judge": "judge", "aspect": "clear", "draw": 0, "perturbation": "worse.single"}
    votes = [
        {**place, "target": f"i{at:02}:{a}", "target_b": f"i{at:02}:{b}", "value": vote(at, a, b)}
        for at in range(ITEMS)
        for a, b in pairs
    ]
    targets = [row for item in range(ITEMS) for row in row_of(item)]
    judged = study({}, cards={"judge": {}}, draws=votes, targets=targets)
    return [dict(row) for row in pairwise.rows(judged)]


def apart(rows: Iterable[Mapping[str, Any]]) -> dict[int, Row]:
    return {
        row["k"]: dict(row) for row in rows if row["statistic"] == "accuracy_comparison_by_distance"
    }


ALL = [*permutations(range(1, STEPS + 1), 2)]
NEIGHBOURS = [(a, b) for a, b in ALL if abs(a - b) == 1]


def sees(item: int, a: int, b: int, *, least: Callable[[int], int]) -> float:
    """Choose right where the texts are at least so many errors apart, else neither."""
    return float(np.sign(b - a)) if abs(a - b) >= least(item) else 0.0


def test_a_judge_that_sees_two_errors_is_right_from_two_on() -> None:
    found = apart(told(lambda *pair: sees(*pair, least=lambda item: 2), ALL))
    assert {k: (row["value"], row["n"]) for k, row in found.items()} == {
        1: (0, 3 * ITEMS),
        2: (1, 2 * ITEMS),
        3: (1, ITEMS),
    }
    assert {(row["level"], row["perturbation"], row["degree"]) for row in found.values()} == {
        ("pooled", "worse", "single")
    }


def test_every_distance_has_its_own_share_and_interval() -> None:
    rows = told(lambda *pair: sees(*pair, least=lambda item: 1 + item % 3), ALL)
    found = apart(rows)
    assert [found[k]["value"] for k in (1, 2, 3)] == [5 / 15, 10 / 15, 1]
    for k in (1, 2):
        assert found[k]["ci_low"] < found[k]["value"] < found[k]["ci_high"]
    (whole,) = (row for row in rows if row["statistic"] == "accuracy_comparison")
    parts = sum(row["value"] * row["n"] for row in found.values())
    assert "k" not in whole
    assert whole["value"] * whole["n"] == pytest.approx(parts)


def test_only_distances_that_were_asked_have_a_row_and_no_vote_is_missing() -> None:
    def silent(item: int, a: int, b: int) -> float | None:
        return None if item < 3 else float(np.sign(b - a))

    found = apart(told(silent, NEIGHBOURS))
    assert list(found) == [1]
    assert (found[1]["value"], found[1]["n"], found[1]["n_missing"]) == (1, 36, 9)


def test_the_order_in_which_texts_are_named_changes_nothing() -> None:
    def vote(item: int, a: int, b: int) -> float:
        return float(np.sign(b - a)) if (item + a + b) % 3 else -1.0

    one = apart(told(vote, ALL))
    other = apart(told(vote, ALL[::-1]))
    assert one == other


def test_texts_that_people_rated_have_no_such_row() -> None:
    draws: list[dict[str, Any]] = [
        {"judge": "judge", "aspect": "clear", "draw": 0, "target": a, "target_b": b, "value": 1.0}
        for a, b in combinations([TARGETS[system] for system in range(4)], 2)
    ]
    rows = pairwise.rows(study({}, cards={"judge": {}}, draws=draws))
    assert rows and not apart(rows)
