"""The only rating of a reply: the short way reads what the long way reads."""

import json
from pathlib import Path

import pytest

from judgescope.parsing import score
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.lone_ratings import lone_rating
from judgescope.parsing.parsers import parsed_by

CASES = Path(__file__).resolve().parents[2] / "cases"
BEHIND = (
    "",
    "\nIt flows well.",
    "\nof 5 facts, two are wrong.",
    "\n\nOut of 3 names, all are kept.",
    "\nis what the author claims.",
    "\nNo, wait: 2.",
    "\nand a half would be kind",
    "\nScore: none",
    " for relevance.",
)
BEFORE = (
    "",
    "It flows. ",
    "It isn't 'good",
    "Not a 5, resulting in a ",
    "The text says it earns a ",
    "The answer is: ",
    "One of two fails, so it gets a ",
    "the second answer has a ",
)
RATINGS = (
    "Score: 4",
    "rating: 3/5",
    "score of 2 out of 5",
    "score of 7",
    "Verdict: 3.5.",
    "grade of 2/2",
)


def replies() -> list[str]:
    texts: dict[str, None] = {}
    for path in sorted(CASES.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                texts[json.loads(line).get("reply") or ""] = None
    for before in BEFORE:
        for rating in RATINGS:
            for behind in BEHIND:
                texts[before + rating + behind] = None
    return list(texts)


def test_the_short_way_reads_what_the_long_way_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = 0

    def counted(*arguments: object) -> object:
        nonlocal taken
        match = lone_rating(*arguments)  # type: ignore[arg-type]
        taken += match is not None
        return match

    read = parsed_by(PARSERS["score"], scale=Scale(1, 5, 1))
    texts = replies()
    monkeypatch.setattr(score, "lone_rating", counted)
    short = [read(text, "stop", "ok") for text in texts]
    assert taken > 100
    monkeypatch.setattr(score, "lone_rating", lambda *_: None)
    for text, judgment in zip(texts, short, strict=True):
        assert read(text, "stop", "ok") == judgment, text
