"""System messages, shortened parts, agreement in words, and forms that show two
texts.
"""

from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject
from judgescope.plan.checks.judges import check_judge
from judgescope.prompts import cut, load, rated
from judgescope.replies.judging import Questions, asks_pairs, rows, shown
from judgescope.schema.cards import (
    Aspect,
    CommandModel,
    Judge,
    OpenAIModel,
    RatedAspect,
    RatingScale,
)
from prompts_setup import ASPECT, CONFIG, SUMMARY

SCALE = RatedAspect(min=1, max=5, step=1)
PARTS = (
    SourcePart("Conversation", "One two three four."),
    SourcePart("Fact", "A FACT."),
)
TEXTS = [
    Subject(f"i:{name}", "i", name, "systems", f"TEXT {name}", "S", parts=PARTS)
    for name in "ab"
]


def model(**keys: Any) -> OpenAIModel:
    fields = {"model": "m", "engine": "openai", "base_url": "http://127.0.0.1:1/v1"}
    return OpenAIModel.model_validate(fields | keys)


def asked(folder: Path = CONFIG, role: str = "system", **keys: Any) -> Questions:
    judge = Judge.model_validate(
        {"judge": "j", "model": "m", "form": "score-only"} | keys
    )
    templates = load(judge.form, [folder, CONFIG], where="")
    if judge.system:
        templates |= load(judge.system, [folder, CONFIG], where="")
    texts = shown(judge, TEXTS, pairs=asks_pairs(judge, templates))
    own_part = model(system_role=role)
    return Questions(own_part, judge, ASPECT, SCALE, texts, templates, 0, SUMMARY)


def write_form(folder: Path, name: str, template: str) -> None:
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts" / f"{name}.jinja").write_text(template, encoding="utf-8")


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_message_stands_before_the_prompt_and_is_part_of_the_key(
    role: str,
) -> None:
    plain, result = asked(), asked(role=role, system="impartial")
    first, second = result[0].asked["messages"]
    assert first["role"] == role and "impartially" in first["content"]
    assert [second] == plain[0].asked["messages"]
    assert result[0].key != plain[0].key
    assert bytes.fromhex(result[0].key) == result.outline(0).key
    assert result.outline(0).characters > plain.outline(0).characters
    assert result[0].transcript.startswith(f"[{role}]\n")


def test_a_model_without_system_messages_gets_it_at_the_head_of_the_prompt() -> None:
    plain, result = asked(), asked(role="user", system="impartial")
    [message] = result[0].asked["messages"]
    [bare] = plain[0].asked["messages"]
    assert message["content"].endswith(f"\n\n{bare['content']}")
    assert bytes.fromhex(result[0].key) == result.outline(0).key


def test_a_system_message_sees_no_text_and_says_nothing_if_it_is_empty(
    tmp_path: Path,
) -> None:
    write_form(tmp_path, "nosy", "{{ text }}")
    with pytest.raises(UserError, match="'text' is undefined"):
        asked(tmp_path, system="nosy")[0]
    write_form(tmp_path, "silent", "  \n{# nothing #}")
    assert asked(tmp_path, system="silent")[0].key == asked()[0].key
    write_form(tmp_path, "told", "{{ aspect.name }}, {{ noun }}, {{ scale.max }}")
    content = asked(tmp_path, system="told")[0].asked["messages"][0]["content"]
    assert content == "Fluency, summary, 5"


@pytest.mark.parametrize(
    "key", [{"system": "impartial"}, {"cut_parts": {"*": {"characters": 5}}}]
)
def test_programs_take_neither_a_system_message_nor_cuts(key: dict[str, Any]) -> None:
    fields = {"model": "m", "engine": "command", "argv": ["true"]}
    program = CommandModel.model_validate(fields)
    judge = Judge.model_validate({"judge": "j", "model": "m", "form": "f", **key})
    with pytest.raises(UserError, match="needs a model that reads prompts"):
        check_judge(judge, program, {})


def test_a_form_of_ones_own_that_shows_two_texts_asks_pairs(tmp_path: Path) -> None:
    write_form(tmp_path, "which", "{{ source }} {{ text }} {{ text_b }}")
    cell = asked(tmp_path, form="which")
    assert [tuple(cell.text_columns(at).values()) for at in range(len(cell))] == [
        ("i:a", "i:b"),
        ("i:b", "i:a"),
    ]
    assert "Conversation:\nOne two" in cell[0].prompt
    assert rows(cell, lambda number, draw: None) == []


def test_parts_are_cut_by_name_or_by_the_star_and_counted() -> None:
    limits = {"Conversation": {"characters": 8, "keep": "end"}, "*": {"characters": 99}}
    cell = asked(cut_parts=limits)
    assert "Conversation:\n[…]\nfour.\n\nFact:\nA FACT.\n" in cell[0].prompt
    assert cell.cut_columns(0) == {"cut": 1, "cut_parts": ["Conversation"]}
    assert asked().cut_columns(0) == {}
    assert cell[0].key != asked()[0].key
    wide = asked(cut_parts={"*": {"characters": 99}})
    assert wide[0].key == asked()[0].key and wide.cut_columns(0)["cut"] == 0


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("abcdefgh", False, "abcde\n[…]"),
        ("abcdefgh", True, "[…]\ndefgh"),
        ("ab cdefgh", False, "ab\n[…]"),
        ("abcdef gh", True, "[…]\ngh"),
        ("abcde fgh", False, "abcde\n[…]"),
        ("abc", False, "abc"),
    ],
)
def test_a_cut_is_at_white_space_given_any(text: str, end: bool, expected: str) -> None:
    assert cut(text, 5, end=end) == expected


@pytest.mark.parametrize(("top", "words"), [(2, 2), (3, 3), (5, 5), (4, 0)])
def test_agreement_has_words_for_scales_of_two_three_and_five(
    top: int, words: int
) -> None:
    aspect = Aspect(aspect="a", name="A", definition="B")
    levels = rated(aspect, RatingScale(min=1, max=top, step=1))["scale"].get(
        "agreement", []
    )
    assert len(levels) == words
    assert [level["value"] for level in levels] == [*range(words, 0, -1)]
    if levels:
        assert levels[0]["words"] == "you strongly agree"
