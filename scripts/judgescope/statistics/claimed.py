"""Statistics of table `verdicts`: the p-values of a judge's claims and what they come to.

A part of the registry. Every p is one-sided and raw unless its name says otherwise.
"""

from judgescope.statistics.derived import ANY, OURS, SHARE, SIGNED, Statistic

CLAIMED: dict[str, Statistic] = {
    "verdict": Statistic(
        "Verdict",
        "amount",
        "step reached: 0 worse than chance or than length (or the bar is missed), 1 no better as "
        "far as shown, 2 better than chance, 3 as good as one more rater, 4 meets a stated bar; "
        "the note has outcome and reasons",
        "0 to 4",
        OURS,
    ),
    "p_chance": Statistic("p, chance", "p_value", "that it is no better than chance", SHARE, OURS),
    "p_length": Statistic(
        "p, length", "p_value", "that it is no better than the text's length", SHARE, OURS
    ),
    "p_brevity": Statistic(
        "p, brevity", "p_value", "that it is no better than minus the text's length", SHARE, OURS
    ),
    "p_systems": Statistic(
        "p, systems",
        "p_value",
        "that its scores are those of systems dealt out at random: the judge's columns permuted "
        "jointly over all sources",
        SHARE,
        OURS,
    ),
    "p_within": Statistic(
        "p, within sources",
        "p_value",
        "that its scores are dealt out at random among the texts of a source",
        SHARE,
        OURS,
    ),
    "p_lost": Statistic(
        "p, lost replies",
        "p_value",
        "that it is no better with the lost judgments at the worst end",
        SHARE,
        OURS,
    ),
    "p_bar": Statistic("p, bar", "p_value", "that it is below the stated bar", SHARE, OURS),
    "p_rater": Statistic(
        "p, rater", "p_value", "that it is worse than one more rater by the margin", SHARE, OURS
    ),
    "p_index": Statistic(
        "p, index", "p_value", "that it takes off no less where nothing should drop", SHARE, OURS
    ),
    "p_noticed": Statistic(
        "p, damage",
        "p_value",
        "that scores are no lower for the damage on any weighted aspect (0.05 to the D_exact)",
        SHARE,
        "Wilson 2019",
    ),
    "p_noticed_holm": Statistic(
        "p, damage, Holm", "p_value", "over a judge's cells of the dataset", SHARE, "Holm 1979"
    ),
    "p_shorter": Statistic(
        "p, shorter", "p_value", "that the damage does not make texts shorter", SHARE, OURS
    ),
    "p_longer": Statistic(
        "p, longer", "p_value", "that the damage does not make texts longer", SHARE, OURS
    ),
    "bar": Statistic(
        "Bar", "amount", "what the study requires; its note says whether at least", ANY, OURS
    ),
    "more_needed": Statistic(
        "More needed",
        "amount",
        "units (its method says which) that would decide on the bar, with power .8",
        "1 and above",
        OURS,
    ),
    "p_claim": Statistic(
        "p of the claim", "p_value", "the largest over its null hypotheses", SHARE, "Berger 1982"
    ),
    "p_claim_holm": Statistic(
        "p of the claim, Holm",
        "p_value",
        "after Holm's correction over the claims of one judge, dataset and kind",
        SHARE,
        "Holm 1979",
    ),
    "half_credit": Statistic(
        "Half credit",
        "percent",
        "mean over sources of (right + half of the ties) / pairs of a known order that have both "
        "scores, or a reply",
        SHARE,
        OURS,
    ),
    "span_f1_less_chance": Statistic(
        "F1 above chance",
        "percent",
        "less the mean F1 of 200 random placements of as many spans of the same lengths",
        SIGNED,
        OURS,
    ),
    "lost_share": Statistic(
        "Lost", "percent", "planned judgments of the claim without a score", SHARE, OURS
    ),
}
