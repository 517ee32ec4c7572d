"""What to put where a judgment is missing, for sensitivity runs.

The study key `missing` names it; by default nothing missing becomes a number.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

from judgescope.parsing.judgment import Scale

if TYPE_CHECKING:
    from numpy.random import Generator

Policy = Literal["drop", "worst", "mid", "random"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


def apply_policy(
    values: Iterable[float | None],
    policy: Policy,
    scale: Scale,
    rng: "Generator | None" = None,
) -> list[float | None]:
    """Return the values with each missing one (None or NaN) replaced as the policy says.

    drop: None, which stays out of every mean; worst: the scale's minimum; mid: its middle value,
    of two the lower; random: uniform over the grid, or the interval where there is no step, drawn
    from `rng` in the order of the values. ValueError for another policy, or random without `rng`.
    """
    if policy not in POLICIES:
        raise ValueError(f"no policy {policy!r} for unparsed replies; there are {POLICIES}")
    known = [None if value is None or math.isnan(value) else value for value in values]
    if policy == "drop":
        return known
    return [_filling(policy, scale, rng) if value is None else value for value in known]


def _filling(policy: Policy, scale: Scale, rng: "Generator | None") -> float:
    grid = scale.grid()
    if policy == "worst":
        return scale.min
    if policy == "mid":
        return grid[(len(grid) - 1) // 2] if grid else (scale.min + scale.max) / 2
    if rng is None:
        raise ValueError("the policy random needs a generator")
    return grid[int(rng.integers(len(grid)))] if grid else float(rng.uniform(scale.min, scale.max))
