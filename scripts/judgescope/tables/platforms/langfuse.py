"""Scores that Langfuse exports: a row for each score of a trace or observation."""

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet
from judgescope.tables.spelling import is_missing

KEYS = ("traceId", "name", "source", "dataType")


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns(*KEYS):
        return True
    data = None
    if export.has_keys("data", "meta"):
        data = export.content.get("data")
    entries = data if isinstance(data, list) else []
    if not entries:
        return False
    if not isinstance(entries[0], dict):
        return False
    return {*KEYS} <= {*entries[0]}


def _rows(export: OpenedExport) -> list[ExportPart]:
    """The scores: rows of a file, or the page that the API answers."""
    if export.rows:
        export.check_columns(*KEYS, "value")
        return export.parts
    return export.root.parts("data")


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each trace, or for each observation of it that has scores.

    The source API may be users, people or a machine, so its scores belong to no side.
    """
    sheet = ScoreSheet()
    of_api: dict[str, None] = {}
    for index, row in enumerate(_rows(export)):
        trace = str(row.need("traceId"))
        observation = row.get("observationId")
        cells = {"traceId": trace}
        if not is_missing(observation):
            cells["observationId"] = str(observation)
        key = ".".join(cells.values())
        sheet.add_text(key, index, cells)
        source = str(row.need("source")).upper()
        if source in {"ANNOTATION", "EVAL"}:
            sheet.add_score(key, _score(row, source))
        else:
            column = f"{source}.{row.need('name')}"
            of_api[column] = None
            sheet.texts[key][column] = _value(row)
    table = sheet.table()
    table.item = "traceId"
    if any("observationId" in text for text in table.rows):
        table.item = "traceId.observationId"
        for key, text in zip(sheet.texts, table.rows, strict=True):
            text[table.item] = key
    if of_api:
        names = ", ".join(of_api)
        table.notes.append(
            f"scores of source API may be people's or a judge's, and were not used: "
            f"{names}; name them with --human or --judge"
        )
    return table


def _value(row: ExportPart) -> object:
    """The value of a score: its word for categories and truth values, else a number."""
    if str(row.need("dataType")).upper() in {"CATEGORICAL", "BOOLEAN"}:
        word = row.get("stringValue")
        if not is_missing(word):
            return word
    return row.get("value")


def _score(row: ExportPart, source: str) -> GivenScore:
    is_person = source == "ANNOTATION"
    author = row.get("authorUserName") or row.get("authorUserId")
    return GivenScore(
        name=str(row.need("name")),
        kind=source,
        is_person=is_person,
        giver=str(author or "") if is_person else "",
        number=_value(row),
    )


LANGFUSE = Platform(
    name="langfuse-scores",
    title="Langfuse scores",
    version="4.16",
    link="https://langfuse.com/docs/api-and-data-platform/features/export-from-ui",
    found_by="`traceId`, `name`, `source`, `dataType`",
    people="rows of source ANNOTATION; the rater is `authorUserName` or `authorUserId`",
    judge="rows of source EVAL; those of source API are on no side",
    recognise=_recognise,
    read=_read,
)
