"""Traces with assessments that MLflow exports: `search_traces`, or traces as JSON."""

import json
from collections.abc import Mapping
from typing import Any

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import scalar, text_of, unpacked
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet


def _flat(part: ExportPart) -> ExportPart:
    """A trace with `info` and `data` as one object, as a DataFrame's row has it."""
    cells: dict[str, Any] = {}
    for name in ("info", "data"):
        if isinstance(part.get(name), Mapping):
            cells.update(part.part(name).content)
    cells.update(part.content)
    for name in ("request", "response"):
        cells.setdefault(name, cells.get(f"{name}_preview"))
    if "assessments" in cells:
        cells["assessments"] = unpacked(cells["assessments"])
    return ExportPart(cells, part.where, part.title)


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns("trace_id", "assessments"):
        return True
    if not export.has_columns("info"):
        return False
    info = export.rows[0].get("info")
    if not isinstance(info, dict):
        return False
    return info.keys() >= {"trace_id", "assessments"}


def _valid(assessments: list[ExportPart]) -> list[ExportPart]:
    """The assessments that no other one overrides."""
    overridden = {each.get("overrides") for each in assessments} - {None, ""}
    valid = []
    for each in assessments:
        replaced = each.get("assessment_id") in overridden
        if each.get("valid") is not False and not replaced:
            valid.append(each)
    return valid


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each trace; expectations are references."""
    sheet = ScoreSheet()
    dropped = 0
    references = "expectations"
    for index, part in enumerate(export.parts):
        trace = _flat(part)
        key = str(trace.need("trace_id"))
        cells = {
            "trace_id": key,
            "request": _text(trace.get("request")),
            "response": _text(trace.get("response")),
        }
        assessments = trace.several("assessments")
        expected = []
        sheet.add_text(key, index, cells)
        for each in _valid(assessments):
            if each.get("expectation") is not None:
                expected.append(text_of(each.part("expectation").get("value")))
            else:
                sheet.add_score(key, _score(each))
        dropped += len(assessments) - len(_valid(assessments))
        if expected:
            sheet.texts[key][references] = "\n".join(filter(None, expected))
    table = sheet.table()
    table.item = "trace_id"
    if any(row.get("response") for row in table.rows):
        table.text = "response"
    if any(row.get("request") for row in table.rows):
        table.source = ["request"]
    if any(row.get(references) for row in table.rows):
        table.references = [references]
    if dropped:
        table.notes.append(f"{dropped} assessments were overridden and are left out")
    return table


def _text(cell: Any) -> str | None:
    """A request or a response, which traces hold as JSON."""
    if isinstance(cell, str) and cell.startswith('"'):
        try:
            cell = json.loads(cell)
        except ValueError:
            return text_of(cell)  # a quotation, not JSON
    return text_of(unpacked(cell))


def _score(each: ExportPart) -> GivenScore:
    source = each.part("source")
    kind = str(source.need("source_type")).upper()
    giver = str(source.get("source_id") or "")
    name = each.get("assessment_name") or each.get("name")
    if not name:
        name = each.need("assessment_name")
    judge_sources = frozenset({"LLM_JUDGE", "AI_JUDGE", "CODE"})
    is_person = kind not in judge_sources
    return GivenScore(
        name=str(name),
        kind=kind,
        is_person=is_person,
        giver="" if giver.lower() == "default" else giver,
        number=scalar(each.optional("feedback").get("value")),
    )


MLFLOW = Platform(
    name="mlflow",
    title="MLflow traces",
    version="3.17",
    link="https://mlflow.org/docs/latest/genai/tracing/search-traces/",
    found_by="`trace_id`, `assessments`",
    people="assessments of source HUMAN; the rater is `source_id`",
    judge="those of source LLM_JUDGE, AI_JUDGE or CODE; overridden ones are left out",
    recognise=_recognise,
    read=_read,
)
