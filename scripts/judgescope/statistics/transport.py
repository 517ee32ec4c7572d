"""May a correction that rated sources give be carried over to the others?

Where the rated sources differ from the rest in what the judge errs on, no corrected
number is right. A test of scores and lengths cannot see a bias that differs at the same
score. See docs/methods.md, "What the systems really score"; the idea of a check before
a correction: Landesberg, Narayan 2025, "Causal Judge Evaluation", arXiv 2512.11150.
"""

from typing import Final

import numpy as np

from judgescope.statistics.arrays import Floats
from judgescope.statistics.corrected import RatedSample, judge_weight
from judgescope.statistics.intervals import TOLERANCE

LEVEL: Final = 0.05


def welch_p(first: Floats, second: Floats) -> float:
    """The two-sided p of equal means, t = (m1 - m2)/√(v1/n1 + v2/n2), of unequal
    variances.

    (n1,), (n2,); degrees of freedom after Welch 1947. NaN below two values on a side; 1
    where neither side varies and the means are equal, 0 where they differ.

    >>> first, second = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0, 8.0])
    >>> round(welch_p(first, second), 4)
    0.0999
    """
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    if min(first.size, second.size) < 2:
        return float("nan")
    a = float(first.var(ddof=1)) / first.size
    b = float(second.var(ddof=1)) / second.size
    gap = float(first.mean() - second.mean())
    if a + b <= TOLERANCE**2:
        if abs(gap) <= TOLERANCE:
            return 1.0
        return 0.0
    freedom = (a + b) ** 2 / (a**2 / (first.size - 1) + b**2 / (second.size - 1))
    return float(2 * stdtr(freedom, -abs(gap) / np.sqrt(a + b)))


def slope_p(x: Floats, y: Floats) -> float:
    """The two-sided p of Pearson's r = 0, t = r √((n - 2)/(1 - r²)); (n,) each.

    NaN below 3 pairs or where x or y does not vary.

    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> round(slope_p(x, np.array([1.0, 3.0, 2.0, 5.0])), 4)
    0.1685
    """
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    if x.size < 3 or np.ptp(x) <= TOLERANCE or np.ptp(y) <= TOLERANCE:
        return float("nan")
    r = float(np.corrcoef(x, y)[0, 1])
    rest = 1 - r * r
    if rest <= TOLERANCE:
        return 0.0
    t = abs(r) * np.sqrt((x.size - 2) / rest)
    return float(2 * stdtr(x.size - 2, -t))


def allowed_outside(n: int) -> float:
    """max(.1, the 95 % quantile of Beta(2, n - 1)): which share of unrated sources may
    have scores outside the range of n rated ones.

    A random sample of n leaves a share of Beta(2, n - 1) outside its range: at n = 20
    more than a tenth in 4 of 10 draws, so a limit of a tenth alone would refuse good
    samples. (docs/methods.md, "What the systems really score")

    >>> round(allowed_outside(20), 3), allowed_outside(100)
    (0.216, 0.1)
    """
    from scipy.special import betaincinv  # here: asking and parsing load no scipy

    # The share of unrated sources that may lie outside the range of the rated ones.
    most_outside = 0.1
    return max(most_outside, float(betaincinv(2, n - 1, 1 - LEVEL)))


def why_refused(sample: RatedSample, lengths: Floats, others: Floats) -> str:
    """Why a sample's mean is not corrected, "" if it may be.

    lengths (n,), others (N,): mean length of the texts of rated and of unrated sources,
    NaN where unknown. Refused if more unrated sources than `allowed_outside` have a
    score outside the range of rated ones; or if y - λ f changes with length among rated
    sources (p of `slope_p` at most .05) and their lengths differ from the others'
    (`welch_p` at most .05).

    >>> rated = np.arange(20.0)
    >>> sample = RatedSample(rated, rated, np.arange(100.0))
    >>> nothing = np.empty(0)
    >>> why_refused(sample, np.full(20, np.nan), np.full(100, np.nan))
    '80 % of unrated sources have scores outside the range of rated ones'
    """
    if sample.n < 2 or sample.others.size < 2:
        return ""
    low = sample.judged.min()
    high = sample.judged.max()
    outside = (sample.others < low - TOLERANCE) | (sample.others > high + TOLERANCE)
    share = float(outside.mean())
    if share > allowed_outside(sample.n):
        return (
            f"{share:.0%} of unrated sources have scores outside the range of rated "
            "ones".replace("%", " %")
        )
    known = np.isfinite(lengths)
    rest = (sample.rated - judge_weight(sample) * sample.judged)[known]
    drift = slope_p(lengths[known], rest)
    shift = welch_p(lengths[known], others[np.isfinite(others)])
    if drift <= LEVEL and shift <= LEVEL:
        return (
            "the judge's error changes with length among rated sources (p "
            f"{drift:.2g}), and their texts are not as long as the others' (p "
            f"{shift:.2g})"
        )
    return ""


def differences_noted(sample: RatedSample, lengths: Floats, others: Floats) -> str:
    """In what rated sources differ from the others at p <= .05: scores, length; or "".

    Arguments as in `why_refused`.

    >>> judged, others = np.arange(20.0), np.arange(20.0) + 9
    >>> unknown = np.full(20, np.nan)
    >>> differences_noted(RatedSample(judged, judged, others), unknown, unknown)
    'warning: rated sources differ from the others in scores (p 2.4e-05)'
    """
    parts = []
    tested = {
        "scores": (sample.judged, sample.others),
        "length": (lengths[np.isfinite(lengths)], others[np.isfinite(others)]),
    }
    for name, (first, second) in tested.items():
        p = welch_p(first, second)
        if p <= LEVEL:
            parts.append(f"{name} (p {p:.2g})")
    if not parts:
        return ""
    return f"warning: rated sources differ from the others in {' and '.join(parts)}"
