"""Preferences between two texts, including ties: agreement of voters, and strengths of
systems.

A vote is 1 for the first text of a pair, -1 for the second, 0 for neither, NaN =
missing, whichever was shown first.
"""

from typing import NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.declared import (
    amount,
    declare,
    p_of_null,
    percent,
    signed_amount,
)
from judgescope.statistics.intervals import PLAIN
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.order import verdicts
from judgescope.statistics.resampling import Replicated, replicated, whole_and_resamples
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights

DECLARED = declare(
    "choices",
    vote_agreement_ties=percent(
        "Votes agree",
        "how often the votes of judge and person on a pair are equal, two ties being "
        "equal; chance: 1/3",
        "Zheng et al. 2023, setup S1",
        ties="equal",
    ),
    vote_agreement_decided=percent(
        "Votes agree, without ties",
        "how often the votes of judge and person on a pair are equal, without ties; "
        "chance: 1/2",
        "Zheng et al. 2023, setup S2",
        ties="left out",
    ),
)
DECLARED += declare(
    "strength",
    strength=signed_amount(
        "Strength",
        "log strength of a system, estimated from the votes; the mean over systems is "
        "0",
        "Bradley, Terry 1952; Davidson 1970",
        ties="Davidson 1970",
    ),
    strength_ties=amount(
        "Ties, ν", "odds of a tie between two equal systems", "Davidson 1970"
    ),
    strength_position=signed_amount(
        "Position, δ",
        "log odds that the text shown first beats an equal one",
        "Davidson, Beaver 1977",
    ),
)
DECLARED += declare(
    "tests",
    p_mcnemar=p_of_null(
        "McNemar's p",
        "two judges are right equally often; all sign patterns of "
        "the differences by source, two-sided",
        "McNemar 1947; Fisher 1935",
    ),
)


def majority(votes: Floats) -> Floats:
    """Whom votes (voters, pairs) favour, as `order.verdicts` has it: (pairs,).

    Of one vote in each order two that differ are a tie (Zheng et al. 2023, section 3.4,
    the conservative approach); where one order is missing the other decides.

    >>> majority(np.array([[1.0, 1.0, 1.0], [1.0, -1.0, np.nan]])).tolist()
    [1.0, 0.0, 1.0]
    """
    first = (votes == 1).sum(axis=0)
    second = (votes == (-1)).sum(axis=0)
    neither = (votes == 0).sum(axis=0)
    return verdicts(first, second, neither)


def vote_agreement(
    judge: Floats, people: Floats, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """The share of vote pairs, the judge's with each person's on a pair, that
    are equal.

    `vote_agreement_ties`: of all vote pairs, two ties being equal.
    `vote_agreement_decided`: of those without a tie. Vote pairs are pooled, so that a
    pair with more votes weighs more. judge (pairs,), people (voters, pairs), NaN =
    missing; source (pairs,); weights: `deletions`, or None for no interval. `n` counts
    vote pairs, `n_missing` those with a person's vote and none of the judge's, `n_tied`
    those with a tie. Clopper-Pearson at the effective number of vote pairs. Undefined
    without any. Zheng et al. 2023, section 4.2 (S1 and S2).

    >>> judge = np.array([1.0, 0.0])
    >>> people = np.array([[1.0, 0.0], [-1.0, 1.0]])
    >>> results = vote_agreement(judge, people, np.arange(2), None)
    >>> {name: result.estimate.value for name, result in results.items()}
    {'vote_agreement_ties': 0.5, 'vote_agreement_decided': 0.5}
    """
    given = np.isfinite(people)
    other = np.broadcast_to(judge, people.shape)[given]
    where = np.broadcast_to(source, people.shape)[given]
    return _agreement(people[given], other, where, weights)


def agreement_of_people(
    people: Floats, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """`vote_agreement` of every two voters of a pair; people (voters, pairs).

    >>> people = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> results = agreement_of_people(people, np.arange(2), None)
    >>> {name: result.estimate.value for name, result in results.items()}
    {'vote_agreement_ties': 0.5, 'vote_agreement_decided': 1.0}
    """
    i, j = np.triu_indices(len(people), 1)
    both = np.isfinite(people[i]) & np.isfinite(people[j])
    where = np.broadcast_to(source, both.shape)[both]
    return _agreement(people[i][both], people[j][both], where, weights)


def _agreement(
    first: Floats, second: Floats, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """Both statistics of vote pairs: first (votes,) all given, second NaN =
    missing.
    """
    known = ~np.isnan(second)
    tied = ((first == 0) | (second == 0)) & known
    missing = int((~known).sum())
    ties = int(tied.sum())
    equal = first == second
    return {
        name: clustered_mean(equal[used], source[used], weights, missing, tied=ties)
        for name, used in (
            ("vote_agreement_ties", known),
            ("vote_agreement_decided", known & ~tied),
        )
    }


def mcnemar(first: Floats, second: Floats, source: Codes) -> Estimate:
    """The two-sided p of two judges' hits on the same cases: P(|sum ±d_s| >=
    |sum d_s|).

    d_s is the first judge's hits minus the second's in source s; under the null
    hypothesis each has either sign with chance 1/2, independently. All sign patterns
    count, by convolution. With one case a source it is McNemar's exact test. first,
    second (cases,): 1 right, 0 wrong, 1/2 half right, NaN = missing, a case without
    both counting in `n_missing`; source (cases,). `n` counts cases, `n_tied` sources
    that do not differ. Below FEWEST_DIFFERENT sources that differ p cannot be .05, and
    `note` says so. ValueError for other hits. Range [0, 1].

    >>> first = np.array([1.0] * 6 + [0.0])
    >>> second = np.array([0.0] * 6 + [0.0])
    >>> mcnemar(first, second, np.arange(7)).value  # 2 · .5⁶
    0.03125
    """
    both = ~(np.isnan(first) | np.isnan(second))
    doubled = 2 * (first - second)[both]
    gaps = np.rint(doubled).astype(np.int64)
    if (gaps != doubled).any():
        raise ValueError("hits are 0, 1/2 or 1")
    codes, code = np.unique(source[both], return_inverse=True)
    sums = np.bincount(code, weights=gaps, minlength=codes.size).astype(np.int64)
    sizes = np.abs(sums[sums != 0])
    total = int(sizes.sum())
    chances = np.zeros(2 * total + 1)  # of each sum from -total to total
    chances[total] = 1.0
    for size in sizes:
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    far = np.abs(np.arange(-total, total + 1)) >= abs(int(sums.sum()))
    k = sizes.size
    note = ""
    # With fewer differing sources, the two-sided p exceeds .05 even if all are on one
    # side.
    fewest_different = 6
    if k < fewest_different:
        least = min(1.0, 2.0 ** (1 - k))
        note = f"only {k} sources differ, so p cannot be below {least:.3g}"
    return Estimate(
        min(1.0, float(chances[far].sum())),
        n=gaps.size,
        n_missing=int((~both).sum()),
        n_tied=codes.size - k,
        method=f"all signs of {k} sources that differ",
        note=note,
    )


class Comparisons(NamedTuple):
    """Votes on pairs of systems' texts, all (votes,).

    first, second: codes of the systems; vote: 1, -1, 0 (a tie), NaN = missing; shown: 1
    where the first was shown first, -1 where the second was, 0 where that is not known.
    """

    first: Codes
    second: Codes
    vote: Floats
    shown: Codes
    source: Codes


class Strengths(NamedTuple):
    """Log strengths of the systems, in order of code, the odds of a tie, and the
    place's effect.
    """

    systems: list[Replicated]
    ties: Replicated
    position: Replicated | None
    """None where no vote says which text was shown first."""


def strengths(votes: Comparisons, systems: int, weights: Weights) -> Strengths:
    """The maximum likelihood estimates of P(i wins) = exp(d/2)/D, P(tie) = ν/D.

    d = log π_i - log π_j + δ (i shown first; - δ second; + 0 not known), D = exp(d/2) +
    exp(-d/2) + ν: with δ = 0 Davidson's π_i/(π_i + π_j + ν sqrt(π_i π_j)). sum log π =
    0; ν = 0 without a tie, δ = 0 where no place is known. systems: how many there are;
    weights: `deletions`, or None for no interval. Jackknife-t over sources. `n` counts
    a system's votes, or all; `n_missing` and `n_tied` those without a choice and the
    ties of all.

    Undefined where the likelihood has no finite maximum, as where wins, with ties both
    ways, do not join all systems strongly; and where places cannot be told from
    systems. Davidson 1970; Davidson and Beaver 1977.

    >>> votes = Comparisons(
    ...     first=np.zeros(4, dtype=np.int64),
    ...     second=np.ones(4, dtype=np.int64),
    ...     vote=np.array([1.0, 1.0, 1.0, -1.0]),
    ...     shown=np.zeros(4, dtype=np.int64),
    ...     source=np.arange(4),
    ... )
    >>> first, second = strengths(votes, 2, None).systems
    >>> round(first.estimate.value - second.estimate.value, 3)  # ln 3
    1.099
    """
    known = np.isfinite(votes.vote)
    # A pair is the same in either order.
    sign = np.where(votes.first < votes.second, 1, -1)
    pair = np.sort(np.stack([votes.first, votes.second], axis=1), axis=1)
    vote = np.where(known, votes.vote, 0).astype(np.int64)
    described = np.column_stack([pair, sign * votes.shown, sign * vote])[known]
    kinds, kind = np.unique(described, axis=0, return_inverse=True)
    rows = whole_and_resamples(votes.source[known], weights)
    counts = np.zeros((rows.shape[1], len(kinds)))
    np.add.at(counts, (votes.source[known], kind.ravel()), 1)
    values = _fitted(kinds, systems, rows.sums(counts))
    sizes = counts.sum(axis=1)
    tied = int((vote[known] == 0).sum())

    not_joined = (
        "no finite estimate: a group of systems never beats the others (a tie counts "
        "both ways), or the text in one position always wins"
    )

    def result(column: int, n: int) -> Replicated:
        missing = known.size - int(known.sum())
        return replicated(
            values[:, column],
            not_joined,
            sizes=sizes,
            scale=PLAIN,
            n=n,
            n_missing=missing,
            n_tied=tied,
        )

    of_system = []
    for code in range(systems):
        of_system.append(int((pair[known] == code).any(axis=1).sum()))
    return Strengths(
        [result(code, n) for code, n in enumerate(of_system)],
        result(systems + 1, int(known.sum())),
        result(systems, int(known.sum())) if kinds[:, 2].any() else None,
    )


def _fitted(kinds: Codes, systems: int, counts: Floats) -> Floats:
    """log π, δ and ν of each row of counts, NaN where undefined: (rows, systems
    + 2).

    kinds (kinds, 4): both systems, who was shown first and who won; counts (rows,
    kinds).
    """
    of_systems = np.eye(systems)
    contrast = of_systems[kinds[:, 0]] - of_systems[kinds[:, 1]]
    # Log strengths sum to 0: the last one is minus the sum of the others.
    free = np.vstack([np.eye(systems - 1), -np.ones((1, systems - 1))])
    half = np.column_stack([contrast @ free, kinds[:, 2]]) / 2
    utility = np.zeros((len(kinds), 3, systems + 1))  # of a tie, the first, the second
    utility[:, 0, -1] = 1.0
    utility[:, 1, :-1] = half
    utility[:, 2, :-1] = -half
    won = kinds[:, 3] % 3
    result = np.full((len(counts), systems + 2), np.nan)
    start = np.zeros(systems + 1)
    for row, row_counts in enumerate(counts):
        seen = row_counts > 0
        has_ties = bool((won[seen] == 0).any())
        has_places = bool(kinds[seen, 2].any())
        # Without ties log ν has no maximum, and without places nothing depends on δ.
        used = np.ones(systems + 1, dtype=bool)
        used[-2] = has_places
        used[-1] = has_ties
        first_outcome = 0 if has_ties else 1
        possible = utility[:, first_outcome:][..., used]
        maximum = _maximum(possible, won - first_outcome, row_counts, start[used])
        if maximum is None:
            continue
        parameters = np.zeros(systems + 1)
        parameters[used] = maximum
        result[row, :systems] = free @ parameters[:-2]
        result[row, systems] = parameters[-2]
        result[row, systems + 1] = np.exp(parameters[-1]) if has_ties else 0.0
        if row == 0:
            # Without one source the maximum lies near that of all: a few steps.
            start = parameters
    return result


def _maximum(
    utility: Floats, won: Codes, counts: Floats, start: Floats
) -> Floats | None:
    """The parameters of largest likelihood, None where no finite ones are the
    only ones.

    Newton's method with halved steps; the likelihood is concave, so that it converges
    where there is one maximum, and else goes on for ever or meets a singular matrix.
    utility (kinds, outcomes, parameters), won (kinds,): the outcome, counts (kinds,).
    """
    steps = 100
    largest = 15.0  # half of log odds of e to the 30th: more goes on without end
    round_off = 1e-9  # of log likelihoods
    converged = 1e-10  # a step of the parameters
    parameters = start
    chosen = np.take_along_axis(utility, won[:, None, None], axis=1)[:, 0]
    for _ in range(steps):
        value, chances = _likelihood(utility, won, counts, parameters)
        mean = np.einsum("ko,kop->kp", chances, utility)
        weight = np.sqrt(counts[:, None] * chances)
        spread = (utility - mean[:, None]) * weight[..., None]
        flat = spread.reshape(-1, utility.shape[2])
        information = flat.T @ flat
        if np.linalg.matrix_rank(information, hermitian=True) < len(information):
            return None
        step = np.linalg.solve(information, counts @ (chosen - mean))
        least = value - round_off
        while _likelihood(utility, won, counts, parameters + step)[0] < least:
            step /= 2
        parameters = parameters + step
        if np.abs(utility @ parameters).max() > largest:
            return None
        if np.abs(step).max() < converged:
            return parameters
    return None


def _likelihood(
    utility: Floats, won: Codes, counts: Floats, parameters: Floats
) -> tuple[float, Floats]:
    """The log likelihood, and the chances of each outcome: (kinds, outcomes)."""
    from scipy.special import log_softmax  # here: asking and parsing load no scipy

    log_chances = log_softmax(utility @ parameters, axis=1)
    value = float(counts @ np.take_along_axis(log_chances, won[:, None], axis=1)[:, 0])
    return value, np.exp(log_chances)
