"""How often the text that is shown first is chosen, by a judge and by people.

It needs no second order of the pairs: people saw the same order. A judge that chooses
the first text far more often than people do prefers a place, not a text.
"""

import numpy as np

from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.declared import ValueRange, declare, percent
from judgescope.statistics.intervals import ACCURACY, IntervalScale, deletions
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate

DECLARED = declare(
    "first_choices",
    first_choices=percent(
        "First text chosen",
        "share of the pairs that judge and people have judged in which the text shown "
        "first is chosen, a tie counting half",
        scaled=ACCURACY,
    ),
    first_choices_gap=percent(
        "First text chosen, judge minus people",
        "share of first choices of the judge minus that of people, on the same pairs",
        range=ValueRange.SIGNED,
    ),
)


def first_choices(
    judge: Floats, people: Floats, source: Codes
) -> tuple[Estimate, Estimate, Estimate]:
    """The shares of first choices of the judge and of people, and their difference.

    judge, people (pairs,): from -1, the second text, to 1, the first; 0 for neither,
    NaN = missing; source (pairs,). Only pairs with both count. Intervals by the
    jackknife over sources, of the difference pair by pair.

    >>> judge = np.array([1.0, 1.0, 1.0, 0.0])
    >>> people = np.array([1.0, -1.0, -1.0, 1.0])
    >>> shares = first_choices(judge, people, np.arange(4))
    >>> [share.value for share in shares]
    [0.875, 0.5, 0.375]
    """
    both = ~(np.isnan(judge) | np.isnan(people))
    _, sources = np.unique(source[both], return_inverse=True)
    weights = deletions(int(sources.max(initial=-1)) + 1)
    share_of_judge = (1 + judge[both]) / 2
    share_of_people = (1 + people[both]) / 2
    lost = int((~both).sum())
    gap = IntervalScale("plain", -1.0, 1.0)
    shares = []
    for share, scale in (
        (share_of_judge, ACCURACY),
        (share_of_people, ACCURACY),
        (share_of_judge - share_of_people, gap),
    ):
        shares.append(
            clustered_mean(share, sources, weights, lost, scale=scale).estimate
        )
    return shares[0], shares[1], shares[2]
