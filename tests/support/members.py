"""The tables of an ensemble's members."""

from collections.abc import Sequence
from typing import Any

from judgescope.schema.tables import SCHEMAS, table_of
from judgescope.scoring.aggregate import ScoredCell

CELL = {"dataset": "d", "perturbation": "systems", "judge": "m", "aspect": "x"}


def tables_of(rows: Sequence[dict[str, Any]]) -> ScoredCell:
    """Return a member's judgments, one of each score, and its scores; without a value
    it is lost.

    A row has at least `target` and `value`.
    """
    where = {"judge": "m", "kind": "rate", "aspect": "x", "draw": 0}
    judgments = [
        {**where, "status": "unparsed" if row["value"] is None else "ok", **row}
        for row in rows
    ]
    names = SCHEMAS["scores"].names
    scores = [{name: (CELL | row).get(name) for name in names} for row in rows]
    return table_of("judgments", judgments), table_of("scores", scores)
