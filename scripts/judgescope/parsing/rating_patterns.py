"""Pieces of the patterns of ratings: a value, its denominator, and what may follow.

Every repetition is bounded, possessive or anchored, so that the time grows linearly
with the length of a reply.
"""

import re

from judgescope.parsing.labels import pattern_of

NUMBER_NAMES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
WORDS = {name: float(value) for value, name in enumerate(NUMBER_NAMES)}
MARKS = r"[*_\"'`)\]}$]{0,4}"  # markdown and brackets that close
# ... that open; the value may stand below
_OPEN = (
    r"[ \t*_\"'`(\[{<$~}]{0,20}"
    r"(?P<below>\n[\s*_\"'`(\[{<$~>]{0,12}(?:[-•]\s)?)?(?:\\boxed\{)?"
)
NUMBER_WORD = "|".join(WORDS)
DIGITS = r"(?:\d{1,9}+(?:\.\d{1,9}+)?|\.\d{1,9}+)"
# not part of a word, a decimal comma, a time, a range, a match result, "4+" or "4 1/2"
END = (
    r"(?![^\W_]|[.,:]\d|[ \t]?[-–—~]\d|[ \t][-–—~][ \t]\d{1,9}+(?:[^\w \t]|"
    r"[ \t]?\Z)|\+|-[ \t]*(?:\n|\Z)|-ish\b| \d)"
)
WORD_END = r"(?![^\W_]|-\w)"
OF = r"of\s+(?:a\s+(?:possible|maximum|total)\s+(?:of\s+)?)?"
SLASH = (
    rf"(?:\s*(?:/\s*|\(?(?:out\s+)?{OF})"
    r"|\s+(?:von|sur|su|из|av|af|van|sobre|trên|dari|من|از|מתוך|จาก|στα|na|z)\s+|\s+de\s+(?=\d))"
)
_TOP = rf"{DIGITS}{END}|(?:{NUMBER_WORD}){WORD_END}"
# between a value and its denominator
OVER = r"(?:\s+(?:points?|stars?)(?=\s+out\b|\s?/))?"
_MAY_HAVE_DENOMINATOR = r"(?=\s*[/(%o]|\s+[psvatdиماמจσnz])"
"""How what stands between a value and its denominator begins: most values have none."""
_DENOMINATOR = (
    rf"(?:{_MAY_HAVE_DENOMINATOR}{OVER}{SLASH}(?P<top>{_TOP})|\s?(?P<percent>%))"
)
UNIT = r"(?:\s+(?:points?|stars?)\b)?"
# what may follow a verdict within a sentence: not a noun, with which it would be a
# count
STOP = (
    r"(?![ \t][-–—][ \t]\d)"
    r"(?=\s*(?:\Z|[^\w\s=#/%-]|-(?!\w))|\s*\n|\s+(?:for|because|since|as|on|due|but|in|"
    r"overall|"
    r"given|with|based|considering|at|by|to|and(?!\s+(?:an?\s+)?\d)|points?|stars?|"
    r"from\s+me|is\s+(?:given|assigned|awarded|appropriate|warranted|justified|deserved|fair))\b)"
)
# the end of the scale in a label; `of` alone only before a line's last value (`Rating
# of 5: 3`)
BRACKETED = (
    rf"(?:\s*\([^()\n]{{0,60}}\)|\s+(?:out|on\s+a\s+scale)\s+{OF}TOP"
    rf"|\s+of\s+TOP(?={MARKS}\s?[:=][^\w\n]{{0,8}}[\w./]{{1,9}}[^\w\n]{{0,8}}(?:\n|"
    r"\Z)))?"
)
COUNTS = (
    r"count|number|total|length|step|page|part|line|sentence|paragraph|example|"
    r"question|item"
)
ONE_NUMBER = r"(?![ \t*_.]*\n\s*\d[\d.]*\s*(?:\n|\Z))"
"""Not the first of several numbers, each on a line."""


def value_pattern(labels: dict[str, int], *, alone: bool = False) -> str:
    """A number, a number word or a category word, with or without its denominator."""
    words = pattern_of(labels)
    if alone:  # other patterns refer to the groups, so they stay
        # a letter with a sign, `b+`, is another grade than the letter
        no_grade = r"(?!(?<=(?<![^\W_])[a-z])[+-](?!\w))"
        return (
            rf"{_OPEN}(?:(?P<number>(?!))|(?P<word>(?!))"
            rf"|(?P<label>{words}){WORD_END}{no_grade})"
            rf"(?P<half>(?!))?{MARKS}(?:(?P<top>(?!))|(?P<percent>(?!)))?(?!\s*[/%|?]|"
            rf"{MARKS}\s+or\b)"
        )
    return (
        rf"{_OPEN}(?:(?P<number>[-+]?{DIGITS}){END}|"
        rf"(?P<word>{NUMBER_WORD}){WORD_END}"
        rf"|(?P<label>{words}){WORD_END})(?P<half>\s+and\s+a\s+half\b)?"
        rf"{MARKS}{_DENOMINATOR}?{MARKS}(?!\s*[/%?])"
    )


def bound(value: float) -> str:
    """The end of a scale, as digits or as a word."""
    digits = rf"{re.escape(f'{value:g}')}(?:\.0)?"
    word = name_of(value)
    return rf"(?:{digits}|{word}\b)" if word else digits


def name_of(value: float) -> str | None:
    """The English word of a number, None for one without.

    >>> name_of(5.0), name_of(0.5)
    ('five', None)
    """
    return next((word for word, number in WORDS.items() if number == value), None)
