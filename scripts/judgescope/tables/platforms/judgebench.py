"""Judgments of JudgeBench: two responses, the right one, and a judge's decisions."""

from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.tables.choices import FIRST, SECOND, TIE, reversed_choice
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.sides import EVERY, OVERALL

TEXTS = ["response_A", "response_B"]


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each pair; the second decision is of the reversed order."""
    export.check_columns("pair_id", *TEXTS, "label", "judgments")
    rows = []
    judges: dict[str, None] = {}
    both = False
    pairs: dict[str, dict[str, Any]] = {}
    places = []
    swapped = ", order reversed"
    for index, part in enumerate(export.parts):
        key = str(part.need("pair_id"))
        if key not in pairs:
            pairs[key] = {
                "pair_id": key,
                "question": text_of(part.get("question")),
                "source": part.get("source"),
                "label": _choice(part.need("label"), part),
                **{name: text_of(part.need(name)) for name in TEXTS},
            }
            rows.append(pairs[key])
            places.append(index)
        named = [part.get(name) for name in ("judge_name", "judge_model")]
        judge = slug(" ".join(str(name) for name in named if name) or "judge")
        judges[judge] = None
        decisions = _decisions(part)
        pairs[key][judge] = decisions[0] if decisions else None
        if len(decisions) > 1:
            both = True
            pairs[key][judge + swapped] = reversed_choice(decisions[1])
    table = PlatformTable(rows, places, item="pair_id", texts=TEXTS)
    table.people = {OVERALL: ["label"]}
    table.judges = {judge: {EVERY: judge} for judge in judges}
    if all(row["question"] for row in rows):
        table.source = ["question"]
    if both:
        table.swapped = {judge: judge + swapped for judge in judges}
    return table


def _decisions(part: ExportPart) -> list[int | None]:
    """The decisions of a judge; None for a judgment that failed."""
    judgments = part.need("judgments")
    if not isinstance(judgments, list):
        part.parts("judgments")
    decisions = []
    for judgment in judgments:
        word = judgment
        if isinstance(judgment, dict):
            word = judgment.get("decision")
        decisions.append(None if word is None else _choice(word, part))
    return decisions


def _choice(word: object, part: ExportPart) -> int:
    decisions = {"A>B": FIRST, "A>>B": FIRST, "B>A": SECOND, "B>>A": SECOND, "A=B": TIE}
    choice = decisions.get(str(word).replace(" ", ""))
    if choice is None:
        raise UserError(
            "this decision of JudgeBench is not known",
            where=part.where,
            got=word,
            allowed=", ".join(decisions),
        )
    return choice


JUDGEBENCH = Platform(
    name="judgebench",
    title="JudgeBench",
    version="of 2024",
    link="https://github.com/ScalerLab/JudgeBench",
    found_by="`pair_id`, `response_A`, `judgments`",
    people="`label`: the response that is right",
    judge="`judge_name`; the second decision is of the reversed order",
    recognise=lambda export: export.has_columns("pair_id", TEXTS[0], "judgments"),
    read=_read,
)
