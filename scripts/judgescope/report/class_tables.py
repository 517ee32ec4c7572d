"""Tables of classes: how many texts have each, and people's by those of a judge."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from judgescope.report.cells import NO_CELL, ReportCell, count_cell, heat
from judgescope.report.elements import (
    Body,
    PageTable,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.rows import ReportRow, ReportRows


def class_columns(
    counts: ReportRows, group: str = "", statistic: str = "class_count"
) -> list[TableColumn]:
    """Return a column for each class that some count has, from the lowest."""
    return [
        TableColumn(f"class {k}", "", group, statistic=statistic, where={"k": k})
        for k in range(1, counts.highest_class + 1)
    ]


def counted(row: ReportRow | None) -> ReportCell:
    """Return the cell of a count; an empty one without a row."""
    if row is None:
        return NO_CELL
    return count_cell(round(row.value or 0))


def class_table(
    rows: ReportRows,
    size: int,
    caption: str,
    corner: str,
    classes: str,
    *,
    names: Sequence[str] = (),
    more: Sequence[str] = (),
    link: Callable[[int, int], str] = lambda _, __: "",
) -> PageTable:
    """Return the classes of texts (rows) by those of a judge (columns).

    `names` are those of the classes, `more` those of further columns, which hold other
    verdicts; link(row, column), both from 1: where a count leads. Cells are shaded by
    their share of the line; that of the right class is outlined.
    """
    counts = {}
    for row in rows:
        counts[(row.k, row.k_b)] = round(row.value or 0)
    lines = []
    heads = []
    width = size + len(more)
    for k in range(1, size + 1):
        numbers = [counts.get((k, other), 0) for other in range(1, width + 1)]
        total = sum(numbers)
        cells = []
        for other, number in enumerate(numbers, 1):
            shade = heat(number / total if number else 0)
            outline = " wanted" if other == k else ""
            cell = count_cell(number)
            href = ""
            if number:
                href = link(k, other)
            cells.append(
                replace(cell, style=f"{cell.style} {shade}{outline}", href=href)
            )
        heads.append(names[k - 1] if names else f"class {k}")
        lines.append(TableLine(heads[-1], cells))
    note = f"Outlined: the judge finds {classes}. Shaded by the share of the row."
    columns = columns_of([*heads, *more])
    return PageTable(caption, corner, columns, [Body(lines)], [note], code=False)
