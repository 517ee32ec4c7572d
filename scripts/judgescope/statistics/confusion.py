"""Drops that should and should not happen, and people's votes on which should happen.

A cell is a perturbation seen through one aspect; its drop is the mean over items of
original minus perturbed. A row of votes counts, for one pair under one criterion, how
many people chose each of OPTIONS. Hu et al. 2024; index, AUC and equivalence are this
project's (methods.md 2).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Counts, Flags, Floats, dot, quotient
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
from judgescope.statistics.result import NO_EXPECTATION, NO_VOTES, Estimate

PAPER = "Hu et al. 2024"
TABLE_18 = "Hu et al. 2024, table 18"
DECLARED: Final = declare(
    p_tost=p_of_null("Equivalence p", "the drop exceeds the margin", "Schuirmann 1987"),
    items_needed=amount(
        "Items needed",
        "number of items needed to show that a true drop of 0 is within the margin",
        "Julious 2004",
        range="2 and above",
        less_is_better=True,
    ),
    delta=signed_amount(
        "Δ",
        "mean score of originals minus perturbed texts, in points of the judge's scale",
        PAPER,
    ),
    floor_share=percent(
        "At the floor", "share of originals already at the bottom of the scale"
    ),
    s_t_mean=signed_amount("S_T", "mean drop of the scores that should drop", PAPER),
    s_f_mean=signed_amount(
        "S_F", "mean drop of the scores that should stay", PAPER, less_is_better=True
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
        TABLE_18,
        scaled=NOT_SMOOTH,
    ),
    match_vote_all=percent(
        "Match, all votes",
        "share of cells (perturbation × aspect) in which people's majority matches "
        "the expectation, all votes pooled",
        TABLE_18,
        scaled=NOT_SMOOTH,
    ),
)


ALPHA, POWER = 0.05, 0.8
MEAN_DECIMALS = 9
"""Means are compared as scores are rounded."""


class Confusion(NamedTuple):
    """Mean drop of wanted and of unwanted cells, their ratio (the index), and how they
    part.

    Shape (rows,) each: the data first, then every resample.
    """

    s_t: Floats
    s_f: Floats
    ratio: Floats
    auc: Floats


def mean_drops(drops: Floats, rows: Floats) -> Floats:
    """Return sum_i w_i d_ic / sum_i w_i over the items i that a cell c has, per row of
    weights.

    drops (items, cells), NaN = missing; rows (rows, items) of weights. Shape (rows,
    cells), NaN where a row has no item of a cell.
    """
    given = np.isfinite(drops)
    return quotient(
        dot(rows, np.where(given, drops, 0.0)), dot(rows, given.astype(float))
    )


def confusion(deltas: Floats, wanted: Flags, unwanted: Flags) -> Confusion:
    """Return S_T = mean wanted drop, S_F = mean unwanted drop, S_F / S_T, and P(wanted
    > unwanted).

    deltas (rows, cells); wanted, unwanted (cells,). A tie of the AUC counts half. NaN
    where a cell of the set is NaN or the set is empty; the ratio is NaN where S_T is 0.
    S_T and S_F: (Hu et al. 2024, section 4.3); index and AUC: methods.md 2.
    """
    drop, stay = deltas[:, wanted], deltas[:, unwanted]
    s_t, s_f = (
        cells.mean(axis=1) if cells.shape[1] else np.full(len(cells), np.nan)
        for cells in (drop, stay)
    )
    ratio = np.where(s_t == 0, np.nan, quotient(s_f, s_t))
    areas = np.full(len(deltas), np.nan)
    if not drop.size or not stay.size:
        return Confusion(s_t, s_f, ratio, areas)
    # means that differ by round-off, which depends on the processor, are ties
    drop, stay = drop.round(MEAN_DECIMALS), stay.round(MEAN_DECIMALS)
    for row, (above, below) in enumerate(zip(drop, np.sort(stay, axis=1), strict=True)):
        less, upto = (np.searchsorted(below, above, side) for side in ("left", "right"))
        areas[row] = np.mean(less + upto) / 2 / below.size
    lost = np.isnan(drop).any(axis=1) | np.isnan(stay).any(axis=1)
    return Confusion(s_t, s_f, ratio, np.where(lost, np.nan, areas))


def p_equivalence(d: Floats, margin: float) -> float | None:
    """Return the larger p of the one-sided t-tests of mean <= -margin and of mean >=
    margin.

    d (items,), nothing missing. At most .05 says: the mean lies within the margin. None
    for fewer than two items, and for fewer than FEWEST_SOURCES that are all equal: they
    do not show how others vary. Of more that are equal it is 0 within the margin and 1
    outside. The level is exceeded where few items differ much and most do not.
    ValueError for a margin that is not above
    0. Schuirmann 1987 (TOST).
    """
    if margin <= 0:
        raise ValueError(f"the margin must be above 0, not {margin}")
    if d.size < 2:
        return None
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    error = float(d.std(ddof=1)) / math.sqrt(d.size)
    least = margin - abs(float(d.mean()))
    if error == 0:
        return None if d.size < FEWEST_SOURCES else float(least <= 0)
    return float(stdtr(d.size - 1, -least / error))


def items_needed(d: Floats, margin: float) -> int | None:
    """Return how many items would show, with power .8, that a true mean of 0 is within
    the margin.

    ((z_.95 + z_.9) sd / margin)², rounded up, at least 2; d (items,), in the units of
    the margin. None for fewer than two items. The error of a mean falls with the root
    of the number of items. Julious 2004, equation 8.
    """
    if d.size < 2:
        return None
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    z = float(ndtri(1 - ALPHA) + ndtri((1 + POWER) / 2))
    return max(2, math.ceil((z * float(d.std(ddof=1)) / margin) ** 2 - 1e-9))


Cell = tuple[str, str]
"""A perturbation and an aspect."""
OPTIONS: Final = ("A", "B", "C", "D")
"""The original is better; the changed text is better; both are as good; cannot
decide."""
DECIDED: Final = 3
"""The options that can win: the first three. D never does, but it counts as a vote."""
DROPS, STAYS, UNDECIDED = 1, 0, -1
MAJORITY_JUMPS: Final = "a majority is not smooth"
"""Why the interval of a share of outcomes is a bootstrap's."""


def pair_weights(rng: np.random.Generator, stratum: Counts) -> Codes:
    """Return w[b, p] = how often pair p is drawn in resample b, each stratum by itself.

    stratum (pairs,), the perturbation of each pair as a code from 0: every resample has
    as many pairs of it as there are. Shape (RESAMPLES, pairs). Stratified bootstrap,
    Efron 1979.
    """
    weights = np.zeros((RESAMPLES, stratum.size), dtype=np.int64)
    for code in np.unique(stratum):
        own = np.flatnonzero(stratum == code)
        weights[:, own] = source_weights(rng, own.size)
    return weights


def vote_consistency(votes: Counts, pair: Counts, weights: Counts | None) -> Estimate:
    """Return the mean over rows of max(A, B, C) / (A + B + C + D).

    votes (rows, 4), pair (rows,) the code of each row's pair, weights (pairs, pairs),
    `deletions`, or None for no interval. The votes A, A, C, D give 2 / 4. Range 0 to 1.
    Rows without a vote are missing; rows in which several options come first are tied.
    (Hu et al. 2024, appendix C.3.2)
    """
    given = votes.sum(axis=1) > 0
    votes, source = votes[given], pair[given]
    most = votes[:, :DECIDED].max(axis=1, initial=0)
    tied = (votes[:, :DECIDED] == most[:, None]).sum(axis=1) > 1
    missing = int((~given).sum())
    if not source.size:
        return Estimate.undefined(NO_VOTES, n_missing=missing)
    shares = most / votes.sum(axis=1)
    result = clustered_mean(shares, source, weights, missing, units="pairs").estimate
    return replace(result, n_tied=int(tied.sum()))


def match_votes(
    votes: Counts, pair: Counts, cell: Counts, expected: Floats, weights: Counts | None
) -> dict[str, Estimate]:
    """Return the shares of cells where votes have the outcome that is expected.

    A cell is a perturbation and an aspect; DROPS is expected of it or STAYS. Its
    outcome is DROPS if A > max(B, C) in sum over its rows, STAYS if A < max(B, C), and
    else undecided: no match. `match_vote_all` sums all votes, `match_vote_vote` one
    vote of each pair (`winners`). votes (rows, 4), pair and cell (rows,) codes from 0,
    expected (cells,) with NaN where nothing is (those cells are missing; undecided ones
    are tied), weights (resamples, pairs) or None for no interval. Range 0 to 1. (Hu et
    al. 2024, appendix C.3.2 and table 18)
    """
    whole = whole_and_resamples(pair, weights)
    shape = whole.shape[1], expected.size
    place, size = pair * expected.size + cell, shape[0] * shape[1]
    every, missing = votes.sum(axis=1), int(np.isnan(expected).sum())
    matches: dict[str, Estimate] = {}
    for name, ballots in (
        ("match_vote_vote", winners(votes)),
        ("match_vote_all", votes[:, :DECIDED]),
    ):
        held = np.column_stack([ballots, every])
        of_pair = [
            np.bincount(place, weights=v, minlength=size).reshape(shape) for v in held.T
        ]
        totals = np.stack(
            [dot(whole, one) for one in of_pair], axis=-1
        )  # (rows, cells, 4)
        asked = (totals[..., DECIDED] > 0) & ~np.isnan(expected)
        result = outcomes(totals)
        # a resample may hold nothing that was voted on
        rows = quotient((asked & (result == expected)).sum(axis=1), asked.sum(axis=1))
        if not (n := int(asked[0].sum())):
            why = NO_EXPECTATION if missing else NO_VOTES
            matches[name] = Estimate.undefined(why, n_missing=missing)
            continue
        tied = int((asked[0] & (result[0] == UNDECIDED)).sum())
        matches[name] = Estimate(float(rows[0]), n=n, n_missing=missing, n_tied=tied)
        if rows.size > 1:
            pairs = np.unique(pair[every > 0]).size
            matches[name] = with_percentiles(
                matches[name], rows[1:], pairs, MAJORITY_JUMPS, units="pairs"
            )
    return matches


def winners(votes: Counts) -> Counts:
    """Return each row's one vote, for its most frequent option of A, B and C, in
    sixths.

    Options that come first together share it equally (the paper does not say who wins a
    tie); a row of D alone has none. votes (rows, 4). Shape (rows, 3); each row sums to
    6 or 0.
    """
    decided = votes[:, :DECIDED]
    first = (decided == decided.max(axis=1, keepdims=True, initial=0)) & (decided > 0)
    return np.asarray(first * (6 // np.maximum(first.sum(axis=1, keepdims=True), 1)))


def outcomes(totals: Counts | Floats) -> Counts:
    """Return DROPS where A > max(B, C), STAYS where A < max(B, C), UNDECIDED where A
    equals it.

    totals (..., 3 or more), the votes for A, B and C. Shape (...).
    """
    better, others = totals[..., 0], np.maximum(totals[..., 1], totals[..., 2])
    return np.select([better > others, better < others], [DROPS, STAYS], UNDECIDED)


class Expectations(NamedTuple):
    """The expected effect of every perturbation on every aspect, and people's agreement
    with it.

    `drops` (S_T) and `stays` (S_F) are the cells of which a judge's score should fall,
    or not.
    """

    drops: list[Cell]
    stays: list[Cell]
    excluded: list[Cell]
    agreement: Estimate


def expectations(rows: Iterable[Mapping[str, str]]) -> Expectations:
    """Return S_T = {human = expected = 1}, S_F = {human = expected = 0}, and all other
    cells.

    Each row is a cell: `perturbation`, `aspect`, `human` and `expected`, each of these
    1 (drops), 0 (does not) or empty. Where nothing was expected people decide alone;
    where people are undecided the cell is excluded. The agreement is (|S_T| + |S_F|) /
    n over the cells of which something is expected. ValueError for other values. (Hu et
    al. 2024, section 3 and table 21)
    """
    sets: dict[str, list[Cell]] = {"1": [], "0": [], "": []}
    agreed = n = missing = 0
    for row in rows:
        human, expected = row["human"], row["expected"]
        if {human, expected} - set(sets):
            raise ValueError(
                f"human and expected are 1, 0 or empty, not {human!r}, {expected!r}"
            )
        both = human if expected in ("", human) else ""
        sets[both].append((row["perturbation"], row["aspect"]))
        n, missing = n + (expected != ""), missing + (expected == "")
        agreed += expected != "" and both != ""
    if n:
        agreement = Estimate(agreed / n, n=n, n_missing=missing)
    else:
        agreement = Estimate.undefined(NO_EXPECTATION, n_missing=missing)
    return Expectations(sets["1"], sets["0"], sets[""], agreement)
