"""Records that Argilla exports: flat (`NAME.responses`) or nested by Argilla 2, with
`NAME-suggestion` by Argilla 1.
"""

from collections.abc import Mapping
from typing import Any, Final

from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import (
    first_of_kind,
    kind_of,
    longest_text,
    scalar,
    text_of,
    unpacked,
)
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet
from judgescope.tables.words import classes_of

RESPONSES = ".responses"
FIELDS = frozenset({"id", "status", "_server_id", "score"})


SUGGESTION: Final = "-suggestion"
"""Behind a question's name: the column of its suggestions in exports of Argilla 1."""


def _questions_of_first(export: OpenedExport) -> list[str]:
    """The questions of an export of Argilla 1: a list of responses for each, with the
    column of its suggestions beside.
    """
    questions = []
    for name in export.columns:
        if f"{name}{SUGGESTION}" not in export.columns:
            continue
        entries = []
        for row in export.rows:
            cell = unpacked(row.get(name))
            if isinstance(cell, list):
                entries += cell
        if entries and all(map(_is_response, entries)):
            questions.append(name)
    return questions


def _is_response(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    return {"value", "status"} <= entry.keys()


def _flat(export: OpenedExport) -> bool:
    ends = []
    for name in export.columns:
        if name.endswith(RESPONSES):
            ends.append(name)
    return any(f"{name}.users" in export.columns for name in ends)


def _recognise(export: OpenedExport) -> bool:
    nested = export.has_columns("fields", "responses", "suggestions")
    return _flat(export) or nested or bool(_questions_of_first(export))


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each record; drafts and discarded responses are left out."""
    sheet = ScoreSheet()
    flat = _flat(export)
    of_first = _questions_of_first(export)
    if not flat and not of_first:
        export.check_columns("fields", "responses", "suggestions")
    fields: dict[str, None] = {}
    item_column = "id"
    for index, part in enumerate(export.parts):
        key = str(part.get(item_column) or index + 1)
        if of_first:
            content = _of_first(part, of_first)
        else:
            content = _of_flat(part) if flat else _of_nested(part)
        texts = {name: text_of(cell) for name, cell in content.texts.items()}
        fields.update(dict.fromkeys(texts))
        sheet.add_text(key, index, {item_column: key, **texts})
        for score in content.scores:
            if score.number is not None:
                sheet.add_score(key, score)
    table = sheet.table()
    table.item = item_column
    _add_texts(table, list(fields))
    return table


class RecordContent:
    """The fields of a record and the scores of its questions."""

    def __init__(self) -> None:
        self.texts: FileRow = {}
        self.scores: list[GivenScore] = []

    def respond(self, name: str, value: Any, user: Any, status: Any) -> None:
        """Add a person's response, if it was submitted."""
        submitted = "submitted"
        if status not in (None, submitted):
            return
        giver = "" if user is None else str(user)
        score = GivenScore(name, "response", True, giver, scalar(value))
        self.scores.append(score)

    def suggest(self, name: str, value: Any, agent: Any) -> None:
        """Add a suggestion, which is a judge's."""
        giver = str(agent or "")
        self.scores.append(GivenScore(name, "suggestion", False, giver, scalar(value)))


def _of_flat(part: ExportPart) -> RecordContent:
    content = RecordContent()
    suggestion = ".suggestion"
    for column, cell in part.content.items():
        name = column.removesuffix(RESPONSES)
        if name != column:
            values = unpacked(cell) or []
            users = unpacked(part.get(f"{column}.users")) or [None] * len(values)
            states = unpacked(part.get(f"{column}.status")) or [None] * len(values)
            for value, user, status in zip(values, users, states, strict=False):
                content.respond(name, value, user, status)
        elif column.endswith(suggestion):
            name = column.removesuffix(suggestion)
            content.suggest(name, cell, part.get(f"{column}.agent"))
        elif column not in FIELDS and "." not in column:
            content.texts[column] = cell
    return content


def _of_first(part: ExportPart, questions: list[str]) -> RecordContent:
    """The content of a record of Argilla 1, `NAME` and `NAME-suggestion`."""
    content = RecordContent()
    for name in questions:
        for response in unpacked(part.get(name)) or []:
            value = response["value"]
            user = response.get("user_id")
            content.respond(name, value, user, response["status"])
        about = unpacked(part.get(f"{name}{SUGGESTION}-metadata"))
        agent = None
        if isinstance(about, Mapping):
            agent = about.get("agent")
        content.suggest(name, part.get(f"{name}{SUGGESTION}"), agent)
    for column, cell in part.content.items():
        is_question = column.partition(SUGGESTION)[0] in questions
        if not is_question and column not in {*FIELDS, "external_id", "metadata"}:
            content.texts[column] = cell
    return content


def _of_nested(part: ExportPart) -> RecordContent:
    content = RecordContent()
    content.texts.update(part.part("fields").content)
    responses = part.optional("responses")
    for name in responses.content:
        for each in responses.several(name):
            status = each.get("status")
            content.respond(name, each.need("value"), each.get("user_id"), status)
    suggestions = part.optional("suggestions")
    for name in suggestions.content:
        each = suggestions.optional(name)
        content.suggest(name, each.get("value"), each.get("agent"))
    return content


def _add_texts(table: PlatformTable, fields: list[str]) -> None:
    rows = table.rows
    texts = []
    for name in fields:
        if kind_of(rows, name) in {"text", "word"}:
            texts.append(name)
    text = first_of_kind(rows, texts, "text")
    table.source = [name for name in texts if "source" in classes_of(name)]
    table.source = [name for name in table.source if name != text]
    others = [name for name in texts if name not in table.source]
    table.text = text or longest_text(rows, others)


ARGILLA = Platform(
    name="argilla",
    title="Argilla",
    version="1.29, 2",
    link="https://docs.argilla.io/latest/how_to_guides/import_export/",
    found_by="`NAME.responses` with `.users`; `fields`, `responses`, `suggestions`; "
    "`NAME-suggestion` beside a list of responses",
    people="submitted responses",
    judge="suggestions; the judge is their agent",
    recognise=_recognise,
    read=_read,
)
