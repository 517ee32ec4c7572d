"""From a match to a judgment: its value, its name and the reasons around it."""

import re
from itertools import pairwise

from judgescope.parsing import labels as label_values
from judgescope.parsing.characters import word_set
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.keys import NUMBERS, Rank, rank_of
from judgescope.parsing.rating_grammar import Grammar
from judgescope.parsing.rating_patterns import WORDS

_HEADING = re.compile(
    r"[\s*_#\"'{,.:;-]*(?:rationale|explanation|reason(?:ing)?|justification|analysis)"
    r"[*_\"'\s]*[:=-]+[*_\s]*",
    re.IGNORECASE,
)
_BEGIN_OF_HEADING = frozenset("aejrAEJR")
"""The letters with which one begins, without the marks before it."""
_LEAD_IN = word_set(
    """
    a an the my it its and so thus hence therefore with in of is overall final
    resulting earning giving receives receiving
    """
)
_LEAD_IN_WORDS = 8
WALK = 3
"""The minimum number of values in order that make a walk through the scale."""
_LABEL_LENGTH = 60
SHORT_NAME = 5
"""The maximum number of words in the name of a rating; more are a clause."""
_LETTERS = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[.!?;:,()\n\d|]|\s[-–—]\s")
_ENDS_OF_CLAUSE = (". ", "! ", "? ", "; ")
EDGE = " \t\r\n*_#\"'`{}[]()<>,:;=-–—$"
EDGE_OR_DOT = EDGE + "."


def best_ranked(matches: list[re.Match[str]]) -> list[re.Match[str]] | None:
    """Return the ratings with the best names; None if they are several different parts.

    `Confidence rating: 5` is never one, and `Tone rating: 5` only where no `Rating` is.
    """
    if len(matches) == 1:
        if match_rank(matches[0]) is Rank.NEVER:
            return []
        return matches
    ranked = [(match, match_rank(match)) for match in matches]
    kept = []
    for match, rank in ranked:
        if rank is not Rank.NEVER:
            kept.append(match)
    overall = [match for match, rank in ranked if rank < Rank.PART]
    if overall:
        return overall
    last = {_label(match): match[0].rpartition(" ")[2] for match in kept}
    if len(last) > 1 and len(set(last.values())) > 1:
        return None
    return kept


def match_rank(match: re.Match[str]) -> Rank:
    """Return the rank of a rating's name, of a longer clause that of its last words."""
    labelled = "explicit" in match.re.groupindex
    explicit = not labelled or match["explicit"]
    begin = match.start()
    if labelled and explicit:
        name = match.string[begin : match.start("explicit")]
        before = match.string[max(0, begin - 2) : begin]
        # most names are one word at the beginning of a line or a sentence
        if name.isalpha() and before[-1:] in ("", "\n"):
            return Rank.EXACT
        if name.isalpha() and before in _ENDS_OF_CLAUSE:
            return rank_of((name,), NUMBERS)
    if not explicit:
        line = _line_before(match)
        last = line.rsplit(" ", 2)[-2:]
        if len(last) == 2 and last[0].isalpha() and last[1].isalpha():
            near = rank_of((f"{last[0]} {last[1]}",), NUMBERS)
            if near is Rank.NEVER:
                return near
            return Rank.EXACT
    words = _label(match).split()
    if words and not words[-1].endswith("s"):  # `n ratings: 12` is a count
        while len(words) > 1 and words[0] == "n":
            words = words[1:]  # a line break that lost its sign: `n Rating: 4`
    if explicit and len(words) <= SHORT_NAME:
        return rank_of((" ".join(words),), NUMBERS)
    near = rank_of((" ".join(words[-2:]),), NUMBERS)
    if near is Rank.NEVER:
        return near
    return Rank.EXACT


def is_walk(matches: list[re.Match[str]], grammar: Grammar) -> bool:
    """Return whether ratings under one label end in WALK or more values of the scale in
    order.

    The values follow step by step, or from one end of the scale to the other. A reply
    that goes through the scale (`Rating: 1 ... Rating: 5`) chooses no value. Ratings of
    several qualities (`Fluency rating: 3`, `Overall rating: 4`) have different labels.
    """
    if len(matches) < WALK:
        return False
    label = _label(matches[-1])
    run: list[float] = []
    scale = grammar.scale
    for match in reversed(matches):
        value = match_value(match, grammar)
        if _label(match) != label or not _continues(run, value):
            break
        run.append(value)
    if len(run) < WALK:
        return False
    if {run[0], run[-1]} == {scale.min, scale.max}:
        return True
    steps = [_step_of(value, scale) for value in run[:WALK]]
    on_steps = [step for step in steps if step is not None]
    if len(on_steps) != WALK:
        return False
    return {b - a for a, b in pairwise(on_steps)} in (
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
    if scale.contains(value) and abs(index - round(index)) < 1e-9:
        return round(index)
    return None


def _label(match: re.Match[str]) -> str:
    """Return the words of the clause before a rating, without numbers and marks."""
    return " ".join(_LETTERS.findall(_CLAUSE.split(_line_before(match))[-1]))


def _line_before(match: re.Match[str]) -> str:
    """Return the text before a rating, without marks at its end."""
    start = start_of_value(match)
    return match.string[max(0, start - _LABEL_LENGTH) : start].rstrip(EDGE)


def start_of_value(match: re.Match[str]) -> int:
    """Return where the number or the word of a rating begins, in its text."""
    start = match.start("number")
    if start >= 0:
        return start
    return max(match.start("word"), match.start("label"))


def end_of_value(match: re.Match[str]) -> int:
    """Return where the value of a rating ends, without brackets and marks behind it."""
    groups = ("number", "word", "label", "half", "top", "percent")
    return max(match.end(group) for group in groups)


def match_value(match: re.Match[str], grammar: Grammar) -> float:
    """Return the number that a rating states, whether or not the scale has it."""
    number, word, label, half = match.group("number", "word", "label", "half")
    if number:
        value = float(number)
    elif word:
        value = WORDS[word]
    else:
        index = grammar.labels[label_values.plain_label(label)]
        value = grammar.scale.value_of(index)
    return value + 0.5 if half else value


def reading_of(
    form: str, match: re.Match[str], answer: str, grammar: Grammar
) -> Judgment:
    """Return the judgment of a rating; `form` is the name of its pattern.

    A denominator other than the top of the scale is out of range.
    """
    scale = grammar.scale
    top, percent, label = match.group("top", "percent", "label")
    if (top or percent) and not _is_over_top(top, percent, scale):
        return Judgment("out_of_range", f"{form}.denominator")
    stated = match_value(match, grammar)
    value: float | None = stated
    rule = form
    if not scale.has(stated):
        read = scale.read(stated, form)
        if read.status != "ok":
            return read
        value = read.value
        rule = read.rule
    if label:
        label = scale.labels[grammar.labels[label_values.plain_label(label)]]
    rationale = rationale_around(answer, match.start(), match.end())
    tail = answer[start_of_value(match) :]
    return Judgment("ok", rule, value, label, rationale, tail)


def _is_over_top(top: str | None, percent: str | None, scale: Scale) -> bool:
    """Return whether a rating's denominator is the scale's top."""
    if percent or not top:
        return scale.max == 100.0
    return scale.max == (WORDS[top] if top in WORDS else float(top))


def rationale_around(answer: str, start: int, end: int) -> str | None:
    """Return the text around the rating, without its heading, its marks and its
    lead-in.
    """
    before = ""
    if start:
        before = answer[:start].rstrip(EDGE)
    after = answer[end:].lstrip(EDGE_OR_DOT)
    if before and not after:
        before = _without_lead_in(before)
    if before and not before.strip(EDGE_OR_DOT):
        before = ""
    rest = (f"{before} {after}" if before and after else before or after).strip()
    first = rest[:1]
    if first in _BEGIN_OF_HEADING or not first.isalpha():
        heading = _HEADING.match(rest)
        if heading:
            rest = rest[heading.end() :]
    return rest or None


def _without_lead_in(text: str) -> str:
    """Remove `, resulting in a` and similar words, which introduce the rating, from the
    end.
    """
    for _ in range(_LEAD_IN_WORDS):
        begin = text.rfind(" ") + 1
        word = text[begin:]
        if word not in _LEAD_IN and word.lower() not in _LEAD_IN:
            break
        text = text[: max(0, begin - 1)].rstrip(EDGE)
    return text
