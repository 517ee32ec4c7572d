"""Judges made from others' scores."""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.parsing.annotation import MOST
from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.text import MATCHES, LocatedSpan, locate_errors, occurrence_of
from judgescope.scoring.ensembles import (
    Merged,
    derive_part,
    merge_spans,
    outliers,
)
from judgescope.scoring.specs import CellPart
from members import tables_of

LOST = ("refused", "not_applicable")
CELL = {"dataset": "d", "perturbation": "systems", "judge": "both", "aspect": "x"}


def derive(
    *members: Mapping[str, float | None], least: int = 1, labels: tuple[str, ...] = ()
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return the judgments and scores made of target -> score of each member."""
    tables = [
        tables_of(
            [
                {"judge": f"m{number}", "target": target, "value": value}
                for target, value in member.items()
            ]
        )
        for number, member in enumerate(members)
    ]
    judgments, scores = derive_part(
        tables, part=CellPart(**CELL), min_annotators=least, labels=labels
    )
    return judgments.to_pylist(), scores.to_pylist()


def test_a_score_is_the_mean_of_the_members_and_says_how_many_there_were() -> None:
    judgments, scores = derive({"b": 1, "a": 4}, {"a": 5, "b": None}, {"a": 3, "b": 2})
    actual = [
        (row["target"], row["value"], row["n_draws"], row["n_missing"])
        for row in scores
    ]
    assert actual == [("a", 4.0, 3, 0), ("b", 1.5, 3, 1)]
    assert {row["judge"] for row in scores} == {"both"}
    assert [(row["target"], row["status"], row["kind"]) for row in judgments] == [
        ("a", "ok", "derive"),
        ("b", "ok", "derive"),
    ]


@pytest.mark.parametrize(("least", "value"), [(1, 1.5), (2, 1.5), (3, None)])
def test_too_few_members_make_no_score(least: int, value: float | None) -> None:
    judgments, scores = derive({"b": 1}, {"b": None}, {"b": 2}, least=least)
    assert scores[0]["value"] == judgments[0]["value"] == value
    assert judgments[0]["status"] == ("ok" if value else "unparsed")


def test_a_text_is_lost_unless_members_do_not_apply_to_it() -> None:
    """What is lost counts against a judge; what it cannot judge does not."""
    lost, alien = ({"target": "a", "value": None, "status": each} for each in LOST)
    scored: dict[str, Any] = {"target": "a", "value": 4}
    for rows, status in (
        ((scored, scored, lost), "ok"),
        ((scored, lost, lost), "unparsed"),
        ((scored, lost, alien), "unparsed"),
        ((scored, alien, alien), "not_applicable"),
    ):
        members = [tables_of([row]) for row in rows]
        judgments, _ = derive_part(members, part=CellPart(**CELL), min_annotators=2)
        assert judgments["status"].to_pylist() == [status]


def test_the_order_of_members_changes_nothing() -> None:
    members = [{"a": 0.1}, {"a": 0.2}, {"a": 0.3}]
    assert derive(*members)[1] == derive(*members[::-1])[1]


Rows = list[dict[str, Any]]


def derive_rows(*members: Rows) -> tuple[Rows, Rows]:
    tables = [tables_of(rows) for rows in members]
    judgments, scores = derive_part(tables, part=CellPart(**CELL), min_annotators=1)
    return judgments.to_pylist(), scores.to_pylist()


def test_pairs_and_criteria_are_scored_separately_and_in_order() -> None:
    units: Rows = [
        {"target": "a", "target_b": "c", "criterion": None},
        {"target": "a", "target_b": "B", "criterion": "y"},
        {"target": "a", "target_b": "B", "criterion": None},
        {"target": "a", "target_b": None, "criterion": None},
    ]
    first = [unit | {"value": value} for value, unit in enumerate(units)]
    second = [unit | {"value": value + 10} for value, unit in enumerate(units)]
    judgments, scores = derive_rows(first, second[::-1])
    actual = [(row["target_b"], row["criterion"], row["value"]) for row in scores]
    assert actual == [(None, None, 8), ("B", None, 7), ("B", "y", 6), ("c", None, 5)]
    assert [
        (row["target_b"], row["criterion"], row["value"]) for row in judgments
    ] == actual


def test_zero_is_a_score_and_no_score_says_why() -> None:
    rows: Rows = [{"target": "a", "value": 0}, {"target": "b", "value": None}]
    judgments, scores = derive_rows(rows)
    assert [row["value"] for row in scores] == [0, None]
    assert [(row["status"], row["rule"]) for row in judgments] == [
        ("ok", "mean of members"),
        ("unparsed", "too few members with a score"),
    ]


def test_rows_are_of_the_derived_judges_only() -> None:
    judgments, scores = derive_rows([{"judge": "m", "target": "a", "value": 1}])
    assert (judgments[0]["judge"], judgments[0]["aspect"]) == ("both", "x")
    assert {name: scores[0][name] for name in CELL} == CELL
    assert scores[0]["estimator"] == "mean of members"


def test_the_mean_is_not_lost_between_large_scores() -> None:
    members: list[Rows] = [
        [{"target": "a", "value": value}] for value in (1e16, 1.0, -1e16)
    ]
    assert derive_rows(*members)[1][0]["value"] == 0.333333333


def by_fractions(scores: Sequence[Fraction | int]) -> list[bool]:
    n = len(scores)
    mean = Fraction(sum(scores), n)
    variance = sum(((x - mean) ** 2 for x in scores), Fraction(0)) / n
    return [(x - mean) ** 2 >= 4 * variance and abs(x - mean) >= 1 for x in scores]


def test_by_hand() -> None:
    assert outliers([1, 3, 3, 3, 3]) == [True, False, False, False, False]
    assert outliers([2, 3, 3, 3, 3]) == [False] * 5  # 2 deviations, but .8 points
    assert outliers([1, 3, 3, 3, 4]) == [False] * 5
    assert outliers([1, 5, 5, 5]) == [False] * 4  # sqrt(3) deviations
    assert outliers([None, 5, 5, None, 1, 5, 5]) == [False] * 4 + [True] + [False] * 2
    assert (
        outliers([]) == [] and outliers([None]) == [False] and outliers([4]) == [False]
    )
    assert outliers([4] * 5) == [False] * 5


@pytest.mark.heavy
def test_all_vectors_of_five_scores_as_exact_fractions_say() -> None:
    vectors = list(product(range(1, 6), repeat=5))
    collected = [outliers(vector) for vector in vectors]
    assert collected == [by_fractions(vector) for vector in vectors]
    assert sum(map(any, collected)) == sum(map(sum, collected)) == 60


def test_floats_miss_29_of_the_60() -> None:
    missed = 0
    for vector in product(range(1, 6), repeat=5):
        scores = np.array(vector, dtype=float)
        away = np.abs(scores - scores.mean())
        missed += (
            any(outliers(vector))
            and not ((away >= 2 * scores.std()) & (away >= 1)).any()
        )
    assert missed == 29


@pytest.mark.parametrize(
    ("step", "origin"),
    [
        (Fraction(1, 3), 1),
        (Fraction(1, 10), 0),
        (Fraction(1, 2), Fraction(1, 4)),
        (10, 0),
        (25, 1),
    ],
)
def test_any_step_is_exact(step: Fraction | int, origin: Fraction | int) -> None:
    for vector in product(range(4), repeat=5):
        exact = [Fraction(origin + k * step) for k in vector]
        assert outliers(exact) == by_fractions(exact)


@given(
    st.lists(st.integers(1, 5), max_size=9), st.integers(0, 10**6), st.integers(-9, 9)
)
def test_order_shift_and_mirror_do_not_matter(
    scores: list[int], seed: int, by: int
) -> None:
    result = outliers(scores)
    order = np.random.default_rng(seed).permutation(len(scores))
    assert outliers([scores[k] for k in order]) == [result[k] for k in order]
    assert outliers([by - score for score in scores]) == result
    assert not any(result) or len(scores) >= 5


def test_fractions_are_taken_exactly() -> None:
    thirds = [Fraction(5), Fraction(5), Fraction(5), Fraction(5), Fraction(10, 3)]
    assert outliers(thirds) == [False] * 4 + [True]


TEXT = (
    "Jae Crowder had 18 points. Al Horford had 11 points. Jae Crowder was next with "
    "12 points."
)


def error(
    quote: str | None,
    severity: int | None,
    why: str = "wrong",
    category: str | None = None,
) -> ErrorSpan:
    return ErrorSpan(quote, why, severity, category)


def merged(*annotators: Sequence[ErrorSpan], least: float = 0.5) -> Merged:
    return merge_spans(
        [locate_errors(annotator, TEXT) for annotator in annotators], TEXT, least=least
    )


def places_of(expected: Merged) -> list[tuple[str | None, int | None]]:
    return [(error.location, error.severity) for error in expected.errors]


def test_merging_by_hand() -> None:
    result = merged(
        [
            error("Jae Crowder", 2, "a", "WORD"),
            error("Al Horford", 5, "Another player."),
        ],
        [
            error("Crowder", 4, "not he", "NAME"),
            error("11 points", None, "much longer than that"),
        ],
        [
            error("jae crowder", 4, "wrong player", "NAME"),
            error("had 11 points", 1, "no"),
        ],
    )
    assert places_of(result) == [
        ("Al Horford", 5),
        ("Jae Crowder", 4),
        ("had 11 points", 1),
    ]
    player, points = result.errors[1:]
    assert (player.explanation, player.category) == ("wrong player", "NAME")
    assert (player.start, player.end, player.occurrence, player.match) == (
        0,
        11,
        1,
        "exact",
    )
    assert (points.explanation, points.occurrence, result.dropped) == ("no", 1, 0)


def test_places_that_overlap_too_little_are_two() -> None:
    both = [error("18 points", 3)], [error("Crowder had 18 points", 2)]
    assert places_of(merged(*both)) == [("18 points", 3), ("Crowder had 18 points", 2)]
    assert places_of(merged(*both, least=0.4)) == [
        ("Crowder had 18 points", 3)
    ]  # 9 of 21


def test_equal_places_without_a_character_are_one() -> None:
    spans = [LocatedSpan("", why, 1, None, 4, 4, 1, "exact") for why in ("a", "b")]
    assert [error.start for error in merge_spans([spans], TEXT).errors] == [4]


def test_unions_that_overlap_are_merged_until_none_are_left() -> None:
    text = "abcdefghij"
    places = [(0, 6), (3, 9), (0, 9), (8, 10)]
    spans = [LocatedSpan("x", "", 1, None, a, b, 1, "exact") for a, b in places]
    result = merge_spans([[span] for span in spans], text, least=0.6)
    assert [(error.start, error.end) for error in result.errors] == [(0, 9), (8, 10)]


def test_each_occurrence_of_equal_words_is_an_error_of_its_own() -> None:
    result = merged([error("Jae Crowder", 2)] * 2, [error("Jae Crowder", 3)])
    assert [(error.start, error.occurrence) for error in result.errors] == [
        (0, 1),
        (53, 2),
    ]
    assert [error.severity for error in result.errors] == [3, 2]


def test_errors_without_a_location_are_one_where_they_say_the_same() -> None:
    result = merged(
        [error(None, 3, "The score is left out."), error("Kemba  Walker", 2)],
        [error(None, 2, "the score is left out."), error("kemba walker", None)],
        [error(None, 2, "No date.")],
    )
    assert places_of(result) == [(None, 3), (None, 2), ("Kemba  Walker", 2)]
    assert {error.match for error in result.errors} == {"not_found"}


def test_the_most_severe_are_kept_and_the_others_counted() -> None:
    words = ["Jae", "18", "Al", "11", "was", "next", "with", "12", "Horford", "Kemba"]
    result = merged([error(word, 1 + (word == "12")) for word in words])
    kept = ["12", "Jae", "18", "Al", "Horford", "11", "was", "next"]
    assert [error.location for error in result.errors] == kept and result.dropped == 2
    assert merged() == merged([], []) == Merged([], 0)


@st.composite
def spans(draw: st.DrawFn) -> LocatedSpan:
    severity = draw(st.none() | st.integers(1, 5))
    why, name = (
        draw(st.sampled_from(["a", "bb", "cc"])),
        draw(st.sampled_from([None, "N", "W"])),
    )
    if draw(st.booleans()) and draw(st.booleans()):
        quote = draw(st.sampled_from([None, "Kemba", "kemba", "Q"]))
        return LocatedSpan(quote, why, severity, name, None, None, None, "not_found")
    start = draw(st.integers(0, 40))
    end = start + draw(st.integers(1, 20))
    number = occurrence_of(start, end, TEXT)
    match = draw(st.sampled_from(MATCHES[:3]))
    return LocatedSpan(TEXT[start:end], why, severity, name, start, end, number, match)


LISTS = st.lists(st.lists(spans(), max_size=6), max_size=5)
ENOUGH = st.sampled_from([0.01, 0.3, 0.5, 0.8, 1.0])


@pytest.mark.simulation
@settings(deadline=None)
@given(LISTS, ENOUGH, st.randoms(use_true_random=False))
def test_the_order_of_annotators_and_errors_does_not_matter(
    lists: list[list[LocatedSpan]], least: float, rng: random.Random
) -> None:
    result = merge_spans(lists, TEXT, least=least)
    mixed = [rng.sample(entry, len(entry)) for entry in rng.sample(lists, len(lists))]
    assert merge_spans(mixed, TEXT, least=least) == result
    given = [entry for each in lists for entry in each]
    assert bool(result.errors) == bool(given) and len(result.errors) <= MOST
    assert len(result.errors) + result.dropped <= len(given)
    if given and result.dropped == 0:
        worst = max(error.severity or 0 for error in given)
        assert (result.errors[0].severity or 0) == worst
        again = merge_spans([result.errors], TEXT, least=least)
        assert again.errors == result.errors
    for error in result.errors:
        if error.start is not None:
            assert error.location == TEXT[error.start : error.end]


def test_labels_have_a_majority_and_a_tie_is_stated_and_has_none() -> None:
    """The mean of "no", "no", "yes" would be "why"."""
    members: list[dict[str, float | None]] = [
        {"a": 0, "b": 0, "c": 1},
        {"a": 0, "b": 2, "c": None},
        {"a": 2, "b": None, "c": None},
    ]
    judgments, scores = derive(*members, least=2, labels=("no", "why", "yes"))
    assert [(row["value"], row["n_missing"], row["estimator"]) for row in scores] == [
        (0, 0, "majority of members"),
        (None, 1, "majority of members"),
        (None, 2, "majority of members"),
    ]
    assert [(row["label"], row["status"], row["rule"]) for row in judgments] == [
        ("no", "ok", "majority of members"),
        (None, "unparsed", "tie of members"),
        (None, "unparsed", "too few members with a score"),
    ]
