"""Which columns of numbers are people's ratings, which are a judge's scores, and which
are neither.

A column belongs to a side by the words of its header. A number without such a word is
people's only if no column has a word for people, a judge's only if its header names
what people rated or says that it is a rating; it is never one because it is left over.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from judgescope.tables.words import (
    ALL_LANGUAGES,
    classes_of,
    known_words,
    split_header,
)

NO_SIDE: Final = "its header names neither people nor a judge"
ColumnEvidence = Mapping[str, bool]
"""Class of words -> whether the evidence is strong."""

MACHINE: Final = ("machine", "measure")
MOST_RATERS: Final = 20
"""With more raters, one column has a list of their ratings, without their names."""
SPREADS: Final = frozenset(
    {
        "std",
        "sd",
        "stdev",
        "stddev",
        "var",
        "variance",
        "stderr",
        "sem",
        "deviation",
        "iqr",
    }
)
"""Words of a header that indicate the spread of ratings."""


ABOUT_RATERS: Final = frozenset(
    {
        "affiliation",
        "age",
        "browser",
        "country",
        "department",
        "device",
        "education",
        "ethnicity",
        "expertise",
        "gender",
        "nationality",
        "occupation",
        "race",
        "region",
        "seniority",
        "sex",
    }
)
"""Words of a header that describe whoever rated: `rater_gender`."""


@dataclass
class Sides:
    """The columns of each side in the order of the table, and why the others are
    neither.
    """

    people: list[str] = field(default_factory=list)
    judges: list[str] = field(default_factory=list)
    unused: dict[str, str] = field(default_factory=dict)
    """Column -> why it is no rating and no score."""
    why: dict[str, str] = field(default_factory=dict)
    """Column of a side -> the reason, where it is not a word of the header."""


def not_a_rating(header: str, evidence: ColumnEvidence) -> str:
    """Why a column of numbers is neither a rating nor a score; "" if it may be one."""
    words = split_header(header)
    rated = "rating" in evidence or "outcome" in evidence
    # One German column of an English table is a time or a count all the same.
    of_any_language = classes_of(header, ALL_LANGUAGES)
    says_more = evidence.keys() - {"good", "bad", "fault"}
    for kind in ("number", "confidence", "length"):
        if kind in of_any_language and not says_more:
            evidence = {**evidence, kind: True}
    for before, word in pairwise(words):
        if before in {"is", "was"} and classes_of(word).get("person"):
            return "it says who rated"
    if "person" in evidence and not rated and not ABOUT_RATERS.isdisjoint(words):
        return "it describes who rated"
    if "confidence" in evidence:
        return "a confidence"
    if _is_chance_of_a_label(words, of_judge="machine" in evidence):
        return "the probability of a label"
    if ("number" in evidence or "length" in evidence) and not rated:
        return "a count, a date, a time or a cost"
    # `n_ratings`, or `rating_n` beside `rating_mean`.
    is_counted = len(words) > 1 and words[-1] in {"n", "count"}
    if is_counted or (words and words[0] in {"n", "num", "number"}):
        return "a count"
    if set(words) & SPREADS:
        return "the spread of ratings"
    return ""


def _is_chance_of_a_label(words: Sequence[str], *, of_judge: bool) -> bool:
    """Whether a header has p before a label: `judge_p_fail`, `P(yes)`; behind a judge's
    name, p before any last word.

    >>> _is_chance_of_a_label(["p", "yes"], of_judge=False)
    True
    >>> _is_chance_of_a_label(["p", "fluency"], of_judge=False)
    False
    """
    if of_judge and words[-2:-1] in (["p"], ["pr"]) and words[-1].isalpha():
        return True
    for before, word in pairwise(words):
        kinds = {known.kind for known in known_words().get(word, ())}
        if before in {"p", "pr"} and kinds & {"good", "bad", "fault", "outcome"}:
            return True
    return False


def _is_machines_label(header: str, evidence: ColumnEvidence) -> bool:
    """Whether only the word label speaks for people: `grader_label` is a grader's."""
    others = [word for word in split_header(header) if word != "label"]
    return "machine" in evidence and "person" not in classes_of(" ".join(others))


def sides(
    columns: Sequence[str],
    aspect_of: Callable[[str], str],
    numbering: Collection[str] = (),
    aspects: Collection[str] = (),
) -> Sides:
    """The side of each column of numbers.

    aspect_of: the aspect in a header. numbering: columns that number rows or belong to
    a design, see `profile.is_design`. aspects: those that are known to be rated.
    """
    result = Sides()
    strong_people: list[str] = []
    strong_judges: list[str] = []
    of_both: list[str] = []
    weak: dict[str, str] = {}
    neutral: list[str] = []
    evidence = {column: classes_of(column) for column in columns}
    for column in columns:
        of_column = evidence[column]
        reason = not_a_rating(column, of_column)
        person = of_column.get("person")
        machine = max((of_column.get(kind, False) for kind in MACHINE), default=False)
        if reason:
            result.unused[column] = reason
        elif person and machine:
            of_both.append(column)
        elif person:
            strong_people.append(column)
        elif machine:
            strong_judges.append(column)
        elif person is False and not _is_machines_label(column, of_column):
            weak[column] = "person"
        elif "machine" in of_column:
            weak[column] = "machine"
        else:
            neutral.append(column)
    _place_those_of_both(result, of_both, strong_people, strong_judges)
    for column, side in weak.items():
        if side == "person" and not strong_people:
            result.why[column] = "its header may name people"
            result.people.append(column)
        elif side == "machine" and not strong_judges and (strong_people or weak):
            result.why[column] = "its header may name a judge"
            result.judges.append(column)
        elif side == "person" and strong_judges:
            result.unused[column] = "others name people more clearly"
        else:
            neutral.append(column)
    result.people += strong_people
    result.judges += strong_judges
    _place_neutral(
        result, neutral, evidence, aspect_of, numbering=numbering, aspects=aspects
    )
    order = {column: number for number, column in enumerate(columns)}
    result.people.sort(key=order.__getitem__)
    result.judges.sort(key=order.__getitem__)
    return result


def _place_those_of_both(
    result: Sides,
    columns: Sequence[str],
    people: list[str],
    judges: list[str],
) -> None:
    """Give columns such as `expert_model_score` to the side that has no other column;
    where both have some, or neither, they belong to none.
    """
    wanted = None
    if people and not judges:
        wanted = judges
    elif judges and not people:
        wanted = people
    of_both = "its header names people and a model"
    if wanted is None:
        result.unused |= dict.fromkeys(columns, of_both)
        return
    wanted += columns
    whose = "people's" if wanted is judges else "a judge's"
    why = f"its header names people and a model, and the others are {whose}"
    result.why |= dict.fromkeys(columns, why)


def _place_neutral(
    result: Sides,
    neutral: Sequence[str],
    evidence: Mapping[str, ColumnEvidence],
    aspect_of: Callable[[str], str],
    *,
    numbering: Collection[str],
    aspects: Collection[str],
) -> None:
    """Give columns without a word for a side to one, where the other columns say so."""
    candidates = []
    for column in neutral:
        if column in numbering:
            result.unused[column] = (
                "it numbers rows, sources or turns, or is the same in all"
            )
        else:
            candidates.append(column)
    people = {aspect_of(column) for column in result.people}
    judged = set()
    for column in result.judges:
        judged |= {aspect_of(column), judged_aspect(aspect_of(column))} - {""}
    if not result.people:
        clear = []
        rated = {*aspects, *judged} - {aspect_of("score")}
        for column in candidates:
            is_rating = {"rating", "outcome"} & evidence[column].keys()
            if is_rating or _is_of_aspect(aspect_of(column), rated):
                clear.append(column)
        for column in candidates:
            if result.judges and clear and column not in clear:
                result.unused[column] = NO_SIDE
                continue
            result.people.append(column)
            if result.judges:
                result.why[column] = "the others are a judge's"
    elif not result.judges:
        _find_judge(result, candidates, evidence, aspect_of)
    else:
        # Ratings that name no aspect may be of any.
        overall = {aspect_of("score")}
        for column in candidates:
            aspect = aspect_of(column)
            if aspect in judged - people - overall:
                result.people.append(column)
                result.why[column] = "a judge scores this aspect"
            elif aspect in people - judged - overall:
                result.judges.append(column)
                result.why[column] = "people rate this aspect"
            else:
                result.unused[column] = NO_SIDE


def judged_aspect(name: str) -> str:
    """The aspect in the name of a judge's column, "" without one.

    >>> judged_aspect("gpt-4-fluency"), judged_aspect("gpt-4")
    ('fluency', '')
    """
    words = []
    for word in name.split("-"):
        if not word.isdigit() and not set(MACHINE) & classes_of(word).keys():
            words.append(word)
    return "-".join(words)


def _is_of_aspect(name: str, aspects: Collection[str]) -> bool:
    """Whether a name is an aspect's, or an aspect's with a rater's: `fluency-b`."""
    for aspect in aspects:
        if name == aspect or name.startswith(f"{aspect}-"):
            return True
        if name.endswith(f"-{aspect}"):
            return True
    return False


def _find_judge(
    result: Sides,
    candidates: Sequence[str],
    evidence: Mapping[str, ColumnEvidence],
    aspect_of: Callable[[str], str],
) -> None:
    """Find a judge's columns where only people's have a word for their side."""
    people = {aspect_of(column) for column in result.people}
    named = []
    rating = []
    for column in candidates:
        words = set(split_header(column))
        if aspect_of(column) in people and evidence[column].keys() != {"rating"}:
            named.append(column)
        elif words and {"rating", "outcome"} & evidence[column].keys():
            rating.append(column)
    chosen = named or rating
    for column in candidates:
        if column in chosen:
            result.judges.append(column)
            result.why[column] = "the others name people"
        else:
            result.unused[column] = NO_SIDE
