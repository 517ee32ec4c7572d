"""The order of two to seven words with which people and judges label texts.

Two words are a bad one and a good one: by lists of such words, or because one is the
other's negation. More words are ordered by usual scales. Where neither tells, the
labels have no order, or for two words an order that is only a convention; a note says
so.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final
from unicodedata import category

from judgescope.tables.degrees import of_degrees
from judgescope.tables.polarity import ANSWERS, goodness, names_fault, negates
from judgescope.tables.words import folded

AMOUNTS: Final = (
    ("never", "rarely", "sometimes", "often", "always"),
    ("not at all", "slightly", "somewhat", "moderately", "very", "extremely"),
    (
        "none",
        "very low",
        "low",
        "med",
        "mid",
        "medium",
        "moderate",
        "high",
        "very high",
    ),
    ("none", "little", "some", "a lot"),
    ("sehr niedrig", "niedrig", "mittel", "hoch", "sehr hoch"),
    ("gering", "mittel", "hoch"),
    ("faible", "moyen", "élevé"),
    ("faible", "moyenne", "élevée"),
    ("bajo", "medio", "alto"),
    ("baja", "media", "alta"),
    ("baixo", "médio", "alto"),
    ("baixa", "média", "alta"),
    ("basso", "medio", "alto"),
    ("bassa", "media", "alta"),
    ("низкий", "средний", "высокий"),
    ("низкая", "средняя", "высокая"),
    ("低", "中", "高"),
    ("낮음", "보통", "높음"),
)
"""Words for how much or how often, the least first."""
LADDERS: Final = (
    *AMOUNTS,
    (
        "strongly disagree",
        "disagree",
        "somewhat disagree",
        "slightly disagree",
        "neutral",
        "neither agree nor disagree",
        "neither",
        "slightly agree",
        "somewhat agree",
        "agree",
        "strongly agree",
    ),
    (
        "trifft gar nicht zu",
        "trifft überhaupt nicht zu",
        "trifft nicht zu",
        "trifft eher nicht zu",
        "teils teils",
        "teils/teils",
        "trifft teilweise zu",
        "trifft eher zu",
        "trifft zu",
        "trifft völlig zu",
        "trifft voll zu",
        "trifft voll und ganz zu",
    ),
    (
        "pas du tout d'accord",
        "plutôt pas d'accord",
        "ni d'accord ni pas d'accord",
        "plutôt d'accord",
        "tout à fait d'accord",
    ),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("very bad", "bad", "neutral", "average", "good", "very good"),
    (
        "much worse",
        "worse",
        "slightly worse",
        "about the same",
        "slightly better",
        "better",
        "much better",
    ),
    ("not helpful", "slightly helpful", "somewhat helpful", "helpful", "very helpful"),
    ("irrelevant", "marginally relevant", "relevant", "highly relevant", "perfect"),
    ("bad", "poor", "fair", "good", "excellent"),
    ("unacceptable", "borderline", "acceptable"),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("terrible", "bad", "poor", "ok", "okay", "good", "great", "perfect"),
    ("critical", "major", "moderate", "minor", "no issue", "no issues", "none"),
    ("extreme", "severe", "strong", "moderate", "mild", "slight", "none"),
    ("red", "amber", "yellow", "green"),
    ("🔴", "🟠", "🟡", "🟢"),
    ("😡", "😠", "😞", "😟", "☹", "🙁", "😐", "😶", "🙂", "😊", "😀", "😃", "😄", "😍"),
    ("👎", "😐", "👍"),
    ("❌", "⚠", "✅"),
    ("refuted", "not enough info", "supported"),
    ("refutes", "not enough info", "supports"),
    ("incorrect", "partially correct", "partly correct", "mostly correct", "correct"),
    ("wrong", "partially", "partly", "right"),
    ("no", "partially", "partly", "somewhat", "mostly", "yes"),
    ("not met", "partially met", "partly met", "met"),
    ("negative", "neutral", "mixed", "positive"),
    ("lose", "loss", "lost", "tie", "draw", "win", "won"),
    ("worse", "same", "equal", "better"),
    ("fail", "partial", "borderline", "pass"),
    ("failed", "partial", "borderline", "passed"),
    ("not relevant", "somewhat relevant", "partially relevant", "relevant"),
    ("irrelevant", "partially relevant", "somewhat relevant", "relevant"),
    ("unsupported", "partially supported", "partly supported", "supported"),
    ("not supported", "partially supported", "partly supported", "supported"),
    ("contradiction", "neutral", "entailment"),
    ("reject", "major revision", "minor revision", "accept"),
    ("bronze", "silver", "gold"),
    ("schlecht", "mangelhaft", "mittel", "gut", "sehr gut"),
    ("mauvais", "moyen", "bon", "très bon"),
    ("malo", "regular", "bueno", "muy bueno"),
    ("плохо", "средне", "хорошо", "отлично"),
    ("差", "中", "良", "好", "优"),
    ("悪い", "普通", "良い"),
    # Numbers, the smallest first: a scale of numbers in words.
    ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben"),
    ("zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept"),
    ("cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete"),
    ("ноль", "один", "два", "три", "четыре", "пять", "шесть", "семь"),
    ("零", "一", "二", "三", "四", "五", "六", "七", "八", "九"),
    ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
)
"""Words from the worst to the best; a scale may have some of them."""


@dataclass(frozen=True)
class LabelOrder:
    """Labels from the worst to the best, as they are written in the data."""

    labels: tuple[str, ...]
    ordered: bool = True
    """Whether each label is better than the one before it."""
    note: str = ""
    """What is assumed, where the words do not say it."""
    remark: str = ""
    """What the words are taken for, where they are usual ones for it."""


def plain_label(cell: object) -> str:
    """A cell as a label: lower case, one space between words, no signs around.

    >>> plain_label("Not_OK "), plain_label("Correct ✅"), plain_label("✅")
    ('not ok', 'correct', '✅')
    >>> plain_label("Yes."), plain_label("“no”"), plain_label("-")
    ('yes', 'no', '-')
    """
    text = str(cell).replace("_", " ").strip().casefold()
    words = (text.strip(" .'\"“”„«»") or text).split()
    with_letters = []
    for word in words:
        if any(map(str.isalnum, word)):
            with_letters.append(word)
    if with_letters:
        # A sign beside a word repeats it.
        words = [word for word in words if not all(map(_is_picture, word))]
    else:
        words = [word.replace("\ufe0f", "") for word in words]
    return " ".join(words)


def _is_picture(character: str) -> bool:
    """Whether a character is an emoji or its variant, and no letter or punctuation."""
    return category(character) in {"So", "Sk", "Mn", "Cf"}


def order_of(labels: Iterable[str], headers: Collection[str] = ()) -> LabelOrder | None:
    """The order of some labels; None if there are fewer than two, or more than seven.

    headers: the columns that have them; 1 in a column `toxic` is the worse value.

    >>> order_of(["unsafe", "safe"]).labels
    ('unsafe', 'safe')
    >>> order_of(["correct", "incorrect", "partially correct"]).labels
    ('incorrect', 'partially correct', 'correct')
    """
    words = sorted(set(labels), key=lambda label: (plain_label(label), label))
    if not 2 <= len(words) <= 7:
        return None
    if len(words) == 2:
        return _of_two(words[0], words[1], headers)
    return (
        _of_amounts(words, headers)
        or _of_ladder(words)
        or _of_grades(words)
        or _of_degrees(words)
        or LabelOrder(tuple(words), ordered=False, note="labels without a known order")
    )


def is_fault(headers: Collection[str]) -> bool:
    """Whether headers name a fault, such as `is_toxic`, so that yes is the worse
    answer.
    """
    return any(map(names_fault, headers))


def _of_two(first: str, second: str, headers: Collection[str]) -> LabelOrder:
    order = None
    if is_fault(headers):
        order = _where_found(first, second)
    if order is not None:
        remark = f"the header names a fault, so {order[0]} is the bad label"
        return LabelOrder(order, remark=remark)
    worse = _worse(plain_label(first), plain_label(second))
    if worse is None:
        labels = (first, second)
        if negates(plain_label(second), plain_label(first)):
            labels = (second, first)
        bad, good = labels
        note = (
            f"it is not known which is better, {first} or {second}; {good} counts as "
            f"the good label (--labels {bad},{good} or {good},{bad}, the worst first, "
            "says it)"
        )
        return LabelOrder(labels, note=note)
    labels = (first, second) if worse == plain_label(first) else (second, first)
    if is_fault(headers) and are_answers((first, second)):
        labels = (labels[1], labels[0])
        return LabelOrder(
            labels, note=f"the column names a fault, so {labels[0]} is the bad label"
        )
    return LabelOrder(labels)


def _where_found(first: str, second: str) -> tuple[str, str] | None:
    """Labels for what is there, and for what is not, in this order; None for others.

    >>> _where_found("absent", "present"), _where_found("detected", "not detected")
    (('present', 'absent'), ('detected', 'not detected'))
    """
    detected_words = frozenset({"present", "detected", "found", "flagged", "contained"})
    done = frozenset({"success", "successful", "succeeded"})
    absent = frozenset({"absent", "clean", "none", "clear"})
    for present, other in ((first, second), (second, first)):
        plain = plain_label(present)
        plain_other = plain_label(other)
        if plain in detected_words and (
            plain_other in absent or negates(plain_other, plain)
        ):
            return present, other
        # An attack that succeeds is the bad end.
        if plain in done and goodness(plain_other) < 0:
            return present, other
    return None


def are_answers(labels: Collection[str]) -> bool:
    """Whether labels are yes and no, or the like, in any language.

    >>> are_answers(["Yes", "No"]), are_answers(["sí", "no"]), are_answers(["good"])
    (True, True, False)
    """
    return {folded(plain_label(label)) for label in labels} <= ANSWERS


def _worse(first: str, second: str) -> str | None:
    """The worse of two words, None if neither list nor form says it."""
    scores = {word: goodness(word) for word in (first, second)}
    for word, other in ((first, second), (second, first)):
        # `unsafe`, or `no errors`: what is negated decides, if it is known.
        if negates(word, other) and scores[other]:
            return word if scores[other] > 0 else other
    if scores[first] == scores[second]:
        ladder = _of_ladder([first, second]) or _of_degrees([first, second])
        return ladder.labels[0] if ladder else None
    return min(scores, key=lambda word: scores[word])


def _of_amounts(words: Collection[str], headers: Collection[str]) -> LabelOrder | None:
    """The order of low, medium and high where headers name a fault, so that high is the
    worst; None for other words or headers.

    >>> _of_amounts(["low", "high"], ["human_risk"]).labels
    ('high', 'low')
    """
    if not is_fault(headers):
        return None
    order = _of_ladder(words, AMOUNTS)
    if order is None:
        return None
    labels = order.labels[::-1]
    remark = f"the header names a fault, so {labels[0]} is the worst label"
    return LabelOrder(labels, remark=remark)


def _of_degrees(words: Collection[str]) -> LabelOrder | None:
    """The order of words that differ in a degree; None for other words."""
    written = {plain_label(word): word for word in words}
    order = None
    if len(written) == len(words):
        order = of_degrees(list(written))
    if order is None:
        return None
    return LabelOrder(tuple(written[label] for label in order))


def _of_grades(words: Collection[str]) -> LabelOrder | None:
    """The order of school grades such as C, B- and A+; None for other words.

    >>> _of_grades(["A", "B+", "C", "B-"]).labels
    ('C', 'B-', 'B+', 'A')
    """
    signs = {"-": 0, "−": 0, "–": 0, "": 1, "+": 2}
    places: dict[tuple[int, int], str] = {}
    for word in words:
        grade = re.fullmatch(r"([A-F])([-−–+]?)", str(word).strip(), flags=re.I)
        if grade is None:
            return None
        places[-ord(grade[1].upper()), signs[grade[2]]] = word
    if len(places) < len(words):
        return None
    labels = tuple(places[index] for index in sorted(places))
    remark = (
        f"letters were read as grades, {labels[-1]} the best (--labels and "
        "--unordered: none is better)"
    )
    return LabelOrder(labels, remark=remark)


def _of_ladder(
    words: Collection[str], ladders: Collection[tuple[str, ...]] = LADDERS
) -> LabelOrder | None:
    """The order of words that stand together on a usual scale; None without one."""
    for ladder in ladders:
        places: dict[int, str] = {}
        for word in words:
            plain = plain_label(word)
            if plain in ladder:
                places[ladder.index(plain)] = word
        if len(places) == len(words):
            return LabelOrder(tuple(places[step] for step in sorted(places)))
    return None
