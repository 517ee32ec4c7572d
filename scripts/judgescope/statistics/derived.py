"""Statistics about others: what their names begin with, and what all entries are made of."""

from typing import Literal, NamedTuple

from judgescope.statistics.jackknife import ACCURACY, NOT_SMOOTH, Scale

Kind = Literal["correlation", "score", "percent", "p_value", "amount"]
"""How a value is written for people."""


class Statistic(NamedTuple):
    """What a statistic is called, how its value is written, and what it means."""

    label: str
    kind: Kind
    meaning: str
    range: str
    source: str


SIGNED, SHARE, UP_TO_1, POSITIVE, ANY = "-1 to 1", "0 to 1", "up to 1", "0 and above", "any number"
DHP = "paper 000, 3.3"
CONFUSION = "paper 001"
OURS = "this project"
ANCHORS = "paper 002, table 8"
HINTS = "paper 003"
FORM = "paper 004, table 4"
STUDENT = "paper 004, section 5"

MIDRANKS, ZEROS = "midranks", "zeros dropped, midranks"
WRONG, HALF = "wrong", "half"
TIES: dict[str, str] = {
    **dict.fromkeys(("spearman", "partial_spearman"), MIDRANKS),
    "kendall_b": "tau-b",
    "acc_eq": "calibrated",
    **dict.fromkeys(("p_wilcoxon", "p_scipy", "p_holm", "p_fdr", "rank_biserial"), ZEROS),
    **dict.fromkeys(("D", "D_ew", "D_hmp", "D_exact", "D_hmp_less_ew"), ZEROS),
    **dict.fromkeys(("D_avg", "D_avg_ew", "D_avg_exact"), ZEROS),
    **dict.fromkeys(("D_min", "D_min_ew", "D_min_exact"), ZEROS),
    **dict.fromkeys(("accuracy_adjacent", "accuracy_adjacent_complete"), WRONG),
    **dict.fromkeys(("accuracy_apart", "accuracy_places"), WRONG),
    **dict.fromkeys(("accuracy_comparison", "accuracy_comparison_apart"), WRONG),
    **dict.fromkeys(("accuracy_adjacent_half", "accuracy_comparison_half"), HALF),
    **dict.fromkeys(("confusion_auc", "spa"), HALF),
    **dict.fromkeys(("notice_rate", "miss_rate"), "not noticed"),
}
"""What equal numbers count as, for the statistics that depend on it: a part of signatures."""

SCALES: dict[str, Scale] = {
    "cem_ord": Scale("plain", 0.0, 1.0),
    **dict.fromkeys(("acc_eq", "spa", "confusion_auc", "alt_test_advantage"), ACCURACY),
    **dict.fromkeys(("accuracy_adjacent", "accuracy_adjacent_half"), ACCURACY),
    **dict.fromkeys(("accuracy_adjacent_complete", "accuracy_apart", "accuracy_places"), ACCURACY),
    **dict.fromkeys(("accuracy_comparison", "accuracy_comparison_half"), ACCURACY),
    **dict.fromkeys(("accuracy_comparison_apart", "comparator_accuracy"), ACCURACY),
    **dict.fromkeys(("span_precision", "span_recall", "span_f1"), ACCURACY),
    **dict.fromkeys(("D_min", "D_min_ew", "D_min_exact"), NOT_SMOOTH),
    **dict.fromkeys(("match_vote_vote", "match_vote_all", "alt_test_winrate"), NOT_SMOOTH),
}
"""On which scale the error of a statistic is taken; for all others its range tells (`scale_of`)."""

ROBUST: dict[str, Statistic] = {
    "alpha_forms": Statistic(
        "α over forms", "correlation", "one model's ratings in several forms", UP_TO_1, HINTS
    ),
    "alpha_joint": Statistic(
        "α, joint", "correlation", "of all raters and the judge together", UP_TO_1, HINTS
    ),
    "alpha_pairs_mean": Statistic(
        "α, mean of pairs", "correlation", "of the judge and each rater alone", UP_TO_1, OURS
    ),
    "follow_rate": Statistic(
        "Equal to the hint", "percent", "scores that equal the rating it is told", SHARE, HINTS
    ),
    "already_share": Statistic(
        "Equal without it", "percent", "scores without a hint that equal it", SHARE, OURS
    ),
    "sway": Statistic(
        "Swayed",
        "percent",
        "of the others: scores that equal the hint once it is told",
        SHARE,
        OURS,
    ),
    "hint_effect": Statistic(
        "Moved by the hint",
        "percent",
        "of texts first scored otherwise: that equal the hint once it is told, less those that "
        "equal it when asked again without",
        SIGNED,
        OURS,
    ),
    "match_share": Statistic(
        "Unmoved",
        "percent",
        "scores that are the same without the hint",
        SHARE,
        "paper 003, table 3",
    ),
    "hint_shift": Statistic(
        "Shift to the hint", "amount", "points toward the hint, where it differs", ANY, HINTS
    ),
    "injection_shift": Statistic(
        "Shift by what is added",
        "percent",
        "mean score with an attack, or an inert text, less without it, of the range",
        SIGNED,
        OURS,
    ),
    "obey_rate": Statistic(
        "Obeys",
        "percent",
        "texts below the top of the scale that get it once something is added",
        SHARE,
        OURS,
    ),
    "p_injection": Statistic(
        "p of an attack", "p_value", "that its scores are those of an inert text", SHARE, OURS
    ),
    "sentiment": Statistic(
        "Sentiment", "amount", "mean polarity of the reasons", SIGNED, "paper 003, table 4"
    ),
    "reason_words": Statistic("Words", "amount", "mean words of the reasons", POSITIVE, OURS),
}
"""What is told of judges that are asked in several forms, and told hints."""

CONSTRUCTED: dict[str, Statistic] = {
    "errors_mean": Statistic(
        "Errors", "amount", "mean number of errors put into a text", POSITIVE, "paper 002"
    ),
    "anchors_above_lower": Statistic(
        "Better than lower anchors", "percent", "than those of the next rating", SHARE, ANCHORS
    ),
    "anchors_above_same": Statistic(
        "Better than its anchors", "percent", "than those of its own rating", SHARE, ANCHORS
    ),
    "anchors_below_same": Statistic(
        "Worse than its anchors", "percent", "than those of its own rating", SHARE, ANCHORS
    ),
    "anchors_below_higher": Statistic(
        "Worse than higher anchors", "percent", "than those of the next rating", SHARE, ANCHORS
    ),
    "ratings_tied": Statistic(
        "Several ratings", "percent", "rated texts that several ratings fit equally", SHARE, OURS
    ),
    "comparator_accuracy": Statistic(
        "Comparator",
        "percent",
        "pairs of anchors of which it names the better, in both orders",
        SHARE,
        "paper 002, table 6",
    ),
}
"""What is told of benchmarks that a study builds."""

VALID: dict[str, Statistic] = {
    "span_ok": Statistic(
        "Span OK",
        "percent",
        "people's verdicts on errors that find one in the passage",
        SHARE,
        FORM,
    ),
    "explanation_ok": Statistic(
        "Explanation correct",
        "percent",
        "people's verdicts on errors that find the explanation correct, whatever the passage",
        SHARE,
        FORM,
    ),
    "explanation_ok_at_error": Statistic(
        "Explanation correct at an error",
        "percent",
        "of the verdicts that find one in the passage",
        SHARE,
        OURS,
    ),
}
"""What people say of the errors that judges annotate."""

ENSEMBLE: dict[str, Statistic] = {
    "error_correlation": Statistic(
        "Error correlation",
        "correlation",
        "Pearson r of two members' errors, their scores less people's mean rating; on other "
        "scales than people's, with that rating held constant",
        SIGNED,
        OURS,
    ),
    "error_correlation_mean": Statistic(
        "Error correlation, mean",
        "correlation",
        "of the errors of every two members of an ensemble",
        SIGNED,
        OURS,
    ),
    "effective_judges": Statistic(
        "Effective judges",
        "amount",
        "independent judges whose mean would err as much as the ensemble's",
        POSITIVE,
        "Kish 1965",
    ),
}
"""What is told of judges that are made from others. `subset_mean` and `contribution` are below."""

TRAINED: dict[str, Statistic] = {
    "taught_examples": Statistic(
        "Examples",
        "amount",
        "replies of a teacher that are taught (level train) or held out",
        POSITIVE,
        STUDENT,
    ),
    "held_out_loss_before": Statistic(
        "Loss before",
        "amount",
        "negative log likelihood of a token of a reply that is held out, in nats: the mean over a "
        "reply's tokens, then over replies, before any training",
        POSITIVE,
        OURS,
    ),
    "held_out_loss_after": Statistic(
        "Loss after", "amount", "the same after the last step", POSITIVE, OURS
    ),
    "held_out_loss_change": Statistic(
        "Change of the loss", "amount", "after less before, reply by reply", ANY, OURS
    ),
}
"""What is told of judges that are taught what others say."""

OF_OTHERS: dict[str, Statistic] = {
    "rank": Statistic(
        "Rank by {}",
        "amount",
        "1 is the best; judges sharing a letter are not told apart",
        "1 and above",
        "Piepho 2004 (letters)",
    ),
    "difference": Statistic(
        "Difference of {}",
        "amount",
        "first judge or wording minus the second, on shared targets",
        ANY,
        OURS,
    ),
    "p": Statistic(
        "p for {}",
        "p_value",
        "paired permutation test, two-sided",
        SHARE,
        "Deutsch, Dror, Roth 2021",
    ),
    "p_holm": Statistic(
        "Holm-adjusted p for {}", "p_value", "over all pairs of an aspect", SHARE, "Holm 1979"
    ),
    "p_fdr": Statistic(
        "FDR-adjusted p for {}",
        "p_value",
        "over all pairs of an aspect",
        SHARE,
        "Benjamini, Hochberg 1995",
    ),
    "detectable": Statistic(
        "Detectable difference of {}",
        "amount",
        "least true one shown with power .8",
        POSITIVE,
        OURS,
    ),
    "sources_needed": Statistic(
        "Sources needed for {}", "amount", "for the wished difference", POSITIVE, OURS
    ),
    "subset_mean": Statistic(
        "{}, mean of subsets",
        "correlation",
        "over all ensembles of k of the members",
        SIGNED,
        "paper 004, G.2",
    ),
    "contribution": Statistic(
        "Contribution to {}",
        "amount",
        "an ensemble of all members minus that without the second judge, on shared targets",
        ANY,
        OURS,
    ),
    "student": Statistic(
        "{} of the judge that was taught",
        "correlation",
        "the second judge, taught what the first says, with people",
        SIGNED,
        STUDENT,
    ),
    "student_difference": Statistic(
        "Difference from the judge that was taught, of {}",
        "amount",
        "an ensemble minus the second judge, taught what it says, on shared targets",
        ANY,
        OURS,
    ),
    "student_with_teacher": Statistic(
        "{} of teacher and taught",
        "correlation",
        "the second judge, taught what the first says, with the first",
        SIGNED,
        OURS,
    ),
    "as_rater": Statistic(
        "{} as one more rater",
        "amount",
        "what the judge reaches with the other raters less what a rater does; 0: as much",
        ANY,
        OURS,
    ),
    "as_rater_share": Statistic(
        "{}, share of a rater's",
        "percent",
        "what the judge reaches with the other raters, of what a rater does",
        ANY,
        OURS,
    ),
    "share": Statistic("Share {}", "percent", "of texts that a perturbation left so", SHARE, OURS),
    "count": Statistic("Judgments {}", "amount", "of this status", POSITIVE, OURS),
}
"""Prefix -> a statistic about another one, whose label stands for {}."""
APART = {"difference", "contribution", "student_difference", "detectable", "as_rater"}
"""Those of two values of the other, written as it is."""


def tie_rule(name: str) -> str | None:
    """Return what ties count as in a statistic, or in that which its name is about; else None."""
    if name in TIES:
        return TIES[name]
    about = (name.removeprefix(prefix + "_") for prefix in OF_OTHERS if name.startswith(prefix))
    return next((TIES[rest] for rest in about if rest in TIES), None)
