"""Which aspects, and which wordings of one, a judge distinguishes; people's ratings
beside it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa

from judgescope.core.cells import joined, split
from judgescope.methods.aligned_values import aligned
from judgescope.methods.base import HUMAN, Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers, with_rule
from judgescope.methods.measures import pearson
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.result import Estimate

SYSTEMS = "systems"


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of criteria.csv: Pearson's r of every two aspects, or wordings of
    one.
    """
    rated = SYSTEMS in data.spec.targets and data.spec.ratings != "none"
    if rated:
        yield from _pairs(data.systems, HUMAN, _people(data.systems), SYSTEMS)
    for judge in data.spec.judges:
        if rated:
            targets = data.rated(judge)[-1]
            each = ((name, targets.scores(judge, name)) for name in data.spec.aspects)
            scores = {name: values for name, values in each if values is not None}
            yield from _pairs(targets, judge, scores, SYSTEMS)
            yield from _with_people(targets, judge, scores)
        if data.spec.perturbed:
            yield from _perturbed_pairs(data, judge)


def _people(targets: TargetSet) -> dict[str, Floats]:
    """Return aspect -> people's value of each text, each aspect once whatever its
    wordings.
    """
    names = dict.fromkeys(split(name)[0] for name in targets.study.spec.aspects)
    return {
        name: gold_numbers(targets.study, targets.ratings(name)).values
        for name in names
        if len(targets.ratings(name))
    }


def _perturbed_pairs(data: EvaluationData, judge: str) -> Iterator[ResultRow]:
    """Yield r of every two aspects over originals and all their perturbed copies
    together.
    """
    sets = ["original", *data.perturbed]
    tables = [data.target_set(name).rows for name in sets]
    # The sets of targets: rated texts of systems, and originals with all their
    # perturbed copies.
    all_texts = "all"
    targets = TargetSet(
        data, all_texts, pa.concat_tables(tables).sort_by("target")
    ).given(judge)
    scores = {}
    for aspect in data.spec.aspects:
        values: dict[str, float] = {}
        for name in sets:
            values |= data.score_values.get((name, judge, aspect), {})
        if values:
            scores[aspect] = aligned(values, targets.targets)
    yield from _pairs(targets, judge, scores, all_texts)


def _pairs(
    targets: TargetSet, judge: str, scores: Mapping[str, Floats], texts: str
) -> Iterator[ResultRow]:
    """Yield r of every two aspects in one wording, and of every two wordings of one
    aspect.
    """
    for first, second in combinations(scores, 2):
        aspect, criterion = split(first)
        aspect_b, criterion_b = split(second)
        if (aspect == aspect_b) == (criterion == criterion_b):
            continue
        columns: AppliesTo = {
            "aspect_b": aspect_b,
            "criterion_b": criterion_b,
            "perturbation": texts,
        }
        r = pearson(targets, scores[first], scores[second])
        yield targets.study.row(judge, first, "pearson", "pooled", r, **columns)


def _with_people(
    targets: TargetSet, judge: str, scores: Mapping[str, Floats]
) -> Iterator[ResultRow]:
    """Yield r of every aspect of the judge with every one of people.

    And the share of the judge's aspects that correlate more with another aspect of
    people.
    """
    study = targets.study
    people = _people(targets)
    columns: AppliesTo = {"judge_b": HUMAN, "perturbation": SYSTEMS}
    crossed: dict[str | None, list[bool]] = {}
    missing = Counter[str | None]()
    for name, values in scores.items():
        aspect, criterion = split(name)
        r = {
            other: with_rule(study, pearson(targets, values, ratings))
            for other, ratings in people.items()
        }
        for other, estimate in r.items():
            yield study.row(
                judge,
                name,
                "pearson",
                "pooled",
                estimate,
                **columns | {"aspect_b": other},
            )
        known = {
            other: result.value
            for other, result in r.items()
            if result.value is not None
        }
        if aspect in known and len(known) > 1:
            crossed.setdefault(criterion, []).append(
                known[aspect] < max(known.values())
            )
        elif aspect in people:
            missing[criterion] += 1
    for criterion, each in crossed.items():
        method = (
            "share of aspects whose r with people's ratings is higher for another "
            "aspect"
        )
        n = len(each)
        n_missing = missing[criterion]
        share = Estimate(float(np.mean(each)), n=n, n_missing=n_missing, method=method)
        yield study.row(
            judge,
            joined("", criterion),
            "cross_aspect_share",
            "pooled",
            share,
            **columns,
        )


METHOD = Method(name="criteria", rows=rows)
