"""What a judge must beat, on arrays: chance, length, places within a source, tastes for
systems.
"""

import numpy as np
import pytest

from judgescope.statistics import nulls
from judgescope.statistics.classes import kappas
from judgescope.statistics.within_sources import within_sources

NAN = float("nan")
SOURCES, SYSTEMS = 20, 6
SOURCE = np.repeat(np.arange(SOURCES), SYSTEMS)
SYSTEM = np.tile(np.arange(SYSTEMS), SOURCES)


def drawn(m: int = SYSTEMS) -> np.ndarray:
    return nulls.system_permutations(m, np.random.default_rng(1))


def test_ties_are_half_and_a_missing_score_is_no_pair() -> None:
    better, worse = np.array([2.0, 1, 1, NAN]), np.array([1.0, 1, 2, 0])
    credit, pairs = nulls.half_credits(better, worse, np.array([0, 0, 1, 1]), 3)
    np.testing.assert_array_equal(credit, [0.75, 0.0, NAN])
    np.testing.assert_array_equal(pairs, [2, 1, 0])


def test_dealt_ratings_leave_the_source_out_and_follow_the_length() -> None:
    gold, length = np.array([1.0, 2, 3, 4, 5]), np.array([10.0, 20, 30, 40, 50])
    found = nulls.dealt(gold, length, np.arange(5))
    np.testing.assert_array_equal(
        found, [2, 3, 4, 5, 4]
    )  # its own rating is never there
    np.testing.assert_array_equal(
        nulls.dealt(gold, -length, np.arange(5)), [5, 5, 4, 2, 1]
    )
    changed = gold.copy()
    changed[2] = 99  # a text's own rating changes nothing of what it is dealt
    assert nulls.dealt(changed, length, np.arange(5))[2] == found[2]


def test_a_judge_that_knows_only_the_source_has_no_small_p_within() -> None:
    rng = np.random.default_rng(3)
    level = rng.integers(0, 5, SOURCES)[SOURCE]
    gold = np.clip(level + rng.integers(-1, 2, SOURCE.size), 0, 4)
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)
    same = level.copy()
    assert nulls.p_within(gold, same, SOURCE, np.random.default_rng(1), distance) == 1.0
    assert (
        nulls.p_within(gold, gold, SOURCE, np.random.default_rng(1), distance) < 0.001
    )


@pytest.mark.simulation
def test_permuted_columns_as_an_explicit_loop_has_them() -> None:
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=SOURCE.size) for _ in range(2))
    x += y
    every = drawn()
    table = x.reshape(SOURCES, SYSTEMS)

    def r(perm: np.ndarray) -> float:
        value = within_sources(
            table[:, perm].ravel(), y, SOURCE, SOURCES
        ).estimate.value
        assert value is not None
        return value

    some = every[:40]
    observed = r(np.arange(SYSTEMS))
    wanted = np.mean([r(perm) >= observed - 1e-10 for perm in some])
    assert nulls.p_systems(x, y, SOURCE, SYSTEM, some, pooled=False) == pytest.approx(
        wanted
    )


@pytest.mark.parametrize("pooled", [False, True])
def test_missing_cells_move_with_their_column(pooled: bool) -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=SOURCE.size)
    x = y + 0.3 * rng.normal(size=SOURCE.size)
    x[::7] = NAN
    assert nulls.p_systems(x, y, SOURCE, SYSTEM, drawn(), pooled=pooled) <= 0.01
    noise = rng.normal(size=SOURCE.size)
    noise[::7] = NAN
    assert nulls.p_systems(noise, y, SOURCE, SYSTEM, drawn(), pooled=pooled) > 0.05


@pytest.mark.parametrize("pooled", [False, True])
def test_correlations_of_what_both_have_are_pearsons(pooled: bool) -> None:
    """The sums of incomplete tables give what the sums of complete ones give by another
    way.
    """
    rng = np.random.default_rng(8)
    scores, people = rng.integers(1, 9, (2, 6, 5, 2)).astype(float)
    scores[0], people[1] = 3.0, 4.0  # one score for all, and one rating for all
    some = drawn(5)[:20]
    complete = nulls._permuted(scores, people, some, pooled=pooled)
    gap = np.full((6, 5, 1), NAN)
    padded = [np.concatenate([values, gap], axis=2) for values in (scores, people)]
    found = nulls._permuted(padded[0], padded[1], some, pooled=pooled)
    np.testing.assert_allclose(found, complete, atol=1e-12)
    scores[2, 1, 0] = people[3, 2, 1] = NAN
    both = ~(np.isnan(scores) | np.isnan(people))
    first = nulls._permuted(scores, people, some[:1], pooled=pooled)[0]
    a, b = (np.where(both, values, NAN) for values in (scores, people))
    axes = (0, 1, 2) if pooled else (1, 2)
    a, b = (values - np.nanmean(values, axis=axes, keepdims=True) for values in (a, b))
    assert first == pytest.approx(np.corrcoef(a[both], b[both])[0, 1], abs=1e-12)


def test_any_statistic_of_moved_columns_is_that_of_the_permuted_table() -> None:
    """Two texts of each system and source, some of which are not there."""
    rng = np.random.default_rng(6)
    there = rng.random(2 * SOURCE.size) > 0.1
    source, system = (np.repeat(one, 2)[there] for one in (SOURCE, SYSTEM))
    y = rng.normal(size=source.size)
    x = y + rng.normal(size=source.size)
    scores = np.append(x, NAN)

    def r(text: np.ndarray) -> np.ndarray:
        return np.array(
            [within_sources(scores[row], y, source, SOURCES).rows[0] for row in text]
        )

    some = drawn()[:60]
    wanted = nulls.p_systems(x, y, source, system, some, pooled=False)
    assert nulls.p_moved(r, source, system, some) == pytest.approx(wanted, abs=0.07)
    whole = SOURCE.size
    x, y = x[:whole], y[:whole]
    scores = np.append(x, NAN)
    source, system = SOURCE, SYSTEM
    wanted = nulls.p_systems(x, y, source, system, some, pooled=False)
    assert nulls.p_moved(r, source, system, some) == wanted


def test_rows_of_credit_and_of_kappa_are_those_of_one_judge() -> None:
    rng = np.random.default_rng(7)
    source = rng.permutation(np.repeat(np.arange(5), 8))
    better, worse = np.round(rng.normal(size=(2, 3, source.size)))
    better[0, ::3] = NAN
    values = [
        nulls.half_credits(*pair, source, 5)[0]
        for pair in zip(better, worse, strict=True)
    ]
    np.testing.assert_allclose(
        nulls.mean_credits(better, worse, source), [np.nanmean(one) for one in values]
    )
    gold, mine = rng.integers(0, 4, source.size), rng.integers(-1, 4, (3, source.size))
    for own, row in zip(nulls.linear_kappas(gold, mine, 4), mine, strict=True):
        counts = np.zeros((1, 4, 4))
        np.add.at(counts[0], (gold[row >= 0], row[row >= 0]), 1)
        assert own == pytest.approx(kappas(counts)[0])


@pytest.mark.simulation
def test_a_taste_for_systems_passes_its_test_no_more_often_than_it_may() -> None:
    false, studies = 0, 400
    every = drawn()
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        quality, taste = (
            rng.normal(size=SYSTEMS)[SYSTEM],
            rng.normal(size=SYSTEMS)[SYSTEM],
        )
        y = quality + rng.normal(size=SOURCE.size)
        x = taste + rng.normal(size=SOURCE.size)
        false += nulls.p_systems(x, y, SOURCE, SYSTEM, every, pooled=False) <= 0.025
    assert false / studies <= 0.025 + 3 * (0.025 * 0.975 / studies) ** 0.5


def test_labels_are_dealt_alike_whether_sources_have_one_text_or_several() -> None:
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 25):
        gold, order = (
            rng.integers(0, 3, n).astype(float),
            rng.integers(0, 6, n).astype(float),
        )
        gold[rng.random(n) < 0.2] = np.nan
        source = rng.permutation(n)
        one_by_one = np.full(n, np.nan)
        for text in np.flatnonzero(~np.isnan(gold)):
            others = np.flatnonzero(~np.isnan(gold) & (np.arange(n) != text))
            if others.size:
                below = int((order[others] < order[text]).sum())
                upto = int((order[others] <= order[text]).sum())
                place = min((below + upto) // 2, others.size - 1)
                one_by_one[text] = np.sort(gold[others])[place]
        np.testing.assert_array_equal(nulls.dealt(gold, order, source), one_by_one)
