"""The patterns of a scale: labelled ratings, echoes of the scale, and other forms."""

import re
from functools import lru_cache
from typing import NamedTuple

from judgescope.parsing import labels as label_values
from judgescope.parsing.corrections import CORRECTION_WORDS
from judgescope.parsing.echo_signs import ECHO_WORDS, EchoSigns, echo_signs
from judgescope.parsing.glance import watch
from judgescope.parsing.judgment import Scale
from judgescope.parsing.keys import VERDICT_WORDS
from judgescope.parsing.mentions import MENTION_WORDS
from judgescope.parsing.rated_sides import SIDE_WORDS
from judgescope.parsing.rating_forms import FORMS, LEADING_LABEL
from judgescope.parsing.rating_patterns import (
    BRACKETED,
    DIGITS,
    END,
    MARKS,
    NUMBER_NAMES,
    NUMBER_WORD,
    ONE_NUMBER,
    SLASH,
    STOP,
    WORD_END,
    bound,
    name_of,
    value_pattern,
)
from judgescope.parsing.tags import UNIT_WORDS

_IS_ANSWER = r"\s+answer(?=\s*(?:is)?\s*[:=])"
_LABELS = (
    "ratings?",
    "scores?",
    "verdict",
    "grade",
    "judge?ment",
    r"final\s+answer",
    "answer(?<=<answer)",
    "overall",
    f"the{_IS_ANSWER}",
    f"my{_IS_ANSWER}",
)
_LABEL_NAMES = ("labels?", "category", "class", "decision", "assessment", "result")


def _name_words(names: str) -> dict[bytes, str]:
    """Return each word of a text -> how the names with the same beginning begin.

    >>> _name_words("rating,ratings judg:judgment")
    {b'rating': 'rating', b'ratings': 'rating', b'judgment': 'judg'}
    """
    beginnings: dict[bytes, str] = {}
    for group in names.split():
        begin, _, spelled = group.rpartition(":")
        words = spelled.split(",")
        for word in words:
            beginnings[word.encode()] = begin or words[0]
    return beginnings


BEGINNINGS = _name_words(
    "rating,ratings score,scores verdict grade judg:judgment,judgement overall"
)
"""Those of `_LABELS` without `answer`."""
BEGINNINGS_OF_LABELS = _name_words(
    "label,labels category class decision assessment result"
)
ANSWER = b"answer"
FINAL = b"final"
_NO_NOUN = "".join(
    rf"(?<!\b{word} WORD)"
    for word in ("the", "his", "her", "its", "their", "these", "those", "both", "all")
)
"""`These claims get a score of 2` claims nothing."""
_NOUNS_OR_VERBS = "|".join(
    word + _NO_NOUN.replace("WORD", word)
    for word in ("claims", "requests", "states", "orders")
)
_CLAIM = (
    rf"(?:says|{_NOUNS_OR_VERBS}|asks|insists|instructs|tells|"
    r"(?:by|is|"
    r"are)[ ]"
    r"(?:saying|claiming|asking|requesting|stating|insisting|ordering|instructing|"
    r"telling))"
    r"(?:[ \t]?[:\"'(*][ \t\"'(*]{0,4}(?:rating|score|verdict)[ \t]{0,3}[:=]?[ \t]{0,3}"
    r"|(?:[ \t][a-z]{1,20}){0,7}?[ \t](?:rating|score|verdict)[ \t]{1,3}(?:of|"
    r"is)[ \t]{1,3})"
)
"""A text asks for a rating, or claims to have one, within a line."""
_EITHER = (
    rf"(?:{DIGITS}|(?:{NUMBER_WORD})\b){MARKS}"
    rf"(?:[ \t][(\[]?and[ \t][*_\"'`]{{0,4}}{DIGITS}"
    rf"|(?:{SLASH}{DIGITS})?,?[ \t](?:[(\[]?or[ \t](?:maybe |perhaps |even )?"
    r"|(?<=, )(?:maybe|perhaps|possibly)[ \t](?:an?[ \t])?)[*_\"'`]{0,4}"
    rf"(?:{DIGITS}(?!\s?%)|(?:{NUMBER_WORD})\b))"
)
"""`3 or 4`, `3 (or maybe **4**)`, `3/5 or 4/5` and `3 and 4` are undecided; `4/5 or
80%` is not."""
WATCHED = watch(
    ECHO_WORDS,
    MENTION_WORDS,
    CORRECTION_WORDS,
    UNIT_WORDS,
    VERDICT_WORDS,
    [ANSWER, FINAL],
    BEGINNINGS,
    BEGINNINGS_OF_LABELS,
    SIDE_WORDS,
)
"""The words that a glance at a reply looks for."""


class Grammar(NamedTuple):
    """A scale and its patterns.

    echo: text that is hidden before the search for ratings, such as a quotation of the
    scale, and its signs; labelled: a rating after a label, and names: a word of
    labels -> their beginning, and the words alone; labels: folded category word -> its
    index on the scale.
    """

    scale: Scale
    echo: re.Pattern[str]
    signs: EchoSigns
    labelled: re.Pattern[str]
    names: dict[bytes, str]
    name_words: frozenset[bytes]
    labels: dict[str, int]


@lru_cache(maxsize=64)
def grammar_of(scale: Scale) -> Grammar:
    """Return the patterns of a scale; compiled once."""
    labels = label_values.label_words(scale)
    alone = bool(scale.words)
    labelled = _labelled(value_pattern(labels, alone=alone), alone=alone)
    labelled = labelled.replace("TOP", bound(scale.max))
    names = BEGINNINGS
    if alone:
        names = BEGINNINGS | BEGINNINGS_OF_LABELS
    return Grammar(
        scale,
        re.compile(_echo(scale, labels)),
        echo_signs(NUMBER_NAMES, name_of(scale.min), name_of(scale.max)),
        re.compile(labelled),
        names,
        frozenset(names),
        labels,
    )


@lru_cache(maxsize=64)
def forms_of(scale: Scale) -> dict[str, re.Pattern[str]]:
    """Return the patterns of all ratings without a label, for a scale.

    Compiled for the first reply without a label: compilation takes longer than reading
    500 replies.
    """
    alone = bool(scale.words)
    value = value_pattern(grammar_of(scale).labels, alone=alone)
    forms = FORMS | ({"leading": LEADING_LABEL} if alone else {})
    return {
        name: re.compile(
            pattern.replace("TOP", bound(scale.max)).replace("VALUE", value)
        )
        for name, pattern in forms.items()
    }


def _labelled(value: str, *, alone: bool = False) -> str:
    """`Rating: 4`, `the score for coherence is 4`, `a score of four`, `score 4`."""
    names = (*_LABELS, *_LABEL_NAMES) if alone else _LABELS
    # the letter before a name is tested after the name's first letter, which makes
    # searches fast
    words = "|".join(f"{name[0]}(?<![a-z]{name[0]}){name[1:]}" for name in names)
    punctuation = r"\s?[:=>]+|\s?-{1,2}>|\s?[–—]+|\s-+(?=\s)|-+"
    # How punctuation behind a label begins: most labels in a sentence have none.
    may_be_explicit = r"\s*[:=>–—-]|\s+is"
    of_it = r"of|as|at|(?:would|should|to)\s+be|to(?!\s+be\b)"
    return (
        rf"(?:{words})(?![a-z]|_max|_scale){MARKS}{BRACKETED}{MARKS}(?:"
        rf"(?={may_be_explicit})(?P<explicit>(?:\s+is)?(?:{punctuation}))|(?<!overall)(?:"
        rf"\s+(?:is|equals|(?P<prose>{of_it}))(?:\s+(?:an?|only|just))?(?=\s)|(?=\s)"
        r"|[^.\n\d:=()]{1,60}?(?:[:=]|"
        r"(?P<far>\b(?:is|(?<!out\s)(?<!scale\s)of|would\s+be)\b))))"
        rf"{value}(?(below)(?=[ \t*_.]*(?:\n|\Z)|\s+[(–—-]){ONE_NUMBER}"
        # `Rating 1: 3` is the third of several
        r"|(?(explicit)(?!\s+of\b)|(?!\s?[:=]\s?\d[\d./]*\s?(?:[.,;\n]|\Z))"
        rf"{STOP}))"
    )


def _echo(scale: Scale, labels: dict[str, int]) -> str:
    """Ranges, lists, undecided, denied and claimed verdicts; group `scale`: the scale
    itself.
    """
    low = bound(scale.min)
    high = bound(scale.max)
    words = "|".join((NUMBER_WORD, *map(re.escape, labels)))
    gloss = r"(?:\s*\([^()\n\d]{0,40}\))?"
    between = r"\s*(?:-|–|—|~|\.{2,3}|…|\bto\b|\bthrough\b|\band\b)\s*"
    award = r"give|assign|award|deserve|merit|warrant|earn|receive|get|rate|score"
    # `3 for style, 4 for facts`.
    regarded = r"\s(?:for|on|in)\s(?:[a-z]+\s){0,3}[a-z]+(?:,|;|\sand|\sbut){1,2}\s"
    return (
        rf"(?<![\w.])(?:(?P<scale>{high}[- ]point\b(?:\s+likert)?(?:\s+scale)?"
        rf"|{low}{gloss}(?:{between}){high}{gloss}{END})"
        rf"|{DIGITS}(?:(?:-|\.{{2,3}}|…|\s?[–—~]\s?|\s+to\s+){DIGITS}"
        rf"|(?:,\s*{DIGITS})+"
        rf"|(?:[ \t]{{0,4}}[/|\n][ \t]{{0,4}}{DIGITS}){{2,}})"
        rf"|(?<![\w.]){DIGITS}(?:{SLASH}{DIGITS})?{MARKS}{regarded}(?:only\s|just\s)?(?:an?\s)?"
        rf"{DIGITS}"
        rf"(?:{SLASH}{DIGITS})?{MARKS}\s"
        r"(?:for|on|in)\s"
        # `says` and `not` stand in `essays` and `knot`, too
        rf"|(?<![^\W\d_])(?:{_EITHER}"
        rf"|between\s+(?:an?\s+)?{DIGITS}\s+and\s+(?:an?\s+)?{DIGITS}"
        rf"|{_CLAIM}(?:{DIGITS}|(?:{words}){WORD_END})"
        rf"|(?:not|never|cannot|[a-z]{{2,6}}n't)\s+(?:\w+\s+)?"
        rf"(?:{award})\b[^.,;:\n]{{0,40}}?{DIGITS}"
        r"|(?P<top_of_scale>(?:perfect|full|top|highest|best)\s+(?:possible\s+)?"
        rf"(?:score|rating|mark|grade)\s+(?:is|of)\s+(?:an?\s+)?(?:{DIGITS}|"
        rf"(?:{words}){WORD_END}))"
        r"|(?:(?:max|min)(?:imum)?\.?|possible|perfect|top|highest|best)[_ \t]+"
        r"(?:possible\s+)?(?:score|rating|grade)[*_\"']{0,4}(?:\s+(?:is|of)|"
        r"\s?[:=])?[\s*_\"']{0,6}"
        rf"{DIGITS}(?!\s*/)))"
    )
