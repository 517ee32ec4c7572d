"""How far a grader marks the criteria of a rubric as experts do."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.api import plain_signature
from judgescope.api.arguments import (
    check_indexes,
    check_lengths,
    estimates_frame,
    label_codes,
    read_column,
    read_columns,
)
from judgescope.methods.rubric_numbers import (
    Rubric,
    RubricNumber,
    expert_numbers,
    grader_numbers,
)
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.result import Estimate
from judgescope.statistics.rubrics import NO_POINTS, RubricCases


@plain_signature
def rubrics(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    response: ArrayLike,
    criterion: ArrayLike,
    points: ArrayLike | None = None,
    source: ArrayLike | None = None,
    system: ArrayLike | None = None,
    theme: ArrayLike | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return a grader's numbers on a rubric, a row of the table being a criterion of a
    response.

    Over all rows: rubric_balanced_accuracy, rubric_f1 (HealthBench's macro F1, a case
    is a verdict with one expert's label), rubric_tpr, rubric_tnr, as_rater_… beside one
    more expert. Of responses: rubric_score with unread verdicts left out and
    rubric_score_unmet, normal_scores or spearman, rubric_error. Of each criterion the
    first of these minus the rest's, with Holm's p. Rows of `experts` are their own.

    judge: (rows,), 1 met, 0 unmet, NaN not read; human: (rows,) or (rows, experts), NaN
    no label; response, criterion: (rows,), any labels; points: (rows,), negative for a
    fault, default 1; source: (rows,), what responses answer, default the response;
    system, theme: (rows,). ValueError: another value than 0, 1 and NaN, no positive
    points, a response of two sources or systems, a criterion of two themes, a criterion
    twice in a response.

    >>> rng = np.random.default_rng(1)
    >>> response, criterion = np.divmod(np.arange(400), 4)
    >>> human = (rng.random((400, 2)) < 0.5).astype(float)
    >>> judge = np.where(criterion == 2, rng.random(400) < 0.5, human[:, 0])
    >>> found = rubrics(judge, human, response=response, criterion=criterion)
    >>> round(found.loc[("judge", "rubric_unread", ""), "value"].item(), 3)
    0.0
    """
    check_indexes(judge, human, response, criterion, points, source, system, theme)
    verdicts = _marks(read_column(judge, "judge"), "judge")
    labels = _marks(read_columns(human, "human"), "human").T
    size = verdicts.size
    worth = np.ones(size) if points is None else read_column(points, "points")
    if not (worth > 0).any() or np.isnan(worth).any():
        raise ValueError(f"points must be numbers, some above 0: {NO_POINTS}")
    responses = label_codes(response, size, "response")
    criteria = label_codes(criterion, size, "criterion")
    sources = responses
    if source is not None:
        sources = label_codes(source, size, "source")
    if system is None:
        systems = np.zeros(size, dtype=np.int64)
    else:
        systems = label_codes(system, size, "system")
    check_lengths(
        judge=size, human=labels.shape[1], points=worth.size, response=responses.size,
        criterion=criteria.size, source=sources.size, system=systems.size,
    )  # fmt: skip
    if len({*zip(responses.tolist(), criteria.tolist(), strict=True)}) < size:
        raise ValueError("a criterion stands twice in a response")
    names = _names(criterion)
    cases = RubricCases(
        response=responses,
        criterion=criteria,
        points=worth,
        experts=labels,
        grader=verdicts,
        source=_of_group(sources, responses, "source", "response"),
        system=_of_group(systems, responses, "system", "response"),
    )
    rubric = Rubric(
        cases,
        criteria=names,
        systems=[] if system is None else _names(system),
        themes=_themes(theme, criteria, len(names)),
        shuffle=lambda: np.random.default_rng(seed),
        sources=int(sources.max(initial=-1)) + 1,
    )
    rows: dict[tuple[str, str, str], Estimate] = {}
    for number in expert_numbers(rubric):
        rows["experts", number.statistic, _part(rubric, number)] = number.estimate
    for number in grader_numbers(rubric):
        rows["judge", number.statistic, _part(rubric, number)] = number.estimate
    return _frame(rows)


def _themes(theme: ArrayLike | None, criteria: Codes, n_criteria: int) -> list[str]:
    """The theme of each criterion, "" without themes; `criteria`: that of each row."""
    if theme is None:
        return [""] * n_criteria
    of_rows = label_codes(theme, criteria.size, "theme")
    codes = _of_group(of_rows, criteria, "theme", "criterion")
    names = _names(theme)
    return [names[code] for code in codes]


def _marks(values: Floats, name: str) -> Floats:
    known = values[np.isfinite(values)]
    if not np.isin(known, (0.0, 1.0)).all():
        other = known[~np.isin(known, (0.0, 1.0))][0]
        raise ValueError(f"{name} must be 1 (met), 0 (unmet) or NaN, not {other:g}")
    return values


def _names(labels: ArrayLike) -> list[str]:
    """The labels, as `label_codes` numbers them."""
    _, names = pd.factorize(pd.Series(labels), sort=True)
    return list(map(str, names))


def _of_group(codes: Codes, group: Codes, what: str, whole: str) -> Codes:
    """The code of each group, (groups,); ValueError for a group with two."""
    of_group = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    of_group[group] = codes
    if (of_group[group] != codes).any():
        raise ValueError(f"a {whole} has two values of {what}")
    return of_group


def _part(rubric: Rubric, number: RubricNumber) -> str:
    """The criterion, theme or system of a number, "" for the whole rubric."""
    if number.criterion is not None:
        return f"criterion: {rubric.criteria[number.criterion]}"
    if number.theme:
        return f"theme: {number.theme}"
    if number.system is not None:
        return f"system: {rubric.systems[number.system]}"
    return ""


def _frame(rows: dict[tuple[str, str, str], Estimate]) -> pd.DataFrame:
    joined = {}
    for (who, statistic, part), estimate in rows.items():
        joined[who, f"{statistic}\n{part}"] = estimate
    frame = estimates_frame(joined, ["by", "place"])
    frame.index = pd.MultiIndex.from_tuples([*rows], names=["by", "statistic", "part"])
    return frame
