"""A result table as tables for papers: a row per judge, a column per aspect or
perturbation.

Names come from cards and data: everything that LaTeX would interpret is escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from judgescope.cli.commands import option
from judgescope.cli.show import (
    DIFFERENCE,
    OF_TWO_JUDGES,
    Filters,
    check_filters,
    no_match,
)
from judgescope.cli.terminal import undefined
from judgescope.core.errors import UserError, check_known
from judgescope.extensions.export.commands import ACROSS, EXPORTED
from judgescope.extensions.export.markdown import blocks, one_line
from judgescope.report.cells import FLAT, ReportCell, estimate
from judgescope.report.elements import Body, PageTable, Section, TableColumn
from judgescope.report.page import render, unlinked
from judgescope.report.raters_in_words import PEOPLE
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows, turned
from judgescope.report.tables import AVERAGE, judge_bodies
from judgescope.report.words import (
    DASH,
    LEVELS,
    MINUS,
    THIN,
    count,
    label,
    plural,
    spoken,
)
from judgescope.statistics.result import REASONS


def tables_of(
    report: Report, table: str, filters: Filters, across: str | None = None
) -> dict[str, PageTable]:
    """Return label -> table for every dataset, statistic and level of the rows that
    match.

    `across` is one of ACROSS; default: aspects, or perturbations if all rows have one
    aspect. Raises UserError for an unknown table or value, if a choice of statistic is
    missing, if no row matches all filters, and if two rows would share a cell.
    """
    check_known(
        [table], report.tables, "the study does not have this table", where="table"
    )
    rows = report.tables[table]
    if "judge_b" in filters:
        rows = _both_ways(rows)
    matching = _chosen(table, rows, filters)
    statistics = rows.names("statistic")
    if "statistic" not in filters and len(statistics) > 1:
        raise UserError(
            f"{table} has several statistics",
            where="--statistic",
            allowed=statistics,
            todo="name one",
        )
    order = list(filters.get("statistic", statistics))
    numbers = dict.fromkeys((row.dataset, row.statistic, row.level) for row in matching)
    made = {}
    for dataset, statistic, level in sorted(
        numbers, key=lambda number: order.index(number[1])
    ):
        part = matching.where(dataset=dataset, statistic=statistic, level=level)
        name = "-".join(filter(None, (report.study, table, dataset, statistic, level)))
        made[re.sub("[^A-Za-z0-9]+", "-", name)] = _table(report, table, part, across)
    return made


def _chosen(table: str, rows: ReportRows, filters: Filters) -> ReportRows:
    """Return the rows that pass the filters; raise UserError if there are none."""
    values_with = partial(_values_with, rows)
    check_filters(table, filters, partial(values_with, filters={}))
    kept = _passing(rows, filters)
    if filters and not len(kept):
        raise no_match(table, filters, values_with)
    return kept


def _passing(rows: ReportRows, filters: Filters) -> ReportRows:
    return rows.where(**{name: tuple(values) for name, values in filters.items()})


def _values_with(rows: ReportRows, name: str, filters: Filters) -> set[str | int]:
    return {getattr(row, name) for row in _passing(rows, filters)} - {"", 0}


BELOW = "below control"
"""Part of the note of a number that is below a control's."""


def _both_ways(rows: ReportRows) -> ReportRows:
    """Return the rows with the results on two judges, which are stored once, both ways
    round.
    """
    records = list(rows)
    for row in rows:
        if not row.judge_b or not row.statistic.startswith(OF_TWO_JUDGES):
            continue
        if row.statistic.startswith(DIFFERENCE):
            other = turned(row)
        else:
            other = row._replace(judge=row.judge_b, judge_b=row.judge)
        if other:
            records.append(other)
    return ReportRows(records)


def _table(
    report: Report, name: str, rows: ReportRows, across: str | None
) -> PageTable:
    """Return the table of one statistic, for one dataset and level."""
    if across is None:
        several = len(rows.names("judged")) == 1 and len(rows.names("cell")) > 1
        across = "perturbation" if several else "aspect"
    cells = _by_column(name, rows, across)
    titles = _titles(report, rows, across, [column for _, column in cells])
    judges = {judge.id: judge for judge in report.judges}
    shown = []
    for judge_id in _ordered(list(judges), rows.names("judge")):
        shown.append(judges.get(judge_id, ShownJudge(judge_id, "", "")))

    def line(judge: ShownJudge) -> list[ReportCell]:
        return [_cell(report, name, cells.get((judge.id, column))) for column in titles]

    caption = filter(None, _caption(report, name, rows, titles))
    return PageTable(
        " ".join(f"{sentence}." for sentence in caption),
        "Judge",
        list(map(TableColumn, titles.values())),
        judge_bodies(shown, line),
        [f"{sentence}." for sentence in _notes(report, name, rows)],
    )


def _titles(
    report: Report, rows: ReportRows, across: str, columns: Sequence[str]
) -> dict[str, str]:
    """Return column -> its heading, in the order of the study."""
    if across == "aspect":
        known: Sequence[str] = []
        (dataset,) = rows.names("dataset")
        for shown in report.datasets:
            if shown.id == dataset:
                known = shown.aspects
        ordered = _ordered(known, columns)
        return {aspect: report.aspect(aspect) or "all" for aspect in ordered}
    names = {}
    for perturbation in report.perturbations:
        name = f"{perturbation.name} {perturbation.degree}"
        names[perturbation.cell] = name.strip()
    ordered = _ordered(list(names), columns)
    return {cell: names.get(cell, cell) for cell in ordered}


def _by_column(
    table: str, rows: ReportRows, across: str
) -> dict[tuple[str, str], ReportRow]:
    """Return (judge, column) -> row; raise UserError if two rows share a cell."""
    # The columns in which two numbers of one cell can differ.
    distinguishing = [*EXPORTED, "form", "aspect_b", "criterion_b", "k_b"]
    distinguishing.append("system_subset")
    cells: dict[tuple[str, str], ReportRow] = {}
    for row in rows:
        cell = row.judge, row.cell if across == "perturbation" else row.judged
        other = cells.setdefault(cell, row)
        if other is row:
            continue
        differing = []
        for name in distinguishing:
            if getattr(row, name) != getattr(other, name):
                differing.append(name)
        options = [option(name) for name in differing if name in EXPORTED]
        raise UserError(
            f"several numbers of {table} fall into one cell",
            where=f"judge {cell[0]}, {across} {cell[1]!r}, statistic {row.statistic}",
            got=f"rows that differ in {', '.join(differing)}",
            todo=f"select one with {' or '.join(options)}, or change the columns: "
            f"--columns {' or '.join(ACROSS)}",
        )
    return cells


def _ordered(order: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the names without duplicates: those in `order` first, then the others."""
    given = dict.fromkeys(names)
    known = [name for name in order if name in given]
    return list(dict.fromkeys([*known, *given]))


def _cell(report: Report, table: str, row: ReportRow | None) -> ReportCell:
    """Return value, interval and marks; notes name what is undefined or missing."""
    if row is None:
        return estimate(row)
    notes = []
    marks = _letters(report, table, row)
    if row.value is None:
        notes.append(undefined(spoken(row.note)))
    elif BELOW in row.note:
        marks = f"{marks},†" if marks else "†"
    if row.n_missing:
        notes.append(f"{count(row.n_missing)} missing, n = {count(row.n)}")
    if row.value is not None and REASONS.no_agreement in row.note:
        notes.append(REASONS.no_agreement)
    return replace(estimate(row, mark=marks), mark=marks, notes=tuple(notes))


def _letters(report: Report, table: str, row: ReportRow) -> str:
    """Return the letters of groups that a test cannot tell apart, "" without a test."""
    compared = table in ("agreement", "labels")
    rows = report.rows("comparison" if compared else table, row.dataset)
    name = f"rank_{row.statistic}"
    rank = rows.find(row.judge, name, aspect=row.judged, level=row.level, cell=row.cell)
    return rank.group if rank else ""


# --- caption and notes ----------------------------------------------------------------


def _caption(
    report: Report, table: str, rows: ReportRows, titles: Mapping[str, str]
) -> Iterator[str]:
    """Yield the statistic, the data, and the number of values."""
    first = next(iter(rows))
    name = first.dataset
    rated_by = PEOPLE
    for dataset in report.datasets:
        if dataset.id == first.dataset:
            name = dataset.name
            rated_by = dataset.rated_by
    level = LEVELS.get(first.level, (spoken(first.level), ""))[0]
    about = ", ".join(filter(None, [label(first.statistic), level]))
    common = ", ".join(_common(report, rows, titles))
    if common:
        about += f" ({common})"
    bare = all(row.ci_low is None for row in rows)
    ends = "without intervals" if bare else "with 95 % intervals"
    yield f"{name}: {about}, {ends}"
    yield _sizes([row for row in rows if row.value is not None])
    if not rated_by.people and table == "agreement":
        yield rated_by.agreement.capitalize()
    yield f"Table {table} of study {report.study}"


def _common(report: Report, rows: ReportRows, titles: Mapping[str, str]) -> list[str]:
    """Return what all numbers share and no heading shows, such as `aspect Fluency`."""
    columns: dict[str, set[str]] = {"aspect": set(), "texts": set()}
    columns |= {"against": set(), "k": set()}
    for row in rows:
        columns["aspect"].add(report.aspect(row.judged))
        columns["texts"].add(row.cell)
        columns["against"].add(row.judge_b)
        columns["k"].add(str(row.k or ""))
    headings = {"", *titles, *titles.values()}
    common = []
    for name, values in columns.items():
        if len(values) == 1 and values.isdisjoint(headings):
            common.append(f"{name} {next(iter(values))}")
    return common


def _sizes(defined: Sequence[ReportRow]) -> str:
    """Return the n of the values, or its range; of a mean, n counts what its method
    names.
    """
    sizes: dict[str, set[int]] = {}
    for row in defined:
        mean = None
        if row.aspect == AVERAGE:
            mean = re.match(r"mean over (?P<noun>[a-z ]+)s\b", row.method)
        sizes.setdefault(mean["noun"] if mean else "", set()).add(row.n)
    return "; ".join(_size(noun, sorted(sizes[noun])) for noun in sorted(sizes))


def _size(noun: str, sizes: Sequence[int]) -> str:
    least = f"{count(sizes[0])} to " if sizes[1:] else ""
    largest = (
        f"{plural(sizes[-1], noun)} behind an average" if noun else count(sizes[-1])
    )
    return f"n = {least}{largest}"


def _notes(
    report: Report, table: str, rows: ReportRows, enough_systems: int = 8
) -> Iterator[str]:
    """Yield the meaning of marks, and cautions.

    With fewer than `enough_systems` systems, a correlation of systems depends on one or
    two of them.
    """
    if any(_letters(report, table, row) for row in rows):
        yield (
            "Judges that share a letter cannot be distinguished by a paired "
            "permutation test"
        )
    is_below = False
    few = []
    for row in rows:
        if row.value is None:
            continue
        is_below = is_below or BELOW in row.note
        # Its n counts systems.
        if row.level == "by_system" and 0 <= row.n < enough_systems:
            few.append(row.n)
    if is_below:
        yield "† below at least one control"
    if few:
        yield (
            f"Only {count(min(few))} systems, fewer than {enough_systems}: such a "
            "correlation says little about other systems"
        )


# --- writing --------------------------------------------------------------------------

SPECIAL = {
    "&": "\\&",
    "%": "\\%",
    "$": "\\$",
    "#": "\\#",
    "_": "\\_",
    "{": "\\{",
    "}": "\\}",
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "\\char34{}",
    "`": "\\char96{}",
    MINUS: "$-$",
    THIN: "\\,",
    DASH: "--",
    "…": "\\ldots{}",
    "†": "\\dag{}",
    FLAT: "\\textdegree{}",
    "⟨": "$\\langle$",
    "⟩": "$\\rangle$",
    "≤": "$\\leq$",
    "≥": "$\\geq$",
    "×": "$\\times$",
    "α": "$\\alpha$",
    "κ": "$\\kappa$",
    "ρ": "$\\rho$",
    "τ": "$\\tau$",
    "Δ": "$\\Delta$",
}
"""Character -> how LaTeX prints it.

Brackets are not escaped: a row begins with a command, never with a name."""


def escaped(text: str) -> str:
    """Return a text on one line that LaTeX prints unchanged.

    Letters of other scripts are kept: they need an engine that supports them, such as
    LuaLaTeX.
    """
    return "".join(SPECIAL.get(char, char) for char in one_line(text).strip())


def document(report: Report, tables: Mapping[str, PageTable]) -> str:
    """Return tables, by label, as a file to be \\input; its document needs the package
    booktabs.
    """
    seed = report.spec.study.seed
    parts = [f"% \\usepackage{{booktabs}}   study {report.study}, seed {seed}"]
    parts += [_latex(label, table) for label, table in tables.items()]
    return "\n\n".join(parts) + "\n"


def _latex(label: str, table: PageTable) -> str:
    footnotes: dict[str, int] = {}
    heads = [table.corner, *(column.heading for column in table.columns)]
    lines = [
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{escaped(table.caption)}}}",
        f"  \\label{{tab:{label}}}",
        f"  \\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        "    \\toprule",
        f"    {' & '.join(map(escaped, heads))} \\\\",
    ]
    for body in table.bodies:
        lines += _latex_body(table, body, footnotes)
    lines += ["    \\bottomrule", "  \\end{tabular}"]
    notes = []
    for text, number in footnotes.items():
        notes.append(f"\\textsuperscript{{{number}}} {escaped(text)}.")
    notes += map(escaped, table.all_notes)
    if [body.style for body in table.bodies][1:] == ["controls"]:
        notes.append("Below the line: controls.")
    if notes:
        lines.append("  \\par\\smallskip")
        lines.append(f"  {{\\footnotesize {' '.join(notes)}\\par}}")
    lines.append("\\end{table}")
    return "\n".join(lines)


def _latex_body(table: PageTable, body: Body, footnotes: dict[str, int]) -> list[str]:
    # A row begins with a command or a group, never with a name: LaTeX would take a
    # bracket there for an argument of the line before.
    head = "{%s}"
    if table.code and body.style != "sums":
        head = "\\texttt{%s}"
    lines = ["    \\midrule"]
    if body.title:
        width = len(table.columns) + 1
        title = f"\\emph{{{escaped(body.title)}}}"
        lines.append(f"    \\multicolumn{{{width}}}{{l}}{{{title}}} \\\\")
    for line in body.lines:
        cells = [head % escaped(line.head)]
        cells += [_latex_cell(cell, footnotes) for cell in line.cells]
        lines.append(f"    {' & '.join(cells)} \\\\")
    return lines


def _latex_cell(cell: ReportCell, footnotes: dict[str, int]) -> str:
    """Return text, interval and marks; `footnotes` numbers notes in the order of their
    use.
    """
    marks = []
    if cell.mark:
        marks = [escaped(cell.mark)]
    for note in cell.notes:
        number = footnotes.setdefault(note, len(footnotes) + 1)
        marks.append(str(number))
    text = escaped(cell.text)
    if cell.interval:
        text += f" {{\\scriptsize {escaped(cell.interval)}}}"
    if marks:
        text += f"\\textsuperscript{{{','.join(marks)}}}"
    return text


def _page(report: Report, tables: Mapping[str, PageTable]) -> str:
    """Return an offline HTML page."""
    section = Section("tables", "Tables", "", list(tables.values()))
    return unlinked(render(report, [section]))


WRITERS = {
    ".tex": document,
    ".md": lambda _, tables: "\n".join(blocks(tables.values())),
    ".html": _page,
}
"""Suffix of a file -> what returns its content."""
