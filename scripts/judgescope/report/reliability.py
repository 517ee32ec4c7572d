"""The reliability diagram: how often verdicts of about one confidence are right.

Each bin of verdicts has a dot at its mean stated chance and the share of its verdicts
that is right, with an interval; on the diagonal the two are equal. Bars at the foot
show how many verdicts have which chance.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from judgescope.report.charts import (
    LAYOUT,
    PALETTE,
    ChartPadding,
    Spec,
    curve_look,
    framed,
    layer,
)

SIDE: Final = 320
"""Pixels of a side of the square."""


class BinDot(NamedTuple):
    """A bin: its mean stated chance, and its share of right verdicts with interval."""

    confidence: float
    right: float
    ci_low: float | None
    ci_high: float | None


def reliability_spec(bins: Sequence[BinDot], shares: Sequence[float]) -> Spec:
    """Return the specification of a diagram; `shares`: of the verdicts with a chance in
    each tenth of 0 to 1.
    """

    scale = {"domain": [0, 1], "nice": False}
    axis = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}

    def channel(field: str, title: str) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": axis,
        }

    x = channel("x", "stated chance of being right")
    y = channel("y", "share that is right, with 95 % interval")
    tallest = max([*shares, 0.0]) or 1.0
    width = 1 / max(len(shares), 1)
    bars = []
    # The share of the height that the highest bar takes.
    foot = 0.2
    for number, share in enumerate(shares):
        left = number * width
        top = foot * share / tallest
        bars.append({"x": left, "x2": left + width, "y": 0, "y2": top})
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    dots = [{"x": each.confidence, "y": each.right} for each in bins]
    spans = []
    for each in bins:
        if each.ci_low is not None and each.ci_high is not None:
            spans.append({"x": each.confidence, "y": each.ci_low, "y2": each.ci_high})
    dashes = {"stroke": PALETTE.ink, "strokeWidth": 1.2, "strokeDash": [5, 3]}
    diagonal = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    layers = [
        layer("rect", bars, {"x": x, "y": y, **ends}, fill=PALETTE.pale_blue),
        layer("line", diagonal, {"x": x, "y": y}, **dashes),
        layer(
            "rule",
            spans,
            {"x": x, "y": y, "y2": {"field": "y2"}},
            stroke=PALETTE.ink,
            strokeWidth=1.3,
        ),
        layer("line", dots, {"x": x, "y": y}, stroke=PALETTE.blue, strokeWidth=1.2),
        layer(
            "point",
            dots,
            {"x": x, "y": y},
            fill=PALETTE.blue,
            stroke=PALETTE.blue,
            size=44,
            opacity=1,
        ),
    ]
    padding = ChartPadding(LAYOUT.curves_left, LAYOUT.right, LAYOUT.top, LAYOUT.bottom)
    return framed(layers, SIDE, SIDE, padding, curve_look())
