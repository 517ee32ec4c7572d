"""Rewards of a better and a worse text: shared by RewardBench and chosen, rejected."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, Final

from judgescope.core.names import slug
from judgescope.data.rows import FileRow
from judgescope.tables.choices import FIRST, SECOND, reversed_choice
from judgescope.tables.platforms.base import PlatformTable
from judgescope.tables.platforms.reading import columns_in
from judgescope.tables.platforms.sides import EVERY, OVERALL

ORDER_NOTE: Final = (
    "the better text of a pair stands first or second at random: else a judge that "
    "always chooses the first text would be right"
)


@dataclass(frozen=True)
class RewardedPair:
    """A better and a worse text, and the choices of judges: 1 is the better one."""

    better: str | None
    worse: str | None
    choices: dict[str, int | None]
    cells: FileRow = field(default_factory=dict)
    systems: tuple[Any, Any] | None = None
    people: int | None = FIRST


def rewarded(pairs: list[RewardedPair], places: list[int]) -> PlatformTable:
    """The pairs as a table of choices, in an order that a hash of the texts decides."""
    rows = []
    people_id = "people chose"
    text_columns = ("chosen_or_rejected", "rejected_or_chosen")
    system_columns = ("model_of_first", "model_of_second")
    for pair in pairs:
        texts = [pair.better, pair.worse]
        systems = list(pair.systems or (None, None))
        people = pair.people
        choices = dict(pair.choices)
        digest = hashlib.sha256(repr(texts).encode("utf-8", "surrogatepass")).digest()
        if digest[0] % 2:
            texts.reverse()
            systems.reverse()
            people = reversed_choice(people)
            for name, choice in choices.items():
                choices[name] = reversed_choice(choice)
        row: dict[str, Any] = {
            **pair.cells,
            text_columns[0]: texts[0],
            text_columns[1]: texts[1],
        }
        if pair.systems:
            row[system_columns[0]] = systems[0]
            row[system_columns[1]] = systems[1]
        rows.append({**row, people_id: people, **choices})
    table = PlatformTable(rows, places, texts=list(text_columns), notes=[ORDER_NOTE])
    if any(pair.systems for pair in pairs):
        table.systems = list(system_columns)
    table.people = {OVERALL: [people_id]}
    judges = columns_in(pair.choices for pair in pairs)
    table.judges = {slug(name): {EVERY: name} for name in judges}
    return table


CHOSEN: Final = {"chosen": FIRST, "rejected": SECOND}
"""The words of a choice between a chosen and a rejected text."""
