"""Ratings in the replies of LLM judges: score only, rate-explain and analyze-rate.

Each way to write a rating is a named pattern, made for a scale and applied to folded
text (`text.fold`). Every repetition is bounded, possessive or anchored, so that the
time grows linearly with the length of a reply.
"""

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from judgescope.parsing import labels as label_values
from judgescope.parsing.characters import first_of, fold
from judgescope.parsing.echo_signs import EchoSigns, echo_signs, may_echo
from judgescope.parsing.judgment import Judgment, Scale, parser
from judgescope.parsing.keys import (
    NUMBERS,
    SEVERAL,
    UNREAD,
    Menu,
    Rank,
    Statement,
    chosen,
    rank_of,
)
from judgescope.parsing.lines import line_values, named, value_behind
from judgescope.parsing.mentions import hide_mentions, hide_withdrawn
from judgescope.parsing.quotes import outside_asides, unquoted
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.structure import Structured, structured
from judgescope.parsing.tags import blank_markup, blank_signs
from judgescope.parsing.text import nothing_read

_NAMES = (
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
WORDS = {name: float(value) for value, name in enumerate(_NAMES)}


_MARKS = r"[*_\"'`)\]}$]{0,4}"  # markdown and brackets that close
# ... that open; the value may stand below
_OPEN = r"[ \t*_\"'`(\[{<$~]{0,20}(?P<below>\n[\s*_\"'`(\[{<$~]{0,12})?(?:\\boxed\{)?"
_NUMBER_WORD = "|".join(WORDS)
_DIGITS = r"(?:\d{1,9}+(?:\.\d{1,9}+)?|\.\d{1,9}+)"
# not part of a word, a decimal comma, a time, a range, a match result, "4+" or "4 1/2"
_END = (
    r"(?![^\W_]|[.,:]\d|[ \t]?[-–—~]\d|[ \t][-–—~][ \t]\d{1,9}+(?:[^\w \t]|"
    r"[ \t]?\Z)|\+|-[ \t]*(?:\n|\Z)| \d)"
)
_WORD_END = r"(?![^\W_]|-\w)"
_OF = r"of\s+(?:a\s+(?:possible|maximum|total)\s+(?:of\s+)?)?"
_SLASH = (
    rf"(?:\s*(?:/\s*|\(?(?:out\s+)?{_OF})"
    r"|\s+(?:von|sur|su|из|av|af|van|sobre|trên|dari|üzerinden)\s+|\s+de\s+(?=\d))"
)
_TOP = rf"{_DIGITS}{_END}|(?:{_NUMBER_WORD}){_WORD_END}"
# between a value and its denominator
_OVER = r"(?:\s+(?:points?|stars?)(?=\s+out\b|\s?/))?"
_DENOMINATOR = rf"(?:{_OVER}{_SLASH}(?P<top>{_TOP})|\s?(?P<percent>%))"
_UNIT = r"(?:\s+(?:points?|stars?)\b)?"
# what may follow a verdict within a sentence: not a noun, with which it would be a
# count
_STOP = (
    r"(?![ \t][-–—][ \t]\d)"
    r"(?=\s*(?:\Z|[^\w\s=#/%-]|-(?!\w))|\s*\n|\s+(?:for|because|since|as|on|due|but|in|"
    r"overall|"
    r"given|with|based|considering|at|by|to|and(?!\s+(?:an?\s+)?\d)|points?|stars?|"
    r"is\s+(?:given|assigned|awarded|appropriate|warranted|justified|deserved|fair))\b)"
)
_IS_ANSWER = r"\s+answer(?=\s*(?:is)?\s*[:=])"
_LABELS = (
    *("ratings?", "scores?", "verdict", "grade", "judge?ment", r"final\s+answer"),
    *("answer(?<=<answer)", "overall", f"the{_IS_ANSWER}", f"my{_IS_ANSWER}"),
)
_LABEL_NAMES = ("labels?", "category", "class", "decision", "assessment", "result")
_BEGINNINGS = ("rating", "score", "verdict", "grade", "judg", "overall")
"""How `_LABELS` begin, those with `answer` left out."""
_LABEL_NAMES_BEGIN = ("label", "category", "class", "decision", "assessment", "result")
# the end of the scale in a label; `of` alone only before a line's last value (`Rating
# of 5: 3`)
_BRACKETED = (
    rf"(?:\s*\([^()\n]{{0,60}}\)|\s+(?:out|on\s+a\s+scale)\s+{_OF}TOP"
    rf"|\s+of\s+TOP(?={_MARKS}\s?[:=][^\w\n]{{0,8}}[\w./]{{1,9}}[^\w\n]{{0,8}}(?:\n|"
    r"\Z)))?"
)
_PUNCTUATION = r"\s?[:=>]+|\s?[–—]+|\s-+(?=\s)|-+"
_OF_IT = r"of|as|at|(?:would|should|to)\s+be|to(?!\s+be\b)"
_IT = r"(?:\s+(?:it|this|that|them))"
_OBJECT = rf"(?:\s+(?:the|this|that|its)(?:\s+[a-z']+){{1,2}}|{_IT})?"
_ARTICLE = r"\s+an?(?:\s+(?:solid|strong|weak|low|high|perfect))?"
_RATE = (
    r"(?:rat(?:es?|ed|ing)\s+the(?:\s+[a-z']{1,20}){1,6}\s+(?:as|at)(?:\s+an?)?"
    rf"|(?:rat(?:es?|ed|ing)|deserves?|merits?|warrants?){_OBJECT}(?:\s+(?:as|at)|"
    rf"{_ARTICLE})?)"
)
_GIVE = (
    r"(?:scor(?:es?|ed|ing)|earn(?:s|ed|ing)?|deserv(?:ed|ing)|merit(?:ed|ing)|warrant"
    r"(?:ed|ing)|"
    r"gives?|given|gave|giving|award(?:s|ed|ing)?|assign(?:s|ed|ing)?|receiv(?:es?|ed|"
    r"ing)|"
    rf"gets?|getting|say|is|be)(?:{_OBJECT}(?:\s+(?:only|just))?{_ARTICLE}|{_IT})"
)
_DECIDE = (
    r"(?:(?:i|we|i'd|i'll)\s+(?:would\s+|will\s+|'d\s+)?(?:say|choose|pick|select|"
    r"settle\s+(?:on|for)|go\s+(?:with|for)|opt\s+for)"
    r"|(?:mark|label|classif|grad|judg|consider|deem)(?:y|ied|ed|e)?\s+(?:it|this|that|the"
    r"\s+[a-z]{2,20})(?:\s+(?:as|to\s+be))?)"
    r"(?:\s+an?)?"
)
_AWARD = r"give|assign|award|deserve|merit|warrant|earn|receive|get|rate|score"
_CLAIM = (
    r"(?:says|claims|asks|requests|states|insists|orders|instructs|tells|(?:by|is|"
    r"are)[ ]"
    r"(?:saying|claiming|asking|requesting|stating|insisting|ordering|instructing|"
    r"telling))"
    r"(?:[ \t]?[:\"'(*][ \t\"'(*]{0,4}(?:rating|score|verdict)[ \t]{0,3}[:=]?[ \t]{0,3}"
    r"|(?:[ \t][a-z]{1,20}){0,7}?[ \t](?:rating|score|verdict)[ \t]{1,3}(?:of|"
    r"is)[ \t]{1,3})"
)
"""A text asks for a rating, or claims to have one, within a line."""
_EITHER = (
    rf"(?:{_DIGITS}|(?:{_NUMBER_WORD})\b){_MARKS}"
    rf"(?:[ \t][(\[]?and[ \t][*_\"'`]{{0,4}}{_DIGITS}"
    rf"|(?:{_SLASH}{_DIGITS})?,?[ \t][(\[]?or[ \t](?:maybe |perhaps |"
    rf"even )?[*_\"'`]{{0,4}}"
    rf"(?:{_DIGITS}(?!\s?%)|(?:{_NUMBER_WORD})\b))"
)
"""`3 or 4`, `3 (or maybe **4**)`, `3/5 or 4/5` and `3 and 4` are undecided; `4/5 or
80%` is not."""
_COUNTS = (
    r"count|number|total|length|step|page|part|line|sentence|paragraph|example|"
    r"question|item"
)
_QUALITY = (
    r"(?:scor(?:es|ed|ing)|earn(?:s|ed|ing)|receiv(?:es|ed|ing)|gets|getting|giving|"
    r"deserv(?:es|ing))"
    rf"{_OBJECT}\s+an?\s+(?:[a-z]{{3,12}}\s+)?(?!(?:out|total|sum|average|mean|salary|"
    r"profit|lead|"
    r"minimum|maximum|margin|pair|couple|handful|majority|minority|"
    rf"{_COUNTS})s?\b)[a-z]{{3,20}}\s+of"
)
"""`scoring a perfect fluency of 5`: an award that names the quality."""
_AWARDED = re.compile(
    r"(?:(?<!\bfrom )(?<!\bof )(?<!\bto )(?<!\bnot )(?<!\bwithout )(?<!\bbefore )"
    r"(?<!\bhave )"
    r"(?<!\bhad )(?<!\balmost )(?<!\bnearly )\b(?:scor(?:es|ed|ing)|earn(?:s|ed|ing)|"
    r"receiv(?:es|ed|ing)|deserv(?:es|ing)|merit(?:s|ing)|gets|getting|giv(?:es|ing)|"
    r"achiev(?:es|ing)|result(?:s|ing)\s+in|(?:i|we|i'd|i'll|would|will)\s+(?:give|"
    r"award|assign)|"
    r"(?:is|was)\s+(?:given|awarded|assigned)|(?:it|this)\s+is|it's|hence|thus|"
    r"therefore|so)|"
    r"[:=]|,\s+with)(?:\s+(?:it|them|(?:this|that|the)(?:\s+[a-z]{1,20})?))?(?:\s+"
    r"(?:an?|the))?\s*\Z"
)
"""Words that make `a perfect score of 5` a verdict; without them it is only a possible
score."""
_REMARK = (
    r"rationale|explanation|reason(?:ing)?|justification|analysis|evidence|comment|"
    r"note|feedback|"
    r"strength|weakness|issue|error|problem|example|time|date|year|age|price|chapter|"
    r"option|choice"
)
"""Names of lines that are not verdicts."""
_LIST = r"(?s:.*)\n[\W_]{0,8}\d{1,3}\s?[-–—:.)=]\s"
"""A further line of a numbered list, or of a list that explains the scale's values."""
_LEAD = 60
"""Characters before `a perfect score of` that may show that the score is given."""


_HEADING = re.compile(
    r"[\s*_#\"'{,.:;-]*(?:rationale|explanation|reason(?:ing)?|justification|analysis)"
    r"[*_\"'\s]*[:=-]+[*_\s]*",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"an?|the|my|its?|and|so|thus|hence|therefore|with|in|of|is|overall|final|"
    r"resulting|earning|"
    r"giving|receiv(?:es|ing)",
    re.IGNORECASE,
)
_LEAD_IN_WORDS = 8
WALK = 3
"""The minimum number of values in order that make a walk through the scale."""
_LABEL_LENGTH = 60
SHORT_NAME = 5
"""The maximum number of words in the name of a rating; more are a clause."""
_WORD = re.compile(r"[\W_]*\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[.!?;:,()\n\d|]|\s[-–—]\s")
_EDGE = " \t\r\n*_#\"'`{}[]()<>,:;=-–—$"
_EDGE_OR_DOT = _EDGE + "."


class Grammar(NamedTuple):
    """A scale and its patterns.

    echo: text that is hidden before the search for ratings, such as a quotation of the
    scale, and its signs; labelled: a rating after a label, and names: the beginnings of
    labels; labels: folded category word -> its index on the scale.
    """

    scale: Scale
    echo: re.Pattern[str]
    signs: EchoSigns
    labelled: re.Pattern[str]
    names: tuple[str, ...]
    labels: dict[str, int]
    menu: Menu


@lru_cache(maxsize=64)
def _grammar(scale: Scale) -> Grammar:
    known = scale.words or ((label, index) for index, label in enumerate(scale.labels))
    folded = ((" ".join(fold(word).split()), index) for word, index in known)
    labels = {word: index for word, index in folded if word}
    alone = bool(scale.words)
    labelled = _labelled(_value_pattern(labels, alone=alone), alone=alone)
    labelled = labelled.replace("TOP", _bound(scale.max))
    grammar = Grammar(
        scale,
        re.compile(_echo(scale, labels)),
        echo_signs(_NAMES, _name_of(scale.min), _name_of(scale.max)),
        re.compile(labelled),
        _BEGINNINGS + (_LABEL_NAMES_BEGIN if alone else ()),
        labels,
        Menu(NUMBERS, _unread, _about_nothing),
    )
    if scale.words:
        return grammar._replace(menu=label_values.menu(scale))
    return grammar._replace(
        menu=Menu(NUMBERS, partial(read_value, grammar=grammar), _about_nothing)
    )


def _unread(_value: object) -> None:
    """Nothing is read before a grammar is complete."""


def _about_nothing(_name: str, _value: object) -> None:
    """A number is never a yes or no about a name."""


def read_value(value: object, grammar: Grammar) -> Judgment:
    """Return the judgment of a named value: `4`, `"4/5"`, `"four - good"`.

    true, false and null do not rate.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Judgment("unparsed", UNREAD)
    if not isinstance(value, str):
        return grammar.scale.read(float(value), "labelled")
    for text in (f"Rating: {value.strip()}", value.strip()):
        folded = blank_signs(blank_markup(fold(text)))
        visible = _without_echoes(folded, grammar)
        match = grammar.labelled.match(visible)
        if match and match["explicit"]:
            return _reading("labelled", match, text, grammar)
    return Judgment("unparsed", UNREAD)


_WORDS = r"(?:its\s|the\s)?[^\W\d]{3,20}"
_REGARDING = r"(?:in\s+terms\s+of|with\s+(?:regard|respect)\s+to|regarding|for)"
_NAME_OF_LINE = (
    r"(?:[a-z]|[^\W\d_a-z](?=[^\W\d_]|\s?[^\w\s]))"
    r"[^\n\d:=.!?;,(){}\[\]<>\"*|`~#]{0,40}"
)
"""The name of a line, in letters of any script; marks of vowels belong to it."""
_FORMS = {
    "bare": rf"\A(?:[-•>#=]{{1,6}}\s+)?VALUE{_UNIT}{_BRACKETED}[\W_]*\Z",
    "double_brackets": r"\[\[VALUE\]\]",
    # `scoring a one`, `I would give it a 4`, `rated 3`, `is a 4`, `earning a fluency of
    # 5`
    "given": rf"\b(?:{_QUALITY}|{_RATE}|{_GIVE}|{_DECIDE})(?=\s)VALUE{_UNIT}{_STOP}",
    # `3/5` and `three stars out of five` in a sentence; other denominators are not
    # verdicts
    "fraction": rf"(?<![\w./-])(?=(?:{_DIGITS}|{_NUMBER_WORD})"
    rf"{_MARKS}{_OVER}\s*(?:/\s*|out\s+{_OF})TOP{_END})VALUE{_STOP}",
    # a line or a last sentence `Coherence: 4`; counts (`Sentences: 4`) are not verdicts
    "named_line": r"(?m)(?:^|[.!?;](?:\s{1,2}|(?=[^\x00-\x7f])))[ \t*_#>\"'{-]{0,8}"
    rf"(?![^:\n]{{0,40}}\b(?:{_COUNTS})\b){_NAME_OF_LINE}"
    rf"(?<![a-rt-z]s)[*_\"'`]{{0,4}}"
    rf"{_BRACKETED}\s?[:=]VALUE[ \t*_\"'`}}\].,]{{0,8}}$",
    # a line that begins `Coherence: 4.` or `Coherence: 4 - ` and continues with the
    # reason
    "named_lead": rf"(?m)^[ \t*_#>\"'{{-]{{0,8}}(?![^:\n]{{0,40}}\b(?:{_COUNTS}|"
    rf"{_REMARK})\b)"
    rf"{_NAME_OF_LINE}(?<![a-rt-z]s)[*_\"'`]{{0,4}}{_BRACKETED}\s?[:=]VALUE"
    r"(?:[.;,]\s|\s[-–—]\s|\s\()(?=\s{0,2}[^\d\s])(?![^\n]{0,200}[.;,]\s\(?\d[.)]\s)",
    # `The coherence is 3 (good).`: a value and its meaning in brackets; counts are not
    # ratings
    "glossed": rf"(?:\A|(?<=[.!?;,\n]))(?![^.!?;,\n]{{0,80}}\b"
    rf"(?:{_COUNTS})s?\b)\s{{0,2}}"
    r"(?:[^\W\d]{1,20}\s){1,12}?isVALUE\s\([a-z][a-z ,'-]{1,40}\)"
    rf"(?=\s*(?:[.,;!]|\Z)|\s{_REGARDING}\s+{_WORDS}(?:\s(?:and|"
    rf"or)\s{_WORDS})?\s{{0,2}}"
    r"(?:[.,;!](?![^.!?\n]{0,80}\d\s\()|\Z))",
    # `4`, then a new line, a dash or a reason; `4. ...` unless it starts a list
    "leading": r"\AVALUE(?P<unit>\s+(?:points?|stars?)\b)?(?:[ \t]*+[.:]?[ \t]*+\n|"
    r"\s+[-–—]+\s"
    r"|,?\s+(?:because|since|as)\b"
    r"|(?(number)[.:;,)]\s(?!(?s:.*)\d[.)]\s)|(?(unit)[.:;,!][*_]{0,3}\s|(?!)))"
    rf"|(?(number)[-–—]\s(?=[^\d\s])|(?!)))(?!{_LIST})",
    # a last sentence, line or bracket that contains only a value
    "trailing": r"(?:(?<! no)(?!(?<=\d)\.\d)[.!?;\n][ \t]{0,4}|(?=[(\[])"
    r"|,\s(?:so|hence|thus|therefore)(?:\san?)?(?=\s))"
    rf"VALUE{_UNIT}[\W_]*\Z",
    # `The answer is 4` as the first line of a reply, or as its last sentence
    "answer": r"(?:(?P<first>\A)|(?<=[.!?\n]))\s{0,2}(?:(?:so|thus|hence|"
    r"therefore),?\s)?"
    rf"(?:the|my)\s+answer\s+is(?=\s)VALUE{_UNIT}"
    r"(?(first)[^\w\n]{0,8}(?:\n|\Z)|[\W_]*\Z)",
}
"""Name -> pattern of a rating without a label, in order of precedence."""
_LEADING_LABEL = (
    r"\A(?:[->#=]{1,6}\s+)?VALUE(?:[ \t]*+[.:]?[ \t]*+\n|\s+[-–—]+\s"
    r"|,?\s+(?:because|since|as)\b"
    r"|[.:;,!][*_]{0,3}\s)"
)


@lru_cache(maxsize=64)
def _forms(scale: Scale) -> dict[str, re.Pattern[str]]:
    """Return the patterns of all ratings without a label, for a scale.

    Compiled for the first reply without a label: compilation takes longer than reading
    500 replies.
    """
    alone = bool(scale.words)
    value = _value_pattern(_grammar(scale).labels, alone=alone)
    forms = _FORMS | ({"leading": _LEADING_LABEL} if alone else {})
    return {
        name: re.compile(
            pattern.replace("TOP", _bound(scale.max)).replace("VALUE", value)
        )
        for name, pattern in forms.items()
    }


def _value_pattern(labels: dict[str, int], *, alone: bool = False) -> str:
    """A number, a number word or a category word, with or without its denominator."""
    longest_first = sorted(labels, key=len, reverse=True)
    words = (
        "|".join(re.escape(label).replace(r"\ ", r"\s+") for label in longest_first)
        or r"(?!)"
    )
    if alone:  # other patterns refer to the groups, so they stay
        return (
            rf"{_OPEN}(?:(?P<number>(?!))|(?P<word>(?!))|(?P<label>{words}){_WORD_END})"
            rf"(?P<half>(?!))?{_MARKS}(?:(?P<top>(?!))|(?P<percent>(?!)))?(?!\s*[/%|]|"
            rf"{_MARKS}\s+or\b)"
        )
    return (
        rf"{_OPEN}(?:(?P<number>[-+]?{_DIGITS}){_END}|"
        rf"(?P<word>{_NUMBER_WORD}){_WORD_END}"
        rf"|(?P<label>{words}){_WORD_END})(?P<half>\s+and\s+a\s+half\b)?"
        rf"{_MARKS}{_DENOMINATOR}?{_MARKS}(?!\s*[/%])"
    )


def _labelled(value: str, *, alone: bool = False) -> str:
    """`Rating: 4`, `the score for coherence is 4`, `a score of four`, `score 4`."""
    names = (*_LABELS, *_LABEL_NAMES) if alone else _LABELS
    # the letter before a name is tested after the name's first letter, which makes
    # searches fast
    words = "|".join(f"{name[0]}(?<![a-z]{name[0]}){name[1:]}" for name in names)
    return (
        rf"(?:{words})(?![a-z]|_max|_scale){_MARKS}{_BRACKETED}{_MARKS}(?:"
        rf"(?P<explicit>(?:\s+is)?(?:{_PUNCTUATION}))|(?<!overall)(?:"
        rf"\s+(?:is|equals|(?P<prose>{_OF_IT}))(?:\s+(?:an?|only|just))?(?=\s)|(?=\s)"
        r"|[^.\n\d:=()]{1,60}?(?:[:=]|"
        r"(?P<far>\b(?:is|(?<!out\s)(?<!scale\s)of|would\s+be)\b))))"
        rf"{value}(?(below)(?=[ \t*_.]*(?:\n|\Z)|\s+[(–—-])|(?(explicit)(?!\s+of\b)|"
        rf"{_STOP}))"
    )


def _echo(scale: Scale, labels: dict[str, int]) -> str:
    """Ranges, lists, undecided, denied and claimed verdicts; group `scale`: the scale
    itself.
    """
    low, high = _bound(scale.min), _bound(scale.max)
    words = "|".join((_NUMBER_WORD, *map(re.escape, labels)))
    gloss, between = (
        r"(?:\s*\([^()\n\d]{0,40}\))?",
        r"\s*(?:-|–|—|~|\bto\b|\bthrough\b|\band\b)\s*",
    )
    return (
        rf"(?<![\w.])(?:(?P<scale>{high}[- ]point\b(?:\s+likert)?(?:\s+scale)?"
        rf"|{low}{gloss}(?:{between}){high}{gloss}{_END})"
        rf"|{_DIGITS}(?:(?:-|\s?[–—~]\s?|\s+to\s+){_DIGITS}|(?:,\s*{_DIGITS})+"
        rf"|(?:[ \t]{{0,4}}[/|\n][ \t]{{0,4}}{_DIGITS}){{2,}})"
        rf"|{_EITHER}|between\s+(?:an?\s+)?{_DIGITS}\s+and\s+(?:an?\s+)?{_DIGITS}"
        rf"|{_CLAIM}(?:{_DIGITS}|(?:{words}){_WORD_END})"
        rf"|(?:not|never|cannot|[a-z]{{2,6}}n't)\s+(?:\w+\s+)?"
        rf"(?:{_AWARD})\b[^.,;:\n]{{0,40}}?{_DIGITS}"
        r"|(?P<top_of_scale>(?:perfect|full|top|highest|best)\s+(?:possible\s+)?"
        rf"(?:score|rating|mark|grade)\s+(?:is|of)\s+(?:an?\s+)?(?:{_DIGITS}|"
        rf"(?:{words}){_WORD_END}))"
        r"|(?:(?:max|min)(?:imum)?\.?|possible|perfect|top|highest|best)[_ \t]+"
        r"(?:possible\s+)?(?:score|rating|grade)[*_\"']{0,4}(?:\s+(?:is|of)|"
        r"\s?[:=])?[\s*_\"']{0,6}"
        rf"{_DIGITS}(?!\s*/))"
    )


def _bound(value: float) -> str:
    """The end of a scale, as digits or as a word."""
    digits = rf"{re.escape(f'{value:g}')}(?:\.0)?"
    word = _name_of(value)
    return rf"(?:{digits}|{word}\b)" if word else digits


def _name_of(value: float) -> str | None:
    return next((word for word, number in WORDS.items() if number == value), None)


@parser("score", 7, needs_scale=True)
def read_score(text: str, scale: Scale) -> Judgment:
    """Return the last labelled rating; without one, that of the first matching pattern.

    Reasoning, quotations, ranges, enumerations (1-5; 1, 2, 3) and ratings that the
    judged text is said to claim are ignored. A value with a denominator other than the
    scale's top, or outside the scale, is out of range and never clipped; a value
    between the steps is off the grid (`Scale.read`). If unlabelled ratings contradict
    each other, there is no rating. On a scale that has only labels, a label in prose
    (`a score of fair`) and an unlabelled one count only if the reply does not begin
    with one label and end with another. Source: methods.md 6.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    grammar = _grammar(scale)
    found = structured(answer, grammar.menu)
    if found.closed:
        return found.judgment or nothing_read(answer, "no_verdict")
    prose = _read_prose(found.rest, grammar)
    if found.judgment is None:
        return prose.judgment or nothing_read(found.rest, "no_verdict")
    if _is_later(prose, found) and prose.judgment:
        return prose.judgment
    return found.judgment


class ProseVerdict(NamedTuple):
    """What the prose of a reply says.

    judgment: None without a verdict; start: where it stands, None if it has no label of
    its own (`a score of 4` in a sentence).
    """

    judgment: Judgment | None
    start: int | None = None


def _is_later(prose: ProseVerdict, structure: Structured) -> bool:
    """Return whether prose, not structure, has the last verdict.

    An object within a line may be a quotation; a labelled line beside it is not.
    """
    if prose.start is None or structure.start <= prose.start < structure.end:
        return False
    return prose.start >= structure.end or structure.inline


def _read_prose(answer: str, grammar: Grammar) -> ProseVerdict:
    """Return the last labelled verdict of an answer; without one, that of the first
    matching pattern.
    """
    scale = grammar.scale
    folded = blank_markup(fold(answer))
    if scale.words:
        return _read_label(answer, folded, grammar)
    visible = _without_echoes(hide_withdrawn(blank_signs(folded)), grammar)
    labelled = _labelled_ratings(grammar, visible)
    if not labelled or _is_spoken(labelled[-1]):
        shown = hide_mentions(visible)
        if shown != visible:
            visible = shown
            labelled = _labelled_ratings(grammar, visible)
    ratings = _by_rank(labelled)
    if ratings is None:
        return ProseVerdict(Judgment("unparsed", SEVERAL))
    if labelled:
        behind = _start_of_value(ratings[-1]) if ratings else 0
        unread = _last_named(visible, behind)
        if unread is not None:
            return ProseVerdict(Judgment("unparsed", UNREAD), unread)
    if ratings:
        if _is_walk(ratings, grammar):
            return ProseVerdict(Judgment("unparsed", "enumerated"))
        last = ratings[-1]
        if not _is_spoken(last):
            judgment = _reading("labelled", last, answer, grammar)
            return ProseVerdict(judgment, last.start())
    spoken = _last_spoken(grammar, visible, ratings)
    if spoken is not None:
        form, match = spoken
        return ProseVerdict(_reading(form, match, answer, grammar))
    for form, match in _unlabelled(grammar, visible):
        return ProseVerdict(_reading(form, match, answer, grammar))
    return ProseVerdict(None)


def _visible(folded: str, grammar: Grammar) -> str:
    """Return a folded reply without what names no verdict, of the same length."""
    shown = hide_mentions(hide_withdrawn(blank_signs(folded)))
    return _without_echoes(shown, grammar)


def _without_echoes(folded: str, grammar: Grammar) -> str:
    """Return a folded text with its echoes of the scale hidden (`_hidden`)."""
    if not may_echo(folded, grammar.signs):
        return folded
    return grammar.echo.sub(_hidden, folded)


def _read_label(answer: str, plain: str, grammar: Grammar) -> ProseVerdict:
    """Return the verdict in prose on a scale that has only labels.

    Named values come first (`Verdict: fail`, `Pass: no`), then the patterns.
    """
    values = line_values(plain)
    verdict = chosen((one.statement for one in values), grammar.menu)
    if verdict is not None:
        statement, judgment = verdict
        match = next(one.match for one in values if one.statement is statement)
        if judgment.status == "ok":
            start, end = match.end(), _end_of_label(plain, match.end(), statement)
            rationale = _rationale(answer, match.start(), end)
            tail = answer[start:].lstrip(_EDGE)
            judgment = judgment._replace(rationale=rationale, tail=tail)
        return ProseVerdict(judgment, match.start())
    visible = _visible(plain, grammar)
    labelled = _labelled_ratings(grammar, visible)
    explicit = [match for match in labelled if match["explicit"]]
    if explicit:
        if _is_walk(explicit, grammar):
            return ProseVerdict(Judgment("unparsed", "enumerated"))
        judgment = _reading("labelled", explicit[-1], answer, grammar)
        return ProseVerdict(judgment, explicit[-1].start())
    forms = dict(_unlabelled(grammar, visible))
    ends = {
        _value(forms[form], grammar)
        for form in ("leading", "trailing")
        if form in forms
    }
    if len(ends) > 1:
        return ProseVerdict(Judgment("unparsed", "contradiction"))
    found = [("labelled", match) for match in labelled[-1:]]
    if "leading" in forms:  # `No - it would need a source to be a yes.`
        found.insert(0, ("leading", forms["leading"]))
    found += forms.items()
    for form, match in found:
        if form == "leading" and _enumerates(match, visible, grammar):
            return ProseVerdict(Judgment("unparsed", "contradiction"))
        return ProseVerdict(_reading(form, match, answer, grammar))
    return ProseVerdict(None)


def _enumerates(match: re.Match[str], visible: str, grammar: Grammar) -> bool:
    """Return whether another label follows that which begins a reply: `Pass, fail`."""
    rest = visible[match.end() :].lstrip(_EDGE_OR_DOT)
    words = grammar.labels.items()
    index = grammar.labels[" ".join(match["label"].split())]
    others = [word for word, other in words if other != index]
    return any(re.match(rf"{re.escape(word)}(?!\w)", rest) for word in others)


def _end_of_label(plain: str, start: int, statement: Statement) -> int:
    """Return the end of the first word in the value of a line."""
    value = str(statement.value)
    begin = plain.find(value, start)
    word = _WORD.match(plain, begin)
    return word.end() if word else start


def _by_rank(matches: list[re.Match[str]]) -> list[re.Match[str]] | None:
    """Return the ratings with the best names; None if they are several different parts.

    `Confidence rating: 5` is never one, and `Tone rating: 5` only where no `Rating` is.
    """
    if len(matches) == 1:
        return [] if _rank(matches[0]) is Rank.NEVER else matches
    ranked = [(match, _rank(match)) for match in matches]
    kept = [match for match, rank in ranked if rank is not Rank.NEVER]
    whole = [match for match, rank in ranked if rank < Rank.PART]
    if whole:
        return whole
    last = {_label(match): match[0].rpartition(" ")[2] for match in kept}
    if len(last) > 1 and len(set(last.values())) > 1:
        return None
    return kept


def _rank(match: re.Match[str]) -> Rank:
    """Return the rank of a rating's name, of a longer clause that of its last words."""
    labelled = "explicit" in match.re.groupindex
    explicit = not labelled or match["explicit"]
    begin = match.start()
    if labelled and explicit and match.string[begin - 1 : begin] in ("", "\n"):
        name = match.string[begin : match.start("explicit")]
        if name.isalpha():
            return Rank.EXACT
    if not explicit:
        line = _line_before(match)
        last = line.rsplit(" ", 2)[-2:]
        if len(last) == 2 and last[0].isalpha() and last[1].isalpha():
            near = rank_of((f"{last[0]} {last[1]}",), NUMBERS)
            return near if near is Rank.NEVER else Rank.EXACT
    words = _label(match).split()
    if explicit and len(words) <= SHORT_NAME:
        return rank_of((" ".join(words),), NUMBERS)
    near = rank_of((" ".join(words[-2:]),), NUMBERS)
    return near if near is Rank.NEVER else Rank.EXACT


def _is_spoken(match: re.Match[str]) -> bool:
    """Return whether a rating stands in a sentence: `a score of 4`."""
    return bool(match["prose"] or match["far"])


def _last_spoken(
    grammar: Grammar, visible: str, named: list[re.Match[str]]
) -> tuple[str, re.Match[str]] | None:
    """Return the last rating that sentences give: `a score of 4`, `I give it a 4`.

    None if the second kind contradicts itself.
    """
    if not named:
        return None
    pattern = _forms(grammar.scale)["given"]
    last = named[-1]
    given = unquoted(pattern.finditer(visible, last.end()), visible)
    if given:
        return "given", given[-1]
    return "labelled", last


def _last_named(visible: str, start: int) -> int | None:
    """Return where a line behind `start` names a verdict, None without one."""
    if visible.find(":", start) < 0 and visible.find("=", start) < 0:
        return None
    verdicts = [match for match in named(visible, start) if _names_verdict(match)]
    stated = unquoted(outside_asides(verdicts, visible), visible)
    return stated[-1].end() if stated else None


def _names_verdict(match: re.Match[str]) -> bool:
    """Return whether a name on a line is that of the verdict, and a value follows."""
    name = match["name"].strip()
    rank = rank_of((name,), NUMBERS)
    if rank > Rank.EXACT or match["sign"] not in (":", "="):
        return False
    n_words = name.count(" ") + 1
    if n_words > SHORT_NAME or (n_words == 1 and rank is Rank.FINAL):
        return False  # `overall:` may begin a sentence
    return bool(value_behind(match))


def _unlabelled(grammar: Grammar, visible: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the last match of each pattern whose matches all have the same value."""
    for form, pattern in _forms(grammar.scale).items():
        matches = unquoted(pattern.finditer(visible), visible)
        if form.startswith("named"):
            matches = _by_rank(matches) or []
        if matches and len({_value(match, grammar) for match in matches}) == 1:
            yield form, matches[-1]


def _hidden(echo: re.Match[str]) -> str:
    """Return white space for an echo of the scale, and text that matches no pattern for
    a range.

    `A perfect score of 5` is hidden unless the text before it says that the score is
    given: otherwise it is only a possible score.
    """
    if echo["top_of_scale"]:
        lead = max(0, echo.start() - _LEAD)
        if _AWARDED.search(echo.string, lead, echo.start()):
            return echo[0]
    return (" " if echo["scale"] else "#") * len(echo[0])


def _labelled_ratings(grammar: Grammar, visible: str) -> list[re.Match[str]]:
    """Return the labelled ratings; those in prose only if there are no others.

    Prose: `a score of 4`, `the score would be 4`, `the score for its style is 4`.
    """
    matches = unquoted(_all_labelled(grammar, visible), visible)
    labels = [match for match in matches if not (match["prose"] or match["far"])]
    return labels or matches


def _all_labelled(grammar: Grammar, visible: str) -> list[re.Match[str]]:
    """Return all labelled ratings; text before the first two names is not searched."""
    pattern = grammar.labelled
    if "answer" in visible:
        return list(pattern.finditer(visible))
    start = first_of(grammar.names, visible, 0)
    first = pattern.search(visible, start) if start >= 0 else None
    if first is None:
        return []
    shortest = 4
    if len(visible) - first.end() < shortest:
        return [first]
    start = first_of(grammar.names, visible, first.end())
    further = pattern.finditer(visible, start) if start >= 0 else ()
    return [first, *further]


def _is_walk(matches: list[re.Match[str]], grammar: Grammar) -> bool:
    """Return whether ratings under one label end in WALK or more values of the scale in
    order.

    The values follow step by step, or from one end of the scale to the other. A reply
    that goes through the scale (`Rating: 1 ... Rating: 5`) chooses no value. Ratings of
    several qualities (`Fluency rating: 3`, `Overall rating: 4`) have different labels.
    """
    if len(matches) < WALK:
        return False
    label, run, scale = _label(matches[-1]), list[float](), grammar.scale
    for match in reversed(matches):
        value = _value(match, grammar)
        if _label(match) != label or not _continues(run, value):
            break
        run.append(value)
    if len(run) < WALK:
        return False
    if {run[0], run[-1]} == {scale.min, scale.max}:
        return True
    steps = [_step_of(value, scale) for value in run[:WALK]]
    on_steps = [step for step in steps if step is not None]
    return len(on_steps) == WALK and {b - a for a, b in pairwise(on_steps)} in (
        {1},
        {-1},
    )


def _continues(run: list[float], value: float) -> bool:
    """Return whether a value continues a rising or a falling run."""
    if len(run) < 2:
        return value not in run
    return (value - run[-1]) * (run[-1] - run[-2]) > 0


def _step_of(value: float, scale: Scale) -> int | None:
    """Return the index of a value on the scale, in steps of 1 if the scale is
    continuous.
    """
    index = (value - scale.min) / (scale.step or 1.0)
    return (
        round(index)
        if scale.contains(value) and abs(index - round(index)) < 1e-9
        else None
    )


def _label(match: re.Match[str]) -> str:
    """Return the words of the clause before a rating, without numbers and marks."""
    return " ".join(_LETTERS.findall(_CLAUSE.split(_line_before(match))[-1]))


def _line_before(match: re.Match[str]) -> str:
    """Return the text before a rating, without marks at its end."""
    start = _start_of_value(match)
    return match.string[max(0, start - _LABEL_LENGTH) : start].rstrip(_EDGE)


def _start_of_value(match: re.Match[str]) -> int:
    start = match.start("number")
    if start >= 0:
        return start
    return max(match.start("word"), match.start("label"))


def _value(match: re.Match[str], grammar: Grammar) -> float:
    number, word, label, half = match.group("number", "word", "label", "half")
    if number:
        value = float(number)
    elif word:
        value = WORDS[word]
    else:
        value = grammar.scale.value_of(grammar.labels[" ".join(label.split())])
    return value + 0.5 if half else value


def _reading(
    form: str, match: re.Match[str], answer: str, grammar: Grammar
) -> Judgment:
    scale = grammar.scale
    if not _is_over_top(match, scale):
        return Judgment("out_of_range", f"{form}.denominator")
    read = scale.read(_value(match, grammar), form)
    if read.status != "ok":
        return read
    label = match["label"]
    if label:
        label = scale.labels[grammar.labels[" ".join(label.split())]]
    rationale = _rationale(answer, match.start(), match.end())
    tail = answer[_start_of_value(match) :]
    return Judgment("ok", read.rule, read.value, label, rationale, tail)


def _is_over_top(match: re.Match[str], scale: Scale) -> bool:
    """Return whether the rating has no denominator, or the scale's top as its
    denominator.
    """
    top, percent = match.group("top", "percent")
    if not (percent or top):
        return True
    return scale.max == (
        100.0 if percent else WORDS[top] if top in WORDS else float(top)
    )


def _rationale(answer: str, start: int, end: int) -> str | None:
    """Return the text around the rating, without its heading, its marks and its
    lead-in.
    """
    before, after = answer[:start].rstrip(_EDGE), answer[end:].lstrip(_EDGE_OR_DOT)
    if not after:
        before = _without_lead_in(before)
    if not before.strip(_EDGE_OR_DOT):
        before = ""
    rest = (f"{before} {after}" if before and after else before or after).strip()
    heading = _HEADING.match(rest)
    return (rest[heading.end() :] if heading else rest) or None


def _without_lead_in(text: str) -> str:
    """Remove `, resulting in a` and similar words, which introduce the rating, from the
    end.
    """
    for _ in range(_LEAD_IN_WORDS):
        head, _, word = text.rpartition(" ")
        if not _LEAD_IN.fullmatch(word):
            break
        text = head.rstrip(_EDGE)
    return text
