"""Texts of known quality: perturbed ones, planned faults, and how graded sets were
built.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from judgescope.report import tables
from judgescope.report.cells import Cell, count_cell, dollars_cell, estimate
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Figure,
    Line,
    Link,
    Table,
    Text,
)
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import count, plural, spoken

OUTCOMES = ("ok", "short", "impossible", "failed")
SIZES = ("edits", "edit_distance")
ALL, EVERY = "all", "every-lexical-judge"
ANCHORS = (
    *("anchors_above_lower", "anchors_above_same"),
    *("anchors_below_same", "anchors_below_higher"),
)
COMPARATOR = "comparator_accuracy"
ANCHOR_PAIRS = {
    "neighbours": "Anchors of neighbouring ratings",
    "all": "Anchors of any two ratings",
}
CANDIDATES = {
    "share_chosen": "Chosen",
    "share_unresolved": "Unresolved",
    "share_failed": "Failed",
    "share_unanswered": "Unanswered",
    "ratings_tied": "Several ratings fit equally",
}
USAGE = ("replies", "prompt_tokens", "completion_tokens", "reasoning_tokens")
SOURCE = "tables/construction.csv"
LEAD = (
    "How texts with known quality were made for this study. A graded set has texts of "
    "every rating: errors are put into references, and a text's rating follows from "
    "their number or from comparing it with anchors, texts on whose rating people (and "
    "a judge) agree. The texts of an error-injection chain have one more error each. "
    "No number here is about a judge."
)
CANDIDATE_NOTE = (
    "Unresolved: the text ties with every anchor, or no comparison with the anchors of "
    "one of the ratings has an answer. Failed: the model's text is unusable. Other "
    "candidates are surplus or duplicates. Unanswered: comparisons in which a reply "
    "has no verdict."
)
ANCHOR_NOTE = (
    "Ideally, the outer two columns of the texts show 100 % and the inner two are "
    "equal. The comparator is right if it names the better anchor in both orders."
)


@tables.section_of(
    *("Data quality", 10, "perturbations", "Perturbations"),
    "Every perturbed text differs from its original. Short means that fewer edits took "
    "effect than planned, impossible that the text offers no place for the "
    "perturbation.",
)
def perturbations(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield the counts of outcomes, the edits and the edit distance."""
    yield from _improved(dataset, rows)
    cells, lines = rows.names("cell"), dict[str, list[tables.Entry]]()
    for one in report.perturbations:
        if one.cell in cells:
            entry = tables.Entry(one.name, {"cell": one.cell}, one.degree)
            lines.setdefault(f"{one.level} level", []).append(entry)
    table = tables.TableSpec(
        f"{dataset.name}: number of texts by outcome, and the size of the "
        "perturbation.",
        [
            *(Column(one, group="Texts", statistic=f"share_{one}") for one in OUTCOMES),
            *tables.statistic_columns(SIZES),
        ],
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
    if report.spec.texts:
        title = f"See texts of {dataset.name}, with their edits marked"
        yield Link(title, f"texts.html#{dataset.id}")


def _improved(dataset: Dataset, rows: Rows) -> Iterator[Text]:
    ok, kept, failed = (
        rows.find("", f"share_{outcome}", cell="original")
        for outcome in ("ok", "kept", "failed")
    )
    if ok is None:
        return
    parts = [
        f"Originals of {dataset.name}: a model improved {_number(ok)} of {ok.n} "
        "references"
    ]
    for row, fate in ((failed, "left out"), (kept, "used unchanged")):
        if _number(row):
            parts.append(f"{_number(row)} could not be improved and are {fate}")
    yield Text(f"{'; '.join(parts)}.")


def _number(share: Row | None) -> int:
    return round((share.value or 0) * share.n) if share else 0


def _outcome(row: Row | None) -> Cell:
    """Return how many texts of all had an outcome, and why; the estimate of a size."""
    if row is None or row.value is None or row.statistic in SIZES:
        return estimate(row)
    notes = (spoken(row.note),) if row.note else ()
    cell = count_cell(_number(row))
    text = f"{cell.text} of {count(row.n)}"
    return replace(cell, text=text, notes=notes, sort=row.value, row=row)


# --- planned faults -------------------------------------------------------------------


@tables.section_of(
    *("Evidence", 100, "faults", "Planned faults"),
    "The authors of these texts planned a fault into some of them. A judge notices a "
    "fault when it scores the faulty text strictly below the clean text of the same "
    "item.",
)
def faults(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield how many planned faults every lexical judge misses, and who sees which."""
    kinds = [*(kind for kind in rows.names("criterion") if kind != ALL), ALL]
    missed = {
        kind: rows.find(EVERY, "miss_rate", level="pooled", criterion=kind)
        for kind in kinds
    }
    of_all = missed[ALL]
    if of_all is not None and of_all.value is not None:
        number = _number(of_all)
        verb = "is" if number == 1 else "are"
        yield Text(
            f"{count(number)} of {plural(of_all.n, 'planned fault')} {verb} missed by "
            "every lexical judge.",
            style="finding",
        )
    sizes = {kind: {*rows.where(criterion=kind).frame["n"]} for kind in kinds}
    counts = any(len(found) > 1 for found in sizes.values())
    lines: dict[str, list[Line]] = {}
    for judge in report.judges:  # controls are last
        for line in _fault_lines(report, dataset, rows, judge, kinds, counts):
            lines.setdefault("controls" if judge.control else "", []).append(line)
    bodies = [Body(of_style, style=style) for style, of_style in lines.items()]
    if any(missed.values()):
        cells = [estimate(row, counts=counts) for row in missed.values()]
        bodies.append(
            Body([Line("missed by every lexical judge", cells)], style="sums")
        )
    columns = [
        Column(
            spoken(kind) if kind != ALL else "all kinds",
            note="" if counts else f"n = {count(*sizes[kind])}",
        )
        for kind in kinds
    ]
    caption = f"{dataset.name}: share of planned faults noticed, by kind of fault."
    yield tables.chart(
        f"{dataset.name}: planned faults that each judge notices",
        "A judge that notices every fault is at 100 %; a control shows what is noticed "
        "by chance.",
        Table(caption, "Judge", columns, bodies),
        line=1,
        axis="share of faults noticed, with 95 % interval; the line marks 100 %",
    )


def _fault_lines(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    judge: Judge,
    kinds: Sequence[str],
    counts: bool,
) -> Iterator[Line]:
    """Yield a judge's rows: one for all aspects that it scores alike, else one for
    each.
    """
    aspects: dict[tuple[float | None, ...], dict[str, list[Row | None]]] = {}
    for aspect in dataset.aspects:
        noticed = [
            rows.find(
                judge.id,
                "detection_rate",
                aspect=aspect,
                level="pooled",
                criterion=kind,
            )
            for kind in kinds
        ]
        if any(noticed):
            values = tuple(row.value if row else None for row in noticed)
            aspects.setdefault(values, {})[aspect] = noticed
    for same in aspects.values():
        alike = len(aspects) == 1 and len(same) > 1
        about = (
            "the same on all aspects" if alike else ", ".join(map(report.aspect, same))
        )
        *_, last = same.values()
        cells = [estimate(row, counts=counts) for row in last]
        yield Line(judge.id, cells, about, "control" if judge.control else "")


# --- construction ---------------------------------------------------------------------


def built_sets(rows: Rows) -> set[str]:
    """Return the graded sets that a study built; of others the number of errors is
    unknown.

    `rows` are a dataset's.
    """
    return {*rows.where(statistic="errors_mean").defined.names("cell")}


@tables.section_of("Data quality", 20, "construction", "Construction", LEAD)
def construction(_: Report, dataset: Dataset, rows: Rows) -> Iterator[Figure | Table]:
    """Yield the ratings of graded sets, signs of their quality, and the cost of each
    step.
    """
    counts, known = rows.where(statistic="class_count"), built_sets(rows)
    sets = counts.names("cell")
    of_sets = rows.frame.drop_duplicates("cell").set_index("cell")[["judge", "judged"]]
    by_set = {
        name: tables.Entry(name, {"cell": name, "judge": judge, "aspect": judged})
        for name, judge, judged in of_sets.loc[sets].itertuples(name=None)
    }
    table_of = partial(tables.TableSpec, source=SOURCE, corner="Graded set")
    if sets:
        table = table_of(
            f"{dataset.name}: texts of each rating, from the lowest, and the errors in "
            "them.",
            [
                *tables.class_columns(counts, "Texts"),
                *tables.class_columns(counts, "Errors in the mean", "errors_mean"),
            ],
            [tables.RowGroup(lines=[*by_set.values()])],
            cell=lambda row: (
                estimate(row)
                if row and row.statistic != "class_count"
                else tables.counted(row)
            ),
        ).filled((), rows)
        yield tables.chart(
            f"{dataset.name}: errors in the texts of each rating",
            "Class 1 is the lowest rating: the higher the class, the fewer errors "
            "there should be.",
            table,
            axis="errors in a text on average, with 95 % interval",
            statistics=["errors_mean"],
        )
    if built := [by_set[name] for name in sets if name in known]:
        yield table_of(
            f"{dataset.name}: outcomes of the candidates.",
            [Column(title, statistic=name) for name, title in CANDIDATES.items()],
            [tables.RowGroup(lines=built)],
            notes=[CANDIDATE_NOTE],
            counts=True,
        ).filled((), rows)
    anchored = rows.where(statistic=ANCHORS).names("cell")
    if lines := [by_set[name] for name in sets if name in anchored]:
        columns, right = (
            tables.statistic_columns(ANCHORS, "Texts"),
            "The comparator is right",
        )
        columns += [
            Column(title, "", right, statistic=COMPARATOR, where={"level": pairs})
            for pairs, title in ANCHOR_PAIRS.items()
        ]
        yield table_of(
            f"{dataset.name}: the chosen texts among the anchors, and the comparator "
            "on these.",
            columns,
            [tables.RowGroup(lines=lines)],
            notes=[ANCHOR_NOTE],
            cell=lambda row: estimate(
                row, counts=row is not None and row.statistic == COMPARATOR
            ),
        ).filled((), rows)
    if len(rows.where(statistic="replies")):
        yield _costs(dataset, rows)


def _costs(dataset: Dataset, rows: Rows) -> Table:
    lines = []
    for step in rows.where(statistic="replies"):
        of_step = rows.where(judge=step.judge, perturbation=step.perturbation)
        cells = [count_cell(round(of_step.total(name))) for name in USAGE]
        price = of_step.where(statistic="usd").first
        cells = [Cell(step.judge), *cells, dollars_cell(price.value if price else None)]
        lines.append(Line(f"{step.form}: {step.perturbation}", cells))
    columns = [Column("Model"), *(Column(spoken(name)) for name in (*USAGE, "usd"))]
    caption = f"{dataset.name}: cost of each step of the construction, by model."
    return Table(caption, "Step", columns, [Body(lines)], source=SOURCE, code=False)
