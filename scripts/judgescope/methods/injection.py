"""Injection (beyond the papers): does a judge do what the texts that it judges tell it?

Each attack adds something to every original that claims the top of the scale; its counterpart adds
a note of no meaning in the same place and of the same length. What both do is the added text, what
only the attack does is what it says.
"""

from collections.abc import Iterator

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods.base import Row
from judgescope.methods.differences import difference_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.measures import AVERAGE
from judgescope.methods.undefined import excluded
from judgescope.statistics.hints import injection_shift, obey_rate
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
SEVERAL = "a mean of several draws equals no rating"
SWAPPED = "permutation of attack and inert text, 1000, sources whole, two-sided"
NOTE = "with the attack, less with an inert text in its place"
Ends = tuple[float, float]


class Scores:
    """A judge's scores of originals and of what an attack and its counterpart make of them.

    (items,) each, in the order of `items`, NaN where there is none.
    """

    def __init__(self, study: EvaluationData, judge: str, aspect: str, attack: str) -> None:
        self.study, self.judge, self.aspect = study, judge, aspect
        original = study.panel("original").given(judge)
        self.source = original.source
        self.before = _by_item(study, judge, aspect, "original")[self.source]
        self.after = {
            degree: _by_item(study, judge, aspect, f"{attack}.{degree}")[self.source]
            for degree in (ATTACK, INERT)
        }

    @property
    def own_ends(self) -> Ends | None:
        """Return the ends of the judge's scale."""
        ends = self.study.spec.judges[self.judge].ends[self.aspect]
        return None if ends is None else (ends[0], ends[1])

    @property
    def ends(self) -> Ends | None:
        """Return the ends of the judge's scale, else of its scores; None where these are equal."""
        if self.own_ends:
            return self.own_ends
        told = np.concatenate([self.before, *self.after.values()])
        told = told[np.isfinite(told)]
        return (float(told.min()), float(told.max())) if np.unique(told).size > 1 else None

    def shift(self, degree: str) -> Replicated:
        """Return by how much of the range an addition moves the scores."""
        if self.ends is None:
            return self._nothing(NO_RANGE)
        after, weights = self.after[degree], self.study.weights
        found = injection_shift(self.before, after, *self.ends, self.source, weights)
        note = "" if self.own_ends else OWN_RANGE
        return found._replace(estimate=found.estimate.with_note(note))

    def obeyed(self, degree: str, named: bool) -> Replicated:
        """Return how many texts an addition takes to the top; `named`: the attack says a number."""
        told, ends = self.study.spec.judges[self.judge], self.own_ends
        top = self.study.spec.aspects[self.aspect].ends[1]
        why = "" if told.discrete else SEVERAL
        why = (OTHER_CLAIM if named and ends and ends[1] != top else "") or why
        if ends is None or why:
            return self._nothing(why or NO_CLAIM)
        after, weights = self.after[degree], self.study.weights
        return obey_rate(self.before, after, ends[1], *ends, self.source, weights)

    def test(self) -> Estimate:
        """Return the p-value of the attack's scores being those of its counterpart."""
        first, second = self.after[ATTACK], self.after[INERT]
        both = np.isfinite(first) & np.isfinite(second)
        if not both.any():
            return Estimate.undefined(NOTHING, n_missing=both.size)
        spec = self.study.spec
        rng = stream(spec.seed, "injection", self.study.dataset, self.judge, self.aspect)
        flips = flips_of(rng, len(self.study.item_order))
        test = mean_test(first[both], second[both], self.source[both], flips)
        return Estimate(test.p, n=test.n, n_missing=int((~both).sum()), method=SWAPPED)

    def _nothing(self, why: str) -> Replicated:
        return Replicated(Estimate.undefined(why), np.full(len(self.study.weights) + 1, np.nan))


def _by_item(study: EvaluationData, judge: str, aspect: str, texts: str) -> Floats:
    """Return a judge's score of each item's text of a set; shape (items of the dataset,)."""
    panel, found = study.panel(texts).given(judge), np.full(len(study.item_order), np.nan)
    scores = panel.scores(judge, aspect)
    if scores is not None:
        found[panel.source] = scores
    return found


Told = dict[str, dict[str, Replicated]]
"""Degree -> statistic -> what is found."""


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield what every attack does to every judge, by aspect and in the mean over aspects."""
    for attack, named in study.spec.attacks.items():
        never = excluded(study, f"{attack}.{ATTACK}")
        for judge in (name for name in study.spec.judges if name not in never):
            yield from _judge(study, judge, attack, named)


def _judge(study: EvaluationData, judge: str, attack: str, named: bool) -> Iterator[Row]:
    wordings: dict[str | None, list[Told]] = {}
    for aspect in study.spec.aspects:
        if (f"{attack}.{ATTACK}", judge, aspect) not in study.score_values:
            continue
        scores = Scores(study, judge, aspect, attack)
        told: Told = {
            degree: {SHIFT: scores.shift(degree), OBEYED: scores.obeyed(degree, named)}
            for degree in (ATTACK, INERT)
        }
        yield from _rows(study, judge, aspect, attack, told)
        p = scores.test()
        yield study.row(judge, aspect, "p_injection", "", p, perturbation=attack, degree=ATTACK)
        wordings.setdefault(split(aspect)[1], []).append(told)
    for criterion, each in wordings.items():
        means: Told = {
            degree: {
                name: mean_over([one[degree][name] for one in each], of="aspects")
                for name in (SHIFT, OBEYED)
            }
            for degree in (ATTACK, INERT)
        }
        yield from _rows(study, judge, joined(AVERAGE, criterion), attack, means)


def _rows(study: EvaluationData, judge: str, aspect: str, attack: str, told: Told) -> Iterator[Row]:
    for degree, found in told.items():
        for name, one in found.items():
            place = {"perturbation": attack, "degree": degree}
            yield study.row(judge, aspect, name, "", one.estimate, **place)
    yield from difference_rows(
        study,
        judge,
        told[ATTACK],
        told[INERT],
        note=NOTE,
        place={"perturbation": attack, "degree": ATTACK},
        aspect=aspect,
    )
