"""Samples that lm-evaluation-harness logs: `samples_*.jsonl`."""

from typing import Any, Final

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import columns_in, kind_of, scalars, text_of
from judgescope.tables.platforms.sides import (
    EVERY,
    OVERALL,
    add_judges,
    add_people,
    is_persons,
    judge_column,
)
from judgescope.tables.profile import numbers_in

SAMPLE: Final = ("doc_id", "doc", "target", "resps", "filtered_resps", "doc_hash")
"""Keys of a sample, since the version below."""


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each document: metrics are judges, or the reply itself if it is a
    number: then the model was the judge, and the target is the rating.
    """
    export.check_columns(*SAMPLE)
    rows = []
    metrics: dict[str, None] = {}
    for part in export.parts:
        row = _row(part)
        for name in _metrics(part):
            metrics[name] = None
        rows.append(row)
    table = PlatformTable(rows, item="id", text="output", source=["input"])
    if len({row["system"] for row in rows}) > 1:
        table.system = "system"
    columns = columns_in(rows)
    human = [name for name in columns if name.startswith("doc.") and is_persons(name)]
    rated = [name for name in human if kind_of(rows, name) in {"number", "label"}]
    add_people(table, [*rated, *(name for name in metrics if is_persons(name))])
    replied = all(kind_of(rows, name) == "number" for name in ("reply", "target"))
    if replied and not table.people:
        table.text = None
        table.people = {OVERALL: ["target"]}
        table.judges = {"reply": {EVERY: "reply"}}
        return table
    judged = [judge_column(name) for name in metrics if not is_persons(name)]
    add_judges(table, judged)
    return table


def _metrics(part: ExportPart) -> dict[str, float]:
    """Metric -> its number in a sample."""
    named = part.get("metrics") or [key for key in part.content if key not in SAMPLE]
    scores = {}
    for name in named:
        cell = part.get(name)
        numbers = []
        if not isinstance(cell, str | list):
            numbers = numbers_in(cell)
        if numbers:
            scores[name] = numbers[0]
    return scores


def _row(part: ExportPart) -> dict[str, Any]:
    replies = _replies(part.need("filtered_resps"))
    row: dict[str, Any] = {
        "id": f"{part.need('doc_id')}",
        "system": f"filter {part.get('filter') or 'none'}",
        "input": text_of(part.need("doc")),
        "output": text_of(replies[0]) if replies else None,
        **scalars(part.need("doc"), "doc."),
        **_metrics(part),
    }
    target = part.need("target")
    if numbers_in(target):
        row["target"] = target
    # Repeated replies to one document are draws.
    numbers = [reply for reply in replies if numbers_in(reply)]
    if numbers and len(numbers) == len(replies):
        row["reply"] = numbers[0] if len(numbers) == 1 else numbers
    return row


def _replies(replies: Any) -> list[Any]:
    """The replies in a list, which may be nested."""
    if not isinstance(replies, list):
        return [replies]
    flat: list[Any] = []
    for reply in replies:
        flat += _replies(reply)
    return flat


LM_EVAL = Platform(
    name="lm-eval",
    title="lm-evaluation-harness",
    version="0.4",
    link="https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md",
    found_by="`doc_id`, `doc`, `resps`",
    people="numbers in `doc` with a word for people, or the target",
    judge="metrics, or the reply where it and the target are numbers",
    recognise=lambda export: export.has_columns("doc_id", "doc", "resps"),
    read=_read,
)
