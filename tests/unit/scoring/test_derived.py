"""Judges made from others' scores."""

import random
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import running
from judgescope.core.errors import UserError, UserErrors
from judgescope.parsing.annotation import MOST
from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.text import MATCHES, LocatedSpan, locate_errors, occurrence_of
from judgescope.plan.loading import load_plan
from judgescope.schema.tables import table_of
from judgescope.scoring.aggregate import Scored
from judgescope.scoring.ensembles import (
    Merged,
    by_rule,
    by_supervisor,
    derive_part,
    exact_scores,
    heard,
    merge_spans,
    outliers,
    with_errors,
)
from judgescope.scoring.specs import CellPart
from members import tables_of
from parsed import parse
from study import Study

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
                for target, value in one.items()
            ]
        )
        for number, one in enumerate(members)
    ]
    judgments, scores = derive_part(
        tables, part=CellPart(**CELL), min_annotators=least, labels=labels
    )
    return judgments.to_pylist(), scores.to_pylist()


def test_a_score_is_the_mean_of_the_members_and_says_how_many_there_were() -> None:
    judgments, scores = derive({"b": 1, "a": 4}, {"a": 5, "b": None}, {"a": 3, "b": 2})
    told = [
        (row["target"], row["value"], row["n_draws"], row["n_missing"])
        for row in scores
    ]
    assert told == [("a", 4.0, 3, 0), ("b", 1.5, 3, 1)]
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
    lost, alien = ({"target": "a", "value": None, "status": one} for one in LOST)
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


def test_pairs_and_criteria_are_scored_apart_and_in_order() -> None:
    units: Rows = [
        {"target": "a", "target_b": "c", "criterion": None},
        {"target": "a", "target_b": "B", "criterion": "y"},
        {"target": "a", "target_b": "B", "criterion": None},
        {"target": "a", "target_b": None, "criterion": None},
    ]
    first = [unit | {"value": value} for value, unit in enumerate(units)]
    second = [unit | {"value": value + 10} for value, unit in enumerate(units)]
    judgments, scores = derive_rows(first, second[::-1])
    told = [(row["target_b"], row["criterion"], row["value"]) for row in scores]
    assert told == [(None, None, 8), ("B", None, 7), ("B", "y", 6), ("c", None, 5)]
    assert [
        (row["target_b"], row["criterion"], row["value"]) for row in judgments
    ] == told


def test_zero_is_a_score_and_no_score_says_why() -> None:
    rows: Rows = [{"target": "a", "value": 0}, {"target": "b", "value": None}]
    judgments, scores = derive_rows(rows)
    assert [row["value"] for row in scores] == [0, None]
    assert [(row["status"], row["rule"]) for row in judgments] == [
        ("ok", "mean of members"),
        ("unparsed", "too few members with a score"),
    ]


def test_rows_are_the_derived_judges_own() -> None:
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
    found = [outliers(vector) for vector in vectors]
    assert found == [by_fractions(vector) for vector in vectors]
    assert sum(map(any, found)) == sum(map(sum, found)) == 60


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
    found = outliers(scores)
    order = np.random.default_rng(seed).permutation(len(scores))
    assert outliers([scores[k] for k in order]) == [found[k] for k in order]
    assert outliers([by - score for score in scores]) == found
    assert not any(found) or len(scores) >= 5


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
        [locate_errors(one, TEXT) for one in annotators], TEXT, least=least
    )


def told(found: Merged) -> list[tuple[str | None, int | None]]:
    return [(one.location, one.severity) for one in found.errors]


def test_merging_by_hand() -> None:
    found = merged(
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
    assert told(found) == [("Al Horford", 5), ("Jae Crowder", 4), ("had 11 points", 1)]
    player, points = found.errors[1:]
    assert (player.explanation, player.category) == ("wrong player", "NAME")
    assert (player.start, player.end, player.occurrence, player.match) == (
        0,
        11,
        1,
        "exact",
    )
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


def test_labels_have_a_majority_and_a_tie_is_said_and_has_none() -> None:
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


MAT = "A cat sat on the mat."
NOWHERE = {"start": None, "end": None, "occurrence": None, "category": None}
CAT: dict[str, Any] = {
    "start": 2,
    "end": 5,
    "occurrence": 1,
    "location": "cat",
    "match": "exact",
}


def flaw(why: str, severity: float = 2, **place: Any) -> dict[str, Any]:
    known = {**NOWHERE, "location": "dog", "match": "not_found", **place}
    return {**known, "explanation": why, "severity": severity}


Draw = tuple[float | None, Sequence[dict[str, Any]] | None]


def member(*draws: Draw, target: str = "t", estimator: str = "mean") -> Scored:
    """Return a member's judgments and score of one text; each draw has a value or was
    not read.
    """
    asked = {"judge": "j", "kind": "rate", "target": target, "aspect": "a"}
    rows = [
        {
            **asked,
            **{"draw": draw, "status": "unparsed" if value is None else "ok"},
            **{"value": value, "spans": spans},
        }
        for draw, (value, spans) in enumerate(draws)
    ]
    cell = {"dataset": "d", "perturbation": "systems", "judge": "j", "aspect": "a"}
    score = {"target": target, "estimator": estimator}  # its value is not used
    return table_of("judgments", rows), table_of("scores", [{**cell, **score}])


def whys(found: Any) -> list[list[str]]:
    return [[one.explanation for one in errors] for errors in found["t"]]


def test_a_member_is_heard_with_its_first_parsed_draw() -> None:
    drawn = member((None, [flaw("torn")]), (3, [flaw("second")]), (4, [flaw("third")]))
    silent, lost = member((4, [])), member((None, [flaw("other")]))
    assert whys(heard([drawn, silent, lost], min_annotators=2)) == [["second"], []]
    assert not heard([drawn, lost, lost], min_annotators=2)


def test_half_of_the_draws_make_a_score_whatever_stands_in_for_the_others() -> None:
    """Sensitivity analyses fill in scores, and may ask no supervisor anew."""
    half, less = (
        member((None, None), (3, [])),
        member((None, None), (None, None), (3, [])),
    )
    exact = [
        exact_scores(*one)["t"] for one in (half, less, member((2.3, []), (2.4, [])))
    ]
    assert exact == [3, None, Fraction(47, 20)]


@pytest.mark.parametrize(("estimator", "score"), [("mode", 5), ("first", 4)])
def test_other_estimators_have_their_own_score(estimator: str, score: int) -> None:
    drawn = member((4, []), (5, []), (5, []), estimator=estimator)
    assert exact_scores(*drawn) == {"t": score}


@pytest.mark.parametrize(
    ("estimator", "draws"), [("first", (None, 1.0)), ("majority", (0.0, 1.0))]
)
def test_an_estimator_without_a_value_gives_no_exact_score(
    estimator: str, draws: tuple[float | None, ...]
) -> None:
    drawn = member(*((value, []) for value in draws), estimator=estimator)
    assert exact_scores(*drawn) == {"t": None}


@pytest.mark.parametrize(("last", "out"), [(1, True), (2, True), (4, False)])
def test_an_outlier_is_not_heard(last: float, out: bool) -> None:
    given = zip("abcde", (5, 5, 5, 5, last), strict=True)
    found = heard(
        [member((value, [flaw(name)])) for name, value in given], min_annotators=3
    )
    # at 4 the fifth is two deviations away, and less than a point
    assert whys(found) == [[name] for name in ("abcd" if out else "abcde")]


@pytest.mark.parametrize("draws", [3, 7, 97])
def test_an_outlier_of_means_of_draws_is_one_exactly(draws: int) -> None:
    """Of 5, 5, 5, 5 and 5 - d the last is two deviations away, whatever d: no float
    decides.
    """
    steady = [member(*[(5, [flaw(name)])] * draws) for name in "abcd"]
    low = member((4, [flaw("e")]), *[(3, [flaw("e")])] * (draws - 1))
    assert whys(heard([*steady, low], min_annotators=3)) == [["a"], ["b"], ["c"], ["d"]]


def test_a_text_that_a_member_was_not_given_is_left_out() -> None:
    first, other = member((3, [flaw("a")])), member((3, [flaw("b")]), target="other")
    assert heard([first, first], min_annotators=1)
    assert not heard([first, other], min_annotators=1)


def test_by_rule_overlapping_errors_are_one_and_the_worst() -> None:
    members = [
        member((3, [flaw("short", 2, **CAT)])),
        member((3, [flaw("much longer", 4, **CAT)])),
    ]
    lists = heard(members, min_annotators=1)
    [one] = by_rule(lists, {"t": MAT})["t"].errors or ()
    assert (one.start, one.end, one.severity, one.explanation) == (
        2,
        5,
        4,
        "much longer",
    )


def test_a_supervisor_is_asked_where_there_is_an_error_and_located_anew() -> None:
    lists = heard([member((3, [flaw("why")])), member((5, []))], min_annotators=1)
    assert [target for target, _ in with_errors(lists)] == ["t"]
    said = "Error 1:\nLocation: the mat\nExplanation: none is there\nSeverity: 5"
    answer = {"target": "t", "text": said, "finish": "stop", "status": "ok"}
    told = by_supervisor(lists, {"t": MAT}, [answer])["t"]
    [one] = told.errors or ()
    assert (MAT[one.start : one.end], one.severity, one.match) == (
        "the mat",
        5,
        "exact",
    )
    for change, rule in (
        ({"status": "error", "text": "HTTP 400: no"}, "supervisor error, refused"),
        ({"finish": "length"}, "supervisor truncated, finish_length"),
        (
            {"text": "I'm sorry, but I cannot help with that."},
            "supervisor refused, refusal",
        ),
        ({"text": "Well."}, "supervisor unparsed, no_list"),
    ):
        lost = by_supervisor(lists, {"t": MAT}, [{**answer, **change}])["t"]
        assert lost.errors is None and lost.rule == f"no errors: {rule}"
    unasked = by_supervisor({"t": [[], []]}, {"t": MAT}, [])["t"]
    assert unasked.errors == [] and unasked.rule == "no member lists an error"


def test_a_supervisor_gives_no_verdict() -> None:
    said = "No Error\nOverall score: Excellent"
    read = parse(said, scale=None, finish="stop", parser="merged")
    assert (read.status, read.value, read.errors) == ("ok", None, ())


def planned(
    folder: Path,
    ensemble: dict[str, Any],
    prompt: str | None = None,
    judges: Sequence[str] = (),
) -> Any:
    cards: dict[str, dict[str, Any]] = {
        "models/loop": {"engine": "openai", "base_url": "http://127.0.0.1:9/v1"},
        "judges/one": {"model": "loop", "form": "score-only"},
        "judges/two": {"model": "loop", "form": "error-list"},
        "judges/both": {"members": ["one", "two"], **ensemble},
    }
    cards["judges/one"]["parser"] = cards["judges/two"]["parser"] = "annotation"
    cards["judges/three"] = {"model": "loop", "form": "score-only"}
    for name, card in cards.items():
        Study(folder).card(*name.split("/"), **card)
    if prompt is not None:
        (folder / "config" / "prompts").mkdir()
        (folder / "config" / "prompts" / "own.jinja").write_text(
            prompt, encoding="utf-8"
        )
    study = {
        **{"study": "s", "datasets": ["demo-dialogue"], "methods": ["agreement"]},
        "judges": ["one", "two", "three", *judges, "both"],
    }
    return load_plan(study, running.HOME, source="s.yaml")


LED = {"combine": "supervisor", "supervisor": {"model": "loop"}}


@pytest.mark.parametrize(
    ("ensemble", "prompt", "what"),
    [
        ({"combine": "supervisor"}, None, "go together"),
        ({"supervisor": {"model": "loop"}}, None, "go together"),
        (
            {**LED, "members": ["one", "three"]},
            None,
            "this member lists no errors",
        ),
        ({**LED, "supervisor": {"model": "lexical"}}, None, "lexical"),
        (
            {**LED, "supervisor": {"model": "loop", "form": "no"}},
            None,
            "unknown prompt",
        ),
        (
            {**LED, "supervisor": {"model": "loop", "form": "own"}},
            "{{ lists }}",
            "variable `text`",
        ),
        (
            {**LED, "supervisor": {"model": "loop", "form": "own"}},
            "{{ text }}",
            "the errors to merge",
        ),
        (
            {**LED, "supervisor": {"model": "loop", "form": "own"}},
            "{{ aspect }}",
            "cannot be rendered",
        ),
    ],
)
def test_what_no_ensemble_can_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ensemble: dict[str, Any],
    prompt: str | None,
    what: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((UserError, UserErrors), match=what):
        planned(tmp_path, ensemble, prompt)


@pytest.mark.parametrize("combine", [{}, LED])
@pytest.mark.parametrize(
    "members", [["one", "hundred"], ["hundred", "more"], ["three", "more"]]
)
def test_an_ensemble_has_no_annotator_that_scores_from_0_to_100(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    combine: dict[str, Any],
    members: list[str],
) -> None:
    """A point of 1 to 5 is none of its scale, and its mean with others is on no
    scale.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("hundred", "more"):
        card = {"model": "loop", "form": "annotate", "annotation": {"score": "percent"}}
        Study(tmp_path).card("judges", name, **card)
    told = (
        "this member lists no errors"
        if combine and "three" in members
        else "must score from 1 to 5"
    )
    with pytest.raises(UserError, match=told) as listed:
        planned(tmp_path, {**combine, "members": members}, judges=["hundred", "more"])
    assert re.fullmatch(r"config/judges/both.yaml:\d, key members", listed.value.where)


@pytest.mark.heavy
def test_an_ensemble_lists_errors_if_all_its_members_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert planned(tmp_path, LED).annotates("both")
    assert planned(tmp_path, {}).annotates("both")
    mixed = planned(tmp_path, {"members": ["one", "three"]})
    assert not mixed.annotates("both") and not mixed.annotates("three")


def test_no_ensemble_has_the_name_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Study(tmp_path).card("judges", "all", members=["rules", "length"])
    study = {
        **{"study": "s", "datasets": ["demo-dialogue"], "methods": ["agreement"]},
        "judges": ["rules", "length", "all"],
    }
    with pytest.raises(UserError, match="reserved or used twice"):
        load_plan(study, running.HOME, source="s.yaml")
