"""The test of two judges by the correlation within sources, and of their labels,
against permutations that are written out.
"""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from judgescope.statistics.intervals import deletions
from judgescope.statistics.labels import (
    balanced_accuracies,
    balanced_accuracy_over_resamples,
    on_labels,
)
from judgescope.statistics.permutation import (
    PERMUTATIONS,
    Permute,
    balanced_accuracy_test,
    flips_of,
    within_sources_test,
)
from judgescope.statistics.within_sources import over_resamples, within_sources

NAN = float("nan")
SOURCES, SYSTEMS = 5, 3
SOURCE, SYSTEM = (index.ravel() for index in np.indices((SOURCES, SYSTEMS)))
N = SOURCE.size


def every_swap(units: int) -> np.ndarray:
    """All assignments but the one that swaps nothing."""
    return np.array(list(product((False, True), repeat=units)))[1:]


def study(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two judges and people's ratings of the same texts, with ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(1, 6, N).astype(float)
    x1 = np.clip(np.round(y + rng.normal(size=N)), 1, 5)
    x2 = np.clip(np.round(y + 2 * rng.normal(size=N)), 1, 5)
    return x1, x2, y


def centred(values: np.ndarray) -> np.ndarray:
    """Values minus the mean of their source."""
    means = np.array([values[number == SOURCE].mean() for number in range(SOURCES)])
    return np.asarray(values - means[SOURCE])


def scores(values: np.ndarray) -> np.ndarray:
    """Normal scores of scipy's ranks, minus the mean of their source."""
    return centred(norm.ppf(rankdata(values) / (N + 1)))


def r(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def gap(a1: np.ndarray, a2: np.ndarray, b: np.ndarray) -> float:
    """The difference of both correlations of differences within sources."""
    return r(centred(a1), b) - r(centred(a2), b)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("permute", ["inputs", "systems", "both"])
def test_every_permutation_written_out_gives_the_same_p(
    permute: Permute, seed: int
) -> None:
    x1, x2, y = study(seed)
    unit = {"inputs": SOURCE, "systems": SYSTEM, "both": np.arange(N)}[permute]
    flips = every_swap(int(unit.max()) + 1)
    if permute == "both":
        flips = flips_of(np.random.default_rng(seed), N, 300)
    a1, a2, b = scores(x1), scores(x2), scores(y)
    observed = gap(a1, a2, b)
    others = []
    for swap in flips:
        swapped = swap[unit]
        others.append(gap(np.where(swapped, a2, a1), np.where(swapped, a1, a2), b))
    extreme = np.abs(others) >= abs(observed) - 1e-10
    greater = np.array(others) >= observed - 1e-10
    result = within_sources_test(x1, x2, y, SOURCE, unit, flips)
    assert result.difference == pytest.approx(observed)
    assert result.p == (extreme.sum() + 1) / (len(flips) + 1)
    assert result.p_greater == (greater.sum() + 1) / (len(flips) + 1)
    assert result.n == N


def test_ranks_are_not_made_anew_for_a_permutation() -> None:
    """Judges on scales of 1-5 and 10-50 are tested as if both were on one scale."""
    x1, x2, y = study(1)
    flips = every_swap(SOURCES)
    test = within_sources_test(x1, x2, y, SOURCE, SOURCE, flips)
    assert within_sources_test(x1, 10 * x2, y, SOURCE, SOURCE, flips) == test
    assert within_sources_test(np.exp(x1), x2, y, SOURCE, SOURCE, flips) == test


def test_p_does_not_depend_on_the_order_of_judges_sources_and_texts() -> None:
    x1, x2, y = study(2)
    flips = flips_of(np.random.default_rng(3), SOURCES, 200)
    test = within_sources_test(x1, x2, y, SOURCE, SOURCE, flips)
    turned = within_sources_test(x2, x1, y, SOURCE, SOURCE, flips)
    assert turned.difference == pytest.approx(-test.difference)
    assert turned.p == test.p
    order = np.random.default_rng(4).permutation(N)
    code = SOURCE[order]
    again = within_sources_test(x1[order], x2[order], y[order], code, code, flips)
    assert again[1:] == test[1:]
    names = np.array([3, 0, 4, 1, 2])
    renamed = np.empty_like(flips)
    renamed[:, names] = flips
    code = names[SOURCE]
    assert within_sources_test(x1, x2, y, code, code, renamed)[1:] == test[1:]


def test_judges_are_ranked_among_the_texts_that_count_for_both() -> None:
    x1, x2, y = study(5)
    x1[0], x2[4], y[7] = NAN, NAN, NAN
    x1[12], x2[13] = NAN, NAN  # the third text of this source is alone
    flips = every_swap(SOURCES)
    test = within_sources_test(x1, x2, y, SOURCE, SOURCE, flips)
    kept = ~np.isnan(x1 + x2 + y) & (SOURCE != 4)
    code = SOURCE[kept]
    part = within_sources_test(x1[kept], x2[kept], y[kept], code, code, flips)
    assert part == test
    assert test.n == kept.sum() == N - 6
    values = [
        within_sources(each[kept], y[kept], SOURCE[kept], SOURCES).rows[0]
        for each in (x1, x2)
    ]
    assert test.difference == pytest.approx(values[0] - values[1])


def test_a_judge_that_only_knows_the_source_agrees_with_nobody() -> None:
    x1, _, y = study(6)
    flips = every_swap(SOURCES)
    by_source = SOURCE.astype(float)
    test = within_sources_test(x1, by_source, y, SOURCE, SOURCE, flips)
    assert test.difference == pytest.approx(
        within_sources(x1, y, SOURCE, SOURCES).rows[0]
    )
    assert 0 < test.p <= 1
    assert within_sources_test(x1, x1, y, SOURCE, SOURCE, flips).p == 1


@pytest.mark.parametrize("which", [0, 1, 2])
def test_without_a_correlation_there_is_no_p(which: int) -> None:
    data = list(study(7))
    data[which] = np.full(N, 3.0)
    x1, x2, y = data
    test = within_sources_test(x1, x2, y, SOURCE, SOURCE, every_swap(SOURCES))
    assert np.isnan(test.difference) and np.isnan(test.p)
    missing = np.full(N, NAN)
    nothing = within_sources_test(missing, x2, y, SOURCE, SOURCE, every_swap(SOURCES))
    assert np.isnan(nothing.p) and nothing.n == 0


def test_resamples_keep_ranks_and_repeat_sources() -> None:
    x, _, y = study(8)
    draws = np.random.default_rng(9).multinomial(SOURCES, np.full(SOURCES, 0.2), 20)
    rows = over_resamples(x, y, SOURCE, draws)
    a, b = scores(x), scores(y)
    assert rows[0] == pytest.approx(r(a, b))
    for row, draw in zip(rows[1:], draws, strict=True):
        repeated = np.repeat(np.arange(N), draw[SOURCE])
        assert row == pytest.approx(r(a[repeated], b[repeated]))
    deleted = over_resamples(x, y, SOURCE, deletions(SOURCES))
    np.testing.assert_allclose(deleted, within_sources(x, y, SOURCE, SOURCES).rows)
    assert np.isnan(over_resamples(np.full(N, 1.0), y, SOURCE, draws)).all()


# --- labels ---------------------------------------------------------------------------


def labelled(seed: int, labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People's labels of the texts and those of two judges; some are missing."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, labels, N).astype(float)
    gold[:labels] = np.arange(labels)
    judges = []
    for share in (0.9, 0.6):
        guess = rng.integers(0, labels, N).astype(float)
        judges.append(np.where(rng.random(N) < share, gold, guess))
    judges[0][5], judges[1][9] = NAN, NAN
    return gold, judges[0], judges[1]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("permute", ["inputs", "systems"])
def test_every_swap_of_labels_written_out_gives_the_same_p(
    permute: str, labels: int
) -> None:
    gold, x1, x2 = labelled(1, labels)
    unit = {"inputs": SOURCE, "systems": SYSTEM}[permute]
    flips = every_swap(int(unit.max()) + 1)
    result = balanced_accuracy_test(gold, x1, x2, labels, unit, flips)
    both = ~np.isnan(x1 + x2)
    gaps = []
    for swap in (np.zeros(flips.shape[1], dtype=bool), *flips):
        first = np.where(swap[unit], x2, x1)[both]
        second = np.where(swap[unit], x1, x2)[both]
        each, other = balanced_accuracies(gold[both], np.stack([first, second]), labels)
        gaps.append(each - other)
    extreme = np.abs(gaps) >= abs(gaps[0]) - 1e-10
    assert result.difference == pytest.approx(gaps[0])
    assert result.p == extreme.mean() and result.n == N - 2


def test_without_one_of_two_labels_there_is_no_p() -> None:
    _, x1, x2 = labelled(2, 2)
    test = balanced_accuracy_test(np.ones(N), x1, x2, 2, SOURCE, every_swap(SOURCES))
    assert np.isnan(test.p)


@pytest.mark.parametrize("labels", [2, 3])
def test_balanced_accuracy_on_resamples_repeats_sources(labels: int) -> None:
    gold, x, _ = labelled(3, labels)
    draws = np.random.default_rng(4).multinomial(SOURCES, np.full(SOURCES, 0.2), 20)
    rows = balanced_accuracy_over_resamples(gold, x, labels, SOURCE, draws)
    each = on_labels(gold, x, labels, SOURCE, None)["balanced_accuracy"]
    assert rows[0] == pytest.approx(each.estimate.value)
    given = ~np.isnan(x)
    for row, draw in zip(rows[1:], draws, strict=True):
        shares = []
        for k in range(labels):
            texts = draw[SOURCE] * (gold == k) * given
            right = (texts * (x == k)).sum()
            shares.append(right / texts.sum() if texts.any() else NAN)
        assert row == pytest.approx(np.mean(shares), nan_ok=True)


# --- false alarms and power -----------------------------------------------------------


def significant(
    agreements: tuple[float, float], studies: int, sources: int, texts: int, seed: int
) -> float:
    """Share of studies with p ≤ .05; judges rate quality plus noise, from 1 to 5."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(sources), texts)
    result = 0
    for _ in range(studies):
        difficulty = rng.normal(size=sources)[source]
        quality = rng.normal(size=source.size)
        y = np.clip(np.round(3 + quality + 0.5 * difficulty), 1, 5)
        judges = []
        for agreement in agreements:
            noise = rng.normal(size=source.size)
            outcome = agreement * quality + np.sqrt(1 - agreement**2) * noise
            judges.append(np.clip(np.round(3 + outcome + 0.5 * difficulty), 1, 5))
        flips = flips_of(rng, sources, PERMUTATIONS)
        x1, x2 = judges
        test = within_sources_test(x1, x2, y, source, source, flips)
        result += test.p <= 0.05
    return result / studies


@pytest.mark.simulation
@pytest.mark.parametrize(("sources", "texts"), [(20, 5), (50, 3), (100, 16)])
def test_equal_judges_differ_in_a_single_study_of_twenty(
    sources: int, texts: int
) -> None:
    studies = 300
    limit = 0.05 + 2 * np.sqrt(0.05 * 0.95 / studies)
    assert significant((0.5, 0.5), studies, sources, texts, sources) <= limit


@pytest.mark.simulation
def test_a_better_judge_is_detected() -> None:
    assert significant((0.55, 0.33), 200, 100, 5, 7) >= 0.9
