"""Claims of agreement: do scores, labels and marked words follow those of people?

Scores: the rank correlation within sources, or pooled Spearman if sources are few.
Sources on whose texts the judge gives one score add nothing; those that people rate all
alike are left out. The judge must beat chance (0), both lengths of the texts and, where
they come from named systems, a preference for systems. Error spans: F1 beyond chance,
the mean F1 of 200 seeded placements of as many spans of the same lengths.

Labels: balanced accuracy above chance (one over the number of labels), above people's
labels dealt out by length in both directions and, where texts come from named systems,
above a preference for systems; then as one more rater, against every other rater.

Of two ordered labels, each has a claim of its own that needs no chance: of the texts
that people label so, does the judge find nine in ten? It fails where the upper end of
the interval lies below FOUND, passes where the lower end reaches it. A judge that finds
exactly nine in ten is said to fail in at most 2.5 % of studies.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods.base import HUMAN, Row
from judgescope.methods.claims import base
from judgescope.methods.claims.base import (
    BesideRaters,
    Claim,
    length_nulls,
    number,
    p_above,
)
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import label_aspects, labelled, truth_name, truth_of
from judgescope.methods.measures import (
    LARGEST_CEILING,
    POOLED,
    WITHIN_SOURCE,
    against,
    unrated,
)
from judgescope.methods.spans import Annotations, Gold, Prediction, annotations_of
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.classes import balanced_accuracies, on_labels
from judgescope.statistics.correlation import leaving_out
from judgescope.statistics.intervals import ACCURACY, CORRELATION, FEWEST_SOURCES
from judgescope.statistics.nulls import dealt, p_systems
from judgescope.statistics.raters import ceilings
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import CONSTANT_JUDGE, NO_SOURCE, NO_SPANS, Estimate
from judgescope.statistics.spans import Span, placed_at_random
from judgescope.statistics.verdict import FEW_LOST, Outcome, on_bar
from judgescope.statistics.within_sources import STATISTIC, varies, within_sources

DECIDES: Final = {WITHIN_SOURCE: STATISTIC, POOLED: "spearman"}
"""Level of a claim of agreement -> the statistic that decides it."""
MEAN_CORRELATION: Final = CORRELATION._replace(kind="plain")
CONSTANT: Final = "constant"
"""Reason: the judge gives one score to all texts."""
SPAN_STATISTIC: Final = "span_f1"
PLACEMENTS: Final = 200


class RatedTexts(BesideRaters):
    """A panel and people's mean rating of one aspect, with which every judge is
    compared.
    """

    def __init__(self, panel: TargetSet, aspect: str) -> None:
        """The level is `pooled` if fewer than 10 sources have two different ratings."""
        self.people = gold_numbers(panel.study, panel.ratings(aspect))
        super().__init__(panel, aspect, self.people.values, self.people.rule)
        sources = varies(self.gold, panel.source, len(self.study.item_order))
        self.level = WITHIN_SOURCE if int(sources.sum()) >= FEWEST_SOURCES else POOLED
        self.statistic = DECIDES[self.level]

    def number(self, x: Floats, y: Floats | None = None) -> Replicated:
        """Return the deciding correlation of scores (texts,), NaN = missing, with
        people's.
        """
        people = self.gold if y is None else y
        source, n_sources = self.panel.source, len(self.study.item_order)
        rated = ~np.isnan(people)
        if self.level == WITHIN_SOURCE:
            return within_sources(x[rated], people[rated], source[rated], n_sources)
        rows, why = leaving_out(x, people, source, n_sources)
        both = rated & ~np.isnan(x)
        sizes = np.bincount(source[both], minlength=n_sources).astype(float)
        counts = Estimate(0.0, n=int(both.sum()), n_missing=int((rated & ~both).sum()))
        return number(rows, sizes, CORRELATION, counts, why or NO_SOURCE)

    def nulls(self, x: Floats, result: Replicated) -> dict[str, float]:
        """Return the p of chance, both lengths and systems, on the texts that the judge
        scored.
        """
        length = np.where(np.isnan(x), np.nan, self.panel.lengths)
        nulls = length_nulls(
            result, 0.0, base.CORRELATION_GAP, lambda sign: self.number(sign * length)
        )
        if (drawn := self.preference.drawn) is not None:
            data = x[self.rated], self.gold[self.rated], self.preference.source
            system, pooled = self.preference.system, self.level == POOLED
            nulls[base.SYSTEMS] = p_systems(*data, system, drawn, pooled=pooled)
        return nulls


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge and rated aspect."""
    texts_of = cache(RatedTexts)
    for judge in study.spec.judges:
        panel = study.shared_panel(judge).given(judge)
        for aspect, scale in study.spec.aspects.items():
            x = panel.scores(judge, aspect)
            if scale.labels or x is None or not len(panel.ratings(aspect)):
                continue  # label_claims has those of labels
            yield _claim(texts_of(panel, aspect), judge, x)


def _claim(texts: RatedTexts, judge: str, x: Floats) -> Claim:
    result = texts.number(x)
    claim = texts.claim(judge, base.AGREEMENT, x, texts.people.named(result).estimate)
    if result.estimate.note == CONSTANT_JUDGE:
        return replace(claim, outcome=Outcome.NOT_SHOWN, reasons=(CONSTANT,))
    if result.estimate.value is None:
        return claim.without(result.estimate.note)

    def worst() -> dict[str, float]:
        scores = base.at_the_worst_end(x, texts.gold, texts.panel.source)
        return texts.nulls(scores, texts.number(scores))

    rater, p_rater = texts.as_rater(x)
    claim = replace(
        claim, reasons=texts.preference.reasons, rater=rater, p_rater=p_rater
    )
    return claim.tested(texts.nulls(x, result), worst)


def people_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the agreement of a rater in a judge's place: the mean of each with the
    others.
    """
    scales = {split(name)[0]: scale for name, scale in study.spec.aspects.items()}
    for aspect, scale in scales.items():
        ratings = study.systems.ratings(aspect)
        if scale.labels or unrated(study, ratings) or len(ratings) > LARGEST_CEILING:
            continue
        texts = RatedTexts(study.systems, aspect)

        def value(
            a: Floats, b: Floats, texts: RatedTexts = texts
        ) -> Mapping[str, Replicated]:
            return {
                texts.statistic: texts.number(a, b)._replace(
                    scale=MEAN_CORRELATION, ends=None
                )
            }

        numbers = ceilings(value, ratings, against=texts.people.rule)
        for name, ceiling in numbers.items():
            yield study.row(
                HUMAN, aspect, name, texts.level, ceiling, form=base.AGREEMENT
            )


def span_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge that lists errors and every aspect, on the systems'
    texts.
    """
    if not study.spec.gold:
        return
    gold = Gold(study, study.spec.gold)
    for (judge, aspect, perturbation), annotations in annotations_of(study):
        if perturbation == "systems" and judge in study.spec.judges:
            yield _span_claim(study, gold, judge, aspect, annotations).checked()


def _span_claim(
    study: EvaluationData, gold: Gold, judge: str, aspect: str, annotations: Annotations
) -> Claim:
    rng = stream(study.spec.seed, "claims", study.dataset, base.SPANS, aspect)
    sums = np.zeros(
        (PLACEMENTS + 1, len(study.item_order), 2)
    )  # matched, predicted; then chance
    people, most_words = np.zeros(sums.shape[1]), 0
    for row, source in zip(
        annotations.parsed, annotations.source.tolist(), strict=True
    ):
        spans, tokens = gold.spans[row.target], gold.tokens[row.target]
        prediction = Prediction.from_errors(row.spans or [])
        counts = prediction.counts(spans, tokens, "tokens")
        most_words = max(most_words, counts.predicted)
        people[source] += counts.gold
        sums[0, source] += counts.matched, counts.predicted
        sums[1:, source] += placed_at_random(
            prediction.spans, spans, tokens, rng, PLACEMENTS
        )
        located = (
            replace(prediction, not_in_text=[])
            .counts(spans, tokens, "tokens")
            .predicted
        )
        sums[1:, source, 1] += (
            counts.predicted - located
        )  # words that are not in the text
    missing = len(annotations.lost)
    f1, gap = _f1_numbers(sums, people, missing)
    lost = missing / max(1, missing + len(annotations.parsed))
    claim = Claim(
        judge, base.SPANS, SPAN_STATISTIC, POOLED, aspect, f1.estimate, lost=lost
    )
    if f1.estimate.value is None:
        return claim.without(f1.estimate.note)
    nulls = {base.CHANCE: p_above(gap, 0.0)}
    if lost > FEW_LOST:
        # At the worst end a lost annotation has as many words as any other, all of them
        # wrong.
        for target, source in annotations.lost:
            spans, tokens = gold.spans[target], gold.tokens[target]
            size = min(most_words, len(tokens))
            people[source] += Prediction([], [], 0).counts(spans, tokens, "tokens").gold
            sums[0, source, 1] += size
            if size:
                words = [Span(tokens[0][0], tokens[size - 1][1])]
                sums[1:, source] += placed_at_random(
                    words, spans, tokens, rng, PLACEMENTS
                )
        nulls[base.LOST] = p_above(_f1_numbers(sums, people, 0)[1], 0.0)
    return replace(claim, nulls=nulls, beside={"span_f1_less_chance": gap.estimate})


def _f1_numbers(
    sums: Floats, people: Floats, missing: int
) -> tuple[Replicated, Replicated]:
    """Return F1, and F1 less the mean of the random placements.

    sums (1 + placements, sources, 2): matched and predicted words; people (sources,):
    theirs.
    """
    total = sums.sum(axis=1, keepdims=True)
    kept = np.concatenate([total, total - sums], axis=1)
    gold = np.append(people.sum(), people.sum() - people)
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = 2 * kept[..., 0] / (kept[..., 1] + gold)
    sizes = sums[0, :, 1] + people
    n = round(float(sizes.sum()))
    counts = Estimate(0.0, n=n, n_missing=missing)
    f1 = number(rows[0], sizes, ACCURACY, counts, NO_SPANS)
    gap = number(
        rows[0] - rows[1:].mean(axis=0), sizes, base.SHARE_GAP, Estimate(0.0, n=n)
    )
    return f1, gap


# --- labels ---------------------------------------------------------------------------


LABEL_STATISTIC: Final = "balanced_accuracy"
FOUND: Final = 0.9
"""The share of the texts of one label that a judge should find."""


class LabelledTexts(BesideRaters):
    """The texts of a panel, and people's label of each on one aspect."""

    statistic, level = LABEL_STATISTIC, POOLED

    def __init__(self, panel: TargetSet, aspect: str) -> None:
        truth = truth_of(panel.study, aspect)
        super().__init__(panel, aspect, truth(panel.ratings(aspect)), "each")
        self.scale = panel.study.spec.aspects[aspect]
        self.q = len(self.scale.labels)

    def numbers(
        self, codes: Floats, gold: Floats | None = None
    ) -> dict[str, Replicated]:
        """Return the statistics of a judge's labels, (texts,), NaN = missing."""
        people = self.gold if gold is None else gold
        return on_labels(people, codes, self.q, self.panel.source, self.study.weights)

    def number(self, codes: Floats, gold: Floats | None = None) -> Replicated:
        """Return the balanced accuracy."""
        return self.numbers(codes, gold)[LABEL_STATISTIC]

    def worst(self, codes: Floats) -> Floats:
        """Return the labels with each missing one wrong."""
        return np.where(np.isnan(codes), (self.gold + 1) % self.q, codes)

    def nulls(self, codes: Floats) -> dict[str, float]:
        """Return the p of chance and, of labels with an order, of both lengths."""
        result = self.number(codes)
        if self.q > 2 and not self.scale.ordered:  # length cannot deal them out
            return {base.CHANCE: p_above(result, 1 / self.q)}

        def by_length(sign: float) -> Replicated:
            labels = dealt(self.gold, sign * self.panel.lengths, self.panel.source)
            return self.number(np.where(np.isnan(codes), np.nan, labels))

        return length_nulls(result, 1 / self.q, base.SHARE_GAP, by_length)

    def moved(self, codes: Floats, text: Codes) -> Floats:
        """Return the balanced accuracy where other texts' labels stand in each text's
        place.
        """
        own = np.append(codes[self.rated], np.nan)  # the last entry: no text
        return balanced_accuracies(self.gold[self.rated], own[text], self.q)


def label_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims of every judge and aspect with labels alone."""
    texts_of = cache(LabelledTexts)
    for judge in study.spec.judges:
        panel = study.shared_panel(judge).given(judge)
        for aspect in label_aspects(study):
            if (scores := panel.scores(judge, aspect)) is None:
                continue
            texts = texts_of(panel, aspect)
            codes, note = labelled(panel, judge, aspect, scores, texts.gold)
            if codes is None:
                columns = (judge, base.LABELS, LABEL_STATISTIC, POOLED, aspect)
                yield Claim(*columns, Estimate.undefined(note)).without(note)
            else:
                yield _label_claim(texts, judge, codes)
                yield from _found(texts, judge, codes)


def _label_claim(texts: LabelledTexts, judge: str, codes: Floats) -> Claim:
    result, given = (
        texts.number(codes),
        codes[~(np.isnan(codes) | np.isnan(texts.gold))],
    )
    estimate = against(result, truth_name(texts.study, texts.aspect)).estimate
    claim = texts.claim(judge, base.LABELS, codes, estimate)
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


def _found(texts: LabelledTexts, judge: str, codes: Floats) -> Iterator[Claim]:
    """Yield, of two ordered labels, whether the judge finds the texts of each."""
    if texts.q != 2 or not texts.scale.ordered:
        return
    numbers = texts.numbers(codes)
    for kind, name, k in ((base.CAUGHT, "tnr", 0), (base.PASSED, "tpr", 1)):
        estimate, reasons = numbers[name].estimate, tuple[str, ...]()
        claim = texts.claim(
            judge, kind, codes, estimate.with_note(texts.scale.labels[k])
        )
        outcome = on_bar(estimate, FOUND)
        outcome = Outcome.WITHSTANDS if outcome is Outcome.MEETS else outcome
        if outcome is Outcome.NO_CLAIM:
            reasons = (estimate.note,)
        elif claim.lost > FEW_LOST and outcome is not Outcome.CANNOT_TELL:
            # at the end that speaks against the outcome, lost ones are found or not
            wrong = outcome is Outcome.WITHSTANDS
            filled = (
                texts.worst(codes)
                if wrong
                else np.where(np.isnan(codes), texts.gold, codes)
            )
            held = on_bar(texts.numbers(filled)[name].estimate, FOUND)
            if held is not (Outcome.MEETS if wrong else Outcome.MISSES):
                outcome, reasons = Outcome.CANNOT_TELL, (base.LOST,)
        claim = replace(claim, statistic=name, outcome=outcome, reasons=reasons)
        yield claim.checked()
