"""Cost against quality: what a better judge costs."""

from collections.abc import Sequence

from judgescope.report.charts import svg
from judgescope.report.elements import (
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    Key,
    Section,
    Table,
    Text,
    dollars,
    estimate,
)
from judgescope.report.headline import LEAST_IS_BEST, Measure, best_control, measures
from judgescope.report.numbers import THOUSAND, listed
from judgescope.report.numbers import dollars as dollars_of
from judgescope.report.panels import Bought, Priced, scatter_spec
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.sections.cost import price_per_1000
from judgescope.report.sections.shared import bodies

LEAD = (
    "Each panel sets what 1,000 judgments cost when they were bought against one of the numbers of "
    "the first table. The dashed line is the best control: below it, money buys nothing. Where "
    "intervals cross, the dearer judge is not shown to be better."
)


def section(report: Report) -> Section | None:
    """Return per dataset a figure of all judges with a known price; None where all is free."""
    blocks: list[Block] = []
    for dataset in report.datasets:
        priced = _priced(report, dataset)
        if any(price > 0 for price in priced.values()):
            blocks.append(Heading(dataset.name, f"tradeoff-{dataset.id}"))
            blocks += [*_dataset(report, dataset, priced), *_unpriced(report, priced)]
    return Section("tradeoff", "Cost against quality", LEAD, blocks) if blocks else None


def _priced(report: Report, dataset: Dataset) -> dict[str, float]:
    """Return the price of 1,000 judgments of every judge whose price is known, but controls."""
    rows = report.rows("cost").where(dataset=dataset.id)
    found = {
        judge.id: price_per_1000(rows.where(judge=judge.id))
        for judge in report.judges
        if not judge.control
    }
    return {name: price for name, price in found.items() if price is not None}


def _unpriced(report: Report, priced: dict[str, float]) -> list[Block]:
    names = [f"`{one.id}`" for one in report.judges if not one.control and one.id not in priced]
    told = f"Not drawn, as their price is not known: {listed(names)}."
    return [Text(told, style="small")] if names else []


def _dataset(report: Report, dataset: Dataset, priced: dict[str, float]) -> list[Block]:
    judges = [judge for judge in report.judges if judge.id in priced]
    shown = [
        (measure, dots)
        for measure in measures(report, dataset)
        if (dots := _dots(report, dataset, measure, judges, priced))
    ]
    if not any(dot.price > 0 for _, dots in shown for dot in dots):
        return [Text("No judge with a price has a number here.")]
    panels = [_panel(report, dataset, measure, dots) for measure, dots in shown]
    columns = [measure for measure, _ in shown]
    axis = f"US$ per {THOUSAND} judgments"
    return [
        Figure(
            f"{dataset.name}: cost against quality",
            svg(scatter_spec(panels, x=axis)),
            _summary(report, dataset, columns, judges, priced),
            [
                *(Key(str(at), "blue", judge.id) for at, judge in enumerate(judges, 1)),
                Key("┅", "green", "the best control"),
            ],
            _numbers(report, dataset, columns, judges, priced),
        )
    ]


def _dots(
    report: Report,
    dataset: Dataset,
    measure: Measure,
    judges: Sequence[Judge],
    priced: dict[str, float],
) -> list[Bought]:
    rows = [(at, measure.row(report, dataset, judge)) for at, judge in enumerate(judges, 1)]
    return [
        Bought(at, priced[row.judge], row.value, row.lo, row.hi)
        for at, row in rows
        if row and row.value is not None
    ]


def _panel(report: Report, dataset: Dataset, measure: Measure, dots: Sequence[Bought]) -> Priced:
    control = best_control(report, dataset, measure)
    least = " (least is best)" if measure.statistic in LEAST_IS_BEST else ""
    name = measure.name(report)
    return Priced(f"{name}{least}", dots, control.value if control else None)


def _summary(
    report: Report,
    dataset: Dataset,
    shown: Sequence[Measure],
    judges: Sequence[Judge],
    priced: dict[str, float],
) -> str:
    """Return the span of prices, and which judges a cheaper one is better than, by the rule."""
    beaten = {
        judge.id
        for judge in judges
        for other in judges
        for measure in shown
        if priced[other.id] < priced[judge.id] and measure.above(report, dataset, other, judge)
    }
    told = listed([f"`{name}`" for name in priced if name in beaten])
    least, most = min(priced.values()), max(priced.values())
    ends = f"${dollars_of(least)} to ${dollars_of(most)}"
    span = f"{len(priced)} judges, from {ends} per {THOUSAND} judgments."
    if not beaten:
        return f"{span} None is beaten by a cheaper one on any of these numbers."
    return f"{span} On some of these numbers a cheaper judge is better than {told}."


def _numbers(
    report: Report,
    dataset: Dataset,
    shown: Sequence[Measure],
    judges: Sequence[Judge],
    priced: dict[str, float],
) -> Table:
    def cells(judge: Judge) -> list[Cell]:
        rows = (measure.row(report, dataset, judge) for measure in shown)
        return [dollars(priced[judge.id]), *map(estimate, rows)]

    columns = [Column(f"US$ per {THOUSAND}")]
    columns += [Column(measure.name(report), group=measure.group) for measure in shown]
    caption = f"{dataset.name}: price of {THOUSAND} judgments and quality."
    return Table(caption, "Judge", columns, bodies(judges, cells))
