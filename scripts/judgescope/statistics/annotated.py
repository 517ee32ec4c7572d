"""Statistics of the errors that judges list, and of how well they meet those that people marked.

A part of the registry. A span is an error that quotes words of the text; an annotation is one list
of errors with its verdict: a reply of a judge, or what an ensemble makes of its members' lists.
"""

from judgescope.statistics.derived import OURS, POSITIVE, SHARE, Statistic

MARKED = "paper 004, 7.2"
LISTS = "paper 004"

ANNOTATED: dict[str, Statistic] = {
    "span_errors": Statistic(
        "Errors listed", "amount", "mean number in an annotation", POSITIVE, LISTS
    ),
    "span_clean": Statistic(
        "Without an error", "percent", "annotations that list none", SHARE, OURS
    ),
    "span_severity": Statistic(
        "Severity", "amount", "mean over the errors that have one", "1 to 5", LISTS
    ),
    "span_placeless": Statistic(
        "Without a place", "percent", "errors that quote no words", SHARE, OURS
    ),
    "span_match_rate": Statistic(
        "Spans found", "percent", "spans whose words are found in the text", SHARE, OURS
    ),
    "span_match_exact": Statistic(
        "Found as quoted", "percent", "spans found to the letter", SHARE, OURS
    ),
    "span_match_normalised": Statistic(
        "Found but for spelling",
        "percent",
        "spans found but for case, white space and signs",
        SHARE,
        OURS,
    ),
    "span_match_fuzzy": Statistic(
        "Found nearly", "percent", "spans found by similar words only", SHARE, OURS
    ),
    "span_precision": Statistic(
        "Precision",
        "percent",
        "spans or words that people marked too, of the judge's",
        SHARE,
        MARKED,
    ),
    "span_recall": Statistic(
        "Recall",
        "percent",
        "spans or words that the judge marks too, of people's",
        SHARE,
        MARKED,
    ),
    "span_f1": Statistic("F1", "percent", "harmonic mean of precision and recall", SHARE, MARKED),
    "span_errors_beside_none": Statistic(
        "Errors beside none", "percent", "annotations that list errors and say none", SHARE, OURS
    ),
    "span_best_with_severe": Statistic(
        "Severe but best",
        "percent",
        "annotations with severe errors and the best verdict",
        SHARE,
        OURS,
    ),
    "span_less_without_errors": Statistic(
        "Lower without errors",
        "percent",
        "annotations with no errors and a lower verdict",
        SHARE,
        OURS,
    ),
    "span_other_verdicts": Statistic(
        "Several verdicts", "percent", "annotations with different verdicts", SHARE, OURS
    ),
    "span_dropped": Statistic(
        "Too many errors", "percent", "annotations of which errors were left out", SHARE, LISTS
    ),
    "span_superseded": Statistic(
        "Begun anew", "percent", "annotations that list their errors again", SHARE, OURS
    ),
    "span_unread": Statistic(
        "Severity unread", "percent", "annotations with one that cannot be read", SHARE, OURS
    ),
}
