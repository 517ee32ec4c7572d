"""Graded sets, texts of every rating: which judges find the rating."""

from functools import partial

from metajudge.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Fold,
    Line,
    Table,
    estimate,
    shaded,
)
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Rows
from metajudge.report.sections.differences import gaps
from metajudge.report.sections.shared import bodies
from metajudge.report.words import label
from metajudge.statistics.registry import STATISTICS

GLOBAL, AVERAGE = "global", "average"
SHOWN = ("kappa_linear", "cem_ord")
SOURCE = "tables/perspectives.csv"
NOTE = "The texts of a graded set were made to have every rating, so no person has to rate them"


def graded_sets(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return how well each judge finds the ratings of each set, and its classes, folded."""
    own = rows.where(level=GLOBAL)
    places = list(dict.fromkeys((one.judged, one.cell) for one in own if one.perturbation))
    if not places:
        return []
    name = f"{dataset.name}, texts of every rating"
    return [
        *(_table(report, dataset, own, places, one) for one in SHOWN),
        *gaps(report, dataset, own, "kappa_linear", name, GLOBAL),
        Fold(f"{name}, the classes of each judge", _confusions(report, dataset, own, places)),
    ]


def _table(
    report: Report, dataset: Dataset, rows: Rows, places: list[tuple[str, str]], statistic: str
) -> Table:
    means = rows.where(aspect=AVERAGE, statistic=statistic).names("criterion")
    asked = [*((judged, cell, "") for judged, cell in places)]
    asked += [(AVERAGE, "", criterion) for criterion in means]

    def cells(judge: Judge) -> list[Cell] | None:
        at = partial(rows.at, dataset.id, judge.id, statistic, level=GLOBAL)
        found = [at(aspect=one, cell=cell, criterion=word) for one, cell, word in asked]
        return [estimate(row) for row in found] if any(found) else None

    columns = [
        *(Column(judged, cell, "Graded set") for judged, cell in places),
        *(Column("all", one, "Mean") for one in means),
    ]
    built = len(report.rows("construction").where(dataset=dataset.id)) > 0
    notes = [f"{NOTE}; how that was done is under Construction." if built else f"{NOTE} here."]
    told = f"{label(statistic)}: {STATISTICS[statistic].meaning}"
    caption = f"{dataset.name}, texts of every rating; {told}."
    return Table(caption, "Judge", columns, bodies(report.judges, cells), notes, source=SOURCE)


def _confusions(
    report: Report, dataset: Dataset, rows: Rows, places: list[tuple[str, str]]
) -> list[Table]:
    """Return the ratings of each set by the classes of each judge that is no control."""
    tables = []
    for judge in report.judges:
        for judged, cell in places:
            own = rows.where(judge=judge.id, statistic="class_count", judged=judged, cell=cell)
            counts = {(row.k, row.k_b): round(row.value or 0) for row in own}
            if not counts or judge.control:
                continue
            upto = range(1, max(max(place) for place in counts) + 1)
            lines = [_line(k, [counts.get((k, other), 0) for other in upto]) for k in upto]
            caption = (
                f"{dataset.name}, {cell}, {report.aspect(judged)}: ratings (rows) and the classes "
                f"of {judge.id} (columns)."
            )
            note = "Outlined: the judge finds the rating. Shaded by the share of the row."
            columns = [Column(f"class {k}") for k in upto]
            tables.append(Table(caption, "Rating", columns, [Body(lines)], [note], code=False))
    return tables


def _line(k: int, counts: list[int]) -> Line:
    total = sum(counts)
    cells = [shaded(count, total, wanted=at == k) for at, count in enumerate(counts, start=1)]
    return Line(f"class {k}", cells)
