"""Texts of known quality: perturbed ones, planned faults, and how graded sets were
built.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgescope.report import tables
from judgescope.report.cells import (
    ReportCell,
    count_cell,
    dollars_cell,
    estimate,
    estimates,
)
from judgescope.report.class_tables import class_columns, counted
from judgescope.report.elements import (
    Body,
    Link,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import count, plural, spoken
from judgescope.statistics.registry import names_of_group

ANCHORS = (
    "anchors_above_lower",
    "anchors_above_same",
    "anchors_below_same",
    "anchors_below_higher",
)
SOURCE = "tables/construction.csv"


def perturbations(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield the counts of outcomes, the edits and the edit distance."""
    yield from _improved(dataset, rows)
    cells = rows.names("cell")
    lines = dict[str, list[tables.Entry]]()
    for perturbation in report.perturbations:
        if perturbation.cell in cells:
            entry = tables.Entry(
                perturbation.name, {"cell": perturbation.cell}, perturbation.degree
            )
            lines.setdefault(f"{perturbation.level} level", []).append(entry)
    columns = []
    for outcome in ("ok", "short", "impossible", "failed"):
        columns.append(
            TableColumn(outcome, group="Texts", statistic=f"share_{outcome}")
        )
    columns += tables.statistic_columns(("edits", "edit_distance"))
    table = tables.TableSpec(
        f"{dataset.name}: number of texts by outcome, and the size of the "
        "perturbation.",
        columns,
        [tables.RowGroup(level, lines=of_level) for level, of_level in lines.items()],
        corner="Perturbation",
        code=False,
        cell=_outcome,
    ).filled((), rows)
    yield tables.chart(
        f"{dataset.name}: texts that were perturbed as planned",
        "The fewer texts are perturbed as planned, the weaker the evidence on "
        "discernment.",
        table,
        line=1,
        axis="share of texts, with 95 % interval; the line marks 100 %",
        statistics=["share_ok"],
    )
    for row in rows.where(statistic="share_unchecked").defined:
        name = report.perturbation(row.perturbation)
        checked = f"{round((row.value or 0) * row.n)} of {row.n} texts"
        yield Paragraph(
            f"{name}: kind of change not checked in {checked}: {row.note}. Numbers "
            "about these texts say so in their notes."
        )
    if report.spec.texts:
        title = f"See texts of {dataset.name}, with their edits marked"
        yield Link(title, f"texts.html#{dataset.id}")


def _improved(dataset: ShownDataset, rows: ReportRows) -> Iterator[Paragraph]:
    ok = rows.find("", "share_ok", cell="original")
    kept = rows.find("", "share_kept", cell="original")
    failed = rows.find("", "share_failed", cell="original")
    if ok is None:
        return
    parts = [
        f"Originals of {dataset.name}: a model improved {_number(ok)} of {ok.n} "
        "references"
    ]
    for row, fate in ((failed, "left out"), (kept, "used unchanged")):
        if _number(row):
            parts.append(f"{_number(row)} could not be improved and are {fate}")
    yield Paragraph(f"{'; '.join(parts)}.")


def _number(share: ReportRow | None) -> int:
    if share:
        return round((share.value or 0) * share.n)
    return 0


def _outcome(row: ReportRow | None) -> ReportCell:
    """Return how many texts of all had an outcome, and why; the estimate of a size."""
    if row is None or row.value is None or not row.statistic.startswith("share_"):
        return estimate(row)
    notes: tuple[str, ...] = ()
    if row.note:
        notes = (spoken(row.note),)
    cell = count_cell(_number(row))
    text = f"{cell.text} of {count(row.n)}"
    return replace(cell, text=text, notes=notes, sort=row.value, row=row)


# --- planned faults -------------------------------------------------------------------


def faults(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield how many planned faults every lexical judge misses, and who sees which."""
    all_kinds = "all"
    kinds = [kind for kind in rows.names("criterion") if kind != all_kinds]
    kinds.append(all_kinds)
    every = "every-lexical-judge"
    missed = {
        kind: rows.find(every, "miss_rate", level="pooled", criterion=kind)
        for kind in kinds
    }
    of_all = missed[all_kinds]
    if of_all is not None and of_all.value is not None:
        number = _number(of_all)
        verb = "is" if number == 1 else "are"
        yield Paragraph(
            f"{count(number)} of {plural(of_all.n, 'planned fault')} {verb} missed by "
            "every lexical judge.",
            style="finding",
        )
    sizes: dict[str, set[int]] = {}
    for kind in kinds:
        sizes[kind] = {row.n for row in rows.where(criterion=kind)}
    counts = max(map(len, sizes.values())) > 1
    lines: dict[str, list[TableLine]] = {}
    for judge in report.judges:  # controls are last
        for line in _fault_lines(report, dataset, rows, judge, kinds, counts):
            lines.setdefault("controls" if judge.control else "", []).append(line)
    bodies = [Body(of_style, style=style) for style, of_style in lines.items()]
    if any(missed.values()):
        cells = estimates(missed.values(), counts=counts)
        total = TableLine("missed by every lexical judge", cells)
        bodies.append(Body([total], style="sums"))
    columns = []
    for kind in kinds:
        head = spoken(kind) if kind != all_kinds else "all kinds"
        note = "" if counts else f"n = {count(*sizes[kind])}"
        columns.append(TableColumn(head, note=note))
    caption = f"{dataset.name}: share of planned faults noticed, by kind of fault."
    yield tables.chart(
        f"{dataset.name}: planned faults that each judge notices",
        "A judge that notices every fault is at 100 %; a control shows what is noticed "
        "by chance.",
        PageTable(caption, "Judge", columns, bodies),
        line=1,
        axis="share of faults noticed, with 95 % interval; the line marks 100 %",
    )


def _fault_lines(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    judge: ShownJudge,
    kinds: Sequence[str],
    counts: bool,
) -> Iterator[TableLine]:
    """Yield a judge's rows: one for all aspects that it scores alike, else one for
    each.
    """
    alike: dict[tuple[float | None, ...], list[str]] = {}
    numbers: dict[tuple[float | None, ...], list[ReportRow | None]] = {}
    for aspect in dataset.aspects:
        noticed = []
        for kind in kinds:
            noticed.append(
                rows.find(
                    judge.id,
                    "detection_rate",
                    aspect=aspect,
                    level="pooled",
                    criterion=kind,
                )
            )
        if any(noticed):
            values = tuple(row.value if row else None for row in noticed)
            alike.setdefault(values, []).append(aspect)
            numbers[values] = noticed
    for values, aspects in alike.items():
        if len(alike) == 1 and len(aspects) > 1:
            about = "the same on all aspects"
        else:
            about = ", ".join(map(report.aspect, aspects))
        cells = estimates(numbers[values], counts=counts)
        yield TableLine(judge.id, cells, about, "control" if judge.control else "")


# --- construction ---------------------------------------------------------------------


def built_sets(rows: ReportRows) -> set[str]:
    """Return the graded sets that a study built; of others the number of errors is
    unknown.

    `rows` are a dataset's.
    """
    return {*rows.where(statistic="errors_mean").defined.names("cell")}


def construction(
    _: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageFigure | PageTable]:
    """Yield the ratings of graded sets, signs of their quality, and the cost of each
    step.
    """
    counts = rows.where(statistic="class_count")
    sets = counts.names("cell")
    of_sets = rows.frame.drop_duplicates("cell").set_index("cell")[["judge", "judged"]]
    by_set = {}
    for name, judge, judged in of_sets.loc[sets].itertuples(name=None):
        by_set[name] = tables.Entry(
            name, {"cell": name, "judge": judge, "aspect": judged}
        )
    if sets:
        yield _rating_figure(dataset, rows, list(by_set.values()))
    known = built_sets(rows)
    built = [by_set[name] for name in sets if name in known]
    if built:
        yield _candidates(dataset, rows, built)
    with_anchors = rows.where(statistic=ANCHORS).names("cell")
    anchored = [by_set[name] for name in sets if name in with_anchors]
    if anchored:
        yield _anchors(dataset, rows, anchored)
    if len(rows.where(statistic="replies")):
        yield _costs(dataset, rows)


def _rating_figure(
    dataset: ShownDataset, rows: ReportRows, sets: Sequence[tables.Entry]
) -> PageFigure | PageTable:
    """The texts of each rating, and the errors in them."""
    counts = rows.where(statistic="class_count")

    def cell(row: ReportRow | None) -> ReportCell:
        if row and row.statistic != "class_count":
            return estimate(row)
        return counted(row)

    table = tables.TableSpec(
        f"{dataset.name}: texts of each rating, from the lowest, and the errors in "
        "them.",
        [
            *class_columns(counts, "Texts"),
            *class_columns(counts, "Errors in the mean", "errors_mean"),
        ],
        [tables.RowGroup(lines=sets)],
        source=SOURCE,
        corner="Graded set",
        cell=cell,
    ).filled((), rows)
    return tables.chart(
        f"{dataset.name}: errors in the texts of each rating",
        "Class 1 is the lowest rating: the higher the class, the fewer errors there "
        "should be.",
        table,
        axis="errors in a text on average, with 95 % interval",
        statistics=["errors_mean"],
    )


def _candidates(
    dataset: ShownDataset, rows: ReportRows, sets: Sequence[tables.Entry]
) -> PageTable:
    columns = [
        TableColumn("Chosen", statistic="share_chosen"),
        TableColumn("Unresolved", statistic="share_unresolved"),
        TableColumn("Failed", statistic="share_failed"),
        TableColumn("Unanswered", statistic="share_unanswered"),
        TableColumn("Several ratings fit equally", statistic="ratings_tied"),
    ]
    note = (
        "Unresolved: the text ties with every anchor, or no comparison with the "
        "anchors of one of the ratings has an answer. Failed: the model's text is "
        "unusable. Other candidates are surplus or duplicates. Unanswered: comparisons "
        "in which a reply has no verdict."
    )
    return tables.TableSpec(
        f"{dataset.name}: outcomes of the candidates.",
        columns,
        [tables.RowGroup(lines=sets)],
        notes=[note],
        source=SOURCE,
        corner="Graded set",
        counts=True,
    ).filled((), rows)


def _anchors(
    dataset: ShownDataset, rows: ReportRows, sets: Sequence[tables.Entry]
) -> PageTable:
    comparator = "comparator_accuracy"
    columns = tables.statistic_columns(ANCHORS, "Texts")
    for pairs, title in (
        ("neighbours", "Anchors of neighbouring ratings"),
        ("all", "Anchors of any two ratings"),
    ):
        column = TableColumn(
            title,
            group="The comparator is right",
            statistic=comparator,
            where={"level": pairs},
        )
        columns.append(column)

    def cell(row: ReportRow | None) -> ReportCell:
        return estimate(row, counts=row is not None and row.statistic == comparator)

    note = (
        "Ideally, the outer two columns of the texts show 100 % and the inner two are "
        "equal. The comparator is right if it names the better anchor in both orders."
    )
    return tables.TableSpec(
        f"{dataset.name}: the chosen texts among the anchors, and the comparator on "
        "these.",
        columns,
        [tables.RowGroup(lines=sets)],
        notes=[note],
        source=SOURCE,
        corner="Graded set",
        cell=cell,
    ).filled((), rows)


def _costs(dataset: ShownDataset, rows: ReportRows) -> PageTable:
    # No step of the construction repeats a prompt that a cache would hold.
    usage = []
    for name in names_of_group("usage"):
        if name != "cached_tokens":
            usage.append(name)
    lines = []
    for step in rows.where(statistic="replies"):
        of_step = rows.where(judge=step.judge, perturbation=step.perturbation)
        price = of_step.where(statistic="usd").first
        cells = [ReportCell(step.judge)]
        cells += [count_cell(round(of_step.total(name))) for name in usage]
        cells.append(dollars_cell(price.value if price else None))
        lines.append(TableLine(f"{step.form}: {step.perturbation}", cells))
    columns = columns_of(["Model", *map(spoken, usage), "usd"])
    caption = f"{dataset.name}: cost of each step of the construction, by model."
    return PageTable(caption, "Step", columns, [Body(lines)], source=SOURCE, code=False)
