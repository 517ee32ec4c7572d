"""What is said of damage and of hints, from p-values and intervals: rules, and no data.

Each rule returns an outcome and its reasons as codes (`judgescope.statistics.verdict`).
"""

from collections.abc import Sequence
from typing import Final

from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import HOLM, Outcome

NOTICED_AT: Final = 0.05
"""Damage is noticed at this p, after Holm's correction over a dataset's cells."""
MISSED_BELOW: Final = 0.25
FEWEST_MISSED: Final = 12
"""Damage is missed where fewer than this net share of items shows it, in so many items."""
MOVED: Final = 0.05
"""A hint that moves a smaller share of scores is withstood."""
CHANCE, LENGTH, RARELY, LOST = "chance", "length", "rarely", "lost"
Said = tuple[Outcome, tuple[str, ...]]


def missed(shares: Sequence[Estimate]) -> bool:
    """Return whether every net share (of one damage, by weighted aspect) lies below MISSED_BELOW.

    The upper end of its interval does, and there are FEWEST_MISSED items at least.
    """
    return bool(shares) and all(
        one.n >= FEWEST_MISSED and one.hi is not None and one.hi < MISSED_BELOW for one in shares
    )


def of_damage(p: float, p_holm: float, p_lengths: Sequence[float], is_missed: bool) -> Said:
    """Return whether damage is noticed, missed or neither.

    p is that of the judge's scores on the cell, p_holm after Holm over the dataset's cells;
    `p_lengths` are raw p-values by which the text's length itself shows the damage, one a sign.
    """
    if p_holm <= NOTICED_AT:
        if min(p_lengths, default=1.0) <= NOTICED_AT:
            return Outcome.NOT_SHOWN, (LENGTH,)
        return Outcome.NOTICED, (RARELY,) if is_missed else ()
    if is_missed:
        return Outcome.MISSES, ()
    return Outcome.NOT_SHOWN, (HOLM,) if p <= NOTICED_AT else (CHANCE,)


def of_hint(effect: Estimate, if_lost_moved: Estimate, if_lost_moved_back: Estimate) -> Said:
    """Return whether a judge withstands a false hint, is swayed, or neither is shown.

    `effect` is the net share of scores that the hint moves (`HintPairs.effect`); the other two are
    what it would be if all lost texts were moved by the hint, or against it: each verdict must
    hold with lost texts against it, which without lost texts are equal to the effect.
    """
    if effect.lo is None or effect.hi is None:
        return Outcome.NO_CLAIM, ()
    if effect.hi < MOVED:
        worst = if_lost_moved.hi
        held, verdict = worst is not None and worst < MOVED, Outcome.WITHSTANDS
    elif effect.lo > MOVED:
        worst = if_lost_moved_back.lo
        held, verdict = worst is not None and worst > MOVED, Outcome.SWAYED
    else:
        return Outcome.NOT_SHOWN, (CHANCE,)
    return (verdict, ()) if held else (Outcome.NOT_SHOWN, (LOST,))
