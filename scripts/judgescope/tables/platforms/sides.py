"""Which columns of an export are people's and which a judge's, and what they rate.

The names of an export's scores say it: `human_correctness` is people's rating of
correctness, `correctness` a judge's score of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from judgescope.core.names import slug
from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import PlatformTable
from judgescope.tables.platforms.reading import kind_of
from judgescope.tables.profile import numbers_in
from judgescope.tables.sides import END_USERS, not_a_rating
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of, split_header

OVERALL: Final = "overall"
"""The aspect of ratings whose name says no aspect."""
EVERY: Final = "*"
"""Stands for every aspect of a judge without one of its own."""
GENERAL: Final = frozenset(
    {
        "annotation",
        "eval",
        "evaluation",
        "feedback",
        "ground",
        "metadata",
        "metric",
        "met",
        "outcome",
        "pass",
        "passed",
        "result",
        "review",
        "reviewed",
        "scores",
        "success",
        "truth",
        "value",
        "values",
        "verdict",
    }
)
"""Words of a score's name that say no aspect."""


def is_persons(name: str) -> bool:
    """Whether the name of a score says that people gave it, as `user_score` does.

    >>> is_persons("feedback.user_score"), is_persons("feedback.llm_user_intent")
    (True, False)
    """
    evidence = classes_of(name)
    by_user = not END_USERS.isdisjoint(split_header(name))
    return bool(evidence.get("person") or (by_user and not evidence.get("machine")))


def is_machines(name: str) -> bool:
    """Whether the name of a score says that a model or a measure gave it."""
    evidence = classes_of(name)
    machine = evidence.get("machine") or evidence.get("measure")
    return bool(machine) and not evidence.get("person")


def may_be_score(rows: Sequence[FileRow], column: str) -> bool:
    """Whether a column has numbers or labels that may be ratings or scores."""
    if not_a_rating(column, classes_of(column)):
        return False
    return kind_of(rows, column) in {"number", "label"}


def aspect_of_score(name: str) -> str:
    """What a score rates, without words for people, judges and ratings.

    >>> aspect_of_score("human_correctness"), aspect_of_score("metadata.human_rating")
    ('correctness', 'overall')
    """
    kept = []
    words = split_header(name)
    for index, word in enumerate(words):
        evidence = classes_of(word)
        sided = {"person", "machine", "measure", "rating"} & evidence.keys()
        initial = len(word) == 1 and index > 0
        if sided or word in GENERAL or word.isdigit() or initial:
            continue
        kept.append(word)
    if kept:
        return slug(" ".join(kept))
    return OVERALL


@dataclass(frozen=True)
class JudgeColumn:
    """A column of a judge's scores."""

    judge: str
    """The judge's name; "" if each score is a judge of its own."""
    name: str
    """The score's name."""
    column: str
    aspect: str


def judge_column(column: str, name: str = "", judge: str = "") -> JudgeColumn:
    """The scores of a column; without a judge's name the score is the judge."""
    name = name or column
    return JudgeColumn(judge, name, column, aspect_of_score(name))


def add_people(table: PlatformTable, columns: Iterable[str]) -> None:
    """Add columns of people's ratings, by the aspects that their names say."""
    for column in columns:
        table.people.setdefault(aspect_of_score(column), []).append(column)


def add_judges(table: PlatformTable, scores: Sequence[JudgeColumn]) -> None:
    """Add judges: a score belongs to people's ratings of the same aspect.

    If no score has an aspect that people rated, and people rated one, each score is a
    judge of it. A score of an aspect that nobody rated is said in a note.
    """
    rated = table.people
    if not rated:
        for score in scores:
            _add(table, score, EVERY, alone=True)
        return
    unrated = []
    matched = False
    for score in scores:
        aspect = _rated_aspect(score.aspect, rated)
        if aspect:
            _add(table, score, aspect, alone=not score.judge)
            matched = True
        elif score.aspect == OVERALL:
            _add(table, score, EVERY, alone=not score.judge)
        else:
            unrated.append(score)
    if OVERALL in rated or (not matched and len(rated) == 1):
        aspect = OVERALL
        if OVERALL not in rated:
            aspect = next(iter(rated))
        for score in unrated:
            _add(table, score, aspect if len(rated) > 1 else EVERY, alone=True)
        if unrated and aspect != OVERALL:
            names = ", ".join(dict.fromkeys(score.name for score in unrated))
            table.notes.append(f"people rated {aspect}; it is compared with {names}")
        return
    for name in dict.fromkeys(score.name for score in unrated):
        table.notes.append(f"nobody rated {name}; its scores are not compared")


def _rated_aspect(aspect: str, rated: Collection[str]) -> str:
    """The aspect that people rated and a score is about; "" without one.

    It is the same, or the only one of which all words are in the score's name, or the
    other way round: `answer-relevancy` is about `relevance`.

    >>> _rated_aspect("answer-relevancy", ["relevance", "tone"])
    'relevance'
    """
    if aspect in rated:
        return aspect
    stems = _stems(aspect)
    about = []
    for name in rated:
        others = _stems(name)
        if stems and others and (stems <= others or others <= stems):
            about.append(name)
    if len(about) == 1:
        return about[0]
    return ""


def _stems(aspect: str, longest: int = 6) -> set[str]:
    """The beginnings of an aspect's words; none where it names no aspect."""
    if aspect == OVERALL:
        return set()
    return {word[:longest] for word in aspect.replace("_", "-").split("-")}


def _add(table: PlatformTable, score: JudgeColumn, aspect: str, *, alone: bool) -> None:
    """Add a judge's column; `alone`: the score is a judge of its own."""
    name = score.judge or score.name
    if alone and score.judge:
        name = f"{score.judge} {score.name}"
    judge = slug(name)
    number = 2
    while aspect in table.judges.get(judge, {}):
        judge = slug(f"{name} {number}")
        number += 1
    table.judges.setdefault(judge, {})[aspect] = score.column


def are_labels(rows: Sequence[FileRow], columns: Collection[str]) -> bool:
    """Whether the cells of columns are words, truth values, or 0 and 1."""
    has_entries = False
    for column in columns:
        for row in rows:
            cell = row.get(column)
            for entry in cell if isinstance(cell, list) else [cell]:
                if is_missing(entry):
                    continue
                has_entries = True
                values = numbers_in(entry)
                if values and set(values) - {0.0, 1.0}:
                    return False
    return has_entries


def by_evidence(
    rows: Sequence[FileRow], columns: Iterable[str]
) -> Mapping[str, list[str]]:
    """The columns that may be scores, by side: `people` by a word, `judges` the rest.

    Counts, times, costs and confidences are neither.
    """
    columns_of: dict[str, list[str]] = {"people": [], "judges": []}
    for column in columns:
        if may_be_score(rows, column):
            columns_of["people" if is_persons(column) else "judges"].append(column)
    return columns_of
