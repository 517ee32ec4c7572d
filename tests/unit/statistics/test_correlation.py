import re
import warnings
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from deleted import jackknife_t
from judgescope.statistics import coefficients, source_rows
from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.correlation import (
    CorrelationLevel,
    correlations,
    leaving_out,
)
from judgescope.statistics.intervals import ONE_SOURCE_DECIDES, deletions
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights
from vectors import load, params

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NAN = float("nan")
STATISTICS: tuple[Coefficient, ...] = get_args(Coefficient)
LEVELS: tuple[CorrelationLevel, ...] = get_args(CorrelationLevel)
SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_b": stats.kendalltau,
}
every = pytest.mark.parametrize(
    ("statistic", "level"), list(product(STATISTICS, LEVELS))
)
scores = st.one_of(st.integers(1, 5).map(float), st.sampled_from([2.5, 10 / 3, NAN]))


def oracle(x: Any, y: Any, statistic: Coefficient) -> float:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    return float(SCIPY[statistic](x, y).statistic)


def correlate(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    statistic: Coefficient,
    level: CorrelationLevel,
    weights: Weights,
) -> Estimate:
    result = correlations(
        x, y, source, system, weights=weights, statistics=[statistic], levels=[level]
    )
    return result[statistic, level].estimate


def pooled(x: Any, y: Any, statistic: Coefficient = "pearson") -> Estimate:
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    values = np.zeros(x.size, dtype=np.int64)
    return correlate(
        x, y, values, values, statistic=statistic, level="pooled", weights=None
    )


def numbers(estimate: Estimate) -> tuple[float | None, ...]:
    return estimate.value, estimate.ci_low, estimate.ci_high


def grid(matrix: Any) -> tuple[Floats, Codes, Codes]:
    """Return the flat values, the column and the row of each of them."""
    values = np.array(matrix, dtype=float)
    row, column = np.indices(values.shape)
    return values.ravel(), column.ravel(), row.ravel()


def simulated(
    seed: int, sources: int, systems: int, continuous: bool = False
) -> tuple[Floats, Floats, Codes, Codes]:
    """Return x, y, source and system in random order, ragged, tied (or not) and with
    gaps.
    """
    rng = np.random.default_rng(seed)
    n = sources * systems
    source, system = (
        np.repeat(np.arange(sources), systems),
        np.tile(np.arange(systems), sources),
    )
    y = rng.integers(3, 16, n) / 3
    x: Floats = y + rng.normal(size=n)
    x = x if continuous else np.rint(np.clip(x, 1, 5))
    x[rng.random(n) < 0.1], y[rng.random(n) < 0.05] = NAN, NAN
    kept = rng.permutation(n)[: n - n // 20]
    return x[kept], y[kept], source[kept], system[kept]


def reference(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    statistic: Coefficient,
    level: CorrelationLevel,
) -> float:
    """Compute the statistic as its definition reads, with scipy and loops."""
    if level == "pooled":
        return oracle(x, y, statistic)
    if level == "by_source":
        collected = [
            oracle(x[source == s], y[source == s], statistic) for s in np.unique(source)
        ]
        return float(np.nanmean(collected)) if np.isfinite(collected).any() else NAN
    # twelve decimals: round-off in a mean must break no tie, in the reference either
    of = [system == k for k in np.unique(system)]
    mean_x, mean_y = ([np.round(v[mask].mean(), 12) for mask in of] for v in (x, y))
    return oracle(mean_x, mean_y, statistic) if len(of) >= 3 else NAN


def written_out(
    data: tuple[Floats, Floats, Codes, Codes],
    counts: Codes,
    statistic: Coefficient,
    level: CorrelationLevel,
) -> float:
    """Compute the statistic of one resample with each drawn source written out as a new
    one.
    """
    x, y, source, system = data
    drawn = np.repeat(np.arange(counts.size), counts)
    present = ~(np.isnan(x) | np.isnan(y))
    picked = [np.flatnonzero((source == s) & present) for s in drawn]
    copies = np.repeat(np.arange(drawn.size), [p.size for p in picked])
    rows = np.concatenate(picked)
    return reference(x[rows], y[rows], copies, system[rows], statistic, level)


def rows_of(
    data: tuple[Floats, Floats, Codes, Codes],
    statistic: Coefficient,
    level: CorrelationLevel,
    weights: Weights,
) -> Floats:
    """Return the value, and that of every row of weights."""
    result = correlations(
        *data, weights=weights, statistics=[statistic], levels=[level]
    )
    return result[statistic, level].rows


@pytest.mark.parametrize(("inputs", "expected", "name"), params("correlations"))
def test_vectors(inputs: dict[str, Any], expected: float | None, name: str) -> None:
    statistic = next(s for s in STATISTICS if name.endswith(s))
    result = pooled(inputs["x"], inputs["y"], statistic)
    if expected is None:
        assert (result.value, result.note) == (None, REASONS.constant_judge)
    else:
        assert result.value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("judge", ["m1", "m2"])
def test_wmt_vectors(judge: str, statistic: Coefficient) -> None:
    vectors = {v["id"]: v for v in load("wmt_style")}
    name = f"{judge}.{statistic.removesuffix('_b').capitalize()}"
    expected = {g: vectors[f"{name}.{g}"]["expected"] for g in ("none", "item", "sys")}
    inputs = vectors[f"{name}.none"]["inputs"]
    (x, item, system), (y, _, _) = grid(inputs["metric"]), grid(inputs["gold"])

    def value(source: Codes, level: CorrelationLevel) -> Estimate:
        return correlate(
            x, y, source, system, statistic=statistic, level=level, weights=None
        )

    assert value(item, "pooled").value == pytest.approx(expected["none"], rel=1e-9)
    assert value(item, "by_source").value == pytest.approx(expected["item"], rel=1e-9)
    # their "sys" averages the correlation within each system: our by_source with
    # systems as groups
    assert value(system, "by_source").value == pytest.approx(expected["sys"], rel=1e-9)
    zero_filled = vectors[f"{name}.item.nan_as_zero"]["expected"]
    note = (
        f"1 of 6 sources undefined, zero-filled {zero_filled:.3f}"
        if judge == "m1"
        else ""
    )
    assert value(item, "by_source").note == note


def test_by_hand() -> None:
    # deviations -1 0 1 and -1 1 0; midranks 1 2.5 2.5 and 1 2 3; signs below
    assert pooled([1, 2, 3], [1, 3, 2]).value == pytest.approx(1 / 2)
    assert pooled([1, 9, 9], [1, 2, 7], "spearman").value == pytest.approx(
        1.5 / (1.5 * 2) ** 0.5
    )
    # pairs: (1,9) concordant twice, one tied in x only: 2 / sqrt(2 * 3)
    assert pooled([1, 9, 9], [1, 2, 7], "kendall_b").value == pytest.approx(2 / 6**0.5)
    assert pooled([1, 2, 3, 4], [2, 1, 4, 3], "kendall_b").value == pytest.approx(
        (4 - 2) / 6
    )


def test_levels_by_hand() -> None:
    x, source, system = grid([[1, 5, 2], [2, 4, 2], [3, 3, 2], [3, 2, 2]])
    y, _, _ = grid([[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4]])

    def at(level: CorrelationLevel) -> Estimate:
        return correlate(
            x, y, source, system, statistic="kendall_b", level=level, weights=None
        )

    # sources: 5/sqrt(5 * 6), -1, constant
    within = [5 / 30**0.5, -1]
    result = at("by_source")
    assert result.value == pytest.approx(sum(within) / 2)
    assert (result.n, result.n_tied) == (2, 2)
    assert result.note == f"1 of 3 sources undefined, zero-filled {sum(within) / 3:.3f}"
    # system means of x: 8/3, 8/3, 8/3, 7/3: one system below three tied ones
    result = at("by_system")
    assert result.value == pytest.approx(-3 / 18**0.5)
    assert (result.n, result.n_tied) == (4, 3)
    # 1, 4 and 5 occur once in x
    assert (at("pooled").n, at("pooled").n_tied) == (12, 12 - 3)


def test_missing_pairs_are_dropped_and_counted() -> None:
    result = pooled([1, 2, NAN, 3, 3], [1, 3, 4, 2, NAN])
    assert (result.value, result.n, result.n_missing) == (
        pooled([1, 2, 3], [1, 3, 2]).value,
        3,
        2,
    )


@given(arrays(float, st.tuples(st.integers(0, 4), st.integers(1, 9)), elements=scores))
def test_midranks_are_those_of_scipy(values: Floats) -> None:
    expected = (
        stats.rankdata(values, axis=None, nan_policy="omit") if len(values) else values
    )
    np.testing.assert_array_equal(
        coefficients.midranks(values), expected.reshape(values.shape)
    )


@every
@pytest.mark.parametrize(
    ("x", "y", "note"),
    [
        ([3, 3, 3, 3], [1, 2, 3, 4], REASONS.constant_judge),
        ([0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1], REASONS.constant_judge),
        ([1, 2, 3, 4], [0.1, 0.1, 0.1, 0.1], REASONS.constant_ratings),
    ],
)
def test_constant_is_undefined(
    x: Any, y: Any, note: str, statistic: Coefficient, level: CorrelationLevel
) -> None:
    x, y = np.tile(x, 12).astype(float), np.tile(y, 12).astype(float)
    source, system = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    correlations = correlate(
        x, y, source, system, statistic=statistic, level=level, weights=deletions(12)
    )
    assert (correlations.value, correlations.ci_low, correlations.note) == (
        None,
        None,
        note,
    )


@every
def test_too_little_is_undefined(
    statistic: Coefficient, level: CorrelationLevel
) -> None:
    codes = np.arange(2)
    for x, y in (([NAN, NAN], [1, 2]), ([1, NAN], [1, 2])):
        correlations = correlate(
            np.array(x),
            np.array(y),
            codes,
            codes,
            statistic=statistic,
            level=level,
            weights=None,
        )
        expected = REASONS.few_systems if level == "by_system" else REASONS.few_pairs
        assert (correlations.value, correlations.note) == (None, expected)
        assert correlations.n_missing == np.isnan(x).sum()


def test_undefined_within_every_source() -> None:
    x, y, codes = np.array([1.0, 2, 3]), np.array([2.0, 3, 1]), np.arange(3)
    correlations = correlate(
        x, y, codes, codes, statistic="pearson", level="by_source", weights=None
    )
    assert (correlations.value, correlations.note) == (None, REASONS.no_source)
    correlations = correlate(
        x, y, codes, codes, statistic="pearson", level="by_system", weights=None
    )
    assert correlations.value == pytest.approx(-0.5)


def test_wrong_input_is_named() -> None:
    x, codes = np.array([1.0, 2.0]), np.arange(2)
    with pytest.raises(ValueError, match="lengths"):
        correlate(
            x, x[:1], codes, codes, statistic="pearson", level="pooled", weights=None
        )
    with pytest.raises(ValueError, match="infinite"):
        pooled([1, np.inf], [1, 2])


@given(
    st.lists(st.tuples(scores, scores), min_size=1, max_size=25),
    st.sampled_from(STATISTICS),
)
def test_equals_scipy(pairs: list[tuple[float, float]], statistic: Coefficient) -> None:
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    present = ~(np.isnan(x) | np.isnan(y))
    result = pooled(x, y, statistic)
    value = NAN if result.value is None else result.value
    assert value == pytest.approx(
        oracle(x[present], y[present], statistic), abs=1e-10, nan_ok=True
    )
    assert result.n + result.n_missing == len(pairs)


@pytest.mark.simulation
@every
@pytest.mark.parametrize("shape", [(31, 5), (40, 4), (12, 13)])
@pytest.mark.parametrize("continuous", [False, True])
def test_intervals_are_those_of_written_out_deletions(
    statistic: Coefficient,
    level: CorrelationLevel,
    shape: tuple[int, int],
    continuous: bool,
) -> None:
    data = simulated(1, *shape, continuous)
    x, y, source, system = data
    weights = deletions(shape[0])
    correlations = correlate(
        x, y, source, system, statistic=statistic, level=level, weights=weights
    )
    one_each = np.ones(shape[0], dtype=np.int64)
    value = written_out(data, one_each, statistic, level)
    assert correlations.value == pytest.approx(value, abs=1e-10)
    deleted = [written_out(data, row, statistic, level) for row in weights[:]]
    present = ~(np.isnan(x) | np.isnan(y))
    parts = [(source == s) & present for s in range(shape[0])]
    counts = [
        part.any() for part in parts
    ]  # a source without a target can change nothing
    if level == "by_source":  # nor one without a value
        counts = [not np.isnan(oracle(x[part], y[part], statistic)) for part in parts]
    deleted = [v for v, count in zip(deleted, counts, strict=True) if count]
    inside = max(map(abs, [value, *deleted])) < 1 - 1e-12  # else plain, cut at the end
    expected = jackknife_t(value, deleted, "atanh" if inside else "plain", (-1.0, 1.0))
    assert (correlations.ci_low, correlations.ci_high) == pytest.approx(
        expected, abs=1e-9
    )
    how = "jackknife-t on atanh" if inside else "jackknife-t"
    assert correlations.method == f"{how} over {len(deleted)} sources"


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("cells", [1, 100, 1_000_000])
@pytest.mark.parametrize("sources", [12, 300])
def test_each_replicate_at_any_block_size(
    statistic: Coefficient, cells: int, sources: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (coefficients, source_rows):
        monkeypatch.setattr(module, "CELLS", cells)
    data = simulated(3, sources, 600 // sources)
    for row in source_weights(np.random.default_rng(4), sources, 5):
        rows = rows_of(data, statistic, "pooled", row[None])
        expected = written_out(data, row, statistic, "pooled")
        assert rows[1] == pytest.approx(expected, abs=1e-10)


@every
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_order_of_targets_sources_and_systems(
    statistic: Coefficient, level: CorrelationLevel, seed: int
) -> None:
    x, y, source, system = simulated(seed, 32, 4)
    rng = np.random.default_rng(seed)
    weights = deletions(32)
    order, sources, systems = (
        rng.permutation(x.size),
        rng.permutation(32),
        rng.permutation(4),
    )
    first = correlate(
        x, y, source, system, statistic=statistic, level=level, weights=weights
    )
    x, y, source, system = (
        x[order],
        y[order],
        sources[source[order]],
        systems[system[order]],
    )
    second = correlate(
        x, y, source, system, statistic=statistic, level=level, weights=weights
    )
    assert (first.n, first.n_missing, first.n_tied) == (
        second.n,
        second.n_missing,
        second.n_tied,
    )
    renamed = re.sub(
        r"#(\d+)", lambda number: f"#{sources[int(number[1])]}", first.note
    )
    assert (renamed, first.method) == (second.note, second.method)
    assert numbers(first) == pytest.approx(numbers(second), abs=1e-12)


@given(
    arrays(np.float64, st.integers(2, 30), elements=st.integers(-8, 8)),
    st.sampled_from(STATISTICS),
)
def test_rescaling(x: Floats, statistic: Coefficient) -> None:
    y = np.random.default_rng(0).integers(1, 6, x.size)
    value = pooled(x, y, statistic).value
    opposite = None if value is None else -value
    assert pooled(3 * x + 100, y, statistic).value == pytest.approx(value, abs=1e-10)
    assert pooled(1e-6 * x + 1e3, y, statistic).value == pytest.approx(value, abs=1e-6)
    assert pooled(-x, y, statistic).value == pytest.approx(opposite, abs=1e-10)
    assert pooled(y, x, statistic).value == pytest.approx(value, abs=1e-10)
    if statistic != "pearson":
        assert pooled(x**3, y, statistic).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("level", ["pooled", "by_source"])
@pytest.mark.parametrize("statistic", ["spearman", "kendall_b"])
def test_rank_statistics_see_only_the_order(
    statistic: Coefficient, level: CorrelationLevel
) -> None:
    x, y, source, system = simulated(5, 40, 6)
    weights = deletions(40)
    first, second = (
        correlate(
            v, y, source, system, statistic=statistic, level=level, weights=weights
        )
        for v in (x, np.exp(5 * x))
    )
    assert first == second


def test_round_off_breaks_no_tie_of_system_means() -> None:
    # the same three values in another order: sums differ in the last digit, means must
    # not
    thirds = [0.1, 0.2, 0.3]
    x, source, system = grid([thirds, thirds[::-1], [0.3, 0.1, 0.2], [0.5, 0.5, 0.5]])
    y, _, _ = grid(np.arange(12).reshape(4, 3))
    correlations = correlate(
        x, y, source, system, statistic="kendall_b", level="by_system", weights=None
    )
    assert correlations.value == pytest.approx(3 / 18**0.5)
    assert correlations.n_tied == 3


def test_a_far_value_does_not_blur_the_resamples_without_it() -> None:
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(12), 5)
    x, y = rng.normal(size=60), rng.normal(size=60)
    x[0] = 1e7
    weights = np.append(0, np.ones(11, dtype=np.int64))[None]
    rows = rows_of((x, y, source, source), "pearson", "pooled", weights)
    assert rows[1] == pytest.approx(oracle(x[5:], y[5:], "pearson"), abs=1e-8)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("constant", [0.1, 1 / 3, 4.7])
def test_constant_resamples_are_undefined_not_zero(
    statistic: Coefficient, constant: float
) -> None:
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(20), np.arange(1, 21))
    x, y = (
        np.where(source < 9, rng.random(source.size), constant),
        rng.random(source.size),
    )
    without = source_weights(rng, 11, 50)
    weights = np.hstack([np.zeros((50, 9), dtype=np.int64), without])
    weights = np.vstack([weights, np.ones((50, 20), dtype=np.int64)])
    rows = rows_of((x, y, source, source), statistic, "pooled", weights)
    assert np.isnan(rows[1:51]).all()
    assert rows[51:] == pytest.approx(np.full(50, rows[0]))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_what_hangs_on_a_source_has_no_interval(statistic: Coefficient) -> None:
    source, system = np.repeat(np.arange(14), 4), np.tile(np.arange(4), 14)
    x, y = np.random.default_rng(7).integers(1, 100, (2, 56)).astype(float)
    everywhere = (system < 2) | (source == 0)
    x, y, source, system = (v[everywhere] for v in (x, y, source, system))
    rows = rows_of((x, y, source, system), statistic, "by_system", deletions(14))
    assert np.isnan(rows[1]) and np.isfinite(np.delete(rows, 1)).all()
    correlations = correlate(
        x,
        y,
        source,
        system,
        statistic=statistic,
        level="by_system",
        weights=deletions(14),
    )
    assert (
        correlations.ci_low,
        correlations.ci_high,
        correlations.n,
        correlations.note,
    ) == (
        None,
        None,
        4,
        f"{ONE_SOURCE_DECIDES}0",
    )


def test_an_interval_ends_at_1() -> None:
    x, source, system = grid(np.repeat(np.arange(4.0)[:, None], 12, axis=1))
    y = x.copy()
    y[source == 0] = [1, 0, 2, 3]  # tau is 2/3 here and 1 in the other eleven
    correlations = correlate(
        x,
        y,
        source,
        system,
        statistic="kendall_b",
        level="by_source",
        weights=deletions(12),
    )
    value = (11 + 2 / 3) / 12
    # without the one source all others are 1, so that the scale is plain: the
    # t-interval of a mean
    deleted = [1.0, *[(10 + 2 / 3) / 11] * 11]
    assert correlations.value == pytest.approx(value) and correlations.ci_high == 1.0
    assert correlations.ci_low == pytest.approx(jackknife_t(value, deleted)[0])
    assert correlations.method == "jackknife-t over 12 sources"


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@every
def test_the_unit_of_the_scores_does_not_matter(
    statistic: Coefficient, level: CorrelationLevel, scale: float
) -> None:
    x, y, source, system = simulated(8, 33, 5)
    weights = deletions(33)
    first, second = (
        correlate(
            v, y, source, system, statistic=statistic, level=level, weights=weights
        )
        for v in (x, scale * x)
    )
    assert (first.note, first.n_tied) == (second.note, second.n_tied)
    assert numbers(first) == pytest.approx(numbers(second), abs=1e-12)


@every
def test_nothing_warns(statistic: Coefficient, level: CorrelationLevel) -> None:
    x, y, source, system = simulated(6, 33, 4)
    x[source < 20] = NAN
    weights = deletions(33)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        correlations = correlate(
            x, y, source, system, statistic=statistic, level=level, weights=weights
        )
    assert correlations.value is not None


@pytest.mark.parametrize(
    "kind", ["classes", "mixed", "continuous", "sources of several"]
)
def test_rho_without_each_source_is_that_of_the_weights_to_the_bit(kind: str) -> None:
    rng = np.random.default_rng(3)
    for n in (2, 3, 12, 40):
        x = (
            rng.integers(0, 4, n).astype(float)
            if kind == "classes"
            else rng.normal(size=n)
        )
        y = (
            rng.normal(size=n)
            if kind == "continuous"
            else rng.integers(0, 3, n).astype(float)
        )
        x[rng.random(n) < 0.1] = np.nan
        few = kind == "sources of several"
        source = rng.integers(0, n + 2, n) if few else rng.permutation(n + 2)[:n]
        rows, why = leaving_out(x, y, source, n + 2)
        weighed = correlations(
            x,
            y,
            source,
            np.zeros_like(source),
            weights=deletions(n + 2),
            levels=["pooled"],
        )["spearman", "pooled"]
        np.testing.assert_array_equal(rows, weighed.rows)
        assert (why == "") == (weighed.estimate.value is not None)
