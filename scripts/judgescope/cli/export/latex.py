"""Result tables for LaTeX with the rules of booktabs: value, interval, marks and footnotes.

Names come from cards and data: everything that LaTeX would interpret is escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from judgescope.cli.export import ACROSS, FILTERS
from judgescope.cli.export.markdown import one_line
from judgescope.cli.show import check_wanted
from judgescope.core.errors import UserError
from judgescope.report import words
from judgescope.report.cells import FLAT, NO_WIDTH_TOLD, interval, short
from judgescope.report.report import Report
from judgescope.report.rows import Row
from judgescope.report.tables import AVERAGE, PLANNED
from judgescope.report.words import DASH, MINUS, THIN, count
from judgescope.statistics.result import NO_AGREEMENT

Wanted = Mapping[str, Sequence[str | int]]
"""Column -> the values to keep."""
DIFFERENCES = (*FILTERS, "form", "aspect_b", "criterion_b", "k_b", "system_subset")
"""The columns in which two numbers of one cell can differ."""
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
    **{"α": "$\\alpha$", "κ": "$\\kappa$", "ρ": "$\\rho$", "τ": "$\\tau$", "Δ": "$\\Delta$"},
}
"""Brackets stay: a row begins with a command, never with a name."""
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))
BELOW = "below control"
"""In the note of a number that a control surpasses."""
BETWEEN_SYSTEMS = "by_system"
"""The level whose n counts systems."""
ENOUGH_SYSTEMS = 8
"""A correlation of fewer depends on one or two of them."""


# --- choosing rows ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """One statistic of a dataset at a level: a row per judge, a column per aspect or perturbation.

    `controls` are printed below `judges`; `letters` are those of the groups that a test cannot
    distinguish, by judge and column.
    """

    table: str
    dataset: str
    statistic: str
    level: str
    judges: Sequence[str]
    controls: Sequence[str]
    columns: Mapping[str, str]
    """Column -> its heading."""
    rows: Mapping[tuple[str, str], Row]
    letters: Mapping[tuple[str, str], str]


def grids(report: Report, table: str, wanted: Wanted, across: str | None = None) -> list[Grid]:
    """Return a grid for every dataset, statistic and level of the rows that are wanted.

    `across` is one of ACROSS; default: aspects, or perturbations where all rows have one aspect.
    Raises UserError for an unknown table or value, without a statistic where there are several,
    where no row has all that is wanted, and where two rows would share a cell.
    """
    if table not in report.tables:
        raise UserError(
            "the study has no such table", where="table", got=table, allowed=report.tables
        )
    rows = list(report.tables[table])
    check_wanted(table, wanted, lambda name: _values(rows, name))
    statistics = {row.statistic for row in rows}
    if "statistic" not in wanted and len(statistics) > 1:
        raise UserError(
            f"{table} has several statistics",
            where="--statistic",
            allowed=statistics,
            todo="name one",
        )
    chosen = _having(rows, wanted)
    if not chosen:
        _refuse(table, rows, wanted)
    places = dict.fromkeys((row.dataset, row.statistic, row.level) for row in chosen)
    order = {name: at for at, name in enumerate(wanted.get("statistic", ()))}
    return [
        _grid(report, table, chosen, place, across)
        for place in sorted(places, key=lambda place: order.get(place[1], 0))
    ]


def _having(rows: Iterable[Row], wanted: Wanted) -> list[Row]:
    return [row for row in rows if all(getattr(row, n) in v for n, v in wanted.items())]


def _values(rows: Iterable[Row], name: str) -> set[str | int]:
    return {getattr(row, name) for row in rows} - {"", 0}


def _refuse(table: str, rows: Sequence[Row], wanted: Wanted) -> NoReturn:
    """Raise UserError that says which values of each column fit all the other filters."""
    fitting = []
    for name in wanted:
        others = {other: values for other, values in wanted.items() if other != name}
        if values := _values(_having(rows, others), name):
            fitting.append(f"{_option(name)} {', '.join(sorted(map(str, values)))}")
    raise UserError(
        f"no row of {table} matches all filters",
        where=f"table {table}",
        got=" ".join(f"{_option(name)} {' '.join(map(str, v))}" for name, v in wanted.items()),
        allowed="; or ".join(fitting) or None,
        todo="drop or change a filter",
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _grid(
    report: Report,
    table: str,
    chosen: Sequence[Row],
    of_grid: tuple[str, str, str],
    across: str | None,
) -> Grid:
    dataset, statistic, level = of_grid
    rows = [row for row in chosen if (row.dataset, row.statistic, row.level) == of_grid]
    if across is None:
        one_aspect = len({row.judged for row in rows}) == 1
        across = "perturbation" if one_aspect and len({row.cell for row in rows}) > 1 else "aspect"
    cells = _cells(table, rows, across)
    names = [column for _, column in cells]
    if across == "aspect":
        known = next((each.aspects for each in report.datasets if each.id == dataset), [])
        headings = {name: report.aspect(name) or "all" for name in _ordered(known, names)}
    else:
        perturbations = {
            each.cell: f"{each.name} {each.degree}".strip() for each in report.perturbations
        }
        headings = {
            name: perturbations.get(name, name) for name in _ordered([*perturbations], names)
        }
    judges = _ordered([judge.id for judge in report.judges], [row.judge for row in rows])
    controls = {judge.id for judge in report.judges if judge.control}
    groups = {
        (row.judge, row.judged, row.cell): row.group
        for name in ((table, "comparison") if table == "agreement" else (table,))
        for row in report.rows(name).where(
            dataset=dataset, statistic=f"rank_{statistic}", level=level
        )
        if row.group
    }
    return Grid(
        table,
        dataset,
        statistic,
        level,
        judges=[name for name in judges if name not in controls],
        controls=[name for name in judges if name in controls],
        columns=headings,
        rows=cells,
        letters={
            cell: groups[key]
            for cell, row in cells.items()
            if (key := (row.judge, row.judged, row.cell)) in groups
        },
    )


def _cells(table: str, rows: Iterable[Row], across: str) -> dict[tuple[str, str], Row]:
    """Return (judge, column) -> row; raise UserError if two rows share a cell."""
    cells: dict[tuple[str, str], Row] = {}
    for row in rows:
        cell = row.judge, row.cell if across == "perturbation" else row.judged
        other = cells.setdefault(cell, row)
        if other is not row:
            differing = [n for n in DIFFERENCES if getattr(row, n) != getattr(other, n)]
            options = [_option(name) for name in differing if name in FILTERS]
            raise UserError(
                f"several numbers of {table} fall into one cell",
                where=f"judge {cell[0]}, {across} {cell[1]!r}, statistic {row.statistic}",
                got=f"rows that differ in {', '.join(differing)}",
                todo=f"select one with {' or '.join(options)}, or change the columns: --columns "
                f"{' or '.join(ACROSS)}",
            )
    return cells


def _ordered(order: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the names, each once: those of the order in it, then the others as they come."""
    seen = dict.fromkeys(names)
    return [*(name for name in order if name in seen), *(n for n in seen if n not in order)]


# --- writing ---------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Return a text that LaTeX prints as it is, on one line.

    Letters of other scripts stay: they need an engine that supports them, such as LuaLaTeX.
    """
    return _SPECIAL.sub(lambda match: SPECIAL[match[0]], one_line(text).strip())


def document(report: Report, tables: Sequence[Grid]) -> str:
    """Return the tables as a file to be \\input; its document needs the package booktabs."""
    head = f"% \\usepackage{{booktabs}}   study {report.study}, seed {report.spec.study.seed}"
    return "\n\n".join([head, *(_table(report, grid) for grid in tables)]) + "\n"


@dataclass
class _Notes:
    """The sentences below a table, numbered in the order of their first use."""

    numbers: dict[str, int] = field(default_factory=dict)

    def mark(self, text: str) -> str:
        """Return the number of a sentence."""
        return str(self.numbers.setdefault(text, len(self.numbers) + 1))

    def lines(self) -> list[str]:
        """Return the sentences, if any, as a small paragraph."""
        notes = [f"\\textsuperscript{{{at}}} {escaped(text)}." for text, at in self.numbers.items()]
        if not notes:
            return []
        return ["  \\par\\smallskip", f"  {{\\footnotesize {' '.join(notes)}\\par}}"]


def _table(report: Report, grid: Grid) -> str:
    notes = _Notes()
    body: list[str] = []
    for judges in filter(None, (grid.judges, grid.controls)):
        body.append("    \\midrule")
        for judge in judges:
            cells = [f"\\texttt{{{escaped(judge)}}}"]
            cells += [_cell(grid, (judge, column), notes) for column in grid.columns]
            body.append(f"    {' & '.join(cells)} \\\\")
    heads = ["Judge", *map(escaped, grid.columns.values())]
    place = (report.study, grid.table, grid.dataset, grid.statistic, grid.level)
    label = re.sub("[^A-Za-z0-9]+", "-", "-".join(filter(None, place)))
    return "\n".join(
        [
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{_caption(report, grid)}}}",
            f"  \\label{{tab:{label}}}",
            f"  \\begin{{tabular}}{{l{'r' * len(grid.columns)}}}",
            "    \\toprule",
            f"    {' & '.join(heads)} \\\\",
            *body,
            "    \\bottomrule",
            "  \\end{tabular}",
            *notes.lines(),
            "\\end{table}",
        ]
    )


def _cell(grid: Grid, cell: tuple[str, str], notes: _Notes) -> str:
    """Return value, interval and marks; a dash and the reason where there is no value."""
    row = grid.rows.get(cell)
    if row is None:
        return f"--\\textsuperscript{{{notes.mark('not planned')}}}"
    marks = [grid.letters[cell]] if cell in grid.letters else []
    if row.value is None:
        marks.append(notes.mark(f"undefined: {words.spoken(row.note)}"))
    if row.n_missing:
        marks.append(notes.mark(f"{count(row.n_missing)} missing beside n = {count(row.n)}"))
    if row.value is not None and NO_AGREEMENT in row.note:
        marks.append(notes.mark(NO_AGREEMENT))
    if row.value is not None and BELOW in row.note:
        marks.append("\\dag{}")
    ends = escaped(interval(row))
    small = f" {{\\scriptsize {ends}}}" if ends else ""
    raised = f"\\textsuperscript{{{','.join(marks)}}}" if marks else ""
    return f"{escaped(short(row))}{small}{raised}"


def _caption(report: Report, grid: Grid) -> str:
    return escaped(" ".join(f"{sentence}." for sentence in _sentences(report, grid) if sentence))


def _sentences(report: Report, grid: Grid) -> Iterator[str]:
    """Yield what is measured, on what data, its sizes, and what the signs mean."""
    rows = list(grid.rows.values())
    defined = [row for row in rows if row.value is not None]
    dataset = next((each for each in report.datasets if each.id == grid.dataset), None)
    level = words.LEVELS.get(grid.level, (words.spoken(grid.level), ""))[0]
    about = ", ".join(filter(None, [words.label(grid.statistic), level]))
    common = ", ".join(_common(report, rows, grid))
    with_ends = "with 95 % intervals" if any(row.ci_low is not None for row in rows) else None
    yield (
        f"{dataset.name if dataset else grid.dataset}: {about}{f' ({common})' if common else ''}, "
        f"{with_ends or 'without intervals'}"
    )
    yield _sizes(defined)
    if dataset and dataset.planned and grid.table == "agreement":
        yield PLANNED.capitalize()
    yield f"Table {grid.table} of study {report.study}"
    if grid.letters:
        yield "Judges that share a letter cannot be distinguished by a paired permutation test"
    if any(BELOW in row.note for row in defined):
        yield "† below at least one control"
    if any(interval(row).endswith(FLAT) for row in defined):
        yield NO_WIDTH_TOLD.removesuffix(".")
    systems = {row.n for row in defined if row.level == BETWEEN_SYSTEMS}
    if few := systems & set(range(ENOUGH_SYSTEMS)):
        yield (
            f"Only {count(min(few))} systems, fewer than {ENOUGH_SYSTEMS}: such a correlation says "
            "little about other systems"
        )
    if grid.controls and grid.judges:
        yield "Below the line: controls"


def _common(report: Report, rows: Sequence[Row], grid: Grid) -> list[str]:
    """Return what all numbers have in common and no heading says, such as `aspect Fluency`."""
    columns = {
        "aspect": {report.aspect(row.judged) for row in rows},
        "texts": {row.cell for row in rows},
        "against": {row.judge_b for row in rows},
        "k": {str(row.k or "") for row in rows},
    }
    headed = {"", *grid.columns, *grid.columns.values()}
    single = ((name, *values) for name, values in columns.items() if len(values) == 1)
    return [f"{name} {value}" for name, value in single if value not in headed]


def _sizes(defined: Sequence[Row]) -> str:
    """Return the n behind the values, or its range; a mean over aspects counts these."""
    parts = []
    for mean, counted in ((False, ""), (True, " aspects behind an average")):
        sizes = sorted({row.n for row in defined if (row.aspect == AVERAGE) == mean})
        if sizes:
            more = f" to {count(sizes[-1])}" if sizes[1:] else ""
            parts.append(f"n = {count(sizes[0])}{more}{counted}")
    return "; ".join(parts)
