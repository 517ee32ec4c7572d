"""Leaving unsure texts to people: the verdicts of the highest confidence are accepted.

    coverage(τ)        = share of the planned texts with c >= τ
    selective_error(τ) = share wrong among them

A threshold comes with a guarantee: at most a share α of the accepted verdicts is wrong,
except with probability δ. (docs/guide/confidence.md)
"""

import math
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.confidence import Stated
from judgescope.statistics.declared import declare, percent, undesired
from judgescope.statistics.intervals import effective_cases
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.source_rows import Weights

DECLARED: Final = declare(
    "acceptance",
    selective_error=undesired(
        "Error of accepted texts",
        "share of wrong verdicts among the texts of the highest confidence",
        "Geifman, El-Yaniv 2017",
        ties="accepted whole",
    ),
    selective_coverage=percent(
        "Accepted texts",
        "share of planned texts whose confidence reaches the threshold",
        "Geifman, El-Yaniv 2017",
        complete=True,
    ),
)

COVERAGES: Final = (0.5, 0.8, 0.9, 1.0)
"""Shares of the planned texts at which the error of the accepted ones is given."""


class Accepted(NamedTuple):
    """The texts from a threshold of confidence on: their share of all planned texts,
    and the share of them that is wrong.
    """

    threshold: float
    coverage: float
    error: Replicated


def selective_error(
    stated: Stated, coverage: float, weights: Weights
) -> Accepted | None:
    """The error of the texts of the highest confidence that are at least `coverage` of
    the planned ones; equal confidences are accepted whole.

    None where fewer texts than that have a confidence. weights: `deletions`, or None.

    >>> c = np.array([0.9, 0.8, 0.7, 0.6])
    >>> stated = Stated(c, np.array([1.0, 1.0, 0.0, 0.0]), np.arange(4))
    >>> accepted = selective_error(stated, 0.5, None)
    >>> accepted.threshold, accepted.coverage, accepted.error.estimate.value
    (0.8, 0.5, 0.0)
    """
    planned = stated.texts + stated.missing
    needed = math.ceil(coverage * planned - 1e-9)
    if not 0 < needed <= stated.texts:
        return None
    threshold = float(np.sort(stated.confidence)[-needed])
    return accepted_from(stated, threshold, weights)


def accepted_from(stated: Stated, threshold: float, weights: Weights) -> Accepted:
    """The texts whose confidence is at least a threshold.

    >>> c, z = np.array([0.9, 0.6]), np.array([1.0, 0.0])
    >>> accepted_from(Stated(c, z, np.arange(2)), 0.8, None).coverage
    0.5
    """
    planned = stated.texts + stated.missing
    chosen: Flags = stated.confidence >= threshold
    wrong = 1 - stated.right[chosen]
    error = clustered_mean(wrong, stated.source[chosen], weights)
    return Accepted(threshold, float(chosen.sum()) / planned, error)


class Guarantee(NamedTuple):
    """A threshold from which on at most a share of verdicts is wrong, or why there is
    none: coverage, error and the bound on it at the threshold.
    """

    threshold: float | None
    coverage: float
    error: float | None
    bound: float | None
    why: str = ""


def grid_of(values: Floats, limit: int = 20) -> Floats:
    """The thresholds that are tried, descending: all values, or `limit` quantiles.

    They follow from the values alone, never from what is right. (n,)

    >>> grid_of(np.array([0.5, 0.9, 0.5])).tolist()
    [0.9, 0.5]
    """
    different = np.unique(values)
    if different.size > limit:
        places = np.linspace(0, 1, limit)
        different = np.unique(np.quantile(values, places, method="inverted_cdf"))
    return np.asarray(different[::-1], dtype=np.float64)


def sources_needed(error: float, risk: float) -> int:
    """⌈ln δ / ln(1 - α)⌉: so many sources without an error are needed to show at most
    α, except with probability δ.

    >>> sources_needed(0.1, 0.05)
    29
    """
    return math.ceil(math.log(risk) / math.log1p(-error))


def confidence_from(
    stated: Stated, *, error: float = 0.1, risk: float = 0.05
) -> Guarantee:
    """The lowest confidence from which on at most `error` of the verdicts are wrong,
    except with probability `risk`.

    Thresholds are tried from the top, beginning with the first that accepts enough
    sources (29 for .1 and .05), while the bound of the error,
    Beta⁻¹(1 - δ; e n_eff + 1, n_eff (1 - e)), is at most `error`: a sequence fixed by
    the confidences alone needs no correction (Angelopoulos et al. 2021). n_eff counts
    verdicts of one source as less than as many of different ones. The guarantee is for
    texts like these. ValueError for shares outside (0, 1).

    >>> c = np.repeat([0.9, 0.5], [40, 40])
    >>> z = np.concatenate([np.ones(40), np.tile([1.0, 0.0], 20)])
    >>> found = confidence_from(Stated(c, z, np.arange(80)))
    >>> found.threshold, found.coverage, round(found.bound, 3)
    (0.9, 0.5, 0.072)
    """
    if not (0 < error < 1 and 0 < risk < 1):
        raise ValueError(f"error and risk are shares: got {error} and {risk}")
    fewest = sources_needed(error, risk)
    planned = stated.texts + stated.missing
    best = Guarantee(None, 0.0, None, None, f"fewer than {fewest} sources accepted")
    for threshold in grid_of(stated.confidence).tolist():
        chosen = stated.confidence >= threshold
        sources = stated.source[chosen]
        if np.unique(sources).size < fewest:
            continue
        wrong = 1 - stated.right[chosen]
        share = float(wrong.mean())
        bound = upper_bound(wrong, sources, risk)
        if bound > error:
            if best.threshold is None:
                why = (
                    f"of the {wrong.size} texts of the highest confidence up to "
                    f"{100 * bound:.0f} % may be wrong"
                )
                return Guarantee(None, 0.0, share, bound, why)
            break
        best = Guarantee(threshold, wrong.size / planned, share, bound)
    return best


def upper_bound(hits: Floats, source: Codes, risk: float) -> float:
    """Beta⁻¹(1 - δ; e n_eff + 1, n_eff (1 - e)) of the share e of hits, (n,) each.

    1 where all are hits. Clopper, Pearson 1934 at the effective number of cases (Korn,
    Graubard 1998).

    >>> round(upper_bound(np.zeros(29), np.arange(29), 0.05), 4)  # 1 - .05^(1/29)
    0.0981
    """
    from scipy.special import betaincinv  # here: asking and parsing load no scipy

    e = float(hits.mean())
    if e >= 1:
        return 1.0
    codes = np.unique(source, return_inverse=True)[1]
    residuals = np.bincount(codes, weights=hits - e).astype(np.float64)
    n = effective_cases(e, residuals, float(hits.size))
    return float(betaincinv(e * n + 1, n * (1 - e), 1 - risk))
