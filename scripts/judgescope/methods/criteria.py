"""Which aspects, and which wordings of one, a judge keeps apart; people's ratings beside it."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import mean_rating
from judgescope.statistics.correlation import correlations
from judgescope.statistics.result import Estimate

HUMAN, SYSTEMS, TEXTS = "human", "systems", "all"
"""The people; the sets of targets: rated texts of systems, and originals with all their damage."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of criteria.csv: Pearson's r of every two aspects, or wordings of one."""
    found: list[Row] = []
    rated = SYSTEMS in study.spec.targets and study.spec.ratings != "none"
    if rated:
        found += _pairs(study, study.systems, HUMAN, people(study.systems), SYSTEMS)
    for judge in study.spec.judges:
        if rated:
            panel = study.rated(judge).popitem()[1]
            own = scores(panel, judge)
            found += _pairs(study, panel, judge, own, SYSTEMS)
            found += _with_people(study, panel, judge, own)
        if study.spec.perturbed:
            panel = texts(study).given(judge)
            found += _pairs(study, panel, judge, _of_texts(panel, judge), TEXTS)
    return found


def people(panel: TargetSet) -> dict[str, Floats]:
    """Return aspect -> people's mean ratings, each aspect once whatever its wordings."""
    names = dict.fromkeys(split(name)[0] for name in panel.study.spec.aspects)
    return {name: mean_rating(panel.ratings(name)) for name in names if len(panel.ratings(name))}


def scores(panel: TargetSet, judge: str) -> dict[str, Floats]:
    """Return aspect -> a judge's scores of a panel's targets."""
    told = {name: panel.scores(judge, name) for name in panel.study.spec.aspects}
    return {name: values for name, values in told.items() if values is not None}


def texts(study: EvaluationData) -> TargetSet:
    """Return originals and all their damage as one panel."""
    import pyarrow as pa

    damaged = [f"{name}.{degree}" for name, degree, _ in study.spec.perturbed]
    panels = [study.panel(name) for name in ("original", *damaged)]
    return TargetSet(study, TEXTS, pa.concat_tables([one.rows for one in panels]).sort_by("target"))


def _of_texts(panel: TargetSet, judge: str) -> dict[str, Floats]:
    """Return aspect -> scores of originals and damage, whose cells are files of their own."""
    study = panel.study
    sets = ["original", *(f"{name}.{degree}" for name, degree, _ in study.spec.perturbed)]
    found = {}
    for aspect in study.spec.aspects:
        cells = [study.score_values.get((name, judge, aspect), {}) for name in sets]
        merged: dict[str, float] = {key: value for cell in cells for key, value in cell.items()}
        if merged:
            found[aspect] = np.array([merged.get(name, np.nan) for name in panel.targets])
    return found


def _pairs(
    study: EvaluationData, panel: TargetSet, judge: str, own: Mapping[str, Floats], which: str
) -> Iterator[Row]:
    """Yield r of every two aspects in one wording, and of every two wordings of one aspect."""
    for one, other in combinations(own, 2):
        (aspect, criterion), (aspect_b, criterion_b) = split(one), split(other)
        if (aspect == aspect_b) == (criterion == criterion_b):
            continue
        place = {"aspect_b": aspect_b, "criterion_b": criterion_b, "perturbation": which}
        found = _pearson(panel, own[one], own[other])
        yield study.row(judge, one, "pearson", "pooled", found, **place)


def _with_people(
    study: EvaluationData, panel: TargetSet, judge: str, own: Mapping[str, Floats]
) -> Iterator[Row]:
    """Yield r of every aspect of the judge with every one of people, and how many go astray."""
    rated = people(panel)
    place = {"judge_b": HUMAN, "perturbation": SYSTEMS}
    astray: dict[str | None, list[bool]] = {}
    for name, values in own.items():
        aspect, criterion = split(name)
        told = {other: _pearson(panel, values, theirs) for other, theirs in rated.items()}
        for other, found in told.items():
            yield study.row(judge, name, "pearson", "pooled", found, aspect_b=other, **place)
        known = {other: one.value for other, one in told.items() if one.value is not None}
        if aspect in known and len(known) > 1:
            best = max(known.values())
            astray.setdefault(criterion, []).append(known[aspect] < best)
    for criterion, each in astray.items():
        told_of = "share of aspects whose r with people is higher for another aspect"
        found = Estimate(float(np.mean(each)), n=len(each), method=told_of)
        own_place = {"criterion": criterion} if criterion else {}
        yield study.row(judge, "", "follows_other", "pooled", found, **place, **own_place)


def _pearson(panel: TargetSet, x: Floats, y: Floats) -> Estimate:
    found = correlations(
        x,
        y,
        panel.source,
        panel.system,
        weights=panel.study.weights,
        statistics=["pearson"],
        levels=["pooled"],
    )
    return found["pearson", "pooled"].estimate


METHOD = Method()
