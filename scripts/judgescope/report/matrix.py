"""The matrices of judges by questions, their lines and their legend."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from markupsafe import Markup

from judgescope.report import drawing
from judgescope.report.claims import FIRST, claims
from judgescope.report.drawing import Axis, BesidePerson, ordinary_interval
from judgescope.report.elements import JudgeMatrix
from judgescope.report.matrix_maker import MatrixMaker, axes_of, makers_of
from judgescope.report.questions import lowered
from judgescope.report.report import Report, ShownJudge
from judgescope.report.words import brief, label, listed, plural
from judgescope.statistics.verdict import Sign

MOST_LINES: Final = 12
"""Lines of judges that are shown; further ones are folded."""


LONG_NAMES: Final = {
    "normal_scores": "of the differences between texts of one source, as normal scores"
}
"""Number -> what its name leaves out, for the legend."""


def legend_of(
    makers: Sequence[MatrixMaker], axes: Mapping[str, Axis]
) -> list[tuple[Markup, str]]:
    """The signs of all matrices and what is drawn in them, once."""
    shown = set[Sign]()
    for maker in makers:
        shown |= maker.shown(maker.judges)
    legend = []
    for sign, words in drawing.SIGN_WORDS.items():
        if sign in shown and sign is not Sign.NO_CLAIM:
            compared = any(maker.any_compared for maker in makers)
            if sign is Sign.HOLDS and compared:
                words += "; beside it, how it compares with one person"
            legend.append((drawing.sign(sign), words))
    named: dict[tuple[Markup, str], list[str]] = {}
    for name, axis in axes.items():
        # Numbers that are drawn alike share a line.
        named.setdefault(_drawn_of_axis(makers, name, axis), []).append(name)
    for (example, words), names in named.items():
        spelled = [_long_name(name) for name in names]
        legend.append((example, f"{listed(spelled)}, {words}"))
    if any(any(maker.several.values()) for maker in makers):
        squares = [sign for sign in drawing.SIGN_WORDS if sign in shown]
        legend.append((drawing.strip(squares), "one square a claim, by its sign"))
    return legend


def _long_name(name: str) -> str:
    """A number's name with what it leaves out."""
    rest = LONG_NAMES.get(name, "")
    if rest:
        return f"{lowered(label(name))} ({rest})"
    return lowered(label(name))


def _drawn_of_axis(
    makers: Sequence[MatrixMaker], name: str, axis: Axis
) -> tuple[Markup, str]:
    """What the small picture of a number has, with an example."""
    ends = f"{brief(name, axis.low)} to {brief(name, axis.high)}"
    parts = [
        f"from {ends}, notch at {brief(name, axis.zero)}: judge with 95 % interval"
    ]
    if any(maker.any_rule(name) for maker in makers):
        parts.append("tick: the best simple rule")
    interval = ordinary_interval(axis)
    beside = None
    if any(maker.any_person(name) for maker in makers):
        parts.append(
            "line below: the judge (diamond) and one person (band), both "
            "against the other raters"
        )
        assert interval.ends is not None
        beside = BesidePerson(interval.ends, interval.value)
    example = drawing.micro(axis, Sign.HOLDS, interval, beside=beside)
    return example, " · ".join(parts)


def matrix(report: Report, foot: str = "") -> JudgeMatrix | None:
    """The matrix of all judges of a report; None where no judge has a claim."""
    maker = MatrixMaker(report)
    if not maker.columns:
        return None
    return _matrix(maker, foot, legend_of([maker], maker.axes))


def matrices(report: Report, foot: str = "") -> list[JudgeMatrix]:
    """The matrices of a report: one for each group of judges that shares no dataset
    with another, so that few cells are empty.

    The first one has the legend of all.
    """
    makers = makers_of(report)
    found = []
    for place, maker in enumerate(makers):
        legend = []
        if not place:
            legend = legend_of(makers, axes_of(report))
        title = ""
        if len(makers) > 1:
            title = maker.title()
        found.append(replace(_matrix(maker, foot, legend), title=title))
    return found


def _matrix(
    maker: MatrixMaker, foot: str, legend: Sequence[tuple[Markup, str]]
) -> JudgeMatrix:
    judges = maker.judges
    lines = [maker.line(judge) for judge in judges]
    first = lines[:MOST_LINES]
    rest = lines[MOST_LINES:]
    return JudgeMatrix(
        columns=maker.heads(),
        groups=maker.groups(),
        people=[maker.people()],
        lines=first,
        rest=rest,
        rest_words=_rest_words(maker.report, judges[MOST_LINES:]),
        rules=maker.rules(),
        legend=legend,
        foot=foot,
    )


def of_judge(report: Report, judge: ShownJudge) -> JudgeMatrix | None:
    """The line of one judge of the matrix, with the same heads."""
    makers = [maker for maker in makers_of(report) if judge in maker.judges]
    if judge.control or not makers:
        return None
    maker = makers[0]
    line = maker.line(judge)
    # Its page is in another folder, and the line is all that it has of the matrix.
    cells = []
    for cell in line.cells:
        cells.append(replace(cell, href="") if cell.look == "pc" else cell)
    return JudgeMatrix(
        columns=[replace(head, href="") for head in maker.heads()],
        groups=maker.groups(),
        people=[],
        lines=[replace(line, cells=cells)],
        legend=maker.signs([judge]),
        single=True,
    )


def _rest_words(report: Report, judges: Sequence[ShownJudge]) -> str:
    """What is said of the judges that are folded."""
    if not judges:
        return ""
    held = []
    longest = 0
    for judge in judges:
        every = []
        for claim in claims(report, judge):
            if claim.kind != FIRST:
                every.append(claim)
        held.append(sum(claim.sign is Sign.HOLDS for claim in every))
        longest = max(longest, len(every))
    more = plural(len(judges), "more judge", "more judges")
    return f"{more}: none holds on more than {max(held)} of {plural(longest, 'claim')}"
