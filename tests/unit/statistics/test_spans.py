"""Agreement of spans: by hand, against itself, against chance, and on real gold
spans.
"""

import csv
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_samples import REAL, needs_real_data
from deleted import jackknife_t
from judgescope.statistics.intervals import deletions
from judgescope.statistics.result import REASONS
from judgescope.statistics.spans import (
    SpanCounts,
    TextSpan,
    exact_counts,
    scores_by_text,
    span_agreement,
    span_agreement_by_text,
    token_counts,
)

NAMES = ("span_precision", "span_recall", "span_f1")
GOLD = [TextSpan(0, 2, "NAME"), TextSpan(5, 8, "NUMBER"), TextSpan(10, 11, "WORD")]
PREDICTED = [
    TextSpan(0, 2, "NUMBER"),
    TextSpan(6, 10, "NUMBER"),
    TextSpan(10, 11, "WORD"),
    TextSpan(14, 15),
]


def of(counts: list[SpanCounts]) -> list[float | None]:
    result = span_agreement(counts, np.arange(len(counts)), None)
    return [result[name].estimate.value for name in NAMES]


def test_by_hand() -> None:
    # 2 of 4 predicted are gold, 2 of 3 gold are predicted; with categories 1 and 1
    assert exact_counts(PREDICTED, GOLD) == (2, 4, 3)
    assert exact_counts(PREDICTED, GOLD, category=True) == (1, 4, 3)
    assert of([exact_counts(PREDICTED, GOLD)]) == [2 / 4, 2 / 3, 4 / 7]
    # predicted 0 1 6 7 8 9 10 14, gold 0 1 5 6 7 10: both have 0 1 6 7 10, and 6 7 10
    # alike
    assert token_counts(PREDICTED, GOLD) == (5, 8, 6)
    assert token_counts(PREDICTED, GOLD, category=True) == (3, 8, 6)
    assert of([token_counts(PREDICTED, GOLD)]) == [5 / 8, 5 / 6, 10 / 14]


def test_spans_in_characters_touch_the_tokens_they_overlap() -> None:
    text = "The Hawks won 37 to 20 ."
    tokens = [(0, 3), (4, 9), (10, 13), (14, 16), (17, 19), (20, 22), (23, 24)]
    assert [text[start:end] for start, end in tokens] == text.split()
    gold = [TextSpan(4, 9), TextSpan(14, 22)]  # Hawks; 37 to 20
    predicted = [
        TextSpan(8, 15),
        TextSpan(22, 23),
    ]  # s won 3; the blank before the full stop
    assert token_counts(predicted, gold, tokens=tokens) == (2, 3, 4)
    assert token_counts(predicted, gold, tokens=tokens[:0]) == (0, 0, 0)


def test_a_span_that_is_predicted_twice_is_right_once() -> None:
    twice = [TextSpan(0, 2), TextSpan(0, 2)]
    assert exact_counts(twice, [TextSpan(0, 2)]) == (1, 2, 1)
    assert exact_counts(twice, twice) == (2, 2, 2)
    assert token_counts(twice, [TextSpan(0, 2)]) == (2, 2, 2)
    values = [TextSpan(0, 2, "NAME"), TextSpan(0, 2, "WORD")]
    assert token_counts(values, values, category=True) == (4, 4, 4)


def test_what_is_undefined_has_a_reason_and_is_never_zero() -> None:
    nothing, missed, invented = (
        SpanCounts(0, 0, 0),
        SpanCounts(0, 0, 2),
        SpanCounts(0, 3, 0),
    )
    result = scores_by_text([nothing, missed, invented])
    assert np.isnan(result[:, 0]).all()
    assert np.isnan(result[0, 1]) and result[1:, 1].tolist() == [0, 0]
    assert np.isnan(result[1, 2]) and result[[0, 2], 2].tolist() == [0, 0]
    for counts, notes in (
        (
            [nothing],
            (REASONS.no_predicted_spans, REASONS.no_gold_spans, REASONS.no_spans),
        ),
        ([missed], (REASONS.no_predicted_spans, "", "")),
        ([invented], ("", REASONS.no_gold_spans, "")),
        ([], (REASONS.no_predicted_spans, REASONS.no_gold_spans, REASONS.no_spans)),
    ):
        outcome = span_agreement(counts, np.arange(len(counts)), None, missing=4)
        assert tuple(outcome[name].estimate.note for name in NAMES) == notes
        assert {number.estimate.n_missing for number in outcome.values()} == {4}
    by_text = span_agreement_by_text([nothing, missed], np.arange(2), None, missing=1)
    assert by_text["span_precision"].estimate.note == REASONS.nothing
    assert by_text["span_precision"].estimate.n_missing == 3
    f1 = by_text["span_f1"].estimate
    assert (f1.value, f1.n, f1.n_missing) == (0, 1, 2)


def test_intervals_are_those_of_written_out_deletions() -> None:
    rng = np.random.default_rng(4)
    counts = [
        SpanCounts(int(m), int(m + p), int(m + g))
        for m, p, g in rng.integers(0, 4, size=(80, 3))
    ]
    source = np.repeat(np.arange(40), 2)
    weights = deletions(40)
    result = span_agreement(counts, source, weights)
    table = np.array(counts, dtype=float)
    deleted = []
    for s in range(40):
        m, p, g = table[source != s].sum(axis=0)
        rows = [result[name].rows[1 + s] for name in NAMES]
        deleted.append(2 * m / (p + g))
        assert rows == pytest.approx([m / p, m / g, deleted[-1]])
    estimate = result["span_f1"].estimate
    m, p, g = table.sum(axis=0)
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        jackknife_t(2 * m / (p + g), deleted, "logit")
    )
    assert (
        estimate.n == table[:, 1:].sum()
        and estimate.method == "jackknife-t on logit over 40 sources"
    )
    by_text = span_agreement_by_text(counts, source, weights)["span_recall"].estimate
    assert by_text.value == pytest.approx(np.nanmean(scores_by_text(counts)[1]))
    assert by_text.ci_low is not None and by_text.ci_low < (by_text.value or 0) < (
        by_text.ci_high or 0
    )


SPANS = st.lists(
    st.builds(
        lambda start, length, name: TextSpan(start, start + length, name),
        st.integers(0, 20),
        st.integers(1, 6),
        st.sampled_from([None, "NAME", "WORD"]),
    ),
    max_size=6,
)


@given(SPANS, SPANS, st.booleans(), st.integers(0, 50), st.integers(1, 5))
def test_sides_order_shift_and_unit_do_not_matter(
    first: list[TextSpan], second: list[TextSpan], category: bool, by: int, width: int
) -> None:
    tokens = [(at * width, (at + 1) * width) for at in range(30)]
    for counts in (exact_counts, token_counts):
        matched, predicted, gold = counts(first, second, category=category)
        assert 0 <= matched <= min(predicted, gold)
        assert counts(second, first, category=category) == (matched, gold, predicted)
        assert counts(first[::-1], second, category=category) == (
            matched,
            predicted,
            gold,
        )
        moved = [
            [span._replace(start=span.start + by, end=span.end + by) for span in spans]
            for spans in (first, second)
        ]
        assert counts(*moved, category=category) == (matched, predicted, gold)
        self = counts(first, first, category=category)
        assert self.matched == self.predicted == self.gold
    alike = exact_counts(first, second, category=True).matched
    assert alike <= exact_counts(first, second).matched
    wide = [
        [
            span._replace(start=span.start * width, end=span.end * width)
            for span in spans
        ]
        for spans in (first, second)
    ]
    assert token_counts(*wide, tokens=tokens) == token_counts(first, second)


# --- chance ---

Texts = dict[str, tuple[int, list[TextSpan]]]
"""Text -> its number of tokens and its gold spans."""


def placed(rng: np.random.Generator, size: int, gold: list[TextSpan]) -> list[TextSpan]:
    """Return spans of the lengths of the gold ones, each anywhere in the text."""
    lengths = [span.end - span.start for span in gold]
    starts = [int(rng.integers(0, size - length + 1)) for length in lengths]
    return [
        TextSpan(at, at + length) for at, length in zip(starts, lengths, strict=True)
    ]


def covered(
    rng: np.random.Generator, size: int, gold: list[TextSpan], runs: int
) -> float:
    """Return the mean share of gold tokens that random spans cover, by masks alone."""
    mask = np.zeros((runs, size), dtype=bool)
    wanted = np.zeros(size, dtype=bool)
    for start, end, _ in gold:
        wanted[start:end] = True
        starts = rng.integers(0, size - (end - start) + 1, size=runs)
        for run, at in enumerate(starts):
            mask[run, at : at + end - start] = True
    return float(mask[:, wanted].sum(axis=1).mean())


def check_chance(texts: Texts, runs: int) -> None:
    """The mean recall of random placements lies in the interval of its simulated
    expectation.
    """
    rng = np.random.default_rng(11)
    recalls = []
    for _ in range(runs):
        counts = [
            token_counts(placed(rng, size, gold), gold) for size, gold in texts.values()
        ]
        recalls.append(
            span_agreement(counts, np.arange(len(counts)), None)["span_recall"].rows[0]
        )
    total = sum(token_counts(gold, gold).gold for _, gold in texts.values())
    other = np.random.default_rng(12)
    expected = (
        sum(covered(other, size, gold, runs) for size, gold in texts.values()) / total
    )
    # both means have an error: that of a mean of `runs` placements
    half = 1.96 * float(np.std(recalls, ddof=1)) * (2 / runs) ** 0.5
    assert abs(float(np.mean(recalls)) - expected) <= half
    # and by the exact chance that a token is covered by none of the spans
    exact = sum(_expected(size, gold) for size, gold in texts.values()) / total
    assert abs(float(np.mean(recalls)) - exact) <= half / 2**0.5


def _expected(size: int, gold: list[TextSpan]) -> float:
    bare = np.ones(size)
    for start, end, _ in gold:
        length = end - start
        starts = size - length + 1
        at = np.arange(size)
        bare *= (
            1
            - (np.minimum(at, starts - 1) - np.maximum(at - length + 1, 0) + 1) / starts
        )
    return sum(float((1 - bare[start:end]).sum()) for start, end, _ in gold)


@pytest.mark.simulation
def test_random_placements_reach_what_chance_gives() -> None:
    check_chance(
        {"a": (40, GOLD), "b": (25, [TextSpan(3, 4), TextSpan(20, 25)]), "c": (9, [])},
        1000,
    )


@pytest.fixture(scope="module")
def rotowire() -> Texts:
    """Return the gold spans of RotoWire, in tokens."""
    folder = REAL / "rotowire"
    with (folder / "games.csv").open(encoding="utf-8", newline="") as file:
        texts = {
            row["TEXT_ID"]: row["GENERATED_TEXT"].split()
            for row in csv.DictReader(file)
        }
    result = defaultdict[str, list[TextSpan]](list)
    with (folder / "gsml.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            text = row["TEXT_ID"].removesuffix(".txt")
            span = TextSpan(
                int(row["DOC_TOKEN_START"]) - 1, int(row["DOC_TOKEN_END"]), row["TYPE"]
            )
            assert texts[text][span.start : span.end] == row["TOKENS"].split()
            result[text].append(span)
    return {text: (len(tokens), result[text]) for text, tokens in texts.items()}


@needs_real_data
def test_gold_spans_against_themselves_are_right(rotowire: Texts) -> None:
    assert sum(len(gold) for _, gold in rotowire.values()) == 1214
    weights = deletions(60)
    for counts in (exact_counts, token_counts):
        for category in (False, True):
            collected = [
                counts(gold, gold, category=category) for _, gold in rotowire.values()
            ]
            for level in (span_agreement, span_agreement_by_text):
                for number in level(collected, np.arange(60), weights).values():
                    estimate = number.estimate
                    assert (estimate.value, estimate.ci_high) == (1, 1)
                    assert estimate.ci_low == pytest.approx(0.025 ** (1 / 60))


@pytest.mark.simulation
@needs_real_data
def test_random_placements_of_real_spans_reach_what_chance_gives(
    rotowire: Texts,
) -> None:
    check_chance(rotowire, 1000)
