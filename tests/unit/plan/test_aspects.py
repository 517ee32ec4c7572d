"""The aspects of Hu et al. (2024): their tree, and the wordings of each."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from judgescope.schema.cards import Aspect
from judgescope.schema.loading import read_card
from vectors import published

HOME = Path(__file__).resolve().parents[3]
TREE = {
    "overall": None,
    "readability": "overall",
    "fluency": "readability",
    "grammaticality": "fluency",
    "coherence": "readability",
    "simplicity": "readability",
    "adequacy": "overall",
    "faithfulness": "adequacy",
    "non-contradiction": "faithfulness",
    "non-hallucination": "faithfulness",
    "informativeness": "adequacy",
}
TYPES = ["default", "simplified", "detailed", "term", "list"]
LONGEST_SHARED = 7
"""Words in a row that a wording may share with a published one."""


def id_of(printed: str) -> str:
    return "overall" if printed == "Overall quality" else printed.lower()


@cache
def card(name: str) -> Aspect:
    result: Aspect = read_card("aspect", HOME / "config" / "aspects" / f"{name}.yaml")
    return result


def wordings(name: str) -> dict[str, str]:
    """Return criterion -> what judges are told."""
    return {
        criterion: f"{result.name}: {result.definition}"
        for criterion, wording in card(name).criteria.items()
        for result in [card(name).worded(wording)]
    }


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    size = LONGEST_SHARED + 1
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


def test_the_tree_is_the_papers() -> None:
    assert {name: card(name).parent for name in TREE} == TREE
    rows = published("s001_tree_figure3_implied")
    edges = {id_of(row["child"]): id_of(row["parent"]) for row in rows}
    assert edges == {name: parent for name, parent in TREE.items() if parent}


@pytest.mark.parametrize("name", TREE)
def test_an_aspect_has_the_five_types_and_then_selections(name: str) -> None:
    own_part = list(card(name).criteria)
    assert own_part[:5] == TYPES
    assert own_part[5:] == [
        f"selection-{number}" for number in range(1, len(own_part) - 4)
    ]
    result = wordings(name)
    assert len(set(result.values())) == len(result)
    assert all(each.definition for each in card(name).criteria.values())


@pytest.mark.parametrize("name", TREE)
def test_only_the_list_says_what_scores_mean(name: str) -> None:
    result = wordings(name)
    assert re.findall(r"(?<=Score )\d(?=: )", result.pop("list")) == list("54321")
    assert not any(re.search(r"\d", text) for text in result.values())


def test_detail_grows_from_the_term_to_the_list() -> None:
    for name in TREE:
        result = wordings(name)
        sizes = [
            len(result[kind]) for kind in ("term", "simplified", "default", "detailed")
        ]
        assert sizes == sorted(sizes), name
        assert len(result["list"]) > len(result["default"])


def test_no_two_aspects_say_the_same() -> None:
    each = Counter(text for name in TREE for text in wordings(name).values())
    assert len(each) == 80 and max(each.values()) == 1


def test_there_are_as_many_wordings_of_each_aspect_as_published() -> None:
    rows = published("s001_criteria_tables7_17")
    expected = Counter(id_of(row["aspect"]) for row in rows)
    assert {name: len(card(name).criteria) for name in TREE} == expected
    kinds = {re.sub(r"(\d)", r"-\1", row["description_type"].lower()) for row in rows}
    assert kinds == {kind for name in TREE for kind in card(name).criteria}


def test_every_wording_is_unpublished() -> None:
    rows = published("s001_criteria_tables7_17")
    theirs = set().union(*(runs(row["text"]) for row in rows))
    for name in TREE:
        for criterion, text in (wordings(name) | {"": card(name).definition}).items():
            assert not runs(text) & theirs, (name, criterion)
