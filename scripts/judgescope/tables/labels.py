"""The order of two to seven words with which people and judges label texts.

Two words are a bad one and a good one: by lists of such words, or because one is the
other's negation. More words are ordered by usual scales. Where neither tells, the
labels have no order, or for two words an order that is only a convention; a note says
so.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from judgescope.tables.words import classes_of, folded, known_words, split_header

LADDERS: Final = (
    ("never", "rarely", "sometimes", "often", "always"),
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
    ("not at all", "slightly", "somewhat", "moderately", "very", "extremely"),
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
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("terrible", "bad", "poor", "ok", "okay", "good", "great", "perfect"),
    ("very low", "low", "medium", "moderate", "high", "very high"),
    ("critical", "major", "moderate", "minor", "none"),
    ("f", "e", "d", "c", "b", "a"),
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


def plain_label(cell: object) -> str:
    """A cell as a label: lower case, one space between words, no signs around."""
    return " ".join(str(cell).replace("_", " ").strip().casefold().split())


@cache
def _listed(kind: str) -> frozenset[str]:
    """The words of a class of the vocabulary."""
    listed = set()
    for word, meanings in known_words().items():
        if any(known.kind == kind for known in meanings):
            listed.add(word)
    return frozenset(listed)


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
    unordered = LabelOrder(
        tuple(words), ordered=False, note="labels without a known order"
    )
    return _of_ladder(words) or _of_grades(words) or unordered


def is_fault(headers: Collection[str]) -> bool:
    """Whether headers name a fault, such as `is_toxic`, so that yes is the worse
    answer.
    """
    return any("fault" in classes_of(header) for header in headers)


def _of_two(first: str, second: str, headers: Collection[str]) -> LabelOrder:
    worse = _worse(plain_label(first), plain_label(second))
    if worse is None:
        labels = (first, second)
        note = (
            f"it is not known which is better, {first} or {second}; {second} counts as "
            "the good label (--labels WORST,BEST says otherwise)"
        )
        return LabelOrder(labels, note=note)
    labels = (first, second) if worse == plain_label(first) else (second, first)
    answers = {"yes", "no", "true", "false", "y", "n", "t", "f", "1", "0"}
    if is_fault(headers) and {plain_label(first), plain_label(second)} <= answers:
        labels = (labels[1], labels[0])
        return LabelOrder(
            labels, note=f"the column names a fault, so {labels[0]} is the bad label"
        )
    return LabelOrder(labels)


def _worse(first: str, second: str) -> str | None:
    """The worse of two words, None if neither list nor form says it."""
    for word, other in ((first, second), (second, first)):
        if _negates(word, other):
            positive_is_fault = _has_class(other, "fault")
            return other if positive_is_fault else word
    scores = {word: _goodness(word) for word in (first, second)}
    if scores[first] == scores[second]:
        ladder = _of_ladder([first, second])
        return ladder.labels[0] if ladder else None
    return min(scores, key=lambda word: scores[word])


def _goodness(word: str) -> int:
    """1 for a good word, -1 for a bad one, 0 for others."""
    parts = {folded(word), *split_header(word)}
    is_good = not parts.isdisjoint(_listed("good")) or word in _listed("good")
    is_bad = not parts.isdisjoint(_listed("bad")) or word in _listed("bad")
    return int(is_good) - int(is_bad)


def _has_class(word: str, kind: str) -> bool:
    return not {folded(word), *split_header(word)}.isdisjoint(_listed(kind))


def _negates(word: str, other: str) -> bool:
    """Whether a word is another one's negation: `not met`, `unsafe`, `unresolved`."""
    words = word.replace("-", " ").split()
    others = other.replace("-", " ").split()
    negations = frozenset(
        {"not", "no", "non", "without", "never", "nicht", "kein", "pas", "не", "нет"}
    )
    if len(words) == len(others) + 1 and words[0] in negations:
        return words[1:] == others
    joined = word.replace("-", "").replace(" ", "")
    prefixes = ("un", "in", "im", "ir", "il", "dis", "mis", "non", "不", "非", "未")
    # A prefix negates a word of at least so many letters.
    fewest_letters = 3
    for prefix in prefixes:
        stem = "".join(others)
        long_enough = len(stem) >= fewest_letters or not prefix.isascii()
        if joined == prefix + stem and long_enough:
            return True
    return False


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
    return LabelOrder(tuple(places[index] for index in sorted(places)))


def _of_ladder(words: Collection[str]) -> LabelOrder | None:
    """The order of words that stand together on a usual scale; None without one."""
    for ladder in LADDERS:
        places: dict[int, str] = {}
        for word in words:
            plain = plain_label(word)
            if plain in ladder:
                places[ladder.index(plain)] = word
        if len(places) == len(words):
            return LabelOrder(tuple(places[step] for step in sorted(places)))
    return None
