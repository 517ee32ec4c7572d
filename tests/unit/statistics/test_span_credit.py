"""Span agreement with partial credit: by hand, against every pairing, its interval."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.statistics.intervals import deletions
from judgescope.statistics.result import REASONS
from judgescope.statistics.span_credit import (
    SpanCredit,
    credit_agreement,
    credit_agreement_by_text,
    credit_by_text,
    partial_credit,
)
from judgescope.statistics.spans import TextSpan, exact_counts

NAMES = ("span_precision", "span_recall", "span_f1")


@st.composite
def spans(draw: st.DrawFn) -> list[TextSpan]:
    """Return up to four spans in a text of twelve characters."""
    drawn = []
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, 11))
        end = draw(st.integers(start + 1, 12))
        drawn.append(TextSpan(start, end, draw(st.sampled_from(["A", "B"]))))
    return drawn


def overlap(ours: TextSpan, theirs: TextSpan, *, category: bool) -> int:
    """Return how many characters both spans have."""
    if category and ours.category != theirs.category:
        return 0
    return len({*range(ours.start, ours.end)} & {*range(theirs.start, theirs.end)})


def every_pairing(
    predicted: Sequence[TextSpan], gold: Sequence[TextSpan], *, category: bool
) -> list[tuple[float, float, float]]:
    """Return (harmonic mean, predicted credit, gold credit) of each way to pair."""
    size = max(len(predicted), len(gold))
    outcomes = []
    for order in permutations(range(size)):
        harmonic = 0.0
        precision = 0.0
        recall = 0.0
        for first, second in enumerate(order):
            if first >= len(predicted) or second >= len(gold):
                continue
            ours, theirs = predicted[first], gold[second]
            common = overlap(ours, theirs, category=category)
            our_part = common / (ours.end - ours.start)
            their_part = common / (theirs.end - theirs.start)
            precision += our_part
            recall += their_part
            if common:
                harmonic += 2 * our_part * their_part / (our_part + their_part)
        outcomes.append((harmonic, precision, recall))
    return outcomes


def test_by_hand() -> None:
    gold = [TextSpan(4, 9, "NAME"), TextSpan(14, 22, "NUMBER")]
    predicted = [TextSpan(4, 9, "NAME"), TextSpan(10, 16, "WORD")]
    credit = partial_credit(predicted, gold)
    assert credit == pytest.approx((1 + 2 / 6, 1 + 2 / 8, 2, 2))
    of_kinds = partial_credit(predicted, gold, category=True)
    assert of_kinds == (1, 1, 2, 2)


def test_a_gold_span_rewards_only_the_span_it_is_paired_with() -> None:
    # three predicted pieces of one gold span: only the longest is paired
    pieces = [TextSpan(0, 2), TextSpan(2, 4), TextSpan(4, 10)]
    credit = partial_credit(pieces, [TextSpan(0, 10)])
    assert credit == pytest.approx((1, 6 / 10, 3, 1))


@given(spans(), spans(), st.booleans())
def test_no_pairing_overlaps_more(
    predicted: list[TextSpan], gold: list[TextSpan], category: bool
) -> None:
    credit = partial_credit(predicted, gold, category=category)
    outcomes = every_pairing(predicted, gold, category=category)
    best = max(harmonic for harmonic, _, _ in outcomes)
    of_best = [
        (precision, recall)
        for harmonic, precision, recall in outcomes
        if harmonic == pytest.approx(best)
    ]
    pair = (credit.predicted_credit, credit.gold_credit)
    assert any(pair == pytest.approx(each) for each in of_best)
    assert credit[2:] == (len(predicted), len(gold))


@given(spans(), spans())
def test_credit_is_at_least_that_of_equal_spans(
    predicted: list[TextSpan], gold: list[TextSpan]
) -> None:
    credit = partial_credit(predicted, gold)
    exact = exact_counts(predicted, gold)
    assert credit.predicted_credit <= len(predicted) + 1e-9
    assert credit.gold_credit <= len(gold) + 1e-9
    # Pairs of equal spans have harmonic means of 1, and that of sums is no smaller.
    product = 2 * credit.predicted_credit * credit.gold_credit
    total = credit.predicted_credit + credit.gold_credit
    assert (product / total if total else 0.0) >= exact.matched - 1e-9
    same = partial_credit(gold, gold)
    assert same == pytest.approx((len(gold), len(gold), len(gold), len(gold)))


def test_texts_without_spans() -> None:
    nothing, missed, invented = (
        SpanCredit(0, 0, 0, 0),
        SpanCredit(0, 0, 0, 2),
        SpanCredit(0, 0, 3, 0),
    )
    by_text = credit_by_text([nothing, missed, invented])
    assert np.isnan(by_text[:, 0]).all()
    assert np.isnan(by_text[0, 1]) and by_text[1:, 1].tolist() == [0, 0]
    assert by_text[0, 2] == 0 and np.isnan(by_text[1, 2]) and by_text[2, 2] == 0
    agreement = credit_agreement([nothing], np.arange(1), None)
    notes = [agreement[name].estimate.note for name in NAMES]
    assert notes == [
        REASONS.no_predicted_spans,
        REASONS.no_gold_spans,
        REASONS.no_spans,
    ]


def test_intervals_are_those_of_deleted_sources() -> None:
    rng = np.random.default_rng(3)
    credits = []
    for _ in range(40):
        predicted, gold = rng.integers(1, 5, size=2)
        pairs = rng.integers(0, min(predicted, gold) + 1)
        credits.append(
            SpanCredit(pairs * rng.random(), pairs * rng.random(), predicted, gold)
        )
    source = np.repeat(np.arange(10), 4)
    result = credit_agreement(credits, source, deletions(10))
    values = np.array(credits, dtype=np.float64)

    def f1(rows: np.ndarray) -> float:
        precision = rows[:, 0].sum() / rows[:, 2].sum()
        recall = rows[:, 1].sum() / rows[:, 3].sum()
        return float(2 * precision * recall / (precision + recall))

    assert result["span_f1"].estimate.value == pytest.approx(f1(values))
    assert result["span_f1"].rows[1:] == pytest.approx(
        [f1(values[source != left_out]) for left_out in range(10)]
    )
    assert result["span_f1"].estimate.n == values[:, 2:].sum()
    estimate = result["span_f1"].estimate
    low, value, high = estimate.ci_low, estimate.value, estimate.ci_high
    assert low is not None and value is not None and high is not None
    assert low < value < high
    by_text = credit_agreement_by_text(credits, source, deletions(10))
    assert by_text["span_recall"].estimate.value == pytest.approx(
        (values[:, 1] / values[:, 3]).mean()
    )
