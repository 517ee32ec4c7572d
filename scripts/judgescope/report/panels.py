"""Small multiples as SVG: dots over whole numbers, their means and intervals, in each panel.

All panels share both scales and everything has its place in pixels, titles and ticks too: as in
charts.py, no layout depends on how a font measures text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from judgescope.report.charts import BLUE, GREEN, GRID, INK, LOOK, RED, SOFT, label_of, spec_of

if TYPE_CHECKING:
    import altair as alt

COLUMNS, WIDE, HIGH = 3, 240, 190
"""Panels in a row, and the pixels of one with what belongs to it."""
LEFT, TOP, RIGHT, BOTTOM = 44, 26, 14, 24
"""Pixels of a panel around its dots: for ticks, title, the next panel, and numbers."""
FOOT, EDGE = 24, 10
"""Pixels under all panels, for the name of their numbers; and around the first and last one."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Between ticks; the last one is enough for correlations."""
MOST_TICKS = 8
MINUS = "\N{MINUS SIGN}"
Dot = tuple[int, float]
Ends = tuple[int, float, float]
"""A whole number, and the lower and the upper end of an interval over it."""
Level = tuple[float, float | None, float | None]
"""A value that is of no whole number, and the ends of its interval, None without one."""


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


def panels_spec(panels: Sequence[TargetSet], *, x: str) -> dict[str, Any]:
    """Return the Vega-Lite specification; `x` names the whole numbers. Some panel has a dot."""
    place = _Place.of(panels)
    columns, rows = min(COLUMNS, len(panels)), ceil(len(panels) / COLUMNS)
    width, height = columns * WIDE, rows * HIGH + FOOT
    foot = {"x": width / 2, "y": height - 6, "text": x}
    each = [*enumerate(panels)]
    layers = [
        rules_of([line for at, _ in each for line in place.lines(at)]),
        words_of([tick for at, _ in each for tick in place.ticks(at)], SOFT, "right", 11),
        words_of([mark for at, _ in each for mark in place.numbers(at)], SOFT, "center", 11),
        words_of([place.title(at, panel) for at, panel in each], INK, "left", 12),
        words_of([foot], SOFT, "center", 12),
        _intervals(place, [panel.spread for panel in panels], RED, 5, 0.35),
        _means(place, panels),
        *_levels(place, panels),
        _intervals(place, [panel.ends for panel in panels], INK, 1.3, 1),
        _dots(place, panels),
    ]
    return framed(layers, width, height)


@dataclass(frozen=True)
class _Place:
    """Where numbers lie in a panel: those below it, and the ticks of its height."""

    at: list[int]
    step: float
    low: int
    high: int

    @classmethod
    def of(cls, panels: Sequence[TargetSet]) -> "_Place":
        """Return the scales that hold everything of all panels; ticks are multiples of a step."""
        dots = [dot for panel in panels for dot in (*panel.dots, *panel.means)]
        ends = [one[1:] for panel in panels for one in (*panel.spread, *panel.ends)]
        ends += [(end, end) for panel in panels for end in panel.level or () if end is not None]
        values = [*(value for _, value in dots), *(end for one in ends for end in one)]
        low, high = min(values), max(values)
        for step in STEPS:
            first, last = floor(low / step), ceil(high / step)
            if last - first < MOST_TICKS:
                break
        return cls(sorted({number for number, _ in dots}), step, first, max(last, first + 1))

    def corner(self, panel: int) -> tuple[int, int]:
        """Return the upper left corner of a panel."""
        row, column = divmod(panel, COLUMNS)
        return column * WIDE, row * HIGH

    def x(self, panel: int, number: int) -> float:
        """Return where a whole number lies."""
        first, last = self.at[0], self.at[-1]
        share = (number - first) / (last - first) if last > first else 0.5
        span = WIDE - LEFT - RIGHT - 2 * EDGE
        return round(self.corner(panel)[0] + LEFT + EDGE + share * span, 2)

    def y(self, panel: int, value: float) -> float:
        """Return where a value lies."""
        share = (value / self.step - self.low) / (self.high - self.low)
        return round(self.corner(panel)[1] + HIGH - BOTTOM - share * (HIGH - TOP - BOTTOM), 2)

    def _steps(self) -> Iterator[float]:
        return (round(tick * self.step, 9) for tick in range(self.low, self.high + 1))

    def lines(self, panel: int) -> list[dict[str, Any]]:
        """Return the lines of a panel's ticks."""
        return [self.across(panel, tick) for tick in self._steps()]

    def across(self, panel: int, value: float) -> dict[str, Any]:
        """Return the line across a panel at a value."""
        left = self.corner(panel)[0] + LEFT
        return {"x": left, "x2": left + WIDE - LEFT - RIGHT, "y": self.y(panel, value)}

    def ticks(self, panel: int) -> list[dict[str, Any]]:
        """Return the numbers beside those lines."""
        left, digits = self.corner(panel)[0] + LEFT - 6, 2 if self.step < 0.1 else 1
        return [
            {"x": left, "y": self.y(panel, tick), "text": f"{tick:.{digits}f}".replace("-", MINUS)}
            for tick in self._steps()
        ]

    def numbers(self, panel: int) -> list[dict[str, Any]]:
        """Return the whole numbers below a panel."""
        y = self.corner(panel)[1] + HIGH - BOTTOM + 12
        return [{"x": self.x(panel, at), "y": y, "text": str(at)} for at in self.at]

    def title(self, panel: int, told: TargetSet) -> dict[str, Any]:
        """Return the name above a panel."""
        x, y = self.corner(panel)
        return {"x": x + LEFT, "y": y + 12, "text": label_of(told.title)}


def framed(layers: "list[alt.Chart]", width: int, height: int) -> dict[str, Any]:
    """Return the specification of layers that are placed in the pixels of a frame."""
    import altair as alt

    chart = alt.layer(*layers).properties(
        width=width,
        height=height,
        autosize=alt.AutoSizeParams(type="none"),
        padding={"left": 0, "right": 0, "top": 0, "bottom": 0},
    )
    spec: dict[str, Any] = spec_of(chart)
    return {**spec, "config": LOOK}


def rules_of(lines: list[dict[str, Any]]) -> "alt.Chart":
    """Return faint lines across."""
    import altair as alt

    chart = chart_of(lines).mark_rule(stroke=GRID, strokeWidth=1)
    drawn: alt.Chart = chart.encode(**at_pixels(), x2=alt.X2("x2"))
    return drawn


def words_of(words: list[dict[str, Any]], colour: str, align: Any, size: int) -> "alt.Chart":
    """Return words at their places."""
    chart = chart_of(words).mark_text(fill=colour, align=align, baseline="middle", fontSize=size)
    drawn: alt.Chart = chart.encode(**at_pixels(), text="text:N")
    return drawn


def _means(place: _Place, panels: Sequence[TargetSet]) -> "alt.Chart":
    import altair as alt

    values = [
        {"x": place.x(number, at), "y": place.y(number, value), "panel": number}
        for number, panel in enumerate(panels)
        for at, value in panel.means
    ]
    chart = chart_of(values).mark_line(stroke=RED, strokeWidth=1.8)
    drawn: alt.Chart = chart.encode(**at_pixels(), detail=alt.Detail("panel", type="nominal"))
    return drawn


def _levels(place: _Place, panels: Sequence[TargetSet]) -> "list[alt.Chart]":
    """Return the lines across and their intervals; nothing where no panel has one."""
    import altair as alt

    known = [(at, panel.level) for at, panel in enumerate(panels) if panel.level]
    lines = [place.across(at, level[0]) for at, level in known]
    ends = [
        {"x": line["x2"], "y": place.y(at, lo), "y2": place.y(at, hi)}
        for line, (at, (_, lo, hi)) in zip(lines, known, strict=True)
        if lo is not None and hi is not None
    ]
    across = chart_of(lines).mark_rule(stroke=GREEN, strokeWidth=1.8, strokeDash=[5, 3])
    upright = chart_of(ends).mark_rule(stroke=GREEN, strokeWidth=1.8)
    drawn = (
        (lines, across.encode(**at_pixels(), x2=alt.X2("x2"))),
        (
            ends,
            upright.encode(**at_pixels(), y2=alt.Y2("y2")),
        ),
    )
    return [chart for values, chart in drawn if values]


def _intervals(
    place: _Place, panels: Sequence[Sequence[Ends]], colour: str, width: float, opacity: float
) -> "alt.Chart":
    import altair as alt

    values = [
        {"x": place.x(number, at), "y": place.y(number, lo), "y2": place.y(number, hi)}
        for number, panel in enumerate(panels)
        for at, lo, hi in panel
    ]
    chart = chart_of(values).mark_rule(stroke=colour, strokeWidth=width, opacity=opacity)
    drawn: alt.Chart = chart.encode(**at_pixels(), y2=alt.Y2("y2"))
    return drawn


def _dots(place: _Place, panels: Sequence[TargetSet]) -> "alt.Chart":
    values = [
        {"x": place.x(number, at), "y": place.y(number, value)}
        for number, panel in enumerate(panels)
        for at, value in panel.dots
    ]
    chart = chart_of(values).mark_point(
        shape="circle", size=30, opacity=0.75, fill=BLUE, stroke=BLUE, strokeWidth=1
    )
    drawn: alt.Chart = chart.encode(**at_pixels())
    return drawn


def chart_of(values: list[dict[str, Any]]) -> "alt.Chart":
    """Return a chart of values that stand in the specification itself."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=values))


def at_pixels() -> dict[str, Any]:
    """Return the channels of a place in pixels."""
    import altair as alt

    return {
        "x": alt.X("x", type="quantitative", scale=None, axis=None),
        "y": alt.Y("y", type="quantitative", scale=None, axis=None),
    }
