"""From a report to one HTML file that needs nothing else."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup, escape

from judgescope.report.elements import Cell, Section
from judgescope.report.html import environment_of, finished
from judgescope.report.report import Report
from judgescope.report.sections import SECTIONS
from judgescope.report.sections.judges import measured
from judgescope.report.sections.spans import MOST_ERRORS

TICKS = re.compile(r"`([^`]*)`")
SCRIPTS = ("sort.js", "csv.js")
SCORE = re.compile(
    r"\b(?:(D)_(avg_exact|avg_ew|avg|min_exact|min_ew|min|ew|hmp|exact)|(S)_([TF]))\b"
)


def sections_of(report: Report) -> list[Section]:
    """Return the sections that the study has something for."""
    return [made for make in SECTIONS if (made := make(report)) is not None]


def render(report: Report, templates: Path, sections: Sequence[Section] | None = None) -> str:
    """Return the page; the same text for the same report and templates.

    With `sections` these, where not all of the report's are wanted or they are there already.
    """
    told = sections_of(report) if sections is None else sections
    # a section by itself lies elsewhere than the pages of tables
    environment = filled(templates, long_tables=len(told) > 1)
    style = (templates / "style.css").read_text(encoding="utf-8")
    script = table_script(templates)
    page = environment.get_template("index.html.jinja").render(
        study=report.study,
        measured=measured(report),
        sections=told,
        style=Markup(style),
        errors=range(1, MOST_ERRORS + 1),
        script=Markup(script),
    )
    return finished(page, script)


@cache
def filled(templates: Path, *, long_tables: bool = False) -> Environment:
    """Return what fills the report's templates: each is compiled once for all pages."""
    environment = environment_of(templates)
    environment.filters |= {"inline": inline, "drawn": Markup, "table_cell": table_cell}
    if long_tables:
        environment.globals["long_tables"] = True
    return environment


def table_script(templates: Path) -> str:
    """Return the one script of a page with tables: they are sorted, saved, and tell their notes."""
    return "".join((templates / name).read_text(encoding="utf-8") for name in SCRIPTS)


def table_cell(cell: Cell) -> Markup:
    """Return a cell of a table as HTML; pages have tens of thousands."""
    parts = [f'<td class="{escape(cell.style)}"']
    parts += [f' data-{name}="{escape(number)}"' for name, number in cell.exact]
    parts.append(f' title="{escape(cell.title)}">' if cell.title else ">")
    parts.append(escape(cell.text))
    parts.append(f"<sup>{escape(cell.mark)}</sup>" if cell.mark else "")
    parts += [
        f"<small>{escape(small)}</small>"
        for small in (cell.interval, *cell.notes)[not cell.interval :]
    ]
    return Markup("".join([*parts, "</td>"]))


def inline(text: str) -> Markup:
    """Return our own sentences as HTML: `code` in ticks, the scores with their index below.

    Everything is escaped first, so that what a sentence quotes stays text.
    """
    coded = TICKS.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(SCORE.sub(_below, coded))


def _below(found: re.Match[str]) -> str:
    name, below = found[1] or found[3], found[2] or found[4]
    return f"<var>{name}</var><sub>{below.replace('_', ' ')}</sub>"
