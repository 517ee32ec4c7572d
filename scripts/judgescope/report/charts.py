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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, groupby
from operator import itemgetter
from typing import Any, NamedTuple

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""


@dataclass(frozen=True)
class Palette:
    """The colours of figures on the light page."""

    ink: str = "#222222"
    """Names, intervals and outlines."""
    soft: str = "#666666"
    """Numbers of scales."""
    grid: str = "#dddddd"
    blue: str = "#0060a8"
    red: str = "#b0400e"
    green: str = "#00735c"
    ochre: str = "#946200"
    purple: str = "#8a4a85"
    sky: str = "#2c8ac4"
    pale_blue: str = "#7fb2dc"
    """Bars of the upper one of two histograms back to back."""
    pale_red: str = "#e39b74"
    """Bars of the lower one."""
    band: str = "#fbeadf"
    """A range across a panel."""


@dataclass(frozen=True)
class ChartLayout:
    """Pixels of figures with groups or curves, and characters of their labels."""

    width: int = 560
    left: int = 226
    """Room for the names of groups."""
    right: int = 16
    top: int = 8
    bottom: int = 44
    slot: int = 10
    """The height of a series in its group."""
    group_characters: int = 34
    """The most characters of a name at the left of a figure with groups."""
    label_characters: int = 30
    """The most characters of any other label."""
    curves_width: int = 640
    curves_height: int = 240
    curves_left: int = 60
    """Room for the numbers of the scale upwards."""
    histogram_row: int = 64
    """The height of a group of histograms."""
    histogram_reach: float = 0.46
    """The share of a row that a group's largest share takes, up or down."""


PALETTE = Palette()
LAYOUT = ChartLayout()
_QUANTITATIVE = {"type": "quantitative"}


def _look(axis_y: Spec) -> Spec:
    """The look of a figure: extents are fixed, and nothing is cut or dropped by the
    width of its text.
    """
    return {
        "aria": False,
        "background": "transparent",
        "font": "sans-serif",
        "view": {"stroke": None},
        "axis": {"ticks": False, "labelOverlap": False},
        "axisX": {
            **_number_axis(),
            "labelFlush": False,
            "minExtent": 16,
            "maxExtent": 16,
        },
        "axisY": axis_y,
    }


def _number_axis() -> Spec:
    return {
        "domain": False,
        "gridColor": PALETTE.grid,
        "tickCount": 6,
        "labelColor": PALETTE.soft,
        "labelFontSize": 11,
        "titleColor": PALETTE.soft,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }


def _group_look() -> Spec:
    """The look of a figure with the name of a group at the left of each row."""
    axis_y = {
        "domainColor": PALETTE.soft,
        "labelColor": PALETTE.ink,
        "labelFontSize": 12,
        "labelLimit": 0,
        "labelPadding": 8,
        "minExtent": LAYOUT.left - 8,
        "maxExtent": LAYOUT.left - 8,
        "grid": False,
    }
    return _look(axis_y)


def curve_look() -> Spec:
    """The look of a figure with a scale upwards."""
    axis_y = {
        **_number_axis(),
        "labelPadding": 8,
        "minExtent": LAYOUT.curves_left - 24,
        "maxExtent": LAYOUT.curves_left - 24,
    }
    return _look(axis_y)


class ChartPadding(NamedTuple):
    """Pixels around a figure."""

    left: int = 0
    right: int = 0
    top: int = 0
    bottom: int = 0


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
    "blue": PALETTE.blue,
    "red": PALETTE.red,
    "green": PALETTE.green,
    "ochre": PALETTE.ochre,
    "purple": PALETTE.purple,
    "sky": PALETTE.sky,
}
"""Style of a series -> its colour, in the order in which series get them."""


def signs(names: Sequence[str]) -> list[Series]:
    """Return a series for each name, distinct for the first six."""
    looks = cycle(zip(COLOURS, SIGNS, strict=True))
    return [
        Series(name, style, shape)
        for name, (style, shape) in zip(names, looks, strict=False)
    ]


def svg(spec: Spec) -> str:
    """Return a specification as SVG; nothing is fetched.

    Its parts have no roles: the page names the figure as one image.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    roles_pattern = re.compile(r' role="graphics-[a-z]+" aria-roledescription="[^"]*"')
    return slim(roles_pattern.sub("", drawn))


def slim(drawn: str) -> str:
    """Return an SVG without what shows nothing: pages have thousands of dots.

    Circles are circles, places have two decimals, and attributes with their default and
    empty frames are left out.

    >>> slim('<path transform="translate(7.123,2)" d="M3,0A3,3,0,1,1,-3,0A3,3,0,1,1,'
    ...     '3,0" opacity="1" fill="red"/>')
    '<circle cx="7.12" cy="2" r="3" fill="red"/>'
    """
    # A circle as the converter draws it.
    circle_pattern = re.compile(
        r'<path transform="translate\(([\d.-]+),([\d.-]+)\)" d="M([\d.]+),0'
        r'A\3,\3,0,1,1,-\3,0A\3,\3,0,1,1,\3,0Z?"'
    )
    drawn = circle_pattern.sub(r'<circle cx="\1" cy="\2" r="\3"', drawn)
    # Empty frames, and attributes with the default of a picture that is not clicked.
    unseen_pattern = re.compile(
        r'<path class="(?:background|foreground)"[^>]* d="(?:M0,0h0v0h0Z)?"[^>]*/>'
        r'| pointer-events="none"| opacity="1"'
    )
    drawn = unseen_pattern.sub("", drawn)
    # A number within a tag with more than two decimals.
    decimals_pattern = re.compile(r"(\d\.\d\d)\d+(?=[^<>]*>)")
    drawn = decimals_pattern.sub(r"\1", drawn)
    circles_pattern = re.compile(r"(?:<circle [^<>]*/>){4,}")
    return circles_pattern.sub(_with_one_look, drawn)


def _with_one_look(run: re.Match[str]) -> str:
    """Circles that follow each other: those of one look in a group that has it."""
    parts = []
    # A circle: its place and size, its look, and how far it is seen through. A group
    # with that opacity would hide where its circles overlap.
    one_circle = re.compile(
        r'<circle( cx="[^"]*" cy="[^"]*" r="[^"]*")((?: (?!opacity)[a-z-]+="[^"]*")*)'
        r'((?: opacity="[^"]*")?)/>'
    )
    circles = one_circle.findall(run[0])
    # So many circles of one look share a group.
    fewest_alike = 4
    for look, alike in groupby(circles, key=itemgetter(1)):
        places = [f"{circle}{opacity}" for circle, _, opacity in alike]
        if len(places) < fewest_alike:
            parts += [f"<circle{circle}{look}/>" for circle in places]
            continue
        inside = "".join(f"<circle{circle}/>" for circle in places)
        parts.append(f"<g{look}>{inside}</g>")
    return "".join(parts)


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
    padding: ChartPadding | None = None,
    look: Spec | None = None,
) -> Spec:
    """Return the specification of layers in a frame, in the look of figures with
    groups or another one.
    """
    return {
        "autosize": {"type": "none"},
        "config": look or _group_look(),
        "height": height,
        "layer": layers,
        "padding": (padding or ChartPadding())._asdict(),
        "width": width,
    }


def cut(text: str, limit: int = LAYOUT.label_characters, end: int = 6) -> str:
    """Return a name, cut where the figure has no room for more: not at its `end`, which
    differs.

    >>> cut("a name of many characters", limit=12, end=4)
    'a name …ters'
    """
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"


def unique_labels(names: Iterable[str]) -> dict[str, str]:
    """Return name -> its label; labels that would be the same have a number."""
    limit = LAYOUT.group_characters
    labels: dict[str, str] = {}
    for at, name in enumerate(dict.fromkeys(names), 1):
        label = cut(name, limit)
        if label in labels.values():
            label = f"{cut(name, limit - 5)} #{at}"
        labels[name] = label
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
    labels = unique_labels(groups)
    band = {"domain": [*labels.values()], "paddingInner": 0.14, "paddingOuter": 0.07}
    slots = {"domain": [each.name for each in series]}
    values = [{**vars(each), "group": labels[each.group]} for each in points]

    def channels(field: str) -> Spec:
        return {
            "x": {"field": field, **_QUANTITATIVE, "title": x, "scale": {"zero": True}},
            "y": {"field": "group", "type": "nominal", "title": None, "scale": band},
            "yOffset": {"field": "series", "type": "nominal", "scale": slots},
        }

    marks = []
    for each in series:
        mine = [value for value in values if value["series"] == each.name]
        look = {
            "fill": COLOURS[each.style],
            "stroke": COLOURS[each.style],
            "shape": each.shape,
        }
        marks.append(
            layer("point", mine, channels("value"), size=44, opacity=1, **look)
        )
    known = [value for value in values if value["ci_low"] is not None]
    ends = {**channels("ci_low"), "x2": {"field": "ci_high"}}
    upright = {"x": {"field": "line", **_QUANTITATIVE}}
    ink = PALETTE.ink
    dashes = {"stroke": ink, "strokeWidth": 1.2, "strokeDash": [5, 3]}
    layers = [
        *marks,
        layer("rule", [{"line": line}], upright, **dashes),
        layer("rule", known, ends, stroke=ink, strokeWidth=1.3),
    ]
    height = len(groups) * (len(series) * LAYOUT.slot + 10)
    return framed(layers, LAYOUT.width, height, _group_padding())


def _group_padding() -> ChartPadding:
    return ChartPadding(LAYOUT.left, LAYOUT.right, LAYOUT.top, LAYOUT.bottom)


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
        "x": {"field": "x", **_QUANTITATIVE, "title": x},
        "y": {"field": "y", **_QUANTITATIVE, "title": y, "scale": {"zero": True}},
    }
    layers = []
    for curve in curves:
        values = [{"x": step, "y": value} for step, value in curve.values]
        point: Spec | bool = False
        if curve.dots or len(values) == 1:
            point = {"fill": curve.colour, "stroke": curve.colour, "size": 34}
        look = {
            "stroke": curve.colour,
            "strokeWidth": 2 if curve.dots else 1.2,
            "point": point,
        }
        layers.append(layer("line", values, channels, **look))
    padding = ChartPadding(LAYOUT.curves_left, LAYOUT.right, LAYOUT.top, LAYOUT.bottom)
    width = LAYOUT.curves_width
    return framed(layers, width, LAYOUT.curves_height, padding, curve_look())


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
        limit = LAYOUT.group_characters
        names = json.dumps([cut(group, limit) for group in groups])
        axis = {
            "values": [*lines.values()],
            "labelExpr": f"{names}[floor(datum.value)]",
        }
        scale = {"domain": [0, len(groups)], "reverse": True}
        return {
            "field": field,
            **_QUANTITATIVE,
            "title": None,
            "scale": scale,
            "axis": axis,
        }

    base = [{"line": line} for line in lines.values()]
    middle = {"y": channel("line")}
    layers = [layer("rule", base, middle, stroke=PALETTE.soft, strokeWidth=1)]
    ticks = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    axis = {"title": x, "scale": {"domain": [0, 1]}, "axis": ticks}
    bars = {
        "x": {"field": "from", **_QUANTITATIVE, **axis},
        "x2": {"field": "to"},
        "y": channel("line"),
        "y2": {"field": "end"},
    }
    means = {"x": {"field": "mean", **_QUANTITATIVE}, "y": channel("at")}
    for name, up, fill, stroke, shape in (
        (series[0], -1, PALETTE.pale_blue, PALETTE.blue, "triangle-down"),
        (series[1], 1, PALETTE.pale_red, PALETTE.red, "triangle-up"),
    ):
        mine = [each for each in distributions if each.series == name]
        bins = list[Spec]()
        signs = list[Spec]()
        for each in mine:
            line = lines[each.group]
            bins += _bars(each, line, up * LAYOUT.histogram_reach, largest[each.group])
            if each.mean is not None:
                signs.append({"mean": each.mean, "at": line + up * 0.08})
        layers.append(
            layer("rect", bins, bars, fill=fill, stroke=stroke, strokeWidth=1)
        )
        sign = {"shape": shape, "size": 50, "opacity": 1}
        outline = {"fill": stroke, "stroke": "white", "strokeWidth": 1}
        layers.append(layer("point", signs, means, **sign, **outline))
    height = len(groups) * LAYOUT.histogram_row
    return framed(layers, LAYOUT.width, height, _group_padding())


def _bars(
    distribution: Distribution, line: float, reach: float, largest: float
) -> Iterator[Spec]:
    """Yield the bars on a line; `reach` is the height of the `largest` share."""
    shares = distribution.shares
    for number, share in enumerate(shares):
        if share > 0:
            yield {
                "from": number / len(shares),
                "to": (number + 1) / len(shares),
                "line": line,
                "end": line + reach * share / largest,
            }
