"""What the study's replies cost when they were bought."""

from metajudge.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Line,
    Section,
    Table,
    Text,
    whole,
    words_cell,
)
from metajudge.report.numbers import count
from metajudge.report.report import Judge, Report
from metajudge.report.rows import Rows
from metajudge.report.sections.shared import bodies
from metajudge.report.words import spoken

COUNTS = ("replies", "prompt_tokens", "completion_tokens")
PRICE = "usd"


def section(report: Report) -> Section | None:
    """Return replies, tokens and price of every judge, over all datasets."""
    rows = report.rows("cost")
    if not len(rows):
        return None

    def cells(judge: Judge) -> list[Cell] | None:
        mine = rows.where(judge=judge.id)
        return _cells(mine) if len(mine) else None

    total = Line("all judges", [*_cells(rows)[:-1], words_cell("")])
    columns = [Column(spoken(name)) for name in COUNTS]
    columns += [Column("US dollars"), Column("Remarks", style="words")]
    parts = [*bodies(report.judges, cells), Body([total], style="sums")]
    blocks: list[Block] = [
        Table("Replies, tokens and price, over all datasets.", "Judge", columns, parts)
    ]
    if not sum(row.value or 0 for row in rows.where(statistic=PRICE)):
        blocks.insert(0, Text("Nothing was bought for this study.", style="finding"))
    lead = "What the replies behind this report cost when they were bought, whoever paid then."
    return Section("cost", "Cost", lead, blocks)


def _cells(rows: Rows) -> list[Cell]:
    def total(statistic: str) -> float:
        return sum(row.value or 0 for row in rows.where(statistic=statistic))

    price = total(PRICE)
    notes = dict.fromkeys(row.note for row in rows.where(statistic=PRICE) if row.note)
    return [
        *(whole(round(total(name))) for name in COUNTS),
        Cell(f"{price:.2f}" if price < 1000 else count(price), sort=price),
        words_cell("; ".join(notes)),
    ]
