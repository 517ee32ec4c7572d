"""Scales, and what stands in for unparsed replies in sensitivity runs."""

import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from metajudge.parsing import POLICIES, Scale, apply_policy

FIVE = Scale(1, 5, 1)
HALVES = Scale(1, 5, 0.5)
UNIT = Scale(0, 1, None)
WORDS = Scale(1, 5, 1, ("Unacceptable", "Poor", "Fair", "Good", "Very good"))


def test_scales_know_their_values() -> None:
    assert HALVES.grid() == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    assert UNIT.grid() is None
    assert [WORDS.value_of(place) for place in range(5)] == [1, 2, 3, 4, 5]
    assert Scale(0, 1, 0.1).on_grid(0.3)
    assert not HALVES.on_grid(2.25)
    assert UNIT.on_grid(0.123)
    assert [FIVE.contains(value) for value in (0.9, 1, 5, 5.1)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("policy", "scale", "filling"),
    [
        ("drop", FIVE, None),
        ("worst", FIVE, 1),
        ("mid", FIVE, 3),
        ("mid", Scale(1, 4, 1), 2),
        ("mid", UNIT, 0.5),
    ],
)
def test_policies_fill_only_what_is_missing(
    policy: Any, scale: Scale, filling: float | None
) -> None:
    assert apply_policy([4, None, math.nan], policy, scale) == [4, filling, filling]


@pytest.mark.parametrize("scale", [HALVES, UNIT])
def test_the_random_policy_is_seeded_and_uniform_on_the_scale(scale: Scale) -> None:
    missing = [None] * 2_000
    drawn = apply_policy(missing, "random", scale, np.random.default_rng(7))
    assert drawn == apply_policy(missing, "random", scale, np.random.default_rng(7))
    assert drawn != apply_policy(missing, "random", scale, np.random.default_rng(8))
    values = [value for value in drawn if value is not None]
    assert len(values) == len(missing)
    assert fmean(values) == pytest.approx((scale.min + scale.max) / 2, abs=0.15)
    assert set(values) == set(scale.grid() or values)
    assert all(scale.contains(value) for value in values)


def test_policies_refuse_what_they_cannot_do() -> None:
    assert POLICIES == ("drop", "worst", "mid", "random")
    with pytest.raises(ValueError, match="needs a generator"):
        apply_policy([None], "random", FIVE)
    unknown: Any = "best"
    with pytest.raises(ValueError, match="no policy 'best'"):
        apply_policy([None], unknown, FIVE)
