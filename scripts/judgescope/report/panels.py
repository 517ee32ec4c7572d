"""Small multiples as SVG: ensembles, forest plots, scores by rating, costs, heat maps.

Everything has its place in pixels, titles and ticks too: as in charts.py, no layout
depends on how a font measures text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import ClassVar, NamedTuple, Self

from judgescope.report import charts
from judgescope.report.charts import PALETTE, Spec, cut
from judgescope.report.rows import ReportRow
from judgescope.report.words import MINUS


@dataclass(frozen=True)
class PanelLayout:
    """Pixels of small multiples, and characters of their labels."""

    narrowest: int = 640
    """The least width of a figure: a narrower one would be enlarged."""
    foot: int = 24
    """The height below all panels, for the name of their numbers."""
    edge: int = 10
    """The room around the first and the last dot of a panel."""
    names: int = 130
    """The width of judges' names at the left of forest plots and of scores."""
    name_characters: int = 18
    head: int = 26
    """The height of one title."""
    bins: int = 9
    """Bins of either axis of scores by rating."""


LAYOUT = PanelLayout()


def _text(colour: str, align: str, size: int, **more: int) -> Spec:
    return {
        "mark": "text",
        "fill": colour,
        "align": align,
        "baseline": "middle",
        "fontSize": size,
        **more,
    }


def _dot(**more: float) -> Spec:
    blue = PALETTE.blue
    return {"mark": "point", "shape": "circle", "fill": blue, "stroke": blue, **more}


def _rule(colour: str, width: float, **more: object) -> Spec:
    return {"mark": "rule", "stroke": colour, "strokeWidth": width, **more}


def _rect(fill: str, stroke: str, **more: object) -> Spec:
    return {"mark": "rect", "fill": fill, "stroke": stroke, **more}


_PIXELS: Spec = {"type": "quantitative", "scale": None}
CHANNELS: dict[str, tuple[str, Spec]] = {
    "x": ("x", {**_PIXELS, "axis": None}),
    "y": ("y", {**_PIXELS, "axis": None}),
    "x2": ("x2", {}),
    "y2": ("y2", {}),
    "text": ("text", {"type": "nominal"}),
    "size": ("size", _PIXELS),
    "shade": ("fillOpacity", _PIXELS),
    "panel": ("detail", {"type": "nominal"}),
    "order": ("order", _PIXELS),
}
"""Property of a mark -> the channel that shows it."""
LOOKS: dict[str, Spec] = {
    "empty": _rect("transparent", PALETTE.grid, strokeDash=[2, 2]),
    "band": {"mark": "rect", "fill": PALETTE.band},
    "above": _rect(PALETTE.blue, PALETTE.grid, strokeWidth=1),
    "below": _rect(PALETTE.red, PALETTE.grid, strokeWidth=1),
    "frame": _rect("transparent", PALETTE.grid),
    "outline": _rect("transparent", PALETTE.ink, strokeWidth=1.6),
    "grid": _rule(PALETTE.grid, 1),
    "spread": _rule(PALETTE.red, 5, opacity=0.35),
    "mean": {"mark": "line", "stroke": PALETTE.red, "strokeWidth": 1.8},
    "level": _rule(PALETTE.green, 1.8, strokeDash=[5, 3]),
    "level_end": _rule(PALETTE.green, 1.8),
    "interval": _rule(PALETTE.ink, 1.3),
    "subset": _dot(strokeWidth=1, size=30, opacity=0.75),
    "judge": _dot(strokeWidth=1, size=38, opacity=1),
    "texts": _dot(opacity=0.8),
    "tick": _text(PALETTE.soft, "right", 11),
    "number": _text(PALETTE.soft, "center", 11),
    "axis": _text(PALETTE.soft, "center", 12),
    "sign": _text(PALETTE.ink, "center", 12),
    "line": _text(PALETTE.ink, "right", 12),
    "column": _text(PALETTE.soft, "left", 11, angle=270),
    "name": _text(PALETTE.ink, "left", 11),
    "title": _text(PALETTE.ink, "left", 12),
}
"""Kinds of marks and how they look, from the lowest layer to the highest."""


class Canvas:
    """Marks that are placed in pixels."""

    def __init__(self) -> None:
        self.marks: dict[str, list[Spec]] = {}

    def add(self, look: str, x: float, y: float, **more: float | str) -> None:
        """Add a mark; `more` are further CHANNELS, the same for all marks of a look."""
        mark: Spec = {}
        for name, value in {"x": x, "y": y, **more}.items():
            mark[name] = round(value, 2) if isinstance(value, float) else value
        self.marks.setdefault(look, []).append(mark)

    def spec(self, width: float, height: float) -> Spec:
        """Return the specification."""
        layers = []
        for name, look in LOOKS.items():
            values = self.marks.get(name)
            if not values:
                continue
            channels = {}
            for field in values[0]:
                channel, how = CHANNELS[field]
                channels[channel] = {"field": field, **how}
            marks = charts.layer(values=values, encoding=channels, **look)
            layers.append({"name": name, **marks})
        return charts.framed(layers, width, height)


@dataclass(frozen=True)
class AxisScale:
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
        step = _step_of((max(known) - min(known)) * wider)
        low = floor(min(known) / step)
        return cls(low, max(ceil(max(known) / step), low + 1), step)

    def share(self, value: float) -> float:
        """Return where a value lies, from 0 to 1."""
        return (value / self.step - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return the values that have a tick, each with its text."""
        digits = max(0, -floor(log10(self.step)))
        ticks = []
        for at in range(self.low, self.high + 1):
            value = round(at * self.step, 9)
            ticks.append((value, f"{value:.{digits}f}".replace("-", MINUS)))
        return ticks


def _step_of(span: float, most_ticks: int = 6) -> float:
    """The least step of 1, 2 or 5 times a power of ten with few ticks in a span.

    It is 0.1 where all values are one.

    >>> _step_of(1.0), _step_of(0.02)
    (0.2, 0.005)
    """
    if span < 1e-6:
        return 0.1
    power = floor(log10(span / most_ticks))
    for exponent in (power, power + 1):
        for base in (1, 2, 5):
            step = round(base * 10.0**exponent, 9)
            if span / step <= most_ticks:
                return step
    raise AssertionError("5 times the next power of ten has few ticks")


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


ENSEMBLES = _Grid(columns=3, wide=240, high=190, left=44, top=26, right=14, bottom=24)


class _Frame:
    """One panel of a grid on a canvas: its title, and a scale upwards with a line at
    each tick.
    """

    def __init__(
        self, canvas: Canvas, grid: _Grid, number: int, title: str, scale: AxisScale
    ) -> None:
        row, column = divmod(number, grid.columns)
        self.canvas = canvas
        self.scale = scale
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

    def upright(self, look: str, x: float, row: ReportRow) -> None:
        """Draw the interval of a number; nothing without one."""
        if row.ci_low is not None and row.ci_high is not None:
            self.canvas.add(look, x, self.y(row.ci_low), y2=self.y(row.ci_high))

    def below(self, x: float, text: str) -> None:
        """Write a number below the panel."""
        self.canvas.add("number", x, self.bottom + 12, text=text)


def _framed(canvas: Canvas, grid: _Grid, number: int, x: str) -> Spec:
    """Return the specification of a number of panels; `x` names what is below them."""
    used = min(grid.columns, number) * grid.wide
    height = ceil(number / grid.columns) * grid.high + LAYOUT.foot
    canvas.add("axis", used / 2, height - 6, text=x)
    return canvas.spec(max(used, LAYOUT.narrowest), height)


# --- ensembles by size ----------------------------------------------------------------


@dataclass(frozen=True)
class SubsetPlot:
    """Numbers of subsets over their size k, and the means of each size with their
    intervals.

    Of the subset of all members, `complete`, the interval is drawn, too; `student` is a
    line across, its interval at the line's end.
    """

    title: str
    subsets: Sequence[ReportRow]
    means: Sequence[ReportRow]
    complete: ReportRow | None = None
    student: ReportRow | None = None

    @property
    def values(self) -> list[float | None]:
        """Return all that its scale must hold."""
        values = [row.value for row in self.subsets]
        for row in (*self.means, self.complete, self.student):
            if row:
                values += row.ends
        return values


def panels_spec(panels: Sequence[SubsetPlot], *, x: str) -> Spec:
    """Return the specification; `x` names the whole numbers. Some panel has a dot.

    All panels share both scales.
    """
    every = set[int]()
    values = list[float | None]()
    for panel in panels:
        every.update(row.k for row in (*panel.subsets, *panel.means))
        values += panel.values
    sizes = sorted(every)
    scale = AxisScale.covering(values)
    canvas = Canvas()
    for number, panel in enumerate(panels):
        frame = _Frame(canvas, ENSEMBLES, number, panel.title, scale)
        wide = frame.right - frame.left - 2 * LAYOUT.edge
        x_of = dict[int, float]()
        for size in sizes:
            share = 0.5
            if len(sizes) > 1:
                share = (size - sizes[0]) / (sizes[-1] - sizes[0])
            x_of[size] = frame.left + LAYOUT.edge + wide * share
            frame.below(x_of[size], str(size))
        for row in panel.means:
            canvas.add("mean", x_of[row.k], frame.y(row.value or 0.0), panel=number)
            frame.upright("spread", x_of[row.k], row)
        for row in panel.subsets:
            canvas.add("subset", x_of[row.k], frame.y(row.value or 0.0))
        if panel.complete:
            frame.upright("interval", x_of[panel.complete.k], panel.complete)
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
    points: Sequence[ReportRow | None]
    people: float | None = None
    band: tuple[float, float] | None = None

    @property
    def values(self) -> list[float | None]:
        """Return all that its scale must hold."""
        values: list[float | None] = [0.0, self.people]
        for row in self.points:
            if row:
                values += row.ends
        return [*values, *(self.band or ())]


def forest_spec(
    panels: Sequence[Forest],
    names: Sequence[str],
    *,
    x: str,
    width: int = 560,
    line_height: int = 18,
) -> Spec:
    """Return the specification: a line for each name, panels beside each other, one
    scale.
    """
    values = list[float | None]()
    for panel in panels:
        values += panel.values
    scale = AxisScale.covering(values, wider=1.5)
    canvas = Canvas()
    columns = min(2, len(panels))
    wide = (width - LAYOUT.names) / columns
    edge = 2 * LAYOUT.edge
    head = LAYOUT.head + line_height * (len(panels[0].titles) - 1)
    tall = len(names) * line_height + head + 22  # below: the numbers of the scale
    for number, panel in enumerate(panels):
        down, column = divmod(number, columns)
        top = down * tall + head
        bottom = top + len(names) * line_height
        left = LAYOUT.names + column * wide + edge

        def x_of(value: float, left: float = left) -> float:
            return left + scale.share(value) * (wide - 2 * edge)

        for line, title in enumerate(panel.titles):
            at = down * tall + LAYOUT.head - 12 + line * line_height
            canvas.add("title", left, at, text=cut(title, int(wide / 7.5), 0))
        for value, text in scale.ticks:
            canvas.add("number", x_of(value), bottom + 10, text=text)
        canvas.add("grid", x_of(0), top, y2=bottom)
        if panel.people is not None:
            canvas.add("level", x_of(panel.people), top, y2=bottom)
        if panel.band:
            low, high = panel.band
            start = x_of(low)
            end = max(x_of(high), start + 1)  # visible without a width, too
            canvas.add("band", start, top, x2=end, y2=bottom)
        for line, (name, row) in enumerate(zip(names, panel.points, strict=True)):
            y = top + (line + 0.5) * line_height
            if column == 0:
                text = cut(name, LAYOUT.name_characters)
                canvas.add("line", LAYOUT.names, y, text=text)
            if row:
                canvas.add("judge", x_of(row.value or 0.0), y)
                if row.ci_low is not None and row.ci_high is not None:
                    canvas.add("interval", x_of(row.ci_low), y, x2=x_of(row.ci_high))
    height = ceil(len(panels) / columns) * tall + LAYOUT.foot
    middle = LAYOUT.names + (width - LAYOUT.names) / 2
    canvas.add("axis", middle, height - 8, text=x)
    return canvas.spec(width, height)


# --- scores beside ratings ------------------------------------------------------------


def bins_spec(
    panels: Mapping[tuple[str, str], Mapping[tuple[int, int], int]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    x: str,
) -> Spec:
    """Return the specification: a panel by row and column, of texts counted in bins of
    either axis.

    A bin is numbered from the lower left; the area of its dot is its share of the
    panel's largest.
    """
    canvas = Canvas()
    panel_wide = 150
    panel_high = 90
    largest_dot = 110  # its area
    wide = panel_wide - 2 * LAYOUT.edge
    high = panel_high - 2 * LAYOUT.edge
    for (row, column), counts in panels.items():
        left = LAYOUT.names + columns.index(column) * panel_wide + LAYOUT.edge
        bottom = LAYOUT.head + (rows.index(row) + 1) * panel_high - LAYOUT.edge
        canvas.add("frame", left, bottom - high, x2=left + wide, y2=bottom)
        largest = max(counts.values())
        for (across, up), number in counts.items():
            dot_x = left + (across + 0.5) * wide / LAYOUT.bins
            dot_y = bottom - (up + 0.5) * high / LAYOUT.bins
            canvas.add("texts", dot_x, dot_y, size=largest_dot * number / largest)
    height = LAYOUT.head + len(rows) * panel_high + LAYOUT.foot
    for at, name in enumerate(rows):
        y = LAYOUT.head + (at + 0.5) * panel_high
        canvas.add("line", LAYOUT.names, y, text=cut(name, LAYOUT.name_characters))
    for at, name in enumerate(columns):
        left = LAYOUT.names + at * panel_wide + LAYOUT.edge
        canvas.add("title", left, 16, text=cut(name, 22, 0))
    canvas.add("name", LAYOUT.names + LAYOUT.edge, height - 6, text=x)
    width = LAYOUT.names + len(columns) * panel_wide
    return canvas.spec(max(width, LAYOUT.narrowest), height)


# --- cost against quality -------------------------------------------------------------


class Bought(NamedTuple):
    """A judge in a panel: its number in the legend, the price of 1,000 judgments, its
    row.
    """

    number: int
    price: float
    row: ReportRow


@dataclass(frozen=True)
class Priced:
    """One measure's panel; `level` is a line across.

    `dots` are numbered and have intervals; `juries`, and cascades, are dots alone;
    `steps` are prices and the value that is to be had from each on.
    """

    title: str
    dots: Sequence[Bought]
    level: float | None = None
    juries: Sequence[Bought] = ()
    steps: Sequence[tuple[float, float]] = ()

    @property
    def prices(self) -> list[float]:
        """All prices that its scale must hold."""
        return [dot.price for dot in (*self.dots, *self.juries)]

    @property
    def values(self) -> list[float | None]:
        """All values that its scale must hold."""
        values = [self.level, *(value for _, value in self.steps)]
        for dot in self.dots:
            values += dot.row.ends
        values += [dot.row.value for dot in self.juries]
        return values


@dataclass(frozen=True)
class _PriceScale:
    """Prices on a logarithm; what is free has a column of its own beside them."""

    cheapest: int
    """Powers of ten, as is `dearest`."""
    dearest: int
    free: bool

    free_wide: ClassVar[int] = 60
    gap: ClassVar[int] = 16
    margin: ClassVar[int] = 12

    @classmethod
    def covering(cls, prices: Sequence[float]) -> Self:
        """The scale of some prices, one of them above 0."""
        powers = [log10(price) for price in prices if price > 0]
        cheapest = floor(min(powers))
        dearest = max(ceil(max(powers)), cheapest + 1)
        return cls(cheapest, dearest, min(prices) <= 0)

    def start(self, frame: _Frame) -> float:
        """Where the logarithm begins."""
        beside = 0
        if self.free:
            beside = self.free_wide + self.gap
        return frame.left + self.margin + beside

    def x(self, frame: _Frame, price: float) -> float:
        """Where a price above 0 lies."""
        start = self.start(frame)
        wide = (frame.right - self.margin - start) / (self.dearest - self.cheapest)
        return start + (log10(price) - self.cheapest) * wide

    def places(self, frame: _Frame, dots: Sequence[Bought]) -> list[float]:
        """Where each dot lies; free ones stand side by side."""
        places = []
        unpaid = sum(dot.price <= 0 for dot in dots)
        placed = 0
        for dot in dots:
            if dot.price > 0:
                places.append(self.x(frame, dot.price))
            else:
                share = (placed + 0.5) / unpaid
                places.append(frame.left + share * self.free_wide)
                placed += 1
        return places

    def ticks(self, frame: _Frame) -> None:
        """Write the prices below a panel."""
        if self.free:
            frame.below(frame.left + self.free_wide / 2, "free")
        for power in range(self.cheapest, self.dearest + 1):
            frame.below(self.x(frame, 10.0**power), f"{10.0**power:g}")


def scatter_spec(panels: Sequence[Priced], *, x: str) -> Spec:
    """Return the specification; some dot of some panel has a price above 0.

    Prices span decades, so that they lie on a logarithm, which all panels share; what
    is free has a column of its own beside them. Each panel has its own height.
    """
    prices = list[float]()
    for panel in panels:
        prices += panel.prices
    across = _PriceScale.covering(prices)
    canvas = Canvas()
    costs = _Grid(columns=2, wide=370, high=220, left=50, top=28, right=20, bottom=26)
    for number, panel in enumerate(panels):
        frame = _Frame(
            canvas, costs, number, panel.title, AxisScale.covering(panel.values)
        )
        across.ticks(frame)
        if panel.level is not None:
            frame.across("level", panel.level)
        _draw_steps(frame, across, panel.steps, number)
        places = across.places(frame, panel.juries)
        for dot, at in zip(panel.juries, places, strict=True):
            canvas.add("subset", at, frame.y(dot.row.value or 0.0))
        places = across.places(frame, panel.dots)
        for dot, at in zip(panel.dots, places, strict=True):
            y = frame.y(dot.row.value or 0.0)
            frame.upright("interval", at, dot.row)
            canvas.add("judge", at, y)
            canvas.add("name", at + 5, y - 7, text=str(dot.number))
    return _framed(canvas, costs, len(panels), x)


def _draw_steps(
    frame: _Frame,
    across: _PriceScale,
    steps: Sequence[tuple[float, float]],
    number: int,
) -> None:
    """Draw a line that rises or falls where a price is reached, to the right end."""
    corners = list[tuple[float, float]]()
    for price, value in steps:
        at = across.x(frame, price) if price > 0 else frame.left
        y = frame.y(value)
        if corners:
            corners.append((at, corners[-1][1]))
        corners.append((at, y))
    if corners:
        corners.append((frame.right, corners[-1][1]))
    for order, (at, y) in enumerate(corners):
        frame.canvas.add("mean", at, y, panel=number, order=order)
