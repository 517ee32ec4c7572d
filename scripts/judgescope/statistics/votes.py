"""People's votes on pairs of texts: do they agree, and what does a change do to a text?

A row of votes counts, for one pair under one criterion, how many people chose each of OPTIONS.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.dot import dot
from judgescope.statistics.means import share
from judgescope.statistics.resampling import (
    RESAMPLES,
    source_weights,
    whole_and_resamples,
    with_percentiles,
)
from judgescope.statistics.result import NO_EXPECTATION, NO_VOTES, Estimate

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Cell = tuple[str, str]
"""A perturbation and an aspect."""
OPTIONS: Final = ("A", "B", "C", "D")
"""The original is better; the changed text is better; both are as good; cannot decide."""
DECIDED: Final = 3
"""So many of the options can win: D never does, but it is a vote."""
DROPS, STAYS, UNDECIDED = 1, 0, -1
NOT_SMOOTH: Final = "a majority jumps"
"""Why the interval of a share of outcomes is a bootstrap's."""


def pair_weights(
    rng: np.random.Generator, stratum: Counts, resamples: int = RESAMPLES
) -> NDArray[np.int64]:
    """Return w[b, p] = how often pair p is drawn in resample b, each stratum by itself.

    stratum (pairs,), the perturbation of each pair as a code from 0: every resample has as many
    pairs of it as there are. Shape (resamples, pairs). Stratified bootstrap, Efron 1979.
    """
    found = np.zeros((resamples, stratum.size), dtype=np.int64)
    for code in np.unique(stratum):
        own = np.flatnonzero(stratum == code)
        found[:, own] = source_weights(rng, own.size, resamples)
    return found


def vote_consistency(votes: Counts, pair: Counts, weights: Counts | None) -> Estimate:
    """Return the mean over rows of max(A, B, C) / (A + B + C + D).

    votes (rows, 4), pair (rows,) the code of each row's pair, weights (pairs, pairs), `deletions`,
    or None for no interval. The votes A, A, C, D give 2 / 4. Range 0 to 1. Rows without a vote are
    missing; rows in which several options come first are tied. Paper 001, appendix C.3.2.
    """
    given = votes.sum(axis=1) > 0
    votes, source = votes[given], pair[given]
    most = votes[:, :DECIDED].max(axis=1, initial=0)
    tied = (votes[:, :DECIDED] == most[:, None]).sum(axis=1) > 1
    missing = int((~given).sum())
    if not source.size:
        return Estimate.undefined(NO_VOTES, n_missing=missing)
    shares = most / votes.sum(axis=1)
    found = share(shares, np.ones(source.size), source, weights, missing, units="pairs")
    return replace(found, n_tied=int(tied.sum()))


def match_vote_vote(
    votes: Counts, pair: Counts, cell: Counts, expected: Floats, weights: Counts | None
) -> Estimate:
    """Return the share of cells where the votes of pairs have the outcome that is expected.

    Each pair has one vote, for its most frequent option (`winners`); a cell's outcome is that of
    its pairs' votes together. All else as in `match_vote_all`. Paper 001, table 18.
    """
    return _match(winners(votes), votes, pair, cell, expected, weights)


def match_vote_all(
    votes: Counts, pair: Counts, cell: Counts, expected: Floats, weights: Counts | None
) -> Estimate:
    """Return the share of cells where all votes together have the outcome that is expected.

    A cell is a perturbation and an aspect; DROPS is expected of it or STAYS. Its outcome is DROPS
    if A > max(B, C) in sum over its rows, STAYS if A < max(B, C), and else undecided: no match.
    votes (rows, 4), pair and cell (rows,) codes from 0, expected (cells,) with NaN where nothing
    is (those cells are missing; undecided ones are tied), weights (resamples, pairs) or None for
    no interval. Range 0 to 1. Paper 001, appendix C.3.2 and table 18.
    """
    return _match(votes[:, :DECIDED], votes, pair, cell, expected, weights)


def winners(votes: Counts) -> Counts:
    """Return each row's one vote, for its most frequent option of A, B and C, in sixths.

    Options that come first together share it equally (the paper does not say who wins a tie); a
    row of D alone has none. votes (rows, 4). Shape (rows, 3); each row sums to 6 or 0.
    """
    decided = votes[:, :DECIDED]
    first = (decided == decided.max(axis=1, keepdims=True, initial=0)) & (decided > 0)
    return np.asarray(first * (6 // np.maximum(first.sum(axis=1, keepdims=True), 1)))


def outcomes(totals: Counts | Floats) -> Counts:
    """Return DROPS where A > max(B, C), STAYS where A < max(B, C), UNDECIDED where A equals it.

    totals (..., 3 or more), the votes for A, B and C. Shape (...).
    """
    better, others = totals[..., 0], np.maximum(totals[..., 1], totals[..., 2])
    return np.select([better > others, better < others], [DROPS, STAYS], UNDECIDED)


def _match(
    ballots: Counts,
    votes: Counts,
    pair: Counts,
    cell: Counts,
    expected: Floats,
    weights: Counts | None,
) -> Estimate:
    """Return the share of cells whose outcome by `ballots` (rows, 3) is the expected one."""
    whole = whole_and_resamples(pair, weights)
    held = np.column_stack([ballots, votes.sum(axis=1)])
    shape = whole.shape[1], expected.size
    place, size = pair * expected.size + cell, shape[0] * shape[1]
    of_pair = [np.bincount(place, weights=v, minlength=size).reshape(shape) for v in held.T]
    totals = np.stack([dot(whole, one) for one in of_pair], axis=-1)  # (1 + resamples, cells, 4)
    asked = (totals[..., DECIDED] > 0) & ~np.isnan(expected)
    found = outcomes(totals)
    rows = _ratio((asked & (found == expected)).sum(axis=1), asked.sum(axis=1))
    n, missing = int(asked[0].sum()), int(np.isnan(expected).sum())
    if not n:
        why = NO_EXPECTATION if missing else NO_VOTES
        return Estimate.undefined(why, n_missing=missing)
    tied = int((asked[0] & (found[0] == UNDECIDED)).sum())
    estimate = Estimate(float(rows[0]), n=n, n_missing=missing, n_tied=tied)
    if rows.size == 1:
        return estimate
    pairs = np.unique(pair[votes.sum(axis=1) > 0]).size
    return with_percentiles(estimate, rows[1:], pairs, NOT_SMOOTH, units="pairs")


def _ratio(part: Counts | Floats, whole: Counts | Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # a resample may hold nothing that was voted on
        return np.asarray(part / whole, dtype=np.float64)


class Expectations(NamedTuple):
    """What every perturbation should do to every aspect, and how far people agree with it.

    `drops` (S_T) and `stays` (S_F) are the cells of which a judge's score should fall, or not.
    """

    drops: list[Cell]
    stays: list[Cell]
    excluded: list[Cell]
    agreement: Estimate


def expectations(rows: Iterable[Mapping[str, str]]) -> Expectations:
    """Return S_T = {human = expected = 1}, S_F = {human = expected = 0}, and all other cells.

    Each row is a cell: `perturbation`, `aspect`, `human` and `expected`, each of these 1 (drops),
    0 (does not) or empty. Where nothing was expected people decide alone; where people are
    undecided the cell is excluded. The agreement is (|S_T| + |S_F|) / n over the cells of which
    something is expected. Paper 001, 3 and table 21. ValueError for other values.
    """
    sets: dict[str, list[Cell]] = {"1": [], "0": [], "": []}
    agreed = n = missing = 0
    for row in rows:
        human, expected = row["human"], row["expected"]
        if {human, expected} - set(sets):
            raise ValueError(f"human and expected are 1, 0 or empty, not {human!r}, {expected!r}")
        both = human if expected in ("", human) else ""
        sets[both].append((row["perturbation"], row["aspect"]))
        n, missing = n + (expected != ""), missing + (expected == "")
        agreed += expected != "" and both != ""
    if n:
        agreement = Estimate(agreed / n, n=n, n_missing=missing)
    else:
        agreement = Estimate.undefined(NO_EXPECTATION, n_missing=missing)
    return Expectations(sets["1"], sets["0"], sets[""], agreement)
