"""Where in a text the words stand that an annotator quotes."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, Literal, NamedTuple

from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.text import fold

Match = Literal["exact", "normalised", "fuzzy", "not_found"]
MATCHES: Final[tuple[Match, ...]] = ("exact", "normalised", "fuzzy", "not_found")
"""The surest first."""
CUTOFF: Final = 85.0
"""The least similarity of a fuzzy match, in percent: 7 letters with a wrong one have it, 6 not."""
LARGEST: Final = 20_000_000
"""Signs of a quote times those of the text: looking for the like of more may take minutes."""
Stretch = tuple[int, int]
_EDGES = "\"'`*_. "
"""What quotes and leaves out in a folded quote; a full stop also ends one that the text goes on."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words."""


class Place(NamedTuple):
    """Where a quote stands: code points of the original text, the end not included.

    occurrence: which of the places with these words, 1 being the first. None where not found.
    """

    start: int | None
    end: int | None
    occurrence: int | None
    match: Match


class LocatedSpan(NamedTuple):
    """An error (`ErrorSpan`) and where it stands (`Place`)."""

    location: str | None
    explanation: str
    severity: int | None
    category: str | None
    start: int | None
    end: int | None
    occurrence: int | None
    match: Match


NOWHERE: Final = Place(None, None, None, "not_found")


class _Folded(NamedTuple):
    """A text in one spelling, and per sign of it the stretch of the original that it stands for."""

    text: str
    starts: list[int]
    ends: list[int]


def locate(quotes: Sequence[str], text: str, *, cutoff: float = CUTOFF) -> list[Place]:
    """Return where each quote stands in the text: as it is, in one spelling, or nearly.

    One spelling: no differences of case, white space, quotation marks, dashes, full width,
    ligatures, composed letters and invisible signs, and none at the quote's ends (quotation marks,
    an ellipsis). Nearly: the stretch with the highest share of equal signs, at least `cutoff`
    percent, to whole words; not looked for where quote and text are too long (`LARGEST`). Places
    within other words count only where the quote stands nowhere by itself, in one spelling. Of
    equal quotes the first takes the first place, the second the second, and so on; those beyond the
    last take the last. An empty quote is not found. Never raises.
    """
    whole = _folded(text)
    used = Counter[tuple[Stretch, ...]]()
    return [_place(quote, text, whole, used, cutoff) for quote in quotes]


def locate_errors(
    errors: Sequence[ErrorSpan], text: str, *, cutoff: float = CUTOFF
) -> list[LocatedSpan]:
    """Return the errors of one annotation with where they stand, as `locate` finds them.

    One that names no place is not found.
    """
    places = locate([error.location or "" for error in errors], text, cutoff=cutoff)
    return [LocatedSpan(*error, *place) for error, place in zip(errors, places, strict=True)]


def occurrence_of(start: int, end: int, text: str) -> int:
    """Return which of the places with the words text[start:end] begins at `start`, from 1."""
    found = _exact(text[start:end], text)
    whole = _whole_words(found, text)
    places = whole if (start, end) in whole else found
    return 1 + sum(1 for place in places if place[0] < start)


def _place(
    quote: str, text: str, whole: _Folded, used: Counter[tuple[Stretch, ...]], cutoff: float
) -> Place:
    bare = _folded(quote).text.strip(_EDGES)
    for match, places in _found(quote, bare, text, whole, cutoff):
        if places:
            turn = min(used[places], len(places) - 1)
            used[places] += 1
            return Place(*places[turn], turn + 1, match)
    return NOWHERE


def _found(
    quote: str, bare: str, text: str, whole: _Folded, cutoff: float
) -> Iterator[tuple[Match, tuple[Stretch, ...]]]:
    """Yield the ways to find a quote with the places that each finds, the surest first."""
    exact = _exact(quote, text) if quote.strip() else []
    yield "exact", _whole_words(exact, text)
    same = _complete(_exact(bare, whole.text), whole)
    yield "normalised", _original(_whole_words(same, whole.text), whole)
    yield "exact", tuple(exact)
    yield "normalised", _original(same, whole)
    near = _complete(_exact(_nearest(bare, whole.text, cutoff), whole.text), whole)
    yield "fuzzy", _original(_whole_words(near, whole.text) or near, whole)


def _exact(words: str, text: str) -> list[Stretch]:
    return [(at, at + len(words)) for at in _finds(words, text)]


def _complete(places: Sequence[Stretch], whole: _Folded) -> list[Stretch]:
    """Return the places that begin and end with a sign of the original, not within one."""
    return [
        (start, end)
        for start, end in places
        if (start == 0 or whole.starts[start - 1] != whole.starts[start])
        and (end == len(whole.text) or whole.starts[end - 1] != whole.starts[end])
    ]


def _original(places: Sequence[Stretch], whole: _Folded) -> tuple[Stretch, ...]:
    return tuple((whole.starts[start], whole.ends[end - 1]) for start, end in places)


def _finds(words: str, text: str) -> Iterator[int]:
    """Yield where the words begin in the text, none within another place of theirs."""
    at = text.find(words) if words else -1
    while at >= 0:
        yield at
        at = text.find(words, at + len(words))


def _whole_words(places: Sequence[Stretch], text: str) -> tuple[Stretch, ...]:
    """Return the places that neither begin nor end within a word."""
    return tuple(one for one in places if not (_within(text, one[0]) or _within(text, one[1])))


def _within(text: str, at: int) -> bool:
    """Return whether a word goes on over this place of the text."""
    return 0 < at < len(text) and _joins(text[at - 1]) and _joins(text[at])


@lru_cache(maxsize=4096)
def _joins(sign: str) -> bool:
    letter = sign.isalnum() or unicodedata.category(sign)[0] == "M"
    return letter and not _UNSPACED.match(sign)


def _nearest(words: str, text: str, cutoff: float) -> str:
    """Return the part of the text that is most like the words, "" where none is enough."""
    from rapidfuzz import fuzz  # here only: what parses other replies does not need it

    if not words or len(words) * len(text) > LARGEST:
        return ""
    found = fuzz.partial_ratio_alignment(words, text, score_cutoff=cutoff)
    if found is None:
        return ""
    ends = product(_word_ends(text, found.dest_start), _word_ends(text, found.dest_end))
    parts = [text[start:end].strip(_EDGES) for start, end in ends]
    near = max(parts, key=lambda part: fuzz.ratio(words, part))
    return near if fuzz.ratio(words, near) >= cutoff else ""


def _word_ends(text: str, at: int) -> Stretch:
    """Return the ends of the word in which a place of the text lies."""
    left = right = at
    while _within(text, left):
        left -= 1
    while _within(text, right):
        right += 1
    return left, right


def _folded(text: str) -> _Folded:
    """Return the text in one spelling, with no space at its ends."""
    signs, starts, ends = list[str](), list[int](), list[int]()
    for start, end in _clusters(text):
        for sign in _one_spelling(text[start:end]):
            if sign == " " and (not signs or signs[-1] == " "):
                continue
            signs.append(sign)
            starts.append(start)
            ends.append(end)
    if signs and signs[-1] == " ":
        signs.pop()
    return _Folded("".join(signs), starts, ends)


def _clusters(text: str) -> Iterator[Stretch]:
    """Yield the stretches of a sign and the marks that follow it."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, at
            start = at


@lru_cache(maxsize=4096)
def _one_spelling(cluster: str) -> str:
    """Return a sign with its marks, decomposed and in lower case; "" for one that is not seen."""
    seen = "".join(sign for sign in cluster if unicodedata.category(sign) != "Cf")
    plain = unicodedata.normalize("NFKD", fold(seen)).casefold()
    plain = fold(unicodedata.normalize("NFKD", plain))
    return "".join(" " if sign.isspace() else sign for sign in plain)
