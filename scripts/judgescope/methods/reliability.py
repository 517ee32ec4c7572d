"""Where the variance of people's ratings sits, and how far it limits judges: table
reliability.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN, Method, present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.rated_systems import rated_aspects
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.raters import are_slots, mean_rating
from judgescope.statistics.result import Estimate
from judgescope.statistics.variance import (
    Components,
    person_components,
    place_components,
    with_people,
)
from judgescope.statistics.variance_of_systems import (
    SystemVariance,
    plan_grid,
    rated_systems,
    system_reliability,
    systems_of_means,
)

FEWEST_COMPLETE: Final = 10
FEW_COMPLETE: Final = (
    f"fewer than {FEWEST_COMPLETE} sources have rated texts of all systems"
)


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of reliability.csv: people's components, reliability and plan,
    then judges beside their ceiling.

    `k` is the number of ratings of a text, null for that of the data; of the plan
    `k_b` is the number of sources. Controls have no rows.
    """
    # Level -> whether texts are compared within their source.
    centred_at = {"pooled": False, "by_source": True}
    for aspect, why in rated_aspects(data).items():
        if why:
            nothing = Estimate.undefined(why)
            yield data.row(HUMAN, aspect, "reliability_people", "pooled", nothing)
            continue
        ratings = data.systems.ratings(aspect)
        for level, within in centred_at.items():
            parts = components_of(data, ratings, within=within)
            if isinstance(parts, str):
                nothing = Estimate.undefined(parts)
                yield data.row(HUMAN, aspect, "reliability_people", level, nothing)
                continue
            yield from _people_rows(data, aspect, level, parts)
            yield from _judge_rows(data, aspect, level, parts)
            if not within:
                yield from _plan_rows(data, aspect, ratings, parts)


def components_of(
    data: EvaluationData, ratings: Floats, *, within: bool
) -> Components | str:
    """Return the components of the ratings of an aspect, or why there are none."""
    systems = data.systems
    declared = present(data.spec.as_rater).raters
    # With more raters few texts are shared by any two: who rated is not used.
    most_persons = 100
    places = declared == "slots" or len(ratings) > most_persons
    if declared != "persons":
        places = places or are_slots(ratings)
    components = place_components if places else person_components
    return components(ratings, systems.source, data.weights, within=within)


def _people_rows(
    data: EvaluationData, aspect: str, level: str, parts: Components
) -> Iterator[ResultRow]:
    """Yield the components, and the reliability with the data's ratings and others."""
    for name, result in parts.variances().items():
        yield data.row(HUMAN, aspect, name, level, result.estimate)
    ratings = f"{parts.k:.3g} ratings a text (harmonic mean)"
    for name, result in parts.of_people(parts.k).items():
        estimate = result.with_method(ratings).estimate
        yield data.row(HUMAN, aspect, name, level, estimate)
    for k in (1, 2, 3, 5, 10):
        for name, result in parts.of_people(k).items():
            yield data.row(HUMAN, aspect, name, level, result.estimate, k=k)


def _judge_rows(
    data: EvaluationData, aspect: str, level: str, parts: Components
) -> Iterator[ResultRow]:
    """Yield each judge's correlation with people's mean, and that without their
    noise.
    """
    for judge, card in data.spec.judges.items():
        if card.engine == "control":
            continue
        targets = data.shared_targets(judge).given(judge)
        people = mean_rating(targets.ratings(aspect))
        for name in data.spec.aspects:
            if split(name)[0] != aspect:
                continue
            scores = targets.scores(judge, name)
            if scores is None:
                continue
            results = with_people(scores, people, targets.source, parts, data.weights)
            for statistic, result in results.items():
                estimate = result.estimate.with_note(data.share_note(judge))
                yield targets.row(judge, name, statistic, level, estimate)


def _plan_rows(
    data: EvaluationData, aspect: str, ratings: Floats, parts: Components
) -> Iterator[ResultRow]:
    """Yield how reliable the order of systems is by sources and ratings a text, and
    how many ratings that takes.
    """
    by_systems = systems_of(data, ratings, parts)
    if isinstance(by_systems, str):
        nothing = Estimate.undefined(by_systems)
        yield data.row(HUMAN, aspect, "reliability_systems", "by_system", nothing)
        return
    for n, k in plan_grid(by_systems.sources, max(1, round(parts.k))):
        count = Estimate(float(n * k * by_systems.systems), n=by_systems.sources)
        results = {
            "reliability_systems": system_reliability(by_systems, n, k).estimate,
            "ratings_needed": count,
        }
        for name, estimate in results.items():
            yield data.row(HUMAN, aspect, name, "by_system", estimate, k=k, k_b=n)


def systems_of(
    data: EvaluationData, ratings: Floats, parts: Components
) -> SystemVariance | str:
    """Return the components of systems' means, or why there are none.

    Of persons who rated complete sources with the variance between raters' tastes, else
    of means by these raters.
    """
    systems = data.systems
    if data.spec.anonymous_systems or len(set(systems.systems)) < 2:
        return "the texts name no two systems"
    if parts.persons:
        tables = np.stack([_by_source(systems, rated) for rated in ratings], axis=-1)
        complete = np.isfinite(tables).all(axis=(1, 2))
        if complete.sum() >= FEWEST_COMPLETE:
            return rated_systems(tables[complete])
    means = _by_source(systems, mean_rating(ratings))
    complete = np.isfinite(means).all(axis=1)
    if complete.sum() < FEWEST_COMPLETE:
        return FEW_COMPLETE
    texts = _texts_by_source(systems, mean_rating(ratings))[complete]
    ratings_a_mean = parts.k * float(texts.size / np.sum(1 / texts))
    return systems_of_means(means[complete], float(parts.rest[0]), ratings_a_mean)


def _by_source(targets: TargetSet, values: Floats) -> Floats:
    """Return the means of sources' texts by each system, (sources, systems), NaN
    where there are none.
    """
    known = np.isfinite(values)
    counts = _texts_by_source(targets, values)
    cell = targets.source[known] * counts.shape[1] + targets.system[known]
    sums = np.bincount(cell, weights=values[known], minlength=counts.size)
    sums = sums.reshape(counts.shape)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _texts_by_source(targets: TargetSet, values: Floats) -> Codes:
    """Return the numbers of sources' texts with a value by each system, (sources,
    systems).
    """
    known = np.isfinite(values)
    n_systems = int(targets.system.max()) + 1
    cell = targets.source[known] * n_systems + targets.system[known]
    size = len(targets.study.item_order) * n_systems
    return np.bincount(cell, minlength=size).reshape(-1, n_systems)


METHOD = Method(
    name="reliability",
    rows=rows,
    selectable=True,
    texts=("systems",),
    parts=("as_rater",),
    unordered="yes",
)
