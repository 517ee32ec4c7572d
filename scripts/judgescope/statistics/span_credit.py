"""Span agreement with credit for the part of a span that overlaps its partner.

Each span of a judge is paired with at most one gold span of the same text, so that the
pairs together overlap as much as they can ("match with partial overlap and partial
credit", MPP; Perrella et al. 2026). A pair earns the judge's precision the part of its
span that the gold span covers, and its recall the part of the gold span that it covers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Floats, quotient
from judgescope.statistics.means import SHARE, clustered_mean, share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, with_interval
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights
from judgescope.statistics.spans import TextSpan

NAMES = ("span_precision", "span_recall", "span_f1")


class SpanCredit(NamedTuple):
    """What the pairs of a text earn, and how many spans there are to earn it.

    predicted_credit: the sum, over the judge's spans, of the part that overlaps the
    paired gold span; gold_credit: the same over gold spans.
    """

    predicted_credit: float
    gold_credit: float
    predicted: int
    gold: int


def partial_credit(
    predicted: Sequence[TextSpan], gold: Sequence[TextSpan], *, category: bool = False
) -> SpanCredit:
    """sum |p ∩ g| / |p| and sum |p ∩ g| / |g| over the pairs (p, g) of a text.

    Pairs are one to one and maximize the sum of 2 |p ∩ g| / (|p| + |g|), the harmonic
    mean of both parts. Lengths are in the unit of the spans. `category`: a pair must
    have the same category, too. (Perrella et al. 2026, MPP without a penalty for the
    severity.)

    >>> partial_credit([TextSpan(0, 4), TextSpan(8, 9)], [TextSpan(2, 10)])
    SpanCredit(predicted_credit=0.5, gold_credit=0.25, predicted=2, gold=1)
    """
    # `audit` lists this module's statistics and must not load scipy.optimize for it.
    from scipy.optimize import linear_sum_assignment

    if not predicted or not gold:
        return SpanCredit(0.0, 0.0, len(predicted), len(gold))
    overlap = _overlaps(predicted, gold, category)
    predicted_length = np.array([span.end - span.start for span in predicted])
    gold_length = np.array([span.end - span.start for span in gold])
    both_lengths = predicted_length[:, None] + gold_length[None, :]
    ours, theirs = linear_sum_assignment(2 * overlap / both_lengths, maximize=True)
    paired = overlap[ours, theirs]
    return SpanCredit(
        predicted_credit=float((paired / predicted_length[ours]).sum()),
        gold_credit=float((paired / gold_length[theirs]).sum()),
        predicted=len(predicted),
        gold=len(gold),
    )


def _overlaps(
    predicted: Sequence[TextSpan], gold: Sequence[TextSpan], category: bool
) -> Floats:
    """Return how far each predicted span overlaps each gold span: (predicted, gold)."""
    overlap = np.zeros((len(predicted), len(gold)))
    for row, ours in enumerate(predicted):
        for column, theirs in enumerate(gold):
            if category and ours.category != theirs.category:
                continue
            common = min(ours.end, theirs.end) - max(ours.start, theirs.start)
            overlap[row, column] = max(0, common)
    return overlap


def credit_by_text(credits: Sequence[SpanCredit]) -> Floats:
    """Precision c_p / p, recall c_g / g and their harmonic mean F1 of each text.

    credits (texts,): c_p and c_g are the credit of predicted and of gold spans. Shape
    (3, texts), range 0 to 1. NaN where undefined: precision without predicted spans,
    recall without gold spans, F1 without either. (Perrella et al. 2026)

    >>> credit_by_text([SpanCredit(0.5, 0.25, 2, 1), SpanCredit(0, 0, 0, 1)]).tolist()
    [[0.25, nan], [0.25, 0.0], [0.25, 0.0]]
    """
    values = np.array(credits, dtype=np.float64).reshape(-1, 4)
    predicted_credit, gold_credit, predicted, gold = values.T
    precision = quotient(predicted_credit, predicted)
    recall = quotient(gold_credit, gold)
    return np.stack([precision, recall, _harmonic_mean(precision, recall)])


def _harmonic_mean(precision: Floats, recall: Floats) -> Floats:
    """Return F1; an undefined part counts as 0 unless both are undefined.

    A text without predicted spans but with gold spans has a recall and an F1 of 0.
    """
    known_precision = np.nan_to_num(precision)
    known_recall = np.nan_to_num(recall)
    total = known_precision + known_recall
    f1 = np.zeros_like(total)
    np.divide(2 * known_precision * known_recall, total, out=f1, where=total > 0)
    return np.where(np.isnan(precision) & np.isnan(recall), np.nan, f1)


def credit_agreement(
    credits: Sequence[SpanCredit], source: Codes, weights: Weights, *, missing: int = 0
) -> dict[str, Replicated]:
    """Precision sum c_p / sum p, recall sum c_g / sum g, and their harmonic mean F1.

    credits (texts,), source (texts,), weights (sources, sources) or None for no
    interval. Range 0 to 1. `n` counts predicted spans, gold spans, or both; `missing`
    are texts that could not be compared. Undefined: precision without any predicted
    span, recall without any gold span, F1 without either. (Perrella et al. 2026,
    micro-average)

    >>> credits = [SpanCredit(0.5, 0.25, 2, 1), SpanCredit(1, 1, 2, 1)]
    >>> results = credit_agreement(credits, np.arange(2), None)
    >>> {name: round(result.estimate.value, 3) for name, result in results.items()}
    {'span_precision': 0.375, 'span_recall': 0.625, 'span_f1': 0.469}
    """
    values = np.array(credits, dtype=np.float64).reshape(-1, 4)
    predicted_credit, gold_credit, predicted, gold = values.T
    precision = share(
        predicted_credit,
        predicted,
        source,
        weights,
        missing=missing,
        scale=scale_of("span_precision"),
        why=REASONS.no_predicted_spans,
    )
    recall = share(
        gold_credit,
        gold,
        source,
        weights,
        missing=missing,
        scale=scale_of("span_recall"),
        why=REASONS.no_gold_spans,
    )
    spans = np.bincount(source, weights=predicted + gold).astype(np.float64)
    return {
        "span_precision": precision,
        "span_recall": recall,
        "span_f1": _f1(precision, recall, spans, missing),
    }


def _f1(
    precision: Replicated, recall: Replicated, spans: Floats, missing: int
) -> Replicated:
    """Return F1 of all texts together; spans (sources,): predicted and gold ones."""
    rows = _harmonic_mean(precision.rows, recall.rows)
    n = round(float(spans.sum()))
    if n == 0:
        undefined = Estimate.undefined(REASONS.no_spans, n_missing=missing)
        return Replicated(undefined, rows)
    estimate = Estimate(float(rows[0]), n=n, n_missing=missing)
    return with_interval(Replicated(estimate, rows, spans, scale_of("span_f1"), SHARE))


def credit_agreement_by_text(
    credits: Sequence[SpanCredit], source: Codes, weights: Weights, *, missing: int = 0
) -> dict[str, Replicated]:
    """The means over texts of `credit_by_text`, each over the texts that have it.

    Arguments and range as in `credit_agreement`; `n` counts the texts with the score,
    `n_missing` the others. Undefined where no text has it. (Perrella et al. 2026,
    macro-average)

    >>> credits = [SpanCredit(0.5, 0.25, 2, 1), SpanCredit(1, 1, 1, 1)]
    >>> results = credit_agreement_by_text(credits, np.arange(2), None)
    >>> results["span_precision"].estimate.value
    0.625
    """
    results = {}
    for name, scores in zip(NAMES, credit_by_text(credits), strict=True):
        results[name] = clustered_mean(
            scores,
            source,
            weights,
            missing,
            averaged="mean over texts",
            scale=scale_of(name),
        )
    return results
