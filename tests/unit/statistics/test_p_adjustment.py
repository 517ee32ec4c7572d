"""p-values adjusted for their number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from judgescope.statistics.intervals import (
    benjamini_hochberg,
    benjamini_yekutieli,
    holm,
)
from vectors import load

Adjust = Callable[..., NDArray[np.float64]]
both = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
p_values = arrays(np.float64, st.integers(1, 12), elements=st.floats(1e-300, 1))


@pytest.mark.parametrize(
    ("name", "adjust"), [("holm", holm), ("fdr_bh", benjamini_hochberg)]
)
def test_vectors(name: str, adjust: Adjust) -> None:
    (v,) = [v for v in load("multiple_testing_williams") if v["id"] == name]
    p = v["inputs"]["p"]
    assert adjust(p) == pytest.approx(v["expected"], rel=1e-12)
    assert np.exp(adjust(np.log(p), log=True)) == pytest.approx(
        v["expected"], rel=1e-12
    )


def test_by_hand() -> None:
    # sorted .01 .02 .03: Holm 3 * .01, 2 * .02, then not below .04; BH 3/1, 3/2, 3/3
    assert holm([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    assert benjamini_hochberg([0.02, 0.01, 0.03]) == pytest.approx([0.03, 0.03, 0.03])


@both
def test_nan_stays_and_does_not_count(adjust: Adjust) -> None:
    got = adjust([[0.01, math.nan], [0.02, 0.9]])
    assert got.shape == (2, 2)
    assert math.isnan(got[0, 1])
    assert got.ravel()[[0, 2, 3]] == pytest.approx(adjust([0.01, 0.02, 0.9]))


@both
def test_extremes(adjust: Adjust) -> None:
    assert adjust([]).size == 0
    assert adjust([0.0, 1.0, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert adjust([-2000.0, 0.0], log=True) == pytest.approx([-2000 + math.log(2), 0.0])


@both
@pytest.mark.parametrize(("p", "log"), [([1.1], False), ([-0.1], False), ([0.1], True)])
def test_no_p_value_is_refused(adjust: Adjust, p: list[float], log: bool) -> None:
    with pytest.raises(ValueError, match=r"no (ln )?p: "):
        adjust(p, log=log)


@given(p_values)
def test_benjamini_hochberg_equals_scipy(p: NDArray[np.float64]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p), rel=1e-9)


@both
@given(p=p_values, random=st.randoms(use_true_random=False))
def test_order_and_bounds(adjust: Adjust, p: NDArray[np.float64], random: Any) -> None:
    shuffle = random.sample(range(p.size), p.size)
    got = adjust(p)
    assert adjust(p[shuffle]) == pytest.approx(got[shuffle], rel=1e-12)
    assert (got >= p * (1 - 1e-9)).all()
    assert (got <= 1).all()
    assert (got <= holm(p) * (1 + 1e-9)).all()


def test_vector_of_yekutieli() -> None:
    (v,) = [v for v in load("multiple_testing_williams") if v["id"] == "fdr_by"]
    p = v["inputs"]["p"]
    assert benjamini_yekutieli(p) == pytest.approx(v["expected"], rel=1e-12)
    assert benjamini_yekutieli([*p, math.nan])[:-1] == pytest.approx(
        v["expected"], rel=1e-12
    )
    with pytest.raises(ValueError):
        benjamini_yekutieli([0.5, 1.5])


@given(p_values)
def test_yekutieli_equals_scipy(p: NDArray[np.float64]) -> None:
    assert benjamini_yekutieli(p) == pytest.approx(
        false_discovery_control(p, method="by")
    )


def test_a_p_that_equals_its_level_stays_at_it() -> None:
    """Through logs .05 would become .05000000000000001."""
    assert holm([0.05])[0] == 0.05
    assert holm([0.005] * 10).tolist() == [0.05] * 10
    assert benjamini_hochberg([0.05, 0.05]).tolist() == [0.05, 0.05]
