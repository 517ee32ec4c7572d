"""What the study's replies cost when they were bought."""

from collections.abc import Iterable

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Line,
    Section,
    Table,
    Text,
    dollars,
    whole,
    words_cell,
)
from judgescope.report.report import Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import bodies
from judgescope.report.words import spoken

COUNTS = ("replies", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
PRICE, EACH = "usd", "usd_per_1000"
ALL = "all"
"""The judge of rows that count every reply once."""
ANALYSES, MERGES = "analyses.", "merges."
"""Begins the name of a model that wrote why demonstrations have their ratings."""
FREE = "nothing is bought"
"""In the note of the price of what no endpoint answers."""
COMPARED = "comparisons."
"""Begins what comparisons behind a graded set are booked under."""


def section(report: Report) -> Section | None:
    """Return replies, tokens and price of every judge and writer, over all datasets."""
    rows = report.rows("cost")
    if not len(rows):
        return None

    def cells(judge: Judge) -> list[Cell] | None:
        mine = rows.where(judge=judge.id)
        return _cells(mine) if len(mine) else None

    made = sorted({row.perturbation for row in rows if not row.judge})
    writers = [Line(_writer(name), _cells(rows.where(perturbation=name))) for name in made]
    every = rows.where(judge=ALL)
    columns = [Column(spoken(name)) for name in (*COUNTS, PRICE, EACH)]
    columns += [Column("Remarks", style="words")]
    parts = bodies(report.judges, cells)
    parts += [Body(writers)] if writers else []
    parts += [Body([Line("all, each reply once", _cells(every))], style="sums")]
    blocks: list[Block] = [
        Table("Replies, tokens and price, over all datasets.", "Judge", columns, parts)
    ]
    unpriced = [judge.id for judge in report.judges if _unpriced(rows.where(judge=judge.id))]
    unpriced += [name for name in made if _unpriced(rows.where(perturbation=name))]
    if unpriced:
        told = f"The price of {', '.join(unpriced)} is not known; the tables say why."
        blocks.insert(0, Text(told, style="warning"))
    elif free(row for row in rows if row.judge != ALL):
        blocks.insert(0, Text("Nothing was bought for this study.", style="finding"))
    lead = (
        "What the replies behind this report cost when they were bought, whoever paid then, by the "
        "usage that the endpoints told. A judge's row is what it would cost alone; the last row "
        "counts a reply once, though several judges read it."
    )
    return Section("cost", "Cost", lead, blocks)


def _writer(name: str) -> str:
    """Return what a writer's texts are: of a perturbation, better references, or analyses."""
    if name.startswith(ANALYSES):
        return f"analyses by {name.removeprefix(ANALYSES)}"
    if name.startswith(MERGES):
        return f"lists of errors merged by {name.removeprefix(MERGES)}"
    if name.startswith(COMPARED):
        return f"comparisons for {name.removeprefix(COMPARED)}"
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


def _unpriced(rows: Rows) -> bool:
    return any(row.value is None for row in rows.where(statistic=PRICE))


def _cells(rows: Rows) -> list[Cell]:
    def total(statistic: str) -> float:
        return sum(row.value or 0 for row in rows.where(statistic=statistic))

    prices = rows.where(statistic=PRICE)
    notes = dict.fromkeys(row.note for row in prices if row.note)
    return [
        *(whole(round(total(name))) for name in COUNTS),
        dollars(None if _unpriced(rows) else total(PRICE)),
        dollars(price_per_1000(rows)),
        words_cell("; ".join(notes)),
    ]
