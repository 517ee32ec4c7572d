"""Differences between judges on the same items, and means over sets and datasets."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from judgescope.core.cells import joined
from judgescope.methods.base import AppliesTo, Row
from judgescope.methods.evaluation_data import EvaluationData, numbers_of
from judgescope.methods.measures import AVERAGE, with_floor_note
from judgescope.statistics.comparison import difference, ranks
from judgescope.statistics.means import independent_mean
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import UNDEFINED_JUDGE, Estimate

OVERALL = "overall"
"""The dataset of rows that hold the mean over all datasets."""
Means = Mapping[tuple[str | None, str], Replicated]
"""(criterion, statistic) -> its mean over the constructed sets of texts."""


class MeansOfJudge(Protocol):
    """Returns a judge's means on the items that all of the judges were given."""

    def __call__(self, judge: str, *others: str) -> Means: ...  # noqa: D102


class Group(NamedTuple):
    """The columns whose rows are averaged over datasets."""

    judge: str
    judge_b: str | None
    criterion: str | None
    statistic: str
    level: str

    @classmethod
    def of_row(cls, row: Row) -> "Group":
        """Return the group of a row of a table that was read."""
        columns = row["judge_b"], row["criterion"], row["statistic"], row["level"]
        return cls(row["judge"], *columns)

    def row(self, estimate: Estimate, signature: str) -> Row:
        """Return the row over all datasets."""
        columns: AppliesTo = {"judge_b": self.judge_b, "criterion": self.criterion}
        return {
            "dataset": OVERALL,
            "judge": self.judge,
            "aspect": AVERAGE,
            "statistic": self.statistic,
            "level": self.level,
            **numbers_of(estimate),
            **columns,
            "signature": signature,
        }


def compared(study: EvaluationData, texts: str = "original") -> Iterator[tuple[str, str]]:
    """Yield every two judges of a set of texts that the study compares, in its order."""
    wanted, excluded = study.spec.compared, study.excluded(texts)
    judges = (name for name in study.spec.judges if name not in excluded)
    yield from combinations([name for name in judges if not wanted or name in wanted], 2)


def difference_rows(
    study: EvaluationData,
    judge: str,
    first: Mapping[str, Replicated],
    second: Mapping[str, Replicated],
    *,
    note: str,
    columns: AppliesTo,
    why: str = UNDEFINED_JUDGE,
    aspect: str = "",
    level: str = "",
) -> Iterator[Row]:
    """Yield a row for each statistic of `first`: its value minus that of `second`.

    Both lose the same items, one at a time, so that what they share cancels. `why` is the note
    where one of them is undefined; `columns` are the columns that identify `second`.
    """
    for statistic, result in first.items():
        gap = difference(result, second[statistic], why=why).estimate.with_note(note)
        yield study.row(judge, aspect, f"difference_{statistic}", level, gap, **columns)


def mean_rows(study: EvaluationData, means: MeansOfJudge, level: str) -> Iterator[Row]:
    """Yield means(judge) of every judge, and the differences of every two that are compared.

    means(judge, other) is of the items that both were given.
    """
    cache: dict[tuple[str, int], Means] = {}

    def means_of(judge: str, *others: str) -> Means:
        key = (judge, len(study.items_given(judge, *others)))
        if key not in cache:
            cache[key] = means(judge, *others)
        return cache[key]

    for judge in study.spec.judges:
        for (criterion, name), mean in means_of(judge).items():
            estimate = with_floor_note(name, mean.estimate)
            yield study.row(judge, joined(AVERAGE, criterion), name, level, estimate)
    for judge, other in compared(study):
        first, second = means_of(judge, other), means_of(other, judge)
        shared = [key for key in first if key in second]
        for criterion in dict.fromkeys(key[0] for key in shared):
            names = [name for key, name in shared if key == criterion]
            yield from difference_rows(
                study,
                judge,
                {name: first[criterion, name] for name in names},
                {name: second[criterion, name] for name in names},
                note=study.share_note(judge, other),
                aspect=joined(AVERAGE, criterion),
                level=level,
                columns={"judge_b": other},
            )


def across(table: Iterable[Row]) -> list[Row]:
    """Return the means over datasets of a table's averages over aspects, and ranks by them.

    Datasets are independent, so that their intervals suffice. Nothing for a single dataset. A
    judge that no dataset ranks (it is given a rating of the text) has no rank here.
    """
    rows = list(table)
    ranked = {row["judge"] for row in rows if row["statistic"].startswith("rank_")}
    averages = [
        row for row in rows if row["aspect"] == AVERAGE and not row["statistic"].startswith("rank_")
    ]
    datasets = sorted({row["dataset"] for row in averages})
    if len(datasets) < 2:
        return []
    groups: dict[Group, dict[str, Row]] = {}
    for row in averages:
        groups.setdefault(Group.of_row(row), {})[row["dataset"]] = row
    means = [_overall(group, by_dataset, datasets) for group, by_dataset in groups.items()]
    return [*means, *_ranks([row for row in means if row["judge"] in ranked])]


def _overall(group: Group, by_dataset: Mapping[str, Row], datasets: list[str]) -> Row:
    absent = Estimate.undefined("not judged")
    estimates = [
        estimate_of(by_dataset[name]) if name in by_dataset else absent for name in datasets
    ]
    mean = with_floor_note(group.statistic, independent_mean(estimates, averaged="datasets"))
    signatures = [by_dataset[name]["signature"] for name in datasets if name in by_dataset]
    return group.row(mean, " + ".join(signatures))


def estimate_of(row: Row) -> Estimate:
    """Return the estimate that a row of a result table holds."""
    return Estimate(
        *(row["value"], row["ci_low"], row["ci_high"], row["n"], row["n_missing"], row["n_tied"]),
        method=row["method"],
        note=row["note"],
    )


def _ranks(means: list[Row]) -> Iterator[Row]:
    """Yield each judge's rank by every mean; without intervals, which would need replicates."""
    groups: dict[tuple[str | None, str, str], list[Row]] = {}
    for row in means:
        if row["judge_b"] is None:
            key = row["criterion"], row["statistic"], row["level"]
            groups.setdefault(key, []).append(row)
    for group in groups.values():
        values = np.array([[row["value"]] for row in group], dtype=np.float64)
        for row, rank in zip(group, ranks(values, 0), strict=True):
            if rank.value is None:
                rank = Estimate.undefined(row["note"], n=rank.n)
            group_of_rank = Group.of_row(row)._replace(statistic=f"rank_{row['statistic']}")
            yield group_of_rank.row(rank, row["signature"])
