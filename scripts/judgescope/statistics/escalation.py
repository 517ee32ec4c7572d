"""Cascades that end at a person: what no judge is sure of is rated by people.

A judge's verdict is accepted where its confidence reaches its threshold; else the next
judge is asked, and after the last one a person. The thresholds come with one guarantee
for the whole cascade: at most a share α of the verdicts that judges give is wrong,
except with probability δ. (docs/methods.md, "What to buy")
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.declared import declare, percent, undesired
from judgescope.statistics.selective import grid_of, sources_needed, upper_bound

DECLARED: Final = declare(
    "escalation",
    cascade_error=undesired(
        "Error of the judges' verdicts",
        "share of wrong verdicts among the cases that a cascade leaves to no person",
        "Geifman, El-Yaniv 2017; Angelopoulos et al. 2021",
        complete=True,
    ),
    left_to_people=percent(
        "Left to people",
        "share of the cases of which no judge of a cascade is sure enough",
        complete=True,
    ),
)


class SureJudge(NamedTuple):
    """A judge of a cascade: how sure it is of each case, and whether it is right.

    confidence, right: (cases,), NaN where it has none; such a case is passed on.
    """

    confidence: Floats
    right: Floats


class Taken(NamedTuple):
    """What each judge of a cascade decides: the share of cases that it is asked, those
    that a judge decides and whether wrongly, (cases,) each.
    """

    asked: tuple[float, ...]
    decided: Flags
    wrong: Floats


class Cascade(NamedTuple):
    """The thresholds of a cascade that keeps its guarantee, or why there are none.

    asked: the share of cases that each judge is asked; left: that which a person rates;
    error: the share of wrong verdicts among the rest, bound: the most that it may be.
    """

    thresholds: tuple[float, ...] | None
    asked: tuple[float, ...]
    left: float
    error: float | None
    bound: float | None
    why: str = ""

    def price(self, prices: Sequence[float], per_rating: float) -> float:
        """Return what 1,000 cases cost: judges by what 1,000 judgments of each cost, a
        person by the price of a rating.

        >>> cascade = Cascade((0.9, 0.8), (1.0, 0.5), 0.1, 0.02, 0.08)
        >>> cascade.price([0.2, 4.0], 0.5)
        52.2
        """
        judges = sum(
            share * price for share, price in zip(self.asked, prices, strict=True)
        )
        # A person gives one rating of each case that is left.
        ratings_a_case = 1
        people = 1000 * self.left * ratings_a_case * per_rating
        return float(round(judges + people, 9))


def taken_by(judges: Sequence[SureJudge], thresholds: Sequence[float]) -> Taken:
    """Return what a cascade decides with these thresholds, one a judge.

    >>> first = SureJudge(np.array([0.9, 0.4, 0.3]), np.array([1.0, 1.0, 0.0]))
    >>> second = SureJudge(np.array([0.9, 0.9, 0.2]), np.array([0.0, 0.0, 0.0]))
    >>> taken = taken_by([first, second], (0.8, 0.5))
    >>> [round(share, 2) for share in taken.asked], taken.decided.tolist()
    ([1.0, 0.67], [True, True, False])
    >>> taken.wrong.tolist()[:2]
    [0.0, 1.0]
    """
    n = judges[0].right.size
    left: Flags = np.ones(n, dtype=bool)
    wrong = np.full(n, np.nan)
    asked = list[float]()
    for judge, threshold in zip(judges, thresholds, strict=True):
        asked.append(float(left.mean()))
        accepted = left & (judge.confidence >= threshold) & ~np.isnan(judge.right)
        wrong[accepted] = 1 - judge.right[accepted]
        left = left & ~accepted
    return Taken(tuple(asked), ~left, wrong)


def cascade_from(
    judges: Sequence[SureJudge],
    source: Codes,
    *,
    error: float = 0.1,
    risk: float = 0.05,
) -> Cascade:
    """Return the cascade that leaves the fewest cases to a person, while at most
    `error` of the judges' verdicts are wrong, except with probability `risk`.

    judges: in the order in which they are asked; source (cases,). The thresholds of all
    judges descend together, each over quantiles of its own confidences, and stop before
    the first bound above `error` (as `confidence_from`, which is the case of one
    judge): a sequence fixed by the confidences alone needs no correction for the number
    of thresholds or of judges (Angelopoulos et al. 2021, "Learn then Test"). Undefined
    where no judge has a confidence, where the surest verdicts of enough sources are
    wrong too often, or where there are fewer sources (29 for .1 and .05). ValueError
    for shares outside (0, 1).

    >>> c = np.repeat([0.9, 0.5], [40, 40])
    >>> right = np.concatenate([np.ones(40), np.tile([1.0, 0.0], 20)])
    >>> found = cascade_from([SureJudge(c, right)], np.arange(80))
    >>> found.thresholds, found.left, round(found.bound, 3)
    ((0.9,), 0.5, 0.072)
    """
    if not (0 < error < 1 and 0 < risk < 1):
        raise ValueError(f"error and risk are shares: got {error} and {risk}")
    fewest = sources_needed(error, risk)
    nobody = tuple(1.0 for _ in judges)
    grids = list[Floats]()
    for judge in judges:
        known = ~(np.isnan(judge.confidence) | np.isnan(judge.right))
        grids.append(grid_of(judge.confidence[known]))
    if any(grid.size == 0 for grid in grids):
        return Cascade(None, nobody, 1.0, None, None, "a judge has no confidence")
    why = f"fewer than {fewest} sources accepted"
    best = Cascade(None, nobody, 1.0, None, None, why)
    for step in range(max(grid.size for grid in grids)):
        thresholds = tuple(float(grid[min(step, grid.size - 1)]) for grid in grids)
        taken = taken_by(judges, thresholds)
        wrong = taken.wrong[taken.decided]
        sources = source[taken.decided]
        if np.unique(sources).size < fewest:
            continue
        bound = upper_bound(wrong, sources, risk)
        share = float(wrong.mean())
        if bound > error:
            if best.thresholds is None:
                why = (
                    f"of the {wrong.size} surest verdicts up to {100 * bound:.0f} % "
                    "may be wrong"
                )
                return Cascade(None, nobody, 1.0, share, bound, why)
            break
        left = 1 - wrong.size / source.size
        best = Cascade(thresholds, taken.asked, left, share, bound)
    return best
