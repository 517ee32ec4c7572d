"""The ratings of a folded reply, without those that only repeat the scale."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from judgescope.parsing.echo_signs import first_echo
from judgescope.parsing.glance import Glance
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.mentions import hide_mentions, hide_withdrawn
from judgescope.parsing.quotes import unquoted
from judgescope.parsing.rating_forms import SIGNS_OF_FORMS
from judgescope.parsing.rating_grammar import ANSWER, FINAL, Grammar, forms_of
from judgescope.parsing.rating_matches import best_ranked, match_value
from judgescope.parsing.rating_patterns import bound
from judgescope.parsing.tags import blank_signs

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
_LEAD = 60
"""Characters before `a perfect score of` that may show that the score is given."""
_WORD_BEHIND = 20
"""The characters of an echo behind its last number: `5-point scale`."""


def visible_text(folded: str, seen: Glance, grammar: Grammar) -> str:
    """Return a folded reply without what names no verdict, of the same length."""
    plain = hide_withdrawn(blank_signs(folded, seen))
    return without_echoes(hide_mentions(plain, seen), seen, grammar)


def without_echoes(folded: str, seen: Glance, grammar: Grammar) -> str:
    """Return a folded text with its echoes of the scale hidden (`_hidden`)."""
    if not folded.isascii():
        folded = _top_before(grammar.scale.max).sub(_blanks, folded)
    # an echo without a label ends with a number, or with a word directly behind it
    end = len(folded) if grammar.labels else seen.last + _WORD_BEHIND
    start = first_echo(folded, seen, grammar.signs, end)
    if start < 0:
        return folded
    parts = [folded[:start]]
    for echo in grammar.echo.finditer(folded, start):
        parts += [folded[start : echo.start()], _hidden(echo)]
        start = echo.end()
    parts.append(folded[start:])
    return "".join(parts)


@lru_cache(maxsize=64)
def _top_before(top: float) -> re.Pattern[str]:
    """The top of a scale before a value: `5点中4点`, `5 üzerinden 4`."""
    high = bound(top)
    return re.compile(
        rf"(?<![\w.])(?:{high}\s{{0,2}}[点點分점]?"
        r"(?:üzerinden|中的?|満点中?|만점에|में\s?से)\s{0,2}"
        rf"|满分\s?{high}\s?[分点]?\s?,\s?)(?=\d)"
    )


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


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


def labelled_ratings(
    grammar: Grammar, visible: str, seen: Glance
) -> list[re.Match[str]]:
    """Return the labelled ratings; those in prose only if there are no others.

    Prose: `a score of 4`, `the score would be 4`, `the score for its style is 4`.
    """
    matches = unquoted(_all_labelled(grammar, visible, seen), visible)
    if len(matches) < 2:
        return matches
    labels = [match for match in matches if not (match["prose"] or match["far"])]
    return labels or matches


def _all_labelled(grammar: Grammar, visible: str, seen: Glance) -> list[re.Match[str]]:
    """Return all labelled ratings; a pattern is tried only where a name begins."""
    pattern = grammar.labelled
    # a name behind the last number has no value
    last = len(visible) if grammar.labels else seen.last
    starts = starts_of_answers(visible, seen, last)
    for word in seen.words & grammar.name_words:
        begin = grammar.names[word]
        start = visible.find(begin, 0, last)
        while start >= 0:
            starts.append(start)
            start = visible.find(begin, start + 1, last)
    starts.sort()
    matches: list[re.Match[str]] = []
    end = 0
    for start in starts:
        match = None
        if start >= end:
            match = pattern.match(visible, start)
        if match:
            matches.append(match)
            end = match.end()
    return matches


_SIGN_OF_ANSWER = re.compile(r"\s*(?:is)?\s*[:=]")
"""What follows `the answer` if that is the name of a rating."""


def starts_of_answers(visible: str, seen: Glance, last: int) -> list[int]:
    """Return where `final answer`, `the answer` and `<answer` may begin before `last`.

    >>> from judgescope.parsing.glance import glance, watch
    >>> seen = glance(text := "my answer fits. my  answer: 4", watch([b"answer"]))
    >>> starts_of_answers(text, seen, 29)
    [16]
    """
    starts: list[int] = []
    if ANSWER not in seen.words:
        return starts
    at = visible.find("answer", 0, last)
    if FINAL not in seen.words and "<" not in visible:
        sign = max(visible.rfind(":"), visible.rfind("="))
        if sign < at:
            return starts  # most replies name an answer, not theirs
    while at >= 0:
        if at and visible.startswith("<", at - 1):
            starts.append(at)
        words = ["final"] if FINAL in seen.words else []
        if _SIGN_OF_ANSWER.match(visible, at + len("answer")):
            words += ["the", "my"]
        if words:
            starts += _starts_of_words(words, visible, at)
        at = visible.find("answer", at + 1, last)
    return starts


def _starts_of_words(words: list[str], visible: str, end: int) -> list[int]:
    """Return where those of the words begin that end before `end` and white space."""
    while visible[end - 1 : end].isspace():
        end -= 1
    starts = [end - len(word) for word in words]
    return [
        start
        for start, word in zip(starts, words, strict=True)
        if start >= 0 and visible.startswith(word, start)
    ]


def unlabelled_ratings(
    grammar: Grammar, visible: str
) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the last match of each pattern whose matches all have the same value."""
    for form, pattern in forms_of(grammar.scale).items():
        signs = SIGNS_OF_FORMS.get(form)
        if signs and not any(sign in visible for sign in signs):
            continue
        matches = unquoted(pattern.finditer(visible), visible)
        if form.startswith("named"):
            matches = best_ranked(matches) or []
        if matches and len({match_value(match, grammar) for match in matches}) == 1:
            yield form, matches[-1]


class ProseVerdict(NamedTuple):
    """What the prose of a reply says.

    judgment: None without a verdict; start: where it stands, None if it has no label of
    its own (`a score of 4` in a sentence); begin, end: the span of its words, 0 if none
    was read.
    """

    judgment: Judgment | None
    start: int | None = None
    begin: int = 0
    end: int = 0
