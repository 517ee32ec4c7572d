"""Rows that leave out a source each have the sums of what is written out."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from judgescope.statistics.accuracy import soft_pairwise_accuracy
from judgescope.statistics.alt_test import alternative_annotator
from judgescope.statistics.bias import partial_correlation
from judgescope.statistics.classes import on_classes
from judgescope.statistics.coefficients import over_rows
from judgescope.statistics.correlation import COEFFICIENTS, correlations
from judgescope.statistics.intervals import deletions
from judgescope.statistics.labels import on_labels
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.resampling import source_weights, whole_and_resamples
from judgescope.statistics.signed_rank import log_p, mean_drop, rank_biserial
from judgescope.statistics.source_rows import DeletedRows, Deletions, DrawnRows
from judgescope.statistics.without_sources import Quadrants

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def written_out(rows: DeletedRows) -> DrawnRows:
    """Return the same rows as an array of sources by sources."""
    return DrawnRows(rows.block(slice(None)))


def all_deletions(n_sources: int) -> DeletedRows:
    rows = whole_and_resamples(np.arange(n_sources), deletions(n_sources))
    assert isinstance(rows, DeletedRows)
    return rows


def test_deletions_are_written_out_as_ones_minus_the_identity() -> None:
    weights = deletions(5)
    dense = 1 - np.eye(5, dtype=np.int64)
    assert weights.shape == dense.shape and len(weights) == 5
    assert np.array_equal(weights[:], dense)
    assert np.array_equal(weights[3], dense[3])
    assert np.array_equal(weights[np.array([4, 0])], dense[[4, 0]])
    assert [row.tolist() for row in weights] == dense.tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize("used", [[0, 1, 2, 3, 4, 5, 6], [1, 4], [6, 0, 3], []])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_sums_are_the_products_of_the_rows(
    used: list[int], shape: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(2)
    rows = all_deletions(7).columns(np.array(used, np.int64))
    complete = rng.integers(0, 9, (len(used), *shape))
    dense = rows.block(slice(None))
    assert rows.shape == dense.shape == (8, len(used))
    assert np.array_equal(rows.sums(complete), np.tensordot(dense, complete, axes=1))
    parts = complete + rng.random(complete.shape)
    expected = np.tensordot(dense, parts, axes=1)
    np.testing.assert_allclose(rows.sums(parts), expected, rtol=1e-14, atol=1e-14)


def test_a_small_number_beside_a_large_one_is_not_lost() -> None:
    rows = all_deletions(3)
    table = np.array([1e17, 0.5, 0.25])
    assert rows.sums(table)[1] == 0.75


def test_sums_of_drawn_rows_are_products_with_their_counts() -> None:
    rng = np.random.default_rng(3)
    weights = source_weights(rng, 40, 25)
    assert weights.dtype == np.uint16
    rows = whole_and_resamples(np.arange(40), weights)
    table = rng.random((40, 3))
    dense = np.vstack([np.ones(40), weights])
    np.testing.assert_allclose(rows.sums(table), dense @ table, rtol=1e-14)


def test_resamples_are_those_of_a_single_draw_of_all() -> None:
    rng = np.random.default_rng(8)
    drawn = rng.multinomial(31, np.full(31, 1 / 31), size=20)
    assert np.array_equal(source_weights(np.random.default_rng(8), 31, 20), drawn)


@pytest.mark.parametrize("cells", [3, 400_000])
def test_counts_come_in_blocks_of_all_rows(cells: int) -> None:
    rng = np.random.default_rng(5)
    source = rng.integers(0, 6, 60)
    code = rng.integers(0, 3, 60) * (cells // 3)
    rows = all_deletions(6).columns(np.array([5, 0, 1, 2, 3]))
    kept = np.flatnonzero(source != 4)
    values = np.array([1, 2, 3, 4, -1, 0])[source[kept]]
    counts = list(rows.counts(values, code[kept], cells))
    assert (len(counts) > 1) == (cells > 3)
    dense = list(written_out(rows).counts(values, code[kept], cells))
    assert np.array_equal(
        np.concatenate([part for _, part in counts]),
        np.concatenate([part for _, part in dense]),
    )
    stops = [part.stop for part, _ in counts]
    assert [part.start for part, _ in counts] == [0, *stops[:-1]]


Drawn = tuple[Floats, Floats, Codes]


@st.composite
def samples(draw: Callable[..., Any]) -> Drawn:
    """Draw scores, ratings and sources: few or many values, sources of any size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 60))
    values = draw(st.sampled_from([2, 5, 1000]))
    x = rng.integers(0, values, n).astype(float)
    y = np.round(x / 2 + rng.integers(0, draw(st.sampled_from([2, 5, 1000])), n), 1)
    uneven = draw(st.booleans())
    chance = rng.random(max(1, n // draw(st.integers(1, 4)))) ** (8 if uneven else 0)
    source = rng.choice(chance.size, n, p=chance / chance.sum())
    return x, y, np.unique(source, return_inverse=True)[1]


@settings(max_examples=300)
@given(samples())
def test_coefficients_without_each_source_are_those_of_written_out_rows(
    sample: Drawn,
) -> None:
    x, y, source = sample
    rows = all_deletions(int(source.max()) + 1)
    result = over_rows(x, y, source, rows, COEFFICIENTS)
    expected = over_rows(x, y, source, written_out(rows), COEFFICIENTS)
    for name in ("spearman", "kendall_b"):
        assert np.array_equal(result[name], expected[name], equal_nan=True)
    np.testing.assert_allclose(
        result["pearson"], expected["pearson"], rtol=1e-11, atol=1e-13
    )


@pytest.mark.parametrize("left", [0.0, 1e-9])
def test_pearson_without_a_source_that_has_nearly_all_variance(left: float) -> None:
    rng = np.random.default_rng(1)
    x = np.append(rng.random(59) * left, 1.0) + 7
    y = np.append(rng.random(59), 9.0)
    source = np.arange(60)
    rows = all_deletions(60)
    result = over_rows(x, y, source, rows, ["pearson"])["pearson"]
    expected = over_rows(x, y, source, written_out(rows), ["pearson"])["pearson"]
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)
    assert np.isnan(result[60]) == (left == 0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9))
def test_quadrants_count_what_comparisons_count(seed: int, n: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    cx = np.unique(rng.integers(0, values, n), return_inverse=True)[1]
    cy = np.unique(rng.integers(0, values, n), return_inverse=True)[1]
    x, y = rng.integers(0, cx.max() + 1, 20), rng.integers(0, cy.max() + 1, 20)
    expected = (np.sign(cx - x[:, None]) * np.sign(cy - y[:, None])).sum(axis=1)
    assert Quadrants(cx, cy).products(x, y).tolist() == expected.tolist()


N_SOURCES = 12_000
DATA = np.random.default_rng(0).random((4, N_SOURCES))
ONE_EACH = np.arange(N_SOURCES)
CLASSES = np.floor(DATA * 5)
EVERY: Deletions = deletions(N_SOURCES)
STATISTICS: dict[str, Callable[[], Any]] = {
    "correlations": lambda: correlations(
        DATA[0], DATA[1], ONE_EACH, ONE_EACH % 10, weights=EVERY
    ),
    "correlations of classes": lambda: correlations(
        CLASSES[0], CLASSES[1], ONE_EACH, ONE_EACH % 10, weights=EVERY
    ),
    "partial correlation": lambda: partial_correlation(
        DATA[0], DATA[1], DATA[2], ONE_EACH, statistic="spearman", weights=EVERY
    ),
    "mean": lambda: clustered_mean(DATA[0], ONE_EACH, EVERY, ends=None),
    "kappas": lambda: on_classes(CLASSES[0], CLASSES[1], range(5), ONE_EACH, EVERY),
    "labels": lambda: on_labels(CLASSES[0] > 2, CLASSES[1] > 2, 2, ONE_EACH, EVERY),
    "alpha": lambda: krippendorff_alpha(
        CLASSES, level="ordinal", domain=range(5), source=ONE_EACH, weights=EVERY
    ),
    "alternative annotator": lambda: alternative_annotator(
        CLASSES[0], CLASSES[1:], ONE_EACH, weights=EVERY, closeness="rmse"
    ),
    "systems": lambda: soft_pairwise_accuracy(
        DATA[0], DATA[1], ONE_EACH // 5, ONE_EACH % 5, weights=EVERY
    ),
    "signed ranks": lambda: [
        log_p(CLASSES[0].astype(int) - 2, "asymptotic", EVERY, ONE_EACH),
        rank_biserial(CLASSES[0].astype(int) - 2, EVERY, ONE_EACH),
        mean_drop(DATA[0], DATA[1], ONE_EACH, EVERY),
    ],
}


@pytest.mark.parametrize("name", STATISTICS)
def test_no_statistic_has_an_array_of_sources_by_sources(name: str) -> None:
    """A byte for each pair of sources would be 144 MB."""
    tracemalloc.start()
    try:
        STATISTICS[name]()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < N_SOURCES**2 * 0.9
