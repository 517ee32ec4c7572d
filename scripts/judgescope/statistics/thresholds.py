"""The score from which on a text has the last of two labels, chosen on other sources."""

import numpy as np

from judgescope.statistics.arrays import Codes, Floats


def above_threshold(scores: Floats, threshold: float) -> Floats:
    """Return 1 where a score is at least the threshold, else 0; NaN stays. (texts,)."""
    return np.where(np.isnan(scores), np.nan, scores >= threshold).astype(np.float64)


def cross_fitted(gold: Floats, scores: Floats, source: Codes) -> tuple[Floats, Floats]:
    """Return the labels of scores by the threshold that is best on all other sources.

    The threshold of a source is the score t with the highest (tpr + tnr)/2 of `score >= t` on the
    texts of all other sources, of their scores with equal values the lowest: no text has a say in
    its own label. gold 0 or
    1, scores, source (texts,), NaN = missing. Returns the labels (texts,), NaN where the score is
    missing or the other sources have one label only, and the thresholds of the sources that have a
    text with a score, in the order of their codes. Kohavi 1995 (leave one out, here a source).
    """
    labels = np.full(scores.shape, np.nan)
    known = ~(np.isnan(gold) | np.isnan(scores))
    scored = ~np.isnan(scores)
    values, place = np.unique(scores[known], return_inverse=True)
    n_sources = int(source.max(initial=-1)) + 1
    counts = np.zeros((n_sources, 2, values.size))
    np.add.at(counts, (source[known], gold[known].astype(np.int64), place), 1.0)
    others = counts.sum(axis=0) - counts
    totals = others.sum(axis=2)
    above = np.cumsum(others[:, 1, ::-1], axis=1)[:, ::-1]  # positives at or above each value
    below = np.cumsum(others[:, 0], axis=1) - others[:, 0]  # negatives below it
    thresholds = []
    for one in np.unique(source[scored]):
        negatives, positives = totals[one]
        if not negatives or not positives:
            continue
        balanced = above[one] / positives + below[one] / negatives
        balanced[others[one].sum(axis=0) == 0] = -1.0  # a score of its own alone
        threshold = values[int(np.argmax(np.round(balanced, 12)))]
        thresholds.append(threshold)
        own = scored & (source == one)
        labels[own] = scores[own] >= threshold
    return labels, np.array(thresholds)
