"""The forms in which a verdict is written, as a table of named patterns per scale.

Patterns see folded text (`text.fold`). Every repetition is bounded, possessive or anchored, so that
the time grows with the length of a reply and no faster.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from metajudge.parsing.judgment import Scale
from metajudge.parsing.text import fold

_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS = {name: float(value) for value, name in enumerate(_NAMES)}


class Rule(NamedTuple):
    """A form of verdict; of several matches the last counts, or all must agree."""

    name: str
    pattern: re.Pattern[str]
    last_wins: bool = False


class Grammar(NamedTuple):
    """Everything that depends on the scale: what is blanked out first, then the rules in order."""

    echo: re.Pattern[str]
    rules: tuple[Rule, ...]
    labels: dict[str, int]


_MARKS = r"[*_\"'`)\]}$]{0,4}"  # markdown and brackets that close
# ... that open; the value may stand below
_OPEN = r"[ \t*_\"'`(\[{<$~]{0,12}(?P<below>\n[\s*_\"'`(\[{<$~]{0,12})?(?:\\boxed\{)?"
_NUMBER_WORD = "|".join(WORDS)
_DIGITS = r"\d{1,9}+(?:\.\d{1,9}+)?"
# no part of a word, a decimal comma, a time, a range, "4+" or "4 1/2"
_END = r"(?![^\W_]|[.,:]\d|-\d|\+| \d)"
_WORD_END = r"(?![^\W_]|-\w)"
_OF = r"of\s+(?:a\s+(?:possible|maximum|total)\s+(?:of\s+)?)?"
_SLASH = rf"\s*(?:/\s*|\(?(?:out\s+)?{_OF})"
_TOP = rf"{_DIGITS}{_END}|(?:{_NUMBER_WORD}){_WORD_END}"
_DENOMINATOR = rf"(?:{_SLASH}(?P<top>{_TOP})|\s?(?P<percent>%))"
_UNIT = r"(?:\s+(?:points?|stars?)\b)?"
# what may follow a verdict within a sentence: not a noun that would make it a count
_STOP = (
    r"(?=\s*(?:\Z|[^\w\s=#/%-]|-(?!\w))|\s*\n|\s+(?:for|because|since|as|on|due|but|in|overall|"
    r"given|with|based|considering|at|by|to|and(?!\s+(?:an?\s+)?\d)|points?|stars?|"
    r"is\s+(?:given|assigned|awarded|appropriate|warranted|justified|deserved|fair))\b)"
)
_LABEL = (
    r"(?<![a-z])(?:ratings?|scores?|verdict|grade|judge?ment|(?:final\s+|(?<=<))answer|overall)"
    r"(?![a-z])"
)
_BRACKETED = r"(?:\s*\([^()\n]{0,60}\))?"
_PUNCTUATION = r"\s?[:=>]+|\s?[–—]+|\s-+(?=\s)|-+"
_IS = r"is|of|as|at|to|equals|(?:would|should|to)\s+be"
_IT = r"(?:\s+(?:it|this|that|them))"
_OBJECT = rf"(?:\s+(?:the|this|that|its)(?:\s+[a-z']+){{1,2}}|{_IT})?"
_ARTICLE = r"\s+an?(?:\s+(?:solid|strong|weak|low|high|perfect))?"
_RATE = rf"(?:rat(?:es?|ed|ing)|deserves?|merits?|warrants?){_OBJECT}(?:\s+(?:as|at)|{_ARTICLE})?"
_GIVE = (
    r"(?:scor(?:es?|ed|ing)|earn(?:s|ed|ing)?|deserv(?:ed|ing)|merit(?:ed|ing)|warrant(?:ed|ing)|"
    r"gives?|given|gave|giving|award(?:s|ed|ing)?|assign(?:s|ed|ing)?|receiv(?:es?|ed|ing)|"
    rf"gets?|getting|say|is|be)(?:{_OBJECT}(?:\s+(?:only|just))?{_ARTICLE}|{_IT})"
)
_AWARD = r"give|assign|award|deserve|merit|warrant|earn|receive|get|rate|score"
_CLAIM = (
    r"\b(?:says|claims|asks|requests|states|insists|orders|instructs|tells|(?:by|is|are)[ ]"
    r"(?:saying|claiming|asking|requesting|stating|insisting|ordering|instructing|telling))"
    r"(?:[ \t]?[:\"'(*][ \t\"'(*]{0,4}(?:rating|score|verdict)[ \t]{0,3}[:=]?[ \t]{0,3}"
    r"|(?:[ \t][a-z]{1,20}){0,7}?[ \t](?:rating|score|verdict)[ \t]{1,3}(?:of|is)[ \t]{1,3})"
)
"""A text asks for a rating, or claims to have one, within a line."""
_COUNTS = r"count|number|total|length|step|page|part|line|sentence|paragraph|example|question|item"


@lru_cache(maxsize=64)
def grammar(scale: Scale) -> Grammar:
    """Return the patterns for replies on this scale."""
    folded = (" ".join(fold(label).split()) for label in scale.labels)
    labels = {label: place for place, label in enumerate(folded) if label}
    value = _value(labels)
    patterns = {
        "labelled": _labelled(value),
        "bare": rf"\A(?:[-•]\s+)?{value}{_UNIT}{_BRACKETED}[\W_]*\Z",
        "double_brackets": rf"\[\[{value}\]\]",
        "given": _given(value),
        "fraction": _fraction(value, _bound(scale.max)),
        "named_line": _named_line(value),
        "leading": _leading(value),
        "trailing": _trailing(value),
    }
    rules = [
        Rule(name, re.compile(pattern), last_wins=name == "labelled")
        for name, pattern in patterns.items()
    ]
    return Grammar(re.compile(_echo(scale, labels)), tuple(rules), labels)


def _value(labels: dict[str, int]) -> str:
    """A number, a number word or a category word, with or without its denominator."""
    longest_first = sorted(labels, key=len, reverse=True)
    words = "|".join(re.escape(label).replace(r"\ ", r"\s+") for label in longest_first) or r"(?!)"
    return (
        rf"{_OPEN}(?:(?P<number>[-+]?{_DIGITS}){_END}|(?P<word>{_NUMBER_WORD}){_WORD_END}"
        rf"|(?P<label>{words}){_WORD_END})(?P<half>\s+and\s+a\s+half\b)?"
        rf"{_MARKS}{_DENOMINATOR}?{_MARKS}(?!\s*[/%])"
    )


def _labelled(value: str) -> str:
    """`Rating: 4`, `the score for coherence is 4`, `a score of four`, `score 4`."""
    return (
        rf"{_LABEL}{_MARKS}{_BRACKETED}{_MARKS}(?:"
        rf"(?P<explicit>(?:\s+is)?(?:{_PUNCTUATION}))|(?<!overall)(?:"
        rf"\s+(?:{_IS})(?:\s+(?:an?|only|just))?(?=\s)|(?=\s)"
        rf"|[^.\n\d:=()]{{1,60}}?(?:[:=]|\b(?:is|of|would\s+be)\b)))"
        rf"{value}(?(below)(?=[ \t*_.]*(?:\n|\Z)|\s+[(–—-])|(?(explicit)(?!\s+of\b)|{_STOP}))"
    )


def _given(value: str) -> str:
    """`scoring a one`, `I would give it a 4`, `rated 3`, `is a 4`."""
    return rf"\b(?:{_RATE}|{_GIVE})(?=\s){value}{_UNIT}{_STOP}"


def _fraction(value: str, top: str) -> str:
    """`3/5` and `three out of five` in a sentence; other denominators there are no verdicts."""
    over_top = rf"{_MARKS}\s*(?:/\s*|out\s+{_OF}){top}{_END}"
    return rf"(?<![\w./-])(?=(?:{_DIGITS}|{_NUMBER_WORD}){over_top}){value}{_STOP}"


def _named_line(value: str) -> str:
    """A line or a last sentence `Coherence: 4`; counts (`Sentences: 4`) are no verdicts."""
    return (
        rf"(?m)(?:^|[.!?;]\s{{1,2}})[ \t*_#>\"'{{-]{{0,8}}"
        rf"(?![^:\n]{{0,40}}\b(?:{_COUNTS})\b)[a-z][a-z _'-]{{1,40}}(?<![^s]s)[*_\"'`]{{0,4}}"
        rf"{_BRACKETED}\s?[:=]{value}[ \t*_\"'`}}\].,]{{0,8}}$"
    )


def _leading(value: str) -> str:
    """`4`, then a new line, a dash or a reason; `4. ...` unless it starts a numbered list."""
    return (
        rf"\A{value}{_UNIT}(?:[ \t]*+[.:]?[ \t]*+\n|\s+[-–—]+\s|,?\s+(?:because|since|as)\b"
        rf"|(?(number)[.:;,)]\s(?!(?s:.*)\d[.)]\s)|(?!)))"
    )


def _trailing(value: str) -> str:
    """A last sentence, line or bracket that is only a value."""
    return rf"(?:(?<! no)[.!?;\n][ \t]{{0,4}}|(?=[(\[])){value}{_UNIT}[\W_]*\Z"


def _echo(scale: Scale, labels: dict[str, int]) -> str:
    """Ranges, lists, denied and claimed verdicts; the group `scale` quotes the scale itself."""
    low, high = _bound(scale.min), _bound(scale.max)
    words = "|".join((_NUMBER_WORD, *map(re.escape, labels)))
    gloss, between = r"(?:\s*\([^()\n\d]{0,40}\))?", r"\s*(?:-|–|—|~|\bto\b|\bthrough\b|\band\b)\s*"
    return (
        rf"(?<![\w.])(?:(?P<scale>{low}{gloss}(?:{between}){high}{gloss}{_END})"
        rf"|between\s+(?:an?\s+)?{_DIGITS}\s+and\s+(?:an?\s+)?{_DIGITS}"
        rf"|{_DIGITS}(?:-|\s?[–—~]\s?|\s+to\s+){_DIGITS}"
        rf"|{_CLAIM}(?:{_DIGITS}|(?:{words}){_WORD_END})"
        rf"|{_DIGITS}(?:,\s*{_DIGITS})+|{_DIGITS}(?:[ \t]{{0,4}}[/|\n][ \t]{{0,4}}{_DIGITS}){{2,}}"
        rf"|(?:not|never|cannot|[a-z]{{2,6}}n't)\s+(?:\w+\s+)?(?:{_AWARD})\b[^.,;:\n]{{0,40}}?{_DIGITS}"
        r"|(?:max(?:imum)?|min(?:imum)?|possible)\s+(?:possible\s+)?(?:score|rating)"
        rf"(?:\s+(?:is|of)|[:=])?\s+{_DIGITS})"
    )


def _bound(value: float) -> str:
    """The end of a scale, as digits or as a word."""
    digits = rf"{re.escape(f'{value:g}')}(?:\.0)?"
    word = next((word for word, number in WORDS.items() if number == value), None)
    return rf"(?:{digits}|{word}\b)" if word else digits
