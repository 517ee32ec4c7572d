"""Which systems people and judges distinguish: two one-sided tests of every pair."""

from collections.abc import Iterator

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN, AppliesTo, Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import BY_SYSTEM
from judgescope.statistics.accuracy import EXACT_SOURCES, SystemPair, system_pairs
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import Estimate

ONE_SIDED = "one-sided p for the first system being better; not corrected for the number of pairs"
PAIRED = "flips of signs by source"
RANKS = "Wilcoxon rank sum, normal limit, ties corrected"
NO_SOURCE = "no source has a score of both systems"
NO_SCORES = "a system has no score"


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of system_pairs.csv: per pair of systems its difference and two p-values.

    The column `system_subset` has both systems, `first+second`. People's are those of their mean.
    """
    result = list[Row]()
    for plain, aspect in {split(name)[0]: name for name in study.spec.aspects}.items():
        ratings = study.systems.ratings(aspect)
        if len(ratings) and study.spec.aspects[aspect].ordered:
            result += _rows(study, study.systems, HUMAN, plain, mean_rating(ratings))
    for judge in study.spec.judges:
        _, panel = study.fair(judge)
        for aspect in study.spec.aspects:
            scores = panel.scores(judge, aspect)
            if scores is not None:
                result += _rows(study, panel, judge, aspect, scores)
    return result


def _rows(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, scores: Floats
) -> Iterator[Row]:
    """Yield the rows of every two systems whose texts somebody scores."""
    names = sorted(set(panel.systems))
    for pair in system_pairs(scores, panel.source, panel.system):
        columns: AppliesTo = {"system_subset": f"{names[pair.first]}+{names[pair.second]}"}
        for statistic, estimate in _estimates(study, pair):
            yield study.row(judge, aspect, statistic, BY_SYSTEM, estimate, **columns)


def _estimates(study: EvaluationData, pair: SystemPair) -> Iterator[tuple[str, Estimate]]:
    shared, lost = len(pair.source), len(study.item_order) - len(pair.source)
    gap = clustered_mean(pair.difference, pair.source, study.weights, missing=lost, ends=None)
    yield "system_difference", gap.estimate
    exact = (
        "all sign patterns counted"
        if np.unique(pair.source).size <= EXACT_SOURCES
        else "normal limit"
    )
    yield (
        "p_system_difference",
        Estimate.undefined(NO_SOURCE, n_missing=lost)
        if pair.paired is None
        else Estimate(
            pair.paired, n=shared, n_missing=lost, method=f"{PAIRED}, {exact}, {ONE_SIDED}"
        ),
    )
    yield (
        "p_system_rank_sum",
        Estimate.undefined(NO_SCORES)
        if pair.rank_sum is None
        else Estimate(pair.rank_sum, n=sum(pair.sizes), method=f"{RANKS}, {ONE_SIDED}"),
    )


METHOD = Method(selectable=True, texts=("systems",), controls=True)
