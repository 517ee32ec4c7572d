"""Several annotators' errors as one list: by hand, and whatever the order."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.parsing.annotation import MOST
from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.locate import MATCHES, LocatedSpan, locate_errors, occurrence_of
from judgescope.scoring.ensembles import Merged, merge_spans

TEXT = "Jae Crowder had 18 points. Al Horford had 11 points. Jae Crowder was next with 12 points."


def error(
    quote: str | None, severity: int | None, why: str = "wrong", category: str | None = None
) -> ErrorSpan:
    return ErrorSpan(quote, why, severity, category)


def merged(*annotators: Sequence[ErrorSpan], least: float = 0.5) -> Merged:
    return merge_spans([locate_errors(one, TEXT) for one in annotators], TEXT, least=least)


def told(found: Merged) -> list[tuple[str | None, int | None]]:
    return [(one.location, one.severity) for one in found.errors]


def test_by_hand() -> None:
    found = merged(
        [error("Jae Crowder", 2, "a", "WORD"), error("Al Horford", 5, "Another player.")],
        [error("Crowder", 4, "not he", "NAME"), error("11 points", None, "much longer than that")],
        [error("jae crowder", 4, "wrong player", "NAME"), error("had 11 points", 1, "no")],
    )
    assert told(found) == [
        ("Al Horford", 5),
        ("Jae Crowder", 4),
        ("had 11 points", 1),
    ]
    player, points = found.errors[1:]
    assert (player.explanation, player.category) == ("wrong player", "NAME")
    assert (player.start, player.end, player.occurrence, player.match) == (0, 11, 1, "exact")
    assert (points.explanation, points.occurrence, found.dropped) == ("no", 1, 0)


def test_places_that_overlap_too_little_are_two() -> None:
    both = [error("18 points", 3)], [error("Crowder had 18 points", 2)]
    assert told(merged(*both)) == [("18 points", 3), ("Crowder had 18 points", 2)]
    assert told(merged(*both, least=0.4)) == [("Crowder had 18 points", 3)]  # 9 of 21


def test_equal_places_without_a_character_are_one() -> None:
    spans = [LocatedSpan("", why, 1, None, 4, 4, 1, "exact") for why in ("a", "b")]
    assert [one.start for one in merge_spans([spans], TEXT).errors] == [4]


def test_unions_that_overlap_are_merged_until_none_are_left() -> None:
    text = "abcdefghij"
    places = [(0, 6), (3, 9), (0, 9), (8, 10)]
    spans = [LocatedSpan("x", "", 1, None, a, b, 1, "exact") for a, b in places]
    found = merge_spans([[one] for one in spans], text, least=0.6)
    assert [(one.start, one.end) for one in found.errors] == [(0, 9), (8, 10)]


def test_each_occurrence_of_equal_words_is_an_error_of_its_own() -> None:
    found = merged([error("Jae Crowder", 2)] * 2, [error("Jae Crowder", 3)])
    assert [(one.start, one.occurrence) for one in found.errors] == [(0, 1), (53, 2)]
    assert [one.severity for one in found.errors] == [3, 2]


def test_errors_without_a_place_are_one_where_they_say_the_same() -> None:
    found = merged(
        [error(None, 3, "The score is left out."), error("Kemba  Walker", 2)],
        [error(None, 2, "the score is left out."), error("kemba walker", None)],
        [error(None, 2, "No date.")],
    )
    assert told(found) == [(None, 3), (None, 2), ("Kemba  Walker", 2)]
    assert {one.match for one in found.errors} == {"not_found"}


def test_the_most_severe_are_kept_and_the_others_counted() -> None:
    words = ["Jae", "18", "Al", "11", "was", "next", "with", "12", "Horford", "Kemba"]
    found = merged([error(word, 1 + (word == "12")) for word in words])
    kept = ["12", "Jae", "18", "Al", "Horford", "11", "was", "next"]
    assert [one.location for one in found.errors] == kept and found.dropped == 2
    assert merged() == merged([], []) == Merged([], 0)


@st.composite
def spans(draw: st.DrawFn) -> LocatedSpan:
    severity = draw(st.none() | st.integers(1, 5))
    why, name = draw(st.sampled_from(["a", "bb", "cc"])), draw(st.sampled_from([None, "N", "W"]))
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
    found = merge_spans(lists, TEXT, least=least)
    mixed = [rng.sample(one, len(one)) for one in rng.sample(lists, len(lists))]
    assert merge_spans(mixed, TEXT, least=least) == found
    given = [one for each in lists for one in each]
    assert bool(found.errors) == bool(given) and len(found.errors) <= MOST
    assert len(found.errors) + found.dropped <= len(given)
    if given and found.dropped == 0:
        worst = max(one.severity or 0 for one in given)
        assert (found.errors[0].severity or 0) == worst
        again = merge_spans([found.errors], TEXT, least=least)
        assert again.errors == found.errors
    for one in found.errors:
        if one.start is not None:
            assert one.location == TEXT[one.start : one.end]
