"""Experiments that LangSmith exports as CSV."""

from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import (
    first_of_kind,
    longest_text,
    text_of,
)
from judgescope.tables.platforms.sides import (
    add_judges,
    add_people,
    by_evidence,
    judge_column,
)

INPUTS = "inputs."
OUTPUTS = "outputs."
FEEDBACK = "feedback."


def _beginning(export: OpenedExport, *prefixes: str) -> list[str]:
    return [name for name in export.columns if name.startswith(prefixes)]


def _recognise(export: OpenedExport) -> bool:
    needed = (INPUTS, OUTPUTS, FEEDBACK)
    return all(_beginning(export, prefix) for prefix in needed)


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each run; the longest of several outputs is the judged text."""
    inputs = _beginning(export, INPUTS)
    outputs = _beginning(export, OUTPUTS)
    reference_prefixes = ("reference_outputs.", "reference.")
    references = _beginning(export, *reference_prefixes)
    for prefix, group in ((INPUTS, inputs), (OUTPUTS, outputs)):
        if not group:
            export.check_columns(f"{prefix}*")
    rows = []
    for part in export.parts:
        row = dict(part.content)
        for name in [*inputs, *outputs, *references]:
            row[name] = text_of(row.get(name))
        rows.append(row)
    text = first_of_kind(rows, outputs, "text") or longest_text(rows, outputs)
    table = PlatformTable(rows, source=inputs, references=references, text=text)
    feedback = by_evidence(rows, _beginning(export, FEEDBACK))
    add_people(table, feedback["people"])
    scores = []
    for column in feedback["judges"]:
        scores.append(judge_column(column, column.removeprefix(FEEDBACK)))
    add_judges(table, scores)
    return table


LANGSMITH = Platform(
    name="langsmith",
    title="LangSmith CSV",
    version="of 2026",
    link="https://docs.langchain.com/langsmith/analyze-an-experiment",
    found_by="`inputs.*`, `outputs.*`, `feedback.*`",
    people="feedback with a word for people",
    judge="other feedback",
    recognise=_recognise,
    read=_read,
)
