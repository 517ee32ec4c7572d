"""Small multiples as SVG: ensembles, forest plots, scores by rating, costs, heat maps.

Everything has its place in pixels, titles and ticks too: as in charts.py, no layout
depends on how a font measures text.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, log10
from typing import NamedTuple, Self

from judgescope.report import charts
from judgescope.report.charts import BLUE, GREEN, GRID, INK, RED, SOFT, Spec, cut
from judgescope.report.elements import Key
from judgescope.report.rows import Row
from judgescope.report.words import MINUS

COLUMNS, WIDE, HIGH = 3, 240, 190
"""Panels of ensembles in a row, and the pixels of one with what belongs to it."""
FOOT, EDGE = 24, 10
"""Pixels under all panels, for the name of their numbers; and around the first and last
one."""
MOST_TICKS, NARROW = 6, 640
"""Ticks of a scale, and the least pixels of a figure: a narrower one would be
enlarged."""
FREE_WIDE, GAP, PRICE_EDGE = 60, 16, 12
"""Pixels: width of the column of free judges, gap beside it, margins within both."""
LEAST_SPAN = 1e-6
"""The width below which all values of a panel of costs are one."""
FORESTS, FOREST_WIDE, FOREST_LEFT, FOREST_NAME = 2, 560, 130, 18
"""Forest plots beside each other, their pixels, those of the names, and characters of a
name."""
FOREST_LINE, FOREST_HEAD, FOREST_FOOT = 18, 26, 22
"""Pixels of a judge, and above and below the judges."""


def _text(colour: str, align: str, size: int, **more: int) -> Spec:
    look = {"mark": "text", "fill": colour, "align": align, "baseline": "middle"}
    return {**look, "fontSize": size, **more}


def _dot(**more: float) -> Spec:
    return {"mark": "point", "shape": "circle", "fill": BLUE, "stroke": BLUE, **more}


_PIXELS: Spec = {"type": "quantitative", "scale": None}
CHANNELS: dict[str, tuple[str, Spec]] = {
    **{name: (name, {**_PIXELS, "axis": None}) for name in ("x", "y")},
    **{name: (name, {}) for name in ("x2", "y2")},
    "text": ("text", {"type": "nominal"}),
    "size": ("size", _PIXELS),
    "shade": ("fillOpacity", _PIXELS),
    "panel": ("detail", {"type": "nominal"}),
}
"""Property of a mark -> the channel that shows it."""
_OUTLINED = {"mark": "rect", "fill": "transparent"}
LOOKS: dict[str, Spec] = {
    "empty": {**_OUTLINED, "stroke": GRID, "strokeDash": [2, 2]},
    "band": {"mark": "rect", "fill": charts.PALE_RED},
    "above": {"mark": "rect", "fill": BLUE, "stroke": GRID, "strokeWidth": 1},
    "below": {"mark": "rect", "fill": RED, "stroke": GRID, "strokeWidth": 1},
    "frame": {**_OUTLINED, "stroke": GRID},
    "outline": {**_OUTLINED, "stroke": INK, "strokeWidth": 1.6},
    "grid": {"mark": "rule", "stroke": GRID, "strokeWidth": 1},
    "spread": {"mark": "rule", "stroke": RED, "strokeWidth": 5, "opacity": 0.35},
    "mean": {"mark": "line", "stroke": RED, "strokeWidth": 1.8},
    "level": {
        "mark": "rule",
        "stroke": GREEN,
        "strokeWidth": 1.8,
        "strokeDash": [5, 3],
    },
    "level_end": {"mark": "rule", "stroke": GREEN, "strokeWidth": 1.8},
    "interval": {"mark": "rule", "stroke": INK, "strokeWidth": 1.3},
    "subset": _dot(strokeWidth=1, size=30, opacity=0.75),
    "judge": _dot(strokeWidth=1, size=38, opacity=1),
    "texts": _dot(opacity=0.8),
    "tick": _text(SOFT, "right", 11),
    "number": _text(SOFT, "center", 11),
    "axis": _text(SOFT, "center", 12),
    "sign": _text(INK, "center", 12),
    "line": _text(INK, "right", 12),
    "column": _text(SOFT, "left", 11, angle=270),
    "name": _text(INK, "left", 11),
    "title": _text(INK, "left", 12),
}
"""Kinds of marks and how they look, from the lowest layer to the highest."""


class Canvas:
    """Marks that are placed in pixels."""

    def __init__(self) -> None:
        self.marks: dict[str, list[Spec]] = {}

    def add(self, look: str, x: float, y: float, **more: float | str) -> None:
        """Add a mark; `more` are further CHANNELS, the same for all marks of a look."""
        place = {"x": x, "y": y, **more}
        rounded = {
            k: round(v, 2) if isinstance(v, float) else v for k, v in place.items()
        }
        self.marks.setdefault(look, []).append(rounded)

    def spec(self, width: float, height: float) -> Spec:
        """Return the specification."""
        layers = []
        for name, look in LOOKS.items():
            if values := self.marks.get(name):
                known = [(field, *CHANNELS[field]) for field in values[0]]
                channels = {
                    channel: {"field": field, **how} for field, channel, how in known
                }
                marks = charts.layer(values=values, encoding=channels, **look)
                layers.append({"name": name, **marks})
        return charts.framed(layers, width, height)


@dataclass(frozen=True)
class Scale:
    """Whole steps that hold some values."""

    low: int
    high: int
    step: float

    @classmethod
    def covering(cls, values: Iterable[float | None], wider: float = 1.0) -> Self:
        """Return the scale that holds the values, with few ticks; fewer where it is
        `wider`.
        """
        known = [value for value in values if value is not None]
        span, step = (max(known) - min(known)) * wider, 0.1
        if span >= LEAST_SPAN:  # the least step of 1, 2 or 5 times a power of ten
            power = floor(log10(span / MOST_TICKS))
            steps = (
                round(base * 10.0**up, 9)
                for up in (power, power + 1)
                for base in (1, 2, 5)
            )
            step = next(step for step in steps if span / step <= MOST_TICKS)
        low = floor(min(known) / step)
        return cls(low, max(ceil(max(known) / step), low + 1), step)

    def share(self, value: float) -> float:
        """Return where a value lies, from 0 to 1."""
        return (value / self.step - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return the values that have a tick, each with its text."""
        digits = max(0, -floor(log10(self.step)))
        values = [round(at * self.step, 9) for at in range(self.low, self.high + 1)]
        return [(value, f"{value:.{digits}f}".replace("-", MINUS)) for value in values]


class _Grid(NamedTuple):
    """Panels in rows: how many in one, their pixels, and those around the dots of
    each.
    """

    columns: int
    wide: int
    high: int
    left: int
    top: int
    right: int
    bottom: int


ENSEMBLES = _Grid(COLUMNS, WIDE, HIGH, left=44, top=26, right=14, bottom=24)
COSTS = _Grid(2, 370, 220, left=50, top=28, right=20, bottom=26)


class _Frame:
    """One panel of a grid on a canvas: its title, and a scale upwards with a line at
    each tick.
    """

    def __init__(
        self, canvas: Canvas, grid: _Grid, number: int, title: str, scale: Scale
    ) -> None:
        row, column = divmod(number, grid.columns)
        self.canvas, self.scale = canvas, scale
        self.left = column * grid.wide + grid.left
        self.right = (column + 1) * grid.wide - grid.right
        self.bottom = (row + 1) * grid.high - grid.bottom
        self.height = grid.high - grid.top - grid.bottom
        canvas.add("title", self.left, row * grid.high + 12, text=cut(title))
        for value, text in scale.ticks:
            canvas.add("tick", self.left - 6, self.y(value), text=text)
            self.across("grid", value)

    def y(self, value: float) -> float:
        """Return where a value lies."""
        return self.bottom - self.scale.share(value) * self.height

    def across(self, look: str, value: float) -> None:
        """Draw a line across the panel at a value."""
        self.canvas.add(look, self.left, self.y(value), x2=self.right)

    def upright(self, look: str, x: float, row: Row) -> None:
        """Draw the interval of a number; nothing without one."""
        if row.ci_low is not None and row.ci_high is not None:
            self.canvas.add(look, x, self.y(row.ci_low), y2=self.y(row.ci_high))

    def below(self, x: float, text: str) -> None:
        """Write a number below the panel."""
        self.canvas.add("number", x, self.bottom + 12, text=text)


def _framed(canvas: Canvas, grid: _Grid, number: int, x: str) -> Spec:
    """Return the specification of a number of panels; `x` names what is below them."""
    width = max(min(grid.columns, number) * grid.wide, NARROW)
    height = ceil(number / grid.columns) * grid.high + FOOT
    canvas.add("axis", min(grid.columns, number) * grid.wide / 2, height - 6, text=x)
    return canvas.spec(width, height)


# --- ensembles by size ----------------------------------------------------------------


@dataclass(frozen=True)
class TargetSet:
    """Numbers of subsets over their size k, and the means of each size with their
    intervals.

    Of the subset of all members, `whole`, the interval is drawn, too; `student` is a
    line across, its interval at the line's end.
    """

    title: str
    subsets: Sequence[Row]
    means: Sequence[Row]
    whole: Row | None = None
    student: Row | None = None

    @property
    def values(self) -> list[float | None]:
        """Return all that its scale must hold."""
        with_ends = (row for row in (*self.means, self.whole, self.student) if row)
        ends = (end for row in with_ends for end in row.ends)
        return [*(row.value for row in self.subsets), *ends]


def panels_spec(panels: Sequence[TargetSet], *, x: str) -> Spec:
    """Return the specification; `x` names the whole numbers. Some panel has a dot.

    All panels share both scales.
    """
    sizes = sorted(
        {row.k for panel in panels for row in (*panel.subsets, *panel.means)}
    )
    scale, canvas = (
        Scale.covering(value for panel in panels for value in panel.values),
        Canvas(),
    )
    for number, panel in enumerate(panels):
        frame = _Frame(canvas, ENSEMBLES, number, panel.title, scale)
        wide, places = frame.right - frame.left - 2 * EDGE, dict[int, float]()
        for at in sizes:
            share = (at - sizes[0]) / (sizes[-1] - sizes[0]) if sizes[1:] else 0.5
            places[at] = frame.left + EDGE + wide * share
            frame.below(places[at], str(at))
        for row in panel.means:
            canvas.add("mean", places[row.k], frame.y(row.value or 0.0), panel=number)
            frame.upright("spread", places[row.k], row)
        for row in panel.subsets:
            canvas.add("subset", places[row.k], frame.y(row.value or 0.0))
        if panel.whole:
            frame.upright("interval", places[panel.whole.k], panel.whole)
        if panel.student and panel.student.value is not None:
            frame.across("level", panel.student.value)
            frame.upright("level_end", frame.right, panel.student)
    return _framed(canvas, ENSEMBLES, len(panels), x)


# --- agreement beside people and controls ---------------------------------------------


@dataclass(frozen=True)
class Forest:
    """One panel: a value and its interval for each judge, None where one has none.

    `people` is a line, `band` what the controls span.
    """

    titles: Sequence[str]
    """The lines of its title; all panels have as many."""
    points: Sequence[Row | None]
    people: float | None = None
    band: tuple[float, float] | None = None

    @property
    def values(self) -> list[float | None]:
        """Return all that its scale must hold."""
        ends = [end for row in self.points if row for end in row.ends]
        return [0.0, *ends, self.people, *(self.band or ())]


def forest_spec(panels: Sequence[Forest], names: Sequence[str], *, x: str) -> Spec:
    """Return the specification: a line for each name, panels beside each other, one
    scale.
    """
    scale = Scale.covering(
        (value for panel in panels for value in panel.values), wider=1.5
    )
    canvas = Canvas()
    columns = min(FORESTS, len(panels))
    wide, edge = (FOREST_WIDE - FOREST_LEFT) / columns, 2 * EDGE
    head = FOREST_HEAD + FOREST_LINE * (len(panels[0].titles) - 1)
    tall = len(names) * FOREST_LINE + head + FOREST_FOOT
    for number, panel in enumerate(panels):
        down, column = divmod(number, columns)
        top = down * tall + head
        bottom = top + len(names) * FOREST_LINE
        left = FOREST_LEFT + column * wide + edge

        def x_of(value: float, left: float = left) -> float:
            return left + scale.share(value) * (wide - 2 * edge)

        for line, title in enumerate(panel.titles):
            at = down * tall + FOREST_HEAD - 12 + line * FOREST_LINE
            canvas.add("title", left, at, text=cut(title, int(wide / 7.5), 0))
        for value, text in scale.ticks:
            canvas.add("number", x_of(value), bottom + 10, text=text)
        canvas.add("grid", x_of(0), top, y2=bottom)
        if panel.people is not None:
            canvas.add("level", x_of(panel.people), top, y2=bottom)
        if panel.band:
            least, most = map(x_of, panel.band)
            canvas.add("band", least, top, x2=max(most, least + 1), y2=bottom)
        for line, (name, row) in enumerate(zip(names, panel.points, strict=True)):
            y = top + (line + 0.5) * FOREST_LINE
            if column == 0:
                canvas.add("line", FOREST_LEFT, y, text=cut(name, FOREST_NAME))
            if row:
                canvas.add("judge", x_of(row.value or 0.0), y)
                if row.ci_low is not None and row.ci_high is not None:
                    canvas.add("interval", x_of(row.ci_low), y, x2=x_of(row.ci_high))
    height = ceil(len(panels) / columns) * tall + FOOT
    canvas.add(
        "axis", FOREST_LEFT + (FOREST_WIDE - FOREST_LEFT) / 2, height - 8, text=x
    )
    return canvas.spec(FOREST_WIDE, height)


# --- scores beside ratings ------------------------------------------------------------

BINS, SCATTER_WIDE, SCATTER_HIGH, LARGEST_DOT = 9, 150, 90, 110
"""Bins of either axis, pixels of a panel with its margin, and the area of the largest
dot."""


def bins_spec(
    panels: Mapping[tuple[str, str], Mapping[tuple[int, int], int]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    x: str,
) -> Spec:
    """Return the specification: a panel by row and column, of texts counted in BINS ×
    BINS bins.

    A bin is numbered from the lower left; the area of its dot is its share of the
    panel's largest.
    """
    canvas = Canvas()
    wide, high = SCATTER_WIDE - 2 * EDGE, SCATTER_HIGH - 2 * EDGE
    for (row, column), counts in panels.items():
        left = FOREST_LEFT + columns.index(column) * SCATTER_WIDE + EDGE
        bottom = FOREST_HEAD + (rows.index(row) + 1) * SCATTER_HIGH - EDGE
        canvas.add("frame", left, bottom - high, x2=left + wide, y2=bottom)
        most = max(counts.values())
        for (across, up), number in counts.items():
            place = (
                left + (across + 0.5) * wide / BINS,
                bottom - (up + 0.5) * high / BINS,
            )
            canvas.add("texts", *place, size=LARGEST_DOT * number / most)
    height = FOREST_HEAD + len(rows) * SCATTER_HIGH + FOOT
    for at, name in enumerate(rows):
        y = FOREST_HEAD + (at + 0.5) * SCATTER_HIGH
        canvas.add("line", FOREST_LEFT, y, text=cut(name, FOREST_NAME))
    for at, name in enumerate(columns):
        canvas.add(
            "title", FOREST_LEFT + at * SCATTER_WIDE + EDGE, 16, text=cut(name, 22, 0)
        )
    canvas.add("name", FOREST_LEFT + EDGE, height - 6, text=x)
    return canvas.spec(max(FOREST_LEFT + len(columns) * SCATTER_WIDE, NARROW), height)


# --- cost against quality -------------------------------------------------------------


class Bought(NamedTuple):
    """A judge in a panel: its number in the legend, the price of 1,000 judgments, its
    row.
    """

    number: int
    price: float
    row: Row


@dataclass(frozen=True)
class Priced:
    """One measure's panel; `level` is what the best control has, a line across."""

    title: str
    dots: Sequence[Bought]
    level: float | None = None


def scatter_spec(panels: Sequence[Priced], *, x: str) -> Spec:
    """Return the specification; some dot of some panel has a price above 0.

    Prices span decades, so that they lie on a logarithm, which all panels share; what
    is free has a column of its own beside them. Each panel has its own height.
    """
    prices = [dot.price for panel in panels for dot in panel.dots]
    powers = [log10(price) for price in prices if price > 0]
    cheap, dear = floor(min(powers)), max(ceil(max(powers)), floor(min(powers)) + 1)
    free, canvas = any(price <= 0 for price in prices), Canvas()
    for number, panel in enumerate(panels):
        ends = [end for dot in panel.dots for end in dot.row.ends]
        frame = _Frame(
            canvas, COSTS, number, panel.title, Scale.covering([*ends, panel.level])
        )
        start = frame.left + (FREE_WIDE + GAP if free else 0) + PRICE_EDGE
        wide = (frame.right - PRICE_EDGE - start) / (dear - cheap)
        unpaid = [dot.number for dot in panel.dots if dot.price <= 0]
        if free:
            frame.below(frame.left + FREE_WIDE / 2, "free")
        for power in range(cheap, dear + 1):
            frame.below(start + (power - cheap) * wide, f"{10.0**power:g}")
        if panel.level is not None:
            frame.across("level", panel.level)
        for dot in panel.dots:
            if dot.price > 0:
                at = start + (log10(dot.price) - cheap) * wide
            else:  # free judges stand side by side
                at = (
                    frame.left
                    + (unpaid.index(dot.number) + 0.5) / len(unpaid) * FREE_WIDE
                )
            y = frame.y(dot.row.value or 0.0)
            frame.upright("interval", at, dot.row)
            canvas.add("judge", at, y)
            canvas.add("name", at + 5, y - 7, text=str(dot.number))
    return _framed(canvas, COSTS, len(panels), x)


# --- heat maps ------------------------------------------------------------------------

ACROSS, HEAT_LEFT, HEAT_GAP = 720, 200, 24
"""Pixels of all panels, of the names of rows before them, and between panels."""
SIDE, LEAST_SIDE, ROW, NARROWEST = 30, 10, 18, 170
"""Pixels of a cell's width, its height, and the width of a panel, which its title
needs."""
TITLE, CHARACTER, LONGEST_NAME = 26, 6, 16
"""Pixels of a panel's title and of a character of its columns' upright names; at most
so many."""
SHOWN = 0.1
"""From here on a value below 0 has a sign, so that the colour is not needed."""


@dataclass(frozen=True)
class HeatMap:
    """A panel: (row, column) -> a value from -1 to 1, and the cells that are outlined.

    A cell may have no value.
    """

    title: str
    values: Mapping[tuple[str, str], float]
    outlined: Collection[tuple[str, str]]


def heat_keys(above: str, below: str, outlined: str) -> list[Key]:
    """Return the legend of a heat map: what shades above and below 0 and outlines
    mean.
    """
    return [
        Key("■", "blue", above),
        Key(MINUS, "red", below),
        Key("□", "ink", outlined),
    ]


def heatmap_spec(
    panels: Sequence[HeatMap], rows: Sequence[str], columns: Sequence[str]
) -> Spec:
    """Return the specification of panels with these rows and columns."""
    canvas, side = Canvas(), max(LEAST_SIDE, min(SIDE, ACROSS // len(columns)))
    width = max(side * len(columns), NARROWEST) + HEAT_GAP
    heads_height = CHARACTER * min(LONGEST_NAME, max(map(len, columns)))
    height = TITLE + heads_height + ROW * len(rows) + HEAT_GAP
    each_row = max(1, ACROSS // width)
    for number, panel in enumerate(panels):
        down, right = divmod(number, each_row)
        left, top = HEAT_LEFT + right * width, down * height + TITLE + heads_height
        canvas.add("title", left, down * height + 8, text=cut(panel.title))
        for index, column in enumerate(columns):
            x = left + (index + 0.5) * side
            canvas.add("column", x, top - 4, text=cut(column, LONGEST_NAME))
        for line, row in enumerate(rows if not right else ()):
            canvas.add("line", HEAT_LEFT - 8, top + (line + 0.5) * ROW, text=cut(row))
        for (line, row), (index, column) in product(
            enumerate(rows), enumerate(columns)
        ):
            x, y = left + index * side + 1, top + line * ROW + 1
            ends = {"x2": x + side - 2, "y2": y + ROW - 2}
            value = panel.values.get((row, column))
            if value is None:
                canvas.add("empty", x, y, **ends)
            else:
                shade = round(min(abs(value), 1), 3)
                canvas.add("below" if value < 0 else "above", x, y, **ends, shade=shade)
                if value <= -SHOWN:
                    canvas.add("sign", x + side / 2 - 1, y + ROW / 2 - 1, text=MINUS)
            if (row, column) in panel.outlined:
                canvas.add("outline", x, y, **ends)
    used = min(each_row, len(panels)) * width
    return canvas.spec(
        max(HEAT_LEFT + used, NARROW), ceil(len(panels) / each_row) * height
    )
