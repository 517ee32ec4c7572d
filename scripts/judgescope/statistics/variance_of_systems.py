"""How many sources and ratings a text settle the order of systems.

Components of systems' means, by analysis of variance (Brennan 2001, "Generalizability
Theory"; docs/methods.md, "How reliable people's ratings are").
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from judgescope.statistics.arrays import Floats, quotient
from judgescope.statistics.declared import agreement, amount, declare
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import REASONS, clauses
from judgescope.statistics.variance import not_negative, share_of

DECLARED = declare(
    "system_reliability",
    reliability_systems=agreement(
        "Reliability of systems' means",
        "share of the variance of systems' means over k_b sources with k ratings a "
        "text that is between systems",
        "Brennan 2001",
    ),
    ratings_needed=amount(
        "Ratings",
        "number of ratings of all systems' texts of k_b sources by k raters",
        complete=True,
        less_is_better=True,
    ),
)


class SystemVariance(NamedTuple):
    """Components of systems' means, (rows,): of systems, system × source, system ×
    rater (None: these raters), and of one rating.
    """

    system: Floats
    by_source: Floats
    by_rater: Floats | None
    rest: Floats
    sources: int
    systems: int

    def reliability(self, n: int, k: int) -> Floats:
        """σ²_p / (σ²_p + σ²_ps/n + σ²_pr/k + σ²_e/(n k)), of n sources with k ratings
        a text, in each row; negative error components are 0.

        >>> one = np.ones(1)
        >>> SystemVariance(one, one, None, one, 10, 4).reliability(5, 2).round(3).item()
        0.769
        """
        rater = 0.0 if self.by_rater is None else np.maximum(self.by_rater, 0) / k
        source = np.maximum(self.by_source, 0) / n
        return share_of(self.system, source + rater + self.rest / (n * k))


def rated_systems(ratings: Floats) -> SystemVariance:
    """The components of complete ratings (sources, systems, raters) by analysis of
    variance, all but systems random.

    σ²_p = (MS_p - MS_ps - MS_pr + MS_psr)/(n k), σ²_ps = (MS_ps - MS_psr)/k,
    σ²_pr = (MS_pr - MS_psr)/n, σ²_e = MS_psr; again without each source. ValueError
    for a table that is not complete, or with fewer than two of each. Brennan 2001.

    >>> table = np.array([[[1.0, 1], [3, 3]], [[2, 2], [4, 4]], [[3, 3], [5, 5]]])
    >>> parts = rated_systems(table)
    >>> parts.system.tolist(), parts.by_source.tolist()
    ([2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0])
    """
    n_sources, m, k = ratings.shape
    if min(n_sources, m, k) < 2 or not np.isfinite(ratings).all():
        raise ValueError(f"ratings {ratings.shape} are not complete, or too few")
    x = ratings - ratings.mean()
    squares = {
        "cells": _without_each(x.sum(axis=0)[None], x),
        "all": _without_each((x**2).sum(), (x**2).sum(axis=(1, 2))),
        "s": _over_sources(x.mean(axis=(1, 2)) ** 2 * m * k),
        "ps": _over_sources((x.mean(axis=2) ** 2).sum(axis=1) * k),
        "sr": _over_sources((x.mean(axis=1) ** 2).sum(axis=1) * m),
    }
    n = np.append(n_sources, np.full(n_sources, n_sources - 1)).astype(np.float64)
    cells = squares["cells"] / n[:, None, None]
    of_mean = cells.mean(axis=(1, 2)) ** 2 * n * m * k
    p = (cells.mean(axis=2) ** 2).sum(axis=1) * n * k - of_mean
    r = (cells.mean(axis=1) ** 2).sum(axis=1) * n * m - of_mean
    pr = (cells**2).sum(axis=(1, 2)) * n - of_mean - p - r
    s = squares["s"] - of_mean
    ps = squares["ps"] - of_mean - p - s
    sr = squares["sr"] - of_mean - s - r
    psr = squares["all"] - of_mean - p - r - s - pr - ps - sr
    ms_p = p / (m - 1)
    ms_pr = pr / ((m - 1) * (k - 1))
    ms_ps = quotient(ps, (n - 1) * (m - 1))
    ms_e = quotient(psr, (n - 1) * (m - 1) * (k - 1))
    return SystemVariance(
        system=(ms_p - ms_ps - ms_pr + ms_e) / (n * k),
        by_source=(ms_ps - ms_e) / k,
        by_rater=(ms_pr - ms_e) / n,
        rest=ms_e,
        sources=n_sources,
        systems=m,
    )


def systems_of_means(means: Floats, error: float, k: float) -> SystemVariance:
    """The components of complete mean ratings (sources, systems) of k ratings, each
    with the error variance `error`: σ²_p = (MS_p - MS_ps)/n, σ²_ps = MS_ps - σ²_e/k.

    Of several texts of a system and source k counts the ratings of all of them.

    With these raters: what another group would prefer is not in it. Again without each
    source, the error held. ValueError as in `rated_systems`. Brennan 2001.

    >>> means = np.array([[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]])
    >>> systems_of_means(means, 0.0, 2).system.tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    n_sources, m = means.shape
    if min(n_sources, m) < 2 or not np.isfinite(means).all():
        raise ValueError(f"means {means.shape} are not complete, or too few")
    x = means - means.mean()
    n = np.append(n_sources, np.full(n_sources, n_sources - 1)).astype(np.float64)
    columns = _without_each(x.sum(axis=0)[None], x) / n[:, None]
    of_mean = columns.mean(axis=1) ** 2 * n * m
    p = (columns**2).sum(axis=1) * n - of_mean
    s = _over_sources(x.mean(axis=1) ** 2 * m) - of_mean
    rest = _over_sources((x**2).sum(axis=1)) - of_mean - p - s
    ms_p = p / (m - 1)
    ms_ps = quotient(rest, (n - 1) * (m - 1))
    return SystemVariance(
        system=(ms_p - ms_ps) / n,
        by_source=ms_ps - error / k,
        by_rater=None,
        rest=np.full(n.size, error),
        sources=n_sources,
        systems=m,
    )


def _over_sources(values: Floats) -> Floats:
    """The sum over sources, then that without each: (sources,) -> (1 + sources,)."""
    return _without_each(values.sum(), values)


def _without_each(total: Floats, parts: Floats) -> Floats:
    """A total, then the total without each of its parts, (1 + parts, ...)."""
    return np.concatenate([np.reshape(total, (1, *parts.shape[1:])), total - parts])


def system_reliability(parts: SystemVariance, n: int, k: int) -> Replicated:
    """Eρ²(n, k) of the order of systems: `SystemVariance.reliability` with its
    jackknife-t over sources.

    Undefined where nothing varies.

    >>> means = np.array([[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]])
    >>> system_reliability(systems_of_means(means, 1.0, 2), 3, 2).estimate.value
    0.9230769230769231
    """
    values = parts.reliability(n, k)
    name = "reliability_systems"
    scope = "" if parts.by_rater is not None else "with these raters"
    result = replicated(
        values,
        REASONS.no_variation,
        sizes=np.ones(parts.sources),
        scale=scale_of(name),
        n=parts.sources,
        method=clauses(f"{parts.systems} systems", scope),
    )
    return not_negative(result)


def plan_grid(sources: int, k: int) -> Iterator[tuple[int, int]]:
    """Pairs of a number of sources and of ratings a text, those of the data among
    them.

    >>> len([*plan_grid(30, 3)])
    20
    """
    for n in sorted({20, 50, 100, 200, sources}):
        for each in sorted({1, 2, 3, 5, k}):
            yield n, each
