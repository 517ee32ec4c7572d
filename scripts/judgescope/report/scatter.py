"""Cost against quality as SVG: a panel per measure, judges as numbered dots with intervals.

Prices span decades, so that they lie on a logarithm; what costs nothing has a column of its own
beside it. Everything has its place in pixels, as in panels.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from judgescope.report.charts import BLUE, GREEN, INK, SOFT, label_of
from judgescope.report.numbers import MINUS
from judgescope.report.panels import at_pixels, chart_of, framed, rules_of, words_of

if TYPE_CHECKING:
    import altair as alt

COLUMNS, WIDE, HIGH = 2, 370, 220
"""Panels in a row, and the pixels of one with what belongs to it."""
LEFT, TOP, RIGHT, BOTTOM, FOOT = 50, 28, 20, 26, 24
FREE_WIDE, GAP, EDGE = 60, 16, 12
"""Pixels of the column of what is free, beside it, and within both at their ends."""
MOST_TICKS, LEAST_SPAN = 6, 1e-6
"""Ticks of a panel; and the width below which all its values are one."""


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


def scatter_spec(panels: Sequence[Priced], *, x: str) -> dict[str, Any]:
    """Return the Vega-Lite specification; some dot of some panel has a price above 0."""
    places = [_Place.of(number, panel, panels) for number, panel in enumerate(panels)]
    columns, rows = min(COLUMNS, len(panels)), ceil(len(panels) / COLUMNS)
    width, height = columns * WIDE, rows * HIGH + FOOT
    foot = {"x": width / 2, "y": height - 6, "text": x}
    layers = [
        rules_of([line for place in places for line in place.lines()]),
        words_of([tick for place in places for tick in place.ticks()], SOFT, "right", 11),
        words_of([price for place in places for price in place.prices()], SOFT, "center", 11),
        words_of([place.title() for place in places], INK, "left", 12),
        words_of([foot], SOFT, "center", 12),
        *_levels(places),
        _intervals([end for place in places for end in place.intervals()]),
        _dots([dot for place in places for dot in place.dots()]),
        words_of([name for place in places for name in place.names()], INK, "left", 11),
    ]
    return framed(layers, width, height)


@dataclass(frozen=True)
class _Place:
    """Where a panel lies, its scales, and the judges in its column of what is free."""

    at: int
    panel: Priced
    low: float
    high: float
    step: float
    cheap: float
    dear: float
    free: bool

    @classmethod
    def of(cls, at: int, panel: Priced, panels: Sequence[Priced]) -> "_Place":
        """Return a panel's place; all panels share the prices, each has its own height."""
        prices = [dot.price for one in panels for dot in one.dots]
        bought = [log10(price) for price in prices if price > 0]
        ends = [end for dot in panel.dots for end in (dot.value, dot.lo, dot.hi) if end is not None]
        ends += [panel.level] if panel.level is not None else []
        step = _step(max(ends) - min(ends))
        low, high = floor(min(ends) / step), ceil(max(ends) / step)
        free = any(price <= 0 for price in prices)
        return cls(
            at, panel, low, max(high, low + 1), step, floor(min(bought)), ceil(max(bought)), free
        )

    @property
    def corner(self) -> tuple[int, int]:
        row, column = divmod(self.at, COLUMNS)
        return column * WIDE, row * HIGH

    @property
    def left(self) -> int:
        return self.corner[0] + LEFT

    @property
    def right(self) -> int:
        return self.corner[0] + WIDE - RIGHT

    def x(self, dot: Bought) -> float:
        """Return where a judge lies; those that cost nothing stand beside each other."""
        if dot.price > 0:
            return self._bought(log10(dot.price))
        free = [one.number for one in self.panel.dots if one.price <= 0]
        share = (free.index(dot.number) + 0.5) / len(free)
        return round(self.left + share * FREE_WIDE, 2)

    def _bought(self, power: float) -> float:
        start = self.left + (FREE_WIDE + GAP if self.free else 0) + EDGE
        span = max(self.dear - self.cheap, 1)
        share = (power - self.cheap) / span
        return round(start + share * (self.right - EDGE - start), 2)

    def y(self, value: float) -> float:
        """Return where a value lies."""
        share = (value / self.step - self.low) / (self.high - self.low)
        return round(self.corner[1] + HIGH - BOTTOM - share * (HIGH - TOP - BOTTOM), 2)

    def _steps(self) -> Iterator[float]:
        return (round(tick * self.step, 9) for tick in range(int(self.low), int(self.high) + 1))

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of the ticks."""
        return [{"x": self.left, "x2": self.right, "y": self.y(tick)} for tick in self._steps()]

    def ticks(self) -> list[dict[str, Any]]:
        """Return the numbers beside those lines."""
        digits = max(0, -floor(log10(self.step)))
        return [
            {
                "x": self.left - 6,
                "y": self.y(tick),
                "text": f"{tick:.{digits}f}".replace("-", MINUS),
            }
            for tick in self._steps()
        ]

    def prices(self) -> list[dict[str, Any]]:
        """Return the prices below, at whole powers of ten."""
        y = self.corner[1] + HIGH - BOTTOM + 12
        powers = range(int(self.cheap), int(max(self.dear, self.cheap + 1)) + 1)
        told = [(self._bought(power), f"{10.0**power:g}") for power in powers]
        if self.free:
            told.insert(0, (self.left + FREE_WIDE / 2, "free"))
        return [{"x": x, "y": y, "text": text} for x, text in told]

    def title(self) -> dict[str, Any]:
        """Return the name above the panel."""
        return {"x": self.left, "y": self.corner[1] + 12, "text": label_of(self.panel.title)}

    def dots(self) -> list[dict[str, Any]]:
        """Return the judges' dots."""
        return [{"x": self.x(dot), "y": self.y(dot.value)} for dot in self.panel.dots]

    def names(self) -> list[dict[str, Any]]:
        """Return the judges' numbers, beside their dots."""
        return [
            {"x": self.x(dot) + 5, "y": self.y(dot.value) - 7, "text": str(dot.number)}
            for dot in self.panel.dots
        ]

    def intervals(self) -> list[dict[str, Any]]:
        """Return the judges' intervals."""
        return [
            {"x": self.x(dot), "y": self.y(dot.lo), "y2": self.y(dot.hi)}
            for dot in self.panel.dots
            if dot.lo is not None and dot.hi is not None
        ]


def _step(span: float) -> float:
    """Return the least step of 1, 2 or 5 times a power of ten that needs few ticks."""
    if span < LEAST_SPAN:
        return 0.1
    power = floor(log10(span / MOST_TICKS))
    steps = (round(base * 10.0**up, 9) for up in (power, power + 1) for base in (1, 2, 5))
    return next(step for step in steps if span / step <= MOST_TICKS)


def _levels(places: Sequence[_Place]) -> "list[alt.Chart]":
    import altair as alt

    lines = [
        {"x": place.left, "x2": place.right, "y": place.y(place.panel.level)}
        for place in places
        if place.panel.level is not None
    ]
    across = chart_of(lines).mark_rule(stroke=GREEN, strokeWidth=1.8, strokeDash=[5, 3])
    return [across.encode(**at_pixels(), x2=alt.X2("x2"))] if lines else []


def _intervals(ends: list[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    chart = chart_of(ends).mark_rule(stroke=INK, strokeWidth=1.3)
    drawn: alt.Chart = chart.encode(**at_pixels(), y2=alt.Y2("y2"))
    return drawn


def _dots(dots: list[dict[str, Any]]) -> "alt.Chart":
    chart = chart_of(dots).mark_point(
        shape="circle", size=40, opacity=1, fill=BLUE, stroke=BLUE, strokeWidth=1
    )
    drawn: alt.Chart = chart.encode(**at_pixels())
    return drawn
