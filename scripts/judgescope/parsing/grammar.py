"""The forms in which a verdict is written, as a table of named patterns per scale.

Patterns see folded text (`text.fold`). Every repetition is bounded, possessive or anchored, so that
the time grows with the length of a reply and no faster.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from judgescope.parsing.judgment import Scale
from judgescope.parsing.text import fold

_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS = {name: float(value) for value, name in enumerate(_NAMES)}


class Rule(NamedTuple):
    """A form of verdict; of several matches the last counts, or all must agree.

    prose: groups of a match that make it words of a sentence (`a score of 4`), not a label: such
    matches count only where no other does.
    """

    name: str
    pattern: re.Pattern[str]
    last_wins: bool = False
    prose: tuple[str, ...] = ()


class Grammar(NamedTuple):
    """Everything that depends on the scale: what is blanked out first, then the rules in order."""

    echo: re.Pattern[str]
    rules: tuple[Rule, ...]
    labels: dict[str, int]


_MARKS = r"[*_\"'`)\]}$]{0,4}"  # markdown and brackets that close
# ... that open; the value may stand below
_OPEN = r"[ \t*_\"'`(\[{<$~]{0,12}(?P<below>\n[\s*_\"'`(\[{<$~]{0,12})?(?:\\boxed\{)?"
_NUMBER_WORD = "|".join(WORDS)
_DIGITS = r"(?:\d{1,9}+(?:\.\d{1,9}+)?|\.\d{1,9}+)"
# no part of a word, a decimal comma, a time, a range or the score of a match, "4+" or "4 1/2"
_END = r"(?![^\W_]|[.,:]\d|[ \t]?[-–—~]\d|[ \t][-–—~][ \t]\d{1,9}+(?:[^\w \t]|[ \t]?\Z)|\+| \d)"
_WORD_END = r"(?![^\W_]|-\w)"
_OF = r"of\s+(?:a\s+(?:possible|maximum|total)\s+(?:of\s+)?)?"
_SLASH = rf"\s*(?:/\s*|\(?(?:out\s+)?{_OF})"
_TOP = rf"{_DIGITS}{_END}|(?:{_NUMBER_WORD}){_WORD_END}"
_DENOMINATOR = rf"(?:{_SLASH}(?P<top>{_TOP})|\s?(?P<percent>%))"
_UNIT = r"(?:\s+(?:points?|stars?)\b)?"
# what may follow a verdict within a sentence: not a noun that would make it a count
_STOP = (
    r"(?![ \t][-–—][ \t]\d)"
    r"(?=\s*(?:\Z|[^\w\s=#/%-]|-(?!\w))|\s*\n|\s+(?:for|because|since|as|on|due|but|in|overall|"
    r"given|with|based|considering|at|by|to|and(?!\s+(?:an?\s+)?\d)|points?|stars?|"
    r"is\s+(?:given|assigned|awarded|appropriate|warranted|justified|deserved|fair))\b)"
)
_LABEL = (
    r"(?<![a-z])(?:ratings?|scores?|verdict|grade|judge?ment|(?:final\s+|(?<=<))answer|overall"
    r"|(?:the|my)\s+answer(?=\s*(?:is)?\s*[:=]))(?![a-z])"
)
_BRACKETED = r"(?:\s*\([^()\n]{0,60}\))?"
_PUNCTUATION = r"\s?[:=>]+|\s?[–—]+|\s-+(?=\s)|-+"
_IS = r"is|equals|(?:would|should|to)\s+be"
_OF_IT = r"of|as|at|to(?!\s+be\b)"
_IT = r"(?:\s+(?:it|this|that|them))"
_OBJECT = rf"(?:\s+(?:the|this|that|its)(?:\s+[a-z']+){{1,2}}|{_IT})?"
_ARTICLE = r"\s+an?(?:\s+(?:solid|strong|weak|low|high|perfect))?"
_RATE = (
    r"(?:rat(?:es?|ed|ing)\s+the(?:\s+[a-z']{1,20}){1,6}\s+(?:as|at)(?:\s+an?)?"
    rf"|(?:rat(?:es?|ed|ing)|deserves?|merits?|warrants?){_OBJECT}(?:\s+(?:as|at)|{_ARTICLE})?)"
)
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
_QUALITY = (
    r"(?:scor(?:es|ed|ing)|earn(?:s|ed|ing)|receiv(?:es|ed|ing)|gets|getting|giving|deserv(?:es|ing))"
    rf"{_OBJECT}\s+an?\s+(?:[a-z]{{3,12}}\s+)?(?!(?:out|total|sum|average|mean|salary|profit|lead|"
    r"minimum|maximum|margin|pair|couple|handful|majority|minority|COUNTS)s?\b)[a-z]{3,20}\s+of"
)
"""`scoring a perfect fluency of 5`: an award, and the quality by its name."""
_AWARDED = re.compile(
    r"(?:(?<!\bfrom )(?<!\bof )(?<!\bto )(?<!\bnot )(?<!\bwithout )(?<!\bbefore )(?<!\bhave )"
    r"(?<!\bhad )(?<!\balmost )(?<!\bnearly )\b(?:scor(?:es|ed|ing)|earn(?:s|ed|ing)|"
    r"receiv(?:es|ed|ing)|deserv(?:es|ing)|merit(?:s|ing)|gets|getting|giv(?:es|ing)|"
    r"achiev(?:es|ing)|result(?:s|ing)\s+in|(?:i|we|i'd|i'll|would|will)\s+(?:give|award|assign)|"
    r"(?:is|was)\s+(?:given|awarded|assigned)|(?:it|this)\s+is|it's|hence|thus|therefore|so)|"
    r"[:=]|,\s+with)(?:\s+(?:it|them|(?:this|that|the)(?:\s+[a-z]{1,20})?))?(?:\s+(?:an?|the))?\s*\Z"
)
"""What leads to the top of the scale as a verdict; without it `a perfect score of 5` is a goal."""
_COUNTS = r"count|number|total|length|step|page|part|line|sentence|paragraph|example|question|item"

_REMARK = (
    r"rationale|explanation|reason(?:ing)?|justification|analysis|evidence|comment|note|feedback|"
    r"strength|weakness|issue|error|problem|example|time|date|year|age|price|chapter|option|choice"
)
"""Names of lines that give no verdict."""
_LIST = r"(?s:.*)\n[\W_]{0,8}\d{1,3}\s?[-–—:.)=]\s"
"""A further line of a numbered list, or of a list of what the scale's values mean."""
_LEAD = 60
"""Characters before `a perfect score of` that may say that it is given."""


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
        "named_lead": _named_lead(value),
        "glossed": _glossed(value),
        "leading": _leading(value),
        "trailing": _trailing(value),
    }
    rules = [Rule(name, re.compile(pattern)) for name, pattern in patterns.items()]
    rules[0] = rules[0]._replace(last_wins=True, prose=("of", "far_of"))
    return Grammar(re.compile(_echo(scale, labels)), tuple(rules), labels)


def is_goal(echo: re.Match[str]) -> bool:
    """Return whether `a perfect score of 5` names what a text could reach, not what it has."""
    return _AWARDED.search(echo.string, max(0, echo.start() - _LEAD), echo.start()) is None


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
        rf"\s+(?:{_IS}|(?P<of>{_OF_IT}))(?:\s+(?:an?|only|just))?(?=\s)|(?=\s)"
        rf"|[^.\n\d:=()]{{1,60}}?(?:[:=]|\b(?:is|(?P<far_of>of)|would\s+be)\b)))"
        rf"{value}(?(below)(?=[ \t*_.]*(?:\n|\Z)|\s+[(–—-])|(?(explicit)(?!\s+of\b)|{_STOP}))"
    )


def _given(value: str) -> str:
    """`scoring a one`, `I would give it a 4`, `rated 3`, `is a 4`, `earning a fluency of 5`."""
    quality = _QUALITY.replace("COUNTS", _COUNTS)
    return rf"\b(?:{quality}|{_RATE}|{_GIVE})(?=\s){value}{_UNIT}{_STOP}"


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


def _named_lead(value: str) -> str:
    """A line that begins `Coherence: 4.` or `Coherence: 4 - ` and goes on with the reason."""
    return (
        rf"(?m)^[ \t*_#>\"'{{-]{{0,8}}(?![^:\n]{{0,40}}\b(?:{_COUNTS}|{_REMARK})\b)"
        rf"[a-z][a-z _'-]{{1,40}}(?<![^s]s)[*_\"'`]{{0,4}}{_BRACKETED}\s?[:=]{value}"
        r"(?:[.;,]\s|\s[-–—]\s|\s\()(?=\s{0,2}[^\d\s])(?![^\n]{0,200}[.;,]\s\(?\d[.)]\s)"
    )


def _glossed(value: str) -> str:
    """`The coherence is 3 (good).`: a value with what it means in brackets; counts are none."""
    return (
        rf"(?:\A|(?<=[.!?;,\n]))(?![^.!?;,\n]{{0,80}}\b(?:{_COUNTS})s?\b)\s{{0,2}}"
        rf"(?:[^\W\d]{{1,20}}\s){{1,12}}?is{value}\s\([a-z][a-z ,'-]{{1,40}}\)"
        r"(?=\s*(?:[.,;!]|\Z))"
    )


def _leading(value: str) -> str:
    """`4`, then a new line, a dash or a reason; `4. ...` unless it starts a list."""
    return (
        rf"\A{value}(?P<unit>\s+(?:points?|stars?)\b)?(?:[ \t]*+[.:]?[ \t]*+\n|\s+[-–—]+\s"
        rf"|,?\s+(?:because|since|as)\b"
        rf"|(?(number)[.:;,)]\s(?!(?s:.*)\d[.)]\s)|(?(unit)[.:;,!][*_]{{0,3}}\s|(?!)))"
        rf"|(?(number)[-–—]\s(?=[^\d\s])|(?!)))(?!{_LIST})"
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
        r"|(?P<top_of_scale>(?:perfect|full|top|highest|best)\s+(?:possible\s+)?"
        rf"(?:score|rating|mark|grade)\s+(?:is|of)\s+(?:an?\s+)?(?:{_DIGITS}|(?:{words}){_WORD_END}))"
        r"|(?:max(?:imum)?|min(?:imum)?|possible)\s+(?:possible\s+)?(?:score|rating)"
        rf"(?:\s+(?:is|of)|[:=])?\s+{_DIGITS})"
    )


def _bound(value: float) -> str:
    """The end of a scale, as digits or as a word."""
    digits = rf"{re.escape(f'{value:g}')}(?:\.0)?"
    word = next((word for word, number in WORDS.items() if number == value), None)
    return rf"(?:{digits}|{word}\b)" if word else digits
