"""Preferences as a chosen and a rejected text, with rewards or a judge's choices."""

from typing import Any

from judgescope.data.rows import FileRow
from judgescope.tables.choices import FIRST, larger
from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.rewards import CHOSEN, RewardedPair, rewarded
from judgescope.tables.platforms.sides import is_persons
from judgescope.tables.profile import numbers_in
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of, split_header

SIDES = ("chosen", "rejected")


def _pairs_of_columns(export: OpenedExport) -> dict[str, tuple[str, str]]:
    """What the headers of two columns share -> the columns of the two sides."""
    pairs = {}
    for column in export.columns:
        words = split_header(column)
        if "chosen" in words and len(words) > 1:
            other = column.replace("chosen", "rejected").replace("Chosen", "Rejected")
            if other in export.columns and other != column:
                stem = "_".join(word for word in words if word != "chosen")
                pairs[stem] = (column, other)
    return pairs


def _choices(export: OpenedExport) -> dict[str, bool]:
    """Columns whose cells are `chosen` or `rejected` -> whether they are people's."""
    by_people = {}
    for column in export.columns:
        cells = [row.get(column) for row in export.rows]
        words = {str(cell).strip().lower() for cell in cells if not is_missing(cell)}
        if words and words <= CHOSEN.keys():
            by_people[column] = is_persons(column)
    return by_people


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each pair; people chose `chosen` unless a column says their choice."""
    export.check_columns(*SIDES)
    columns = _pairs_of_columns(export)
    named = _choices(export)
    people = [name for name, of_people in named.items() if of_people]
    rewards: dict[str, tuple[str, str]] = {}
    systems = None
    for stem, two in columns.items():
        if "system" in classes_of(stem):
            systems = two
        elif all(_is_number(export, column) for column in two):
            rewards[stem] = two
    pairs = []
    for part in export.parts:
        row = part.content
        choices: dict[str, Any] = {}
        for better, worse in rewards.values():
            choices[better] = larger(_number(row.get(better)), _number(row.get(worse)))
        for column, of_people in named.items():
            if not of_people:
                choices[column] = _choice(row.get(column))
        cells: FileRow = {}
        if "prompt" in row:
            cells["prompt"] = text_of(row["prompt"])
        pair = RewardedPair(
            better=text_of(part.need("chosen")),
            worse=text_of(part.need("rejected")),
            choices=choices,
            cells=cells,
            systems=(row.get(systems[0]), row.get(systems[1])) if systems else None,
            people=_choice(row.get(people[0])) if people else FIRST,
        )
        pairs.append(pair)
    table = rewarded(pairs, list(range(len(pairs))))
    if "prompt" in export.columns:
        table.source = ["prompt"]
    return table


def _choice(cell: Any) -> int | None:
    return CHOSEN.get(str(cell).strip().lower())


def _number(cell: Any) -> float | None:
    values = numbers_in(cell)
    return values[0] if values else None


def _is_number(export: OpenedExport, column: str) -> bool:
    cells = [row.get(column) for row in export.rows]
    filled = [cell for cell in cells if not is_missing(cell)]
    if not filled:
        return False
    return all(_number(cell) is not None for cell in filled)


CHOSEN_REJECTED = Platform(
    name="chosen-rejected",
    title="chosen and rejected texts",
    version="of 2026",
    link="https://huggingface.co/docs/trl/dataset_formats",
    found_by="`chosen`, `rejected`",
    people="`chosen`, or a column for people that says chosen or rejected",
    judge="columns such as `score_chosen` and `score_rejected`, or one of choices",
    recognise=lambda export: (
        export.has_columns(*SIDES) and "scores_chosen" not in export.columns
    ),
    read=_read,
)
