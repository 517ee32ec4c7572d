"""Resamples and permutations of pseudo-values are near those that are written out."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.correlation import correlations
from judgescope.statistics.intervals import deletions
from judgescope.statistics.linear import linear_resamples, linear_test
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.permutation import flips_of, mean_test, permutation_tests
from judgescope.statistics.resampling import Replicated, source_weights
from judgescope.statistics.result import Estimate

SOURCES, SYSTEMS = 700, 3
SOURCE = np.repeat(np.arange(SOURCES), SYSTEMS)
SYSTEM = np.tile(np.arange(SYSTEMS), SOURCES)
Floats = NDArray[np.float64]
RANKED: list[Coefficient] = ["kendall_b", "spearman"]


def data(seed: int) -> tuple[Floats, Floats, Floats]:
    """Return two judges and people, alike within a source."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=SOURCE.size) + 0.7 * rng.normal(size=SOURCES)[SOURCE]
    people = np.clip(np.round(3 + quality + rng.normal(size=SOURCE.size)), 1, 5)
    first = quality + rng.normal(size=SOURCE.size)
    return first, quality + 1.05 * rng.normal(size=SOURCE.size), people


def of(x: Floats, y: Floats, weights: Any) -> Any:
    return correlations(
        x, y, SOURCE, SYSTEM, weights=weights, statistics=RANKED, levels=["pooled"]
    )


@pytest.mark.parametrize("statistic", RANKED)
def test_resamples_are_near_those_that_are_written_out(statistic: str) -> None:
    first, _, people = data(1)
    weights = source_weights(np.random.default_rng(2), SOURCES, 200)
    exact = of(first, people, weights)[statistic, "pooled"].rows
    result = of(first, people, deletions(SOURCES))[statistic, "pooled"]
    rows = linear_resamples(result, weights)
    assert rows[0] == pytest.approx(exact[0], abs=1e-12)
    assert np.corrcoef(rows[1:], exact[1:])[0, 1] > 0.998
    assert rows[1:].std() == pytest.approx(exact[1:].std(), rel=0.02)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p_is_near_that_of_permuted_scores(seed: int) -> None:
    first, second, people = data(seed)
    flips = flips_of(np.random.default_rng(4), SOURCES, 1000)
    exact = permutation_tests(
        first,
        second,
        people,
        SOURCE,
        SYSTEM,
        flips,
        level="pooled",
        statistics=RANKED,
    )
    every = deletions(SOURCES)
    for name, test in exact.items():
        each, other = (of(x, people, every)[name, "pooled"] for x in (first, second))
        near = linear_test(each, other, flips)
        assert near.p == pytest.approx(test.p, abs=0.02)
        assert near.difference == pytest.approx(test.difference, abs=1e-3)
        assert near.n == test.n


def test_of_a_mean_both_are_exact() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=(2, 50))
    source = np.arange(50)
    every = deletions(50)
    each, other = (clustered_mean(x, source, every, ends=None) for x in (first, second))
    flips = flips_of(rng, 50, 99)
    result = linear_test(each, other, flips)
    expected = mean_test(first, second, source, flips)
    assert result.difference == pytest.approx(expected.difference, abs=1e-12)
    assert (result.p, result.p_greater) == (expected.p, expected.p_greater)
    weights = source_weights(rng, 50, 30)
    np.testing.assert_allclose(
        linear_resamples(each, weights)[1:], weights @ first / 50, atol=1e-12
    )


def test_an_undefined_value_has_no_test() -> None:
    defined = Replicated(Estimate(0.5), np.array([0.5, 0.4, 0.6]), np.ones(2))
    undefined = Replicated(Estimate.undefined("why"), np.full(3, np.nan), np.ones(2))
    flips = flips_of(np.random.default_rng(1), 2, 9)
    assert np.isnan(linear_test(defined, undefined, flips).p)
    lost = defined._replace(rows=np.array([0.5, np.nan, 0.6]))
    assert np.isnan(linear_test(lost, defined, flips).p)
    assert np.isnan(linear_test(defined, defined._replace(sizes=np.zeros(2)), flips).p)
