"""Test runs of DeepEval as JSON, and its test cases as CSV."""

import re
from itertools import chain
from typing import Any

from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import columns_in, scalars, text_of, unpacked
from judgescope.tables.platforms.sides import (
    JudgeColumn,
    add_judges,
    add_people,
    are_labels,
    aspect_of_score,
    by_evidence,
    is_persons,
    may_be_score,
)
from judgescope.tables.structure import conversation
from judgescope.tables.words import split_header

CASES = ("testCases", "conversationalTestCases")


def _run(export: OpenedExport) -> ExportPart:
    """The object with the test cases: a file of the tool's cache has it inside."""
    root = export.root
    if "testRunData" in root.content:
        return root.part("testRunData")
    return root


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns("input", "actual_output"):
        return True
    content = export.content
    run = None
    if isinstance(content, dict):
        run = content.get("testRunData", content)
    if not isinstance(run, dict):
        return False
    return any(isinstance(run.get(name), list) for name in CASES)


def _read(export: OpenedExport) -> PlatformTable:
    if export.rows:
        return _of_table(export)
    return _of_run(export)


def _of_run(export: OpenedExport) -> PlatformTable:
    """A row for each test case: metrics are judges; people's ratings are metadata."""
    run = _run(export)
    cases = []
    for name in CASES:
        if name in run.content:
            cases += run.several(name)
    if not cases:
        run.need(CASES[0])
    rows = []
    metrics: dict[str, None] = {}
    success = " success"
    for number, case in enumerate(cases, start=1):
        row: dict[str, Any] = {"id": f"case-{number}", **_texts(case)}
        for key in ("metadata", "additionalMetadata"):
            row.update(scalars(case.get(key), "metadata."))
        case.need("metricsData")
        for metric in case.several("metricsData"):
            metric_name = str(metric.need("name"))
            metrics[metric_name] = None
            row[metric_name] = metric.get("score")
            row[metric_name + success] = metric.get("success")
        rows.append(row)
    table = PlatformTable(rows, item="id", text="output")
    if all(row.get("input") for row in rows):
        table.source = ["input"]
    if any(row.get("expected") for row in rows):
        table.references = ["expected"]
    named = [name for name in columns_in(rows) if name.startswith("metadata.")]
    add_people(table, [name for name in named if is_persons(name)])
    _add_metrics(table, {name: (name, name + success) for name in metrics})
    return table


def _texts(case: ExportPart) -> dict[str, Any]:
    """The texts of a test case; of a conversational one its turns and its scenario."""
    if "turns" in case.content:
        turns = [turn.content for turn in case.several("turns")]
        return {
            "input": text_of(case.get("scenario")),
            "output": conversation(turns),
            "expected": text_of(case.get("expectedOutcome")),
        }
    return {
        "input": text_of(case.get("input")),
        "output": text_of(case.get("actualOutput")),
        "expected": text_of(case.get("expectedOutput")),
    }


def _add_metrics(table: PlatformTable, metrics: dict[str, tuple[str, str]]) -> None:
    """Add metrics as judges. A metric's score and its success are one judge: success
    is its verdict if people gave labels.
    """
    rated = list(chain.from_iterable(table.people.values()))
    labelled = are_labels(table.rows, rated)
    scores = []
    for name, (score, success) in metrics.items():
        has_success = any(row.get(success) not in (None, "") for row in table.rows)
        has_score = any(row.get(score) not in (None, "") for row in table.rows)
        use_success = has_success and (labelled or not has_score)
        column = success if use_success else score
        scores.append(JudgeColumn("", name, column, aspect_of_score(name)))
    add_judges(table, scores)


def _of_table(export: OpenedExport) -> PlatformTable:
    """A row for each test case of a CSV file, to which metrics were added as columns:
    `NAME` or `NAME_score`, with `NAME_success`.
    """
    export.check_columns("input", "actual_output")
    rows: list[FileRow] = []
    # Columns of a test case that are texts.
    own_fields = frozenset(
        {"input", "actual_output", "expected_output", "context", "retrieval_context"}
    )
    for part in export.parts:
        row = dict(part.content)
        for name in own_fields & row.keys():
            context = name.endswith("context")
            row[name] = text_of(unpacked(row[name]) if context else row[name])
        rows.append(row)
    table = PlatformTable(rows, source=["input"], text="actual_output")
    if any(row.get("expected_output") for row in rows):
        table.references = ["expected_output"]
    others = [name for name in export.columns if name not in own_fields]
    table_columns = by_evidence(rows, others)
    add_people(table, table_columns["people"])
    metrics: dict[str, dict[str, str]] = {}
    # Last words of columns that only describe a metric.
    remarks = frozenset({"reason", "threshold", "error", "model", "cost"})
    for column in others:
        parts = re.fullmatch(r"(.*?)[ _.]?(score|success|passed)", column, re.I)
        is_remark = split_header(column)[-1:] and split_header(column)[-1] in remarks
        if is_remark or is_persons(column) or not may_be_score(rows, column):
            continue
        end = parts[2].lower() if parts else "score"
        name = (parts[1] if parts else column) or column
        kind = "score" if end == "score" else "success"
        metrics.setdefault(name, {})[kind] = column
    pairs = {}
    for name, fields in metrics.items():
        pairs[name] = (fields.get("score", ""), fields.get("success", ""))
    _add_metrics(table, pairs)
    return table


DEEPEVAL = Platform(
    name="deepeval",
    title="DeepEval",
    version="4",
    link="https://github.com/confident-ai/deepeval",
    found_by="`testCases` with `metricsData`, or columns `input`, `actual_output`",
    people="`metadata`, or columns, with a word for people",
    judge="metrics; score and success are one",
    recognise=_recognise,
    read=_read,
)
