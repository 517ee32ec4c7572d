"""Figures as SVG, the same bytes everywhere: no layout depends on how a font measures text.

A figure is a Vega-Lite specification of fixed places: bars, signs and boxes by group, curves over
steps, and histograms back to back; panels.py has small multiples. Colours are those of the light
page; the style sheet replaces them by attribute in the dark. Hue tells the measure, filled or
hollow and the sign's shape tell the rest, so that no reader needs the colours.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""
INK, SOFT, GRID = "#222222", "#666666", "#dddddd"
BLUE, RED, GREEN, OCHRE, PURPLE, SKY = (
    *("#0060a8", "#b0400e", "#00735c", "#946200", "#8a4a85", "#2c8ac4"),
)
FILL_BLUE, FILL_RED, PALE_BLUE, PALE_RED = "#7fb2dc", "#e39b74", "#e6f1fa", "#fbeadf"
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 560, 190, 16, 8, 44
CURVES_WIDTH, CURVES_HEIGHT, CURVES_LEFT = 640, 240, 60
SLOT, LONGEST_LABEL = 10, 30
ROW, SPREAD = 64, 0.46
"""Pixels of a group of a histogram; its largest share reaches so far of them, up or down."""
ROLES = re.compile(r' role="graphics-[a-z]+" aria-roledescription="[^"]*"')
QUANTITATIVE = {"type": "quantitative"}
_X_AXIS: Spec = {
    **{"domain": False, "gridColor": GRID, "tickCount": 6, "labelColor": SOFT, "labelFontSize": 11},
    **{"titleColor": SOFT, "titleFontSize": 12, "titleFontWeight": "normal"},
}
LOOK: Spec = {
    "aria": False,
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"ticks": False, "labelOverlap": False},
    "axisX": {**_X_AXIS, "labelFlush": False, "minExtent": 16, "maxExtent": 16},
    "axisY": {
        **{"domainColor": SOFT, "labelColor": INK, "labelFontSize": 12, "labelLimit": 0},
        **{"labelPadding": 8, "minExtent": LEFT - 8, "maxExtent": LEFT - 8, "grid": False},
    },
}
"""Extents are fixed and nothing is cut or dropped by the width of its text."""
CURVES_LOOK: Spec = {
    **LOOK,
    "axisY": {
        **{**_X_AXIS, "labelPadding": 8},
        **{"minExtent": CURVES_LEFT - 24, "maxExtent": CURVES_LEFT - 24},
    },
}
PLACED = (LEFT, RIGHT, TOP, BOTTOM)


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

    @property
    def look(self) -> Spec:
        """Return how its bars and signs are filled and outlined."""
        return {"fill": self.fill, "stroke": self.stroke}


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


def svg(spec: Spec) -> str:
    """Return a specification as SVG; nothing is fetched.

    Its parts have no roles: the page names the figure as one image.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return ROLES.sub("", drawn)


def layer(mark: str, values: Sequence[object], encoding: Spec, **look: object) -> Spec:
    """Return a layer: its marks, their values and how these are placed."""
    return {"data": {"values": values}, "mark": {"type": mark, **look}, "encoding": encoding}


def framed(
    layers: Sequence[Spec],
    width: float,
    height: float,
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    look: Spec = LOOK,
) -> Spec:
    """Return the specification of layers in a frame; `padding` is left, right, top, bottom."""
    return {
        "autosize": {"type": "none"},
        "config": look,
        "height": height,
        "layer": layers,
        "padding": dict(zip(("left", "right", "top", "bottom"), padding, strict=True)),
        "width": width,
    }


def label_of(text: str) -> str:
    """Return a group's name, cut where the figure has no room for more."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


# --- bars, signs and boxes by group ----------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """An estimate in a figure."""

    group: str
    series: str
    value: float
    lo: float | None
    hi: float | None


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


def chart_spec(
    points: Sequence[Point], groups: Sequence[str], series: Sequence[Series], *, line: float, x: str
) -> Spec:
    """Return the specification: a band per group, a slot per series, a vertical line."""
    at, values = partial(_in_band, groups, series, x), _labelled(points)
    marks = [_marks(one, _of(one, values), at("value")) for one in series]
    return _banded(
        [*marks, _upright(line), _whiskers(values, at("lo"), "lo", "hi")], groups, series
    )


def box_spec(
    boxes: Sequence[Box], groups: Sequence[str], series: Sequence[Series], *, line: float, x: str
) -> Spec:
    """Return the specification of boxes, placed as the bars of `chart_spec`."""
    at, values = partial(_in_band, groups, series, x), _labelled(boxes)
    bar = {"strokeWidth": 1, "height": SLOT - 2}
    ends = {**at("low"), "x2": {"field": "high"}}
    bars = [layer("bar", _of(one, values), ends, **one.look, **bar) for one in series]
    tick = {"thickness": 2, "height": SLOT - 2, "orient": "vertical"}
    ticks = layer("tick", values, at("median"), stroke=INK, color=INK, **tick)
    whiskers = _whiskers(values, at("least"), "least", "most")
    return _banded([_upright(line), whiskers, *bars, ticks], groups, series)


def _labelled(found: Sequence[Point | Box]) -> list[Spec]:
    return [{**vars(one), "group": label_of(one.group)} for one in found]


def _of(series: Series, values: Sequence[Spec]) -> list[Spec]:
    return [value for value in values if value["series"] == series.name]


def _in_band(groups: Sequence[str], series: Sequence[Series], title: str, field: str) -> Spec:
    """Return the channels of a value in the slot of its series in the band of its group."""
    names = [label_of(name) for name in dict.fromkeys(groups)]
    band = {"domain": names, "paddingInner": 0.14, "paddingOuter": 0.07}
    slots = {"domain": [one.name for one in series]}
    return {
        "x": {"field": field, **QUANTITATIVE, "title": title, "scale": {"zero": True}},
        "y": {"field": "group", "type": "nominal", "title": None, "scale": band},
        "yOffset": {"field": "series", "type": "nominal", "scale": slots},
    }


def _marks(series: Series, values: Sequence[Spec], at: Spec) -> Spec:
    """Return the bars or signs of one series."""
    if series.shape:
        return layer("point", values, at, size=44, opacity=1, shape=series.shape, **series.look)
    bar = {"strokeWidth": 1, "height": SLOT - 2}
    return layer("bar", values, {**at, "x2": {"datum": 0}}, **series.look, **bar)


def _whiskers(values: Sequence[Spec], at: Spec, low: str, high: str) -> Spec:
    known = [value for value in values if value[low] is not None]
    return layer("rule", known, {**at, "x2": {"field": high}}, stroke=INK, strokeWidth=1.3)


def _upright(at: float) -> Spec:
    place = {"x": {"field": "line", **QUANTITATIVE}}
    return layer("rule", [{"line": at}], place, stroke=INK, strokeWidth=1.2, strokeDash=[5, 3])


def _banded(layers: Sequence[Spec], groups: Sequence[str], series: Sequence[Series]) -> Spec:
    return framed(layers, WIDTH, len(groups) * (len(series) * SLOT + 10), PLACED)


# --- curves over steps -----------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Values over whole numbers, the first first; `dots` says that each value is marked."""

    values: Sequence[tuple[int, float]]
    colour: str
    dots: bool = False


def curves_spec(curves: Sequence[Curve], *, x: str, y: str) -> Spec:
    """Return the specification of curves that share both scales."""
    at = {
        "x": {"field": "x", **QUANTITATIVE, "title": x},
        "y": {"field": "y", **QUANTITATIVE, "title": y, "scale": {"zero": True}},
    }
    layers = [_curve(curve, at) for curve in curves]
    padding = (CURVES_LEFT, RIGHT, TOP, BOTTOM)
    return framed(layers, CURVES_WIDTH, CURVES_HEIGHT, padding, CURVES_LOOK)


def _curve(curve: Curve, at: Spec) -> Spec:
    """Return a line; a single value, of which there is none, is marked in any case."""
    values = [{"x": step, "y": value} for step, value in curve.values]
    dots = curve.dots or len(values) == 1
    point = {"fill": curve.colour, "stroke": curve.colour, "size": 34} if dots else False
    width = 2 if curve.dots else 1.2
    return layer("line", values, at, stroke=curve.colour, strokeWidth=width, point=point)


# --- histograms ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Distribution:
    """Shares by bin, the first from the bottom of the range; `mean` in units of a bin."""

    group: str
    series: str
    shares: Sequence[float]
    mean: float | None


def histogram_spec(
    found: Sequence[Distribution], groups: Sequence[str], series: tuple[Series, Series], *, x: str
) -> Spec:
    """Return the specification: of each group the first series upwards, the second downwards.

    A group's largest share of either series has the full reach.
    """
    most: dict[str, float] = {}
    for each in found:
        most[each.group] = max(most.get(each.group, 0.0), *each.shares, 0.0)
    lines = [{"line": _line(group, groups)} for group in groups]
    layers = [layer("rule", lines, {"y": _y("line", groups)}, stroke=SOFT, strokeWidth=1)]
    ticks = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    axis = {"title": x, "scale": {"domain": [0, 1]}, "axis": ticks}
    bars = {"x": {"field": "from", **QUANTITATIVE, **axis}, "x2": {"field": "to"}}
    bars |= {"y": _y("line", groups), "y2": {"field": "end"}}
    means = {"x": {"field": "mean", **QUANTITATIVE}, "y": _y("at", groups)}
    for one, up in zip(series, (-1, 1), strict=True):
        mine = [each for each in found if each.series == one.name]
        values = [value for each in mine for value in _bins(each, groups, up * SPREAD, most)]
        layers.append(layer("rect", values, bars, **one.look, strokeWidth=1))
        values = [
            {"mean": each.mean, "at": _line(each.group, groups) + up * 0.08}
            for each in mine
            if each.mean is not None
        ]
        sign = {"shape": "triangle-down" if up < 0 else "triangle-up", "size": 50, "opacity": 1}
        outline = {"fill": one.stroke, "stroke": "white", "strokeWidth": 1}
        layers.append(layer("point", values, means, **sign, **outline))
    return framed(layers, WIDTH, len(groups) * ROW, PLACED)


def _bins(
    one: Distribution, groups: Sequence[str], reach: float, most: dict[str, float]
) -> list[Spec]:
    """Return the bars of a distribution, as far from the line as its shares say."""
    line, bins = _line(one.group, groups), len(one.shares)
    return [
        {
            "from": number / bins,
            "to": (number + 1) / bins,
            "line": line,
            "end": line + reach * share / most[one.group],
        }
        for number, share in enumerate(one.shares)
        if share > 0
    ]


def _line(group: str, groups: Sequence[str]) -> float:
    return groups.index(group) + 0.5


def _y(field: str, groups: Sequence[str]) -> Spec:
    names = json.dumps([label_of(group) for group in groups])
    axis = {
        "values": [_line(group, groups) for group in groups],
        "labelExpr": f"{names}[floor(datum.value)]",
    }
    scale = {"domain": [0, len(groups)], "reverse": True}
    return {"field": field, **QUANTITATIVE, "title": None, "scale": scale, "axis": axis}
