"""Spans that Arize Phoenix exports, with evaluations and annotations as columns."""

import re
from dataclasses import dataclass

from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.sides import JudgeColumn, add_judges, aspect_of_score
from judgescope.tables.spelling import is_missing

ITEM = "context.span_id"
SOURCE = "attributes.input.value"


@dataclass(frozen=True)
class SpanScore:
    """The columns of one evaluation or annotation of a span."""

    name: str
    is_person: bool
    columns: tuple[str, ...]
    """Its label's, then its score's column, of those that have a value."""


def _scores(export: OpenedExport) -> list[SpanScore]:
    fields_of: dict[tuple[str, str], dict[str, str]] = {}
    for column in export.columns:
        match = re.fullmatch(r"(eval|annotation)s?\.(.+)\.(label|score)", column)
        if match and not all(is_missing(row.get(column)) for row in export.rows):
            fields_of.setdefault((match[1], match[2]), {})[match[3]] = column
    scores = []
    for (kind, name), columns in fields_of.items():
        kept = [columns[part] for part in ("label", "score") if part in columns]
        scores.append(SpanScore(name, kind == "annotation", tuple(kept)))
    return scores


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each span; of an evaluation the label counts before the score."""
    text_column = "attributes.output.value"
    export.check_columns(ITEM, SOURCE, text_column)
    rows = []
    for part in export.parts:
        row = dict(part.content)
        row[SOURCE] = text_of(row.get(SOURCE))
        row[text_column] = text_of(row.get(text_column))
        rows.append(row)
    model = "attributes.llm.model_name"
    systems = {row.get(model) for row in rows if not is_missing(row.get(model))}
    table = PlatformTable(rows, item=ITEM, source=[SOURCE], text=text_column)
    if len(systems) > 1:
        table.system = model
    judged = []
    for score in _scores(export):
        aspect = aspect_of_score(score.name)
        if score.is_person:
            table.people.setdefault(aspect, []).append(score.columns[0])
        else:
            judged.append(JudgeColumn("", score.name, score.columns[0], aspect))
    add_judges(table, judged)
    return table


PHOENIX_SPANS = Platform(
    name="phoenix-spans",
    title="Phoenix spans",
    version="client 3.3",
    link="https://arize.com/docs/phoenix",
    found_by="`context.span_id`, `attributes.input.value`",
    people="columns `annotation.NAME.label` or `.score`",
    judge="columns `eval.NAME.label` or `.score`",
    recognise=lambda export: export.has_columns(ITEM, SOURCE),
    read=_read,
)
