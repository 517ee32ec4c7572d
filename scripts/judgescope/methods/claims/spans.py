"""Claims on error spans: F1 beyond chance.

Chance is the mean F1 of 200 seeded placements of as many spans of the same lengths.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from judgescope.methods.claims import base
from judgescope.methods.claims.base import Claim, TableClaims, number, p_above
from judgescope.methods.claims.draws import claim_stream
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import (
    POOLED,
)
from judgescope.methods.spans import Annotations, GoldErrors, Prediction, annotations_of
from judgescope.statistics.arrays import Floats
from judgescope.statistics.intervals import (
    ACCURACY,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.spans import TextSpan, placed_at_random
from judgescope.statistics.verdict import LOSS


def span_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge that lists errors and every aspect, on the systems'
    texts.
    """
    if not data.spec.gold:
        return
    gold = GoldErrors(data, data.spec.gold)
    for (judge, aspect, perturbation), annotations in annotations_of(data):
        if perturbation == "systems" and judge in data.spec.judges:
            yield _span_claim(data, gold, judge, aspect, annotations).checked()


def _span_claim(
    data: EvaluationData,
    gold: GoldErrors,
    judge: str,
    aspect: str,
    annotations: Annotations,
) -> Claim:
    rng = claim_stream(data, base.SPANS, aspect)
    placements = 200
    sums = np.zeros(
        (placements + 1, len(data.item_order), 2)
    )  # matched, predicted; then chance
    people = np.zeros(sums.shape[1])
    most_words = 0
    for row, source in zip(
        annotations.parsed, annotations.source.tolist(), strict=True
    ):
        spans = gold.spans[row.target]
        tokens = gold.tokens[row.target]
        prediction = Prediction.from_errors(row.spans or [])
        counts = prediction.counts(spans, tokens, "tokens")
        most_words = max(most_words, counts.predicted)
        people[source] += counts.gold
        sums[0, source] += counts.matched, counts.predicted
        sums[1:, source] += placed_at_random(
            prediction.spans, spans, tokens, rng, placements
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
    claim = Claim(judge, base.SPANS, "span_f1", POOLED, aspect, f1.estimate, lost=lost)
    if f1.estimate.value is None:
        return claim.without(f1.estimate.note)
    nulls = {base.CHANCE: p_above(gap, 0.0)}
    if lost > LOSS.worst_case:
        # At the worst end a lost annotation has as many words as any other, all of them
        # wrong.
        for target, source in annotations.lost:
            spans = gold.spans[target]
            tokens = gold.tokens[target]
            size = min(most_words, len(tokens))
            people[source] += Prediction([], [], 0).counts(spans, tokens, "tokens").gold
            sums[0, source, 1] += size
            if size:
                words = [TextSpan(tokens[0][0], tokens[size - 1][1])]
                sums[1:, source] += placed_at_random(
                    words, spans, tokens, rng, placements
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
    f1 = number(rows[0], sizes, ACCURACY, counts, REASONS.no_spans)
    gap = number(
        rows[0] - rows[1:].mean(axis=0), sizes, base.SHARE_GAP, Estimate(0.0, n=n)
    )
    return f1, gap


CLAIMS_OF_SPANS: Final = TableClaims("spans", (span_claims,))
