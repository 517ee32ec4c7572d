"""A judge and people on one aspect of some texts: ratings on which all raters agree,
the judge's answers, and their agreement (Hu et al. 2025)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.methods import measures
from judgescope.methods.evaluation_data import (
    EvaluationData,
    TargetSet,
)
from judgescope.methods.gold import gold_numbers, number_rule
from judgescope.methods.measures import (
    LevelStatistic,
    against,
)
from judgescope.scoring.aggregate import scores
from judgescope.statistics import order
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.classes import (
    are_classes,
    confusion_counts,
    equal_width,
    on_classes,
)
from judgescope.statistics.order import OrderedPairs
from judgescope.statistics.raters import GOLD_NAMES
from judgescope.statistics.reliability import tied_modes
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Resamples

TRADITIONAL = "traditional"
DIRECT = "direct"
"""Levels of perspectives.csv: the views of rated texts."""
MEASURES: Final[tuple[LevelStatistic, ...]] = (
    ("pearson", TRADITIONAL),
    ("spearman", TRADITIONAL),
    ("kappa_linear", DIRECT),
    ("cem_ord", DIRECT),
    ("accuracy_adjacent", DIRECT),
    ("accuracy_adjacent_half", DIRECT),
)
"""The measures by which judges are averaged, ranked and compared: more is better."""
BESIDE: Final[tuple[LevelStatistic, ...]] = (
    ("accuracy_adjacent_complete", DIRECT),
    ("tie_rate", DIRECT),
)
ORDER = (
    "order of texts of the same source, adjacent ratings among those on which all "
    "raters agree"
)


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
    def read(cls, targets: TargetSet, aspect: str) -> "People":
        """Return people's ratings of a set's texts."""
        study = targets.study
        ratings = targets.ratings(aspect)
        classes = study.spec.aspects[aspect].values
        shared = unanimous(ratings)
        why = measures.unrated(study, ratings)
        if not why and classes is None:
            why = REASONS.continuous
        if not why and not are_classes(shared, classes or []):
            why = REASONS.off_scale
        mean = gold_numbers(study, ratings).values
        return cls(mean, shared * np.nan if why else shared, classes or [], why)

    def pairs(self, targets: TargetSet, agreed: Flags) -> OrderedPairs:
        """Return the pairs of agreed texts of one source that are rated differently."""
        source = targets.source[agreed]
        return order.ordered_pairs(source, order.places_of(self.shared[agreed], source))


def unanimous(ratings: Floats) -> Floats:
    """Return the rating that all of a text's raters gave, NaN if they differ or are
    fewer than 2.

    ratings (raters, targets), NaN where a rater gave none. Shape (targets,). Source:
    (Hu et al. 2025), A.3.
    """
    given = np.isfinite(ratings)
    lowest = np.where(given, ratings, np.inf).min(axis=0, initial=np.inf)
    highest = np.where(given, ratings, -np.inf).max(axis=0, initial=-np.inf)
    agree = (given.sum(axis=0) >= 2) & (lowest == highest)
    return np.where(agree, lowest, np.nan)


@dataclass(frozen=True)
class Answers:
    """A judge's answers on one aspect of a set's texts, one draw or many; (targets,)
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
        data: EvaluationData,
        judge: str,
        aspect: str,
        values: Floats,
        draws: Floats | None,
    ) -> "Answers":
        """Return a judge's answers from its scores and, if these rest on several, its
        draws.
        """
        card = data.spec.judges[judge]
        people = data.spec.aspects[aspect].values
        if card.first_draw:
            draws = None
        discrete = measures.is_discrete(data, judge, aspect)
        scale = card.grid[aspect]
        means = values
        modes = values
        tied = np.zeros(values.size, dtype=bool)
        if draws is not None:
            planned = np.full(values.size, card.draws)
            if card.discrete:
                means = scores(draws.T, planned, "mean")[0]
            elif not discrete:
                modes = scores(draws.T, planned, "mode")[0]
            given = ~np.isnan(modes)
            tied[given] = tied_modes(draws[:, given]) > 0
        if scale is None or people is None or not (discrete or draws is not None):
            return cls(means, None, tied, REASONS.continuous)
        if not are_classes(modes, scale):
            return cls(means, None, tied, REASONS.off_judge_scale)
        return cls(means, equal_width(modes, scale, people), tied)


@dataclass(frozen=True, eq=False)
class AspectView:
    """A judge and people on one aspect of a set's texts, as far as they are
    `given`.
    """

    target_set: TargetSet
    people: People
    answers: Answers
    given: Flags
    weights: Resamples

    @cached_property
    def agreed(self) -> Flags:
        """Return which of the given texts have a rating on which all raters agree."""
        return self.given & ~np.isnan(self.people.shared)

    @cached_property
    def results(self) -> Mapping[LevelStatistic, Replicated]:
        """Return every statistic of MEASURES and BESIDE with its replicates."""
        correlations = measures.correlated(
            self.target_set,
            self.answers.means,
            self.people.mean,
            statistics=["pearson", "spearman"],
            levels=["pooled"],
            weights=self.weights,
            chosen=self.given,
        )
        all_texts = f"{GOLD_NAMES[number_rule(self.target_set.study)]}, all rated texts"
        results = dict[LevelStatistic, Replicated]()
        for (name, _), correlation in correlations.items():
            results[name, TRADITIONAL] = against(correlation, all_texts)
        classified = self.answers.classes is not None and not self.people.why
        for name, result in self.of_classes.items():
            if classified:
                result = against(
                    result, "single rating, texts on which all raters agree"
                ).with_note(self.tied_note)
            results[name, DIRECT] = result
        if self.people.why:
            for name in order.ORDERED:
                results[name, DIRECT] = self._undefined(self.people.why)
            return results
        x = self.answers.means[self.agreed]
        source = self.target_set.source[self.agreed]
        pairs = self._pairs.at_distance(1)
        ordered = order.ordered_accuracy(x, pairs, source, self.weights)
        for name, accuracy in ordered.items():
            results[name, DIRECT] = against(accuracy, ORDER)
        return results

    @cached_property
    def of_classes(self) -> dict[str, Replicated]:
        """Return kappa and CEM-ORD with the ratings on which all agree, over all
        classes.
        """
        why = self.people.why or self.answers.why
        of_classes_only = ("kappa_linear", "cem_ord")
        if why or self.answers.classes is None:
            return dict.fromkeys(of_classes_only, self._undefined(why))
        gold = self.people.shared[self.agreed]
        source = self.target_set.source[self.agreed]
        answers = self.answers.classes[self.agreed]
        results = on_classes(gold, answers, self.people.classes, source, self.weights)
        return {name: results[name] for name in of_classes_only}

    @property
    def tied_note(self) -> str:
        """Return the note on modes that are one of several, "" without any."""
        tied = int(self.answers.tied[self.agreed].sum())
        return f"{tied} tied modes" if tied else ""

    @cached_property
    def _pairs(self) -> OrderedPairs:
        return self.people.pairs(self.target_set, self.agreed)

    def by_distance(self) -> dict[int, Estimate]:
        """Return k -> the strict accuracy on agreed texts that are k ratings of a
        source apart.
        """
        x = self.answers.means[self.agreed]
        source = self.target_set.source[self.agreed]
        results = order.accuracy_by_step(x, self._pairs, source, self.weights)
        return {
            k: against(accuracies[order.STRICT], ORDER).estimate
            for k, accuracies in results.items()
        }

    def confusion(self) -> dict[tuple[int, int], Estimate]:
        """Return (class of the rating, the judge's) -> number of texts; classes count
        from 1.
        """
        if self.people.why or self.answers.classes is None:
            return {}
        gold = self.people.shared[self.agreed]
        answers = self.answers.classes[self.agreed]
        both = ~np.isnan(answers)
        one_source = np.zeros(int(both.sum()), dtype=np.int64)
        classes = self.people.classes
        counts = confusion_counts(gold[both], answers[both], classes, one_source, 1)[0]
        n = int(counts.sum())
        texts = dict[tuple[int, int], Estimate]()
        for i, j in np.argwhere(counts).tolist():
            count = Estimate(float(counts[i, j]), n=n, n_missing=gold.size - n)
            texts[i + 1, j + 1] = count
        return texts

    def _undefined(self, why: str) -> Replicated:
        return Replicated(
            Estimate.undefined(why), np.full(len(self.weights) + 1, np.nan)
        )
