"""Discernment: which judges score perturbed texts below their originals, and response
styles.
"""

from collections.abc import Iterator

from judgescope.methods.discernment import BEYOND, BY_LENGTH
from judgescope.report import tables
from judgescope.report.cells import Cell, estimate, figures, heat
from judgescope.report.charts import Distribution, histogram_spec, svg
from judgescope.report.elements import Block, Column, Figure, Fold, Key, Table, Text
from judgescope.report.report import Dataset, Judge, Perturbation, Report
from judgescope.report.rows import Place, Row, Rows
from judgescope.report.words import label, listed, spoken
from judgescope.statistics.registry import statistic

HEADLINES = ("D_avg", "D_avg_ew", "D_avg_exact", "D_min", "D_min_ew", "D_min_exact")
EFFECTS = ("rank_biserial", "mean_drop", "p_holm")
SHADES = (1, 2, 3, 5)
FLAG = "‡"
FLAG_NOTE = (
    f"{FLAG} Beyond 5: an artefact of the normal approximation's tail; use the "
    "rank-biserial correlation instead."
)
MIXED = (
    "D and D_ew combine asymptotic p-values, as published; D_exact combines exact "
    "ones. The columns thus rest on different tests."
)
LEAD = (
    "Does a judge score perturbed texts below their originals (Wang et al. 2024)? D is "
    "log p to the base 0.05 of a one-sided test that a judge scores perturbed texts "
    "below their originals: it is 1 at p = 0.05, and every further unit divides p by "
    "20. It grows with the number of items, so it measures evidence, not effect size: "
    "for that, see the rank-biserial correlations in the folded tables."
)
READING = (
    "D as published adds up over aspects and passes 1 by chance far more often than "
    "one time in 20 when there are several; D_exact keeps that rate. With uniform "
    "weights D_ew is D minus a constant, and their difference says nothing about the "
    "judge. All perturbations of a dataset are compared with the same originals: if "
    "these score high by chance, many perturbations look noticed at once, as the "
    "random control may show."
)
STYLES = ("original", "all")
STYLE_KEYS = (
    Key("■", "blue", "originals, upwards"),
    Key("■", "red", "perturbed texts, downwards"),
    Key("▼", "blue", "mean of originals"),
    Key("▲", "red", "mean of perturbed texts"),
)


@tables.section_of(
    *("Evidence", 40, "discernment", "Discernment", LEAD),
    empty="This dataset has no perturbations.",
    finish=lambda _, blocks: [Text(READING), *blocks],
)
def section(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield the bars, judges by perturbation and, folded, effect sizes."""
    cells = rows.names("cell")
    perturbations = [one for one in report.perturbations if one.cell in cells]
    if present := report.judges_of(rows.defined):
        yield _figure(dataset, rows, present)
        yield _heat(dataset, rows, present, perturbations)
        yield from style_blocks(report, dataset, present)
        yield from tables.matrix(rows, present, "D_avg_exact", dataset.name)
        for name in EFFECTS:
            table = tables.TableSpec(
                f"{dataset.name}: {label(name)}, {statistic(name).meaning}.",
                tables.aspect_columns(report, dataset.aspects),
                [
                    tables.RowGroup(one.title, {"cell": one.cell})
                    for one in perturbations
                ],
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
            absent.append(
                f"`{judge.id}`: {spoken(row.note) if row else 'not planned'}."
            )
    if absent:
        yield Text("No discernment score on this dataset:", items=absent)


def _figure(dataset: Dataset, rows: Rows, judges: list[Judge]) -> Figure | Table:
    headlines = rows.where(statistic=HEADLINES)
    tests = [
        any(f"{one} p" in row.method for row in headlines)
        for one in ("exact", "asymptotic")
    ]
    best = tables.leaders(judges, headlines.where(statistic="D_avg_exact"))
    summary = "D_avg_exact is undefined for every judge."
    if best:
        summary = (
            "The highest average D_exact is that of "
            f"{listed([row.judge for row in best])}, {figures(best[0])}; an average of "
            "several perturbations is not a p-value."
        )
    return tables.chart(
        f"{dataset.name}: discernment of each judge",
        summary,
        tables.TableSpec(
            f"{dataset.name}: average and minimum over the planned perturbations.",
            tables.statistic_columns(HEADLINES),
            notes=[FLAG_NOTE] * any(map(_flag, headlines)) + [MIXED] * all(tests),
            every_judge=True,
            cell=lambda row: estimate(row, mark=_flag(row)),
        ).filled(judges, rows),
        line=1,
        axis="score with 95 % interval; the dashed line is p = 0.05",
    )


def _flag(row: Row | None) -> str:
    return FLAG if row and BEYOND in row.note else ""


def _heat(
    dataset: Dataset, rows: Rows, judges: list[Judge], perturbations: list[Perturbation]
) -> Table:
    """Return judge by perturbation; a shade for every step of D_exact."""

    def shaded(row: Row | None) -> Cell:
        shade = "" if row is None or row.value is None else heat(row.value, SHADES)
        return estimate(row, mark=_flag(row), style=shade)

    exact = rows.where(statistic="D_exact")
    solved = {row.cell for row in exact if BY_LENGTH in row.note}
    notes = ["Shading starts at 1 (p = 0.05) and darkens at 2, 3 and 5."]
    if solved:
        notes.append(
            f"{BY_LENGTH.capitalize()}: the control `length` reaches a D_exact of 1."
        )
    columns = [
        Column(
            one.title,
            BY_LENGTH * (one.cell in solved),
            one.level,
            where={"cell": one.cell},
        )
        for one in perturbations
    ]
    return tables.TableSpec(
        f"{dataset.name}: D_exact of each judge on each perturbation.",
        columns,
        statistic="D_exact",
        notes=notes + [FLAG_NOTE] * any(map(_flag, exact)),
        every_judge=True,
        cell=shaded,
    ).filled(judges, rows)


def style_blocks(report: Report, dataset: Dataset, judges: list[Judge]) -> list[Block]:
    """Return the figure of a dataset's response styles, nothing where no judge has
    any.
    """
    rows = report.rows("responses", dataset.id)
    shown = [judge for judge in judges if rows.find(judge.id, "range_top")]
    if not shown:
        return []
    both = [
        f"{judge.id} {figures(before)} and {figures(after)}"
        for judge in shown
        if not judge.control
        and (before := rows.find(judge.id, "score_mean", cell="original"))
        and (after := rows.find(judge.id, "score_mean", cell="all"))
    ]
    said = (
        f" Mean scores of originals and of perturbed texts: {'; '.join(both)}."
        if both
        else ""
    )
    summary = (
        "Scores, averaged over the aspects, of originals and of all perturbed texts. "
        "Their position is the judge's style; discernment asks only whether they "
        f"differ.{said}"
    )
    found = [_distribution(rows, judge, name) for judge in shown for name in STYLES]
    axis = "score, from the bottom to the top of the judge's range"
    spec = histogram_spec(
        found, [tables.labelled(judge) for judge in shown], STYLES, x=axis
    )
    numbers = _style_table(dataset, rows, shown)
    return [
        Figure(
            f"{dataset.name}: response styles", svg(spec), summary, STYLE_KEYS, numbers
        )
    ]


def _distribution(rows: Rows, judge: Judge, series: str) -> Distribution:
    mine = rows.where(judge=judge.id, statistic="score_share", perturbation=series)
    shares = {row.k: row.value or 0.0 for row in mine}
    mean_row = rows.find(judge.id, "score_mean", cell=series)
    ends = (rows.find(judge.id, name) for name in ("range_bottom", "range_top"))
    low, high, mean = (row.value if row else None for row in (*ends, mean_row))
    place = None
    if mean is not None and low is not None and high is not None:
        place = (mean - low) / (high - low)
    return Distribution(
        tables.labelled(judge), series, [shares[k] for k in sorted(shares)], place
    )


def _style_table(dataset: Dataset, rows: Rows, judges: list[Judge]) -> Table:
    whose = "the planned ratings" if dataset.planned else "people"
    columns = [
        Column(
            "Originals",
            "mean score",
            statistic="score_mean",
            where={"cell": "original"},
        ),
        Column(
            "Perturbed texts",
            "mean score",
            statistic="score_mean",
            where={"cell": "all"},
        ),
        Column("Bottom", "of the range", statistic="range_bottom"),
        Column("Top", "of the range", statistic="range_top"),
    ]
    if len(rows.where(statistic="pearson")):
        note = f"with {whose}, of the systems' texts"
        place: Place = {"level": "pooled", "cell": "systems"}
        columns.append(Column("Pearson r", note, statistic="pearson", where=place))
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
