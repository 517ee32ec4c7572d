"""The rank correlation within sources, against its formula and against ranks made by
scipy.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, pearsonr, rankdata

from judgescope.statistics.result import REASONS
from judgescope.statistics.within_sources import (
    ALONE,
    beyond_systems,
    normal_scores,
    partial_by_system,
    varies,
    within_sources,
)

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
        for each in np.unique(source):
            scores[source == each] -= scores[source == each].mean()
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
    for number in range(SOURCES):
        assert result.rows[1 + number] == pytest.approx(
            by_hand(x, y, SOURCE, number), abs=1e-12
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


def test_sources_with_a_single_rating_are_kept_and_counted() -> None:
    x, y = ratings(3)
    y[:TEXTS] = 4.0
    x[TEXTS] = NAN
    result = within_sources(x, y, SOURCE, SOURCES)
    kept = ~np.isnan(x)
    assert result.estimate.value == pytest.approx(
        by_hand(x[kept], y[kept], SOURCE[kept])
    )
    assert (result.estimate.n, result.estimate.n_missing) == (kept.sum(), 1)
    assert f"1 of {SOURCES} sources have texts with one rating" in result.estimate.note
    assert result.sizes[0] == TEXTS and result.sizes[1] == TEXTS - 1


def test_texts_alone_in_their_source_are_left_out_of_ranks_and_counted() -> None:
    x, y = ratings(3)
    x[1:TEXTS] = NAN
    result = within_sources(x, y, SOURCE, SOURCES)
    kept = SOURCE > 0
    assert result.estimate.value == pytest.approx(
        by_hand(x[kept], y[kept], SOURCE[kept])
    )
    assert result.estimate.n == kept.sum()
    assert "1 of 56 texts are alone in their source: left out" in result.estimate.note


def correlation_of_differences(
    x: np.ndarray, y: np.ndarray, source: np.ndarray, *, by_pairs: bool
) -> float:
    """Pearson's r of all differences of two texts of a source, in both directions."""
    a, b = (norm.ppf(rankdata(v) / (v.size + 1)) for v in (x, y))
    products = np.zeros(3)
    for each in np.unique(source):
        mine = np.flatnonzero(source == each)
        weight = 1.0 if by_pairs else 1 / mine.size
        for i, j in product(mine, mine):
            da, db = a[i] - a[j], b[i] - b[j]
            products += weight * np.array([da * db, da * da, db * db])
    ab, aa, bb = products
    return float(ab / np.sqrt(aa * bb))


@pytest.mark.parametrize("by_pairs", [False, True])
def test_r_is_the_correlation_of_differences_over_pairs(by_pairs: bool) -> None:
    x, y = ratings(6)
    kept = np.ones(SOURCE.size, dtype=bool)
    kept[[0, 1, 7, 8, 9, 21]] = False
    result = within_sources(x[kept], y[kept], SOURCE[kept], SOURCES, by_pairs=by_pairs)
    expected = correlation_of_differences(
        x[kept], y[kept], SOURCE[kept], by_pairs=by_pairs
    )
    assert result.rows[0] == pytest.approx(expected, abs=1e-12)


def test_r_of_a_complete_table_is_the_published_pearson_of_differences() -> None:
    rng = np.random.default_rng(8)
    y = rng.normal(size=SOURCE.size)
    x = y + rng.normal(size=SOURCE.size)
    a, b = (
        norm.ppf(rankdata(v) / (v.size + 1)).reshape(SOURCES, TEXTS) for v in (x, y)
    )
    differences = [(v[:, :, None] - v[:, None, :]).ravel() for v in (a, b)]
    published = pearsonr(*differences).statistic
    for by_pairs in (False, True):
        r = within_sources(x, y, SOURCE, SOURCES, by_pairs=by_pairs).rows[0]
        assert r == pytest.approx(published, abs=1e-12)


def test_r_is_symmetric_and_ignores_the_order_of_rows() -> None:
    x, y = ratings(9)
    r = within_sources(x, y, SOURCE, SOURCES).rows[0]
    assert within_sources(y, x, SOURCE, SOURCES).rows[0] == pytest.approx(r, abs=1e-14)
    mixed = np.random.default_rng(0).permutation(SOURCE.size)
    again = within_sources(x[mixed], y[mixed], SOURCE[mixed], SOURCES).rows[0]
    assert again == pytest.approx(r, abs=1e-12)


def test_degrees_of_freedom_are_those_of_sources_with_two_ratings() -> None:
    rng = np.random.default_rng(10)
    source = np.repeat(np.arange(30), 3)
    y = np.full(source.size, 5.0)
    y[::9] = 1.0  # in ten of thirty sources
    x = y + rng.normal(size=source.size)
    result = within_sources(x, y, source, 30)
    known = result.jackknifed
    assert not isinstance(known, str)
    assert (known.sources, known.freedom) == (30, 9)
    y[9] = 5.0
    fewer = within_sources(x, y, source, 30).estimate
    assert fewer.value is not None and fewer.ci_low is None
    assert "no interval: 9 sources have two different ratings" in fewer.note


def test_a_single_source_with_most_of_the_texts_has_no_interval() -> None:
    source = np.append(np.repeat(np.arange(12), 2), np.repeat(12, 40))
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, source.size))
    note = within_sources(x, y, source, 13).estimate.note
    assert "a few have most of the texts" in note


def test_a_source_with_a_single_score_lowers_the_value() -> None:
    _, y = ratings(4)
    x = y.copy()
    x[:TEXTS] = 3.0
    value = within_sources(x, y, SOURCE, SOURCES).estimate.value
    assert value is not None and value < 0.99
    assert value == pytest.approx(by_hand(x, y, SOURCE))


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([1.0, 1, 1, 1], [1.0, 2, 3, 4], REASONS.constant_judge),
        ([1.0, 2, 3, 4], [2.0, 2, 2, 2], REASONS.constant_ratings),
        ([1.0, 2, 3, 4], [1.0, 1, 2, 2], "people rate the texts of every source alike"),
        ([1.0, NAN, 3, NAN], [1.0, 1, 2, 2], ALONE),
        ([1.0, NAN, NAN, 4], [NAN, 1, 2, 2], REASONS.few_pairs),
    ],
)
def test_it_is_undefined_for_a_stated_reason(
    x: list[float], y: list[float], why: str
) -> None:
    result = within_sources(np.array(x), np.array(y), np.array([0, 0, 1, 1]), 2)
    assert result.estimate.value is None and result.estimate.note.startswith(why)


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


SYSTEM = np.tile(np.arange(TEXTS), SOURCES)


def residuals_by_least_squares(
    values: np.ndarray, source: np.ndarray, system: np.ndarray
) -> np.ndarray:
    design = np.concatenate(
        [np.eye(source.max() + 1)[source], np.eye(system.max() + 1)[system]], axis=1
    )
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return np.asarray(values - fitted)


@pytest.mark.parametrize("missing", [[], [3, 17, 18, 40]])
def test_beyond_systems_is_r_of_the_residuals_of_sources_and_systems(
    missing: list[int],
) -> None:
    x, y = ratings(12)
    kept = np.setdiff1d(np.arange(SOURCE.size), missing)
    x, y, source, system = x[kept], y[kept], SOURCE[kept], SYSTEM[kept]
    result = beyond_systems(x, y, source, system, SOURCES)
    a, b = (norm.ppf(rankdata(v) / (v.size + 1)) for v in (x, y))
    for without in (-1, 0, 5):
        part = source != without
        names = np.unique(source[part], return_inverse=True)[1]
        e, f = (
            residuals_by_least_squares(v[part], names, system[part]) for v in (a, b)
        )
        expected = e @ f / np.sqrt((e @ e) * (f @ f))
        assert result.rows[1 + without] == pytest.approx(expected, abs=1e-12)


def test_deleting_a_source_of_a_complete_table_takes_n_over_n_minus_1_of_its_part() -> (
    None
):
    x, y = ratings(13)
    a, b = (
        norm.ppf(rankdata(v) / (v.size + 1)).reshape(SOURCES, TEXTS) for v in (x, y)
    )
    e, f = (
        v - v.mean(axis=0) - v.mean(axis=1, keepdims=True) + v.mean() for v in (a, b)
    )
    sums = [(p * q).sum(axis=1) for p, q in ((e, f), (e, e), (f, f))]
    shrunk = [s.sum() - SOURCES / (SOURCES - 1) * s for s in sums]
    expected = shrunk[0] / np.sqrt(shrunk[1] * shrunk[2])
    rows = beyond_systems(x, y, SOURCE, SYSTEM, SOURCES).rows
    assert rows[1:] == pytest.approx(expected, abs=1e-12)


def test_a_judge_that_knows_only_the_author_has_nothing_beyond_systems() -> None:
    _, y = ratings(14)
    author = SYSTEM.astype(float)
    result = beyond_systems(author, y, SOURCE, SYSTEM, SOURCES).estimate
    assert result.value is None
    assert result.note == "systems and sources explain all of the judge"
    each = np.zeros_like(SYSTEM)
    assert beyond_systems(y, y, SOURCE, each, SOURCES).estimate.note == (
        "texts of one system"
    )


def test_partial_by_system_is_the_correlation_of_values_minus_system_means() -> None:
    rng = np.random.default_rng(8)
    source = np.repeat(np.arange(15), 4)
    system = np.tile(np.arange(4), 15)
    quality = rng.normal(size=60)
    x = quality + 3.0 * system + rng.normal(size=60)
    y = quality - 3.0 * system + rng.normal(size=60)
    x[3] = np.nan
    frame = pd.DataFrame({"x": x, "y": y, "system": system}).dropna()
    means = frame.groupby("system")[["x", "y"]].transform("mean")
    rest = frame[["x", "y"]] - means
    partial = partial_by_system(x, y, source, system, 15)
    for name, method in (
        ("partial_by_system_pearson", "pearson"),
        ("partial_by_system_spearman", "spearman"),
    ):
        estimate = partial[name].estimate
        assert estimate.value == pytest.approx(rest["x"].corr(rest["y"], method))
        assert estimate.ci_low is not None and estimate.ci_low > 0
        assert (estimate.n, estimate.n_missing) == (59, 1)
    assert np.corrcoef(frame["x"], frame["y"])[0, 1] < 0


def test_partial_by_system_leaves_out_a_single_source_at_a_time() -> None:
    rng = np.random.default_rng(9)
    source = np.repeat(np.arange(6), 3)
    system = np.tile(np.arange(3), 6)
    x = rng.normal(size=18) + system
    y = rng.normal(size=18)
    rows = partial_by_system(x, y, source, system, 6)["partial_by_system_pearson"].rows
    rests = []
    for values in (x, y):
        means = np.array([values[system == number].mean() for number in range(3)])
        rests.append(values - means[system])
    for left_out in range(6):
        kept = source != left_out
        expected = np.corrcoef(rests[0][kept], rests[1][kept])[0, 1]
        assert rows[1 + left_out] == pytest.approx(expected)


def test_partial_by_system_is_undefined_where_the_system_says_all() -> None:
    source = np.repeat(np.arange(6), 2)
    system = np.tile(np.arange(2), 6)
    people = np.arange(12.0)
    author = np.array([0.1, 0.8])[system]
    by_author = partial_by_system(author, people, source, system, 6)
    alone = partial_by_system(people, people, source, np.zeros(12, np.int64), 6)
    notes = [
        each["partial_by_system_pearson"].estimate.note for each in (by_author, alone)
    ]
    assert notes == [
        "no text differs from the mean of its system",
        "texts of one system",
    ]
