"""A judge's confidence: the reliability diagram, what gap and slope show, and which
verdicts may stand without a person.
"""

from collections.abc import Iterator
from typing import Final

from judgescope.report.cells import ReportCell, estimate, figures
from judgescope.report.charts import svg
from judgescope.report.elements import (
    Body,
    LegendKey,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableLine,
    columns_of,
)
from judgescope.report.headline import PERSON
from judgescope.report.reliability import BinDot, reliability_spec
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.sureness import LEVEL, deciding_test, only
from judgescope.report.tables import TableSpec, statistic_columns
from judgescope.report.words import known_names, p_value, percent

SOURCE: Final = "tables/confidence.csv"
COLUMNS: Final = (
    "confidence_gap",
    "confidence_slope",
    "auroc_right",
    "brier",
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "ece",
    "ece_calibrated",
    "confidence_from",
    "selective_coverage",
    "rater_split",
    "rater_error",
)


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield per aspect what is shown of each judge, its diagram, and the numbers."""
    for aspect in dataset.aspects:
        of_aspect = rows.where(judged=aspect)
        judges = report.judges_of(of_aspect)
        if judges:
            yield from _aspect(report, dataset, aspect, of_aspect, judges)


def _aspect(
    report: Report,
    dataset: ShownDataset,
    aspect: str,
    rows: ReportRows,
    judges: list[ShownJudge],
) -> Iterator[PageBlock]:
    name = f"{dataset.name}, {report.aspect(aspect)}"
    sentences = [sentence(judge.id, rows.where(judge=judge.id)) for judge in judges]
    yield Paragraph(f"{name}:", sentences)
    for judge in judges:
        yield from _diagram(name, judge, rows.where(judge=judge.id))
    known = {row.statistic for row in rows if not row.k}
    yield TableSpec(
        f"{name}: confidence.",
        statistic_columns(known_names(COLUMNS, known), aspect=aspect),
        level="pooled",
        source=SOURCE,
        counts=True,
    ).filled([*judges, PERSON], rows)
    yield from _selective(name, judges, rows)


def sentence(judge: str, rows: ReportRows) -> str:
    """Return what is shown of a judge's confidence, by a rule: the smaller p of gap and
    slope, if it is at most .05 (Holm over both); and of the bin nearest to 90 %.
    """
    gap = only(rows, "confidence_gap")
    if gap is None or gap.value is None:
        return f"`{judge}`: {gap.note if gap else 'no confidence'}."
    shown = _shown(rows, gap)
    bins = list(rows.where(statistic="bin_confidence"))
    if not bins:
        return f"`{judge}` {shown}."
    # The stated chance of the bin that the sentence names, or the nearest to it.
    named_chance = 0.9
    stated = min(bins, key=lambda row: abs((row.value or 0) - named_chance))
    right = next(row for row in rows.where(statistic="bin_right") if row.k == stated.k)
    return (
        f"`{judge}` {shown}. When it says {figures(stated)}, it is right in "
        f"{figures(right)} of {right.n} texts."
    )


def _shown(rows: ReportRows, gap: ReportRow) -> str:
    test = deciding_test(rows)
    if test is None:
        return f"cannot be tested: {gap.note or 'too few sources'}"
    if test.p > LEVEL:
        return f"is not shown to be too sure or not sure enough (p {p_value(test.p)})"
    if test.name == "gap":
        size = test.number if test.too_sure else _turned(test.number)
        kind = "over" if test.too_sure else "under"
        return f"is {kind}-confident by {figures(size)}"
    kind = "differ too little"
    if test.too_sure:
        kind = "are too extreme"
    return f"has confidences that {kind} (slope {figures(test.number)})"


def _diagram(name: str, judge: ShownJudge, rows: ReportRows) -> Iterator[PageFigure]:
    """Yield the reliability diagram of a judge, if it has bins."""
    stated = {row.k: row for row in rows.where(statistic="bin_confidence")}
    right = {row.k: row for row in rows.where(statistic="bin_right")}
    if not stated:
        return
    dots = []
    lines = []
    for k in sorted(stated):
        chance = stated[k].value or 0.0
        share = right[k]
        if share.value is not None:
            dots.append(BinDot(chance, share.value, share.ci_low, share.ci_high))
        cells = [estimate(stated[k]), estimate(share), ReportCell(f"{share.n}")]
        lines.append(TableLine(f"bin {k}", cells))
    shares = [row.value or 0.0 for row in rows.where(statistic="confidence_share")]
    total = sum(row.n for row in stated.values())
    below = [dot for dot in dots if dot.right < dot.confidence]
    planted = " (planted, simulated)" if judge.planted else ""
    title = f"{name}: `{judge.id}`{planted}, reliability"
    summary = (
        f"{total} verdicts in {len(dots)} bins of about equal size. In {len(below)} of "
        "them fewer are right than the judge says; on the dashed line as many are. "
        "Bars at the foot: how many verdicts have which confidence; the highest is "
        f"{percent(max(shares, default=0.0))}."
    )
    table = PageTable(
        f"{title}.",
        "Bin",
        columns_of(["stated chance", "right", "texts"]),
        [Body(lines)],
        code=False,
        source=SOURCE,
    )
    keys = [LegendKey("●", "blue", "share that is right, by bin")]
    drawn = svg(reliability_spec(dots, shares))
    yield PageFigure(title, drawn, summary, keys, table)


def _selective(
    name: str, judges: list[ShownJudge], rows: ReportRows
) -> Iterator[PageTable]:
    """Yield the error of each judge's surest verdicts."""
    errors = rows.where(statistic="selective_error")
    coverages = sorted({row.k for row in errors if row.k})
    if not coverages:
        return
    lines = []
    for judge in judges:
        of_judge = errors.where(judge=judge.id)
        cells = []
        for k in coverages:
            of_bin = [row for row in of_judge if row.k == k]
            cells.append(estimate(of_bin[0]) if of_bin else ReportCell(""))
        lines.append(TableLine(judge.id, cells))
    person = rows.where(statistic="rater_error").first
    notes = []
    if person is not None and person.value is not None:
        notes = [
            f"One person differs from the others in {figures(person)} of the texts."
        ]
    yield PageTable(
        f"{name}: share of wrong verdicts among the surest.",
        "Judge",
        columns_of([f"surest {k} %" for k in coverages]),
        [Body(lines)],
        notes=notes,
        source=SOURCE,
    )


def _turned(row: ReportRow) -> ReportRow:
    """Return a number below 0 as it is said without its sign."""
    if row.value is None or row.ci_low is None or row.ci_high is None:
        return row
    return row._replace(value=-row.value, ci_low=-row.ci_high, ci_high=-row.ci_low)
