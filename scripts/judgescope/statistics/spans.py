"""Do the spans that a judge marks agree with those that people marked?

A span is a half-open stretch of a text, in characters or in tokens, whichever both sides use.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.dot import dot
from judgescope.statistics.means import replicated_share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, replicated, whole_and_resamples
from judgescope.statistics.result import NO_GOLD_SPANS, NO_PREDICTED_SPANS, NO_SPANS

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Stretch = tuple[int, int]
"""Start and end, the end not included."""


class Span(NamedTuple):
    """A stretch of a text and, where there is one, the category of the error in it."""

    start: int
    end: int
    category: str | None = None


class Counts(NamedTuple):
    """How many spans (or tokens) of a text are in both, in the prediction, and in the gold."""

    matched: int
    predicted: int
    gold: int


def exact_counts(
    predicted: Sequence[Span], gold: Sequence[Span], *, category: bool = False
) -> Counts:
    """Return |P ∩ G|, |P| and |G| for the multisets of spans with the same start and end.

    Each gold span answers one predicted span, so a span that is predicted twice is right once.
    `category`: a pair must have the same category too. Range 0 and above. This project; the spans
    that are compared are those of paper 004, 7.2.
    """
    ours, golds = (Counter(_keys(spans, category)) for spans in (predicted, gold))
    return Counts((ours & golds).total(), ours.total(), golds.total())


def token_counts(
    predicted: Sequence[Span],
    gold: Sequence[Span],
    *,
    tokens: Sequence[Stretch] | None = None,
    category: bool = False,
) -> Counts:
    """Return |P ∩ G|, |P| and |G| for the sets of tokens that the spans touch.

    tokens (tokens,): where each lies, in the unit of the spans; None where the unit is the token.
    A token counts once, however many spans touch it. `category`: the members of the sets are pairs
    of a token and a category. Range 0 and above. Token overlap as in Thomson and Reiter 2021.
    """
    ours, golds = (_touched(spans, tokens, category) for spans in (predicted, gold))
    return Counts(len(ours & golds), len(ours), len(golds))


def placed_at_random(
    spans: Sequence[Span],
    gold: Sequence[Span],
    tokens: Sequence[Stretch],
    rng: np.random.Generator,
    placements: int,
) -> Codes:
    """Return |P ∩ G| and |P| in tokens where spans of the same lengths lie anywhere in the text.

    Each span keeps its number of tokens and starts at any token from which it fits, whatever the
    others do. Shape (placements, 2). This project.
    """
    found = np.zeros((placements, len(tokens)), dtype=bool)
    people = np.zeros(len(tokens), dtype=bool)
    people[[place for place, _ in _touched(gold, tokens, category=False)]] = True
    for span in spans:
        size = len(_touched([span], tokens, category=False))
        if not size:
            continue
        start = rng.integers(len(tokens) - size + 1, size=(placements, 1))
        found[np.arange(placements)[:, None], start + np.arange(size)] = True
    return np.stack([(found & people).sum(axis=1), found.sum(axis=1)], axis=1)


def _keys(spans: Sequence[Span], category: bool) -> list[tuple[int, int, str | None]]:
    return [(span.start, span.end, span.category if category else None) for span in spans]


def _touched(
    spans: Sequence[Span], tokens: Sequence[Stretch] | None, category: bool
) -> set[tuple[int, str | None]]:
    found = set[tuple[int, str | None]]()
    for start, end, name in _keys(spans, category):
        if tokens is None:
            places: Sequence[int] = range(start, end)
        else:
            places = [at for at, (left, right) in enumerate(tokens) if left < end and start < right]
        found.update((place, name) for place in places)
    return found


def scores_by_text(counts: Sequence[Counts]) -> Floats:
    """Return precision m / p, recall m / g and F1 2 m / (p + g) of each text.

    counts (texts,). Shape (3, texts), range 0 to 1. NaN where undefined: precision without
    predicted spans, recall without gold spans, F1 without either; so a clean text that is found
    clean has no scores, and one that is found faulty has precision and F1 of 0 and no recall.
    """
    matched, predicted, gold = _columns(counts)
    hits = np.stack([matched, matched, 2 * matched])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(hits / np.stack([predicted, gold, predicted + gold]))


def span_agreement(
    counts: Sequence[Counts], source: Codes, weights: Codes | None, *, missing: int = 0
) -> dict[str, Replicated]:
    """Return precision sum m / sum p, recall sum m / sum g and F1 2 sum m / (sum p + sum g).

    counts (texts,), source (texts,), weights (sources, sources) or None for no interval. Range 0
    to 1. `n` counts what is divided by: predicted, gold, or both; `missing` are texts that could
    not be compared. Undefined: precision without any predicted span, recall without any gold span,
    F1 without either. Micro-average; paper 004, 7.2, compares the same spans by hand.
    """
    matched, predicted, gold = _columns(counts)
    parts = {
        "span_precision": (matched, predicted, NO_PREDICTED_SPANS),
        "span_recall": (matched, gold, NO_GOLD_SPANS),
        "span_f1": (2 * matched, predicted + gold, NO_SPANS),
    }
    return {
        name: _ratio(name, hits, total, source, weights, why, missing)
        for name, (hits, total, why) in parts.items()
    }


def span_agreement_by_text(
    counts: Sequence[Counts], source: Codes, weights: Codes | None, *, missing: int = 0
) -> dict[str, Replicated]:
    """Return the means over texts of `scores_by_text`, each over the texts that have the score.

    Arguments and range as in `span_agreement`; `n` counts the texts with the score, `n_missing`
    the others, those that could not be compared among them. Undefined where no text has it.
    """
    found = {}
    for name, scores in zip(
        ("span_precision", "span_recall", "span_f1"), scores_by_text(counts), strict=True
    ):
        given = ~np.isnan(scores)
        lost = missing + int((~given).sum())
        ones = np.ones(int(given.sum()))
        found[name] = replicated_share(
            scores[given],
            ones,
            source[given],
            weights,
            missing=lost,
            of="mean over texts",
            scale=scale_of(name),
        )
    return found


def _columns(counts: Sequence[Counts]) -> Floats:
    return np.array(counts, dtype=np.float64).reshape(-1, 3).T


def _ratio(
    name: str,
    hits: Floats,
    total: Floats,
    source: Codes,
    weights: Codes | None,
    why: str,
    missing: int,
) -> Replicated:
    whole = whole_and_resamples(source, weights)
    sums, size = (np.bincount(source, weights=v, minlength=whole.shape[1]) for v in (hits, total))
    with np.errstate(invalid="ignore"):  # a resample may hold no span
        rows = dot(whole, sums) / dot(whole, size)
    n = round(float(size.sum()))
    return replicated(rows, why, sizes=size, scale=scale_of(name), n=n, n_missing=missing)
