"""Wanted and unwanted drops: by hand, by the paper's table, and whatever the order."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deleted import proportion
from judgescope.statistics.confusion import (
    VotedEffect,
    confusion,
    expectations,
    items_needed,
    match_votes,
    mean_drops,
    outcomes,
    p_equivalence,
    pair_weights,
    vote_consistency,
    winners,
)
from judgescope.statistics.intervals import deletions
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import DrawnRows

NAN = float("nan")


def test_by_hand() -> None:
    deltas = np.array([[2.0, 1.0, 1.0, 0.0, 9.0]])
    result = confusion(
        deltas, np.array([1, 1, 0, 0, 0], bool), np.array([0, 0, 1, 1, 0], bool)
    )
    assert [float(each[0]) for each in result] == [
        1.5,
        0.5,
        pytest.approx(1 / 3),
        3.5 / 4,
    ]


def test_the_mean_drop_of_a_cell_is_over_the_items_it_has() -> None:
    drops = np.array([[1.0, NAN], [3.0, 4.0], [NAN, 2.0]])
    rows = DrawnRows(np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]))
    result = mean_drops(drops, rows)
    assert result[:, 1].tolist() == [3.0, 4.0, 2.0]
    assert result[:2, 0].tolist() == [2.0, 5 / 3] and np.isnan(result[2, 0])


def test_what_is_missing_or_empty_is_undefined_and_never_zero() -> None:
    some, none = np.array([True, False]), np.array([False, False])
    other = ~some
    deltas = np.array([[1.0, NAN], [NAN, 1.0], [0.0, 1.0]])
    result = confusion(deltas, some, other)
    assert np.isnan(
        [result.auc[0], result.auc[1], result.s_f[0], result.s_t[1], result.ratio[2]]
    ).all()
    assert result.auc[2] == 0.0
    empty = confusion(deltas, none, some)
    assert np.isnan([*empty.s_t, *empty.ratio, *empty.auc]).all()


def test_equivalence_by_hand() -> None:
    d = np.array([0.1, -0.1, 0.2, -0.2, 0.0])
    error = d.std(ddof=1) / math.sqrt(5)
    from scipy.stats import t

    assert p_equivalence(d, 0.2) == pytest.approx(t.sf(0.2 / error, 4))
    assert p_equivalence(d + 0.3, 0.2) == pytest.approx(t.sf(-0.1 / error, 4))
    assert (
        p_equivalence(np.zeros(10), 0.2) == 0.0
        and p_equivalence(np.ones(10), 0.2) == 1.0
    )
    assert p_equivalence(np.zeros(9), 0.2) is None
    assert (
        p_equivalence(np.zeros(1), 0.2) is None
        and items_needed(np.zeros(1), 0.2) is None
    )
    with pytest.raises(ValueError, match="above 0"):
        p_equivalence(d, 0)


def test_the_items_needed_have_the_power_that_is_promised() -> None:
    rng = np.random.default_rng(3)
    needed = items_needed(rng.normal(0, 1, 4000), 0.4)
    assert needed is not None and 50 <= needed <= 58  # (1.645 + 1.282)² / .16 = 53.5
    shown = [
        (p_equivalence(rng.normal(0, 1, needed), 0.4) or 0) <= 0.05 for _ in range(600)
    ]
    assert 0.75 <= np.mean(shown) <= 0.86
    assert items_needed(np.zeros(5), 0.2) == 2


@pytest.mark.parametrize("seed", range(3))
def test_at_the_margin_equivalence_is_claimed_at_most_one_time_in_twenty(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    claimed = [
        (p_equivalence(rng.normal(0.2, 0.5, 60), 0.2) or 0) <= 0.05 for _ in range(800)
    ]
    assert np.mean(claimed) <= 0.07


@given(
    st.lists(st.floats(-4, 4), min_size=4, max_size=12),
    st.integers(0, 10**6),
    st.floats(0.1, 5),
)
def test_order_and_scale_of_cells_do_not_matter(
    deltas: list[float], seed: int, by: float
) -> None:
    row = np.round(np.array([deltas]), 6)
    wanted = np.arange(row.size) % 2 == 0
    order = np.random.default_rng(seed).permutation(row.size)
    result = confusion(row, wanted, ~wanted)
    turned = confusion(row[:, order], wanted[order], ~wanted[order])
    assert np.allclose(np.stack(result), np.stack(turned), equal_nan=True)
    scaled = confusion(row * by, wanted, ~wanted)
    assert np.allclose(scaled.s_t, by * result.s_t) and scaled.auc == pytest.approx(
        result.auc
    )
    swapped = confusion(row, ~wanted, wanted)
    assert swapped.auc == pytest.approx(1 - result.auc)


def match_vote_all(*arguments: Any) -> Estimate:
    return match_votes(*arguments)["match_vote_all"]


def match_vote_vote(*arguments: Any) -> Estimate:
    return match_votes(*arguments)["match_vote_vote"]


def counts(*rows: str) -> np.ndarray:
    """Return the votes of rows such as AACD."""
    return np.array(
        [[row.count(option) for option in "ABCD"] for row in rows], dtype=np.int64
    )


def codes(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("AACD", 2 / 4),
        ("AAAA", 1),
        ("DDDD", 0),
        ("DDDA", 1 / 4),
        ("ABC", 1 / 3),
        ("B", 1),
    ],
)
def test_the_consistency_of_a_pair_by_hand(row: str, value: float) -> None:
    assert vote_consistency(counts(row), codes(0), None).value == pytest.approx(value)


def test_the_consistency_of_pairs_is_their_mean() -> None:
    by_statistic = vote_consistency(
        counts("AACD", "CCCC", "", "ABDD"), codes(0, 1, 2, 3), None
    )
    assert by_statistic.value == pytest.approx((2 / 4 + 1 + 1 / 4) / 3)
    assert (by_statistic.n, by_statistic.n_missing, by_statistic.n_tied) == (3, 1, 1)
    nothing = vote_consistency(counts("", ""), codes(0, 1), None)
    assert (nothing.value, nothing.note, nothing.n_missing) == (None, "no votes", 2)


def test_a_pair_has_a_single_vote_and_ties_share_it() -> None:
    result = winners(counts("AACD", "AACC", "ABC", "DDDA", "DDDD", ""))
    assert result.tolist() == [
        [6, 0, 0],
        [3, 0, 3],
        [2, 2, 2],
        [6, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]


def test_outcomes_by_hand() -> None:
    rows = ("AAC", "ACC", "ABC", "BBC", "BBCC", "ADDD", "DDD", "AACC", "AABBC")
    expected = [
        VotedEffect.DROPS,
        VotedEffect.STAYS,
        VotedEffect.UNDECIDED,
        VotedEffect.STAYS,
        VotedEffect.STAYS,
        VotedEffect.DROPS,
        VotedEffect.UNDECIDED,
        VotedEffect.UNDECIDED,
        VotedEffect.UNDECIDED,
    ]
    assert outcomes(counts(*rows)).tolist() == expected


def test_a_single_vote_a_pair_and_all_votes_together_may_differ() -> None:
    """Two of three pairs narrowly find a drop; of all votes most find none."""
    votes, pair, cell = counts("AAC", "AAC", "CCC"), codes(0, 1, 2), codes(0, 0, 0)
    drop = np.array([1.0])
    assert match_vote_vote(votes, pair, cell, drop, None).value == 1
    assert match_vote_all(votes, pair, cell, drop, None).value == 0
    assert match_vote_all(votes, pair, cell, 1 - drop, None).value == 1


def test_an_undecided_cell_is_no_match_and_one_without_expectation_is_missing() -> None:
    votes = counts("AAA", "CCC", "AAC", "AC", "DD", "BBB")
    cell = codes(0, 1, 2, 3, 4, 5)
    expected = np.array([1, 0, 0, 1, 0, NAN])
    for match in (match_vote_all, match_vote_vote):
        result = match(votes, cell, cell, expected, None)
        assert result.value == pytest.approx(2 / 5)
        assert (result.n, result.n_missing, result.n_tied) == (5, 1, 2)


def test_a_match_rate_of_nothing_says_why() -> None:
    each = codes(0)
    result = match_vote_all(counts("A"), each, each, np.array([NAN]), None)
    assert result.note == "no perturbation has an expected effect"
    assert (
        match_vote_all(counts(""), each, each, np.array([1.0]), None).note == "no votes"
    )


def test_pairs_are_drawn_within_their_perturbation() -> None:
    stratum = codes(0, 1, 0, 1, 1, 2)
    weights = pair_weights(np.random.default_rng(1), stratum)
    assert weights.shape == (1000, 6)
    for code, size in ((0, 2), (1, 3), (2, 1)):
        assert (weights[:, stratum == code].sum(axis=1) == size).all()
    assert len({tuple(row) for row in weights.tolist()}) > 10


def test_intervals_are_over_pairs() -> None:
    rng = np.random.default_rng(3)
    votes = rng.multinomial(4, [0.6, 0.1, 0.2, 0.1], size=60)
    pair, cell = (
        np.repeat(np.arange(30), 2),
        np.tile([0, 1], 30) + 2 * np.repeat([0, 1, 2], 20),
    )
    weights = pair_weights(rng, np.repeat([0, 1, 2], 10))
    agreed = vote_consistency(votes, pair, deletions(30))
    shares = (votes[:, :3].max(axis=1) / votes.sum(axis=1)).reshape(30, 2).sum(axis=1)
    expected = proportion(shares.tolist(), [2] * 30)
    assert (agreed.ci_low, agreed.ci_high) == pytest.approx(expected)
    assert agreed.method.endswith("over 30 pairs")
    result = match_vote_all(votes, pair, cell, np.array([1.0, 0, 1, 1, 1, 0]), weights)
    assert (
        result.value is not None
        and result.ci_low is not None
        and result.ci_high is not None
    )
    assert result.ci_low <= result.value <= result.ci_high
    how = (
        "bootstrap over 30 pairs, 1000 resamples, percentile: a majority is not smooth"
    )
    assert result.method == how
    few = vote_consistency(votes[:6], pair[:6], deletions(3))
    assert (few.ci_low, few.note) == (None, "no interval: 3 pairs")


VOTE = st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from("ABCD"))


@pytest.mark.simulation
@given(st.lists(VOTE, min_size=1), st.randoms(use_true_random=False))
def test_the_order_of_voters_and_pairs_does_not_matter(
    votes: list[tuple[int, int, str]], random: object
) -> None:
    """Whatever order votes come in, and whatever numbers pairs have."""

    def numbers(
        order: list[tuple[int, int, str]], name: list[int]
    ) -> list[float | None]:
        samples = list(dict.fromkeys((pair, cell) for pair, cell, _ in order))
        rows = [
            "".join(option for pair, cell, option in order if (pair, cell) == sample)
            for sample in samples
        ]
        pair = codes(*(name[pair] for pair, _ in samples))
        cell = codes(*(cell for _, cell in samples))
        result = (counts(*rows), pair, cell, np.array([1.0, 0.0, NAN]), None)
        values = (
            match_vote_all(*result),
            match_vote_vote(*result),
            vote_consistency(*result[:2], None),
        )
        return [
            each.value if each.value is None else round(each.value, 12)
            for each in values
        ]

    shuffled, names = list(votes), list(range(4))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(names)  # type: ignore[attr-defined]
    assert numbers(shuffled, names) == numbers(votes, list(range(4)))


@given(st.lists(st.text("ABC", min_size=1, max_size=5), min_size=1, max_size=6))
def test_who_cannot_decide_lowers_consistency_and_changes_no_outcome(
    rows: list[str],
) -> None:
    pair = np.arange(len(rows))
    more = [row + "D" for row in rows]
    before, after = (
        vote_consistency(counts(*each), pair, None).value for each in (rows, more)
    )
    assert before is not None and after is not None and after < before
    assert outcomes(counts(*rows)).tolist() == outcomes(counts(*more)).tolist()


def row(human: str, expected: str, aspect: str = "fluency") -> dict[str, str]:
    return {
        "perturbation": "typos",
        "aspect": aspect,
        "human": human,
        "expected": expected,
    }


def test_expectations_by_hand() -> None:
    rows = [
        row("1", "1", "a"),
        row("0", "0", "b"),
        row("1", "0", "c"),
        row("", "1", "d"),
    ]
    result = expectations([*rows, row("0", "", "e"), row("", "", "f")])
    assert result.drops == [("typos", "a")]
    assert result.stays == [("typos", "b"), ("typos", "e")]
    assert [aspect for _, aspect in result.excluded] == ["c", "d", "f"]
    assert (result.agreement.value, result.agreement.n, result.agreement.n_missing) == (
        0.5,
        4,
        2,
    )
    assert expectations([row("1", "")]).agreement.value is None
    with pytest.raises(ValueError, match="1, 0 or empty"):
        expectations([row("yes", "1")])
