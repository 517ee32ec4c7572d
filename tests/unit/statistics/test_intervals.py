"""Proportions of sources, intervals and p-values from deletions, and corrected
p-values.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import t as student

from deleted import jackknife_t
from judgescope.statistics.intervals import (
    ACCURACY,
    CORRELATION,
    MOST_CASES,
    NOT_SMOOTH,
    ONE_SOURCE_DECIDES,
    PLAIN,
    PROPORTION,
    IntervalScale,
    Jackknife,
    bounds_of_alike,
    cases_needed,
    clopper_pearson,
    deletions,
    jackknife,
)
from judgescope.statistics.means import share
from judgescope.statistics.registry import STATISTICS, scale_of
from judgescope.statistics.resampling import (
    Replicated,
    few_not_modal,
    mean_rows,
    replicated,
    whole_and_resamples,
    with_interval,
)
from judgescope.statistics.result import REASONS, Estimate


@pytest.mark.parametrize(("x", "n"), [(0, 10), (3, 24), (24, 24), (7, 7), (1, 400)])
def test_of_complete_numbers_of_cases_it_is_clopper_and_pearson(x: int, n: int) -> None:
    exact = stats.binomtest(x, n).proportion_ci(0.95, "exact")
    assert clopper_pearson(x / n, n) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize(
    ("x", "n", "null"), [(3, 24, 0.05), (20, 24, 0.5), (0, 9, 0.2)]
)
def test_the_p_is_the_exact_binomial_tail(x: int, n: int, null: float) -> None:
    result = Jackknife(x / n, PROPORTION, n, 0.0, n)
    assert result.p_above(null) == pytest.approx(
        stats.binomtest(x, n, null, "greater").pvalue
    )


def proportion(hits: NDArray[Any], cases: NDArray[Any]) -> Jackknife:
    """Return what is known of a share of cases from its sources."""
    jackknifed = share(
        hits, cases, np.arange(hits.size), deletions(hits.size)
    ).jackknifed
    assert isinstance(jackknifed, Jackknife), jackknifed
    return jackknifed


def test_the_effective_size_is_that_of_the_formula() -> None:
    hits, cases = np.array([3.0, 0, 4, 5, 1, 0, 0]), np.array([4.0, 4, 5, 5, 3, 2, 0])
    k, total, p = 6, 23, 13 / 23
    squares = math.fsum((h - p * c) ** 2 for h, c in zip(hits, cases, strict=True))
    deff = max(1.0, k / (k - 1) * squares / total**2 * total / (p * (1 - p)))
    wanted = (
        total / deff * (stats.t.ppf(0.975, total - 1) / stats.t.ppf(0.975, k - 1)) ** 2
    )
    result = proportion(hits, cases)
    assert deff > 1
    assert (result.value, result.sources) == pytest.approx((p, k))
    assert result.n_eff == pytest.approx(min(total, wanted))


def test_cases_that_repeat_their_source_say_no_more_than_the_sources() -> None:
    once = proportion(np.tile([1.0, 0.0, 1.0, 1.0], 5), np.ones(20)).n_eff
    copied = proportion(np.tile([9.0, 0.0, 9.0, 9.0], 5), np.full(20, 9.0)).n_eff
    assert once is not None and copied is not None
    assert copied < 1.1 * once <= 22


def test_at_an_end_sources_are_the_cases_and_below_five_there_is_none() -> None:
    result = proportion(np.zeros(8), np.full(8, 6.0))
    assert result.interval() == pytest.approx((0.0, 1 - 0.025 ** (1 / 8)))
    few = share(np.array([3.0, 2, 1, 0]), np.full(4, 6.0), np.arange(4), deletions(4))
    assert few.jackknifed == "no interval: 4 sources" and few.p_above(0.5) is None
    assert (few.estimate.value, few.estimate.ci_low, few.estimate.ci_high) == (
        0.25,
        None,
        None,
    )
    assert (
        share(np.zeros(3), np.zeros(3), np.arange(3), deletions(3)).estimate.value
        is None
    )


def test_it_holds_a_high_share_of_few_clustered_cases() -> None:
    """Of 40 sources with 3 cases each, whose chance is .95 and differs by source (beta
    19, 1).
    """
    rng = np.random.default_rng(16)
    held = 0
    for _ in range(400):
        hits = rng.binomial(3, rng.beta(19, 1, 40)).astype(float)
        lo, hi = proportion(hits, np.full(40, 3.0)).interval()
        held += lo <= 0.95 <= hi
    assert held >= 0.94 * 400


@pytest.mark.simulation
def test_the_cases_that_a_bar_needs() -> None:
    least = cases_needed(0.9, 0.8)
    assert least is not None

    def power(m: int) -> float:
        enough = [x for x in range(m + 1) if x and clopper_pearson(x / m, m)[0] >= 0.8]
        return float(stats.binom.sf(enough[0] - 1, m, 0.9)) if enough else 0.0

    assert power(least) >= 0.8 > power(least - 1)
    assert min(power(m) for m in range(least, least + 60)) >= 0.8
    assert cases_needed(0.805, 0.8) is None and cases_needed(0.7, 0.8) is None
    assert cases_needed(1.0, 0.8) == 17  # .8^17 = .0225
    with pytest.raises(ValueError, match="bar"):
        cases_needed(0.9, 1.0)
    assert (cases_needed(0.82, 0.8) or 0) <= MOST_CASES


def known(rows, sizes, scale, ends=None) -> Jackknife:  # type: ignore[no-untyped-def]
    interval = jackknife(np.asarray(rows, float), np.asarray(sizes, float), scale, ends)
    assert isinstance(interval, Jackknife), interval
    return interval


def test_deletions_take_every_source_but_one() -> None:
    assert deletions(3)[:].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_of_a_mean_it_is_the_t_interval_and_the_t_test() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 17)
    rows = [values.mean(), *(np.delete(values, s).mean() for s in range(17))]
    result = known(rows, np.ones(17), PLAIN)
    own_part = stats.ttest_1samp(values, 0, alternative="two-sided")
    assert result.interval() == pytest.approx(tuple(own_part.confidence_interval(0.95)))
    above = stats.ttest_1samp(values, 0.1, alternative="greater")
    assert result.p_above(0.1) == pytest.approx(above.pvalue)
    assert (result.sources, result.how) == (17, "jackknife-t")


def test_of_a_correlation_it_is_on_atanh() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=24)
    y = x + rng.normal(size=24)
    r = [np.corrcoef(x, y)[0, 1]]
    r += [np.corrcoef(np.delete(x, s), np.delete(y, s))[0, 1] for s in range(24)]
    moved = np.arctanh(r[1:])
    error = math.sqrt(23 / 24 * np.sum((moved - moved.mean()) ** 2))
    half = stats.t.ppf(0.975, 23) * error
    result = known(r, np.ones(24), CORRELATION)
    expected = np.tanh([np.arctanh(r[0]) - half, np.arctanh(r[0]) + half])
    assert result.interval() == pytest.approx(tuple(expected))
    assert result.p_above(0.2) == pytest.approx(
        stats.t.sf((np.arctanh(r[0]) - np.arctanh(0.2)) / error, 23)
    )


def test_at_a_single_a_correlation_is_plain_and_cut() -> None:
    rows = [0.99, 1.0, *np.linspace(0.97, 0.999, 11)]
    result = known(rows, np.ones(12), CORRELATION)
    assert result.scale.kind == "plain" and result.interval()[1] == 1.0


scales = st.sampled_from(
    [PLAIN, CORRELATION, ACCURACY, PROPORTION, IntervalScale("plain", 0.0, 1.0)]
)


@given(
    scale=scales,
    seed=st.integers(0, 2**20),
    n=st.integers(10, 40),
    chance=st.floats(0.05, 1.0),
    null=st.floats(0.01, 0.99),
)
def test_the_lower_end_and_the_p_never_disagree(
    scale: IntervalScale, seed: int, n: int, chance: float, null: float
) -> None:
    rng = np.random.default_rng(seed)
    m = rng.integers(1, 4, n).astype(float)
    hits = rng.binomial(m.astype(int), chance).astype(float)
    rows = np.append(hits.sum() / m.sum(), (hits.sum() - hits) / (m.sum() - m))
    interval = jackknife(rows, m, scale, (0.0, 1.0))
    if isinstance(interval, str):
        return
    lo, hi = interval.interval()
    assert lo - 1e-12 <= rows[0] <= hi + 1e-12
    p = interval.p_above(null)
    if abs(p - 0.025) > 1e-9 and abs(lo - null) > 1e-9:
        assert (p <= 0.025) == (lo >= null)


@pytest.mark.parametrize(
    "scale", [PLAIN, CORRELATION, ACCURACY, IntervalScale("plain", -1, 1)]
)
def test_no_interval_below_ten_sources_that_count(scale: IntervalScale) -> None:
    rows = np.append(0.5, np.full(12, 0.5))
    rows[1:10] += np.linspace(-0.1, 0.1, 9)
    sizes = np.append(np.ones(9), np.zeros(3))
    assert jackknife(rows, sizes, scale, None) == "no interval: 9 sources"
    sizes[9] = 1
    assert isinstance(jackknife(rows, sizes, scale, None), Jackknife)


def test_no_interval_where_few_sources_hold_most_targets() -> None:
    rows = np.append(0.5, np.linspace(0.4, 0.6, 20))
    sizes = np.ones(20)
    sizes[0] = 30  # (49)² / (900 + 19) = 2.6
    interval = jackknife(rows, sizes, CORRELATION, None)
    assert isinstance(interval, str) and "2.6" in interval


def test_an_undefined_deletion_names_its_source() -> None:
    rows = np.append(0.5, np.linspace(0.4, 0.6, 20))
    rows[8] = np.nan
    assert jackknife(rows, np.ones(20), PLAIN, None) == f"{ONE_SOURCE_DECIDES}7"
    sizes = np.ones(20)
    sizes[7] = 0  # a source without a target can change nothing
    assert isinstance(jackknife(rows, sizes, PLAIN, None), Jackknife)


def test_where_all_deletions_are_equal_the_bound_is_that_of_sources_alike() -> None:
    rows = np.full(25, 3.0)
    result = known(rows, np.ones(24), PLAIN, (1.0, 5.0))
    assert result.interval() == pytest.approx(bounds_of_alike(3.0, (1, 5), 24))
    lo = result.interval()[0]
    assert result.p_above(lo) == pytest.approx(0.025)
    assert result.p_above(3.0) == 1
    flat = known(rows, np.ones(24), PLAIN)
    assert flat.interval() == (3.0, 3.0) and flat.p_above(1.0) == 1


def test_at_its_end_a_share_has_the_interval_of_clopper_and_pearson_of_sources() -> (
    None
):
    exact = stats.binomtest(24, 24).proportion_ci(0.95, "exact")
    for scale in (ACCURACY, PROPORTION):
        result = known(np.ones(25), np.full(24, 5.0), scale)
        assert result.interval() == pytest.approx((exact.low, exact.high))


def test_a_minimum_has_no_jackknife_and_rows_fit_their_sizes() -> None:
    interval = jackknife(
        np.append(0.5, np.linspace(0.4, 0.6, 20)), np.ones(20), NOT_SMOOTH, None
    )
    assert isinstance(interval, str) and "not smooth" in interval
    with pytest.raises(ValueError, match="rows"):
        jackknife(np.ones(20), np.ones(20), PLAIN, None)


def test_each_statistic_has_a_scale_that_fits_its_range() -> None:
    assert scale_of("pearson") == scale_of("error_correlation") == CORRELATION
    assert (
        scale_of("kappa_linear")
        == scale_of("alpha_ordinal")
        == IntervalScale("plain", -1.0, 1.0)
    )
    assert (
        scale_of("D") == IntervalScale("plain", low=0.0)
        and scale_of("D_min") == NOT_SMOOTH
    )
    assert (
        scale_of("flip_rate") == PROPORTION
        and scale_of("accuracy_adjacent") == ACCURACY
    )
    assert scale_of("difference_pearson") == scale_of("mean_drop") == PLAIN
    assert scale_of("injection_shift") == IntervalScale("plain", -1.0, 1.0)
    for name in STATISTICS:
        low, high = scale_of(name).ends
        assert low < high, name


@pytest.mark.parametrize("probability", [0.0, 0.02, 0.05, 0.2, 0.98])
def test_the_interval_of_a_share_holds_the_truth_near_the_ends_too(
    probability: float,
) -> None:
    """With 24 sources; percentiles alone hold .02 in 4 studies of 10, as most find no
    one.
    """
    rng = np.random.default_rng(24)
    held = 0
    for _ in range(300):
        hits = (rng.random(24) < probability).astype(float)
        estimate = share(hits, np.ones(24), np.arange(24), deletions(24)).estimate
        assert (
            estimate.ci_low is not None
            and estimate.ci_high is not None
            and estimate.ci_low < estimate.ci_high
        )
        held += estimate.ci_low <= probability <= estimate.ci_high
    assert held >= 280


def mean(
    values: list[float],
    scale: IntervalScale = PLAIN,
    ends: tuple[float, float] | None = None,
) -> Replicated:
    numbers = np.array(values)
    rows = mean_rows(
        numbers, whole_and_resamples(np.arange(numbers.size), deletions(numbers.size))
    )
    sizes = (~np.isnan(numbers)).astype(float)
    return with_interval(Replicated(Estimate(float(rows[0])), rows, sizes, scale, ends))


def test_the_mean_of_sources_has_a_t_interval_cut_to_its_ends() -> None:
    values = [*np.linspace(0.0, 1.0, 12).tolist(), np.nan]
    estimate = mean(values).estimate
    half = student.ppf(0.975, 11) * np.nanstd(values, ddof=1) / 12**0.5
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        (0.5 - half, 0.5 + half)
    )
    assert estimate.method == "jackknife-t over 12 sources" and estimate.note == ""
    cut = mean(values, IntervalScale("plain", 0.4, 0.6)).estimate
    assert (cut.ci_low, cut.ci_high) == (0.4, 0.6)


def test_many_sources_change_nothing_of_how_it_is_made() -> None:
    values = np.random.default_rng(0).normal(size=60).tolist()
    estimate = mean(values).estimate
    deleted = [float(np.mean(np.delete(values, s))) for s in range(60)]
    expected = jackknife_t(float(np.mean(values)), deleted)
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(expected, rel=1e-9)
    assert estimate.method == "jackknife-t over 60 sources"


def test_no_deletions_or_very_few_sources_give_no_interval() -> None:
    plain = Replicated(Estimate(0.1), np.array([0.1]))
    assert with_interval(plain).estimate == Estimate(0.1) and plain.p_above(0) is None
    few = mean([1.0, 2.0] * 4).estimate
    assert (few.ci_low, few.note) == (None, "no interval: 8 sources")
    # a bootstrap's rows are for ranks: no source was deleted
    drawn = Replicated(Estimate(0.1), np.full(1001, 0.1), np.ones(24))
    assert with_interval(drawn) is drawn and drawn.p_above(0) is None


def test_means_of_equal_values_rest_on_their_bounds() -> None:
    bounded = mean([1.0] * 24, ends=(-1.0, 1.0)).estimate
    assert (bounded.ci_low, bounded.ci_high) == pytest.approx(
        (2 * 0.025 ** (1 / 24) - 1, 1)
    )
    flat = mean([1.0] * 24).estimate
    assert (flat.ci_low, flat.ci_high) == (1, 1) and flat.note.startswith("no width")


def test_an_undefined_value_stays_undefined() -> None:
    result = replicated(
        np.array([np.nan, 0.1]),
        REASONS.no_variation,
        sizes=np.ones(1),
        scale=PLAIN,
        n=7,
    )
    estimate = result.estimate
    assert (estimate.value, estimate.ci_low, estimate.n, estimate.note) == (
        None,
        None,
        7,
        REASONS.no_variation,
    )
    assert result.p_above(0.0) is None


def test_what_is_not_smooth_has_no_interval() -> None:
    estimate = mean(np.linspace(0, 1, 20).tolist(), NOT_SMOOTH).estimate
    assert (
        estimate.value is not None
        and estimate.ci_low is None
        and "not smooth" in estimate.note
    )


def test_a_rare_other_rating_is_warned_of() -> None:
    source = np.repeat(np.arange(24), 2)
    ratings = np.full(48, 5.0)
    ratings[:19] = 4  # in 10 sources
    assert few_not_modal(ratings, source) == ""
    ratings[18] = np.nan
    assert few_not_modal(ratings, source).startswith("warning: only 9 sources")
    assert few_not_modal(np.full(48, np.nan), source) == ""
