"""Single proportions whose cases come in sources (Korn, Graubard 1998; Clopper, Pearson 1934)."""

import math

import numpy as np
import pytest
from scipy import stats

from judgescope.statistics.intervals import (
    MOST_CASES,
    Proportion,
    cases_needed,
    clopper_pearson,
    korn_graubard,
)


@pytest.mark.parametrize(("x", "n"), [(0, 10), (3, 24), (24, 24), (7, 7), (1, 400)])
def test_of_whole_cases_it_is_clopper_and_pearson(x: int, n: int) -> None:
    exact = stats.binomtest(x, n).proportion_ci(0.95, "exact")
    assert clopper_pearson(x / n, n) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize(("x", "n", "null"), [(3, 24, 0.05), (20, 24, 0.5), (0, 9, 0.2)])
def test_the_p_is_the_exact_binomial_tail(x: int, n: int, null: float) -> None:
    found = Proportion(x / n, n, 1.0, n)
    assert found.p_above(null) == pytest.approx(stats.binomtest(x, n, null, "greater").pvalue)


def test_the_effective_size_is_that_of_the_formula() -> None:
    hits, cases = np.array([3.0, 0, 4, 5, 1, 0, 0]), np.array([4.0, 4, 5, 5, 3, 2, 0])
    k, total, p = 6, 23, 13 / 23
    squares = math.fsum((h - p * c) ** 2 for h, c in zip(hits, cases, strict=True))
    deff = max(1.0, k / (k - 1) * squares / total**2 * total / (p * (1 - p)))
    wanted = total / deff * (stats.t.ppf(0.975, total - 1) / stats.t.ppf(0.975, k - 1)) ** 2
    found = korn_graubard(hits, cases)
    assert found is not None and deff > 1
    assert (found.value, found.deff, found.sources) == pytest.approx((p, deff, k))
    assert found.n_eff == pytest.approx(min(total, wanted))


def test_cases_that_repeat_their_source_say_no_more_than_the_sources() -> None:
    once = korn_graubard(np.tile([1.0, 0.0, 1.0, 1.0], 5), np.ones(20))
    copied = korn_graubard(np.tile([9.0, 0.0, 9.0, 9.0], 5), np.full(20, 9.0))
    assert once is not None and copied is not None
    assert copied.n_eff < 1.1 * once.n_eff <= 22


def test_at_an_end_sources_are_the_cases_and_below_five_there_is_none() -> None:
    found = korn_graubard(np.zeros(8), np.full(8, 6.0))
    assert found is not None
    assert found.interval() == pytest.approx((0.0, 1 - 0.025 ** (1 / 8)))
    few = korn_graubard(np.array([3.0, 2, 1, 0]), np.full(4, 6.0))
    assert few is not None and few.interval() is None and few.p_above(0.5) is None
    assert korn_graubard(np.zeros(3), np.zeros(3)) is None


def test_it_holds_a_high_share_of_few_clustered_cases() -> None:
    """Of 40 sources with 3 cases each, whose chance is .95 and differs by source (beta 19, 1)."""
    rng = np.random.default_rng(16)
    held = 0
    for _ in range(400):
        hits = rng.binomial(3, rng.beta(19, 1, 40)).astype(float)
        found = korn_graubard(hits, np.full(40, 3.0))
        assert found is not None
        lo, hi = found.interval() or (0, 0)
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
