"""Judgments of MT-Bench and Chatbot Arena: a row for each comparison of two models."""

from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.rows import FileRow
from judgescope.tables.choices import FIRST, SECOND, TIE, reversed_choice
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import text_of, unpacked
from judgescope.tables.platforms.sides import EVERY, OVERALL, is_machines
from judgescope.tables.sides import MOST_RATERS
from judgescope.tables.structure import is_conversation

MODELS = ["model_a", "model_b"]
TEXTS = ["conversation_a", "conversation_b"]
ITEM = "question"
PEOPLE = "people"


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each question, turn and pair of models, whatever their order."""
    export.check_columns(*MODELS, "winner", *TEXTS)
    choices: dict[tuple[str, ...], FileRow] = {}
    places: dict[tuple[str, ...], int] = {}
    given: dict[str, bool] = {}
    for index, part in enumerate(export.parts):
        first, second = (str(part.need(name)) for name in MODELS)
        item = _item(part, index + 1)
        key = (item, first, second)
        turned = (item, second, first) in choices
        choice = _choice(part)
        if turned:
            key = (item, second, first)
            choice = reversed_choice(choice)
        judge = _judge(part)
        given.setdefault(judge, not is_machines(judge))
        places.setdefault(key, index)
        row = choices.setdefault(key, _pair(part, item))
        if choice is None:
            continue
        row.setdefault(judge, []).append(choice)
    people = []
    for name, is_person in given.items():
        if is_person:
            people.append(name)
    machines = [name for name, is_person in given.items() if not is_person]
    rows = []
    for row in choices.values():
        rows.append(_collected(row, people, machines))
    table = PlatformTable(
        rows, list(places.values()), item=ITEM, texts=TEXTS, systems=MODELS
    )
    if people:
        table.people = {OVERALL: [PEOPLE] if len(people) > MOST_RATERS else people}
    table.judges = {slug(name): {EVERY: name} for name in machines}
    return table


def _item(part: ExportPart, number: int) -> str:
    """The question and the turn; a battle without a question is one of its own."""
    question = part.get("question_id")
    turn = part.get("turn")
    if question is None:
        return f"battle {number}"
    if turn is None:
        return f"{question}"
    return f"{question}, turn {turn}"


def _pair(part: ExportPart, item: str) -> FileRow:
    """The two conversations up to the turn that is judged."""
    row: dict[str, Any] = {ITEM: item}
    for name in MODELS:
        row[name] = str(part.need(name))
    turn = part.get("turn")
    for name in TEXTS:
        chat = unpacked(part.need(name))
        if is_conversation(chat) and str(turn).isdigit():
            chat = chat[: 2 * int(str(turn))]
        row[name] = text_of(chat)
    return row


def _judge(part: ExportPart) -> str:
    judge = unpacked(part.get("judge"))
    if isinstance(judge, list):
        return " ".join(map(str, judge))
    return str(judge or PEOPLE)


def _choice(part: ExportPart) -> int | None:
    word = str(part.need("winner") or "").strip()
    if word == "":
        return None
    for choice, name in ((FIRST, MODELS[0]), (SECOND, MODELS[1])):
        if word in (name, str(part.get(name))):
            return choice
    if word.lower().startswith("tie"):
        return TIE
    raise UserError(
        "the winner of a comparison is neither of its models nor a tie",
        where=part.where,
        got=word,
        allowed="model_a, model_b, tie, tie (bothbad)",
    )


def _collected(row: FileRow, people: list[str], machines: list[str]) -> FileRow:
    """The row with the last choice of each person, and all of each judge."""
    new = dict(row)
    chosen = []
    for name in people:
        if name in new:
            new[name] = row[name][-1]
            chosen.append(new[name])
    if len(people) > MOST_RATERS:
        new[PEOPLE] = chosen
    for name in machines:
        if name in new:
            new[name] = row[name][0] if len(row[name]) == 1 else row[name]
    return new


ARENA = Platform(
    name="arena",
    title="MT-Bench, Chatbot Arena",
    version="of 2023",
    link="https://github.com/lm-sys/FastChat/tree/main/fastchat/llm_judge",
    found_by="`model_a`, `model_b`, `winner`, `conversation_a`",
    people="`judge` that names no model: expert_*, author_*, arena_user_*",
    judge="`judge` with a model's name",
    recognise=lambda export: export.has_columns(*MODELS, "winner", TEXTS[0]),
    read=_read,
)
