"""Which columns of numbers are people's ratings, which are a judge's scores, and which
are neither.

A column belongs to a side by the words of its header. A number without such a word is
people's only if no column has a word for people, a judge's only if its header names
what people rated or says that it is a rating; it is never one because it is left over.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Final

from judgescope.tables.header_rest import (
    VARIANTS,
    counted_in,
    in_known_script,
    is_general,
    property_in,
    unexplained,
)
from judgescope.tables.raters import (
    is_given_name,
    is_numbered_rater,
    names_aspect,
    names_rater,
)
from judgescope.tables.words import (
    ALL_LANGUAGES,
    asks_for_a_rating,
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


END_USERS: Final = frozenset(
    {"client", "customer", "enduser", "patient", "student", "teacher", "user"}
)
"""Words for people who use a system, and may rate it."""
MAY_JUDGE: Final = frozenset({"actual", "bot", "eval", "scorer", "suggestion"})
"""Weak words for a judge: alone they do not make a column people's."""


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
    doubtful: dict[str, str] = field(default_factory=dict)
    """Column of a side -> the words of its header that may say that it is no rating."""


def not_a_rating(header: str, evidence: ColumnEvidence) -> str:
    """Why a column of numbers is neither a rating nor a score; "" if it may be one."""
    words = split_header(header)
    rated = "rating" in evidence or "outcome" in evidence
    # One German column of an English table is a time or a count all the same.
    of_any_language = classes_of(header, ALL_LANGUAGES)
    says_more = evidence.keys() - {"good", "bad", "fault", "merit"}
    for kind in ("number", "confidence", "length"):
        is_rating = says_more or is_numbered_rater(header)
        if kind in of_any_language and not is_rating:
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
    headers: Collection[str] = (),
) -> Sides:
    """The side of each column of numbers.

    aspect_of: the aspect in a header. numbering: columns that number rows or belong to
    a design, see `profile.is_design`. aspects: those that are known to be rated.
    headers: those of the whole table, whose words tell aspects from other words.
    """
    result = Sides()
    strong_people: list[str] = []
    strong_judges: list[str] = []
    of_both: list[str] = []
    weak: dict[str, str] = {}
    neutral: list[str] = []
    evidence = {column: classes_of(column) for column in columns}
    shared = _shared_words({**{name: classes_of(name) for name in headers}, **evidence})
    for column in columns:
        of_column = evidence[column]
        reason = not_a_rating(column, of_column) or _property_of(
            column, of_column, shared
        )
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
    neutral += _place_weak(result, weak, strong_people, strong_judges)
    result.people += strong_people
    result.judges += strong_judges
    for of_side in (result.people, result.judges):
        _doubt(result, of_side, shared)
    _place_neutral(
        result, neutral, evidence, aspect_of, numbering=numbering, aspects=aspects
    )
    order = {column: number for number, column in enumerate(columns)}
    result.people.sort(key=order.__getitem__)
    result.judges.sort(key=order.__getitem__)
    return result


def _place_weak(
    result: Sides,
    weak: Mapping[str, str],
    strong_people: Sequence[str],
    strong_judges: Sequence[str],
) -> list[str]:
    """Give columns with a weak word for a side to it, where no other has a strong one;
    return those without a side.

    weak: the column -> person or machine.
    """
    neutral = []
    for column, side in weak.items():
        if side == "person" and not strong_people:
            result.why[column] = "its header may name people"
            result.people.append(column)
        elif side == "machine" and not strong_judges and (strong_people or weak):
            result.why[column] = "its header may name a judge"
            result.judges.append(column)
        elif side == "person" and (strong_judges or _names_end_users(column)):
            result.unused[column] = "others name people more clearly"
        else:
            neutral.append(column)
    return neutral


def _names_end_users(header: str) -> bool:
    """Whether a header names people who use a system: no judge's has such a word."""
    return not END_USERS.isdisjoint(split_header(header))


def _shared_words(evidence: Mapping[str, ColumnEvidence]) -> set[str]:
    """The words in headers of both sides, or of one side and of neither: what people
    and a judge rated.
    """
    of_side: dict[str, set[str]] = {}
    for column, of_column in evidence.items():
        machine = any(kind in of_column for kind in MACHINE)
        side = "judge" if machine else "other"
        if "person" in of_column and not machine:
            side = "person"
        of_side.setdefault(side, set()).update(split_header(column))
    both: set[str] = set()
    for first, second in combinations(of_side.values(), 2):
        both |= first & second
    return both


def _property_of(column: str, evidence: ColumnEvidence, shared: Collection[str]) -> str:
    """Why a column is no rating, by a word for a property; "" if it may be one."""
    word = property_in(column, shared) or counted_in(column, shared)
    if not word or "rating" in evidence:
        return ""
    return f"its header says {word}, which is no rating"


def _doubt(result: Sides, side: Sequence[str], shared: Collection[str]) -> None:
    """Note the columns of a side with a word that nothing explains, beside others of
    it without one.

    Names of judges and raters are an open set: `judge_copy` beside `judge_gpt4` is
    assumed to be one, which is said. Without such a pattern the column is doubtful:
    `judge_cluster` beside `judge`, `expert_shelf` beside `human`.
    """
    rests = {column: unexplained(column, shared) for column in side}
    clear = [split_header(column) for column in side if not rests[column]]
    if not clear:
        return
    # `beluga` of `empathy_beluga` is a judge's name where `relevance_beluga` has it.
    explained = set[str]().union(*clear)
    for column, rest in rests.items():
        unknown = [word for word in rest if word not in explained]
        if not unknown or not in_known_script(column):
            continue
        if any(_names_one_of_its_kind(split_header(column), other) for other in clear):
            result.why[column] = "its header is like others of that side"
        else:
            result.doubtful[column] = " ".join(unknown)


def _names_one_of_its_kind(words: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a header begins as another one that goes on with a name.

    >>> _names_one_of_its_kind(["judge", "copy"], ["judge", "gpt4"])
    True
    >>> _names_one_of_its_kind(["judge", "copy"], ["judge"])
    False
    >>> _names_one_of_its_kind(["judge", "session"], ["judge", "score"])
    False
    """
    if len(words) < 2 or words[0] != other[0]:
        return False
    for word in other[1:]:
        is_model = "machine" in classes_of(word)
        if is_model or word in VARIANTS or is_given_name(word):
            return True
    return False


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
        rated = {*aspects, *judged} - {aspect_of("score")}
        _place_left_over(result, candidates, evidence, aspect_of, rated)
    elif not result.judges:
        _find_judge(result, candidates, evidence, aspect_of)
    else:
        # Ratings that name no aspect may be of any.
        overall = {aspect_of("score")}
        serves_all = any(
            not judged_aspect(aspect_of(name)) or aspect_of(name) in overall
            for name in result.judges
        )
        for column in candidates:
            aspect = aspect_of(column)
            if _is_in_object(column, result.judges, result.people):
                result.unused[column] = "it is in an object with a judge's score"
            elif aspect in judged - people - overall:
                result.people.append(column)
                result.why[column] = "a judge scores this aspect"
            elif aspect in people - judged - overall and not serves_all:
                result.judges.append(column)
                result.why[column] = "people rate this aspect"
            else:
                result.unused[column] = NO_SIDE


def _is_in_object(
    column: str, judges: Sequence[str], people: Sequence[str], least_depth: int = 2
) -> bool:
    """Whether a column is part of an object in which only judges' columns are:
    `outputs.tone.reason` beside `outputs.tone.gpt_tone`.
    """
    of_object, dot, _ = column.rpartition(".")
    inside = f"{of_object}{dot}"
    if of_object.count(".") + 1 < least_depth or not of_object:
        return False
    has_judge = any(name.startswith(inside) for name in judges)
    return has_judge and not any(name.startswith(inside) for name in people)


def _place_left_over(
    result: Sides,
    candidates: Sequence[str],
    evidence: Mapping[str, ColumnEvidence],
    aspect_of: Callable[[str], str],
    rated: Collection[str],
) -> None:
    """Give people the columns that say that they have ratings; if none does, it is
    doubtful whether any has.

    rated: the aspects with cards, and those that a judge scores.
    """
    if not result.judges:
        result.people += candidates
        return
    of_judges: set[str] = set()
    for judge in result.judges:
        of_judges.update(split_header(judge))
    clear = []
    plain = []
    for column in candidates:
        is_rating = {"rating", "outcome"} & evidence[column].keys()
        is_of_aspect = _is_of_aspect(aspect_of(column), rated)
        # `overall` beside `overall_pred`.
        is_of_aspect = is_of_aspect or of_judges.issuperset(split_header(column))
        if is_rating or is_of_aspect:
            clear.append(column)
        if is_of_aspect or (is_rating and not unexplained(column, of_judges)):
            plain.append(column)
    named = []
    for column in candidates:
        of_either = {"person", "machine"} & evidence[column].keys()
        if column in clear or of_either or _says_rated(column, of_judges):
            named.append(column)
    chosen = plain or clear or named
    # That one names an aspect or a rater says nothing of others.
    keeps_others = not clear
    for column in candidates:
        if chosen and column not in chosen and not keeps_others:
            result.unused[column] = NO_SIDE
            continue
        result.people.append(column)
        result.why[column] = "the others are a judge's"
        # `eval_score` beside `gpt4_score` may be a judge's, too.
        may_be_judges = not MAY_JUDGE.isdisjoint(split_header(column))
        if (column not in named or may_be_judges) and in_known_script(column):
            result.doubtful[column] = " ".join(split_header(column))


def _says_rated(header: str, of_judges: Collection[str]) -> bool:
    """Whether a header names an aspect, a rater, or asks for a rating, or has only
    words for ratings in general or of judges' headers.
    """
    if names_rater(header) or names_aspect(header) or asks_for_a_rating(header):
        return True
    words = [word for word in split_header(header) if not word.isdigit()]
    return is_general(words, of_judges) and not unexplained(header, of_judges)


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
    parallel = _of_one_name(candidates, people - {aspect_of("score")}, aspect_of)
    for column in candidates:
        words = set(split_header(column))
        if column in parallel or (
            aspect_of(column) in people and evidence[column].keys() != {"rating"}
        ):
            named.append(column)
        elif words and {"rating", "outcome"} & evidence[column].keys():
            rating.append(column)
    chosen = named or rating
    if _are_numbered(chosen):
        chosen = []  # raters, or draws of one judge
    for column in candidates:
        if column in chosen:
            result.judges.append(column)
            result.why[column] = "the others name people"
        else:
            result.unused[column] = NO_SIDE


def _are_numbered(headers: Sequence[str]) -> bool:
    """Whether two headers are equal but for a number, and have no word for a model.

    >>> _are_numbered(["tone (x1)", "tone (x2)"]), _are_numbered(["tone a", "tone b"])
    (True, False)
    """
    stems = [re.sub(r"\d+", "", header) for header in headers]
    is_numbered = any(map(str.isdigit, "".join(headers)))
    return is_numbered and len({*stems}) < len(stems)


def _of_one_name(
    candidates: Sequence[str],
    aspects: Collection[str],
    aspect_of: Callable[[str], str],
) -> list[str]:
    """The columns that have one more word beside aspects that people rate: that of a
    judge, `tone_nemotron` and `style_nemotron` beside `human_tone` and `human_style`.

    Two such words beside one aspect are no names: nothing says which is the judge's.
    """
    by_rest: dict[str, dict[str, str]] = {}
    for column in candidates:
        name = aspect_of(column)
        for aspect in aspects:
            rest = name.removeprefix(f"{aspect}-").removesuffix(f"-{aspect}")
            if rest != name:
                by_rest.setdefault(rest, {})[aspect] = column
    complete = [group for group in by_rest.values() if len(group) == len(aspects)]
    if len(aspects) < 2 or len(complete) != 1:
        return []
    return list(complete[0].values())
