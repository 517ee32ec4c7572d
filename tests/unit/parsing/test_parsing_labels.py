"""Replies that give a label: alone, behind its name, or with a reason before or after
it.
"""

import pytest

from judgescope.parsing.judgment import Scale
from judgescope.schema.cards import RatingScale as Card
from judgescope.schema.cards.base import check_read_as
from parsed import parse

VERDICTS = Card(labels=["fail", "pass"])
KINDS = Card(labels=["not supported", "supported", "no claim"], ordered=False)


def scale(card: Card, **read_as: str) -> Scale:
    """Return the scale of a parser."""
    check_read_as(read_as, card.labels)
    words = tuple(card.words(read_as).items())
    return Scale(card.min, card.max, card.step, tuple(card.labels), words=words)


def read(
    text: str, card: Card = VERDICTS, parser: str = "score", **read_as: str
) -> str | None:
    """Return the label that a reply gives, None if it gives none."""
    judgment = parse(text, scale=scale(card, **read_as), finish="stop", parser=parser)
    assert (judgment.value is None) == (judgment.status != "ok")
    if judgment.value is not None:
        assert card.labels[round(judgment.value)] == judgment.label
    return judgment.label


@pytest.mark.parametrize(
    "text",
    [
        "fail",
        "Fail.",
        "**FAIL**",
        '"fail"',
        "Verdict: fail",
        "The answer names the wrong city.\n\nVerdict: Fail",
        "The answer names the wrong city. **Verdict:** fail.",
        "The answer would pass at first sight.\nFinal verdict: fail",
        "Fail. The answer names the wrong city.",
        "Fail - the answer names the wrong city.",
        "Fail, because the city is wrong.",
        "It names the wrong city.\nFail",
        "It names the wrong city. Fail.",
        '{"rating": "fail"}',
        '{"reason": "The city is wrong.", "verdict": "fail"}',
        "Label: fail",
        "<think>pass?</think>fail",
        "Score 5 of 5 facts are checked.\nVerdict: fail",
        "fails",
    ],
)
def test_a_label_is_read_from_a_reply(text: str) -> None:
    assert read(text) == "fail"


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "Rating: 1",
        "Verdict: 0",
        "Verdict: pass/fail",
        "Verdict: pass or fail",
        "Verdict: **pass** or **fail**",
        "pass or fail?",
        "One may fail to see why it should pass at all.",
        "Pass. It is right.\nFail.",
        'The text says "Verdict: pass" and nothing more.',
        "",
    ],
)
def test_a_number_and_a_label_in_passing_are_none(text: str) -> None:
    assert read(text) is None


def test_labels_of_several_words_and_translations() -> None:
    assert read("Verdict: not supported", KINDS) == "not supported"
    assert read("Verdict: supported", KINDS) == "supported"
    assert read("No claim. It only greets.", KINDS) == "no claim"
    assert read("Yes. It is right.", yes="pass", no="fail") == "pass"
    assert read("Verdict: NO", yes="pass", no="fail") == "fail"


def test_a_recorded_label_is_the_complete_text() -> None:
    assert read(" Pass ", parser="number") == "pass"
    assert read("1", parser="number") is None
    assert read("pass, I think", parser="number") is None


def test_the_reason_is_the_reply_without_its_verdict() -> None:
    text = "It names the wrong city.\nVerdict: fail"
    judgment = parse(text, scale=scale(VERDICTS), finish="stop")
    assert judgment.rationale == "It names the wrong city."
