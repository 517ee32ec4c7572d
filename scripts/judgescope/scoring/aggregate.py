"""From judgments to tables: one row per draw, and one score per target of all its draws."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from judgescope.core.rng import stream
from judgescope.parsing.judgment import NO_VALUE, Judgment, Scale, stand_in
from judgescope.schema.tables import SCHEMAS, table_of
from judgescope.scoring.estimators import scores
from judgescope.scoring.specs import Missing

_UNIT = ["target", "target_b", "criterion"]
Unit = tuple[str | None, ...]
Spans = Sequence[list[dict[str, Any]]]


def aggregated(
    answers: pa.Table,
    verdicts: Sequence[Judgment],
    values: Sequence[float | None],
    *,
    cell: Mapping[str, str],
    estimator: str,
    scale: Scale | None,
    missing: Missing | None = None,
    spans: Spans | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return the judgments and the scores of a part of a cell.

    `verdicts` and `values` are those of the draws, a row of `answers` each; `cell` names dataset,
    perturbation, judge and aspect. A score needs at least half of its draws (methods.md 1), else it
    is null; what was not parsed becomes a number only where `missing` says so. `spans` are the
    errors that each draw lists, located in its text.
    """
    units = list(zip(*(answers[name].to_pylist() for name in _UNIT), strict=True))
    rows = _scores(units, values, cell, estimator)
    if missing is not None and scale is not None:
        filled = _filled(units, values, verdicts, answers, cell, scale, missing)
        counts = [row["n_missing"] for row in rows]
        full = _scores(units, filled, cell, estimator)
        rows = [{**row, "n_missing": count} for row, count in zip(full, counts, strict=True)]
    return _judgments(answers, verdicts, spans), table_of("scores", rows)


def _filled(
    units: Sequence[Unit],
    values: Sequence[float | None],
    verdicts: Sequence[Judgment],
    answers: pa.Table,
    cell: Mapping[str, str],
    scale: Scale,
    missing: Missing,
) -> list[float | None]:
    """Return the values with those of draws that were asked for and have none filled by policy.

    Each filling has a stream of its own, so that no other row changes it.
    """
    filled = list(values)
    names = ["missing", *(cell[name] for name in ("dataset", "perturbation", "judge", "aspect"))]
    for at, draw in enumerate(answers["draw"].to_pylist()):
        if verdicts[at].status in NO_VALUE:
            rng = stream(missing.seed, *names, *(name or "" for name in units[at]), draw)
            filled[at] = stand_in(missing.policy, scale, rng)
    return filled


def _judgments(answers: pa.Table, verdicts: Sequence[Judgment], spans: Spans | None) -> pa.Table:
    """Return the table of judgments: the request's columns as they are, the verdicts beside."""
    schema = SCHEMAS["judgments"]
    columns = []
    for field in schema:
        if field.name in Judgment.__slots__:
            values = [getattr(verdict, field.name) for verdict in verdicts]
            columns.append(pa.array(values, field.type))
        elif field.name == "spans" and spans is not None:
            columns.append(pa.array(spans, field.type))
        elif field.name in answers.column_names:
            columns.append(answers[field.name])
        else:
            columns.append(pa.nulls(len(answers), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _scores(
    units: Sequence[Unit], values: Sequence[float | None], cell: Mapping[str, str], estimator: str
) -> list[dict[str, Any]]:
    """Return a row per unit, sorted; `values` are those of the draws, one per entry of `units`."""
    drawn: dict[Unit, list[float | None]] = defaultdict(list)
    for unit, value in zip(units, values, strict=True):
        drawn[unit].append(value)
    ordered = sorted(drawn, key=lambda unit: tuple(name or "" for name in unit))
    draws = np.array([len(drawn[unit]) for unit in ordered], dtype=np.int64)
    table = np.full((len(ordered), draws.max(initial=0)), np.nan)
    for row, unit in zip(table, ordered, strict=True):
        row[: len(drawn[unit])] = drawn[unit]  # None becomes NaN
    found, given = scores(table, draws, estimator)
    return [
        {
            **cell,
            **dict(zip(_UNIT, unit, strict=True)),
            "value": None if np.isnan(value) else float(value),
            "n_draws": int(count),
            "n_missing": int(count - parsed),
            "estimator": estimator,
        }
        for unit, value, count, parsed in zip(ordered, found, draws, given, strict=True)
    ]
