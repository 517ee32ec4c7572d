"""What a reply quotes: verdicts that stand in the text that is judged are not the judge's."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import Final

_LENGTH: Final = 4000
_QUOTATION = re.compile(
    rf"(?<!\w)\"(?:[^\"\\\n]|\\.){{1,{_LENGTH}}}+\"|`[^`\n]{{1,{_LENGTH}}}+`"
    rf"|(?<!\w)'(?!\d)[^'\n]{{1,{_LENGTH}}}+'(?!\w)"
)
_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_ASIDE = re.compile(
    rf"^[ \t]{{0,8}}>[^\n]*+|```.*?(?:```|\Z)|\{{[^{{}}\n]{{1,{_LENGTH}}}+\}}",
    re.DOTALL | re.MULTILINE,
)
"""A quoted line, a fenced block, an object: a verdict there may be the judge's own form of it."""
_LEAD: Final = 200
"""Characters before a quotation that may say whose it is."""
_TEXTS = re.compile(
    r"\b(?:says|said|claims|asks|requests|states|insists|orders|instructs|tells|tries|contains|"
    r"carries|ends|reads|writes|includes|demands|adds|inserts|quotes|pretends|words?|phrases?|"
    r"lines?|strings?|injections?|attacks?)\b"
)
"""It is the text that says what is quoted."""
_MINE = re.compile(r"\b(?:i|my|final|therefore|thus|output|answer)\b")
_OF_A_PART = re.compile(r"\s(?:for|of|on)\s+[a-z]{4,}")
"""A verdict on one of several things, which another on all of them may follow."""
_MARKS: Final = " \t\n*_\"'`)]}>.,"
"""What a match may take along from behind a verdict."""
_LINE = re.compile(r"[^\n]+")

Spans = list[tuple[int, int]]


def quotations(folded: str) -> Spans:
    """Return where a folded text quotes within a line; a line that is all in quotes does not."""
    found = Spans()
    if not any(mark in folded for mark in "\"`'"):
        return found
    for line in _LINE.finditer(folded):
        seen, at = _without_open(line[0]), line.start()
        own = [(at + one.start(), at + one.end()) for one in _QUOTATION.finditer(seen)]
        edges = [line.start(), *(at for one in own for at in one), line.end()]
        between = (folded[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
        if own and any(any(map(str.isalnum, part)) for part in between):
            found += own
    return found


def _without_open(line: str) -> str:
    """Hide the escaped quotation marks of a line that begin no quotation.

    Each would be tried over its whole length, and a line may be nothing else.
    """
    if '\\"' not in line:
        return line
    tokens = _TOKEN.findall(line)
    after = _LENGTH + 1
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at] == '\\"' and after > _LENGTH:
            tokens[at] = "\\#"
        after = 0 if tokens[at] == '"' else after + 1
    return "".join(tokens)


def own(matches: Iterable[re.Match[str]], folded: str) -> list[re.Match[str]]:
    """Return the matches that the writer says, not those that he quotes.

    Where all are quoted, those that he puts in quotation marks himself. Where one of them begins
    its line and is of no part alone, none that stands in a quoted line, a fenced block or an
    object: the judge has said what it has to say. Matches come in their order and do not overlap.
    """
    given = list(matches)
    quoted = quotations(folded) if given else []
    said = _outside(given, quoted) or _stated(given, quoted, folded)
    if len(said) < 2:
        return said
    plain = _outside(said, [one.span() for one in _ASIDE.finditer(folded)])
    return plain if any(_is_whole(one, folded) for one in plain) else said


def _stated(matches: list[re.Match[str]], spans: Spans, folded: str) -> list[re.Match[str]]:
    """Return quoted matches of which nothing says that they are the text's.

    One that ends the reply, or that the writer calls his own.
    """
    found = []
    for match in matches:
        first = bisect_right(spans, match.start(), key=itemgetter(1))
        inside = spans[first : bisect_right(spans, match.end(), key=itemgetter(0))]
        if not inside:
            continue
        start, end = inside[0][0], inside[-1][1]
        lead = re.split(r"[.!?\n]", folded[max(0, start - _LEAD) : start])[-1]
        ends = not any(map(str.isalnum, folded[end:]))
        if not _TEXTS.search(lead) and (ends or _MINE.search(lead)):
            found.append(match)
    return found


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


def _is_whole(match: re.Match[str], folded: str) -> bool:
    """Return whether a match begins its line, and is no verdict on a part."""
    if _OF_A_PART.search(match[0]):
        return False
    start = max(folded.rfind("\n", 0, match.start()) + 1, match.start() - 20)
    return not any(map(str.isalnum, folded[start : match.start()]))
