"""Heat maps as small multiples in SVG: a panel for each judge, all with the same rows and columns.

Everything has its place in pixels: as in charts.py, no layout depends on how a font measures text.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from judgescope.report.charts import BLUE, GRID, INK, RED, SOFT, Spec, framed, label_of, layer
from judgescope.report.elements import Key
from judgescope.report.words import MINUS

ACROSS, LEFT, GAP = 720, 200, 24
"""Pixels of all panels, of the names of rows before them, and between panels."""
SIDE, LEAST_SIDE, ROW, NARROWEST = 30, 10, 18, 170
"""Pixels of a cell's width, its height, and the width of a panel, which its title needs."""
TITLE, CHARACTER, LONGEST_NAME = 26, 6, 16
"""Pixels of a panel's title and of a character of its columns' upright names; at most so many."""
SHOWN = 0.1
"""From here on a value below 0 has a sign, so that nobody needs the colour."""
CellKey = tuple[str, str]
"""The names of a row and a column."""
_PIXEL: Spec = {
    name: {"field": name, "type": "quantitative", "scale": None, "axis": None} for name in "xy"
}
_LABEL: Spec = {**_PIXEL, "text": {"field": "text", "type": "nominal"}}
_RECT: Spec = {**_PIXEL, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
_SHADED: Spec = {
    **_RECT,
    "fillOpacity": {"field": "shade", "type": "quantitative", "scale": None},
}


@dataclass(frozen=True)
class HeatMap:
    """A panel: values from -1 to 1, and the cells that are outlined. A cell may have no value."""

    title: str
    values: Mapping[CellKey, float]
    outlined: Collection[CellKey]


def heat_keys(above: str, below: str, outlined: str) -> list[Key]:
    """Return the legend of a heat map: what shades above and below 0 and outlines mean."""
    return [Key("■", "blue", above), Key(MINUS, "red", below), Key("□", "ink", outlined)]


def heatmap_spec(panels: Sequence[HeatMap], rows: Sequence[str], columns: Sequence[str]) -> Spec:
    """Return the specification of panels with these rows and columns."""
    side = max(LEAST_SIDE, min(SIDE, ACROSS // len(columns)))
    width = max(side * len(columns), NARROWEST) + GAP
    heads_height = CHARACTER * min(LONGEST_NAME, max(map(len, columns)))
    height = TITLE + heads_height + ROW * len(rows) + GAP
    each_row = max(1, ACROSS // width)
    titles, heads, names = list[Spec](), list[Spec](), list[Spec]()
    shades: dict[str, list[Spec]] = {BLUE: [], RED: [], "": []}
    outlines, signs = list[Spec](), list[Spec]()
    for number, panel in enumerate(panels):
        down, right = divmod(number, each_row)
        left, top = LEFT + right * width, down * height + TITLE + heads_height
        titles.append(
            {"x": left, "y": top - heads_height - TITLE + 8, "text": label_of(panel.title)}
        )
        for index, column in enumerate(columns):
            text = column if len(column) <= LONGEST_NAME else f"{column[: LONGEST_NAME - 1]}…"
            heads.append({"x": left + (index + 0.5) * side, "y": top - 4, "text": text})
        for line, row in enumerate(rows):
            y = top + line * ROW
            if not right:
                names.append({"x": LEFT - 8, "y": y + ROW / 2, "text": label_of(row)})
            for index, column in enumerate(columns):
                x = left + index * side
                cell = {"x": x + 1, "x2": x + side - 1, "y": y + 1, "y2": y + ROW - 1}
                value = panel.values.get((row, column))
                colour = "" if value is None else RED if value < 0 else BLUE
                shades[colour].append({**cell, "shade": round(min(abs(value or 0), 1), 3)})
                if (row, column) in panel.outlined:
                    outlines.append(cell)
                if value is not None and value <= -SHOWN:
                    signs.append({"x": x + side / 2, "y": y + ROW / 2, "text": MINUS})
    framing = {"stroke": GRID, "strokeWidth": 1}
    layers = [
        layer("rect", shades[""], _RECT, fill="transparent", stroke=GRID, strokeDash=[2, 2]),
        layer("rect", shades[BLUE], _SHADED, fill=BLUE, **framing),
        layer("rect", shades[RED], _SHADED, fill=RED, **framing),
        layer("rect", outlines, _RECT, fill="transparent", stroke=INK, strokeWidth=1.6),
        _labels(signs, INK, 12, align="center"),
        _labels(names, INK, 11, align="right"),
        _labels(heads, SOFT, 11, align="left", angle=270),
        _labels(titles, INK, 12, align="left"),
    ]
    used = min(each_row, len(panels)) * width
    return framed(layers, LEFT + used, -(-len(panels) // each_row) * height)


def _labels(labels: list[Spec], colour: str, size: int, **look: object) -> Spec:
    return layer("text", labels, _LABEL, fill=colour, fontSize=size, baseline="middle", **look)
