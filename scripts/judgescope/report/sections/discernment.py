"""Discernment: which judges score perturbed texts below their originals, and response
styles.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from statistics import fmean

from judgescope.methods.discernment import BEYOND, BY_LENGTH
from judgescope.report import tables
from judgescope.report.cells import ReportCell, estimate, figures, heat
from judgescope.report.charts import (
    COLOURS,
    Curve,
    Distribution,
    curves_spec,
    histogram_spec,
    signs,
    svg,
)
from judgescope.report.damage import damage_table
from judgescope.report.elements import (
    Body,
    Fold,
    LegendKey,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.report import Report, ShownDataset, ShownJudge, ShownPerturbation
from judgescope.report.rows import ReportRow, ReportRows, RowPlace
from judgescope.report.words import amount, label, spoken
from judgescope.statistics.registry import names_of_group, statistic

SHADES = (1, 2, 3, 5)
FLAG = "‡"
FLAG_NOTE = (
    f"{FLAG} Beyond 5: an artefact of the normal approximation's tail; use the "
    "rank-biserial correlation instead."
)
STYLES = ("original", "all")


READING = (
    (
        "D is log p to the base 0.05 of a one-sided test that a judge scores perturbed "
        "texts below their originals: it is 1 at p = 0.05, and every further unit "
        "divides p by 20. It grows with the number of items, so it measures evidence, "
        "not effect size: for that, see the rank-biserial correlations."
    ),
    (
        "D as published adds up over aspects and passes 1 by chance far more often "
        "than one time in 20 when there are several; D_exact keeps that rate. With "
        "uniform weights D_ew is D minus a constant, and their difference says nothing "
        "about the judge. All perturbations of a dataset are compared with the same "
        "originals: if these score high by chance, many perturbations look noticed at "
        "once, as the random control may show."
    ),
)
"""How to read discernment in its six forms."""


def noticed(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield the share of damage that judges notice, and discernment folded."""
    table = damage_table(report, dataset)
    folded = list(blocks(report, dataset, rows))
    if table is None:
        yield from folded
        return
    yield table
    paragraphs = list(map(Paragraph, READING))
    title = f"Discernment in its six forms, and response styles: {dataset.name}"
    yield Fold(title, [*paragraphs, *folded])


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield the bars, judges by perturbation and, folded, effect sizes."""
    cells = rows.names("cell")
    perturbations = []
    for perturbation in report.perturbations:
        if perturbation.cell in cells:
            perturbations.append(perturbation)
    present = report.judges_of(rows.defined)
    if present:
        yield _figure(dataset, rows, present)
        yield _heat(dataset, rows, present, perturbations)
        yield from dose_blocks(report, dataset, rows, present)
        yield from style_blocks(report, dataset, present)
        yield from tables.matrix(rows, present, "D_avg_exact", dataset.name)
        groups = [
            tables.RowGroup(perturbation.title, {"cell": perturbation.cell})
            for perturbation in perturbations
        ]
        for name in ("rank_biserial", "mean_drop", "p_holm"):
            table = tables.TableSpec(
                f"{dataset.name}: {label(name)}, {statistic(name).meaning}.",
                tables.aspect_columns(report, dataset.aspects),
                groups,
                statistic=name,
                source="tables/discernment.csv",
                corner="Perturbation and judge",
                counts=True,
            ).filled(present, rows)
            yield Fold(f"{label(name)} per aspect for {dataset.name}", [table])
    absent = []
    for judge in report.judges:
        if judge not in present:
            row = rows.find(judge.id, "D_avg")
            why = spoken(row.note) if row else "not planned"
            absent.append(f"`{judge.id}`: {why}.")
    if absent:
        yield Paragraph("No discernment score on this dataset:", items=absent)


def _figure(
    dataset: ShownDataset, rows: ReportRows, judges: list[ShownJudge]
) -> PageFigure | PageTable:
    names = names_of_group("discernment", headline=True)
    headlines = rows.where(statistic=names)
    best = tables.leaders(judges, headlines.where(statistic="D_avg_exact"))
    summary = "D_avg_exact is undefined for every judge."
    if best:
        leading = tables.judges_in_words(best)
        summary = (
            f"The highest average D_exact is that of {leading}, {figures(best[0])}; an "
            "average of several perturbations is not a p-value."
        )
    table = tables.TableSpec(
        f"{dataset.name}: average and minimum over the planned perturbations.",
        tables.statistic_columns(names),
        notes=_test_notes(headlines),
        every_judge=True,
        cell=lambda row: estimate(row, mark=_flag(row)),
    ).filled(judges, rows)
    return tables.chart(
        f"{dataset.name}: discernment of each judge",
        summary,
        table,
        line=1,
        axis="score with 95 % interval; the dashed line is p = 0.05",
    )


def _test_notes(rows: ReportRows) -> list[str]:
    """The notes below averages: on the tail of a test, and on two kinds of tests."""
    notes = []
    if any(map(_flag, rows)):
        notes.append(FLAG_NOTE)
    methods = "\n".join(rows.names("method"))
    if "exact p" in methods and "asymptotic p" in methods:
        notes.append(
            "D and D_ew combine asymptotic p-values, as published; D_exact combines "
            "exact ones. The columns thus rest on different tests."
        )
    return notes


def _flag(row: ReportRow | None) -> str:
    if row and BEYOND in row.note:
        return FLAG
    return ""


def _heat(
    dataset: ShownDataset,
    rows: ReportRows,
    judges: list[ShownJudge],
    perturbations: list[ShownPerturbation],
) -> PageTable:
    """Return judge by perturbation; a shade for every step of D_exact."""

    def shaded(row: ReportRow | None) -> ReportCell:
        shade = "" if row is None or row.value is None else heat(row.value, SHADES)
        return estimate(row, mark=_flag(row), style=shade)

    exact = rows.where(statistic="D_exact")
    solved = {row.cell for row in exact if BY_LENGTH in row.note}
    notes = ["Shading starts at 1 (p = 0.05) and darkens at 2, 3 and 5."]
    if solved:
        notes.append(
            f"{BY_LENGTH.capitalize()}: the control `length` reaches a D_exact of 1."
        )
    if any(map(_flag, exact)):
        notes.append(FLAG_NOTE)
    columns = []
    for perturbation in perturbations:
        note = BY_LENGTH if perturbation.cell in solved else ""
        columns.append(
            TableColumn(
                perturbation.title,
                note,
                perturbation.level,
                where={"cell": perturbation.cell},
            )
        )
    return tables.TableSpec(
        f"{dataset.name}: D_exact of each judge on each perturbation.",
        columns,
        statistic="D_exact",
        notes=notes,
        every_judge=True,
        cell=shaded,
    ).filled(judges, rows)


def dose_blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows, judges: list[ShownJudge]
) -> Iterator[PageBlock]:
    """Yield the curves of each perturbation with three degrees or more: the net share
    of items noticed against the degree, and the mean drop against the number of edits.
    """
    fewest = 3  # fewer degrees make no curve
    cells = rows.names("cell")
    for name, card in report.spec.perturbations.items():
        degrees = [degree for degree in card.degrees if f"{name}.{degree}" in cells]
        if len(degrees) < fewest:
            continue
        title = f"{dataset.name}: {report.perturbation(name)}"
        places = {degree: at for at, degree in enumerate(degrees, start=1)}
        named = ", ".join(f"{at} {degree}" for degree, at in places.items())
        yield from _curves(
            rows.where(statistic="net_share"),
            judges,
            name,
            places,
            title=f"{title}: net share noticed by degree",
            axes=(f"degree, the weakest first: {named}", "net share noticed"),
        )
        doses = {}
        for degree in degrees:
            if degree in card.doses:
                doses[degree] = card.doses[degree]
        if len(doses) >= fewest:
            yield from _curves(
                rows.where(statistic="mean_drop"),
                judges,
                name,
                doses,
                title=f"{title}: mean drop by number of edits",
                axes=("number of edits", "mean drop"),
            )


def _curves(
    rows: ReportRows,
    judges: list[ShownJudge],
    name: str,
    places: Mapping[str, int],
    *,
    title: str,
    axes: tuple[str, str],
) -> Iterator[PageBlock]:
    """Yield one figure: a curve for each judge, over `places`, degree -> place; values
    are means over the aspects.
    """
    values: dict[str, dict[str, float]] = {}
    for judge in judges:
        for degree in places:
            of_judge = rows.where(judge=judge.id, cell=f"{name}.{degree}")
            known = [row.value for row in of_judge if row.value is not None]
            if known:
                values.setdefault(judge.id, {})[degree] = fmean(known)
    drawn = dict(zip(values, signs(list(values)), strict=False))
    if not drawn:
        return
    curves = []
    sentences = []
    for judge_id, series in drawn.items():
        by_degree = values[judge_id]
        points = [(places[degree], value) for degree, value in by_degree.items()]
        curves.append(Curve(points, COLOURS[series.style], dots=True))
        numbers = ", ".join(map(amount, by_degree.values()))
        sentences.append(f"`{judge_id}`: {numbers}.")
    lines = []
    for judge_id, by_degree in values.items():
        cells = []
        for degree in places:
            value = by_degree.get(degree)
            text = "" if value is None else amount(value)
            cells.append(ReportCell(text, sort=value))
        lines.append(TableLine(judge_id, cells))
    table = PageTable(
        f"{title}.",
        "Judge",
        columns_of(places),
        [Body(lines)],
        source="tables/discernment.csv",
    )
    keys = [
        LegendKey("●", series.style, judge_id) for judge_id, series in drawn.items()
    ]
    figure = svg(curves_spec(curves, x=axes[0], y=axes[1]))
    summary = f"Means over the aspects. {' '.join(sentences)}"
    yield PageFigure(title, figure, summary, keys, table)


def style_blocks(
    report: Report, dataset: ShownDataset, judges: list[ShownJudge]
) -> list[PageBlock]:
    """Return the figure of a dataset's response styles, nothing where no judge has
    any.
    """
    rows = report.rows("responses", dataset.id)
    shown = [judge for judge in judges if rows.find(judge.id, "range_top")]
    if not shown:
        return []
    both = []
    for judge in shown:
        before = rows.find(judge.id, "score_mean", cell="original")
        after = rows.find(judge.id, "score_mean", cell="all")
        if before and after and not judge.control:
            both.append(f"{judge.id} {figures(before)} and {figures(after)}")
    summary = (
        "Scores, averaged over the aspects, of originals and of all perturbed texts. "
        "Their position is the judge's style; discernment asks only whether they "
        "differ."
    )
    if both:
        means = "; ".join(both)
        summary += f" Mean scores of originals and of perturbed texts: {means}."
    distributions = [
        _distribution(rows, judge, name) for judge, name in product(shown, STYLES)
    ]
    names = list(map(tables.labelled, shown))
    axis = "score, from the bottom to the top of the judge's range"
    keys = (
        LegendKey("■", "blue", "originals, upwards"),
        LegendKey("■", "red", "perturbed texts, downwards"),
        LegendKey("▼", "blue", "mean of originals"),
        LegendKey("▲", "red", "mean of perturbed texts"),
    )
    figure = PageFigure(
        f"{dataset.name}: response styles",
        svg(histogram_spec(distributions, names, STYLES, x=axis)),
        summary,
        keys,
        _style_table(dataset, rows, shown),
    )
    return [figure]


def _distribution(rows: ReportRows, judge: ShownJudge, series: str) -> Distribution:
    shares = dict[int, float]()
    for row in rows.where(judge=judge.id, statistic="score_share", perturbation=series):
        shares[row.k] = row.value or 0.0
    low = _value(rows.find(judge.id, "range_bottom"))
    high = _value(rows.find(judge.id, "range_top"))
    mean = _value(rows.find(judge.id, "score_mean", cell=series))
    position = None
    if mean is not None and low is not None and high is not None:
        position = (mean - low) / (high - low)
    heights = [shares[k] for k in sorted(shares)]
    return Distribution(tables.labelled(judge), series, heights, position)


def _value(row: ReportRow | None) -> float | None:
    return row.value if row else None


def _style_table(
    dataset: ShownDataset, rows: ReportRows, judges: list[ShownJudge]
) -> PageTable:
    source = dataset.rated_by
    whose = "people" if source.people else f"{source.whose} ratings"
    columns = [
        TableColumn(
            "Originals",
            "mean score",
            statistic="score_mean",
            where={"cell": "original"},
        ),
        TableColumn(
            "Perturbed texts",
            "mean score",
            statistic="score_mean",
            where={"cell": "all"},
        ),
        TableColumn("Bottom", "of the range", statistic="range_bottom"),
        TableColumn("Top", "of the range", statistic="range_top"),
    ]
    if len(rows.where(statistic="pearson")):
        note = f"with {whose}, of the systems' texts"
        address: RowPlace = {"level": "pooled", "cell": "systems"}
        columns.append(
            TableColumn("Pearson r", note, statistic="pearson", where=address)
        )
    return tables.TableSpec(
        f"{dataset.name}: mean scores over the aspects, and both ends of the range.",
        columns,
        notes=[
            "The range is that of the judge's scale, or of its scores where it has "
            "none."
        ],
        source="tables/responses.csv",
        every_judge=True,
    ).filled(judges, rows)
