"""Perspectives (Hu et al. 2025): does a judge give the right rating, and order texts
correctly?

`traditional` (Table 1): correlation with people's mean rating, over all texts.
`direct`: over the texts whose raters all agree, whether the judge gives their rating
(global), and whether it orders texts of one source that are rated differently (local).
`global` and `local` are the same on constructed texts, whose rating or order is known.
Correlation and order rest on the mean of a judge's draws, and are the same on any
scale; its rating is the mode of its draws.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.agreement import below_controls
from judgescope.methods.aligned_values import aligned
from judgescope.methods.aspect_views import (
    BESIDE,
    DIRECT,
    MEASURES,
    Answers,
    AspectView,
    People,
)
from judgescope.methods.base import HUMAN, GradedTexts, Method, present
from judgescope.methods.differences import across, compared, mean_rows
from judgescope.methods.evaluation_data import EvaluationData, TargetSet, set_columns
from judgescope.methods.measures import (
    AVERAGE,
    LevelStatistic,
    with_floor_note,
    with_hint_note,
)
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_table
from judgescope.statistics import order
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.comparison import difference, ranks
from judgescope.statistics.means import mean_over
from judgescope.statistics.order import OrderedPairs
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Resamples

GLOBAL = "global"
LOCAL = "local"
"""Levels of perspectives.csv: graded sets, and error chains."""


class GradedSet:
    """A set of texts of every rating: whoever built it knows the ratings (global
    view).
    """

    def __init__(self, data: EvaluationData, spec: GradedTexts) -> None:
        self.study = data
        self.aspect = spec.aspect
        self.columns = spec.columns
        self.texts = f"{spec.perturbation}.{spec.degree}"
        table = read_table("graded", spec.file, ["target", "rating"]).to_pylist()
        self._ratings = {
            row["target"]: row["rating"] for row in table if row["rating"] is not None
        }
        self._draws: dict[int, dict[tuple[str, str], Floats]] = {}

    def view(self, judge: str, aspect: str, *others: str) -> AspectView | None:
        """Return a judge's view of the set's known ratings; None where it does not
        judge them.
        """
        if split(aspect)[0] != self.aspect:
            return None
        targets = self.study.target_set(self.texts).given(judge, *others)
        values = targets.scores(judge, aspect)
        if values is None:
            return None
        n_given = len(self.study.items_given(judge, *others))
        if n_given not in self._draws:
            self._draws[n_given] = self.study.draw_tables(targets)
        draws = self._draws[n_given].get((judge, aspect))
        answers = Answers.read(self.study, judge, aspect, values, draws)
        ratings = aligned(self._ratings, targets.targets)
        classes = present(self.study.spec.aspects[aspect].values)
        known = People(ratings, ratings, classes, "")
        given = np.ones(ratings.size, dtype=bool)
        return AspectView(targets, known, answers, given, self.study.weights)


def global_rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield every judge's measures on each graded set, their means, and differences of
    these.
    """
    sets = [GradedSet(data, spec) for spec in data.spec.graded]
    for judge, graded, aspect in product(data.spec.judges, sets, data.spec.aspects):
        if not (view := graded.view(judge, aspect)):
            continue
        for name, result in view.of_classes.items():
            method = "against the rating of the graded set"
            estimate = result.estimate.with_method(method).with_note(view.tied_note)
            yield data.row(judge, aspect, name, GLOBAL, estimate, **graded.columns)
        for (k, k_b), count in view.confusion().items():
            columns = graded.columns | {"k": k, "k_b": k_b}
            yield data.row(judge, aspect, "class_count", GLOBAL, count, **columns)

    def results(
        judge: str, *others: str
    ) -> Iterator[tuple[str, Mapping[str, Replicated]]]:
        for graded, aspect in product(sets, data.spec.aspects):
            if view := graded.view(judge, aspect, *others):
                yield aspect, view.of_classes

    yield from mean_rows(data, results, GLOBAL, averaged="graded sets")


class ScoredChain(NamedTuple):
    """A judge's scores of originals and of texts with one error more after the other
    (local view).

    scores, lengths, source (texts,): the last is the item's code; pairs: every two
    texts of one.
    """

    scores: Floats
    lengths: Floats
    source: Codes
    pairs: OrderedPairs
    weights: Resamples

    def adjacent(self) -> dict[str, Replicated]:
        """Return the four accuracies on texts of which one has a single error more."""
        pairs = self.pairs.at_distance(1)
        return order.ordered_accuracy(self.scores, pairs, self.source, self.weights)


def chain(
    data: EvaluationData, name: str, judge: str, aspect: str, *others: str
) -> ScoredChain | None:
    """Return a judge's scores of an error chain on one aspect; None where it does not
    judge it.
    """
    worse = data.target_set(name).given(judge, *others)
    scores = worse.scores(judge, aspect)
    lengths = worse.lengths
    source = worse.source
    errors = np.array(worse.rows["step"].to_pylist(), np.int64)
    if scores is None:
        return None
    # Else the dataset brings the chain with its first text.
    if "original" in data.spec.targets:
        original = data.target_set("original").given(judge, *others)
        made = worse.made
        before = original.scores(judge, aspect)
        if before is None:
            return None
        scores = np.concatenate([before, scores[made]])
        lengths = np.concatenate([original.lengths, lengths[made]])
        source = np.concatenate([original.source, source[made]])
        errors = np.concatenate([np.zeros_like(original.source), errors[made]])
    return ScoredChain(
        scores, lengths, source, order.ordered_pairs(source, errors), data.weights
    )


def local_rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield every judge's accuracies on each error chain, their means, and
    differences.
    """
    sets = [f"{name}.{degree}" for name, degree in data.spec.chains]
    for judge, texts, aspect in product(data.spec.judges, sets, data.spec.aspects):
        if not (links := chain(data, texts, judge, aspect)):
            continue
        columns = set_columns(texts)
        arrays = (links.scores, links.pairs, links.source, links.weights)
        for statistic, result in links.adjacent().items():
            yield data.row(judge, aspect, statistic, LOCAL, result.estimate, **columns)
        for k, of_step in order.accuracy_by_step(*arrays).items():
            estimate = of_step[order.STRICT].estimate
            of_k = columns | {"k": k}
            yield data.row(
                judge, aspect, "accuracy_by_distance", LOCAL, estimate, **of_k
            )
        for (high, low), of_steps in order.accuracy_grid(*arrays).items():
            estimate = of_steps[order.STRICT].estimate
            of_pair = columns | {"k": high, "k_b": low}
            yield data.row(
                judge, aspect, "accuracy_by_position", LOCAL, estimate, **of_pair
            )

    def results(
        judge: str, *others: str
    ) -> Iterator[tuple[str, Mapping[str, Replicated]]]:
        for texts, aspect in product(sets, data.spec.aspects):
            if links := chain(data, texts, judge, aspect, *others):
                accuracies = links.adjacent()
                averaged = ("accuracy_adjacent", "accuracy_adjacent_half")
                yield aspect, {name: accuracies[name] for name in averaged}

    yield from mean_rows(data, results, LOCAL, averaged="chains")


class Views:
    """All judges on the rated texts of a dataset; results are cached."""

    def __init__(self, targets: TargetSet) -> None:
        study = targets.study
        self.study = study
        self.target_set = targets
        rated = []
        for name in study.spec.aspects:
            if len(targets.ratings(name)):
                rated.append(name)
        self.people = {name: People.read(targets, name) for name in rated}
        self.criteria = list(dict.fromkeys(split(name)[1] for name in rated))
        """The wordings of the aspects, None where there is but one."""
        draws = {}
        if rated:
            draws = study.draw_tables(targets)
        self._answers = dict[tuple[str, str], Answers]()
        for judge, aspect in product(study.spec.judges, rated):
            values = targets.scores(judge, aspect)
            if values is not None:
                drawn = draws.get((judge, aspect))
                answers = Answers.read(study, judge, aspect, values, drawn)
                self._answers[judge, aspect] = answers
        self._views: dict[tuple[str, str, int, bool], AspectView | None] = {}
        self._averages: dict[
            tuple[str, str | None, int, bool], Mapping[LevelStatistic, Replicated]
        ] = {}

    def view(
        self, aspect: str, judge: str, *others: str, drawn: bool = False
    ) -> AspectView | None:
        """Return a judge's view of one aspect on what all were given; None where it
        judges none.

        Its rows are those of the items' deletions, or of their resamples where these
        are `drawn`.
        """
        key = (judge, aspect, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._views:
            view = None
            answers = self._answers.get((judge, aspect))
            if answers:
                view = AspectView(
                    self.target_set,
                    self.people[aspect],
                    answers,
                    given=self.target_set.is_given(judge, *others),
                    weights=self.study.resamples if drawn else self.study.weights,
                )
            self._views[key] = view
        return self._views[key]

    def judges(self, judge: str, criterion: str | None) -> bool:
        """Return whether a judge judges any aspect in one wording."""
        return any(
            self.view(name, judge)
            for name in self.people
            if split(name)[1] == criterion
        )

    def average(
        self, criterion: str | None, judge: str, *others: str, drawn: bool = False
    ) -> Mapping[LevelStatistic, Replicated]:
        """Return the mean of every measure over aspects in one wording; `drawn` as in
        `view`.
        """
        key = (judge, criterion, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._averages:
            names = []
            for name in self.people:
                if split(name)[1] == criterion:
                    names.append(name)
            views = [self.view(name, judge, *others, drawn=drawn) for name in names]
            absent = Replicated(Estimate.undefined("not judged"), np.array([np.nan]))
            averages = dict[LevelStatistic, Replicated]()
            for measure in MEASURES:
                results = [view.results[measure] if view else absent for view in views]
                averages[measure] = mean_over(results, averaged="aspects")
            self._averages[key] = averages
        return self._averages[key]


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of perspectives.csv: constructed sets, people, judges,
    differences.
    """
    yield from global_rows(data)
    yield from local_rows(data)
    views = Views(data.shared_targets(*data.spec.judges))
    measured = list[ResultRow]()
    for judge in data.spec.judges:
        measured += _measure_rows(views, judge)
    result = [*_people_rows(views), *below_controls(data, measured)]
    for judge in data.spec.judges:
        result += _detail_rows(views, judge)
    for criterion in views.criteria:
        result += _rank_rows(views, criterion)
        result += _difference_rows(views, criterion)
    for row in result:
        yield with_hint_note(data, row)


def _people_rows(views: Views) -> Iterator[ResultRow]:
    """Yield the number of texts of each rating, of those of which all raters agree."""
    by_aspect = {split(name)[0]: people for name, people in views.people.items()}
    for plain, people in by_aspect.items():
        if people.why:
            nothing = Estimate.undefined(people.why)
            yield views.target_set.row(HUMAN, plain, "class_count", DIRECT, nothing)
            continue
        agreed = people.shared[~np.isnan(people.shared)]
        for k, rating in enumerate(people.classes, start=1):
            number = float(np.isclose(agreed, rating).sum())
            count = Estimate(number, n=agreed.size, note=f"rated {rating:g}")
            yield views.target_set.row(HUMAN, plain, "class_count", DIRECT, count, k=k)


def _measure_rows(views: Views, judge: str) -> Iterator[ResultRow]:
    """Yield a judge's measures on every aspect, and their averages."""
    targets = views.target_set
    judged = False
    for aspect in views.people:
        if view := views.view(aspect, judge):
            judged = True
            for measure in MEASURES:
                yield targets.row(
                    judge, aspect, *measure, view.results[measure].estimate
                )
    for criterion in views.criteria if judged else []:
        for measure, mean in views.average(criterion, judge).items():
            estimate = with_floor_note(measure[0], mean.estimate)
            yield targets.row(judge, joined(AVERAGE, criterion), *measure, estimate)


def _detail_rows(views: Views, judge: str) -> Iterator[ResultRow]:
    """Yield ties, the confusion of classes, and the accuracy on texts rated further
    apart.
    """
    targets = views.target_set
    for aspect in views.people:
        if not (view := views.view(aspect, judge)):
            continue
        for measure in BESIDE:
            yield targets.row(judge, aspect, *measure, view.results[measure].estimate)
        for (k, k_b), count in view.confusion().items():
            yield targets.row(judge, aspect, "class_count", DIRECT, count, k=k, k_b=k_b)
        for k, estimate in view.by_distance().items():
            yield targets.row(
                judge, aspect, "accuracy_by_distance", DIRECT, estimate, k=k
            )


def _rank_rows(views: Views, criterion: str | None) -> Iterator[ResultRow]:
    """Yield each judge's rank by every measure's average, on what all judges were
    given.
    """
    study = views.study
    name = joined(AVERAGE, criterion)
    judges = list[str]()
    for judge, card in study.spec.judges.items():
        if views.judges(judge, criterion) and not card.hint:
            judges.append(judge)
    if not judges:
        return
    sources = np.unique(
        views.target_set.source[views.target_set.is_given(*judges)]
    ).size
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
            yield views.target_set.row(judge, name, f"rank_{statistic}", level, rank)


def _difference_rows(views: Views, criterion: str | None) -> Iterator[ResultRow]:
    """Yield the averages of a judge minus those of another, on the same items."""
    study = views.study
    name = joined(AVERAGE, criterion)
    for judge, other in compared(study, "systems"):
        if study.spec.judges[judge].hint or study.spec.judges[other].hint:
            continue
        if not (views.judges(judge, criterion) and views.judges(other, criterion)):
            continue
        second = views.average(criterion, other, judge)
        for measure, first in views.average(criterion, judge, other).items():
            gap = difference(first, second[measure]).estimate
            gap = gap.with_note(study.share_note(judge, other))
            statistic = f"difference_{measure[0]}"
            level = measure[1]
            yield views.target_set.row(
                judge, name, statistic, level, gap, judge_b=other
            )


METHOD = Method(
    name="perspectives",
    rows=rows,
    selectable=True,
    texts=("systems", "graded"),
    parts=("compared", "chains", "graded"),
    across=across,
    oracles=True,
    controls=True,
    unturned=True,
)
