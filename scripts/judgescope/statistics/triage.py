"""From which score on a text may pass without a person, and up to which it may be
rejected.

Thresholds are tried in an order that the scores alone give, so that each may be tested
without a correction. See docs/methods.md, "What may pass without a person". Learn then
Test: Angelopoulos et al. 2021, arXiv 2110.01052; selective risk: Geifman, El-Yaniv
2017, arXiv 1705.08500.
"""

from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.declared import (
    declare,
    percent,
    signed_amount,
    undesired,
)
from judgescope.statistics.selective import grid_of, sources_needed, upper_bound

LEARNED: Final = "Angelopoulos et al. 2021"
DECLARED = declare(
    "triage",
    accept_from=signed_amount(
        "Accept from",
        "the lowest score from which on at most a share α of the texts is bad, with a "
        "chance of 1 - δ",
        LEARNED,
    ),
    accepted_share=percent(
        "Accepted", "share of rated texts with a score from `accept_from` on"
    ),
    accept_error=undesired(
        "Bad among accepted", "share of bad texts among the accepted ones"
    ),
    accept_error_bound=undesired(
        "Bad among accepted, at most",
        "upper bound of that share, with a chance of 1 - δ",
        LEARNED,
    ),
    reject_up_to=signed_amount(
        "Reject up to",
        "the highest score up to which at most a share α of the texts is good, with a "
        "chance of 1 - δ",
        LEARNED,
    ),
    rejected_share=percent(
        "Rejected", "share of rated texts with a score up to `reject_up_to`"
    ),
    reject_error=undesired(
        "Good among rejected", "share of good texts among the rejected ones"
    ),
    reject_error_bound=undesired(
        "Good among rejected, at most",
        "upper bound of that share, with a chance of 1 - δ",
        LEARNED,
    ),
    left_share=percent(
        "Left to people", "share of rated texts that are neither accepted nor rejected"
    ),
)


class ScoredTexts(NamedTuple):
    """Scores of rated texts, 1 for good and 0 for bad ones, and their sources; (n,)
    each, nothing missing.
    """

    score: Floats
    good: Floats
    source: Codes

    @classmethod
    def select(cls, score: Floats, good: Floats, source: Codes) -> "ScoredTexts":
        """The texts that have both; (texts,) each, NaN = missing.

        >>> texts = ScoredTexts.select(
        ...     np.array([1.0, np.nan]), np.ones(2), np.arange(2)
        ... )
        >>> texts.score.tolist()
        [1.0]
        """
        both = np.isfinite(score) & np.isfinite(good)
        return cls(score[both], good[both], source[both])

    @property
    def turned(self) -> "ScoredTexts":
        """The mirror: bad texts are good, and a low score is high."""
        return ScoredTexts(-self.score, 1 - self.good, self.source)


class Passing(NamedTuple):
    """A threshold, the texts from it on, the share of wrong ones among them, and its
    upper bound; no threshold where `why` says so.
    """

    threshold: float | None
    chosen: Flags
    error: float | None
    bound: float | None
    why: str = ""


def accepted(
    texts: ScoredTexts, *, error: float, risk: float, above: float = -np.inf
) -> Passing:
    """The last threshold τ, from the top down, with Beta⁻¹(1 - δ; e n_eff + 1, n_eff (1
    - e)) ≤ α, e the share of bad texts with a score of at least τ.

    All scores are tried, or 20 quantiles of them, from the first with enough sources
    (29 for α = `error` = .1 and δ = `risk` = .05) down to the first that fails; ties
    whole. No threshold at or below `above` is taken: stopping early breaks no promise.
    The promise is for texts like these, each source drawn at random. ValueError for
    shares outside (0, 1). Angelopoulos et al. 2021.

    >>> score = np.repeat([2.0, 1.0], 40)
    >>> good = np.append(np.ones(40), np.tile([1.0, 0.0], 20))
    >>> found = accepted(ScoredTexts(score, good, np.arange(80)), error=0.1, risk=0.05)
    >>> found.threshold, found.error, round(found.bound, 3)  # 1 - .05^(1/40)
    (2.0, 0.0, 0.072)
    """
    if not (0 < error < 1 and 0 < risk < 1):
        raise ValueError(f"error and risk are shares: got {error} and {risk}")
    fewest = sources_needed(error, risk)
    why = f"fewer than {fewest} sources have a score and a rating"
    best = Passing(None, np.zeros(texts.score.size, bool), None, None, why)
    for threshold in grid_of(texts.score).tolist():
        if threshold <= above:
            break
        chosen = texts.score >= threshold
        sources = texts.source[chosen]
        if np.unique(sources).size < fewest:
            continue
        bad = 1 - texts.good[chosen]
        bound = upper_bound(bad, sources, risk)
        if bound > error:
            if best.threshold is None:
                return best._replace(why=_why(bad, bound, sources, error, risk))
            break
        best = Passing(threshold, chosen, float(bad.mean()), bound)
    return best


def _why(bad: Floats, bound: float, sources: Codes, error: float, risk: float) -> str:
    share = float(bad.mean())
    n = int(np.unique(sources).size)
    why = (
        f"of the {bad.size} texts ({n} sources) that come first {share:.0%} are wrong, "
        f"and up to {bound:.0%} may be"
    )
    needed = sources_to_show(share, error, risk)
    if needed:
        return f"{why}; about {needed} such sources would show it"
    return why


def sources_to_show(share: float, error: float, risk: float) -> int | None:
    """The least n with Beta⁻¹(1 - δ; e n + 1, n (1 - e)) ≤ α, one text a source; None
    where the share e of wrong ones is so near to α that 100,000 are too few.

    >>> sources_to_show(0.0, 0.1, 0.05), sources_to_show(0.1, 0.1, 0.05)
    (29, None)
    """
    from scipy.special import betaincinv  # here: asking and parsing load no scipy

    if share >= error:
        return None
    n = np.arange(1, 100_001)
    shown = betaincinv(share * n + 1, n * (1 - share), 1 - risk) <= error
    if shown.any():
        return int(n[shown][0])
    return None


class Sorted(NamedTuple):
    """What passes, what is rejected, and which texts are left to people, (n,)."""

    accept: Passing
    reject: Passing
    """Its threshold is a score: texts up to it are rejected."""
    left: Flags


def triage(texts: ScoredTexts, *, error: float, risk: float) -> Sorted:
    """`accepted` of the good texts and, mirrored, of the bad ones; the rest is left.

    No text is both: rejection ends below the score from which on texts pass. Each of
    the two promises holds with a chance of 1 - δ on its own.

    >>> score = np.repeat([3.0, 2.0, 1.0], 40)
    >>> good = np.concatenate([np.ones(40), np.tile([1.0, 0.0], 20), np.zeros(40)])
    >>> texts = ScoredTexts(score, good, np.arange(120))
    >>> found = triage(texts, error=0.1, risk=0.05)
    >>> found.accept.threshold, found.reject.threshold, int(found.left.sum())
    (3.0, 1.0, 40)
    """
    accept = accepted(texts, error=error, risk=risk)
    above = -np.inf if accept.threshold is None else -accept.threshold
    reject = accepted(texts.turned, error=error, risk=risk, above=above)
    if reject.threshold is not None:
        reject = reject._replace(threshold=-reject.threshold)
    return Sorted(accept, reject, ~(accept.chosen | reject.chosen))
