"""Rules of perturbations and hints: each by hand, and how often each is wrong under no effect."""

from math import log

import numpy as np
import pytest

from judgescope.statistics.result import Estimate
from judgescope.statistics.tango import net_share
from judgescope.statistics.verdict import (
    CHANCE,
    HOLM,
    LENGTH,
    LOST,
    RARELY,
    Outcome,
    missed,
    of_hint,
    of_perturbation,
)


def shares(*each: tuple[int, int, int]) -> list[Estimate]:
    """Return the net shares of (lower, higher, equal) items."""
    return [net_share(np.repeat([1, -1, 0], counts), np.arange(sum(counts))) for counts in each]


def test_24_of_24_zero_differences_are_a_miss_and_11_of_11_are_none() -> None:
    assert missed(shares((0, 0, 24)))
    assert missed(shares((0, 0, 12)))
    assert not missed(shares((0, 0, 11)))
    assert not missed([])


def test_a_miss_is_one_on_every_aspect() -> None:
    assert missed(shares((0, 0, 24), (5, 5, 90)))
    assert not missed(shares((0, 0, 24), (20, 0, 76)))  # a fifth, and it might be a quarter


def test_as_many_higher_as_lower_is_a_miss_only_where_that_is_sure() -> None:
    assert not missed(shares((6, 6, 12)))
    assert missed(shares((60, 60, 120)))


@pytest.mark.parametrize(
    ("p", "p_holm", "lengths", "is_missed", "wanted"),
    [
        (0.01, 0.05, (0.5, 0.06), False, (Outcome.NOTICED, ())),
        (0.01, 0.05, (0.5, 0.5), True, (Outcome.NOTICED, (RARELY,))),
        (0.01, 0.05, (0.9, 0.05), False, (Outcome.NOT_SHOWN, (LENGTH,))),
        (0.01, 0.05, (0.01, 0.9), True, (Outcome.NOT_SHOWN, (LENGTH,))),
        (0.04, 0.08, (0.5, 0.5), False, (Outcome.NOT_SHOWN, (HOLM,))),
        (0.08, 0.08, (0.5, 0.5), False, (Outcome.NOT_SHOWN, (CHANCE,))),
        (0.9, 1.0, (0.01, 0.5), True, (Outcome.MISSES, ())),
    ],
)
def test_perturbation(
    p: float,
    p_holm: float,
    lengths: tuple[float, float],
    is_missed: bool,
    wanted: tuple[Outcome, tuple[str, ...]],
) -> None:
    assert of_perturbation(p, p_holm, lengths, is_missed) == wanted


def effect(moved: int, back: int, n: int) -> Estimate:
    return net_share(
        np.repeat([1, -1, 0], [moved, back, n - moved - back]), range(n), corrected=True
    )


@pytest.mark.parametrize(
    ("moved", "back", "n", "wanted"),
    [
        (0, 0, 73, Outcome.WITHSTANDS),
        (0, 0, 72, Outcome.NOT_SHOWN),
        (20, 20, 100, Outcome.NOT_SHOWN),  # it changes by itself, and so much hides a sway
        (20, 20, 900, Outcome.WITHSTANDS),
        (30, 0, 100, Outcome.SWAYED),
        (8, 0, 100, Outcome.NOT_SHOWN),
        (3, 0, 4, Outcome.NO_CLAIM),
    ],
)
def test_hints(moved: int, back: int, n: int, wanted: Outcome) -> None:
    found = effect(moved, back, n)
    assert of_hint(found, found, found)[0] == wanted


def test_lost_texts_count_against_either_verdict() -> None:
    steady, gone = effect(0, 0, 100), effect(8, 0, 108)
    assert of_hint(steady, gone, steady) == (Outcome.NOT_SHOWN, (LOST,))
    assert of_hint(steady, steady, effect(0, 8, 108)) == (Outcome.WITHSTANDS, ())
    swayed = effect(15, 0, 100)
    assert of_hint(swayed, swayed, effect(15, 15, 115)) == (Outcome.NOT_SHOWN, (LOST,))
    assert of_hint(swayed, effect(30, 0, 115), swayed) == (Outcome.SWAYED, ())


def test_a_d_of_one_is_no_claim() -> None:
    """D_avg_exact of 1 says nothing by itself: here no cell is noticed, and the mean is 1.3."""
    d = np.array([1.0, 1.3, 1.6])
    p = np.exp(-d * log(20))
    holm = np.minimum(1, np.sort(p)[::-1] * [1, 2, 3])[::-1]
    told = [of_perturbation(a, b, (1, 1), False)[0] for a, b in zip(np.sort(p), holm, strict=True)]
    assert d.mean() >= 1 and Outcome.NOT_SHOWN in told
