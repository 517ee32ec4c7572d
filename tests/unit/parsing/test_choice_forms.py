"""Choices: further ways to name one, where a line ends, and what is kept beside it."""

import pytest

from judgescope.parsing.judgment import Judgment
from judgescope.parsing.parsers import parse


def judged(text: str) -> Judgment:
    return parse(text, scale=None, finish="stop", parser="choice")


@pytest.mark.parametrize(
    ("text", "value", "rule"),
    [
        ("Choice: Answer B", -1, "labelled"),
        ("Choice - B", -1, "labelled"),
        ("The better text is B\nIt flows.", -1, "labelled"),
        ("Answer A", 1, "alone"),
        ("tie", 0, "alone"),
        ("A tie.", 0, "alone"),
        ("Choice: A tie", 0, "labelled"),
        ("Verdict: a tie.", 0, "labelled"),
        ("Choice: A: it flows", 1, "labelled"),
        ("Choice: B - it flows", -1, "labelled"),
        ("Choice: B\nIt was a hard choice - a close call.", -1, "labelled"),
        ('Choice: A\nYou asked for "Choice: A", "Choice: B", or "Choice: tie".', 1, "labelled"),
    ],
)
def test_a_choice_and_the_rule_that_found_it(text: str, value: float, rule: str) -> None:
    assert (judged(text).value, judged(text).rule) == (value, rule)


@pytest.mark.parametrize(
    "text",
    [
        "Choice: A and B are equally good",
        "Choice: A/B",
        "Choice: A or B",
        "My choice: a matter of taste",
        'Answer with one line: "Choice: A", "Choice: B", or "Choice: tie" if neither is better.',
        "Choice: A, not Choice: B",
    ],
)
def test_an_article_two_texts_and_the_question_again_are_no_choice(text: str) -> None:
    assert (judged(text).status, judged(text).value) == ("unparsed", None)


@pytest.mark.parametrize(
    ("text", "rationale"),
    [
        ("Choice: A", None),
        ("Choice: B\nIt flows.", "It flows."),
        ("\uff21 flows… İt ﬁts.\nChoice: B", "\uff21 flows… İt ﬁts."),
    ],
)
def test_the_reason_is_all_but_the_choice(text: str, rationale: str | None) -> None:
    assert judged(text).rationale == rationale
