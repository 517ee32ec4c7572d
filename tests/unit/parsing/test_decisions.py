"""Decisions of decision models: verdict, probability, and what cannot be read."""

from typing import Any

import pytest

from judgescope.core.canonical import canonical
from judgescope.parsing.decisions import read_decision
from judgescope.parsing.judgment import Scale

LABELS = Scale(0, 1, 1, labels=("fail", "pass"), words=(("fail", 0), ("pass", 1)))
THREE = Scale(
    *(0, 2, 1),
    labels=("bad", "fair", "good"),
    words=(("bad", 0), ("fair", 1), ("good", 2)),
)
FIVE = Scale(1, 5, 1)
MARKS = Scale(1, 6, 1, best="min")


def read(answer: Any, scale: Scale | None, **settings: Any) -> Any:
    return read_decision(canonical(answer), scale, **settings)


def choice(**shares: float) -> dict[str, Any]:
    return {"type": "choice", "probabilities": shares}


def score(*shares: float) -> dict[str, Any]:
    named = {str(location): share for location, share in enumerate(shares)}
    return {"type": "score", "probabilities": named}


def test_a_label_has_the_probability_of_its_option() -> None:
    verdict = read(choice(bad=0.1, fair=0.7, good=0.2), THREE)
    assert (verdict.status, verdict.value, verdict.label) == ("ok", 1.0, "fair")
    assert verdict.confidence == pytest.approx(0.7)
    assert verdict.confidence_source == "decision"
    assert verdict.confident_of is None


@pytest.mark.parametrize(
    ("chance", "value", "sure"), [(0.8, 1.0, 0.8), (0.2, 0.0, 0.8), (0.5, 1.0, 0.5)]
)
def test_true_is_the_better_label_from_a_single_half_on(
    chance: float, value: float, sure: float
) -> None:
    verdict = read({"type": "noul", "noul": chance}, LABELS)
    assert (verdict.value, verdict.confidence) == (value, sure)


def test_with_a_threshold_the_value_is_the_probability_of_the_better_label() -> None:
    verdict = read({"type": "noul", "noul": 0.6}, LABELS, expected=1.0)
    assert (verdict.value, verdict.confident_of, verdict.confidence) == (0.6, 1.0, 0.6)
    below = read({"type": "noul", "noul": 0.3}, LABELS, expected=1.0)
    assert (below.value, below.confident_of, below.confidence) == (0.3, 0.0, 0.7)


def test_a_score_is_the_mean_of_the_values_by_their_probabilities() -> None:
    verdict = read(score(0.0, 0.1, 0.2, 0.3, 0.4), FIVE)
    assert verdict.value == pytest.approx(0.2 + 0.6 + 1.2 + 2.0)
    assert (verdict.confident_of, verdict.confidence) == (5.0, 0.4)
    marks = read(score(0.9, 0.1, 0.0, 0.0, 0.0, 0.0), MARKS)
    assert marks.value == pytest.approx(1.1)
    assert marks.confident_of == 1.0


def test_a_single_half_of_a_scale_whose_lowest_value_is_best_is_that_value() -> None:
    scale = Scale(1, 2, 1, best="min")
    verdict = read({"type": "noul", "noul": 0.75}, scale)
    assert verdict.value == pytest.approx(1.25)
    assert (verdict.confident_of, verdict.confidence) == (1.0, 0.75)


@pytest.mark.parametrize(
    ("shares", "value"),
    [((0.6, 0.3, 0.1), 1), ((0.2, 0.7, 0.1), -1), ((0, 0.1, 0.9), 0)],
)
def test_a_choice_between_texts_may_be_a_tie(
    shares: tuple[float, ...], value: float
) -> None:
    verdict = read(choice(**dict(zip(("A", "B", "tie"), shares, strict=True))), None)
    assert (verdict.value, verdict.confidence) == (value, pytest.approx(max(shares)))


def test_rounded_probabilities_are_brought_to_a_sum_of_one() -> None:
    verdict = read(choice(bad=0.33, fair=0.33, good=0.35), THREE)
    assert verdict.confidence == pytest.approx(0.35 / 1.01)


def test_of_equal_options_the_named_one_counts() -> None:
    answer = choice(bad=0.4, fair=0.4, good=0.2)
    assert read(answer, THREE).rule == "equal_options"
    assert read({**answer, "choice": "fair"}, THREE).label == "fair"


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (choice(bad=0.5, fair=0.5), "missing_option"),
        (choice(bad=0.5, fair=0.2, good=0.2, none=0.1), "unknown_option"),
        (choice(bad=0.5, fair=0.2, good=0.2), "sum_not_1"),
        (choice(bad=50, fair=30, good=20), "percentages"),
        (choice(bad=-0.1, fair=0.6, good=0.5), "outside_0_to_1"),
        (choice(bad=1.4, fair=-0.2, good=-0.2), "outside_0_to_1"),
        (choice(bad=True, fair=0.0, good=0.0), "no_probability"),
        ({"type": "choice", "probabilities": [0.5, 0.3, 0.2]}, "no_probability"),
        ({"type": "choice", "choice": "good", "confidence": 0.9}, "no_probability"),
        ({**choice(bad=0, fair=0, good=1), "label_mass": 0.4}, "low_label_mass"),
        ({"type": "noul", "noul": 0.4}, "other_options"),
        (["good"], "no_decision"),
        ("good", "no_decision"),
    ],
)
def test_an_answer_whose_probabilities_cannot_be_used_has_no_verdict(
    answer: Any, rule: str
) -> None:
    verdict = read(answer, THREE)
    assert (verdict.status, verdict.rule, verdict.value) == ("unparsed", rule, None)
    assert verdict.confidence is None


@pytest.mark.parametrize(
    ("chance", "rule"),
    [(80, "percentages"), (-0.1, "outside_0_to_1"), (None, "no_probability")],
)
def test_a_probability_of_true_lies_between_0_and_1(chance: Any, rule: str) -> None:
    assert read({"type": "noul", "noul": chance}, LABELS).rule == rule


def test_the_probability_that_a_server_calls_confidence_is_never_read() -> None:
    answer = {**choice(bad=0.1, fair=0.2, good=0.7), "confidence": 0.99}
    assert read(answer, THREE).confidence == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("answer", "scale"),
    [
        ({**choice(bad=0.1, fair=0.2, good=0.7), "choice": "bad"}, THREE),
        ({**choice(bad=0.4, fair=0.4, good=0.2), "choice": "good"}, THREE),
        ({**choice(bad=0.1, fair=0.2, good=0.7), "choice": "best"}, THREE),
        ({**choice(A=0.1, B=0.2, tie=0.7), "choice": "A"}, None),
        ({**score(0, 0, 0, 0, 1), "score": 1.0}, FIVE),
        ({**score(0, 0, 0, 0, 1), "score": 3.9}, FIVE),
        ({**score(0, 0, 0, 0, 1), "score": "4"}, FIVE),
        (
            {"type": "noul", "noul": 0.9, "probabilities": {"yes": 0.1, "no": 0.9}},
            LABELS,
        ),
        ({"type": "noul", "noul": 0.9, "probabilities": {"false": 0.9}}, LABELS),
    ],
)
def test_an_answer_that_contradicts_its_probabilities_has_no_verdict(
    answer: Any, scale: Scale | None
) -> None:
    verdict = read(answer, scale)
    assert (verdict.rule, verdict.value) == ("contradiction", None)


@pytest.mark.parametrize(
    ("answer", "scale", "value"),
    [
        ({**choice(bad=0.1, fair=0.2, good=0.7), "choice": "good"}, THREE, 2),
        ({**score(0.0, 0.0, 0.0, 0.5, 0.5), "score": 3.46}, FIVE, 4.5),
        (
            {"type": "noul", "noul": 0.9, "probabilities": {"yes": 0.89, "no": 0.11}},
            LABELS,
            1,
        ),
    ],
)
def test_a_rounded_answer_agrees_with_its_probabilities(
    answer: Any, scale: Scale, value: float
) -> None:
    assert read(answer, scale).value == pytest.approx(value)


def test_text_that_is_no_json_is_no_decision() -> None:
    assert read_decision("good", THREE).rule == "no_decision"
    assert read_decision("[" * 100_000, THREE).rule == "no_decision"
