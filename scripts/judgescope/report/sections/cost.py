"""What the study's replies cost when they were requested, and cost against quality."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from judgescope.report.cells import (
    ReportCell,
    count_cell,
    dollars_cell,
    estimates,
    words_cell,
)
from judgescope.report.charts import svg
from judgescope.report.elements import (
    Body,
    LegendKey,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.headline import HeadlineColumn, measures
from judgescope.report.panels import Bought, Priced, scatter_spec
from judgescope.report.prices import ALL, EACH, PRICE, free, price_per_1000, unpriced
from judgescope.report.report import Report, ShownDataset, ShownJudge, ids_of
from judgescope.report.rows import ReportRows
from judgescope.report.tables import by_dataset, judge_bodies
from judgescope.report.words import THOUSAND, dollars, listed, spoken
from judgescope.statistics.registry import names_of_group


def lead(report: Report) -> str:
    """The lead of the section."""
    text = (
        "The price of the replies behind this report, from the token usage that "
        "endpoints reported when the replies were requested. A judge's row shows what "
        "it would cost if it ran alone."
    )
    if len(report.rows("cost").where(judge=ALL)):
        text += " The last row counts every reply once, even if several judges use it."
    return text


def blocks(report: Report) -> Iterator[PageBlock]:
    """Yield replies, tokens and price of every judge and writer, over all datasets."""
    rows = report.rows("cost")
    if not len(rows):
        return
    asked = report.judges_of(rows)
    names = sorted(rows.where(judge="").names("perturbation"))
    writers = {name: rows.where(perturbation=name) for name in names}
    askers = {judge: rows.where(judge=judge) for judge in ids_of(asked)}
    unknown = []
    for name, part in (*askers.items(), *writers.items()):
        if unpriced(part):
            unknown.append(name)
    if unknown:
        text = (
            f"The price of {', '.join(unknown)} is not known; the table gives the "
            "reason."
        )
        yield Paragraph(text, style="warning")
    elif free(row for row in rows if row.judge != ALL):
        yield Paragraph(
            "This study cost nothing: no endpoint was asked.", style="finding"
        )
    yield from tradeoff(report)
    yield _usage_table(rows, asked, writers)


def _usage_table(
    rows: ReportRows, asked: Sequence[ShownJudge], writers: Mapping[str, ReportRows]
) -> PageTable:
    bodies = judge_bodies(asked, lambda judge: _cells(rows.where(judge=judge.id)))
    if writers:
        lines = []
        for name, of_writer in writers.items():
            lines.append(TableLine(_written_by(name), _cells(of_writer)))
        bodies.append(Body(lines))
    every = rows.where(judge=ALL)
    if len(every):
        total = TableLine("all, each reply once", _cells(every))
        bodies.append(Body([total], style="sums"))
    columns = columns_of(map(spoken, (*names_of_group("usage"), PRICE, EACH)))
    columns.append(TableColumn("Remarks", style="words"))
    caption = "Replies, tokens and price, over all datasets."
    return PageTable(caption, "Judge", columns, bodies)


def _written_by(name: str) -> str:
    """Return a name for a writer's texts: of a perturbation, better references, or
    analyses.
    """
    writers = {
        "analyses.": "analyses by",
        "merges.": "lists of errors merged by",
        "comparisons.": "comparisons for",
    }
    for prefix, kind in writers.items():
        if name.startswith(prefix):
            return f"{kind} {name.removeprefix(prefix)}"
    if name == "original":
        return "originals that a model wrote"
    return f"texts of {name}"


def _cells(rows: ReportRows) -> list[ReportCell]:
    cells = [count_cell(round(rows.total(name))) for name in names_of_group("usage")]
    if free(rows):
        cells += [words_cell("free"), words_cell("free")]
    else:
        total = None
        if not unpriced(rows):
            total = rows.total(PRICE)
        cells += [dollars_cell(total), dollars_cell(price_per_1000(rows))]
    notes = filter(None, rows.where(statistic=PRICE).names("note"))
    cells.append(words_cell("; ".join(notes)))
    return cells


# --- cost against quality -------------------------------------------------------------


def tradeoff(report: Report) -> list[PageBlock]:
    """Return per dataset a figure of all judges with a known price; nothing where all
    is free.
    """

    def of_dataset(dataset: ShownDataset) -> Iterator[PageBlock]:
        costs = report.rows("cost", dataset.id)
        prices = dict[ShownJudge, float]()
        unpriced = []
        for judge in report.real_judges:
            price = price_per_1000(costs.where(judge=judge.id))
            if price is None:
                unpriced.append(f"`{judge.id}`")
            else:
                prices[judge] = price
        if max(prices.values(), default=0) > 0:
            yield _prices_and_quality(report, dataset, prices)
            if unpriced:
                text = (
                    f"Not drawn because their price is not known: {listed(unpriced)}."
                )
                yield Paragraph(text, style="small")

    parts = by_dataset(report.datasets, "tradeoff", of_dataset)
    if not parts:
        return []
    about = (
        "Each panel plots the cost of 1,000 judgments against one of the headline "
        "measures. The dashed line is the best control: a judge below it is no better "
        "than that control. Where intervals overlap, the more expensive judge is not "
        "shown to be better."
    )
    return [Paragraph(about), *parts]


def _prices_and_quality(
    report: Report, dataset: ShownDataset, priced: Mapping[ShownJudge, float]
) -> PageFigure | Paragraph:
    """Return a panel for each measure; `priced` is what 1,000 judgments of a judge
    cost.
    """
    shown = []
    panels = []
    for measure in measures(report, dataset):
        dots = []
        for number, (judge, price) in enumerate(priced.items(), 1):
            row = measure.row(judge)
            if row and row.value is not None:
                dots.append(Bought(number, price, row))
        if dots:
            control = measure.best_control
            least = " (lower is better)" if measure.less_is_better else ""
            shown.append(measure)
            level = control.value if control else None
            panels.append(Priced(f"{measure.name}{least}", dots, level))
    if not any(map(_has_price, panels)):
        return Paragraph("No judge with a known price has a value here.")

    def cells(judge: ShownJudge) -> list[ReportCell]:
        numbers = (measure.row(judge) for measure in shown)
        return [dollars_cell(priced[judge]), *estimates(numbers)]

    columns = [TableColumn(f"US$ per {THOUSAND}")]
    columns += [TableColumn(measure.name, group=measure.group) for measure in shown]
    caption = f"{dataset.name}: price of {THOUSAND} judgments and quality."
    keys = [
        LegendKey(str(number), "blue", judge.id)
        for number, judge in enumerate(priced, 1)
    ]
    return PageFigure(
        f"{dataset.name}: cost against quality",
        svg(scatter_spec(panels, x=f"US$ per {THOUSAND} judgments")),
        _summary(shown, priced),
        [*keys, LegendKey("┅", "green", "the best control")],
        PageTable(caption, "Judge", columns, judge_bodies(priced, cells)),
    )


def _has_price(panel: Priced) -> bool:
    return any(dot.price > 0 for dot in panel.dots)


def _summary(
    shown: Sequence[HeadlineColumn], priced: Mapping[ShownJudge, float]
) -> str:
    """Return the span of prices, and which judges a cheaper one is better than, by the
    rule.
    """
    beaten = []
    for judge, price in priced.items():
        cheaper = []
        for other in priced:
            if priced[other] < price:
                cheaper.append(other)
        pairs = product(cheaper, shown)
        if any(measure.above(other, judge) for other, measure in pairs):
            beaten.append(f"`{judge.id}`")
    lowest = min(priced.values())
    highest = max(priced.values())
    ends = f"${dollars(lowest)} to ${dollars(highest)}"
    span = f"{len(priced)} judges, from {ends} per {THOUSAND} judgments."
    if not beaten:
        return f"{span} No cheaper judge is better on any of these numbers."
    return (
        f"{span} On some of these numbers a cheaper judge is better than "
        f"{listed(beaten)}."
    )
