"""Graded sets, texts of every rating: which judges find the rating."""

from collections.abc import Sequence
from functools import partial

from judgescope.report.elements import Block, Body, Column, Fold, Line, Table, shaded
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.constructed_sets import built_table
from judgescope.report.sections.construction import built_sets
from judgescope.report.sections.differences import gaps

GLOBAL = "global"
SHOWN = ("kappa_linear", "cem_ord")
ABOUT = "texts of every rating"
NOTE = "The texts of a graded set were made to have every rating, so no person has to rate them"


def graded_sets(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return how well each judge finds the ratings of each set, and its classes, folded."""
    own = rows.where(level=GLOBAL)
    places = list(dict.fromkeys((one.judged, one.cell) for one in own if one.perturbation))
    if not places:
        return []
    name = f"{dataset.name}, {ABOUT}"
    table = partial(
        built_table,
        *(report, dataset, own, places),
        level=GLOBAL,
        about=ABOUT,
        group="Graded set",
        notes=_notes(report, dataset, places),
    )
    return [
        *(table(statistic=one) for one in SHOWN),
        *gaps(report, dataset, own, "kappa_linear", name, GLOBAL),
        Fold(f"{name}, the classes of each judge", _confusions(report, dataset, own, places)),
    ]


def _notes(report: Report, dataset: Dataset, places: Sequence[tuple[str, str]]) -> list[str]:
    """Return where the ratings of the sets come from: built here, or read with the texts."""
    here = built_sets(report.rows("construction").where(dataset=dataset.id))
    read = [cell for _, cell in places if cell not in here]
    told = [f"{NOTE}; how that was done is under Construction."] if len(read) < len(places) else []
    return told + ([f"Ratings that came with the texts: {', '.join(read)}."] if read else [])


def _confusions(
    report: Report, dataset: Dataset, rows: Rows, places: list[tuple[str, str]]
) -> list[Table]:
    """Return the ratings of each set by the classes of each judge that is no control."""
    tables, sizes = [], dict[tuple[str, str], int]()
    for judged, cell in places:  # some judge gives the top, some the bottom: the controls do
        every = rows.where(statistic="class_count", judged=judged, cell=cell)
        sizes[judged, cell] = max((max(row.k, row.k_b) for row in every), default=0)
    for judge in report.judges:
        for judged, cell in places:
            own = rows.where(judge=judge.id, statistic="class_count", judged=judged, cell=cell)
            counts = {(row.k, row.k_b): round(row.value or 0) for row in own}
            size = sizes[judged, cell]
            if not counts or judge.control:
                continue
            upto = range(1, size + 1)
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
