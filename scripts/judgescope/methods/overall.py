"""What the datasets of a study make up together: means over them, and ranks by these."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from judgescope.methods.base import Row
from judgescope.methods.measures import AVERAGE, floored
from judgescope.statistics.comparison import ranks
from judgescope.statistics.means import independent_mean
from judgescope.statistics.result import Estimate

OVERALL = "overall"
"""The dataset of rows that hold the mean over all datasets."""
WHAT = ("judge", "judge_b", "criterion", "statistic", "level")


def across(table: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return the means over datasets of a table's averages over aspects, and ranks by them.

    Datasets are independent, so nothing but their intervals is needed. A study of one has none. A
    judge that no dataset ranks (it is given a rating of the text) has no rank here.
    """
    told = list(table)
    ranked = {row["judge"] for row in told if row["statistic"].startswith("rank_")}
    averages = [
        row for row in told if row["aspect"] == AVERAGE and not row["statistic"].startswith("rank_")
    ]
    datasets = sorted({row["dataset"] for row in averages})
    if len(datasets) < 2:
        return []
    grouped: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in averages:
        place = grouped.setdefault(tuple(row[name] for name in WHAT), {})
        place[row["dataset"]] = row
    means = [_mean(place, found, datasets) for place, found in grouped.items()]
    return [*means, *_ranks([row for row in means if row["judge"] in ranked])]


def _mean(
    place: tuple[Any, ...], found: Mapping[str, Mapping[str, Any]], datasets: list[str]
) -> Row:
    absent = Estimate.undefined("not judged")
    each = [_estimate(found[name]) if name in found else absent for name in datasets]
    told = floored(place[WHAT.index("statistic")], independent_mean(each, of="datasets"))
    signed = " + ".join(found[name]["signature"] for name in datasets if name in found)
    return {**_row(dict(zip(WHAT, place, strict=True)), told), "signature": signed}


def _estimate(row: Mapping[str, Any]) -> Estimate:
    return Estimate(**{name: row[name] for name in Estimate.__slots__})


def _row(what: Mapping[str, Any], found: Estimate) -> Row:
    told = {name: getattr(found, name) for name in Estimate.__slots__}
    return {"dataset": OVERALL, "aspect": AVERAGE, **what, **told}


def _ranks(means: list[Row]) -> Iterator[Row]:
    """Yield each judge's rank by every mean; without intervals, which would need replicates."""
    own = [row for row in means if row["judge_b"] is None]
    for group in dict.fromkeys((row["criterion"], row["statistic"], row["level"]) for row in own):
        told = [row for row in own if (row["criterion"], row["statistic"], row["level"]) == group]
        values = np.array([[row["value"]] for row in told], dtype=np.float64)
        for row, one in zip(told, ranks(values, 0), strict=True):
            rank = one if one.value is not None else Estimate.undefined(row["note"], n=one.n)
            what = {name: row[name] for name in WHAT} | {"statistic": f"rank_{row['statistic']}"}
            yield {**_row(what, rank), "signature": row["signature"]}
