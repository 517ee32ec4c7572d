"""What the study's replies cost when they were bought."""

from typing import Any

import pyarrow.compute as pc

from metajudge.methods.study import DatasetStudy
from metajudge.statistics.estimate import Estimate


def rows(study: DatasetStudy) -> list[dict[str, Any]]:
    """Return the rows of cost.csv: per judge its replies, its tokens and their price."""
    found = []
    for judge, card in study.spec["judges"].items():
        mine = study.statuses.filter(pc.equal(study.statuses["judge"], judge))
        if not len(mine):
            continue
        replies = pc.sum(mine["n"]).as_py()
        free = f"{card['engine']}: nothing is bought"
        totals = {"replies": replies, "usd": 0.0} | {
            name: pc.sum(mine[name]).as_py() or 0 for name in ("prompt_tokens", "completion_tokens")
        }
        for statistic, total in totals.items():
            note = free if statistic == "usd" else ""
            estimate = Estimate(float(total), n=replies, method="sum over replies", note=note)
            found.append(study.row(judge, "", statistic, "", estimate))
    return found
