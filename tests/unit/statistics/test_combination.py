import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import landau

from judgescope.statistics.discernment import (
    LN_TAIL,
    average,
    discernment,
    discernment_score,
    log_harmonic_mean,
    log_landau,
    log_p,
    minimum,
)
from vectors import load

Floats = NDArray[np.float64]
PERTURBATIONS = Path(__file__).resolve().parents[4] / "shared/reference/s000_perturbations.csv"
log_ps = arrays(np.float64, st.integers(1, 6), elements=st.floats(-2000, 0))


def uniform(n: int) -> Floats:
    return np.full(n, 1 / n)


def test_vectors_of_combined_p() -> None:
    vectors = [v for v in load("hmp_discernment") if "D_landau" in v["expected"]]
    assert len(vectors) == 7
    for v in vectors:
        p, w, expected = np.log(v["inputs"]["p"]), np.array(v["inputs"]["w"]), v["expected"]
        got = discernment(p, p, w)
        assert got.d == pytest.approx(expected["D_paper"], rel=1e-9), v["id"]
        assert got.d_ew == pytest.approx(expected["D_paper_EW"], rel=1e-9), v["id"]
        assert got.d_hmp == pytest.approx(expected["D_hmp"], rel=1e-9), v["id"]
        log_hmp = log_harmonic_mean(p[w > 0], w[w > 0])
        assert log_hmp == pytest.approx(math.log(expected["hmp"])), v["id"]
        raw = discernment_score(log_landau(log_hmp, w.size))
        assert raw == pytest.approx(expected["D_landau"], rel=v["rtol"]), v["id"]
        # Landau is not used for a single p, and the vectors count a zero-weight aspect in L
        if w.size > 1 and w.all():
            assert got.d_exact == pytest.approx(raw, rel=1e-12), v["id"]
        else:
            kept = int(np.count_nonzero(w))
            own = got.d_hmp if kept == 1 else discernment_score(log_landau(log_hmp, kept))
            assert got.d_exact == pytest.approx(own, rel=1e-12), v["id"]
        if np.ptp(w) == 0:
            assert got.d - got.d_hmp == pytest.approx(expected["log20_M_offset"], abs=1e-9)


def test_vectors_of_zero_weight_and_of_underflow() -> None:
    vectors = {v["id"]: v for v in load("hmp_discernment")}
    v = vectors["m4_zero_weight_zero_p"]
    p = np.array([-math.inf, *np.log(v["inputs"]["p"][1:])])
    assert discernment(p, p, v["inputs"]["w"]).d_hmp == pytest.approx(v["expected"]["D_hmp"])
    v = vectors["log_space"]
    log_p, w = v["inputs"]["log_p"], v["inputs"]["w"]
    assert discernment(log_p, log_p, w).d_hmp == pytest.approx(v["expected"]["D_hmp"], rel=1e-12)
    assert log_harmonic_mean(log_p, w) == pytest.approx(v["expected"]["log_hmp"], rel=1e-12)


def test_vectors_of_averages() -> None:
    vectors = [v for v in load("hmp_discernment") if "D_avg" in v["expected"]]
    assert len(vectors) == 2
    for v in vectors:
        d = [x for scores in v["inputs"].values() for x in scores]
        levels = [level for level, scores in v["inputs"].items() for _ in scores]
        assert average(d, levels) == pytest.approx(v["expected"]["D_avg"], rel=1e-12)
        assert minimum(d) == v["expected"]["D_min"]


def test_by_hand() -> None:
    # 1/p: 20 and 20 -> paper 1/40; equal weights 1/20
    got = discernment(np.log([0.05, 0.05]), np.log([0.05, 0.0025]), [0.5, 0.5])
    assert got.d == pytest.approx(math.log(40, 20))
    assert got.d_ew == pytest.approx(1.0)
    assert got.d_hmp == pytest.approx(math.log((20 + 400) / 2, 20))  # from the exact p
    location = math.log(2) + 1 - 0.5772156649015329 - math.log(2 / math.pi)
    expected = landau.sf(210, loc=location, scale=math.pi / 2)
    assert got.d_exact == pytest.approx(-math.log(expected, 20))
    assert discernment_score(math.log(0.05)) == pytest.approx(1.0)


def test_no_difference_anywhere() -> None:
    got = discernment(np.zeros(4), np.zeros(4), uniform(4))
    assert got.d == pytest.approx(math.log(4, 20))
    assert [got.d_ew, got.d_hmp] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert got.d_exact == 0.0


def test_only_positive_weights_count() -> None:
    log_p = np.log([0.03, 0.001, 0.2])
    got = discernment(log_p, log_p, [0.0, 0.0, 1.0])
    assert got.d_ew == got.d_hmp == got.d_exact == pytest.approx(-math.log(0.2, 20))
    assert got.d > 2
    two = discernment(log_p, log_p, [0.6, 0.0, 0.4])
    assert two.d_exact == discernment(log_p[::2], log_p[::2], [0.6, 0.4]).d_exact


@pytest.mark.parametrize(
    ("weights", "message"),
    [([0.5, 0.4], r"sum to 0\.9"), ([1.5, -0.5], ">= 0"), ([1.0], r"needed one per aspect \(2\)")],
)
def test_bad_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        discernment([-1.0, -2.0], [-1.0, -2.0], weights)


@pytest.mark.parametrize("n_aspects", [2, 4, 11])
def test_landau_passes_smoothly_into_its_tail(n_aspects: int) -> None:
    log_h = np.log(10.0) * np.array([-12, -15, -17.99, -18.01, -25, -300])
    location = math.log(n_aspects) + 1 - np.euler_gamma - math.log(2 / math.pi)
    full = landau.logsf(np.exp(-log_h), loc=location, scale=math.pi / 2)
    assert log_landau(log_h, n_aspects) == pytest.approx(full, rel=1e-12)
    assert log_landau(-5000.0, n_aspects) == -5000.0


@given(log_ps)
def test_order_bounds_and_offset(log_p: Floats) -> None:
    m = log_p.size
    got = discernment(log_p, log_p, uniform(m))
    turned = discernment(log_p[::-1], log_p[::-1], uniform(m))
    assert np.array(turned) == pytest.approx(np.array(got), rel=1e-9, abs=1e-12)
    assert got.d - got.d_hmp == pytest.approx(math.log(m, 20), abs=1e-9)
    assert (
        discernment_score(log_p.max()) - 1e-9 <= got.d_hmp <= discernment_score(log_p.min()) + 1e-9
    )
    if got.d_hmp >= 1:  # the price of exactness where a decision is made
        assert got.d_exact <= got.d_hmp + 1e-12


@pytest.mark.simulation
@given(arrays(np.float64, (5, 3), elements=st.floats(-800, 0)))
def test_leading_axis_is_one_call_per_row(log_p: Floats) -> None:
    w = [0.5, 0.3, 0.2]
    rows = np.array([discernment(row, row / 2, w) for row in log_p])
    assert np.transpose(discernment(log_p, log_p / 2, w)) == pytest.approx(rows, abs=1e-12)


# Averages over perturbations


def test_published_weights_of_every_dataset() -> None:
    if not PERTURBATIONS.exists():
        pytest.skip("the paper's table is not there: ../shared/reference/s000_perturbations.csv")
    with PERTURBATIONS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    datasets = {row["dataset"] for row in rows}
    assert len(datasets) == 6
    for dataset in datasets:
        cells = [row for row in rows if row["dataset"] == dataset]
        got = average(np.eye(len(cells)), [cell["level"] for cell in cells])
        assert got == pytest.approx([float(c["weight_in_D_avg"]) for c in cells], abs=5e-7)


def test_average_is_the_weighted_sum() -> None:
    levels = ["word", "character", "word", "sentence", "word"]
    d = np.random.default_rng(1).normal(2, 1, (7, 5))
    weights = [1 / 9, 1 / 3, 1 / 9, 1 / 3, 1 / 9]
    assert average(d, levels) == pytest.approx(d @ weights)
    assert minimum(d) == pytest.approx(d.min(axis=1))


def test_a_missing_score_is_an_error_unless_allowed() -> None:
    levels = ["character", "character", "word"]
    d = np.array([[1.0, math.nan, 4.0], [1.0, 3.0, math.nan], [math.nan] * 3])
    with pytest.raises(ValueError, match=r"at \[1, 2\]: set allow_missing"):
        average(d[:2], levels)
    with pytest.raises(ValueError, match="allow_missing"):
        minimum(d)
    got = average(d, levels, allow_missing=True)
    assert got == pytest.approx([(1 + 4) / 2, 2.0, math.nan], nan_ok=True)
    assert minimum(d, allow_missing=True) == pytest.approx([1.0, 1.0, math.nan], nan_ok=True)


# Acceptance: the null, four aspects, 100 texts, discrete scores


@pytest.mark.simulation
def test_under_the_null_the_paper_rule_fires_too_often_and_the_exact_one_does_not() -> None:
    rng = np.random.default_rng(20240601)
    chances = [0.05, 0.15, 0.3, 0.3, 0.2]
    fired = []
    for _ in range(3000):
        scores = rng.choice(5, (2, 4, 100), p=chances)
        d = scores[0] - scores[1]
        got = discernment(
            [log_p(one, "asymptotic") for one in d], [log_p(one, "exact") for one in d], uniform(4)
        )
        fired.append((got.d >= 1, got.d_exact >= 1))
    paper, exact = np.mean(fired, axis=0)
    assert 0.23 <= paper <= 0.31
    assert 0.035 <= exact <= 0.065


@given(arrays(np.float64, 5, elements=st.floats(LN_TAIL - 1, 0)), st.integers(2, 50))
def test_landau_is_that_of_scipy_to_the_bit(log_h: Floats, n_aspects: int) -> None:
    location = math.log(n_aspects) + 1 - np.euler_gamma - math.log(2 / math.pi)
    x = np.exp(-np.maximum(log_h, LN_TAIL))
    theirs = np.log(landau.sf(x, loc=location, scale=math.pi / 2))
    expected = np.where(log_h < LN_TAIL, log_h, theirs)
    assert log_landau(log_h, n_aspects).tolist() == expected.tolist()
