"""Feedback that W&B Weave exports: rows of feedback, or calls with their feedback."""

from collections.abc import Iterator, Mapping
from typing import Any

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import scalar, text_of, unpacked
from judgescope.tables.platforms.score_sheet import GivenScore, ScoreSheet

TEXT = "output"
SOURCE = "inputs"


def _feedback_of(row: Mapping[str, Any]) -> Any:
    """The list of feedback in a call; None for a row that has none."""
    if isinstance(unpacked(row.get("feedback")), list):
        return unpacked(row["feedback"])
    summary = unpacked(row.get("summary"))
    weave = None
    if isinstance(summary, dict):
        weave = summary.get("weave")
    if isinstance(weave, dict):
        return weave.get("feedback")
    return None


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns("feedback_type", "payload"):
        return True
    for row in export.rows:
        entries = _feedback_of(row)
        if isinstance(entries, list):
            return any(
                isinstance(entry, dict) and {"feedback_type", "payload"} <= entry.keys()
                for entry in entries
            )
    return False


def _entries(part: ExportPart) -> list[ExportPart]:
    """The feedback in a row: the row itself, or the list of a call."""
    feedback = _feedback_of(part.content)
    if feedback is None:
        return [part]
    return ExportPart({"feedback": feedback}, part.where, part.title).parts("feedback")


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each call: annotations are people's, scorers are judges."""
    sheet = ScoreSheet()
    ignored = 0
    item_column = "call_id"
    for index, part in enumerate(export.parts):
        entries = _entries(part)
        call = _call_id(part, entries)
        sheet.add_text(call, index, {item_column: call, **_texts(part)})
        for entry in entries:
            scores = list(_scores(entry))
            ignored += not scores
            for score in scores:
                sheet.add_score(call, score)
    table = sheet.table()
    table.item = item_column
    if any(row.get(TEXT) for row in table.rows):
        table.text = TEXT
    if any(row.get(SOURCE) for row in table.rows):
        table.source = [SOURCE]
    if ignored:
        table.notes.append(f"{ignored} reactions, notes and remarks are no ratings")
    return table


def _call_id(part: ExportPart, entries: list[ExportPart]) -> str:
    """The id of the call that feedback is about, from its reference if need be."""
    if entries != [part]:
        return str(part.need("id"))
    if part.get("call_id"):
        return str(part.get("call_id"))
    return str(part.need("weave_ref")).rsplit("/", 1)[-1]


def _texts(part: ExportPart) -> dict[str, str | None]:
    call = part.get("call")
    cells = call if isinstance(call, Mapping) else part.content
    inputs = text_of(unpacked(cells.get("inputs")))
    return {SOURCE: inputs, TEXT: text_of(cells.get("output"))}


def _scores(entry: ExportPart) -> Iterator[GivenScore]:
    """Yield the scores of a feedback; none for reactions and notes."""
    kind = str(entry.need("feedback_type"))
    payload = unpacked(entry.need("payload"))
    if not isinstance(payload, Mapping):
        return
    runnable = "wandb.runnable."
    annotation_prefix = "wandb.annotation."
    if kind.startswith(annotation_prefix):
        value = _innermost(payload.get("value"))
        if value is not None:
            yield GivenScore(
                name=kind.removeprefix(annotation_prefix),
                kind="annotation",
                is_person=True,
                giver=str(entry.get("creator") or ""),
                number=value,
            )
    elif kind.startswith(runnable):
        scorer = kind.removeprefix(runnable)
        for name, value in _values(payload.get("output"), ""):
            yield GivenScore(
                name=f"{scorer} {name}".strip(),
                kind="runnable",
                is_person=False,
                number=value,
                alone=True,
            )


def _innermost(value: Any) -> Any:
    """The value of an annotation, which may stand under its name and a digest."""
    while isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    return scalar(value)


def _values(output: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the numbers, truth values and labels in a scorer's output, by their keys.

    Beside numbers, words are remarks.
    """
    if not isinstance(output, Mapping):
        value = scalar(output)
        if value is not None:
            yield name, value
        return
    values: list[tuple[str, Any]] = []
    for key, cell in output.items():
        values += _values(cell, f"{name} {key}".strip())
    numbers = [each for each in values if not isinstance(each[1], str)]
    kept = numbers or values
    if len(kept) == 1:
        yield name, kept[0][1]
    else:
        yield from kept


WEAVE = Platform(
    name="weave",
    title="Weave",
    version="0.53",
    link="https://docs.wandb.ai/weave/guides/tracking/feedback",
    found_by="`feedback_type`, `payload`, in rows or in the feedback of calls",
    people="`wandb.annotation.NAME`; the rater is `creator`",
    judge="`wandb.runnable.SCORER`; reactions and notes are left out",
    recognise=_recognise,
    read=_read,
)
