"""A judge's scores of a fault beside labels: more toxicity is the worse score."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from judgescope.cli.init.column_values import number, numbers
from judgescope.cli.init.fault_columns import asks_nothing
from judgescope.cli.init.tables import InitTable
from judgescope.data.column_rows import cells_of, with_cells
from judgescope.tables.polarity import names_fault
from judgescope.tables.sides import not_a_rating
from judgescope.tables.words import RATING_CLASSES, classes_of, languages_of


def with_reversed_scores(
    table: InitTable, faults: Sequence[str], stated: Collection[str]
) -> InitTable:
    """Return the table with scores of a fault reversed, because the good label of
    people is the larger number; and a note of each.

    A score whose header names no question, such as `gpt4`, answers that of people's
    column: `human_toxic`. faults: columns in which yes is the bad answer. stated:
    columns whose labels the command line states, which say it all.
    """
    languages = languages_of(table.columns)
    people = []
    for column in table.columns:
        evidence = classes_of(column, languages)
        is_judges = "machine" in evidence or "measure" in evidence
        if column in stated or (is_judges and not evidence.get("person")):
            continue
        two_labels = len(table.labels.get(column, ())) == 2
        is_binary = set(numbers(table.rows, column) or ()) == {0.0, 1.0}
        if two_labels or (is_binary and evidence.get("person")):
            people.append(column)
    if not people:
        return table
    asked = any(column in faults for column in people)
    cells = {}
    notes = list(table.notes)
    for column in table.columns:
        if not _is_score(table, column, languages):
            continue
        if names_fault(column) or (asked and asks_nothing(column)):
            cells[column] = _reversed(table, column)
            notes.append(
                f"column {column}: more means more of a fault, so its scores were "
                "reversed"
            )
    if not cells:
        return table
    rows = with_cells(table.rows, cells)
    return replace(table, rows=rows, notes=notes, copied=True)


def _is_score(table: InitTable, column: str, languages: Collection[str]) -> bool:
    """Return whether a column has numbers, other than labels, that may be a judge's."""
    evidence = classes_of(column, languages)
    may_rate = (RATING_CLASSES | {"fault"}) & evidence.keys()
    if column in table.labels or "person" in evidence or not may_rate:
        return False
    if not_a_rating(column, evidence):
        return False
    return len(set(numbers(table.rows, column) or ())) > 2


def _reversed(table: InitTable, column: str) -> list[float | None]:
    """Return the numbers of a column, the largest for the smallest."""
    values = [number(cell) for cell in cells_of(table.rows, column)]
    filled = [value for value in values if value is not None]
    ends = min(filled) + max(filled)
    if min(filled) >= 0 and max(filled) <= 1:
        ends = 1
    reversed_values = list[float | None]()
    for value in values:
        # 1 - 0.9 is not 0.1 in binary.
        reversed_values.append(None if value is None else round(ends - value, 12))
    return reversed_values
