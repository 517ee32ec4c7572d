"""Pairs of texts of which one is known to be better, and which of them people are asked about."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from judgescope.people.recheck.texts import RATED, ROW, Text

if TYPE_CHECKING:
    from numpy.random import Generator

NEW, ORIGINAL = "new-level", "original-level"
"""The groups of pairs of rated texts; texts in a row are one group, called as their kind is.

All raters gave one of the texts the same rating. NEW: all but one gave it to the other, too, and
the one a neighbouring rating. ORIGINAL: all gave the other a neighbouring rating.
"""
POOL: Final = 10_000
"""So many pairs are drawn, of which those come first whose sources no other has."""
Block = tuple[Sequence[Text], Sequence[Text]]
"""Every text of the first makes a pair with every one of the second."""


class Pair(NamedTuple):
    """Two texts, the one that is known to be better first, and what tells so."""

    group: str
    better: Text
    worse: Text

    @property
    def texts(self) -> tuple[Text, ...]:
        """Return the texts that a question about the pair shows, the better first."""
        return (self.better, self.worse)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the item of both texts, or their two items."""
        return tuple(sorted({self.better.item, self.worse.item}))


About = Pair | Text
"""What a question is about: which text of a pair is better, or how good a text is."""


def pair_of(one: Text, other: Text) -> Pair | None:
    """Return the pair that two texts make, in whatever order they come, or None."""
    if (one.kind, one.dataset, one.set, one.aspect) != (
        *(other.kind, other.dataset, other.set, other.aspect),
    ):
        return None
    if one.kind not in _GROUPS:
        return None
    group, upwards = _GROUPS[one.kind](one, other), one.kind == RATED
    better, worse = sorted((one, other), key=lambda text: text.level, reverse=upwards)
    return Pair(group, better, worse) if group else None


def _of_ratings(one: Text, other: Text) -> str | None:
    first, second = agreed(one), agreed(other)
    if first is not None and second is not None:
        return ORIGINAL if abs(first - second) == 1 else None
    return NEW if {first, second} & {*nearly(one), *nearly(other)} else None


def _in_a_row(one: Text, other: Text) -> str | None:
    return ROW if one.item == other.item and abs(one.level - other.level) == 1 else None


_GROUPS: Final[dict[str, Callable[[Text, Text], str | None]]] = {
    RATED: _of_ratings,
    ROW: _in_a_row,
}


def agreed(text: Text) -> int | None:
    """Return the place on the scale of the rating that all raters gave, two of them at least."""
    return text.places[0] if len(text.places) > 1 and len({*text.places}) == 1 else None


def nearly(text: Text) -> list[int]:
    """Return the places of a rating that all but one rater gave, and this one a neighbour of it.

    Of two raters who gave neighbouring ratings, either may be the one.
    """
    low, *_, high = text.places if len(text.places) > 1 else (0, 0)
    if high - low != 1:
        return []
    return [place for place in (low, high) if text.places.count(place) == len(text.places) - 1]


def blocks_of(texts: Iterable[Text]) -> dict[str, list[Block]]:
    """Return group -> the pairs that rated texts of one aspect make; a pair is in one block."""
    alike: dict[int, list[Text]] = {}
    close: dict[int, list[Text]] = {}
    for text in sorted(texts, key=lambda one: one.target):
        if (place := agreed(text)) is not None:
            alike.setdefault(place, []).append(text)
        for base in nearly(text):
            close.setdefault(base, []).append(text)
    return {
        NEW: [(alike[place], close.get(place, [])) for place in sorted(alike)],
        ORIGINAL: [(alike[place], alike.get(place + 1, [])) for place in sorted(alike)],
    }


def neighbours(texts: Iterable[Text]) -> list[Block]:
    """Return the pairs that texts in rows make: of one item, and the one has an error more."""
    ordered = sorted(texts, key=lambda one: (one.set, one.aspect, one.item, one.level))
    return [((one,), (other,)) for one, other in pairwise(ordered) if pair_of(one, other)]


def drawn(blocks: Sequence[Block], rng: "Generator", most: int) -> list[Pair]:
    """Return some of all pairs of the blocks, none twice.

    First come those whose sources no pair before them has: so many texts are judged, and pairs
    say something each. Fewer are the first of more, up to POOL.
    """
    ends = list(accumulate(len(one) * len(other) for one, other in blocks))
    if not ends or not ends[-1]:
        return []
    chosen = rng.choice(ends[-1], min(ends[-1], max(POOL, most)), replace=False)
    return list(islice(_spread([_at(blocks, ends, at) for at in chosen.tolist()]), most))


def _at(blocks: Sequence[Block], ends: Sequence[int], at: int) -> Pair:
    """Return pair number `at` of all; `ends` says how many there are up to each block's end."""
    number = bisect_right(ends, at)
    firsts, seconds = blocks[number]
    first, second = divmod(ends[number] - 1 - at, len(seconds))
    pair = pair_of(firsts[first], seconds[second])
    assert pair, "a block holds pairs"
    return pair


def _spread(pairs: Sequence[Pair]) -> Iterator[Pair]:
    used: set[str] = set()
    others = []
    for pair in pairs:
        if used.isdisjoint(pair.sources):
            used.update(pair.sources)
            yield pair
        else:
            others.append(pair)
    yield from others
