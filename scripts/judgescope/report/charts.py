"""Figures as SVG, the same bytes everywhere: no layout depends on how a font measures text.

Colours are those of the light page; the style sheet replaces them by attribute in the dark. Hue
tells the measure, filled or hollow and the sign's shape tell the rest, so that no reader needs the
colours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

INK, SOFT, GRID = "#222222", "#666666", "#dddddd"
BLUE, RED, GREEN, OCHRE, PURPLE, SKY = (
    *("#0060a8", "#b0400e", "#00735c", "#946200", "#8a4a85", "#2c8ac4"),
)
FILL_BLUE, FILL_RED, PALE_BLUE, PALE_RED = "#7fb2dc", "#e39b74", "#e6f1fa", "#fbeadf"
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 560, 190, 16, 8, 44
SLOT, LONGEST_LABEL = 10, 30
ROLES = re.compile(r' role="graphics-[a-z]+" aria-roledescription="[^"]*"')
LOOK: dict[str, Any] = {
    "aria": False,
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"ticks": False, "labelOverlap": False},
    "axisX": {
        **{"domain": False, "gridColor": GRID, "tickCount": 6, "labelFlush": False},
        **{"labelColor": SOFT, "labelFontSize": 11, "minExtent": 16, "maxExtent": 16},
        **{"titleColor": SOFT, "titleFontSize": 12, "titleFontWeight": "normal"},
    },
    "axisY": {
        **{"domainColor": SOFT, "labelColor": INK, "labelFontSize": 12, "labelLimit": 0},
        **{"labelPadding": 8, "minExtent": LEFT - 8, "maxExtent": LEFT - 8, "grid": False},
    },
}
"""Extents are fixed and nothing is cut or dropped by the width of its text."""


@dataclass(frozen=True)
class Series:
    """One measure of a figure: a bar with fill and outline, or a sign."""

    name: str
    style: str
    fill: str
    stroke: str
    shape: str = ""

    @property
    def sign(self) -> str:
        """Return the character that stands for the series in a legend."""
        if not self.shape:
            return "□" if self.fill in (PALE_BLUE, PALE_RED) else "■"
        return SIGNS[self.shape]


SIGNS = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "triangle-down": "▼",
}
MOST_SIGNS = len(SIGNS)
"""So many measures have a sign of their own in a figure."""
COLOURS = {"blue": BLUE, "red": RED, "green": GREEN, "ochre": OCHRE, "purple": PURPLE, "sky": SKY}


def signs(names: Sequence[str]) -> list[Series]:
    """Return a series of signs for each name, distinct for the first six."""
    looks = list(zip(COLOURS.items(), SIGNS, strict=True))
    return [
        Series(name, style, colour, colour, shape)
        for number, name in enumerate(names)
        for (style, colour), shape in [looks[number % len(looks)]]
    ]


@dataclass(frozen=True)
class Point:
    """An estimate in a figure."""

    group: str
    series: str
    value: float
    lo: float | None
    hi: float | None


def chart_spec(
    points: Sequence[Point], groups: Sequence[str], series: Sequence[Series], *, line: float, x: str
) -> dict[str, Any]:
    """Return the Vega-Lite specification: a band per group, a slot per series, a vertical line."""
    import altair as alt

    labels = {name: label_of(name) for name in groups}
    values = [
        {"group": labels[p.group], "series": p.series, "value": p.value, "lo": p.lo, "hi": p.hi}
        for p in points
    ]
    place = _Place(list(labels.values()), [one.name for one in series], values, x)
    layers = [*(place.mark(one) for one in series), place.line(line), place.whiskers()]
    chart = alt.layer(*layers).properties(**_frame(groups, series))
    spec: dict[str, Any] = spec_of(chart)
    return {**spec, "config": LOOK}


@dataclass(frozen=True)
class Box:
    """A spread of values in a figure: ends, quartiles and median."""

    group: str
    series: str
    least: float
    low: float
    median: float
    high: float
    most: float


def box_spec(
    boxes: Sequence[Box], groups: Sequence[str], series: Sequence[Series], *, line: float, x: str
) -> dict[str, Any]:
    """Return the Vega-Lite specification of boxes, placed as the bars of `chart_spec`."""
    import altair as alt

    labels = {name: label_of(name) for name in groups}
    values = [{**vars(box), "group": labels[box.group]} for box in boxes]
    place = _Place(list(labels.values()), [one.name for one in series], values, x)
    layers = [place.line(line), place.whiskers("least", "most"), *map(place.box, series)]
    chart = alt.layer(*layers, place.ticks("median")).properties(**_frame(groups, series))
    spec: dict[str, Any] = spec_of(chart)
    return {**spec, "config": LOOK}


def _frame(groups: Sequence[str], series: Sequence[Series]) -> dict[str, Any]:
    import altair as alt

    return {
        "width": WIDTH,
        "height": len(groups) * (len(series) * SLOT + 10),
        "autosize": alt.AutoSizeParams(type="none"),
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
    }


_checks = True
"""Whether figures are compared with their schema, and each of their parts."""


def unchecked() -> None:
    """Let jobs draw figures without comparing them with their schema, which tests do."""
    from altair.utils.schemapi import disable_debug_mode

    global _checks
    _checks = False
    disable_debug_mode()


def spec_of(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart of altair's."""
    spec: dict[str, Any] = chart.to_dict(validate=_checks)
    return spec


def svg(spec: dict[str, Any]) -> str:
    """Return a specification as SVG; nothing is fetched.

    Its parts have no roles: the page names the figure as one image.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return ROLES.sub("", drawn)


@dataclass(frozen=True)
class _Place:
    """The shared scales of a figure's layers."""

    groups: list[str]
    series: list[str]
    values: list[dict[str, Any]]
    title: str

    def mark(self, series: Series) -> "alt.Chart":
        """Return the bars or signs of one series."""
        import altair as alt

        chart = _chart([value for value in self.values if value["series"] == series.name])
        at = self._at("value")
        if series.shape:
            drawn = chart.mark_point(
                size=44, opacity=1, shape=series.shape, fill=series.fill, stroke=series.stroke
            )
        else:
            at["x2"] = alt.datum(0)
            drawn = chart.mark_bar(
                fill=series.fill, stroke=series.stroke, strokeWidth=1, height=SLOT - 2
            )
        placed: alt.Chart = drawn.encode(**at)
        return placed

    def whiskers(self, low: str = "lo", high: str = "hi") -> "alt.Chart":
        """Return the intervals."""
        import altair as alt

        known = [value for value in self.values if value[low] is not None]
        rule = _chart(known).mark_rule(stroke=INK, strokeWidth=1.3)
        placed: alt.Chart = rule.encode(**self._at(low), x2=alt.X2(high))
        return placed

    def box(self, series: Series) -> "alt.Chart":
        """Return the boxes of one series, from quartile to quartile."""
        import altair as alt

        bars = _chart([value for value in self.values if value["series"] == series.name])
        drawn = bars.mark_bar(
            fill=series.fill, stroke=series.stroke, strokeWidth=1, height=SLOT - 2
        )
        placed: alt.Chart = drawn.encode(**self._at("low"), x2=alt.X2("high"))
        return placed

    def ticks(self, field: str) -> "alt.Chart":
        """Return a short upright line for each value."""
        import altair as alt

        drawn = _chart(self.values).mark_tick(
            stroke=INK, color=INK, thickness=2, height=SLOT - 2, orient="vertical"
        )
        placed: alt.Chart = drawn.encode(**self._at(field))
        return placed

    def line(self, at: float) -> "alt.Chart":
        """Return the vertical line."""
        import altair as alt

        rule = _chart([{"line": at}]).mark_rule(stroke=INK, strokeWidth=1.2, strokeDash=[5, 3])
        placed: alt.Chart = rule.encode(x=alt.X("line", type="quantitative"))
        return placed

    def _at(self, field: str) -> dict[str, Any]:
        import altair as alt

        band = alt.Scale(domain=self.groups, paddingInner=0.14, paddingOuter=0.07)
        slots = alt.Scale(domain=self.series)
        return {
            "x": alt.X(field, type="quantitative", title=self.title, scale=alt.Scale(zero=True)),
            "y": alt.Y("group", type="nominal", title=None, scale=band),
            "yOffset": alt.YOffset("series", type="nominal", scale=slots),
        }


def _chart(values: list[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    return alt.Chart(alt.InlineData(values=values))


def label_of(text: str) -> str:
    """Return a group's name, cut where the figure has no room for more."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
