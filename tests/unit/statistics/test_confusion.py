"""Wanted and unwanted drops: by hand, by the paper's table, and whatever the order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.statistics.confusion import confusion, items_needed, mean_drops, p_equivalence

NAN = float("nan")


def test_by_hand() -> None:
    deltas = np.array([[2.0, 1.0, 1.0, 0.0, 9.0]])
    told = confusion(deltas, np.array([1, 1, 0, 0, 0], bool), np.array([0, 0, 1, 1, 0], bool))
    assert [float(one[0]) for one in told] == [1.5, 0.5, pytest.approx(1 / 3), 3.5 / 4]


def test_the_mean_drop_of_a_cell_is_over_the_items_it_has() -> None:
    drops = np.array([[1.0, NAN], [3.0, 4.0], [NAN, 2.0]])
    rows = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    found = mean_drops(drops, rows)
    assert found[:, 1].tolist() == [3.0, 4.0, 2.0]
    assert found[:2, 0].tolist() == [2.0, 5 / 3] and np.isnan(found[2, 0])


def test_what_is_missing_or_empty_is_undefined_and_never_zero() -> None:
    some, none = np.array([True, False]), np.array([False, False])
    other = ~some
    deltas = np.array([[1.0, NAN], [NAN, 1.0], [0.0, 1.0]])
    told = confusion(deltas, some, other)
    assert np.isnan([told.auc[0], told.auc[1], told.s_f[0], told.s_t[1], told.ratio[2]]).all()
    assert told.auc[2] == 0.0
    empty = confusion(deltas, none, some)
    assert np.isnan([*empty.s_t, *empty.ratio, *empty.auc]).all()


def test_equivalence_by_hand() -> None:
    d = np.array([0.1, -0.1, 0.2, -0.2, 0.0])
    error = d.std(ddof=1) / math.sqrt(5)
    from scipy.stats import t

    assert p_equivalence(d, 0.2) == pytest.approx(t.sf(0.2 / error, 4))
    assert p_equivalence(d + 0.3, 0.2) == pytest.approx(t.sf(-0.1 / error, 4))
    assert p_equivalence(np.zeros(9), 0.2) == 0.0 and p_equivalence(np.ones(9), 0.2) == 1.0
    assert p_equivalence(np.zeros(1), 0.2) is None and items_needed(np.zeros(1), 0.2) is None
    with pytest.raises(ValueError, match="above 0"):
        p_equivalence(d, 0)


def test_the_items_needed_have_the_power_that_is_promised() -> None:
    rng = np.random.default_rng(3)
    needed = items_needed(rng.normal(0, 1, 4000), 0.4)
    assert needed is not None and 50 <= needed <= 58  # (1.645 + 1.282)² / .16 = 53.5
    shown = [(p_equivalence(rng.normal(0, 1, needed), 0.4) or 0) <= 0.05 for _ in range(600)]
    assert 0.75 <= np.mean(shown) <= 0.86
    assert items_needed(np.zeros(5), 0.2) == 2


@pytest.mark.parametrize("seed", range(3))
def test_at_the_margin_equivalence_is_claimed_at_most_one_time_in_twenty(seed: int) -> None:
    rng = np.random.default_rng(seed)
    claimed = [(p_equivalence(rng.normal(0.2, 0.5, 60), 0.2) or 0) <= 0.05 for _ in range(800)]
    assert np.mean(claimed) <= 0.07


@given(
    st.lists(st.floats(-4, 4), min_size=4, max_size=12),
    st.integers(0, 10**6),
    st.floats(0.1, 5),
)
def test_order_and_scale_of_cells_do_not_matter(deltas: list[float], seed: int, by: float) -> None:
    row = np.round(np.array([deltas]), 6)
    wanted = np.arange(row.size) % 2 == 0
    order = np.random.default_rng(seed).permutation(row.size)
    told = confusion(row, wanted, ~wanted)
    turned = confusion(row[:, order], wanted[order], ~wanted[order])
    assert np.allclose(np.stack(told), np.stack(turned), equal_nan=True)
    scaled = confusion(row * by, wanted, ~wanted)
    assert np.allclose(scaled.s_t, by * told.s_t) and scaled.auc == pytest.approx(told.auc)
    swapped = confusion(row, ~wanted, wanted)
    assert swapped.auc == pytest.approx(1 - told.auc)
