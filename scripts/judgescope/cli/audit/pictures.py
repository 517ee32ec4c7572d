"""The picture of a page: what people said by what the judge said, as text and as SVG.

People run across, the judge runs down: labels and choices from the worst, or the first
text; ratings up, the highest on top. A cell has its count; a tint says which share of
the rows it has, rust where judge and people are far apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt
from typing import Final

from judgescope.cli.audit.crossed import CHOICES, LABELS, RANKS, STEPS, Crossing
from judgescope.cli.audit.headline import cut
from judgescope.cli.terminal import plain
from judgescope.report.cells import count_cell
from judgescope.report.charts import PALETTE
from judgescope.report.elements import (
    Body,
    LegendKey,
    PageFigure,
    PageTable,
    TableLine,
    columns_of,
)
from judgescope.report.words import count, percent, plural

MOST_LINES: Final = 12
"""Lines of a picture in the terminal."""
UPWARDS: Final = (STEPS, RANKS)
"""Kinds of axes whose highest category stands on top."""


def is_far(crossing: Crossing, row: int, column: int) -> bool:
    """Whether a cell is where judge and people differ so much that it costs.

    Labels and choices: off the diagonal. Ratings: two steps and a quarter of the
    scale apart, or more.
    """
    rows, columns = len(crossing.rows), len(crossing.columns)
    if crossing.kind in (LABELS, CHOICES):
        return crossing.square and row != column
    apart = abs(row / max(1, rows - 1) - column / max(1, columns - 1))
    return apart >= max(0.25, 2 / max(rows, columns))


def orders(crossing: Crossing) -> list[int]:
    """The rows of a crossing from the top of its picture."""
    places = list(range(len(crossing.rows)))
    return places[::-1] if crossing.kind in UPWARDS else places


def title_of(crossing: Crossing, aspect: str, unit: str) -> str:
    """What a picture shows, in a few words."""
    if not crossing.judge:
        return f"One person by the others: {plural(crossing.n, 'rating')}"
    return f"{crossing.judge} by people, {aspect}: {plural(crossing.n, unit)}"


# --- text -----------------------------------------------------------------------------


def as_lines(
    crossing: Crossing, aspect: str, unit: str, *, beside: Crossing | None, width: int
) -> list[str]:
    """The picture in at most 12 lines, with people at its right if they fit."""
    block = _block(crossing, aspect, unit)
    if beside is None:
        return block
    other = _block(beside, aspect, "rating")
    left = max(map(len, block))
    if left + 3 + max(map(len, other)) > width:
        return block
    lines = []
    for at in range(max(len(block), len(other))):
        first = block[at] if at < len(block) else ""
        second = other[at] if at < len(other) else ""
        lines.append(f"{first:<{left}}   {second}".rstrip())
    return lines


def _block(crossing: Crossing, aspect: str, unit: str) -> list[str]:
    heads = [_short(name) for name in crossing.columns]
    cells = max(5, *map(len, heads)) + 1
    names = [_short(name) for name in crossing.rows]
    side = max(len("people:"), *map(len, names))
    lines = [title_of(crossing, aspect, unit)]
    lines.append(f"{'people:':>{side}}" + "".join(f"{head:>{cells}}" for head in heads))
    for row in orders(crossing):
        counts = "".join(
            f"{count(cell) if cell else '.':>{cells}}" for cell in crossing.counts[row]
        )
        lines.append(f"{names[row]:>{side}}{counts}")
    if crossing.square and crossing.kind in (LABELS, CHOICES):
        shares = ""
        for column in range(len(heads)):
            recall = crossing.recall(column)
            shares += f"{'-' if recall is None else percent(recall):>{cells}}"
        lines.append(f"{'found:':>{side}}{shares}")
    return lines[:MOST_LINES]


def _short(name: str, characters: int = 14) -> str:
    return cut(plain(name), characters)


# --- SVG ------------------------------------------------------------------------------


@dataclass(frozen=True)
class GridLayout:
    """Pixels of a picture."""

    bubble: int = 34
    """Room for a bubble in a cell; its number is at its right."""
    wide_cell: int = 92
    """A cell under a word instead of a number."""
    row: int = 34
    character: int = 7
    top: int = 44
    """Room for the title of the people and their categories."""
    gap: int = 10
    largest: float = 13.0
    """The radius of the bubble of all rows."""


GRID: Final = GridLayout()


def as_svg(crossing: Crossing) -> str:
    """One panel: a bubble for each cell with rows, its area their number.

    The page says in words what it shows, and has its numbers as a table.
    """
    with_words = crossing.kind in (LABELS, CHOICES) or RANKS in (
        crossing.kind,
        _row_kind(crossing),
    )
    longest = max(len(count(cell)) for row in crossing.counts for cell in row)
    side = GRID.bubble + GRID.character * longest + 8
    if with_words:
        side = max(side, GRID.wide_cell)
    names = [_short(name) for name in crossing.rows]
    left = GRID.gap + 10 + GRID.character * max(map(len, names))
    width = left + side * len(crossing.columns) + GRID.gap
    height = GRID.top + GRID.row * len(names) + GRID.gap
    parts = [_text(left, 14, "people", anchor="start", soft=True)]
    for column, name in enumerate(crossing.columns):
        x = left + side * (column + 0.5)
        parts.append(_text(x, GRID.top - 10, _short(name, 13)))
    for line, row in enumerate(orders(crossing)):
        y = GRID.top + GRID.row * line
        parts.append(_text(left - 8, y + GRID.row / 2 + 4, names[row], anchor="end"))
        for column in range(len(crossing.columns)):
            x = left + side * column
            parts += _cell(crossing, row, column, (x, y, side))
    body = "".join(parts)
    return (
        f'<svg class="crossing" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">{body}</svg>'
    )


def _row_kind(crossing: Crossing) -> str:
    return RANKS if any("%" in name for name in crossing.rows) else crossing.kind


def _cell(
    crossing: Crossing, row: int, column: int, corner: tuple[float, float, float]
) -> list[str]:
    """A cell of the grid at (x, y) with a width: its frame, and what it counts."""
    x, y, side = corner
    counted = crossing.counts[row][column]
    on_diagonal = crossing.square and row == column
    fill = "#e6f1fa" if on_diagonal else "none"
    parts = [
        f'<rect x="{x}" y="{y}" width="{side}" height="{GRID.row}" fill="{fill}" '
        f'stroke="{PALETTE.grid}"/>'
    ]
    if not counted:
        return parts
    far = is_far(crossing, row, column)
    colour = PALETTE.red if far else PALETTE.blue
    radius = max(2.0, GRID.largest * sqrt(counted / max(map(max, crossing.counts))))
    middle = y + GRID.row / 2
    centre = x + GRID.bubble / 2 + 1
    parts.append(
        f'<circle cx="{centre:.1f}" cy="{middle:.1f}" r="{radius:.1f}" '
        f'fill="{colour}" fill-opacity="{0.35 if far else 0.3}"/>'
    )
    parts.append(_text(x + side - 5, middle + 4, count(counted), anchor="end"))
    return parts


def _text(
    x: float, y: float, text: str, *, anchor: str = "middle", soft: bool = False
) -> str:
    colour = PALETTE.soft if soft else PALETTE.ink
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


# --- figures of a page ----------------------------------------------------------------


def figure_of(crossings: Sequence[Crossing], aspect: str, unit: str) -> PageFigure:
    """A figure of panels side by side: people among themselves, then judges."""
    panels = []
    bodies = []
    for crossing in crossings:
        who = crossing.judge or "one person by the others"
        units = unit if crossing.judge else "rating"
        title = f"{who}, {plural(crossing.n, units)}"
        panels.append(
            f'<div class="panel"><p>{escape(plain(title))}</p>{as_svg(crossing)}</div>'
        )
        lines = []
        for row in orders(crossing):
            cells = [count_cell(cell) for cell in crossing.counts[row]]
            lines.append(TableLine(plain(crossing.rows[row]), cells))
        bodies.append(Body(lines, plain(title)))
    heads = [plain(name) for name in crossings[0].columns]
    table = PageTable(
        "Rows by what people say (columns) and what the judge says (rows)",
        "Judge",
        columns_of(heads, group="people"),
        bodies,
        code=False,
        whole=True,
    )
    keys = [
        LegendKey("●", "blue", "as many rows as its number says"),
        LegendKey("●", "red", "judge and people far apart"),
    ]
    return PageFigure(
        f"{aspect}: people across, the judge down",
        f'<div class="panels">{"".join(panels)}</div>',
        " ".join(summary(crossing) for crossing in crossings),
        keys,
        table,
    )


def summary(crossing: Crossing) -> str:
    """What to see in a picture, in a sentence."""
    who = crossing.judge or "One person"
    same = far = 0
    for row, counts in enumerate(crossing.counts):
        for column, cell in enumerate(counts):
            same += cell if crossing.square and row == column else 0
            far += cell if is_far(crossing, row, column) else 0
    if crossing.kind in (LABELS, CHOICES) and crossing.square:
        whom = "people" if crossing.judge else "the others"
        verb = "chooses" if crossing.kind == CHOICES else "says"
        return (
            f"{plain(who)} {verb} what {whom} do in {count(same)} of "
            f"{plural(crossing.n, 'row')}."
        )
    whom = "people" if crossing.judge else "the others"
    rows = plural(crossing.n, "row")
    return f"{plain(who)} is far from {whom} in {count(far)} of {rows}."
