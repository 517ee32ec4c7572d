"""Texts in a row, each with one error more: does a judge see the order (paper 002, local)?

Whoever made them knows the order, and no person has to rate anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.core.cells import split
from judgescope.methods.base import Row
from judgescope.methods.differences import Means, mean_rows
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats, TargetSet
from judgescope.methods.views import RULES
from judgescope.statistics.means import mean_over
from judgescope.statistics.order import (
    OrderedPairs,
    accuracy_by_step,
    accuracy_grid,
    ordered_accuracy,
    ordered_pairs,
)
from judgescope.statistics.resampling import Replicated

LOCAL: Final = "local"
"""The level of these rows."""
AVERAGED: Final = ("accuracy_adjacent", "accuracy_adjacent_half")
MADE = ("ok", "short")


@dataclass(frozen=True, eq=False)
class InARow:
    """A judge's scores of originals and of the texts made from them, step by step; (texts,) each.

    `place` is 0 for an original, else the number of errors; `source` the code of the item.
    """

    study: EvaluationData
    scores: Floats
    lengths: Floats
    source: Codes
    place: Codes

    @property
    def pairs(self) -> OrderedPairs:
        """Return every two texts of one item."""
        return ordered_pairs(self.source, self.place)

    def neighbours(self) -> dict[str, Replicated]:
        """Return the four accuracies on texts of which one has a single error more."""
        pairs = self.pairs.apart(1)
        told = ordered_accuracy(self.scores, pairs, self.source, self.study.weights)
        return {name: told[rule] for rule, name in RULES.items()}

    def further(self) -> Iterator[tuple[str, dict[str, int], Replicated]]:
        """Yield I(k) for every k, and the accuracy for every two places, strict."""
        told = self.scores, self.pairs, self.source, self.study.weights
        for k, found in accuracy_by_step(*told).items():
            yield "accuracy_apart", {"k": k}, found["strict"]
        for (high, low), found in accuracy_grid(*told).items():
            yield "accuracy_places", {"k": high, "k_b": low}, found["strict"]


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield every judge's accuracies on each row of texts, their means, and differences."""
    for judge in study.spec.judges:
        for name, degree in study.spec.in_a_row:
            place: Row = {"perturbation": name, "degree": degree}
            for aspect in study.spec.aspects:
                if (own := in_a_row(study, f"{name}.{degree}", judge, aspect)) is None:
                    continue
                for statistic, found in own.neighbours().items():
                    told = found.estimate
                    yield study.row(judge, aspect, statistic, LOCAL, told, **place)
                for statistic, where, found in own.further():
                    told = found.estimate
                    yield study.row(judge, aspect, statistic, LOCAL, told, **place, **where)
    yield from mean_rows(study, partial(_means, study), LOCAL)


def _means(study: EvaluationData, judge: str, *others: str) -> Means:
    """Return a judge's means over rows of texts, of the items that all of some were given."""
    averaged: dict[tuple[str | None, str], list[Replicated]] = {}
    for name, degree in study.spec.in_a_row:
        for aspect in study.spec.aspects:
            own = in_a_row(study, f"{name}.{degree}", judge, aspect, *others)
            for statistic, found in own.neighbours().items() if own else ():
                if statistic in AVERAGED:
                    averaged.setdefault((split(aspect)[1], statistic), []).append(found)
    return {key: mean_over(each, of="rows of texts") for key, each in averaged.items()}


def in_a_row(
    study: EvaluationData, name: str, judge: str, aspect: str, *others: str
) -> InARow | None:
    """Return a judge's scores of a row on one aspect; None where it does not judge it."""
    worse = study.panel(name).given(judge, *others)
    after, made = worse.scores(judge, aspect), _made(worse)
    if after is None:
        return None
    if "original" not in study.spec.targets:  # the dataset brings the row, from its first text
        return InARow(study, after, worse.lengths, worse.source, _steps(worse))
    original = study.panel("original").given(judge, *others)
    before = original.scores(judge, aspect)
    if before is None:
        return None
    return InARow(
        study,
        np.concatenate([before, after[made]]),
        np.concatenate([original.lengths, worse.lengths[made]]),
        np.concatenate([original.source, worse.source[made]]),
        np.concatenate([np.zeros_like(original.source), _steps(worse)[made]]),
    )


def _made(worse: TargetSet) -> NDArray[np.bool_]:
    """Return which texts could be made."""
    told = worse.rows["status"].to_pylist()
    return np.array([one.partition(":")[0] in MADE for one in told], dtype=bool)


def _steps(worse: TargetSet) -> Codes:
    """Return how many errors more than its original each text has."""
    return np.array(worse.rows["step"].to_pylist(), dtype=np.int64)
