"""Intervals and p-values from deletions, against loops that really delete sources."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgescope.statistics.jackknife import (
    ACCURACY,
    CORRELATION,
    HANGS,
    NOT_SMOOTH,
    PLAIN,
    PROPORTION,
    Jackknife,
    Scale,
    bounds_of_alike,
    deletions,
    jackknife,
)
from judgescope.statistics.registry import STATISTICS, scale_of


def known(rows, sizes, scale, ends=None) -> Jackknife:  # type: ignore[no-untyped-def]
    found = jackknife(np.asarray(rows, float), np.asarray(sizes, float), scale, ends)
    assert isinstance(found, Jackknife), found
    return found


def test_deletions_take_every_source_but_one() -> None:
    assert deletions(3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_of_a_mean_it_is_the_t_interval_and_the_t_test() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 17)
    rows = [values.mean(), *(np.delete(values, s).mean() for s in range(17))]
    found = known(rows, np.ones(17), PLAIN)
    own = stats.ttest_1samp(values, 0, alternative="two-sided")
    assert found.interval() == pytest.approx(tuple(own.confidence_interval(0.95)))
    above = stats.ttest_1samp(values, 0.1, alternative="greater")
    assert found.p_above(0.1) == pytest.approx(above.pvalue)
    assert (found.sources, found.how) == (17, "jackknife-t")


def test_of_a_correlation_it_is_on_atanh() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=24)
    y = x + rng.normal(size=24)
    r = [np.corrcoef(x, y)[0, 1]]
    r += [np.corrcoef(np.delete(x, s), np.delete(y, s))[0, 1] for s in range(24)]
    moved = np.arctanh(r[1:])
    error = math.sqrt(23 / 24 * np.sum((moved - moved.mean()) ** 2))
    half = stats.t.ppf(0.975, 23) * error
    found = known(r, np.ones(24), CORRELATION)
    expected = np.tanh([np.arctanh(r[0]) - half, np.arctanh(r[0]) + half])
    assert found.interval() == pytest.approx(tuple(expected))
    assert found.p_above(0.2) == pytest.approx(
        stats.t.sf((np.arctanh(r[0]) - np.arctanh(0.2)) / error, 23)
    )


def test_at_one_a_correlation_is_plain_and_cut() -> None:
    rows = [0.99, 1.0, *np.linspace(0.97, 0.999, 11)]
    found = known(rows, np.ones(12), CORRELATION)
    assert found.scale.kind == "plain" and found.interval()[1] == 1.0


scales = st.sampled_from([PLAIN, CORRELATION, ACCURACY, PROPORTION, Scale("plain", 0.0, 1.0)])


@given(
    scale=scales,
    seed=st.integers(0, 2**20),
    n=st.integers(10, 40),
    chance=st.floats(0.05, 1.0),
    null=st.floats(0.01, 0.99),
)
def test_the_lower_end_and_the_p_never_disagree(
    scale: Scale, seed: int, n: int, chance: float, null: float
) -> None:
    rng = np.random.default_rng(seed)
    m = rng.integers(1, 4, n).astype(float)
    hits = rng.binomial(m.astype(int), chance).astype(float)
    rows = np.append(hits.sum() / m.sum(), (hits.sum() - hits) / (m.sum() - m))
    found = jackknife(rows, m, scale, (0.0, 1.0))
    if isinstance(found, str):
        return
    lo, hi = found.interval()
    assert lo - 1e-12 <= rows[0] <= hi + 1e-12
    p = found.p_above(null)
    if abs(p - 0.025) > 1e-9 and abs(lo - null) > 1e-9:
        assert (p <= 0.025) == (lo >= null)


@pytest.mark.parametrize("scale", [PLAIN, CORRELATION, ACCURACY, Scale("plain", -1, 1)])
def test_no_interval_below_ten_sources_that_count(scale: Scale) -> None:
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
    found = jackknife(rows, sizes, CORRELATION, None)
    assert isinstance(found, str) and "2.6" in found


def test_an_undefined_deletion_names_its_source() -> None:
    rows = np.append(0.5, np.linspace(0.4, 0.6, 20))
    rows[8] = np.nan
    assert jackknife(rows, np.ones(20), PLAIN, None) == f"{HANGS}7"
    sizes = np.ones(20)
    sizes[7] = 0  # a source without a target can change nothing
    assert isinstance(jackknife(rows, sizes, PLAIN, None), Jackknife)


def test_where_all_deletions_are_equal_the_bound_is_that_of_sources_alike() -> None:
    rows = np.full(25, 3.0)
    found = known(rows, np.ones(24), PLAIN, (1.0, 5.0))
    assert found.interval() == pytest.approx(bounds_of_alike(3.0, (1, 5), 24))
    lo = found.interval()[0]
    assert found.p_above(lo) == pytest.approx(0.025)
    assert found.p_above(3.0) == 1
    flat = known(rows, np.ones(24), PLAIN)
    assert flat.interval() == (3.0, 3.0) and flat.p_above(1.0) == 1


def test_at_its_end_a_share_has_the_interval_of_clopper_and_pearson_of_sources() -> None:
    exact = stats.binomtest(24, 24).proportion_ci(0.95, "exact")
    for scale in (ACCURACY, PROPORTION):
        found = known(np.ones(25), np.full(24, 5.0), scale)
        assert found.interval() == pytest.approx((exact.low, exact.high))


def test_a_minimum_has_no_jackknife_and_rows_fit_their_sizes() -> None:
    found = jackknife(np.append(0.5, np.linspace(0.4, 0.6, 20)), np.ones(20), NOT_SMOOTH, None)
    assert isinstance(found, str) and "not smooth" in found
    with pytest.raises(ValueError, match="rows"):
        jackknife(np.ones(20), np.ones(20), PLAIN, None)


def test_each_statistic_has_a_scale_that_fits_its_range() -> None:
    assert scale_of("pearson") == scale_of("error_correlation") == CORRELATION
    assert scale_of("kappa_linear") == scale_of("alpha_ordinal") == Scale("plain", high=1.0)
    assert scale_of("D") == Scale("plain", low=0.0) and scale_of("D_min") == NOT_SMOOTH
    assert scale_of("flip_rate") == PROPORTION and scale_of("accuracy_adjacent") == ACCURACY
    assert scale_of("difference_pearson") == scale_of("mean_drop") == PLAIN
    assert scale_of("injection_shift") == Scale("plain", -1.0, 1.0)
    for name in STATISTICS:
        low, high = scale_of(name).ends
        assert low < high, name
