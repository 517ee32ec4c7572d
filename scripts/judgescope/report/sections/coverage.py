"""What came of every judgment that was planned."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from judgescope.parsing.judgment import OFF_GRID
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Fold,
    Line,
    Section,
    Table,
    Text,
    whole,
    words_cell,
)
from judgescope.report.numbers import percent
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import bodies, section_of
from judgescope.report.words import OFF_GRID_SENTENCE, STATUSES, spoken

PREFIX = "count_"


@dataclass
class Tally:
    """Judgments by status, and the reasons why cells were never asked."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Tally":
        """Return the sum over rows of coverage."""
        found = cls()
        for row in rows:
            if row.statistic.startswith(PREFIX) and row.value is not None:
                found.counts[row.statistic.removeprefix(PREFIX)] += round(row.value)
            elif row.statistic == "coverage" and row.value is None:
                found.reasons[spoken(row.note)] = None
        return found

    def cells(self, statuses: list[str]) -> list[Cell]:
        """Return planned, each status, the share with a value, reasons."""
        planned = self.counts.total()
        asked = planned - self.counts["not_applicable"]
        share = percent(self.counts["ok"] / asked) if asked else "–"
        return [
            whole(planned),
            *(whole(self.counts[status]) for status in statuses),
            Cell(share, sort=self.counts["ok"] / asked if asked else None),
            words_cell("; ".join(self.reasons)),
        ]


def section(report: Report) -> Section | None:
    """Return per dataset a row per judge and, folded, a row per cell."""
    lead = (
        "No number hides what is missing behind it: these are all judgments that were planned of "
        "texts that exist, by what came of them. What could not be read never became a score."
    )
    return section_of(report, "coverage", "Coverage", lead, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    blocks: list[Block] = [_judges(report, dataset, rows)]
    if Tally.of(rows).counts[OFF_GRID]:
        blocks.append(Text(OFF_GRID_SENTENCE, style="small"))
    return [*blocks, _cells(report, dataset, rows)]


def _columns(rows: Rows) -> tuple[list[str], list[Column]]:
    """Return the statuses that occur, ok first, and the columns of both tables."""
    seen = {name.removeprefix(PREFIX) for name in rows.names("statistic")}
    statuses = [status for status in STATUSES if status in seen or status == "ok"]
    named = [Column(STATUSES[status], group="Judgments") for status in statuses]
    ends = [Column("ok of asked"), Column("Reasons", style="words")]
    return statuses, [Column("planned", group="Judgments"), *named, *ends]


def _judges(report: Report, dataset: Dataset, rows: Rows) -> Table:
    statuses, columns = _columns(rows)

    def cells(judge: Judge) -> list[Cell] | None:
        mine = rows.where(judge=judge.id)
        return Tally.of(mine).cells(statuses) if len(mine) else None

    caption = f"{dataset.name}: judgments by judge, over all cells."
    return Table(caption, "Judge", columns, bodies(report.judges, cells))


def _cells(report: Report, dataset: Dataset, rows: Rows) -> Fold:
    statuses, columns = _columns(rows)
    parts = []
    for judge in report.judges:
        cells: dict[tuple[str, str], list[Row]] = {}
        for row in rows.where(judge=judge.id):
            cells.setdefault((row.cell, row.aspect), []).append(row)
        lines = [
            Line(cell, Tally.of(own).cells(statuses), about=report.aspect(aspect))
            for (cell, aspect), own in cells.items()
        ]
        if lines:
            parts.append(Body(lines, judge.id))
    caption = f"{dataset.name}: judgments by judge, set of targets and aspect."
    source = "tables/coverage.csv"
    table = Table(caption, "Targets and aspect", columns, parts, source=source)
    return Fold(f"Every cell of {dataset.name}", [table])
