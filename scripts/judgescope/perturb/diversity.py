"""How much texts of one item are alike, and which of them are the most diverse."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.anchors import most_diverse


def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return chrF of every two texts in [0, 1]; with beta 1 it is the same in both directions."""
    from sacrebleu.metrics.chrf import CHRF

    measure = CHRF(beta=1)
    found = np.eye(len(texts))
    for at, text in enumerate(texts):
        for other in range(at):
            score = measure.sentence_score(text, [texts[other]]).score / 100
            found[at, other] = found[other, at] = score
    return found


def diverse(texts: Sequence[str], wanted: int, first: int | None = None) -> list[int]:
    """Return the places of `wanted` diverse texts, no two of them equal in words (`most_diverse`).

    `first` is the place of one that is among them in any case.
    """
    own = {" ".join(text.split()): at for at, text in reversed(list(enumerate(texts)))}
    if first is not None:
        own[" ".join(texts[first].split())] = first
    places = sorted(own.values())
    begin = None if first is None else places.index(first)
    found = most_diverse(similarities([texts[at] for at in places]), wanted, begin)
    return [places[at] for at in found]
