"""Claims on labels: does a judge give people's, and does it let through what people reject?

Labels: balanced accuracy above chance (one over the number of labels), above people's labels dealt
out by length in both directions and, where texts come from named systems, above a preference for
systems; then as one more rater, against the others' label.

Of two ordered labels, each has a claim of its own that needs no chance: of the texts that people
label so, does the judge find nine in ten? It fails where the upper end of the interval lies below
FOUND, passes where the lower end reaches it. A judge that finds exactly nine in ten is said to fail
in at most 2.5 % of studies.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.methods.claims.agreement import CONSTANT
from judgescope.methods.claims.base import (
    CAUGHT,
    CHANCE,
    LABELS,
    LOST,
    PASSED,
    SHARE_GAP,
    BesideRaters,
    Claim,
    SystemPreference,
    length_nulls,
    lost_share,
    p_above,
)
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.methods.labels import label_aspects, labelled, truth_name, truth_of
from judgescope.methods.measures import POOLED, against
from judgescope.statistics.labels import balanced_accuracies, on_labels
from judgescope.statistics.nulls import dealt
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import FEW_LOST, Outcome, on_bar

STATISTIC: Final = "balanced_accuracy"
FOUND: Final = 0.9
"""The share of the texts of one label that a judge should find."""


class LabelledTexts(BesideRaters):
    """The texts of a panel, and people's label of each on one aspect."""

    statistic = STATISTIC

    @cached_property
    def others(self) -> Callable[[Floats], Floats]:
        """Return the function from ratings to the true label of each text."""
        return truth_of(self.study, self.aspect)

    @cached_property
    def gold(self) -> Floats:
        """Return the true label of each text; (texts,), NaN where there is none."""
        return self.others(self.panel.ratings(self.aspect))

    @property
    def q(self) -> int:
        """Return how many labels there are."""
        return len(self.study.spec.aspects[self.aspect].labels)

    @property
    def graded(self) -> bool:
        """Return whether the labels have an order in which length can deal them out."""
        return self.q == 2 or self.study.spec.aspects[self.aspect].ordered

    def numbers(self, codes: Floats, gold: Floats | None = None) -> dict[str, Replicated]:
        """Return the statistics of a judge's labels, (texts,), NaN = missing."""
        people = self.gold if gold is None else gold
        return on_labels(people, codes, self.q, self.panel.source, self.study.weights)

    def number(self, codes: Floats, gold: Floats | None = None) -> Replicated:
        """Return the balanced accuracy."""
        return self.numbers(codes, gold)[STATISTIC]

    def worst(self, codes: Floats) -> Floats:
        """Return the labels with each missing one wrong."""
        return np.where(np.isnan(codes), (self.gold + 1) % self.q, codes)

    def nulls(self, codes: Floats) -> dict[str, float]:
        """Return the p of chance and, of labels with an order, of both lengths."""
        result = self.number(codes)
        if not self.graded:
            return {CHANCE: p_above(result, 1 / self.q)}

        def by_length(sign: float) -> Replicated:
            labels = dealt(self.gold, sign * self.panel.lengths, self.panel.source)
            return self.number(np.where(np.isnan(codes), np.nan, labels))

        return length_nulls(result, 1 / self.q, SHARE_GAP, by_length)

    @cached_property
    def rated(self) -> Codes:
        """Return the texts that have a label."""
        return np.flatnonzero(~np.isnan(self.gold))

    @cached_property
    def preference(self) -> SystemPreference:
        """Return the null of a preference for systems, on the texts that have a label."""
        return SystemPreference(
            self.study, self.panel.source[self.rated], self.panel.system[self.rated]
        )

    def moved(self, codes: Floats, text: Codes) -> Floats:
        """Return the balanced accuracy where other texts' labels stand in each text's place."""
        own = np.append(codes[self.rated], np.nan)  # the last entry: no text
        return balanced_accuracies(self.gold[self.rated], own[text], self.q)


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims of every judge and aspect with labels alone."""
    fields: dict[tuple[int, str], LabelledTexts] = {}
    for judge in study.spec.judges:
        systems, panel = study.fair(judge)
        for aspect in label_aspects(study):
            scores = panel.scores(judge, aspect)
            if scores is None:
                continue
            texts = fields.setdefault((id(panel.rows), aspect), LabelledTexts(study, panel, aspect))
            mine = labelled(study, panel, judge, aspect, scores, texts.gold)
            if mine.codes is None:
                columns = (judge, LABELS, STATISTIC, POOLED, aspect)
                nothing = Estimate.undefined(mine.note)
                yield Claim(*columns, nothing, {}, outcome=Outcome.NO_CLAIM, reasons=(mine.note,))
            else:
                yield _claim(texts, judge, mine.codes, systems)
                yield from _found(texts, judge, mine.codes, systems)


def _claim(texts: LabelledTexts, judge: str, codes: Floats, systems: str | None) -> Claim:
    result, given = texts.number(codes), codes[~(np.isnan(codes) | np.isnan(texts.gold))]
    claim = Claim(
        judge,
        LABELS,
        STATISTIC,
        POOLED,
        texts.aspect,
        against(result, truth_name(texts.study, texts.aspect)).estimate,
        {},
        lost=lost_share(texts.study, "systems", judge, texts.aspect, codes, texts.gold),
        systems=systems,
    )
    if result.estimate.value is not None and np.ptp(given) == 0:
        return replace(claim, outcome=Outcome.NOT_SHOWN, reasons=(CONSTANT,)).checked()
    rater, p_rater = texts.as_rater(codes)
    claim = replace(claim, rater=rater, p_rater=p_rater)
    claim = claim.tested(texts.nulls(codes), lambda: texts.nulls(texts.worst(codes)))
    if claim.outcome is not None:
        return claim
    return texts.preference.tested(
        claim,
        lambda text: texts.moved(codes, text),
        lambda text: texts.moved(texts.worst(codes), text),
    )


def _found(texts: LabelledTexts, judge: str, codes: Floats, systems: str | None) -> Iterator[Claim]:
    """Yield, of two ordered labels, whether the judge finds the texts of each."""
    if texts.q != 2 or not texts.study.spec.aspects[texts.aspect].ordered:
        return
    labels = texts.study.spec.aspects[texts.aspect].labels
    lost = lost_share(texts.study, "systems", judge, texts.aspect, codes, texts.gold)
    numbers = texts.numbers(codes)
    for kind, name, k in ((CAUGHT, "tnr", 0), (PASSED, "tpr", 1)):
        estimate, reasons = numbers[name].estimate, tuple[str, ...]()
        outcome = on_bar(estimate, FOUND)
        outcome = Outcome.WITHSTANDS if outcome is Outcome.MEETS else outcome
        if outcome is Outcome.NO_CLAIM:
            reasons = (estimate.note,)
        elif lost > FEW_LOST and outcome is not Outcome.CANNOT_TELL:
            # at the end that speaks against the outcome, lost ones are found or not
            wrong = outcome is Outcome.WITHSTANDS
            filled = texts.worst(codes) if wrong else np.where(np.isnan(codes), texts.gold, codes)
            held = on_bar(texts.numbers(filled)[name].estimate, FOUND)
            if held is not (Outcome.MEETS if wrong else Outcome.MISSES):
                outcome, reasons = Outcome.CANNOT_TELL, (LOST,)
        yield Claim(
            *(judge, kind, name, POOLED, texts.aspect, estimate.with_note(labels[k]), {}),
            lost=lost,
            outcome=outcome,
            reasons=reasons,
            systems=systems,
        ).checked()
