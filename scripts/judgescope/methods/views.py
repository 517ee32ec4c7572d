"""Two views of a judge on texts that people rated, for the method perspectives (paper 002).

`traditional`: correlation with people's mean rating, over all texts. `direct`: over the texts whose
raters all agree, whether the judge finds their rating (global), and whether it orders texts of one
source that are rated differently (local). Correlation and order look at the mean of a judge's
draws, and are the same on any scale; the rating that it finds is the mode of its draws.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import Place, against, mean_rating, unrated
from judgescope.scoring.aggregate import scores
from judgescope.statistics.correlation import correlations
from judgescope.statistics.kappa import are_classes, confusion_counts, equal_width, on_classes
from judgescope.statistics.order import (
    OrderedPairs,
    accuracy_by_step,
    ordered_accuracy,
    ordered_pairs,
    places_of,
)
from judgescope.statistics.repeatability import tied_modes
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import CONTINUOUS, OFF_JUDGE_SCALE, OFF_SCALE, Estimate

TRADITIONAL, DIRECT = "traditional", "direct"
"""The level of a row of perspectives.csv is its view."""
MEASURES: Final[tuple[Place, ...]] = (
    ("pearson", TRADITIONAL),
    ("spearman", TRADITIONAL),
    ("kappa_linear", DIRECT),
    ("cem_ord", DIRECT),
    ("accuracy_adjacent", DIRECT),
    ("accuracy_adjacent_half", DIRECT),
)
"""What judges are averaged, ranked and compared by: more is better."""
BESIDE: Final[tuple[Place, ...]] = (("accuracy_adjacent_complete", DIRECT), ("tie_rate", DIRECT))
RULES: Final = {
    "strict": "accuracy_adjacent",
    "half": "accuracy_adjacent_half",
    "complete": "accuracy_adjacent_complete",
    "ties": "tie_rate",
}
ALL, AGREED = "mean, all rated texts", "one rating, texts of which all raters agree"
ORDER = "order of texts of one source, neighbours among the ratings on which all agree"
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class People:
    """People's ratings of one aspect: their mean, and the one on which all raters agree.

    mean and shared (targets,), NaN where there is none; `classes` is the aspect's whole scale;
    `why` says why there is nothing on which raters could agree.
    """

    mean: Floats
    shared: Floats
    classes: list[float]
    why: str

    @classmethod
    def of(cls, study: EvaluationData, panel: TargetSet, aspect: str) -> "People":
        """Return what people say of a panel's texts."""
        ratings = panel.ratings(aspect)
        classes, shared = study.spec.aspects[aspect].values, unanimous(ratings)
        why = unrated(study, ratings) or (CONTINUOUS if classes is None else "")
        why = why or ("" if are_classes(shared, classes or []) else OFF_SCALE)
        mean = mean_rating(ratings)
        return cls(mean, shared * np.nan if why else shared, classes or [], why)

    def pairs(self, panel: TargetSet, agreed: Flags) -> OrderedPairs:
        """Return the pairs of agreed texts of one source that are rated differently."""
        source = panel.source[agreed]
        return ordered_pairs(source, places_of(self.shared[agreed], source))


def unanimous(ratings: Floats) -> Floats:
    """Return the rating that all of a text's raters gave, NaN where they differ or are below 2.

    ratings (raters, targets), NaN where a rater gave none. Shape (targets,). Perspectives paper,
    A.3.
    """
    given = np.isfinite(ratings)
    least = np.where(given, ratings, np.inf).min(axis=0, initial=np.inf)
    most = np.where(given, ratings, -np.inf).max(axis=0, initial=-np.inf)
    return np.where((given.sum(axis=0) >= 2) & (least == most), least, np.nan)


@dataclass(frozen=True)
class Said:
    """What a judge says of one aspect of a panel's texts, one draw or many; (targets,) each.

    `classes` are people's classes of the modes of its draws, None with a reason where there are
    none; `tied` tells which modes are one of several.
    """

    means: Floats
    classes: Floats | None
    tied: Flags
    why: str = ""

    @classmethod
    def of(
        cls, study: EvaluationData, judge: str, aspect: str, own: Floats, draws: Floats | None
    ) -> "Said":
        """Return what a judge says with its scores and, where these rest on several, its draws."""
        card, people = study.spec.judges[judge], study.spec.aspects[aspect].values
        draws = None if card.first_draw else draws
        planned = np.full(own.size, card.draws)
        discrete, scale = card.discrete, card.grid[aspect]
        means, modes, tied = own, own, np.zeros(own.size, dtype=bool)
        if draws is not None:
            means = scores(draws.T, planned, "mean")[0] if discrete else own
            modes = own if discrete else scores(draws.T, planned, "mode")[0]
            given = ~np.isnan(modes)
            tied[given] = tied_modes(draws[:, given]) > 0
        if scale is None or people is None or not (discrete or draws is not None):
            return cls(means, None, tied, CONTINUOUS)
        if not are_classes(modes, scale):
            return cls(means, None, tied, OFF_JUDGE_SCALE)
        return cls(means, equal_width(modes, scale, people), tied)


@dataclass(frozen=True, eq=False)
class View:
    """A judge and people on one aspect of a panel's texts, as far as they are `given`."""

    study: EvaluationData
    panel: TargetSet
    people: People
    said: Said
    given: Flags
    weights: NDArray[np.int64]

    @cached_property
    def agreed(self) -> Flags:
        """Return which of the given texts have a rating on which all raters agree."""
        return self.given & ~np.isnan(self.people.shared)

    @cached_property
    def found(self) -> Mapping[Place, Replicated]:
        """Return every statistic of MEASURES and BESIDE with its replicates."""
        return {**self._traditional(), **dict(self._global()), **self._local()}

    def _traditional(self) -> dict[Place, Replicated]:
        given = self.given
        told = correlations(
            self.said.means[given],
            self.people.mean[given],
            self.panel.source[given],
            self.panel.system[given],
            weights=self.weights,
            statistics=["pearson", "spearman"],
            levels=["pooled"],
        )
        return {(name, TRADITIONAL): _against(one, ALL) for (name, _), one in told.items()}

    def _global(self) -> Iterator[tuple[Place, Replicated]]:
        why = self.people.why or self.said.why
        if why or self.said.classes is None:
            yield from ((place, self._nothing(why)) for place in MEASURES[2:4])
            return
        gold, source = self.people.shared[self.agreed], self.panel.source[self.agreed]
        weights, tied = self.weights, int(self.said.tied[self.agreed].sum())
        told = on_classes(
            gold, self.said.classes[self.agreed], self.people.classes, source, weights
        )
        for place in MEASURES[2:4]:
            one = _against(told[place[0]], AGREED)
            note = f"{tied} tied modes" if tied else ""
            yield place, one._replace(estimate=one.estimate.with_note(note))

    @cached_property
    def _pairs(self) -> OrderedPairs:
        return self.people.pairs(self.panel, self.agreed)

    def _local(self) -> dict[Place, Replicated]:
        names = {rule: (name, DIRECT) for rule, name in RULES.items()}
        if self.people.why:
            return dict.fromkeys(names.values(), self._nothing(self.people.why))
        x, source = self.said.means[self.agreed], self.panel.source[self.agreed]
        told = ordered_accuracy(x, self._pairs.apart(1), source, self.weights)
        return {place: _against(told[rule], ORDER) for rule, place in names.items()}

    def further(self) -> dict[int, Estimate]:
        """Return k -> the strict accuracy on agreed texts that are k ratings of a source apart."""
        x, source = self.said.means[self.agreed], self.panel.source[self.agreed]
        told = accuracy_by_step(x, self._pairs, source, self.weights)
        return {k: _against(found["strict"], ORDER).estimate for k, found in told.items()}

    def confusion(self) -> dict[tuple[int, int], Estimate]:
        """Return (people's class, the judge's) -> the number of texts; classes count from 1."""
        if self.people.why or self.said.classes is None:
            return {}
        both = self.agreed & ~np.isnan(self.said.classes)
        gold, mine = self.people.shared[both], self.said.classes[both]
        one = np.zeros(gold.size, dtype=np.int64)
        counts = confusion_counts(gold, mine, self.people.classes, one, 1)[0]
        n, missing = int(counts.sum()), int(self.agreed.sum() - counts.sum())
        return {
            (i + 1, j + 1): Estimate(float(counts[i, j]), n=n, n_missing=missing)
            for i, j in np.argwhere(counts).tolist()
        }

    def _nothing(self, why: str) -> Replicated:
        return Replicated(Estimate.undefined(why), np.full(len(self.weights) + 1, np.nan))


def _against(one: Replicated, which: str) -> Replicated:
    return one._replace(estimate=against(one.estimate, which))
