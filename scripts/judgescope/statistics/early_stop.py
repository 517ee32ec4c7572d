"""When a permutation test may stop early, and how it is named."""

from collections.abc import Callable
from dataclasses import dataclass

from judgescope.statistics.permutation import (
    PERMUTATIONS,
    Flips,
    PairedTest,
    Permute,
)


@dataclass(frozen=True)
class Stop:
    """When a test stops early: the first permutations of a pair that clearly do not
    differ are enough.

    P(p <= a) <= a still holds for every a. Up to the limit a pair is tested with all
    permutations; above it p is that of the first ones, and pairs that went on had a
    smaller one. Besag, Clifford 1991, "Sequential Monte Carlo p-values".
    """

    after: int = PERMUTATIONS
    """So many permutations are always done."""
    above: float = 0.05
    """With a larger p, no others are."""

    def test(self, run: Callable[[Flips], PairedTest], flips: Flips) -> PairedTest:
        """The test with the first permutations, or with all.

        >>> import numpy as np
        >>> flips = np.zeros((30, 2), dtype=bool)
        >>> def all_alike(part: Flips) -> PairedTest:
        ...     return PairedTest(0.0, 1.0, 1.0, len(part))
        >>> Stop(after=10).test(all_alike, flips).n
        10
        """
        first = run(flips[: self.after])
        if len(flips) <= self.after or not first.p <= self.above:
            return first
        return run(flips)


def permuted(
    permute: Permute, permutations: int, stop: Stop | None = None, what: str = ""
) -> str:
    """The words for a permutation test in the column `method`.

    `what` is swapped, if not scores.

    >>> permuted("inputs", 1000)
    'PERM-INPUTS, 1000 permutations, two-sided'
    >>> permuted("inputs", 13_000, Stop())
    'PERM-INPUTS, 1000 permutations, 13000 if their p is at most .05, two-sided'
    """
    count = f"{permutations} permutations"
    if stop and permutations > stop.after:
        limit = f"{stop.above:g}".lstrip("0")
        count = (
            f"{stop.after} permutations, {permutations} if their p is at most {limit}"
        )
    swapped = f" of {what}" if what else ""
    return f"PERM-{permute.upper()}, {count}{swapped}, two-sided"
