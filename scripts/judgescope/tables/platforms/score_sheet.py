"""Rows of single scores, gathered into one row for each text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import PlatformTable
from judgescope.tables.platforms.sides import (
    JudgeColumn,
    add_judges,
    aspect_of_score,
)
from judgescope.tables.sides import MOST_RATERS
from judgescope.tables.spelling import is_missing


@dataclass(frozen=True)
class GivenScore:
    """A score about a text: who gave it, and what it says."""

    name: str
    """What is rated, as the tool calls it."""
    kind: str
    """The tool's word for who gave it, such as HUMAN: it begins the column's name."""
    is_person: bool
    giver: str = ""
    """The rater's or the judge's name; "" if the tool does not say it."""
    number: Any = None
    label: Any = None
    alone: bool = False
    """Whether the score is a judge of its own, whatever gave it."""


@dataclass
class ScoreSheet:
    """Texts with the scores that were given them."""

    texts: dict[str, FileRow] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    scores: dict[str, list[GivenScore]] = field(default_factory=dict)

    def add_text(self, key: str, row: int, cells: Mapping[str, Any]) -> None:
        """Add a text, or what a further row says of it; `row`: its place in the file,
        from 0.
        """
        text = self.texts.setdefault(key, {})
        for name, cell in cells.items():
            if is_missing(text.get(name)):
                text[name] = cell
        self.places.setdefault(key, row)
        self.scores.setdefault(key, [])

    def add_score(self, key: str, score: GivenScore) -> None:
        """Add a score about a text that was added."""
        self.scores[key].append(score)

    def table(self) -> PlatformTable:
        """One row per text, with a column for each rater and judge of each name.

        The ratings of many people are a list in one column. Repeated scores of a judge
        are its draws; of a person's repeated ratings the last counts.
        """
        given = list(chain.from_iterable(self.scores.values()))
        raters = {score.giver for score in given if score.is_person}
        listed = len(raters) > MOST_RATERS
        by_label = _aspects_by_label(given)
        columns: dict[str, GivenScore] = {}
        rows = []
        repeated = 0
        for key, cells in self.texts.items():
            values: dict[str, list[Any]] = {}
            for score in self.scores[key]:
                worded = aspect_of_score(score.name) in by_label
                value = score.label if worded else score.number
                if is_missing(value):
                    continue
                column = _column(score, listed=listed)
                columns.setdefault(column, score)
                if score.is_person and column in values and not listed:
                    repeated += 1
                    values[column] = []
                values.setdefault(column, []).append(value)
            row = dict(cells)
            for column, entries in values.items():
                row[column] = entries[0] if len(entries) == 1 else entries
            rows.append(row)
        table = PlatformTable(rows, list(self.places.values()))
        if repeated:
            table.notes.append(
                f"{repeated} ratings replace an earlier one of the same person"
            )
        _add_sides(table, columns)
        return table


def _column(score: GivenScore, *, listed: bool) -> str:
    column = f"{score.kind}.{score.name}"
    if score.giver and not (score.is_person and listed):
        column += f" ({score.giver})"
    return column


def _aspects_by_label(given: list[GivenScore]) -> set[str]:
    """The aspects whose scores are compared by their labels, not their numbers.

    A label counts before a number; if one side has numbers alone, both sides' numbers
    count.
    """
    has_label: dict[str, set[bool]] = {}
    has_number: dict[str, set[bool]] = {}
    sides: dict[str, set[bool]] = {}
    for score in given:
        aspect = aspect_of_score(score.name)
        sides.setdefault(aspect, set()).add(score.is_person)
        if not is_missing(score.label):
            has_label.setdefault(aspect, set()).add(score.is_person)
        if not is_missing(score.number):
            has_number.setdefault(aspect, set()).add(score.is_person)
    by_label = set()
    for aspect, of_aspect in sides.items():
        labelled = has_label.get(aspect, set())
        numbered = has_number.get(aspect, set())
        if labelled and (labelled == of_aspect or numbered != of_aspect):
            by_label.add(aspect)
    return by_label


def _add_sides(table: PlatformTable, columns: Mapping[str, GivenScore]) -> None:
    judged = []
    for column, score in columns.items():
        aspect = aspect_of_score(score.name)
        if score.is_person:
            table.people.setdefault(aspect, []).append(column)
        else:
            judge = ""
            if not score.alone:
                judge = score.giver or score.kind
            judged.append(JudgeColumn(judge, score.name, column, aspect))
    add_judges(table, judged)
