"""Which systems people and judges distinguish: two one-sided tests of every pair."""

from collections.abc import Iterator

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN, Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.methods.measures import BY_SYSTEM
from judgescope.schema.rows import ResultRow
from judgescope.statistics.accuracy import EXACT_SOURCES, system_pairs
from judgescope.statistics.arrays import Floats
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of system_pairs.csv: per pair of systems its difference and two
    p-values.

    The column `system_subset` has both systems, `first+second`. People's are those of
    their mean.
    """
    for plain, aspect in {split(name)[0]: name for name in data.spec.aspects}.items():
        ratings = data.systems.ratings(aspect)
        if len(ratings) and data.spec.aspects[aspect].ordered:
            people = gold_numbers(data, ratings).values
            yield from _rows(data.systems, HUMAN, plain, people)
    for judge in data.spec.judges:
        targets = data.shared_targets(judge).given(judge)
        for aspect in data.spec.aspects:
            if (scores := targets.scores(judge, aspect)) is not None:
                yield from _rows(targets, judge, aspect, scores)


def _rows(
    targets: TargetSet, judge: str, aspect: str, scores: Floats
) -> Iterator[ResultRow]:
    """Yield the rows of every two systems whose texts somebody scores."""
    names = sorted(set(targets.systems))
    study = targets.study
    one_sided = (
        "one-sided p for the first system being better; not corrected for the "
        "number of pairs"
    )
    ranks = "Wilcoxon rank sum, normal limit, ties corrected"
    no_source = "no source has a score of both systems"
    no_scores = "a system has no score"
    paired_method = "flips of signs by source"
    for pair in system_pairs(scores, targets.source, targets.system):
        shared = len(pair.source)
        lost = len(study.item_order) - len(pair.source)
        gap = clustered_mean(
            pair.difference, pair.source, study.weights, missing=lost, ends=None
        )
        few = np.unique(pair.source).size <= EXACT_SOURCES
        limit = "all sign patterns counted" if few else "normal limit"
        method = f"{paired_method}, {limit}, {one_sided}"
        paired = Estimate.undefined(no_source, n_missing=lost)
        if pair.paired is not None:
            paired = Estimate(pair.paired, n=shared, n_missing=lost, method=method)
        rank_sum = Estimate.undefined(no_scores)
        if pair.rank_sum is not None:
            rank_sum = Estimate(
                pair.rank_sum, n=sum(pair.sizes), method=f"{ranks}, {one_sided}"
            )
        estimates = {
            "system_difference": gap.estimate,
            "p_system_difference": paired,
            "p_system_rank_sum": rank_sum,
        }
        both = f"{names[pair.first]}+{names[pair.second]}"
        for name, estimate in estimates.items():
            yield study.row(
                judge, aspect, name, BY_SYSTEM, estimate, system_subset=both
            )


METHOD = Method(
    name="system_pairs", rows=rows, selectable=True, texts=("systems",), controls=True
)
