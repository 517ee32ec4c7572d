"""The page of an audit as one HTML file: headline, picture, numbers, rows to read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judgescope.cli.audit.findings import AuditFindings
from judgescope.cli.audit.numbers import (
    about,
    counted,
    draw_lines,
    further_lines,
    gap_lines,
    limit_or_rival,
    place_lines,
)
from judgescope.cli.audit.slices import TableSlice
from judgescope.cli.audit.wording import (
    added,
    columns_read,
    supported,
    verdict_lines,
)
from judgescope.cli.terminal import plain
from judgescope.report.cells import NO_CELL, ReportCell, estimate, short, words_cell
from judgescope.report.claims import ReportedClaim
from judgescope.report.literature import line
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import class_counts, sentence
from judgescope.report.words import count, label, plural
from judgescope.statistics.verdict import Sign

if TYPE_CHECKING:
    from judgescope.report.elements import PageBlock, PageTable, Section

SIGNS = {
    Sign.HOLDS: "● holds",
    Sign.RULE: "◐ agrees, but something simpler may explain it",
    Sign.NOT_SHOWN: "○ not shown",
    Sign.FAILS: "✕ fails",
    Sign.NO_CLAIM: "– no claim",
}


def as_html(findings: AuditFindings) -> str:
    """Return the page as one HTML file, with the evidence of every claim."""
    from judgescope.report.html import page_from  # slow to import, as what it needs
    from judgescope.report.page import SCRIPTS, filled

    style_files = ("report/style.css", "report/audit.css")
    return page_from(
        filled().get_template("audit.html.jinja"),
        style_files,
        SCRIPTS,
        file=plain(findings.draft.table.file.name),
        headline=plain(findings.headline),
        deck=plain(deck(findings)),
        sections=list(sections(findings)),
        foot=findings.false_claims.sentence,
    )


def deck(findings: AuditFindings) -> str:
    """What was read, in one line: rows, people, judges, sources."""
    draft = findings.draft
    counts = findings.report.datasets[0].counts
    raters = max(map(len, draft.columns.ratings.values()), default=0)
    parts = [
        plural(len(draft.table.rows), "row"),
        plural(raters, "column") + " of people",
        plural(len(findings.judges), "judge"),
        plural(counts.items, "source"),
    ]
    if len(draft.columns.ratings) > 1:
        parts.append(f"{len(draft.columns.ratings)} aspects")
    return ", ".join(parts)


def sections(findings: AuditFindings) -> "Iterator[Section]":
    """Yield the sections of the page in their order."""
    from judgescope.report.elements import Facts, Paragraph, Section

    pictures = list(_pictures(findings))
    if pictures:
        yield Section("picture", "People and judge", "", pictures)
    if findings.judges:
        yield Section(
            "numbers", "Numbers", "", [_numbers(findings), *_published(findings)]
        )
    # The headline stands above them.
    sentences = list(verdict_lines(findings, sentence))[1:]
    if sentences:
        in_words: list[PageBlock] = [Paragraph(text) for text in sentences]
        yield Section("verdict", "In words", "", [*in_words, *_evidence(findings)])
    if len(findings.judges) > 1:
        blocks: list[PageBlock] = [_matrix(findings)]
        gaps = list(map(plain, gap_lines(findings)))
        if gaps:
            what = "Differences from the best judge, p after Holm's correction:"
            blocks.append(Paragraph(what, gaps))
        yield Section("judges", "Judges beside each other", "", blocks)
    yield from _rows(findings)
    yield from _slices(findings)
    further = [
        *place_lines(findings),
        *draw_lines(findings),
        *further_lines(findings),
    ]
    if further:
        yield Section(
            "further",
            "Also in this file",
            "",
            [Paragraph(plain(text)) for text in further],
        )
    yield Section("columns", "Columns", "", [Facts(columns_read(findings))])
    yield Section(
        "supports",
        "This file supports",
        "",
        [Paragraph(text) for text in supported(findings)],
    )
    yield Section(
        "adds",
        "One more column would add",
        "",
        [Paragraph(text) for text in added(findings)],
    )


def _published(findings: AuditFindings) -> "Iterator[PageBlock]":
    """Yield the measures of the literature, a line for each claim that has them."""
    from judgescope.report.elements import Paragraph

    lines = []
    for claim in findings.all_claims:
        published = line(findings.report, claim)
        if published:
            whose = (
                f"{findings.named(claim.judge)}, " if len(findings.judges) > 1 else ""
            )
            lines.append(plain(f"{whose}{claim.subject}: {published}"))
    # Lines of the literature's measures beside the numbers.
    most_published = 6
    if len(lines) > most_published:
        yield Paragraph("The evidence has the literature's measures.", style="small")
    elif lines:
        yield Paragraph("In the literature's measures:", lines, style="small")


def _evidence(findings: AuditFindings) -> "Iterator[PageBlock]":
    """Yield the evidence of each judge's claims, shown on demand."""
    from judgescope.report.elements import Fold
    from judgescope.report.sections.trust import evidence

    for judge in findings.judges:
        table = evidence(findings.report, findings.claims[judge.id])
        name = findings.named(judge.id)
        title = "Evidence" if len(findings.judges) == 1 else f"Evidence: {name}"
        yield Fold(plain(title), [table])


def _pictures(findings: AuditFindings) -> "Iterator[PageBlock]":
    """Yield a figure for each of the first aspects: judges, then people.

    All but the first are shown on demand: the numbers are not far down.
    """
    from judgescope.cli.audit.pictures import figure_of  # needs the report's tables
    from judgescope.report.elements import Fold

    unit = "pair" if findings.draft.columns.compared else "text"
    figures: list[PageBlock] = []
    # Aspects with a picture, and judges in it.
    most_pictures = 3
    for aspect in list(findings.draft.columns.ratings)[:most_pictures]:
        panels = [panel for panel in findings.crossings if panel.aspect == aspect]
        judged = [panel for panel in panels if panel.judge][:most_pictures]
        people = [panel for panel in panels if not panel.judge]
        if judged or people:
            name = plain(findings.report.aspect(aspect))
            named = []
            for panel in [*judged, *people]:
                named.append(replace(panel, judge=findings.named(panel.judge)))
            figures.append(figure_of(named, name, unit))
    yield from figures[:1]
    if figures[1:]:
        yield Fold(f"{len(figures) - 1} more aspects", figures[1:])


def _numbers(findings: AuditFindings) -> "PageTable":
    from judgescope.report.elements import Body, PageTable, TableLine, columns_of

    bodies = []
    several = len(findings.judges) > 1
    for judge in findings.judges:
        lines = []
        for claim in findings.claims[judge.id]:
            lines.append(
                TableLine(plain(about(findings.report, claim)), _cells(findings, claim))
            )
        bodies.append(Body(lines, plain(findings.named(judge.id)) if several else ""))
    columns = [
        *columns_of(("Number",)),
        *columns_of(("Outcome", "What it had to beat", "Counted"), style="words"),
    ]
    caption = "Every claim with its number, 95 % interval and strongest rule"
    return PageTable(caption, "About", columns, bodies, code=False, whole=True)


def _cells(findings: AuditFindings, claim: ReportedClaim) -> list[ReportCell]:
    report = findings.report
    number = estimate(claim.row)
    if number.row is not None:
        noted = (label(claim.row.statistic),)
        number = ReportCell(
            number.text,
            interval=number.interval,
            notes=noted,
            title=number.title,
            sort=number.sort,
            style=number.style,
            row=number.row,
        )
    beside = [counted(claim), class_counts(report, claim)]
    return [
        number,
        words_cell(SIGNS[claim.sign]),
        words_cell(limit_or_rival(claim)),
        words_cell(plain("; ".join(filter(None, beside)))),
    ]


def _matrix(findings: AuditFindings) -> "PageTable":
    """Judges by aspects: sign and number."""
    from judgescope.report.elements import Body, PageTable, TableLine, columns_of

    aspects: dict[str, str] = {}
    cells: dict[tuple[str, str], ReportCell] = {}
    for claim in findings.all_claims:
        if claim.kind in ("agreement", "labels", "pairs"):
            aspects.setdefault(
                claim.row.judged, findings.report.aspect(claim.row.judged)
            )
            symbol = SIGNS[claim.sign].partition(" ")
            cells[claim.judge, claim.row.judged] = ReportCell(
                f"{symbol[0]} {short(claim.row)}",
                title=symbol[2],
                sort=claim.row.value,
            )
    lines = []
    for judge in findings.judges:
        of_judge = [cells.get((judge.id, name), words_cell("")) for name in aspects]
        lines.append(TableLine(plain(findings.named(judge.id)), of_judge))
    caption = "Judges by aspects: ● holds, ◐ with a limit, ○ not shown, ✕ fails."
    heads = [plain(name) for name in aspects.values()]
    return PageTable(caption, "Judge", columns_of(heads), [Body(lines)], whole=True)


def _rows(findings: AuditFindings) -> "Iterator[Section]":
    """Yield a section with the rows to read, none if judge and people agree on all."""
    from judgescope.report.elements import (
        Body,
        PageTable,
        Section,
        TableLine,
        columns_of,
    )

    disagreeing = findings.rows_to_read
    if not disagreeing:
        return
    # A column with one judge or one aspect says nothing.
    shown = {
        "Judge": len(findings.judges) > 1,
        "Aspect": len(findings.draft.columns.ratings) > 1,
        "Judge says": True,
        "People say": True,
        "Text": findings.texts and any(row.text for row in disagreeing),
    }
    heads = [head for head, is_shown in shown.items() if is_shown]
    lines = []
    for row in disagreeing:
        judge = findings.named(row.judge)
        aspect = findings.report.aspect(row.aspect)
        texts = (judge, aspect, row.judged, row.rated, row.text)
        cells = []
        for text, is_shown in zip(texts, shown.values(), strict=True):
            if is_shown:
                cells.append(ReportCell(plain(text), style="words"))
        lines.append(TableLine(str(row.row), cells))
    file = findings.draft.table.file.name
    more = len(findings.disagreements) - len(disagreeing)
    rest = (
        f"; `--errors FILE` writes all {count(more + len(disagreeing))}" if more else ""
    )
    caption = f"Rows of {plain(file)}, numbered as a spreadsheet does{rest}"
    columns = columns_of(heads, style="words")
    table = PageTable(caption, "Row", columns, [Body(lines)], code=False)
    title = "Rows to read, where judge and people disagree most"
    yield Section("rows", title, "", [table])


def _beside_rest(part: TableSlice, row: ReportRow) -> list[ReportCell]:
    """The cells of a part's test; empty ones where it is not tested."""
    for test in part.tests:
        if (test.judge, test.aspect) == (row.judge, row.judged):
            return [estimate(test.gap), estimate(test.p_holm)]
    return [NO_CELL, NO_CELL]


def _slices(findings: AuditFindings) -> "Iterator[Section]":
    """Yield a section with the numbers on parts of the table, if it has any."""
    from judgescope.report.elements import (
        Body,
        PageTable,
        Section,
        TableLine,
        columns_of,
    )

    by_column: dict[str, list[TableLine]] = {}
    for part in findings.slices:
        value = part.value if findings.texts else "a value"
        counts = f"{plural(part.rows, 'row')}, {count(part.rated)} rated"
        for row in part.numbers:
            cells = [
                words_cell(plain(findings.named(row.judge))),
                words_cell(plain(findings.report.aspect(row.aspect))),
                words_cell(label(row.statistic)),
                estimate(row),
                *_beside_rest(part, row),
            ]
            line_of = TableLine(plain(value), cells, counts)
            by_column.setdefault(part.column, []).append(line_of)
        if not part.numbers:
            nothing: Sequence[ReportCell] = [words_cell(part.why_none)]
            line_of = TableLine(plain(value), nothing, counts)
            by_column.setdefault(part.column, []).append(line_of)
    bodies = [Body(lines, plain(column)) for column, lines in by_column.items()]
    if bodies:
        heads = [
            *columns_of(("Judge", "Aspect", "Statistic"), style="words"),
            *columns_of(("Number", "Minus the rest", "Holm p")),
        ]
        caption = "The deciding number on each part, and minus that on the rest."
        table = PageTable(caption, "Part", heads, bodies, code=False, whole=True)
        yield Section("slices", "Parts of the table", "", [table])
