"""Heat maps as SVG, beside each other.

As in panels.py, everything is placed in pixels.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil

from judgescope.report.charts import Spec, cut
from judgescope.report.elements import LegendKey
from judgescope.report.panels import LAYOUT, Canvas
from judgescope.report.words import MINUS


@dataclass(frozen=True)
class HeatLayout:
    """Pixels of heat maps, and characters of their columns' upright names."""

    across: int = 720
    """The width of all panels beside each other."""
    left: int = 200
    """The width of the names of rows."""
    gap: int = 24
    widest_cell: int = 30
    narrowest_cell: int = 10
    row: int = 18
    narrowest: int = 170
    """The least width of a panel: its title needs it."""
    title: int = 26
    character: int = 6
    """The height of a character of an upright name."""
    name_characters: int = 16


HEAT = HeatLayout()


@dataclass(frozen=True)
class HeatMap:
    """A panel: (row, column) -> a value from -1 to 1, and the cells that are outlined.

    A cell may have no value.
    """

    title: str
    values: Mapping[tuple[str, str], float]
    outlined: Collection[tuple[str, str]]


def heat_keys(above: str, below: str, outlined: str) -> list[LegendKey]:
    """Return the legend of a heat map: what shades above and below 0 and outlines
    mean.
    """
    return [
        LegendKey("■", "blue", above),
        LegendKey(MINUS, "red", below),
        LegendKey("□", "ink", outlined),
    ]


def heatmap_spec(
    panels: Sequence[HeatMap], rows: Sequence[str], columns: Sequence[str]
) -> Spec:
    """Return the specification of panels with these rows and columns."""
    canvas = Canvas()
    side = min(HEAT.widest_cell, HEAT.across // len(columns))
    side = max(HEAT.narrowest_cell, side)
    width = max(side * len(columns), HEAT.narrowest) + HEAT.gap
    longest = min(HEAT.name_characters, max(map(len, columns)))
    head = HEAT.title + HEAT.character * longest
    height = head + HEAT.row * len(rows) + HEAT.gap
    each_row = max(1, HEAT.across // width)
    for number, panel in enumerate(panels):
        down, right = divmod(number, each_row)
        left = HEAT.left + right * width
        top = down * height + head
        canvas.add("title", left, down * height + 8, text=cut(panel.title))
        for index, column in enumerate(columns):
            x = left + (index + 0.5) * side
            name = cut(column, HEAT.name_characters)
            canvas.add("column", x, top - 4, text=name)
        if right == 0:
            for line, row in enumerate(rows):
                y = top + (line + 0.5) * HEAT.row
                canvas.add("line", HEAT.left - 8, y, text=cut(row))
        cells = product(enumerate(rows), enumerate(columns))
        for (line, row), (index, column) in cells:
            x = left + index * side
            y = top + line * HEAT.row
            value = panel.values.get((row, column))
            outlined = (row, column) in panel.outlined
            _heat_cell(canvas, x, y, side, value, outlined=outlined)
    used = min(each_row, len(panels)) * width
    height = ceil(len(panels) / each_row) * height
    return canvas.spec(max(HEAT.left + used, LAYOUT.narrowest), height)


def _heat_cell(
    canvas: Canvas,
    x: float,
    y: float,
    side: int,
    value: float | None,
    *,
    outlined: bool,
) -> None:
    """Draw a cell with its upper left corner at (x, y), in pixels."""
    ends = {"x2": x + side - 1, "y2": y + HEAT.row - 1}
    if value is None:
        canvas.add("empty", x + 1, y + 1, **ends)
    else:
        shade = round(min(abs(value), 1), 3)
        look = "below" if value < 0 else "above"
        canvas.add(look, x + 1, y + 1, **ends, shade=shade)
        if value <= -0.1:  # a sign as well, so that the colour is not needed
            canvas.add("sign", x + side / 2, y + HEAT.row / 2, text=MINUS)
    if outlined:
        canvas.add("outline", x + 1, y + 1, **ends)
