"""Best length: what is left of agreement when a curve of length is taken out."""

from dataclasses import replace

import numpy as np
import pytest

from judgescope.statistics import best_length
from judgescope.statistics.best_length import (
    EQUALLY_LONG,
    FEW_TEXTS_FOR_A_CURVE,
    SPLINE,
    LengthRemoved,
    correlation_of_rest,
    folds_of,
    knots_of,
    natural_spline,
    pairs_without_length,
    without_length,
)
from judgescope.statistics.within_sources import normal_scores

SOURCES, TEXTS = 40, 4
SOURCE = np.repeat(np.arange(SOURCES), TEXTS)


def removed(x: np.ndarray, y: np.ndarray, lengths: np.ndarray) -> LengthRemoved:
    rest = without_length(normal_scores(x), normal_scores(y), lengths, SOURCE)
    assert isinstance(rest, LengthRemoved)
    return rest


def test_spline_is_cubic_between_knots_and_linear_beyond() -> None:
    knots = np.array([-1.0, 0.0, 0.5, 1.0])
    step = 1e-3
    for side in (-3.0, 3.0):
        points = side + step * np.array([-1.0, 0.0, 1.0])
        values = natural_spline(points, knots)
        assert np.abs(np.diff(values, n=2, axis=0)).max() < 1e-9
    assert natural_spline(np.zeros(1), knots).shape == (1, 3)


def test_the_number_of_knots_follows_that_of_texts() -> None:
    sizes = [knots_of(np.arange(float(n))).size for n in (79, 80, 399, 400)]
    assert sizes == [4, 8, 8, 16]


def test_the_curve_follows_a_kink_in_a_large_table() -> None:
    """What it misses is common to two judges that both like a middling length."""
    lengths = np.random.default_rng(3).normal(size=2000)
    curve = -np.abs(normal_scores(lengths))
    rest = without_length(curve, curve, lengths, np.arange(2000) // 5)
    assert isinstance(rest, LengthRemoved) and rest.judge_r2 > 0.9995


def test_judge_that_likes_a_single_length_is_a_function_of_length() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(20, 400, SOURCE.size).astype(float)
    curve = -np.abs(normal_scores(lengths))
    people = curve + rng.normal(size=SOURCE.size)
    rest = removed(curve, people, lengths)
    assert rest.judge_r2 > 0.95 and rest.is_length and not rest.quality_is_length
    assert removed(people, curve, lengths).quality_is_length


def test_judge_that_reads_the_text_agrees_without_length() -> None:
    rng = np.random.default_rng(2)
    lengths = rng.integers(20, 400, SOURCE.size).astype(float)
    quality = -np.abs(normal_scores(lengths)) + rng.normal(size=SOURCE.size)
    judge, people = (quality + 0.5 * rng.normal(size=SOURCE.size) for _ in range(2))
    rest = removed(judge, people, lengths)
    left = correlation_of_rest(rest, SOURCE, SOURCES, within=True)
    assert left.estimate.value is not None and left.estimate.value > 0.5
    assert (left.p_above(0.0) or 0.0) < 1e-6
    a, b = (
        v.reshape(SOURCES, TEXTS) - v.reshape(SOURCES, TEXTS).mean(axis=1)[:, None]
        for v in (rest.judge, rest.people)
    )
    expected = np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b))
    assert left.estimate.value == pytest.approx(expected, abs=1e-12)
    pooled = correlation_of_rest(rest, SOURCE, SOURCES, within=False)
    expected = np.corrcoef(rest.judge, rest.people)[0, 1]
    assert pooled.estimate.value == pytest.approx(expected, abs=1e-12)


def test_the_order_of_rows_and_of_sources_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(20, 400, SOURCE.size).astype(float)
    x, y = rng.normal(size=(2, SOURCE.size))
    mixed = rng.permutation(SOURCE.size)
    names = rng.permutation(SOURCES)
    rest = without_length(x, y, lengths, SOURCE)
    again = without_length(x[mixed], y[mixed], lengths[mixed], names[SOURCE][mixed])
    assert isinstance(rest, LengthRemoved) and isinstance(again, LengthRemoved)
    np.testing.assert_allclose(again.judge, rest.judge[mixed], atol=1e-9)


def test_no_source_is_in_the_fit_that_predicts_it() -> None:
    folds = folds_of(SOURCE, np.random.default_rng(4).normal(size=SOURCE.size))
    by_source = folds.reshape(SOURCES, TEXTS)
    assert (by_source == by_source[:, :1]).all()
    assert sorted(np.unique(folds)) == list(range(20))


def test_pairs_are_the_same_in_either_order() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.integers(20, 400, (2, 160)).astype(float)
    people = rng.choice([-1.0, 1.0], 160)
    judge = np.sign(-np.abs(first - 200) + np.abs(second - 200))
    rest = pairs_without_length(judge, people, first, second, SOURCE)
    turned = pairs_without_length(-judge, -people, second, first, SOURCE)
    assert isinstance(rest, LengthRemoved) and isinstance(turned, LengthRemoved)
    np.testing.assert_allclose(turned.judge, -rest.judge, atol=1e-9)
    assert rest.judge_r2 > 0.4


def test_equal_lengths_and_few_texts_have_no_curve() -> None:
    x = np.arange(40.0)
    source = np.arange(40)
    assert without_length(x, x, np.ones(40), source) == EQUALLY_LONG
    few = slice(0, 29)
    assert without_length(x[few], x[few], x[few], source[few]) == FEW_TEXTS_FOR_A_CURVE
    assert pairs_without_length(x, x, x, x, source) == EQUALLY_LONG


@pytest.mark.parametrize("different", [3, 400], ids=["few lengths", "many lengths"])
def test_fit_from_sums_of_folds_is_that_of_all_texts(
    different: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three lengths make columns of the curve that say the same."""
    rng = np.random.default_rng(4)
    lengths = rng.integers(0, different, 2000).astype(float)
    judge, people = rng.normal(size=(2, 2000)) + lengths / different
    source = np.arange(2000) // 4

    def left(in_parts: int) -> list[LengthRemoved | str]:
        spline = replace(SPLINE, in_parts=in_parts)
        monkeypatch.setattr(best_length, "SPLINE", spline)
        pairs = np.sign(judge), np.sign(people), lengths, lengths[::-1], source
        return [
            without_length(judge, people, lengths, source),
            pairs_without_length(*pairs),
        ]

    for complete, sums in zip(left(2000), left(1999), strict=True):
        assert isinstance(complete, LengthRemoved) and isinstance(sums, LengthRemoved)
        assert not np.array_equal(sums.judge, complete.judge)
        assert sums.judge == pytest.approx(complete.judge, abs=1e-11)
        assert sums.people == pytest.approx(complete.people, abs=1e-11)
        assert sums.judge_r2 == pytest.approx(complete.judge_r2, abs=1e-12)
