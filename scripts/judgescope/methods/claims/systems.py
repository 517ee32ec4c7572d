"""Preferences for systems: the null, and how far a claim reaches.

Where texts come from named systems, a claim must also beat a judge that prefers some
of them for reasons unrelated to quality (`statistics.systems`). That null is asked
only where its p can pass Holm's correction.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.statistics.arrays import Codes
from judgescope.statistics.systems import (
    SystemBlocks,
    can_be_asked,
    permutations_of,
    system_blocks,
)


@dataclass(frozen=True, eq=False)
class SystemPreference:
    """The systems that wrote some rated texts; source, system (texts,) each."""

    study: EvaluationData
    source: Codes
    system: Codes

    @cached_property
    def m(self) -> int:
        """The number of systems; 0 where nobody knows who wrote the texts."""
        if self.study.spec.anonymous_systems:
            return 0
        return np.unique(self.system).size

    @cached_property
    def blocks(self) -> SystemBlocks:
        """Systems by blocks of sources that share them."""
        return system_blocks(self.source, self.system)

    def asked(self, family: int) -> bool:
        """Whether the test can pass Holm's correction over `family` claims."""
        return self.m > 1 and can_be_asked(self.blocks, family)

    @cached_property
    def drawn(self) -> Codes:
        """The permutations of systems, the same for every judge."""
        blocks = tuple(tuple(block.tolist()) for block in self.blocks.permuted)
        return _permutations(self.study.spec.seed, self.m, self.blocks.columns, blocks)


# A page asks for the same few sets once an aspect, and again without each system.
@lru_cache(maxsize=16)
def _permutations(
    seed: int, m: int, columns: int, permuted: tuple[tuple[int, ...], ...]
) -> Codes:
    """Permutations of so many columns within blocks of them; `m` names the stream."""
    blocks = tuple(np.array(block) for block in permuted)
    design = SystemBlocks(np.arange(columns), np.zeros(columns, dtype=int), blocks)
    drawn = permutations_of(design, stream(seed, "claims", "systems", m))
    drawn.flags.writeable = False
    return drawn
