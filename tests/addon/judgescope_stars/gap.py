"""Distance of judges from people."""

from collections.abc import Iterator

from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.raters import mean_rating

from . import distance as distance


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield per judge and aspect the mean distance from people's ratings."""
    for judge in data.spec.judges:
        for texts in data.rated(judge):
            for aspect in data.spec.aspects:
                scores, ratings = texts.scores(judge, aspect), texts.ratings(aspect)
                if scores is None or not len(ratings):
                    continue
                gap = abs(scores - mean_rating(ratings))
                mean = clustered_mean(gap, texts.source, data.weights, ends=None)
                yield texts.row(judge, aspect, "star_distance", "pooled", mean.estimate)


METHOD = Method(name="star_gap", rows=rows, selectable=True, texts=("systems",))
