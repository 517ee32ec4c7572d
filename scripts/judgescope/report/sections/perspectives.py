"""Perspectives: what the traditional view of a judge hides, and which judges find known ratings."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    estimate,
    figures,
    shaded,
    whole,
)
from judgescope.report.numbers import count, listed
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.agreement import PEOPLE
from judgescope.report.sections.construction import built_sets
from judgescope.report.sections.known_order import in_a_row
from judgescope.report.sections.shared import (
    built_table,
    by_aspect,
    chart,
    estimates,
    gaps,
    matrix,
    per_dataset,
)
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
GLOBAL = "global"
SHOWN = ("kappa_linear", "cem_ord")
ABOUT = "texts of every rating"
NOTE = "The texts of a graded set were made to have every rating, so no person has to rate them"
RANGE_MEASURES = {
    ("accuracy_adjacent", "local"): ", texts in a row",
    ("accuracy_adjacent", "direct"): ", rated texts",
    ("kappa_linear", "direct"): "",
    ("pearson", "traditional"): "",
}
"""(Statistic, level) -> what is put behind the statistic's label."""
RANGE_AXIS = "mean over aspects, with 95 % interval; the line is 0"
RangeMeasure = tuple[str, str]


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

    def found(judge: Judge, prefix: str) -> list[Row | None]:
        at = partial(rows.at, dataset, judge.id, aspect=AVERAGE, criterion=criterion)
        return [at(prefix + one, level=level) for one, level in MEASURES.items()]

    captions = {"": "the mean over aspects in both views", "rank_": "ranks by these means"}
    return [
        Table(
            f"{name}: {told}.",
            "Judge",
            _view_columns(MEASURES, prefix),
            estimates(report.judges, partial(found, prefix=prefix)),
            source="tables/perspectives.csv",
        )
        for prefix, told in captions.items()
    ]


def _view_columns(measures: dict[str, str], prefix: str = "") -> list[Column]:
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

    def found(judge: Judge, aspect: str) -> list[Row | None]:
        at = partial(rows.at, dataset.id, judge.id, aspect=aspect)
        return [at(one, level=level) for one, level in BESIDE.items()]

    parts = by_aspect(report, aspects, found)
    caption = f"{dataset.name}: both views of every aspect; n counts texts, or pairs of texts."
    source = "tables/perspectives.csv"
    return Table(caption, "Aspect and judge", _view_columns(BESIDE), parts, source=source)


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
        notes=_rating_notes(report, dataset, places),
    )
    return [
        *(table(statistic=one) for one in SHOWN),
        *gaps(report, dataset, own, "kappa_linear", name, GLOBAL),
        Fold(f"{name}, the classes of each judge", _graded_classes(report, dataset, own, places)),
    ]


def _rating_notes(report: Report, dataset: Dataset, places: Sequence[tuple[str, str]]) -> list[str]:
    """Return where the ratings of the sets come from: built here, or read with the texts."""
    here = built_sets(report.rows("construction").where(dataset=dataset.id))
    read = [cell for _, cell in places if cell not in here]
    told = [f"{NOTE}; how that was done is under Construction."] if len(read) < len(places) else []
    return told + ([f"Ratings that came with the texts: {', '.join(read)}."] if read else [])


def _graded_classes(
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
            lines = [_class_line(k, [counts.get((k, other), 0) for other in upto]) for k in upto]
            caption = (
                f"{dataset.name}, {cell}, {report.aspect(judged)}: ratings (rows) and the classes "
                f"of {judge.id} (columns)."
            )
            note = "Outlined: the judge finds the rating. Shaded by the share of the row."
            columns = [Column(f"class {k}") for k in upto]
            tables.append(Table(caption, "Rating", columns, [Body(lines)], [note], code=False))
    return tables


def _class_line(k: int, counts: list[int]) -> Line:
    total = sum(counts)
    cells = [shaded(count, total, wanted=at == k) for at, count in enumerate(counts, start=1)]
    return Line(f"class {k}", cells)


class _Range(NamedTuple):
    """A judge of some that differ in their scale, how many points it has, and its numbers."""

    judge: Judge
    points: list[int]
    at: dict[RangeMeasure, Row | None]

    @property
    def name(self) -> str:
        """Return what a figure calls it."""
        return f"{_points(self.points)} points, {self.judge.id}"


def scale_ranges(report: Report, dataset: Dataset, rows: Rows) -> list[Figure]:
    """Return a figure, with its table, for all judges of one model and form on several scales."""
    found = []
    for criterion in rows.where(aspect=AVERAGE).names("criterion"):
        for judges in _alike(report, dataset):
            ranges = [_range(report, dataset, rows, judge, criterion) for judge in judges]
            known = [one for one in ranges if any(_defined(row) for row in one.at.values())]
            if len({tuple(one.points) for one in known}) > 1:
                known.sort(key=lambda one: one.points)
                found.append(_range_figure(dataset, known, criterion))
    return found


def _alike(report: Report, dataset: Dataset) -> list[list[Judge]]:
    """Return the judges of prompts with a scale of points, those together that are alike."""
    found: dict[str, list[Judge]] = {}
    for judge in report.judges:
        card = report.spec.judges[judge.id]
        if dataset.id in card.points:
            found.setdefault(card.alike, []).append(judge)
    return [*found.values()]


def _range(report: Report, dataset: Dataset, rows: Rows, judge: Judge, criterion: str) -> _Range:
    points = report.spec.judges[judge.id].points[dataset.id]
    at = {
        (name, level): rows.at(
            dataset.id, judge.id, name, aspect=AVERAGE, level=level, criterion=criterion
        )
        for name, level in RANGE_MEASURES
    }
    return _Range(judge, points, at)


def _defined(row: Row | None) -> bool:
    return row is not None and row.value is not None


def _points(points: Sequence[int]) -> str:
    """Return a number of points, or from how few to how many where it differs by aspect."""
    return " to ".join(count(each) for each in dict.fromkeys((points[0], points[-1])))


def _range_figure(dataset: Dataset, ranges: Sequence[_Range], criterion: str) -> Figure:
    shown = [place for place in RANGE_MEASURES if any(_defined(one.at[place]) for one in ranges)]
    names = {(name, level): label(name) + RANGE_MEASURES[name, level] for name, level in shown}
    of = f", criterion {criterion}" if criterion else ""
    title = f"{dataset.name}{of}: range of the scale, {ranges[0].judge.model}"
    summary = (
        "One model in one form on scales of "
        f"{listed(list(dict.fromkeys(_points(one.points) for one in ranges)))} points. "
        + " ".join(_range_change(names[place], place, ranges) for place in shown)
    )
    values = [
        (one.name, names[place], row)
        for one in ranges
        for place in shown
        if (row := one.at[place]) is not None and row.value is not None
    ]
    table, groups = _range_table(title, names, ranges), [one.name for one in ranges]
    order = {"groups": groups, "names": [*names.values()]}
    return chart(title, summary, table, values, line=0, axis=RANGE_AXIS, **order)


def _range_change(name: str, place: RangeMeasure, ranges: Sequence[_Range]) -> str:
    """Return a statistic on the narrowest and on the widest scale that have it."""
    known = [(one, row) for one in ranges if (row := one.at[place]) is not None and _defined(row)]
    ends = known[:1] + known[1:][-1:]
    told = [f"{figures(row)} on {_points(one.points)}" for one, row in ends]
    return f"{name}: {', '.join(told)}."


def _range_table(title: str, names: dict[RangeMeasure, str], ranges: Sequence[_Range]) -> Table:
    lines = [
        Line(
            one.judge.id,
            [
                Cell(_points(one.points), sort=one.points[-1]),
                *(estimate(one.at[place], counts=True) for place in names),
            ],
            about=one.judge.about,
        )
        for one in ranges
    ]
    columns = [Column("Points"), *(Column(name) for name in names.values())]
    caption = (
        f"{title}: means over aspects; n counts aspects, or rows of texts. How many texts and "
        "pairs stand behind each aspect is told with every aspect."
    )
    return Table(caption, "Judge", columns, [Body(lines)], source="tables/perspectives.csv")
