"""A judge's confidence: is it right nine times in ten where it says .9?

With z = 1 where a verdict equals people's and c its stated chance of that:

    confidence_gap   = mean (c - z)
    confidence_slope = β of logit P(z = 1) = α + β logit c
    brier            = mean (c - z)²
    auroc_right      = P(c of a right verdict > c of a wrong one) + P(tie) / 2

Gap and slope decide; the others describe. "Right" is agreement with people, who may
disagree among themselves. `confidence_bins` has what needs bins of texts, `selective`
leaves unsure texts to people.
(docs/guide/confidence.md)
"""

from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import CELLS, Codes, Floats, blocks
from judgescope.statistics.coefficients import midranks
from judgescope.statistics.declared import (
    ValueRange,
    concordance,
    declare,
    signed_amount,
    undesired,
)
from judgescope.statistics.intervals import (
    CONFIDENCE,
    IntervalScale,
    holm,
)
from judgescope.statistics.linear import MOST_EXACT
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated, TargetSample, replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import SourceRows, Weights

DECLARED: Final = declare(
    "confidence",
    confidence_gap=signed_amount(
        "Gap of confidence",
        "mean stated chance of being right minus the share that is right; above 0: "
        "over-confident",
        "Lichtenstein et al. 1982",
        range=ValueRange.SIGNED,
        scaled=IntervalScale("plain", -1.0, 1.0),
    ),
    confidence_slope=signed_amount(
        "Slope of confidence",
        "slope of the logit of being right on the logit of the stated chance; below "
        "1: chances too extreme, above 1: too timid",
        "Cox 1958",
    ),
    brier=undesired(
        "Brier score",
        "mean squared distance of the stated chance from 1 (right) or 0 (wrong)",
        "Brier 1950",
        scaled=IntervalScale("plain", 0.0, 1.0),
    ),
    auroc_right=concordance(
        "AUROC of right verdicts",
        "probability that a right verdict has the higher confidence than a wrong one",
        "Hanley, McNeil 1982",
        ties="half",
    ),
)

CONSTANT: Final = "the judge states one confidence"


class Stated(NamedTuple):
    """Verdicts with a stated confidence, (n,) each; nothing is missing.

    `confidence`: the stated chances that the verdicts are right, 0 to 1. `right`: 1
    where a verdict equals people's, else 0. `source`: codes from 0. `missing` counts
    the planned texts without a verdict, a confidence or people's verdict.
    """

    confidence: Floats
    right: Floats
    source: Codes
    missing: int = 0

    @classmethod
    def select(cls, confidence: Floats, right: Floats, source: Codes) -> "Stated":
        """The texts that have both; (texts,) each, NaN = missing.

        ValueError for a confidence outside 0 to 1, and for `right` other than 0 and 1.

        >>> stated = Stated.select(
        ...     np.array([0.9, np.nan]), np.array([1.0, 0.0]), np.array([0, 1])
        ... )
        >>> stated.right.tolist(), stated.missing
        ([1.0], 1)
        """
        given = ~(np.isnan(confidence) | np.isnan(right))
        c = confidence[given]
        z = right[given]
        if c.size and not 0 <= c.min() <= c.max() <= 1:
            outside = c[(c < 0) | (c > 1)][0]
            raise ValueError(f"a confidence is 0 to 1, not {outside:g}")
        if not np.isin(z, (0.0, 1.0)).all():
            raise ValueError("a verdict is right (1) or wrong (0)")
        missing = int(np.count_nonzero(~given))
        return cls(c, z, source[given], missing)

    @property
    def texts(self) -> int:
        """How many verdicts there are."""
        return int(self.confidence.size)


# --- what decides ---------------------------------------------------------------------


def confidence_gap(stated: Stated, weights: Weights) -> Replicated:
    """mean (c - z) with its interval over sources; weights: `deletions`, or None.

    Above 0: over-confident, by so much. Range -1 to 1.

    >>> c = np.array([0.9, 0.9, 0.7, 0.5])
    >>> z = np.array([1.0, 0.0, 1.0, 0.0])
    >>> round(confidence_gap(Stated(c, z, np.arange(4)), None).estimate.value, 3)
    0.25
    """
    gap = stated.confidence - stated.right
    return clustered_mean(gap, stated.source, weights, stated.missing, ends=(-1.0, 1.0))


def confidence_slope(stated: Stated, weights: Weights) -> Replicated:
    """β of logit P(z = 1) = α + β logit c, by maximum likelihood.

    c is cut to [.001, .999]. Below 1 the chances are too extreme, above 1 too timid.
    Undefined where c is constant, fewer than 5 sources have a wrong or a right verdict,
    or c separates right from wrong verdicts. weights: `deletions`, or None. Of more
    than MOST_EXACT sources β without one is a step of Newton's method from β of all.

    >>> c = np.repeat([0.2, 0.8], 10)
    >>> z = np.repeat([1.0, 0.0, 1.0, 0.0], [2, 8, 8, 2])
    >>> slope = confidence_slope(Stated(c, z, np.arange(20)), None)
    >>> round(slope.estimate.value, 6)  # c is the share that is right
    1.0
    """
    everything = np.ones(stated.texts, dtype=bool)
    sample = TargetSample.select(everything, stated.source, weights)
    if why := _why_undefined(stated):
        return sample.undefined(why)
    if _separated(stated.confidence, stated.right):
        return sample.undefined(
            "all wrong verdicts lie below the confidence of the right ones"
        )
    # The logit of 0 and 1 is infinite: the ends are moved inwards.
    x = _logit(np.clip(stated.confidence, 0.001, 0.999))
    first = _logistic_fits(
        x, stated.right, np.ones((1, x.size)), np.array([[0.0, 0.0]])
    )
    slopes = [first[:, 1]]
    not_converged = "right and wrong verdicts are separated by confidence"
    if sample.rows.shape[1] > MOST_EXACT:
        slopes.append(_slopes_by_one_step(x, stated, first[0], sample.rows))
        result = sample.result(
            "confidence_slope", np.concatenate(slopes), not_converged
        )
        return result.with_method("without a source: one step of Newton's method")
    for part in blocks(len(sample.rows) - 1, x.size, CELLS):
        deleting = sample.rows.block(slice(part.start + 1, part.stop + 1))
        of_texts = deleting.take(stated.source, axis=1)
        starts = np.repeat(first, len(of_texts), axis=0)
        slopes.append(_logistic_fits(x, stated.right, of_texts, starts)[:, 1])
    return sample.result("confidence_slope", np.concatenate(slopes), not_converged)


def _slopes_by_one_step(
    x: Floats, stated: Stated, fit: Floats, rows: SourceRows
) -> Floats:
    """β without each source by one step of Newton's method from the fit of all.

    (α, β) + H⁻¹ g, gradient g and curvature H without the source; x (texts,), fit (2,),
    shape (rows - 1,). The error is of order 1/n², that of a deletion 1/n.
    """
    chance = 1 / (1 + np.exp(-np.clip(fit[0] + fit[1] * x, -40.0, 40.0)))
    residual = stated.right - chance
    curvature = chance * (1 - chance)
    quantities = (
        residual,
        residual * x,
        curvature,
        curvature * x,
        curvature * np.square(x),
    )
    by_source = []
    for each in quantities:
        by_source.append(
            np.bincount(stated.source, weights=each, minlength=rows.shape[1])
        )
    g0, g1, h00, h01, h11 = rows.sums(np.stack(by_source, axis=1))[1:].T
    with np.errstate(invalid="ignore", divide="ignore"):
        step = (h00 * g1 - h01 * g0) / (h00 * h11 - h01 * h01)
    return np.asarray(fit[1] + step)


def _why_undefined(stated: Stated) -> str:
    """Why neither slope nor AUROC is defined, "" where they are."""
    if not stated.texts or np.ptp(stated.confidence) == 0:
        return CONSTANT
    # Sources with wrong verdicts, and with right ones, that AUROC and slope need.
    fewest_sources = 5
    if np.unique(stated.source[stated.right == 0]).size < fewest_sources:
        return "fewer than 5 sources have a wrong verdict"
    if np.unique(stated.source[stated.right == 1]).size < fewest_sources:
        return "fewer than 5 sources have a right verdict"
    return ""


def _separated(confidence: Floats, right: Floats) -> bool:
    """Whether all wrong verdicts have a lower confidence than all right ones."""
    return bool(confidence[right == 0].max() < confidence[right == 1].min())


def _logit(chance: Floats) -> Floats:
    return np.asarray(np.log(chance) - np.log1p(-chance))


def _logistic_fits(x: Floats, z: Floats, weight: Floats, start: Floats) -> Floats:
    """(α, β) of each row of weights by Newton's method: (rows, texts) -> (rows, 2).

    start (rows, 2). NaN where a row does not converge: its data are separated.
    """
    fit = start.astype(np.float64)
    open_rows = np.ones(len(fit), dtype=bool)
    # Newton steps after which a logistic fit counts as separated.
    most_steps = 50
    for _ in range(most_steps):
        w = weight[open_rows]
        alpha = fit[open_rows, 0][:, None]
        beta = fit[open_rows, 1][:, None]
        chance = 1 / (1 + np.exp(-np.clip(alpha + beta * x, -40.0, 40.0)))
        residual = w * (z - chance)
        curvature = w * chance * (1 - chance)
        g0 = residual.sum(axis=1)
        g1 = residual @ x
        h00 = curvature.sum(axis=1)
        h01 = curvature @ x
        h11 = curvature @ np.square(x)
        determinant = h00 * h11 - h01 * h01
        with np.errstate(invalid="ignore", divide="ignore"):
            step0 = (h11 * g0 - h01 * g1) / determinant
            step1 = (h00 * g1 - h01 * g0) / determinant
        step = np.stack([step0, step1], axis=1)
        fit[open_rows] += step
        size = np.abs(step).max(axis=1)
        still = np.flatnonzero(open_rows)
        done = (size < 1e-10) | ~np.isfinite(size)
        open_rows[still[done]] = False
        if not open_rows.any():
            break
    fit[open_rows] = np.nan
    return fit


class Calibration(StrEnum):
    """What gap and slope show about a judge's confidence."""

    OVER = "over-confident"
    UNDER = "under-confident"
    EXTREME = "too extreme"
    TIMID = "too timid"
    NOT_SHOWN = "not shown to be wrong"
    UNKNOWN = "cannot be told"


def calibration(gap: Replicated, slope: Replicated) -> Calibration:
    """What is shown, of the two tests of one judge: gap 0 and slope 1, two-sided, with
    Holm's correction over both; the one with the smaller p is named.

    Unknown where neither has an interval.

    >>> nothing = Replicated(Estimate.undefined("none"), np.array([np.nan]))
    >>> calibration(nothing, nothing).value
    'cannot be told'
    """
    tests = [
        _two_sided(gap, 0.0, Calibration.UNDER, Calibration.OVER),
        _two_sided(slope, 1.0, Calibration.EXTREME, Calibration.TIMID),
    ]
    known = [test for test in tests if test is not None]
    if not known:
        return Calibration.UNKNOWN
    adjusted = holm([p for p, _ in known])
    best = int(np.argmin([p for p, _ in known]))
    outcome = known[best][1]
    if adjusted[best] <= 1 - CONFIDENCE:
        return outcome
    return Calibration.NOT_SHOWN


def _two_sided(
    result: Replicated, null: float, below: Calibration, above: Calibration
) -> tuple[float, Calibration] | None:
    """The two-sided p of a truth other than the null, and on which side it lies; None
    without an interval.
    """
    p = result.p_two_sided(null)
    if p is None:
        return None
    low = result.estimate.ci_low
    high = result.estimate.ci_high
    if low is not None and low > null:
        return p, above
    if high is not None and high < null:
        return p, below
    return p, Calibration.NOT_SHOWN


# --- what describes -------------------------------------------------------------------


def brier(stated: Stated, weights: Weights) -> Replicated:
    """mean (c - z)² with its interval over sources. Range 0 to 1; 0 is best.

    >>> c, z = np.array([0.5, 1.0]), np.array([1.0, 1.0])
    >>> brier(Stated(c, z, np.arange(2)), None).estimate.value
    0.125
    """
    squares = np.square(stated.confidence - stated.right)
    scale = IntervalScale("plain", 0.0, 1.0)
    return clustered_mean(squares, stated.source, weights, stated.missing, scale=scale)


def auroc_right(stated: Stated, *, interval: bool = True) -> Replicated:
    """P(c of a right verdict > c of a wrong one) + P(tie) / 2.

    .5: confidence says nothing of which verdicts are right. Each source is deleted from
    both sides: U_s = U - Σ_{i in s} (wins of i) + (wins within s). Undefined as
    `confidence_slope`, but for separated data, which have 1.

    >>> c = np.array([0.9, 0.8, 0.6, 0.7] * 5)
    >>> z = np.array([1.0, 1.0, 1.0, 0.0] * 5)
    >>> right = auroc_right(Stated(c, z, np.arange(20) // 2), interval=False)
    >>> round(right.estimate.value, 3)  # 2 of 3 right ones lie above the wrong one
    0.667
    """
    n_sources = int(stated.source.max(initial=-1)) + 1
    if why := _why_undefined(stated):
        nothing = Estimate.undefined(why, n=stated.texts, n_missing=stated.missing)
        return Replicated(nothing, np.full(1 + n_sources, np.nan))
    wins = _wins(stated.confidence, stated.right)
    is_right = stated.right == 1
    right = np.bincount(stated.source[is_right], minlength=n_sources)
    wrong = np.bincount(stated.source[~is_right], minlength=n_sources)
    all_wins = float(wins[is_right].sum())
    value = all_wins / (int(right.sum()) * int(wrong.sum()))
    sizes = np.bincount(stated.source, minlength=n_sources)
    if not interval:
        rows = np.array([value])
    else:
        by_source = np.bincount(stated.source, weights=wins, minlength=n_sources)
        lost = by_source - _wins_within(stated, n_sources)
        pairs = (right.sum() - right) * (wrong.sum() - wrong)
        with np.errstate(invalid="ignore", divide="ignore"):
            rows = np.append(value, (all_wins - lost) / pairs)
    return replicated(
        rows,
        CONSTANT,
        sizes=sizes,
        scale=IntervalScale("logit", 0.0, 1.0),
        n=stated.texts,
        n_missing=stated.missing,
    )


def _wins(confidence: Floats, right: Floats) -> Floats:
    """Of each right verdict the wrong ones below it, of each wrong one the right ones
    above it; ties count half. (n,)

    By ranks: a value's midrank among all less that among its own side is the number of
    the other side below it, ties half.
    """
    is_right = right == 1
    ranks = midranks(confidence)
    below = np.empty(confidence.size)
    for side in (is_right, ~is_right):
        below[side] = ranks[side] - midranks(confidence[side])
    return np.where(is_right, below, np.count_nonzero(is_right) - below)


def _wins_within(stated: Stated, n_sources: int) -> Floats:
    """The pairs of a right and a wrong verdict of one source that the right one wins;
    (sources,).
    """
    order = np.argsort(stated.source, kind="stable")
    ends = np.searchsorted(stated.source[order], np.arange(n_sources + 1))
    won = np.zeros(n_sources)
    for source, (start, stop) in enumerate(pairwise(ends)):
        members = order[start:stop]
        right = stated.right[members]
        if 0 < right.sum() < right.size:
            wins = _wins(stated.confidence[members], right)
            won[source] = wins[right == 1].sum()
    return won
