"""Which texts a judge learns from, on which aspects, and which of them are held out (paper 004)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from judgescope.core.rng import stream, stream_seed


class Text(NamedTuple):
    """A text that can be drawn, there or yet to be written: its set of targets, and its system."""

    perturbation: str
    target: str
    system: str


class Drawn(NamedTuple):
    """A text and an aspect that a teacher judges."""

    item: str
    text: Text
    aspect: str


def draw(
    dataset: str,
    texts: Mapping[str, Sequence[Text]],
    aspects: Sequence[str],
    *,
    seed: int,
    n_texts: int,
    n_aspects: int,
) -> list[Drawn]:
    """Return N texts of each item and M aspects of each text, all where there are fewer.

    `texts`: item -> its texts. What is drawn of an item depends on nothing but the study's seed and
    that item's texts. Source: paper 004, section 5.1 (N = 4, M = 3 for most tasks).
    """
    found = []
    for item in sorted(texts):
        own = sorted(texts[item], key=lambda one: (one.perturbation, one.target))
        names = [f"{one.perturbation}:{one.target}" for one in own]
        for at in _some(len(own), n_texts, seed, "texts", dataset, item):
            chosen = _some(len(aspects), n_aspects, seed, "aspects", dataset, names[at])
            found += [Drawn(item, own[at], aspects[one]) for one in chosen]
    return found


def _some(n: int, most: int, seed: int, *names: str) -> list[int]:
    """Return `most` of the numbers below n, drawn without putting back, in their order."""
    if n <= most:
        return list(range(n))
    rng = stream(seed, "distill", *names)
    return sorted(rng.choice(n, size=most, replace=False).tolist())


def held_out(sources: Iterable[str], share: float, *, seed: int, dataset: str) -> set[str]:
    """Return ceil(share · n) of a dataset's n sources, drawn by the study's seed: at least one.

    Of a single source none can be held out, and nothing is.
    """
    names = set(sources)
    if len(names) < 2:
        return set()
    ordered = sorted(
        names, key=lambda one: (stream_seed(seed, "distill", "held out", dataset, one), one)
    )
    return set(ordered[: max(1, math.ceil(share * len(names) - 1e-9))])
