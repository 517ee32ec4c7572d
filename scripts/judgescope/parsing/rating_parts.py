"""Ratings of several parts of a text in one reply: `Clarity: 4. Accuracy: 2.`

Without an overall one they are no rating of the text, whatever its language.
"""

import re
from functools import lru_cache
from typing import Final

from judgescope.parsing.judgment import Scale
from judgescope.parsing.keys import NUMBERS, Rank, rank_of
from judgescope.parsing.quotes import unquoted
from judgescope.parsing.rating_grammar import Grammar, grammar_of
from judgescope.parsing.rating_matches import match_value, start_of_value
from judgescope.parsing.rating_patterns import bound, value_pattern

_PART: Final = (
    r"(?:\A|[\n.!?;,|(]|\band\s|\bbut\s)[ \t*_#>\"'`{(\[|•+-]{0,10}(?:\d{1,2}[.)]\s)?"
    # `第一段`, `Clarity`, `Paragraph 1`, `1文目`
    r"(?P<name>(?=\d{0,3}\s?[^\W\d_])[^\n:=.!?;,()\[\]{}<>\"|*`–—]{1,40}?)"
    r"[*_\"'`)\]}]{0,4}\s?[:=]VALUE"
    r"(?=[ \t*_\"'`)\]}]{0,6}(?:[.,;|)(\n]|\Z|[-–—]|(?:because|since|as|and|but)\b))"
)
"""A name and the value behind it, at the beginning of a line or a clause."""
_NUMBERED = re.compile(r"(?<!\d)\d{1,2}\s?\Z|\A\d{1,2}(?!\d)")
_BRACKETED: Final = r"[^\W\d_]{3,30}[*_\"'`]{0,4}\s[(\[]VALUE[)\]]"
"""`Fluency (4)`."""
_PART_BEHIND = re.compile(
    r"\s(?:for|on|in|regarding|in terms of)\s(?:its\s|the\s)?"
    r"(?P<name>[a-z]{4,20}(?:\s[a-z]{4,20})?)"
    r"(?=\s?[.,;!\n]|\s*\Z|\s(?:and|but|as|because)\s)"
)
"""`Rating: 4 for clarity.`"""
_NEXT_PART = re.compile(
    r"\s?[,;]?\s(?:and |but |while )?(?:its |the )?"
    r"(?!(?:never|almost|maybe|perhaps|hence|thus|then|rather|from|with|than|even|quite"
    r"|this|that|[a-z]{1,18}ly) )"
    r"[a-z]{4,20} (?:only |just )?an? \d(?![\w/%])"
)
"""The verb is left out: `Clarity is a 5, accuracy a 2.`"""
_NUMBER_BEFORE = re.compile(
    r"(?P<noun>[^\W\d_]{2,20})\s?#?(?P<number>\d{1,2})(?:'s)?\s\Z"
)
"""`Paragraph 1 score: 4`."""


@lru_cache(maxsize=64)
def _patterns_of(scale: Scale) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile at the first use: most replies name no part."""
    value = value_pattern(grammar_of(scale).labels, alone=bool(scale.words))
    value = value.replace("TOP", bound(scale.max))
    return (
        re.compile(_PART.replace("VALUE", value)),
        re.compile(_BRACKETED.replace("VALUE", value)),
    )


def overall_of_parts(
    visible: str, match: re.Match[str], grammar: Grammar
) -> re.Match[str] | None:
    """Return the rating of the whole among named ones of which `match` is one.

    It is `match` if no other part is rated differently. None: several parts are rated,
    and nothing says what the whole deserves.
    """
    pattern, _ = _patterns_of(grammar.scale)
    best = match
    start = start_of_value(match)
    best_rank = Rank.PART
    several = False
    value = match_value(match, grammar)
    for part in unquoted(pattern.finditer(visible), visible):
        rank = _rank_of_part(part)
        if rank is Rank.NEVER or not grammar.scale.contains(match_value(part, grammar)):
            continue
        is_match = start_of_value(part) == start
        if rank is Rank.PART:
            several = several or match_value(part, grammar) != value
        elif rank <= best_rank:
            best = match if is_match else part
            best_rank = rank
    if best_rank < Rank.PART:
        return best
    return None if several else match


def overall_in_list(visible: str, grammar: Grammar) -> re.Match[str] | None:
    """Return the rating of the whole in a list of named ones, whatever its language.

    `准确性：4，流畅性：3，总分：4`
    """
    if ":" not in visible and "=" not in visible:
        return None
    pattern, _ = _patterns_of(grammar.scale)
    listed = unquoted(pattern.finditer(visible), visible)
    overall = [part for part in listed if _names_whole(part)]
    if len(listed) < 2 or len(overall) != 1:
        return None
    value = match_value(overall[0], grammar)
    total = sum(match_value(part, grammar) for part in listed)
    if total == 2 * value:
        return None
    return overall[0]


def _names_whole(part: re.Match[str]) -> bool:
    """Return whether a name says that it rates the whole; an English total may count.

    `Wrong dates: 1, wrong names: 1, total: 3`
    """
    rank = _rank_of_part(part)
    if rank < Rank.TOTAL:
        return True
    if rank is not Rank.TOTAL:
        return False
    return not part["name"].isascii()


def _rank_of_part(part: re.Match[str]) -> Rank:
    """Return the rank of a part's name; a number in it tells it from others."""
    name = part["name"].strip()
    # a conclusion may be the last part of a text
    if _NUMBERED.search(name) or name in ("conclusion", "the conclusion"):
        return Rank.PART
    return rank_of((name,), NUMBERS)


def is_one_of_bracketed(visible: str, match: re.Match[str], grammar: Grammar) -> bool:
    """Return whether a number in brackets at the end is that of one of several parts.

    `Fluency (4), coherence (3).`, but not `It flows. (4)`.
    """
    _, pattern = _patterns_of(grammar.scale)
    values: set[float] = set()
    is_part = False
    for part in pattern.finditer(visible):
        values.add(match_value(part, grammar))
        is_part = is_part or start_of_value(part) == start_of_value(match)
    return is_part and len(values) > 1


def rate_parts(ratings: list[re.Match[str]], grammar: Grammar) -> bool:
    """Return whether ratings with one label are those of several parts.

    `Rating: 4 for clarity. Rating: 2 for accuracy.`, `Claim 1 score: 2. Claim 2 score:
    4.` A last one that names no part is that of the whole.
    """
    last = ratings[-1]
    value = match_value(last, grammar)
    for find in (_number_before, _part_behind):
        name = find(last)
        if name is None:
            continue
        for other in ratings[:-1]:
            if find(other) not in (None, name) and match_value(other, grammar) != value:
                return True
    return False


def has_next_part(match: re.Match[str]) -> bool:
    """Return whether a sentence rates another part right behind a rating.

    >>> text = "clarity is a 5, accuracy a 2"
    >>> has_next_part(re.compile("is a 5").search(text))
    True
    """
    return _NEXT_PART.match(match.string, match.end()) is not None


def _number_before(match: re.Match[str]) -> str | None:
    """Return the number of the part before a rating's name: `claim 2`."""
    begin = max(0, match.start() - 30)
    before = _NUMBER_BEFORE.search(match.string[begin : match.start()])
    return before and f"{before['noun']} {before['number']}"


def _part_behind(match: re.Match[str]) -> str | None:
    """Return the name of the part behind a rating: `4 for clarity`."""
    behind = _PART_BEHIND.match(match.string, match.end())
    return behind and behind["name"]
