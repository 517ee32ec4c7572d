"""Claims of agreement with people: do scores follow ratings, do marked words meet those of people?

Scores: Spearman by source, or pooled if sources are few. Sources on whose texts the judge gives one
score count 0; those that people rate all alike are left out. The judge must beat chance (0), both
lengths of the texts and, where they come from named systems, a preference for systems. Error spans:
F1 beyond chance, the mean F1 of 200 seeded placements of as many spans of the same lengths.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods.base import HUMAN, Row
from judgescope.methods.claims.base import (
    AGREEMENT,
    CHANCE,
    CORRELATION_GAP,
    LOST,
    SHARE_GAP,
    SPANS,
    SYSTEMS,
    BesideRaters,
    Claim,
    SystemPreference,
    at_the_worst_end,
    length_nulls,
    lost_share,
    mean_of_sources,
    number,
    p_above,
)
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.measures import BY_SOURCE, LARGEST_CEILING, POOLED, against, unrated
from judgescope.methods.spans import Annotations, Gold, Prediction, annotations_of
from judgescope.statistics.correlation import leaving_out
from judgescope.statistics.intervals import ACCURACY, CORRELATION, FEWEST_SOURCES, PLAIN
from judgescope.statistics.nulls import p_systems, source_correlations
from judgescope.statistics.raters import ceilings, mean_rating
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import CONSTANT_JUDGE, NO_SOURCE, NO_SPANS, Estimate
from judgescope.statistics.spans import Span, placed_at_random
from judgescope.statistics.verdict import FEW_LOST, Outcome

STATISTIC: Final = "spearman"
CONSTANT: Final = "constant"
"""Reason: the judge gives one score to all texts."""
SPAN_STATISTIC: Final = "span_f1"
PLACEMENTS: Final = 200


class RatedTexts(BesideRaters):
    """A panel and people's mean rating of one aspect, with which every judge is compared."""

    statistic = STATISTIC

    @cached_property
    def people(self) -> Floats:
        """Return people's mean rating of each text; shape (texts,)."""
        return mean_rating(self.panel.ratings(self.aspect))

    @property
    def n_sources(self) -> int:
        """Return how many sources the dataset has."""
        return len(self.study.item_order)

    @cached_property
    def level(self) -> str:
        """Return `pooled` if fewer than 10 sources have two different ratings."""
        values = source_correlations(self.people, self.people, self.panel.source, self.n_sources)
        return BY_SOURCE if int((~np.isnan(values)).sum()) >= FEWEST_SOURCES else POOLED

    def number(self, x: Floats, y: Floats | None = None) -> Replicated:
        """Return the deciding correlation of scores (texts,), NaN = missing, with people's."""
        people = self.people if y is None else y
        both = ~(np.isnan(x) | np.isnan(people))
        missing = int((np.isnan(x) & ~np.isnan(people)).sum())
        source, n_sources = self.panel.source, self.n_sources
        if self.level == POOLED:
            rows, why = leaving_out(x, people, source, n_sources)
            sizes = np.bincount(source[both], minlength=n_sources).astype(float)
            counts = Estimate(0.0, n=int(both.sum()), n_missing=missing)
            return number(rows, sizes, CORRELATION, counts, why or NO_SOURCE)
        values, why = source_correlations(x, people, source, n_sources), NO_SOURCE
        if both.any() and np.ptp(x[both]) == 0:
            values, why = values * np.nan, CONSTANT_JUDGE
        method = "mean over sources; a source whose texts all have the same score counts as 0"
        counts = Estimate(0.0, n_missing=missing, method=method)
        return mean_of_sources(values, CORRELATION, counts, why)

    @cached_property
    def preference(self) -> SystemPreference:
        """Return the null of a preference for systems, on the rated texts."""
        rated = ~np.isnan(self.people)
        return SystemPreference(self.study, self.panel.source[rated], self.panel.system[rated])

    def nulls(self, x: Floats, result: Replicated) -> dict[str, float]:
        """Return the p of chance, both lengths and systems, on the texts that the judge scored."""
        length = np.where(np.isnan(x), np.nan, self.panel.lengths)
        nulls = length_nulls(result, 0.0, CORRELATION_GAP, lambda sign: self.number(sign * length))
        if self.preference.drawn is not None:
            rated, pooled = ~np.isnan(self.people), self.level == POOLED
            texts = self.preference.source, self.preference.system
            nulls[SYSTEMS] = p_systems(
                x[rated], self.people[rated], *texts, self.preference.drawn, pooled=pooled
            )
        return nulls


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge and rated aspect."""
    fields: dict[tuple[int, str], RatedTexts] = {}
    for judge in study.spec.judges:
        systems, panel = study.fair(judge)
        for aspect, scale in study.spec.aspects.items():
            if scale.labels:
                continue  # claims.labels has these
            x = panel.scores(judge, aspect)
            if x is None or not len(panel.ratings(aspect)):
                continue
            texts = fields.setdefault((id(panel.rows), aspect), RatedTexts(study, panel, aspect))
            yield _claim(texts, judge, x, systems)


def _claim(texts: RatedTexts, judge: str, x: Floats, systems: str | None) -> Claim:
    result = texts.number(x)
    claim = Claim(
        judge,
        AGREEMENT,
        STATISTIC,
        texts.level,
        texts.aspect,
        against(result, "mean").estimate,
        {},
        lost=lost_share(texts.study, "systems", judge, texts.aspect, x, texts.people),
        systems=systems,
    )
    if result.estimate.note == CONSTANT_JUDGE:
        return replace(claim, outcome=Outcome.NOT_SHOWN, reasons=(CONSTANT,))
    if result.estimate.value is None:
        return replace(claim, outcome=Outcome.NO_CLAIM, reasons=(result.estimate.note,))

    def worst() -> dict[str, float]:
        scores = at_the_worst_end(x, texts.people, texts.panel.source)
        return texts.nulls(scores, texts.number(scores))

    rater, p_rater = texts.as_rater(x)
    claim = replace(claim, reasons=texts.preference.reasons, rater=rater, p_rater=p_rater)
    return claim.tested(texts.nulls(x, result), worst)


def people_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the agreement of a rater in a judge's place: the mean of each with the others."""
    scales = {split(name)[0]: scale for name, scale in study.spec.aspects.items()}
    for aspect, scale in scales.items():
        ratings = study.systems.ratings(aspect)
        if scale.labels:
            continue
        if len(ratings) < 2 or unrated(study, ratings) or len(ratings) > LARGEST_CEILING:
            continue
        texts = RatedTexts(study, study.systems, aspect)

        def value(a: Floats, b: Floats, texts: RatedTexts = texts) -> Mapping[str, Replicated]:
            return {STATISTIC: texts.number(a, b)._replace(scale=PLAIN, ends=None)}

        for name, ceiling in ceilings(value, ratings, against="mean").items():
            yield study.row(HUMAN, aspect, name, texts.level, ceiling, form=AGREEMENT)


def span_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge that lists errors and every aspect, on the systems' texts."""
    if not study.spec.gold:
        return
    gold = Gold(study, study.spec.gold)
    for (judge, aspect, perturbation), annotations in annotations_of(study):
        if perturbation == "systems" and judge in study.spec.judges:
            yield _span_claim(study, gold, judge, aspect, annotations).checked()


def _span_claim(
    study: EvaluationData, gold: Gold, judge: str, aspect: str, annotations: Annotations
) -> Claim:
    rng = stream(study.spec.seed, "claims", study.dataset, SPANS, aspect)
    sums = np.zeros((PLACEMENTS + 1, len(study.item_order), 2))  # matched, predicted; then chance
    people, most_words = np.zeros(sums.shape[1]), 0
    for row, source in zip(annotations.parsed, annotations.source.tolist(), strict=True):
        spans, tokens = gold.spans[row.target], gold.tokens[row.target]
        prediction = Prediction.of(row.errors)
        counts = prediction.counts(spans, tokens, "tokens")
        most_words = max(most_words, counts.predicted)
        people[source] += counts.gold
        sums[0, source] += counts.matched, counts.predicted
        sums[1:, source] += placed_at_random(prediction.spans, spans, tokens, rng, PLACEMENTS)
        located = replace(prediction, not_in_text=[]).counts(spans, tokens, "tokens").predicted
        sums[1:, source, 1] += counts.predicted - located  # words that are not in the text
    missing = len(annotations.lost)
    f1, gap = _f1_numbers(sums, people, missing)
    lost = missing / max(1, missing + len(annotations.parsed))
    claim = Claim(judge, SPANS, SPAN_STATISTIC, POOLED, aspect, f1.estimate, {}, lost=lost)
    if f1.estimate.value is None:
        return replace(claim, outcome=Outcome.NO_CLAIM, reasons=(f1.estimate.note,))
    nulls = {CHANCE: p_above(gap, 0.0)}
    if lost > FEW_LOST:
        # At the worst end a lost annotation has as many words as any other, all of them wrong.
        for target, source in annotations.lost:
            spans, tokens = gold.spans[target], gold.tokens[target]
            size = min(most_words, len(tokens))
            people[source] += Prediction([], [], 0).counts(spans, tokens, "tokens").gold
            sums[0, source, 1] += size
            if size:
                words = [Span(tokens[0][0], tokens[size - 1][1])]
                sums[1:, source] += placed_at_random(words, spans, tokens, rng, PLACEMENTS)
        nulls[LOST] = p_above(_f1_numbers(sums, people, 0)[1], 0.0)
    return replace(claim, nulls=nulls, beside={"span_f1_less_chance": gap.estimate})


def _f1_numbers(sums: Floats, people: Floats, missing: int) -> tuple[Replicated, Replicated]:
    """Return F1, and F1 less the mean of the random placements.

    sums (1 + placements, sources, 2): matched and predicted words; people (sources,): theirs.
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
    gap = number(rows[0] - rows[1:].mean(axis=0), sizes, SHARE_GAP, Estimate(0.0, n=n))
    return f1, gap
