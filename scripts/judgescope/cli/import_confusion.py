"""The command `judgescope cards import`: the criteria and demonstrations of Hu et al.
(2024), from the authors' files, as the user's own cards.

The files are the authors': cards made from them are written into config/, and none is
shipped.
"""

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from judgescope.cli.card_files import OWN, SHIPPED
from judgescope.core.errors import UserError, check_known
from judgescope.data.rows import read_object, read_text
from judgescope.schema.cards import FOLDERS
from judgescope.schema.loading import load_yaml

CRITERIA = {
    "Gold": "default",
    "Simplified": "simplified",
    "Detailed": "detailed",
    "Term": "term",
    "List": "list",
    "Selection1": "selection-1",
    "Selection2": "selection-2",
    "Selection3": "selection-3",
}
"""Description in the file -> criterion of an aspect's card."""
PROMPTS = {
    "prompt_fluency_repeat": "repetition",
    "prompt_fluency_passive": "passive-voice",
    "prompt_fluency_inversion": "inversion",
    "prompt_coherence_conjuction": "improper-connective",
    "prompt_grammar_verb": "incorrect-verb-form",
    "prompt_simple_word": "uncommon-phrase",
    "prompt_simple_structure": "complex-sentence",
    "prompt_inform_abbr": "abbreviation",
    "prompt_inform_hypernym": "hypernym",
    "prompt_hallucination_fact": "complement",
    "prompt_hallucination_continue": "continuation",
    "prompt_contradiction_entity": "different-entity",
    "prompt_contradiction_meaning": "conflicting-fact",
    "prompt_contradiction_negate": "negation",
}
"""Variable in the file -> perturbation."""


def import_cards(args: argparse.Namespace) -> int:
    """Write a card into config/ for each aspect or perturbation that the files
    describe; no existing file is overwritten.
    """
    cards: dict[Path, dict[str, Any]] = {}
    for name in args.files:
        path = Path(name)
        if not path.is_file():
            raise UserError("no such file", where="judgescope cards import", got=name)
        if path.suffix == ".py":
            cards |= perturbation_cards(path)
        else:
            cards |= aspect_cards(path)
    for target in cards:
        if target.exists():
            raise UserError(
                "this file exists and is not overwritten",
                where=str(target),
                todo="change that file, or move it away",
            )
    for target, card in cards.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(card, sort_keys=False, allow_unicode=True)
        target.write_text(text, encoding="utf-8")
        print(f"written: {target}")
    return 0


def aspect_cards(path: Path) -> dict[Path, dict[str, Any]]:
    """Return the shipped cards of aspects with the file's descriptions as criteria."""
    cards: dict[Path, dict[str, Any]] = {}
    for title, descriptions in read_object(path).items():
        name = title.casefold().removesuffix("_quality")
        where = f"{path}, {title}"
        target, card = _shipped("aspect", name, where)
        if not isinstance(descriptions, dict):
            raise _other_layout(where, descriptions, "description -> its text")
        check_known(descriptions, CRITERIA, "unknown description", where=where)
        criteria: dict[str, str] = {}
        for kind, text in descriptions.items():
            if not isinstance(text, str) or not text.strip():
                raise _other_layout(f"{where}, {kind}", text, "a text")
            criteria[CRITERIA[kind]] = _definition(text)
        cards[target] = {**card, "criteria": criteria}
    return cards


def _definition(text: str) -> str:
    """Return a description as a definition: without the aspect's name before it.

    >>> _definition("Fluency: It measures whether the {T} is fluent.")
    'It measures whether the text is fluent.'
    """
    # What the authors' program replaces by the names of a task's texts.
    words = {"{T}": "text", "{S}": "source"}
    for mark, word in words.items():
        text = text.replace(mark, word)
    return re.sub(r"^[A-Z][\w -]{1,30}: ", "", text).strip()


def perturbation_cards(path: Path) -> dict[Path, dict[str, Any]]:
    """Return the shipped cards of perturbations with the file's demonstrations.

    The program is read, not run. Raises UserError for a prompt without demonstrations,
    and for a file that has no known prompt.
    """
    cards: dict[Path, dict[str, Any]] = {}
    # Where a prompt has the text to be changed.
    placeholder = "{example}"
    # A text before and after its change, as the prompts show them.
    shown_prompt = re.compile(
        r"^Original text:\n(?P<text>.+?)\nNew \w+:\n(?P<changed>.+?)"
        r"(?=\n\s*\nOriginal text:|\Z)",
        re.MULTILINE | re.DOTALL,
    )
    for name, prompt in _text_constants(path):
        if name not in PROMPTS:
            continue
        where = f"{path}, {name}"
        target, card = _shipped("perturbation", PROMPTS[name], where)
        shown = list[dict[str, str]]()
        for match in shown_prompt.finditer(prompt):
            text = match["text"].strip()
            changed = match["changed"].strip()
            if placeholder in text or placeholder in changed:
                continue
            demonstration = {
                "topic": f"{name} {len(shown) + 1}",
                "task": "unknown",
                "text": text,
                "changed": changed,
            }
            shown.append(demonstration)
        if not shown:
            raise _other_layout(
                where, prompt[:60], "`Original text:`, a text, `New text:`, a text"
            )
        cards[target] = {**card, "demonstrations": shown}
    if not cards:
        raise _other_layout(str(path), None, ", ".join(PROMPTS))
    return cards


def _text_constants(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, text) for the texts that a program assigns to variables."""
    try:
        program = ast.parse(read_text(path))
    except SyntaxError as error:
        raise UserError(
            "this is not a Python program",
            where=f"{path}, line {error.lineno}",
            todo="get the file again",
        ) from None
    for statement in program.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))
            ):
                yield name, text


def _shipped(kind: str, name: str, where: str) -> tuple[Path, dict[str, Any]]:
    """Return where the user's own card of an id is written, and the shipped card."""
    folder = FOLDERS[kind]
    known = {path.stem for path in (SHIPPED / folder).glob("*.yaml")}
    check_known([name], known, f"unknown {kind} card", where=where)
    content, _ = load_yaml(SHIPPED / folder / f"{name}.yaml")
    return OWN / folder / f"{name}.yaml", json.loads(json.dumps(content))


def _other_layout(where: str, got: object, allowed: str) -> UserError:
    """Return the error for a file that is not laid out as the authors' file."""
    return UserError(
        "the file is laid out in another way than the one that the authors publish",
        where=where,
        got=got,
        allowed=allowed,
        todo="get aspect_criteria.json, or Perturbations/GPT4_prompts.py, of the "
        "commit that docs/guide/confusion.md names",
    )
