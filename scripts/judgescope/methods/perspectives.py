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
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods import measures
from judgescope.methods.agreement import below_controls
from judgescope.methods.base import HUMAN, GradedTexts, Method, Row, present
from judgescope.methods.differences import compared, mean_rows
from judgescope.methods.evaluation_data import (
    EvaluationData,
    TargetSet,
    aligned,
    set_columns,
)
from judgescope.methods.gold import gold_numbers, number_rule
from judgescope.methods.measures import (
    AVERAGE,
    Measure,
    against,
    with_floor_note,
    with_hint_note,
)
from judgescope.schema.tables import read_table
from judgescope.scoring.aggregate import scores
from judgescope.statistics import order
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.classes import (
    are_classes,
    confusion_counts,
    equal_width,
    on_classes,
)
from judgescope.statistics.comparison import difference, ranks
from judgescope.statistics.means import mean_over
from judgescope.statistics.order import OrderedPairs
from judgescope.statistics.raters import GOLD_NAMES
from judgescope.statistics.reliability import tied_modes
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import (
    CONTINUOUS,
    OFF_JUDGE_SCALE,
    OFF_SCALE,
    Estimate,
)

TRADITIONAL, DIRECT = "traditional", "direct"
"""Levels of perspectives.csv: the views of rated texts."""
GLOBAL, LOCAL = "global", "local"
"""Levels of perspectives.csv: graded sets, and error chains."""
MEASURES: Final[tuple[Measure, ...]] = (
    ("pearson", TRADITIONAL),
    ("spearman", TRADITIONAL),
    ("kappa_linear", DIRECT),
    ("cem_ord", DIRECT),
    ("accuracy_adjacent", DIRECT),
    ("accuracy_adjacent_half", DIRECT),
)
"""The measures by which judges are averaged, ranked and compared: more is better."""
BESIDE: Final[tuple[Measure, ...]] = (
    ("accuracy_adjacent_complete", DIRECT),
    ("tie_rate", DIRECT),
)
ALL, AGREED = "all rated texts", "single rating, texts on which all raters agree"
ORDER = (
    "order of texts of the same source, adjacent ratings among those on which all "
    "raters agree"
)
OF_CLASSES: Final = ("kappa_linear", "cem_ord")
CHAIN_MEANS: Final = ("accuracy_adjacent", "accuracy_adjacent_half")
AGAINST_GRADED: Final = "against the rating of the graded set"


@dataclass(frozen=True)
class People:
    """People's ratings of one aspect: their mean, and the one on which all raters
    agree.

    mean and shared (targets,), NaN where there is none; `classes` is the aspect's whole
    scale; `why` says why there is nothing on which raters could agree.
    """

    mean: Floats
    shared: Floats
    classes: list[float]
    why: str

    @classmethod
    def read(cls, panel: TargetSet, aspect: str) -> "People":
        """Return people's ratings of a panel's texts."""
        study, ratings = panel.study, panel.ratings(aspect)
        classes, shared = study.spec.aspects[aspect].values, unanimous(ratings)
        why = measures.unrated(study, ratings) or (
            CONTINUOUS if classes is None else ""
        )
        why = why or ("" if are_classes(shared, classes or []) else OFF_SCALE)
        mean = gold_numbers(study, ratings).values
        return cls(mean, shared * np.nan if why else shared, classes or [], why)

    def pairs(self, panel: TargetSet, agreed: Flags) -> OrderedPairs:
        """Return the pairs of agreed texts of one source that are rated differently."""
        source = panel.source[agreed]
        return order.ordered_pairs(source, order.places_of(self.shared[agreed], source))


def unanimous(ratings: Floats) -> Floats:
    """Return the rating that all of a text's raters gave, NaN if they differ or are
    fewer than 2.

    ratings (raters, targets), NaN where a rater gave none. Shape (targets,). Source:
    (Hu et al. 2025), A.3.
    """
    given = np.isfinite(ratings)
    least = np.where(given, ratings, np.inf).min(axis=0, initial=np.inf)
    most = np.where(given, ratings, -np.inf).max(axis=0, initial=-np.inf)
    return np.where((given.sum(axis=0) >= 2) & (least == most), least, np.nan)


@dataclass(frozen=True)
class Answers:
    """A judge's answers on one aspect of a panel's texts, one draw or many; (targets,)
    each.

    `classes` are people's classes of the modes of its draws, None with a reason where
    there are none; `tied` tells which modes are one of several.
    """

    means: Floats
    classes: Floats | None
    tied: Flags
    why: str = ""

    @classmethod
    def read(
        cls,
        study: EvaluationData,
        judge: str,
        aspect: str,
        values: Floats,
        draws: Floats | None,
    ) -> "Answers":
        """Return a judge's answers from its scores and, if these rest on several, its
        draws.
        """
        card, people = study.spec.judges[judge], study.spec.aspects[aspect].values
        draws = None if card.first_draw else draws
        discrete, scale = measures.is_discrete(study, judge, aspect), card.grid[aspect]
        means, modes, tied = values, values, np.zeros(values.size, dtype=bool)
        if draws is not None:
            planned = np.full(values.size, card.draws)
            if card.discrete:
                means = scores(draws.T, planned, "mean")[0]
            elif not discrete:
                modes = scores(draws.T, planned, "mode")[0]
            given = ~np.isnan(modes)
            tied[given] = tied_modes(draws[:, given]) > 0
        if scale is None or people is None or not (discrete or draws is not None):
            return cls(means, None, tied, CONTINUOUS)
        if not are_classes(modes, scale):
            return cls(means, None, tied, OFF_JUDGE_SCALE)
        return cls(means, equal_width(modes, scale, people), tied)


@dataclass(frozen=True, eq=False)
class View:
    """A judge and people on one aspect of a panel's texts, as far as they are
    `given`.
    """

    panel: TargetSet
    people: People
    answers: Answers
    given: Flags
    weights: Codes

    @cached_property
    def agreed(self) -> Flags:
        """Return which of the given texts have a rating on which all raters agree."""
        return self.given & ~np.isnan(self.people.shared)

    @cached_property
    def results(self) -> Mapping[Measure, Replicated]:
        """Return every statistic of MEASURES and BESIDE with its replicates."""
        correlations = measures.correlated(
            self.panel,
            self.answers.means,
            self.people.mean,
            statistics=["pearson", "spearman"],
            levels=["pooled"],
            weights=self.weights,
            chosen=self.given,
        )
        all_texts = f"{GOLD_NAMES[number_rule(self.panel.study)]}, {ALL}"
        results = {
            (name, TRADITIONAL): against(x, all_texts)
            for (name, _), x in correlations.items()
        }
        classified = self.answers.classes is not None and not self.people.why
        for name, one in self.of_classes.items():
            noted = (
                against(one, AGREED).with_note(self.tied_note) if classified else one
            )
            results[name, DIRECT] = noted
        if self.people.why:
            return results | {
                (name, DIRECT): self._undefined(self.people.why)
                for name in order.ORDERED
            }
        x, source = self.answers.means[self.agreed], self.panel.source[self.agreed]
        ordered = order.ordered_accuracy(x, self._pairs.apart(1), source, self.weights)
        return results | {
            (name, DIRECT): against(one, ORDER) for name, one in ordered.items()
        }

    @cached_property
    def of_classes(self) -> dict[str, Replicated]:
        """Return kappa and CEM-ORD with the ratings on which all agree, over all
        classes.
        """
        why = self.people.why or self.answers.why
        if why or self.answers.classes is None:
            return dict.fromkeys(OF_CLASSES, self._undefined(why))
        gold, source = self.people.shared[self.agreed], self.panel.source[self.agreed]
        answers = self.answers.classes[self.agreed]
        results = on_classes(gold, answers, self.people.classes, source, self.weights)
        return {name: results[name] for name in OF_CLASSES}

    @property
    def tied_note(self) -> str:
        """Return the note on modes that are one of several, "" without any."""
        tied = int(self.answers.tied[self.agreed].sum())
        return f"{tied} tied modes" if tied else ""

    @cached_property
    def _pairs(self) -> OrderedPairs:
        return self.people.pairs(self.panel, self.agreed)

    def by_distance(self) -> dict[int, Estimate]:
        """Return k -> the strict accuracy on agreed texts that are k ratings of a
        source apart.
        """
        x, source = self.answers.means[self.agreed], self.panel.source[self.agreed]
        results = order.accuracy_by_step(x, self._pairs, source, self.weights)
        return {
            k: against(one[order.STRICT], ORDER).estimate for k, one in results.items()
        }

    def confusion(self) -> dict[tuple[int, int], Estimate]:
        """Return (class of the rating, the judge's) -> number of texts; classes count
        from 1.
        """
        if self.people.why or self.answers.classes is None:
            return {}
        gold, answers = (
            self.people.shared[self.agreed],
            self.answers.classes[self.agreed],
        )
        both = ~np.isnan(answers)
        one_source = np.zeros(int(both.sum()), dtype=np.int64)
        classes = self.people.classes
        counts = confusion_counts(gold[both], answers[both], classes, one_source, 1)[0]
        n = int(counts.sum())
        return {
            (i + 1, j + 1): Estimate(float(counts[i, j]), n=n, n_missing=gold.size - n)
            for i, j in np.argwhere(counts).tolist()
        }

    def _undefined(self, why: str) -> Replicated:
        return Replicated(
            Estimate.undefined(why), np.full(len(self.weights) + 1, np.nan)
        )


class GradedSet:
    """A set of texts of every rating: whoever built it knows the ratings (global
    view).
    """

    def __init__(self, study: EvaluationData, spec: GradedTexts) -> None:
        self.study, self.aspect, self.columns = study, spec.aspect, spec.columns
        self.texts = f"{spec.perturbation}.{spec.degree}"
        table = read_table("graded", spec.file, ["target", "rating"]).to_pylist()
        self._ratings = {
            row["target"]: row["rating"] for row in table if row["rating"] is not None
        }
        self._draws: dict[int, dict[tuple[str, str], Floats]] = {}

    def view(self, judge: str, aspect: str, *others: str) -> View | None:
        """Return a judge's view of the set's known ratings; None where it does not
        judge them.
        """
        if split(aspect)[0] != self.aspect:
            return None
        panel = self.study.panel(self.texts).given(judge, *others)
        values = panel.scores(judge, aspect)
        if values is None:
            return None
        n_given = len(self.study.items_given(judge, *others))
        if n_given not in self._draws:
            self._draws[n_given] = self.study.draw_tables(panel)
        draws = self._draws[n_given].get((judge, aspect))
        answers = Answers.read(self.study, judge, aspect, values, draws)
        ratings = aligned(self._ratings, panel.targets)
        known = People(
            ratings, ratings, present(self.study.spec.aspects[aspect].values), ""
        )
        given = np.ones(ratings.size, dtype=bool)
        return View(panel, known, answers, given, self.study.weights)


def global_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield every judge's measures on each graded set, their means, and differences of
    these.
    """
    sets = [GradedSet(study, spec) for spec in study.spec.graded]
    for judge, graded, aspect in product(study.spec.judges, sets, study.spec.aspects):
        if not (view := graded.view(judge, aspect)):
            continue
        for name, result in view.of_classes.items():
            estimate = result.estimate.with_method(AGAINST_GRADED).with_note(
                view.tied_note
            )
            yield study.row(judge, aspect, name, GLOBAL, estimate, **graded.columns)
        for (k, k_b), count in view.confusion().items():
            columns = graded.columns | {"k": k, "k_b": k_b}
            yield study.row(judge, aspect, "class_count", GLOBAL, count, **columns)

    def results(
        judge: str, *others: str
    ) -> Iterator[tuple[str, Mapping[str, Replicated]]]:
        for graded, aspect in product(sets, study.spec.aspects):
            if view := graded.view(judge, aspect, *others):
                yield aspect, view.of_classes

    yield from mean_rows(study, results, GLOBAL, averaged="graded sets")


class Chain(NamedTuple):
    """A judge's scores of originals and of texts with one error more after the other
    (local view).

    scores, lengths, source (texts,): the last is the item's code; pairs: every two
    texts of one.
    """

    scores: Floats
    lengths: Floats
    source: Codes
    pairs: OrderedPairs
    weights: Codes

    def adjacent(self) -> dict[str, Replicated]:
        """Return the four accuracies on texts of which one has a single error more."""
        pairs = self.pairs.apart(1)
        return order.ordered_accuracy(self.scores, pairs, self.source, self.weights)


def chain(
    study: EvaluationData, name: str, judge: str, aspect: str, *others: str
) -> Chain | None:
    """Return a judge's scores of an error chain on one aspect; None where it does not
    judge it.
    """
    worse = study.panel(name).given(judge, *others)
    scores, lengths, source = worse.scores(judge, aspect), worse.lengths, worse.source
    errors = np.array(worse.rows["step"].to_pylist(), np.int64)
    if scores is None:
        return None
    if (
        "original" in study.spec.targets
    ):  # else the dataset brings the chain with its first text
        original, made = study.panel("original").given(judge, *others), worse.made
        before = original.scores(judge, aspect)
        if before is None:
            return None
        scores = np.concatenate([before, scores[made]])
        lengths = np.concatenate([original.lengths, lengths[made]])
        source = np.concatenate([original.source, source[made]])
        errors = np.concatenate([np.zeros_like(original.source), errors[made]])
    return Chain(
        scores, lengths, source, order.ordered_pairs(source, errors), study.weights
    )


def local_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield every judge's accuracies on each error chain, their means, and
    differences.
    """
    sets = [f"{name}.{degree}" for name, degree in study.spec.chains]
    for judge, texts, aspect in product(study.spec.judges, sets, study.spec.aspects):
        if not (links := chain(study, texts, judge, aspect)):
            continue
        columns, data = (
            set_columns(texts),
            (links.scores, links.pairs, links.source, links.weights),
        )
        for statistic, result in links.adjacent().items():
            yield study.row(judge, aspect, statistic, LOCAL, result.estimate, **columns)
        for k, of_step in order.accuracy_by_step(*data).items():
            estimate, at = of_step[order.STRICT].estimate, columns | {"k": k}
            yield study.row(
                judge, aspect, "accuracy_by_distance", LOCAL, estimate, **at
            )
        for (high, low), of_steps in order.accuracy_grid(*data).items():
            estimate, at = (
                of_steps[order.STRICT].estimate,
                columns | {"k": high, "k_b": low},
            )
            yield study.row(
                judge, aspect, "accuracy_by_position", LOCAL, estimate, **at
            )

    def results(
        judge: str, *others: str
    ) -> Iterator[tuple[str, Mapping[str, Replicated]]]:
        for texts, aspect in product(sets, study.spec.aspects):
            if links := chain(study, texts, judge, aspect, *others):
                accuracies = links.adjacent()
                yield aspect, {name: accuracies[name] for name in CHAIN_MEANS}

    yield from mean_rows(study, results, LOCAL, averaged="chains")


NOT_JUDGED = "not judged"


class Views:
    """All judges on the rated texts of a dataset; results are cached."""

    def __init__(self, panel: TargetSet) -> None:
        study = panel.study
        self.study, self.panel = study, panel
        rated = [name for name in study.spec.aspects if len(panel.ratings(name))]
        self.people = {name: People.read(panel, name) for name in rated}
        self.criteria = list(dict.fromkeys(split(name)[1] for name in rated))
        """The wordings of the aspects, None where there is but one."""
        draws = study.draw_tables(panel) if rated else {}
        self._answers = {
            (judge, aspect): Answers.read(
                study, judge, aspect, values, draws.get((judge, aspect))
            )
            for judge, aspect in product(study.spec.judges, rated)
            if (values := panel.scores(judge, aspect)) is not None
        }
        self._views: dict[tuple[str, str, int, bool], View | None] = {}
        self._averages: dict[
            tuple[str, str | None, int, bool], Mapping[Measure, Replicated]
        ] = {}

    def view(
        self, aspect: str, judge: str, *others: str, drawn: bool = False
    ) -> View | None:
        """Return a judge's view of one aspect on what all were given; None where it
        judges none.

        Its rows are those of the items' deletions, or of their resamples where these
        are `drawn`.
        """
        key = (judge, aspect, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._views:
            answers, given = (
                self._answers.get((judge, aspect)),
                self.panel.is_given(judge, *others),
            )
            weights = self.study.resamples if drawn else self.study.weights
            data = self.panel, self.people[aspect]
            self._views[key] = View(*data, answers, given, weights) if answers else None
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
    ) -> Mapping[Measure, Replicated]:
        """Return the mean of every measure over aspects in one wording; `drawn` as in
        `view`.
        """
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


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of perspectives.csv: constructed sets, people, judges,
    differences.
    """
    yield from global_rows(study)
    yield from local_rows(study)
    views = Views(study.shared_panel(*study.spec.judges))
    measured = [
        row for judge in study.spec.judges for row in _measure_rows(views, judge)
    ]
    result = [*_people_rows(views), *below_controls(study, measured)]
    for judge in study.spec.judges:
        result += _detail_rows(views, judge)
    for criterion in views.criteria:
        result += [*_rank_rows(views, criterion), *_difference_rows(views, criterion)]
    yield from (with_hint_note(study, row) for row in result)


def _people_rows(views: Views) -> Iterator[Row]:
    """Yield the number of texts of each rating, of those of which all raters agree."""
    for plain, people in {
        split(name)[0]: one for name, one in views.people.items()
    }.items():
        if people.why:
            nothing = Estimate.undefined(people.why)
            yield views.panel.row(HUMAN, plain, "class_count", DIRECT, nothing)
            continue
        agreed = people.shared[~np.isnan(people.shared)]
        for k, rating in enumerate(people.classes, start=1):
            number = float(np.isclose(agreed, rating).sum())
            count = Estimate(number, n=agreed.size, note=f"rated {rating:g}")
            yield views.panel.row(HUMAN, plain, "class_count", DIRECT, count, k=k)


def _measure_rows(views: Views, judge: str) -> Iterator[Row]:
    """Yield a judge's measures on every aspect, and their averages."""
    panel, judged = views.panel, False
    for aspect in views.people:
        if view := views.view(aspect, judge):
            judged = True
            for measure in MEASURES:
                yield panel.row(judge, aspect, *measure, view.results[measure].estimate)
    for criterion in views.criteria if judged else []:
        for measure, mean in views.average(criterion, judge).items():
            estimate = with_floor_note(measure[0], mean.estimate)
            yield panel.row(judge, joined(AVERAGE, criterion), *measure, estimate)


def _detail_rows(views: Views, judge: str) -> Iterator[Row]:
    """Yield ties, the confusion of classes, and the accuracy on texts rated further
    apart.
    """
    panel = views.panel
    for aspect in views.people:
        if not (view := views.view(aspect, judge)):
            continue
        for measure in BESIDE:
            yield panel.row(judge, aspect, *measure, view.results[measure].estimate)
        for (k, k_b), count in view.confusion().items():
            yield panel.row(judge, aspect, "class_count", DIRECT, count, k=k, k_b=k_b)
        for k, estimate in view.by_distance().items():
            yield panel.row(
                judge, aspect, "accuracy_by_distance", DIRECT, estimate, k=k
            )


def _rank_rows(views: Views, criterion: str | None) -> Iterator[Row]:
    """Yield each judge's rank by every measure's average, on what all judges were
    given.
    """
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
            yield views.panel.row(judge, name, f"rank_{statistic}", level, rank)


def _difference_rows(views: Views, criterion: str | None) -> Iterator[Row]:
    """Yield the averages of a judge minus those of another, on the same items."""
    study, name = views.study, joined(AVERAGE, criterion)
    for judge, other in compared(study, "systems"):
        if study.spec.judges[judge].hint or study.spec.judges[other].hint:
            continue
        if not (views.judges(judge, criterion) and views.judges(other, criterion)):
            continue
        second = views.average(criterion, other, judge)
        for measure, first in views.average(criterion, judge, other).items():
            gap = difference(first, second[measure]).estimate
            gap = gap.with_note(study.share_note(judge, other))
            statistic, level = f"difference_{measure[0]}", measure[1]
            yield views.panel.row(judge, name, statistic, level, gap, judge_b=other)


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
