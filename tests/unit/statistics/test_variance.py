"""Variance components of ratings, reliability, ceilings, and plans for systems."""

import numpy as np
import pytest

from judgescope.statistics.intervals import deletions
from judgescope.statistics.variance import (
    ONE_RATING,
    ONE_TEXT,
    Components,
    person_components,
    place_components,
    with_people,
)
from judgescope.statistics.variance_of_systems import (
    rated_systems,
    system_reliability,
    systems_of_means,
)

# Six texts of four raters: table 2 of Shrout, Fleiss 1979, with the intraclass
# correlations of its table 4.
SHROUT = np.array(
    [
        [9.0, 6, 8, 7, 10, 6],
        [2.0, 1, 4, 1, 5, 2],
        [5.0, 3, 6, 2, 6, 4],
        [8.0, 2, 8, 6, 9, 7],
    ]
)
NAN = np.nan


def components(
    ratings: np.ndarray, *, places: bool = False, **more: bool
) -> Components:
    result = place_components if places else person_components
    source = np.arange(ratings.shape[1])
    parts = result(ratings, source, None, **more)
    assert isinstance(parts, Components)
    return parts


@pytest.mark.parametrize(
    ("k", "icc_2", "icc_3", "icc_1"),
    [(1, 0.2898, 0.7148, 0.1657), (4, 0.6201, 0.9093, 0.4428)],
)
def test_published_intraclass_correlations(
    k: int, icc_2: float, icc_3: float, icc_1: float
) -> None:
    persons = components(SHROUT)
    assert persons.reliability(k)[0] == pytest.approx(icc_3, abs=5e-5)
    assert persons.dependability(k)[0] == pytest.approx(icc_2, abs=5e-5)
    places = components(SHROUT, places=True)
    assert places.reliability(k)[0] == pytest.approx(icc_1, abs=5e-5)


def test_a_complete_table_has_the_mean_squares_of_its_analysis_of_variance() -> None:
    k, n = SHROUT.shape
    texts, raters = SHROUT.mean(axis=0), SHROUT.mean(axis=1)
    ms_t = k * texts.var(ddof=1)
    ms_r = n * raters.var(ddof=1)
    rest = SHROUT - texts - raters[:, None] + SHROUT.mean()
    ms_e = (rest**2).sum() / ((n - 1) * (k - 1))
    parts = components(SHROUT)
    assert parts.rater is not None
    collected = [float(part[0]) for part in (parts.text, parts.rater, parts.rest)]
    assert collected == pytest.approx([(ms_t - ms_e) / k, (ms_r - ms_e) / n, ms_e])


@pytest.mark.parametrize("places", [False, True])
@pytest.mark.parametrize("within", [False, True])
def test_deleting_a_source_is_computing_without_it(places: bool, within: bool) -> None:
    rng = np.random.default_rng(2)
    source = np.repeat(np.arange(12), 3)
    ratings = rng.normal(size=(3, 36)) + rng.normal(size=36)
    ratings[0, rng.random(36) < 0.3] = NAN
    result = place_components if places else person_components
    every = result(ratings, source, deletions(12), within=within)
    kept = source != 4
    codes = np.unique(source[kept], return_inverse=True)[1]
    fewer = result(ratings[:, kept], codes, None, within=within)
    assert isinstance(every, Components) and isinstance(fewer, Components)
    for name in ("text", "rater", "rest"):
        rows, alone = getattr(every, name), getattr(fewer, name)
        if rows is not None:
            assert rows[5] == pytest.approx(alone[0], abs=1e-12)


@pytest.mark.parametrize("places", [False, True])
def test_planted_components_are_detected(places: bool) -> None:
    rng = np.random.default_rng(3)
    n, k = 3000, 4
    source = np.repeat(np.arange(n // 5), 5)
    of_source = rng.normal(size=n // 5)[source]
    milder = np.array([-0.6, -0.2, 0.2, 0.6])  # variance .267, ddof 1
    ratings = of_source + 0.8 * rng.normal(size=n) + 0.5 * rng.normal(size=(k, n))
    # Of places every text has its own raters.
    mild = milder[rng.integers(4, size=(k, n))] if places else milder[:, None]
    ratings += mild
    ratings[:, ::7] = np.where(np.arange(k)[:, None] < 2, NAN, ratings[:, ::7])
    result = place_components if places else person_components
    pooled = result(ratings, source, None)
    within = result(ratings, source, None, within=True)
    assert isinstance(pooled, Components) and isinstance(within, Components)
    assert pooled.text[0] == pytest.approx(1.64, abs=0.1)
    assert within.text[0] == pytest.approx(0.64, abs=0.05)
    if places:
        assert pooled.rest[0] == pytest.approx(0.25 + 0.2, abs=0.03)
    else:
        assert pooled.rest[0] == pytest.approx(0.25, abs=0.02)
        assert within.rest[0] == pytest.approx(0.25, abs=0.02)
        assert pooled.rater is not None
        assert pooled.rater[0] == pytest.approx(0.267, abs=0.03)


def test_milder_raters_change_dependability_alone() -> None:
    moved = SHROUT + np.array([[0.0], [9], [0], [0]])
    first, second = components(SHROUT), components(moved)
    assert first.reliability(4) == pytest.approx(second.reliability(4))
    assert second.dependability(4)[0] < first.dependability(4)[0]


@pytest.mark.parametrize("places", [False, True])
def test_components_that_do_not_exist_have_a_reason(places: bool) -> None:
    result = place_components if places else person_components
    values = np.array([[1.0, 2.0, 3.0]])
    assert result(values, np.arange(3), None) == ONE_RATING
    assert result(SHROUT, np.arange(6), None, within=True) == ONE_TEXT


def test_a_variance_below_0_is_0_with_a_note() -> None:
    ratings = np.array([[1.0, 2, 3, 4] * 5, [4.0, 3, 2, 1] * 5])
    parts = person_components(ratings, np.arange(20), deletions(20))
    assert isinstance(parts, Components)
    text = parts.variances()["var_text"].estimate
    assert text.value == 0 and text.ci_low == 0 and "below 0" in text.note
    assert parts.of_people(2)["ceiling_true"].estimate.value == 0
    people = ratings.mean(axis=0) + np.arange(20) % 4
    result = with_people(people, people, np.arange(20), parts, None)
    assert "do not tell texts apart" in result["correlation_true"].estimate.note


def test_equal_ratings_have_no_reliability() -> None:
    parts = components(np.ones((3, 8)))
    ceiling = parts.of_people(3)["ceiling_true"].estimate
    assert ceiling.value is None and "all values are equal" in ceiling.note


@pytest.mark.simulation
@pytest.mark.parametrize("correlation", [0.6, 0.8, 0.95])
def test_the_noise_of_raters_is_taken_out(correlation: float) -> None:
    """The interval of a true correlation holds it in .93 of studies or more, also where
    many of them have a ratio beyond 1.
    """
    rng = np.random.default_rng(4)
    n, k, studies = 120, 3, 400
    source = np.repeat(np.arange(n // 3), 3)
    hits = 0
    plain = []
    for _ in range(studies):
        truth = rng.normal(size=n)
        noise = (1 - correlation**2) ** 0.5 * rng.normal(size=n)
        judge = correlation * truth + noise
        ratings = truth + rng.normal(size=(k, n))
        parts = person_components(ratings, source, deletions(n // 3))
        assert isinstance(parts, Components)
        people = ratings.mean(axis=0)
        result = with_people(judge, people, source, parts, deletions(n // 3))
        true = result["correlation_true"].estimate
        assert true.ci_low is not None and true.ci_high is not None
        hits += true.ci_low <= correlation <= true.ci_high
        plain.append(result["correlation_people"].rows[0])
    assert hits / studies >= 0.93
    assert float(np.mean(plain)) == pytest.approx(
        correlation * (1 / (1 + 1 / 3)) ** 0.5, abs=0.02
    )


def test_a_correlation_beyond_the_ceiling_is_1_with_a_note() -> None:
    parts = components(SHROUT)
    people = SHROUT.mean(axis=0)
    result = with_people(people, people, np.arange(6), parts, None)
    true = result["correlation_true"].estimate
    assert true.value == 1 and "≥ 1: 1 over 0.954" in true.note
    turned = with_people(-people, people, np.arange(6), parts, None)
    assert turned["correlation_true"].estimate.value == -1


def test_a_constant_judge_has_a_reason() -> None:
    parts = components(SHROUT)
    people = SHROUT.mean(axis=0)
    result = with_people(np.ones(6), people, np.arange(6), parts, None)
    assert {each.estimate.note for each in result.values()} == {"constant judge"}


def test_components_of_systems_are_those_that_were_planted() -> None:
    rng = np.random.default_rng(5)
    n, m, k = 400, 12, 3
    system = rng.normal(size=(1, m, 1))
    taste = 0.4 * rng.normal(size=(1, m, k))
    cells = 0.9 * rng.normal(size=(n, m, 1))
    table = system + taste + cells + rng.normal(size=(n, 1, 1))
    table = table + 0.7 * rng.normal(size=(n, m, k)) + rng.normal(size=(1, 1, k))
    parts = rated_systems(table)
    assert parts.by_rater is not None
    assert parts.system[0] == pytest.approx(system.var(ddof=1), abs=0.15)
    assert parts.by_source[0] == pytest.approx(0.81, abs=0.05)
    assert parts.rest[0] == pytest.approx(0.49, abs=0.03)
    assert parts.by_rater[0] == pytest.approx(0.16, abs=0.08)
    without = rated_systems(np.delete(table, 7, axis=0))
    for name in ("system", "by_source", "by_rater", "rest"):
        rows = getattr(parts, name)
        assert rows[8] == pytest.approx(getattr(without, name)[0], abs=1e-10)
    means = systems_of_means(table.mean(axis=2), 0.49, k)
    assert means.by_source[0] == pytest.approx(0.81, abs=0.05)
    # With these raters their common taste counts as a difference of systems.
    assert means.system[0] > parts.system[0]
    fewer = systems_of_means(np.delete(table, 7, axis=0).mean(axis=2), 0.49, k)
    assert means.system[8] == pytest.approx(fewer.system[0], abs=1e-10)


def test_more_sources_and_raters_are_more_reliable_and_limited_by_taste() -> None:
    rng = np.random.default_rng(6)
    table = rng.normal(size=(1, 5, 1)) + rng.normal(size=(30, 5, 2))
    parts = rated_systems(table + 0.5 * rng.normal(size=(1, 5, 2)))
    values = [parts.reliability(n, 2)[0] for n in (10, 100, 10_000)]
    assert values == sorted(values) and values[-1] < 1
    estimate = system_reliability(parts, 30, 2).estimate
    assert estimate.ci_low is not None and estimate.n == 30
    assert "with these raters" not in estimate.method


def test_a_table_that_is_not_complete_is_an_error() -> None:
    with pytest.raises(ValueError, match="not complete"):
        rated_systems(np.full((3, 3, 3), NAN))
    with pytest.raises(ValueError, match="too few"):
        systems_of_means(np.ones((1, 4)), 1.0, 2)
