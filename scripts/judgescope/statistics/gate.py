"""Is a judge still the one that was tested? New draws of frozen anchors beside those of
its baseline.

If nothing has changed, the m draws of the baseline and a new one are exchangeable: any
of the m + 1 could have come last. Anchors are independent. See docs/methods.md, "Is the
judge still the same?".
"""

from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.declared import declare, p_value, percent

DECLARED = declare(
    "gate",
    p_drift_right=p_value(
        "p, fewer right verdicts",
        "null hypothesis: new draws of the anchors and those of the baseline are "
        "exchangeable; against fewer verdicts that equal people's",
    ),
    p_drift_change=p_value(
        "p, other verdicts",
        "the same null hypothesis, against fewer verdicts that equal an anchor's most "
        "frequent one",
    ),
    gate_power=percent(
        "Power of a look",
        "share of simulated looks that alarm after a fall of the true negative rate",
    ),
)
ALPHA: Final = 0.05
FEWEST_DRAWS: Final = 5
"""Draws of an anchor's baseline."""
FEWEST_ANCHORS: Final = 20


class Drift(NamedTuple):
    """What one look says: both p, how many anchors were right before and now, and of
    how many; `alarm`: whether the judge has moved at the level of this look.
    """

    p_right: float
    p_change: float
    right_before: float
    right_now: float
    anchors: int
    level: float

    @property
    def alarm(self) -> bool:
        """Whether one p is at most half of the level; a NaN p never is."""
        return min_known(self.p_right, self.p_change) <= self.level / 2


def min_known(*values: float) -> float:
    """The least value that is no NaN, 1 if all are.

    >>> min_known(float("nan"), 0.2), min_known(float("nan"))
    (0.2, 1.0)
    """
    return float(min((value for value in values if value == value), default=1.0))


def level_of_look(look: int, horizon: int | None) -> float:
    """.05 / H of a declared number of looks H, else .05 / (t (t + 1)) at look t, from
    1: over all looks an alarm without drift has a chance of at most .05.

    ValueError for a look before the first or beyond the horizon.

    >>> level_of_look(3, 10), round(level_of_look(3, None), 5)
    (0.005, 0.00417)
    """
    if look < 1 or (horizon is not None and look > horizon):
        raise ValueError(f"look {look} is not one of 1 to {horizon or 'any number'}")
    if horizon:
        return ALPHA / horizon
    return ALPHA / (look * (look + 1))


def p_at_most(hits: Codes, draws: int, seen: int) -> float:
    """P(S <= s), S = Σ_a Bernoulli(hits_a / draws): the exact distribution, convolved.

    hits (anchors,): how many of an anchor's draws, the new one included, are hits;
    `seen`: how many anchors are hits in the new draw. Given the hits each draw is as
    likely to be the new one. ValueError for hits outside 0 … draws.

    >>> round(p_at_most(np.array([1, 1]), 2, 0), 3), p_at_most(np.array([2, 0]), 2, 1)
    (0.25, 1.0)
    """
    if hits.size and not 0 <= hits.min() <= hits.max() <= draws:
        raise ValueError(f"hits must be from 0 to {draws}")
    from scipy.special import gammaln  # here: asking and parsing load no scipy

    chances = np.ones(1)
    for count, anchors in zip(*np.unique(hits, return_counts=True), strict=True):
        p = count / draws
        k = np.arange(anchors + 1)
        if p in (0.0, 1.0):
            # Below, 0 log 0 would be NaN.
            part = (k == anchors * p).astype(float)
        else:
            ways = gammaln(anchors + 1) - gammaln(k + 1) - gammaln(anchors - k + 1)
            part = np.exp(ways + k * np.log(p) + (anchors - k) * np.log1p(-p))
        chances = np.convolve(chances, part)
    return float(min(1.0, chances[: seen + 1].sum()))


def modes(draws: Floats) -> Floats:
    """Each anchor's most frequent value, of tied ones the least; (anchors,).

    draws (anchors, draws), NaN = unread, which is a value of its own: NaN is returned
    where more draws are unread than have any other value.

    >>> modes(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, np.nan]])).tolist()
    [1.0, 0.0]
    >>> modes(np.array([[np.nan, np.nan, 0.0]])).tolist()
    [nan]
    """
    values = np.unique(draws[np.isfinite(draws)])
    if not values.size:
        return np.full(len(draws), np.nan)
    counts = np.array([(draws == value).sum(axis=1) for value in values])
    modes_of = values[counts.argmax(axis=0)]
    unread = np.isnan(draws).sum(axis=1)
    return np.where(counts.max(axis=0) >= unread, modes_of, np.nan)


def is_mode(draws: Floats) -> Flags:
    """Whether each draw is its anchor's most frequent one, of `modes`; as draws.

    >>> is_mode(np.array([[1.0, 1.0, 0.0], [np.nan, np.nan, 1.0]])).tolist()
    [[True, True, False], [True, True, False]]
    """
    modal = modes(draws)[:, None]
    repeats: Flags = (draws == modal) | (np.isnan(draws) & np.isnan(modal))
    return repeats


def repeated_share(draws: Floats) -> float:
    """Share of the draws (anchors, draws) that are the most frequent of their anchor.

    >>> repeated_share(np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]))
    0.875
    """
    return float(is_mode(draws).mean())


def drift(baseline: Floats, new: Floats, people: Floats, level: float = ALPHA) -> Drift:
    """The two tests of one look: fewer right verdicts, and fewer equal to the mode.

    baseline (anchors, m), new (anchors,): verdicts, NaN = unread, which is wrong and a
    verdict of its own; people (anchors,): the right verdict, NaN where it is not
    known (the first test leaves these anchors out, and has no p without any). The mode
    is that of all m + 1 draws: the baseline's alone would treat the new draw unlike the
    others, so that they were not exchangeable. ValueError below 5 draws.

    >>> baseline = np.ones((40, 10))
    >>> new = np.where(np.arange(40) < 6, 0.0, 1.0)
    >>> found = drift(baseline, new, np.ones(40))
    >>> found.alarm, found.right_before, found.right_now
    (True, 1.0, 0.85)
    """
    anchors, m = baseline.shape
    if m < FEWEST_DRAWS:
        raise ValueError(f"{m} draws of an anchor: {FEWEST_DRAWS} are needed")
    every = np.column_stack([baseline, new])
    known: Flags = np.isfinite(people)
    right = every == people[:, None]
    p_right = float("nan")
    before = now = float("nan")
    if known.any():
        counts = right[known].sum(axis=1)
        p_right = p_at_most(counts, m + 1, int(right[known, -1].sum()))
        before = float(right[known, :-1].mean())
        now = float(right[known, -1].mean())
    same = is_mode(every)
    p_change = p_at_most(same.sum(axis=1), m + 1, int(same[:, -1].sum()))
    return Drift(p_right, p_change, before, now, anchors, level)


def power_of_fall(
    baseline: Floats, people: Floats, fall: float, level: float, seed: int = 0
) -> float:
    """The share of 500 simulated looks that alarm after some right verdicts on
    negative anchors have turned for good.

    baseline (anchors, m), people (anchors,), 0 = negative; fall: by how much the share
    of right verdicts on negative anchors falls. An anchor's new draw is one of its
    baseline's, and of negative anchors whose draw is right it is wrong with the chance
    fall / (their share of right ones). NaN without negative anchors or where the fall
    is larger than that share.

    >>> baseline = np.zeros((100, 10))
    >>> power_of_fall(baseline, np.zeros(100), 0.2, 0.05)
    1.0
    """
    negative = people == 0
    share = 0.0
    if negative.any():
        share = float((baseline[negative] == 0).mean())
    if not 0 < fall <= share:
        return float("nan")
    rng = np.random.default_rng(seed)
    alarms = 0
    rows = np.arange(len(baseline))
    simulated = 500
    for _ in range(simulated):
        new = baseline[rows, rng.integers(0, baseline.shape[1], rows.size)]
        turned = negative & (new == 0) & (rng.random(rows.size) < fall / share)
        alarms += drift(baseline, np.where(turned, 1.0, new), people, level).alarm
    return alarms / simulated
