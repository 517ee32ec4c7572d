"""The scores of texts beside people's ratings of them: a scatter plot, and both distributions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import pandas as pd

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
"""Maximum number of judges in either figure; the tables have all."""
STYLES = ("ratings", "scores")
HISTOGRAM = (
    "Upwards: mean ratings of the texts; downwards: their scores, over all aspects, each from "
    "the lowest to the highest value of its aspect. A triangle marks the mean."
)


def figures(report: Report, dataset: Dataset) -> Iterator[Figure]:
    """Yield both figures of a dataset whose texts by systems are rated and judged."""
    if not report.spec.results:
        return
    texts = _texts(report.spec.results, dataset)
    known = set(texts["judge"])
    judges = [judge for judge in report.judges if judge.id in known and not judge.control]
    if judges:
        yield _scatter(report, dataset, texts, judges)
        yield _histograms(dataset, texts, judges)


def _texts(results: str, dataset: Dataset) -> pd.DataFrame:
    """Return rating and score, and the bins of both, of each text that has them."""
    path = f"{results}/collected/{dataset.id}/scores.parquet"
    names = ["judge", "aspect", "criterion", "target", "value", "perturbation", "target_b"]
    frame = read_table("scores", path, names).to_pandas().rename(columns={"value": "scores"})
    frame = frame[(frame["perturbation"] == "systems") & frame["target_b"].isna()]
    means = [
        (aspect, target, mean)
        for aspect, of_targets in Texts(results, dataset.id).means.items()
        for target, mean in of_targets.items()
    ]
    rated = pd.DataFrame(means, columns=["aspect", "target", "ratings"])
    frame = frame.dropna(subset="scores").merge(rated, on=["aspect", "target"])
    named = zip(frame["aspect"], frame["criterion"].fillna(""), strict=True)
    frame = frame.assign(judged=[joined(*names) for names in named])
    parts = frame.groupby(["judge", "judged"])
    return frame.assign(**{f"{one}_bin": parts[one].transform(binned) for one in STYLES})


def binned(values: pd.Series) -> pd.Series:
    """Return the bin of each value, from 0 to BINS - 1, between the lowest and the highest.

    Values that are all the same are in the middle.
    """
    low, high = values.min(), values.max()
    if high <= low:
        return pd.Series(BINS // 2, values.index)
    return ((values - low) / (high - low) * BINS).astype(int).clip(upper=BINS - 1)


def _scatter(
    report: Report, dataset: Dataset, texts: pd.DataFrame, judges: Sequence[Judge]
) -> Figure:
    judged = set(texts["judged"])
    aspects = [name for name in dataset.aspects if name in judged]
    drawn = [judge.id for judge in judges[:MOST_DRAWN]]
    parts = dict(list(texts.groupby(["judge", "judged"])))
    panels = {
        (judge, report.aspect(aspect)): Counter(
            parts[judge, aspect][["ratings_bin", "scores_bin"]].itertuples(index=False, name=None)
        )
        for judge, aspect in product(drawn, aspects)
        if (judge, aspect) in parts
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
    axis = "mean rating to the right, score upwards, each from the lowest to the highest"
    return Figure(
        f"{dataset.name}: scores by rating",
        svg(bins_spec(panels, drawn, titles, x=axis)),
        f"Up to {count(max(map(len, parts.values())))} texts in a panel; the larger the dot, the "
        "more of them. Where a judge agrees with the ratings, dots rise to the right.",
        [Key("●", "blue", "texts")],
        spec.filled(judges, report.rows("agreement", dataset.id)),
    )


def _histograms(dataset: Dataset, texts: pd.DataFrame, judges: Sequence[Judge]) -> Figure:
    shown, table = list[Distribution](), dict[str, list[Cell]]()
    for judge in judges:
        mine = texts[texts["judge"] == judge.id]
        for style in STYLES:
            bins = mine[f"{style}_bin"]
            shares = bins.value_counts(normalize=True).reindex(range(BINS), fill_value=0.0)
            mean = (bins.mean() + 0.5) / BINS
            shown.append(Distribution(judge.id, style, shares.tolist(), mean))
        scores = mine["scores"].value_counts(normalize=True)
        share = float(scores.max())
        counts = [count_cell(len(mine)), count_cell(len(scores))]
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
