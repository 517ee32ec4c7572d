"""Krippendorff's alpha, and whether a judge says the same twice."""

from typing import Any, get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from deleted import jackknife_t, proportion
from judgescope.statistics.intervals import ONE_SOURCE_DECIDES, deletions
from judgescope.statistics.reliability import (
    Measurement,
    _needed,
    krippendorff_alpha,
    repeatability,
    spearman_brown,
)
from judgescope.statistics.result import REASONS, Estimate
from vectors import params

SCALE = [1.0, 2.0, 3.0, 4.0, 5.0]
NAN = float("nan")
LEVELS = get_args(Measurement)
entries = st.sampled_from([*SCALE, NAN])
matrices = arrays(
    np.float64, st.tuples(st.integers(2, 4), st.integers(1, 12)), elements=entries
)
wide = arrays(
    np.float64, st.tuples(st.integers(2, 4), st.integers(14, 20)), elements=entries
)


def alpha(ratings: Any, level: Measurement, domain: Any = SCALE) -> Estimate:
    matrix = np.array(ratings, dtype=float)
    units = np.zeros(matrix.shape[1], dtype=np.int64)
    return krippendorff_alpha(
        matrix, level=level, domain=domain, source=units, weights=None
    ).estimate


def numbers(estimate: Estimate) -> tuple[float | None, ...]:
    return estimate.value, estimate.ci_low, estimate.ci_high


def oracle(ratings: NDArray[np.float64], level: Measurement) -> float:
    pairable = ratings[:, np.sum(~np.isnan(ratings), axis=0) >= 2]
    if np.unique(pairable[~np.isnan(pairable)]).size < 2:
        return NAN
    return float(
        krippendorff.alpha(pairable, level_of_measurement=level, value_domain=SCALE)
    )


@pytest.mark.parametrize(
    ("inputs", "expected", "name"),
    [p for p in params("krippendorff_alpha") if not str(p.id).endswith(".ratio")],
)
def test_vectors(inputs: dict[str, Any], expected: float | None, name: str) -> None:
    levels = [level for level in LEVELS if expected is None or name.endswith(level)]
    for level in levels:
        result = alpha(inputs["raters_x_units"], level)
        if expected is None:
            assert (result.value, result.note) == (None, REASONS.no_variation)
        else:
            assert result.value == pytest.approx(expected, rel=1e-9)


def test_alpha_by_hand() -> None:
    # two raters, units (1,1) (1,2) (3,3): coincidences 11: 2, 12 and 21: 1 each, 33: 2;
    # n = 6, margins 3, 1, 2. nominal: 1 - 5 * 2 / (36 - 9 - 1 - 4) = 1 - 10/22
    ratings = [[1, 1, 3], [1, 2, 3]]
    assert alpha(ratings, "nominal").value == pytest.approx(12 / 22)
    # interval: 1 - 5 * (2 * 1) / (2 * (3*1*1 + 3*2*4 + 1*2*1)) = 1 - 10/58
    assert alpha(ratings, "interval").value == pytest.approx(48 / 58)
    # ordinal distances: 1-2: 3/2 + 1/2 = 2, 2-3: 1/2 + 1 = 3/2, 1-3: 3/2 + 1 + 1 = 7/2
    mixed = 2 * (3 * 1 * 4 + 3 * 2 * 49 / 4 + 1 * 2 * 9 / 4)
    assert alpha(ratings, "ordinal").value == pytest.approx(1 - 5 * (2 * 4) / mixed)


def test_units_with_fewer_than_two_ratings_are_ignored_and_counted() -> None:
    result = alpha([[1, 1, 3, 5, NAN], [1, 2, 3, NAN, NAN]], "ordinal")
    assert (result.n, result.n_missing, result.n_tied) == (3, 2, 0)
    assert result.value == alpha([[1, 1, 3], [1, 2, 3]], "ordinal").value


@pytest.mark.parametrize("level", LEVELS)
def test_undefined_says_why(level: Measurement) -> None:
    constant = alpha([[2, 2], [2, 2]], level)
    assert (constant.value, constant.note, constant.n) == (
        None,
        REASONS.no_variation,
        2,
    )
    single = alpha([[2, NAN], [NAN, 3]], level)
    assert (single.value, single.note, single.n_missing) == (None, REASONS.no_units, 2)


def test_what_is_not_on_the_scale_or_no_level_is_named() -> None:
    with pytest.raises(ValueError, match=r"value 2.5 is not one of"):
        alpha([[2.5, 1], [1, 1]], "ordinal")
    with pytest.raises(ValueError, match="ratio"):
        alpha([[1, 2], [1, 1]], "ratio")  # type: ignore[arg-type]


@given(matrices, st.sampled_from(LEVELS))
def test_equals_the_krippendorff_package(
    ratings: NDArray[Any], level: Measurement
) -> None:
    result = alpha(ratings, level)
    value = NAN if result.value is None else result.value
    assert value == pytest.approx(oracle(ratings, level), abs=1e-10, nan_ok=True)


@pytest.mark.simulation
@given(wide, st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_order_of_raters_units_and_sources(
    ratings: NDArray[Any], level: Measurement, random: Any
) -> None:
    raters, units = ratings.shape
    source, weights = np.arange(units) % 14, deletions(14)
    by_rater, by_unit = (
        random.sample(range(raters), raters),
        random.sample(range(units), units),
    )
    renamed = np.array(random.sample(range(14), 14))
    first = krippendorff_alpha(
        ratings, level=level, domain=SCALE, source=source, weights=weights
    ).estimate
    second = krippendorff_alpha(
        ratings[np.ix_(by_rater, by_unit)],
        level=level,
        domain=SCALE,
        source=renamed[source[by_unit]],
        weights=weights,
    ).estimate
    assert (first.n, first.method) == (second.n, second.method)
    hangs = ONE_SOURCE_DECIDES in first.note  # the name of the source changes with it
    assert (ONE_SOURCE_DECIDES in second.note) if hangs else (first.note == second.note)
    for number, other in zip(numbers(first), numbers(second), strict=True):
        assert number == pytest.approx(other, abs=1e-12)


@given(matrices)
def test_rescaling(ratings: NDArray[Any]) -> None:
    wider = [value**2 for value in SCALE]
    for level in ("nominal", "ordinal"):  # only the order of the values counts
        same = alpha(ratings**2, level, wider).value
        assert same == pytest.approx(alpha(ratings, level).value, abs=1e-10)
    doubled = [7 + 2 * value for value in SCALE]
    same = alpha(7 + 2 * ratings, "interval", doubled).value
    assert same == pytest.approx(alpha(ratings, "interval").value, abs=1e-10)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from(LEVELS))
def test_interval_is_that_of_written_out_deletions(
    seed: int, level: Measurement
) -> None:
    rng = np.random.default_rng(seed)
    source = rng.permutation(np.arange(48) % 12)
    truth = rng.integers(1, 6, 48)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 48)), 1, 5).astype(float)
    ratings[rng.random((3, 48)) < 0.1] = NAN
    deleted = [oracle(ratings[:, source != s], level) for s in range(12)]
    estimate = krippendorff_alpha(
        ratings, level=level, domain=SCALE, source=source, weights=deletions(12)
    ).estimate
    expected = jackknife_t(oracle(ratings, level), deleted, ends=(-np.inf, 1.0))
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_any_numbers_at_interval_level_equal_those_of_a_scale_and_the_package(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, (4, 40)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    source, weights = np.repeat(np.arange(20), 2), deletions(20)
    result, scaled = (
        krippendorff_alpha(
            ratings, level="interval", domain=d, source=source, weights=weights
        ).estimate
        for d in (None, [1.0, 2.0, 3.0, 4.0, 5.0])
    )
    assert result.value == pytest.approx(scaled.value, abs=1e-12)
    assert (result.ci_low, result.ci_high) == pytest.approx(
        (scaled.ci_low, scaled.ci_high), abs=1e-12
    )
    shifted = rng.normal(1e3, 1, (3, 30))
    estimate = krippendorff_alpha(
        shifted, level="interval", domain=None, source=np.arange(30), weights=None
    ).estimate
    want = krippendorff.alpha(shifted, level_of_measurement="interval")
    assert estimate.value == pytest.approx(want, abs=1e-9)


def test_a_scale_is_needed_for_ranks_and_equal_numbers_have_no_alpha() -> None:
    same = np.full((3, 5), 2.5)
    with pytest.raises(ValueError, match="needs the values"):
        krippendorff_alpha(
            same, level="ordinal", domain=None, source=np.arange(5), weights=None
        )
    estimate = krippendorff_alpha(
        same, level="interval", domain=None, source=np.arange(5), weights=None
    ).estimate
    assert estimate.note == REASONS.no_variation


FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def of(draws: Any, *, scale: Any = FIVE, weights: Any = None) -> dict[str, Estimate]:
    draws = np.array(draws, dtype=float)
    return repeatability(draws, np.arange(draws.shape[1]), weights, scale=scale)


def test_draws_by_hand() -> None:
    result = of([[1, 2, 3, 4, NAN], [1, 2, 4, 4, 5], [1, 3, 5, 4, NAN]])
    assert (result["flip_rate"].value, result["flip_rate"].n) == (0.5, 4)
    assert result["flip_rate"].n_missing == 1
    assert result["tied_modes"].value == 0.25  # 3 4 5, each once
    # means 1, 7/3, 4, 4: between 3 * 6.3611 / 3, within (2/3 + 2) / 8
    between = 3 * sum((m - 17 / 6) ** 2 for m in (1, 7 / 3, 4, 4)) / 3
    within = (2 / 3 + 2) / 8
    icc = (between - within) / (between + 2 * within)
    assert result["reliability"].value == pytest.approx(icc)
    assert result["alpha_draws"].value is not None


def test_a_judge_that_never_differs_needs_a_single_draw() -> None:
    result = of([[1, 2, 3, 4]] * 5)
    by_name = {name: each.value for name, each in result.items()}
    assert by_name == {
        **{"alpha_draws": 1, "flip_rate": 0, "tied_modes": 0, "reliability": 1},
        "draws_needed": 1,
    }


def test_undefined_values_have_a_reason() -> None:
    assert {number.note for number in of([[1, 2, 3]]).values()} == {REASONS.no_units}
    constant = of([[3, 3, 3]] * 4)
    assert constant["flip_rate"].value == 0
    assert (
        constant["alpha_draws"].note
        == constant["reliability"].note
        == REASONS.no_variation
    )
    assert constant["draws_needed"].value is None
    noise = of(np.array([[1, 5, 1, 5, 1, 5], [5, 1, 5, 1, 5, 1]]))
    assert (noise["reliability"].value or 0) < 0 and noise["draws_needed"].value is None


def test_a_draw_off_the_scale_leaves_alpha_alone_undefined() -> None:
    result = of([[1, 2, 8, 3], [1, 2, 3, 2]], scale=[1.0, 2.0, 3.0])
    assert (
        result["alpha_draws"].note == REASONS.off_judge_scale
        and result["alpha_draws"].n == 4
    )
    assert result["flip_rate"].value == 0.5 and result["reliability"].value is not None
    assert of([[1, 2, 8, 3], [1, 2, 3, 2]], scale=None)["alpha_draws"].value is not None


@pytest.mark.parametrize("reliability", [0.3, 0.6, 0.9])
def test_the_mean_of_k_draws_correlates_as_spearman_and_brown_say(
    reliability: float,
) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, reliability**0.5, 20_000)
    draws = truth + rng.normal(0, (1 - reliability) ** 0.5, (12, 20_000))
    for k in (1, 4, 12):
        r = np.corrcoef(draws[:k].mean(axis=0), truth)[0, 1]
        assert r == pytest.approx(spearman_brown(reliability, k), abs=0.01)
    small = repeatability(draws[:, :400], np.arange(400), None, scale=None)
    assert small["reliability"].value == pytest.approx(reliability, abs=0.05)
    needed = small["draws_needed"].value
    assert needed is not None and small["reliability"].value is not None
    reliability = small["reliability"].value
    rising = [spearman_brown(reliability, draws) for draws in range(1, int(needed) + 1)]
    assert rising == sorted(rising)
    assert rising[-1] >= 0.95 and (len(rising) == 1 or rising[-2] < 0.95)


@pytest.mark.parametrize("low", [-0.1, 0.0])
def test_draws_needed_have_no_interval_where_that_of_the_reliability_reaches_0(
    low: float,
) -> None:
    needed = _needed(Estimate(0.5, low, 0.8, n=20))
    assert needed.value is not None and (needed.ci_low, needed.ci_high) == (None, None)
    assert needed.note == "no interval: the interval of the reliability includes 0"


def test_intervals_are_those_of_written_out_deletions() -> None:
    rng = np.random.default_rng(4)
    draws = rng.integers(1, 6, (3, 30)).astype(float)
    draws[:, :15] = rng.integers(1, 6, 15)
    result = of(draws, weights=deletions(30))
    left = [of(np.delete(draws, s, axis=1)) for s in range(30)]
    r = result["reliability"]
    assert r.value is not None
    each = [entry["reliability"].value or 0 for entry in left]
    assert (r.ci_low, r.ci_high) == pytest.approx(jackknife_t(r.value, each))
    flips = [float(np.ptp(column) > 0) for column in draws.T]
    expected = proportion(flips, [1] * 30)
    assert (result["flip_rate"].ci_low, result["flip_rate"].ci_high) == pytest.approx(
        expected
    )


def test_neither_the_order_of_draws_nor_of_targets_matters() -> None:
    rng = np.random.default_rng(5)
    draws = rng.integers(1, 6, (4, 25)).astype(float)
    draws[rng.random(draws.shape) < 0.1] = NAN
    result, moved = of(draws), of(draws[::-1, rng.permutation(25)])
    for name, each in result.items():
        assert moved[name].value == pytest.approx(each.value)


def test_draws_of_labels_have_no_reliability_of_a_mean_and_unordered_no_order() -> None:
    draws, source = np.array([[0.0, 1, 2, 0, 2], [0, 1, 2, 2, 2]]), np.arange(5)
    kinds = repeatability(
        draws, source, None, scale=[0, 1, 2], labels=True, ordered=False
    )
    nominal = krippendorff_alpha(
        draws, level="nominal", domain=[0, 1, 2], source=source, weights=None
    ).estimate
    assert kinds["alpha_draws"].value == nominal.value
    assert kinds["flip_rate"].value == 0.2
    for name in ("reliability", "draws_needed"):
        assert (kinds[name].value, kinds[name].note, kinds[name].n) == (
            None,
            "draws of labels have a majority, not a mean",
            5,
        )
    ordered = repeatability(draws, source, None, scale=[0, 1, 2], labels=True)
    assert ordered["alpha_draws"].value != nominal.value
