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
from judgescope.schema.tables import SCHEMAS, table_of, write_parts
from judgescope.scoring.specs import CellPart, Unread
from judgescope.statistics.arrays import DIGITS, decimal_mean

Floats = NDArray[np.float64]


def mean(values: Floats) -> Floats:
    """Return each row's mean, NaN for a row without values: (targets, draws) ->
    (targets,).
    """
    return decimal_mean(
        np.nansum(values, axis=1), np.count_nonzero(~np.isnan(values), axis=1)
    )


def mode(values: Floats) -> Floats:
    """Return each row's most frequent value; ties go to the nearest to the mean, then
    the lower.

    (targets, draws) -> (targets,), NaN for a row without values. Source: methods.md 3;
    (Hu et al. 2025) broke ties at random, without a seed.
    """
    if not values.size:
        return np.full(len(values), np.nan)
    counts = np.zeros(values.shape, dtype=np.int32)
    for draw in values.T:
        counts += values == draw[:, None]
    tied = (counts == counts.max(axis=1, keepdims=True)) & ~np.isnan(values)
    distance = np.abs(values - mean(values)[:, None])
    distance = np.where(tied, np.round(distance, DIGITS), np.inf)
    nearest = tied & (distance == distance.min(axis=1, keepdims=True))
    lowest = np.where(nearest, values, np.inf).min(axis=1)
    return np.where(nearest.any(axis=1), lowest, np.nan)


def first(values: Floats) -> Floats:
    """Return each row's first draw, NaN if that has no value: (targets, draws) ->
    (targets,).
    """
    return values[:, 0] if values.shape[1] else np.full(len(values), np.nan)


def majority(values: Floats) -> Floats:
    """Return each row's most frequent value, NaN for a tie or a row without values.

    (targets, draws) -> (targets,). For labels, which have no mean. methods.md 16.
    """
    result = np.full(len(values), np.nan)
    counts = np.zeros(len(values), dtype=np.int64)
    for value in np.unique(values[~np.isnan(values)]):
        n = np.count_nonzero(values == value, axis=1)
        result = np.where(
            n > counts, value, np.where((n == counts) & (n > 0), np.nan, result)
        )
        counts = np.maximum(n, counts)
    return result


LOGPROB_MEAN = "logprob_mean"
MAJORITY = "majority"
ESTIMATORS: dict[str, Callable[[Floats], Floats]] = {
    "mean": mean,
    "mode": mode,
    "first": first,
    MAJORITY: majority,
    LOGPROB_MEAN: mean,  # of the expectations of single replies
}


def scores(
    values: Floats, draws: NDArray[np.int64], estimator: str
) -> tuple[Floats, Floats]:
    """Return the score of each row and the number of draws used for it, both
    (targets,).

    values: (targets, maximum draws), NaN for a draw that was not parsed or not planned;
    draws: (targets,), the number of planned draws. A score is NaN unless at least half
    of the planned draws have a value (methods.md 1).
    """
    given = np.count_nonzero(~np.isnan(values), axis=1)
    return np.where(2 * given >= draws, ESTIMATORS[estimator](values), np.nan), given


UNIT = ("target", "target_b", "criterion")
"""The columns that identify the text or texts of a score."""
Unit = tuple[str | None, ...]
Spans = Sequence[list[dict[str, Any]]]
Scored = tuple[pa.Table, pa.Table]
"""The judgments and the scores of a part of a cell."""


def aggregated(
    answers: pa.Table,
    verdicts: Sequence[Judgment],
    values: Sequence[float | None],
    *,
    part: CellPart,
    estimator: str,
    scale: Scale | None,
    unread: Unread | None = None,
    spans: Spans | None = None,
) -> Scored:
    """Return the judgments and the scores of a part of a cell.

    `verdicts` and `values` belong to the draws, one per row of `answers`. A score is
    null unless at least half of its draws have a value (methods.md 1); a requested draw
    without a value gets a number only if `unread` says so. With the policy `wrong` a
    score of requested draws that is null for that reason has the estimator WRONG.
    Labels are aggregated by majority instead of the mean. `spans` are the errors that
    each draw lists, located in its text.
    """
    if scale is not None and scale.words and estimator in {"mean", "mode"}:
        estimator = MAJORITY
    units = list(zip(*(answers[name].to_pylist() for name in UNIT), strict=True))
    rows = _scores(units, values, part, estimator)
    if unread is not None and unread.policy == "wrong":
        rows = _marked(rows, units, verdicts)
    elif unread is not None and scale is not None:
        filled = list(values)
        for row, draw in enumerate(answers["draw"].to_pylist()):
            if values[row] is None and verdicts[row].status != "not_applicable":
                # one stream per filled value, so that other rows do not matter
                names = ("missing", *part, *(name or "" for name in units[row]), draw)
                rng = stream(unread.seed, *names)
                filled[row] = stand_in(unread.policy, scale, rng)
        counts = [row["n_missing"] for row in rows]
        full = _scores(units, filled, part, estimator)
        rows = [
            {**row, "n_missing": count} for row, count in zip(full, counts, strict=True)
        ]
    return _judgments(answers, verdicts, spans), table_of("scores", rows)


def _marked(
    rows: list[dict[str, Any]], units: Sequence[Unit], verdicts: Sequence[Judgment]
) -> list[dict[str, Any]]:
    """Return the scores, with WRONG for those of which too few draws were read.

    A tie of labels was read, and what the judge does not apply to was not requested.
    """
    requested = {
        unit
        for unit, verdict in zip(units, verdicts, strict=True)
        if verdict.status != "not_applicable"
    }
    marked = []
    for row in rows:
        few = 2 * (row["n_draws"] - row["n_missing"]) < row["n_draws"]
        unit = tuple(row[name] for name in UNIT)
        is_wrong = few and unit in requested
        marked.append({**row, "estimator": WRONG} if is_wrong else row)
    return marked


def _judgments(
    answers: pa.Table, verdicts: Sequence[Judgment], spans: Spans | None
) -> pa.Table:
    """Return the table of judgments: the columns of the requests, and the verdicts."""
    schema = SCHEMAS["judgments"]
    parsed = dict(zip(Judgment._fields, zip(*verdicts, strict=True), strict=False))
    columns = []
    for field in schema:
        if field.name in Judgment._fields:
            columns.append(pa.array(parsed.get(field.name, ()), field.type))
        elif field.name == "spans" and spans is not None:
            columns.append(pa.array(spans, field.type))
        elif field.name in answers.column_names:
            columns.append(answers[field.name])
        else:
            columns.append(pa.nulls(len(answers), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _scores(
    units: Sequence[Unit],
    values: Sequence[float | None],
    part: CellPart,
    estimator: str,
) -> list[dict[str, Any]]:
    """Return one row per unit, sorted; `values` are the draws' values, one per entry of
    `units`.
    """
    drawn: dict[Unit, list[float | None]] = defaultdict(list)
    for unit, value in zip(units, values, strict=True):
        drawn[unit].append(value)
    ordered = sorted(drawn, key=in_order)
    draws = np.array([len(drawn[unit]) for unit in ordered], dtype=np.int64)
    table = np.full((len(ordered), draws.max(initial=0)), np.nan)
    for row, unit in zip(table, ordered, strict=True):
        row[: len(drawn[unit])] = drawn[unit]  # None becomes NaN
    aggregates, given = scores(table, draws, estimator)
    return [
        {
            **part._asdict(),
            **dict(zip(UNIT, unit, strict=True)),
            "value": None if np.isnan(value) else float(value),
            "n_draws": int(count),
            "n_missing": int(count - parsed),
            "estimator": estimator,
        }
        for unit, value, count, parsed in zip(
            ordered, aggregates, draws, given, strict=True
        )
    ]


def write_cells(
    cells: Iterable[tuple[str, Iterable[Scored]]],
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
        files = {"judgments": judgments.format(name), "scores": scores.format(name)}
        write_cell(parts, **files)
        paths |= {f"{kind}/{name}": path for kind, path in files.items()}
    if hashes:
        write_hashes(paths, hashes)


def write_cell(parts: Iterable[Scored], judgments: str, scores: str) -> None:
    """Write the judgments and the scores of a cell's parts to these paths."""
    for kind, path, tables in zip(
        ("judgments", "scores"),
        (judgments, scores),
        zip(*parts, strict=True),
        strict=True,
    ):
        write_parts(kind, tables, path)


def in_order(unit: Unit) -> tuple[str, ...]:
    """Return the sort key for the scores of a part."""
    return tuple(name or "" for name in unit)
