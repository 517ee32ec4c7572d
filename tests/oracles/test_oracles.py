"""statsmodels and scikit-learn say the same, on data with ties, gaps and constant
rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score
from statsmodels.regression.linear_model import OLS, WLS
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import normal_sample_size_one_tail
from statsmodels.stats.weightstats import DescrStatsW
from statsmodels.tools.tools import add_constant

from deleted import jackknife_t
from judgescope.statistics.alt_test import alternative_annotator
from judgescope.statistics.bias import (
    length_slope,
    partial_correlation,
    self_preference,
)
from judgescope.statistics.classes import on_classes
from judgescope.statistics.comparison import detectable, sources_needed
from judgescope.statistics.correlation import correlations
from judgescope.statistics.intervals import (
    benjamini_hochberg,
    benjamini_yekutieli,
    deletions,
    holm,
)
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.reliability import krippendorff_alpha, repeatability
from judgescope.statistics.resampling import Replicated, source_weights
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Resamples

Floats = NDArray[np.float64]
NAN = float("nan")
SOURCES, EACH, RESAMPLES = 12, 5, 20
N = SOURCES * EACH
SOURCE = np.repeat(np.arange(SOURCES), EACH)
ENDS: Any = {"scales": ((0.0, 10.0), (1.0, 5.0))}
seeds = pytest.mark.parametrize("seed", range(12))


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)


def holed(rng: np.random.Generator, values: ArrayLike, share: float = 0.1) -> Floats:
    """Return the values with a share of them missing."""
    result = np.array(values, dtype=np.float64)
    result[rng.random(result.shape) < share] = NAN
    return result


def weights_of(rng: np.random.Generator) -> NDArray[np.uint16]:
    return source_weights(rng, SOURCES, RESAMPLES)


def table_of(
    gold: Floats, predicted: Floats, scale: list[float], times: Floats
) -> Floats:
    """Return how often each pair of classes is there, a target counting `times`."""
    table = np.zeros((len(scale), len(scale)))
    for each, other, count in zip(gold, predicted, times, strict=True):
        if not np.isnan(each + other):
            table[scale.index(each), scale.index(other)] += count
    return table


def kappa_of(table: Floats, kind: str | None) -> float:
    if np.count_nonzero(table.sum(axis=0) + table.sum(axis=1)) < 2:
        return NAN  # statsmodels divides 0 by 0 there
    return float(cohens_kappa(table, wt=kind, return_results=False))


@seeds
@pytest.mark.parametrize("kind", ["linear", "quadratic"])
def test_weighted_kappa_and_each_of_its_resamples(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = [1.0, 1.5, 2.0, 4.0, 7.0, 8.0][
        : 2 + seed % 5
    ]  # places count, not distances
    gold, predicted = (holed(rng, rng.choice(scale[:-1] or scale, N)) for _ in range(2))
    predicted[: N // 2] = gold[N // 2 :][::-1]
    weights = weights_of(rng)
    result = on_classes(gold, predicted, scale, SOURCE, weights)[f"kappa_{kind}"]
    times = [np.ones(N), *(row[SOURCE] for row in weights)]
    want = [kappa_of(table_of(gold, predicted, scale, w), kind) for w in times]
    assert result.rows == near(want)
    if result.estimate.value is None:
        assert (
            len(scale) == 2 and result.estimate.note == REASONS.no_variation
        )  # all in one class
    else:
        present = ~np.isnan(gold + predicted)
        codes = [np.searchsorted(scale, v[present]) for v in (gold, predicted)]
        learned = cohen_kappa_score(*codes, weights=kind, labels=range(len(scale)))
        assert result.estimate.value == near(learned)
        assert (result.estimate.n, result.estimate.n_missing) == (
            present.sum(),
            (~present).sum(),
        )


@seeds
def test_of_two_classes_both_kappas_are_cohens_of_nominal_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, predicted = (holed(rng, rng.integers(0, 2, N)) for _ in range(2))
    by_statistic = on_classes(gold, predicted, [0.0, 1.0], SOURCE, None)
    want = kappa_of(table_of(gold, predicted, [0.0, 1.0], np.ones(N)), None)
    assert by_statistic["kappa_linear"].estimate.value == near(want)
    assert by_statistic["kappa_quadratic"].estimate.value == near(want)


@pytest.mark.parametrize("kind", ["linear", "quadratic"])
def test_kappa_with_a_constant_side_is_chance(kind: str) -> None:
    scale, gold = [1.0, 2.0, 3.0], np.array([1.0, 2, 3, 3, 2])
    for each, other in ((gold, np.full(5, 2.0)), (np.full(5, 2.0), gold)):
        estimate = on_classes(each, other, scale, np.arange(5), None)[
            f"kappa_{kind}"
        ].estimate
        assert estimate.value == near(
            kappa_of(table_of(each, other, scale, np.ones(5)), kind)
        )
        assert estimate.value == near(0)


@seeds
def test_nominal_alpha_is_fleiss_kappa_but_for_the_size_of_the_sample(
    seed: int,
) -> None:
    """Of n ratings alpha draws two without replacement by chance, and kappa with it."""
    rng = np.random.default_rng(seed)
    raters, k = 2 + seed % 4, 2 + seed % 3
    ratings = rng.integers(0, k, (raters, N)).astype(np.float64)
    ratings[1:, rng.random(N) < 0.5] = ratings[0, 0]
    ratings[:, ::7] = ratings[0, ::7]  # units that all agree on
    fleiss = fleiss_kappa(aggregate_raters(ratings.T.astype(int), k)[0])
    ratings = np.hstack([ratings, np.full((raters, 1), NAN)])
    ratings[0, -1] = 1  # a unit with one rating is no unit
    estimate = krippendorff_alpha(
        ratings,
        level="nominal",
        domain=[float(c) for c in range(k)],
        source=np.arange(N + 1),
        weights=None,
    ).estimate
    n = raters * N
    assert estimate.value == near(1 - (1 - fleiss) * (n - 1) / n)
    assert (estimate.n, estimate.n_missing) == (N, 1)


@seeds
def test_interval_alpha_of_complete_ratings_is_the_adjusted_r_squared_of_units(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    raters = 2 + seed % 3
    ratings = np.round(rng.normal(size=N) + rng.normal(size=(raters, N)), seed % 2)
    units = np.repeat(np.eye(N)[None], raters, axis=0).reshape(raters * N, N)
    want = OLS(ratings.ravel(), units).fit().rsquared_adj
    estimate = krippendorff_alpha(
        ratings, level="interval", domain=None, source=np.arange(N), weights=None
    ).estimate
    assert estimate.value == near(want)


@seeds
def test_reliability_is_that_of_the_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = holed(rng, np.round(rng.normal(size=N) + rng.normal(size=(4, N))), 0.3)
    draws[:, 0] = 2.0
    reliability = repeatability(draws, SOURCE, None, scale=None)["reliability"]
    m = np.sum(~np.isnan(draws), axis=0)
    used = m >= 2
    draw, target = np.nonzero(~np.isnan(draws) & used)
    whose = np.equal.outer(target, np.flatnonzero(used)).astype(np.float64)
    fit = OLS(draws[draw, target], whose).fit()
    k = m[used]
    size = (k.sum() - np.sum(k * k) / k.sum()) / (k.size - 1)
    assert reliability.value == near((fit.fvalue - 1) / (fit.fvalue + size - 1))
    assert (reliability.n, reliability.n_missing) == (used.sum(), (~used).sum())


@pytest.mark.simulation
@seeds
@pytest.mark.parametrize(
    ("adjust", "method"),
    [(holm, "holm"), (benjamini_hochberg, "fdr_bh"), (benjamini_yekutieli, "fdr_by")],
)
def test_adjusted_p_values(
    adjust: Callable[..., Floats], method: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    p = rng.random(1 + 5 * seed) ** rng.integers(1, 60)
    p = np.append(np.round(p, 1 + seed), [0.0, 1.0, p[0], p[0]])  # many are tied
    rng.shuffle(p)
    want = multipletests(p, method=method)[1]
    assert adjust(p) == pytest.approx(want, rel=1e-12, abs=0)
    gaps = np.insert(p, [0, p.size // 2], NAN)
    assert adjust(gaps)[~np.isnan(gaps)] == pytest.approx(want, rel=1e-12, abs=0)
    with np.errstate(divide="ignore"):
        logs = np.log(p)
    assert np.exp(adjust(logs, log=True)) == pytest.approx(want, rel=1e-12, abs=0)


def scored(seed: int) -> tuple[np.random.Generator, Floats, Floats, Floats]:
    """Return a judge of 0 to 10 that likes length, ratings of 1 to 5, and lengths; with
    gaps.
    """
    rng = np.random.default_rng(seed)
    quality, length = rng.normal(size=N), rng.integers(2, 60, N) * 10.0
    x = np.round(
        np.clip(5 + 2 * quality + np.log2(length / 200) + rng.normal(size=N), 0, 10)
    )
    y = np.round(np.clip(3 + quality + rng.normal(size=N), 1, 5))
    x[SOURCE == 0], y[SOURCE == 1] = 4.0, 2.0  # constant rows
    return rng, holed(rng, x), holed(rng, y), holed(rng, length)


def rows_of(
    fit: Callable[[Floats], float], weights: Resamples, known: Any
) -> list[float]:
    """Return a fit on the known targets as they are, and on each resample."""
    return [
        fit(w[known]) for w in (np.ones(N), *(row[SOURCE] * 1.0 for row in weights[:]))
    ]


def partial_by_regression(x: Floats, y: Floats, z: Floats, w: Floats) -> float:
    """Return t / sqrt(t² + df) of x in the regression of y on x and z."""
    fit = WLS(y, add_constant(np.column_stack([x, z])), weights=w).fit()
    t = fit.tvalues[1]
    return float(t / np.sqrt(t**2 + fit.df_resid))


@seeds
def test_a_partial_correlation_is_what_a_regression_leaves(seed: int) -> None:
    rng, x, y, length = scored(seed)
    weights = weights_of(rng)
    known = ~np.isnan(x + y + length)
    a, b, z = (v[known] for v in (x, y, length))
    result = partial_correlation(
        x, y, length, SOURCE, statistic="pearson", weights=weights
    )
    assert result.rows == near(
        rows_of(lambda w: partial_by_regression(a, b, z, w), weights, known)
    )
    ranks = [rankdata(v) for v in (a, b, z)]
    of_ranks = partial_correlation(
        x, y, length, SOURCE, statistic="spearman", weights=None
    )
    want = partial_by_regression(ranks[0], ranks[1], ranks[2], np.ones(a.size))
    assert of_ranks.estimate.value == near(want)
    assert of_ranks.estimate.n_missing == N - known.sum()


def slope(y: Floats, x: Floats, w: Floats) -> float:
    return float(WLS(y, add_constant(x), weights=w).fit().params[1])


@seeds
def test_the_length_slope_is_a_least_squares_fit(seed: int) -> None:
    rng, x, y, length = scored(seed)
    weights = weights_of(rng)
    known = ~np.isnan(x + y + length)
    above, z = (1 + x * 0.4 - y)[known], np.log2(length[known])
    result = length_slope(x, y, length, SOURCE, **ENDS, weights=weights)
    assert result.rows == near(rows_of(lambda w: slope(above, z, w), weights, known))


@seeds
def test_self_preference_is_the_slope_on_being_of_the_family(seed: int) -> None:
    rng, x, y, _ = scored(seed)
    weights, holds = weights_of(rng), rng.random(N) < 0.4
    known = ~np.isnan(x + y)
    above, family = (1 + x * 0.4 - y)[known], holds[known].astype(np.float64)
    result = self_preference(x, y, holds, SOURCE, **ENDS, weights=weights)
    assert result.rows == near(
        rows_of(lambda w: slope(above, family, w), weights, known)
    )


@seeds
def test_pearson_and_means_of_systems_in_resamples_are_weighted_ones(seed: int) -> None:
    rng, x, y, _ = scored(seed)
    weights, system = weights_of(rng), np.tile(np.arange(EACH), SOURCES)
    known = ~np.isnan(x + y)
    a, b, s = x[known], y[known], system[known]

    def pooled(w: Floats) -> float:
        return float(DescrStatsW(np.column_stack([a, b]), weights=w).corrcoef[0, 1])

    def by_system(w: Floats) -> float:
        both = np.column_stack([a, b])
        means = [
            DescrStatsW(both[s == number], weights=w[s == number]).mean
            for number in range(EACH)
        ]
        return float(DescrStatsW(np.array(means)).corrcoef[0, 1])

    result = correlations(x, y, SOURCE, system, weights=weights, statistics=["pearson"])
    assert result["pearson", "pooled"].rows == near(rows_of(pooled, weights, known))
    assert result["pearson", "by_system"].rows == near(
        rows_of(by_system, weights, known)
    )
    mean = clustered_mean(x, SOURCE, deletions(SOURCES), ends=None).estimate
    given = ~np.isnan(x)
    want = rows_of(
        lambda w: float(DescrStatsW(x[given], weights=w).mean),
        deletions(SOURCES),
        given,
    )
    assert (mean.value, mean.ci_low, mean.ci_high) == near(
        (want[0], *jackknife_t(want[0], want[1:]))
    )


def agreeing(values: Floats, others: Floats) -> Floats:
    """Return the share of the others who gave the same, NaN without a value or
    others.
    """
    given = np.sum(~np.isnan(others), axis=0)
    same = np.sum(others == values, axis=0)
    return np.where(np.isnan(values) | (given == 0), NAN, same / np.maximum(given, 1))


def won(judge: Floats, ratings: Floats, epsilon: float) -> float:
    """Return the share of raters that a judge beats, by t-tests robust to clusters."""
    p = []
    for rater in range(len(ratings)):
        others = np.delete(ratings, rater, axis=0)
        near_judge, near_rater = (agreeing(v, others) for v in (judge, ratings[rater]))
        known = ~np.isnan(near_judge + near_rater)
        gap = 1.0 * (near_rater >= near_judge) - 1.0 * (near_judge >= near_rater)
        fit = OLS(gap[known], np.ones(known.sum())).fit(
            cov_type="cluster", cov_kwds={"groups": SOURCE[known]}, use_t=True
        )
        test = fit.t_test(([[1.0]], [epsilon]))
        half = float(test.pvalue) / 2
        p.append(half if test.tvalue < 0 else 1 - half)
    return float(np.mean(multipletests(p, method="fdr_by")[1] <= 0.05))


@pytest.mark.simulation
def test_the_alternative_annotator_wins_by_t_tests_robust_to_clusters() -> None:
    rates = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.integers(1, 6, N).astype(np.float64)
        ratings = holed(
            rng, np.where(rng.random((4, N)) < 0.5, truth, rng.integers(1, 6, (4, N)))
        )
        judge = holed(
            rng, np.where(rng.random(N) < 0.1 * seed, truth, rng.integers(1, 6, N))
        )
        for epsilon in (0.0, 0.1, 0.2, 0.3):
            result, _ = alternative_annotator(
                judge,
                ratings,
                SOURCE,
                weights=None,
                closeness="accuracy",
                epsilon=epsilon,
            )
            rates.append(result.value)
            assert result.value == won(judge, ratings, epsilon), (seed, epsilon)
    assert {0.0, 0.25, 0.5, 0.75, 1.0} <= set(
        rates
    )  # the cases lie on both sides of the level


@seeds
def test_what_can_be_detected_and_the_sources_that_it_needs(seed: int) -> None:
    """At the detectable difference the sample that statsmodels asks for is the one
    there is.
    """
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2, 200))
    sizes = np.ones(rows.shape[1] - 1)
    first, second = (Replicated(Estimate(float(row[0])), row, sizes) for row in rows)
    least = detectable(first, second)
    assert least is not None
    n = sizes.size  # SE² of deletions is (n - 1)² / n of their variance
    error = float(DescrStatsW((rows[0] - rows[1])[1:], ddof=1).std) * (n - 1) / n**0.5
    assert normal_sample_size_one_tail(least, 0.8, 0.025, error) == near(1)
    each = error * SOURCES**0.5
    needed = normal_sample_size_one_tail(0.5, 0.8, 0.025, each)
    assert sources_needed(SOURCES, least, 0.5) == int(np.ceil(needed))
