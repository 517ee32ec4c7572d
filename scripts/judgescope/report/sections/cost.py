"""What the study's replies cost when they were requested, and cost against quality."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from judgescope.methods.cost import FREE
from judgescope.report.cells import Cell, count_cell, dollars_cell, estimate, words_cell
from judgescope.report.charts import svg
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Figure,
    Key,
    Line,
    Section,
    Table,
    Text,
)
from judgescope.report.headline import LEAST_IS_BEST, Measure, measures
from judgescope.report.panels import Bought, Priced, scatter_spec
from judgescope.report.report import Dataset, Judge, Report, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.tables import by_dataset, judge_bodies
from judgescope.report.words import THOUSAND, dollars, listed, spoken

USAGE = (
    "replies",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "reasoning_tokens",
)
PRICE, EACH = "usd", "usd_per_1000"
ALL = "all"
"""The judge of rows that count every reply once."""
WRITERS = {
    "analyses.": "analyses by",
    "merges.": "lists of errors merged by",
    "comparisons.": "comparisons for",
}
"""What begins a writer's name -> what it writes."""
COST_LEAD = (
    "The price of the replies behind this report, from the token usage that endpoints "
    "reported when the replies were requested. A judge's row shows what it would cost "
    "if it ran alone."
)
EVERY_LEAD = " The last row counts every reply once, even if several judges use it."
TRADEOFF_LEAD = (
    "Each panel plots the cost of 1,000 judgments against one of the headline "
    "measures. The dashed line is the best control: a judge below it is no better than "
    "that control. Where intervals overlap, the more expensive judge is not shown to "
    "be better."
)


@in_group("Evidence", 140)
def section(report: Report) -> Section | None:
    """Return replies, tokens and price of every judge and writer, over all datasets."""
    rows = report.rows("cost")
    if not len(rows):
        return None
    asked = report.judges_of(rows)
    bodies = judge_bodies(asked, lambda judge: _cells(rows.where(judge=judge.id)))
    written = sorted(rows.where(judge="").names("perturbation"))
    writers = {name: rows.where(perturbation=name) for name in written}
    if writers:
        bodies.append(
            Body([Line(_written_by(name), _cells(w)) for name, w in writers.items()])
        )
    every = rows.where(judge=ALL)
    if len(every):
        bodies.append(Body([Line("all, each reply once", _cells(every))], style="sums"))
    columns = [Column(spoken(name)) for name in (*USAGE, PRICE, EACH)]
    columns.append(Column("Remarks", style="words"))
    table = Table(
        "Replies, tokens and price, over all datasets.", "Judge", columns, bodies
    )
    unpriced = [judge.id for judge in asked if _unpriced(rows.where(judge=judge.id))]
    unpriced += [name for name, of_writer in writers.items() if _unpriced(of_writer)]
    first: list[Block] = []
    if unpriced:
        names = ", ".join(unpriced)
        text = f"The price of {names} is not known; the table gives the reason."
        first.append(Text(text, style="warning"))
    elif free(row for row in rows if row.judge != ALL):
        first.append(
            Text("This study cost nothing: no endpoint was asked.", style="finding")
        )
    lead = f"{COST_LEAD}{EVERY_LEAD if len(every) else ''}"
    return Section("cost", "Cost", lead, [*first, *tradeoff(report), table])


def _written_by(name: str) -> str:
    """Return a name for a writer's texts: of a perturbation, better references, or
    analyses.
    """
    for prefix, kind in WRITERS.items():
        if name.startswith(prefix):
            return f"{kind} {name.removeprefix(prefix)}"
    return "originals that a model wrote" if name == "original" else f"texts of {name}"


def price_per_1000(rows: Rows) -> float | None:
    """Return the price of 1,000 judgments over all datasets; None where it is not
    known.
    """
    each = rows.where(statistic=EACH).defined.frame
    judgments = int(each["n"].sum())
    if not judgments or _unpriced(rows):
        return None
    return float((each["value"] * each["n"]).sum()) / judgments


def price_in_words(rows: Rows) -> str:
    """Return what 1,000 judgments cost, that they are free, or that it is not known."""
    if free(rows):
        return "free: no request is sent"
    price = price_per_1000(rows)
    return (
        "price not known"
        if price is None
        else f"US$ {dollars(price)} per {THOUSAND} judgments"
    )


def free(rows: Iterable[Row]) -> bool:
    """Return whether all of this is free: no endpoint is asked."""
    return all(FREE in row.note for row in rows if row.statistic == PRICE)


def _unpriced(rows: Rows) -> bool:
    return bool(rows.where(statistic=PRICE).frame["value"].isna().any())


def _cells(rows: Rows) -> list[Cell]:
    notes = filter(None, rows.where(statistic=PRICE).names("note"))
    prices = None if _unpriced(rows) else rows.total(PRICE), price_per_1000(rows)
    return [
        *(count_cell(round(rows.total(name))) for name in USAGE),
        *(
            words_cell("free") if free(rows) else dollars_cell(price)
            for price in prices
        ),
        words_cell("; ".join(notes)),
    ]


# --- cost against quality -------------------------------------------------------------


def tradeoff(report: Report) -> list[Block]:
    """Return per dataset a figure of all judges with a known price; nothing where all
    is free.
    """

    def blocks(dataset: Dataset) -> Iterator[Block]:
        costs = report.rows("cost", dataset.id)
        judges = [judge for judge in report.judges if not judge.control]
        prices = {
            judge: price_per_1000(costs.where(judge=judge.id)) for judge in judges
        }
        priced = {judge: price for judge, price in prices.items() if price is not None}
        if any(price > 0 for price in priced.values()):
            yield _prices_and_quality(report, dataset, priced)
            unpriced = [f"`{judge.id}`" for judge in judges if judge not in priced]
            if unpriced:
                text = (
                    f"Not drawn because their price is not known: {listed(unpriced)}."
                )
                yield Text(text, style="small")

    found = by_dataset(report.datasets, "tradeoff", blocks)
    return [Text(TRADEOFF_LEAD), *found] if found else []


def _prices_and_quality(
    report: Report, dataset: Dataset, priced: Mapping[Judge, float]
) -> Figure | Text:
    """Return a panel for each measure; `priced` is what 1,000 judgments of a judge
    cost.
    """
    shown, panels = [], []
    for measure in measures(report, dataset):
        rows = {judge: measure.row(judge) for judge in priced}
        dots = [
            Bought(number, priced[judge], row)
            for number, (judge, row) in enumerate(rows.items(), 1)
            if row and row.value is not None
        ]
        if dots:
            control = measure.best_control
            least = " (lower is better)" if measure.statistic in LEAST_IS_BEST else ""
            shown.append(measure)
            level = control.value if control else None
            panels.append(Priced(f"{measure.name}{least}", dots, level))
    if not any(dot.price > 0 for panel in panels for dot in panel.dots):
        return Text("No judge with a known price has a value here.")

    def cells(judge: Judge) -> list[Cell]:
        return [
            dollars_cell(priced[judge]),
            *(estimate(measure.row(judge)) for measure in shown),
        ]

    columns = [Column(f"US$ per {THOUSAND}")]
    columns += [Column(measure.name, group=measure.group) for measure in shown]
    caption = f"{dataset.name}: price of {THOUSAND} judgments and quality."
    keys = [
        Key(str(number), "blue", judge.id) for number, judge in enumerate(priced, 1)
    ]
    return Figure(
        f"{dataset.name}: cost against quality",
        svg(scatter_spec(panels, x=f"US$ per {THOUSAND} judgments")),
        _summary(shown, priced),
        [*keys, Key("┅", "green", "the best control")],
        Table(caption, "Judge", columns, judge_bodies(priced, cells)),
    )


def _summary(shown: Sequence[Measure], priced: Mapping[Judge, float]) -> str:
    """Return the span of prices, and which judges a cheaper one is better than, by the
    rule.
    """
    beaten = [
        f"`{judge.id}`"
        for judge, price in priced.items()
        if any(
            measure.above(other, judge)
            for other, less in priced.items()
            if less < price
            for measure in shown
        )
    ]
    least, most = min(priced.values()), max(priced.values())
    ends = f"${dollars(least)} to ${dollars(most)}"
    span = f"{len(priced)} judges, from {ends} per {THOUSAND} judgments."
    if not beaten:
        return f"{span} No cheaper judge is better on any of these numbers."
    return (
        f"{span} On some of these numbers a cheaper judge is better than "
        f"{listed(beaten)}."
    )
