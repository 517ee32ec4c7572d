"""Which of two texts a reply prefers."""

import pytest

from judgescope.parsing.judgment import Judgment
from parsed import parse


def judged(text: str) -> Judgment:
    return parse(text, scale=None, finish="stop", parser="choice")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Choice: A", 1),
        ("Choice: B", -1),
        ("choice: tie", 0),
        ("**Choice:** **B**", -1),
        ("Choice: `A`.", 1),
        ("Choice: (B)", -1),
        ("Winner = A", 1),
        ("The better text is B", -1),
        ("The better text is **A**.", 1),
        ("The winner is A, by far", 1),
        ("Choice: A because it flows", 1),
        ("My verdict is: Text A", 1),
        ("Choice: Response B", -1),
        ("A", 1),
        (" b.\n", -1),
        ("[[A]]", 1),
        ("Tie!", 0),
        ("Option B", -1),
        ("\uff21", 1),
        ("Choice: A\nOn second thoughts.\nChoice: B", -1),
        ("<think>Choice: A</think>\nChoice: B", -1),
        ("Choice: A, not Choice: B", 1),
        ("Text A is longer, yet B reads better.\nChoice: B", -1),
    ],
)
def test_the_last_labelled_choice_or_a_reply_that_is_nothing_else(
    text: str, value: float
) -> None:
    assert (judged(text).status, judged(text).value) == ("ok", value)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Both have their merits.", "unparsed"),
        ("A is better known than B.", "unparsed"),
        ("Choice: C", "unparsed"),
        ("Choice: A and B are equally good", "unparsed"),
        ("Choice: A/B", "unparsed"),
        ("Choice: A or B", "unparsed"),
        ("My choice: a matter of taste", "unparsed"),
        (
            'Answer in a line: "Choice: A", "Choice: B", or "Choice: tie" if neither '
            "is better.",
            "unparsed",
        ),
        ("Choice: A or Choice: B", "unparsed"),
        ("Choice: Alpha", "unparsed"),
        ("Choice:", "unparsed"),
        ("Which one is better is a matter of taste.", "unparsed"),
        ("3", "unparsed"),
        ("", "empty"),
        ("<think>Choice: A</think>", "empty"),
        ("<think>Choice: A", "truncated"),
    ],
)
def test_all_else_is_no_choice(text: str, status: str) -> None:
    assert (judged(text).status, judged(text).value) == (status, None)


def test_a_reply_that_was_cut_is_no_choice_and_the_reason_is_kept() -> None:
    assert (
        parse("Choice: A", scale=None, finish="length", parser="choice").status
        == "truncated"
    )
    result = judged("It flows.\nChoice: A")
    assert (result.label, result.rationale) == ("a", "It flows.")


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
        (
            'Choice: A\nYou asked for "Choice: A", "Choice: B", or "Choice: tie".',
            1,
            "labelled",
        ),
        ("A is better.", 1, "sentence"),
        ("**B** is better", -1, "sentence"),
        ("A is better than B.", 1, "sentence"),
        ("Overall, B is the better one.", -1, "sentence"),
        ("A is better. It keeps to its source.", 1, "sentence"),
        ("I prefer A.", 1, "sentence"),
        ("Both are fine. I prefer B over A.", -1, "sentence"),
        ("We would choose Summary B!", -1, "sentence"),
        ("The answer is: A", 1, "labelled"),
        ("Therefore, the answer is **B**.", -1, "labelled"),
        ("It flows.\nMy final answer: B", -1, "labelled"),
        ("The better text is B because it is more fluent.", -1, "labelled"),
        ("My choice is B, because it flows.", -1, "labelled"),
        ("My choice is A as it flows.", 1, "labelled"),
        ("Answer: B", -1, "labelled"),
        ("It flows.\n**Final answer:** B", -1, "labelled"),
        ("### Answer: B", -1, "labelled"),
        ('{"choice": "B"}', -1, "labelled"),
        ('{"answer": "B", "reason": "It flows."}', -1, "labelled"),
        ("<answer>B</answer>", -1, "labelled"),
        ("It flows. <choice> A </choice>", 1, "labelled"),
        ("Text B is better because it is more fluent.", -1, "sentence"),
        ("Both are short. Overall, text B is better because it flows.", -1, "sentence"),
        ("B is better because it is more fluent. It is short.", -1, "sentence"),
        ("Text B is better because it flows. It is short.", -1, "sentence"),
        ("I prefer A because it flows.", 1, "sentence"),
    ],
)
def test_a_choice_and_the_rule_that_detected_it(
    text: str, value: float, rule: str
) -> None:
    assert (judged(text).value, judged(text).rule) == (value, rule)


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


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("A is better known as an author.", "no_choice"),
        ("A is better in style, B in content.", "no_choice"),
        ("Is A better? A is better?", "no_choice"),
        ("It flows. A is better. It is short.", "no_choice"),
        ("If A is better, say so.", "no_choice"),
        ("I prefer a shorter text.", "no_choice"),
        ("I prefer A and B equally.", "no_choice"),
        ("I do not prefer A.", "no_choice"),
        ("I would prefer A if it were shorter.", "no_choice"),
        ("The answer is: a matter of taste.", "unread_verdict"),
        ("The answer is: A and B", "unread_verdict"),
        ("The text says the answer is: A", "no_choice"),
        ("The text says the final answer: A", "no_choice"),
        ("Answer: a matter of taste.", "unread_verdict"),
        ("Which one flew furthest?\nAnswer: A. Voyager 1", "no_choice"),
        ("Which one flew furthest?\n**Answer:** B) Voyager 2", "no_choice"),
        ("<answer>A matter of taste</answer>", "unread_verdict"),
        ("The better text is a because-clause.", "no_choice"),
        ("The better text is A as well as B.", "no_choice"),
        (
            "The fact that text B is better because of its end is no reason.",
            "no_choice",
        ),
        ("Text B is better. Still, neither is good.", "no_choice"),
        ("I see why text B is better because of its verbs.", "no_choice"),
        (
            "Text B is better because it flows, but text A is more faithful.",
            "contradiction",
        ),
        (
            "Text B is better because it flows. Text A is more faithful.",
            "contradiction",
        ),
        ("A is better. B is better.", "contradiction"),
        ("A is better. Summary B is more fluent.", "contradiction"),
    ],
)
def test_a_sentence_that_says_something_else_makes_no_choice(
    text: str, rule: str
) -> None:
    assert (judged(text).status, judged(text).rule) == ("unparsed", rule)


def test_the_sentence_that_makes_the_choice_is_no_part_of_the_reason() -> None:
    assert judged("Both are fine. I prefer B.").rationale == "Both are fine."
