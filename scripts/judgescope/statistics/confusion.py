"""Drops that should and should not happen, and people's votes on which should happen.

A cell is a perturbation seen through one aspect; its drop is the mean over items of
original minus perturbed. A row of votes counts, for one pair under one criterion, how
many people chose each of OPTIONS. Hu et al. 2024; index, AUC and equivalence are this
project's (docs/methods.md, "Confusion").
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Counts, Flags, Floats, quotient
from judgescope.statistics.declared import (
    amount,
    concordance,
    declare,
    p_of_null,
    percent,
    signed_amount,
    undesired,
)
from judgescope.statistics.intervals import FEWEST_SOURCES, NOT_SMOOTH
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import (
    RESAMPLES,
    source_weights,
    whole_and_resamples,
    with_percentiles,
)
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import SourceRows, Weights

DECLARED = declare(
    "equivalence",
    p_tost=p_of_null("Equivalence p", "the drop exceeds the margin", "Schuirmann 1987"),
    items_needed=amount(
        "Items needed",
        "number of items needed to show that a true drop of 0 is within the margin",
        "Julious 2004",
        range="2 and above",
        less_is_better=True,
    ),
)
DECLARED += declare(
    "drops",
    delta=signed_amount(
        "Δ",
        "mean score of originals minus perturbed texts, in points of the judge's scale",
        "Hu et al. 2024",
    ),
    floor_share=percent(
        "At the floor", "share of originals already at the bottom of the scale"
    ),
)
DECLARED += declare(
    "confusion",
    s_t_mean=signed_amount(
        "S_T", "mean drop of the scores that should drop", "Hu et al. 2024"
    ),
    s_f_mean=signed_amount(
        "S_F",
        "mean drop of the scores that should stay",
        "Hu et al. 2024",
        less_is_better=True,
    ),
    confusion_index=signed_amount(
        "Confusion index",
        "unwanted drop divided by wanted drop; 0 is best",
        less_is_better=True,
    ),
    confusion_auc=concordance(
        "AUC",
        "probability that a score drop that is expected exceeds one that is not",
        ties="half",
    ),
)
DECLARED += declare(
    "shares_of_drops",
    s_t_significant_share=percent(
        "Wanted drops detected",
        "share of wanted drops with an adjusted p of at most .05",
    ),
    unwanted_no_drop=percent(
        "Unwanted: no drop",
        "share of unwanted drops that are shown to be within the margin",
    ),
    unwanted_drop=undesired(
        "Unwanted: drop", "share of unwanted drops that are shown to be above 0"
    ),
    unwanted_undecided=percent(
        "Unwanted: undecided", "share of unwanted drops for which neither is shown"
    ),
)
DECLARED += declare(
    "votes",
    vote_consistency=percent(
        "Votes agree",
        "share of a pair's votes for the most frequent option, which “cannot decide” "
        "never is",
        "Hu et al. 2024, appendix C.3.2",
    ),
    match_vote_vote=percent(
        "Match, vote by pair",
        "share of cells (perturbation × aspect) in which people's majority matches "
        "the expectation, one vote per pair",
        "Hu et al. 2024, table 18",
        scaled=NOT_SMOOTH,
    ),
    match_vote_all=percent(
        "Match, all votes",
        "share of cells (perturbation × aspect) in which people's majority matches "
        "the expectation, all votes pooled",
        "Hu et al. 2024, table 18",
        scaled=NOT_SMOOTH,
    ),
)


class ConfusionParts(NamedTuple):
    """Mean drop of wanted and of unwanted cells, their ratio (the index), and how they
    part.

    Shape (rows,) each: the data first, then every resample.
    """

    s_t: Floats
    s_f: Floats
    ratio: Floats
    auc: Floats


def mean_drops(drops: Floats, rows: SourceRows) -> Floats:
    """sum_i w_i d_ic / sum_i w_i over the items i that a cell c has, per row of
    weights.

    drops (items, cells), NaN = missing; rows (rows, items) of weights. Shape (rows,
    cells), NaN where a row has no item of a cell.

    >>> drops = np.array([[1.0, 0.0], [3.0, np.nan]])
    >>> rows = whole_and_resamples(np.array([0, 1]), np.array([[0, 1]]))
    >>> mean_drops(drops, rows).tolist()
    [[2.0, 0.0], [3.0, nan]]
    """
    given = np.isfinite(drops)
    return quotient(rows.sums(np.where(given, drops, 0.0)), rows.sums(given))


def confusion(deltas: Floats, wanted: Flags, unwanted: Flags) -> ConfusionParts:
    """S_T, S_F, the index S_F / S_T and the AUC P(wanted drop > unwanted drop).

    S_T is the mean wanted drop, S_F the mean unwanted one. deltas (rows, cells);
    wanted, unwanted (cells,). A tie of the AUC counts half. NaN where a cell of the set
    is NaN or the set is empty; the ratio is NaN where S_T is 0. S_T and S_F: (Hu et al.
    2024, section 4.3); index and AUC: docs/methods.md, "Confusion".

    >>> deltas = np.array([[2.0, 1.0, 0.5]])
    >>> wanted = np.array([True, True, False])
    >>> s_t, s_f, index, auc = confusion(deltas, wanted, ~wanted)
    >>> s_t.tolist(), s_f.tolist(), index.round(3).tolist(), auc.tolist()
    ([1.5], [0.5], [0.333], [1.0])
    """
    drop = deltas[:, wanted]
    stay = deltas[:, unwanted]
    s_t = _mean_of_cells(drop)
    s_f = _mean_of_cells(stay)
    ratio = np.where(s_t == 0, np.nan, quotient(s_f, s_t))
    areas = np.full(len(deltas), np.nan)
    if not drop.size or not stay.size:
        return ConfusionParts(s_t, s_f, ratio, areas)
    # Means that differ by round-off, which depends on the processor, are ties: they are
    # compared as scores are rounded.
    drop = drop.round(9)
    stay = stay.round(9)
    for row, (above, below) in enumerate(zip(drop, np.sort(stay, axis=1), strict=True)):
        less = np.searchsorted(below, above, "left")
        not_above = np.searchsorted(below, above, "right")
        areas[row] = np.mean(less + not_above) / 2 / below.size
    lost = np.isnan(drop).any(axis=1) | np.isnan(stay).any(axis=1)
    return ConfusionParts(s_t, s_f, ratio, np.where(lost, np.nan, areas))


def _mean_of_cells(deltas: Floats) -> Floats:
    """The mean of each row, NaN without a cell: (rows, cells) -> (rows,)."""
    if not deltas.shape[1]:
        return np.full(len(deltas), np.nan)
    return np.asarray(deltas.mean(axis=1))


def p_equivalence(d: Floats, margin: float) -> float | None:
    """The larger p of the one-sided t-tests of mean <= -margin and of mean >=
    margin.

    d (items,), nothing missing. At most .05 says: the mean lies within the margin. None
    for fewer than two items, and for fewer than FEWEST_SOURCES that are all equal: they
    do not show how others vary. Of more that are equal it is 0 within the margin and 1
    outside. The level is exceeded where few items differ much and most do not.
    ValueError for a margin that is not above
    0. Schuirmann 1987 (TOST).

    >>> p_equivalence(np.array([0.0, 0.1] * 10), margin=0.2) < 0.001
    True
    >>> p_equivalence(np.zeros(20), margin=0.2)
    0.0
    """
    if margin <= 0:
        raise ValueError(f"the margin must be above 0, not {margin}")
    if d.size < 2:
        return None
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    error = float(d.std(ddof=1)) / math.sqrt(d.size)
    least = margin - abs(float(d.mean()))
    if error == 0:
        if d.size < FEWEST_SOURCES:
            return None
        return float(least <= 0)
    return float(stdtr(d.size - 1, -least / error))


def items_needed(d: Floats, margin: float) -> int | None:
    """How many items would show, with power .8, that a true mean of 0 is within
    the margin.

    ((z_.95 + z_.9) sd / margin)², rounded up, at least 2; d (items,), in the units of
    the margin. None for fewer than two items. The error of a mean falls with the root
    of the number of items. Julious 2004, equation 8.

    >>> items_needed(np.array([-1.0, 1.0] * 50), margin=0.2)
    217
    """
    if d.size < 2:
        return None
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    level = 0.05
    power = 0.8
    z = float(ndtri(1 - level) + ndtri((1 + power) / 2))
    needed = (z * float(d.std(ddof=1)) / margin) ** 2
    return max(2, math.ceil(needed - 1e-9))


PerturbedAspect = tuple[str, str]
"""A perturbation and an aspect."""


class VotedEffect(IntEnum):
    """What a perturbation does to an aspect, as people vote or as is expected."""

    DROPS = 1
    STAYS = 0
    UNDECIDED = -1


OPTIONS: Final = ("A", "B", "C", "D")
"""The original is better; the changed text is better; both are as good; cannot
decide."""
DECIDED: Final = 3
"""The options that can win: the first three. D never does, but it counts as a vote."""


def pair_weights(rng: np.random.Generator, stratum: Counts) -> Codes:
    """w[b, p] = how often pair p is drawn in resample b, each stratum by itself.

    stratum (pairs,), the perturbation of each pair as a code from 0: every resample has
    as many pairs of it as there are. Shape (RESAMPLES, pairs). Stratified bootstrap,
    Efron 1979.

    >>> weights = pair_weights(np.random.default_rng(1), np.array([0, 0, 1]))
    >>> weights[:, :2].sum(axis=1).tolist() == [2] * len(weights)
    True
    """
    weights = np.zeros((RESAMPLES, stratum.size), dtype=np.int64)
    for code in np.unique(stratum):
        members = np.flatnonzero(stratum == code)
        weights[:, members] = source_weights(rng, members.size)
    return weights


def vote_consistency(votes: Counts, pair: Counts, weights: Weights) -> Estimate:
    """The mean over rows of max(A, B, C) / (A + B + C + D).

    votes (rows, 4), pair (rows,) the code of each row's pair, weights (pairs, pairs),
    `deletions`, or None for no interval. The votes A, A, C, D give 2 / 4. Range 0 to 1.
    Rows without a vote are missing; rows in which several options come first are tied.
    (Hu et al. 2024, appendix C.3.2)

    >>> votes = np.array([[2, 0, 1, 1]])  # A, A, C, D
    >>> vote_consistency(votes, np.array([0]), None).value
    0.5
    """
    given = votes.sum(axis=1) > 0
    votes = votes[given]
    source = pair[given]
    winning = votes[:, :DECIDED].max(axis=1, initial=0)
    tied = (votes[:, :DECIDED] == winning[:, None]).sum(axis=1) > 1
    missing = int((~given).sum())
    if not source.size:
        return Estimate.undefined(REASONS.no_votes, n_missing=missing)
    shares = winning / votes.sum(axis=1)
    result = clustered_mean(shares, source, weights, missing, units="pairs").estimate
    return replace(result, n_tied=int(tied.sum()))


def match_votes(
    votes: Counts, pair: Counts, cell: Counts, expected: Floats, weights: Weights
) -> dict[str, Estimate]:
    """The shares of cells where votes have the outcome that is expected.

    A cell is a perturbation and an aspect; DROPS is expected of it or STAYS. Its
    outcome is DROPS if A > max(B, C) in sum over its rows, STAYS if A < max(B, C), and
    else undecided: no match. `match_vote_all` sums all votes, `match_vote_vote` one
    vote of each pair (`winners`). votes (rows, 4), pair and cell (rows,) codes from 0,
    expected (cells,) with NaN where nothing is (those cells are missing; undecided ones
    are tied), weights (resamples, pairs) or None for no interval. Range 0 to 1. (Hu et
    al. 2024, appendix C.3.2 and table 18)

    >>> votes = np.array([[2, 0, 1, 0], [0, 1, 2, 0]])
    >>> cells = np.array([0, 1])
    >>> expected = np.array([1.0, 1.0])  # both should drop
    >>> matches = match_votes(votes, np.array([0, 1]), cells, expected, None)
    >>> matches["match_vote_all"].value
    0.5
    """
    rows = whole_and_resamples(pair, weights)
    every = votes.sum(axis=1)
    pairs_with_votes = np.unique(pair[every > 0]).size
    counted = {
        "match_vote_vote": winners(votes),
        "match_vote_all": votes[:, :DECIDED],
    }
    matches: dict[str, Estimate] = {}
    for name, ballots in counted.items():
        columns = np.column_stack([ballots, every])
        totals = _totals(columns, pair, cell, rows, expected.size)
        matches[name] = _match(totals, expected, pairs_with_votes)
    return matches


def _totals(
    votes: Counts, pair: Counts, cell: Counts, rows: SourceRows, cells: int
) -> Floats:
    """Sums of columns of votes by cell in each row of weights: (rows, cells, columns).

    votes (n, columns); pair and cell (n,); rows (rows, pairs) of weights.
    """
    shape = rows.shape[1], cells
    places = pair * cells + cell
    totals = []
    for column in votes.T:
        sums = np.bincount(places, weights=column, minlength=shape[0] * shape[1])
        totals.append(rows.sums(sums.reshape(shape)))
    return np.stack(totals, axis=-1)


def _match(totals: Floats, expected: Floats, pairs: int) -> Estimate:
    """The share of cells with the expected outcome; the arguments of `match_votes`."""
    missing = int(np.isnan(expected).sum())
    asked = (totals[..., DECIDED] > 0) & ~np.isnan(expected)
    outcome = outcomes(totals)
    # A resample may hold nothing that was voted on.
    rows = quotient((asked & (outcome == expected)).sum(axis=1), asked.sum(axis=1))
    n = int(asked[0].sum())
    if n == 0:
        why = REASONS.no_expectation if missing else REASONS.no_votes
        return Estimate.undefined(why, n_missing=missing)
    tied = int((asked[0] & (outcome[0] == VotedEffect.UNDECIDED)).sum())
    share = Estimate(float(rows[0]), n=n, n_missing=missing, n_tied=tied)
    if rows.size == 1:
        return share
    why = "a majority is not smooth"
    return with_percentiles(share, rows[1:], pairs, why, units="pairs")


def winners(votes: Counts) -> Counts:
    """Each row's one vote, for its most frequent option of A, B and C, in
    sixths.

    Options that come first together share it equally (the paper does not say who wins a
    tie); a row of D alone has none. votes (rows, 4). Shape (rows, 3); each row sums to
    6 or 0.

    >>> winners(np.array([[2, 2, 0, 1], [0, 0, 0, 3]])).tolist()
    [[3, 3, 0], [0, 0, 0]]
    """
    decided = votes[:, :DECIDED]
    highest = decided.max(axis=1, keepdims=True, initial=0)
    first = (decided == highest) & (decided > 0)
    sharing = np.maximum(first.sum(axis=1, keepdims=True), 1)
    return np.asarray(first * (6 // sharing))


def outcomes(totals: Counts | Floats) -> Counts:
    """DROPS where A > max(B, C), STAYS where A < max(B, C), UNDECIDED where A
    equals it.

    totals (..., 3 or more), the votes for A, B and C. Shape (...).

    >>> outcomes(np.array([[2, 1, 0], [0, 1, 2], [1, 1, 0]])).tolist()
    [1, 0, -1]
    """
    better = totals[..., 0]
    others = np.maximum(totals[..., 1], totals[..., 2])
    return np.select(
        [better > others, better < others],
        [VotedEffect.DROPS, VotedEffect.STAYS],
        VotedEffect.UNDECIDED,
    )


class ExpectedAspects(NamedTuple):
    """The expected effect of every perturbation on every aspect, and people's agreement
    with it.

    `drops` (S_T) and `stays` (S_F) are the cells of which a judge's score should fall,
    or not.
    """

    drops: list[PerturbedAspect]
    stays: list[PerturbedAspect]
    excluded: list[PerturbedAspect]
    agreement: Estimate


def expectations(rows: Iterable[Mapping[str, str]]) -> ExpectedAspects:
    """S_T = {human = expected = 1}, S_F = {human = expected = 0}, and all other
    cells.

    Each row is a cell: `perturbation`, `aspect`, `human` and `expected`, each of these
    1 (drops), 0 (does not) or empty. Where nothing was expected people decide alone;
    where people are undecided the cell is excluded. The agreement is (|S_T| + |S_F|) /
    n over the cells of which something is expected. ValueError for other values. (Hu et
    al. 2024, section 3 and table 21)

    >>> cells = [("1", "1"), ("0", "1"), ("0", "")]
    >>> rows = []
    >>> for aspect, (human, expected) in zip("abc", cells):
    ...     row = {"perturbation": "p", "aspect": aspect}
    ...     rows.append(row | {"human": human, "expected": expected})
    >>> result = expectations(rows)
    >>> result.drops, result.stays, result.excluded, result.agreement.value
    ([('p', 'a')], [('p', 'c')], [('p', 'b')], 0.5)
    """
    sets: dict[str, list[PerturbedAspect]] = {"1": [], "0": [], "": []}
    agreed = n = missing = 0
    for row in rows:
        human = row["human"]
        expected = row["expected"]
        if {human, expected} - set(sets):
            raise ValueError(
                f"human and expected are 1, 0 or empty, not {human!r}, {expected!r}"
            )
        both = human if expected in ("", human) else ""
        sets[both].append((row["perturbation"], row["aspect"]))
        n = n + (expected != "")
        missing = missing + (expected == "")
        agreed += expected != "" and both != ""
    if n:
        agreement = Estimate(agreed / n, n=n, n_missing=missing)
    else:
        agreement = Estimate.undefined(REASONS.no_expectation, n_missing=missing)
    return ExpectedAspects(sets["1"], sets["0"], sets[""], agreement)
