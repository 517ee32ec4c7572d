"""Small multiples as SVG: ensembles by size, and cost against quality.

Everything has its place in pixels, titles and ticks too: as in charts.py, no layout depends on how
a font measures text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from judgescope.report.charts import (
    BLUE,
    GREEN,
    GRID,
    INK,
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
Dot = tuple[int, float]
Ends = tuple[int, float, float]
"""A whole number, and the lower and the upper end of an interval over it."""
Level = tuple[float, float | None, float | None]
"""A value that is of no whole number, and the ends of its interval, None without one."""


@dataclass(frozen=True)
class _Grid:
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


@dataclass(frozen=True)
class _Frame:
    """One panel: its number, and the ticks of its height, from `low` to `high` steps."""

    grid: _Grid
    at: int
    step: float
    low: int
    high: int

    @property
    def left(self) -> int:
        return self.at % self.grid.columns * self.grid.wide + self.grid.left

    @property
    def right(self) -> int:
        return self.left + self.grid.wide - self.grid.left - self.grid.right

    @property
    def _top(self) -> int:
        return self.at // self.grid.columns * self.grid.high

    @property
    def below(self) -> int:
        """Return where the numbers below the panel lie."""
        return self._top + self.grid.high - self.grid.bottom + 12

    def y(self, value: float) -> float:
        """Return where a value lies."""
        share, grid = (value / self.step - self.low) / (self.high - self.low), self.grid
        height = grid.high - grid.top - grid.bottom
        return round(self._top + grid.high - grid.bottom - share * height, 2)

    def across(self, value: float) -> Spec:
        """Return the line across the panel at a value."""
        return {"x": self.left, "x2": self.right, "y": self.y(value)}

    def _steps(self) -> Iterator[float]:
        return (round(tick * self.step, 9) for tick in range(self.low, self.high + 1))

    def lines(self) -> list[Spec]:
        """Return the lines of the ticks."""
        return [self.across(tick) for tick in self._steps()]

    def ticks(self) -> list[Spec]:
        """Return the numbers beside those lines."""
        left, digits = self.left - 6, max(0, -floor(log10(self.step)))
        return [
            {"x": left, "y": self.y(tick), "text": f"{tick:.{digits}f}".replace("-", MINUS)}
            for tick in self._steps()
        ]

    def title(self, text: str) -> Spec:
        """Return the name above the panel."""
        return {"x": self.left, "y": self._top + 12, "text": label_of(text)}


def _framed(
    frames: Sequence[_Frame],
    titles: Iterable[str],
    numbers: list[Spec],
    layers: Sequence[Spec],
    x: str,
) -> Spec:
    """Return the specification of panels: ticks, `numbers` below, titles, and then `layers`."""
    grid, count = frames[0].grid, len(frames)
    width = min(grid.columns, count) * grid.wide
    height = ceil(count / grid.columns) * grid.high + FOOT
    above = [frame.title(title) for frame, title in zip(frames, titles, strict=True)]
    lines = [line for frame in frames for line in frame.lines()]
    decoration = [
        layer("rule", lines, _ACROSS, stroke=GRID, strokeWidth=1),
        _words([tick for frame in frames for tick in frame.ticks()], SOFT, "right", 11),
        _words(numbers, SOFT, "center", 11),
        _words(above, INK, "left", 12),
        _words([{"x": width / 2, "y": height - 6, "text": x}], SOFT, "center", 12),
    ]
    return framed([*decoration, *layers], width, height)


_AT: Spec = {
    name: {"field": name, "type": "quantitative", "scale": None, "axis": None} for name in "xy"
}
"""The channels of a place in pixels."""
_ACROSS: Spec = {**_AT, "x2": {"field": "x2"}}
_UPRIGHT: Spec = {**_AT, "y2": {"field": "y2"}}


def _words(words: list[Spec], colour: str, align: str, size: int) -> Spec:
    """Return words at their places."""
    text = {**_AT, "text": {"field": "text", "type": "nominal"}}
    look = {"fill": colour, "align": align, "baseline": "middle", "fontSize": size}
    return layer("text", words, text, **look)


def _dots(values: list[Spec], **look: float) -> Spec:
    return layer(
        "point", values, _AT, shape="circle", fill=BLUE, stroke=BLUE, strokeWidth=1, **look
    )


def _level_lines(values: list[Spec]) -> Spec:
    return layer("rule", values, _ACROSS, stroke=GREEN, strokeWidth=1.8, strokeDash=[5, 3])


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


def panels_spec(panels: Sequence[TargetSet], *, x: str) -> Spec:
    """Return the specification; `x` names the whole numbers. Some panel has a dot.

    All panels share both scales.
    """
    sizes = sorted({at for panel in panels for at, _ in (*panel.dots, *panel.means)})
    frames = _frames(panels)
    each = [*enumerate(zip(frames, panels, strict=True))]
    below = [
        {"x": _over(frame, sizes, at), "y": frame.below, "text": str(at)}
        for frame in frames
        for at in sizes
    ]

    def intervals(spreads: Iterable[Sequence[Ends]], **look: object) -> Spec:
        values = [
            {"x": _over(frame, sizes, at), "y": frame.y(lo), "y2": frame.y(hi)}
            for frame, spread in zip(frames, spreads, strict=True)
            for at, lo, hi in spread
        ]
        return layer("rule", values, _UPRIGHT, **look)

    means = [
        {"x": _over(frame, sizes, at), "y": frame.y(value), "panel": number}
        for number, (frame, panel) in each
        for at, value in panel.means
    ]
    dots = [
        {"x": _over(frame, sizes, at), "y": frame.y(value)}
        for _, (frame, panel) in each
        for at, value in panel.dots
    ]
    by_panel = {**_AT, "detail": {"field": "panel", "type": "nominal"}}
    layers = [
        intervals((one.spread for one in panels), stroke=RED, strokeWidth=5, opacity=0.35),
        layer("line", means, by_panel, stroke=RED, strokeWidth=1.8),
        *_levels(frames, panels),
        intervals((one.ends for one in panels), stroke=INK, strokeWidth=1.3, opacity=1),
        _dots(dots, size=30, opacity=0.75),
    ]
    return _framed(frames, [panel.title for panel in panels], below, layers, x)


def _frames(panels: Sequence[TargetSet]) -> list[_Frame]:
    """Return frames whose scale holds everything of all panels; ticks are multiples of a step."""
    values = [value for panel in panels for _, value in (*panel.dots, *panel.means)]
    values += [end for panel in panels for one in (*panel.spread, *panel.ends) for end in one[1:]]
    values += [end for panel in panels for end in panel.level or () if end is not None]
    low, high = min(values), max(values)
    for step in STEPS:
        first, last = floor(low / step), ceil(high / step)
        if last - first < MOST_STEPS:
            break
    ends = (step, first, max(last, first + 1))
    return [_Frame(ENSEMBLES, at, *ends) for at in range(len(panels))]


def _over(frame: _Frame, sizes: Sequence[int], number: int) -> float:
    """Return where a whole number lies."""
    first, last = sizes[0], sizes[-1]
    share = (number - first) / (last - first) if last > first else 0.5
    return round(frame.left + EDGE + share * (frame.right - frame.left - 2 * EDGE), 2)


def _levels(frames: Sequence[_Frame], panels: Sequence[TargetSet]) -> list[Spec]:
    """Return the lines across and their intervals; nothing where no panel has one."""
    known = [(frame, one.level) for frame, one in zip(frames, panels, strict=True) if one.level]
    lines = [frame.across(value) for frame, (value, _, _) in known]
    ends = [
        {"x": frame.right, "y": frame.y(lo), "y2": frame.y(hi)}
        for frame, (_, lo, hi) in known
        if lo is not None and hi is not None
    ]
    upright = layer("rule", ends, _UPRIGHT, stroke=GREEN, strokeWidth=1.8)
    return [*([_level_lines(lines)] if lines else []), *([upright] if ends else [])]


# --- cost against quality --------------------------------------------------------------------


@dataclass(frozen=True)
class Bought:
    """A judge in a panel: its number, the price of 1,000 judgments, its value and interval."""

    number: int
    price: float
    value: float
    lo: float | None
    hi: float | None


@dataclass(frozen=True)
class Priced:
    """One measure's panel; `level` is what the best control has, a line across."""

    title: str
    dots: Sequence[Bought]
    level: float | None = None


@dataclass(frozen=True)
class _Prices:
    """The powers of ten of all prices; what is `free` has a column of its own beside them."""

    cheap: int
    dear: int
    free: bool

    def at(self, frame: _Frame, power: float) -> float:
        """Return where a price lies, by its power of ten."""
        start = frame.left + (FREE_WIDE + GAP if self.free else 0) + PRICE_EDGE
        share = (power - self.cheap) / max(self.dear - self.cheap, 1)
        return round(start + share * (frame.right - PRICE_EDGE - start), 2)

    def below(self, frame: _Frame) -> list[Spec]:
        """Return the prices below a panel, at whole powers of ten."""
        powers = range(self.cheap, max(self.dear, self.cheap + 1) + 1)
        prices = [(self.at(frame, power), f"{10.0**power:g}") for power in powers]
        if self.free:
            prices.insert(0, (frame.left + FREE_WIDE / 2, "free"))
        return [{"x": x, "y": frame.below, "text": text} for x, text in prices]

    def x(self, frame: _Frame, panel: Priced, dot: Bought) -> float:
        """Return where a judge lies; those that cost nothing stand beside each other."""
        if dot.price > 0:
            return self.at(frame, log10(dot.price))
        free = [one.number for one in panel.dots if one.price <= 0]
        return round(frame.left + (free.index(dot.number) + 0.5) / len(free) * FREE_WIDE, 2)


def scatter_spec(panels: Sequence[Priced], *, x: str) -> Spec:
    """Return the specification; some dot of some panel has a price above 0.

    Prices span decades, so that they lie on a logarithm, which all panels share; each panel has
    its own height.
    """
    prices = [dot.price for panel in panels for dot in panel.dots]
    powers = [log10(price) for price in prices if price > 0]
    free = any(price <= 0 for price in prices)
    scale = _Prices(floor(min(powers)), ceil(max(powers)), free)
    frames = [_price_frame(at, panel) for at, panel in enumerate(panels)]
    placed = [
        (frame, scale.x(frame, panel, dot), dot)
        for frame, panel in zip(frames, panels, strict=True)
        for dot in panel.dots
    ]
    below = [price for frame in frames for price in scale.below(frame)]
    levels = [
        frame.across(panel.level)
        for frame, panel in zip(frames, panels, strict=True)
        if panel.level is not None
    ]
    ends = [
        {"x": at, "y": frame.y(dot.lo), "y2": frame.y(dot.hi)}
        for frame, at, dot in placed
        if dot.lo is not None and dot.hi is not None
    ]
    dots = [{"x": at, "y": frame.y(dot.value)} for frame, at, dot in placed]
    names = [
        {"x": place["x"] + 5, "y": place["y"] - 7, "text": str(dot.number)}
        for place, (_, _, dot) in zip(dots, placed, strict=True)
    ]
    layers = [
        *([_level_lines(levels)] if levels else []),
        layer("rule", ends, _UPRIGHT, stroke=INK, strokeWidth=1.3),
        _dots(dots, size=40, opacity=1),
        _words(names, INK, "left", 11),
    ]
    return _framed(frames, [panel.title for panel in panels], below, layers, x)


def _price_frame(at: int, panel: Priced) -> _Frame:
    """Return the frame of a panel whose scale holds all of its values."""
    ends = [end for dot in panel.dots for end in (dot.value, dot.lo, dot.hi) if end is not None]
    ends += [panel.level] if panel.level is not None else []
    step = _step(max(ends) - min(ends))
    low, high = floor(min(ends) / step), ceil(max(ends) / step)
    return _Frame(COSTS, at, step, low, max(high, low + 1))


def _step(span: float) -> float:
    """Return the least step of 1, 2 or 5 times a power of ten that needs few ticks."""
    if span < LEAST_SPAN:
        return 0.1
    power = floor(log10(span / MOST_TICKS))
    steps = (round(base * 10.0**up, 9) for up in (power, power + 1) for base in (1, 2, 5))
    return next(step for step in steps if span / step <= MOST_TICKS)
