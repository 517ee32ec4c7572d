"""Tables with several rows for one text: of its raters, its criteria, or of people and
machines. They become one row per text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow
from judgescope.tables.profile import ColumnProfile, profile
from judgescope.tables.sides import MOST_RATERS
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import RATING_CLASSES, classes_of, split_header

CRITERIA: Final = frozenset(
    {"criterion", "criteria", "aspect", "metric", "rubric", "dimension", "attribute"}
)
"""Words of the header of a column that says what a row rates."""
RATERS: Final = frozenset(
    {"worker", "annotator", "rater", "reviewer", "coder", "labeler", "labeller"}
)
"""Words of the header of a column that says who rated."""
MAY_BE_RATERS: Final = RATERS | frozenset({"expert", "pid", "prolific", "user"})
"""Words of the header of a column that says who rated, if texts repeat."""
MOST_CRITERIA: Final = 12
"""More different criteria belong to their texts, and are no aspects."""


@dataclass(frozen=True)
class JoinedRows:
    """One row per text, and how the table was read."""

    rows: list[TableRow]
    places: list[int]
    """For each row, the place of the first of its rows in the table."""
    note: str


def joined_rows(rows: Sequence[TableRow], columns: Sequence[str]) -> JoinedRows | None:
    """One row per text, if the rows of a text are its raters' or its criteria's; None
    for any other table.

    The ratings of several people become a list in one column; the ratings of a
    criterion a column of their own, `label.is polite`.
    """
    for column in columns:
        kind = _kind_of(rows, column)
        if kind is not None:
            joined = kind(rows, columns, column)
            if joined is not None:
                return joined
    return None


def _of_names(
    rows: Sequence[TableRow], columns: Sequence[str], named: str
) -> JoinedRows | None:
    """Join the rows of a text that each have one number, where a column says what it
    is: `human_fluency` and `llm_fluency` become columns.
    """
    names = list(dict.fromkeys(str(cell) for cell in cells_of(rows, named)))
    people = [name for name in names if "person" in classes_of(name)]
    judges = [name for name in names if _is_machines_name(name)]
    values = [name for name in columns if _is_value(rows, name)]
    if not people or not judges or len(values) != 1 or {*names} & {*columns}:
        return None
    groups = _grouped(rows, columns, named)
    if groups is None or len(names) > MOST_CRITERIA:
        return None
    [value] = values
    new_rows: list[TableRow] = []
    for places in groups:
        first = rows[places[0]]
        kept = [name for name in columns if name not in (named, value)]
        new: dict[str, Any] = {name: first.get(name) for name in kept}
        new |= dict.fromkeys(names)
        for index in places:
            new[str(rows[index].get(named))] = rows[index].get(value)
        new_rows.append(new)
    note = (
        f"the rows of a text have a number each (column {named}): {len(rows)} rows "
        f"were read as {len(groups)} texts with {', '.join(names)}"
    )
    return JoinedRows(new_rows, [places[0] for places in groups], note)


def _is_machines_name(name: str) -> bool:
    evidence = classes_of(name)
    return bool({"machine", "measure"} & evidence.keys()) and "person" not in evidence


def _is_value(rows: Sequence[TableRow], column: str) -> bool:
    """Whether a column has ratings whose header says nothing more: `value`, `score`."""
    words = {*split_header(column)}
    general = {"value", "score", "rating", "result"}
    return bool(words) and words <= general and profile(rows, column).kind == "number"


Joiner = Callable[[Sequence[TableRow], Sequence[str], str], JoinedRows | None]


def _kind_of(rows: Sequence[TableRow], column: str) -> Joiner | None:
    """How the rows are joined that a column of words tells apart."""
    # Crowd platforms put it into a group: `ASSIGNMENT:worker_id`.
    words = split_header(re.split(r"[:.]", column)[-1])
    beside = set(words) - {"id", "name", "item", "key"}
    is_rater = bool(beside) and beside <= MAY_BE_RATERS
    if not is_rater and not (len(beside) == 1 and beside <= CRITERIA):
        return None  # most headers end here, before their cells are read
    kind = profile(rows, column)
    numbers_raters = kind.kind == "number" and _number_raters(kind)
    if kind.kind not in {"label", "word", "text"} and not numbers_raters:
        return None
    return _of_raters if is_rater else _of_criteria_or_names


def _number_raters(cells: ColumnProfile) -> bool:
    """Whether numbers may be those of raters: whole, and few."""
    is_whole = all(number.is_integer() for number in cells.numbers)
    return is_whole and 1 < cells.different <= MOST_RATERS


def _grouped(
    rows: Sequence[TableRow], columns: Sequence[str], varying: str
) -> list[list[int]] | None:
    """The places of each text's rows; None if the texts do not repeat.

    Rows belong together if they agree in all columns of texts and ids that repeat.
    """
    shared = []
    for column in columns:
        evidence = classes_of(column)
        if column == varying or not RATING_CLASSES.isdisjoint(evidence):
            continue
        if "number" in evidence:
            continue  # dates and times may differ from row to row of a text
        kind = profile(rows, column).kind
        different = set(map(str, cells_of(rows, column)))
        if kind in {"text", "word"} and 1 < len(different) < len(rows):
            shared.append(column)
    if not shared:
        return None
    groups: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        key = str([row.get(column) for column in shared])
        groups.setdefault(key, []).append(index)
    if len(groups) == len(rows):
        return None
    for places in groups.values():
        if len(_cells_at(rows, varying, places)) < len(places):
            return None
    return list(groups.values())


def _cells_at(rows: Sequence[TableRow], column: str, places: list[int]) -> set[str]:
    """The different cells of some rows in a column."""
    return {str(rows[index].get(column)) for index in places}


def _of_raters(
    rows: Sequence[TableRow], columns: Sequence[str], rater: str
) -> JoinedRows | None:
    """Join the rows of raters, beside a judge's score that is the same in all of
    them.
    """
    groups = _grouped(rows, columns, rater)
    if groups is None:
        return None
    varying = []
    constant = []
    for column in columns:
        same = all(len(_cells_at(rows, column, places)) == 1 for places in groups)
        if column != rater and same:
            constant.append(column)
        elif column != rater:
            varying.append(column)
    judged = [name for name in constant if _is_machines(rows, name)]
    rated = [name for name in varying if profile(rows, name).kind == "number"]
    labelled = [name for name in varying if _may_label(rows, name)]
    raters = {str(row.get(rater)) for row in rows}
    if not judged or not (rated or labelled):
        return None
    if labelled and len(raters) > MOST_RATERS:
        return None
    new_rows: list[TableRow] = []
    for places in groups:
        new: dict[str, Any] = {name: rows[places[0]].get(name) for name in constant}
        for name in rated:
            cells = [rows[index].get(name) for index in places]
            new[name] = [cell for cell in cells if not is_missing(cell)]
        for name in labelled:
            new |= {f"{name} ({each})": None for each in sorted(raters)}
            for index in places:
                new[f"{name} ({rows[index].get(rater)})"] = rows[index].get(name)
        new_rows.append(new)
    note = (
        f"the rows of a text are its raters' (column {rater}): {len(rows)} rows were "
        f"read as {len(groups)} texts"
    )
    return JoinedRows(new_rows, [places[0] for places in groups], note)


def _may_label(rows: Sequence[TableRow], column: str) -> bool:
    """Whether a column has the labels of raters: words, and no time or count."""
    if profile(rows, column).kind != "label":
        return False
    return not {"number", "remark", "confidence"} & classes_of(column).keys()


def _is_machines(rows: Sequence[TableRow], column: str) -> bool:
    """Whether a column has what a machine said of a text."""
    evidence = classes_of(column)
    machine = evidence.get("machine") or evidence.get("measure")
    # Words below `model` name the system that wrote a text.
    has_words = profile(rows, column).kind != "number"
    names_system = "system" in evidence and "rating" not in evidence and has_words
    return bool(machine) and not evidence.get("person") and not names_system


def _of_criteria_or_names(
    rows: Sequence[TableRow], columns: Sequence[str], criterion: str
) -> JoinedRows | None:
    by_name = _of_names(rows, columns, criterion)
    return by_name or _of_criteria(rows, columns, criterion)


def _of_criteria(
    rows: Sequence[TableRow], columns: Sequence[str], criterion: str
) -> JoinedRows | None:
    """Join the rows of criteria: each is an aspect with columns of its own."""
    names = set(map(str, cells_of(rows, criterion)))
    groups = _grouped(rows, columns, criterion)
    if groups is None or len(names) > MOST_CRITERIA:
        return None
    rated: list[str] = []
    shared: list[str] = []
    for column in columns:
        if column == criterion:
            continue
        is_rating = not RATING_CLASSES.isdisjoint(classes_of(column))
        if is_rating and profile(rows, column).kind in {"number", "label", "list"}:
            rated.append(column)
        else:
            shared.append(column)
    if len(rated) < 2:
        return None
    new_rows: list[TableRow] = []
    for places in groups:
        new: dict[str, Any] = {name: rows[places[0]].get(name) for name in shared}
        for index in places:
            aspect = _in_header(str(rows[index].get(criterion)))
            for name in rated:
                new[f"{name}.{aspect}"] = rows[index].get(name)
        new_rows.append(new)
    note = (
        f"the rows of a text are its criteria (column {criterion}): {len(rows)} rows "
        f"were read as {len(groups)} texts with {len(names)} aspects"
    )
    return JoinedRows(new_rows, [places[0] for places in groups], note)


def _in_header(cell: str) -> str:
    """A cell as a part of a header."""
    return re.sub(r"\s+", " ", cell.strip())
