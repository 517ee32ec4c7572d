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
from judgescope.statistics.arrays import Codes, Floats, Weights, quotient
from judgescope.statistics.declared import accuracy, amount, declare, percent, scale_of
from judgescope.statistics.means import clustered_mean, share
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import (
    NO_GOLD_SPANS,
    NO_PREDICTED_SPANS,
    NO_SPANS,
    Estimate,
)

PAPER = "Kartáč et al. 2025"
DECLARED: Final = declare(
    span_errors=amount(
        "Errors listed", "mean number of errors in an annotation", PAPER
    ),
    span_clean=percent("Without an error", "share of annotations that list no error"),
    span_severity=amount(
        "Severity", "mean severity of the errors that have one", PAPER, range="1 to 5"
    ),
    span_placeless=percent(
        "Without a quotation", "share of errors that quote no words"
    ),
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
    span_precision=accuracy(
        "Precision",
        "share of the judge's spans or words that people also marked",
        f"{PAPER}, section 7.2",
    ),
    span_recall=accuracy(
        "Recall",
        "share of people's spans or words that the judge also marks",
        f"{PAPER}, section 7.2",
    ),
    span_f1=accuracy(
        "F1", "harmonic mean of precision and recall", f"{PAPER}, section 7.2"
    ),
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
        PAPER,
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
    span_ok=percent(
        "Span OK",
        "share of human verdicts that confirm an error in the passage",
        f"{PAPER}, table 4",
    ),
    explanation_ok=percent(
        "Explanation correct",
        "share of human verdicts that find the explanation correct, whether or not "
        "the passage has an error",
        f"{PAPER}, table 4",
    ),
    explanation_ok_at_error=percent(
        "Explanation correct at an error",
        "the same share among human verdicts that confirm an error in the passage",
    ),
)

Stretch = tuple[int, int]
"""Start and end, the end not included."""


class Span(NamedTuple):
    """A stretch of a text and, where there is one, the category of the error in it."""

    start: int
    end: int
    category: str | None = None


class Counts(NamedTuple):
    """How many spans (or tokens) of a text are in both, in the prediction, and in the
    gold.
    """

    matched: int
    predicted: int
    gold: int


def exact_counts(
    predicted: Sequence[Span], gold: Sequence[Span], *, category: bool = False
) -> Counts:
    """Return |P ∩ G|, |P| and |G| for the multisets of spans with the same start and
    end.

    Each gold span matches one predicted span, so a span that is predicted twice is
    right once. `category`: a pair must have the same category too. The spans that are
    compared are those of (Kartáč et al. 2025, section 7.2).
    """
    ours, golds = (Counter(_keys(spans, category)) for spans in (predicted, gold))
    return Counts((ours & golds).total(), ours.total(), golds.total())


def token_counts(
    predicted: Sequence[Span],
    gold: Sequence[Span],
    *,
    tokens: Sequence[Stretch] | None = None,
    category: bool = False,
) -> Counts:
    """Return |P ∩ G|, |P| and |G| for the sets of tokens that the spans touch.

    tokens (tokens,): where each lies, in the unit of the spans; None where the unit is
    the token. A token counts once, however many spans touch it. `category`: the members
    of the sets are pairs of a token and a category. Token overlap as in Thomson and
    Reiter 2021.
    """
    ours, golds = (_touched(spans, tokens, category) for spans in (predicted, gold))
    return Counts(len(ours & golds), len(ours), len(golds))


def placed_at_random(
    spans: Sequence[Span],
    gold: Sequence[Span],
    tokens: Sequence[Stretch],
    rng: np.random.Generator,
    placements: int,
) -> Codes:
    """Return |P ∩ G| and |P| in tokens where spans of the same lengths lie anywhere in
    the text.

    Each span keeps its number of tokens and starts at any token from which it fits,
    whatever the others do. Shape (placements, 2).
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


def _keys(spans: Sequence[Span], category: bool) -> list[tuple[int, int, str | None]]:
    return [
        (span.start, span.end, span.category if category else None) for span in spans
    ]


def _touched(
    spans: Sequence[Span], tokens: Sequence[Stretch] | None, category: bool
) -> set[tuple[int, str | None]]:
    touched = set[tuple[int, str | None]]()
    for start, end, name in _keys(spans, category):
        if tokens is None:
            numbers: Sequence[int] = range(start, end)
        else:
            numbers = [
                n
                for n, (left, right) in enumerate(tokens)
                if left < end and start < right
            ]
        touched.update((number, name) for number in numbers)
    return touched


def scores_by_text(counts: Sequence[Counts]) -> Floats:
    """Return precision m / p, recall m / g and F1 2 m / (p + g) of each text.

    counts (texts,). Shape (3, texts), range 0 to 1. NaN where undefined: precision
    without predicted spans, recall without gold spans, F1 without either; so a clean
    text that is found clean has no scores, and one that is found faulty has precision
    and F1 of 0 and no recall.
    """
    matched, predicted, gold = np.array(counts, dtype=np.float64).reshape(-1, 3).T
    hits = np.stack([matched, matched, 2 * matched])
    return quotient(hits, np.stack([predicted, gold, predicted + gold]))


def span_agreement(
    counts: Sequence[Counts], source: Codes, weights: Weights, *, missing: int = 0
) -> dict[str, Replicated]:
    """Return precision sum m / sum p, recall sum m / sum g and F1 2 sum m / (sum p +
    sum g).

    counts (texts,), source (texts,), weights (sources, sources) or None for no
    interval. Range 0 to 1. `n` counts what is divided by: predicted, gold, or both;
    `missing` are texts that could not be compared. Undefined: precision without any
    predicted span, recall without any gold span, F1 without either. Micro-average;
    (Kartáč et al. 2025, section 7.2) compares by hand.
    """
    matched, predicted, gold = np.array(counts, dtype=np.float64).reshape(-1, 3).T
    parts = {
        "span_precision": (matched, predicted, NO_PREDICTED_SPANS),
        "span_recall": (matched, gold, NO_GOLD_SPANS),
        "span_f1": (2 * matched, predicted + gold, NO_SPANS),
    }
    return {
        name: share(
            hits, total, source, weights, missing=missing, scale=scale_of(name), why=why
        )
        for name, (hits, total, why) in parts.items()
    }


def span_agreement_by_text(
    counts: Sequence[Counts], source: Codes, weights: Weights, *, missing: int = 0
) -> dict[str, Replicated]:
    """Return the means over texts of `scores_by_text`, each over the texts that have
    the score.

    Arguments and range as in `span_agreement`; `n` counts the texts with the score,
    `n_missing` the others, those that could not be compared among them. Undefined where
    no text has it.
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
VERDICTS: Final = "answers about annotated errors"


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
    """Return sum hits / sum total of the verdicts on errors, by VERDICT_SHARES.

    verdicts (things, explanations, spans): how many verdicts on each thing, whatever it
    is, say each of EXPLANATIONS of the explanation and each of SPANS of the passage;
    source (things,), weights (sources, sources) or None for no interval; `missing`
    verdicts were planned and are not there, or not complete. Range 0 to 1; undefined
    without a verdict. Partially correct is not correct. In (Kartáč et al. 2025, table
    4) 303 of 366 give 83 %, Span OK, and 230 of 366 give 63 %, Exp. correct; 218 of 303
    give 72 %, which the paper does not print.
    """

    def counted(which: tuple[slice, slice]) -> Floats:
        own = verdicts[:, *which].reshape(len(source), -1)
        return np.asarray(own.sum(axis=1), dtype=np.float64)

    return {
        name: share(
            counted(hits), counted(total), source, weights, missing, averaged=VERDICTS
        ).estimate
        for name, (hits, total) in VERDICT_SHARES.items()
    }
