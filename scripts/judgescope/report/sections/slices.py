"""On which part of the texts a judge does worse, and which labels judges doubt."""

from collections.abc import Iterator

from judgescope.report import tables
from judgescope.report.cells import estimate, estimates, figures, words_cell
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
    columns_of,
    judgments_page,
)
from judgescope.report.report import Report, ShownDataset, ids_of
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import (
    brief,
    known_names,
    label,
    p_value,
    plural,
    written,
)
from judgescope.report.worse_slices import (
    GAP,
    P_HOLM,
    SHOWN_FROM,
    SHRUNK,
    worse_slice,
)
from judgescope.statistics.doubt import expected_in_vain

LEAD = (
    "A slice is a value of a column of the sources, a third of the texts by length, or "
    "a system. Each is compared with the rest by the number that decides the judge's "
    "claim; a slice is named only if the difference holds for all slices together "
    "(Holm, .05). The worst of many looks worse than it is: shrunk numbers are without "
    "that luck."
)
SOURCE = "tables/slices.csv"


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield per aspect what is named, the number of each slice, and doubted labels."""
    of_judges = ReportRows(row for row in rows if row.judge != tables.PEOPLE)
    for aspect in of_judges.names("judged"):
        name = f"{dataset.name}, {report.aspect(aspect)}"
        of_aspect = of_judges.where(judged=aspect)
        sentences = [*_sentences(report, of_aspect)]
        yield Paragraph(f"{name}:", items=sentences)
        for warning in dict.fromkeys(_warnings(of_aspect)):
            yield Paragraph(warning, style="warning")
        yield from _tables(report, of_aspect, name, "")
        more = list[PageBlock]()
        for kind in (GAP, P_HOLM, SHRUNK):
            more += _tables(report, of_aspect, name, kind)
        if more:
            yield Fold(f"{name}: slice minus rest, p, shrunk numbers", more)
    of_people = rows.where(judge=tables.PEOPLE)
    for row in of_people.undefined:
        name = f"{dataset.name}, {report.aspect(row.judged)}"
        yield Paragraph(f"{name}: label or judge? {row.note}.")
    for aspect, doubted in of_people.defined.by("judged").items():
        yield from _doubts(report, dataset, doubted, aspect)


def _sentences(report: Report, rows: ReportRows) -> Iterator[str]:
    """Yield a sentence for each judge: its worst slice, or what would have shown."""
    for judge in report.judges_of(rows):
        mine = rows.where(judge=judge.id)
        few = sum(row.value is None and bool(row.slice) for row in mine)
        more = ""
        if few:
            more = f" {plural(few, 'slice')} too small to be compared."
        worst = worse_slice(mine)
        if worst is not None:
            moved = ""
            if worst.moved is not None and worst.moved.value is not None:
                moved = f", shrunk {brief(worst.moved.statistic, worst.moved.value)}"
            yield (
                f"`{judge.id}` is worse on {worst.slice}: {figures(worst.inside)}"
                f"{moved}; minus the rest {figures(worst.gap)} (Holm p "
                f"{p_value(worst.p_holm)}).{more}"
            )
            continue
        shown = [row for row in mine if row.statistic.startswith(SHOWN_FROM)]
        if shown and shown[0].value is not None:
            least = written(shown[0].statistic, shown[0].value)
            yield (
                f"`{judge.id}`: no slice is shown to be worse; in the most precise "
                f"slice a difference of {least} would show in 4 of 5 studies.{more}"
            )
        else:
            yield f"`{judge.id}`: no slice can be compared.{more}"


def _warnings(rows: ReportRows) -> Iterator[str]:
    for row in rows:
        for part in row.note.split("; ") if not row.slice else ():
            if part.startswith(("warning: ", "no slices of ")):
                text = part.removeprefix("warning: ")
                yield f"`{row.judge}`: {text}."


def _tables(
    report: Report, rows: ReportRows, name: str, kind: str
) -> Iterator[PageTable]:
    """Yield a table for each statistic: a line per slice by column, a column per
    judge.
    """
    for statistic in rows.names("statistic"):
        if not _is_of(statistic, kind):
            continue
        of_statistic = rows.where(statistic=statistic)
        by_slice = of_statistic.by("slice")
        lines: dict[str, list[TableLine]] = {}
        judges = known_names(ids_of(report.judges), of_statistic.names("judge"))
        for part in sorted(by_slice):
            cells = {row.judge: row for row in by_slice[part]}
            column, _, value = part.partition(": ")
            shown = estimates([cells.get(judge) for judge in judges])
            line = TableLine(value or "all texts", shown)
            lines.setdefault(column, []).append(line)
        bodies = [Body(each, column) for column, each in lines.items()]
        yield PageTable(
            f"{name}; {tables.statistic_caption(statistic)}.",
            "Slice",
            columns_of(judges),
            bodies,
            code=False,
            source=SOURCE,
        )


def _is_of(statistic: str, kind: str) -> bool:
    """Whether a statistic is of a kind of numbers; "": a slice's own."""
    if kind:
        return statistic.startswith(kind)
    return not statistic.startswith((GAP, P_HOLM, SHRUNK, SHOWN_FROM))


def _doubts(
    report: Report, dataset: ShownDataset, rows: ReportRows, aspect: str
) -> Iterator[PageBlock]:
    """Yield the list of texts whose label or rating judges doubt."""
    name = f"{dataset.name}, {report.aspect(aspect)}"
    lines = [_doubted(dataset, row) for row in rows]
    statistic = rows.names("statistic")[0]
    columns = [
        *columns_of([label(statistic)]),
        *columns_of(["Judges"]),
        TableColumn("They say", style="words"),
    ]
    table = PageTable(
        f"{name}; {tables.statistic_caption(statistic)}.",
        "Text",
        columns,
        [Body(lines)],
        source=SOURCE,
    )
    explanation = (
        "Judges err together: a label is not wrong because they say so. To rate again, "
        "mix these texts with as many drawn at random, without a mark. No label "
        "changes by itself; say beside numbers on changed labels that they are."
    )
    if statistic == "label_doubt":
        most_judges = max(row.n for row in rows)
        explanation = f"{expected_in_vain(most_judges)} {explanation}"
    title = f"{name}: label or judge? {plural(len(lines), 'text')} to look at"
    yield Fold(title, [Paragraph(explanation), table])


def _doubted(dataset: ShownDataset, row: ReportRow) -> TableLine:
    href = judgments_page(
        dataset=dataset.id,
        aspect=row.judged,
        perturbation="systems",
        target=row.target,
    )
    direction = row.note.removeprefix("likeliest other label: ")
    if not direction and row.value is not None:
        direction = "better" if row.value > 0 else "worse"
    cells = [estimate(row), words_cell(str(row.n)), words_cell(direction)]
    return TableLine(row.target, cells, href=href)
