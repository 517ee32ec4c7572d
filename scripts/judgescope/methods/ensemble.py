"""Ensembles (paper 004): what does every subset of a derived judge's members reach with people?

Nothing is asked and nothing is scored again: a subset's score of a text is the mean of its members'
scores, as in scoring/ensembles.py.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import AVERAGE, POOLED, Place, against, mean_rating, on_their_scale
from judgescope.methods.undefined import excluded
from judgescope.statistics.comparison import difference
from judgescope.statistics.correlation import LEVELS, STATISTICS, correlations
from judgescope.statistics.ensemble import (
    MOST_MEMBERS,
    Subset,
    effective_judges,
    error_correlation,
    mean_error_correlation,
    subset_scores,
    subsets,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

TOGETHER = "+"
"""Between the ids of members, which have none of it."""
BEST = (
    "the best of {} members by these very data, so that its value is likely too high and this "
    "difference too low; the interval takes the choice as given"
)
MANY = "of {} members: only each alone, all but one, and all are told"
SCALES = "warning: the members have different scales, of which a wide one weighs more"
Where = tuple[str, str, str | None, int | None]
"""(statistic, level, judge_b, k)."""


class Told(NamedTuple):
    """A number of an ensemble, and the columns that say of what."""

    statistic: str
    level: str
    found: Replicated
    judge_b: str | None = None
    k: int | None = None

    @property
    def where(self) -> Where:
        """Return what tells it from the ensemble's other numbers of an aspect."""
        return self.statistic, self.level, self.judge_b, self.k


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A derived judge on some texts: its members by id, and how many of them make a score.

    `mixed` are the aspects on which the members have different scales; `student` is the judge that
    was taught what this one says, None where there is none or it does not judge these texts.
    """

    judge: str
    members: Sequence[str]
    least: int
    mixed: Sequence[str]
    panel: TargetSet
    student: str | None = None

    @cached_property
    def sources(self) -> int:
        """Return how many sources there are."""
        return np.unique(self.panel.source).size

    @cached_property
    def subsets(self) -> list[Subset]:
        """Return the subsets that are told, the whole last."""
        return subsets(len(self.members))

    @property
    def whole(self) -> Subset:
        """Return all members."""
        return tuple(range(len(self.members)))

    def named(self, subset: Subset) -> str:
        """Return the ids of a subset's members as the column `judge_b` has them."""
        return TOGETHER.join(self.members[at] for at in subset)


@dataclass(frozen=True, eq=False)
class View:
    """What an ensemble's members (members, targets) and people (targets,) say of one aspect."""

    own: Ensemble
    scores: Floats
    people: Floats
    one_scale: bool
    """Whether they all score on people's scale, in every aspect of the dataset."""
    student: Floats | None = None
    """What the judge says that was taught, on a scale of its own; shape (targets,)."""
    _found: dict[tuple[Subset, bytes], Mapping[Place, Replicated]] = field(default_factory=dict)

    def values(self, subset: Subset) -> Floats:
        """Return a subset's scores."""
        return subset_scores(self.scores, subset, self.own.least)

    def found(self, subset: Subset, beside: Subset = ()) -> Mapping[Place, Replicated]:
        """Return a subset's correlations with people, of targets that `beside` scores too."""
        values = self.values(subset)
        if beside:
            values = np.where(np.isnan(self.values(beside)), np.nan, values)
        key = subset, np.isnan(values).tobytes()
        if key not in self._found:
            self._found[key] = self.correlated(values)
        return self._found[key]

    def correlated(self, values: Floats) -> Mapping[Place, Replicated]:
        """Return the correlations of scores (targets,) with people."""
        found = correlated(self.own.panel, values, self.people)
        return {
            at: one._replace(estimate=against(one.estimate, "mean")) for at, one in found.items()
        }


def correlated(panel: TargetSet, x: Floats, y: Floats) -> Mapping[Place, Replicated]:
    """Return the correlations of two scores of a panel's targets, on the dataset's resamples."""
    found = correlations(x, y, panel.source, panel.system, weights=panel.study.weights)
    return {(statistic, level): one for (statistic, level), one in found.items()}


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of ensemble.csv: every derived judge's subsets, members and their errors."""
    never, found = excluded(study, "systems"), list[Row]()
    for judge, told in study.spec.ensembles.items():
        if judge in never:
            found += _absent(study, judge, told.members, never[judge])
            continue
        for systems, panel in study.rated(judge).items():
            own = Ensemble(judge, told.members, told.least, told.mixed, panel, told.student)
            found += [row | {"systems": systems} for row in _rows(study, own)]
    return found


def _absent(study: EvaluationData, judge: str, members: Sequence[str], why: str) -> Iterator[Row]:
    """Yield the rows of a whole ensemble that cannot judge these texts."""
    place = {"judge_b": TOGETHER.join(members), "k": len(members)}
    for level in LEVELS:
        for statistic in STATISTICS:
            yield study.row(judge, "", statistic, level, Estimate.undefined(why), **place)


def _rows(study: EvaluationData, own: Ensemble) -> Iterator[Row]:
    """Yield an ensemble's rows, then those of the judge that it taught."""
    views = _views(study, own)
    one_scale = all(view.one_scale for view in views.values())  # else their mean were of two kinds
    yield from _averaged(
        study,
        own,
        {name: [*_told(replace(view, one_scale=one_scale))] for name, view in views.items()},
    )
    if own.student is not None:
        shared = replace(own, panel=own.panel.given(own.student))
        taught = {name: [*_taught(view)] for name, view in _views(study, shared).items()}
        yield from _averaged(study, shared, taught)


def _averaged(
    study: EvaluationData, own: Ensemble, each: Mapping[str, list[Told]]
) -> Iterator[Row]:
    """Yield what is told, aspect by aspect, then the means over aspects in each wording."""
    averaged: dict[str | None, dict[Where, list[Told]]] = defaultdict(dict)
    for aspect, told in each.items():
        for one in told:
            averaged[split(aspect)[1]].setdefault(one.where, []).append(one)
        yield from _signed(study, own, aspect, told)
    for criterion, numbers in averaged.items():
        means = [_average(same) for same in numbers.values()]
        yield from _signed(study, own, joined(AVERAGE, criterion), means)


def _views(study: EvaluationData, own: Ensemble) -> dict[str, View]:
    """Return the aspects that people rate and all members judge."""
    views = {name: _view(study, own, name) for name in study.spec.aspects}
    return {name: view for name, view in views.items() if view is not None}


def _view(study: EvaluationData, own: Ensemble, aspect: str) -> View | None:
    """Return one such aspect, None of others."""
    ratings = own.panel.ratings(aspect)
    each = [own.panel.scores(name, aspect) for name in own.members]
    scores = [one for one in each if one is not None]
    if not len(ratings) or len(scores) < len(each):
        return None
    known = study.spec.judges[own.judge].ends[aspect] is not None
    one_scale = known and on_their_scale(study, own.judge, aspect)
    student = own.panel.scores(own.student, aspect) if own.student is not None else None
    return View(own, np.stack(scores), mean_rating(ratings), one_scale, student)


def _average(same: Sequence[Told]) -> Told:
    return same[0]._replace(found=mean_over([told.found for told in same], of="aspects"))


def _told(view: View) -> Iterator[Told]:
    """Yield all numbers of one aspect."""
    own = view.own
    for subset in own.subsets:
        for (statistic, level), one in view.found(subset).items():
            yield Told(statistic, level, one, own.named(subset), len(subset))
    yield from _sizes(view)
    for at, member in enumerate(own.members):
        others = tuple(other for other in own.whole if other != at)
        for name, beside in (("contribution", others), ("difference", (at,))):
            yield from _differences(view, name, beside, member)
    yield from _errors(view)


def _sizes(view: View) -> Iterator[Told]:
    """Yield the means over all subsets of each size."""
    own = view.own
    for size in dict.fromkeys(map(len, own.subsets)):
        each = [view.found(subset) for subset in own.subsets if len(subset) == size]
        for statistic, level in each[0]:
            same = [found[statistic, level] for found in each]
            mean = mean_over(same, of="subsets")
            yield Told(f"subset_mean_{statistic}", level, mean, k=size)


def _differences(view: View, name: str, beside: Subset, member: str) -> Iterator[Told]:
    """Yield what the whole has more than a subset, of the targets that both score."""
    own = view.own
    first, second = view.found(own.whole, beside), view.found(beside, own.whole)
    for (statistic, level), one in first.items():
        yield Told(f"{name}_{statistic}", level, difference(one, second[statistic, level]), member)


def _errors(view: View) -> Iterator[Told]:
    """Yield how the errors of every two members go together, and what that makes of all."""
    own, panel = view.own, view.own.panel
    pairs = [*combinations(own.whole, 2)]
    each = [
        error_correlation(
            view.scores[first],
            view.scores[second],
            view.people,
            panel.source,
            weights=panel.study.weights,
            one_scale=view.one_scale,
        )
        for first, second in pairs
    ]
    for pair, one in zip(pairs, each, strict=True):
        yield Told("error_correlation", POOLED, one, own.named(pair), 2)
    mean = mean_error_correlation(each)
    yield Told("error_correlation_mean", POOLED, mean)
    number = effective_judges(mean, len(own.members))
    yield Told("effective_judges", POOLED, number)


def _taught(view: View) -> Iterator[Told]:
    """Yield what the judge that was taught reaches with people and with the ensemble, and how much
    more the ensemble reaches with people, of the targets that both score.
    """
    own, x, whole = view.own, view.student, view.values(view.own.whole)
    if x is None:
        return
    alone, teacher = view.correlated(x), correlated(own.panel, x, whole)
    lacks = np.isnan(x) | np.isnan(whole)
    more, less = (view.correlated(np.where(lacks, np.nan, scores)) for scores in (whole, x))
    for (statistic, level), one in alone.items():
        at = (statistic, level)
        apart = difference(more[at], less[at])
        yield Told(f"student_{statistic}", level, one, own.student)
        yield Told(f"student_difference_{statistic}", level, apart, own.student)
        yield Told(f"student_with_teacher_{statistic}", level, teacher[at], own.student)


def _signed(
    study: EvaluationData, own: Ensemble, aspect: str, told: Sequence[Told]
) -> Iterator[Row]:
    """Yield the rows of an aspect, with what is to be said of some of them."""
    best, size = _best(told), len(own.members)
    whole = [MANY.format(size)] if size > MOST_MEMBERS else []
    whole += [SCALES] if aspect in own.mixed else []
    for one in told:
        notes = [BEST.format(size)] if one.where in best else []
        notes += whole if one.k == size and one.statistic in STATISTICS else []
        estimate = one.found.estimate.with_note("; ".join(notes))
        place = {"judge_b": one.judge_b, "k": one.k}
        yield study.row(own.judge, aspect, one.statistic, one.level, estimate, **place)


def _best(told: Sequence[Told]) -> set[Where]:
    """Return the differences from the single member that is best, the first of equals."""
    best: dict[Place, Told] = {}
    for one in told:
        value, at = one.found.estimate.value, (one.statistic, one.level)
        if one.k == 1 and one.judge_b and value is not None:
            known = best.get(at)
            if known is None or value > (known.found.estimate.value or 0.0):
                best[at] = one
    return {(f"difference_{name}", level, one.judge_b, None) for (name, level), one in best.items()}


METHOD = Method(selectable=True, texts=("systems",), parts=("ensembles",))
