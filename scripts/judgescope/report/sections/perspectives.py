"""Perspectives (Hu et al. 2025): correlation with ratings, known ratings, and known
orders.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Unpack

from judgescope.methods.aspect_views import BESIDE, DIRECT, MEASURES, TRADITIONAL
from judgescope.methods.measures import LevelStatistic
from judgescope.methods.perspectives import GLOBAL, LOCAL
from judgescope.report import tables
from judgescope.report.cells import ReportCell, estimates, figures
from judgescope.report.class_tables import class_columns, class_table, counted
from judgescope.report.elements import (
    Body,
    Fold,
    Heading,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    columns_of,
)
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import Address, ReportRow, ReportRows, RowPlace
from judgescope.report.sections.perturbations import built_sets
from judgescope.report.words import count, label, listed, plural, spoken
from judgescope.statistics.registry import statistic

SOURCE = "tables/perspectives.csv"
RANGE_MEASURES = {
    ("accuracy_adjacent", "local"): ", chains",
    ("accuracy_adjacent", "direct"): ", rated texts",
    ("kappa_linear", "direct"): "",
    ("pearson", "traditional"): "",
}
"""(Statistic, level) -> the text after the statistic's label."""
RANGE_AXIS = "mean over aspects, with 95 % interval; the line marks 0"
COMPARED = "accuracy_comparison_by_distance"
DISTANCE_AXIS = "right, with 95 % interval; the line marks chance without ties"
JudgedSet = tuple[str, str]
"""(Judged aspect, cell) of a set of texts."""


def over_datasets(report: Report) -> Iterator[PageBlock]:
    """Yield the means over several datasets, if there are any."""
    rows = report.rows("perspectives", "overall")
    if not len(rows):
        return
    yield Heading("All datasets", "perspectives-overall")
    # Rows of dashes for every judge, and ranks of controls alone, say nothing.
    real = tuple(judge.id for judge in report.real_judges)
    if real and not len(rows.where(judge=real).defined):
        yield Paragraph(
            "No judge has a mean over datasets: it needs a number on each of them."
        )
        return
    for criterion in rows.names("criterion"):
        yield from _averages(report, rows, "Mean over datasets", criterion)


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield per wording the views, the ranks, the confusion of classes, folded."""
    views = rows.where(level=(TRADITIONAL, DIRECT))
    for criterion in views.where(aspect=tables.AVERAGE).names("criterion"):
        name = tables.with_criterion(dataset.name, criterion)
        part = views.where(criterion=criterion)
        yield from _averages(report, part, name, criterion)
        both = ("kappa_linear", "accuracy_adjacent")
        yield from tables.mean_differences(report, part, both, dataset.name, DIRECT)
        aspects = []
        for aspect in dataset.aspects:
            if len(part.where(judged=aspect)):
                aspects.append(aspect)
        table = tables.TableSpec(
            f"{dataset.name}: both views of every aspect; n counts texts, or pairs of "
            "texts.",
            _view_columns([*MEASURES, *BESIDE]),
            tables.aspect_groups(report, aspects),
            source=SOURCE,
            corner="Aspect and judge",
            counts=True,
        ).filled(report.judges, part)
        yield Fold(f"Every aspect of {name}", [table])
        yield from _classes(
            report, part, rows.where(judge=tables.PEOPLE), aspects, name
        )
    yield from _agreed_texts(report, dataset, views)
    yield from scale_ranges(report, dataset, rows)
    yield from graded_sets(report, dataset, rows)
    yield from chains(report, dataset, rows)


def _view_columns(
    measures: Iterable[LevelStatistic], prefix: str = "", **where: Unpack[RowPlace]
) -> list[TableColumn]:
    """Return a column of each measure, or of the ranks by it, under its view."""
    columns = []
    for name, level in measures:
        column = TableColumn(
            label(name),
            note="" if prefix else statistic(name).meaning,
            group=f"{level} view".capitalize(),
            statistic=f"{prefix}{name}",
            where={**where, "level": level},
        )
        columns.append(column)
    return columns


def _averages(
    report: Report, rows: ReportRows, name: str, criterion: str
) -> Iterator[PageFigure | PageTable]:
    """Yield the averages over aspects as a figure with its table, and the ranks by
    them.

    A measure that no judge has is named below the table, with the reason, in place of a
    column.
    """
    averages = rows.where(aspect=tables.AVERAGE, criterion=criterion)
    measured = list[LevelStatistic]()
    reasons = dict[str, list[str]]()
    for measure, level in MEASURES:
        of_measure = averages.where(statistic=measure, level=level)
        if len(of_measure.defined):
            measured.append((measure, level))
        else:
            codes = filter(None, of_measure.names("note"))
            why = "; ".join(map(spoken, codes)) or "not planned"
            reasons.setdefault(why, []).append(label(measure))
    notes = [f"No judge has {listed(names)}: {why}." for why, names in reasons.items()]
    where: RowPlace = {"aspect": tables.AVERAGE, "criterion": criterion}
    means = tables.TableSpec(
        f"{name}: the mean over aspects in both views.",
        _view_columns(measured or MEASURES, **where),
        notes=notes,
        source=SOURCE,
    ).filled(report.judges, rows)
    ranks = tables.TableSpec(
        f"{name}: ranks by these means.",
        _view_columns(measured or MEASURES, "rank_", **where),
        notes=notes,
        source=SOURCE,
    ).filled(report.judges, rows)
    text = (
        "A judge whose scores correlate with the ratings may still give wrong ratings "
        "or put two texts in the wrong order."
    )
    yield tables.chart(f"{name}: both views", text, means, axis=RANGE_AXIS)
    yield ranks


def _agreed_texts(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageTable]:
    counts = rows.where(judge=tables.PEOPLE, statistic="class_count")
    lines = []
    for aspect in counts.names("aspect"):
        lines.append(tables.Entry(report.aspect(aspect), {"aspect": aspect}))
    classes = class_columns(counts)
    if classes:
        yield tables.TableSpec(
            f"{dataset.name}: texts on whose rating all raters agree, from the lowest "
            "rating.",
            classes,
            [tables.RowGroup(lines=lines)],
            level=DIRECT,
            judge=tables.PEOPLE,
            corner="Aspect",
            code=False,
            cell=counted,
        ).filled((), counts)


def _classes(
    report: Report,
    rows: ReportRows,
    people: ReportRows,
    aspects: Sequence[str],
    name: str,
) -> Iterator[Fold]:
    """Yield, folded, people's classes by those of every judge that has a mean over
    aspects.
    """
    sizes = {}
    for aspect in aspects:
        of_aspect = people.where(aspect=aspect.partition(".")[0])
        sizes[aspect] = of_aspect.highest_class
    for judge in report.judges_of(rows.where(aspect=tables.AVERAGE)):
        counts = rows.where(judge=judge.id, statistic="class_count")
        matrices = []
        for aspect, size in sizes.items():
            mine = counts.where(judged=aspect)
            if len(mine):
                caption = (
                    f"{name}, {report.aspect(aspect)}: people's classes (rows) and the "
                    "judge's (columns)."
                )
                matrices.append(
                    class_table(mine, size, caption, "People", "people's class")
                )
        if matrices:
            yield Fold(f"Classes of {judge.id}: {name}", matrices)


# --- judges that differ in the range of their scale -----------------------------------


def scale_ranges(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageFigure | PageTable]:
    """Yield a figure, with its table, for all judges of one model and form on several
    scales.
    """
    cards = report.spec.judges
    alike: dict[str, list[ShownJudge]] = {}
    for judge in report.judges:
        if dataset.id in cards[judge.id].points:
            alike.setdefault(cards[judge.id].alike, []).append(judge)
    means = rows.where(aspect=tables.AVERAGE)
    for criterion, judges in product(means.names("criterion"), alike.values()):
        known = ReportRows(
            row
            for row in means.where(criterion=criterion).defined
            if (row.statistic, row.level) in RANGE_MEASURES
        )
        names = known.names("judge")
        points = {
            judge: cards[judge.id].points[dataset.id]
            for judge in judges
            if judge.id in names
        }
        if len(set(map(tuple, points.values()))) > 1:
            points = dict(sorted(points.items(), key=lambda item: item[1]))
            name = tables.with_criterion(dataset.name, criterion)
            yield _range_figure(name, points, known)


def _range_figure(
    name: str, points: Mapping[ShownJudge, list[int]], rows: ReportRows
) -> PageFigure | PageTable:
    """Return the values of judges with so many `points`: one number, or one for each
    aspect.
    """
    columns = []
    for (measure, level), about in RANGE_MEASURES.items():
        if len(rows.where(statistic=measure, level=level)):
            head = f"{label(measure)}{about}"
            where: RowPlace = {"level": level}
            columns.append(TableColumn(head, statistic=measure, where=where))
    sizes = {judge: _size_in_words(numbers) for judge, numbers in points.items()}
    lines = []
    for judge, size in sizes.items():
        lines.append(
            tables.Entry(f"{size} points, {judge.id}", {"judge": judge.id}, judge.about)
        )
    title = f"{name}: range of the scale, {next(iter(points)).model}"
    means: Address = {
        "aspect": tables.AVERAGE,
        "criterion": rows.names("criterion")[0],
    }
    table = tables.TableSpec(
        f"{title}: means over aspects; n counts aspects, or chains. The tables of "
        "every aspect count texts and pairs.",
        columns,
        [tables.RowGroup(where=means, lines=lines)],
        source=SOURCE,
        counts=True,
        code=False,
    ).filled((), rows)
    changes = _changes(table, list(sizes.values()))
    summary = (
        "One model with one prompt form, on scales of "
        f"{listed(list(dict.fromkeys(sizes.values())))} points. {' '.join(changes)}"
    )
    return tables.chart(title, summary, table, axis=RANGE_AXIS)


def _size_in_words(points: Sequence[int]) -> str:
    """The number of points of a judge's scales: one number, or the ends of several.

    >>> _size_in_words([5, 5]), _size_in_words([5, 7, 10])
    ('5', '5 to 10')
    """
    first = count(points[0])
    last = count(points[-1])
    return first if first == last else f"{first} to {last}"


def _changes(table: PageTable, sizes: Sequence[str]) -> Iterator[str]:
    """Yield, for each column, its values on the narrowest and the widest scale."""
    lines = table.bodies[0].lines
    for at, column in enumerate(table.columns):
        known = []
        for line, size in zip(lines, sizes, strict=True):
            row = line.cells[at].row
            if row:
                known.append(f"{figures(row)} on {size}")
        ends = known[:1] + known[1:][-1:]
        yield f"{column.text}: {', '.join(ends)}."


# --- constructed sets: graded sets and error-injection chains -------------------------


def _constructed(
    report: Report,
    rows: ReportRows,
    sets: Sequence[JudgedSet],
    name: str,
    measure: str,
    *notes: str,
) -> PageTable:
    """Return a statistic of every judge on each set of texts, and its means over
    these.
    """
    (level,) = rows.names("level")
    kind = "Graded set" if level == GLOBAL else "Chain"
    columns = []
    for judged, cell in sets:
        of_set: RowPlace = {"aspect": judged, "cell": cell}
        columns.append(TableColumn(judged, cell, kind, where=of_set))
    means = rows.where(aspect=tables.AVERAGE, statistic=measure)
    for wording in means.names("criterion"):
        mean: RowPlace = {"aspect": tables.AVERAGE, "criterion": wording}
        columns.append(TableColumn("all", wording, "Mean", where=mean))
    caption = f"{name}; {tables.statistic_caption(measure)}."
    spec = tables.TableSpec(
        caption, columns, statistic=measure, level=level, notes=notes, source=SOURCE
    )
    return spec.filled(report.judges, rows)


def graded_sets(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield how well each judge finds the ratings of each set, and its classes,
    folded.
    """
    rows = rows.where(level=GLOBAL)
    sets = _sets(rows)
    if not sets:
        return
    name = f"{dataset.name}, graded sets"
    built = built_sets(report.rows("construction", dataset.id))
    read = [cell for _, cell in sets if cell not in built]
    notes = []
    if len(read) < len(sets):
        notes.append(
            "The texts of a graded set were made to have every rating, so no person "
            "has to rate them; the section Construction shows how."
        )
    if read:
        notes.append(f"Ratings that came with the texts: {', '.join(read)}.")
    table = partial(_constructed, report, rows, sets, name)
    yield tables.chart(
        f"{name}: ratings that each judge finds",
        "Agreement of a judge's classes with the ratings that the texts were made to "
        "have.",
        table("kappa_linear", *notes),
        axis=f"{label('kappa_linear')}, with 95 % interval; the line is chance",
    )
    yield table("cem_ord", *notes)
    yield from tables.mean_differences(report, rows, ["kappa_linear"], name, GLOBAL)
    matrices = [*_set_matrices(report, dataset, rows, sets)]
    yield Fold(f"{name}, the classes of each judge", matrices)


def _set_matrices(
    report: Report, dataset: ShownDataset, rows: ReportRows, sets: Sequence[JudgedSet]
) -> Iterator[PageTable]:
    """Yield the ratings of each graded set by the classes of each judge."""
    counts = rows.where(statistic="class_count")
    for judge, (judged, cell) in product(report.judges, sets):
        every = counts.where(judged=judged, cell=cell)
        mine = every.where(judge=judge.id)
        if judge.control or not len(mine):
            continue
        # Controls give the top and the bottom, so the largest class is in some row.
        size = max(max(row.k, row.k_b) for row in every)
        caption = (
            f"{dataset.name}, {cell}, {report.aspect(judged)}: ratings (rows) and "
            f"the classes of {judge.id} (columns)."
        )
        yield class_table(mine, size, caption, "Rating", "the rating")


def chains(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield the accuracies on chains, the effect of ties, and accuracies at larger
    distances.
    """
    rows = rows.where(level=LOCAL)
    strict_statistic = "accuracy_adjacent"
    sets = _sets(rows.where(statistic=strict_statistic))
    if not sets:
        return
    name = f"{dataset.name}, error-injection chains"
    table = partial(_constructed, report, rows, sets, name)
    note = (
        "Each text of a chain has one error more than the one before, so no person has "
        "to rate it. A judge is right if it scores the better of two neighbours "
        "higher; a tie counts as wrong here, as half right in the tables below."
    )
    yield tables.chart(
        f"{name}: adjacent texts in the right order",
        "How often a judge gives the higher score to the text with one error less; a "
        "tie is wrong.",
        table(strict_statistic, note),
        line=0.5,
        axis=DISTANCE_AXIS,
    )
    for judged_set in sets:
        yield from _by_distance(report, dataset, rows, judged_set)
    yield from tables.mean_differences(report, rows, [strict_statistic], name, LOCAL)
    lenient = [
        table("accuracy_adjacent_half"),
        table("accuracy_adjacent_complete"),
        table("tie_rate"),
    ]
    yield Fold(f"{name}: ties and missing scores", lenient)


def _sets(rows: ReportRows) -> list[JudgedSet]:
    built = rows.frame[rows.frame["perturbation"] != ""].drop_duplicates(
        ["judged", "cell"]
    )
    return list(zip(built["judged"], built["cell"], strict=True))


def _by_distance(
    report: Report, dataset: ShownDataset, rows: ReportRows, judged_set: JudgedSet
) -> Iterator[PageFigure | PageTable]:
    """Yield the accuracy on texts that are k errors apart.

    Then that of judges that compare and judges that score, where there are both. Judges
    of the models that compare come first among those that score; controls are in the
    first figure alone.
    """
    judged, cell = judged_set
    name = f"{dataset.name}, {cell}"
    aspect = report.aspect(judged)
    caption = (
        f"{name}: share ordered correctly, by number of errors between the two texts."
    )
    chain = cell.partition(".")[0]  # in any degree
    pairs = report.rows("pairwise", dataset.id)
    compared = pairs.where(statistic=COMPARED, perturbation=chain)
    scored = rows.where(statistic="accuracy_by_distance", perturbation=chain)
    votes = compared.where(judged=judged).defined
    scores = scored.where(judged=judged).defined
    if len(scores):
        names = {judge: tables.labelled(judge) for judge in report.judges_of(scored)}
        title = f"{name}: {aspect}, texts further apart"
        yield _distance_figure(title, caption, "Accuracy", {"": names}, [*scores])
    comparing = report.real_judges_of(votes)
    scoring = report.real_judges_of(scores)
    models = {judge.model for judge in comparing}
    scoring.sort(key=lambda judge: judge.model not in models)
    if comparing and scoring:
        yield _distance_figure(
            f"{name}: {aspect}, scored and compared",
            f"{caption} n counts pairs of texts; a tie and a missing reply are wrong. "
            "The original is scored, but never compared.",
            "Accuracy of scores (original included) and of comparisons (original left "
            "out)",
            {
                "Judges that compare": {
                    judge: f"{judge.id} (compares)" for judge in comparing
                },
                "Judges that score": {
                    judge: f"{judge.id} (scores)" for judge in scoring
                },
            },
            [*votes, *scores],
        )


def _distance_figure(
    title: str,
    caption: str,
    subject: str,
    judges: Mapping[str, Mapping[ShownJudge, str]],
    known: Sequence[ReportRow],
) -> PageFigure | PageTable:
    """Return accuracies by the number of errors between two texts; `known` has all
    rows.

    `judges` is heading -> the judges under it, with their names in the figure.
    """
    steps = sorted({row.k for row in known})
    by_judge_and_step = {(row.judge, row.k): row for row in known}

    def cells(judge: ShownJudge) -> list[ReportCell]:
        of_judge = (by_judge_and_step.get((judge.id, k)) for k in steps)
        return estimates(of_judge, counts=True)

    bodies = list[Body]()
    names = dict[str, str]()
    summary = f"{subject} by the number of errors between two texts."
    for heading, of_heading in judges.items():
        bodies += tables.judge_bodies(of_heading, cells, heading)
        of_judges = {judge.id: name for judge, name in of_heading.items()}
        names |= of_judges
        by_step = dict[int, list[ReportRow]]()
        for row in known:
            if row.judge in of_judges:
                by_step.setdefault(row.k, []).append(row)
        each = []
        for k in dict.fromkeys((min(by_step), max(by_step))):
            best = tables.leaders(of_heading, by_step[k])
            leading = tables.judges_in_words(best)
            each.append(f"at {plural(k, 'error')} is {figures(best[0])} ({leading})")
        group = ""
        if heading:
            group = f" of the {heading[0].lower()}{heading[1:]}"
        summary += f" The highest{group} {', '.join(each)}."
    compared = any(row.statistic == COMPARED for row in known)
    source = SOURCE
    if compared:
        source = f"tables/pairwise.csv and {SOURCE}"
    columns = columns_of(plural(k, "error") for k in steps)
    table = PageTable(caption, "Judge", columns, bodies, source=source)
    return tables.chart(
        title, summary, table, line=0.5, axis=DISTANCE_AXIS, across=True, names=names
    )
