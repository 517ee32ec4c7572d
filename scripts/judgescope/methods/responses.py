"""How a judge uses its scale (Wang et al. 2024, figure 2): scores of originals and
perturbed texts.

A text's score here is the mean over the aspects, next to people's for the systems'
texts.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from judgescope.methods.base import Method
from judgescope.methods.discernment import nothing_judged
from judgescope.methods.evaluation_data import EvaluationData, TargetSet, set_columns
from judgescope.methods.gold import gold_numbers, with_rule
from judgescope.methods.measures import pearson
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of responses.csv: mean scores, shares of texts by score, and
    Pearson r.
    """
    excluded = data.excluded()
    for judge in data.spec.judges:
        if data.spec.perturbed and judge not in excluded:
            yield from _judge_rows(data, judge)


def _judge_rows(data: EvaluationData, judge: str) -> Iterator[ResultRow]:
    scores = dict[str, tuple[Floats, Codes]]()
    original_set = "original"
    for name in (original_set, *data.perturbed):
        targets = data.target_set(name).given(judge)
        scores[name] = mean_score(targets, judge), targets.source
    perturbed = [scores[name][0] for name in data.perturbed]
    sources = [scores[name][1] for name in data.perturbed]
    perturbed_sets = "all"
    scores[perturbed_sets] = np.concatenate(perturbed), np.concatenate(sources)
    for name, (x, source) in scores.items():
        mean = _mean_of_set(data, judge, name, x, source)
        yield data.row(judge, "", "score_mean", "", mean, **set_columns(name))

    both = {name: scores[name] for name in (original_set, perturbed_sets)}
    all_scores = np.concatenate([scores[original_set][0], scores[perturbed_sets][0]])
    edges = _edges(data, judge, all_scores)
    if edges is not None:
        bottom = Estimate(float(edges[0]))
        top = Estimate(float(edges[-1]))
        yield data.row(judge, "", "range_bottom", "", bottom)
        yield data.row(judge, "", "range_top", "", top)
        for name, (x, source) in both.items():
            shares = histogram(x, source, edges, data.weights)
            for number, share in enumerate(shares, start=1):
                yield data.row(
                    judge, "", "score_share", "", share, perturbation=name, k=number
                )
    if data.spec.ratings != "none" and "systems" in data.spec.targets:
        yield _pearson_row(data, judge)


def _mean_of_set(
    data: EvaluationData, judge: str, name: str, x: Floats, source: Codes
) -> Estimate:
    """The mean score of a set of texts."""
    aspects = list(data.spec.aspects)
    of = "mean score"
    if len(aspects) > 1:
        of = f"mean score, of the mean over {len(aspects)} aspects"
    mean = clustered_mean(x, source, data.weights, averaged=of, ends=None).estimate
    if mean.value is None:
        return nothing_judged(data, name, judge, aspects[0])
    return mean


def _pearson_row(data: EvaluationData, judge: str) -> ResultRow:
    """Pearson's r with people's ratings, both means over all aspects."""
    targets = data.rated(judge)[-1]
    ratings = []
    for aspect in data.spec.aspects:
        numbers = gold_numbers(data, targets.ratings(aspect))
        ratings.append(numbers.values)
    people = np.mean(ratings, axis=0)
    scores = mean_score(targets, judge)
    r = with_rule(data, pearson(targets, scores, people))
    return targets.row(judge, "", "pearson", "pooled", r, perturbation="systems")


def mean_score(targets: TargetSet, judge: str) -> Floats:
    """Return each target's mean over the aspects, NaN where one has no score; shape
    (targets,).
    """
    judged = list[Floats]()
    for aspect in targets.study.spec.aspects:
        scores = targets.scores(judge, aspect)
        if scores is not None:
            judged.append(scores)
    return np.mean(judged, axis=0) if judged else np.full(len(targets.targets), np.nan)


def histogram(
    x: Floats, source: Codes, edges: Floats, weights: Weights
) -> Iterator[Estimate]:
    """Yield per bin the share of the scores x (targets,) in it; the last bin has its
    upper edge.
    """
    bins = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    for number, (low, high) in enumerate(pairwise(edges)):
        hits = np.where(np.isnan(x), np.nan, bins == number)
        last = number == len(edges) - 2
        of = f"share of texts in [{low:.6g}, {high:.6g}{']' if last else ')'}"
        yield clustered_mean(hits, source, weights, averaged=of).estimate


def _edges(data: EvaluationData, judge: str, x: Floats) -> Floats | None:
    """Return the bins' edges: between the ends of the judge's one scale, else of its
    scores.
    """
    given = x[np.isfinite(x)]
    if not given.size:
        return None
    scales = set(data.spec.judges[judge].ends.values())
    scale = None
    if len(scales) == 1:
        scale = scales.pop()
    low, high = scale or (given.min(), given.max())
    low = min(low, given.min())
    high = max(high, given.max())
    if high <= low:
        low, high = low - 0.5, low + 0.5
    bins = 20
    return np.linspace(low, high, bins + 1)


METHOD = Method(name="responses", rows=rows)
