"""Choices that compare both sides in words: `B is worse than A`, `A edges out B`."""

import re
from functools import cache

from judgescope.parsing.pair_sides import (
    MARKS,
    TEXT,
    SideReading,
    side_in,
    side_slot,
)
from judgescope.parsing.quotes import outside_asides, unquoted

_DEGREE = (
    r"(?:(?:clearly|definitely|much|slightly|somewhat|far|narrowly|easily|overall"
    r"|simply|just|also|marginally|significantly|considerably|noticeably|a bit"
    r"|a little|by far) ){0,2}"
)
_GOOD = (
    r"(?:good|strong|helpful|accurate|coherent|fluent|relevant|consistent|faithful"
    r"|correct|informative|useful|natural|engaging|convincing|truthful|factual"
    r"|appropriate|readable|reliable|precise|harmless|compelling|persuasive|logical)"
)
_MADE = r"(?: (?:written|structured|supported|reasoned|argued|organi[sz]ed))?"
_IS = r"(?:is|was|seems|looks|reads as)"
_NOT = r"(?:is not|isn't|is nowhere|was not|wasn't|not)"
_DONE_BY = (
    r"(?:beaten|outperformed|surpassed|outdone|outclassed|bested|defeated|edged out)"
)
_BETTER = (
    rf"(?:{_IS} {_DEGREE}(?:(?:better|stronger|superior|preferable|preferred){_MADE}"
    rf" (?:than|to|over)|more {_GOOD} than|(?:a|the) (?:better|stronger)"
    rf" (?:choice|{TEXT}) than|ahead of)"
    rf"|{_DEGREE}(?:edges(?: out)?|beats|outperforms|surpasses|outdoes|outshines"
    r"|outclasses|defeats|tops|trumps|bests|wins (?:out )?(?:over|against)"
    r"|prevails over|has the (?:edge|advantage) over|comes out ahead of"
    r"|(?:does|performs|reads|works) (?:a )?better(?: job)? than))"
)
_WORSE = (
    rf"(?:{_IS} {_DEGREE}(?:(?:worse|weaker|inferior|poorer){_MADE} (?:than|to)"
    rf"|less {_GOOD} than|{_DONE_BY} by|behind)"
    rf"|{_NOT} (?:nearly |quite |even close to being )?(?:as|so) {_GOOD}{_MADE} as"
    rf"|{_DEGREE}(?:loses (?:out )?(?:to|against)|falls (?:short of|behind)"
    r"|trails(?: behind)?|lags behind|comes second to|pales (?:beside|next to)"
    r"|(?:does|performs|reads|works) worse than)"
    r"|(?:can't|cannot|can not|does not|doesn't) (?:match|compete with|keep up with))"
)
_EQUAL = (
    rf"(?:{_IS} (?:just |exactly |about |roughly )?(?:as {_GOOD} as"
    r"|(?:equal|equivalent|comparable) to|on (?:a )?par with|tied with)"
    r"|ties with|equals)"
)
_OF_BOTH = rf"(?: (?:one|{TEXT}|choice))?(?: of (?:the )?(?:two|both|pair))?"
_BEST = (
    rf"(?:{_IS} {_DEGREE}(?:the )?{_DEGREE}(?:stronger|better|superior|best"
    rf"|strongest){_OF_BOTH}|comes out (?:ahead|on top)|has the (?:edge|advantage)"
    r"|gets my vote|takes it|prevails|wins)"
)
_WORST = (
    rf"(?:{_IS} {_DEGREE}(?:the )?{_DEGREE}(?:weaker|worse|poorer|inferior|lesser"
    rf"|weakest|worst){_OF_BOTH}|loses(?: out)?)"
)
_BOTH = (
    rf"(?:equally {_GOOD}|(?:about |roughly )?(?:equal|tied|equivalent|comparable"
    r"|the same)|on (?:a )?par|of (?:equal|the same) quality|equally (?:bad|weak))"
)
_LEAD = (
    r"(?:(?:so|thus|hence|therefore|overall|consequently|accordingly|clearly"
    r"|definitely|finally|in (?:sum|short|summary|conclusion|the end"
    r"|my (?:view|opinion))|to sum up|all in all|on balance"
    r"|i(?:'d| would)? (?:think|believe|feel|find|say)(?: that)?),? )?"
)
_BEHIND = (
    r"(?: (?:overall|by far|here|in my (?:view|opinion)"
    r"|by a (?:narrow|wide|small|large|clear) margin))?"
)


_COMPARES = (
    rf"(?:\A|(?<=[.!?;\n]))\s{{0,2}}[*_\"'#>-]{{0,4}}\s?{_LEAD}(?:{side_slot('left')} "
    rf"(?:(?:(?P<better>{_BETTER})|(?P<worse>{_WORSE})|(?P<equal>{_EQUAL})) "
    rf"(?:{side_slot('right')}|the other(?: one| {TEXT})?)"
    rf"|(?P<best>{_BEST})|(?P<worst>{_WORST})"
    rf"|and {side_slot('other')} are (?P<both>{_BOTH})))"
    rf"{_BEHIND}{MARKS}(?:\s?[.!;]{MARKS}|(?=\n)|\s*\Z"
    r"|(?=,? (?:because|since) )|(?=,? as (?!an? [a-z]{3,20}[\W_]*\Z)))"
)
"""A sentence that only compares: `B is worse than A.`"""
_REASON = re.compile(r"(?:,? (?:because|since|as) [^.!?\n]{1,300})?[\W_]*\Z")
_SIGNS = re.compile(
    r"\b(?:than|to|over|as|against|by|with|behind|out|are|second|edges|beats|top|tops"
    r"|trails|equals|outperforms|surpasses|outdoes|outshines|outclasses|defeats"
    r"|trumps|bests|match|short|weaker|worse|stronger|better|superior|inferior|best"
    r"|worst|loses|edge|advantage|vote|takes|prevails|wins|poorer|lesser|beside)\b"
)
"""Every comparison has one of these words."""
COMPARED = "compared"


@cache
def _pattern() -> re.Pattern[str]:
    """Compile at the first use: this takes as long as a small import."""
    return re.compile(_COMPARES)


def compared(folded: str, _tie: str) -> tuple[SideReading, int, int] | str | None:
    """Return the choice of a last sentence that compares both sides.

    `A is no better than B` chooses none. Sentences that compare must agree.
    """
    if not _SIGNS.search(folded):
        return None
    matches = outside_asides(list(_pattern().finditer(folded)), folded)
    matches = unquoted(matches, folded)
    if not matches or not _REASON.match(folded, matches[-1].end()):
        return None
    sides = {_chosen_side(match) for match in matches}
    if len(sides) > 1:
        return "contradiction"
    side = sides.pop()
    return side and (SideReading(side), *matches[-1].span())


def _chosen_side(match: re.Match[str]) -> str | None:
    """Return the side that a sentence chooses; None if it compares one with itself."""
    left = side_in(match, "left")
    if match["both"]:
        return "tie" if side_in(match, "other") not in (None, left) else None
    right = side_in(match, "right")
    if left is None or right == left:
        return None
    other = "b" if left == "a" else "a"
    if match["equal"]:
        return "tie"
    return left if match["better"] or match["best"] else other
