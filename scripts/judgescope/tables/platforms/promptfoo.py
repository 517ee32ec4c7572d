"""Results of promptfoo: JSON from `--output results.json`."""

from collections import Counter
from typing import Any

from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
    newer,
)
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.sides import add_judges, add_people, judge_column

TITLE = "promptfoo"
PERSON = "human"
"""The assertion that a person makes in the viewer."""


def _recognise(export: OpenedExport) -> bool:
    results = None
    if export.has_keys("results"):
        results = export.content.get("results")
    if not isinstance(results, dict):
        return False
    return results.keys() >= {"results", "stats"}


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each output: assertions are judges, those of a person are ratings."""
    results = export.root.part("results")
    stated = results.get("version") or export.root.get("version")
    rows = []
    scores: dict[str, None] = {}
    for result in results.parts("results"):
        given = _scores(result)
        scores.update(dict.fromkeys(given))
        provider = result.part("provider").need("id")
        row = {
            "id": f"test-{result.need('testIdx')}",
            "system": f"{provider}, prompt {result.need('promptIdx')}",
            "input": text_of(result.get("vars")),
            "output": text_of(result.optional("response").get("output")),
            **given,
        }
        rows.append(row)
    table = PlatformTable(rows, item="id", text="output")
    file_version = 3
    table.notes += newer(stated, file_version, TITLE)
    if all(row.get("input") for row in rows):
        table.source = ["input"]
    if len({row["system"] for row in rows}) > 1:
        table.system = "system"
    add_people(table, [name for name in scores if name == PERSON])
    judges = [judge_column(name) for name in scores if name != PERSON]
    add_judges(table, judges)
    return table


def _scores(result: ExportPart) -> dict[str, Any]:
    """Assertion -> its score; several of one name are numbered."""
    scores: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for component in result.optional("gradingResult").several("componentResults"):
        assertion = component.optional("assertion")
        kind = str(assertion.get("type"))
        if kind == PERSON:
            # The viewer keeps every judgment of a person; the last one counts.
            scores[PERSON] = component.need("score")
            continue
        name = str(assertion.get("metric") or kind)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name} {seen[name]}"
        scores[name] = component.need("score")
    return scores


PROMPTFOO = Platform(
    name="promptfoo",
    title=TITLE,
    version="3",
    link="https://www.promptfoo.dev/docs/configuration/outputs",
    found_by="`results.results`, `results.stats`",
    people="assertions of type `human`",
    judge="other assertions",
    recognise=_recognise,
    read=_read,
)
