"""Scoring one cell: every reply is parsed, every target's draws become one score."""

from itertools import groupby
from typing import Any

import pyarrow as pa

from metajudge.parsing import Judgment, Scale, parse
from metajudge.schema.tables import SCHEMAS, table_of
from metajudge.scoring.estimators import ESTIMATORS

_UNIT = ["target", "target_b", "criterion"]


def score_cell(
    answers: pa.Table, *, cell: dict[str, str], scale: Scale | None, parser: str, estimator: str
) -> tuple[pa.Table, pa.Table]:
    """Return the judgments and the scores of a cell's answers.

    `cell` names dataset, perturbation, judge and aspect. A score needs at least half of its draws
    parsed (methods.md 1), else it is null; what was not parsed never becomes a number.
    """
    verdicts = _verdicts(answers, scale, parser)
    rows = answers.select(_UNIT).to_pylist()
    for row, verdict in zip(rows, verdicts, strict=True):
        row["value"] = verdict.value if verdict.status == "ok" else None
    return _judgments(answers, verdicts), table_of("scores", _scores(rows, cell, estimator))


def _verdicts(answers: pa.Table, scale: Scale | None, parser: str) -> list[Judgment]:
    """Parse every reply; equal replies are parsed once."""
    seen: dict[tuple[Any, ...], Judgment] = {}
    columns = (answers[name].to_pylist() for name in ("text", "finish", "status"))
    verdicts = []
    for reply in zip(*columns, strict=True):
        if reply not in seen:
            text, finish, status = reply
            seen[reply] = parse(
                text, scale=scale, finish=finish, parser=parser, reply_status=status
            )
        verdicts.append(seen[reply])
    return verdicts


def _judgments(answers: pa.Table, verdicts: list[Judgment]) -> pa.Table:
    """Return the table of judgments: the request's columns as they are, the verdicts beside."""
    schema = SCHEMAS["judgments"]
    columns = []
    for field in schema:
        if field.name in Judgment.__slots__:
            values = [getattr(verdict, field.name) for verdict in verdicts]
            columns.append(pa.array(values, field.type))
        elif field.name in answers.column_names:
            columns.append(answers[field.name])
        else:
            columns.append(pa.nulls(len(answers), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _scores(
    rows: list[dict[str, Any]], cell: dict[str, str], estimator: str
) -> list[dict[str, Any]]:
    def unit(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(row[name] or "" for name in _UNIT)

    scores = []
    for _, group in groupby(sorted(rows, key=unit), key=unit):
        draws = list(group)
        values = [row["value"] for row in draws if row["value"] is not None]
        enough = values and 2 * len(values) >= len(draws)
        scores.append(
            {
                **cell,
                **{name: draws[0][name] for name in _UNIT},
                "value": ESTIMATORS[estimator](values) if enough else None,
                "n_draws": len(draws),
                "n_missing": len(draws) - len(values),
                "estimator": estimator,
            }
        )
    return scores
