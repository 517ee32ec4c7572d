"""Labels: the share of each kind of text that a judge finds, and how it labels the
others.
"""

from collections.abc import Iterator, Sequence

from judgescope.methods.claims import base
from judgescope.methods.claims.labels import LABEL_STATISTIC
from judgescope.methods.labels import UNREAD_LABEL
from judgescope.report import tables
from judgescope.report.cells import words_cell
from judgescope.report.class_tables import class_table
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
    columns_of,
    judgments_page,
)
from judgescope.report.headline import PERSON
from judgescope.report.rating_grids import grids_of
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRows
from judgescope.report.sections.first import every_picture
from judgescope.report.words import known_names, label, plural

COMPARED = LABEL_STATISTIC


def left_out(report: Report) -> Iterator[PageBlock]:
    """Yield what methods leave out, and why: aspects with unordered labels."""
    for line in report.spec.left_out:
        yield Paragraph(f"{line[0].upper()}{line[1:]}.")


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield per aspect a table of judges, and their confusion matrices."""
    for aspect in dataset.aspects:
        of_aspect = rows.where(judged=aspect)
        labels = dataset.labels_on(aspect)
        if labels and len(of_aspect):
            yield from _aspect(report, dataset, aspect, of_aspect, labels)


def _aspect(
    report: Report,
    dataset: ShownDataset,
    aspect: str,
    rows: ReportRows,
    labels: list[str],
) -> Iterator[PageBlock]:
    """Yield the pictures, tables and ranks of one aspect."""
    name = f"{dataset.name}, {report.aspect(aspect)}"
    yield from every_picture(report, dataset, aspect, base.LABELS)
    yield from _misses(report, dataset, aspect, labels)
    yield _found_shares(report, dataset, aspect, rows, labels)
    counts = rows.where(statistic="class_count")
    matrices = []
    for judge in report.judges_of(counts):
        matrices.append(
            _matrix(
                report, dataset, judge, aspect, labels, counts.where(judge=judge.id)
            )
        )
    title = f"{name}, people's labels and each judge's"
    yield Fold(dataset.rated_by.in_words(title), matrices)
    compared = report.rows("comparison", dataset.id).where(judged=aspect)
    tested = [*compared.names("judge"), *compared.names("judge_b")]
    judges = report.judges_named(tested)
    if len(judges) > 1:
        yield _ranks(name, aspect, judges, compared)
    yield from tables.matrix(
        compared, judges, COMPARED, name, aspect=aspect, level="pooled"
    )


def _found_shares(
    report: Report,
    dataset: ShownDataset,
    aspect: str,
    rows: ReportRows,
    labels: list[str],
) -> PageFigure | PageTable:
    """The share of the texts of each label that each judge finds."""
    name = f"{dataset.name}, {report.aspect(aspect)}"
    statistics = [
        "balanced_accuracy",
        "label_accuracy",
        "f1",
        "f1_macro",
        "mcc",
        "kappa_nominal",
        "ac1",
    ]
    # Shares of texts of one of two labels; no statistic of three labels or more.
    shares = ("tnr", "tpr", "precision", "npv")
    if len(labels) == 2:
        statistics = [*shares, *statistics]
    shown = known_names(statistics, {*rows.names("statistic")})
    spec = tables.TableSpec(
        f"{name}: labels {', '.join(labels)}; the last label is the positive class.",
        tables.statistic_columns(shown, aspect=aspect),
        level="pooled",
        source="tables/labels.csv",
        counts=True,
    )
    title = f"{name}: people's labels that each judge finds"
    return tables.chart(
        dataset.rated_by.in_words(title),
        "The share of the texts of each label that a judge finds, and the mean of "
        "these shares.",
        spec.filled([*report.judges, PERSON], rows),
        line=0.5,
        axis="share of texts found, with 95 % interval",
        statistics=[COMPARED, *shares[:2]],
    )


def _ranks(
    name: str, aspect: str, judges: Sequence[ShownJudge], compared: ReportRows
) -> PageTable:
    """The ranks of judges; the first measure decides them."""
    columns = []
    for measure in (COMPARED, "label_accuracy"):
        rank = TableColumn(
            label(measure), statistic=f"rank_{measure}", where={"aspect": aspect}
        )
        columns.append(rank)
    return tables.TableSpec(
        f"{name}: ranks, with the 95 % interval of the rank; judges that share a "
        "letter do not differ significantly (paired permutations, of accuracy "
        "McNemar's test by source; Holm).",
        columns,
        level="pooled",
        source="tables/comparison.csv",
        cell=tables.rank_cell,
    ).filled(judges, compared)


def _misses(
    report: Report, dataset: ShownDataset, aspect: str, labels: list[str]
) -> Iterator[Fold]:
    """Yield, of two labels, the texts of the first that judges call the second, by id.

    Up to twenty a judge; the explorer has all.
    """
    grids = grids_of(report, dataset)
    if grids is None or len(labels) != 2:
        return
    ratings = grids.ratings(aspect)
    bodies = []
    most_misses = 20
    for judge in report.real_judges:
        if report.spec.judges[judge.id].thresholded:
            continue
        scores = grids.scores.get((judge.id, aspect), {})
        missed = sorted(
            target
            for target, score in scores.items()
            if score == 1 and target in ratings and not any(ratings[target])
        )
        where = {"dataset": dataset.id, "judge": judge.id, "aspect": aspect}
        lines = []
        for target in missed[:most_misses]:
            href = judgments_page(**where, perturbation="systems", target=target)
            lines.append(TableLine(target, [words_cell(labels[1])], href=href))
        if lines:
            of_all = f"{len(lines)} of {plural(len(missed), 'miss', 'misses')}"
            bodies.append(Body(lines, f"`{judge.id}`: {of_all}"))
    if bodies:
        caption = f"Texts that people label “{labels[0]}” and the judge does not."
        caption = dataset.rated_by.in_words(caption)
        columns = columns_of(["The judge says"], style="words")
        table = PageTable(caption, "Text", columns, bodies)
        yield Fold(f"{dataset.name}, {report.aspect(aspect)}: the misses", [table])


def _matrix(
    report: Report,
    dataset: ShownDataset,
    judge: ShownJudge,
    aspect: str,
    labels: list[str],
    rows: ReportRows,
) -> PageTable:
    """Return a judge's confusion matrix; a count leads to its texts.

    Where scores are not labels (a threshold, the control length), to all texts of the
    line.
    """
    where = {
        "dataset": dataset.id,
        "judge": judge.id,
        "aspect": aspect,
        "perturbation": "systems",
    }
    unread = []
    if any(row.k_b == len(labels) + 1 for row in rows):
        unread.append(UNREAD_LABEL)

    def link(k: int, k_b: int) -> str:
        if k_b > len(labels):
            return ""
        cell = {**where, "people": str(k - 1)}
        if not report.spec.judges[judge.id].thresholded:
            cell["score"] = str(k_b - 1)
        return judgments_page(**cell)

    given = dataset.rated_by.label
    return class_table(
        rows,
        len(labels),
        f"{dataset.name}, {report.aspect(aspect)}: {given}s (rows) and those of "
        f"{judge.id} (columns).",
        dataset.rated_by.head,
        given,
        names=labels,
        more=unread,
        link=link,
    )
