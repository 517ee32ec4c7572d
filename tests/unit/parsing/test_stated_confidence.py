"""The confidence that a reply states: what is read, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.stated_confidence import stated_confidence


@pytest.mark.parametrize(
    ("text", "chance"),
    [
        ("Verdict: pass\nConfidence: 80 %", 0.8),
        ("Verdict: pass\n**Confidence:** 80%", 0.8),
        ("Confidence: 62.5", 0.625),
        ("Confidence = .8", 0.8),
        ("Confidence level: 0,75", 0.75),
        ("confidence score: 9/10", 0.9),
        ("Confidence: 100%", 1.0),
        ("Confidence: 0 %", 0.0),
        ("Confidence: 1.0", 1.0),
        ('{"verdict": "pass", "confidence": 0.65}', 0.65),
        ('{"verdict": "pass", "confidence": "65%"}', 0.65),
        ("I am 90% confident that this passes.", 0.9),
        ("Confidence: 20%\nNo: confidence: 70%", 0.7),
        ("<think>Confidence: 10%</think>Verdict: pass\nConfidence: 60%", 0.6),
    ],
)
def test_the_last_number_behind_the_name_is_the_confidence(
    text: str, chance: float
) -> None:
    assert stated_confidence(text).chance == pytest.approx(chance)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Verdict: pass", "none_stated"),
        ("Confidence: high", "no_number"),
        ("Confidence: 120%", "outside"),
        ("Confidence: -5%", "outside"),
        ("Confidence: 11/10", "outside"),
        ("Confidence: 1", "ambiguous"),
        ("Confidence: 80-90%", "ambiguous"),
        ("Confidence: 80% to 90%", "ambiguous"),
    ],
)
def test_what_is_no_probability_has_a_rule_and_no_number(text: str, rule: str) -> None:
    assert stated_confidence(text) == (None, rule)


@given(st.text(max_size=200))
def test_any_text_gives_a_chance_or_a_reason(text: str) -> None:
    chance, rule = stated_confidence(text)
    assert rule
    assert chance is None or 0 <= chance <= 1


@pytest.mark.parametrize("percent", [0, 3, 4, 5, 55, 100])
def test_a_confidence_beside_a_verdict_is_no_rating(percent: int) -> None:
    score = PARSERS["score"]
    five = Scale(1, 5, 1)
    reading = score(f"Rating: 4\nConfidence: {percent} %", five)
    assert (reading.status, reading.value) == ("ok", 4)
    words = Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0), ("pass", 1)))
    reading = score(f"Verdict: pass\nConfidence: {percent} %", words)
    assert (reading.status, reading.label) == ("ok", "pass")
