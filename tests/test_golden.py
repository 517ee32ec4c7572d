"""The keys under which replies were paid for stay what they are: see tests/golden.py."""

from typing import Any

import pytest

import golden
from judgescope.plan.judges import card_hash
from judgescope.schema.loading import validate_card

SCALE = {"min": 1, "max": 5, "step": 1}
JUDGE = {"judge": "j", "model": "m", "form": "f"}
ROWS = {"item": "i", "scores": {"*": "s"}}
DATASET = {
    **{"dataset": "d", "name": "D", "task": "t", "licence": "none", "citation": "none"},
    **{"format": "table", "files": "x.csv", "aspects": {"fluency": SCALE | {"column": "f"}}},
    "columns": {"item": "i", "source": "s", "system": "y", "text": "t"},
}
HASHES: list[tuple[str, dict[str, Any], str]] = [
    ("judge", JUDGE, "31925c81"),
    ("judge", JUDGE | {"scale": SCALE}, "237d7fbe"),
    ("model", {"model": "m", "engine": "openai", "base_url": "http://h/v1"}, "57693c26"),
    (
        "model",
        {"model": "m", "engine": "recorded", "dataset": "d", "files": "x.csv", "rows": ROWS},
        "d5950ccb",
    ),
    ("dataset", DATASET, "49cc9c72"),
]
"""Cards without a key that came later, and what they hashed to at revision 69ba452."""


@pytest.fixture(scope="module")
def written() -> golden.Keys:
    return golden.written()


@pytest.mark.heavy
def test_no_key_of_a_reply_has_changed(written: golden.Keys) -> None:
    assert golden.changed(written, golden.keys()) == []


def test_what_has_changed_is_named() -> None:
    before = {"a": "1", "b": "2", "c": "3"}
    after = {"a": "1", "b": "9", "d": "3"}
    assert golden.changed(before, after) == ["changed: b", "gone: c", "new: d"]


def test_there_are_keys_of_every_way_to_ask(written: golden.Keys) -> None:
    assert len(written) >= 300
    # a name says the study, the stage and the judge or the file
    stages = {tuple(name.split("/")[:2]) for name in written}
    assert stages >= {
        *(("forms", "judges"), ("forms", "analyses"), ("models", "judges")),
        *(("wordings", "judges"), ("attacked", "judges"), ("ensemble", "merged")),
        *(("written", "texts"), ("written", "originals"), ("lessons", "lessons")),
        *(("lessons", "judges"), ("drafted", "drafts"), ("graded", "originals")),
        *(("graded", "rated"), ("graded", "candidates"), ("graded", "compared")),
    }
    judges = {name.split("/")[2] for name in written if name.startswith(("forms", "models"))}
    assert judges >= {
        *("pairwise", "wrong-hint", "choice", "object", "annotator", "marked-shots"),
        *("analyze-one-shot", "probable", "by-vllm-tuned", "by-counter", "own-seed", "some"),
    }


@pytest.mark.parametrize(("kind", "card", "before"), HASHES)
def test_no_hash_of_a_card_has_changed(kind: str, card: dict[str, Any], before: str) -> None:
    """A new key that is not set stands in no signature (see `LATER` in judgescope.plan.judges)."""
    assert card_hash(validate_card(kind, card, "x.yaml", {})) == before
