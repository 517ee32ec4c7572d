"""The shipped forms: their bytes, and what each tells a model about what it reads."""

import json
import re
from functools import cache
from typing import Any

import pytest

from judgescope.data.rated import SourcePart
from judgescope.prompts import load, of_second, unnamed
from judgescope.prompts.filling import PreparedForm, messages
from judgescope.schema.cards import TaskWords
from judgescope.schema.loading import Cards, read_card, read_tasks
from prompts_setup import CONFIG, FORMS, IMPROVING, VALUES, VERDICTS, filled
from running import SHARED

VECTORS = SHARED.parent / "vectors" / "prompts.json"
CASES: list[dict[str, Any]] = []
if VECTORS.is_file():
    CASES = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
ALONE = {"about", "material", "after-shots", "impartial", "likelihood"}
"""Templates that other forms include, or that show no text."""
TWO = [SourcePart("Conversation", "A: A TURN."), SourcePart("Fact", "A FACT.")]
PLAIN = [*sorted({*FORMS} - ALONE), *IMPROVING, "write-reference"]


@pytest.mark.skipif(not CASES, reason="the vectors are not there: ../shared/vectors")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_shipped_form_gives_the_bytes_of_the_vectors(case: dict[str, Any]) -> None:
    templates = load(case["form"], [CONFIG], where="")
    [message] = messages(case["form"], templates, **case["variables"])
    assert message["content"] == case["prompt"]


@pytest.mark.parametrize("form", PLAIN)
def test_a_form_names_the_kind_of_text_or_its_noun(form: str) -> None:
    words = {"noun": "THE NOUN", "kind": "THE KIND", "write": "THE KIND it is."}
    prompt = filled(form, **words).lower()
    assert "the noun" in prompt or "the kind" in prompt


@pytest.mark.parametrize("form", PLAIN)
def test_a_form_prints_every_part_under_its_name(form: str) -> None:
    prompt = filled(form, TWO)
    shown = [part for part in TWO if part.text in prompt]
    assert shown in ([], TWO)
    for part in shown:
        heading = rf"^(?:### )?{part.name}(?: of A)?:?\n{re.escape(part.text)}$"
        assert re.search(heading, prompt, re.MULTILINE)


@cache
def shipped_words() -> dict[str, TaskWords]:
    """Return the words of every shipped dataset, by its id."""
    tasks, cards = read_tasks([CONFIG]), Cards([CONFIG])
    words = {}
    for name in cards.names("dataset"):
        card = read_card("dataset", CONFIG / "datasets" / f"{name}.yaml")
        words[name] = TaskWords.of(card, tasks)
    return words


@cache
def shipped_parts(name: str) -> list[SourcePart]:
    """Return sample parts of a dataset's source under the names of its card."""
    words = shipped_words()[name]
    card = read_card("dataset", CONFIG / "datasets" / f"{name}.yaml")
    names = card.columns.part_names(words.part) if card.columns else []
    return [SourcePart(each, f"THE TEXT OF {each}") for each in names or [words.part]]


@pytest.mark.parametrize("form", PLAIN)
def test_a_form_names_kind_and_parts_of_every_shipped_dataset(form: str) -> None:
    for name, words in shipped_words().items():
        parts = shipped_parts(name)
        fields = words.model_dump(exclude={"part"})
        prompt = filled(form, parts, **fields)
        named = [words.noun, words.kind, words.write]
        assert any(name.lower() in prompt.lower() for name in named), name
        for part in parts:
            if part.text in prompt:
                heading = rf"^(?:### )?{re.escape(part.name)}(?: of A)?:?\n"
                assert re.search(heading, prompt, re.MULTILINE), (name, part)


@pytest.mark.parametrize("form", PLAIN)
def test_without_parts_no_heading_stands_alone(form: str) -> None:
    prompt = filled(form, [], parts_b=[], given=None)
    assert "Article" not in prompt and "following" not in prompt.lower()
    assert "\n\n\n" not in prompt


@pytest.mark.parametrize(
    "text", ["{{ text }}", "Fact:\nno fact", "\0text\0", "\0000\0"]
)
def test_awkward_texts_of_parts_come_out_as_they_went_in(text: str) -> None:
    values = VALUES | {"shots": []}
    texts = {"source_plain": text, "text": text}
    form = PreparedForm(
        "rate-explain", load("rate-explain", [CONFIG], where=""), values
    )
    prompt = form.fill(texts, [SourcePart("Article", text)]).prompt
    assert form.prints and prompt.count(text) == 2


def judging() -> list[str]:
    """Return the prompt forms of the shipped judges of numbers."""
    cards = Cards([CONFIG])
    asked = [cards.read("judge", name, where="") for name in cards.names("judge")]
    forms = {getattr(card, "form", "") for card in asked}
    return sorted(forms.intersection(FORMS).difference(VERDICTS))


@pytest.mark.parametrize("form", judging())
def test_a_judge_s_form_is_a_list_of_pieces_between_texts(form: str) -> None:
    """Else it would be rendered for each of a hundred thousand texts."""
    values = VALUES | {"shots": VALUES["shots"]}
    names = ("text", "text_b", "hint", "reference")
    texts = {name: values.pop(name) for name in names}
    texts["source_plain"] = unnamed(TWO)
    own_part = PreparedForm(form, load(form, [CONFIG], where=""), values)
    own_part.fill(texts, TWO)
    assert own_part.prints


def test_what_a_text_should_do_is_never_stated_to_be_done() -> None:
    describes = [words.describe for words in read_tasks([CONFIG]).values()]
    cards = Cards([CONFIG])
    for name in cards.names("dataset"):
        card = read_card("dataset", CONFIG / "datasets" / f"{name}.yaml")
        describes += [card.describe] if card.describe else []
    assert all("should" in text.split() for text in describes)


def test_an_anchor_stands_under_its_source() -> None:
    other = of_second([SourcePart("Conversation", "B: OTHER.")])
    prompt = filled("analyze-compare-anchors", TWO, **other)
    assert "Conversation of B:\nB: OTHER.\n\nSummary B:" in prompt
    assert prompt.count("Fact of") == 1
