"""The guide to parsing says how replies are read: they are read in this way."""

import re
from pathlib import Path

import pytest

from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.parsers import parsed_by
from parsed import parse

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "parsing.md"
SCALE = Scale(1, 5, 0.5)
LABELS = Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0), ("pass", 1)))


def table(title: str) -> list[list[str]]:
    """Return the cells of the table whose first column has this title."""
    text = GUIDE.read_text(encoding="utf-8")
    _, _, behind = text.partition(f"| {title} |")
    rows = behind.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def replies(cell: str) -> list[str]:
    return [reply.replace("⏎", "\n") for reply in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize(("reply", "value"), [row[:2] for row in table("reply")])
def test_a_reply_is_read_as_the_guide_says(reply: str, value: str) -> None:
    (text,) = replies(reply)
    parsed = parse(text, scale=SCALE, finish="stop")
    if value == "unread":
        assert (parsed.status, parsed.value) == ("unparsed", None)
    else:
        assert (parsed.status, parsed.value) == ("ok", float(value))


UNREAD = [
    (reply, cell, rule)
    for cell, rule, _why in table("shape")
    for reply in replies(cell)
]


@pytest.mark.parametrize(("reply", "cell", "rule"), UNREAD)
def test_what_the_guide_leaves_unread_has_the_rule_that_it_names(
    reply: str, cell: str, rule: str
) -> None:
    labels = "report" in reply or "pass" in reply
    comparison = "comparison" in cell
    parsed = parse(
        reply,
        scale=None if comparison else LABELS if labels else SCALE,
        finish="stop",
        parser="choice" if comparison else "score",
    )
    assert (parsed.status, f"`{parsed.rule}`") == ("unparsed", rule)


@pytest.mark.parametrize(
    ("reply", "labels", "rule"),
    [
        ('{"verdict": "fail", "pass": true}', True, "contradiction"),
        ("Pass: yes\nVerdict: fail", True, "contradiction"),
        ("<pass>true</pass><verdict>fail</verdict>", True, "contradiction"),
        ('{"tone": 4, "facts": 2}', False, "several_parts"),
        ("<tone>4</tone><facts>2</facts>", False, "several_parts"),
        ('{"score_a": 4, "score_b": 7}', False, "several_parts"),
        ('{"assistant_1": 4, "assistant_2": 7}', False, "several_parts"),
        ("Puntuación: cuatro", False, "foreign_number"),
        ("Оценка: четыре", False, "foreign_number"),
        ("评分：四", False, "foreign_number"),
        ("Rating: vier von 5", False, "foreign_number"),
        ("**Quatre.**", False, "foreign_number"),
        ('{"score": "vier"}', False, "unread_verdict"),
    ],
)
def test_other_forms_of_these_shapes_are_unread(
    reply: str, labels: bool, rule: str
) -> None:
    parsed = parse(reply, scale=LABELS if labels else SCALE, finish="stop")
    assert (parsed.status, parsed.rule) == ("unparsed", rule)


@pytest.mark.parametrize(
    "reply",
    [
        '{"score_a": 7, "score_b": 7}',
        '{"A": 4, "B": 7}',
        "Score A: 4\nScore B: 7",
        '{"assistant_1_score": 4, "assistant_2_score": 7}',
        '{"scores": {"A": 4, "B": 7}}',
    ],
)
def test_scores_of_both_texts_make_no_choice(reply: str) -> None:
    parsed = parse(reply, scale=None, finish="stop", parser="choice")
    assert (parsed.status, parsed.rule) == ("unparsed", "scores_of_sides")


@pytest.mark.parametrize(
    "reply",
    [
        "Assistant A: 4, Assistant B: 7",
        "Response 1: 8/10\nResponse 2: 7/10",
        "Response B's rating is 4, and response A gets a 3.",
        "Reply A - 4, reply B - 4",
        "Score for text A: 4. It flows. Score for text B: 3.",
        "4 for A, 3 for B",
    ],
)
def test_ratings_of_two_texts_are_no_rating_of_one(reply: str) -> None:
    parsed = parse(reply, scale=Scale(1, 10, 1), finish="stop")
    assert (parsed.status, parsed.rule) == ("unparsed", "scores_of_sides")


@pytest.mark.parametrize(
    "reply",
    [
        "Assistant A: 4, Assistant B: 7. Rating: 3",
        "Text A: 3",
        "Rating: 3\nText A has 2 names, and text B has 4.",
        "It covers part A (2 pages) and part B (4 pages). Score: 3",
    ],
)
def test_a_rating_beside_numbers_of_two_texts_is_read(reply: str) -> None:
    assert parse(reply, scale=Scale(1, 10, 1), finish="stop").value == 3


@pytest.mark.parametrize(
    "reply", ["4,5", "Rating: 4,5", '{"score": 4,5}', '{"score": "4,5"}', "4,5/5"]
)
def test_a_decimal_comma_is_never_one_of_its_numbers(reply: str) -> None:
    halves = parse(reply, scale=SCALE, finish="stop")
    parsed = parse(reply, scale=Scale(1, 5, 1), finish="stop")
    assert (halves.status, halves.value) == ("ok", 4.5)
    assert (parsed.status, parsed.value) == ("off_grid", None)


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "empty"),
        ("<think>A 4?</think>", "only_reasoning"),
        ("<think>A 4?", "unclosed_reasoning"),
        ('{"name": "web_search", "arguments": {"query": "4"}}', "other_tool"),
        ("It flows.", "no_verdict"),
        ("Rating: 4. Final rating: N/A", "unread_verdict"),
        ("Tone: 4\nFacts: 2", "several_parts"),
        ('{"score": 2} or {"score": 5}', "contradiction"),
        ("Rating: 1\nRating: 3\nRating: 5", "enumerated"),
    ],
)
def test_replies_without_a_verdict_are_distinguished(reply: str, rule: str) -> None:
    assert parse(reply, scale=SCALE, finish="stop").rule == rule
    assert f"`{rule}`" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize("parser", ["score", "choice", "number"])
@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("null", "null_content"),
        ("empty", "empty"),
        ("tool", "empty_tool_call"),
        (None, "empty"),  # an older version stored it
    ],
)
def test_replies_without_text_are_distinguished(
    parser: str, content: str | None, rule: str
) -> None:
    read = parsed_by(PARSERS[parser], scale=None if parser == "choice" else SCALE)
    for text in ("", " \n"):
        result = read(text, "stop", "ok", content)
        assert (result.status, result.rule) == ("empty", rule)
    assert read("", "length", "ok", content).status == "truncated"
    assert f"`{rule}`" in GUIDE.read_text(encoding="utf-8")
