"""Rank correlation within sources: does a judge order the texts of one source as people
do?

r = Σ a b / sqrt(Σ a² Σ b²) over all texts. a and b are normal scores of the judge's
scores and of people's ratings minus the mean of the source's texts. The normal score of
a text is Φ⁻¹(k / (n+1)), where k is its midrank among all n texts. Unlike a mean of one
correlation per source, r uses how far apart two texts of a source are, so it needs
fewer sources for the same claim.

Normal scores: van der Waerden 1952. Deviations from the source's mean: the
repeated-measures correlation of Bland and Altman 1995.
"""

from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.correlation import midranks, ratio, shared, why_undefined
from judgescope.statistics.declared import correlation, declare
from judgescope.statistics.intervals import CORRELATION
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import NO_SOURCE

ORDER: Final = 2
STATISTIC: Final = "normal_scores"
DECLARED: Final = declare(
    normal_scores=correlation(
        "Rank correlation",
        "normal scores of the ranks of all texts, minus the mean of the source's "
        "texts, correlated",
        "van der Waerden 1952; Bland, Altman 1995",
        ties="midranks",
    )
)
ROUND_OFF: Final = 1e-12
"""A sum of squares below this share of its whole is rounding: nothing varies."""


def normal_scores(values: Floats) -> Floats:
    """Return Φ⁻¹(midrank / (n + 1)) of each of n values, in their shape; NaN has no
    rank.
    """
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    return np.asarray(
        ndtri(midranks(values) / (np.count_nonzero(~np.isnan(values)) + 1))
    )


def varies(values: Floats, source: Codes, n_sources: int) -> Flags:
    """Return which sources have two different values: values, source (texts,) ->
    (n_sources,).
    """
    low, high = np.full(n_sources, np.inf), np.full(n_sources, -np.inf)
    given = ~np.isnan(values)
    np.minimum.at(low, source[given], values[given])
    np.maximum.at(high, source[given], values[given])
    return np.asarray(high > low)


def within_sources(x: Floats, y: Floats, source: Codes, n_sources: int) -> Replicated:
    """Return r of a judge's scores x and people's ratings y, and r without each source.

    x, y, source (texts,), NaN = missing; source: codes below n_sources. Sources whose
    texts people rate the same are left out (`note` counts them); a source whose texts
    the judge scores the same adds nothing to Σ a b. `n` counts the texts, `n_missing`
    those without both values. Ranks stay as they are when a source is deleted. Range
    [-1, 1].
    """
    both = ~(np.isnan(x) | np.isnan(y))
    planned = np.unique(source).size
    differ = varies(np.where(both, y, np.nan), source, n_sources)
    kept = np.flatnonzero(both & differ[source])
    rows, sizes = np.full(1 + n_sources, np.nan), np.zeros(n_sources)
    if why := why_undefined(x[both], y[both]) or ("" if kept.size else NO_SOURCE):
        n, n_missing = int(both.sum()), int((~both).sum())
        return replicated(
            rows, why, sizes=sizes, scale=CORRELATION, n=n, n_missing=n_missing
        )
    a, b = (_deviations(v[kept], source[kept], n_sources) for v in (x, y))
    sums = []
    for products in (a * b, a * a, b * b):
        of_source = np.bincount(source[kept], weights=products, minlength=n_sources)
        without = np.append(0.0, of_source)
        sums.append(of_source.sum() - without)
    constant = sums[1] <= ROUND_OFF * max(1.0, sums[1][0])
    rows[:] = np.where(constant, 0.0, ratio(*sums))
    result = replicated(
        rows,
        NO_SOURCE,
        sizes=np.bincount(source[kept], minlength=n_sources),
        scale=CORRELATION,
        ends=CORRELATION.ends,
        n=kept.size,
        n_missing=int((~both).sum()),
        n_tied=shared(x[kept]),
    )
    if left_out := planned - int(differ.sum()):
        result = result.with_note(
            f"{left_out} of {planned} sources left out: their texts have the same "
            "rating"
        )
    return result


def _deviations(values: Floats, source: Codes, n_sources: int) -> Floats:
    """Return normal scores minus their source's mean, (texts,); 0 where all values are
    equal.
    """
    scores = normal_scores(values)
    n = np.bincount(source, minlength=n_sources)
    mean = np.bincount(source, weights=scores, minlength=n_sources) / np.maximum(n, 1)
    return np.where(
        varies(values, source, n_sources)[source], scores - mean[source], 0.0
    )
