"""Which aspects, and which wordings of one, judges keep apart."""

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
    figures,
)
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import section_of

PEOPLE = "human"
LEAD = (
    "A judge that is asked about one aspect may rate another: its scores of two aspects are then "
    "one, or go with the ratings of the other aspect more than with those of its own."
)


def section(report: Report) -> Section | None:
    """Return per dataset the correlations of each judge's aspects, folded."""
    return section_of(report, "criteria", "Aspects kept apart", LEAD, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return, folded per judge, what it keeps apart: aspects, wordings, and people's aspects."""
    blocks: list[Block] = []
    whose = "the planned ratings" if dataset.planned else "people's ratings"
    for judge in report.judges:
        own = rows.where(judge=judge.id, statistic="pearson")
        tables = [
            _pairs(report, own.where(perturbation=which, judge_b=other), told)
            for which, other, told in (
                ("systems", PEOPLE, f"{judge.id} (rows) with {whose} (columns), texts of systems"),
                ("systems", "", f"{judge.id} with itself, texts of systems"),
                ("all", "", f"{judge.id} with itself, originals and damaged texts"),
            )
        ]
        shown = [table for table in tables if table]
        astray = rows.where(judge=judge.id, statistic="follows_other")
        said = [Text(_astray(row, whose)) for row in astray if row.value is not None]
        if shown:
            title = f"Correlations between aspects, {judge.id}: {dataset.name}"
            blocks.append(Fold(title, [*said, *shown]))
    return blocks


def _astray(row: Row, whose: str) -> str:
    wording = f" in the criterion {row.criterion}" if row.criterion else ""
    return (
        f"{round((row.value or 0) * row.n)} of {row.n} aspects{wording} correlate more with "
        f"{whose} of another aspect than with those of their own."
    )


def _pairs(report: Report, rows: Rows, told: str) -> Table | None:
    """Return r of every two aspects, or wordings, that the rows have."""
    found = {(row.judged, _other(row)): row for row in rows}
    heads = list(dict.fromkeys(one for one, _ in found))
    tops = list(dict.fromkeys(other for _, other in found))
    if not found:
        return None
    lines = [
        Line(
            report.aspect(head),
            [
                Cell(figures(row), sort=row.value, title=f"n = {row.n}", row=row)
                if (row := found.get((head, top)))
                else Cell("", style="none")
                for top in tops
            ],
        )
        for head in heads
    ]
    columns = [Column(report.aspect(top)) for top in tops]
    return Table(f"Pearson r: {told}.", "Aspect", columns, [Body(lines)], code=False)


def _other(row: Row) -> str:
    return f"{row.aspect_b}.{row.criterion_b}" if row.criterion_b else row.aspect_b
