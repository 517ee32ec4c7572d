"""Differences between judges on the same items, and means over sets and datasets."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Protocol, Unpack

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import AVERAGE, with_floor_note
from judgescope.methods.row_numbers import numbers_of
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.comparison import difference, ranks
from judgescope.statistics.means import independent_mean, mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate

OVERALL = "overall"
"""The dataset of rows that hold the mean over all datasets."""
Means = Mapping[tuple[str | None, str], Replicated]
"""(criterion, statistic) -> its mean over the constructed sets of texts."""


class ResultsOfJudge(Protocol):
    """Yields (aspect, results by statistic) of a judge, on the items that all were
    given.
    """

    def __call__(  # noqa: D102
        self, judge: str, *others: str
    ) -> Iterable[tuple[str, Mapping[str, Replicated]]]: ...


def compared(
    data: EvaluationData, texts: str = "original"
) -> Iterator[tuple[str, str]]:
    """Yield every two judges of a set of texts that the study compares, in its
    order.
    """
    wanted = data.spec.compared
    excluded = data.excluded(texts)
    judges = []
    for name in data.spec.judges:
        if name not in excluded:
            judges.append(name)
    if wanted:
        judges = [name for name in judges if name in wanted]
    yield from combinations(judges, 2)


def difference_rows(
    data: EvaluationData,
    judge: str,
    first: Mapping[str, Replicated],
    second: Mapping[str, Replicated],
    note: str,
    why: str = REASONS.undefined_judge,
    **columns: Unpack[AppliesTo],
) -> Iterator[ResultRow]:
    """Yield a row for each statistic of `first`: its value minus that of `second`.

    Both lose the same items, one at a time, so that what they share cancels. `why` is
    the note where one of them is undefined; `columns` are the columns that identify
    `second`.
    """
    for statistic, result in first.items():
        gap = difference(result, second[statistic], why=why).estimate.with_note(note)
        yield data.row(judge, "", f"difference_{statistic}", "", gap, **columns)


def mean_rows(
    data: EvaluationData, results: ResultsOfJudge, level: str, averaged: str
) -> Iterator[ResultRow]:
    """Yield every judge's means over aspects and sets of texts, and the differences of
    every two.

    `averaged` names the sets.
    """
    cache: dict[tuple[str, int], Means] = {}
    judged: dict[tuple[str, int], list[str]] = {}

    def means_of(judge: str, *others: str) -> Means:
        key = (judge, len(data.items_given(judge, *others)))
        if key not in cache:
            of_sets: dict[tuple[str | None, str], list[Replicated]] = {}
            for aspect, by_statistic in results(judge, *others):
                judged.setdefault(key, []).append(aspect)
                for name, result in by_statistic.items():
                    of_sets.setdefault((split(aspect)[1], name), []).append(result)
            cache[key] = {
                measure: mean_over(same, averaged=averaged)
                for measure, same in of_sets.items()
            }
        return cache[key]

    for judge in data.spec.judges:
        for (criterion, name), mean in means_of(judge).items():
            estimate = with_floor_note(name, mean.estimate)
            yield data.row(judge, joined(AVERAGE, criterion), name, level, estimate)
    for judge, other in compared(data):
        first = means_of(judge, other)
        second = means_of(other, judge)
        for (criterion, name), mean in first.items():
            if (criterion, name) not in second:
                continue
            gap = difference(mean, second[criterion, name]).estimate
            n_given = len(data.items_given(judge, other))
            if judged[judge, n_given] != judged[other, n_given]:
                gap = Estimate.undefined(
                    "the judges have scores of different aspects or sets of texts"
                )
            gap = gap.with_note(data.share_note(judge, other))
            aspect = joined(AVERAGE, criterion)
            statistic = f"difference_{name}"
            yield data.row(judge, aspect, statistic, level, gap, judge_b=other)


def across(table: Iterable[ResultRow]) -> list[ResultRow]:
    """Return the means over datasets of a table's averages over aspects, and ranks by
    them.

    Datasets are independent, so that their intervals suffice. Nothing for a single
    dataset. A judge that no dataset ranks (it is given a rating of the text) has no
    rank here.
    """
    rows = list(table)
    ranked = set[str]()
    averages = list[ResultRow]()
    for row in rows:
        if row["statistic"].startswith("rank_"):
            ranked.add(row["judge"])
        elif row["aspect"] == AVERAGE:
            averages.append(row)
    datasets = sorted({row["dataset"] for row in averages})
    if len(datasets) < 2:
        return []
    groups: dict[tuple[str | None, ...], dict[str, ResultRow]] = {}
    for row in averages:
        key = (
            row["judge"],
            row["judge_b"],
            row["criterion"],
            row["statistic"],
            row["level"],
        )
        groups.setdefault(key, {})[row["dataset"]] = row
    means = list[ResultRow]()
    absent = Estimate.undefined("not judged")
    for by_dataset in groups.values():
        present = list[ResultRow]()
        estimates = list[Estimate]()
        for name in datasets:
            if name in by_dataset:
                present.append(by_dataset[name])
                estimates.append(estimate_of(by_dataset[name]))
            else:
                estimates.append(absent)
        mean = independent_mean(estimates, averaged="datasets")
        signature = " + ".join(row["signature"] for row in present)
        means.append(_overall(present[0], present[0]["statistic"], mean, signature))
    return [*means, *_ranks([row for row in means if row["judge"] in ranked])]


def _overall(
    row: ResultRow, statistic: str, estimate: Estimate, signature: str
) -> ResultRow:
    """Return the row over all datasets of which `row` is that of one."""
    columns: AppliesTo = {"judge_b": row["judge_b"], "criterion": row["criterion"]}
    return {
        "dataset": OVERALL,
        "judge": row["judge"],
        "aspect": AVERAGE,
        "statistic": statistic,
        "level": row["level"],
        **numbers_of(with_floor_note(statistic, estimate)),
        **columns,
        # The job that joins the tables writes it.
        "sentence": None,
        "signature": signature,
    }


def estimate_of(row: ResultRow) -> Estimate:
    """Return the estimate that a row of a result table holds."""
    return Estimate(
        row["value"],
        row["ci_low"],
        row["ci_high"],
        row["n"],
        row["n_missing"],
        row["n_tied"],
        method=row["method"],
        note=row["note"],
    )


def _ranks(means: list[ResultRow]) -> Iterator[ResultRow]:
    """Yield each judge's rank by every mean; without intervals, which would need
    replicates.
    """
    groups: dict[tuple[str | None, str, str], list[ResultRow]] = {}
    for row in means:
        if row["judge_b"] is None:
            key = row["criterion"], row["statistic"], row["level"]
            groups.setdefault(key, []).append(row)
    for group in groups.values():
        values = np.array([[row["value"]] for row in group], dtype=np.float64)
        for row, rank in zip(group, ranks(values, 0), strict=True):
            if rank.value is None:
                rank = Estimate.undefined(row["note"], n=rank.n)
            yield _overall(row, f"rank_{row['statistic']}", rank, row["signature"])
