"""How each column of a table was read, how sure that is, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from judgescope.cli.init.cards import StudyDraft, recorded_id
from judgescope.cli.init.flags import EVERY
from judgescope.cli.init.roles import NOT_USED, PAIRED, ROLES, Guess
from judgescope.cli.init.stated_chances import stated_chances
from judgescope.tables.words import classes_of, english_names, split_header

PEOPLE: Final = "people"
JUDGE: Final = "judge"


class Certainty(StrEnum):
    """How sure a reading is."""

    CERTAIN = "certain"
    """A flag, the file's format or a clear word of the header says so."""
    ASSUMED = "assumed"
    """The other columns or the cells suggest it; a flag changes it."""


@dataclass(frozen=True)
class ReadColumn:
    """The role of a column, how sure it is, and why."""

    column: str
    role: str
    """text, source, …, people, judge, confidence, or not used."""
    grade: Certainty
    why: str
    aspect: str = ""
    """Of a rating or a score; * stands for every aspect."""
    name: str = ""
    """The judge of a score or a confidence."""


def readings_of(draft: StudyDraft) -> Iterator[ReadColumn]:
    """Yield the reading of each column of the table, by role."""
    columns = draft.columns
    own_columns = set(draft.table.columns)
    for role in (*ROLES, *PAIRED):
        for column in columns.columns_of(role):
            if column in own_columns:
                yield _reading(draft, column, role)
    for aspect, group in columns.ratings.items():
        for column in group:
            yield _reading(draft, column, PEOPLE, aspect)
    for judge, scores in columns.judges.items():
        for aspect, column in scores.items():
            yield _reading(draft, column, JUDGE, aspect, recorded_id(judge))
    confidence = confidences(draft)
    for column in draft.table.columns:
        if column in columns.used:
            continue
        if column in confidence:
            judge = recorded_id(confidence[column])
            why = "its header says confidence"
            yield ReadColumn(column, "confidence", Certainty.CERTAIN, why, EVERY, judge)
        else:
            why = columns.unused.get(column, "it has no role")
            yield ReadColumn(column, NOT_USED, Certainty.CERTAIN, why)


def _reading(
    draft: StudyDraft, column: str, role: str, aspect: str = "", name: str = ""
) -> ReadColumn:
    grade, why = _graded(draft, column)
    return ReadColumn(column, role, grade, why, aspect, name)


def _graded(draft: StudyDraft, column: str) -> tuple[Certainty, str]:
    """Return how sure the role of a column is, and why."""
    columns = draft.columns
    if column in columns.flagged:
        return Certainty.CERTAIN, "the command line names it"
    if column in columns.assumed:
        return Certainty.ASSUMED, columns.assumed[column]
    if draft.table.known is not None:
        return Certainty.CERTAIN, "the layout of the file says so"
    return Certainty.CERTAIN, "its header says so"


def confidences(draft: StudyDraft) -> dict[str, str]:
    """Return column of a judge's confidence -> the judge, by their common words.

    People's confidences are none, nor are cells that are no chances.
    """
    columns = draft.columns
    english = english_names(list(draft.table.columns))
    judges: dict[str, str] = {}
    for column in draft.table.columns:
        evidence = classes_of(english[column])
        if column in columns.used or "confidence" not in evidence:
            continue
        cells = (row.get(column) for row in draft.table.rows)
        if evidence.get("person") or stated_chances(cells).unit is None:
            continue
        judge = nearest_judge(columns, english[column])
        if judge is not None:
            judges[column] = judge
    return judges


def nearest_judge(columns: Guess, header: str) -> str | None:
    """Return the judge whose columns share most words with a header, and have fewest
    others; of equally near ones none, except the only judge.
    """
    words = set(split_header(header))
    nearness: dict[str, tuple[int, int]] = {}
    for judge, scores in columns.judges.items():
        known = set(split_header(judge))
        for column in scores.values():
            known |= set(split_header(column))
        nearness[judge] = len(words & known), -len(known - words)
    ranked = sorted(nearness, key=lambda judge: nearness[judge], reverse=True)
    if len(ranked) > 1 and nearness[ranked[0]] == nearness[ranked[1]]:
        return None
    if len(ranked) > 1 and not nearness[ranked[0]][0]:
        return None
    return ranked[0] if ranked else None
