"""A result table as tables for papers: a row per judge, a column per aspect or
perturbation.

Names come from cards and data: everything that LaTeX would interpret is escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from judgescope.cli.commands import ACROSS, EXPORTED, option
from judgescope.cli.export.markdown import blocks, one_line
from judgescope.cli.show import DIFFERENCE, OF_TWO_JUDGES, Filters, chosen
from judgescope.cli.terminal import undefined
from judgescope.core.errors import UserError, check_known
from judgescope.report.cells import FLAT, Cell, estimate
from judgescope.report.elements import Body, Column, Section, Table
from judgescope.report.page import render, unlinked
from judgescope.report.report import Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.tables import AVERAGE, PLANNED, judge_bodies, turned
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
from judgescope.statistics.result import NO_AGREEMENT

DIFFERENCES = (*EXPORTED, "form", "aspect_b", "criterion_b", "k_b", "system_subset")
"""The columns in which two numbers of one cell can differ."""
MEAN = re.compile(r"mean over (?P<noun>[a-z ]+)s\b")
"""The method of a mean, and what its n counts."""
BELOW = "below control"
"""Part of the note of a number that is below a control's."""
BETWEEN_SYSTEMS = "by_system"
"""The level whose n counts systems."""
ENOUGH_SYSTEMS = 8
"""With fewer systems, a correlation depends on one or two of them."""


def tables_of(
    report: Report, table: str, filters: Filters, across: str | None = None
) -> dict[str, Table]:
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
    matching = Rows(chosen(table, rows.frame, filters))
    statistics = rows.names("statistic")
    if "statistic" not in filters and len(statistics) > 1:
        raise UserError(
            f"{table} has several statistics",
            where="--statistic",
            allowed=statistics,
            todo="name one",
        )
    order = [*filters.get("statistic", statistics)]
    places = dict.fromkeys((row.dataset, row.statistic, row.level) for row in matching)
    made = {}
    for dataset, statistic, level in sorted(
        places, key=lambda place: order.index(place[1])
    ):
        part = matching.where(dataset=dataset, statistic=statistic, level=level)
        name = "-".join(filter(None, (report.study, table, dataset, statistic, level)))
        made[re.sub("[^A-Za-z0-9]+", "-", name)] = _table(report, table, part, across)
    return made


def _both_ways(rows: Rows) -> Rows:
    """Return the rows with the results on two judges, which are stored once, both ways
    round.
    """
    pairs = [
        row for row in rows if row.judge_b and row.statistic.startswith(OF_TWO_JUDGES)
    ]
    others = (
        turned(row)
        if row.statistic.startswith(DIFFERENCE)
        else row._replace(judge=row.judge_b, judge_b=row.judge)
        for row in pairs
    )
    return Rows.from_records([*rows, *filter(None, others)])


def _table(report: Report, name: str, rows: Rows, across: str | None) -> Table:
    """Return the table of one statistic, for one dataset and level."""
    if across is None:
        several = len(rows.names("judged")) == 1 and len(rows.names("cell")) > 1
        across = "perturbation" if several else "aspect"
    cells = _by_place(name, rows, across)
    names = [column for _, column in cells]
    if across == "aspect":
        (dataset,) = rows.names("dataset")
        known = next(
            (each.aspects for each in report.datasets if each.id == dataset), []
        )
        titles = {one: report.aspect(one) or "all" for one in _ordered(known, names)}
    else:
        sets = {
            each.cell: f"{each.name} {each.degree}".strip()
            for each in report.perturbations
        }
        titles = {one: sets.get(one, one) for one in _ordered([*sets], names)}
    judges = {judge.id: judge for judge in report.judges}
    shown = [
        judges.get(one, Judge(one, "", ""))
        for one in _ordered([*judges], rows.names("judge"))
    ]

    def line(judge: Judge) -> list[Cell]:
        return [_cell(report, name, cells.get((judge.id, column))) for column in titles]

    return Table(
        " ".join(
            f"{sentence}."
            for sentence in _caption(report, name, rows, titles)
            if sentence
        ),
        "Judge",
        [*map(Column, titles.values())],
        judge_bodies(shown, line),
        [f"{sentence}." for sentence in _notes(report, name, rows)],
    )


def _by_place(table: str, rows: Rows, across: str) -> dict[tuple[str, str], Row]:
    """Return (judge, column) -> row; raise UserError if two rows share a cell."""
    cells: dict[tuple[str, str], Row] = {}
    for row in rows:
        cell = row.judge, row.cell if across == "perturbation" else row.judged
        other = cells.setdefault(cell, row)
        if other is not row:
            differing = [n for n in DIFFERENCES if getattr(row, n) != getattr(other, n)]
            options = [option(name) for name in differing if name in EXPORTED]
            raise UserError(
                f"several numbers of {table} fall into one cell",
                where=f"judge {cell[0]}, {across} {cell[1]!r}, statistic "
                f"{row.statistic}",
                got=f"rows that differ in {', '.join(differing)}",
                todo=f"select one with {' or '.join(options)}, or change the columns: "
                f"--columns {' or '.join(ACROSS)}",
            )
    return cells


def _ordered(order: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the names without duplicates: those in `order` first, then the others."""
    seen = dict.fromkeys(names)
    return [
        *(name for name in order if name in seen),
        *(n for n in seen if n not in order),
    ]


def _cell(report: Report, table: str, row: Row | None) -> Cell:
    """Return value, interval and marks; notes name what is undefined or missing."""
    if row is None:
        return estimate(row)
    defined = row.value is not None
    below = "†" if defined and BELOW in row.note else ""
    notes = (
        "" if defined else undefined(spoken(row.note)),
        f"{count(row.n_missing)} missing, n = {count(row.n)}" if row.n_missing else "",
        NO_AGREEMENT if defined and NO_AGREEMENT in row.note else "",
    )
    mark = ",".join(filter(None, (_letters(report, table, row), below)))
    return replace(
        estimate(row, mark=mark), mark=mark, notes=tuple(filter(None, notes))
    )


def _letters(report: Report, table: str, row: Row) -> str:
    """Return the letters of groups that a test cannot tell apart, "" without a test."""
    compared = table in ("agreement", "labels")
    rows = report.rows("comparison" if compared else table, row.dataset)
    name = f"rank_{row.statistic}"
    rank = rows.find(row.judge, name, aspect=row.judged, level=row.level, cell=row.cell)
    return rank.group if rank else ""


# --- caption and notes ----------------------------------------------------------------


def _caption(
    report: Report, table: str, rows: Rows, titles: Mapping[str, str]
) -> Iterator[str]:
    """Yield the statistic, the data, and the number of values."""
    first, defined = next(iter(rows)), [row for row in rows if row.value is not None]
    dataset = next((each for each in report.datasets if each.id == first.dataset), None)
    level = LEVELS.get(first.level, (spoken(first.level), ""))[0]
    about = ", ".join(filter(None, [label(first.statistic), level]))
    common = ", ".join(_common(report, rows, titles))
    bare = all(row.ci_low is None for row in rows)
    ends = "without intervals" if bare else "with 95 % intervals"
    name = dataset.name if dataset else first.dataset
    yield f"{name}: {about}{f' ({common})' if common else ''}, {ends}"
    yield _sizes(defined)
    if dataset and dataset.planned and table == "agreement":
        yield PLANNED.capitalize()
    yield f"Table {table} of study {report.study}"


def _common(report: Report, rows: Rows, titles: Mapping[str, str]) -> list[str]:
    """Return what all numbers share and no heading shows, such as `aspect Fluency`."""
    columns = {
        "aspect": {report.aspect(row.judged) for row in rows},
        "texts": {row.cell for row in rows},
        "against": {row.judge_b for row in rows},
        "k": {str(row.k or "") for row in rows},
    }
    headed = {"", *titles, *titles.values()}
    single = ((name, *values) for name, values in columns.items() if len(values) == 1)
    return [f"{name} {value}" for name, value in single if value not in headed]


def _sizes(defined: Sequence[Row]) -> str:
    """Return the n of the values, or its range; of a mean, n counts what its method
    names.
    """
    sizes: dict[str, set[int]] = {}
    for row in defined:
        mean = MEAN.match(row.method) if row.aspect == AVERAGE else None
        sizes.setdefault(mean["noun"] if mean else "", set()).add(row.n)
    return "; ".join(_size(noun, sorted(sizes[noun])) for noun in sorted(sizes))


def _size(noun: str, sizes: Sequence[int]) -> str:
    least = f"{count(sizes[0])} to " if sizes[1:] else ""
    most = f"{plural(sizes[-1], noun)} behind an average" if noun else count(sizes[-1])
    return f"n = {least}{most}"


def _notes(report: Report, table: str, rows: Rows) -> Iterator[str]:
    """Yield the meaning of marks, and cautions."""
    defined = [row for row in rows if row.value is not None]
    if any(_letters(report, table, row) for row in rows):
        yield (
            "Judges that share a letter cannot be distinguished by a paired "
            "permutation test"
        )
    if any(BELOW in row.note for row in defined):
        yield "† below at least one control"
    systems = {row.n for row in defined if row.level == BETWEEN_SYSTEMS}
    if few := systems & set(range(ENOUGH_SYSTEMS)):
        yield (
            f"Only {count(min(few))} systems, fewer than {ENOUGH_SYSTEMS}: such a "
            "correlation says little about other systems"
        )


# --- writing --------------------------------------------------------------------------

SPECIAL = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
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
    **{
        "α": "$\\alpha$",
        "κ": "$\\kappa$",
        "ρ": "$\\rho$",
        "τ": "$\\tau$",
        "Δ": "$\\Delta$",
    },
}
"""Brackets are not escaped: a row begins with a command, never with a name."""
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))


def escaped(text: str) -> str:
    """Return a text on one line that LaTeX prints unchanged.

    Letters of other scripts are kept: they need an engine that supports them, such as
    LuaLaTeX.
    """
    return _SPECIAL.sub(lambda match: SPECIAL[match[0]], one_line(text).strip())


def document(report: Report, tables: Mapping[str, Table]) -> str:
    """Return tables, by label, as a file to be \\input; its document needs the package
    booktabs.
    """
    head = (
        f"% \\usepackage{{booktabs}}   study {report.study}, seed "
        f"{report.spec.study.seed}"
    )
    written = (_latex(label, table) for label, table in tables.items())
    return "\n\n".join([head, *written]) + "\n"


def _latex(label: str, table: Table) -> str:
    footnotes: dict[str, int] = {}
    bodies = [
        line for body in table.bodies for line in _latex_body(table, body, footnotes)
    ]
    notes = [
        f"\\textsuperscript{{{at}}} {escaped(text)}." for text, at in footnotes.items()
    ]
    notes += map(escaped, table.all_notes)
    if [body.style for body in table.bodies][1:] == ["controls"]:
        notes.append("Below the line: controls.")
    below = (
        ["  \\par\\smallskip", f"  {{\\footnotesize {' '.join(notes)}\\par}}"]
        if notes
        else []
    )
    heads = [table.corner, *(column.heading for column in table.columns)]
    return "\n".join(
        [
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{escaped(table.caption)}}}",
            f"  \\label{{tab:{label}}}",
            f"  \\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            "    \\toprule",
            f"    {' & '.join(map(escaped, heads))} \\\\",
            *bodies,
            "    \\bottomrule",
            "  \\end{tabular}",
            *below,
            "\\end{table}",
        ]
    )


def _latex_body(table: Table, body: Body, footnotes: dict[str, int]) -> list[str]:
    head = "\\texttt{%s}" if table.code and body.style != "sums" else "{%s}"
    rows = [
        [
            head % escaped(line.head),
            *(_latex_cell(cell, footnotes) for cell in line.cells),
        ]
        for line in body.lines
    ]
    if body.title:
        width = len(table.columns) + 1
        rows.insert(
            0, [f"\\multicolumn{{{width}}}{{l}}{{\\emph{{{escaped(body.title)}}}}}"]
        )
    return ["    \\midrule", *(f"    {' & '.join(row)} \\\\" for row in rows)]


def _latex_cell(cell: Cell, footnotes: dict[str, int]) -> str:
    """Return text, interval and marks; `footnotes` numbers notes in the order of their
    use.
    """
    marks = [escaped(cell.mark)] if cell.mark else []
    marks += [
        str(footnotes.setdefault(note, len(footnotes) + 1)) for note in cell.notes
    ]
    small = f" {{\\scriptsize {escaped(cell.interval)}}}" if cell.interval else ""
    raised = f"\\textsuperscript{{{','.join(marks)}}}" if marks else ""
    return f"{escaped(cell.text)}{small}{raised}"


def _page(report: Report, tables: Mapping[str, Table]) -> str:
    """Return an offline HTML page."""
    section = Section("tables", "Tables", "", [*tables.values()])
    return unlinked(render(report, [section]))


WRITERS = {
    ".tex": document,
    ".md": lambda _, tables: "\n".join(blocks(tables.values())),
    ".html": _page,
}
"""Suffix of a file -> what returns its content."""
