"""Figures as SVG, the same bytes everywhere: no layout depends on how a font measures
text.

A figure is a Vega-Lite specification of fixed places: signs by group, curves over
steps, and histograms back to back; panels.py has small multiples. Colours are those of
the light page; the style sheet replaces them by attribute in the dark. Hue shows the
measure; the sign's shape, filled or hollow, shows it as well, so that no reader needs
the colours.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""
INK, SOFT, GRID = "#222222", "#666666", "#dddddd"
BLUE, RED, GREEN, OCHRE, PURPLE, SKY = (
    *("#0060a8", "#b0400e", "#00735c", "#946200", "#8a4a85", "#2c8ac4"),
)
PALE_RED = "#fbeadf"
FILLS = ("#7fb2dc", "#e39b74"), (BLUE, RED)
"""Fills and outlines of two histograms back to back."""
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 560, 226, 16, 8, 44
CURVES_WIDTH, CURVES_HEIGHT, CURVES_LEFT = 640, 240, 60
SLOT, LONGEST_LABEL, LONGEST_GROUP = 10, 30, 34
"""The most characters of a label, and of one at the left of a figure with groups."""
ROW, SPREAD = 64, 0.46
"""Pixels of a group of a histogram; its largest share reaches so far of them, up or
down."""
ROLES = re.compile(r' role="graphics-[a-z]+" aria-roledescription="[^"]*"')
QUANTITATIVE = {"type": "quantitative"}
_X_AXIS: Spec = {
    **{
        "domain": False,
        "gridColor": GRID,
        "tickCount": 6,
        "labelColor": SOFT,
        "labelFontSize": 11,
    },
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
        **{
            "domainColor": SOFT,
            "labelColor": INK,
            "labelFontSize": 12,
            "labelLimit": 0,
        },
        **{
            "labelPadding": 8,
            "minExtent": LEFT - 8,
            "maxExtent": LEFT - 8,
            "grid": False,
        },
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
PADDING = (LEFT, RIGHT, TOP, BOTTOM)


@dataclass(frozen=True)
class Series:
    """One measure of a figure: its colour and the shape of its sign."""

    name: str
    style: str
    shape: str

    @property
    def sign(self) -> str:
        """Return the character that stands for the series in a legend."""
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
"""The number of measures that have their own sign in a figure."""
COLOURS = {
    "blue": BLUE,
    "red": RED,
    "green": GREEN,
    "ochre": OCHRE,
    "purple": PURPLE,
    "sky": SKY,
}


def signs(names: Sequence[str]) -> list[Series]:
    """Return a series for each name, distinct for the first six."""
    looks = cycle(zip(COLOURS, SIGNS, strict=True))
    return [Series(name, *look) for name, look in zip(names, looks, strict=False)]


def svg(spec: Spec) -> str:
    """Return a specification as SVG; nothing is fetched.

    Its parts have no roles: the page names the figure as one image.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return ROLES.sub("", drawn)


def layer(mark: str, values: Sequence[object], encoding: Spec, **look: object) -> Spec:
    """Return a layer: its marks, their values and how these are placed."""
    return {
        "data": {"values": values},
        "mark": {"type": mark, **look},
        "encoding": encoding,
    }


def framed(
    layers: Sequence[Spec],
    width: float,
    height: float,
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    look: Spec = LOOK,
) -> Spec:
    """Return the specification of layers in a frame; `padding` is left, right, top,
    bottom.
    """
    return {
        "autosize": {"type": "none"},
        "config": look,
        "height": height,
        "layer": layers,
        "padding": dict(zip(("left", "right", "top", "bottom"), padding, strict=True)),
        "width": width,
    }


def cut(text: str, limit: int = LONGEST_LABEL, end: int = 6) -> str:
    """Return a name, cut where the figure has no room for more: not at its `end`, which
    differs.
    """
    return (
        text
        if len(text) <= limit
        else f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"
    )


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """Return name -> its label; labels that would be the same have a number."""
    labels: dict[str, str] = {}
    for at, name in enumerate(dict.fromkeys(names), 1):
        label = cut(name, LONGEST_GROUP)
        labels[name] = (
            f"{cut(name, LONGEST_GROUP - 5)} #{at}"
            if label in labels.values()
            else label
        )
    return labels


# --- signs by group -------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """An estimate in a figure."""

    group: str
    series: str
    value: float
    ci_low: float | None
    ci_high: float | None


def chart_spec(
    points: Sequence[Point],
    groups: Sequence[str],
    series: Sequence[Series],
    *,
    line: float,
    x: str,
) -> Spec:
    """Return the specification: a band per group, a slot per series, a vertical
    line.
    """
    labels = told_apart(groups)
    band = {"domain": [*labels.values()], "paddingInner": 0.14, "paddingOuter": 0.07}
    slots = {"domain": [one.name for one in series]}
    values = [{**vars(one), "group": labels[one.group]} for one in points]

    def channels(field: str) -> Spec:
        return {
            "x": {"field": field, **QUANTITATIVE, "title": x, "scale": {"zero": True}},
            "y": {"field": "group", "type": "nominal", "title": None, "scale": band},
            "yOffset": {"field": "series", "type": "nominal", "scale": slots},
        }

    marks = []
    for one in series:
        mine = [value for value in values if value["series"] == one.name]
        look = {
            "fill": COLOURS[one.style],
            "stroke": COLOURS[one.style],
            "shape": one.shape,
        }
        marks.append(
            layer("point", mine, channels("value"), size=44, opacity=1, **look)
        )
    known = [value for value in values if value["ci_low"] is not None]
    ends = {**channels("ci_low"), "x2": {"field": "ci_high"}}
    upright = {"x": {"field": "line", **QUANTITATIVE}}
    dashes = {"stroke": INK, "strokeWidth": 1.2, "strokeDash": [5, 3]}
    layers = [
        *marks,
        layer("rule", [{"line": line}], upright, **dashes),
        layer("rule", known, ends, stroke=INK, strokeWidth=1.3),
    ]
    return framed(layers, WIDTH, len(groups) * (len(series) * SLOT + 10), PADDING)


# --- curves over steps ----------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Values over whole numbers, the first first; `dots` says that each value is
    marked.
    """

    values: Sequence[tuple[int, float]]
    colour: str
    dots: bool = False


def curves_spec(curves: Sequence[Curve], *, x: str, y: str) -> Spec:
    """Return the specification of curves that share both scales.

    A curve with a single value has no line, so the value is always marked.
    """
    channels = {
        "x": {"field": "x", **QUANTITATIVE, "title": x},
        "y": {"field": "y", **QUANTITATIVE, "title": y, "scale": {"zero": True}},
    }
    layers = []
    for curve in curves:
        values = [{"x": step, "y": value} for step, value in curve.values]
        dots = curve.dots or len(values) == 1
        point = (
            {"fill": curve.colour, "stroke": curve.colour, "size": 34}
            if dots
            else False
        )
        look = {
            "stroke": curve.colour,
            "strokeWidth": 2 if curve.dots else 1.2,
            "point": point,
        }
        layers.append(layer("line", values, channels, **look))
    padding = (CURVES_LEFT, RIGHT, TOP, BOTTOM)
    return framed(layers, CURVES_WIDTH, CURVES_HEIGHT, padding, CURVES_LOOK)


# --- histograms -----------------------------------------------------------------------


@dataclass(frozen=True)
class Distribution:
    """Shares by bin, the first from the bottom of the range; `mean` in units of a
    bin.
    """

    group: str
    series: str
    shares: Sequence[float]
    mean: float | None


def histogram_spec(
    distributions: Sequence[Distribution],
    groups: Sequence[str],
    series: tuple[str, str],
    *,
    x: str,
) -> Spec:
    """Return the specification: of each group the first series upwards, the second
    downwards.

    A group's largest share of either series has the full reach.
    """
    lines = {group: number + 0.5 for number, group in enumerate(groups)}
    largest: dict[str, float] = {}
    for each in distributions:
        largest[each.group] = max(largest.get(each.group, 0.0), *each.shares, 0.0)

    def channel(field: str) -> Spec:
        names = json.dumps([cut(group, LONGEST_GROUP) for group in groups])
        axis = {
            "values": [*lines.values()],
            "labelExpr": f"{names}[floor(datum.value)]",
        }
        scale = {"domain": [0, len(groups)], "reverse": True}
        return {
            "field": field,
            **QUANTITATIVE,
            "title": None,
            "scale": scale,
            "axis": axis,
        }

    base = [{"line": line} for line in lines.values()]
    layers = [layer("rule", base, {"y": channel("line")}, stroke=SOFT, strokeWidth=1)]
    ticks = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    axis = {"title": x, "scale": {"domain": [0, 1]}, "axis": ticks}
    bars = {"x": {"field": "from", **QUANTITATIVE, **axis}, "x2": {"field": "to"}}
    bars |= {"y": channel("line"), "y2": {"field": "end"}}
    means = {"x": {"field": "mean", **QUANTITATIVE}, "y": channel("at")}
    for name, up, fill, stroke in zip(series, (-1, 1), *FILLS, strict=True):
        mine = [each for each in distributions if each.series == name]
        bins = [
            {
                "from": number / len(each.shares),
                "to": (number + 1) / len(each.shares),
                "line": lines[each.group],
                "end": lines[each.group] + up * SPREAD * share / largest[each.group],
            }
            for each in mine
            for number, share in enumerate(each.shares)
            if share > 0
        ]
        layers.append(
            layer("rect", bins, bars, fill=fill, stroke=stroke, strokeWidth=1)
        )
        signs = [
            {"mean": each.mean, "at": lines[each.group] + up * 0.08}
            for each in mine
            if each.mean is not None
        ]
        sign = {
            "shape": "triangle-down" if up < 0 else "triangle-up",
            "size": 50,
            "opacity": 1,
        }
        outline = {"fill": stroke, "stroke": "white", "strokeWidth": 1}
        layers.append(layer("point", signs, means, **sign, **outline))
    return framed(layers, WIDTH, len(groups) * ROW, PADDING)
