"""The shapes of unread replies, and when they are worth a warning."""

import doctest
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.parsing import unread_shapes
from judgescope.parsing.judgment import PARSERS, Judgment, JudgmentStatus
from judgescope.parsing.parsers import RULES_WITHOUT_TEXT
from judgescope.parsing.unread_shapes import (
    ASK_EMPTY_AGAIN,
    CORRECT_READ,
    READ_REMEDY,
    UnreadReplies,
    read_remedy,
    shape_of,
    shortened,
)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('{"verdict": good, "why": "It flows, mostly. Yes!"}', '{"w": w, "w": "w…"}'),
        ("Grade: 4", "w: 9"),
        ("Grade: 3.75", "w: 9"),
        ("The grade is four", "w…"),
        ("- good\n- bad\n\n- fair", "- w"),
        ("Good.\n\nGrade: 4/5", "w.⏎w: 9/9"),
        ("=======\nB", "===⏎w"),
        ("<think>Is it 4?</think>\nB", "w"),
        ("<think>unclosed", "<w>w"),
        ("अच्छा है", "w…"),
        ("I don't like well-known texts", "w…"),
        ("a \x1b[2J b\u202e", "w ⟨U+001B⟩[9w…⟨U+202E⟩"),
        ("", ""),
    ],
)
def test_a_shape_keeps_the_structure_of_a_reply(text: str, shape: str) -> None:
    assert shape_of(text) == shape


def test_replies_of_the_same_form_have_the_same_shape() -> None:
    first = "Verdict -> good (the text flows well, and it is short)"
    second = "Result -> poor (nothing holds)"
    assert shape_of(first) == shape_of(second)
    assert shape_of(first) != shape_of("good: the text flows")


def test_long_replies_are_shortened_at_their_middle() -> None:
    text = "".join(f"({'x' * (n % 3)}:" for n in range(10_000)) + " Grade = 4"
    assert len(shape_of(text)) <= 80
    assert shape_of(text).endswith("w = 9")
    assert len(shortened(text)) < 130
    assert shortened(text).endswith("Grade = 4")


@settings(deadline=None)
@given(text=st.text(max_size=300))
def test_no_text_controls_the_terminal(text: str) -> None:
    for shown in (shape_of(text), shortened(text)):
        categories = {unicodedata.category(sign) for sign in shown}
        assert not categories & {"Cc", "Cs", "Zl", "Zp"}


def judged(status: JudgmentStatus) -> Judgment:
    return Judgment(status, "rule")


def test_only_unparsed_replies_have_shapes_and_a_tenth_is_not_many() -> None:
    replies = UnreadReplies()
    for _ in range(9):
        replies.add("4", judged("ok"))
    replies.add("no idea", judged("unparsed"))
    replies.add("HTTP 400", judged("error"))
    replies.add("no_references", judged("not_applicable"))
    assert (replies.replies, replies.unread, replies.many) == (10, 1, False)
    replies.add("", judged("empty"))
    replies.add("none: at all", judged("unparsed"))
    assert (replies.replies, replies.unread, replies.many) == (12, 2, True)


def test_replies_without_text_are_distinguished_and_have_a_remedy_of_their_own() -> (
    None
):
    replies = UnreadReplies()
    rules = [*RULES_WITHOUT_TEXT.values(), "null_content", "only_reasoning"]
    for rule in rules:
        replies.add("", Judgment("empty", rule))
    for _ in range(9):
        replies.add("4", judged("ok"))
    assert (replies.unread, replies.without_text, replies.many) == (0, 4, True)
    assert list(replies.commonest()) == [
        "2 of shape (null in place of a text)",
        "1 of shape (a tool call without text or arguments)",
        "1 of shape (an empty text)",
    ]
    assert list(replies.remedies(READ_REMEDY)) == [ASK_EMPTY_AGAIN]
    replies.add("no idea", judged("unparsed"))
    assert list(replies.remedies(READ_REMEDY)) == [READ_REMEDY, ASK_EMPTY_AGAIN]


def test_the_three_commonest_shapes_have_an_example_each() -> None:
    replies = UnreadReplies()
    texts = ["a: 1", "b: 2", "c = 1", "d = 3", "e + 1", "(f)", "[g]", "h: \x1b 3"]
    for text in texts:
        replies.add(text, judged("unparsed"))
    assert list(replies.commonest()) == [
        "2 of shape w = 9",
        "  such as: c = 1",
        "2 of shape w: 9",
        "  such as: a: 1",
        "1 of shape (w)",
        "  such as: (f)",
        "3 of 3 other shapes",
    ]


def test_the_remedy_depends_on_the_parser() -> None:
    assert read_remedy("score") == read_remedy("choice") == READ_REMEDY
    assert read_remedy("pattern") == read_remedy("path") == CORRECT_READ
    for parser in ("annotation", "errors", "merged", "number", None):
        assert read_remedy(parser) == ""
        assert parser is None or parser in PARSERS


def test_the_examples_in_docstrings_hold() -> None:
    failed, tried = doctest.testmod(unread_shapes)
    assert tried and not failed
