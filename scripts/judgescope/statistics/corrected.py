"""What systems really score: a judge's means, corrected by people's ratings of a part.

A judge scores the texts of all sources, people rate those of some. The mean score of
the others tells where the systems lie, the rated ones tell how far the judge is off.
The correction removes the judge's bias; it seldom saves many ratings. See
docs/methods.md, "What the systems really score", after prediction-powered
inference (PPI++): Angelopoulos, Duchi, Zrnic 2023, arXiv 2311.01453.
"""

import math
from dataclasses import replace
from typing import Final, NamedTuple, Self

import numpy as np

from judgescope.statistics.arrays import Codes, Floats, quotient
from judgescope.statistics.declared import (
    amount,
    correlation,
    declare,
    signed_amount,
)
from judgescope.statistics.intervals import (
    CORRELATION,
    FEWEST_SOURCES,
    PROPORTION,
    TOLERANCE,
    Bounds,
    IntervalScale,
    deletions,
    t_quantile,
)
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import NO_WIDTH, Replicated, replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import DeletedRows

PPI: Final = "Angelopoulos et al. 2023"
NO_RATED_SOURCE: Final = "no source has both ratings and scores"
DECLARED = declare(
    "corrected",
    corrected_difference=signed_amount(
        "Difference, corrected",
        "mean rating of the first system minus that of the second, of all sources: the "
        "judge's scores, corrected by the rated sources",
        PPI,
    ),
    corrected_mean=signed_amount(
        "Mean, corrected",
        "mean rating of a system over all sources (of two labels: share of the last "
        "one): the judge's scores, corrected by the rated sources",
        PPI,
    ),
)
DECLARED += declare(
    "uncorrected",
    uncorrected_difference=signed_amount(
        "Difference, uncorrected",
        "mean score of the first system minus that of the second, by the judge alone",
    ),
    uncorrected_mean=signed_amount(
        "Mean, uncorrected", "mean score of a system by the judge alone"
    ),
    rated_difference=signed_amount(
        "Difference, people",
        "mean rating of the first system minus that of the second, of rated sources",
    ),
    rated_mean=signed_amount(
        "Mean, people", "mean rating of a system, of rated sources"
    ),
    judge_bias=signed_amount(
        "Bias of the judge",
        "mean of score minus rating, the score moved to the ends of people's scale",
    ),
)
DECLARED += declare(
    "worth",
    rating_worth=amount(
        "Worth of a rating",
        "how many ratings without a judge say as much as one beside the judge: the "
        "variance of people's mean over that of the corrected mean",
        PPI,
    ),
    rating_correlation=correlation(
        "Score and rating",
        "Pearson's correlation of a source's score and its rating, one system or "
        "difference of two",
    ),
    rating_spread=amount(
        "Spread of ratings", "standard deviation of a source's rating"
    ),
    rated_texts=amount("Rated texts", "number of rated texts", complete=True),
    unrated_sources=amount(
        "Unrated sources",
        "number of sources that the judge scored and people did not rate",
        complete=True,
    ),
)
FEWEST_INFORMATIVE: Final = 10
"""With fewer rated sources, fewer that differ from the most frequent rating, or of few
values fewer that the judge errs on, the judge is not used: its interval would hold the
truth in .55 to .90 of studies."""
ERRS_SELDOM: Final = f"it errs on fewer than {FEWEST_INFORMATIVE} rated sources"


def errs_seldom(judged: Floats, rated: Floats) -> bool:
    """Whether ratings of at most 3 values are missed in fewer than 10 sources by the
    best rule that rises with the score.

    judged, rated (n,), finite. The rule gives each score one rating, a higher score at
    least the same; of two equal labels it is the score itself. So rare an error is
    mostly not among the rated sources, and the variance is that of a judge without one.
    False where ratings have more values.

    >>> rated = np.tile([0.0, 1.0], 20)
    >>> errs_seldom(np.where(np.arange(40) < 2, 1.0, rated), rated)
    True
    >>> errs_seldom(np.where(np.arange(40) < 20, 1.0, rated), rated)
    False
    """
    values, at_value = np.unique(np.round(rated, 9), return_inverse=True)
    # Ratings of so many values or fewer, two labels or their difference, are told right
    # or wrong one by one.
    most_counted = 3
    if values.size > most_counted:
        return False
    levels, at_level = np.unique(np.round(judged, 9), return_inverse=True)
    counts = np.zeros((levels.size, values.size))
    np.add.at(counts, (at_level, at_value), 1)
    met = np.zeros(values.size)
    for count in counts:  # met[k]: the most sources right if this score gives value k
        met = np.maximum.accumulate(met) + count
    return bool(rated.size - met.max(initial=0.0) < FEWEST_INFORMATIVE)


class RatedSample(NamedTuple):
    """Scores f and ratings y of sources: judged, rated (n,); others (N,), the scores of
    unrated ones. `difference`: they are differences of two systems.
    """

    judged: Floats
    rated: Floats
    others: Floats
    difference: bool = False

    @property
    def n(self) -> int:
        """The number of rated sources."""
        return self.rated.size

    @property
    def informative(self) -> int:
        """How many rated sources have another rating than the most frequent one; of a
        difference, another than 0.

        >>> nothing = np.empty(0)
        >>> RatedSample(nothing, np.array([1.0, 1.0, 2.0]), nothing).informative
        1
        """
        if self.difference:
            return int(np.count_nonzero(np.abs(self.rated) > TOLERANCE))
        _, counts = np.unique(np.round(self.rated, 9), return_counts=True)
        mode_count = int(counts.max(initial=0))
        if mode_count > 1:
            return self.n - mode_count
        return self.n

    @property
    def covariance(self) -> float:
        """cov(f, y) of the rated sources, ddof 1."""
        f = self.judged - self.judged.mean()
        return float(np.sum(f * (self.rated - self.rated.mean())) / (self.n - 1))

    def why_unused(self) -> str:
        """Why the judge's scores are not used, "" if they are.

        >>> judged = np.arange(12.0)
        >>> RatedSample(judged, judged, np.empty(0)).why_unused()
        'judge not used: no unrated source has a score'
        >>> RatedSample(judged, np.ones(12), judged).why_unused()
        'judge not used: 0 informative sources'
        """
        why = ""
        if self.n < FEWEST_INFORMATIVE:
            why = f"{self.n} rated sources"
        elif self.informative < FEWEST_INFORMATIVE:
            why = f"{self.informative} informative sources"
        elif not self.others.size:
            why = "no unrated source has a score"
        elif errs_seldom(self.judged, self.rated):
            why = ERRS_SELDOM
        elif np.ptp(self.judged) <= TOLERANCE * max(1.0, np.abs(self.judged).max()):
            why = "its scores of the rated sources are equal"
        elif self.covariance <= 0:
            why = "its scores do not rise with people's ratings"
        return f"judge not used: {why}" if why else ""


class CorrectedMean(NamedTuple):
    """A corrected mean: its estimate, the two-sided p of a truth of 0 (None without an
    interval), and the weight of the judge's scores.
    """

    estimate: Estimate
    p: float | None
    weight: float


def judge_weight(sample: RatedSample) -> float:
    """max(0, cov(f, y) / (var(f) (1 + n/N))): the weight of the judge's scores.

    Both moments of the rated sources, ddof 1; no upper limit. 0 where the judge is not
    used (`RatedSample.why_unused`). Angelopoulos et al. 2023, section 6.

    >>> judged = np.arange(12.0)
    >>> round(judge_weight(RatedSample(judged, 2 * judged, np.arange(12.0))), 6)
    1.0
    """
    if sample.why_unused():
        return 0.0
    spread = float(sample.judged.var(ddof=1))
    return sample.covariance / (spread * (1 + sample.n / sample.others.size))


def corrected_moments(sample: RatedSample, weight: float) -> tuple[float, float]:
    """θ = λ mean_U f + mean_L(y - λ f); se² = λ² var_U(f)/N + var_L(y - λ f)/n.

    L are the rated sources, U the others, λ the weight; ddof 1. Returns θ and se.
    ValueError for a weight without two sources of each kind.

    >>> judged, others = np.arange(12.0), np.array([20.0, 22.0])
    >>> theta, error = corrected_moments(RatedSample(judged, judged, others), 1.0)
    >>> theta, error  # f = y: the mean of the others
    (21.0, 1.0)
    """
    if sample.n < 2 or sample.others.size < 2:
        raise ValueError("a corrected mean needs two sources of each kind")
    rest = sample.rated - weight * sample.judged
    theta = weight * float(sample.others.mean()) + float(rest.mean())
    variance = weight**2 * float(sample.others.var(ddof=1)) / sample.others.size
    return theta, math.sqrt(variance + float(rest.var(ddof=1)) / sample.n)


def corrected_mean(
    sample: RatedSample, ends: Bounds, *, two_values: bool = False
) -> CorrectedMean:
    """θ ± t(n - 1) se of `corrected_moments` with `judge_weight`, cut to the ends.

    `ends` are those of people's ratings, or of their differences; `two_values`: ratings
    are 0 or 1. Where the judge is not used, people's mean with an interval of its own
    (`people_alone`). Undefined without a rated source. See docs/methods.md, "What the
    systems really score".

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.normal(3, 1, 400)
    >>> scores = truth + 1  # a judge that is one point too kind
    >>> sample = RatedSample(scores[:50], truth[:50], scores[50:])
    >>> found = corrected_mean(sample, (-9.0, 9.0)).estimate
    >>> off = np.array([found.value, scores.mean()]) - truth.mean()
    >>> np.abs(off).round(2).tolist()
    [0.0, 1.0]
    """
    weight = judge_weight(sample)
    if weight == 0 or sample.others.size < 2:
        alone = people_alone(sample, ends, two_values=two_values)
        if sample.n:
            alone = alone.with_note(sample.why_unused())
        return CorrectedMean(alone.estimate, two_sided(alone), 0.0)
    theta, error = corrected_moments(sample, weight)
    half = t_quantile(sample.n - 1) * error
    low, value, high = np.clip([theta - half, theta, theta + half], *ends).tolist()
    method = (
        f"PPI++, weight {weight:.3g} of the judge; t({sample.n - 1}) over "
        f"{sample.n} rated and {sample.others.size} unrated sources"
    )
    result = Estimate(value, ci_low=low, ci_high=high, n=sample.n, method=method)
    if value != theta:
        result = result.with_note(f"{theta:.4g}, cut to the scale")
    # With so many rated sources or fewer the interval is a little too narrow.
    few_rated = 20
    if sample.n <= few_rated:
        result = result.with_note("interval a little too narrow: few rated sources")
    if half <= TOLERANCE:
        result = result.with_note(f"{NO_WIDTH}: score and rating differ by a constant")
    return CorrectedMean(result, _p_of_zero(theta, error, sample.n - 1), weight)


def _p_of_zero(value: float, error: float, freedom: int) -> float:
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    if error == 0:
        return 0.0 if value else 1.0
    return float(2 * stdtr(freedom, -abs(value) / error))


def people_alone(
    sample: RatedSample, ends: Bounds, *, two_values: bool = False
) -> Replicated:
    """sum_L y / n with people's own interval: t(n - 1), cut to the ends.

    Of ratings 0 and 1 Clopper-Pearson at n_eff (Korn, Graubard 1998); of n ratings that
    are all equal the exact bound on other sources (`bounds_of_alike`). None below 10
    sources, of two values below 5. See docs/methods.md, "Common to every number".

    >>> rated = np.arange(1.0, 11.0)
    >>> found = people_alone(RatedSample(rated, rated, rated), (0.0, 20.0)).estimate
    >>> found.value, round(found.ci_low, 2), round(found.ci_high, 2)
    (5.5, 3.33, 7.67)
    """
    proportion = two_values and not sample.difference
    scale = PROPORTION
    if not proportion:
        scale = IntervalScale("plain", *ends)
    return clustered_mean(
        sample.rated,
        np.arange(sample.n),
        deletions(sample.n),
        ends=ends,
        scale=scale,
        averaged="people's mean",
        why=NO_RATED_SOURCE,
    )


def two_sided(result: Replicated) -> float | None:
    """min(1, 2 min(p above 0, p below 0)), None where there is no interval.

    >>> rows = np.append(5.5, (55 - np.arange(1, 11)) / 9)
    >>> round(two_sided(Replicated(Estimate(5.5), rows, np.ones(10))), 5)
    0.00028
    """
    turned = result._replace(
        estimate=replace(result.estimate, value=_negative(result.estimate.value)),
        rows=-result.rows,
        scale=result.scale._replace(low=-result.scale.high, high=-result.scale.low),
        ends=None if result.ends is None else (-result.ends[1], -result.ends[0]),
    )
    above = result.p_above(0.0)
    below = turned.p_above(0.0)
    if above is None or below is None:
        return None
    return min(1.0, 2 * min(above, below))


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def uncorrected_mean(sample: RatedSample, ends: Bounds) -> Estimate:
    """sum f / (n + N) over rated and unrated sources: the judge alone, with its bias.

    The interval (jackknife-t over sources) is that of the judge's mean, no one else's.

    >>> sample = RatedSample(np.array([1.0]), np.array([5.0]), np.array([3.0]))
    >>> uncorrected_mean(sample, (1.0, 5.0)).value
    2.0
    """
    scores = np.concatenate([sample.judged, sample.others])
    numbers = np.arange(scores.size)
    weights = deletions(scores.size)
    scale = IntervalScale("plain", *ends)
    result = clustered_mean(scores, numbers, weights, ends=ends, scale=scale)
    return result.estimate.with_note("uncorrected: the judge's bias is in it")


def judge_bias(sample: RatedSample, ends: Bounds) -> Estimate:
    """sum_L (f - y) / n: how much too high the judge scores; jackknife-t over sources.

    f is on the scale of y; `ends` are those of y.

    >>> sample = RatedSample(np.array([4.0, 5.0]), np.array([3.0, 5.0]), np.empty(0))
    >>> judge_bias(sample, (1.0, 5.0)).value
    0.5
    """
    span = ends[1] - ends[0]
    scale = IntervalScale("plain", -span, span)
    gaps = sample.judged - sample.rated
    numbers = np.arange(sample.n)
    weights = deletions(sample.n)
    return clustered_mean(gaps, numbers, weights, ends=scale.ends, scale=scale).estimate


# --- what a rating is worth beside a judge --------------------------------------------


def rating_correlation(sample: RatedSample) -> Replicated:
    """r = cov(f, y) / (sd(f) sd(y)) of the rated sources; jackknife-t on atanh.

    Undefined where scores or ratings are all equal or fewer than 2 sources exist.

    >>> rated = np.arange(12.0)
    >>> sample = RatedSample(rated % 5, rated, np.empty(0))
    >>> round(rating_correlation(sample).estimate.value, 3)
    0.093
    """
    moments = _Moments.without_each(sample)
    product = np.sqrt(np.maximum(moments.ff, 0) * np.maximum(moments.yy, 0))
    # What is left of equal values is round-off.
    flat = product <= TOLERANCE * max(1.0, float(product.max(initial=0.0)))
    values = np.where(flat, np.nan, quotient(moments.fy, np.where(flat, 1, product)))
    why = REASONS.few_pairs
    if sample.n > 1:
        equal = np.ptp(sample.judged) <= TOLERANCE
        why = REASONS.constant_judge if equal else REASONS.constant_ratings
    return replicated(
        np.clip(values, -1, 1), why, sizes=np.ones(sample.n), scale=CORRELATION,
        n=sample.n,
    )  # fmt: skip


def rating_spread(sample: RatedSample) -> Replicated:
    """sd = √(sum_L (y - mean y)² / (n - 1)), with its jackknife-t over sources.

    Undefined below 2 rated sources.

    >>> nothing = np.empty(0)
    >>> sample = RatedSample(nothing, np.array([1.0, 3.0]), nothing)
    >>> round(rating_spread(sample).estimate.value, 4)
    1.4142
    """
    moments = _Moments.without_each(sample)
    values = np.sqrt(quotient(np.maximum(moments.yy, 0), moments.n - 1))
    return replicated(
        np.where(moments.n > 1, values, np.nan), REASONS.few_pairs,
        sizes=np.ones(sample.n), scale=IntervalScale("plain", low=0.0), n=sample.n,
    )  # fmt: skip


class _Moments(NamedTuple):
    """Sums of squares and products about the mean, of all rated sources and without
    each; (1 + n,).
    """

    n: Floats
    ff: Floats
    yy: Floats
    fy: Floats

    @classmethod
    def without_each(cls, sample: RatedSample) -> Self:
        """The moments of a sample; of f and y as far as they have values."""
        y = sample.rated - sample.rated.mean() if sample.n else sample.rated
        f = np.zeros(sample.n)
        if sample.judged.size:
            f = sample.judged - sample.judged.mean()
        columns = np.stack([np.ones(sample.n), f, y, f * f, y * y, f * y], axis=1)
        rows = DeletedRows(np.arange(sample.n), sample.n)
        n, sf, sy, ff, yy, fy = rows.sums(columns).T
        size = np.maximum(n, 1)
        return cls(n, ff - sf * sf / size, yy - sy * sy / size, fy - sf * sy / size)


def rating_worth(sample: RatedSample) -> Estimate:
    """(var_L(y)/n) / se²: ratings without a judge that say as much as one beside it.

    1 / (1 - r² (2/(1 + k) - (1 + k v)/(1 + k)²)) with r of `rating_correlation`, k =
    n/N and v = var_U(f)/var_L(f): at r² = 1 and many others, far above 1. The interval
    is that of r in this formula. Saved ratings: 1 - 1/worth. 1 where the judge is not
    used; undefined without a spread of ratings. See docs/methods.md, "What the systems
    really score".

    >>> rng = np.random.default_rng(1)
    >>> judged = rng.normal(size=2000)
    >>> rated = 0.6 * judged + 0.8 * rng.normal(size=2000)
    >>> sample = RatedSample(judged[:500], rated[:500], judged[500:])
    >>> round(rating_worth(sample).value, 1)  # 1 / (1 - .6² / (1 + 1/3)) = 1.37
    1.3
    """
    if sample.n < 2:
        return Estimate.undefined("fewer than 2 rated sources", n=sample.n)
    if float(np.ptp(sample.rated)) <= TOLERANCE:
        return Estimate.undefined(REASONS.constant_ratings, n=sample.n)
    if why := sample.why_unused():
        return Estimate(1.0, n=sample.n, note=why)
    weight = judge_weight(sample)
    if sample.others.size < 2:
        return Estimate(1.0, n=sample.n, note="judge not used: one unrated source")
    _, error = corrected_moments(sample, weight)
    variance = float(sample.rated.var(ddof=1)) / sample.n
    if error**2 <= TOLERANCE * variance:
        return Estimate.undefined("score and rating differ by a constant", n=sample.n)
    worth = Estimate(variance / error**2, n=sample.n)
    correlated = rating_correlation(sample).estimate
    if correlated.ci_low is None or correlated.ci_high is None:
        return worth.with_note(correlated.note or f"below {FEWEST_SOURCES} sources")
    k = sample.n / sample.others.size
    v = float(sample.others.var(ddof=1) / sample.judged.var(ddof=1))
    bounds = sorted(
        _worth_at(max(0.0, end), k, v)
        for end in (correlated.ci_low, correlated.ci_high)
    )
    if not math.isfinite(bounds[1]):
        return worth.with_note("no interval: the correlation may be 1")
    return replace(
        worth, ci_low=bounds[0], ci_high=bounds[1],
        method=f"interval of the correlation of score and rating; {correlated.method}",
    )  # fmt: skip


def _worth_at(correlation: float, k: float, v: float) -> float:
    share = 2 / (1 + k) - (1 + k * v) / (1 + k) ** 2
    rest = 1 - correlation**2 * share
    if rest > TOLERANCE:
        return 1 / rest
    return math.inf


# --- sources from texts ---------------------------------------------------------------


class RatedTexts(NamedTuple):
    """Texts of one system: judged, rated, source (texts,), NaN = missing.

    A source is rated if a text of it is; of a rated source only texts with both values
    count, of an unrated one those with a score.
    """

    judged: Floats
    rated: Floats
    source: Codes

    @property
    def both(self) -> "RatedTexts":
        """The texts with both values."""
        kept = np.isfinite(self.judged) & np.isfinite(self.rated)
        return RatedTexts(self.judged[kept], self.rated[kept], self.source[kept])

    @property
    def unrated(self) -> "RatedTexts":
        """The scored texts of sources of which no text is rated."""
        rated = np.unique(self.source[np.isfinite(self.rated)])
        kept = np.isfinite(self.judged) & ~np.isin(self.source, rated)
        return RatedTexts(self.judged[kept], self.rated[kept], self.source[kept])


def source_means(values: Floats, source: Codes) -> tuple[Codes, Floats]:
    """sum v / m of each source's m values: the sources' codes, ascending, and means.

    values, source (texts,), nothing missing.

    >>> source_means(np.array([1.0, 3.0, 5.0]), np.array([4, 4, 2]))
    (array([2, 4]), array([5., 2.]))
    """
    codes, index = np.unique(source, return_inverse=True)
    return codes, quotient(np.bincount(index, weights=values), np.bincount(index))


def sample_of(texts: RatedTexts) -> RatedSample:
    """f_s, y_s: means of a source's texts with both; f_s of all of an unrated source.

    >>> judged = np.array([4.0, 2.0, 3.0])
    >>> rated = np.array([5.0, np.nan, np.nan])
    >>> sample_of(RatedTexts(judged, rated, np.array([0, 0, 1])))[:3]
    (array([4.]), array([5.]), array([3.]))
    """
    both = texts.both
    unrated = texts.unrated
    _, judged = source_means(both.judged, both.source)
    _, rated = source_means(both.rated, both.source)
    _, others = source_means(unrated.judged, unrated.source)
    return RatedSample(judged, rated, others)


def difference_of(first: RatedTexts, second: RatedTexts) -> RatedSample:
    """The sample of first minus second: of sources where both systems have f and y,
    and of those where both have f and neither is rated.

    >>> one, two = np.array([0]), np.array([1, 0])
    >>> first = RatedTexts(np.array([4.0]), np.array([5.0]), one)
    >>> second = RatedTexts(np.array([1.0, 3.0]), np.array([1.0, 2.0]), two)
    >>> difference_of(first, second)[:3]
    (array([1.]), array([3.]), array([], dtype=float64))
    """
    rated = first.both, second.both
    others = first.unrated, second.unrated
    judged = _paired_means(*[(part.judged, part.source) for part in rated])
    ratings = _paired_means(*[(part.rated, part.source) for part in rated])
    unrated = _paired_means(*[(part.judged, part.source) for part in others])
    return RatedSample(judged, ratings, unrated, difference=True)


def _paired_means(first: tuple[Floats, Codes], second: tuple[Floats, Codes]) -> Floats:
    """The differences of the means of the sources that both have, by their codes."""
    codes_a, means_a = source_means(*first)
    codes_b, means_b = source_means(*second)
    _, at_a, at_b = np.intersect1d(
        codes_a, codes_b, assume_unique=True, return_indices=True
    )
    return np.asarray(means_a[at_a] - means_b[at_b], np.float64)
