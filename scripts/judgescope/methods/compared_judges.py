"""Which judges of a study are compared, and how many tests they have."""

from collections.abc import Iterable
from itertools import combinations
from math import isnan
from typing import Final, NamedTuple

import numpy as np

from judgescope.methods.base import present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.statistics import permutation
from judgescope.statistics.arrays import Codes
from judgescope.statistics.early_stop import Stop
from judgescope.statistics.result import REASONS, Estimate

MANY_JUDGES: Final = 10
"""With more judges, controls not counted, the number that decides is tested alone."""


class JudgesCompared(NamedTuple):
    """The judges that a study compares, and how many tests they have.

    With more than MANY_JUDGES the number that decides is tested alone, unless the study
    names statistics or levels; a pair that clearly does not differ has few
    permutations; controls are not compared with each other.
    """

    names: list[str]
    controls: set[str]
    all_tested: bool

    @classmethod
    def of(cls, study: EvaluationData) -> "JudgesCompared":
        """The judges that the study's key `comparison` names, or all."""
        settings = present(study.spec.comparison)
        names = list[str]()
        controls = set[str]()
        for name, card in study.spec.judges.items():
            if (not settings.judges or name in settings.judges) and not card.hint:
                names.append(name)
                if card.engine == "control":
                    controls.add(name)
        return cls(names, controls, settings.all_tested)

    @property
    def are_many(self) -> bool:
        """Whether there are more than MANY_JUDGES."""
        return len(self.names) - len(self.controls) > MANY_JUDGES

    @property
    def decided_alone(self) -> bool:
        """Whether the number that decides is tested alone."""
        return self.are_many and not self.all_tested

    @property
    def stop(self) -> Stop | None:
        """When a test stops early, None for never."""
        if self.are_many:
            return Stop()
        return None

    def pairs(self, scored: Iterable[str]) -> list[tuple[str, str]]:
        """The pairs of judges that have scores which are compared."""
        pairs = list(combinations(scored, 2))
        if not self.are_many:
            return pairs
        return [pair for pair in pairs if not self.controls.issuperset(pair)]

    def about_letters(self, judge: str) -> str:
        """What is not exact about a judge's letters, "" for nothing."""
        if not self.are_many:
            return ""
        about = (
            f"more than {MANY_JUDGES} judges: pairs that 1,000 permutations do not "
            "separate have no others"
        )
        if judge in self.controls and len(self.controls) > 1:
            about += "; not tested against other controls"
        return about


def p_value(p: float, n: int, method: str) -> Estimate:
    """The estimate of a p-value; undefined where a judge is."""
    if isnan(p):
        return Estimate.undefined(REASONS.undefined_judge, n=n, method=method)
    return Estimate(float(p), n=n, method=method)


def units_of(panel: TargetSet, permute: permutation.Permute) -> Codes:
    """What a permutation swaps together: each target's source, system or itself."""
    units = {"inputs": panel.source, "systems": panel.system}
    return units.get(permute, np.arange(len(panel.targets)))
