"""What the study's replies cost when they were bought, and cost against quality."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judgescope.report.cells import Cell, count_cell, dollars_cell, estimate, words_cell
from judgescope.report.charts import svg
from judgescope.report.elements import Block, Body, Column, Figure, Key, Line, Section, Table, Text
from judgescope.report.headline import LEAST_IS_BEST, Measure, best_control, measures
from judgescope.report.panels import Bought, Priced, scatter_spec
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.tables import by_dataset, judge_bodies
from judgescope.report.words import THOUSAND, dollars, listed, spoken

USAGE = ("replies", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
PRICE, EACH = "usd", "usd_per_1000"
ALL = "all"
"""The judge of rows that count every reply once."""
WRITERS = {
    "analyses.": "analyses by",
    "merges.": "lists of errors merged by",
    "comparisons.": "comparisons for",
}
"""What begins a writer's name -> what it writes."""
FREE = "nothing is bought"
"""In the note of the price of what no endpoint answers."""
COST_LEAD = (
    "What the replies behind this report cost when they were bought, whoever paid then, by the "
    "usage that the endpoints told. A judge's row is what it would cost alone; the last row "
    "counts a reply once, though several judges read it."
)
TRADEOFF_LEAD = (
    "Each panel sets what 1,000 judgments cost when they were bought against one of the numbers of "
    "the first table. The dashed line is the best control: below it, money buys nothing. Where "
    "intervals cross, the dearer judge is not shown to be better."
)


def section(report: Report) -> Section | None:
    """Return replies, tokens and price of every judge and writer, over all datasets."""
    rows = report.rows("cost")
    if not len(rows):
        return None

    def cells(judge: Judge) -> list[Cell] | None:
        mine = rows.where(judge=judge.id)
        return _cells(mine) if len(mine) else None

    bodies = judge_bodies(report.judges, cells)
    writers = {
        name: rows.where(perturbation=name)
        for name in sorted({row.perturbation for row in rows if not row.judge})
    }
    if writers:
        bodies.append(Body([Line(_written_by(name), _cells(w)) for name, w in writers.items()]))
    every = rows.where(judge=ALL)
    bodies.append(Body([Line("all, each reply once", _cells(every))], style="sums"))
    columns = [Column(spoken(name)) for name in (*USAGE, PRICE, EACH)]
    columns.append(Column("Remarks", style="words"))
    table = Table("Replies, tokens and price, over all datasets.", "Judge", columns, bodies)
    unpriced = [judge.id for judge in report.judges if _unpriced(rows.where(judge=judge.id))]
    unpriced += [name for name, of_writer in writers.items() if _unpriced(of_writer)]
    first: list[Block] = []
    if unpriced:
        names = ", ".join(unpriced)
        text = f"The price of {names} is not known; the tables say why."
        first.append(Text(text, style="warning"))
    elif free(row for row in rows if row.judge != ALL):
        first.append(Text("Nothing was bought for this study.", style="finding"))
    return Section("cost", "Cost", COST_LEAD, [*first, table])


def _written_by(name: str) -> str:
    """Return what a writer's texts are: of a perturbation, better references, or analyses."""
    for prefix, kind in WRITERS.items():
        if name.startswith(prefix):
            return f"{kind} {name.removeprefix(prefix)}"
    return "originals that a model wrote" if name == "original" else f"texts of {name}"


def price_per_1000(rows: Rows) -> float | None:
    """Return the price of 1,000 judgments over all datasets; None where it is not known."""
    each = [row for row in rows.where(statistic=EACH) if row.value is not None]
    judgments = sum(row.n for row in each)
    if not judgments or _unpriced(rows):
        return None
    return sum((row.value or 0) * row.n for row in each) / judgments


def free(rows: Iterable[Row]) -> bool:
    """Return whether nothing of this is bought at all: no endpoint is asked."""
    return all(FREE in row.note for row in rows if row.statistic == PRICE)


def total(rows: Rows, statistic: str) -> float:
    """Return the sum of a statistic over all rows."""
    return sum(row.value or 0 for row in rows.where(statistic=statistic))


def _unpriced(rows: Rows) -> bool:
    return any(row.value is None for row in rows.where(statistic=PRICE))


def _cells(rows: Rows) -> list[Cell]:
    notes = filter(None, rows.where(statistic=PRICE).names("note"))
    return [
        *(count_cell(round(total(rows, name))) for name in USAGE),
        dollars_cell(None if _unpriced(rows) else total(rows, PRICE)),
        dollars_cell(price_per_1000(rows)),
        words_cell("; ".join(notes)),
    ]


# --- cost against quality --------------------------------------------------------------------


def tradeoff(report: Report) -> Section | None:
    """Return per dataset a figure of all judges with a known price; None where all is free."""

    def blocks(dataset: Dataset) -> Iterator[Block]:
        costs = report.rows("cost", dataset.id)
        judges = [judge for judge in report.judges if not judge.control]
        prices = {judge.id: price_per_1000(costs.where(judge=judge.id)) for judge in judges}
        priced = {name: price for name, price in prices.items() if price is not None}
        if any(price > 0 for price in priced.values()):
            yield _Market(report, dataset, priced).figure()
            unpriced = [f"`{judge.id}`" for judge in judges if judge.id not in priced]
            if unpriced:
                text = f"Not drawn, as their price is not known: {listed(unpriced)}."
                yield Text(text, style="small")

    found = by_dataset(report.datasets, "tradeoff", blocks)
    return Section("tradeoff", "Cost against quality", TRADEOFF_LEAD, found) if found else None


@dataclass(frozen=True)
class _Market:
    """The judges of a dataset with a known price, `priced` per 1,000 judgments."""

    report: Report
    dataset: Dataset
    priced: dict[str, float]

    @property
    def judges(self) -> list[Judge]:
        return [judge for judge in self.report.judges if judge.id in self.priced]

    def figure(self) -> Figure | Text:
        panels = {
            measure: dots
            for measure in measures(self.report, self.dataset)
            if (dots := self._dots(measure))
        }
        if not any(dot.price > 0 for dots in panels.values() for dot in dots):
            return Text("No judge with a price has a number here.")
        drawn = [self._panel(measure, dots) for measure, dots in panels.items()]
        keys = [Key(str(number), "blue", judge.id) for number, judge in enumerate(self.judges, 1)]
        return Figure(
            f"{self.dataset.name}: cost against quality",
            svg(scatter_spec(drawn, x=f"US$ per {THOUSAND} judgments")),
            self._summary([*panels]),
            [*keys, Key("┅", "green", "the best control")],
            self._table([*panels]),
        )

    def _dots(self, measure: Measure) -> list[Bought]:
        rows = [measure.row(self.report, self.dataset, judge) for judge in self.judges]
        return [
            Bought(number, self.priced[row.judge], row.value, row.lo, row.hi)
            for number, row in enumerate(rows, 1)
            if row and row.value is not None
        ]

    def _panel(self, measure: Measure, dots: Sequence[Bought]) -> Priced:
        control = best_control(self.report, self.dataset, measure)
        least = " (least is best)" if measure.statistic in LEAST_IS_BEST else ""
        name = measure.name(self.report)
        return Priced(f"{name}{least}", dots, control.value if control else None)

    def _summary(self, shown: Sequence[Measure]) -> str:
        """Return the span of prices, and which judges a cheaper one is better than, by the rule."""
        beaten = {
            judge.id
            for judge in self.judges
            for other in self.judges
            for measure in shown
            if self.priced[other.id] < self.priced[judge.id]
            and measure.above(self.report, self.dataset, other, judge)
        }
        least, most = min(self.priced.values()), max(self.priced.values())
        ends = f"${dollars(least)} to ${dollars(most)}"
        span = f"{len(self.priced)} judges, from {ends} per {THOUSAND} judgments."
        if not beaten:
            return f"{span} None is beaten by a cheaper one on any of these numbers."
        names = listed([f"`{name}`" for name in self.priced if name in beaten])
        return f"{span} On some of these numbers a cheaper judge is better than {names}."

    def _table(self, shown: Sequence[Measure]) -> Table:
        def cells(judge: Judge) -> list[Cell]:
            rows = (measure.row(self.report, self.dataset, judge) for measure in shown)
            return [dollars_cell(self.priced[judge.id]), *map(estimate, rows)]

        columns = [Column(f"US$ per {THOUSAND}")]
        columns += [Column(measure.name(self.report), group=measure.group) for measure in shown]
        caption = f"{self.dataset.name}: price of {THOUSAND} judgments and quality."
        return Table(caption, "Judge", columns, judge_bodies(self.judges, cells))
