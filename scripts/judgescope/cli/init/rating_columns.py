"""Which columns have people's ratings and judges' scores, and of which aspect."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from judgescope.cli.init.column_values import number, numbers, scale
from judgescope.cli.init.vocabulary import ROLE_NAMES, WORDS
from judgescope.core.names import slug, without_accents
from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow
from judgescope.tables.derived_columns import (
    chances_of_scores,
    computed_columns,
    repeated_scores,
)
from judgescope.tables.header_rest import unexplained
from judgescope.tables.leaving_out import USUAL_SCALES, values_on_scale
from judgescope.tables.one_judge import JudgeValues, numbers_behind, second_columns
from judgescope.tables.profile import is_design
from judgescope.tables.raters import (
    are_initials,
    has_title,
    is_given_name,
    is_numbered_rater,
    is_rater_code,
    names_aspect,
)
from judgescope.tables.sides import Sides, judged_aspect, not_a_rating, sides
from judgescope.tables.words import ROLE_NOUNS, classes_of

NAMES_OF_RATERS = (
    ["annotator"],
    ["assessor"],
    ["coder"],
    ["labeler"],
    ["labeller"],
    ["participant"],
    ["rater"],
    ["reviewer"],
    ["worker"],
)
"""Headers of one word that may have the numbers of raters, not their ratings."""
RATERS = frozenset({"person", "machine"})
"""Classes of words for those who rate."""
ALL = "overall"
"""The aspect of ratings whose columns do not name an aspect."""


def without_brackets(column: str) -> str:
    """Return a name without a final part in brackets: the rater or the scale.

    An aspect stays, where the rest names none: `Human (Fluency)`.
    """
    aspect = re.fullmatch(r"(.+?)\s*[(\[]([^\W\d_]+)[)\]]\s*", column)
    if aspect and names_aspect(aspect[2]) and not names_aspect(aspect[1]):
        return f"{aspect[1]} {aspect[2]}"
    return re.sub(r"\s*[(\[][^()\[\]]*[)\]]\s*$", "", column) or column


class RatingColumns(NamedTuple):
    """The columns of ratings and scores."""

    people: dict[str, list[str]]
    """Aspect -> the columns of people's ratings."""
    averages: list[str]
    """Columns of the means of people's ratings, which are not used beside these."""
    judges: list[str]
    assumed: dict[str, str]
    """Column -> why it is on its side, if no word of its header says so."""
    unused: dict[str, str]
    """Column of numbers -> why it is neither a rating nor a score."""
    doubtful: dict[str, str]
    """Column of a side -> the words of its header that may say that it is none."""


def rating_columns(
    rows: Sequence[TableRow],
    columns: Sequence[str],
    aspects: Collection[str],
    headers: Sequence[str],
) -> RatingColumns:
    """Return the columns of people's ratings and of judges' scores.

    headers: those of the whole table, with the columns that flags name.
    """
    candidates = _candidates(rows, columns)
    computed = _numbers_of_people(rows, candidates)
    computed |= _ids_of_raters(rows, candidates)
    computed |= _computed(rows, [name for name in candidates if name not in computed])
    candidates = [column for column in candidates if column not in computed]
    numbering = [column for column in candidates if is_design(rows, column)]
    numbering += _constant(rows, candidates)
    placed = sides(candidates, aspect_of, numbering, aspects, headers)
    placed.unused |= computed
    repeated = _repeated(rows, placed)
    placed.unused |= repeated
    placed.judges = [name for name in placed.judges if name not in repeated]
    ratings: dict[str, list[str]] = {}
    for column in placed.people:
        ratings.setdefault(aspect_of(column), []).append(column)
    ratings = _by_stem(rows, ratings, aspects)
    judged = {judged_aspect(aspect_of(column)) for column in placed.judges}
    ratings = _as_judged(ratings, judged)
    if all(name == ALL or _names_raters(name, ratings[name]) for name in ratings):
        together = list(chain.from_iterable(ratings.values()))
        ratings = {ALL: together} if together else {}
    raters = _named_raters(ratings, aspects)
    if raters:
        means = [name for name in placed.people if is_mean(name)]
        ratings = {ALL: [*raters, *means]}
        why = "the headers are names of people: raters of one aspect"
        placed.why |= dict.fromkeys(raters, why)
    averages: list[str] = []
    for aspect, group in ratings.items():
        single = [column for column in group if not is_mean(column)]
        # Means of the same ratings would count them twice.
        if single:
            averages += filter(is_mean, group)
            ratings[aspect] = single
    placed.doubtful |= _continuous(rows, placed)
    return RatingColumns(
        ratings,
        averages,
        placed.judges,
        placed.why,
        placed.unused,
        placed.doubtful,
    )


def _candidates(rows: Sequence[TableRow], columns: Sequence[str]) -> list[str]:
    """Return the columns of numbers that may be ratings or scores."""
    known = set(chain.from_iterable(ROLE_NAMES.values()))
    candidates = []
    for column in columns:
        words = words_of(column)
        of_judge = is_judge(column)
        named = "_".join(words) in known and not classes_of(column).get("person")
        has_role = named and not of_judge
        if has_role or words[-1:] == ["id"]:
            continue
        values = numbers(rows, column)
        if values is None:
            continue
        if _counts_people(column, values) or _are_times(values):
            continue
        may_rate = like_ratings(values_on_scale(values), len(rows))
        if of_judge or may_rate or _is_on_judges_scale(rows, columns, column):
            candidates.append(column)
    return candidates


def _ids_of_raters(
    rows: Sequence[TableRow], candidates: Sequence[str]
) -> dict[str, str]:
    """Return the columns that have the numbers of raters, `worker` beside `human`, and
    why they are not used: other columns of people have ratings on another scale.
    """
    of_people = [name for name in candidates if classes_of(name).get("person")]
    ids = [name for name in of_people if words_of(name)[-1:] in NAMES_OF_RATERS]
    ids = [name for name in ids if len(words_of(name)) == 1]
    others = [name for name in of_people if name not in ids and not unexplained(name)]
    scales = set()
    for column in [*others, *filter(is_judge, candidates)]:
        scales.add(str(scale(numbers(rows, column) or [])))
    why = {}
    for column in ids:
        own = numbers(rows, column) or []
        if others and str(scale(own)) not in scales and _is_whole(own):
            why[column] = "the numbers of raters: others of people have another scale"
    return why


def _numbers_of_people(
    rows: Sequence[TableRow], candidates: Sequence[str]
) -> dict[str, str]:
    """Return the columns that say how many people rated, `raters` beside `score`: a
    bare plural with whole numbers, where another column has people's ratings, by a word
    for people or because no machine gave them; and why they are not used.
    """
    plurals = []
    for column in candidates:
        words = words_of(column)
        is_plural = len(words) == 1 and words[0] in WORDS.people and words[0][-1] == "s"
        if is_plural and _is_whole(numbers(rows, column) or [0.5]):
            plurals.append(column)
    others = []
    for column in candidates:
        of_people = not {"person", "rating"}.isdisjoint(classes_of(column))
        if column not in plurals and of_people and not is_judge(column):
            others.append(column)
    why = "it may say how many people rated, and others have their ratings"
    return dict.fromkeys(plurals, why) if others else {}


def _is_whole(values: Sequence[float]) -> bool:
    return all(float(value).is_integer() for value in values)


def _computed(rows: Sequence[TableRow], candidates: Sequence[str]) -> dict[str, str]:
    """Return the columns that were computed from another one, and why they are not
    used.
    """
    values = {}
    for column in candidates:
        values[column] = [number(row.get(column)) for row in rows]
    why = {}
    for column, other in computed_columns(candidates).items():
        why[column] = f"its header says that it was computed, from {other}"
    for column in chances_of_scores(_cells_of_judges(values)):
        why[column] = "the probability of a score: with others it adds up to 1"
    for column, judge in repeated_scores(values).items():
        why[column] = f"it repeats {judge}"
    return why


def _cells_of_judges(values: JudgeValues) -> JudgeValues:
    """Return the columns whose headers name a judge."""
    return {column: values[column] for column in values if is_judge(column)}


def _constant(rows: Sequence[TableRow], candidates: Sequence[str]) -> list[str]:
    """Return the columns without a word for their side that have the same number in
    every row, if others without such a word differ from row to row. An aspect that a
    judge scores may have one rating throughout.
    """
    judged = {judged_aspect(aspect_of(name)) for name in candidates if is_judge(name)}
    constant = []
    without_side = []
    for column in candidates:
        if {"person", "machine", "measure"}.isdisjoint(classes_of(column)):
            without_side.append(column)
            is_constant = len(set(numbers(rows, column) or [])) == 1
            if is_constant and aspect_of(column) not in judged - {ALL}:
                constant.append(column)
    return constant if len(constant) < len(without_side) else []


def _continuous(rows: Sequence[TableRow], of_sides: Sides) -> dict[str, str]:
    """Return the columns that are people's only because others are a judge's, and have
    many different fractions, as measures have and people's ratings do not.
    """
    doubtful = {}
    # Ratings in tenths of a point from 1 to 5 have as many steps.
    most_steps = 0.5
    for column in of_sides.people:
        values = numbers(rows, column) or []
        left_over = column in of_sides.why and "person" not in classes_of(column)
        named = is_mean(column) or "rating" in classes_of(column)
        steps = {value for value in values if not float(value).is_integer()}
        if left_over and not named and len(steps) > most_steps * len(values):
            doubtful[column] = "its many different fractions"
    return doubtful


def _repeated(rows: Sequence[TableRow], of_sides: Sides) -> dict[str, str]:
    """Return the judges' columns that only repeat another one, and why they are not
    used.
    """
    values = {}
    for column in of_sides.judges:
        values[column] = [number(cell) for cell in cells_of(rows, column)]
    rated = set[float]()
    for column in of_sides.people:
        rated.update(numbers(rows, column) or [])
    second = second_columns(values, labels=rated == {0.0, 1.0})
    why = dict.fromkeys(second, "a verdict and a number of one judge; one counts")
    for column, judge in numbers_behind(values, sorted(rated)).items():
        why[column] = f"a number from 0 to 1 behind {judge}"
    return why


def _is_on_judges_scale(
    rows: Sequence[TableRow],
    columns: Iterable[str],
    column: str,
    largest: float = 10,
) -> bool:
    """Return whether a column named as people's, or as the score of nobody, has numbers
    as large as a judge's: a scale that is no usual one, such as amounts of money, or
    standard scores.

    largest: the largest ratio of the greatest numbers.
    """
    is_score = {*words_of(column)} & {"score", "rating"} and not is_judge(column)
    if not classes_of(column).get("person") and not is_score:
        return False
    largest_own = max(map(abs, numbers(rows, column) or [0]))
    for other in columns:
        if is_judge(other) and not not_a_rating(other, classes_of(other)):
            theirs = max(map(abs, numbers(rows, other) or [0]))
            if (
                largest_own
                and theirs
                and max(largest_own, theirs) <= largest * min(largest_own, theirs)
            ):
                return True
    return False


def _counts_people(column: str, values: Sequence[float]) -> bool:
    """Return whether a column, such as `annotators`, has the same number everywhere."""
    words = words_of(column)
    plural = len(words) == 1 and words[0] in WORDS.people and words[0].endswith("s")
    return plural and len(set(values)) == 1 and len(values) > 1


def _are_times(values: Sequence[float]) -> bool:
    """Return whether numbers are seconds or milliseconds since 1970, all of this
    century.
    """
    first, last = 946_684_800, 4_102_444_800  # the years 2000 and 2100
    for unit in (1, 1000):
        if values and all(first * unit <= value < last * unit for value in values):
            return True
    return False


def _by_stem(
    rows: Sequence[TableRow], ratings: Mapping[str, list[str]], aspects: Collection[str]
) -> dict[str, list[str]]:
    """Return the ratings, with columns grouped if they differ only in the rater's name.

    `coherence_anna` and `coherence_ben` rate coherence, an aspect with a card, if their
    values share a scale. A name in front must occur with several aspects
    (`anna_coherence`, `anna_fluency`): `factual_consistency` and `logical_consistency`
    are two aspects.
    """
    parts = {}
    in_front: Counter[str] = Counter()
    for name in ratings:
        part = None
        if name not in aspects:
            part = _stem(name, aspects) or _rater_in(name)
        if part:
            parts[name] = part
            in_front[part.rater] += not part.rater_is_last
    stems: dict[str, list[str]] = {}
    for name, part in parts.items():
        if part.rater_is_last or in_front[part.rater] > 1:
            stems.setdefault(part.aspect, []).append(name)
    stem_of: dict[str, str] = {}
    for stem, names in stems.items():
        scales = set()
        for column in chain.from_iterable(ratings[name] for name in names):
            scales.add(str(scale(numbers(rows, column) or [])))
        if len(names) > 1 and len(scales) == 1:
            stem_of |= dict.fromkeys(names, stem)
    grouped: dict[str, list[str]] = {}
    for name, group in ratings.items():
        grouped.setdefault(stem_of.get(name, name), []).extend(group)
    return grouped


def _names_raters(name: str, group: Sequence[str]) -> bool:
    """Return whether a name in front of numbers is a person's: `ann1` and `ann2`."""
    return is_given_name(name) and len(group) > 1


def _as_judged(
    ratings: Mapping[str, list[str]], judged: Collection[str]
) -> dict[str, list[str]]:
    """Return the ratings, of the aspects that judges score, without the word that all
    of people's headers have in front: `qa_polite` and `qa_correct` beside `ai_polite`.
    """
    fronts = {name.partition("-")[0] for name in ratings}
    rests = {name.partition("-")[2] for name in ratings} - {""}
    if len(fronts) > 1 or len(ratings) < 2 or len(rests) < len(ratings):
        return dict(ratings)
    if not rests <= {*judged}:
        return dict(ratings)
    return {name.partition("-")[2]: group for name, group in ratings.items()}


def _named_raters(
    ratings: Mapping[str, Sequence[str]], aspects: Collection[str]
) -> list[str]:
    """Return the columns of raters of one aspect: `Marie` and `Paul`, `rater JK` and
    `rater MB`; [] if a name may be an aspect's.
    """
    raters = []
    for name, columns in ratings.items():
        group = [column for column in columns if not is_mean(column)]
        if not group:
            continue
        column = group[0]
        is_numbered = all(map(is_numbered_rater, group))
        may_be_aspect = name in aspects or names_aspect(name)
        if (len(group) > 1 or may_be_aspect) and not is_numbered:
            return []
        parts = [part for part in re.split(r"[\W_]+", column) if part]
        with_initials = any(map(are_initials, parts))
        is_person = bool(classes_of(column).get("person"))
        is_named = (
            is_given_name(name)
            or is_numbered
            or has_title(column)
            or is_rater_code(column)
        )
        is_role = is_person and not unexplained(column)  # `senior annotator`
        if not (is_named or is_role or (is_person and with_initials)):
            return []
        raters += group
    return raters if len(raters) > 1 else []


class NameParts(NamedTuple):
    """An aspect and a rater in the name of a column."""

    aspect: str
    rater: str
    rater_is_last: bool


def _stem(name: str, aspects: Collection[str]) -> NameParts | None:
    """Return the aspect at one end of a name, and the rest."""
    for stem in sorted(aspects, key=len, reverse=True):
        if name.startswith(f"{stem}-"):
            return NameParts(stem, name[len(stem) + 1 :], True)
        if name.endswith(f"-{stem}"):
            return NameParts(stem, name[: -len(stem) - 1], False)
    return None


def _rater_in(name: str) -> NameParts | None:
    """Return the given name or the letter at one end of an aspect's name, and the
    rest.
    """
    first, _, after = name.partition("-")
    before, _, last = name.rpartition("-")
    if before and (is_given_name(last) or len(last) == 1):
        return NameParts(before, last, True)
    if after and (is_given_name(first) or len(first) == 1):
        return NameParts(after, first, False)
    return None


def is_judge(column: str) -> bool:
    """Return whether a column's name indicates a model or a measure, and no people."""
    evidence = classes_of(column)
    machine = evidence.get("machine", False) or evidence.get("measure", False)
    return machine and not evidence.get("person", False)


def judges_of(
    columns: Iterable[str], aspects: Iterable[str]
) -> dict[str, dict[str, str]]:
    """Return judge -> aspect -> column: `coherence_gpt4` has the scores of gpt4 on
    coherence.

    A column whose name contains no rated aspect has a judge's scores on every aspect,
    `*`.
    """
    judges: dict[str, dict[str, str]] = {}
    by_length = sorted(
        (name.split("-") for name in aspects), key=lambda words: -len(words)
    )
    for column in columns:
        words = words_of(column)
        aspect, words = _split_name(words, by_length)
        if aspect == "*":
            aspect, words = _split_by_stem(words, by_length)
        judge = slug(column)
        if aspect != "*":
            name = "-".join(word for word in words if word not in WORDS.ratings)
            if name and aspect not in judges.get(slug(name), {}):
                judge = slug(name)
        judges.setdefault(judge, {})[aspect] = column
    return judges


def without_unrated(
    judges: Mapping[str, Mapping[str, str]], flagged: Collection[str]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the judges without columns of an aspect that people did not rate, and why
    these are not used: `mood_gpt` beside `tone_gpt`, where people rated the tone.

    flagged: the columns that flags name, whose ratings are not among the judges'.
    """
    rated = set(chain.from_iterable(map(words_of, flagged)))
    named = [name for name, scores in judges.items() if "*" not in scores]
    kept = {}
    why = {}
    for judge, scores in judges.items():
        column = scores.get("*", "")
        unrated: list[str] = []
        for name in named:
            words = words_of(column)
            judges_words = words_of(name)
            if column and {*judges_words} < {*words}:
                unrated = [word for word in words if word not in judges_words]
        rest = " ".join(unrated)
        is_aspect = bool(unrated) and names_aspect(rest) and not rated >= {*unrated}
        if is_aspect and len(scores) == 1:
            why[column] = f"people did not rate {rest}"
        else:
            kept[judge] = dict(scores)
    return kept, why


def _split_name(
    words: list[str], aspects: Iterable[list[str]]
) -> tuple[str, list[str]]:
    """Return the first aspect within a name, `*` for none, and the other words."""
    for named in aspects:
        size = len(named)
        if len(words) <= size:
            continue
        for begin in range(len(words)):
            if words[begin : begin + size] == named:
                return "-".join(named), words[:begin] + words[begin + size :]
    return "*", words


def _split_by_stem(
    words: list[str], aspects: Sequence[list[str]], shortest: int = 5
) -> tuple[str, list[str]]:
    """Return the one aspect with a word of the same stem, `*` for none, and the other
    words: `coherence` scores `how-coherent-is-the-story`.
    """
    for at, word in enumerate(words):
        if len(word) < shortest:
            continue
        stem = word[:shortest]
        same = []
        for named in aspects:
            if any(each.startswith(stem) for each in named):
                same.append("-".join(named))
        if len(same) == 1 and len(aspects) > 1:
            return same[0], words[:at] + words[at + 1 :]
    return "*", words


def like_ratings(values: Sequence[float], rows: int, longest_scale: int = 11) -> bool:
    """Return whether numbers are in a common range, and are not row numbers.

    A run of consecutive numbers that is longer than `longest_scale` numbers the rows.
    """
    ordered = sorted(values)
    within = any(
        low <= ordered[0] and ordered[-1] <= high for low, high in USUAL_SCALES
    )
    is_run = ordered == [ordered[0] + step for step in range(rows)]
    in_order = rows > 2 and ordered == list(values)
    return within and not (is_run and (rows > longest_scale or in_order))


def words_of(column: str) -> list[str]:
    """Return the words of a column's name without accents; a number is a word.

    >>> words_of("Überzeugung_rater2"), words_of("人工 流畅性")
    (['uberzeugung', 'rater', '2'], ['人工', '流畅性'])
    """
    spaced = re.sub(
        r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", without_accents(column)
    )
    return re.sub(r"[\W_]+", " ", spaced.casefold()).split()


def aspect_of(column: str) -> str:
    """Return the aspect that a column rates: fluency for `fluency_rater2`, ALL for
    `score`.
    """
    # The rater at the end, `fluency by Anna`, or at the beginning, `Anna's fluency`.
    # `on a scale from 1 to 5, how funny is it?` names no rater.
    name = r"(?!\d)[^()\[\]?]{1,40}$"
    by = rf"\s*[_\-,:]?\s*(?:\b|_)(?:rated[ _])?(?:by|from)[ _]+{name}"
    without_rater = re.sub(by, "", without_brackets(column), flags=re.I)
    without_rater = re.sub(r"^\s*[^\W\d_]+['’]s?\s+", "", without_rater)
    ignored = (
        {"a", "r"}
        | WORDS.people
        | WORDS.ratings
        | WORDS.means
        | WORDS.settled
        | WORDS.general
    )
    # Platforms put what was rated into an object: Answer.coherence, scores.fluency.
    container = r"^(?:answer|scores?|feedback|annotations?|metrics|results?)\."
    without_rater = re.sub(container, "", without_rater, flags=re.I)
    kept = []
    before = ""
    words = words_of(without_rater)
    is_of_person = classes_of(without_rater).get("person", False)
    if len(words) == 2 and len(words[1]) == 1 and classes_of(words[0]).keys() & RATERS:
        return ALL  # grader A
    for word in words:
        is_initial = before in WORDS.people and len(word) == 1  # annotator B
        is_person = classes_of(word).get("person", False)
        is_role = is_of_person and word in ROLE_NOUNS  # human judge
        is_known = word in ignored or is_person or is_role
        if not is_known and not word.isdigit() and not is_initial:
            kept.append(word)
        before = word
    return "-".join(kept) or ALL


def is_mean(column: str) -> bool:
    """Return whether a header names a mean, such as `average quality`, or what raters
    settled on.
    """
    return bool((WORDS.means | WORDS.settled).intersection(words_of(column)))
