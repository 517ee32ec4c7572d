"""What statistics, levels, statuses and controls are called in the report, and what they mean."""

from collections.abc import Callable
from dataclasses import dataclass

from metajudge.report import numbers


@dataclass(frozen=True)
class Term:
    """The label of a statistic, how its value is written, and its meaning in one sentence."""

    label: str
    written: Callable[[float], str]
    meaning: str = ""


STATISTICS = {
    "pearson": Term("Pearson r", numbers.correlation, "linear correlation"),
    "spearman": Term("Spearman ρ", numbers.correlation, "correlation of ranks"),
    "kendall_b": Term("Kendall τ-b", numbers.correlation, "pairs in the same order, ties counted"),
    "kappa_linear": Term("Linear κ", numbers.correlation, "agreement on ratings beyond chance"),
    "kappa_quadratic": Term(
        "Quadratic κ", numbers.correlation, "as linear κ, larger misses weigh more"
    ),
    "cem_ord": Term("CEM-ORD", numbers.correlation, "closeness of classes, rare ones weigh more"),
    "acc_eq": Term("acc_eq", numbers.correlation, "share of pairs ordered or tied as people do"),
    "spa": Term("SPA", numbers.correlation, "systems told apart as surely as people do"),
    "alt_test_winrate": Term(
        "Alt-test winning rate", numbers.percent, "share of raters whose place it may take"
    ),
    "alt_test_advantage": Term(
        "Alt-test advantage", numbers.percent, "how often it is as near to the others as a rater"
    ),
    "partial_pearson": Term("Partial r", numbers.correlation, "Pearson r given length"),
    "partial_spearman": Term("Partial ρ", numbers.correlation, "Spearman ρ given length"),
    "length_slope": Term("Length slope", numbers.amount, "points above people per doubling"),
    "self_preference": Term("Self-preference", numbers.amount, "points more for its own family"),
    "alpha_ordinal": Term("Krippendorff α", numbers.correlation, "agreement of raters, ordinal"),
    "alpha_nominal": Term("Krippendorff α, nominal", numbers.correlation, "of equal ratings only"),
    "alpha_interval": Term("Krippendorff α, interval", numbers.correlation, "of raters' numbers"),
    "alpha_pair": Term(
        "α of the pair", numbers.correlation, "Krippendorff α of judge and median rating"
    ),
    "D": Term("D", numbers.score, "as published"),
    "D_ew": Term("D_ew", numbers.score, "as published, aspects weighted"),
    "D_hmp": Term("D_hmp", numbers.score, "from the harmonic mean p"),
    "D_exact": Term("D_exact", numbers.score, "from a p that holds its level"),
    "D_avg": Term("D_avg", numbers.score, "average over perturbations, as published"),
    "D_avg_ew": Term("D_avg_ew", numbers.score, "average, aspects weighted"),
    "D_avg_exact": Term("D_avg_exact", numbers.score, "average of D_exact"),
    "D_min": Term("D_min", numbers.score, "hardest perturbation, as published"),
    "D_min_ew": Term("D_min_ew", numbers.score, "hardest perturbation, aspects weighted"),
    "D_min_exact": Term("D_min_exact", numbers.score, "hardest perturbation by D_exact"),
    "rank_biserial": Term("Rank-biserial correlation", numbers.correlation, "effect size"),
    "mean_drop": Term(
        "Mean drop", numbers.amount, "original minus damaged, in points of the judge"
    ),
    "p_holm": Term("Holm-adjusted p", numbers.p_value, "one-sided Wilcoxon test"),
    "alpha_draws": Term("α over draws", numbers.correlation, "the draws as raters"),
    "flip_rate": Term("Flips", numbers.percent, "texts of which two draws differ"),
    "tied_modes": Term("Tied modes", numbers.percent, "texts without one most frequent rating"),
    "reliability": Term("Reliability", numbers.correlation, "of one draw, ICC(1)"),
    "draws_needed": Term("Draws needed", numbers.amount, "for 95 % of the attainable"),
    "order_consistency": Term("Consistent", numbers.percent, "same verdict in both orders"),
    "first_position_rate": Term("First chosen", numbers.percent, "of decided votes"),
    "nontransitive_share": Term("Circles", numbers.percent, "of decided triples"),
    "accuracy_comparison": Term("Right", numbers.percent, "as people do; a tie is wrong"),
    "accuracy_comparison_half": Term("Right, ties half", numbers.percent, "a tie is half right"),
    "tie_rate": Term("Ties", numbers.percent, "pairs without a verdict"),
    "notice_rate": Term("Faults noticed", numbers.percent),
    "miss_rate": Term("Faults missed", numbers.percent),
    "edits": Term("Edits", numbers.amount, "mean number per text"),
    "edit_distance": Term("Edit distance", numbers.amount, "mean Levenshtein distance"),
}

SWAYS = ("partial_pearson", "partial_spearman", "length_slope", "self_preference")
"""What tells what sways a judge, not how well it agrees."""

LEVELS = {
    "pooled": ("all targets pooled", "One correlation over all targets of the dataset."),
    "by_source": (
        "mean over sources",
        "Correlation among the texts of one source, averaged over sources.",
    ),
    "by_system": ("between systems", "Correlation of the systems' mean scores."),
}

CONTROLS = {
    "constant_top": "always the top of the scale",
    "most_frequent": "always the most frequent rating",
    "random": "seeded random",
    "shuffled": "the ratings, shuffled",
    "length": "the length of the text",
}

STATUSES = {
    "ok": "ok",
    "unparsed": "unparsed",
    "out_of_range": "out of range",
    "refused": "refused",
    "truncated": "truncated",
    "empty": "empty",
    "error": "error",
    "not_applicable": "not applicable",
}


def written(statistic: str, value: float) -> str:
    """Return a value of the statistic as text."""
    term = STATISTICS.get(statistic)
    return (term.written if term else numbers.amount)(value)


def label(statistic: str) -> str:
    """Return the statistic's label, its id where it has none."""
    term = STATISTICS.get(statistic)
    return term.label if term else statistic


def spoken(code: str) -> str:
    """Return a reason without underscores."""
    return code.replace("_", " ")
