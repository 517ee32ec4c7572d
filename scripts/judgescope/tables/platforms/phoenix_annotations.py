"""Annotations of spans that Arize Phoenix exports: a row for each."""

from dataclasses import replace

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import unpacked
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet

ITEM = "span_id"
NAME = "annotation_name"
KIND = "annotator_kind"
RESULT = "result"


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns(KIND, ITEM, "name", RESULT):
        return True
    if not export.has_columns(NAME, KIND):
        return False
    return export.has_columns("result.label") or export.has_columns("result.score")


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each span; a label counts before a score.

    A DataFrame's index, the span, has no name in some CSV files. The client's list has
    the same annotations with the keys `name` and `result`.
    """
    nested = RESULT in export.columns
    if nested:
        export.check_columns("name", KIND, ITEM)
    else:
        export.check_columns(NAME, KIND)
    if not nested and "result.label" not in export.columns:
        export.check_columns("result.score")
    unnamed = [name for name in export.columns if name in {"", "Unnamed: 0"}]
    ident = ITEM
    if ITEM not in export.columns and unnamed:
        ident = unnamed[0]
    sheet = ScoreSheet()
    for index, part in enumerate(export.parts):
        row = part
        if nested:
            # A CSV file has the object as JSON.
            content = {**part.content, RESULT: unpacked(part.content.get(RESULT))}
            row = replace(part, content=content)
        span = str(row.need(ident))
        sheet.add_text(span, index, {ITEM: span})
        sheet.add_score(span, _score(row, nested=nested))
    table = sheet.table()
    table.item = ITEM
    return table


def _score(row: ExportPart, *, nested: bool) -> GivenScore:
    kind = str(row.need(KIND)).upper()
    result = row.optional(RESULT) if nested else row
    prefix = "" if nested else "result."
    return GivenScore(
        name=str(row.need("name" if nested else NAME)),
        kind=kind,
        is_person=kind == "HUMAN",
        giver=str(row.get("identifier") or ""),
        label=result.get(f"{prefix}label"),
        number=result.get(f"{prefix}score"),
    )


PHOENIX_ANNOTATIONS = Platform(
    name="phoenix-annotations",
    title="Phoenix annotations",
    version="client 3.3",
    link="https://arize.com/docs/phoenix",
    found_by="`annotation_name`, `annotator_kind`, `result.label` or `result.score`",
    people="rows of kind HUMAN; the rater is `identifier`",
    judge="rows of kind LLM and CODE",
    recognise=_recognise,
    read=_read,
)
