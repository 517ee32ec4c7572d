"""What the judge states itself, and what it only quotes of the judged text."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import Final

from judgescope.parsing.attribution import is_of_another, own_places

_LENGTH: Final = 4000
_QUOTATION = re.compile(
    rf"\"(?<!\w.)(?:[^\"\\\n]|\\.){{1,{_LENGTH}}}+\"|`[^`\n]{{1,{_LENGTH}}}+`"
    rf"|'(?<!\w.)(?!\d)[^'\n]{{1,{_LENGTH}}}+'(?!\w)"
)
_OPENING = re.compile(r"'(?<!\w.)")
_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_ASIDE = re.compile(
    rf"^[ \t]{{0,8}}>[^\n]*+|```.*?(?:```|\Z)|\{{[^{{}}\n]{{1,{_LENGTH}}}+\}}",
    re.DOTALL | re.MULTILINE,
)
"""A quoted line, a fenced block, an object: the judge may write its own verdict like
this."""
_LEAD: Final = 200
"""How many characters before a quotation may name its source."""
TEXT_SAYS = re.compile(
    r"\b(?:says|said|claims|asks|requests|states|insists|orders|instructs|tells|tries|"
    r"contains|"
    r"carries|ends|reads|writes|includes|demands|adds|inserts|quotes|pretends|words?|"
    r"phrases?|"
    r"lines?|strings?|injections?|attacks?)\b"
)
"""The judged text is the source of the quotation."""
_JUDGE_SAYS = re.compile(r"\b(?:i|my|final|therefore|thus|output|answer)\b")
_OF_A_PART = re.compile(r"\s(?:for|of|on)\s+[a-z]{4,}")
"""A verdict on one of several qualities; an overall verdict may follow it."""
_SHORTEST_OF_ANOTHER: Final = len(" is theirs")
"""The characters of the shortest words behind a statement that give it to another."""
_LINE = re.compile(r"[^\n]+")

QuotedSpans = list[tuple[int, int]]


def quotations(folded: str) -> QuotedSpans:
    """Return the quotations within the lines of a folded text.

    A line that is entirely quoted is treated as unquoted, unless it begins with a key
    (`"key":`).
    """
    spans = QuotedSpans()
    if '\\"' not in folded and not _QUOTATION.search(folded):
        return spans
    for line in _LINE.finditer(folded):
        start = line.start()
        quoted = []
        for quotation in _QUOTATION.finditer(_without_unclosed(line[0])):
            quoted.append((start + quotation.start(), start + quotation.end()))
        edges = [start, *(edge for span in quoted for edge in span), line.end()]
        between = [folded[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        is_key = quoted and between[1].lstrip().startswith(":")
        if is_key or (quoted and any(any(map(str.isalnum, part)) for part in between)):
            spans += quoted
    return spans


def _without_unclosed(line: str) -> str:
    """Hide a line's escaped quotation marks that do not begin a quotation."""
    if '\\"' not in line:
        return line
    tokens = _TOKEN.findall(line)
    distance = _LENGTH + 1
    for index in range(len(tokens) - 1, -1, -1):
        if tokens[index] == '\\"' and distance > _LENGTH:
            tokens[index] = "\\#"
        distance = 0 if tokens[index] == '"' else distance + 1
    return "".join(tokens)


def unquoted(
    matches: Iterable[re.Match[str]], folded: str, *, names: bool = False
) -> list[re.Match[str]]:
    """Return the matches that are the judge's own statements, not quotations of the
    text.

    If all are quoted, return those that the judge itself puts in quotation marks. If
    one begins its line and is an overall verdict, those in quoted lines, fenced blocks
    and objects are ignored. Those that words around them give to another
    (`attribution`) are ignored. The matches are in order and do not overlap. names:
    whether they end before the value, so that no such words can follow.
    """
    candidates = list(matches)
    if candidates and not names:
        candidates = _judges_own(candidates, folded)
    if not candidates:
        return candidates
    marked = may_quote(folded, candidates[-1].start() + 1)
    if not marked and len(candidates) < 2:
        return candidates
    quoted = quotations(folded) if marked else []
    stated = _outside(candidates, quoted) or _self_quoted(candidates, quoted, folded)
    if len(stated) < 2:
        return stated
    indices = own_places([match.span() for match in stated], folded)
    stated = [stated[index] for index in indices]
    plain = _outside(stated, asides(folded))
    if any(_is_overall(match, folded) for match in plain):
        return plain
    return stated


def _judges_own(matches: list[re.Match[str]], folded: str) -> list[re.Match[str]]:
    """Return the matches that no words around them give to another."""
    if len(matches) == 1:  # most replies have one, and end with it
        start, end = matches[0].span()
        near_end = end + _SHORTEST_OF_ANOTHER > len(folded)
        if near_end and folded[start] not in "{<[":
            return matches
        if is_of_another(folded, start, end):
            return []
        return matches
    return [match for match in matches if not is_of_another(folded, *match.span())]


def may_quote(folded: str, end: int) -> bool:
    """Return whether a quotation may begin before `end`; an apostrophe begins none.

    >>> may_quote("it's 'good'", 11), may_quote("it's good", 9)
    (True, False)
    """
    if '"' in folded and folded.find('"', 0, end) >= 0:
        return True
    if "`" in folded and folded.find("`", 0, end) >= 0:
        return True
    if "'" not in folded:
        return False
    apostrophe = folded.find("'", 0, end)
    return apostrophe >= 0 and _OPENING.search(folded, apostrophe, end) is not None


def _self_quoted(
    matches: list[re.Match[str]], spans: QuotedSpans, folded: str
) -> list[re.Match[str]]:
    """Return quoted matches that end the reply or that the judge presents as its
    own.
    """
    stated = []
    for match in matches:
        first = bisect_right(spans, match.start(), key=itemgetter(1))
        around = spans[first : bisect_right(spans, match.end(), key=itemgetter(0))]
        if not around:
            continue
        start = around[0][0]
        end = around[-1][1]
        lead = re.split(r"[.!?\n]", folded[max(0, start - _LEAD) : start])[-1]
        ends_reply = not any(map(str.isalnum, folded[end:]))
        if not TEXT_SAYS.search(lead) and (ends_reply or _JUDGE_SAYS.search(lead)):
            stated.append(match)
    return stated


def asides(folded: str) -> QuotedSpans:
    """Return the quoted lines, fenced blocks and objects of a folded text.

    >>> asides("score: 4\\n> no, 2")
    [(9, 16)]
    """
    return [aside.span() for aside in _ASIDE.finditer(folded)]


def outside_asides(matches: list[re.Match[str]], folded: str) -> list[re.Match[str]]:
    """Return the matches outside of quoted lines, fenced blocks and objects."""
    if not matches:
        return matches
    return _outside(matches, asides(folded))


_QUOTED_LINE = re.compile(r"^[ \t]{0,8}>[^\n]*+", re.MULTILINE)


def without_quoted_line(folded: str, start: int | None) -> str | None:
    """Return a text with its quoted lines blanked if one of them has `start` and an
    unquoted line stands below it, else None.

    >>> without_quoted_line("> score: 5\\na 2.", 2)
    '          \\na 2.'
    >>> without_quoted_line("> a 5\\nscore: 2", 6) is None
    True
    >>> without_quoted_line("tone: 2\\n> score: 5", 10) is None
    True
    """
    if start is None or ">" not in folded:
        return None
    line = folded.rfind("\n", 0, start) + 1
    if not folded[line:].lstrip(" \t").startswith(">"):
        return None
    if not _QUOTED_LINE.sub("", folded[line:]).strip():
        return None  # a judge may set off its verdict at the end
    return _QUOTED_LINE.sub(lambda match: " " * len(match[0]), folded)


def text_says(folded: str, start: int) -> bool:
    """Return whether the clause before `start` makes the judged text the speaker.

    >>> text_says("the text asks for [[b]]", 18), text_says("i choose [[b]]", 9)
    (True, False)
    """
    clause = re.split(r"[.!?\n]", folded[max(0, start - _LEAD) : start])[-1]
    if not TEXT_SAYS.search(clause):
        return False
    return not _JUDGE_SAYS.search(clause)


def _outside(matches: list[re.Match[str]], spans: QuotedSpans) -> list[re.Match[str]]:
    """Return the matches that are not entirely within spans; both are in order."""
    if not spans:
        return matches
    outside = []
    index = 0
    # Characters at the end of a match that do not belong to its verdict.
    closing = " \t\n*_\"'`)]}>.,"
    for match in matches:
        end = match.start() + len(match[0].rstrip(closing))
        while index < len(spans) and spans[index][1] < end:
            index += 1
        if index == len(spans) or match.start() < spans[index][0]:
            outside.append(match)
    return outside


def _is_overall(match: re.Match[str], folded: str) -> bool:
    """Return whether a match begins its line and is not a verdict on one of several
    qualities.
    """
    if _OF_A_PART.search(match[0]):
        return False
    start = max(folded.rfind("\n", 0, match.start()) + 1, match.start() - 20)
    return not any(map(str.isalnum, folded[start : match.start()]))
