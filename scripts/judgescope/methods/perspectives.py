"""Perspectives (Hu et al. 2025): does a judge give the right rating, and does it order texts?

On any rated dataset, beside the traditional view (Table 1), and on constructed texts.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.agreement import below_controls
from judgescope.methods.base import HUMAN, Method, Row
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import AVERAGE, Measure, with_floor_note, with_hint_note
from judgescope.methods.views import (
    BESIDE,
    DIRECT,
    MEASURES,
    Answers,
    People,
    View,
    global_rows,
    local_rows,
)
from judgescope.statistics.comparison import ranks
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

LEVELS = tuple(dict.fromkeys(level for _, level in MEASURES))
NOT_JUDGED = "not judged"


class Views:
    """All judges on the rated texts of a dataset; results are cached."""

    def __init__(self, study: EvaluationData, panel: TargetSet) -> None:
        self.study, self.panel = study, panel
        rated = [name for name in study.spec.aspects if len(panel.ratings(name))]
        self.people = {name: People.of(study, panel, name) for name in rated}
        self._views: dict[tuple[str, str, int, bool], View | None] = {}
        self._averages: dict[tuple[str, str | None, int, bool], Mapping[Measure, Replicated]] = {}

    @cached_property
    def criteria(self) -> list[str | None]:
        """Return the wordings of the aspects, None where there is but one."""
        return list(dict.fromkeys(split(name)[1] for name in self.people))

    @cached_property
    def _draws(self) -> dict[tuple[str, str], Floats]:
        return self.study.draw_tables(self.panel)

    @cached_property
    def _answers(self) -> dict[tuple[str, str], Answers]:
        return {
            (judge, aspect): Answers.of(
                self.study, judge, aspect, values, self._draws.get((judge, aspect))
            )
            for judge in self.study.spec.judges
            for aspect in self.people
            if (values := self.panel.scores(judge, aspect)) is not None
        }

    def view(self, aspect: str, judge: str, *others: str, drawn: bool = False) -> View | None:
        """Return a judge's view of one aspect on what all were given; None where it judges none.

        Its rows are those of the items' deletions, or of their resamples where these are `drawn`.
        """
        key = (judge, aspect, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._views:
            answers, given = self._answers.get((judge, aspect)), self.panel.is_given(judge, *others)
            weights, people = self.study.weights, self.people[aspect]
            weights = self.study.resamples if drawn else weights
            self._views[key] = (
                View(self.study, self.panel, people, answers, given, weights) if answers else None
            )
        return self._views[key]

    def judges(self, judge: str, criterion: str | None) -> bool:
        """Return whether a judge judges any aspect in one wording."""
        return any(self.view(name, judge) for name in self.people if split(name)[1] == criterion)

    def average(
        self, criterion: str | None, judge: str, *others: str, drawn: bool = False
    ) -> Mapping[Measure, Replicated]:
        """Return the mean of every measure over aspects in one wording; `drawn` as in `view`."""
        key = (judge, criterion, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._averages:
            names = [name for name in self.people if split(name)[1] == criterion]
            views = [self.view(name, judge, *others, drawn=drawn) for name in names]
            absent = Replicated(Estimate.undefined(NOT_JUDGED), np.array([np.nan]))
            self._averages[key] = {
                measure: mean_over(
                    [view.results[measure] if view else absent for view in views],
                    averaged="aspects",
                )
                for measure in MEASURES
            }
        return self._averages[key]


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of perspectives.csv: constructed sets, people, judges, differences."""
    constructed = [*global_rows(study), *local_rows(study)]
    systems, panel = study.shared_panel(study.spec.judges)
    views = Views(study, panel)
    if not views.people:
        return constructed
    measures = [row for judge in study.spec.judges for row in _measure_rows(views, judge)]
    result = [*_people_rows(views), *below_controls(study, measures)]
    for judge in study.spec.judges:
        result += _detail_rows(views, judge)
    for criterion in views.criteria:
        result += [*_rank_rows(views, criterion), *_difference_rows(views, criterion)]
    rated = (with_hint_note(study, row) | {"system_subset": systems} for row in result)
    return [*constructed, *rated]


def _people_rows(views: Views) -> Iterator[Row]:
    """Yield the number of texts of each rating, of those of which all raters agree."""
    for plain, people in {split(name)[0]: one for name, one in views.people.items()}.items():
        if people.why:
            nothing = Estimate.undefined(people.why)
            yield views.study.row(HUMAN, plain, "class_count", DIRECT, nothing)
            continue
        agreed = people.shared[~np.isnan(people.shared)]
        for k, rating in enumerate(people.classes, start=1):
            number = float(np.isclose(agreed, rating).sum())
            count = Estimate(number, n=agreed.size, note=f"rated {rating:g}")
            yield views.study.row(HUMAN, plain, "class_count", DIRECT, count, k=k)


def _measure_rows(views: Views, judge: str) -> Iterator[Row]:
    """Yield a judge's measures on every aspect, and their averages."""
    judged = False
    for aspect in views.people:
        if view := views.view(aspect, judge):
            judged = True
            for statistic, level in MEASURES:
                estimate = view.results[statistic, level].estimate
                yield views.study.row(judge, aspect, statistic, level, estimate)
    for criterion in views.criteria if judged else []:
        for (statistic, level), mean in views.average(criterion, judge).items():
            estimate = with_floor_note(statistic, mean.estimate)
            name = joined(AVERAGE, criterion)
            yield views.study.row(judge, name, statistic, level, estimate)


def _detail_rows(views: Views, judge: str) -> Iterator[Row]:
    """Yield ties, the confusion of classes, and the accuracy on texts rated further apart."""
    study = views.study
    for aspect in views.people:
        if not (view := views.view(aspect, judge)):
            continue
        for statistic, level in BESIDE:
            estimate = view.results[statistic, level].estimate
            yield study.row(judge, aspect, statistic, level, estimate)
        for (k, k_b), count in view.confusion().items():
            yield study.row(judge, aspect, "class_count", DIRECT, count, k=k, k_b=k_b)
        for k, estimate in view.by_distance().items():
            yield study.row(judge, aspect, "accuracy_by_distance", DIRECT, estimate, k=k)


def _rank_rows(views: Views, criterion: str | None) -> Iterator[Row]:
    """Yield each judge's rank by every measure's average, on what all judges were given."""
    study, name = views.study, joined(AVERAGE, criterion)
    judges = [
        judge
        for judge, card in study.spec.judges.items()
        if views.judges(judge, criterion) and not card.hint
    ]
    if not judges:
        return
    sources = np.unique(views.panel.source[views.panel.is_given(*judges)]).size
    for statistic, level in MEASURES:
        means = [
            views.average(criterion, judge, *judges, drawn=True)[statistic, level]
            for judge in judges
        ]
        ranking = ranks(np.stack([mean.rows for mean in means]), sources)
        for judge, rank, mean in zip(judges, ranking, means, strict=True):
            if rank.value is None:
                rank = Estimate.undefined(mean.estimate.note, n=rank.n)
            rank = rank.with_note(study.share_note(*judges))
            yield study.row(judge, name, f"rank_{statistic}", level, rank)


def _difference_rows(views: Views, criterion: str | None) -> Iterator[Row]:
    """Yield the averages of a judge less those of another, on the same items."""
    study, name = views.study, joined(AVERAGE, criterion)
    for judge, other in compared(study, "systems"):
        if study.spec.judges[judge].hint or study.spec.judges[other].hint:
            continue
        if not (views.judges(judge, criterion) and views.judges(other, criterion)):
            continue
        averages = views.average(criterion, judge, other), views.average(criterion, other, judge)
        for level in LEVELS:
            first, second = (
                {statistic: each[statistic, at] for statistic, at in MEASURES if at == level}
                for each in averages
            )
            yield from difference_rows(
                study,
                judge,
                first,
                second,
                note=study.share_note(judge, other),
                aspect=name,
                level=level,
                columns={"judge_b": other},
            )


METHOD = Method(
    selectable=True,
    texts=("systems", "graded"),
    parts=("compared", "chains", "graded"),
    across="judgescope.methods.differences",
    oracles=True,
    claims=("claims.ratings.rating_claims", "claims.ratings.order_claims"),
    controls=True,
    unturned=True,
)
