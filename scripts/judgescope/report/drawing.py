"""Small pictures as SVG, without a converter: signs, intervals, strips, grids, squares.

Colours are classes of `report/first.css`, so that the pictures follow light and dark
pages. Everything here is hidden from screen readers or has a label: the words beside
the pictures say the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from markupsafe import Markup, escape

from judgescope.statistics.verdict import Sign

LOOKS: Final = {
    Sign.HOLDS: "holds",
    Sign.RULE: "explained",
    Sign.NOT_SHOWN: "unshown",
    Sign.FAILS: "fails",
    Sign.NO_CLAIM: "noclaim",
}
"""Sign -> the class of what is drawn of it."""
SIGN_WORDS: Final = {
    Sign.HOLDS: "holds, and nothing simpler explains it",
    Sign.RULE: "agrees, but a simple rule, or knowing only the system, may explain it",
    Sign.NOT_SHOWN: "not shown",
    Sign.FAILS: "fails",
    Sign.NO_CLAIM: "no claim",
}
"""Sign -> its words, in the legend and for screen readers."""


def sign(shown: Sign) -> Markup:
    """The sign of an outcome, without words."""
    shapes = {
        Sign.HOLDS: '<circle cx="8" cy="8" r="6.2" class="f"/>',
        Sign.RULE: '<circle cx="8" cy="8" r="5.5" class="o"/>'
        '<path d="M8 2.5a5.5 5.5 0 0 0 0 11z" class="f"/>',
        Sign.NOT_SHOWN: '<circle cx="8" cy="8" r="5.5" class="o"/>',
        Sign.FAILS: '<path d="M3.2 3.2 12.8 12.8M12.8 3.2 3.2 12.8" class="x"/>',
        Sign.NO_CLAIM: '<path d="M3.5 8h9" class="d"/>',
    }
    return Markup(
        f'<svg class="sign {LOOKS[shown]}" viewBox="0 0 16 16" aria-hidden="true">'
        f"{shapes[shown]}</svg>"
    )


# --- intervals ------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """What one number's intervals share: their ends, and where nothing is shown."""

    low: float
    high: float
    zero: float = 0.0

    left = 5.0
    right = 127.0
    # A dot at an end stays within the picture.

    def x(self, value: float) -> float:
        """The place of a value in an interval's picture, within its ends.

        >>> Axis(-1.0, 1.0).x(0.0)
        66.0
        """
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.left + min(max(share, 0.0), 1.0) * (self.right - self.left)


Ends = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """An estimate to draw: its value and its 95 % interval; None where it has none."""

    value: float
    ends: Ends | None


@dataclass(frozen=True)
class BesidePerson:
    """A person's interval to draw, and the judge's number that compares with it.

    Both are against the same other raters; None where the interval stands alone.
    """

    person: Ends
    judge: float | None = None


def micro(
    axis: Axis,
    shown: Sign,
    judge: Interval | None,
    rule: float | None = None,
    beside: BesidePerson | None = None,
) -> Markup:
    """An interval on its axis with the strongest rule (tick).

    Below it, on a line of its own, is one person (band) with the judge's number
    against the same raters (diamond): the interval above is of another number.
    """
    parts = []
    two_lines = beside is not None and judge is not None
    if beside is not None:
        parts.append(_band(axis, beside, middle=20 if two_lines else 8))
    parts.append(f'<path d="M2 8H130M{axis.x(axis.zero):.1f} 4v8" class="axis"/>')
    if rule is not None:
        parts.append(f'<path d="M{axis.x(rule):.1f} 1.5v13" class="rule"/>')
    if judge is not None:
        if judge.ends is not None:
            low = axis.x(judge.ends[0])
            high = axis.x(judge.ends[1])
            parts.append(f'<path d="M{low:.1f} 8H{high:.1f}" class="ci"/>')
        x = axis.x(judge.value)
        parts.append(f'<circle cx="{x:.1f}" cy="8" r="3.4" class="pt"/>')
    look = f"micro two {LOOKS[shown]}" if two_lines else f"micro {LOOKS[shown]}"
    height = 26 if two_lines else 16
    return Markup(
        f'<svg class="{look}" viewBox="0 0 132 {height}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def _band(axis: Axis, beside: BesidePerson, middle: int) -> str:
    """One person's interval as a band, with the judge's number on it if it is known."""
    half = 5 if beside.judge is not None else 7
    low = axis.x(beside.person[0])
    width = max(axis.x(beside.person[1]) - low, 1.0)
    band = (
        f'<rect x="{low:.1f}" y="{middle - half}" width="{width:.1f}" '
        f'height="{2 * half}" class="person"/>'
    )
    if beside.judge is None:
        return band
    x = axis.x(beside.judge)
    return (
        f'{band}<path d="M2 {middle}H130" class="axis"/>'
        f'<path d="M{x:.1f} {middle - 4}l4 4-4 4-4-4z" class="pt"/>'
    )


# --- strips ---------------------------------------------------------------------------


def strip(signs: Sequence[Sign]) -> Markup:
    """A square for each of several claims; of many, sorted by outcome."""
    # Up to this many claims stand in the order of the cards; more are sorted by
    # outcome.
    most_squares = 12
    if len(signs) > most_squares:
        return _many(signs)
    squares = []
    for number, shown in enumerate(signs):
        x = 13 * number + 0.5
        if shown is Sign.HOLDS:
            squares.append(_square(x, "sq-h"))
            continue
        squares.append(_square(x, "sq-x" if shown is Sign.FAILS else "sq-o"))
        if shown is Sign.RULE:
            half = f"M{x} 2.5a2 2 0 0 1 2-2h3v10h-3a2 2 0 0 1-2-2z"
            squares.append(f'<path d="{half}" class="sq-h"/>')
        elif shown is Sign.FAILS:
            cross = f"M{x + 2.5} 3l5 5M{x + 7.5} 3l-5 5"
            squares.append(f'<path d="{cross}" class="sq-c"/>')
        elif shown is Sign.NO_CLAIM:
            squares.append(f'<path d="M{x + 2.5} 5.5h5" class="sq-d"/>')
    width = 13 * len(signs)
    return Markup(
        f'<svg class="strip" viewBox="0 0 {width} 12" width="{width}" height="12" '
        f'aria-hidden="true">{"".join(squares)}</svg>'
    )


def _square(x: float, look: str) -> str:
    return f'<rect x="{x}" y=".5" width="10" height="10" rx="2" class="{look}"/>'


def _many(signs: Sequence[Sign]) -> Markup:
    """Small squares by outcome: a dashed line for each, as pages have thousands."""
    order = (Sign.HOLDS, Sign.RULE, Sign.NOT_SHOWN, Sign.NO_CLAIM, Sign.FAILS)
    looks = dict(zip(order, ("sq-h", "sq-e", "sq-n", "sq-n", "sq-f"), strict=True))
    step = min(7.0, 140 / len(signs))
    width = step * 5 / 7
    paths = []
    x = 0.0
    for shown in order:
        number = signs.count(shown)
        if number:
            line = f"M{x:.4g} 5h{number * step:.4g}"
            paths.append(f'<path d="{line}" class="{looks[shown]}"/>')
            x += number * step
    dashes = f"{width:.3g} {step - width:.3g}"
    return Markup(
        f'<svg class="strip many" viewBox="0 0 140 10" stroke-dasharray="{dashes}" '
        f'aria-hidden="true">{"".join(paths)}</svg>'
    )


# --- what people said, what the judge said --------------------------------------------


@dataclass(frozen=True)
class CountGrid:
    """Counts of texts by what people said (across) and what the judge said.

    `counts` maps (place across, place up or down) to a number of texts; `far(across,
    judged)` says whether a place is so far off that it is a warning. Ratings run up,
    labels down.
    """

    counts: Mapping[tuple[int, int], int]
    across: Sequence[str]
    judged: Sequence[str]
    far: Callable[[int, int], bool]
    upwards: bool = True
    numbers: bool = False
    label: str = ""
    axes: tuple[str, str] = ("people", "judge")
    """Who is counted across, and who up or down."""

    @property
    def rows(self) -> list[tuple[str, list[int]]]:
        """The counts of each place of the judge, by the place across."""
        rows = []
        for judged, name in enumerate(self.judged):
            counts = []
            for x in range(len(self.across)):
                counts.append(self.counts.get((x, judged), 0))
            rows.append((name or str(judged + 1), counts))
        if self.upwards:
            return rows[::-1]
        return rows

    @property
    def heads(self) -> list[str]:
        """What stands above the counts: unnamed places have their number."""
        return [name or str(place + 1) for place, name in enumerate(self.across)]

    @property
    def largest(self) -> int:
        """The largest count, 1 without any."""
        return max(self.counts.values(), default=1) or 1


def grid(shown: CountGrid, largest: int = 0) -> Markup:
    """A grid of bubbles whose area is the number of texts.

    largest: the number of the largest bubble, for grids that share a scale.
    """
    columns = len(shown.across)
    rows = len(shown.judged)
    cell = 135 / max(columns, rows, 1)
    largest = largest or shown.largest
    parts = []
    for index in range(min(columns, rows)):
        x = index * cell
        y = _row(shown, index) * cell
        parts.append(
            f'<rect x="{x:.4g}" y="{y:.4g}" width="{cell:.4g}" height="{cell:.4g}" '
            'class="diag"/>'
        )
    lines = [f"M{k * cell:.4g} 0V{rows * cell:.4g}" for k in range(columns + 1)]
    lines += [f"M0 {k * cell:.4g}H{columns * cell:.4g}" for k in range(rows + 1)]
    parts.append(f'<path d="{"".join(lines)}" class="grid"/>')
    for (across, judged), number in sorted(shown.counts.items()):
        if not number:
            continue
        x = (across + 0.5) * cell
        y = (_row(shown, judged) + 0.5) * cell
        radius = max(cell * 0.48 * sqrt(number / largest), 1.2)
        look = "bb far" if shown.far(across, judged) else "bb"
        parts.append(
            f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{radius:.3g}" class="{look}"/>'
        )
        if shown.numbers:
            parts.append(_count(x, y, number, radius, cell))
    parts += _ticks(shown, cell)
    margin = _margin(shown.judged) + 12
    middle = rows * cell / 2
    parts.append(
        f'<text x="{columns * cell / 2:.4g}" y="{rows * cell + 28:.4g}" '
        f'text-anchor="middle">{escape(shown.axes[0])}</text>'
        f'<text transform="translate({9 - margin} {middle:.4g}) rotate(-90)" '
        f'text-anchor="middle">{escape(shown.axes[1])}</text>'
    )
    return Markup(
        f'<svg viewBox="-{margin} -4 {margin + columns * cell + 6:.4g} '
        f'{rows * cell + 38:.4g}" role="img" aria-label="{escape(shown.label)}">'
        f"{''.join(parts)}</svg>"
    )


def _row(shown: CountGrid, judged: int) -> int:
    if shown.upwards:
        return len(shown.judged) - 1 - judged
    return judged


def _margin(names: Sequence[str]) -> int:
    longest = max(map(len, map(_tick, names)), default=1)
    return 12 + 6 * longest


def _tick(name: str) -> str:
    if len(name) <= 11:
        return name
    return f"{name[:10]}…"


def _ticks(shown: CountGrid, cell: float) -> Iterable[str]:
    bottom = len(shown.judged) * cell + 14
    every = max(1, -(-max(map(len, map(_tick, shown.across)), default=1) * 6 // cell))
    for index, name in enumerate(shown.across):
        if index % every == 0:
            x = (index + 0.5) * cell
            yield (
                f'<text x="{x:.4g}" y="{bottom:.4g}" text-anchor="middle">'
                f"{escape(_tick(name))}</text>"
            )
    for index, name in enumerate(shown.judged):
        y = (_row(shown, index) + 0.5) * cell + 4
        yield f'<text x="-6" y="{y:.4g}" text-anchor="end">{escape(_tick(name))}</text>'


def _count(x: float, y: float, number: int, radius: float, cell: float) -> str:
    """A count: in its bubble, else beside it, else over it: on no line of the grid."""
    digit = 7.2
    width = digit * len(str(number))
    inside = radius > max(width / 2 + 1, 7)
    beside = not inside and radius + 2 + width < cell / 2
    at = x + radius + 2 if beside else x
    look = "n out" if beside else "n over"
    if inside:
        look = "n in"
    anchor = "start" if beside else "middle"
    return (
        f'<text x="{at:.4g}" y="{y + 4:.4g}" text-anchor="{anchor}" class="{look}">'
        f"{number}</text>"
    )


def unit_squares(shown: CountGrid) -> Markup:
    """Two labels by two labels: a square for each text, or for each percent of many."""
    total = sum(shown.counts.values())
    squares = dict(shown.counts)
    if total > 400:
        squares = {
            pair: round(100 * number / total) for pair, number in squares.items()
        }
    side = 15
    if max(squares.values(), default=0) <= 100:
        side = 10
    box = side * 6 + 8
    parts = []
    for across, name in enumerate(shown.across):
        x = across * (box + 6)
        parts.append(f'<text x="{x}" y="-6">{escape(_tick(name))}</text>')
    top = 0
    for judged, name in enumerate(shown.judged):
        parts.append(
            f'<text x="-6" y="{top + 24}" text-anchor="end">{escape(_tick(name))}'
            "</text>"
        )
        for across in range(2):
            left = across * (box + 6)
            look = "far" if shown.far(across, judged) else "near"
            number = squares.get((across, judged), 0)
            path = _squares(left, top + 14, number, side)
            counted = shown.counts.get((across, judged), 0)
            parts.append(
                f'<text x="{left}" y="{top + 9}" class="n">{counted}</text>'
                f'<path d="{path}" class="unit {look}"/>'
            )
        # A row is as high as its largest number needs, so that few texts leave no gap.
        largest = max(squares.get((across, judged), 0) for across in range(2))
        lines = max(-(-largest // side), 2)
        top += 14 + lines * 6 + 14
    parts.append(
        f'<text x="0" y="-20">{escape(shown.axes[0])}</text>'
        f'<text x="-6" y="-6" text-anchor="end">{escape(shown.axes[1])}</text>'
    )
    margin = _margin([*shown.judged, shown.axes[1]])
    width = 2 * box + 6
    return Markup(
        f'<svg viewBox="-{margin} -31 {width + margin} {top + 23}" role="img" '
        f'aria-label="{escape(shown.label)}">{"".join(parts)}</svg>'
    )


def _squares(left: int, top: int, number: int, side: int) -> str:
    """The path of a number of squares, `side` in a line."""
    path = []
    for k in range(number):
        path.append(f"M{left + k % side * 6} {top + k // side * 6}h5v5h-5z")
    return "".join(path)


# --- where one text lies on a scale ---------------------------------------------------


@dataclass(frozen=True)
class ScaleMarks:
    """What is marked on a scale from 0 to 1: people above it, the judge below.

    `ticks` are places and their names; `before` is the judge's score of the undamaged
    text.
    """

    ticks: Sequence[tuple[float, str]]
    people: Sequence[float]
    judge: float
    before: float | None = None
    label: str = ""


def scale(marks: ScaleMarks) -> Markup:
    """A scale with a grey dot for each rating and a coloured one for the score."""

    def x(share: float) -> float:
        return 16 + 228 * min(max(share, 0.0), 1.0)

    parts = ['<path d="M16 30H244" class="ax"/>']
    for share, name in marks.ticks:
        parts.append(
            f'<path d="M{x(share):.1f} 26v8" class="ax"/><text x="{x(share):.1f}" '
            f'y="55" text-anchor="{_anchor(share, name)}">{escape(_tick(name))}</text>'
        )
    heights: dict[float, int] = {}
    for share in marks.people:
        height_at = round(x(share), 1)
        height = heights.get(height_at, 0)
        heights[height_at] = height + 1
        if height < 3:
            y = 22 - 9 * height
            parts.append(f'<circle cx="{height_at}" cy="{y}" r="3.8" class="pp"/>')
    at = x(marks.judge)
    if marks.before is not None:
        start = x(marks.before)
        parts.append(f'<circle cx="{start:.1f}" cy="38" r="4.4" class="jo"/>')
        parts.append(f'<path d="M{start:.1f} 38H{at:.1f}" class="jl"/>')
    parts.append(f'<circle cx="{at:.1f}" cy="38" r="5" class="jj"/>')
    return Markup(
        f'<svg class="scale" viewBox="0 0 260 58" role="img" '
        f'aria-label="{escape(marks.label)}">{"".join(parts)}</svg>'
    )


def _anchor(share: float, name: str) -> str:
    """Where the name of a tick begins: long ones at the ends stay inside."""
    if len(name) <= 3 or 0.1 < share < 0.9:
        return "middle"
    return "start" if share < 0.5 else "end"


def ordinary_interval(axis: Axis) -> Interval:
    """An interval in the middle of an axis, for the legend."""
    width = axis.high - axis.low
    middle = axis.low + 0.6 * width
    return Interval(middle, (middle - 0.1 * width, middle + 0.1 * width))
