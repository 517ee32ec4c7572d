"""Results of Ragas: `to_pandas` of an evaluation, as CSV, JSON or Parquet."""

from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import text_of, unpacked
from judgescope.tables.platforms.sides import (
    add_judges,
    add_people,
    by_evidence,
    judge_column,
)
from judgescope.tables.structure import is_conversation

FIELDS = frozenset(
    {
        "user_input",
        "response",
        "reference",
        "retrieved_contexts",
        "reference_contexts",
        "retrieved_context_ids",
        "reference_context_ids",
        "reference_tool_calls",
        "reference_topics",
        "multi_responses",
        "rubrics",
        "persona_name",
        "query_style",
        "query_length",
        "synthesizer_name",
    }
)
"""Columns of a sample; every other number is a metric."""


def _is_chat(export: OpenedExport) -> bool:
    """Whether samples are conversations, which have no response of their own."""
    cells = [unpacked(row.get("user_input")) for row in export.rows]
    return bool(cells) and all(map(is_conversation, cells))


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns("user_input", "response"):
        return True
    return export.has_columns("user_input") and _is_chat(export)


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each sample."""
    export.check_columns("user_input")
    chat = "response" not in export.columns and _is_chat(export)
    if not chat:
        export.check_columns("response")
    texts = ("user_input", "response", "reference", "retrieved_contexts")
    rows = []
    for part in export.parts:
        row = dict(part.content)
        for name in texts:
            if name in row:
                row[name] = text_of(unpacked(row[name]))
        rows.append(row)
    table = PlatformTable(rows)
    if chat:
        table.text = "user_input"
    else:
        table.text = "response"
        table.source = ["user_input"]
        if any(row.get("retrieved_contexts") for row in rows):
            table.source.append("retrieved_contexts")
    if any(row.get("reference") for row in rows):
        table.references = ["reference"]
    sides = by_evidence(rows, [name for name in export.columns if name not in FIELDS])
    add_people(table, sides["people"])
    add_judges(table, [judge_column(column) for column in sides["judges"]])
    return table


RAGAS = Platform(
    name="ragas",
    title="Ragas",
    version="0.4",
    link="https://docs.ragas.io/en/stable/references/evaluation_schema/",
    found_by="`user_input`, `response`",
    people="columns with a word for people",
    judge="other columns of numbers: metrics",
    recognise=_recognise,
    read=_read,
)
