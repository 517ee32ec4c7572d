"""From judgments to tables: one row per draw, and one score per target from all its
draws.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judgescope.core.files import write_hashes
from judgescope.core.rng import stream
from judgescope.parsing.judgment import WRONG, Judgment, Scale, stand_in
from judgescope.schema.rows import ScoreRow
from judgescope.schema.tables import SCHEMAS, table_of, tuples_of, write_parts
from judgescope.scoring.specs import CellPart, Unread
from judgescope.statistics.arrays import DIGITS, Floats, decimal_mean


def mean(values: Floats) -> Floats:
    """Return each row's mean, NaN for a row without values: (targets, draws) ->
    (targets,).

    >>> mean(np.array([[4.0, 5.0, np.nan], [np.nan, np.nan, np.nan]]))
    array([4.5, nan])
    """
    counts = np.count_nonzero(~np.isnan(values), axis=1)
    return decimal_mean(np.nansum(values, axis=1), counts)


def mode(values: Floats) -> Floats:
    """Return each row's most frequent value; ties go to the nearest to the mean, then
    the lower.

    (targets, draws) -> (targets,), NaN for a row without values. Source:
    docs/methods.md, "Perspectives"; (Hu et al. 2025) broke ties at random, without a
    seed.

    >>> mode(np.array([[1.0, 1.0, 5.0], [1.0, 2.0, 5.0], [1.0, 2.0, np.nan]]))
    array([1., 2., 1.])
    """
    if not values.size:
        return np.full(len(values), np.nan)
    counts = np.zeros(values.shape, dtype=np.int32)
    for draw in values.T:
        counts += values == draw[:, None]
    tied = (counts == counts.max(axis=1, keepdims=True)) & ~np.isnan(values)
    distance = np.abs(values - mean(values)[:, None])
    # Rounded, so that two values on both sides of the mean are equally near.
    distance = np.where(tied, np.round(distance, DIGITS), np.inf)
    nearest = tied & (distance == distance.min(axis=1, keepdims=True))
    lowest = np.where(nearest, values, np.inf).min(axis=1)
    return np.where(nearest.any(axis=1), lowest, np.nan)


def first(values: Floats) -> Floats:
    """Return each row's first draw, NaN if that has no value: (targets, draws) ->
    (targets,).
    """
    if values.shape[1]:
        return values[:, 0]
    return np.full(len(values), np.nan)


def majority(values: Floats) -> Floats:
    """Return each row's most frequent value, NaN for a tie or a row without values.

    (targets, draws) -> (targets,). For labels, which have no mean. docs/methods.md,
    "From a reply to a score".

    >>> majority(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, np.nan]]))
    array([ 1., nan])
    """
    result = np.full(len(values), np.nan)
    counts = np.zeros(len(values), dtype=np.int64)
    for value in np.unique(values[~np.isnan(values)]):
        n = np.count_nonzero(values == value, axis=1)
        tied = (n == counts) & (n > 0)
        result = np.where(tied, np.nan, result)
        result = np.where(n > counts, value, result)
        counts = np.maximum(n, counts)
    return result


LOGPROB_MEAN = "logprob_mean"
LIKELIHOOD_ESTIMATORS = ("likelihood", "pmi")
"""The estimators that read the values of a text's tokens."""
MAJORITY = "majority"
ESTIMATORS: dict[str, Callable[[Floats], Floats]] = {
    "mean": mean,
    "mode": mode,
    "first": first,
    MAJORITY: majority,
    LOGPROB_MEAN: mean,  # of the expectations of single replies
    "likelihood": mean,  # of the only draw
    "pmi": mean,
}
UNIT = ("target", "target_b", "criterion")
"""The columns that identify the text or texts of a score."""
TextUnit = tuple[str, str | None, str | None]
SpanLists = Sequence[list[dict[str, Any]]]
ScoredCell = tuple[pa.Table, pa.Table]
"""The judgments and the scores of a part of a cell."""


def scores(
    values: Floats, draws: NDArray[np.int64], estimator: str
) -> tuple[Floats, Floats]:
    """Return the score of each row and the number of draws used for it, both
    (targets,).

    values: (targets, maximum draws), NaN for a draw that was not parsed or not planned;
    draws: (targets,), the number of planned draws. A score is NaN unless at least half
    of the planned draws have a value (docs/methods.md, "From a reply to a score").

    >>> values = np.array([[4.0, 5.0, np.nan], [4.0, np.nan, np.nan]])
    >>> scores(values, np.array([3, 3]), "mean")
    (array([4.5, nan]), array([2, 1]))
    """
    n_values = np.count_nonzero(~np.isnan(values), axis=1)
    combined = ESTIMATORS[estimator](values)
    return np.where(2 * n_values >= draws, combined, np.nan), n_values


def aggregated(
    answers: pa.Table,
    parsed: Sequence[Judgment],
    values: Sequence[float | None],
    *,
    part: CellPart,
    estimator: str,
    scale: Scale | None,
    unread: Unread | None = None,
    spans: SpanLists | None = None,
) -> ScoredCell:
    """Return the judgments and the scores of a part of a cell.

    `parsed` and `values` belong to the draws, one per row of `answers`. A score is
    null unless at least half of its draws have a value (docs/methods.md, "From a reply
    to a score"); a requested draw without a value gets a number only if `unread` says
    so. With the policy `wrong` a score of requested draws that is null for that reason
    has the estimator WRONG. Labels are aggregated by majority instead of the mean.
    `spans` are the errors that each draw lists, located in its text.
    """
    estimator = estimator_on(scale, estimator)
    units = tuples_of(answers, UNIT)
    rows = _scores(units, values, part, estimator)
    if unread is not None and unread.policy == "wrong":
        rows = _marked(rows, units, parsed)
    elif unread is not None and scale is not None:
        draws = answers["draw"].to_pylist()
        filled = _filled(values, parsed, units, draws, part, scale, unread)
        full = _scores(units, filled, part, estimator)
        for row, filled_row in zip(rows, full, strict=True):
            # The count of missing draws stays: a filled value was not read.
            row["value"] = filled_row["value"]
    return _judgments(answers, parsed, spans), table_of("scores", rows)


def estimator_on(scale: Scale | None, estimator: str) -> str:
    """Return how draws on a scale become a score: labels have a majority, no mean."""
    is_of_labels = scale is not None and bool(scale.words)
    if is_of_labels and estimator in {"mean", "mode"}:
        return MAJORITY
    return estimator


def _filled(
    values: Sequence[float | None],
    parsed: Sequence[Judgment],
    units: Sequence[TextUnit],
    draws: Sequence[int],
    part: CellPart,
    scale: Scale,
    unread: Unread,
) -> list[float | None]:
    """Return the values of all draws, with one of the policy for each that is missing.

    What the judge does not apply to was not requested, and is not filled.
    """
    filled = list(values)
    for row, unit in enumerate(units):
        if values[row] is None and parsed[row].status != "not_applicable":
            # One stream for each filled value, so that other rows do not matter.
            names = [name or "" for name in unit]
            rng = stream(unread.seed, "missing", *part, *names, draws[row])
            filled[row] = stand_in(unread.policy, scale, rng)
    return filled


def _marked(
    rows: Sequence[ScoreRow], units: Sequence[TextUnit], parsed: Sequence[Judgment]
) -> list[ScoreRow]:
    """Return the scores, with WRONG for those of which too few draws were read.

    A tie of labels was read, and what the judge does not apply to was not requested.
    """
    requested = set[TextUnit]()
    for unit, judgment in zip(units, parsed, strict=True):
        if judgment.status != "not_applicable":
            requested.add(unit)
    marked = list[ScoreRow]()
    for row in rows:
        few = 2 * (row["n_draws"] - row["n_missing"]) < row["n_draws"]
        unit = (row["target"], row["target_b"], row["criterion"])
        if few and unit in requested:
            row = {**row, "estimator": WRONG}
        marked.append(row)
    return marked


def _judgments(
    answers: pa.Table, parsed: Sequence[Judgment], spans: SpanLists | None
) -> pa.Table:
    """Return the table of judgments: the requests' columns, and what was parsed."""
    schema = SCHEMAS["judgments"]
    columns = []
    for field in schema:
        if field.name in Judgment._fields:
            values = [getattr(judgment, field.name) for judgment in parsed]
            columns.append(pa.array(values, field.type))
        elif field.name == "spans" and spans is not None:
            columns.append(pa.array(spans, field.type))
        elif field.name in answers.column_names:
            columns.append(answers[field.name])
        else:
            columns.append(pa.nulls(len(answers), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _scores(
    units: Sequence[TextUnit],
    values: Sequence[float | None],
    part: CellPart,
    estimator: str,
) -> list[ScoreRow]:
    """Return one row per unit, sorted; `values` are the draws' values, one per entry of
    `units`.
    """
    drawn: dict[TextUnit, list[float | None]] = defaultdict(list)
    for unit, value in zip(units, values, strict=True):
        drawn[unit].append(value)
    ordered = sorted(drawn, key=in_order)
    draws = np.array([len(drawn[unit]) for unit in ordered], dtype=np.int64)
    table = np.full((len(ordered), draws.max(initial=0)), np.nan)
    for row, unit in zip(table, ordered, strict=True):
        row[: len(drawn[unit])] = drawn[unit]  # None becomes NaN
    combined, n_values = scores(table, draws, estimator)
    rows = list[ScoreRow]()
    for number, (target, target_b, criterion) in enumerate(ordered):
        score = combined[number]
        rows.append(
            {
                "dataset": part.dataset,
                "perturbation": part.perturbation,
                "judge": part.judge,
                "aspect": part.aspect,
                "criterion": criterion,
                "target": target,
                "target_b": target_b,
                "value": None if np.isnan(score) else float(score),
                "n_draws": int(draws[number]),
                "n_missing": int(draws[number] - n_values[number]),
                "estimator": estimator,
            }
        )
    return rows


def write_cells(
    cells: Iterable[tuple[str, Iterable[ScoredCell]]],
    judgments: str,
    scores: str,
    hashes: str | None,
) -> None:
    """Write the parts of each cell and, if `hashes` names a file, the hashes of all
    files there.

    A cell's name is `<set of texts>/<judge>`; in the paths of its files `{}` stands for
    it.
    """
    paths: dict[str, str] = {}
    for name, parts in cells:
        judgments_path = judgments.format(name)
        scores_path = scores.format(name)
        write_cell(parts, judgments_path, scores_path)
        paths[f"judgments/{name}"] = judgments_path
        paths[f"scores/{name}"] = scores_path
    if hashes:
        write_hashes(paths, hashes)


def write_cell(parts: Iterable[ScoredCell], judgments: str, scores: str) -> None:
    """Write the judgments and the scores of a cell's parts to these paths."""
    judgment_tables, score_tables = zip(*parts, strict=True)
    write_parts("judgments", judgment_tables, judgments)
    write_parts("scores", score_tables, scores)


def in_order(unit: TextUnit) -> tuple[str, ...]:
    """Return the sort key for the scores of a part."""
    return tuple(name or "" for name in unit)
