"""Small multiples as SVG: ensembles, forest plots, scores by rating, cost against quality.

Everything has its place in pixels, titles and ticks too: as in charts.py, no layout depends on how
a font measures text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import NamedTuple

from judgescope.report.charts import (
    BLUE,
    GREEN,
    GRID,
    INK,
    PALE_RED,
    RED,
    SOFT,
    Spec,
    framed,
    label_of,
    layer,
)
from judgescope.report.words import MINUS

COLUMNS, WIDE, HIGH = 3, 240, 190
"""Panels of ensembles in a row, and the pixels of one with what belongs to it."""
FOOT, EDGE = 24, 10
"""Pixels under all panels, for the name of their numbers; and around the first and last one."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Between ticks; the last one is enough for correlations."""
MOST_STEPS, MOST_TICKS = 8, 6
"""Ticks of a panel of ensembles, and of costs."""
FREE_WIDE, GAP, PRICE_EDGE = 60, 16, 12
"""Pixels of the column of what is free, beside it, and within both at their ends."""
LEAST_SPAN = 1e-6
"""The width below which all values of a panel of costs are one."""
FORESTS, FOREST_WIDE, FOREST_LEFT, FOREST_NAME = 2, 560, 130, 19
"""Forest plots beside each other, their pixels, those of the names, and characters of a name."""
FOREST_LINE, FOREST_HEAD, FOREST_FOOT = 18, 26, 22
"""Pixels of a judge, and above and below the judges."""
Dot = tuple[int, float]
Ends = tuple[int, float, float]
"""A whole number, and the lower and the upper end of an interval over it."""
Level = tuple[float, float | None, float | None]
"""A value that is of no whole number, and the ends of its interval, None without one."""

_AT: Spec = {
    name: {"field": name, "type": "quantitative", "scale": None, "axis": None} for name in "xy"
}
"""The channels of a place in pixels."""
_ACROSS: Spec = {**_AT, "x2": {"field": "x2"}}
_UPRIGHT: Spec = {**_AT, "y2": {"field": "y2"}}


class _Grid(NamedTuple):
    """Panels in rows: how many in one, their pixels, and those around the dots of each."""

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
    """One panel: its place in the grid, and a scale of whole steps that holds all `values`."""

    def __init__(
        self, grid: _Grid, number: int, title: str, values: Sequence[float], step: float
    ) -> None:
        self.title, self.step = label_of(title), step
        self.low = floor(min(values) / step)
        self.high = max(ceil(max(values) / step), self.low + 1)
        row, column = divmod(number, grid.columns)
        self.left = column * grid.wide + grid.left
        self.right = (column + 1) * grid.wide - grid.right
        self.above = row * grid.high + 12
        self.bottom = (row + 1) * grid.high - grid.bottom
        self.height = grid.high - grid.top - grid.bottom

    def y(self, value: float) -> float:
        """Return where a value lies."""
        share = (value / self.step - self.low) / (self.high - self.low)
        return round(self.bottom - share * self.height, 2)

    def across(self, value: float) -> Spec:
        """Return the line across the panel at a value."""
        return {"x": self.left, "x2": self.right, "y": self.y(value)}

    def upright(self, x: float, low: float, high: float) -> Spec:
        """Return an upright line between two values."""
        return {"x": x, "y": self.y(low), "y2": self.y(high)}

    def below(self, x: float, text: str) -> Spec:
        """Return a number below the panel."""
        return {"x": x, "y": self.bottom + 12, "text": text}

    @property
    def ticks(self) -> list[float]:
        """Return the values at which there are lines."""
        return [round(tick * self.step, 9) for tick in range(self.low, self.high + 1)]


def _framed(
    grid: _Grid, frames: Sequence[_Frame], numbers: list[Spec], layers: Sequence[Spec], x: str
) -> Spec:
    """Return the specification of panels: ticks, `numbers` below, titles, and then `layers`."""
    width = min(grid.columns, len(frames)) * grid.wide
    height = ceil(len(frames) / grid.columns) * grid.high + FOOT
    digits = {frame: max(0, -floor(log10(frame.step))) for frame in frames}
    ticks = [
        {
            "x": frame.left - 6,
            "y": frame.y(tick),
            "text": f"{tick:.{digits[frame]}f}".replace("-", MINUS),
        }
        for frame in frames
        for tick in frame.ticks
    ]
    lines = [frame.across(tick) for frame in frames for tick in frame.ticks]
    titles = [{"x": frame.left, "y": frame.above, "text": frame.title} for frame in frames]
    decoration = [
        layer("rule", lines, _ACROSS, stroke=GRID, strokeWidth=1),
        _texts(ticks, SOFT, "right", 11),
        _texts(numbers, SOFT, "center", 11),
        _texts(titles, INK, "left", 12),
        _texts([{"x": width / 2, "y": height - 6, "text": x}], SOFT, "center", 12),
    ]
    return framed([*decoration, *layers], width, height)


def _texts(texts: list[Spec], colour: str, align: str, size: int) -> Spec:
    channels = {**_AT, "text": {"field": "text", "type": "nominal"}}
    look = {"fill": colour, "align": align, "baseline": "middle", "fontSize": size}
    return layer("text", texts, channels, **look)


def _dots(dots: list[Spec], **look: float) -> Spec:
    blue = {"fill": BLUE, "stroke": BLUE, "strokeWidth": 1}
    return layer("point", dots, _AT, shape="circle", **blue, **look)


def _levels(lines: list[Spec]) -> list[Spec]:
    """Return the layer of dashed lines across panels; nothing without any."""
    look = {"stroke": GREEN, "strokeWidth": 1.8, "strokeDash": [5, 3]}
    return [layer("rule", lines, _ACROSS, **look)] if lines else []


# --- ensembles by size -----------------------------------------------------------------------


@dataclass(frozen=True)
class TargetSet:
    """Dots over whole numbers and the means of those over each; the intervals of means and dots.

    `level` is drawn as a line across, its interval at the line's end.
    """

    title: str
    dots: Sequence[Dot]
    means: Sequence[Dot]
    spread: Sequence[Ends] = ()
    ends: Sequence[Ends] = ()
    level: Level | None = None

    @property
    def values(self) -> list[float]:
        """Return all that its scale must hold."""
        values = [value for _, value in (*self.dots, *self.means)]
        values += [end for _, *ends in (*self.spread, *self.ends) for end in ends]
        return values + [end for end in self.level or () if end is not None]


def panels_spec(panels: Sequence[TargetSet], *, x: str) -> Spec:
    """Return the specification; `x` names the whole numbers. Some panel has a dot.

    All panels share both scales.
    """
    sizes = sorted({at for panel in panels for at, _ in (*panel.dots, *panel.means)})
    values = [value for panel in panels for value in panel.values]
    low, high = min(values), max(values)
    fitting = (step for step in STEPS if ceil(high / step) - floor(low / step) < MOST_STEPS)
    step = next(fitting, STEPS[-1])
    frames = [_Frame(ENSEMBLES, at, panel.title, values, step) for at, panel in enumerate(panels)]
    both = list(zip(frames, panels, strict=True))

    def over(frame: _Frame, number: int) -> float:
        first, last = sizes[0], sizes[-1]
        share = (number - first) / (last - first) if last > first else 0.5
        return round(frame.left + EDGE + share * (frame.right - frame.left - 2 * EDGE), 2)

    def dots(frame: _Frame, values: Iterable[Dot], **more: int) -> list[Spec]:
        return [{"x": over(frame, at), "y": frame.y(value), **more} for at, value in values]

    def intervals(spreads: Iterable[Sequence[Ends]], **look: object) -> Spec:
        lines = [
            frame.upright(over(frame, at), lo, hi)
            for frame, spread in zip(frames, spreads, strict=True)
            for at, lo, hi in spread
        ]
        return layer("rule", lines, _UPRIGHT, **look)

    means = [
        dot for number, (f, panel) in enumerate(both) for dot in dots(f, panel.means, panel=number)
    ]
    levels = [(frame, panel.level) for frame, panel in both if panel.level]
    level_ends = [
        frame.upright(frame.right, lo, hi)
        for frame, (_, lo, hi) in levels
        if lo is not None and hi is not None
    ]
    layers = [
        intervals((panel.spread for panel in panels), stroke=RED, strokeWidth=5, opacity=0.35),
        layer(
            "line",
            means,
            {**_AT, "detail": {"field": "panel", "type": "nominal"}},
            stroke=RED,
            strokeWidth=1.8,
        ),
        *_levels([frame.across(value) for frame, (value, _, _) in levels]),
        *([layer("rule", level_ends, _UPRIGHT, stroke=GREEN, strokeWidth=1.8)] * bool(level_ends)),
        intervals((panel.ends for panel in panels), stroke=INK, strokeWidth=1.3, opacity=1),
        _dots(
            [dot for frame, panel in both for dot in dots(frame, panel.dots)], size=30, opacity=0.75
        ),
    ]
    numbers = [frame.below(over(frame, at), str(at)) for frame in frames for at in sizes]
    return _framed(ENSEMBLES, frames, numbers, layers, x)


# --- agreement beside people and controls -----------------------------------------------------


@dataclass(frozen=True)
class Forest:
    """One panel: a value and its interval for each judge, None where one has none.

    `people` is a line, `band` what the controls span.
    """

    title: str
    points: Sequence[Level | None]
    people: float | None = None
    band: tuple[float, float] | None = None

    @property
    def values(self) -> list[float]:
        """Return all that its scale must hold."""
        ends = [end for point in self.points for end in point or ()]
        return [end for end in (0.0, *ends, self.people, *(self.band or ())) if end is not None]


def forest_spec(panels: Sequence[Forest], names: Sequence[str], *, x: str) -> Spec:
    """Return the specification: a line for each name, panels beside each other, one scale."""
    values = [value for panel in panels for value in panel.values]
    step = _step((max(values) - min(values)) * 1.5)
    low, high = floor(min(values) / step) * step, ceil(max(values) / step) * step
    columns = min(FORESTS, len(panels))
    wide = (FOREST_WIDE - FOREST_LEFT) / columns
    tall = len(names) * FOREST_LINE + FOREST_HEAD + FOREST_FOOT
    rules: dict[str, list[Spec]] = {"zero": [], "people": [], "interval": []}
    bands, dots, titles, ticks, labels = [], [], [], [], []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        top = row * tall + FOREST_HEAD
        bottom = top + len(names) * FOREST_LINE
        left = FOREST_LEFT + column * wide + EDGE

        def x_of(value: float, left: float = left) -> float:
            return round(left + (value - low) / (high - low) * (wide - 2 * EDGE), 2)

        titles.append({"x": left, "y": top - 12, "text": _cut(panel.title, int(wide / 7.5))})
        ends = range(round(low / step), round(high / step) + 1)
        ticks += [
            {"x": x_of(at * step), "y": bottom + 10, "text": f"{at * step:g}".replace("-", MINUS)}
            for at in ends
        ]
        rules["zero"].append({"x": x_of(0), "y": top, "y2": bottom})
        if panel.people is not None:
            rules["people"].append({"x": x_of(panel.people), "y": top, "y2": bottom})
        if panel.band:
            least, most = map(x_of, panel.band)
            bands.append({"x": least, "x2": max(most, least + 1), "y": top, "y2": bottom})
        for at, (name, point) in enumerate(zip(names, panel.points, strict=True)):
            y = top + (at + 0.5) * FOREST_LINE
            if column == 0:
                labels.append({"x": FOREST_LEFT, "y": y, "text": _cut(name, FOREST_NAME)})
            if point:
                value, lo, hi = point
                dots.append({"x": x_of(value), "y": y})
                if lo is not None and hi is not None:
                    rules["interval"].append({"x": x_of(lo), "x2": x_of(hi), "y": y})
    height = ceil(len(panels) / columns) * tall + FOOT
    foot = [{"x": FOREST_LEFT + (FOREST_WIDE - FOREST_LEFT) / 2, "y": height - 8, "text": x}]
    layers = [
        layer("rect", bands, {**_ACROSS, "y2": {"field": "y2"}}, fill=PALE_RED),
        layer("rule", rules["zero"], _UPRIGHT, stroke=GRID, strokeWidth=1),
        layer("rule", rules["people"], _UPRIGHT, stroke=GREEN, strokeWidth=1.8, strokeDash=[5, 3]),
        layer("rule", rules["interval"], _ACROSS, stroke=INK, strokeWidth=1.3),
        _dots(dots, size=36, opacity=1),
        _texts(titles, INK, "left", 12),
        _texts(labels, INK, "right", 12),
        _texts([*ticks, *foot], SOFT, "center", 11),
    ]
    return framed(layers, FOREST_WIDE, height)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


# --- scores beside ratings --------------------------------------------------------------------

BINS, SCATTER_WIDE, SCATTER_HIGH, LARGEST_DOT = 9, 150, 90, 110
"""Bins of either axis, pixels of a panel with its margin, and the area of the largest dot."""


def bins_spec(
    panels: Mapping[tuple[str, str], Mapping[tuple[int, int], int]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    x: str,
) -> Spec:
    """Return the specification: a panel by row and column, of texts counted in BINS × BINS bins.

    A bin is numbered from the lower left; the area of its dot is its share of the panel's largest.
    """
    side_x, side_y = (SCATTER_WIDE - 2 * EDGE) / BINS, (SCATTER_HIGH - 2 * EDGE) / BINS
    frames, dots = list[Spec](), list[Spec]()
    for (row, column), counts in panels.items():
        left = FOREST_LEFT + columns.index(column) * SCATTER_WIDE + EDGE
        bottom = FOREST_HEAD + (rows.index(row) + 1) * SCATTER_HIGH - EDGE
        right, top = left + SCATTER_WIDE - 2 * EDGE, bottom - SCATTER_HIGH + 2 * EDGE
        frames.append({"x": left, "x2": right, "y": top, "y2": bottom})
        most = max(counts.values())
        dots += [
            {
                "x": round(left + (across + 0.5) * side_x, 2),
                "y": round(bottom - (up + 0.5) * side_y, 2),
                "size": round(LARGEST_DOT * number / most, 1),
            }
            for (across, up), number in counts.items()
        ]
    width = FOREST_LEFT + len(columns) * SCATTER_WIDE
    height = FOREST_HEAD + len(rows) * SCATTER_HIGH + FOOT
    names = [
        {"x": FOREST_LEFT, "y": FOREST_HEAD + (at + 0.5) * SCATTER_HIGH, "text": _cut(name, 19)}
        for at, name in enumerate(rows)
    ]
    titles = [
        {"x": FOREST_LEFT + at * SCATTER_WIDE + EDGE, "y": 16, "text": _cut(name, 22)}
        for at, name in enumerate(columns)
    ]
    sized = {**_AT, "size": {"field": "size", "type": "quantitative", "scale": None}}
    layers = [
        layer("rect", frames, {**_ACROSS, "y2": {"field": "y2"}}, fill="transparent", stroke=GRID),
        layer("point", dots, sized, shape="circle", fill=BLUE, stroke=BLUE, opacity=0.8),
        _texts(names, INK, "right", 12),
        _texts(titles, INK, "left", 12),
        _texts([{"x": FOREST_LEFT + EDGE, "y": height - 6, "text": x}], SOFT, "left", 12),
    ]
    return framed(layers, max(width, 640), height)


# --- cost against quality --------------------------------------------------------------------


@dataclass(frozen=True)
class Bought:
    """A judge in a panel: its number, the price of 1,000 judgments, its value and interval."""

    number: int
    price: float
    value: float
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True)
class Priced:
    """One measure's panel; `level` is what the best control has, a line across."""

    title: str
    dots: Sequence[Bought]
    level: float | None = None

    @property
    def values(self) -> list[float]:
        """Return all that its scale must hold."""
        ends = [end for dot in self.dots for end in (dot.value, dot.ci_low, dot.ci_high)]
        return [end for end in (*ends, self.level) if end is not None]


def scatter_spec(panels: Sequence[Priced], *, x: str) -> Spec:
    """Return the specification; some dot of some panel has a price above 0.

    Prices span decades, so that they lie on a logarithm, which all panels share; what is free has a
    column of its own beside them. Each panel has its own height.
    """
    prices = [dot.price for panel in panels for dot in panel.dots]
    powers = [log10(price) for price in prices if price > 0]
    cheap, dear = floor(min(powers)), ceil(max(powers))
    free = any(price <= 0 for price in prices)

    def at_power(frame: _Frame, power: float) -> float:
        start = frame.left + (FREE_WIDE + GAP if free else 0) + PRICE_EDGE
        share = (power - cheap) / max(dear - cheap, 1)
        return round(start + share * (frame.right - PRICE_EDGE - start), 2)

    def place(frame: _Frame, panel: Priced, dot: Bought) -> float:
        """Return where a judge lies; those that cost nothing stand beside each other."""
        if dot.price > 0:
            return at_power(frame, log10(dot.price))
        unpaid = [one.number for one in panel.dots if one.price <= 0]
        return round(frame.left + (unpaid.index(dot.number) + 0.5) / len(unpaid) * FREE_WIDE, 2)

    frames = [
        _Frame(COSTS, at, panel.title, panel.values, _step(max(panel.values) - min(panel.values)))
        for at, panel in enumerate(panels)
    ]
    numbers = []
    for frame in frames:
        numbers += [frame.below(frame.left + FREE_WIDE / 2, "free")] if free else []
        numbers += [
            frame.below(at_power(frame, power), f"{10.0**power:g}")
            for power in range(cheap, max(dear, cheap + 1) + 1)
        ]
    both = list(zip(frames, panels, strict=True))
    placed = [(frame, place(frame, panel, dot), dot) for frame, panel in both for dot in panel.dots]
    intervals = [
        frame.upright(at, dot.ci_low, dot.ci_high)
        for frame, at, dot in placed
        if dot.ci_low is not None and dot.ci_high is not None
    ]
    dots = [{"x": at, "y": frame.y(dot.value)} for frame, at, dot in placed]
    names = [
        {"x": at + 5, "y": frame.y(dot.value) - 7, "text": str(dot.number)}
        for frame, at, dot in placed
    ]
    layers = [
        *_levels([frame.across(panel.level) for frame, panel in both if panel.level is not None]),
        layer("rule", intervals, _UPRIGHT, stroke=INK, strokeWidth=1.3),
        _dots(dots, size=40, opacity=1),
        _texts(names, INK, "left", 11),
    ]
    return _framed(COSTS, frames, numbers, layers, x)


def _step(span: float) -> float:
    """Return the least step of 1, 2 or 5 times a power of ten that needs few ticks."""
    if span < LEAST_SPAN:
        return 0.1
    power = floor(log10(span / MOST_TICKS))
    steps = (round(base * 10.0**up, 9) for up in (power, power + 1) for base in (1, 2, 5))
    return next(step for step in steps if span / step <= MOST_TICKS)
