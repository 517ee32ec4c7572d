"""How far a grader marks the criteria of a rubric as experts do: table rubrics.

A criterion is an aspect with two labels, of which the last says that it is met. The
study's key `rubrics` gives its points.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods.base import HUMAN, Method, present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.labels import label_aspects, labelled, truth_of
from judgescope.methods.measures import why_not_of_people
from judgescope.methods.rubric_numbers import (
    Rubric,
    RubricNumber,
    expert_numbers,
    grader_numbers,
)
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.labels import NO_LABEL
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.result import Estimate
from judgescope.statistics.rubrics import NO_POINTS, RubricCases

ONE_POINT: Final = "every criterion has one point: the study states no points"
NO_CRITERIA: Final = "no aspect with two labels that people rated is a criterion"


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of rubrics.csv: experts' numbers, then those of every judge.

    `aspect` is the criterion, "" for the whole rubric; `system_subset` a system;
    `slice` names the criterion or theme that is compared with the rest.
    """
    points = points_of(data)
    why = why_not_of_people(data)
    if not why and not points:
        why = NO_CRITERIA
    elif not why and max(points.values()) <= 0:
        why = NO_POINTS
    if why:
        nothing = Estimate.undefined(why)
        yield data.row(HUMAN, "", "rubric_score", "pooled", nothing)
        return
    rubric = _rubric(data, data.systems, points, {})
    yield from _as_rows(data, HUMAN, points, rubric, expert_numbers(rubric))
    for judge, card in data.spec.judges.items():
        if card.engine == "control":
            continue
        targets = data.shared_targets(judge).given(judge)
        verdicts = _verdicts(targets, judge, points)
        if not verdicts:
            continue
        rubric = _rubric(data, targets, points, verdicts)
        numbers = grader_numbers(rubric, _repeatability(targets, judge, points))
        yield from _as_rows(data, judge, points, rubric, numbers)


def points_of(data: EvaluationData) -> dict[str, float]:
    """The criteria of a dataset with their points: all aspects with two labels have one
    point if the study states none, else those count that it names.
    """
    stated = data.spec.settings["rubrics"]["points"] or {}
    assert isinstance(stated, Mapping)
    points = {}
    for aspect in label_aspects(data):
        plain, criterion = split(aspect)
        if criterion or len(data.spec.aspects[aspect].labels) != 2:
            continue
        if not stated:
            points[plain] = 1.0
        elif plain in stated:
            points[plain] = float(stated[plain])
    return points


def _themes_of(data: EvaluationData, points: Iterable[str]) -> list[str]:
    themes = data.spec.settings["rubrics"]["themes"] or {}
    assert isinstance(themes, Mapping)
    return [str(themes.get(criterion, "")) for criterion in points]


def _verdicts(
    targets: TargetSet, judge: str, points: Iterable[str]
) -> dict[str, Floats]:
    """Criterion -> the judge's labels of the targets, NaN where it was not read."""
    verdicts = {}
    for criterion in points:
        scores = targets.scores(judge, criterion)
        if scores is None:
            continue
        gold = truth_of(targets.study, criterion)(targets.ratings(criterion))
        codes, _ = labelled(targets, judge, criterion, scores, gold)
        if codes is not None:
            verdicts[criterion] = np.where(codes == NO_LABEL, np.nan, codes)
    return verdicts


def _rubric(
    data: EvaluationData,
    targets: TargetSet,
    points: Mapping[str, float],
    verdicts: Mapping[str, Floats],
) -> Rubric:
    """Return the cases of a judge, or with no verdicts those of experts alone."""
    used = [name for name in points if name in verdicts or not verdicts]
    size = len(targets.targets)
    raters = sorted({r for name in used for r in data.human_ratings.get(name, {})})
    parts = []
    for code, name in enumerate(points):
        if name not in used:
            continue
        experts = _of_raters(data, targets, name, raters)
        grader = verdicts.get(name, np.full(size, np.nan))
        marked = np.isfinite(experts).any(axis=0) | np.isfinite(grader)
        response = np.flatnonzero(_applies(targets, marked))
        parts.append((code, response, experts[:, response], grader[response]))
    codes = [np.full(response.size, code) for code, response, _, _ in parts]
    criterion = np.concatenate(codes)
    weights = np.array([*points.values()])
    named = not data.spec.anonymous_systems
    cases = RubricCases(
        response=np.concatenate([part[1] for part in parts]),
        criterion=criterion,
        points=weights[criterion],
        experts=np.concatenate([part[2] for part in parts], axis=1),
        grader=np.concatenate([part[3] for part in parts]),
        source=targets.source,
        system=targets.system if named else np.zeros(size, dtype=np.int64),
    )
    return Rubric(
        cases,
        criteria=[*points],
        systems=sorted(set(targets.systems)) if named else [],
        themes=_themes_of(data, points),
        shuffle=lambda: stream(data.spec.seed, "rubric"),
        slots={"slots": True, "persons": False}.get(present(data.spec.as_rater).raters),
        sources=len(data.item_order),
    )


def _of_raters(
    data: EvaluationData, targets: TargetSet, criterion: str, raters: list[str]
) -> Floats:
    """The labels of some raters on a criterion, (raters, targets); NaN without one."""
    ratings = targets.ratings(criterion)
    mine = sorted(data.human_ratings.get(criterion, {}))
    labels = np.full((len(raters), len(targets.targets)), np.nan)
    for rater, values in zip(mine, ratings, strict=True):
        labels[raters.index(rater)] = values
    return labels


def _applies(targets: TargetSet, marked: Flags) -> Flags:
    """To which responses a criterion applies: to all of a source with a mark on one."""
    return np.isin(targets.source, targets.source[marked])


def _repeatability(
    targets: TargetSet, judge: str, points: Iterable[str]
) -> dict[int, float]:
    """Code of a criterion -> α over the judge's draws, where it has several."""
    stability = {}
    tables = targets.study.draw_tables(targets)
    for code, criterion in enumerate(points):
        draws = tables.get((judge, criterion))
        scale = targets.study.spec.aspects[criterion].values
        if draws is None or not np.isin(draws[np.isfinite(draws)], scale or []).all():
            continue
        alpha = krippendorff_alpha(
            draws, level="nominal", domain=scale, source=targets.source, weights=None
        ).estimate.value
        if alpha is not None:
            stability[code] = alpha
    return stability


def _as_rows(
    data: EvaluationData,
    judge: str,
    points: Mapping[str, float],
    rubric: Rubric,
    numbers: Iterable[RubricNumber],
) -> Iterator[ResultRow]:
    """Yield numbers as rows; that all points are one is said with the scores."""
    stated = bool(data.spec.settings["rubrics"]["points"])
    criteria = [*points]
    for number in numbers:
        columns: AppliesTo = {}
        aspect = ""
        if number.criterion is not None:
            aspect = criteria[number.criterion]
        if number.system is not None:
            columns["system_subset"] = rubric.systems[number.system]
        if number.theme:
            columns["slice"] = f"theme: {number.theme}"
        elif number.compared:
            columns["slice"] = f"criterion: {aspect}"
        estimate = number.estimate
        is_score = number.statistic.startswith("rubric_score")
        if is_score and not stated and not number.system:
            estimate = estimate.with_note(ONE_POINT)
        if judge != HUMAN:
            estimate = estimate.with_note(data.share_note(judge))
        yield data.row(
            judge, aspect, number.statistic, number.level, estimate, **columns
        )


METHOD = Method(
    name="rubrics",
    rows=rows,
    selectable=True,
    texts=("systems",),
    parts=("as_rater",),
    settings="rubrics",
    unordered="yes",
)
