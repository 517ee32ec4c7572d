"""Logs of Inspect: `.eval` archives, JSON files, or a folder of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judgescope.core.errors import UserError
from judgescope.data.rows import FileRow
from judgescope.tables.opening import archive_json
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
    newer,
)
from judgescope.tables.platforms.reading import columns_in, scalars, text_of
from judgescope.tables.platforms.sides import (
    add_judges,
    add_people,
    is_persons,
    judge_column,
)
from judgescope.tables.profile import MOST_LABELS, numbers_in

TITLE = "Inspect"
HEADER = "header.json"


def _recognise(export: OpenedExport) -> bool:
    if export.archive is not None:
        begun = any(name.startswith("_journal/") for name in export.members)
        return HEADER in export.members or begun
    return export.has_keys("eval", "version", "status")


def _log(export: OpenedExport) -> ExportPart:
    """The log as one object; UserError for an archive of a run that has not ended."""
    if export.archive is None:
        return export.root
    if HEADER not in export.members:
        raise UserError(
            "this Inspect log is unfinished: it has no header.json",
            where=export.where,
            todo="wait until the run has ended, or recover it: inspect log recover",
        )
    header = archive_json(export.archive, HEADER)
    samples = []
    for name in sorted(export.members):
        if name.startswith("samples/") and name.endswith(".json"):
            samples.append(archive_json(export.archive, name))
    return ExportPart({**header, "samples": samples}, export.where, TITLE)


def _read(export: OpenedExport) -> PlatformTable:
    return _read_several([export])


def _read_several(exports: Sequence[OpenedExport]) -> PlatformTable:
    """A row for each sample and epoch; with several tasks, ids begin with the task."""
    logs = [_log(export) for export in exports]
    tasks = {str(log.part("eval").get("task")) for log in logs}
    rows: list[FileRow] = []
    scores: dict[str, None] = {}
    notes = []
    log_version = 2
    for log in logs:
        notes += newer(log.need("version"), log_version, TITLE)
        about = log.part("eval")
        prefix = f"{about.get('task')}/" if len(tasks) > 1 else ""
        for sample in log.several("samples"):
            given = _scores(sample)
            scores.update(dict.fromkeys(given))
            ident = sample.need("id")
            model = f"{about.get('model')}, epoch {sample.get('epoch') or 1}"
            row = {
                "id": f"{prefix}{ident}" if prefix else ident,
                "system": model,
                "input": text_of(sample.get("input")),
                "output": _output(sample),
                "target": text_of(sample.get("target")),
                **scalars(sample.get("metadata"), "metadata."),
                **given,
            }
            rows.append(row)
    for name in scores:
        _count_grades(rows, name)
    table = PlatformTable(rows, item="id", text="output", notes=notes)
    if all(row.get("input") for row in rows):
        table.source = ["input"]
    if any(row.get("target") for row in rows):
        table.references = ["target"]
    if len({row["system"] for row in rows}) > 1:
        table.system = "system"
    metadata = [name for name in columns_in(rows) if name.startswith("metadata.")]
    add_people(table, [name for name in metadata if is_persons(name)])
    add_people(table, [name for name in scores if is_persons(name)])
    judges = []
    for name in scores:
        # A scorer's remarks are words in every row.
        has_value = any(row.get(name) is not None for row in rows)
        if has_value and not is_persons(name):
            judges.append(name)
    add_judges(table, [judge_column(name) for name in judges])
    return table


def _scores(sample: ExportPart) -> dict[str, Any]:
    """Score -> its value; a scorer with several values has a score for each."""
    given: dict[str, Any] = {}
    scores = sample.optional("scores")
    for name in scores.content:
        value = scores.part(name).need("value")
        parts = value
        if not isinstance(value, Mapping):
            parts = {"": value}
        for part, cell in parts.items():
            given[f"{name} {part}".strip()] = cell
    return given


def _output(sample: ExportPart) -> str | None:
    output = sample.optional("output")
    if output.get("completion"):
        return text_of(output.get("completion"))
    choices = output.several("choices")  # a log without `completion`
    if choices:
        return text_of(choices[0].optional("message").get("content"))
    return None


def _count_grades(rows: Sequence[FileRow], name: str) -> None:
    """Put numbers in place of a scorer's grades. Its words stay if they may be labels;
    remarks do not.
    """
    graded = []
    words: Counter[str] = Counter()
    # Grades in letters and words, as Inspect's metrics count them.
    grades = {
        "C": 1.0,
        "P": 0.5,
        "I": 0.0,
        "N": 0.0,
        "yes": 1.0,
        "true": 1.0,
        "no": 0.0,
        "false": 0.0,
    }
    for row in rows:
        cell = row.get(name)
        word = cell if isinstance(cell, str) else ""
        value = grades.get(word, grades.get(word.lower()))
        numbers = numbers_in(cell) if value is None else [value]
        if not numbers and word:
            words[word] += 1
        graded.append(numbers[0] if numbers else None)
    if 2 <= len(words) <= MOST_LABELS and not any(v is not None for v in graded):
        return
    for row, value in zip(rows, graded, strict=True):
        row[name] = value


INSPECT = Platform(
    name="inspect",
    title=TITLE,
    version="log 2",
    link="https://inspect.aisi.org.uk/eval-logs.html",
    found_by="`header.json` and `samples/` in a `.eval` file, or `eval`, `version`, "
    "`status` in JSON; a folder of them",
    people="`metadata` and scorers with a word for people",
    judge="scorers; C, P, I, N count 1, .5, 0, 0",
    recognise=_recognise,
    read=_read,
    read_several=_read_several,
)
