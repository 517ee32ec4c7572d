"""Tables of promptfoo: CSV from its viewer or from `--output results.csv`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import text_of, unpacked
from judgescope.tables.platforms.sides import (
    JudgeColumn,
    add_judges,
    add_people,
    aspect_of_score,
    is_persons,
    judge_column,
    may_be_score,
)
from judgescope.tables.platforms.sides import are_labels as of_labels
from judgescope.tables.words import classes_of

STATUS = "Status"
SCORE = "Score"
METRIC = "Metric: "


@dataclass(frozen=True)
class OutputColumns:
    """The columns of one prompt and provider."""

    output: str
    """The header of its texts."""
    columns: dict[str, str] = field(default_factory=dict)
    """Status, Score, Metric: … -> the column, whose header may have a number."""


def _plain(header: str) -> str:
    """A header without the number that keeps equal headers apart."""
    return re.sub(r" \(\d+\)$", "", header)


def _outputs(headers: Sequence[str]) -> list[OutputColumns]:
    """The columns of each output: Status and the others belong to the text on their
    left. A single output is found by its provider, wherever it stands.
    """
    providers = [name for name in headers if re.match(r"\[[^\]]+\] ", name)]
    states = [name for name in headers if _plain(name) == STATUS]
    if len(states) == 1 and len(providers) == 1:
        columns = {name: name for name in headers if _is_of_output(name)}
        return [OutputColumns(providers[0], {STATUS: states[0], **columns})]
    outputs: list[OutputColumns] = []
    for before, header in pairwise(headers):
        name = _plain(header)
        if name == STATUS:
            outputs.append(OutputColumns(before, {STATUS: header}))
        elif outputs and _is_of_output(name):
            outputs[-1].columns.setdefault(name, header)
    return outputs


def _is_of_output(name: str) -> bool:
    of_an_output = frozenset({SCORE, "Named Scores", "Grader Reason", "Comment"})
    return name in of_an_output or name.startswith(METRIC)


def _recognise(export: OpenedExport) -> bool:
    if not export.has_columns(STATUS, SCORE):
        return False
    beside = {_plain(name) for name in export.columns}
    return bool(beside & {"Named Scores", "Grader Reason"})


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each test and output; the provider is the system."""
    headers = list(export.columns)
    outputs = _outputs(headers)
    if not outputs:
        export.check_columns(STATUS)
    taken = set[str]()
    for each in outputs:
        taken |= {each.output, *each.columns.values()}
    rows = []
    places = []
    named: dict[str, None] = {}
    tests = [name for name in headers if name not in taken]
    for index, part in enumerate(export.parts):
        of_test = {name: part.get(name) for name in tests}
        for each in outputs:
            row = {"test": f"test-{index + 1}", **of_test}
            row["output"] = text_of(part.get(each.output))
            row["provider"] = each.output
            scores = _scores(part.content, each)
            named.update(dict.fromkeys(scores))
            rows.append({**row, **scores})
            places.append(index)
    table = PlatformTable(rows, places, item="test", text="output")
    people = []
    for name in tests:
        if is_persons(name) and may_be_score(rows, name):
            people.append(name)
        elif "reference" in classes_of(name):
            table.references.append(name)
        elif name != "Description":
            table.source.append(name)
    if len(outputs) > 1:
        table.system = "provider"
    add_people(table, people)
    verdict = STATUS if of_labels(rows, people) else SCORE
    judge_id = "promptfoo"
    judged = [JudgeColumn(judge_id, judge_id, verdict, "overall")]
    for name in named:
        if name not in {STATUS, SCORE} and may_be_score(rows, name):
            judged.append(judge_column(name, name.removeprefix(METRIC)))
    if table.people and "overall" not in table.people:
        aspects = {aspect_of_score(name) for name in people}
        table.notes.append(
            f"people rated {', '.join(sorted(aspects))}; Status of promptfoo is "
            "compared with it"
        )
    add_judges(table, judged)
    return table


def _scores(cells: Any, each: OutputColumns) -> dict[str, Any]:
    """The scores of an output; ERROR is no verdict."""
    scores: dict[str, Any] = {}
    for name, header in each.columns.items():
        cell = cells.get(header)
        if name == "Named Scores":
            value = unpacked(cell)
            if isinstance(value, dict):
                for metric, number in value.items():
                    scores.setdefault(f"{METRIC}{metric}", number)
        elif name == STATUS:
            scores[name] = None if str(cell).upper() == "ERROR" else cell
        elif name == SCORE or name.startswith(METRIC):
            scores[name] = cell
    return scores


PROMPTFOO_CSV = Platform(
    name="promptfoo-csv",
    title="promptfoo CSV",
    version="of 2026",
    link="https://www.promptfoo.dev/docs/configuration/outputs",
    found_by="`[provider] prompt`, `Status`, `Score`, `Named Scores`",
    people="a variable with a word for people",
    judge="Status with Score is one judge; named scores are others",
    recognise=_recognise,
    read=_read,
)
