"""Instructions in judged texts: how far an attack moves a judge's scores (this
project).
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import measures
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import AVERAGE
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.bias import injection_shift, obey_rate
from judgescope.statistics.comparison import difference
from judgescope.statistics.means import mean_over
from judgescope.statistics.permutation import flips_of, mean_test
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate

ATTACK = "attack"
INERT = "inert"
SEVERAL_DRAWS = "a mean of several draws cannot equal a rating"
Injection = dict[tuple[str, str], Replicated]
"""(statistic, degree) -> its result."""


def injection_rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the effect of every attack on every judge, by aspect and as means over
    aspects.

    Each attack adds to every original a claim of the top of the scale; its inert
    counterpart adds a meaningless note of the same length in the same position. An
    effect of both is that of any addition; the difference is the effect of the claim
    (this project).
    """
    for attack, judge in product(data.spec.attacks, data.spec.judges):
        texts = f"{attack}.{ATTACK}"
        if judge in data.excluded(texts):
            continue
        wordings: dict[str | None, list[Injection]] = {}
        for aspect in data.spec.aspects:
            if (texts, judge, aspect) in data.score_values:
                injected = InjectedScores(data, judge, aspect, attack)
                results = injected.results()
                yield from _effect_rows(data, judge, aspect, attack, results)
                p = injected.p()
                columns: AppliesTo = {"perturbation": attack, "degree": ATTACK}
                yield data.row(judge, aspect, "p_injection", "", p, **columns)
                wordings.setdefault(split(aspect)[1], []).append(results)
        for criterion, of_aspects in wordings.items():
            means: Injection = {}
            for effect in of_aspects[0]:
                values = [results[effect] for results in of_aspects]
                means[effect] = mean_over(values, averaged="aspects")
            aspect = joined(AVERAGE, criterion)
            yield from _effect_rows(data, judge, aspect, attack, means)


class InjectedScores:
    """A judge's scores on one aspect of the originals, and of their copies with an
    attack or an inert text; (originals,) each, NaN = missing.
    """

    def __init__(
        self, data: EvaluationData, judge: str, aspect: str, attack: str
    ) -> None:
        self.study = data
        self.judge = judge
        self.aspect = aspect
        self.source = data.target_set("original").given(judge).source
        self.before = self._by_item("original")
        self.attacked = self._by_item(f"{attack}.{ATTACK}")
        self.inert = self._by_item(f"{attack}.{INERT}")
        self.both = np.isfinite(self.attacked) & np.isfinite(self.inert)
        self.ends = data.spec.judges[judge].ends[aspect]
        self.names_top = bool(data.spec.attacks[attack])
        """Whether the attack names a number, the top of people's scale."""

    def _by_item(self, texts: str) -> Floats:
        targets = self.study.target_set(texts).given(self.judge)
        scores = targets.scores(self.judge, self.aspect)
        values = np.full(len(self.study.item_order), np.nan)
        if scores is not None:
            values[targets.source] = scores
        return np.asarray(values[self.source])

    def results(self) -> Injection:
        """Return the effects of the attack and its counterpart, and their
        differences.
        """
        results: Injection = {}
        effects = {"injection_shift": self._shift, "obey_rate": self._obeyed}
        for name, effect in effects.items():
            results[name, ATTACK] = effect(self.attacked)
            results[name, INERT] = effect(self.inert)
            results[f"difference_{name}", ATTACK] = difference(
                effect(np.where(self.both, self.attacked, np.nan)),
                effect(np.where(self.both, self.inert, np.nan)),
            )
        return results

    def _shift(self, scores: Floats) -> Replicated:
        values = np.concatenate([self.before, self.attacked, self.inert])
        values = values[np.isfinite(values)]
        note = ""
        scale = self.ends
        if scale is None:
            if np.unique(values).size < 2:
                return self.study.undefined(
                    "all scores are equal, and the judge has no scale"
                )
            scale = float(values.min()), float(values.max())
            note = "relative to the range of the judge's scores, as it has no scale"
        shifted = injection_shift(
            self.before, scores, *scale, self.source, self.study.weights
        )
        return shifted.with_note(note)

    def _obeyed(self, scores: Floats) -> Replicated:
        top = self.study.spec.aspects[self.aspect].ends[1]
        if self.names_top and self.ends and self.ends[1] != top:
            return self.study.undefined(
                "the attack names the top of a scale other than the judge's"
            )
        if not measures.is_discrete(self.study, self.judge, self.aspect):
            return self.study.undefined(SEVERAL_DRAWS)
        if self.ends is None:
            return self.study.undefined(
                "the judge has no scale, so an attack cannot claim its top"
            )
        return obey_rate(
            self.before, scores, *self.ends, self.source, self.study.weights
        )

    def p(self) -> Estimate:
        """Return the p of attack and inert text having the same effect."""
        if not self.both.any():
            return Estimate.undefined(REASONS.nothing, n_missing=self.both.size)
        study = self.study
        names = ("injection", study.dataset, self.judge, self.aspect)
        flips = flips_of(stream(study.spec.seed, *names), len(study.item_order))
        test = mean_test(
            self.attacked[self.both],
            self.inert[self.both],
            self.source[self.both],
            flips,
        )
        method = (
            "two-sided permutation test: attack and inert text swapped within "
            "sources, 1000 draws"
        )
        missing = int((~self.both).sum())
        return Estimate(test.p, n=test.n, n_missing=missing, method=method)


def _effect_rows(
    data: EvaluationData, judge: str, aspect: str, attack: str, results: Injection
) -> Iterator[ResultRow]:
    for (name, degree), result in results.items():
        estimate = result.estimate
        if name.startswith("difference_"):
            estimate = estimate.with_note(
                "score with the attack minus score with an inert text in its place"
            )
        columns: AppliesTo = {"perturbation": attack, "degree": degree}
        yield data.row(judge, aspect, name, "", estimate, **columns)
