"""Graded sets, texts of every rating: does a judge find the rating (paper 002, global)?

Whoever built a set knows the ratings, and no person has to rate anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, Final

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import Row
from judgescope.methods.differences import Means, mean_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet, aligned
from judgescope.methods.specs import GradedTexts, present
from judgescope.methods.views import Said
from judgescope.schema.tables import read_table
from judgescope.statistics.kappa import confusion_counts, on_classes
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

GLOBAL: Final = "global"
"""The level of these rows."""
STATISTICS: Final = ("kappa_linear", "cem_ord")
AGAINST: Final = "against the rating of the graded set"


@dataclass(frozen=True, eq=False)
class Graded:
    """A judge's view of a graded set: its classes of the texts beside their ratings."""

    study: EvaluationData
    panel: TargetSet
    ratings: Floats
    classes: list[float]
    said: Said

    @cached_property
    def found(self) -> dict[str, Replicated]:
        """Return kappa and CEM-ORD over the full list of classes, with their replicates."""
        if self.said.classes is None:
            nothing = Estimate.undefined(self.said.why)
            rows = np.full(len(self.study.weights) + 1, np.nan)
            return dict.fromkeys(STATISTICS, Replicated(nothing, rows))
        told = (self.ratings, self.said.classes, self.classes, self.panel.source)
        return {name: on_classes(*told, self.study.weights)[name] for name in STATISTICS}

    def confusion(self) -> Iterator[tuple[int, int, Estimate]]:
        """Yield (class of the rating, the judge's, number of texts); classes count from 1."""
        if self.said.classes is None:
            return
        both = ~np.isnan(self.said.classes)
        gold, mine = self.ratings[both], self.said.classes[both]
        one = np.zeros(gold.size, dtype=np.int64)
        counts = confusion_counts(gold, mine, self.classes, one, 1)[0]
        n, missing = int(counts.sum()), int(both.size - both.sum())
        for i, j in np.argwhere(counts).tolist():
            yield i + 1, j + 1, Estimate(float(counts[i, j]), n=n, n_missing=missing)


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield every judge's measures on each graded set, their means, and differences of these."""
    sets = sets_of(study)
    for judge in study.spec.judges:
        for one, aspect in product(sets, study.spec.aspects):
            if (own := one.view(judge, aspect)) is None:
                continue
            for name, found in own.found.items():
                told = _told(own, found.estimate)
                yield study.row(judge, aspect, name, GLOBAL, told, **one.place)
            for k, k_b, count in own.confusion():
                where = {**one.place, "k": k, "k_b": k_b}
                yield study.row(judge, aspect, "class_count", GLOBAL, count, **where)
    yield from mean_rows(study, partial(_means, study, sets), GLOBAL)


def sets_of(study: EvaluationData) -> list["GradedSet"]:
    """Return the graded sets of a dataset."""
    return [GradedSet(study, told) for told in study.spec.graded]


def _means(study: EvaluationData, sets: list["GradedSet"], judge: str, *others: str) -> Means:
    """Return a judge's means over graded sets, of the items that all of some were given."""
    averaged: dict[tuple[str | None, str], list[Replicated]] = {}
    for one, aspect in product(sets, study.spec.aspects):
        own = one.view(judge, aspect, *others)
        for name, found in own.found.items() if own else ():
            averaged.setdefault((split(aspect)[1], name), []).append(found)
    return {key: mean_over(each, of="graded sets") for key, each in averaged.items()}


class GradedSet:
    """A graded set."""

    def __init__(self, study: EvaluationData, told: GradedTexts) -> None:
        self.study, self.aspect = study, told.aspect
        self.place = told.place
        table = read_table("graded", told.file, ["target", "rating"]).to_pylist()
        self._ratings = {row["target"]: row["rating"] for row in table if row["rating"] is not None}
        self._drawn: dict[int, Any] = {}

    def view(self, judge: str, aspect: str, *others: str) -> Graded | None:
        """Return a judge's view of the set on an aspect; None where it does not judge it."""
        if split(aspect)[0] != self.aspect:
            return None
        panel = self.study.panel(".".join(self.place.values())).given(judge, *others)
        own = panel.scores(judge, aspect)
        if own is None:
            return None
        given = len(self.study.items_given(judge, *others))
        if given not in self._drawn:
            self._drawn[given] = self.study.draw_tables(panel)
        said = Said.of(self.study, judge, aspect, own, self._drawn[given].get((judge, aspect)))
        classes = present(self.study.spec.aspects[aspect].values)
        return Graded(self.study, panel, aligned(self._ratings, panel.targets), classes, said)


def _told(own: Graded, found: Estimate) -> Estimate:
    """Say what a judge's classes are held against, and how many of them were one of several."""
    tied = int(own.said.tied.sum())
    how = "; ".join(filter(None, [AGAINST, found.method]))
    return replace(found, method=how).with_note(f"{tied} tied modes" if tied else "")
