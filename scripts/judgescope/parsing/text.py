"""Preparation of replies for parsing: removes reasoning, folds text, locates
quotations.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from judgescope.parsing.judgment import ErrorSpan, Judgment

_FULL_WIDTH = {0xFF01 + offset: chr(0x21 + offset) for offset in range(94)}
_SPACES = dict.fromkeys("\u00a0\u202f\u3000\u200b\ufeff", " ")
_SIGNS = {"。": ".", "、": ",", "【": "[", "】": "]", "「": '"', "」": '"'} | {
    "’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "−": "-", "‐": "-", "‑": "-"
}  # fmt: skip
_ONE_SPELLING = _FULL_WIDTH | str.maketrans(_SPACES | _SIGNS)
_THINK = re.compile(r"[<\[](/?)(?:think|thinking|thought)[>\]]", re.IGNORECASE)
_USER_TURN = (
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*user\b"
    r"|<\|user\|>|(?:<s>\s*)?\[INST\]"
)
_END_OF_TURN = re.compile(
    r"(?:<\|(?:im_end|eot_id|end|end_of_text|endoftext|eom_id)\|>|</s>|"
    r"<end_of_turn>)\s*"
    rf"(?:\Z|{_USER_TURN})",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\bas an ai\b|\bi(?:'m| am) (?:very |so |really )?(?:sorry|afraid)\b|"
    r"\bi apologi[sz]e\b"
    r"|\b(?:can(?:no|')t|can not|won't|(?:unable|not able|decline|not possible|"
    r"refuse) to)"
    r"(?: \w+)? (?:be )?(?:rated?|scored?|evaluated?|judged?|assess(?:ed)?|provide|"
    r"give|assign"
    r"|assist|help|comply|fulfill?|answer|determine)\b"
)


def fold(text: str) -> str:
    """Return the text in lower case with plain digits, colons, quotes and dashes.

    The result is as long as the text, so offsets are the same in both.
    """
    if text.isascii():
        return text.lower()
    plain = text.translate(_ONE_SPELLING)
    lower = plain.lower()
    if len(lower) == len(plain):
        return lower
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in plain)


def without_reasoning(text: str) -> tuple[str, bool]:
    """Return the text without its reasoning blocks, and whether the last block is
    unclosed.

    A closing tag without an opening one ends a block that the prompt opened: the text
    before it is reasoning. An end-of-turn token ends the text if it ends the reply or a
    user turn follows: a user turn that the model invents, and its reply to that, are
    not part of the answer.
    """
    if "<" not in text and "[" not in text:  # most replies have no tag or token
        return text.strip(), False
    if (end := _END_OF_TURN.search(text)) and text[: end.start()].strip():
        text = text[: end.start()]
    kept: list[str] = []
    inside, start = False, 0
    for tag in _THINK.finditer(text):
        if tag[1]:
            if not inside:
                kept.clear()
            inside, start = False, tag.end()
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    if not inside:
        kept.append(text[start:])
    return "".join(kept).strip(), inside


def answer_of(text: str) -> str | Judgment:
    """Return the text without reasoning, or a judgment if the reply has no answer."""
    answer, unclosed = without_reasoning(text)
    if unclosed:
        return Judgment("truncated", "unclosed_reasoning")
    return answer or Judgment("empty", "only_reasoning")


def is_refusal(text: str) -> bool:
    """Return whether the writer of a text refuses the task."""
    return _REFUSAL.search(fold(text)) is not None


def nothing_read(answer: str, rule: str) -> Judgment:
    """Return the judgment of an answer without a verdict: refused, or unparsed with
    `rule`.
    """
    return (
        Judgment("refused", "refusal")
        if is_refusal(answer)
        else Judgment("unparsed", rule)
    )


# --- quotations -----------------------------------------------------------------------

_LENGTH: Final = 4000
_QUOTATION = re.compile(
    rf"\"(?<!\w.)(?:[^\"\\\n]|\\.){{1,{_LENGTH}}}+\"|`[^`\n]{{1,{_LENGTH}}}+`"
    rf"|'(?<!\w.)(?!\d)[^'\n]{{1,{_LENGTH}}}+'(?!\w)"
)
_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_ASIDE = re.compile(
    rf"^[ \t]{{0,8}}>[^\n]*+|```.*?(?:```|\Z)|\{{[^{{}}\n]{{1,{_LENGTH}}}+\}}",
    re.DOTALL | re.MULTILINE,
)
"""A quoted line, a fenced block, an object: the judge may write its own verdict like
this."""
_LEAD: Final = 200
"""How many characters before a quotation may name its source."""
_TEXT_SAYS = re.compile(
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
_CLOSING: Final = " \t\n*_\"'`)]}>.,"
"""Characters at the end of a match that do not belong to its verdict."""
_LINE = re.compile(r"[^\n]+")

Spans = list[tuple[int, int]]


def quotations(folded: str) -> Spans:
    """Return the quotations within the lines of a folded text.

    A line that is entirely quoted is treated as unquoted, unless it begins with a key
    (`"key":`).
    """
    spans = Spans()
    if '\\"' not in folded and not _QUOTATION.search(folded):
        return spans
    for line in _LINE.finditer(folded):
        start = line.start()
        quoted = [
            (start + quotation.start(), start + quotation.end())
            for quotation in _QUOTATION.finditer(_without_unclosed(line[0]))
        ]
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


def unquoted(matches: Iterable[re.Match[str]], folded: str) -> list[re.Match[str]]:
    """Return the matches that are the judge's own statements, not quotations of the
    text.

    If all are quoted, return those that the judge itself puts in quotation marks. If
    one begins its line and is an overall verdict, those in quoted lines, fenced blocks
    and objects are ignored. The matches are in order and do not overlap.
    """
    candidates = list(matches)
    marked = candidates and ('"' in folded or "'" in folded or "`" in folded)
    quoted = quotations(folded) if marked else []
    stated = _outside(candidates, quoted) or _self_quoted(candidates, quoted, folded)
    if len(stated) < 2:
        return stated
    plain = _outside(stated, [aside.span() for aside in _ASIDE.finditer(folded)])
    return plain if any(_is_overall(match, folded) for match in plain) else stated


def _self_quoted(
    matches: list[re.Match[str]], spans: Spans, folded: str
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
        start, end = around[0][0], around[-1][1]
        lead = re.split(r"[.!?\n]", folded[max(0, start - _LEAD) : start])[-1]
        ends_reply = not any(map(str.isalnum, folded[end:]))
        if not _TEXT_SAYS.search(lead) and (ends_reply or _JUDGE_SAYS.search(lead)):
            stated.append(match)
    return stated


def _outside(matches: list[re.Match[str]], spans: Spans) -> list[re.Match[str]]:
    """Return the matches that are not entirely within spans; both are in order."""
    if not spans:
        return matches
    outside, index = [], 0
    for match in matches:
        end = match.start() + len(match[0].rstrip(_CLOSING))
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


Match = Literal["exact", "normalised", "fuzzy", "not_found"]
MATCHES: Final[tuple[Match, ...]] = ("exact", "normalised", "fuzzy", "not_found")
"""The ways to locate a quote, from the most to the least certain."""
CUTOFF: Final = 85.0
"""The minimum similarity of a fuzzy match, in percent: 1 wrong letter in 7 passes, in 6
fails."""
LARGEST: Final = 20_000_000
"""The limit on quote length times text length; above it, a fuzzy search may take
minutes."""
Span = tuple[int, int]
_EDGES = "\"'`*_. "
"""Characters at the ends of a folded quote that do not belong to it, such as a full
stop."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts without spaces between words."""


class Place(NamedTuple):
    """The location of a quote, in code points of the original text; the end is
    exclusive.

    occurrence: the number (from 1) of this place among those with the same words. All
    fields are None if the quote is not found.
    """

    start: int | None
    end: int | None
    occurrence: int | None
    match: Match


NOWHERE: Final = Place(None, None, None, "not_found")


class LocatedSpan(NamedTuple):
    """An error (`ErrorSpan`) and its location (`Place`)."""

    location: str | None
    explanation: str
    severity: int | None
    category: str | None
    start: int | None
    end: int | None
    occurrence: int | None
    match: Match


class _Folded(NamedTuple):
    """A text with normalised spelling, and the original span of each of its
    characters.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def original(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Return spans of the folded text as spans of the original."""
        return tuple((self.starts[start], self.ends[end - 1]) for start, end in spans)

    def occurrences(self, words: str) -> list[Span]:
        """Return the spans of the words that do not split a character of the
        original.
        """
        return [
            (start, end)
            for start, end in _occurrences(words, self.text)
            if (start == 0 or self.starts[start - 1] != self.starts[start])
            and (end == len(self.text) or self.starts[end - 1] != self.starts[end])
        ]


def locate(quotes: Sequence[str], text: str, *, cutoff: float = CUTOFF) -> list[Place]:
    """Return the place of each quote in the text: exact, normalised, or similar.

    Normalised: differences of case, white space, quotation marks, dashes, full width,
    ligatures, composed letters and invisible characters are ignored, as are quotation
    marks or an ellipsis at the quote's ends. Similar: the span with the highest share
    of equal characters, at least `cutoff` percent, extended to entire words; not
    searched if quote and text are too long (`LARGEST`). A place within a longer word is
    used only if the normalised quote has no place at word boundaries. Equal quotes get
    successive places; if there are more quotes than places, the rest get the last
    place. An empty quote is not found. Never raises.
    """
    folded = _folded(text)
    n_used = Counter[tuple[Span, ...]]()
    located = []
    for quote in quotes:
        ways = _ways_to_locate(quote, text, folded, cutoff)
        match, spans = next(
            ((match, spans) for match, spans in ways if spans), ("not_found", ())
        )
        if spans:
            index = min(n_used[spans], len(spans) - 1)
            n_used[spans] += 1
            located.append(Place(*spans[index], index + 1, match))
        else:
            located.append(NOWHERE)
    return located


def locate_errors(errors: Sequence[ErrorSpan], text: str) -> list[LocatedSpan]:
    """Return an annotation's errors with their places (`locate`), if they quote any
    words.
    """
    places = locate([error.location or "" for error in errors], text)
    return [
        LocatedSpan(*error, *place) for error, place in zip(errors, places, strict=True)
    ]


def occurrence_of(start: int, end: int, text: str) -> int:
    """Return the number (from 1) of text[start:end] among the places with the same
    words.
    """
    spans = _occurrences(text[start:end], text)
    whole_words = _whole_words(spans, text)
    return 1 + sum(
        1
        for span in (whole_words if (start, end) in whole_words else spans)
        if span[0] < start
    )


def _ways_to_locate(
    quote: str, text: str, folded: _Folded, cutoff: float
) -> Iterator[tuple[Match, tuple[Span, ...]]]:
    """Yield the ways to locate a quote and the spans found by each, the most certain
    first.
    """
    exact = _occurrences(quote, text) if quote.strip() else []
    yield "exact", _whole_words(exact, text)
    bare = _folded(quote).text.strip(_EDGES)
    same = folded.occurrences(bare)
    yield "normalised", folded.original(_whole_words(same, folded.text))
    yield "exact", tuple(exact)
    yield "normalised", folded.original(same)
    similar = folded.occurrences(_most_similar(bare, folded.text, cutoff))
    yield "fuzzy", folded.original(_whole_words(similar, folded.text) or similar)


def _occurrences(words: str, text: str) -> list[Span]:
    """Return the spans of the words in the text; they do not overlap."""
    return (
        [match.span() for match in re.finditer(re.escape(words), text)] if words else []
    )


def _whole_words(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    """Return the spans that neither begin nor end within a word."""
    return tuple(
        (start, end)
        for start, end in spans
        if not (_within_word(text, start) or _within_word(text, end))
    )


def _within_word(text: str, index: int) -> bool:
    return (
        0 < index < len(text)
        and _is_letter(text[index - 1])
        and _is_letter(text[index])
    )


@lru_cache(maxsize=4096)
def _is_letter(sign: str) -> bool:
    letter = sign.isalnum() or unicodedata.category(sign)[0] == "M"
    return letter and not _UNSPACED.match(sign)


def _most_similar(words: str, text: str, cutoff: float) -> str:
    """Return the part of the text that is most similar to the words, "" below the
    cutoff.
    """
    from rapidfuzz import fuzz  # imported here, because other parsers do not need it

    if not words or len(words) * len(text) > LARGEST:
        return ""
    aligned = fuzz.partial_ratio_alignment(words, text, score_cutoff=cutoff)
    if aligned is None:
        return ""
    ends = product(
        _word_ends(text, aligned.dest_start), _word_ends(text, aligned.dest_end)
    )
    parts = [text[start:end].strip(_EDGES) for start, end in ends]
    best = max(parts, key=lambda part: fuzz.ratio(words, part))
    return best if fuzz.ratio(words, best) >= cutoff else ""


def _word_ends(text: str, index: int) -> Span:
    """Return the ends of the word around an index of the text."""
    left = right = index
    while _within_word(text, left):
        left -= 1
    while _within_word(text, right):
        right += 1
    return left, right


def _folded(text: str) -> _Folded:
    """Return the text with normalised spelling, single blanks, and no blanks at its
    ends.
    """
    signs, starts, ends = list[str](), list[int](), list[int]()
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and unicodedata.combining(text[end]):
            continue  # a mark belongs to the character before it
        for sign in _one_spelling(text[start:end]):
            if sign == " " and (not signs or signs[-1] == " "):
                continue
            signs.append(sign)
            starts.append(start)
            ends.append(end)
        start = end
    if signs and signs[-1] == " ":
        signs.pop()
    return _Folded("".join(signs), starts, ends)


@lru_cache(maxsize=4096)
def _one_spelling(cluster: str) -> str:
    """Return a character with its marks, decomposed and in lower case; "" if it is
    invisible.
    """
    visible = "".join(sign for sign in cluster if unicodedata.category(sign) != "Cf")
    plain = unicodedata.normalize("NFKD", fold(visible)).casefold()
    plain = fold(unicodedata.normalize("NFKD", plain))
    return "".join(" " if sign.isspace() else sign for sign in plain)
