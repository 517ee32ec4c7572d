"""Contents that change places: sentences, words, and whole texts between items.

Nothing is left in its own place, and no place gets content that reads the same as before.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from judgescope.perturb.edits import Edit, Perturbed, impossible, may_cut, perturbed
from judgescope.perturb.sentences import split_sentences

if TYPE_CHECKING:
    from numpy.random import Generator

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def reorder_sentences(text: str, rng: "Generator", *, k: int | Literal["all"]) -> Perturbed:
    """Put k random sentences in an order in which each has moved; the gaps stay where they are.

    One edit for each moved sentence. Short where fewer than k can move (too few, or too many of
    them read the same). Source: paper 000, reordering; paper 001, sentence exchange (k = 2).
    """
    spans = split_sentences(text)
    sentences = [text[slice(*span)] for span in spans]
    wanted = len(spans) if k == "all" else k
    chosen = choose(sentences, wanted, rng)
    if not chosen:
        return impossible(text, "fewer than two different sentences")
    givers = derange([sentences[i] for i in chosen], rng)
    edits = _moves(spans, sentences, chosen, givers)
    return perturbed(text, edits, done=len(chosen), wanted=wanted)


def exchange_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Swap k random pairs of neighbouring, different words (paper 001, word exchange).

    Neighbours have nothing but blanks between them: no mark, no line break. No word is in two
    pairs. Short only where no k pairs can be chosen so.
    """
    found = (match.span() for match in _WORD.finditer(text))
    spans = [span for span in found if all(may_cut(text, end) for end in span)]
    words = [text[slice(*span)] for span in spans]
    pairs = [i for i in range(len(words) - 1) if _may_swap(text, words, spans, i)]
    chosen = _apart(pairs, k, rng)
    if not chosen:
        return impossible(text, "no two different words side by side")
    firsts = [Edit(spans[i][0], words[i], words[i + 1]) for i in chosen]
    seconds = [Edit(spans[i + 1][0], words[i + 1], words[i]) for i in chosen]
    return perturbed(text, firsts + seconds, done=len(chosen), wanted=k)


def _may_swap(
    text: str, words: Sequence[str], spans: Sequence[tuple[int, int]], first: int
) -> bool:
    gap = text[spans[first][1] : spans[first + 1][0]]
    one_line = len(f"{gap}.".splitlines()) == 1
    return gap.isspace() and one_line and words[first] != words[first + 1]


def _apart(pairs: Sequence[int], k: int, rng: "Generator") -> list[int]:
    """Return k random pairs without a common word; from left to right where chance finds fewer.

    A pair is named by the place of its first word. From left to right most pairs are found.
    """
    for order in (rng.permutation(pairs).tolist(), pairs):
        chosen: list[int] = []
        for pair in order:
            if len(chosen) < k and {pair - 1, pair, pair + 1}.isdisjoint(chosen):
                chosen.append(pair)
        if len(chosen) == k:
            break
    return chosen


def replace_text(texts: Sequence[str], rng: "Generator") -> list[Perturbed]:
    """Give every text the place of another, different one: no one keeps its own, each moves once.

    Impossible for an empty text, and for the surplus where one text fills more than half of all
    places. Source: paper 000, random ending and random answer; methods.md 7.
    """
    filled = [i for i, text in enumerate(texts) if text.strip()]
    chosen = [filled[i] for i in choose([texts[i] for i in filled], len(filled), rng)]
    givers = derange([texts[i] for i in chosen], rng)
    donors = {place: texts[chosen[giver]] for place, giver in zip(chosen, givers, strict=True)}
    return [_replaced(text, donors.get(place)) for place, text in enumerate(texts)]


def wrong_ending(text: str, _: "Generator", other: str) -> Perturbed:
    """Put the ending in its place that its dataset calls wrong (paper 000, wrong ending)."""
    if not other.strip() or other.split() == text.split():
        return impossible(text, "the wrong ending is empty or the same")
    return perturbed(text, [Edit(0, text, other)], done=1, wanted=1)


def _replaced(text: str, donor: str | None) -> Perturbed:
    if donor is None:
        reason = "no other text left that differs" if text.strip() else "the text is empty"
        return impossible(text, reason)
    return perturbed(text, [Edit(0, text, donor)], done=1, wanted=1)


def _moves(
    spans: Sequence[tuple[int, int]],
    contents: Sequence[str],
    chosen: Sequence[int],
    givers: Sequence[int],
) -> list[Edit]:
    pairs = zip(chosen, givers, strict=True)
    return [Edit(spans[to][0], contents[to], contents[chosen[giver]]) for to, giver in pairs]


def choose(contents: Sequence[str], count: int, rng: "Generator") -> list[int]:
    """Return `count` random places whose contents can be deranged, or as many as there are.

    That is, no content has more than half of the places, so it is an empty list or at least two.
    """
    numbers = Counter(contents).values()
    sizes = range(min(count, len(contents)), 1, -1)
    size = next((n for n in sizes if sum(min(number, n // 2) for number in numbers) >= n), 0)
    chosen: list[int] = []
    taken: Counter[str] = Counter()
    for place in rng.permutation(len(contents)).tolist():
        if len(chosen) < size and taken[contents[place]] < size // 2:
            chosen.append(place)
            taken[contents[place]] += 1
    return sorted(chosen)


def derange(contents: Sequence[str], rng: "Generator") -> list[int]:
    """Return, for each place, the place it takes its new content from: never an equal content.

    Places are put in a random order in which equal contents are neighbours, and each takes from
    the place so much further on as the commonest content occurs: places with different contents
    form one random cycle.
    `contents` comes from `choose`.
    """
    counts = Counter(contents)
    rank = dict(zip(counts, rng.permutation(len(counts)).tolist(), strict=True))
    order = sorted(rng.permutation(len(contents)).tolist(), key=lambda place: rank[contents[place]])
    shift = max(counts.values(), default=0)
    giver = dict(zip(order, order[shift:] + order[:shift], strict=True))
    return [giver[place] for place in range(len(contents))]
