"""Discernment: a judge's signed-rank tests combined over aspects and perturbations.

(Wang et al. 2024; docs/methods.md, "Discernment".) `signed_rank` has the tests.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgescope.statistics.arrays import Codes, Flags, Floats, dot
from judgescope.statistics.declared import (
    ValueRange,
    declare,
    score,
)
from judgescope.statistics.intervals import NOT_SMOOTH
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import (
    NO_WIDTH,
    Replicated,
    with_interval,
)
from judgescope.statistics.result import Estimate

discernment_by = partial(score, ties="zeros dropped, midranks")
hardest = partial(discernment_by, scaled=NOT_SMOOTH)
DECLARED = declare(
    "scores_of_cells",
    D=discernment_by(
        "D",
        "log p to the base 0.05, p combined over aspects as published",
        "Wang et al. 2024, section 3.3",
    ),
    D_ew=discernment_by(
        "D_ew", "as D, with aspects weighted", "Wang et al. 2024, section 3.3"
    ),
    D_hmp=discernment_by(
        "D_hmp",
        "log to the base 0.05 of the weighted harmonic mean of exact p",
        "Wilson 2019",
    ),
    D_exact=discernment_by(
        "D_exact",
        "log to the base 0.05 of a combined exact p that holds its level",
        "Wilson 2019",
    ),
    D_ew_weight_effect=discernment_by(
        "D_ew uniform − D_ew",
        "D_ew with uniform weights (D − log_20 of the number of aspects) minus D_ew "
        "with experts' weights, asymptotic p; above 0: less discernment on the aspects "
        "that experts weight most",
        "Wang et al. 2024, section 3.3",
        range=ValueRange.ANY,
    ),
)
DECLARED += declare(
    "discernment",
    D_avg=discernment_by(
        "D_avg",
        "average of D over perturbations, as published",
        "Wang et al. 2024, section 3.3",
        headline=True,
    ),
    D_avg_ew=discernment_by(
        "D_avg_ew",
        "average of D_ew over perturbations",
        "Wang et al. 2024, section 3.3",
        headline=True,
    ),
    D_avg_exact=discernment_by(
        "D_avg_exact",
        "average of D_exact over perturbations",
        headline=True,
    ),
    D_min=hardest(
        "D_min",
        "D of the hardest perturbation, as published",
        "Wang et al. 2024, section 3.3",
        headline=True,
    ),
    D_min_ew=hardest(
        "D_min_ew",
        "D_ew of the hardest perturbation",
        "Wang et al. 2024, section 3.3",
        headline=True,
    ),
    D_min_exact=hardest(
        "D_min_exact",
        "D_exact of the hardest perturbation",
        headline=True,
    ),
)


TIES_ALONE = f"{NO_WIDTH} but for ties: all differences have one sign"
"""The note where deletions find no other evidence: only which differences tie moves the
score."""


def score_replicated(
    name: str, counts: Estimate, rows: Floats, sizes: Codes, *, flat: bool
) -> Replicated:
    """rows[0] as a value with these counts and the interval of its deletions.

    rows (1 + sources,), sizes (sources,), as in `Replicated`. The interval of a `flat`
    score rests on ties alone (`has_one_sign`), if it has any width.

    >>> counts = Estimate(None, n=3, note="to be computed")
    >>> rows = np.array([1.5])
    >>> result = score_replicated("D", counts, rows, np.array([]), flat=False)
    >>> result.estimate.value
    1.5
    """
    value = replace(counts, value=float(rows[0]))
    result = with_interval(
        Replicated(value, rows, sizes.astype(np.float64), scale_of(name))
    )
    estimate = result.estimate
    ties_alone = flat and estimate.ci_low is not None and NO_WIDTH not in estimate.note
    if ties_alone:
        return result.with_note(TIES_ALONE)
    return result


LN_TAIL = math.log(1e-18)
"""Below this harmonic mean p, Landau's tail equals it to the last digit of float64."""


class Discernment(NamedTuple):
    """D = log_0.05 of a combined p, each (...): `d` and `d_ew` as published, the others
    sound.
    """

    d: Floats
    d_ew: Floats
    d_hmp: Floats
    d_exact: Floats


def discernment_score(log_p: ArrayLike) -> Floats:
    """log_0.05 p of ln p (...): 1 at p = .05, 0 at p = 1. (Wang et al. 2024,
    3.3.3)

    >>> discernment_score(np.log([0.05, 1.0])).round(6).tolist()
    [1.0, 0.0]
    """
    return np.asarray(0.0 - np.asarray(log_p, np.float64) / math.log(20))


def discernment(
    log_p_asymptotic: ArrayLike, log_p_exact: ArrayLike, weights: ArrayLike
) -> Discernment:
    """D of 1/sum(1/p), 1/sum(w/p) (asymptotic p), of 1/sum(w/p) and Landau
    (exact p).

    log_p_*: (..., aspects), ln p of the asymptotic and of the exact test; weights:
    (aspects,), ValueError unless they sum to 1. Zero-weight aspects are dropped, except
    from `d`, which the paper leaves unweighted. `d` is not a harmonic mean: it lies
    log_20 M above that of equal weights (docs/methods.md, "Discernment"). `d_exact` is
    the p itself for one aspect, 0 when every p is 1. (Wang et al. 2024, sections 3.3.2
    and 3.3.3; Wilson 2019)

    >>> p = np.log([0.05, 0.05])
    >>> scores = discernment(p, p, [0.5, 0.5])
    >>> [round(float(score), 3) for score in scores[:3]]  # D lies log_20 2 above D_hmp
    [1.231, 1.0, 1.0]
    """
    asymptotic = np.asarray(log_p_asymptotic, np.float64)
    exact = np.asarray(log_p_exact, np.float64)
    w = checked_weights(weights, asymptotic.shape[-1])
    used = w > 0
    n_used = int(used.sum())
    hmp = log_harmonic_mean(exact[..., used], w[used])
    all_one = (exact[..., used] == 0).all(axis=-1)
    landau = hmp
    if n_used != 1:
        landau = np.where(all_one, 0.0, log_landau(hmp, n_used))
    return Discernment(
        discernment_score(-np.logaddexp.reduce(-asymptotic, axis=-1)),
        discernment_score(log_harmonic_mean(asymptotic[..., used], w[used])),
        discernment_score(hmp),
        discernment_score(landau),
    )


def checked_weights(weights: ArrayLike, n_aspects: int) -> Floats:
    """The weights, (aspects,); ValueError unless >= 0, one per aspect, sum 1.

    >>> checked_weights([0.25, 0.75], 2).tolist()
    [0.25, 0.75]
    """
    w = np.asarray(weights, np.float64)
    if w.shape != (n_aspects,):
        raise ValueError(
            f"aspect weights: got {w.size}, needed one per aspect ({n_aspects})"
        )
    if not (w >= 0).all() or abs(w.sum() - 1) > 1e-9:
        raise ValueError(
            f"aspect weights must be >= 0 and sum to 1: {w.tolist()} sum to {w.sum()}"
        )
    return w


def log_harmonic_mean(log_p: ArrayLike, weights: ArrayLike) -> Floats:
    """ln(1 / sum_j w_j / p_j); log_p: (..., aspects), weights: (aspects,), all
    positive.

    >>> round(float(np.exp(log_harmonic_mean(np.log([0.1, 0.4]), [0.5, 0.5]))), 6)
    0.16
    """
    inverse = np.logaddexp.reduce(np.log(weights) - np.asarray(log_p), axis=-1)
    return np.asarray(np.minimum(-inverse, 0.0))


def log_landau(log_hmp: ArrayLike, n_aspects: int) -> Floats:
    """ln p of a harmonic mean p H of L p-values: 1/H is Landau-distributed under
    the null.

    Location ln L + 1 - gamma - ln(2/pi), scale pi/2; p = H in the far tail, where the
    survival function of x is 1/x. log_hmp: (...). At L = 1 the p itself is exact, not
    this. Source: Wilson 2019.

    >>> round(float(np.exp(log_landau(np.log(0.05), 2))), 3)
    0.06
    """
    # What scipy.stats.landau calls, to the bit; importing scipy.stats takes a second in
    # each job.
    from scipy.special._ufuncs import _landau_sf

    log_h = np.asarray(log_hmp, np.float64)
    scale = math.pi / 2
    location = math.log(n_aspects) + 1 - np.euler_gamma - math.log(2 / math.pi)
    inverse = np.exp(-np.maximum(log_h, LN_TAIL))
    tail = np.log(_landau_sf((inverse - location) / scale, 0, 1))
    return np.where(log_h < LN_TAIL, log_h, tail)


def average(
    d: ArrayLike, levels: Sequence[str], *, allow_missing: bool = False
) -> Floats:
    """D_avg = sum_i D_i / (levels n_i), n_i the perturbations of i's level.

    d: (..., perturbations), result: (...). Levels weigh the same, and perturbations
    within a level; each degree of a perturbation counts as one (Wang et al. 2024, DHP,
    section 3.3.3).

    A missing score (NaN) is a ValueError; with `allow_missing` its level is averaged
    over what is there, a level with nothing left is dropped, and D_avg is NaN when
    nothing is left at all.

    >>> average([1.0, 3.0, 5.0], ["word", "word", "sentence"]).tolist()  # (2 + 5) / 2
    3.5
    """
    values, given = _planned(d, allow_missing)
    names, level = np.unique(levels, return_inverse=True)
    member = (level[:, None] == np.arange(names.size)).astype(np.float64)
    count = dot(given, member)
    mean = dot(np.where(given, values, 0.0), member) / np.maximum(count, 1)
    n_levels = (count > 0).sum(axis=-1)
    return np.where(n_levels > 0, mean.sum(axis=-1) / np.maximum(n_levels, 1), np.nan)


def minimum(d: ArrayLike, *, allow_missing: bool = False) -> Floats:
    """D_min over the planned perturbations; d: (..., perturbations), result:
    (...).

    Missing scores (NaN) as in `average`.

    >>> float(minimum([3.0, 1.0, 2.0]))
    1.0
    """
    values, _ = _planned(d, allow_missing)
    return np.asarray(np.fmin.reduce(values, axis=-1))


def _planned(d: ArrayLike, allow_missing: bool) -> tuple[Floats, Flags]:
    """The scores and which are there; ValueError when one is missing and may not
    be.
    """
    values = np.asarray(d, np.float64)
    given = ~np.isnan(values)
    if not allow_missing and not given.all():
        gaps = np.flatnonzero(~given.all(axis=tuple(range(given.ndim - 1)))).tolist()
        raise ValueError(
            f"planned perturbations without a score, at {gaps}: set allow_missing"
        )
    return values, given
