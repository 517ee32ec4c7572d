"""The picture of a page: what people said by what the judge said, as text and as SVG.

People run across, the judge runs down: labels and choices from the worst, or the first
text; ratings up, the highest on top. A cell has its count; a tint says which share of
the rows it has, rust where judge and people are far apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt
from typing import TYPE_CHECKING, Final

from judgescope.cli.audit.crossed import CHOICES, LABELS, RANKS, STEPS, Crossing
from judgescope.cli.terminal import plain
from judgescope.report.cells import count_cell
from judgescope.report.charts import PALETTE
from judgescope.report.words import count, percent, plural
from judgescope.statistics.headline import cut

if TYPE_CHECKING:
    from judgescope.report.elements import PageFigure

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


def _far_in_words(crossing: Crossing) -> str:
    """What the red places of a picture are; see `is_far`."""
    if crossing.kind in (LABELS, CHOICES):
        return "judge and people differ"
    shown = [
        abs(row - column)
        for row in range(len(crossing.rows))
        for column in range(len(crossing.columns))
        if is_far(crossing, row, column)
    ]
    if not shown or len(crossing.rows) != len(crossing.columns):
        return "far apart: by a quarter of the scale or more"
    return f"far apart: by {plural(min(shown), 'step')} or more"


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
    longest = len(count(crossing.largest))
    side = GRID.bubble + GRID.character * longest + 8
    if any(not _is_number(name) for name in (*crossing.rows, *crossing.columns)):
        side = max(side, GRID.wide_cell)
    names = [_short(name) for name in crossing.rows]
    left = GRID.gap + 10 + GRID.character * max(map(len, names))
    right = left + side * len(crossing.columns)
    bottom = GRID.top + GRID.row * len(names)
    parts = [f'<text x="{left}" y="14" fill="{PALETTE.soft}">people</text>']
    heads = []
    for column, name in enumerate(crossing.columns):
        x = left + side * column + side // 2
        heads.append(_text(x, GRID.top - 10, _short(name, 13)))
    parts.append(_group("middle", heads))
    lines = "".join(
        f"M{left} {GRID.top + GRID.row * line}H{right}"
        for line in range(len(names) + 1)
    )
    lines += "".join(
        f"M{left + side * column} {GRID.top}V{bottom}"
        for column in range(len(crossing.columns) + 1)
    )
    diagonal = ""
    bubbles = []
    numbers = []
    for line, row in enumerate(orders(crossing)):
        y = GRID.top + GRID.row * line
        numbers.append(_text(left - 8, y + GRID.row // 2 + 4, names[row]))
        for column, counted in enumerate(crossing.counts[row]):
            x = left + side * column
            if crossing.square and row == column:
                diagonal += f"M{x} {y}h{side}v{GRID.row}h-{side}z"
            if counted:
                bubbles.append(_bubble(crossing, row, column, (x, y)))
                number_at = x + side - 5, y + GRID.row // 2 + 4
                numbers.append(_text(*number_at, count(counted)))
    if diagonal:
        parts.append(f'<path d="{diagonal}" fill="#e6f1fa"/>')
    parts.append(f'<path d="{lines}" fill="none" stroke="{PALETTE.grid}"/>')
    parts += [*bubbles, _group("end", numbers)]
    width = right + GRID.gap
    height = bottom + GRID.gap
    return (
        f'<svg class="crossing" xmlns="http://www.w3.org/2000/svg" font-size="12" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"{''.join(parts)}</svg>"
    )


def _is_number(name: str) -> bool:
    return name.replace(".", "").replace("-", "").isdigit()


def _bubble(crossing: Crossing, row: int, column: int, corner: tuple[int, int]) -> str:
    """The bubble of a cell whose upper left corner is at (x, y)."""
    share = crossing.counts[row][column] / crossing.largest
    radius = max(2.0, GRID.largest * sqrt(share))
    colour = PALETTE.red if is_far(crossing, row, column) else PALETTE.blue
    x, y = corner
    return (
        f'<circle cx="{x + GRID.bubble // 2 + 1}" cy="{y + GRID.row // 2}" '
        f'r="{radius:.1f}" fill="{colour}" fill-opacity=".35"/>'
    )


def _group(anchor: str, texts: Sequence[str]) -> str:
    return f'<g text-anchor="{anchor}" fill="{PALETTE.ink}">{"".join(texts)}</g>'


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'


# --- figures of a page ----------------------------------------------------------------


def figure_of(crossings: Sequence[Crossing], aspect: str, unit: str) -> "PageFigure":
    """A figure of panels side by side: people among themselves, then judges."""
    # The page of the terminal has no elements, and these many classes take long.
    from judgescope.report.elements import (
        Body,
        LegendKey,
        PageFigure,
        PageTable,
        TableLine,
        columns_of,
    )

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
        LegendKey("●", "blue", f"area and number: {unit}s"),
        LegendKey("●", "red", _far_in_words(crossings[0])),
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
    counted = plural(crossing.n, "row" if crossing.judge else "rating")
    return f"{plain(who)} is far from {whom} in {count(far)} of {counted}."
