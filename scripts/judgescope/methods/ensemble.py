"""Ensembles (Kartáč et al. 2025): the agreement with people of every subset of the
members.

No model is asked and no reply is parsed again: a subset's score of a text is the mean
of its members' scores, or the majority of their labels, as in scoring/ensembles.py.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import inf
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods import measures
from judgescope.methods.base import AppliesTo, EnsembleMembers, Method, Row
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers, number_rule, why_no_classes
from judgescope.methods.labels import NO_VOTES, truth_name, truth_of
from judgescope.methods.measures import AVERAGE, POOLED, Measure, against, correlated
from judgescope.scoring.aggregate import majority
from judgescope.statistics.arrays import Floats
from judgescope.statistics.classes import on_labels
from judgescope.statistics.comparison import difference
from judgescope.statistics.correlation import LEVELS, STATISTICS
from judgescope.statistics.ensemble import (
    MOST_MEMBERS,
    Subset,
    effective_judges,
    error_correlation,
    subset_scores,
    subsets,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.raters import GOLD_NAMES
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

TOGETHER = "+"
"""Joins the ids of members, which do not contain it."""
BEST = (
    "the best of {} members was chosen on the same data, so its value is likely too "
    "high and this difference too low; the interval ignores the choice"
)
MANY = "of {} members: only single members, all but one, and all are reported"
SCALES = "warning: the members have different scales; wider scales weigh more"
ON_LABELS = ("label_accuracy", "balanced_accuracy", "kappa_nominal")
"""The statistics of a majority of labels."""


class Where(NamedTuple):
    """The columns that distinguish a result from the ensemble's others on an aspect."""

    statistic: str
    level: str
    judge_b: str | None = None
    k: int | None = None


Results = Iterator[tuple[Where, Replicated]]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A derived judge on some texts, with its members and the judge trained on its
    scores.
    """

    judge: str
    card: EnsembleMembers
    panel: TargetSet

    @property
    def everyone(self) -> Subset:
        """Return the subset of all members."""
        return tuple(range(len(self.card.members)))

    def named(self, subset: Subset) -> str:
        """Return the ids of a subset's members as the column `judge_b` has them."""
        return TOGETHER.join(self.card.members[index] for index in subset)

    def views(self) -> dict[str, "View"]:
        """Return the aspects that people rate and all members judge."""
        study, views = self.panel.study, dict[str, View]()
        for aspect, scale in study.spec.aspects.items():
            ratings = self.panel.ratings(aspect)
            each = [self.panel.scores(name, aspect) for name in self.card.members]
            scores = [one for one in each if one is not None]
            if not len(ratings) or len(scores) < len(each):
                continue
            has_scale = study.spec.judges[self.judge].ends[aspect] is not None
            one_scale = has_scale and measures.on_their_scale(study, self.judge, aspect)
            data = self, aspect, np.stack(scores)
            if self.votes_on(aspect):
                views[aspect] = Votes(
                    *data, truth_of(study, aspect)(ratings), one_scale
                )
            elif scale.ordered:  # else numbers are not labels
                people = gold_numbers(study, ratings).values
                views[aspect] = View(*data, people, one_scale)
        return views

    def votes_on(self, aspect: str) -> bool:
        """Return whether the members give labels, of which there is a majority and no
        mean.
        """
        spec = self.panel.study.spec
        return bool(
            spec.aspects[aspect].labels and spec.judges[self.judge].grid[aspect]
        )


@dataclass(frozen=True, eq=False)
class View:
    """Scores of an ensemble's members (members, targets) and people's ratings
    (targets,).
    """

    ensemble: Ensemble
    aspect: str
    scores: Floats
    people: Floats
    one_scale: bool
    """Whether they all score on people's scale, in every aspect of the dataset."""
    _cache: dict[tuple[Subset, bytes], Mapping[Measure, Replicated]] = field(
        default_factory=dict
    )

    def values(self, subset: Subset) -> Floats:
        """Return a subset's scores."""
        return subset_scores(self.scores, subset, self.ensemble.card.min_members)

    def results_of(
        self, subset: Subset, other: Subset = ()
    ) -> Mapping[Measure, Replicated]:
        """Return a subset's correlations with people, on targets that `other` scores
        too.
        """
        values = self.values(subset)
        if other:
            values = np.where(np.isnan(self.values(other)), np.nan, values)
        key = subset, np.isnan(values).tobytes()
        if key not in self._cache:
            self._cache[key] = self.with_people(values)
        return self._cache[key]

    def with_people(self, values: Floats) -> Mapping[Measure, Replicated]:
        """Return the correlations of scores (targets,) with people."""
        results = correlated(self.ensemble.panel, values, self.people)
        which = GOLD_NAMES[number_rule(self.ensemble.panel.study)]
        return {measure: against(one, which) for measure, one in results.items()}

    def results(self) -> Results:
        """Yield all results on the ensemble: subsets, means by size, members,
        errors.
        """
        ensemble = self.ensemble
        by_size: dict[int, list[Mapping[Measure, Replicated]]] = defaultdict(list)
        for subset in subsets(len(ensemble.card.members)):
            results, k = self.results_of(subset), len(subset)
            by_size[k].append(results)
            for measure, result in results.items():
                yield Where(*measure, ensemble.named(subset), k), result
        for size, each in by_size.items():
            for statistic, level in each[0]:
                same = [results[statistic, level] for results in each]
                mean = mean_over(same, averaged="subsets")
                yield Where(f"subset_mean_{statistic}", level, k=size), mean
        for index, member in enumerate(ensemble.card.members):
            for name, subset in self.compared(index).items():
                whole = self.results_of(ensemble.everyone, subset)
                part = self.results_of(subset, ensemble.everyone)
                for (statistic, level), result in whole.items():
                    gap = difference(result, part[statistic, level])
                    yield Where(f"{name}_{statistic}", level, member), gap
        yield from self._error_results()

    def compared(self, index: int) -> dict[str, Subset]:
        """Return the contribution of a member, and the gain over it -> the subset to
        compare.
        """
        others = tuple(other for other in self.ensemble.everyone if other != index)
        return {"contribution": others, "difference": (index,)}

    def _error_results(self) -> Results:
        """Yield the correlations of members' errors, and the number of effective
        judges.
        """
        ensemble, panel = self.ensemble, self.ensemble.panel
        each = []
        for first, second in combinations(ensemble.everyone, 2):
            result = error_correlation(
                self.scores[first],
                self.scores[second],
                self.people,
                panel.source,
                weights=panel.study.weights,
                one_scale=self.one_scale,
            )
            each.append(result)
            yield (
                Where("error_correlation", POOLED, ensemble.named((first, second)), 2),
                result,
            )
        mean = mean_over(each, averaged="pairs of members")
        yield Where("error_correlation_mean", POOLED), mean
        number = effective_judges(mean, len(ensemble.card.members))
        yield Where("effective_judges", POOLED), number

    def student_results(self, student: str) -> Results:
        """Yield the trained judge's correlations with people and with the ensemble.

        And the ensemble's correlations with people minus its own, on the targets that
        both score.
        """
        x = self.ensemble.panel.scores(student, self.aspect)
        if x is None:
            return
        teacher = self.values(self.ensemble.everyone)
        with_people, with_teacher = (
            self.with_people(x),
            correlated(self.ensemble.panel, x, teacher),
        )
        missing = np.isnan(x) | np.isnan(teacher)
        of_teacher, of_student = (
            self.with_people(np.where(missing, np.nan, scores))
            for scores in (teacher, x)
        )
        for measure, result in with_people.items():
            gap = difference(of_teacher[measure], of_student[measure])
            each = {
                "": result,
                "_difference": gap,
                "_with_teacher": with_teacher[measure],
            }
            for name, one in each.items():
                yield Where(f"student{name}_{measure[0]}", measure[1], student), one


@dataclass(frozen=True, eq=False)
class Votes(View):
    """Labels of an ensemble's members, and people's label, (targets,), of one
    aspect.
    """

    def values(self, subset: Subset) -> Floats:
        """Return the label that most members of a subset give, NaN in a tie."""
        votes = majority(self.scores[list(subset)].T)
        return np.where(np.isnan(super().values(subset)), np.nan, votes)

    def with_people(self, values: Floats) -> Mapping[Measure, Replicated]:
        """Return the agreement of labels (targets,) with people's."""
        panel, which = (
            self.ensemble.panel,
            truth_name(self.ensemble.panel.study, self.aspect),
        )
        scale = panel.study.spec.aspects[self.aspect]
        q, why = len(scale.labels), ""
        if scale.ordered:
            why = why_no_classes(panel.study, self.people, scale.values or [])
        if why:
            nothing = panel.study.undefined(why)
            return {(name, POOLED): nothing for name in ON_LABELS}
        results = on_labels(self.people, values, q, panel.source, panel.study.weights)
        return {(name, POOLED): against(results[name], which) for name in ON_LABELS}

    def results_of(
        self, subset: Subset, other: Subset = ()
    ) -> Mapping[Measure, Replicated]:
        """Return a subset's agreement with people, on texts that `other` labels; counts
        ties.
        """
        enough = ~np.isnan(super().values(subset) + self.people)
        ties = int(np.count_nonzero(enough & np.isnan(self.values(subset))))
        return {
            measure: one._replace(estimate=replace(one.estimate, n_tied=ties))
            for measure, one in super().results_of(subset, other).items()
        }

    def compared(self, index: int) -> dict[str, Subset]:
        """Return no contribution: one vote more makes a tie, or changes no label."""
        return {"difference": (index,)}

    def _error_results(self) -> Results:
        """Yield nothing: errors of labels are not amounts and have no correlation."""
        yield from ()

    def student_results(self, student: str) -> Results:
        """Yield nothing: a trained judge gives numbers."""
        yield from ()


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of ensemble.csv: every derived judge's subsets, members and their
    errors.
    """
    excluded = study.excluded("systems")
    for judge, card in study.spec.ensembles.items():
        if judge in excluded:
            nothing = Estimate.undefined(excluded[judge])
            for level, statistic in product(LEVELS, STATISTICS):
                columns = AppliesTo(
                    judge_b=TOGETHER.join(card.members), k=len(card.members)
                )
                yield study.row(judge, "", statistic, level, nothing, **columns)
            continue
        for panel in study.rated(judge):
            yield from _ensemble_rows(Ensemble(judge, card, panel))


def _ensemble_rows(ensemble: Ensemble) -> Iterator[Row]:
    """Yield an ensemble's rows, then those of the judge that was trained on its
    scores.
    """
    views, panel, card = ensemble.views(), ensemble.panel, ensemble.card
    # otherwise means would mix labels and numbers
    one_scale = all(view.one_scale for view in views.values())
    results = {
        aspect: dict(replace(view, one_scale=one_scale).results())
        for aspect, view in views.items()
    }
    yield from _with_averages(ensemble, results)
    columns: AppliesTo = {
        "judge_b": TOGETHER.join(card.members),
        "k": len(card.members),
    }
    nothing = Estimate.undefined(NO_VOTES)
    for aspect, scale in panel.study.spec.aspects.items():
        rated = len(panel.ratings(aspect)) > 0
        if rated and not scale.ordered and not ensemble.votes_on(aspect):
            yield panel.row(
                ensemble.judge, aspect, ON_LABELS[0], POOLED, nothing, **columns
            )
    if (student := card.student) is not None:
        shared = replace(ensemble, panel=panel.given(student))
        views = shared.views()
        results = {
            aspect: dict(view.student_results(student))
            for aspect, view in views.items()
        }
        yield from _with_averages(shared, results)


def _with_averages(
    ensemble: Ensemble, results: Mapping[str, Mapping[Where, Replicated]]
) -> Iterator[Row]:
    """Yield the rows of every aspect, then the means over aspects in each wording."""
    wordings: dict[str | None, dict[Where, list[Replicated]]] = defaultdict(dict)
    for aspect, each in results.items():
        for where, result in each.items():
            wordings[split(aspect)[1]].setdefault(where, []).append(result)
        yield from _aspect_rows(ensemble, aspect, each)
    for criterion, by_place in wordings.items():
        means = {
            at: mean_over(same, averaged="aspects") for at, same in by_place.items()
        }
        yield from _aspect_rows(ensemble, joined(AVERAGE, criterion), means)


def _aspect_rows(
    ensemble: Ensemble, aspect: str, results: Mapping[Where, Replicated]
) -> Iterator[Row]:
    """Yield the rows of an aspect, with the notes of some of them.

    The best single member, the first of equals, has a note on the differences from it.
    """
    best: dict[Measure, tuple[float, str]] = {}
    for (statistic, level, member, k), result in results.items():
        value, highest = (
            result.estimate.value,
            best.get((statistic, level), (-inf, ""))[0],
        )
        if k == 1 and member and value is not None and value > highest:
            best[statistic, level] = value, member
    size = len(ensemble.card.members)
    notes = [MANY.format(size)] if size > MOST_MEMBERS else []
    notes += [SCALES] if aspect in ensemble.card.mixed else []
    from_best = {
        Where(f"difference_{name}", level, best[name, level][1]) for name, level in best
    }
    judge, panel = ensemble.judge, ensemble.panel
    for where, result in results.items():
        statistic, level, member, k = where
        own_notes = [BEST.format(size)] if where in from_best else []
        own_notes += (
            notes if k == size and statistic in (*STATISTICS, *ON_LABELS) else []
        )
        noted = result.estimate.with_note("; ".join(own_notes))
        yield panel.row(judge, aspect, statistic, level, noted, judge_b=member, k=k)


METHOD = Method(
    selectable=True, texts=("systems",), parts=("ensembles",), unordered="yes"
)
