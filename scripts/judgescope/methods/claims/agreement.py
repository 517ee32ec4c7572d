"""Does a judge agree with people? Spearman by source, or pooled where sources are few.

Sources on whose texts the judge gives one score count 0; those that people rate all alike are
left out. The judge must beat chance (0), both lengths of the texts and, where they come from named
systems, a taste for systems.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.core.cells import split
from judgescope.methods.claims.base import (
    AGREEMENT,
    BREVITY,
    CHANCE,
    LENGTH,
    LOST,
    SYSTEMS,
    Claim,
    Row,
)
from judgescope.methods.claims.lost import Losses, at_the_worst_end
from judgescope.methods.claims.numbers import (
    DIFFERENCE,
    Number,
    compared_with_raters,
    mean_of_sources,
    number,
)
from judgescope.methods.claims.tastes import Tastes
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import (
    BY_SOURCE,
    LARGEST_CEILING,
    POOLED,
    against,
    mean_rating,
    tables_of,
    unrated,
)
from judgescope.methods.specs import present
from judgescope.statistics.correlation import correlations
from judgescope.statistics.jackknife import CORRELATION, FEWEST_SOURCES, deletions
from judgescope.statistics.nulls import p_systems, source_correlations
from judgescope.statistics.raters import as_rater, ceilings
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import CONSTANT_JUDGE, NO_SOURCE, Estimate
from judgescope.statistics.verdict import FEW_LOST, Outcome

STATISTIC: Final = "spearman"
CONSTANT: Final = "constant"
"""The reason of a judge that gives one score to all texts."""


@dataclass(frozen=True, eq=False)
class Field:
    """A panel and people's mean rating of one aspect: what every judge is measured against."""

    study: EvaluationData
    panel: TargetSet
    aspect: str

    @cached_property
    def people(self) -> Floats:
        """Return people's mean rating of each text, (texts,)."""
        return mean_rating(self.panel.ratings(self.aspect))

    @property
    def n_sources(self) -> int:
        """Return how many sources the dataset has."""
        return len(self.study.item_order)

    @cached_property
    def level(self) -> str:
        """Return `pooled` where fewer than 10 sources have two different ratings."""
        own = source_correlations(self.people, self.people, self.panel.source, self.n_sources)
        return BY_SOURCE if int((~np.isnan(own)).sum()) >= FEWEST_SOURCES else POOLED

    def number(self, x: Floats, y: Floats | None = None) -> Number:
        """Return the deciding correlation of scores (texts,), NaN = missing, with people's."""
        people = self.people if y is None else y
        both = ~(np.isnan(x) | np.isnan(people))
        missing = int((np.isnan(x) & ~np.isnan(people)).sum())
        if self.level == POOLED:
            return self._pooled(x, people, both, missing)
        values = source_correlations(x, people, self.panel.source, self.n_sources)
        method = "mean over sources, one score for all of a source counts 0"
        why = NO_SOURCE
        if both.any() and np.ptp(x[both]) == 0:
            values, why = values * np.nan, CONSTANT_JUDGE
        return mean_of_sources(values, CORRELATION, n_missing=missing, method=method, why=why)

    def _pooled(self, x: Floats, people: Floats, both: NDArray[np.bool_], missing: int) -> Number:
        source, system = self.panel.source, self.panel.system
        weights = deletions(self.n_sources)
        found = correlations(
            x, people, source, system, weights=weights, statistics=["spearman"], levels=["pooled"]
        )["spearman", "pooled"]
        sizes = np.bincount(source[both], minlength=self.n_sources).astype(float)
        n = int(both.sum())
        why = found.estimate.note or NO_SOURCE
        return number(found.rows, sizes, CORRELATION, n=n, n_missing=missing, why=why)

    @cached_property
    def _tables(self) -> list[Floats]:
        """Return people's ratings as those of raters, as the card says who they are."""
        return tables_of(self.study, self.panel, self.aspect)

    def as_rater(self, x: Floats) -> tuple[Estimate, float] | None:
        """Return what a judge reaches less what one more rater does, and p of being worse."""
        if not self._tables:
            return None

        def value(a: Floats, b: Floats) -> Mapping[str, Replicated]:
            key = a.tobytes(), b.tobytes()
            if key not in self._reached:  # raters reach the same beside every judge
                self._reached[key] = self.number(a, b).replicated
            return {STATISTIC: self._reached[key]}

        gap = as_rater(value, x, self._tables, against="mean")[STATISTIC].difference
        return compared_with_raters(gap, present(self.study.spec.as_rater).margin)

    @cached_property
    def _reached(self) -> dict[tuple[bytes, bytes], Replicated]:
        return {}

    @cached_property
    def tastes(self) -> Tastes:
        """Return the systems of the rated texts."""
        rated = ~np.isnan(self.people)
        return Tastes(self.study, self.panel.source[rated], self.panel.system[rated])

    def p_systems(self, x: Floats) -> float | None:
        """Return p of a taste for systems, None where systems are too few to tell."""
        drawn = self.tastes.drawn
        if drawn is None:
            return None
        rated, pooled = ~np.isnan(self.people), self.level == POOLED
        place = self.tastes.source, self.tastes.system
        return p_systems(x[rated], self.people[rated], *place, drawn, pooled=pooled)


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge and rated aspect."""
    losses = Losses(study)
    fields: dict[tuple[int, str], Field] = {}
    for judge in study.spec.judges:
        systems, panel = study.fair(judge)
        for aspect in study.spec.aspects:
            x = panel.scores(judge, aspect)
            if x is None or not len(panel.ratings(aspect)):
                continue
            field = fields.setdefault((id(panel.rows), aspect), Field(study, panel, aspect))
            yield _claim(field, judge, x, systems, losses)


def _claim(field: Field, judge: str, x: Floats, systems: str | None, losses: Losses) -> Claim:
    found = field.number(x)
    claim = Claim(
        judge,
        AGREEMENT,
        STATISTIC,
        field.level,
        field.aspect,
        against(found.estimate, "mean"),
        {},
        lost=losses.share("systems", judge, field.aspect, x, field.people),
        systems=systems,
    )
    if found.estimate.note == CONSTANT_JUDGE:
        return replace(claim, outcome=Outcome.NOT_SHOWN, reasons=(CONSTANT,))
    if found.estimate.value is None:
        return replace(claim, outcome=Outcome.NO_CLAIM, reasons=(found.estimate.note,))
    nulls = nulls_of(field, x, found)
    if claim.lost > FEW_LOST:
        worst = at_the_worst_end(x, field.people, field.panel.source)
        nulls[LOST] = max(nulls_of(field, worst, field.number(worst)).values())
    rater, p_rater = field.as_rater(x) or (None, nan)
    own = replace(claim, nulls=nulls, reasons=field.tastes.rests_on, rater=rater, p_rater=p_rater)
    return losses.checked(own)


def people(study: EvaluationData) -> Iterator[Row]:
    """Yield what a rater reaches in a judge's place: the mean of each against the others."""
    for aspect in dict.fromkeys(split(name)[0] for name in study.spec.aspects):
        ratings = study.systems.ratings(aspect)
        if len(ratings) < 2 or unrated(study, ratings) or len(ratings) > LARGEST_CEILING:
            continue
        field = Field(study, study.systems, aspect)

        def value(a: Floats, b: Floats, field: Field = field) -> Mapping[str, Replicated]:
            return {STATISTIC: field.number(a, b).replicated}

        for name, found in ceilings(value, ratings, against="mean").items():
            yield study.row("human", aspect, name, field.level, found, form=AGREEMENT)


def nulls_of(field: Field, x: Floats, found: Number) -> dict[str, float]:
    """Return the p of chance, both lengths and tastes, on the texts that the judge scored."""
    nulls = {CHANCE: found.p_above(0.0)}
    length = np.where(np.isnan(x), np.nan, field.panel.lengths)
    for name, sign in ((LENGTH, 1.0), (BREVITY, -1.0)):
        other = field.number(sign * length)
        if other.estimate.value is None:  # all texts are equally long: it orders nothing
            nulls[name] = nulls[CHANCE]
            continue
        nulls[name] = found.less(other, DIFFERENCE).p_above(0.0)
    p = field.p_systems(x)
    return nulls if p is None else nulls | {SYSTEMS: p}
