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
from judgescope.methods.base import EnsembleMembers, Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers, number_rule, why_no_classes
from judgescope.methods.labels import NO_VOTES, truth_name, truth_of
from judgescope.methods.measures import (
    AVERAGE,
    POOLED,
    LevelStatistic,
    against,
    correlated,
)
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.scoring.aggregate import majority
from judgescope.statistics.arrays import Floats
from judgescope.statistics.comparison import difference
from judgescope.statistics.correlation import COEFFICIENTS, LEVELS
from judgescope.statistics.ensemble import (
    MOST_MEMBERS,
    Subset,
    effective_judges,
    error_correlation,
    subset_scores,
    subsets,
)
from judgescope.statistics.labels import on_labels
from judgescope.statistics.means import mean_over
from judgescope.statistics.raters import GOLD_NAMES
from judgescope.statistics.registry import names_of_group
from judgescope.statistics.registry import statistic as declared
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

TOGETHER = "+"
"""Joins the ids of members, which do not contain it."""


class EnsembleKey(NamedTuple):
    """The columns that distinguish a result from the ensemble's others on an aspect."""

    statistic: str
    level: str
    judge_b: str | None = None
    k: int | None = None


EnsembleResults = Iterator[tuple[EnsembleKey, Replicated]]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A derived judge on some texts, with its members and the judge trained on its
    scores.
    """

    judge: str
    card: EnsembleMembers
    target_set: TargetSet

    @property
    def everyone(self) -> Subset:
        """Return the subset of all members."""
        return tuple(range(len(self.card.members)))

    def named(self, subset: Subset) -> str:
        """Return the ids of a subset's members as the column `judge_b` has them."""
        return TOGETHER.join(self.card.members[index] for index in subset)

    def views(self) -> dict[str, "ScoreView"]:
        """Return the aspects that people rate and all members judge."""
        study = self.target_set.study
        views = dict[str, ScoreView]()
        for aspect, scale in study.spec.aspects.items():
            ratings = self.target_set.ratings(aspect)
            scores = list[Floats]()
            for member in self.card.members:
                of_member = self.target_set.scores(member, aspect)
                if of_member is not None:
                    scores.append(of_member)
            if not len(ratings) or len(scores) < len(self.card.members):
                continue
            has_scale = study.spec.judges[self.judge].ends[aspect] is not None
            one_scale = has_scale and measures.on_their_scale(study, self.judge, aspect)
            data = self, aspect, np.stack(scores)
            if self.votes_on(aspect):
                views[aspect] = LabelView(
                    *data, truth_of(study, aspect)(ratings), one_scale
                )
            elif scale.ordered:  # else numbers are not labels
                people = gold_numbers(study, ratings).values
                views[aspect] = ScoreView(*data, people, one_scale)
        return views

    def votes_on(self, aspect: str) -> bool:
        """Return whether the members give labels, of which there is a majority and no
        mean.
        """
        spec = self.target_set.study.spec
        return bool(
            spec.aspects[aspect].labels and spec.judges[self.judge].grid[aspect]
        )


@dataclass(frozen=True, eq=False)
class ScoreView:
    """Scores of an ensemble's members (members, targets) and people's ratings
    (targets,).
    """

    ensemble: Ensemble
    aspect: str
    scores: Floats
    people: Floats
    one_scale: bool
    """Whether they all score on people's scale, in every aspect of the dataset."""
    _cache: dict[tuple[Subset, bytes], Mapping[LevelStatistic, Replicated]] = field(
        default_factory=dict
    )

    def values(self, subset: Subset) -> Floats:
        """Return a subset's scores."""
        return subset_scores(self.scores, subset, self.ensemble.card.min_members)

    def results_of(
        self, subset: Subset, other: Subset = ()
    ) -> Mapping[LevelStatistic, Replicated]:
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

    def with_people(self, values: Floats) -> Mapping[LevelStatistic, Replicated]:
        """Return the correlations of scores (targets,) with people."""
        results = correlated(self.ensemble.target_set, values, self.people)
        which = GOLD_NAMES[number_rule(self.ensemble.target_set.study)]
        return {measure: against(result, which) for measure, result in results.items()}

    def results(self) -> EnsembleResults:
        """Yield all results on the ensemble: subsets, means by size, members,
        errors.
        """
        ensemble = self.ensemble
        by_size: dict[int, list[Mapping[LevelStatistic, Replicated]]] = defaultdict(
            list
        )
        for subset in subsets(len(ensemble.card.members)):
            results = self.results_of(subset)
            k = len(subset)
            by_size[k].append(results)
            for measure, result in results.items():
                yield EnsembleKey(*measure, ensemble.named(subset), k), result
        for size, each in by_size.items():
            for statistic, level in each[0]:
                same = [results[statistic, level] for results in each]
                mean = mean_over(same, averaged="subsets")
                yield EnsembleKey(f"subset_mean_{statistic}", level, k=size), mean
        for index, member in enumerate(ensemble.card.members):
            for name, subset in self.compared(index).items():
                of_all = self.results_of(ensemble.everyone, subset)
                part = self.results_of(subset, ensemble.everyone)
                for (statistic, level), result in of_all.items():
                    gap = difference(result, part[statistic, level])
                    yield EnsembleKey(f"{name}_{statistic}", level, member), gap
        yield from self._error_results()

    def compared(self, index: int) -> dict[str, Subset]:
        """Return the contribution of a member, and the gain over it -> the subset to
        compare.
        """
        others = tuple(other for other in self.ensemble.everyone if other != index)
        return {"contribution": others, "difference": (index,)}

    def _error_results(self) -> EnsembleResults:
        """Yield the correlations of members' errors, and the number of effective
        judges.
        """
        ensemble = self.ensemble
        targets = self.ensemble.target_set
        each = []
        for first, second in combinations(ensemble.everyone, 2):
            result = error_correlation(
                self.scores[first],
                self.scores[second],
                self.people,
                targets.source,
                weights=targets.study.weights,
                one_scale=self.one_scale,
            )
            each.append(result)
            names = ensemble.named((first, second))
            yield EnsembleKey("error_correlation", POOLED, names, 2), result
        mean = mean_over(each, averaged="pairs of members")
        yield EnsembleKey("error_correlation_mean", POOLED), mean
        number = effective_judges(mean, len(ensemble.card.members))
        yield EnsembleKey("effective_judges", POOLED), number

    def student_results(self, student: str) -> EnsembleResults:
        """Yield the trained judge's correlations with people and with the ensemble.

        And the ensemble's correlations with people minus its own, on the targets that
        both score.
        """
        x = self.ensemble.target_set.scores(student, self.aspect)
        if x is None:
            return
        teacher = self.values(self.ensemble.everyone)
        with_people = self.with_people(x)
        with_teacher = correlated(self.ensemble.target_set, x, teacher)
        missing = np.isnan(x) | np.isnan(teacher)
        of_teacher = self.with_people(np.where(missing, np.nan, teacher))
        of_student = self.with_people(np.where(missing, np.nan, x))
        for measure, result in with_people.items():
            gap = difference(of_teacher[measure], of_student[measure])
            statistic, level = measure
            by_statistic = {
                f"student_{statistic}": result,
                f"student_difference_{statistic}": gap,
                f"student_with_teacher_{statistic}": with_teacher[measure],
            }
            for name, shown in by_statistic.items():
                yield EnsembleKey(name, level, student), shown


@dataclass(frozen=True, eq=False)
class LabelView(ScoreView):
    """Labels of an ensemble's members, and people's label, (targets,), of one
    aspect.
    """

    def values(self, subset: Subset) -> Floats:
        """Return the label that most members of a subset give, NaN in a tie."""
        votes = majority(self.scores[list(subset)].T)
        return np.where(np.isnan(super().values(subset)), np.nan, votes)

    def with_people(self, values: Floats) -> Mapping[LevelStatistic, Replicated]:
        """Return the agreement of labels (targets,) with people's."""
        targets = self.ensemble.target_set
        which = truth_name(self.ensemble.target_set.study, self.aspect)
        scale = targets.study.spec.aspects[self.aspect]
        q = len(scale.labels)
        why = ""
        names = names_of_group("labels", as_rater=True)
        if scale.ordered:
            why = why_no_classes(targets.study, self.people, scale.values or [])
        if why:
            nothing = targets.study.undefined(why)
            return {(name, POOLED): nothing for name in names}
        results = on_labels(
            self.people, values, q, targets.source, targets.study.weights
        )
        return {(name, POOLED): against(results[name], which) for name in names}

    def results_of(
        self, subset: Subset, other: Subset = ()
    ) -> Mapping[LevelStatistic, Replicated]:
        """Return a subset's agreement with people, on texts that `other` labels; counts
        ties.
        """
        enough = ~np.isnan(super().values(subset) + self.people)
        ties = int(np.count_nonzero(enough & np.isnan(self.values(subset))))
        results = dict[LevelStatistic, Replicated]()
        for measure, result in super().results_of(subset, other).items():
            counted = replace(result.estimate, n_tied=ties)
            results[measure] = result._replace(estimate=counted)
        return results

    def compared(self, index: int) -> dict[str, Subset]:
        """Return no contribution: one vote more makes a tie, or changes no label."""
        return {"difference": (index,)}

    def _error_results(self) -> EnsembleResults:
        """Yield nothing: errors of labels are not amounts and have no correlation."""
        yield from ()

    def student_results(self, student: str) -> EnsembleResults:
        """Yield nothing: a trained judge gives numbers."""
        yield from ()


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of ensemble.csv: every derived judge's subsets, members and their
    errors.
    """
    excluded = data.excluded("systems")
    for judge, card in data.spec.ensembles.items():
        if judge in excluded:
            nothing = Estimate.undefined(excluded[judge])
            for level, statistic in product(LEVELS, COEFFICIENTS):
                columns = AppliesTo(
                    judge_b=TOGETHER.join(card.members), k=len(card.members)
                )
                yield data.row(judge, "", statistic, level, nothing, **columns)
            continue
        for targets in data.rated(judge):
            yield from _ensemble_rows(Ensemble(judge, card, targets))


def _ensemble_rows(ensemble: Ensemble) -> Iterator[ResultRow]:
    """Yield an ensemble's rows, then those of the judge that was trained on its
    scores.
    """
    views = ensemble.views()
    targets = ensemble.target_set
    card = ensemble.card
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
    for aspect, scale in targets.study.spec.aspects.items():
        rated = len(targets.ratings(aspect)) > 0
        if rated and not scale.ordered and not ensemble.votes_on(aspect):
            yield targets.row(
                ensemble.judge, aspect, "label_accuracy", POOLED, nothing, **columns
            )
    if (student := card.student) is not None:
        shared = replace(ensemble, target_set=targets.given(student))
        views = shared.views()
        results = {
            aspect: dict(view.student_results(student))
            for aspect, view in views.items()
        }
        yield from _with_averages(shared, results)


def _with_averages(
    ensemble: Ensemble, results: Mapping[str, Mapping[EnsembleKey, Replicated]]
) -> Iterator[ResultRow]:
    """Yield the rows of every aspect, then the means over aspects in each wording."""
    wordings: dict[str | None, dict[EnsembleKey, list[Replicated]]] = defaultdict(dict)
    for aspect, each in results.items():
        for where, result in each.items():
            wordings[split(aspect)[1]].setdefault(where, []).append(result)
        yield from _aspect_rows(ensemble, aspect, each)
    for criterion, by_place in wordings.items():
        means = {}
        for at, same in by_place.items():
            means[at] = mean_over(same, averaged="aspects")
        yield from _aspect_rows(ensemble, joined(AVERAGE, criterion), means)


def _aspect_rows(
    ensemble: Ensemble, aspect: str, results: Mapping[EnsembleKey, Replicated]
) -> Iterator[ResultRow]:
    """Yield the rows of an aspect, with the notes of some of them.

    The best single member, the first of equals, has a note on the differences from it.
    """
    best: dict[LevelStatistic, tuple[float, str]] = {}
    for (statistic, level, member, k), result in results.items():
        value = result.estimate.value
        highest = best.get((statistic, level), (-inf, ""))[0]
        if k == 1 and member and value is not None and value > highest:
            best[statistic, level] = value, member
    size = len(ensemble.card.members)
    notes = list[str]()
    if size > MOST_MEMBERS:
        notes.append(
            f"of {size} members: only single members, all but one, and all are reported"
        )
    if aspect in ensemble.card.mixed:
        notes.append(
            "warning: the members have different scales; wider scales weigh more"
        )
    best_note = (
        f"the best of {size} members was chosen on the same data, so its value is "
        "likely too high and this difference too low; the interval ignores the choice"
    )
    from_best = set[EnsembleKey]()
    for (name, level), (_, member) in best.items():
        from_best.add(EnsembleKey(f"difference_{name}", level, member))
    judge = ensemble.judge
    targets = ensemble.target_set
    for where, result in results.items():
        statistic, level, member, k = where
        row_notes = []
        if where in from_best:
            row_notes = [best_note]
        agrees = statistic in COEFFICIENTS or declared(statistic).as_rater
        if k == size and agrees:
            row_notes += notes
        noted = result.estimate.with_note("; ".join(row_notes))
        yield targets.row(judge, aspect, statistic, level, noted, judge_b=member, k=k)


METHOD = Method(
    name="ensemble",
    rows=rows,
    selectable=True,
    texts=("systems",),
    parts=("ensembles",),
    unordered="yes",
)
