"""Records that Argilla 2 exports, flat (`NAME.responses`) or nested."""

from typing import Any

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

ITEM = "id"
RESPONSES = ".responses"
FIELDS = frozenset({"id", "status", "_server_id", "score"})


def _flat(export: OpenedExport) -> bool:
    ends = [name for name in export.columns if name.endswith(RESPONSES)]
    return any(f"{name}.users" in export.columns for name in ends)


def _recognise(export: OpenedExport) -> bool:
    return _flat(export) or export.has_columns("fields", "responses", "suggestions")


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each record; drafts and discarded responses are left out."""
    sheet = ScoreSheet()
    flat = _flat(export)
    if not flat:
        export.check_columns("fields", "responses", "suggestions")
    fields: dict[str, None] = {}
    for index, part in enumerate(export.parts):
        key = str(part.get(ITEM) or index + 1)
        content = _of_flat(part) if flat else _of_nested(part)
        texts = {name: text_of(cell) for name, cell in content.texts.items()}
        fields.update(dict.fromkeys(texts))
        sheet.add_text(key, index, {ITEM: key, **texts})
        for score in content.scores:
            if score.number is not None:
                sheet.add_score(key, score)
    table = sheet.table()
    table.item = ITEM
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
    texts = [name for name in fields if kind_of(rows, name) in {"text", "word"}]
    text = first_of_kind(rows, texts, "text")
    table.source = [name for name in texts if "source" in classes_of(name)]
    table.source = [name for name in table.source if name != text]
    others = [name for name in texts if name not in table.source]
    table.text = text or longest_text(rows, others)


ARGILLA = Platform(
    name="argilla",
    title="Argilla",
    version="2",
    link="https://docs.argilla.io/latest/how_to_guides/import_export/",
    found_by="`NAME.responses` with `.users`, or `fields`, `responses`, `suggestions`",
    people="submitted responses",
    judge="suggestions; the judge is their agent",
    recognise=_recognise,
    read=_read,
)
