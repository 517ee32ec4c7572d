"""How the studies of one planted judge are counted, and when a bar is missed."""

from collections import Counter
from dataclasses import dataclass, field

from scipy.stats import binom

from judgescope.data.planted import DEFECTS

ALLOWED = {
    "longer": {"halo"},
    "shorter": {"halo"},
    "noisy": {"shorter", "own-family"},
}
"""Defect -> other names that it may have, too.

A preference for length is common to all aspects, as a halo is. The scale cuts off noise
at its ends, so the mean of noisy draws is nearer the middle: it follows length less
than people do, and differs less between good and bad systems.
"""


@dataclass
class Tally:
    """How a defect of one strength fared: studies, those that name it, and notes."""

    defect: str
    strength: str
    expected: str
    stated: bool = True
    studies: int = 0
    found: int = 0
    others: Counter[str] = field(default_factory=Counter)

    def add(self, is_found: bool, *others: str) -> None:
        """Count one study; `others`: what was said as well, or instead."""
        self.studies += 1
        self.found += is_found
        self.others.update(others)

    @property
    def passes(self) -> bool:
        """Return whether found in 95 % of studies is not refuted, where it must be."""
        return not self.stated or self.found >= least_found(self.studies)


def least_found(studies: int) -> int:
    """Return the least number of studies at which a true share of .95 is not refuted.

    >>> least_found(100), least_found(10)
    (91, 8)
    """
    return int(binom.ppf(0.05, studies, 0.95))


def most_in_vain(studies: int) -> int:
    """Return the largest number of studies at which a true share of .05 is not refuted.

    >>> most_in_vain(200)
    15
    """
    return int(binom.isf(0.05, studies, 0.05))


def strengths_of(defect: str) -> list[tuple[float, str, bool]]:
    """Return each strength of a defect, in words, and whether it is the stated one."""
    known = DEFECTS[defect]
    if not known.unit:
        return [(known.stated, "–", True)]
    return [(one, f"{one:.3g}", one == known.stated) for one in known.strengths]


def count_names(tally: Tally, names: set[str]) -> None:
    """Count a study: its defect is found if it is named and no name is wrong."""
    others = names - {tally.defect}
    wrong = others - ALLOWED.get(tally.defect, set())
    tally.add(tally.defect in names and not wrong, *others)
