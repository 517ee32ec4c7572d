"""What people reach among themselves."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from judgescope.statistics.correlation import correlations
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.kappa import on_classes
from judgescope.statistics.raters import ceilings
from judgescope.statistics.resampling import Replicated

SOURCE = np.repeat(np.arange(20), 4)
SYSTEM = np.tile(np.arange(4), 20)


def ratings(seed: int = 0, raters: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, 80)
    return np.clip(np.round(truth + rng.normal(0, 0.7, (raters, 80))), 1, 5)


def pooled(x: Any, y: Any) -> Mapping[Any, Replicated]:
    return correlations(x, y, SOURCE, SYSTEM, weights=deletions(20), levels=["pooled"])


def test_each_rater_against_the_mean_of_the_others() -> None:
    table = ratings()
    table[0, :5] = np.nan
    found = ceilings(pooled, table, against="mean")
    want = []
    for rater in range(3):
        others = np.nanmean(np.delete(table, rater, axis=0), axis=0)
        known = ~np.isnan(table[rater])
        want.append(stats.kendalltau(table[rater][known], others[known]).statistic)
    one = found["kendall_b", "pooled"]
    assert one.value == pytest.approx(np.mean(want), abs=1e-12)
    assert (
        one.ci_low is not None
        and one.ci_high is not None
        and one.ci_low < np.mean(want) < one.ci_high
    )
    assert (one.n, one.n_missing) == (78, 2)


def test_each_rater_against_every_other() -> None:
    table = ratings()

    def kappas(x: Any, y: Any) -> Mapping[str, Replicated]:
        return on_classes(y, x, [1, 2, 3, 4, 5], SOURCE, None)

    found = ceilings(kappas, table, against="each")["kappa_linear"]
    each = [
        kappas(table[i], table[j])["kappa_linear"].estimate.value
        for i in range(3)
        for j in range(3)
        if i != j
    ]
    assert found.value == pytest.approx(np.mean([v for v in each if v is not None]))


def test_raters_without_a_value_are_counted_and_one_rater_has_no_ceiling() -> None:
    table = ratings()
    table[2] = 3
    found = ceilings(pooled, table, against="mean")["pearson", "pooled"]
    assert found.value is not None and found.note == "undefined for 1 of 3"
    assert ceilings(pooled, np.full((3, 80), 2.0), against="mean")["pearson", "pooled"].note == (
        "constant judge"
    )
    alone = ceilings(pooled, ratings(raters=1), against="mean")
    assert all(one.value is None for one in alone.values())
