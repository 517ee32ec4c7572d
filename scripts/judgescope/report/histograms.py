"""Distributions as SVG: two of each group back to back, one above the line and one below.

A figure of fixed places, as in charts.py: no layout depends on how a font measures text.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgescope.report.charts import (
    BOTTOM,
    LEFT,
    LOOK,
    RIGHT,
    SOFT,
    TOP,
    WIDTH,
    Series,
    label_of,
    spec_of,
)

if TYPE_CHECKING:
    import altair as alt

ROW, SPREAD = 64, 0.46
"""Pixels of a group; its largest share reaches so far of them from the line, up or down."""


@dataclass(frozen=True)
class Distribution:
    """Shares by bin, the first from the bottom of the range; `mean` in units of a bin."""

    group: str
    series: str
    shares: Sequence[float]
    mean: float | None


def histogram_spec(
    found: Sequence[Distribution], groups: Sequence[str], series: tuple[Series, Series], *, x: str
) -> dict[str, Any]:
    """Return the Vega-Lite specification: the first series upwards, the second downwards."""
    import altair as alt

    most: dict[str, float] = {}
    for each in found:
        most[each.group] = max(most.get(each.group, 0.0), *each.shares, 0.0)
    layers = [_lines(groups)]
    for one, up in zip(series, (-1, 1), strict=True):
        mine = [each for each in found if each.series == one.name]
        layers += [_bars(mine, groups, one, up * SPREAD, most, x), _means(mine, groups, one, up)]
    chart = alt.layer(*layers).properties(
        width=WIDTH,
        height=len(groups) * ROW,
        autosize=alt.AutoSizeParams(type="none"),
        padding={"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
    )
    spec: dict[str, Any] = spec_of(chart)
    return {**spec, "config": LOOK}


def _bars(
    found: Sequence[Distribution],
    groups: Sequence[str],
    series: Series,
    reach: float,
    most: dict[str, float],
    title: str,
) -> "alt.Chart":
    """Return the bars of one series; a group's largest share of either series has the reach."""
    import altair as alt

    values = [
        {
            "from": number / len(one.shares),
            "to": (number + 1) / len(one.shares),
            "line": _line(one.group, groups),
            "end": _line(one.group, groups) + reach * share / most[one.group],
        }
        for one in found
        for number, share in enumerate(one.shares)
        if share > 0
    ]
    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    chart = alt.Chart(alt.InlineData(values=values)).mark_rect(
        fill=series.fill, stroke=series.stroke, strokeWidth=1
    )
    drawn: alt.Chart = chart.encode(
        x=alt.X("from", type="quantitative", title=title, scale=scale, axis=axis),
        x2=alt.X2("to"),
        y=_y("line", groups),
        y2=alt.Y2("end"),
    )
    return drawn


def _means(
    found: Sequence[Distribution], groups: Sequence[str], series: Series, up: int
) -> "alt.Chart":
    import altair as alt

    values = [
        {"mean": one.mean, "at": _line(one.group, groups) + up * 0.08}
        for one in found
        if one.mean is not None
    ]
    shape = "triangle-down" if up < 0 else "triangle-up"
    chart = alt.Chart(alt.InlineData(values=values)).mark_point(
        shape=shape, size=50, opacity=1, fill=series.stroke, stroke="white", strokeWidth=1
    )
    drawn: alt.Chart = chart.encode(x=alt.X("mean", type="quantitative"), y=_y("at", groups))
    return drawn


def _lines(groups: Sequence[str]) -> "alt.Chart":
    import altair as alt

    values = [{"line": _line(group, groups)} for group in groups]
    chart = alt.Chart(alt.InlineData(values=values)).mark_rule(stroke=SOFT, strokeWidth=1)
    drawn: alt.Chart = chart.encode(y=_y("line", groups))
    return drawn


def _line(group: str, groups: Sequence[str]) -> float:
    return groups.index(group) + 0.5


def _y(field: str, groups: Sequence[str]) -> "alt.Y":
    import altair as alt

    names = json.dumps([label_of(group) for group in groups])
    axis = alt.Axis(
        values=[_line(group, groups) for group in groups],
        labelExpr=f"{names}[floor(datum.value)]",
    )
    scale = alt.Scale(domain=[0, len(groups)], reverse=True)
    return alt.Y(field, type="quantitative", title=None, scale=scale, axis=axis)
