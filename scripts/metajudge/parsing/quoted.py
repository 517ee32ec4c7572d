"""What a reply quotes: verdicts that stand in the text that is judged are not the judge's."""

import re
from collections.abc import Iterable
from typing import Final

_LENGTH: Final = 400
_QUOTATION = re.compile(
    rf"\"(?:[^\"\\\n]|\\.){{1,{_LENGTH}}}+\"|`[^`\n]{{1,{_LENGTH}}}+`"
    rf"|(?<!\w)'[^'\n]{{1,{_LENGTH}}}+'(?!\w)"
)
_ASIDE = re.compile(
    rf"^[ \t]{{0,8}}>[^\n]*+|```.{{0,{_LENGTH}}}?(?:```|\Z)|\{{[^{{}}\n]{{1,{_LENGTH}}}+\}}",
    re.DOTALL | re.MULTILINE,
)
"""A quoted line, a fenced block, an object: a verdict there may be the judge's own form of it."""
_MARKS: Final = " \t\n*_\"'`)]}>.,"
"""What a match may take along from behind a verdict."""
_LINE = re.compile(r"[^\n]+")

Spans = list[tuple[int, int]]


def quotations(folded: str) -> Spans:
    """Return where a folded text quotes within a line; a line that is all in quotes does not."""
    found = Spans()
    for line in _LINE.finditer(folded):
        own = [(one.start(), one.end()) for one in _QUOTATION.finditer(folded, *line.span())]
        edges = [line.start(), *(at for one in own for at in one), line.end()]
        between = (folded[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
        if own and any(any(map(str.isalnum, part)) for part in between):
            found += own
    return found


def own(matches: Iterable[re.Match[str]], folded: str) -> list[re.Match[str]]:
    """Return the matches that the writer says, not those that he quotes.

    Where one of these begins its line, none that stands in a quoted line, a fenced block or an
    object: the judge has said what it has to say. Matches come in their order and do not overlap.
    """
    given = list(matches)
    said = _outside(given, quotations(folded)) if given else []
    if len(said) < 2:
        return said
    plain = _outside(said, [one.span() for one in _ASIDE.finditer(folded)])
    return plain if any(_begins_its_line(one, folded) for one in plain) else said


def _outside(matches: list[re.Match[str]], spans: Spans) -> list[re.Match[str]]:
    """Return the matches of which a part lies outside of every span; both are in order."""
    found, at = [], 0
    for match in matches:
        end = match.start() + len(match[0].rstrip(_MARKS))
        while at < len(spans) and spans[at][1] < end:
            at += 1
        if at == len(spans) or match.start() < spans[at][0]:
            found.append(match)
    return found


def _begins_its_line(match: re.Match[str], folded: str) -> bool:
    start = max(folded.rfind("\n", 0, match.start()) + 1, match.start() - 20)
    return not any(map(str.isalnum, folded[start : match.start()]))
