"""Which of two texts a reply prefers."""

import pytest

from judgescope.parsing.parsers import parse


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
        ("Text A is longer, yet B reads better.\nChoice: B", -1),
    ],
)
def test_the_last_labelled_choice_or_a_reply_that_is_nothing_else(text: str, value: float) -> None:
    judged = parse(text, scale=None, finish="stop", parser="choice")
    assert (judged.status, judged.value) == ("ok", value)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Both have their merits.", "unparsed"),
        ("A is better known than B.", "unparsed"),
        ("Choice: C", "unparsed"),
        ("Choice: Alpha", "unparsed"),
        ("Choice:", "unparsed"),
        ("Which one is better is a matter of taste.", "unparsed"),
        ("1", "unparsed"),
        ("", "empty"),
        ("<think>Choice: A</think>", "empty"),
        ("<think>Choice: A", "truncated"),
    ],
)
def test_all_else_is_no_choice(text: str, status: str) -> None:
    judged = parse(text, scale=None, finish="stop", parser="choice")
    assert (judged.status, judged.value) == (status, None)


def test_a_reply_that_was_cut_is_no_choice_and_the_reason_is_kept() -> None:
    assert parse("Choice: A", scale=None, finish="length", parser="choice").status == "truncated"
    judged = parse("It flows.\nChoice: A", scale=None, finish="stop", parser="choice")
    assert (judged.label, judged.rationale) == ("a", "It flows.")
