"""Preferences: agreement of votes, McNemar by source, and strengths of systems."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binomtest

from deleted import jackknife_t, proportion
from judgescope.statistics.intervals import deletions
from judgescope.statistics.preferences import (
    Comparisons,
    Strengths,
    agreement_of_people,
    majority,
    mcnemar,
    strengths,
    vote_agreement,
)
from judgescope.statistics.result import REASONS

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NAN = float("nan")
TIES, DECIDED = "vote_agreement_ties", "vote_agreement_decided"

# three voters, four pairs; the second voter does not vote on the last
PEOPLE = np.array([[1.0, 1, 0, -1], [1, -1, 0, NAN], [0, 1, -1, -1]])
JUDGE = np.array([1.0, 1, 0, -1])


def values(message: Any) -> Any:
    return {
        name: (
            number.estimate.value,
            number.estimate.n,
            number.estimate.n_missing,
            number.estimate.n_tied,
        )
        for name, number in message.items()
    }


def test_votes_agree_under_both_rules_by_hand() -> None:
    # of the pairs 2/3, 2/3, 2/3 (two ties), 2/2 of the votes; without ties 2/2, 2/3,
    # none, 2/2
    result = vote_agreement(JUDGE, PEOPLE, np.arange(4), None)
    assert values(result) == {
        TIES: (pytest.approx(8 / 11), 11, 0, 4),
        DECIDED: (pytest.approx(6 / 7), 7, 0, 4),
    }
    # not the mean over pairs, which is (2/3 + 2/3 + 2/3 + 1) / 4
    assert result[TIES].estimate.value != pytest.approx(0.75)


def test_people_agree_under_both_rules_by_hand() -> None:
    # pairs of voters: 1 of 3, 1 of 3, 1 of 3, 1 of 1; without ties 1 of 1, 1 of 3,
    # none, 1 of 1
    assert values(agreement_of_people(PEOPLE, np.arange(4), None)) == {
        TIES: (pytest.approx(4 / 10), 10, 0, 5),
        DECIDED: (pytest.approx(3 / 5), 5, 0, 5),
    }
    (each, other) = agreement_of_people(PEOPLE[:1], np.arange(4), None).values()
    assert (each.estimate.value, each.estimate.note) == (
        other.estimate.value,
        REASONS.nothing,
    )


def test_two_orders_that_differ_are_a_tie_and_a_lost_one_is_missing() -> None:
    first, second = (
        np.array([1.0, 1, 0, -1, NAN, 1]),
        np.array([1.0, -1, 1, -1, 1, NAN]),
    )
    assert majority(np.stack([first, second])).tolist() == [1, 0, 0, -1, 1, 1]
    result = vote_agreement(np.array([NAN, 1.0, 0, -1]), PEOPLE, np.arange(4), None)
    assert values(result)[TIES] == (pytest.approx(6 / 8), 8, 3, 3)


def test_the_majority_exceeds_each_other_choice() -> None:
    votes = np.array([[1.0, 1, 0, NAN], [1, -1, 0, NAN], [0, 0, -1, NAN]])
    assert majority(votes) == pytest.approx([1, 0, 0, NAN], nan_ok=True)


def test_the_interval_rests_on_the_sources_of_the_vote_pairs() -> None:
    rng = np.random.default_rng(3)
    people = rng.choice([1.0, 0, -1, NAN], (3, 40))
    judge, source = rng.choice([1.0, 0, -1], 40), np.repeat(np.arange(10), 4)
    estimate = vote_agreement(judge, people, source, deletions(10))[TIES].estimate
    hits, cases = np.zeros(10), np.zeros(10)
    for voter, pair in product(range(3), range(40)):
        if not np.isnan(people[voter, pair]):
            hits[source[pair]] += people[voter, pair] == judge[pair]
            cases[source[pair]] += 1
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        proportion(hits.tolist(), cases.tolist())
    )


votes = st.sampled_from([1.0, 0.0, -1.0, NAN])
tables = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(votes, min_size=n, max_size=n), min_size=3, max_size=3)
)


@given(tables)
def test_turning_every_pair_round_changes_no_agreement(
    table: list[list[float]],
) -> None:
    judge, people = np.array(table[0]), np.array(table[1:])
    source = np.zeros(judge.size, np.int64)
    turn = np.where(np.arange(judge.size) % 2, -1.0, 1.0)
    assert values(vote_agreement(judge, people, source, None)) == values(
        vote_agreement(judge * turn, people * turn, source, None)
    )
    assert values(agreement_of_people(people, source, None)) == values(
        agreement_of_people(people[::-1] * turn, source, None)
    )


# --- McNemar --------------------------------------------------------------------------


@pytest.mark.parametrize(("won", "lost"), [(12, 30), (0, 7), (5, 5), (3, 1)])
def test_of_a_single_case_a_source_it_is_the_exact_test(won: int, lost: int) -> None:
    first = np.repeat([1.0, 0, 1, 0], [won, lost, 9, 4])
    second = np.repeat([0.0, 1, 1, 0], [won, lost, 9, 4])
    result = mcnemar(first, second, np.arange(first.size))
    assert result.value == pytest.approx(binomtest(won, won + lost).pvalue)
    assert (result.n, result.n_tied) == (first.size, 13)


hits = st.sampled_from([0.0, 0.5, 1.0, NAN])


@given(st.lists(st.tuples(hits, hits, st.integers(0, 7)), min_size=1, max_size=30))
def test_it_counts_all_signs_of_what_the_sources_sum_to(
    cases: list[tuple[float, float, int]],
) -> None:
    first, second, source = np.array(cases).T
    known = ~np.isnan(first - second)
    sums = [float((first - second)[known & (source == s)].sum()) for s in range(8)]
    patterns = [
        abs(sum(s * d for s, d in zip(signs, sums, strict=True))) for signs in SIGNS
    ]
    result = mcnemar(first, second, source.astype(np.int64))
    assert result.value == pytest.approx(
        np.mean([p >= abs(sum(sums)) for p in patterns])
    )
    assert result.n_missing == int((~known).sum())
    assert result.value == mcnemar(second, first, source.astype(np.int64)).value


SIGNS = list(product((1, -1), repeat=8))


@pytest.mark.parametrize(("k", "least"), [(5, "0.0625"), (1, "1"), (0, "1")])
def test_few_sources_that_differ_are_reported(k: int, least: str) -> None:
    first = np.repeat([1.0, 0.0], [k, 4])
    result = mcnemar(first, np.zeros(k + 4), np.arange(k + 4))
    assert result.value == float(least)
    assert result.note == f"only {k} sources differ, so p cannot be below {least}"
    assert not mcnemar(np.ones(6), np.zeros(6), np.arange(6)).note


def test_hits_are_nothing_half_or_one() -> None:
    with pytest.raises(ValueError, match="hits are 0, 1/2 or 1"):
        mcnemar(np.array([0.3]), np.array([0.0]), np.array([0]))


# --- strengths ------------------------------------------------------------------------


def comparisons(*rows: tuple[int, int, float, int, int]) -> Comparisons:
    """Return votes: (first, second, vote, shown, source)."""
    first, second, vote, shown, source = np.array(rows, dtype=float).T
    first, second, shown, source = np.array(
        [first, second, shown, source], dtype=np.int64
    )
    return Comparisons(first, second, vote, shown, source)


def some(votes: Comparisons, chosen: Any) -> Comparisons:
    """Return some of the votes."""
    columns: list[Any] = [column[chosen] for column in votes]
    return Comparisons(*columns)


def drawn(seed: int, systems: int, sources: int, *, places: bool = True) -> Comparisons:
    """Return votes on all pairs of systems in both orders, in every source."""
    rng, rows = np.random.default_rng(seed), []
    truth = np.linspace(0.8, -0.8, systems)
    for source, a, b, shown in product(
        range(sources), range(systems), range(systems), (1, -1)
    ):
        if a < b:
            d = truth[a] - truth[b] + 0.5 * shown * places
            odds = np.array([np.exp(d / 2), 0.7, np.exp(-d / 2)])
            vote = rng.choice([1.0, 0, -1], p=odds / odds.sum())
            turn = 1 if rng.random() < 0.5 else -1
            pair = (a, b) if turn == 1 else (b, a)
            rows.append((*pair, turn * vote, turn * shown * places, source))
    return comparisons(*rows)


def numbers(message: Strengths) -> Any:
    log_strengths = [float(system.rows[0]) for system in message.systems]
    position = 0.0 if message.position is None else float(message.position.rows[0])
    return log_strengths, float(message.ties.rows[0]), position


def test_two_systems_have_the_strengths_of_their_wins() -> None:
    rows = [
        (0, 1, vote, 0, 0) for vote, n in ((1, 8), (-1, 2), (0, 6)) for _ in range(n)
    ]
    result = strengths(comparisons(*rows), 2, None)
    assert numbers(result)[:2] == (
        pytest.approx([np.log(4) / 2, -np.log(4) / 2]),
        pytest.approx(6 / (8 * 2) ** 0.5),
    )
    assert result.position is None
    assert [system.estimate.n for system in result.systems] == [16, 16]
    assert result.ties.estimate.n_tied == 6


@pytest.mark.parametrize("seed", range(4))
def test_expected_wins_ties_and_first_places_are_those_that_occurred(seed: int) -> None:
    """At the maximum of this likelihood, and nowhere else (it is concave)."""
    votes = drawn(seed, 4, 8)
    strength, ties, position = numbers(strengths(votes, 4, None))
    log_odds = np.array(strength)[votes.first] - np.array(strength)[votes.second]
    d = log_odds + position * votes.shown
    odds = np.stack([np.exp(d / 2), np.full(d.shape, ties), np.exp(-d / 2)])
    won, tied, lost = odds / odds.sum(axis=0)
    for code in range(4):
        gain = (votes.first == code).astype(float) - (votes.second == code)
        assert (gain * (won - lost)).sum() == pytest.approx(
            (gain * votes.vote).sum(), abs=1e-6
        )
    assert tied.sum() == pytest.approx((votes.vote == 0).sum())
    assert (votes.shown * (won - lost)).sum() == pytest.approx(
        (votes.shown * votes.vote).sum(), abs=1e-6
    )
    assert sum(strength) == pytest.approx(0, abs=1e-9)


def test_the_interval_is_a_jackknife_of_deleted_sources() -> None:
    votes = drawn(5, 3, 12)
    result = strengths(votes, 3, deletions(12))
    without = [
        numbers(strengths(some(votes, votes.source != s), 3, None)) for s in range(12)
    ]
    assert result.position is not None
    for number, deleted in [
        *(
            (result.systems[code], [each[0][code] for each in without])
            for code in range(3)
        ),
        (result.ties, [each[1] for each in without]),
        (result.position, [each[2] for each in without]),
    ]:
        assert number.estimate.value is not None
        wanted = jackknife_t(number.estimate.value, deleted)
        assert (number.estimate.ci_low, number.estimate.ci_high) == pytest.approx(
            wanted, rel=1e-6
        )


CYCLE_OF_TIES = [(0, 1, 1, 0, 0), (1, 2, 0, 0, 1), (2, 0, 0, 0, 2)]


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 1, 1, 0, 0), (1, 0, 1, 0, 1), (0, 2, 1, 0, 2)],  # the third never wins
        [(0, 1, 1, 0, 0), (1, 0, 1, 0, 1)],  # a third is never compared
        [(0, 1, 0, 0, 0), (1, 2, 0, 0, 1)],  # nothing but ties
        CYCLE_OF_TIES,  # joined strongly, yet ever more ties say it better
        [
            (a, b, 1, 1, 0) for a in range(3) for b in range(3) if a != b
        ],  # the first place wins
        [(0, 1, v, 1, 0) for v in (1, -1)]
        + [(1, 2, v, 1, 0) for v in (1, -1)],  # one order
    ],
)
def test_without_a_finite_maximum_there_is_a_reason(rows: list[Any]) -> None:
    result = strengths(comparisons(*rows), 3, None)
    for system in (*result.systems, result.ties):
        assert (system.estimate.value, system.estimate.note) == (
            None,
            (
                "no finite estimate: a group of systems never beats the "
                "others (a tie counts both ways), or the text in one "
                "position always wins"
            ),
        )


def test_a_vote_more_each_way_gives_the_cycle_of_ties_a_maximum() -> None:
    result = strengths(comparisons(*CYCLE_OF_TIES, (1, 0, 1, 0, 3)), 3, None)
    assert all(system.estimate.value is not None for system in result.systems)


def test_without_ties_or_votes_that_count() -> None:
    rows = [(0, 1, 1, 0, 0), (1, 0, 1, 0, 1), (1, 0, NAN, 0, 1)]
    result = strengths(comparisons(*rows), 2, None)
    assert numbers(result)[:2] == (pytest.approx([0, 0], abs=1e-9), 0.0)
    assert (result.ties.estimate.n, result.ties.estimate.n_missing) == (2, 1)
    nothing = strengths(comparisons((0, 1, NAN, 0, 0)), 2, None)
    assert nothing.systems[0].estimate.note == (
        "no finite estimate: a group of systems never beats the "
        "others (a tie counts both ways), or the text in one "
        "position always wins"
    )


def test_a_source_without_which_systems_are_not_joined_is_named() -> None:
    rows = [(0, 1, v, 0, s) for s in range(12) for v in (1, -1, 0)]
    result = strengths(
        comparisons(*rows, (0, 2, 1, 0, 3), (2, 0, 1, 0, 3)), 3, deletions(12)
    )
    assert "depends on source #3" in result.systems[0].estimate.note


@pytest.mark.parametrize("seed", range(3))
def test_turned_pairs_and_renamed_systems_have_the_same_strengths(seed: int) -> None:
    votes = drawn(seed, 4, 6)
    rng = np.random.default_rng(seed)
    names, turn = rng.permutation(4), rng.choice([1, -1], votes.vote.size)
    first, second = (
        names[np.where(turn == sign, votes.first, votes.second)] for sign in (1, -1)
    )
    other = Comparisons(
        first, second, votes.vote * turn, votes.shown * turn, votes.source
    )
    mixed = some(other, slice(None, None, -1))
    plain, renamed = (numbers(strengths(v, 4, None)) for v in (votes, mixed))
    assert [renamed[0][code] for code in names] == pytest.approx(plain[0], abs=1e-8)
    assert renamed[1:] == pytest.approx(plain[1:], abs=1e-8)


def has_one_maximum(votes: Comparisons, systems: int) -> bool:
    """Return whether a linear program finds no direction along which no vote gets less
    likely.

    Parameters: log strengths but the last, and δ and log ν where there are places and
    ties (Albert, Anderson 1984); a direction that changes nothing leaves the maximum
    undecided, too.
    """
    strength = np.eye(systems)[:, :-1] - np.eye(systems)[:, [-1]].T[:, :-1]
    strength[-1] = -1
    d = strength[votes.first] - strength[votes.second]
    nothing = np.zeros((votes.vote.size, 1))
    first = np.hstack([d / 2, votes.shown[:, None] / 2, nothing])
    utility = np.stack(
        [np.hstack([0 * d, nothing, nothing + 1]), first, -first], axis=1
    )
    won = votes.vote.astype(int) % 3
    keep = [True] * (systems - 1) + [
        bool(votes.shown.any()),
        bool((votes.vote == 0).any()),
    ]
    utility = utility[:, 0 if keep[-1] else 1 :][..., keep]
    chosen = utility[np.arange(won.size), won - (not keep[-1])]
    ahead = (chosen[:, None] - utility).reshape(-1, sum(keep))
    if np.linalg.matrix_rank(ahead) < ahead.shape[1]:
        return False
    ends = np.repeat([0.0, 1.0], len(ahead))
    result = linprog(
        -ahead.sum(axis=0), np.vstack([-ahead, ahead]), ends, bounds=(None, None)
    )
    return bool(result.fun > -1e-9)


@pytest.mark.simulation
def test_strengths_are_defined_given_a_single_finite_maximum() -> None:
    rng, defined = np.random.default_rng(70), 0
    for _ in range(600):
        systems, n = int(rng.integers(2, 5)), int(rng.integers(2, 25))
        first = rng.integers(0, systems, n)
        second = (first + rng.integers(1, systems, n)) % systems
        vote = rng.choice([1.0, 0, -1], n, p=rng.dirichlet([1, 0.7, 1]))
        shown = rng.choice([1, -1], n) * int(rng.integers(0, 2))
        votes = Comparisons(first, second, vote, shown, np.zeros(n, np.int64))
        estimate = strengths(votes, systems, None).systems[0].estimate
        assert (estimate.value is not None) == has_one_maximum(votes, systems), votes
        defined += estimate.value is not None
    assert 150 < defined < 450
