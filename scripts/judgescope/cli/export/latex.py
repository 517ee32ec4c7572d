"""The tables of a report for LaTeX, with the rules of booktabs: values, intervals, footnotes.

Names come from cards and data: everything that LaTeX would interpret is escaped.
"""

import re
from collections.abc import Mapping

from judgescope.cli.export.markdown import one_line
from judgescope.report.cells import FLAT, Cell
from judgescope.report.elements import Body, Table
from judgescope.report.report import Report
from judgescope.report.words import DASH, MINUS, THIN

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
"""Brackets are not escaped: a row begins with a command, never with a name."""
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))


def escaped(text: str) -> str:
    """Return a text on one line that LaTeX prints unchanged.

    Letters of other scripts are kept: they need an engine that supports them, such as LuaLaTeX.
    """
    return _SPECIAL.sub(lambda match: SPECIAL[match[0]], one_line(text).strip())


def document(report: Report, tables: Mapping[str, Table]) -> str:
    """Return tables, by label, as a file to be \\input; its document needs the package booktabs."""
    head = f"% \\usepackage{{booktabs}}   study {report.study}, seed {report.spec.study.seed}"
    written = (_table(label, table) for label, table in tables.items())
    return "\n\n".join([head, *written]) + "\n"


def _table(label: str, table: Table) -> str:
    footnotes: dict[str, int] = {}
    bodies = [line for body in table.bodies for line in _body(table, body, footnotes)]
    notes = [f"\\textsuperscript{{{at}}} {escaped(text)}." for text, at in footnotes.items()]
    notes += map(escaped, table.all_notes)
    if [body.style for body in table.bodies][1:] == ["controls"]:
        notes.append("Below the line: controls.")
    below = ["  \\par\\smallskip", f"  {{\\footnotesize {' '.join(notes)}\\par}}"] if notes else []
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


def _body(table: Table, body: Body, footnotes: dict[str, int]) -> list[str]:
    head = "\\texttt{%s}" if table.code and body.style != "sums" else "{%s}"
    rows = [
        [head % escaped(line.head), *(_cell(cell, footnotes) for cell in line.cells)]
        for line in body.lines
    ]
    if body.title:
        width = len(table.columns) + 1
        rows.insert(0, [f"\\multicolumn{{{width}}}{{l}}{{\\emph{{{escaped(body.title)}}}}}"])
    return ["    \\midrule", *(f"    {' & '.join(row)} \\\\" for row in rows)]


def _cell(cell: Cell, footnotes: dict[str, int]) -> str:
    """Return text, interval and marks; `footnotes` numbers notes in the order of their use."""
    marks = [escaped(cell.mark)] if cell.mark else []
    marks += [str(footnotes.setdefault(note, len(footnotes) + 1)) for note in cell.notes]
    small = f" {{\\scriptsize {escaped(cell.interval)}}}" if cell.interval else ""
    raised = f"\\textsuperscript{{{','.join(marks)}}}" if marks else ""
    return f"{escaped(cell.text)}{small}{raised}"
