"""Injection (this project): does a judge follow instructions in the texts that it judges?

Each attack adds to every original a claim of the top of the scale; its inert counterpart adds a
meaningless note of the same length in the same place. An effect of both is that of any addition;
the difference is the effect of the claim.
"""

from collections.abc import Iterator

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods.base import Row
from judgescope.methods.differences import difference_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.measures import AVERAGE
from judgescope.statistics.injection import injection_shift, obey_rate
from judgescope.statistics.means import mean_over
from judgescope.statistics.permutation import flips_of, mean_test
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import NOTHING, Estimate

ATTACK, INERT = "attack", "inert"
SHIFT, OBEYED = "injection_shift", "obey_rate"
OWN_RANGE = "of the range of its scores: it has no scale"
NO_RANGE = "all scores are equal, and the judge has no scale"
NO_CLAIM = "the judge has no scale whose top could be claimed"
OTHER_CLAIM = "the attack names the top of another scale than the judge's"
SEVERAL_DRAWS = "a mean of several draws equals no rating"
SWAPPED = "permutation of attack and inert text, 1000, sources whole, two-sided"
NOTE = "with the attack, less with an inert text in its place"
Results = dict[str, dict[str, Replicated]]
"""Degree -> statistic -> its result."""


class AttackScores:
    """A judge's scores of originals and of their copies with an attack or its counterpart.

    (items,) each, in the order of `items`, NaN where there is none.
    """

    def __init__(self, study: EvaluationData, judge: str, aspect: str, attack: str) -> None:
        self.study, self.judge, self.aspect = study, judge, aspect
        self.source = study.panel("original").given(judge).source
        self.before = self._by_item("original")
        self.after = {degree: self._by_item(f"{attack}.{degree}") for degree in (ATTACK, INERT)}

    def _by_item(self, texts: str) -> Floats:
        """Return the judge's score of each item's text of a set."""
        panel = self.study.panel(texts).given(self.judge)
        by_item = np.full(len(self.study.item_order), np.nan)
        scores = panel.scores(self.judge, self.aspect)
        if scores is not None:
            by_item[panel.source] = scores
        return by_item[self.source]

    @property
    def scale(self) -> tuple[float, float] | None:
        """Return the ends of the judge's scale."""
        return self.study.spec.judges[self.judge].ends[self.aspect]

    def results(self, names_number: bool) -> Results:
        """Return both statistics of the attack and of its counterpart."""
        return {
            degree: {SHIFT: self._shift(degree), OBEYED: self._obeyed(degree, names_number)}
            for degree in (ATTACK, INERT)
        }

    def _shift(self, degree: str) -> Replicated:
        """Return by how much of the judge's scale, else of its scores, an addition moves them."""
        ends, note = self.scale, ""
        if ends is None:
            values = np.concatenate([self.before, *self.after.values()])
            values = values[np.isfinite(values)]
            if np.unique(values).size < 2:
                return self.study.undefined(NO_RANGE)
            ends, note = (float(values.min()), float(values.max())), OWN_RANGE
        weights, after = self.study.weights, self.after[degree]
        shift = injection_shift(self.before, after, *ends, self.source, weights)
        return shift._replace(estimate=shift.estimate.with_note(note))

    def _obeyed(self, degree: str, names_number: bool) -> Replicated:
        """Return the share of texts that an addition takes to the top of the scale."""
        ends, card = self.scale, self.study.spec.judges[self.judge]
        top = self.study.spec.aspects[self.aspect].ends[1]
        if names_number and ends and ends[1] != top:
            return self.study.undefined(OTHER_CLAIM)
        if not card.discrete:
            return self.study.undefined(SEVERAL_DRAWS)
        if ends is None:
            return self.study.undefined(NO_CLAIM)
        after, weights = self.after[degree], self.study.weights
        return obey_rate(self.before, after, ends[1], *ends, self.source, weights)

    def test(self) -> Estimate:
        """Return the p-value of the attack's scores being those of its counterpart."""
        first, second = self.after[ATTACK], self.after[INERT]
        both = np.isfinite(first) & np.isfinite(second)
        if not both.any():
            return Estimate.undefined(NOTHING, n_missing=both.size)
        seed = self.study.spec.seed
        rng = stream(seed, "injection", self.study.dataset, self.judge, self.aspect)
        flips = flips_of(rng, len(self.study.item_order))
        test = mean_test(first[both], second[both], self.source[both], flips)
        return Estimate(test.p, n=test.n, n_missing=int((~both).sum()), method=SWAPPED)


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the effect of every attack on every judge, by aspect and as means over aspects."""
    for attack, names_number in study.spec.attacks.items():
        excluded = study.excluded(f"{attack}.{ATTACK}")
        for judge in study.spec.judges:
            if judge not in excluded:
                yield from _judge_rows(study, judge, attack, names_number)


def _judge_rows(
    study: EvaluationData, judge: str, attack: str, names_number: bool
) -> Iterator[Row]:
    wordings: dict[str | None, list[Results]] = {}
    for aspect in study.spec.aspects:
        if (f"{attack}.{ATTACK}", judge, aspect) not in study.score_values:
            continue
        scores = AttackScores(study, judge, aspect, attack)
        results = scores.results(names_number)
        yield from _rows(study, judge, aspect, attack, results)
        p = scores.test()
        yield study.row(judge, aspect, "p_injection", "", p, perturbation=attack, degree=ATTACK)
        wordings.setdefault(split(aspect)[1], []).append(results)
    for criterion, each in wordings.items():
        means = {
            degree: {
                name: mean_over([results[degree][name] for results in each], of="aspects")
                for name in (SHIFT, OBEYED)
            }
            for degree in (ATTACK, INERT)
        }
        yield from _rows(study, judge, joined(AVERAGE, criterion), attack, means)


def _rows(
    study: EvaluationData, judge: str, aspect: str, attack: str, results: Results
) -> Iterator[Row]:
    place = {"perturbation": attack, "degree": ATTACK}
    for degree, by_statistic in results.items():
        for name, result in by_statistic.items():
            columns = place | {"degree": degree}
            yield study.row(judge, aspect, name, "", result.estimate, **columns)
    first, second = results[ATTACK], results[INERT]
    yield from difference_rows(study, judge, first, second, note=NOTE, place=place, aspect=aspect)
