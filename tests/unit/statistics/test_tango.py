"""Tango's score interval: published values, a brute-force oracle, and what effective pairs do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.statistics.tango import (
    effective_pairs,
    net_share,
    score_statistic,
    tango,
    tango_corrected_low,
)

Z = 1.959963984540054


@pytest.mark.parametrize(
    ("b", "c", "n", "ends"),
    [
        (1, 7, 21, (-0.517, -0.026)),  # Fagerland, Lydersen, Laake 2014: airway data
        (0, 0, 24, (-0.138, 0.138)),  # methods.md 9
    ],
)
def test_published_values(b: int, c: int, n: int, ends: tuple[float, float]) -> None:
    assert tango(b, c, n) == pytest.approx(ends, abs=5e-4)


def test_no_pair_that_differs_leaves_z_squared_over_n_plus_z_squared() -> None:
    for n in (1, 12, 24, 500):
        end = Z**2 / (n + Z**2)
        assert tango(0, 0, n) == pytest.approx((-end, end), abs=1e-12)
    assert tango(0, 0, 73)[1] < 0.05 <= tango(0, 0, 72)[1]


def likelihood(q: float, delta: float, b: float, c: float, n: float) -> float:
    cells = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
    return sum(count * math.log(p) for count, p in cells if count)


def by_hand(delta: float, b: int, c: int, n: int) -> float:
    """The score statistic with q by golden section on the likelihood, not by its formula."""
    low, high = max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12
    for _ in range(200):
        third, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        if likelihood(third, delta, b, c, n) < likelihood(other, delta, b, c, n):
            low = third
        else:
            high = other
    q = (low + high) / 2
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))


@pytest.mark.simulation
@settings(max_examples=60, deadline=None)
@given(st.integers(4, 60), st.data())
def test_both_ends_are_where_the_score_test_turns(n: int, data: st.DataObject) -> None:
    b = data.draw(st.integers(1, n - 2))
    c = data.draw(st.integers(1, n - b - 1)) if n - b > 1 else 0
    low, high = tango(b, c, n)
    assert by_hand(low, b, c, n) == pytest.approx(Z, abs=1e-3)
    assert by_hand(high, b, c, n) == pytest.approx(-Z, abs=1e-3)
    assert tango(c, b, n) == pytest.approx((-high, -low), abs=1e-12)
    assert low <= (b - c) / n <= high
    assert tango_corrected_low(b, c, n) <= low


def test_the_statistic_falls_as_delta_rises() -> None:
    values = [score_statistic(d, 5, 2, 30) for d in np.linspace(-0.99, 0.99, 199)]
    assert all(np.diff(values) < 0)


@pytest.mark.parametrize(("b", "c", "n"), [(-1, 0, 5), (3, 3, 5), (0, 0, 0), (math.nan, 0, 4)])
def test_counts_that_are_none_are_refused(b: float, c: float, n: float) -> None:
    with pytest.raises(ValueError, match="counts"):
        tango(b, c, n)


def test_pairs_of_one_source_count_for_less_where_they_are_alike() -> None:
    d = np.repeat([1, 0, 0, 0, 1, 0, -1, 0, 0, 0], 6)
    source = np.repeat(np.arange(10), 6)
    assert effective_pairs(d, np.arange(60)) == 60
    assert effective_pairs(d, source) < 10
    alike = effective_pairs(np.tile([1, 0, 0, 0, 0, 0], 10), source)  # the same in every source:
    assert alike == pytest.approx(60 * (2.000995 / 2.262157) ** 2, rel=1e-5)  # t of 59 and of 9
    assert effective_pairs(np.zeros(60), source) == 10
    names = np.array([f"item {code}" for code in source])
    assert effective_pairs(d, names) == effective_pairs(d, source)


def test_a_net_share_has_no_interval_below_five_sources_and_none_without_pairs() -> None:
    assert net_share([], []).value is None
    few = net_share([1, 0, 0, -1], [0, 1, 2, 3])
    assert (few.value, few.ci_low, few.n, few.n_tied) == (0.0, None, 4, 2)
    found = net_share([3, 0, -0.5, 2, 2, 0], range(6))
    assert found.value == pytest.approx(2 / 6)
    assert (found.n, found.n_tied) == (6, 2)
    assert (found.ci_low, found.ci_high) == tango(3, 1, 6)
    assert net_share([3, 0, -0.5, 2, 2, 0], range(6), corrected=True).ci_low == tango_corrected_low(
        3, 1, 6
    )


def exceeds(n: int, b: float, c: float, bar: float) -> tuple[float, float, float]:
    """Return how often, exactly, both lower ends lie above `bar` and the upper end below it."""
    total = np.zeros(3)
    log_factorial = [math.lgamma(k + 1) for k in range(n + 1)]
    for x in range(n + 1):
        for y in range(n + 1 - x):
            rest = n - x - y
            log_p = log_factorial[n] - log_factorial[x] - log_factorial[y] - log_factorial[rest]
            for count, p in ((x, b), (y, c), (rest, 1 - b - c)):
                log_p += count * math.log(p) if count else 0.0
            if log_p > -16:
                ends = tango_corrected_low(x, y, n) > bar, *tango(x, y, n)
                total += math.exp(log_p) * np.array([ends[0], ends[1] > bar, ends[2] < bar])
    corrected, plain, upper = total.tolist()
    return corrected, plain, upper


def test_the_corrected_end_holds_its_level_where_the_plain_one_does_not() -> None:
    corrected, plain, upper = exceeds(59, 0.07, 0.02, 0.05)
    assert plain > 0.04
    assert corrected <= 0.025
    assert upper <= 0.026


@pytest.mark.parametrize("c", [1e-9, 0.1])
def test_the_upper_end_lies_below_the_truth_in_few_studies(c: float) -> None:
    for n in (12, 24):
        assert exceeds(n, 0.25 + c, c, 0.25)[2] <= 0.0335
