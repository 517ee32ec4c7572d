"""Annotations that Label Studio exports: JSON of tasks, or a row for each annotation
(CSV, JSON-MIN).
"""

from typing import Any

from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import (
    columns_in,
    first_of_kind,
    kind_of,
    longest_text,
    scalar,
    text_of,
    unpacked,
)
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet
from judgescope.tables.platforms.sides import (
    add_judges,
    is_machines,
    judge_column,
    may_be_score,
)
from judgescope.tables.words import classes_of, split_header

ITEM = "id"
FIELDS = frozenset(
    {
        "id",
        "annotator",
        "annotation_id",
        "created_at",
        "updated_at",
        "lead_time",
        "agreement",
        "history",
    }
)
"""Columns of a row that are about the annotation."""


def _is_rows(export: OpenedExport) -> bool:
    return export.has_columns("annotation_id", "lead_time")


def _recognise(export: OpenedExport) -> bool:
    if _is_rows(export):
        return True
    if not export.has_columns("data", "annotations"):
        return False
    for row in export.rows:
        annotations = row.get("annotations")
        for each in annotations if isinstance(annotations, list) else []:
            if isinstance(each, dict) and "result" in each:
                return True
    return False


def _read(export: OpenedExport) -> PlatformTable:
    return _of_rows(export) if _is_rows(export) else _of_tasks(export)


def _rated(value: Any) -> Any:
    """The rating in a result's value: a number, or the one label that was chosen."""
    if not isinstance(value, dict):
        return scalar(value)
    # Keys of a result's value that are ratings.
    values = ("rating", "number", "choices")
    for key in values:
        if key in value:
            cell = value[key]
            if isinstance(cell, list):
                return scalar(cell[0]) if len(cell) == 1 else None
            return scalar(cell)
    return None


# --- tasks ----------------------------------------------------------------------------


def _of_tasks(export: OpenedExport) -> PlatformTable:
    """A row for each task; a cancelled annotation is left out."""
    export.check_columns("data", "annotations")
    sheet = ScoreSheet()
    others = 0
    for index, task in enumerate(export.parts):
        key = str(task.need("id"))
        data = task.part("data").content
        cells: FileRow = {ITEM: key}
        for name, cell in data.items():
            cells[name] = cell if isinstance(cell, int | float) else text_of(cell)
        sheet.add_text(key, index, cells)
        for annotation in task.several("annotations"):
            if not annotation.get("was_cancelled"):
                person = _person(annotation)
                others += _add(sheet, key, annotation, person, is_person=True)
        for prediction in task.several("predictions"):
            model = str(prediction.get("model_version") or "prediction")
            others += _add(sheet, key, prediction, model, is_person=False)
    columns = columns_in(sheet.texts.values())
    data_columns = [name for name in columns if name != ITEM]
    table = sheet.table()
    if others:
        table.notes.append(
            f"{others} results are neither a rating, a number nor one choice, and are "
            "not used"
        )
    judged = []
    for name in data_columns:
        if is_machines(name) and may_be_score(table.rows, name):
            judged.append(name)
    add_judges(table, [judge_column(name) for name in judged])
    _add_texts(table, [name for name in data_columns if name not in judged])
    return table


def _person(annotation: ExportPart) -> str:
    person = annotation.get("completed_by")
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return "" if person is None else str(person)


def _add(
    sheet: ScoreSheet, key: str, given: ExportPart, giver: str, *, is_person: bool
) -> int:
    """Add the ratings in the results of an annotation; the count of other results."""
    others = 0
    for result in given.several("result"):
        value = _rated(result.get("value"))
        if value is None:
            others += 1
            continue
        score = GivenScore(
            name=str(result.need("from_name")),
            kind="annotation" if is_person else "prediction",
            is_person=is_person,
            giver=giver,
            number=value,
        )
        sheet.add_score(key, score)
    return others


def _add_texts(table: PlatformTable, columns: list[str]) -> None:
    """Find the judged text and its source among the data of tasks."""
    rows = table.rows
    table.item = ITEM
    texts = [name for name in columns if kind_of(rows, name) in {"text", "word"}]
    text = first_of_kind(rows, texts, "text")
    sources = [name for name in texts if "source" in classes_of(name) and name != text]
    others = [name for name in texts if name not in sources]
    table.text = text or longest_text(rows, others)
    table.source = sources


# --- a row for each annotation --------------------------------------------------------


def _of_rows(export: OpenedExport) -> PlatformTable:
    """A row for each task; columns of numbers and labels are what people gave, unless
    they name a machine or describe the task.
    """
    rows: list[FileRow] = []
    for part in export.parts:
        row = dict(part.content)
        for name in row.keys() - FIELDS:
            cell = unpacked(row[name])
            if isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], dict):
                cell = cell[0]
            rated = _rated(cell) if isinstance(cell, dict) else None
            row[name] = text_of(cell) if rated is None and cell is not None else rated
            if rated is None and isinstance(cell, int | float):
                row[name] = cell
        rows.append(row)
    given = []
    judged = []
    others = []
    # Words of a column of labels that describe a task.
    slice_columns = frozenset(
        {
            "category",
            "topic",
            "domain",
            "language",
            "lang",
            "split",
            "subset",
            "segment",
        }
    )
    for name in export.columns:
        slices = bool(slice_columns.intersection(split_header(name)))
        if name in FIELDS:
            continue
        if slices or not may_be_score(rows, name):
            others.append(name)
        elif is_machines(name):
            judged.append(name)
        else:
            given.append(name)
    sheet = ScoreSheet()
    for index, row in enumerate(rows):
        key = str(row.get(ITEM) or [row.get(name) for name in others])
        cells = {name: row.get(name) for name in [*others, *judged]}
        sheet.add_text(key, index, {ITEM: key, **cells})
        for name in given:
            score = GivenScore(
                name=name,
                kind="annotation",
                is_person=True,
                giver=str(row.get("annotator") or ""),
                number=row.get(name),
            )
            sheet.add_score(key, score)
    table = sheet.table()
    add_judges(table, [judge_column(name) for name in judged])
    _add_texts(table, others)
    return table


LABEL_STUDIO = Platform(
    name="label-studio",
    title="Label Studio",
    version="of 2026",
    link="https://labelstud.io/guide/export.html",
    found_by="`annotations` with `result`, or `annotation_id`, `lead_time`",
    people="`from_name` is the aspect, `completed_by` or `annotator` the rater",
    judge="`predictions` by `model_version`, or a column that names a judge",
    recognise=_recognise,
    read=_read,
)
