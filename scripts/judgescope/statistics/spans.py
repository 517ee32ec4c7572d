"""Errors that judges list: do they mark the spans that people marked, and do people
accept them?

A span is an error that quotes words of the text, or their place: a half-open stretch in
characters or in tokens, whichever both sides use. An annotation is one list of errors
with its verdict: a reply of a judge, or the list that an ensemble makes from its
members' lists.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics import arrays
from judgescope.statistics.arrays import Codes, Floats, quotient
from judgescope.statistics.declared import accuracy, amount, declare, percent
from judgescope.statistics.means import clustered_mean, share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights

DECLARED = declare(
    "listed",
    span_errors=amount(
        "Errors listed", "mean number of errors in an annotation", "Kartáč et al. 2025"
    ),
    span_clean=percent("Without an error", "share of annotations that list no error"),
    span_severity=amount(
        "Severity",
        "mean severity of the errors that have one",
        "Kartáč et al. 2025",
        range="1 to 5",
    ),
    span_placeless=percent(
        "Without a quotation", "share of errors that quote no words"
    ),
)
DECLARED += declare(
    "located",
    span_match_rate=percent(
        "Spans located", "share of spans whose words occur in the text"
    ),
    span_match_exact=percent(
        "Located verbatim", "share of spans that match the text exactly"
    ),
    span_match_normalised=percent(
        "Located after normalization",
        "share of spans that match except for case, white space and punctuation",
    ),
    span_match_fuzzy=percent(
        "Located approximately", "share of spans located only by similar words"
    ),
)
DECLARED += declare(
    "span_agreement",
    span_precision=accuracy(
        "Precision",
        "share of the judge's spans or words that people also marked",
        "Kartáč et al. 2025, section 7.2",
    ),
    span_recall=accuracy(
        "Recall",
        "share of people's spans or words that the judge also marks",
        "Kartáč et al. 2025, section 7.2",
    ),
    span_f1=accuracy(
        "F1", "harmonic mean of precision and recall", "Kartáč et al. 2025, section 7.2"
    ),
)
DECLARED += declare(
    "noted",
    span_errors_beside_none=percent(
        'Errors and "no errors"',
        "share of annotations that list errors and also state that there are none",
    ),
    span_best_with_severe=percent(
        "Severe errors, best verdict",
        "share of annotations with severe errors and the best verdict",
    ),
    span_less_without_errors=percent(
        "No errors, lower verdict",
        "share of annotations with no errors and a verdict below the best",
    ),
    span_other_verdicts=percent(
        "Conflicting verdicts",
        "share of annotations that give several different verdicts",
    ),
    span_dropped=percent(
        "Too many errors",
        "share of annotations whose surplus errors were dropped",
        "Kartáč et al. 2025",
    ),
    span_superseded=percent(
        "Repeated list", "share of annotations that list their errors more than once"
    ),
    span_repeated=percent(
        "Repeated errors", "share of annotations that list an error more than once"
    ),
    span_placeholders=percent(
        "Placeholders",
        "share of annotations that repeat the prompt's own words as an error's fields",
    ),
    span_unread=percent(
        "Unreadable severity", "share of annotations with an unreadable severity"
    ),
)
DECLARED += declare(
    "asked_of_people",
    span_ok=percent(
        "Span OK",
        "share of human verdicts that confirm an error in the passage",
        "Kartáč et al. 2025, table 4",
    ),
    explanation_ok=percent(
        "Explanation correct",
        "share of human verdicts that find the explanation correct, whether or not "
        "the passage has an error",
        "Kartáč et al. 2025, table 4",
    ),
    explanation_ok_at_error=percent(
        "Explanation correct at an error",
        "the same share among human verdicts that confirm an error in the passage",
    ),
)

TokenRange = tuple[int, int]
"""Start and end, the end not included."""


class TextSpan(NamedTuple):
    """A stretch of a text and, where there is one, the category of the error in it."""

    start: int
    end: int
    category: str | None = None


class SpanCounts(NamedTuple):
    """How many spans (or tokens) of a text are in both, in the prediction, and in the
    gold.
    """

    matched: int
    predicted: int
    gold: int


def exact_counts(
    predicted: Sequence[TextSpan], gold: Sequence[TextSpan], *, category: bool = False
) -> SpanCounts:
    """|P ∩ G|, |P| and |G| for the multisets of spans with the same start and
    end.

    Each gold span matches one predicted span, so a span that is predicted twice is
    right once. `category`: a pair must have the same category too. The spans that are
    compared are those of (Kartáč et al. 2025, section 7.2).

    >>> exact_counts([TextSpan(0, 3), TextSpan(5, 7)], [TextSpan(0, 3)])
    SpanCounts(matched=1, predicted=2, gold=1)
    """
    ours = Counter(_keys(predicted, category))
    golds = Counter(_keys(gold, category))
    return SpanCounts((ours & golds).total(), ours.total(), golds.total())


def token_counts(
    predicted: Sequence[TextSpan],
    gold: Sequence[TextSpan],
    *,
    tokens: Sequence[TokenRange] | None = None,
    category: bool = False,
) -> SpanCounts:
    """|P ∩ G|, |P| and |G| for the sets of tokens that the spans touch.

    tokens (tokens,): where each lies, in the unit of the spans; None where the unit is
    the token. A token counts once, however many spans touch it. `category`: the members
    of the sets are pairs of a token and a category. Token overlap as in Thomson and
    Reiter 2021.

    >>> token_counts([TextSpan(0, 2)], [TextSpan(1, 3)])
    SpanCounts(matched=1, predicted=2, gold=2)
    """
    ours = _touched(predicted, tokens, category)
    golds = _touched(gold, tokens, category)
    return SpanCounts(len(ours & golds), len(ours), len(golds))


def placed_at_random(
    spans: Sequence[TextSpan],
    gold: Sequence[TextSpan],
    tokens: Sequence[TokenRange],
    rng: np.random.Generator,
    placements: int,
) -> Codes:
    """|P ∩ G| and |P| in tokens where spans of the same lengths lie anywhere in
    the text.

    Each span keeps its number of tokens and starts at any token from which it fits,
    whatever the others do. Shape (placements, 2).

    >>> tokens = [(0, 1), (2, 3), (4, 5)]
    >>> rng = np.random.default_rng(1)
    >>> placed = placed_at_random([TextSpan(0, 3)], [TextSpan(0, 5)], tokens, rng, 2)
    >>> placed.tolist()  # two tokens each, all of which people marked
    [[2, 2], [2, 2]]
    """
    marked = np.zeros((placements, len(tokens)), dtype=bool)
    people = np.zeros(len(tokens), dtype=bool)
    people[[token for token, _ in _touched(gold, tokens, category=False)]] = True
    for span in spans:
        size = len(_touched([span], tokens, category=False))
        if size:
            start = rng.integers(len(tokens) - size + 1, size=(placements, 1))
            marked[np.arange(placements)[:, None], start + np.arange(size)] = True
    return np.stack([(marked & people).sum(axis=1), marked.sum(axis=1)], axis=1)


def _keys(
    spans: Sequence[TextSpan], category: bool
) -> list[tuple[int, int, str | None]]:
    return [
        (span.start, span.end, span.category if category else None) for span in spans
    ]


def _touched(
    spans: Sequence[TextSpan], tokens: Sequence[TokenRange] | None, category: bool
) -> set[tuple[int, str | None]]:
    touched = set[tuple[int, str | None]]()
    for start, end, name in _keys(spans, category):
        if tokens is None:
            numbers: Sequence[int] = range(start, end)
        else:
            numbers = []
            for n, (left, right) in enumerate(tokens):
                if left < end and start < right:
                    numbers.append(n)
        touched.update((number, name) for number in numbers)
    return touched


def scores_by_text(counts: Sequence[SpanCounts]) -> Floats:
    """Precision m / p, recall m / g and F1 2 m / (p + g) of each text.

    counts (texts,). Shape (3, texts), range 0 to 1. NaN where undefined: precision
    without predicted spans, recall without gold spans, F1 without either; so a clean
    text that is found clean has no scores, and one that is found faulty has precision
    and F1 of 0 and no recall.

    >>> scores_by_text([SpanCounts(1, 2, 4), SpanCounts(0, 0, 1)]).round(3).tolist()
    [[0.5, nan], [0.25, 0.0], [0.333, 0.0]]
    """
    matched, predicted, gold = np.array(counts, dtype=np.float64).reshape(-1, 3).T
    precision = quotient(matched, predicted)
    recall = quotient(matched, gold)
    f1 = quotient(2 * matched, predicted + gold)
    return np.stack([precision, recall, f1])


def span_agreement(
    counts: Sequence[SpanCounts], source: Codes, weights: Weights, *, missing: int = 0
) -> dict[str, Replicated]:
    """Precision sum m / sum p, recall sum m / sum g and F1 2 sum m / (sum p +
    sum g).

    counts (texts,), source (texts,), weights (sources, sources) or None for no
    interval. Range 0 to 1. `n` counts what is divided by: predicted, gold, or both;
    `missing` are texts that could not be compared. Undefined: precision without any
    predicted span, recall without any gold span, F1 without either. Micro-average;
    (Kartáč et al. 2025, section 7.2) compares by hand.

    >>> results = span_agreement([SpanCounts(1, 2, 4)], np.array([0]), None)
    >>> {name: round(result.estimate.value, 3) for name, result in results.items()}
    {'span_precision': 0.5, 'span_recall': 0.25, 'span_f1': 0.333}
    """
    matched, predicted, gold = np.array(counts, dtype=np.float64).reshape(-1, 3).T
    parts = {
        "span_precision": (matched, predicted, REASONS.no_predicted_spans),
        "span_recall": (matched, gold, REASONS.no_gold_spans),
        "span_f1": (2 * matched, predicted + gold, REASONS.no_spans),
    }
    return {
        name: share(
            hits, total, source, weights, missing=missing, scale=scale_of(name), why=why
        )
        for name, (hits, total, why) in parts.items()
    }


def span_agreement_by_text(
    counts: Sequence[SpanCounts], source: Codes, weights: Weights, *, missing: int = 0
) -> dict[str, Replicated]:
    """The means over texts of `scores_by_text`, each over the texts that have
    the score.

    Arguments and range as in `span_agreement`; `n` counts the texts with the score,
    `n_missing` the others, those that could not be compared among them. Undefined where
    no text has it.

    >>> counts = [SpanCounts(1, 2, 4), SpanCounts(1, 1, 1)]
    >>> results = span_agreement_by_text(counts, np.arange(2), None)
    >>> results["span_precision"].estimate.value
    0.75
    """
    names = ("span_precision", "span_recall", "span_f1")
    return {
        name: clustered_mean(
            scores,
            source,
            weights,
            missing,
            averaged="mean over texts",
            scale=scale_of(name),
        )
        for name, scores in zip(names, scores_by_text(counts), strict=True)
    }


SPANS: Final = ("error", "no_span", "not_an_error", "hallucination")
"""The passage has an error; none is given; it has none; it is not in the text."""
EXPLANATIONS: Final = (
    "correct",
    "partially_correct",
    "incomplete",
    "vague",
    "incorrect",
    "not_an_error",
)
"""Of the last, the explanation describes no error."""


ALL: Final = slice(None)
VERDICT_SHARES: Final = {
    "span_ok": ((ALL, slice(1)), (ALL, ALL)),
    "explanation_ok": ((slice(1), ALL), (ALL, ALL)),
    "explanation_ok_at_error": ((slice(1), slice(1)), (ALL, slice(1))),
}
"""Statistic -> which (explanations, spans) count, and of which."""


def verdict_shares(
    verdicts: arrays.Counts, source: Codes, weights: Weights, missing: int = 0
) -> dict[str, Estimate]:
    """sum hits / sum total of the verdicts on errors, by VERDICT_SHARES.

    verdicts (things, explanations, spans): how many verdicts on each thing, whatever it
    is, say each of EXPLANATIONS of the explanation and each of SPANS of the passage;
    source (things,), weights (sources, sources) or None for no interval; `missing`
    verdicts were planned and are not there, or not complete. Range 0 to 1; undefined
    without a verdict. Partially correct is not correct. In (Kartáč et al. 2025, table
    4) 303 of 366 give 83 %, Span OK, and 230 of 366 give 63 %, Exp. correct; 218 of 303
    give 72 %, which the paper does not print.

    >>> verdicts = np.zeros((1, 6, 4), dtype=np.int64)
    >>> verdicts[0, 0, 0] = 3  # an error, explained correctly
    >>> verdicts[0, 4, 0] = 1  # an error, explained incorrectly
    >>> verdict_shares(verdicts, np.array([0]), None)["explanation_ok_at_error"].value
    0.75
    """

    def counted(which: tuple[slice, slice]) -> Floats:
        chosen = verdicts[:, *which].reshape(len(source), -1)
        return np.asarray(chosen.sum(axis=1), dtype=np.float64)

    return {
        name: share(
            counted(hits),
            counted(total),
            source,
            weights,
            missing,
            averaged="answers about annotated errors",
        ).estimate
        for name, (hits, total) in VERDICT_SHARES.items()
    }
