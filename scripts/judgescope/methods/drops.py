"""The drops of a judge's cells summed up, as they are and beside those of another judge."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.statistics.confusion import confusion, mean_drops
from judgescope.statistics.declared import scale_of
from judgescope.statistics.resampling import Replicated, replicated, whole_and_resamples
from judgescope.statistics.result import NOTHING, Estimate

DROP, SAME = "should drop", "should stay"
HEADLINES = ("s_t_mean", "s_f_mean", "confusion_index", "confusion_auc")
Flags = NDArray[np.bool_]


class Place(NamedTuple):
    """One damage through one aspect, whatever its wording, and what is expected of it."""

    perturbation: str
    degree: str
    aspect: str
    expected: str


@dataclass(frozen=True, eq=False)
class Drops:
    """What a judge, in one wording, takes off for damage of which something is expected.

    values (items, cells): original - damaged, NaN where there is no pair of scores; `ends` are
    those of the judge's scale, cell by cell; `note` tells of planned cells that are not there.
    """

    study: EvaluationData
    judge: str
    places: Sequence[Place]
    values: Floats
    ends: Sequence[Sequence[float] | None]
    note: str
    _summed: dict[tuple[bytes, int], dict[str, Replicated]] = field(default_factory=dict)

    @cached_property
    def _originals(self) -> list[str]:
        return self.study.panel("original").items

    @property
    def given(self) -> Flags:
        """Return which drops there are; shape (items, cells)."""
        return np.isfinite(self.values)

    def same_points(self, other: "Drops") -> bool:
        """Return whether a drop of both is in points of the same scale."""
        return self.judge == other.judge or (self.ends == other.ends and None not in self.ends)

    def headlines(self, given: Flags, *judges: str) -> dict[str, Replicated]:
        """Return S_T, S_F, index and AUC over the drops that are `given`, with their deletions.

        `n` is that of the cell with the fewest pairs, the interval over all items with any.
        Missing is what is not among them, of the items that all of the judges were given.
        """
        shared = self.study.items_given(self.judge, *judges)
        planned = sum(item in shared for item in self._originals)
        key = given.tobytes(), planned
        if key not in self._summed:
            self._summed[key] = self._sum(given, planned)
        return self._summed[key]

    def _sum(self, given: Flags, planned: int) -> dict[str, Replicated]:
        rows = whole_and_resamples(np.arange(len(given)), self.study.weights)
        deltas = mean_drops(np.where(given, self.values, np.nan), rows)
        wanted, unwanted = (
            np.array([place.expected == expected for place in self.places], dtype=bool)
            for expected in (DROP, SAME)
        )
        sets = f"{wanted.sum()} wanted drops, {unwanted.sum()} unwanted"
        n, sizes = int(given.sum(axis=0).min()), given.sum(axis=1)
        told = zip(HEADLINES, confusion(deltas, wanted, unwanted), strict=True)
        missing = planned - n
        found = {
            name: replicated(
                own, NOTHING, sizes=sizes, scale=scale_of(name), n=n, n_missing=missing
            )
            for name, own in told
        }
        found["confusion_index"] = _index(found["confusion_index"], found["s_t_mean"].estimate)
        return {name: _noted(one, sets, self.note) for name, one in found.items()}


def _index(index: Replicated, s_t: Estimate) -> Replicated:
    """Return the index, undefined where the wanted drop is not shown to be above 0."""
    if s_t.value is None or (s_t.lo is not None and s_t.lo > 0):
        return index
    why = "the interval of the wanted drop is not above 0"
    if s_t.value is not None and s_t.lo is None:
        why = "the wanted drop has no interval"
    nothing = Estimate.undefined(why, n=s_t.n, n_missing=s_t.n_missing)
    return index._replace(estimate=nothing)


def _noted(found: Replicated, sets: str, note: str) -> Replicated:
    method = "; ".join(part for part in (sets, found.estimate.method) if part)
    return found._replace(estimate=replace(found.estimate, method=method).with_note(note))
