"""The scores of texts beside people's ratings of them: a scatter plot, and both distributions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import pyarrow.compute as pc

from judgescope.core.cells import joined
from judgescope.report.cells import Cell, count_cell
from judgescope.report.charts import Distribution, histogram_spec, svg
from judgescope.report.elements import Column, Figure, Key, Table
from judgescope.report.items import Texts
from judgescope.report.panels import BINS, bins_spec
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.tables import TableSpec, aspect_columns, judge_bodies
from judgescope.report.words import count, percent
from judgescope.schema.tables import read_table

MOST_DRAWN = 12
"""Judges in either figure; the tables have all."""
STYLES = ("ratings", "scores")
Pairs = Mapping[tuple[str, str], Sequence[tuple[float, float]]]
"""(Judge, aspect) -> rating and score of each text that has both."""
HISTOGRAM = (
    "Mean ratings of the texts upwards, scores downwards, over all aspects, each from lowest to "
    "highest of its aspect; a triangle marks the mean."
)


def figures(report: Report, dataset: Dataset) -> Iterator[Figure]:
    """Yield both figures of a dataset whose texts by systems are rated and judged."""
    if not report.spec.results:
        return
    pairs = _pairs(report.spec.results, dataset)
    known = {judge for judge, _ in pairs}
    judges = [judge for judge in report.judges if judge.id in known and not judge.control]
    if judges:
        yield _scatter(report, dataset, pairs, judges)
        yield _histograms(dataset, pairs, judges)


def _pairs(results: str, dataset: Dataset) -> Pairs:
    """Read the ratings and scores of texts by systems."""
    pairs = dict[tuple[str, str], list[tuple[float, float]]]()
    means = Texts(results, dataset.id).means
    names = ["judge", "aspect", "criterion", "target", "value"]
    path = f"{results}/collected/{dataset.id}/scores.parquet"
    table = read_table("scores", path, [*names, "perturbation", "target_b"])
    table = table.filter(
        pc.and_(pc.equal(table["perturbation"], "systems"), pc.is_null(table["target_b"]))
    )
    columns = (table[name].to_pylist() for name in names)
    for judge, aspect, criterion, target, value in zip(*columns, strict=True):
        rating = means.get(aspect, {}).get(target)
        if value is not None and rating is not None:
            pairs.setdefault((judge, joined(aspect, criterion)), []).append((rating, value))
    return pairs


def binned(values: Sequence[float]) -> list[int]:
    """Return the bin of each value, from 0 to BINS - 1, between the lowest and the highest.

    Values that are all the same are in the middle.
    """
    low, high = min(values), max(values)
    if high <= low:
        return [BINS // 2] * len(values)
    return [min(int((value - low) / (high - low) * BINS), BINS - 1) for value in values]


def _bins(pairs: Sequence[tuple[float, float]]) -> tuple[list[int], list[int]]:
    """Return the bins of ratings and of scores."""
    ratings, scores = zip(*pairs, strict=True)
    return binned(ratings), binned(scores)


def _scatter(report: Report, dataset: Dataset, pairs: Pairs, judges: Sequence[Judge]) -> Figure:
    aspects = [name for name in dataset.aspects if any(aspect == name for _, aspect in pairs)]
    drawn = [judge.id for judge in judges[:MOST_DRAWN]]
    panels = {
        (judge, report.aspect(aspect)): Counter(zip(*_bins(pairs[judge, aspect]), strict=True))
        for judge in drawn
        for aspect in aspects
        if (judge, aspect) in pairs
    }
    spec = TableSpec(
        f"{dataset.name}: rank correlation over all texts.",
        aspect_columns(report, aspects),
        statistic="spearman",
        level="pooled",
        source="tables/agreement.csv",
        counts=True,
    )
    titles = [report.aspect(aspect) for aspect in aspects]
    axis = "to the right the mean rating, upwards the score, from the lowest to the highest"
    return Figure(
        f"{dataset.name}: scores by rating",
        svg(bins_spec(panels, drawn, titles, x=axis)),
        f"Up to {count(max(map(len, pairs.values())))} texts in a panel; the larger the dot, the "
        "more of them. Where a judge agrees with the ratings, dots rise to the right.",
        [Key("●", "blue", "texts")],
        spec.filled(judges, report.rows("agreement", dataset.id)),
    )


def _histograms(dataset: Dataset, pairs: Pairs, judges: Sequence[Judge]) -> Figure:
    shown, table = list[Distribution](), dict[str, list[Cell]]()
    for judge in judges:
        mine = [each for (name, _), each in pairs.items() if name == judge.id]
        both = zip(*map(_bins, mine), strict=True)
        for style, bins in zip(STYLES, (list(chain(*each)) for each in both), strict=True):
            shares = [bins.count(at) / len(bins) for at in range(BINS)]
            mean = (sum(bins) / len(bins) + 0.5) / BINS
            shown.append(Distribution(judge.id, style, shares, mean))
        scores = Counter(score for each in mine for _, score in each)
        share = max(scores.values()) / scores.total()
        counts = [count_cell(scores.total()), count_cell(len(scores))]
        table[judge.id] = [*counts, Cell(percent(share), sort=share)]
    drawn = [judge.id for judge in judges[:MOST_DRAWN]]
    axis = "from the lowest to the highest rating, and score"
    columns = [Column("Scores"), Column("Different scores"), Column("Share of the most frequent")]
    return Figure(
        f"{dataset.name}: distributions of ratings and scores",
        svg(histogram_spec([one for one in shown if one.group in drawn], drawn, STYLES, x=axis)),
        HISTOGRAM,
        [Key("■", "blue", "mean ratings"), Key("■", "red", "scores")],
        Table(
            f"{dataset.name}: the scores of each judge, over all aspects.",
            "Judge",
            columns,
            judge_bodies(judges, lambda judge: table[judge.id]),
        ),
    )
