"""The measures by which the literature reports agreement, of every judge.

Tables `agreement`, `labels` and `pairwise` have them of a study, beside much else.
`judgescope audit` needs these alone: `rows` computes them by the same functions, in
seconds for thousands of sources. See docs/methods.md, "Agreement".
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from judgescope.methods import pair_verdicts
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import label_aspects, labelled, truth_name, truth_of
from judgescope.methods.measures import (
    BY_SOURCE,
    BY_SYSTEM,
    POOLED,
    WITHIN_SOURCE,
    LevelStatistic,
    against,
    beside_correlations,
    correlated,
    with_hint_note,
)
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.correlation import leaving_out, shared
from judgescope.statistics.labels import on_labels
from judgescope.statistics.order import comparison_accuracy
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, replicated

TABLE: Final = "literature"
OF_RATINGS: Final[tuple[tuple[str, tuple[LevelStatistic, ...]], ...]] = (
    (
        "summary level",
        (
            ("spearman", BY_SOURCE),
            ("kendall_b", BY_SOURCE),
            ("pearson", BY_SOURCE),
        ),
    ),
    ("pooled", (("spearman", POOLED), ("pearson", POOLED))),
    (
        "system level",
        (("kendall_b", BY_SYSTEM), ("pearson", BY_SYSTEM), ("spa", BY_SYSTEM)),
    ),
    ("", (("acc_eq", BY_SOURCE),)),
    ("", (("pdp_pairs", WITHIN_SOURCE),)),
    (
        "systems held constant",
        (
            ("partial_by_system_spearman", POOLED),
            ("partial_by_system_pearson", POOLED),
        ),
    ),
)
"""The group of measures in the literature's words -> the statistics and levels."""
OF_LABELS: Final = (
    "label_accuracy",
    "balanced_accuracy",
    "kappa_nominal",
    "f1",
    "f1_macro",
    "mcc",
)
OF_PAIRS: Final = (
    "accuracy_comparison_half",
    "accuracy_comparison",
    "accuracy_comparison_decided",
)
"""The same pairs under three rules for ties."""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the measures of every judge, of ratings, labels and pairs."""
    labels = label_aspects(data)
    for judge in data.spec.judges:
        targets = data.shared_targets(judge).given(judge)
        for aspect in data.spec.aspects:
            scores = targets.scores(judge, aspect)
            if scores is None or not len(targets.ratings(aspect)):
                continue
            if aspect in labels:
                results = _of_labels(targets, judge, aspect, scores)
            else:
                people = gold_numbers(data, targets.ratings(aspect))
                correlations = of_ratings(targets, scores, people.values)
                results = {
                    measure: people.named(result)
                    for measure, result in correlations.items()
                }
            for (statistic, level), result in results.items():
                row = targets.row(judge, aspect, statistic, level, result.estimate)
                yield with_hint_note(data, row)
    yield from _of_pairs(data)


def of_ratings(
    targets: TargetSet, x: Floats, y: Floats
) -> dict[LevelStatistic, Replicated]:
    """The measures of a judge's scores x with people's ratings y, (texts,) each.

    They equal those of table `agreement` to the bit.
    """
    results = correlated(targets, x, y, levels=["by_source", "by_system"])
    results |= correlated(targets, x, y, statistics=["pearson"], levels=["pooled"])
    results["spearman", POOLED] = _pooled_spearman(targets, x, y)
    results |= beside_correlations(targets, x, y)
    shown = dict[LevelStatistic, Replicated]()
    for _, group in OF_RATINGS:
        for measure in group:
            if measure in results:
                shown[measure] = results[measure]
    return shown


def _pooled_spearman(targets: TargetSet, x: Floats, y: Floats) -> Replicated:
    """Spearman's rho over all texts, without the weights of thousands of sources."""
    n_sources = len(targets.study.item_order)
    values, why = leaving_out(x, y, targets.source, n_sources)
    both = ~(np.isnan(x) | np.isnan(y))
    return replicated(
        values,
        why,
        sizes=np.bincount(targets.source[both], minlength=n_sources),
        scale=scale_of("spearman"),
        n=int(both.sum()),
        n_missing=int((~both).sum()),
        n_tied=shared(x[both]),
    )


def _of_labels(
    targets: TargetSet, judge: str, aspect: str, scores: Floats
) -> dict[LevelStatistic, Replicated]:
    study = targets.study
    gold = truth_of(study, aspect)(targets.ratings(aspect))
    codes, _ = labelled(targets, judge, aspect, scores, gold)
    if codes is None:
        return {}
    q = len(study.spec.aspects[aspect].labels)
    results = on_labels(gold, codes, q, targets.source, study.weights)
    which = truth_name(study, aspect)
    return {
        (name, POOLED): against(results[name], which)
        for name in OF_LABELS
        if name in results
    }


def _of_pairs(data: EvaluationData) -> Iterator[ResultRow]:
    """The shares of pairs of systems' texts that a judge orders as people do."""
    every = pair_verdicts.votes_of(data) | pair_verdicts.scored_votes(data)
    for (perturbation, judge, aspect), votes in every.items():
        if perturbation != "systems" or judge not in data.spec.judges:
            continue
        targets = data.target_set(perturbation).given(judge)
        pairs = pair_verdicts.judged(targets, judge, aspect, votes)
        if pairs.in_chain or not pairs.rated:
            continue
        shares = comparison_accuracy(
            pairs.verdict, np.sign(pairs.ahead), pairs.source, data.weights
        )
        for name in OF_PAIRS:
            row = data.row(judge, aspect, name, POOLED, shares[name])
            yield with_hint_note(data, row)
