"""Every statistic of the result tables: its name, meaning, range and source.

A listed name never changes its meaning. docs/reference/statistics.md is generated from these lists.
"""

from functools import cache

from judgescope.statistics.annotated import ANNOTATED
from judgescope.statistics.claimed import CLAIMED
from judgescope.statistics.derived import (
    ANY,
    APART,
    CONFUSION,
    CONSTRUCTED,
    DHP,
    ENSEMBLE,
    OF_OTHERS,
    OURS,
    POSITIVE,
    ROBUST,
    SCALES,
    SHARE,
    SIGNED,
    TRAINED,
    UP_TO_1,
    VALID,
    Statistic,
)
from judgescope.statistics.jackknife import CORRELATION, PLAIN, PROPORTION, Scale

STATISTICS: dict[str, Statistic] = {
    "pearson": Statistic("Pearson r", "correlation", "linear correlation", SIGNED, "Pearson 1895"),
    "spearman": Statistic(
        "Spearman ρ", "correlation", "correlation of ranks", SIGNED, "Spearman 1904"
    ),
    "kendall_b": Statistic(
        "Kendall τ-b",
        "correlation",
        "pairs in the same order, ties counted",
        SIGNED,
        "Kendall 1945",
    ),
    "kappa_linear": Statistic(
        "Linear κ",
        "correlation",
        "agreement on ratings beyond chance",
        UP_TO_1,
        "Cohen 1968; paper 002",
    ),
    "kappa_quadratic": Statistic(
        "Quadratic κ", "correlation", "as linear κ, larger misses weigh more", UP_TO_1, "Cohen 1968"
    ),
    "cem_ord": Statistic(
        "CEM-ORD",
        "correlation",
        "closeness of classes, rare ones weigh more",
        "a floor that the note tells, to 1",
        "Amigó et al. 2020",
    ),
    "acc_eq": Statistic(
        "acc_eq",
        "correlation",
        "share of pairs ordered or tied as people do",
        SHARE,
        "Deutsch, Foster, Freitag 2023",
    ),
    "spa": Statistic(
        "SPA",
        "correlation",
        "systems told apart as surely as people do",
        SHARE,
        "Thompson et al. 2024",
    ),
    "alpha_ordinal": Statistic(
        "Krippendorff α",
        "correlation",
        "agreement of raters, ordinal",
        UP_TO_1,
        "Krippendorff 2011; paper 003",
    ),
    "alpha_nominal": Statistic(
        "Krippendorff α, nominal",
        "correlation",
        "of equal ratings only",
        UP_TO_1,
        "Krippendorff 2011",
    ),
    "alpha_interval": Statistic(
        "Krippendorff α, interval",
        "correlation",
        "of raters' numbers",
        UP_TO_1,
        "Krippendorff 2011",
    ),
    "alpha_pair": Statistic(
        "α of the pair",
        "correlation",
        "Krippendorff α of judge and median rating",
        UP_TO_1,
        "paper 003",
    ),
    "alt_test_winrate": Statistic(
        "Alt-test winning rate",
        "percent",
        "share of raters whose place it may take",
        SHARE,
        "Calderon, Reichart, Dror 2025",
    ),
    "alt_test_advantage": Statistic(
        "Alt-test advantage",
        "percent",
        "how often it is as near to the others as a rater",
        SHARE,
        "Calderon, Reichart, Dror 2025",
    ),
    "partial_pearson": Statistic(
        "Partial r", "correlation", "Pearson r given length", SIGNED, "Yule 1907"
    ),
    "partial_spearman": Statistic(
        "Partial ρ", "correlation", "Spearman ρ given length", SIGNED, "Yule 1907"
    ),
    "length_slope": Statistic(
        "Length slope", "amount", "points above people per doubling", ANY, OURS
    ),
    "self_preference": Statistic(
        "Self-preference", "amount", "points more for its own family", ANY, OURS
    ),
    "D": Statistic("D", "score", "as published", POSITIVE, DHP),
    "D_ew": Statistic("D_ew", "score", "as published, aspects weighted", POSITIVE, DHP),
    "D_hmp": Statistic("D_hmp", "score", "from the harmonic mean p", POSITIVE, "Wilson 2019"),
    "D_exact": Statistic(
        "D_exact", "score", "from a p that holds its level", POSITIVE, "Wilson 2019"
    ),
    "D_hmp_less_ew": Statistic(
        "D_ew uniform − D_ew",
        "score",
        "D_ew of uniform weights (D less log_20 of the number of aspects) less that of experts' "
        "weights, both of the asymptotic p; above 0: the aspects that experts name show less",
        ANY,
        DHP,
    ),
    "D_avg": Statistic("D_avg", "score", "average over perturbations, as published", POSITIVE, DHP),
    "D_avg_ew": Statistic("D_avg_ew", "score", "average, aspects weighted", POSITIVE, DHP),
    "D_avg_exact": Statistic("D_avg_exact", "score", "average of D_exact", POSITIVE, OURS),
    "D_min": Statistic("D_min", "score", "hardest perturbation, as published", POSITIVE, DHP),
    "D_min_ew": Statistic(
        "D_min_ew", "score", "hardest perturbation, aspects weighted", POSITIVE, DHP
    ),
    "D_min_exact": Statistic(
        "D_min_exact", "score", "hardest perturbation by D_exact", POSITIVE, OURS
    ),
    "score_mean": Statistic(
        "Mean score", "score", "in points of the judge, of texts' means over aspects", ANY, DHP
    ),
    "score_share": Statistic(
        "Share of texts", "percent", "whose mean over aspects lies in bin k of 20", SHARE, DHP
    ),
    "range_bottom": Statistic(
        "Bottom of the range", "amount", "of its scale, else the lowest score", ANY, OURS
    ),
    "range_top": Statistic(
        "Top of the range", "amount", "of its scale, else the highest score", ANY, OURS
    ),
    "rank_biserial": Statistic(
        "Rank-biserial correlation", "correlation", "effect size", SIGNED, "Kerby 2014"
    ),
    "mean_drop": Statistic(
        "Mean drop", "amount", "original minus damaged, in points of the judge", ANY, OURS
    ),
    "net_share": Statistic(
        "Net share noticed",
        "percent",
        "items scored lower for the damage less items scored higher",
        SIGNED,
        "Tango 1998",
    ),
    "p_wilcoxon": Statistic(
        "p", "p_value", "exact one-sided Wilcoxon test", SHARE, "Wilcoxon 1945"
    ),
    "p_scipy": Statistic(
        "p, as published", "p_value", "one-sided Wilcoxon test as scipy has it", SHARE, DHP
    ),
    "p_holm": Statistic(
        "Holm-adjusted p", "p_value", "one-sided Wilcoxon test", SHARE, "Holm 1979"
    ),
    "p_fdr": Statistic(
        "FDR-adjusted p",
        "p_value",
        "over a judge's wanted drops",
        SHARE,
        "Benjamini, Hochberg 1995",
    ),
    "p_tost": Statistic(
        "Equivalence p", "p_value", "that a drop is not within the margin", SHARE, "Schuirmann 1987"
    ),
    "items_needed": Statistic(
        "Items needed",
        "amount",
        "to show that a drop of 0 is within the margin",
        "2 and above",
        "Julious 2004",
    ),
    "delta": Statistic(
        "Δ", "amount", "mean of original minus damaged, in points of the judge", ANY, CONFUSION
    ),
    "floor_share": Statistic(
        "At the floor", "percent", "originals that cannot drop any further", SHARE, OURS
    ),
    "s_t_mean": Statistic("S_T", "amount", "mean drop where one is wanted", ANY, CONFUSION),
    "s_f_mean": Statistic("S_F", "amount", "mean drop where none is wanted", ANY, CONFUSION),
    "confusion_index": Statistic(
        "Confusion index", "amount", "unwanted drop over wanted drop; 0 is best", ANY, OURS
    ),
    "confusion_auc": Statistic(
        "AUC", "correlation", "probability that a wanted drop exceeds an unwanted one", SHARE, OURS
    ),
    "wanted_shown": Statistic(
        "Wanted drops shown", "percent", "of those with an adjusted p of at most .05", SHARE, OURS
    ),
    "unwanted_no_drop": Statistic(
        "Unwanted: no drop", "percent", "shown to be within the margin", SHARE, OURS
    ),
    "unwanted_drop": Statistic("Unwanted: drop", "percent", "shown to be a drop", SHARE, OURS),
    "unwanted_undecided": Statistic(
        "Unwanted: undecided", "percent", "neither is shown", SHARE, OURS
    ),
    "follows_other": Statistic(
        "Follows another aspect",
        "percent",
        "aspects that go more with people's ratings of another",
        SHARE,
        CONFUSION,
    ),
    "alpha_draws": Statistic(
        "α over draws", "correlation", "the draws as raters", UP_TO_1, "Krippendorff 2011"
    ),
    "flip_rate": Statistic("Flips", "percent", "texts of which two draws differ", SHARE, OURS),
    "tied_modes": Statistic(
        "Tied modes", "percent", "texts without one most frequent rating", SHARE, OURS
    ),
    "reliability": Statistic(
        "Reliability", "correlation", "of one draw, ICC(1)", UP_TO_1, "Shrout, Fleiss 1979"
    ),
    "draws_needed": Statistic(
        "Draws needed",
        "amount",
        "for 95 % of the attainable",
        "1 and above",
        "Spearman 1910, Brown 1910",
    ),
    "attainable_share": Statistic(
        "Share of the attainable",
        "percent",
        "correlation with k draws, of that with any number",
        SHARE,
        "Spearman 1910, Brown 1910",
    ),
    "order_consistency": Statistic(
        "Consistent", "percent", "same verdict in both orders", SHARE, "paper 002"
    ),
    "first_position_rate": Statistic("First chosen", "percent", "of decided votes", SHARE, OURS),
    "nontransitive_share": Statistic(
        "Circles", "percent", "of decided triples", SHARE, "Kendall, Babington Smith 1940"
    ),
    "accuracy_comparison": Statistic(
        "Right", "percent", "as people do; a tie is wrong", SHARE, "paper 002"
    ),
    "accuracy_comparison_half": Statistic(
        "Right, ties half", "percent", "a tie is half right", SHARE, OURS
    ),
    "accuracy_comparison_apart": Statistic(
        "Right at k",
        "percent",
        "of two texts in a row that are compared, k errors apart; a tie is wrong",
        SHARE,
        "paper 002, 5.4",
    ),
    "accuracy_adjacent": Statistic(
        "Ordered right",
        "percent",
        "neighbours of a known order: better text scored higher; tie and missing are wrong",
        SHARE,
        "paper 002, 3.2",
    ),
    "accuracy_adjacent_half": Statistic(
        "Ordered right, ties half",
        "percent",
        "the same; a tie is half right, a missing score left out",
        SHARE,
        OURS,
    ),
    "accuracy_adjacent_complete": Statistic(
        "Ordered right, both scored",
        "percent",
        "the same; a tie is wrong, a missing score left out",
        SHARE,
        OURS,
    ),
    "accuracy_apart": Statistic(
        "Ordered right at k",
        "percent",
        "texts k places apart; at 1 it is accuracy_adjacent",
        SHARE,
        "paper 002, 5.4",
    ),
    "accuracy_places": Statistic(
        "Ordered right, k and k_b",
        "percent",
        "texts at the places k and k_b of a row, 0 the original",
        SHARE,
        "paper 002, figure 5",
    ),
    "class_count": Statistic(
        "Texts",
        "amount",
        "of class k, as people or a graded set have it, in the judge's k_b; 0 is left out",
        POSITIVE,
        "paper 002, table 4 and figure 4",
    ),
    "tie_rate": Statistic("Ties", "percent", "pairs without a verdict", SHARE, OURS),
    "vote_consistency": Statistic(
        "Votes agree",
        "percent",
        "most frequent option's share of a pair's votes; cannot decide never wins",
        SHARE,
        "paper 001, C.3.2",
    ),
    "match_vote_vote": Statistic(
        "Match, vote by pair",
        "percent",
        "perturbations and aspects of which people find what is expected, one vote a pair",
        SHARE,
        "paper 001, table 18",
    ),
    "match_vote_all": Statistic(
        "Match, all votes",
        "percent",
        "perturbations and aspects of which people find what is expected, all votes together",
        SHARE,
        "paper 001, table 18",
    ),
    "reevaluation_agreement": Statistic(
        "Found again",
        "percent",
        "people's judgments that name the text known to be better (no difference names none), or "
        "a text's known rating",
        SHARE,
        "paper 002, A.1 and C.3",
    ),
    "reevaluation_no_difference": Statistic(
        "No difference", "percent", "people's judgments that see none", SHARE, OURS
    ),
    "reevaluation_distance": Statistic(
        "Distance of ratings",
        "amount",
        "people's mean distance from a text's known rating, in steps of the scale",
        POSITIVE,
        OURS,
    ),
    "notice_rate": Statistic(
        "Faults noticed", "percent", "scored below the good text", SHARE, OURS
    ),
    "miss_rate": Statistic(
        "Faults missed", "percent", "scored no lower than the good text", SHARE, OURS
    ),
    "edits": Statistic("Edits", "amount", "mean number per text", POSITIVE, OURS),
    "edit_distance": Statistic(
        "Edit distance", "amount", "mean Levenshtein distance", POSITIVE, "Levenshtein 1966"
    ),
    "coverage": Statistic("Coverage", "percent", "planned judgments that can be used", SHARE, OURS),
    "replies": Statistic("Replies", "amount", "replies of a model", POSITIVE, OURS),
    "prompt_tokens": Statistic(
        "Prompt tokens", "amount", "as the endpoint counted", POSITIVE, OURS
    ),
    "completion_tokens": Statistic(
        "Completion tokens", "amount", "as the endpoint counted", POSITIVE, OURS
    ),
    "reasoning_tokens": Statistic(
        "Reasoning tokens", "amount", "part of the completion tokens", POSITIVE, OURS
    ),
    "cached_tokens": Statistic(
        "Cached tokens", "amount", "part of the prompt tokens, from a cache", POSITIVE, OURS
    ),
    "usd_per_1000": Statistic(
        "US dollars per 1,000", "amount", "price of 1,000 judgments with a value", POSITIVE, OURS
    ),
    "usd": Statistic(
        "US dollars", "amount", "tokens by the prices of the model card", POSITIVE, OURS
    ),
    **CONSTRUCTED,
    **ROBUST,
    **VALID,
    **ENSEMBLE,
    **TRAINED,
    **ANNOTATED,
    **CLAIMED,
}


@cache
def statistic(name: str) -> Statistic:
    """Return what a name of a result table means; KeyError for a name that is not listed."""
    if name in STATISTICS:
        return STATISTICS[name]
    for prefix in sorted(OF_OTHERS, key=len, reverse=True):
        if name.startswith(prefix + "_"):
            rest = name.removeprefix(prefix + "_")
            own, of = OF_OTHERS[prefix], STATISTICS.get(rest)
            label = own.label.format(of.label if of else rest.replace("_", " "))
            apart = prefix in APART and of is not None and of.kind == "correlation"
            return own._replace(label=label, kind="correlation" if apart else own.kind)
    raise KeyError(name)


def scale_of(name: str) -> Scale:
    """Return on which scale a statistic's intervals and tests are; KeyError as in `statistic`.

    That of SCALES; else a correlation of range -1 to 1 is on atanh, a share of things a binomial
    proportion, and all else as it is, cut to its range.
    """
    if name in SCALES:
        return SCALES[name]
    known = statistic(name)
    if known.range == SIGNED:
        return CORRELATION if known.kind == "correlation" else Scale("plain", -1.0, 1.0)
    by_range = {SHARE: PROPORTION, UP_TO_1: Scale("plain", high=1.0)}
    return by_range.get(known.range, Scale("plain", low=0.0) if known.range == POSITIVE else PLAIN)
