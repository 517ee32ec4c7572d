"""Annotations of spans that Arize Phoenix exports: a row for each."""

from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet

ITEM = "span_id"


def _recognise(export: OpenedExport) -> bool:
    if not export.has_columns("annotation_name", "annotator_kind"):
        return False
    return export.has_columns("result.label") or export.has_columns("result.score")


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each span; a label counts before a score.

    A DataFrame's index, the span, has no name in a CSV file.
    """
    export.check_columns("annotation_name", "annotator_kind")
    if "result.label" not in export.columns:
        export.check_columns("result.score")
    unnamed = [name for name in export.columns if name in {"", "Unnamed: 0"}]
    ident = ITEM
    if ITEM not in export.columns and unnamed:
        ident = unnamed[0]
    sheet = ScoreSheet()
    for place, row in enumerate(export.parts):
        span = str(row.need(ident))
        kind = str(row.need("annotator_kind")).upper()
        sheet.add_text(span, place, {ITEM: span})
        score = GivenScore(
            name=str(row.need("annotation_name")),
            kind=kind,
            is_person=kind == "HUMAN",
            giver=str(row.get("identifier") or ""),
            label=row.get("result.label"),
            number=row.get("result.score"),
        )
        sheet.add_score(span, score)
    table = sheet.table()
    table.item = ITEM
    return table


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
