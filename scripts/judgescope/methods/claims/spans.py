"""Do the words that a judge marks as faulty meet those that people marked, beyond chance?

Chance is the mean F1 of 200 seeded placements of as many spans of the same lengths.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods.claims.base import CHANCE, LOST, SPANS, Claim
from judgescope.methods.claims.lost import Losses
from judgescope.methods.claims.numbers import GAP, Number, number
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.measures import POOLED
from judgescope.methods.spans import Annotations, Gold, Prediction, cells_of
from judgescope.statistics.jackknife import ACCURACY
from judgescope.statistics.result import NO_SPANS
from judgescope.statistics.spans import Span, placed_at_random
from judgescope.statistics.verdict import FEW_LOST, Outcome

STATISTIC: Final = "span_f1"
PLACEMENTS: Final = 200


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge that lists errors and every aspect, on the systems' texts."""
    if not study.spec.gold:
        return
    gold = Gold(study, study.spec.gold)
    for (judge, aspect, perturbation), told in sorted(cells_of(study).items()):
        if perturbation == "systems" and judge in study.spec.judges:
            yield Losses.checked(_claim(study, gold, judge, aspect, Annotations(study, told, ())))


def _claim(study: EvaluationData, gold: Gold, judge: str, aspect: str, given: Annotations) -> Claim:
    rng = stream(study.spec.seed, "claims", study.dataset, SPANS, aspect)
    sums = np.zeros((PLACEMENTS + 1, len(study.item_order), 2))  # matched, predicted; then chance
    people, most = np.zeros(sums.shape[1]), 0
    for row, source in zip(given.parsed, given.source.tolist(), strict=True):
        spans, tokens = gold.spans[row["target"]], gold.tokens[row["target"]]
        own = Prediction.of(row["spans"])
        counts = own.counts(spans, tokens, "tokens")
        most = max(most, counts.predicted)
        people[source] += counts.gold
        sums[0, source] += counts.matched, counts.predicted
        sums[1:, source] += placed_at_random(own.found, spans, tokens, rng, PLACEMENTS)
        located = replace(own, lost=[]).counts(spans, tokens, "tokens").predicted
        sums[1:, source, 1] += counts.predicted - located  # words that are not in the text
    found, gap = _numbers(sums, people, given.missing)
    lost = given.missing / max(1, given.missing + len(given.parsed))
    claim = Claim(judge, SPANS, STATISTIC, POOLED, aspect, found.estimate, {}, lost=lost)
    if found.estimate.value is None:
        return replace(claim, outcome=Outcome.NO_CLAIM, reasons=(found.estimate.note,))
    nulls = {CHANCE: gap.p_above(0.0)}
    if lost > FEW_LOST:
        _lose(gold, given, most, (sums, people), rng)
        nulls[LOST] = _numbers(sums, people, 0)[1].p_above(0.0)
    return replace(claim, nulls=nulls, beside={"span_f1_less_chance": gap.estimate})


def _numbers(sums: Floats, people: Floats, missing: int) -> tuple[Number, Number]:
    """Return F1, and F1 less the mean of the random placements."""
    rows, sizes = _f1(sums, people), sums[0, :, 1] + people
    n = round(float(sizes.sum()))
    found = number(rows[0], sizes, ACCURACY, n=n, n_missing=missing, why=NO_SPANS)
    return found, number(rows[0] - rows[1:].mean(axis=0), sizes, GAP, n=n)


def _lose(
    gold: Gold,
    given: Annotations,
    most: int,
    counted: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> None:
    """Count lost annotations at the worst end: as many words as any other has, all of them wrong.

    counted: the sums and people's words of each source, which are changed.
    """
    sums, people = counted
    for name, source in given.lost:
        spans, tokens = gold.spans[name], gold.tokens[name]
        size = min(most, len(tokens))
        people[source] += Prediction([], [], 0).counts(spans, tokens, "tokens").gold
        sums[0, source, 1] += size
        if size:
            any_words = [Span(tokens[0][0], tokens[size - 1][1])]
            sums[1:, source] += placed_at_random(any_words, spans, tokens, rng, PLACEMENTS)


def _f1(sums: Floats, people: Floats) -> Floats:
    """Return F1 of each row, with every source and without each: (rows, 1 + sources)."""
    whole = sums.sum(axis=1, keepdims=True)
    kept = np.concatenate([whole, whole - sums], axis=1)
    gold = np.append(people.sum(), people.sum() - people)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * kept[..., 0] / (kept[..., 1] + gold))
