"""Tables for LaTeX with the rules of booktabs: value, interval, what is missing, letters.

Names come from cards and data: whatever LaTeX takes for more than text is written as text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from judgescope.cli.export.choice import Grid
from judgescope.cli.export.text import one_line
from judgescope.report import words
from judgescope.report.cells import FLAT, NO_WIDTH_TOLD, interval, short
from judgescope.report.report import Report
from judgescope.report.rows import Row
from judgescope.report.tables import AVERAGE, PLANNED
from judgescope.report.words import DASH, MINUS, THIN, count
from judgescope.statistics.result import NO_AGREEMENT

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
"""A bracket is left as it is: every row begins with a command, never with what a name begins."""
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))
BELOW = "below control"
"""In the note of a number that a judge which knows nothing of quality surpasses."""
BETWEEN_SYSTEMS = "by_system"
"""The level whose n counts systems."""
ENOUGH_SYSTEMS = 8
"""A correlation of fewer depends on one or two of them."""


def escaped(text: str) -> str:
    """Return a text that LaTeX prints as it is, on one line.

    Letters of other scripts stay: they need an engine that knows them, as LuaLaTeX.
    """
    return _SPECIAL.sub(lambda found: SPECIAL[found[0]], one_line(text).strip())


def document(report: Report, grids: Sequence[Grid]) -> str:
    """Return the tables as a file to be \\input; its document needs the package booktabs."""
    head = f"% \\usepackage{{booktabs}}   study {report.study}, seed {report.spec.study.seed}"
    return "\n\n".join([head, *(_table(report, grid) for grid in grids)]) + "\n"


@dataclass
class _Notes:
    """What stands below a table, each sentence once, numbered in the order of its first use."""

    known: dict[str, int] = field(default_factory=dict)

    def mark(self, text: str) -> str:
        """Return the number of a sentence."""
        return str(self.known.setdefault(text, len(self.known) + 1))

    def lines(self) -> list[str]:
        """Return the sentences, if any, as a small paragraph."""
        told = [f"\\textsuperscript{{{at}}} {escaped(text)}." for text, at in self.known.items()]
        return ["  \\par\\smallskip", f"  {{\\footnotesize {' '.join(told)}\\par}}"] if told else []


def _table(report: Report, grid: Grid) -> str:
    notes = _Notes()
    parts = [
        [_line(grid, judge, notes) for judge in judges]
        for judges in (grid.judges, grid.controls)
        if judges
    ]
    body = "    \\midrule\n".join("".join(f"    {line}\n" for line in part) for part in parts)
    heads = ["Judge", *(escaped(heading) for heading in grid.columns.values())]
    return "\n".join(
        [
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{_caption(report, grid)}}}",
            f"  \\label{{{_label(report, grid)}}}",
            f"  \\begin{{tabular}}{{l{'r' * len(grid.columns)}}}",
            "    \\toprule",
            f"    {' & '.join(heads)} \\\\",
            "    \\midrule",
            f"{body}    \\bottomrule",
            "  \\end{tabular}",
            *notes.lines(),
            "\\end{table}",
        ]
    )


def _line(grid: Grid, judge: str, notes: _Notes) -> str:
    cells = [_cell(grid, (judge, column), notes) for column in grid.columns]
    return " & ".join([f"\\texttt{{{escaped(judge)}}}", *cells]) + " \\\\"


def _cell(grid: Grid, at: tuple[str, str], notes: _Notes) -> str:
    """Return value, interval and marks; a dash and the reason where there is no value."""
    row = grid.rows.get(at)
    if row is None:
        return f"--\\textsuperscript{{{notes.mark('not planned')}}}"
    marks = [grid.letters[at]] if at in grid.letters else []
    if row.value is None:
        marks.append(notes.mark(f"undefined: {words.spoken(row.note)}"))
    if row.n_missing:
        missing = f"{count(row.n_missing)} missing beside n = {count(row.n)}"
        marks.append(notes.mark(missing))
    if row.value is not None and NO_AGREEMENT in row.note:
        marks.append(notes.mark(NO_AGREEMENT))
    if row.value is not None and BELOW in row.note:
        marks.append("\\dag{}")
    told = escaped(interval(row))
    small = f" {{\\scriptsize {told}}}" if told else ""
    raised = f"\\textsuperscript{{{','.join(marks)}}}" if marks else ""
    return f"{escaped(short(row))}{small}{raised}"


def _caption(report: Report, grid: Grid) -> str:
    """Return what is measured, on what, by how many, and what the signs mean."""
    rows = list(grid.rows.values())
    dataset = next((one for one in report.datasets if one.id == grid.dataset), None)
    level = words.LEVELS.get(grid.level, (words.spoken(grid.level), ""))[0]
    about = ", ".join(filter(None, [words.label(grid.statistic), level]))
    same = ", ".join(_same(report, rows, grid))
    ends = any(row.lo is not None for row in rows)
    told = [
        f"{dataset.name if dataset else grid.dataset}: {about}{f' ({same})' if same else ''}"
        f"{', with 95 % intervals' if ends else ', without intervals'}",
        _sizes(rows),
        PLANNED.capitalize() if dataset and dataset.planned and grid.table == "agreement" else "",
        f"Table {grid.table} of study {report.study}",
        "Judges that share a letter are not told apart by a paired permutation test"
        if grid.letters
        else "",
        "† below at least one control"
        if any(BELOW in row.note and row.value is not None for row in rows)
        else "",
        NO_WIDTH_TOLD.removesuffix(".")
        if any(row.value is not None and interval(row).endswith(FLAT) for row in rows)
        else "",
        _few_systems(rows),
        "Below the line: controls" if grid.controls and grid.judges else "",
    ]
    return escaped(" ".join(f"{part}." for part in told if part))


def _same(report: Report, rows: Iterable[Row], grid: Grid) -> list[str]:
    """Return what all numbers have in common and no heading tells: an aspect, damage, a number."""
    found = list(rows)
    named = {
        "aspect": {report.aspect(row.judged) for row in found},
        "texts": {row.cell for row in found},
        "against": {row.judge_b for row in found},
        "k": {str(row.k or "") for row in found},
    }
    headed = set(grid.columns) | set(grid.columns.values())
    single = ((name, *values) for name, values in named.items() if len(values) == 1)
    return [f"{name} {value}" for name, value in single if value and value not in headed]


def _sizes(rows: Sequence[Row]) -> str:
    """Return the n behind the values, or its range; none where nothing is defined.

    A mean over aspects counts these.
    """
    told = []
    for means, of in ((False, ""), (True, " aspects behind an average")):
        own = (row for row in rows if (row.aspect == AVERAGE) == means and row.value is not None)
        sizes = sorted({row.n for row in own})
        if sizes:
            more = f" to {count(sizes[-1])}" if sizes[1:] else ""
            told.append(f"n = {count(sizes[0])}{more}{of}")
    return "; ".join(told)


def _few_systems(rows: Iterable[Row]) -> str:
    """Return what to know of correlations between few systems, "" where there are enough."""
    few = sorted(
        {row.n for row in rows if row.level == BETWEEN_SYSTEMS and row.value is not None}
        & set(range(ENOUGH_SYSTEMS))
    )
    if not few:
        return ""
    return (
        f"Only {count(few[0])} systems, fewer than {ENOUGH_SYSTEMS}: such a correlation describes "
        "these systems and says little of others"
    )


def _label(report: Report, grid: Grid) -> str:
    parts = (report.study, grid.table, grid.dataset, grid.statistic, grid.level)
    return "tab:" + re.sub(r"[^A-Za-z0-9]+", "-", "-".join(filter(None, parts)))
