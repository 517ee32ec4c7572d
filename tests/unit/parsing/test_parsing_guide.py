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
    found = parse(text, scale=SCALE, finish="stop")
    if value == "unread":
        assert (found.status, found.value) == ("unparsed", None)
    else:
        assert (found.status, found.value) == ("ok", float(value))


def test_what_the_guide_leaves_unread_is_unread() -> None:
    shapes = [reply for row in table("shape") for reply in replies(row[0])]
    assert len(table("shape")) == 5
    for reply in shapes:
        scale = LABELS if "report" in reply else SCALE
        assert parse(reply, scale=scale, finish="stop").status == "unparsed", reply


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
def test_replies_without_a_verdict_are_told_apart(reply: str, rule: str) -> None:
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
def test_replies_without_text_are_told_apart(
    parser: str, content: str | None, rule: str
) -> None:
    read = parsed_by(PARSERS[parser], scale=None if parser == "choice" else SCALE)
    for text in ("", " \n"):
        found = read(text, "stop", "ok", content)
        assert (found.status, found.rule) == ("empty", rule)
    assert read("", "length", "ok", content).status == "truncated"
    assert f"`{rule}`" in GUIDE.read_text(encoding="utf-8")
