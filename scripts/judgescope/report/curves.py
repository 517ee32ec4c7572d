"""Curves over steps as SVG; as in charts.py, no layout depends on how a font measures text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgescope.report.charts import GRID, LOOK, SOFT, TOP, spec_of

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, BOTTOM = 60, 16, 44
_AXIS = {
    **{"domain": False, "gridColor": GRID, "labelColor": SOFT, "labelFontSize": 11},
    **{"titleColor": SOFT, "titleFontSize": 12, "titleFontWeight": "normal", "tickCount": 6},
    "labelPadding": 8,
}


@dataclass(frozen=True)
class Curve:
    """Values over whole numbers, the first first; `dots` says that each value is marked."""

    values: Sequence[tuple[int, float]]
    colour: str
    dots: bool = False


def curves_spec(curves: Sequence[Curve], *, x: str, y: str) -> dict[str, Any]:
    """Return the Vega-Lite specification of curves that share both scales."""
    import altair as alt

    chart = alt.layer(*(_drawn(curve, x, y) for curve in curves)).properties(
        width=WIDTH,
        height=HEIGHT,
        autosize=alt.AutoSizeParams(type="none"),
        padding={"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
    )
    spec: dict[str, Any] = spec_of(chart)
    beside = {"minExtent": LEFT - 24, "maxExtent": LEFT - 24}
    return {**spec, "config": {**LOOK, "axisY": {**_AXIS, **beside}}}


def _drawn(curve: Curve, x: str, y: str) -> "alt.Chart":
    """Return a line; a single value, of which there is none, is marked in any case."""
    import altair as alt

    values = [{"x": at, "y": value} for at, value in curve.values]
    dots = curve.dots or len(values) == 1
    point = alt.OverlayMarkDef(fill=curve.colour, stroke=curve.colour, size=34) if dots else False
    line = alt.Chart(alt.InlineData(values=values)).mark_line(
        stroke=curve.colour, strokeWidth=2 if curve.dots else 1.2, point=point
    )
    drawn: alt.Chart = line.encode(
        x=alt.X("x", type="quantitative", title=x),
        y=alt.Y("y", type="quantitative", title=y, scale=alt.Scale(zero=True)),
    )
    return drawn
