"""Preferences for systems on arrays: blocks, permutations and their p-values."""

import numpy as np
import pytest

from judgescope.statistics import systems
from judgescope.statistics.systems import SystemBlocks, system_blocks
from judgescope.statistics.within_sources import within_sources

NAN = float("nan")
SOURCES, SYSTEMS = 20, 6
SOURCE = np.repeat(np.arange(SOURCES), SYSTEMS)
SYSTEM = np.tile(np.arange(SYSTEMS), SOURCES)
BLOCKS = system_blocks(SOURCE, SYSTEM)


def drawn(blocks: SystemBlocks = BLOCKS) -> np.ndarray:
    return systems.permutations_of(blocks, np.random.default_rng(1))


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
    assert systems.p_systems(x, y, SOURCE, BLOCKS, some, pooled=False) == pytest.approx(
        wanted
    )


@pytest.mark.parametrize("pooled", [False, True])
def test_missing_cells_move_with_their_column(pooled: bool) -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=SOURCE.size)
    x = y + 0.3 * rng.normal(size=SOURCE.size)
    x[::7] = NAN
    assert systems.p_systems(x, y, SOURCE, BLOCKS, drawn(), pooled=pooled) <= 0.01
    noise = rng.normal(size=SOURCE.size)
    noise[::7] = NAN
    assert systems.p_systems(noise, y, SOURCE, BLOCKS, drawn(), pooled=pooled) > 0.05


@pytest.mark.parametrize("pooled", [False, True])
def test_correlations_of_what_both_have_are_pearsons(pooled: bool) -> None:
    """Sums of incomplete tables give what sums of complete ones give another way."""
    rng = np.random.default_rng(8)
    scores, people = rng.integers(1, 9, (2, 6, 5, 2)).astype(float)
    scores[0], people[1] = 3.0, 4.0  # one score for all, and one rating for all
    perms = np.stack([rng.permutation(5) for _ in range(20)])
    perms[0] = np.arange(5)

    def r(a: np.ndarray, b: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return systems._correlations(systems._sums_after(a, b, rows, pooled=pooled))

    complete = r(scores, people, perms)
    gap = np.full((6, 5, 1), NAN)
    padded = [np.concatenate([values, gap], axis=2) for values in (scores, people)]
    again = r(padded[0], padded[1], perms)
    np.testing.assert_allclose(again, complete, atol=1e-12)
    scores[2, 1, 0] = people[3, 2, 1] = NAN
    both = ~(np.isnan(scores) | np.isnan(people))
    first = r(scores, people, perms[:1])[0]
    a, b = (np.where(both, values, NAN) for values in (scores, people))
    axes = (0, 1, 2) if pooled else (1, 2)
    a, b = (values - np.nanmean(values, axis=axes, keepdims=True) for values in (a, b))
    assert first == pytest.approx(np.corrcoef(a[both], b[both])[0, 1], abs=1e-12)


def test_any_statistic_of_moved_columns_is_that_of_the_permuted_table() -> None:
    """Two texts of each system and source, some of which are not there."""
    rng = np.random.default_rng(6)
    holds = rng.random(2 * SOURCE.size) > 0.1
    source, system = (np.repeat(each, 2)[holds] for each in (SOURCE, SYSTEM))
    y = rng.normal(size=source.size)
    x = y + rng.normal(size=source.size)
    scores = np.append(x, NAN)

    def r(text: np.ndarray) -> np.ndarray:
        return np.array(
            [within_sources(scores[row], y, source, SOURCES).rows[0] for row in text]
        )

    some = drawn()[:60]
    blocks = system_blocks(source, system)
    wanted = systems.p_systems(x, y, source, blocks, some, pooled=False)
    assert systems.p_moved(r, source, system, some) == pytest.approx(wanted, abs=0.07)
    size = SOURCE.size
    x, y = x[:size], y[:size]
    scores = np.append(x, NAN)
    source = SOURCE
    wanted = systems.p_systems(x, y, SOURCE, BLOCKS, some, pooled=False)
    assert systems.p_moved(r, SOURCE, SYSTEM, some) == wanted


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
        false += systems.p_systems(x, y, SOURCE, BLOCKS, every, pooled=False) <= 0.025
    assert false / studies <= 0.025 + 3 * (0.025 * 0.975 / studies) ** 0.5


def test_sources_that_share_two_systems_are_a_single_block() -> None:
    first = [0, 1, 2, 3]
    second = [3, 4, 5, 6]  # one system in common links nothing
    source = np.repeat(np.arange(24), 4)
    system = np.concatenate([np.tile(first, 12), np.tile(second, 12)])
    blocks = system_blocks(source, system)
    assert [block.size for block in blocks.permuted] == [4, 4]
    assert (blocks.columns, blocks.permutations) == (8, 576)
    linked = system.copy()
    linked[:4] = [2, 3, 4, 5]  # shares two systems with either set
    assert [block.size for block in system_blocks(source, linked).permuted] == [7]


def test_sources_of_two_systems_are_linked_by_one() -> None:
    source = np.repeat(np.arange(30), 2)
    system = np.tile([0, 1, 1, 2, 2, 0], 10)
    assert [block.size for block in system_blocks(source, system).permuted] == [3]


def test_permutations_stay_within_blocks_and_are_all_of_few() -> None:
    source = np.repeat(np.arange(20), 3)
    system = np.concatenate([np.tile([0, 1, 2], 10), np.tile([3, 4, 5], 10)])
    perms = drawn(system_blocks(source, system))
    assert perms.shape == (36, 6) and len(np.unique(perms, axis=0)) == 36
    assert perms[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert (perms[:, :3] < 3).all()


def test_small_blocks_stay_and_many_of_their_texts_stop_the_test() -> None:
    source = np.repeat(np.arange(49), 3)
    system = np.concatenate([np.tile([0, 1, 2], 40), np.tile([3, 4, 5], 9)])
    few = system_blocks(source, system)
    columns = few.column[:3]
    assert [sorted(block.tolist()) for block in few.permuted] == [sorted(columns)]
    assert not few.why_not
    many = system_blocks(source[30:], system[30:])
    assert many.why_not == "too many texts are in small blocks of systems"


def test_sparse_blocks_are_not_permuted() -> None:
    source = np.repeat(np.arange(30), 2)
    system = np.stack([np.arange(30) % 6, (np.arange(30) + 1) % 6], axis=1).ravel()
    sparse = system_blocks(source, system)
    assert sparse.why_not == "fewer than half of the cells (source, system) have a text"
    assert not systems.can_be_asked(sparse, 1)


@pytest.mark.parametrize(
    ("sizes", "family"),
    [
        ([4], 0),
        ([5], 3),
        ([6], 18),
        ([8], 125),
        ([4, 4], 14),
        ([4, 5], 72),
        ([3, 4], 3),
    ],
)
def test_a_null_is_asked_only_of_families_that_can_pass(
    sizes: list[int], family: int
) -> None:
    assert systems.largest_family(sizes) == family
    names = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    source = np.concatenate(
        [np.repeat(np.arange(20) + 20 * k, m) for k, m in enumerate(sizes)]
    )
    blocks = system_blocks(
        source, np.concatenate([np.tile(name, 20) for name in names])
    )
    assert not family or systems.can_be_asked(blocks, family)
    assert not systems.can_be_asked(blocks, family + 1)


def test_blocks_are_permuted_as_a_single_table_is_that_has_them_side_by_side() -> None:
    """Joined sets with systems of their own: p from an explicit loop."""
    rng = np.random.default_rng(9)
    source = np.repeat(np.arange(24), 3)
    system = np.concatenate([np.tile([0, 1, 2], 12), np.tile([3, 4, 5], 12)])
    y = rng.normal(size=source.size)
    x = y + rng.normal(size=source.size)
    blocks = system_blocks(source, system)
    perms = drawn(blocks)

    def r(perm: np.ndarray) -> float:
        moved = x.reshape(24, 3).copy()
        moved[:12] = moved[:12][:, perm[:3]]
        moved[12:] = moved[12:][:, perm[3:] - 3]
        return float(within_sources(moved.ravel(), y, source, 24).rows[0])

    values = np.array([r(perm) for perm in perms])
    wanted = np.mean(values >= values[0] - 1e-10)
    p_systems = systems.p_systems(x, y, source, blocks, perms, pooled=False)
    assert p_systems == pytest.approx(wanted)


def test_votes_beyond_systems_are_residuals_of_two_effects() -> None:
    rng = np.random.default_rng(10)
    first, second = rng.integers(0, 4, (2, 60))
    second = np.where(first == second, (second + 1) % 4, second)
    source = np.repeat(np.arange(15), 4)
    people = rng.choice([-1.0, 1.0], 60)
    judge = np.where(rng.random(60) < 0.7, people, -people)
    result = systems.votes_beyond_systems(judge, people, (first, second), source, 15)
    design = np.eye(4)[first] - np.eye(4)[second]
    left = [
        v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (judge, people)
    ]
    expected = left[0] @ left[1] / np.sqrt((left[0] ** 2).sum() * (left[1] ** 2).sum())
    assert result.estimate.value == pytest.approx(expected, abs=1e-12)
    turned = systems.votes_beyond_systems(-judge, -people, (second, first), source, 15)
    assert turned.estimate.value == pytest.approx(expected, abs=1e-12)
