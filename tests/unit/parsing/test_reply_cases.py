"""The replies in tests/cases: every one has the reading that its case gives."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judgescope.engines.openai.wire import read_replies
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.parsers import NO_SETTINGS
from judgescope.schema.cards import RatingScale as Card
from parsed import parse

CASES = Path(__file__).resolve().parents[2] / "cases"
SIDES = {1.0: "A", -1.0: "B", 0.0: "tie"}
BAR = 0.98
"""The least share of the cases that are right; none may be wrong."""


def cases(name: str) -> list[dict[str, Any]]:
    # not `splitlines`: some replies hold other characters that break lines
    lines = (CASES / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def reading(case: dict[str, Any]) -> Judgment:
    """Return the judgment of a case's reply by the parser that the case names."""
    text, finish = case.get("reply"), case.get("finish", "stop")
    if "message" in case:
        answer = {"choices": [{"message": case["message"], "finish_reason": "stop"}]}
        (reply,) = read_replies(json.dumps(answer), "k", [0], logprobs=False)
        text, finish = reply.text, reply.finish
    if "pair" in case:
        return parse(
            text, scale=None, finish=finish, parser="choice", settings=case["pair"]
        )
    if "labels" in case:
        card = Card(labels=case["labels"])
        words = tuple(card.words({}).items())
        scale = Scale(card.min, card.max, card.step, tuple(card.labels), words=words)
        return parse(text, scale=scale, finish=finish)
    low, high, step = case.get("scale", (1, 5, 1))
    return parse(
        text,
        scale=Scale(low, high, step),
        finish=finish,
        parser=case.get("parser", "score"),
        settings=case.get("settings", NO_SETTINGS),
    )


def outcome(case: dict[str, Any]) -> str:
    """Return whether the reading of a case is right, lost or wrong."""
    read, expected = reading(case), case["expected"]
    value: object = read.value
    if read.value is not None and "labels" in case:
        value = read.label
    if read.value is not None and "pair" in case:
        value = SIDES[read.value]
    if value is not None:
        return "right" if value == expected else "wrong"
    if case.get("not_refused") and read.status == "refused":
        return "lost"
    if expected == "refused":
        return "right" if read.status == "refused" else "lost"
    return "right" if expected is None or case.get("or_null") else "lost"


FILES = (
    "replies.jsonl",
    "further.jsonl",
    "adversary.jsonl",
    "unseen.jsonl",
    "probes.jsonl",
    "shapes.jsonl",
    "short.jsonl",
    "languages.jsonl",
    "rounds.jsonl",
)
ALL = [case for name in FILES for case in cases(name)]


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_a_reply_is_read_as_its_case_says(case: dict[str, Any]) -> None:
    assert outcome(case) == "right", (case.get("reply"), reading(case))


@pytest.mark.parametrize("name", FILES)
def test_nearly_all_replies_are_read_and_none_wrongly(name: str) -> None:
    counts = Counter(map(outcome, cases(name)))
    assert counts["wrong"] == 0
    assert counts["right"] >= BAR * counts.total()
