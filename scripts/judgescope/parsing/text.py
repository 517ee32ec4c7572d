"""Refusals, and the places of quoted words in a text."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, Literal, NamedTuple

from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import ErrorSpan, Judgment
from judgescope.parsing.quotes import quotations

_REFUSAL = re.compile(
    r"\bas an ai\b|\bi(?:'m| am) (?:very |so |really )?(?:sorry|afraid)\b|"
    r"\bi apologi[sz]e\b"
    r"|\bi(?:'m| am) (?:not |un)comfortable (?:with )?"
    r"(?:rating|scoring|grading|judging|evaluating|assessing)\b"
    r"|\b(?:can(?:no|')t|can not|won't|(?:unable|not able|decline|not possible|"
    r"refuse) to)"
    r"(?: \w+)? (?:be )?(?:rated?|scored?|evaluated?|judged?|assess(?:ed)?|provide|"
    r"give|assign"
    r"|assist|help|comply|fulfill?|answer|determine)\b"
)


_REPORTED = re.compile(
    r"\b(?:says?|said|writes?|wrote|repl(?:y|ies|ied) (?:is|was|with|that)|answers|"
    r"answered|reads|states?|stated|claims?|apologi[sz]e[sd]|"
    r"(?:the|this|its|that|a) (?:[a-z]{1,20} )?(?:bot|chatbot|assistant|agent|reply|"
    r"response|model|answer|author|writer|speaker|system|output|user))\b"
)
"""Words before a refusal that is another's."""


def is_refusal(text: str) -> bool:
    """Return whether the writer of a text refuses the task.

    A refusal that the text reports or quotes is another's.

    >>> is_refusal("I cannot rate this."), is_refusal("The bot says it can't help.")
    (True, False)
    """
    folded = fold(text)
    refusals = list(_REFUSAL.finditer(folded))
    if not refusals:
        return False
    quoted = quotations(folded)
    return any(_is_own(match, folded, quoted) for match in refusals)


def _is_own(
    match: re.Match[str], folded: str, quoted: Sequence[tuple[int, int]]
) -> bool:
    """Return whether a refusal is the writer's, not one that is reported."""
    if any(start <= match.start() < end for start, end in quoted):
        return False
    if " be " in match[0]:  # "the text cannot be rated"
        return True
    clause = re.split(r"[.!?\n]", folded[max(0, match.start() - 200) : match.start()])
    return _REPORTED.search(clause[-1]) is None


def nothing_read(answer: str, rule: str) -> Judgment:
    """Return the judgment of an answer without a verdict: refused, or unparsed with
    `rule`.
    """
    if is_refusal(answer):
        return Judgment("refused", "refusal")
    return Judgment("unparsed", rule)


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


class QuoteLocation(NamedTuple):
    """The location of a quote, in code points of the original text; the end is
    exclusive.

    occurrence: the number (from 1) of this place among those with the same words. All
    fields are None if the quote is not found.
    """

    start: int | None
    end: int | None
    occurrence: int | None
    match: Match


NOWHERE: Final = QuoteLocation(None, None, None, "not_found")


class LocatedSpan(NamedTuple):
    """An error (`ErrorSpan`) and its location (`QuoteLocation`)."""

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

    def without_edges(self) -> str:
        """Return the text without characters at its ends that consist of `_EDGES`.

        A star with a mark stays, because the mark alone would split a character.
        """
        kept = [index for index, sign in enumerate(self.text) if sign not in _EDGES]
        if not kept:
            return ""
        begin = kept[0]
        end = kept[-1]
        while begin > 0 and self.starts[begin - 1] == self.starts[begin]:
            begin -= 1
        while end + 1 < len(self.text) and self.starts[end + 1] == self.starts[end]:
            end += 1
        return self.text[begin : end + 1]

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


def locate(
    quotes: Sequence[str], text: str, *, cutoff: float = CUTOFF
) -> list[QuoteLocation]:
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
            located.append(QuoteLocation(*spans[index], index + 1, match))
        else:
            located.append(NOWHERE)
    return located


def locate_errors(errors: Sequence[ErrorSpan], text: str) -> list[LocatedSpan]:
    """Return an annotation's errors with their places (`locate`), if they quote any
    words.
    """
    places = locate([error.location or "" for error in errors], text)
    return [
        LocatedSpan(*error, *location)
        for error, location in zip(errors, places, strict=True)
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
    exact = []
    if quote.strip():
        exact = _occurrences(quote, text)
    yield "exact", _whole_words(exact, text)
    bare = _folded(quote).without_edges()
    same = folded.occurrences(bare)
    yield "normalised", folded.original(_whole_words(same, folded.text))
    yield "exact", tuple(exact)
    yield "normalised", folded.original(same)
    similar = folded.occurrences(_most_similar(bare, folded.text, cutoff))
    yield "fuzzy", folded.original(_whole_words(similar, folded.text) or similar)


def _occurrences(words: str, text: str) -> list[Span]:
    """Return the spans of the words in the text; they do not overlap."""
    if words:
        return [match.span() for match in re.finditer(re.escape(words), text)]
    return []


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
    if fuzz.ratio(words, best) >= cutoff:
        return best
    return ""


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
    signs: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
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
