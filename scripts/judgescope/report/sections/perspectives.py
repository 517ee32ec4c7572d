"""Perspectives (Hu et al. 2025): correlation with ratings, known ratings, and known orders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Unpack

import pandas as pd

from judgescope.report.cells import Cell, estimate, figures
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Figure,
    Fold,
    Heading,
    Section,
    Table,
)
from judgescope.report.report import Dataset, Judge, Report, in_group
from judgescope.report.rows import Place, Row, Rows
from judgescope.report.sections.perturbations import built_sets
from judgescope.report.tables import (
    AVERAGE,
    PEOPLE,
    Entry,
    RowGroup,
    TableSpec,
    aspect_groups,
    chart,
    class_columns,
    class_table,
    counted,
    judge_bodies,
    labelled,
    leaders,
    mean_differences,
    section_of,
    statistic_caption,
    with_criterion,
)
from judgescope.report.words import count, label, listed, plural, spoken
from judgescope.statistics.registry import statistic

TRADITIONAL, DIRECT, GLOBAL, LOCAL = "traditional", "direct", "global", "local"
MEASURES = {
    "pearson": TRADITIONAL,
    "spearman": TRADITIONAL,
    "kappa_linear": DIRECT,
    "cem_ord": DIRECT,
    "accuracy_adjacent": DIRECT,
    "accuracy_adjacent_half": DIRECT,
}
OF_ASPECTS = {**MEASURES, "accuracy_adjacent_complete": DIRECT, "tie_rate": DIRECT}
OVERALL = "overall"
QUESTION = "Does a judge find a known rating, and a known order (Hu et al. 2025)? "
SOURCE = "tables/perspectives.csv"
LEAD = (
    "Correlation with the mean rating of all texts is the traditional view. The direct view keeps "
    "the texts on whose rating all raters agree, and asks two separate questions: does the judge "
    "find that rating (κ, CEM-ORD), and does it order texts of one source that are rated "
    "differently? Judges that are good at one need not be good at the other. Error-injection "
    "chains, each text with one more error than the last, ask the second question without ratings; "
    "graded sets, texts of every rating made with more or fewer errors, ask the first."
)
EVERY_RATING = "graded sets"
NOTE = "The texts of a graded set were made to have every rating, so no person has to rate them"
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
    "Each text of a chain has one error more than the one before, so no person has to rate "
    "it. A judge is right if it scores the better of two neighbours higher; a tie counts as "
    "wrong here, as half right in the tables below."
)
DISTANCE_AXIS = "right, with 95 % interval; the line marks chance without ties"
Judges = Mapping[str, Mapping[Judge, str]]
"""Heading -> the judges under it, with their names in a figure."""
JudgedSet = tuple[str, str]
"""(Judged aspect, cell) of a set of texts."""


@in_group("Evidence", 60)
def section(report: Report) -> Section | None:
    """Return per dataset and wording the views, the ranks, the confusion of classes, folded.

    Means over several datasets come first.
    """
    section = section_of(report, "perspectives", "Perspectives", QUESTION + LEAD, _dataset)
    overall = report.rows("perspectives", OVERALL)
    if section is None or not len(overall):
        return section
    first: list[Block] = [Heading("All datasets", "perspectives-overall")]
    for criterion in overall.names("criterion"):
        first += _averages(report, overall, "Mean over datasets", criterion)
    return replace(section, blocks=[*first, *section.blocks])


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    views = rows.where(level=(TRADITIONAL, DIRECT))
    for criterion in views.where(aspect=AVERAGE).names("criterion"):
        name = with_criterion(dataset.name, criterion)
        part = views.where(criterion=criterion)
        yield from _averages(report, part, name, criterion)
        judges = [j for j in report.judges if len(part.where(judge=j.id, aspect=AVERAGE))]
        both = ("kappa_linear", "accuracy_adjacent")
        yield from mean_differences(report, part, both, dataset.name, DIRECT)
        aspects = [aspect for aspect in dataset.aspects if len(part.where(judged=aspect))]
        table = TableSpec(
            f"{dataset.name}: both views of every aspect; n counts texts, or pairs of texts.",
            _view_columns(OF_ASPECTS),
            aspect_groups(report, aspects),
            source=SOURCE,
            corner="Aspect and judge",
            counts=True,
        ).filled(report.judges, part)
        yield Fold(f"Every aspect of {name}", [table])
        yield from _classes(report, part, rows, judges, aspects, name)
    yield from _agreed_texts(report, dataset, views)
    yield from scale_ranges(report, dataset, rows)
    yield from graded_sets(report, dataset, rows)
    yield from chains(report, dataset, rows)


def _view_columns(
    measures: Mapping[str, str], prefix: str = "", **where: Unpack[Place]
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
        for name, level in measures.items()
    ]


def _averages(report: Report, rows: Rows, name: str, criterion: str) -> Iterator[Figure | Table]:
    """Yield the averages over aspects as a figure with its table, and the ranks by them.

    A measure that no judge has is named below the table, with the reason, in place of a column.
    """
    averages = rows.where(aspect=AVERAGE, criterion=criterion)
    measured, reasons = dict[str, str](), dict[str, list[str]]()
    for measure, level in MEASURES.items():
        of_measure = averages.where(statistic=measure, level=level)
        if len(of_measure.defined):
            measured[measure] = level
        else:
            why = "; ".join(map(spoken, filter(None, of_measure.names("note")))) or "not planned"
            reasons.setdefault(why, []).append(label(measure))
    notes = [f"No judge has {listed(names)}: {why}." for why, names in reasons.items()]
    captions = {"": "the mean over aspects in both views", "rank_": "ranks by these means"}
    means, ranks = (
        TableSpec(
            f"{name}: {about}.",
            _view_columns(measured or MEASURES, prefix, aspect=AVERAGE, criterion=criterion),
            notes=notes,
            source=SOURCE,
        ).filled(report.judges, rows)
        for prefix, about in captions.items()
    )
    text = "A judge that correlates with the ratings need not find them, nor order two texts."
    yield chart(f"{name}: both views", text, means, line=0, axis=RANGE_AXIS)
    yield ranks


def _agreed_texts(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Table]:
    """Yield how many texts have each rating, of those on which all raters agree."""
    counts = rows.where(judge=PEOPLE, statistic="class_count")
    if classes := class_columns(counts):
        yield TableSpec(
            f"{dataset.name}: texts on whose rating all raters agree, from the lowest rating.",
            classes,
            [
                RowGroup(
                    lines=[
                        Entry(report.aspect(one), {"aspect": one}) for one in counts.names("aspect")
                    ]
                )
            ],
            level=DIRECT,
            judge=PEOPLE,
            corner="Aspect",
            code=False,
            cell=counted,
        ).filled((), counts)


def _classes(
    report: Report,
    rows: Rows,
    of_dataset: Rows,
    judges: Iterable[Judge],
    aspects: Iterable[str],
    name: str,
) -> Iterator[Fold]:
    """Yield, folded, people's classes by those of every judge."""
    people = of_dataset.where(judge=PEOPLE)
    sizes = {
        aspect: max((row.k for row in people.where(aspect=aspect.partition(".")[0])), default=0)
        for aspect in aspects
    }
    for judge in judges:
        mine = rows.where(judge=judge.id, statistic="class_count")
        tables = [
            class_table(
                mine.where(judged=aspect),
                size,
                f"{name}, {report.aspect(aspect)}: people's classes (rows) and the judge's "
                "(columns).",
                "People",
                "people's class",
            )
            for aspect, size in sizes.items()
            if len(mine.where(judged=aspect))
        ]
        if tables:
            yield Fold(f"Classes of {judge.id}: {name}", tables)


# --- judges that differ in the range of their scale ------------------------------------------


def scale_ranges(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Figure | Table]:
    """Yield a figure, with its table, for all judges of one model and form on several scales."""
    cards = report.spec.judges
    alike: dict[str, list[Judge]] = {}
    for judge in report.judges:
        if dataset.id in cards[judge.id].points:
            alike.setdefault(cards[judge.id].alike, []).append(judge)
    means = rows.where(aspect=AVERAGE)
    for criterion, judges in product(means.names("criterion"), alike.values()):
        frame = means.where(criterion=criterion).defined.frame
        measured = pd.MultiIndex.from_frame(frame[["statistic", "level"]]).isin(RANGE_MEASURES)
        known = Rows(frame[measured])
        points = {
            judge: cards[judge.id].points[dataset.id]
            for judge in judges
            if judge.id in known.by("judge")
        }
        if len({*map(tuple, points.values())}) > 1:
            points = dict(sorted(points.items(), key=lambda one: one[1]))
            yield _range_figure(with_criterion(dataset.name, criterion), points, known)


def _range_figure(name: str, points: Mapping[Judge, list[int]], rows: Rows) -> Figure | Table:
    """Return the values of judges with so many `points`: one number, or one for each aspect."""
    columns = [
        Column(label(measure) + about, statistic=measure, where={"level": level})
        for (measure, level), about in RANGE_MEASURES.items()
        if len(rows.where(statistic=measure, level=level))
    ]
    sizes = {
        judge: " to ".join(count(each) for each in dict.fromkeys((of[0], of[-1])))
        for judge, of in points.items()
    }
    title = f"{name}: range of the scale, {next(iter(points)).model}"
    table = TableSpec(
        f"{title}: means over aspects; n counts aspects, or chains. The tables of every aspect "
        "count texts and pairs.",
        columns,
        [
            RowGroup(
                where={"aspect": AVERAGE, "criterion": rows.names("criterion")[0]},
                lines=[
                    Entry(f"{size} points, {judge.id}", {"judge": judge.id}, judge.about)
                    for judge, size in sizes.items()
                ],
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
        ends = ", ".join(f"{figures(row)} on {size}" for row, size in known[:1] + known[1:][-1:])
        changes.append(f"{column.text}: {ends}.")
    summary = (
        "One model with one prompt form, on scales of "
        f"{listed(list(dict.fromkeys(sizes.values())))} points. {' '.join(changes)}"
    )
    return chart(title, summary, table, line=0, axis=RANGE_AXIS)


# --- constructed sets: graded sets and error-injection chains --------------------------------


def constructed_table(
    report: Report,
    rows: Rows,
    sets: Sequence[JudgedSet],
    name: str,
    level: str,
    group: str,
    measure: str,
    notes: Sequence[str] = (),
) -> Table:
    """Return a statistic of every judge on each set of texts, and its means over these."""
    columns = [
        Column(judged, cell, group, where={"aspect": judged, "cell": cell}) for judged, cell in sets
    ]
    columns += [
        Column("all", word, "Mean", where={"aspect": AVERAGE, "criterion": word})
        for word in rows.where(aspect=AVERAGE, statistic=measure).names("criterion")
    ]
    caption = f"{name}; {statistic_caption(measure)}."
    spec = TableSpec(caption, columns, statistic=measure, level=level, notes=notes, source=SOURCE)
    return spec.filled(report.judges, rows)


def graded_sets(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield how well each judge finds the ratings of each set, and its classes, folded."""
    rows = rows.where(level=GLOBAL)
    sets = _sets(rows)
    if not sets:
        return
    name = f"{dataset.name}, {EVERY_RATING}"
    built = built_sets(report.rows("construction", dataset.id))
    read = [cell for _, cell in sets if cell not in built]
    notes = [f"{NOTE}; the section Construction shows how."] if len(read) < len(sets) else []
    notes += [f"Ratings that came with the texts: {', '.join(read)}."] if read else []
    found, near = (
        constructed_table(report, rows, sets, name, GLOBAL, "Graded set", measure, notes)
        for measure in ("kappa_linear", "cem_ord")
    )
    yield chart(
        f"{name}: ratings that each judge finds",
        "Agreement of a judge's classes with the ratings that the texts were made to have.",
        found,
        line=0,
        axis=f"{label('kappa_linear')}, with 95 % interval; the line is chance",
    )
    yield near
    yield from mean_differences(report, rows, ["kappa_linear"], name, GLOBAL)
    counts = rows.where(statistic="class_count")
    tables = []
    for judge, (judged, cell) in product(report.judges, sets):
        every = counts.where(judged=judged, cell=cell)
        mine = every.where(judge=judge.id)
        if len(mine) and not judge.control:
            # controls give the top and the bottom, so the largest class is in some row
            size = max(max(row.k, row.k_b) for row in every)
            caption = (
                f"{dataset.name}, {cell}, {report.aspect(judged)}: ratings (rows) and the classes "
                f"of {judge.id} (columns)."
            )
            tables.append(class_table(mine, size, caption, "Rating", "the rating"))
    yield Fold(f"{name}, the classes of each judge", tables)


def chains(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield the accuracies on chains, the effect of ties, and accuracies at larger distances."""
    rows = rows.where(level=LOCAL)
    sets = _sets(rows.where(statistic=STRICT))
    if not sets:
        return
    name = f"{dataset.name}, error-injection chains"

    table = partial(constructed_table, report, rows, sets, name, LOCAL, "Chain")
    yield chart(
        f"{name}: adjacent texts in the right order",
        "How often a judge gives the higher score to the text with one error less; a tie is wrong.",
        table(STRICT, [ROW_NOTE]),
        line=0.5,
        axis=DISTANCE_AXIS,
    )
    for judged_set in sets:
        yield from _further_apart(report, dataset, rows, judged_set)
        yield from scored_and_compared(report, dataset, rows, judged_set)
    yield from mean_differences(report, rows, [STRICT], name, LOCAL)
    yield Fold(f"{name}: ties and missing scores", [table(measure) for measure in LENIENT])


def _sets(rows: Rows) -> list[JudgedSet]:
    """Return the sets of constructed texts that the rows are about."""
    built = rows.frame[rows.frame["perturbation"] != ""].drop_duplicates(["judged", "cell"])
    return list(zip(built["judged"], built["cell"], strict=True))


def _further_apart(
    report: Report, dataset: Dataset, rows: Rows, judged_set: JudgedSet
) -> Iterator[Figure | Table]:
    """Yield the accuracy on texts that are k errors apart."""
    judged, cell = judged_set
    by_distance = rows.where(statistic=BY_DISTANCE, perturbation=cell.partition(".")[0])
    shown = [judge for judge in report.judges if len(by_distance.where(judge=judge.id))]
    known = [*by_distance.where(judged=judged, judge=tuple(judge.id for judge in shown)).defined]
    if known:
        title = f"{dataset.name}, {cell}: {report.aspect(judged)}, texts further apart"
        caption = (
            f"{dataset.name}, {cell}: share ordered correctly, by number of errors between the "
            "two texts."
        )
        names = {judge: labelled(judge) for judge in shown}
        yield distance_figure(title, caption, "Accuracy", {"": names}, known)


def scored_and_compared(
    report: Report, dataset: Dataset, rows: Rows, judged_set: JudgedSet
) -> Iterator[Figure | Table]:
    """Yield the figure of judges that compare and judges that score; none without both.

    `rows` are those of perspectives.csv on chains. Judges of the models that compare come
    first among those that score; controls are in the figure of all that score.
    """
    judged, cell = judged_set
    compared = report.rows("pairwise", dataset.id).where(statistic=COMPARED)
    scored = rows.where(statistic=BY_DISTANCE)
    of_set = {"perturbation": cell.partition(".")[0], "judged": judged}  # in any degree
    votes, scores = (table.where(**of_set).defined for table in (compared, scored))
    real = [judge for judge in report.judges if not judge.control]
    comparing, scoring = (
        [judge for judge in real if judge.id in table.names("judge")] for table in (votes, scores)
    )
    models = {judge.model for judge in comparing}
    scoring.sort(key=lambda judge: judge.model not in models)
    if comparing and scoring:
        name = f"{dataset.name}, {cell}"
        yield distance_figure(
            f"{name}: {report.aspect(judged)}, scored and compared",
            f"{name}: share ordered correctly, by number of errors between the two texts. n "
            "counts pairs of texts; a tie and a missing reply are wrong. The original is "
            "scored, but never compared.",
            "Accuracy of scores (original included) and of comparisons (original left out)",
            {
                "Judges that compare": {one: f"{one.id} (compares)" for one in comparing},
                "Judges that score": {one: f"{one.id} (scores)" for one in scoring},
            },
            [*votes, *scores],
        )


def distance_figure(
    title: str,
    caption: str,
    subject: str,
    judges: Judges,
    known: Sequence[Row],
) -> Figure | Table:
    """Return accuracies by the number of errors between two texts, and their table.

    `known` has the rows of all judges.
    """
    names = {judge.id: name for names in judges.values() for judge, name in names.items()}
    steps = sorted({row.k for row in known})
    at = {(row.judge, row.k): row for row in known}
    summary = f"{subject} by the number of errors between two texts. {_best(judges, known)}"

    def cells(judge: Judge) -> list[Cell]:
        return [estimate(at.get((judge.id, k)), counts=True) for k in steps]

    bodies: list[Body] = []
    for heading, of_heading in judges.items():
        bodies += judge_bodies(of_heading, cells, heading)
    compared = any(row.statistic == COMPARED for row in known)
    source = f"tables/pairwise.csv and {SOURCE}" if compared else SOURCE
    columns = [Column(plural(k, "error")) for k in steps]
    return chart(
        title,
        summary,
        Table(caption, "Judge", columns, bodies, source=source),
        line=0.5,
        axis=DISTANCE_AXIS,
        across=True,
        names=names,
    )


def _best(judges: Judges, known: Sequence[Row]) -> str:
    """Return who is best at the least and at the greatest distance, under each heading."""
    sentences = []
    for heading, of_heading in judges.items():
        ids = {judge.id for judge in of_heading}
        rows = [row for row in known if row.judge in ids]
        distances = [row.k for row in rows]
        each = []
        for k in dict.fromkeys((min(distances), max(distances))):
            best = leaders(of_heading, (row for row in rows if row.k == k))
            who = listed([row.judge for row in best])
            each.append(f"at {plural(k, 'error')} is {figures(best[0])} ({who})")
        group = f" of the {heading[0].lower()}{heading[1:]}" if heading else ""
        sentences.append(f"The highest{group} {', '.join(each)}.")
    return " ".join(sentences)
