"""Experiments and logs that Braintrust exports as JSON or CSV."""

from typing import Any

from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import columns_in, kind_of, text_of, unpacked
from judgescope.tables.platforms.sides import (
    add_judges,
    add_people,
    by_evidence,
    judge_column,
)
from judgescope.tables.spelling import is_missing

SCORES = "scores."
KEYS = ("input", "output")


def _recognise(export: OpenedExport) -> bool:
    if not export.has_columns(*KEYS):
        return False
    if any(name.startswith(SCORES) for name in export.columns):
        return True
    cells = [unpacked(row.get("scores")) for row in export.rows]
    return any(isinstance(cell, dict) for cell in cells)


def _row(cells: FileRow) -> FileRow:
    row: dict[str, Any] = {}
    for name, cell in cells.items():
        value = unpacked(cell)
        nested = name in {"scores", "metadata"} or (
            name == "input" and isinstance(value, dict) and "messages" not in value
        )
        if nested and isinstance(value, dict):
            for key, entry in value.items():
                row[f"{name}.{key}"] = text_of(entry) if name == "input" else entry
        elif name in {"input", "output", "expected"}:
            shown = value if name == "input" else cell
            row[name] = cell if isinstance(cell, int | float) else text_of(shown)
        else:
            row[name] = cell
    return row


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each case; `expected` are people's labels if they are labels."""
    export.check_columns(*KEYS)
    if not any(name.startswith(SCORES) for name in export.columns):
        export.check_columns("scores")
    rows = [_row(dict(part.content)) for part in export.parts]
    columns = columns_in(rows)
    source = [name for name in columns if name == "input" or name.startswith("input.")]
    table = PlatformTable(rows, source=source, text="output")
    scores = by_evidence(rows, [name for name in columns if name.startswith(SCORES)])
    add_people(table, scores["people"])
    expected = "expected" in columns and kind_of(rows, "expected") in {
        "label",
        "number",
    }
    if expected and not table.people:
        table.people = {"overall": ["expected"]}
    elif "expected" in columns and kind_of(rows, "expected") == "text":
        table.references = ["expected"]
    judged = []
    for column in scores["judges"]:
        judged.append(judge_column(column, column.removeprefix(SCORES)))
    add_judges(table, judged)
    for name in ("metadata.model", "metadata.system"):
        systems = {row.get(name) for row in rows if not is_missing(row.get(name))}
        if len(systems) > 1 and table.system is None:
            table.system = name
    return table


BRAINTRUST = Platform(
    name="braintrust",
    title="Braintrust",
    version="of 2026",
    link="https://www.braintrust.dev/docs/annotate/export",
    found_by="`input`, `output`, `scores`",
    people="scores with a word for people, or labels in `expected`",
    judge="other scores",
    recognise=_recognise,
    read=_read,
)
