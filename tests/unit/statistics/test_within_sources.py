"""The rank correlation within sources, against its formula and against ranks made by
scipy.
"""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from judgescope.statistics.result import (
    CONSTANT_JUDGE,
    CONSTANT_RATINGS,
    FEW_PAIRS,
    NO_SOURCE,
)
from judgescope.statistics.within_sources import normal_scores, varies, within_sources

NAN = float("nan")
SOURCES, TEXTS = 12, 5
SOURCE = np.repeat(np.arange(SOURCES), TEXTS)


def by_hand(
    x: np.ndarray, y: np.ndarray, source: np.ndarray, without: int = -1
) -> float:
    """Return r from ranks of all texts; a source left out of the sums keeps its
    ranks.
    """
    parts = []
    for values in (x, y):
        scores = norm.ppf(rankdata(values) / (values.size + 1))
        for one in np.unique(source):
            scores[source == one] -= scores[source == one].mean()
        parts.append(scores[source != without])
    return float(
        parts[0] @ parts[1] / np.sqrt((parts[0] @ parts[0]) * (parts[1] @ parts[1]))
    )


def ratings(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(1, 6, SOURCE.size).astype(float)
    return np.round(y + 2 * rng.normal(size=y.size)), y


def test_value_and_deletions_follow_the_formula() -> None:
    x, y = ratings(1)
    result = within_sources(x, y, SOURCE, SOURCES)
    assert result.rows[0] == pytest.approx(by_hand(x, y, SOURCE), abs=1e-12)
    for one in range(SOURCES):
        assert result.rows[1 + one] == pytest.approx(
            by_hand(x, y, SOURCE, one), abs=1e-12
        )
    assert (result.estimate.n, result.estimate.n_missing) == (SOURCE.size, 0)
    assert (
        result.estimate.ci_low is not None and result.estimate.ci_low < result.rows[0]
    )


def test_it_asks_only_for_the_order_within_a_source() -> None:
    _, y = ratings(2)
    level = y + 10.0 * SOURCE  # the source decides the rank of nearly every text
    assert (
        within_sources(SOURCE.astype(float), level, SOURCE, SOURCES).estimate.value
        == 0.0
    )
    assert within_sources(y, y, SOURCE, SOURCES).estimate.value == pytest.approx(1.0)
    assert within_sources(-y, y, SOURCE, SOURCES).estimate.value == pytest.approx(-1.0)


def test_sources_that_people_rate_the_same_are_left_out_and_counted() -> None:
    x, y = ratings(3)
    y[:TEXTS] = 4.0
    x[TEXTS] = NAN
    result = within_sources(x, y, SOURCE, SOURCES)
    kept = (SOURCE > 0) & ~np.isnan(x)
    assert result.estimate.value == pytest.approx(
        by_hand(x[kept], y[kept], SOURCE[kept])
    )
    assert (result.estimate.n, result.estimate.n_missing) == (kept.sum(), 1)
    assert f"1 of {SOURCES} sources left out" in result.estimate.note
    assert result.sizes[0] == 0 and result.sizes[1] == TEXTS - 1


def test_a_source_with_one_score_lowers_the_value() -> None:
    _, y = ratings(4)
    x = y.copy()
    x[:TEXTS] = 3.0
    value = within_sources(x, y, SOURCE, SOURCES).estimate.value
    assert value is not None and value < 0.99
    assert value == pytest.approx(by_hand(x, y, SOURCE))


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([1.0, 1, 1, 1], [1.0, 2, 3, 4], CONSTANT_JUDGE),
        ([1.0, 2, 3, 4], [2.0, 2, 2, 2], CONSTANT_RATINGS),
        ([1.0, 2, 3, 4], [1.0, 1, 2, 2], NO_SOURCE),
        ([1.0, NAN, NAN, 4], [NAN, 1, 2, 2], FEW_PAIRS),
    ],
)
def test_it_is_undefined_for_a_stated_reason(
    x: list[float], y: list[float], why: str
) -> None:
    result = within_sources(np.array(x), np.array(y), np.array([0, 0, 1, 1]), 2)
    assert result.estimate.value is None and result.estimate.note == why


def test_few_sources_give_a_value_without_an_interval() -> None:
    x, y = ratings(5)
    few = SOURCE < 9
    result = within_sources(x[few], y[few], SOURCE[few], SOURCES)
    assert result.estimate.value is not None and result.estimate.ci_low is None
    assert "no interval" in result.estimate.note


def test_normal_scores_skip_what_is_missing() -> None:
    values = np.array([[3.0, NAN], [1.0, 3.0]])
    expected = norm.ppf(np.array([[2.5, NAN], [1.0, 2.5]]) / 4)
    np.testing.assert_allclose(normal_scores(values), expected)


def test_sources_vary_where_two_values_differ() -> None:
    values, source = np.array([1.0, 2, 3, 3, NAN, 5]), np.array([0, 0, 1, 1, 2, 2])
    assert varies(values, source, 4).tolist() == [True, False, False, False]
