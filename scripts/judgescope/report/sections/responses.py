"""How judges use their scales: scores of originals and of damaged texts, back to back."""

from judgescope.report.charts import (
    BLUE,
    FILL_BLUE,
    FILL_RED,
    RED,
    Distribution,
    Series,
    histogram_spec,
    svg,
)
from judgescope.report.elements import Block, Cell, Column, Figure, Key, Table, estimate, figures
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import bodies, labelled

SERIES = (
    Series("original", "blue", FILL_BLUE, BLUE),
    Series("all", "red", FILL_RED, RED),
)
KEYS = {
    "original": "originals, upwards",
    "all": "damaged texts, downwards",
}


def style_blocks(report: Report, dataset: Dataset, judges: list[Judge]) -> list[Block]:
    """Return the figure of a dataset's response styles, nothing where no judge has any."""
    rows = report.rows("responses").where(dataset=dataset.id)
    shown = [judge for judge in judges if rows.at(dataset.id, judge.id, "range_top")]
    if not shown:
        return []
    found = [_distribution(rows, dataset, judge, one.name) for judge in shown for one in SERIES]
    axis = "score, from the bottom to the top of the judge's range"
    spec = histogram_spec(found, [labelled(judge) for judge in shown], SERIES, x=axis)
    keys = [Key(one.sign, one.style, KEYS[one.name]) for one in SERIES]
    keys += [Key("▼", "blue", "mean of originals"), Key("▲", "red", "mean of damaged texts")]
    return [
        Figure(
            f"{dataset.name}: response styles",
            svg(spec),
            _summary(rows, dataset, shown),
            keys,
            _numbers(rows, dataset, shown),
        )
    ]


def _distribution(rows: Rows, dataset: Dataset, judge: Judge, series: str) -> Distribution:
    mine = rows.where(judge=judge.id, statistic="score_share", perturbation=series)
    shares = {row.k: row.value or 0.0 for row in mine}
    low, high = (rows.at(dataset.id, judge.id, f"range_{end}") for end in ("bottom", "top"))
    mean = rows.at(dataset.id, judge.id, "score_mean", cell=series)
    place = None
    if mean and low and high and None not in (mean.value, low.value, high.value):
        place = ((mean.value or 0) - (low.value or 0)) / ((high.value or 0) - (low.value or 0))
    return Distribution(labelled(judge), series, [shares[k] for k in sorted(shares)], place)


def _summary(rows: Rows, dataset: Dataset, judges: list[Judge]) -> str:
    """Return the sentence that says where each judge, no control, puts originals and damage."""
    told = [
        f"{judge.id} {figures(before)} and {figures(after)}"
        for judge in judges
        if not judge.control
        for before, after in [_means(rows, dataset, judge)]
        if before and after
    ]
    means = f" Mean scores of originals and of damaged texts: {'; '.join(told)}." if told else ""
    return (
        "Scores, averaged over the aspects, of originals and of all damaged texts. Where a judge "
        f"puts them is its style; discernment asks only whether they part.{means}"
    )


def _means(rows: Rows, dataset: Dataset, judge: Judge) -> tuple[Row | None, Row | None]:
    before, after = (rows.at(dataset.id, judge.id, "score_mean", cell=one.name) for one in SERIES)
    return before, after


def _numbers(rows: Rows, dataset: Dataset, judges: list[Judge]) -> Table:
    rated = len(rows.where(statistic="pearson")) > 0
    whose = "the planned ratings" if dataset.planned else "people"

    def cells(judge: Judge) -> list[Cell]:
        found = [*_means(rows, dataset, judge)]
        found += [rows.at(dataset.id, judge.id, f"range_{end}") for end in ("bottom", "top")]
        r = rows.at(dataset.id, judge.id, "pearson", level="pooled", cell="systems")
        found += [r] if rated else []
        return [estimate(row) for row in found]

    columns = [
        Column("Originals", "mean score"),
        Column("Damaged texts", "mean score"),
        Column("Bottom", "of the range"),
        Column("Top", "of the range"),
        *([Column("Pearson r", f"with {whose}, of the systems' texts")] if rated else []),
    ]
    caption = f"{dataset.name}: mean scores over the aspects, and where the range ends."
    notes = ["The range is that of the judge's scale, or of its scores where it has none."]
    return Table(
        caption, "Judge", columns, bodies(judges, cells), notes, source="tables/responses.csv"
    )
