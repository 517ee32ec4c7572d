"""Do the words that a judge marks as faulty meet those that people marked, beyond chance?

Chance is the mean F1 of 200 seeded placements of as many spans of the same lengths.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods.claims.base import CHANCE, SPANS, Claim
from judgescope.methods.claims.lost import Losses
from judgescope.methods.claims.numbers import GAP, number
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.measures import POOLED
from judgescope.methods.spans import Annotations, Gold, Prediction, cells_of
from judgescope.statistics.jackknife import ACCURACY
from judgescope.statistics.result import NO_SPANS
from judgescope.statistics.spans import placed_at_random
from judgescope.statistics.verdict import Outcome

STATISTIC: Final = "span_f1"
PLACEMENTS: Final = 200


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge that lists errors and every aspect, on the systems' texts."""
    if not study.spec["gold"]:
        return
    gold = Gold(study, study.spec["gold"])
    for (judge, aspect, perturbation), told in sorted(cells_of(study).items()):
        if perturbation == "systems" and judge in study.spec["judges"]:
            yield _claim(study, gold, judge, aspect, Annotations(study, told, ()))


def _claim(study: EvaluationData, gold: Gold, judge: str, aspect: str, given: Annotations) -> Claim:
    rng = stream(study.spec["seed"], "claims", study.dataset, SPANS, aspect)
    n_sources, names = len(study.item_order), [row["target"] for row in given.parsed]
    sums = np.zeros((PLACEMENTS + 1, n_sources, 2))  # matched, predicted of the judge, of chance
    people = np.zeros(n_sources)
    for name, row, source in zip(names, given.parsed, given.source.tolist(), strict=True):
        spans, tokens = gold.spans[name], gold.tokens[name]
        own = Prediction.of(row["spans"])
        counts = own.counts(spans, tokens, "tokens")
        people[source] += counts.gold
        sums[0, source] += counts.matched, counts.predicted
        sums[1:, source] += placed_at_random(own.found, spans, tokens, rng, PLACEMENTS)
        located = replace(own, lost=[]).counts(spans, tokens, "tokens").predicted
        sums[1:, source, 1] += counts.predicted - located  # words that are not in the text
    rows = _f1(sums, people)
    sizes = sums[0, :, 1] + people
    n = round(float(sizes.sum()))
    found = number(rows[0], sizes, ACCURACY, n=n, n_missing=given.missing, why=NO_SPANS)
    asked = len(given.parsed) + given.missing
    lost = given.missing / asked if asked else 0.0
    claim = Claim(judge, SPANS, STATISTIC, POOLED, aspect, found.estimate, {}, lost=lost)
    if found.estimate.value is None:
        return replace(claim, outcome=Outcome.NO_CLAIM, reasons=(found.estimate.note,))
    gap = number(rows[0] - rows[1:].mean(axis=0), sizes, GAP, n=n)
    beside = {"span_f1_less_chance": gap.estimate}
    return Losses.checked(replace(claim, nulls={CHANCE: gap.p_above(0.0)}, beside=beside))


def _f1(sums: Floats, people: Floats) -> Floats:
    """Return F1 of each row, with every source and without each: (rows, 1 + sources)."""
    whole = sums.sum(axis=1, keepdims=True)
    kept = np.concatenate([whole, whole - sums], axis=1)
    gold = np.append(people.sum(), people.sum() - people)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * kept[..., 0] / (kept[..., 1] + gold))
