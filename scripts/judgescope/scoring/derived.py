"""Judges made from other judges: their scores' mean, and one list of the errors they found."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import pyarrow as pa

from judgescope.schema.tables import table_of
from judgescope.scoring.annotators import NOT_HEARD, Listed

DECIMALS = 9
"""Of a mean: equal ones are equal, whatever the members' own means were rounded to."""
_UNIT = ("target", "target_b", "criterion")


def derive_part(
    members: Sequence[pa.Table],
    *,
    cell: dict[str, str],
    min_annotators: int,
    errors: Mapping[str, Listed] | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return judgments and scores of a part of a cell: means of the members' scores of a target.

    `members` are tables of scores; targets that a member was not given (it judges a share of them)
    are left out. A target of which fewer than `min_annotators` members have a score has none.
    `errors`: target -> what they found wrong as one list, for members that list errors.
    """
    values: dict[tuple[str | None, ...], list[float | None]] = defaultdict(list)
    for table in members:
        columns = (table[name].to_pylist() for name in (*_UNIT, "value"))
        for *unit, value in zip(*columns, strict=True):
            values[tuple(unit)].append(value)
    rows = [
        _row(unit, given, min_annotators)
        for unit, given in sorted(values.items(), key=_order)
        if len(given) == len(members)
    ]
    scores = [{**cell, **unit, **score, "estimator": "mean of members"} for unit, score, _ in rows]
    own = {"judge": cell["judge"], "aspect": cell["aspect"], "kind": "derive", "draw": 0}
    judgments = [
        {**own, **unit, **judgment, **_errors_of(unit, judgment, errors)}
        for unit, _, judgment in rows
    ]
    return table_of("judgments", judgments), table_of("scores", scores)


def _errors_of(
    unit: Mapping[str, Any], judgment: Mapping[str, Any], errors: Mapping[str, Listed] | None
) -> dict[str, Any]:
    if errors is None:
        return {}
    listed = errors.get(unit["target"], Listed(None, NOT_HEARD))
    return {**listed.columns, "rule": f"{judgment['rule']}; {listed.rule}"}


def _order(entry: tuple[tuple[str | None, ...], Any]) -> tuple[str, ...]:
    return tuple(name or "" for name in entry[0])


def _row(
    unit: tuple[str | None, ...], given: list[float | None], least: int
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    known = [value for value in given if value is not None]
    value = round(fsum(known) / len(known), DECIMALS) if len(known) >= least else None
    score = {"value": value, "n_draws": len(given), "n_missing": len(given) - len(known)}
    ok = {"status": "ok", "rule": "mean of members"}
    few = {"status": "not_applicable", "rule": "too few members with a score"}
    return (
        dict(zip(_UNIT, unit, strict=True)),
        score,
        {"value": value, **(few if value is None else ok)},
    )
