"""Pairwise accuracy with calibrated ties."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from deleted import jackknife_t
from judgescope.statistics.accuracy import MOST_EPSILONS, acc_eq
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.result import NO_SOURCE, Estimate
from vectors import load

NAN = float("nan")


def grid(values: Any) -> tuple[Any, Any]:
    """Return targets of (systems, sources) and the source of each."""
    table = np.array(values, dtype=float)
    return table.ravel(), np.tile(np.arange(table.shape[1]), table.shape[0])


def accuracy(x: Any, y: Any, *, leave_one_out: bool = False) -> tuple[Estimate, float | None]:
    (a, source), (b, _) = grid(x), grid(y)
    found, epsilon = acc_eq(a, b, source, weights=None, leave_one_out=leave_one_out)
    return found.estimate, epsilon


@pytest.mark.parametrize("name", ["m1", "m2"])
def test_vectors(name: str) -> None:
    vector = next(v for v in load("wmt_style") if v["id"] == f"{name}.acc_eq_opt.item")
    found, epsilon = accuracy(vector["inputs"]["metric"], vector["inputs"]["gold"])
    assert found.value == pytest.approx(vector["expected"]["acc_eq"], rel=1e-9)
    assert epsilon == vector["expected"]["epsilon"]


def test_by_hand() -> None:
    # pairs of source 0: y 1<2 1<2 2=2, x 1<3 1<3 3=3: 3 of 3 right up to epsilon 1, then 1;
    # of source 1: y all equal, x 1 2 4: none right at 0, one at 1, two at 2, all at 3
    x, y = [[1, 1], [3, 2], [3, 4]], [[1, 5], [2, 5], [2, 5]]
    found, epsilon = accuracy(x, y)
    assert found.value == pytest.approx((1 + 1 / 3) / 2) and epsilon == 1.0
    left_out, _ = accuracy(x, y, leave_one_out=True)
    # source 0 at the best epsilon of source 1 (3): 1/3; source 1 at that of source 0 (0): 0
    assert left_out.value == pytest.approx((1 / 3 + 0) / 2)
    assert found.n == 2 and found.n_tied == 1


def naive(x: Any, y: Any, source: Any, leave_one_out: bool) -> float:
    """Compute it pair by pair."""
    pairs = {
        s: [
            (abs(x[i] - x[j]), np.sign(x[i] - x[j]), np.sign(y[i] - y[j]))
            for i, j in combinations(np.flatnonzero(source == s), 2)
        ]
        for s in np.unique(source)
    }
    pairs = {s: found for s, found in pairs.items() if found}
    epsilons = sorted({0.0, *(d for found in pairs.values() for d, _, _ in found)})

    def share(s: int, epsilon: float) -> float:
        return float(np.mean([(0 if d <= epsilon else sx) == sy for d, sx, sy in pairs[s]]))

    def best(without: int | None) -> Any:
        others = [s for s in pairs if s != without]
        totals = [sum(share(s, epsilon) for s in others) for epsilon in epsilons]
        return epsilons[int(np.argmax(np.round(totals, 9)))]

    return float(np.mean([share(s, best(s if leave_one_out else None)) for s in pairs]))


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_it_equals_counting_pair_by_pair(seed: int, leave_one_out: bool) -> None:
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 8, 40)
    x, y = rng.integers(1, 9, 40).astype(float), rng.integers(1, 5, 40).astype(float)
    found, _ = acc_eq(x, y, source, weights=None, leave_one_out=leave_one_out)
    assert found.estimate.value == pytest.approx(naive(x, y, source, leave_one_out), abs=1e-12)


def test_the_interval_takes_the_thresholds_as_given_and_is_that_of_a_mean() -> None:
    """A threshold is not smooth: each source's is the best over the others, as the data are."""
    rng = np.random.default_rng(3)
    source = np.repeat(np.arange(12), 5)
    x, y = rng.integers(1, 9, 60).astype(float), rng.integers(1, 5, 60).astype(float)
    each = []
    for s in range(12):
        rest, own = source != s, source == s
        codes = np.unique(source[rest], return_inverse=True)[1]
        epsilon = acc_eq(x[rest], y[rest], codes, weights=None, leave_one_out=False)[1]
        assert epsilon is not None
        i, j = np.triu_indices(5, 1)
        dx, dy = (v[own][i] - v[own][j] for v in (x, y))
        each.append(float(np.mean(np.where(np.abs(dx) <= epsilon, 0, np.sign(dx)) == np.sign(dy))))
    found = acc_eq(x, y, source, weights=deletions(12))[0].estimate
    value = float(np.mean(each))
    deleted = [float(np.mean(np.delete(each, s))) for s in range(12)]
    assert found.value == pytest.approx(value, abs=0.02)  # epsilons that only s has
    assert found.ci_low is not None and found.ci_high is not None
    expected = jackknife_t(value, deleted, "logit")
    assert (found.ci_low, found.ci_high) == pytest.approx(expected, abs=0.03)
    assert found.method == "jackknife-t on logit over 12 sources"


def test_missing_targets_and_single_texts_make_no_pair() -> None:
    x, y = [[1, 1, 1], [2, NAN, 2], [3, 3, 3]], [[1, 1, NAN], [2, 2, NAN], [3, NAN, 3]]
    found, _ = accuracy(x, y)
    assert (found.value, found.n, found.n_missing) == (1, 1, 4)
    nothing, epsilon = accuracy([[1, 2]], [[1, 2]])
    assert (nothing.value, nothing.note, epsilon) == (None, NO_SOURCE, None)
    assert accuracy([[1], [2]], [[1], [2]], leave_one_out=True)[0].value is None


def test_properties() -> None:
    rng = np.random.default_rng(5)
    source = np.repeat(np.arange(40), 6)
    y = rng.integers(1, 5, 240).astype(float)
    x = y + rng.normal(size=240)
    weights = deletions(40)
    found = acc_eq(x, y, source, weights=weights)[0].estimate
    assert found.ci_low is not None and found.ci_high is not None and found.value is not None
    assert found.ci_low < found.value < found.ci_high and found.n == 40
    order = rng.permutation(240)
    moved = acc_eq(x[order], y[order], source[order], weights=weights)[0].estimate
    assert moved.value == pytest.approx(found.value, abs=1e-12)
    doubled = acc_eq(2 * x, 10 * y, source, weights=weights)[0].estimate
    assert doubled.value == pytest.approx(found.value, abs=1e-12)
    perfect = acc_eq(y, y, source, weights=weights)[0].estimate
    assert (perfect.value, perfect.ci_high) == (1, 1)
    assert perfect.ci_low == pytest.approx(0.025 ** (1 / 40))


@pytest.mark.simulation
def test_many_distances_are_sampled() -> None:
    rng = np.random.default_rng(6)
    source = np.repeat(np.arange(30), 8)
    y = rng.normal(size=240).round(1)
    x = y + rng.normal(size=240) / 10
    assert np.unique(np.abs(np.subtract.outer(x[:8], x[:8]))).size * 30 > MOST_EPSILONS
    sampled = acc_eq(x, y, source, weights=None, leave_one_out=False)[0].estimate.value
    assert sampled is not None
    assert naive(x, y, source, False) - 0.01 <= sampled <= naive(x, y, source, False) + 1e-12
