"""Perspectives: what the traditional view of a judge hides, on texts that people rated."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    estimate,
    shaded,
    whole,
)
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.agreement import PEOPLE
from judgescope.report.sections.differences import matrix
from judgescope.report.sections.graded import graded_sets
from judgescope.report.sections.known_order import in_a_row
from judgescope.report.sections.scale_range import scale_ranges
from judgescope.report.sections.shared import bodies, per_dataset
from judgescope.report.words import label
from judgescope.statistics.registry import STATISTICS

TRADITIONAL, DIRECT = "traditional", "direct"
MEASURES = {
    "pearson": TRADITIONAL,
    "spearman": TRADITIONAL,
    "kappa_linear": DIRECT,
    "cem_ord": DIRECT,
    "accuracy_adjacent": DIRECT,
    "accuracy_adjacent_half": DIRECT,
}
BESIDE = {**MEASURES, "accuracy_adjacent_complete": DIRECT, "tie_rate": DIRECT}
AVERAGE, OVERALL = "average", "overall"
LEAD = (
    "Correlation with the mean rating of all texts is the traditional view. The direct view keeps "
    "the texts on whose rating all raters agree, and asks two questions apart: does the judge find "
    "that rating (κ, CEM-ORD), and does it order texts of one source that are rated differently? "
    "Judges that are good at one need not be good at the other. Texts in a row, each with one "
    "error more than the last, ask the second question of texts that nobody rated; texts of every "
    "rating, made with more or fewer errors, ask the first."
)


def section(report: Report) -> Section | None:
    """Return per dataset and wording the views, the ranks, the confusion of classes, folded.

    What several datasets make up together stands first.
    """
    blocks = per_dataset(report, "perspectives", _dataset)
    if not blocks:
        return None
    overall = report.rows("perspectives").where(dataset=OVERALL)
    first: list[Block] = []
    if len(overall):
        first.append(Heading("All datasets", "perspectives-overall"))
        for criterion in overall.names("criterion"):
            first += _averages(report, OVERALL, overall, "mean over datasets", criterion)
    return Section("perspectives", "Perspectives", LEAD, [*first, *blocks])


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    found: list[Block] = []
    views = rows.where(level=(TRADITIONAL, DIRECT))
    for criterion in views.where(aspect=AVERAGE).names("criterion"):
        name = f"{dataset.name}, criterion {criterion}" if criterion else dataset.name
        own = views.where(criterion=criterion)
        found += _averages(report, dataset.id, own, name, criterion)
        judges = [j for j in report.judges if len(own.where(judge=j.id, aspect=AVERAGE))]
        found += _differences(own, dataset, judges, name, criterion)
        aspects = [each for each in dataset.aspects if len(own.where(judged=each))]
        found.append(Fold(f"Every aspect of {name}", [_aspects(report, dataset, own, aspects)]))
        sizes = {each: _size(rows, each) for each in aspects}
        found += _confusions(report, own, judges, sizes, name)
    ranges = scale_ranges(report, dataset, rows)
    built = [*graded_sets(report, dataset, rows), *in_a_row(report, dataset, rows)]
    return [*_people(report, dataset, views), *found, *ranges, *built]


def _averages(report: Report, dataset: str, rows: Rows, name: str, criterion: str) -> list[Block]:
    """Return the table of averages over aspects, and that of the ranks by them."""

    def cells(judge: Judge, prefix: str) -> list[Cell] | None:
        place = [
            rows.at(
                dataset, judge.id, prefix + one, aspect=AVERAGE, level=level, criterion=criterion
            )
            for one, level in MEASURES.items()
        ]
        return [estimate(row) for row in place] if any(place) else None

    captions = {"": "the mean over aspects in both views", "rank_": "ranks by these means"}
    return [
        Table(
            f"{name}: {told}.",
            "Judge",
            _columns(MEASURES, prefix),
            bodies(report.judges, partial(cells, prefix=prefix)),
            source="tables/perspectives.csv",
        )
        for prefix, told in captions.items()
    ]


def _columns(measures: dict[str, str], prefix: str = "") -> list[Column]:
    return [
        Column(
            label(name), "" if prefix else STATISTICS[name].meaning, f"{level} view".capitalize()
        )
        for name, level in measures.items()
    ]


def _differences(
    rows: Rows, dataset: Dataset, judges: Sequence[Judge], name: str, criterion: str
) -> list[Fold]:
    """Return, folded, the differences of the averages of both questions of the direct view."""
    found: list[Fold] = []
    for one in ("kappa_linear", "accuracy_adjacent"):
        gaps = rows.where(aspect=AVERAGE, statistic=f"difference_{one}")
        known = {each for row in gaps if row.value is not None for each in (row.judge, row.judge_b)}
        shown = [judge for judge in judges if judge.id in known]
        found += (
            matrix(gaps, dataset, shown, one, name, criterion, AVERAGE, DIRECT) if shown else []
        )
    tables = [table for fold in found for table in fold.blocks]
    return [Fold(found[0].summary, tables)] if found else []


def _people(report: Report, dataset: Dataset, rows: Rows) -> list[Table]:
    """Return how many texts have each rating, of those on which all raters agree."""
    counts = rows.where(judge=PEOPLE, statistic="class_count")
    known = [row for row in counts if row.k]
    if not known:
        return []
    most = max(row.k for row in known)
    lines = []
    for aspect in counts.names("aspect"):
        own = {row.k: row for row in known if row.aspect == aspect}
        cells = [whole(round(own[k].value or 0)) if k in own else Cell("") for k in _upto(most)]
        lines.append(Line(report.aspect(aspect), cells))
    columns = [Column(f"class {k}") for k in _upto(most)]
    caption = f"{dataset.name}: texts on whose rating all raters agree, from the lowest rating."
    return [Table(caption, "Aspect", columns, [Body(lines)], code=False)]


def _size(rows: Rows, aspect: str) -> int:
    """Return the number of classes of an aspect's scale, 0 where there are none."""
    counts = rows.where(judge=PEOPLE, aspect=aspect.partition(".")[0])
    return max((row.k for row in counts), default=0)


def _upto(most: int) -> range:
    return range(1, most + 1)


def _aspects(report: Report, dataset: Dataset, rows: Rows, aspects: Iterable[str]) -> Table:
    """Return both views of every aspect, with the number of texts or pairs."""

    def cells(judge: Judge, aspect: str) -> list[Cell] | None:
        place = [
            rows.at(dataset.id, judge.id, one, aspect=aspect, level=level)
            for one, level in BESIDE.items()
        ]
        return [estimate(row, counts=True) for row in place] if any(place) else None

    parts: list[Body] = []
    for aspect in aspects:
        parts += bodies(report.judges, partial(cells, aspect=aspect), report.aspect(aspect))
    caption = f"{dataset.name}: both views of every aspect; n counts texts, or pairs of texts."
    source = "tables/perspectives.csv"
    return Table(caption, "Aspect and judge", _columns(BESIDE), parts, source=source)


def _confusions(
    report: Report, rows: Rows, judges: Iterable[Judge], sizes: Mapping[str, int], name: str
) -> list[Fold]:
    """Return, folded, every judge's classes beside people's; `sizes` has the aspects' scales."""
    found = []
    for judge in judges:
        own = rows.where(judge=judge.id, statistic="class_count")
        tables = [
            _confusion(report, own.where(judged=aspect), aspect, size, name)
            for aspect, size in sizes.items()
            if len(own.where(judged=aspect))
        ]
        found += [Fold(f"Classes of {judge.id}: {name}", tables)] if tables else []
    return found


def _confusion(report: Report, rows: Rows, aspect: str, size: int, name: str) -> Table:
    """Return people's classes by the judge's, shaded by the share of the texts of the row."""
    counts = {(row.k, row.k_b): round(row.value or 0) for row in rows}

    def line(k: int) -> Line:
        own = [counts.get((k, other), 0) for other in _upto(size)]
        return Line(
            f"class {k}",
            [shaded(count, sum(own), wanted=k == at) for at, count in enumerate(own, 1)],
        )

    caption = f"{name}, {report.aspect(aspect)}: people's classes (rows) and the judge's (columns)."
    note = "Outlined: the judge finds people's class. Shaded by the share of the row."
    columns = [Column(f"class {k}") for k in _upto(size)]
    body = Body([line(k) for k in _upto(size)])
    return Table(caption, "People", columns, [body], [note], code=False)
