"""Perspectives (Hu et al. 2025): correlation with ratings, known ratings, and known
orders.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Unpack

import pandas as pd

from judgescope.methods.measures import Measure
from judgescope.methods.perspectives import (
    BESIDE,
    DIRECT,
    GLOBAL,
    LOCAL,
    MEASURES,
    TRADITIONAL,
)
from judgescope.report import tables
from judgescope.report.cells import Cell, estimate, figures
from judgescope.report.elements import Block, Body, Column, Figure, Fold, Heading, Table
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Place, Row, Rows
from judgescope.report.sections.perturbations import built_sets
from judgescope.report.words import count, label, listed, plural, spoken
from judgescope.statistics.registry import statistic

SETS = {GLOBAL: "Graded set", LOCAL: "Chain"}
SOURCE = "tables/perspectives.csv"
LEAD = (
    "Does a judge find a known rating, and a known order (Hu et al. 2025)? "
    "Correlation with the mean rating of all texts is the traditional view. The direct "
    "view keeps the texts on whose rating all raters agree, and asks two separate "
    "questions: does the judge find that rating (κ, CEM-ORD), and does it order texts "
    "of one source that are rated differently? Judges that are good at one need not be "
    "good at the other. Error-injection chains, each text with one more error than the "
    "last, ask the second question without ratings; graded sets, texts of every rating "
    "made with more or fewer errors, ask the first."
)
EVERY_RATING = "graded sets"
NOTE = (
    "The texts of a graded set were made to have every rating, so no person has to "
    "rate them"
)
RANGE_MEASURES = {
    ("accuracy_adjacent", "local"): ", chains",
    ("accuracy_adjacent", "direct"): ", rated texts",
    ("kappa_linear", "direct"): "",
    ("pearson", "traditional"): "",
}
"""(Statistic, level) -> the text after the statistic's label."""
RANGE_AXIS = "mean over aspects, with 95 % interval; the line marks 0"
STRICT, BY_DISTANCE = "accuracy_adjacent", "accuracy_by_distance"
COMPARED = "accuracy_comparison_by_distance"
LENIENT = ("accuracy_adjacent_half", "accuracy_adjacent_complete", "tie_rate")
ROW_NOTE = (
    "Each text of a chain has one error more than the one before, so no person has to "
    "rate it. A judge is right if it scores the better of two neighbours higher; a tie "
    "counts as wrong here, as half right in the tables below."
)
DISTANCE_AXIS = "right, with 95 % interval; the line marks chance without ties"
Judges = Mapping[str, Mapping[Judge, str]]
"""Heading -> the judges under it, with their names in a figure."""
JudgedSet = tuple[str, str]
"""(Judged aspect, cell) of a set of texts."""


def _with_means(report: Report, blocks: list[Block]) -> list[Block]:
    """Return blocks after those of the means over several datasets, if there are
    any.
    """
    rows = report.rows("perspectives", "overall")
    first: list[Block] = (
        [Heading("All datasets", "perspectives-overall")] if len(rows) else []
    )
    for criterion in rows.names("criterion"):
        first += _averages(report, rows, "Mean over datasets", criterion)
    return first + blocks


@tables.section_of(
    "Evidence", 60, "perspectives", "Perspectives", LEAD, finish=_with_means
)
def section(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield per wording the views, the ranks, the confusion of classes, folded."""
    views = rows.where(level=(TRADITIONAL, DIRECT))
    for criterion in views.where(aspect=tables.AVERAGE).names("criterion"):
        name = tables.with_criterion(dataset.name, criterion)
        part = views.where(criterion=criterion)
        yield from _averages(report, part, name, criterion)
        both = ("kappa_linear", "accuracy_adjacent")
        yield from tables.mean_differences(report, part, both, dataset.name, DIRECT)
        aspects = [
            aspect for aspect in dataset.aspects if len(part.where(judged=aspect))
        ]
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
    measures: Iterable[Measure], prefix: str = "", **where: Unpack[Place]
) -> list[Column]:
    """Return a column of each measure, or of the ranks by it, under its view."""
    return [
        Column(
            label(name),
            "" if prefix else statistic(name).meaning,
            f"{level} view".capitalize(),
            statistic=prefix + name,
            where={**where, "level": level},
        )
        for name, level in measures
    ]


def _averages(
    report: Report, rows: Rows, name: str, criterion: str
) -> Iterator[Figure | Table]:
    """Yield the averages over aspects as a figure with its table, and the ranks by
    them.

    A measure that no judge has is named below the table, with the reason, in place of a
    column.
    """
    averages = rows.where(aspect=tables.AVERAGE, criterion=criterion)
    measured, reasons = list[Measure](), dict[str, list[str]]()
    for measure, level in MEASURES:
        of_measure = averages.where(statistic=measure, level=level)
        if len(of_measure.defined):
            measured.append((measure, level))
        else:
            why = (
                "; ".join(map(spoken, filter(None, of_measure.names("note"))))
                or "not planned"
            )
            reasons.setdefault(why, []).append(label(measure))
    notes = [f"No judge has {listed(names)}: {why}." for why, names in reasons.items()]
    captions = {
        "": "the mean over aspects in both views",
        "rank_": "ranks by these means",
    }
    means, ranks = (
        tables.TableSpec(
            f"{name}: {about}.",
            _view_columns(
                measured or MEASURES, prefix, aspect=tables.AVERAGE, criterion=criterion
            ),
            notes=notes,
            source=SOURCE,
        ).filled(report.judges, rows)
        for prefix, about in captions.items()
    )
    text = (
        "A judge whose scores correlate with the ratings may still give wrong ratings "
        "or put two texts in the wrong order."
    )
    yield tables.chart(f"{name}: both views", text, means, axis=RANGE_AXIS)
    yield ranks


def _agreed_texts(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Table]:
    counts = rows.where(judge=tables.PEOPLE, statistic="class_count")
    lines = [
        tables.Entry(report.aspect(one), {"aspect": one})
        for one in counts.names("aspect")
    ]
    if classes := tables.class_columns(counts):
        yield tables.TableSpec(
            f"{dataset.name}: texts on whose rating all raters agree, from the lowest "
            "rating.",
            classes,
            [tables.RowGroup(lines=lines)],
            level=DIRECT,
            judge=tables.PEOPLE,
            corner="Aspect",
            code=False,
            cell=tables.counted,
        ).filled((), counts)


def _classes(
    report: Report, rows: Rows, people: Rows, aspects: Sequence[str], name: str
) -> Iterator[Fold]:
    """Yield, folded, people's classes by those of every judge that has a mean over
    aspects.
    """
    sizes = {
        aspect: max(
            (row.k for row in people.where(aspect=aspect.partition(".")[0])), default=0
        )
        for aspect in aspects
    }
    for judge in report.judges_of(rows.where(aspect=tables.AVERAGE)):
        mine = rows.where(judge=judge.id, statistic="class_count")
        matrices = [
            tables.class_table(
                mine.where(judged=aspect),
                size,
                f"{name}, {report.aspect(aspect)}: people's classes (rows) and the "
                "judge's (columns).",
                "People",
                "people's class",
            )
            for aspect, size in sizes.items()
            if len(mine.where(judged=aspect))
        ]
        if matrices:
            yield Fold(f"Classes of {judge.id}: {name}", matrices)


# --- judges that differ in the range of their scale -----------------------------------


def scale_ranges(
    report: Report, dataset: Dataset, rows: Rows
) -> Iterator[Figure | Table]:
    """Yield a figure, with its table, for all judges of one model and form on several
    scales.
    """
    cards = report.spec.judges
    alike: dict[str, list[Judge]] = {}
    for judge in report.judges:
        if dataset.id in cards[judge.id].points:
            alike.setdefault(cards[judge.id].alike, []).append(judge)
    means = rows.where(aspect=tables.AVERAGE)
    for criterion, judges in product(means.names("criterion"), alike.values()):
        frame = means.where(criterion=criterion).defined.frame
        measured = pd.MultiIndex.from_frame(frame[["statistic", "level"]]).isin(
            RANGE_MEASURES
        )
        known = Rows(frame[measured])
        names = known.names("judge")
        points = {
            judge: cards[judge.id].points[dataset.id]
            for judge in judges
            if judge.id in names
        }
        if len({*map(tuple, points.values())}) > 1:
            points = dict(sorted(points.items(), key=lambda one: one[1]))
            yield _range_figure(
                tables.with_criterion(dataset.name, criterion), points, known
            )


def _range_figure(
    name: str, points: Mapping[Judge, list[int]], rows: Rows
) -> Figure | Table:
    """Return the values of judges with so many `points`: one number, or one for each
    aspect.
    """
    columns = [
        Column(label(measure) + about, statistic=measure, where={"level": level})
        for (measure, level), about in RANGE_MEASURES.items()
        if len(rows.where(statistic=measure, level=level))
    ]
    sizes = {
        judge: " to ".join(count(each) for each in dict.fromkeys((of[0], of[-1])))
        for judge, of in points.items()
    }
    lines = [
        tables.Entry(f"{size} points, {judge.id}", {"judge": judge.id}, judge.about)
        for judge, size in sizes.items()
    ]
    title = f"{name}: range of the scale, {next(iter(points)).model}"
    table = tables.TableSpec(
        f"{title}: means over aspects; n counts aspects, or chains. The tables of "
        "every aspect count texts and pairs.",
        columns,
        [
            tables.RowGroup(
                where={
                    "aspect": tables.AVERAGE,
                    "criterion": rows.names("criterion")[0],
                },
                lines=lines,
            )
        ],
        source=SOURCE,
        counts=True,
        code=False,
    ).filled((), rows)
    changes = []
    for at, column in enumerate(columns):  # on the narrowest and widest scale with it
        each = zip(table.bodies[0].lines, sizes.values(), strict=True)
        known = [(row, size) for line, size in each if (row := line.cells[at].row)]
        ends = ", ".join(
            f"{figures(row)} on {size}" for row, size in known[:1] + known[1:][-1:]
        )
        changes.append(f"{column.text}: {ends}.")
    summary = (
        "One model with one prompt form, on scales of "
        f"{listed(list(dict.fromkeys(sizes.values())))} points. {' '.join(changes)}"
    )
    return tables.chart(title, summary, table, axis=RANGE_AXIS)


# --- constructed sets: graded sets and error-injection chains -------------------------


def _constructed(
    report: Report,
    rows: Rows,
    sets: Sequence[JudgedSet],
    name: str,
    measure: str,
    *notes: str,
) -> Table:
    """Return a statistic of every judge on each set of texts, and its means over
    these.
    """
    (level,) = rows.names("level")
    columns = [
        Column(judged, cell, SETS[level], where={"aspect": judged, "cell": cell})
        for judged, cell in sets
    ]
    columns += [
        Column("all", word, "Mean", where={"aspect": tables.AVERAGE, "criterion": word})
        for word in rows.where(aspect=tables.AVERAGE, statistic=measure).names(
            "criterion"
        )
    ]
    caption = f"{name}; {tables.statistic_caption(measure)}."
    spec = tables.TableSpec(
        caption, columns, statistic=measure, level=level, notes=notes, source=SOURCE
    )
    return spec.filled(report.judges, rows)


def graded_sets(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield how well each judge finds the ratings of each set, and its classes,
    folded.
    """
    rows = rows.where(level=GLOBAL)
    sets = _sets(rows)
    if not sets:
        return
    name = f"{dataset.name}, {EVERY_RATING}"
    built = built_sets(report.rows("construction", dataset.id))
    read = [cell for _, cell in sets if cell not in built]
    notes = (
        [f"{NOTE}; the section Construction shows how."]
        if len(read) < len(sets)
        else []
    )
    notes += [f"Ratings that came with the texts: {', '.join(read)}."] if read else []
    found, near = (
        _constructed(report, rows, sets, name, measure, *notes)
        for measure in ("kappa_linear", "cem_ord")
    )
    yield tables.chart(
        f"{name}: ratings that each judge finds",
        "Agreement of a judge's classes with the ratings that the texts were made to "
        "have.",
        found,
        axis=f"{label('kappa_linear')}, with 95 % interval; the line is chance",
    )
    yield near
    yield from tables.mean_differences(report, rows, ["kappa_linear"], name, GLOBAL)
    counts = rows.where(statistic="class_count")
    matrices = []
    for judge, (judged, cell) in product(report.judges, sets):
        every = counts.where(judged=judged, cell=cell)
        mine = every.where(judge=judge.id)
        if len(mine) and not judge.control:
            # controls give the top and the bottom, so the largest class is in some row
            size = max(max(row.k, row.k_b) for row in every)
            caption = (
                f"{dataset.name}, {cell}, {report.aspect(judged)}: ratings (rows) and "
                f"the classes of {judge.id} (columns)."
            )
            matrices.append(
                tables.class_table(mine, size, caption, "Rating", "the rating")
            )
    yield Fold(f"{name}, the classes of each judge", matrices)


def chains(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield the accuracies on chains, the effect of ties, and accuracies at larger
    distances.
    """
    rows = rows.where(level=LOCAL)
    sets = _sets(rows.where(statistic=STRICT))
    if not sets:
        return
    name = f"{dataset.name}, error-injection chains"
    table = partial(_constructed, report, rows, sets, name)
    yield tables.chart(
        f"{name}: adjacent texts in the right order",
        "How often a judge gives the higher score to the text with one error less; a "
        "tie is wrong.",
        table(STRICT, ROW_NOTE),
        line=0.5,
        axis=DISTANCE_AXIS,
    )
    for judged_set in sets:
        yield from _by_distance(report, dataset, rows, judged_set)
    yield from tables.mean_differences(report, rows, [STRICT], name, LOCAL)
    yield Fold(
        f"{name}: ties and missing scores", [table(measure) for measure in LENIENT]
    )


def _sets(rows: Rows) -> list[JudgedSet]:
    built = rows.frame[rows.frame["perturbation"] != ""].drop_duplicates(
        ["judged", "cell"]
    )
    return list(zip(built["judged"], built["cell"], strict=True))


def _by_distance(
    report: Report, dataset: Dataset, rows: Rows, judged_set: JudgedSet
) -> Iterator[Figure | Table]:
    """Yield the accuracy on texts that are k errors apart.

    Then that of judges that compare and judges that score, where there are both. Judges
    of the models that compare come first among those that score; controls are in the
    first figure alone.
    """
    judged, cell = judged_set
    name, aspect = f"{dataset.name}, {cell}", report.aspect(judged)
    caption = (
        f"{name}: share ordered correctly, by number of errors between the two texts."
    )
    pairs = report.rows("pairwise", dataset.id).where(statistic=COMPARED)
    compared, scored = (
        table.where(perturbation=cell.partition(".")[0])  # in any degree
        for table in (pairs, rows.where(statistic=BY_DISTANCE))
    )
    votes, scores = (table.where(judged=judged).defined for table in (compared, scored))
    if len(scores):
        names = {judge: tables.labelled(judge) for judge in report.judges_of(scored)}
        title = f"{name}: {aspect}, texts further apart"
        yield _distance_figure(title, caption, "Accuracy", {"": names}, [*scores])
    comparing, scoring = (
        [judge for judge in report.judges_of(table) if not judge.control]
        for table in (votes, scores)
    )
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
                    one: f"{one.id} (compares)" for one in comparing
                },
                "Judges that score": {one: f"{one.id} (scores)" for one in scoring},
            },
            [*votes, *scores],
        )


def _distance_figure(
    title: str, caption: str, subject: str, judges: Judges, known: Sequence[Row]
) -> Figure | Table:
    """Return accuracies by the number of errors between two texts; `known` has all
    rows.
    """
    steps = sorted({row.k for row in known})
    at = {(row.judge, row.k): row for row in known}

    def cells(judge: Judge) -> list[Cell]:
        return [estimate(at.get((judge.id, k)), counts=True) for k in steps]

    bodies, names = list[Body](), dict[str, str]()
    summary = f"{subject} by the number of errors between two texts."
    for heading, of_heading in judges.items():
        bodies += tables.judge_bodies(of_heading, cells, heading)
        of_judges = {judge.id: name for judge, name in of_heading.items()}
        names |= of_judges
        rows = [row for row in known if row.judge in of_judges]
        distances = [row.k for row in rows]
        each = []
        for k in dict.fromkeys((min(distances), max(distances))):
            best = tables.leaders(of_heading, (row for row in rows if row.k == k))
            who = listed([row.judge for row in best])
            each.append(f"at {plural(k, 'error')} is {figures(best[0])} ({who})")
        group = f" of the {heading[0].lower()}{heading[1:]}" if heading else ""
        summary += f" The highest{group} {', '.join(each)}."
    compared = any(row.statistic == COMPARED for row in known)
    source = f"tables/pairwise.csv and {SOURCE}" if compared else SOURCE
    columns = [Column(plural(k, "error")) for k in steps]
    table = Table(caption, "Judge", columns, bodies, source=source)
    return tables.chart(
        title, summary, table, line=0.5, axis=DISTANCE_AXIS, across=True, names=names
    )
