import csv
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import landau
from scipy.stats import wilcoxon as scipy_wilcoxon

from deleted import jackknife_t
from judgescope.statistics.discernment import (
    LN_TAIL,
    average,
    discernment,
    discernment_score,
    log_harmonic_mean,
    log_landau,
    minimum,
)
from judgescope.statistics.intervals import deletions
from judgescope.statistics.signed_rank import (
    EXACT_LIMIT,
    WilcoxonMethod,
    exact_differences,
    log_p,
    mean_drop,
    rank_biserial,
    signed_rank,
    signed_ranks,
    table_method,
)
from vectors import load

Ints = NDArray[np.int64]
TESTS: dict[WilcoxonMethod, Callable[[Any], float]] = {
    "exact": lambda d: float(log_p(d, "exact")),
    "asymptotic": lambda d: float(log_p(d, "asymptotic")),
}
differences = arrays(np.int64, st.integers(1, 60), elements=st.integers(-4, 4))
wide = arrays(np.int64, st.integers(1, 60), elements=st.integers(-(10**9), 10**9))


def sign_flips(d: Ints) -> dict[int, int]:
    """Count the sign flips of each doubled rank sum, one sum at a time: slow, exact."""
    ranked = signed_rank(d)
    ways = {0: 1}
    for rank in np.repeat(ranked.ranks, ranked.ties).tolist():
        more = dict(ways)
        for total, count in ways.items():
            more[total + rank] = more.get(total + rank, 0) + count
        ways = more
    return ways


# Published vectors. Those with zero_method "pratt" are left out: zeros are always
# dropped here, as the paper's test does, and a second rule would only be a second set
# of numbers.


@pytest.mark.parametrize("method", ["asymptotic", "exact"])
def test_vectors(method: WilcoxonMethod) -> None:
    vectors = [
        v
        for v in load("wilcoxon_one_sided")
        if f".{method}." in v["id"] and v["params"]["zero_method"] == "wilcox"
    ]
    assert len(vectors) >= 8
    for v in vectors:
        got = TESTS[method](v["inputs"]["d"])
        if v["expected"] is None:
            assert math.exp(got) == v["policy_expected_p"], v["id"]
        else:
            assert got == pytest.approx(v["expected"]["log_p"], rel=v["rtol"]), v["id"]
            assert signed_rank(v["inputs"]["d"]).w_plus == 2 * v["expected"]["W"], v[
                "id"
            ]


def test_vector_of_means_whose_ties_float_subtraction_would_break() -> None:
    (v,) = [v for v in load("wilcoxon_one_sided") if v["id"].endswith("roundoff_trap")]
    original = np.mean(v["inputs"]["orig_samples"], axis=1)
    perturbed = np.mean(v["inputs"]["pert_samples"], axis=1)
    for unit in (5, 60, None):
        d = exact_differences(original, perturbed, unit)
        p = math.exp(log_p(d, "asymptotic"))
        assert p == pytest.approx(v["expected"]["p_integer_sums"], rel=1e-9)


# By hand


def test_three_pairs_by_hand() -> None:
    ranked = signed_rank([5, -1, 5, 0])  # |d| 1, 5, 5: ranks 1, 2.5, 2.5
    assert ranked.ranks.tolist() == [2, 5]
    assert ranked.ties.tolist() == [1, 2]
    assert [int(ranked.w_plus), int(ranked.w_minus)] == [10, 2]
    assert [int(ranked.n_nonzero), int(ranked.n_zero)] == [3, 1]
    # W+ >= 5 in 2 of 8 sign flips (+++ and -++); Var(W+ - W-) = 1 + 2 * 6.25
    assert log_p([5, -1, 5, 0], "exact") == pytest.approx(math.log(2 / 8), rel=1e-12)
    z = (5 - 1) / math.sqrt(13.5)
    assert math.exp(log_p([5, -1, 5, 0], "asymptotic")) == pytest.approx(
        math.erfc(z / math.sqrt(2)) / 2, rel=1e-12
    )


def test_all_zero_has_a_p_of_1() -> None:
    for test in TESTS.values():
        assert test([0, 0, 0]) == 0.0


@pytest.mark.parametrize("n", [1, 40, 41, 1000, 2000])
def test_all_positive_is_one_of_all_sign_flips(n: int) -> None:
    assert log_p(np.arange(1, n + 1), "exact") == pytest.approx(
        -n * math.log(2), rel=1e-12
    )
    assert log_p(np.ones(n, int), "exact") == pytest.approx(-n * math.log(2), rel=1e-12)


def test_asymptotic_never_underflows() -> None:
    assert -2000 < log_p(np.arange(1, 3001), "asymptotic") < -1000


def test_exact_differences_keeps_ties_that_floats_break() -> None:
    assert exact_differences([1.2, 4.2], [1.0, 4.0], 5).tolist() == [1, 1]
    third = exact_differences([1 / 3, 2 / 3, 1.0], [0.0, 1 / 3, 2 / 3], None)
    assert len(set(third.tolist())) == 1


@pytest.mark.parametrize(
    ("original", "perturbed", "unit", "message"),
    [
        ([1.0, math.nan], [1.0, 1.0], 1, "missing"),
        ([1.0], [1.0, 2.0], 1, "paired"),
        ([2.5], [1.0], 1, r"2\.5 is not exact in units of 1/1"),
    ],
)
def test_exact_differences_refuses(
    original: list[float], perturbed: list[float], unit: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        exact_differences(original, perturbed, unit)


def test_float_differences_are_refused() -> None:
    with pytest.raises(TypeError, match="exact_differences"):
        log_p([0.2, 0.19999], "exact")


def test_a_single_method_per_table() -> None:
    assert table_method(EXACT_LIMIT) == "exact"
    assert table_method(EXACT_LIMIT + 1) == "asymptotic"
    with pytest.raises(ValueError, match="asymptotic"):
        log_p(np.ones(2 * EXACT_LIMIT + 1, int), "exact")


# Properties and independent counts


@given(arrays(np.int64, st.integers(1, 12), elements=st.integers(-5, 5)))
def test_exact_equals_enumeration(d: Ints) -> None:
    ranked = signed_rank(d)
    ranks = np.repeat(ranked.ranks, ranked.ties)
    flips = np.array(list(product([0, 1], repeat=ranks.size))) @ ranks
    assert log_p(d, "exact") == pytest.approx(
        math.log(np.mean(flips >= ranked.w_plus)), abs=1e-12
    )


@pytest.mark.simulation
@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([30, 41, 90, 150]),
    st.sampled_from([2, 6, 40, 10**6]),
    st.integers(0, 99),
)
def test_exact_equals_integer_counting(n: int, spread: int, seed: int) -> None:
    d = np.random.default_rng(seed).integers(-spread, 2 * spread, n)
    ways, observed = sign_flips(d), signed_rank(d).w_plus
    tail = sum(count for total, count in ways.items() if total >= observed)
    expected = math.log(tail) - math.log(sum(ways.values()))
    assert log_p(d, "exact") == pytest.approx(expected, rel=1e-12)


@given(st.one_of(differences, wide))
def test_asymptotic_equals_scipy(d: Ints) -> None:
    if d.any():
        expected = scipy_wilcoxon(
            d,
            alternative="greater",
            method="asymptotic",
            correction=False,
            zero_method="wilcox",
        ).pvalue
        assert math.exp(log_p(d, "asymptotic")) == pytest.approx(expected, rel=1e-9)


@pytest.mark.simulation
@given(st.one_of(differences, wide), st.randoms(use_true_random=False))
def test_order_scale_and_zeros_do_not_matter(d: Ints, random: Any) -> None:
    shuffled = np.array([*random.sample(d.tolist(), d.size), 0, 0])
    for test in TESTS.values():
        assert test(3 * shuffled) == test(d)


@given(st.one_of(differences, wide))
def test_both_tails_less_the_observed_sum_are_one(d: Ints) -> None:
    ways = sign_flips(d)
    observed = ways[int(signed_rank(d).w_plus)] / sum(ways.values())
    upper, lower = math.exp(log_p(d, "exact")), math.exp(log_p(-d, "exact"))
    assert upper + lower - observed == pytest.approx(1.0, abs=1e-12)


# Resamples


@pytest.mark.simulation
@settings(max_examples=40, deadline=None)
@given(
    st.one_of(differences, wide),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["one", "many"]),
)
def test_deletions_equal_the_tests_of_what_is_left(
    d: Ints, seed: int, pairs: str
) -> None:
    rng = np.random.default_rng(seed)
    n_sources = d.size if pairs == "one" else max(1, d.size // 3)
    source = np.arange(d.size) if pairs == "one" else rng.integers(0, n_sources, d.size)
    left = [d[source != s] for s in range(n_sources)]
    for method, test in TESTS.items():
        got = log_p(d, method, deletions(n_sources), source)
        assert got == pytest.approx([test(each) for each in left], rel=1e-12, abs=1e-12)
    parts = signed_ranks(d, deletions(n_sources), source)
    zeros = np.concatenate([part.n_zero for part in parts])
    assert zeros.tolist() == [np.count_nonzero(each == 0) for each in [d, *left]]


@pytest.mark.simulation
@pytest.mark.parametrize("drop", [0.0, 0.8, 2.0])
def test_the_interval_of_a_log_p_holds_what_other_studies_find(drop: float) -> None:
    """Half of all studies of 24 items find at most `typical`."""
    rng = np.random.default_rng(20)

    def drawn() -> Ints:
        return exact_differences(rng.normal(drop, 1, 24), np.zeros(24), None)

    typical = np.median([log_p(drawn(), "asymptotic") for _ in range(2000)])
    covered = 0
    for _ in range(200):
        d = drawn()
        deleted = log_p(d, "asymptotic", deletions(24), np.arange(24))
        lo, hi = jackknife_t(float(log_p(d, "asymptotic")), deleted.tolist())
        covered += lo - 1e-9 <= typical <= hi + 1e-9
    assert covered >= 170


def test_weights_and_source_go_together() -> None:
    with pytest.raises(ValueError, match="together"):
        log_p([1, 2], "exact", weights=deletions(2))


# Effect sizes


def test_rank_biserial_by_hand() -> None:
    estimate = rank_biserial([5, -1, 5, 0])
    assert estimate.value == pytest.approx((5 - 1) / (5 + 1))
    assert (estimate.n, estimate.n_tied, estimate.ci_low) == (3, 1, None)


def test_rank_biserial_of_ties_only_is_undefined() -> None:
    estimate = rank_biserial([0, 0])
    assert estimate.value is None
    assert estimate.note == "all differences are zero"
    assert (estimate.n, estimate.n_tied) == (0, 2)


def test_rank_biserial_of_few_differences_is_no_certainty() -> None:
    weights = deletions(20)
    each = rank_biserial([0] * 19 + [5], weights, np.arange(20))
    assert (each.value, each.n, each.n_tied, each.ci_low) == (1, 1, 19, None)
    assert each.note.startswith("no interval: 1 sources")
    q = 0.025 ** (1 / 20)
    drops = rank_biserial(np.arange(1, 21), weights, np.arange(20))
    rises = rank_biserial(-np.arange(1, 21), weights, np.arange(20))
    assert (drops.ci_low, drops.ci_high) == pytest.approx((2 * q**2 - 1, 1))
    assert (rises.ci_low, rises.ci_high) == pytest.approx((-1, 1 - 2 * q**2))
    wrong = np.arange(1, 1001) * np.where(np.arange(1000) < q * 1000, 1, -1)
    assert rank_biserial(wrong).value == pytest.approx(2 * q**2 - 1, abs=0.01)


def test_intervals_are_those_of_written_out_deletions() -> None:
    rng = np.random.default_rng(4)
    source = np.repeat(np.arange(12), 2)
    original, perturbed = rng.integers(2, 6, 24) / 1.0, rng.integers(1, 5, 24) / 1.0
    d = exact_differences(original, perturbed, 1)
    left = [d[source != s] for s in range(12)]
    drop = mean_drop(original, perturbed, source, deletions(12))
    effect = rank_biserial(d, deletions(12), source)
    of_drops = jackknife_t(float(d.mean()), [float(each.mean()) for each in left])
    value = rank_biserial(d).value
    assert value is not None
    moving = [
        each for s, each in enumerate(left) if d[source == s].any()
    ]  # zeros are dropped
    of_effects = jackknife_t(
        value, [rank_biserial(each).value or 0 for each in moving], "atanh"
    )
    assert (drop.ci_low, drop.ci_high) == pytest.approx(of_drops)
    assert (effect.ci_low, effect.ci_high) == pytest.approx(of_effects)
    assert drop.value == pytest.approx(d.mean())
    assert (drop.n, drop.n_tied) == (24, d.tolist().count(0))


def test_few_sources_have_no_interval_and_no_pairs_no_value() -> None:
    weights = deletions(3)
    drop = mean_drop([3, 4, 5], [2, 4, 3], [0, 1, 2], weights)
    assert (drop.value, drop.ci_low, drop.n_tied) == (1.0, None, 1)
    assert drop.note == "no interval: 3 sources"
    assert mean_drop([], [], [], weights).note == "no pairs"


@given(st.one_of(differences, wide))
def test_rank_biserial_turns_with_the_sign_and_is_bounded(d: Ints) -> None:
    value, turned = rank_biserial(d).value, rank_biserial(-d).value
    if value is None or turned is None:
        assert not d.any()
    else:
        assert value == -turned
        assert -1 <= value <= 1


Floats = NDArray[np.float64]
PERTURBATIONS = (
    Path(__file__).resolve().parents[4] / "shared/reference/s000_perturbations.csv"
)
log_ps = arrays(np.float64, st.integers(1, 6), elements=st.floats(-2000, 0))


def uniform(n: int) -> Floats:
    return np.full(n, 1 / n)


def test_vectors_of_combined_p() -> None:
    vectors = [v for v in load("hmp_discernment") if "D_landau" in v["expected"]]
    assert len(vectors) == 7
    for v in vectors:
        p, w, expected = (
            np.log(v["inputs"]["p"]),
            np.array(v["inputs"]["w"]),
            v["expected"],
        )
        got = discernment(p, p, w)
        assert got.d == pytest.approx(expected["D_paper"], rel=1e-9), v["id"]
        assert got.d_ew == pytest.approx(expected["D_paper_EW"], rel=1e-9), v["id"]
        assert got.d_hmp == pytest.approx(expected["D_hmp"], rel=1e-9), v["id"]
        log_hmp = log_harmonic_mean(p[w > 0], w[w > 0])
        assert log_hmp == pytest.approx(math.log(expected["hmp"])), v["id"]
        raw = discernment_score(log_landau(log_hmp, w.size))
        assert raw == pytest.approx(expected["D_landau"], rel=v["rtol"]), v["id"]
        # Landau is not used for a single p, and the vectors count a zero-weight aspect
        # in L
        if w.size > 1 and w.all():
            assert got.d_exact == pytest.approx(raw, rel=1e-12), v["id"]
        else:
            kept = int(np.count_nonzero(w))
            d_hmp = (
                got.d_hmp if kept == 1 else discernment_score(log_landau(log_hmp, kept))
            )
            assert got.d_exact == pytest.approx(d_hmp, rel=1e-12), v["id"]
        if np.ptp(w) == 0:
            assert got.d - got.d_hmp == pytest.approx(
                expected["log20_M_offset"], abs=1e-9
            )


def test_vectors_of_zero_weight_and_of_underflow() -> None:
    vectors = {v["id"]: v for v in load("hmp_discernment")}
    v = vectors["m4_zero_weight_zero_p"]
    p = np.array([-math.inf, *np.log(v["inputs"]["p"][1:])])
    assert discernment(p, p, v["inputs"]["w"]).d_hmp == pytest.approx(
        v["expected"]["D_hmp"]
    )
    v = vectors["log_space"]
    log_p, w = v["inputs"]["log_p"], v["inputs"]["w"]
    assert discernment(log_p, log_p, w).d_hmp == pytest.approx(
        v["expected"]["D_hmp"], rel=1e-12
    )
    assert log_harmonic_mean(log_p, w) == pytest.approx(
        v["expected"]["log_hmp"], rel=1e-12
    )


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
    [
        ([0.5, 0.4], r"sum to 0\.9"),
        ([1.5, -0.5], ">= 0"),
        ([1.0], r"needed one per aspect \(2\)"),
    ],
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
        discernment_score(log_p.max()) - 1e-9
        <= got.d_hmp
        <= discernment_score(log_p.min()) + 1e-9
    )
    if got.d_hmp >= 1:  # the price of exactness where a decision is made
        assert got.d_exact <= got.d_hmp + 1e-12


@pytest.mark.simulation
@given(arrays(np.float64, (5, 3), elements=st.floats(-800, 0)))
def test_leading_axis_is_a_single_call_per_row(log_p: Floats) -> None:
    w = [0.5, 0.3, 0.2]
    rows = np.array([discernment(row, row / 2, w) for row in log_p])
    assert np.transpose(discernment(log_p, log_p / 2, w)) == pytest.approx(
        rows, abs=1e-12
    )


# Averages over perturbations


def test_published_weights_of_every_dataset() -> None:
    if not PERTURBATIONS.exists():
        pytest.skip(
            "the paper's table is not there: ../shared/reference/s000_perturbations.csv"
        )
    with PERTURBATIONS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    datasets = {row["dataset"] for row in rows}
    assert len(datasets) == 6
    for dataset in datasets:
        cells = [row for row in rows if row["dataset"] == dataset]
        got = average(np.eye(len(cells)), [cell["level"] for cell in cells])
        assert got == pytest.approx(
            [float(c["weight_in_D_avg"]) for c in cells], abs=5e-7
        )


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
    assert minimum(d, allow_missing=True) == pytest.approx(
        [1.0, 1.0, math.nan], nan_ok=True
    )


# Acceptance: the null, four aspects, 100 texts, discrete scores


@pytest.mark.simulation
def test_under_the_null_the_paper_rule_fires_too_often_and_the_exact_one_does_not() -> (
    None
):
    rng = np.random.default_rng(20240601)
    chances = [0.05, 0.15, 0.3, 0.3, 0.2]
    fired = []
    for _ in range(3000):
        scores = rng.choice(5, (2, 4, 100), p=chances)
        d = scores[0] - scores[1]
        got = discernment(
            [log_p(each, "asymptotic") for each in d],
            [log_p(each, "exact") for each in d],
            uniform(4),
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
