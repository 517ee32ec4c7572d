"""Candidates for graded sets: how many errors which reference gets, and what they are
rated.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from judgescope.perturb.candidates import (
    PlannedCandidate,
    bases_of,
    by_rule,
    evenly,
    of_each_rating,
    on_trial,
)
from judgescope.perturb.edits import apply_edits
from judgescope.perturb.grading import (
    Grade,
    by_anchors,
    by_errors,
    chosen_of,
    counts_by_rating,
    usable,
    usual_errors,
)
from judgescope.perturb.writing import drawn_parts

TEXT = (
    "The mill opened in May 1803. It makes flour for the town. Many people like to "
    "see it work."
)
BASES = {
    item: [(f"{item}:original", TEXT), (f"{item}:reference.1", f"{TEXT} So do we.")]
    for item in "ab"
}
CLASSES = [1.0, 2.0, 3.0]


def test_even_candidates_have_each_number_of_errors_as_often_as_can_be() -> None:
    result = list(evenly(BASES, 4, [0, 2, 4]))
    assert [each.errors for each in result] == [0, 2, 4, 0, 2, 4, 0, 2]
    assert [each.base[0] for each in result[:4]] == ["a:original"] * 3 + [
        "a:reference.1"
    ]
    assert len({(text.item, text.number) for text in result}) == 8


def test_on_trial_each_number_of_errors_is_tried_once() -> None:
    actual = [(text.item, text.number, text.errors) for text in on_trial(BASES, 2)]
    assert actual == [(item, f"t{k}", k) for item in "ab" for k in range(3)]


def test_each_rating_gets_numbers_of_errors_that_it_had_on_trial() -> None:
    named: dict[str, Any] = {"seed": 1, "names": ["data", "set"]}
    result = list(of_each_rating(BASES, 3, [[4, 5], [2], [0]], **named))
    assert Counter(each.number.partition("-")[0] for each in result) == {
        "1": 6,
        "2": 6,
        "3": 6,
    }
    assert {each.errors for each in result if each.number.startswith("1-")} == {4, 5}
    assert result == list(of_each_rating(BASES, 3, [[4, 5], [2], [0]], **named))


def test_rules_put_in_as_many_errors_as_there_is_room_for_and_say_so() -> None:
    named: dict[str, Any] = {"seed": 1, "names": ["data", "set"]}
    each = PlannedCandidate("a", "1", ("a:original", TEXT), 3)
    made = by_rule(each, ["spelling", "negation"], **named)
    assert made.status == "ok" and made.text != TEXT
    assert apply_edits(TEXT, made.edits) == made.text
    assert made == by_rule(each, ["spelling", "negation"], **named)
    assert made != by_rule(each._replace(number="2"), ["spelling", "negation"], **named)
    assert by_rule(each._replace(errors=0), ["spelling"], **named).text == TEXT
    full = by_rule(each._replace(errors=90), ["number"], **named)
    assert full.status == "short: 1 of 90"
    row = {
        "item": "a",
        "target": "t",
        "text": full.text,
        "status": full.status,
        "step": 90,
    }
    assert usable([row])[0][0]["step"] == 1


def test_no_part_of_an_aspect_comes_again_before_all_have_come() -> None:
    drawn = drawn_parts(7, 3, seed=1, names=["d"])
    assert len(drawn) == 7 and set(drawn[:3]) == set(drawn[3:6]) == {0, 1, 2}


def test_further_references_are_the_most_diverse_and_unread_if_one_is_enough() -> None:
    others = {
        "a": [
            ("a:reference.1", TEXT),
            ("a:reference.2", "Ships sail."),
            ("a:reference.3", TEXT + " Yes."),
        ]
    }
    result = bases_of({"a": ("a:original", TEXT)}, others.__getitem__, 2)
    assert [name for name, _ in result["a"]] == ["a:original", "a:reference.2"]
    assert bases_of({"b": ("b:original", TEXT)}, others.__getitem__, 1)["b"] == [
        ("b:original", TEXT)
    ]


def row(
    target: str, errors: int, status: str = "ok", text: str | None = None
) -> dict[str, Any]:
    item = target[0]
    return {
        "item": item,
        "target": target,
        "text": text or target,
        "status": status,
        "step": errors,
    }


def test_texts_that_failed_or_exist_already_are_reported_and_not_used() -> None:
    rows = [
        row("a1", 0),
        row("a2", 1, "failed: it is a refusal"),
        row("a3", 0, text="a1"),
    ]
    kept, why = usable([*rows, row("b1", 0, text="a1")])
    assert [row["target"] for row in kept] == ["a1", "b1"]
    assert why == {"a2": "failed: it is a refusal", "a3": "the same text as a1"}


def test_the_number_of_errors_is_a_rating_where_a_class_has_it() -> None:
    result = by_errors(
        [row("a", 0), row("b", 2), row("c", 4), row("d", 3), row("e", 6)], 3, 2
    )
    assert [result[name].rating for name in "abcde"] == [2, 1, 0, None, None]


def comparisons(target: str, *outcomes: float | None) -> list[dict[str, Any]]:
    """Return the comparisons of a text with two anchors of each rating, alike."""
    return [
        {
            "target": target,
            "anchor": f"{rating}{at}",
            "rating": rating,
            "outcome": outcome,
        }
        for rating, outcome in zip(CLASSES, outcomes, strict=True)
        for at in range(2)
    ]


def test_comparisons_rate_texts_and_tell_where_they_lie_among_the_anchors() -> None:
    rows = [row("a1", 0), row("a2", 3), row("a3", 1)]
    values = [
        *comparisons("a1", 1, 1, 0),
        *comparisons("a2", 0, -1, -1),
        *comparisons("a3", 0, 0, 0),
    ]
    result = by_anchors(rows, values, CLASSES)
    assert result["a1"] == Grade(2, 2.0, False, (1.0, 0.0, 0.0, None))
    assert result["a2"].rating == 0 and result["a2"].shares == (None, 0.0, 0.0, 1.0)
    assert result["a3"] == Grade(None, status="unresolved")
    assert usual_errors(rows, result, 3).tolist() == [3, 1.5, 0]
    assert counts_by_rating(rows, result, 3) == [[3], [2], [0]]
    assert chosen_of(rows, result, 1, 3, seed=0) == {"a2"}
    assert chosen_of(rows, result, 5, 3, seed=0) == {"a1", "a2"}


def test_a_missing_answer_is_no_tie() -> None:
    rows = [row("a1", 0)]
    values = [*comparisons("a1", 1, 1, None)]
    assert (
        by_anchors(rows, values, CLASSES)["a1"].rating is None
    )  # it may be as good as the best
    values[-1]["outcome"] = 0
    assert by_anchors(rows, values, CLASSES)["a1"].rating == 2
    alone = by_anchors(rows, comparisons("a1", None, None, None), CLASSES)
    assert alone["a1"].rating is None


def test_usual_errors_settle_what_is_equal() -> None:
    rows = [row("a1", 5)]
    tied = [
        {
            "target": "a1",
            "anchor": f"{rating}{at}",
            "rating": rating,
            "outcome": outcome,
        }
        for rating, outcomes in zip(CLASSES, [(1, -1), (1, -1), (-1, -1)], strict=True)
        for at, outcome in enumerate(outcomes)
    ]
    assert by_anchors(rows, tied, CLASSES)["a1"].rating == 0
    settled = by_anchors(rows, tied, CLASSES, np.array([9.0, 5.0, 1.0]))["a1"]
    assert settled.rating == 1 and settled.tied


@pytest.mark.parametrize("wanted", [1, 2])
def test_of_equals_the_same_text_is_chosen_in_every_run_of_a_seed(wanted: int) -> None:
    rows = [row(f"a{at}", 0) for at in range(4)]
    grades = {row["target"]: Grade(1) for row in rows}
    first = chosen_of(rows, grades, wanted, 3, seed=3)
    assert (
        first == chosen_of(rows[::-1], grades, wanted, 3, seed=3)
        and len(first) == wanted
    )
