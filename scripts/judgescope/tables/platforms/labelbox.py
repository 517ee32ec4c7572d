"""Rows that Labelbox exports (NDJSON, version 2): a data row with the labels of its
projects and the predictions of its model runs.
"""

from collections.abc import Iterator
from typing import Any

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import scalar, text_of, unpacked
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet
from judgescope.tables.platforms.sides import (
    add_judges,
    is_machines,
    judge_column,
    may_be_score,
)

ITEM = "id"
TEXT = "row_data"


def _recognise(export: OpenedExport) -> bool:
    if not export.has_columns("data_row", "projects"):
        return False
    first = export.rows[0]
    return isinstance(first["data_row"], dict) and isinstance(first["projects"], dict)


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each data row; labels are people's, predictions a judge's."""
    sheet = ScoreSheet()
    others = 0
    metadata: dict[str, None] = {}
    for index, row in enumerate(export.parts):
        data_row = row.part("data_row")
        key = str(data_row.need(ITEM))
        cells = {ITEM: key, TEXT: _text(data_row.get(TEXT))}
        for each in row.several("metadata_fields"):
            name = str(each.need("schema_name"))
            cells[name] = scalar(each.get("value"))
            metadata[name] = None
        sheet.add_text(key, index, cells)
        for label in _labels(row):
            giver = str(label.optional("label_details").get("created_by") or "")
            others += _add(sheet, key, label, giver, is_person=True)
        for run, prediction in _predictions(row):
            others += _add(sheet, key, prediction, run, is_person=False)
    table = sheet.table()
    table.item = ITEM
    if any(row.get(TEXT) for row in table.rows):
        table.text = TEXT
    if others:
        table.notes.append(
            f"{others} classifications are neither one answer nor a number, and are "
            "not used"
        )
    judged = []
    for name in metadata:
        if is_machines(name) and may_be_score(table.rows, name):
            judged.append(name)
    add_judges(table, [judge_column(name) for name in judged])
    return table


def _text(row_data: Any) -> str | None:
    """The text of a data row; None for the address of a file."""
    is_address = isinstance(row_data, str) and row_data.startswith(
        ("http://", "https://", "gs://", "s3://")
    )
    return None if is_address else text_of(unpacked(row_data))


def _labels(row: ExportPart) -> Iterator[ExportPart]:
    """Yield the labels that people gave in each project."""
    projects = row.part("projects")
    for name in projects.content:
        yield from projects.part(name).several("labels")


def _predictions(row: ExportPart) -> Iterator[tuple[str, ExportPart]]:
    """Yield the predictions of each run of a model, with the run's name."""
    experiments = row.optional("experiments")
    for experiment in experiments.content:
        runs = experiments.part(experiment).optional("runs")
        for run in runs.content:
            of_run = runs.part(run)
            for prediction in of_run.several("predictions"):
                yield str(of_run.get("name") or run), prediction


def _add(
    sheet: ScoreSheet, key: str, label: ExportPart, giver: str, *, is_person: bool
) -> int:
    """Add the answers of a label; the count of those that are no single answer."""
    others = 0
    for answered in label.optional("annotations").several("classifications"):
        value = _answer(answered)
        if value is None:
            others += 1
            continue
        score = GivenScore(
            name=str(answered.need("name")),
            kind="label" if is_person else "prediction",
            is_person=is_person,
            giver=giver,
            number=value,
        )
        sheet.add_score(key, score)
    return others


def _answer(answered: ExportPart) -> Any:
    """The one answer of a classification, or the number that it has as a text."""
    radio = answered.optional("radio_answer").get("name")
    if radio is not None:
        return scalar(radio)
    checked = answered.several("checklist_answers")
    if len(checked) == 1:
        return scalar(checked[0].get("name"))
    written = answered.optional("text_answer").get("content")
    try:
        return float(written)
    except (TypeError, ValueError):
        return None


LABELBOX = Platform(
    name="labelbox",
    title="Labelbox",
    version="export 2",
    link="https://docs.labelbox.com/docs/export-labels",
    found_by="`data_row` and `projects`, both objects",
    people="`labels`: the classification is the aspect, `created_by` the rater",
    judge="`predictions` of a model run, or a metadata field that names a judge",
    recognise=_recognise,
    read=_read,
)
