"""HTML pages from sections: those of the report, and its parts for Snakemake's own
report.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from html import unescape
from pathlib import Path
from textwrap import wrap

from jinja2 import Environment
from markupsafe import Markup, escape

from judgescope.core.errors import coded
from judgescope.core.files import write_text
from judgescope.core.names import slug
from judgescope.report import elements
from judgescope.report.cells import Cell
from judgescope.report.charts import COLOURS, INK
from judgescope.report.elements import FRONT, SECTIONS, Block, Figure, Section, Table
from judgescope.report.html import environment_of, page_from
from judgescope.report.report import Report
from judgescope.report.sections import sections_of
from judgescope.report.sections.judges import measured
from judgescope.report.sections.spans import MOST_ERRORS
from judgescope.report.specs import ReportSpec

TICKS = re.compile(r"`([^`]*)`")
STYLE, SCRIPTS = "report/style.css", ("report/sort.js", "report/csv.js")
"""The files of a page with tables: they are sorted, saved, and show their notes."""
SCORE = re.compile(
    r"\b(D(?=_[a-z])|S(?=_[A-Z]))_(avg_exact|avg_ew|avg|min_exact|min_ew|min|ew|hmp|"
    r"exact|[TF])\b"
)
SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
BESIDE = re.compile(r'<a href="[^"#][^"]*">(.*?)</a>', re.DOTALL)
SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")
"""The separator of sentences."""
GALLERY_LEAD = "Each section has a page of its own, with all its figures and tables."
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
ACROSS = 90
"""Characters of a line of a figure's title."""
PLAIN = str.maketrans({"<": "‹", ">": "›", "{": "(", "}": ")", "\n": " "})
"""Characters that a label may not have: Snakemake fills braces and writes labels into a
script."""


def render(
    report: Report,
    sections: Sequence[Section],
    contents: Sequence[Section] = (),
    root: str | None = None,
) -> str:
    """Return a page of these sections; the same text for the same report.

    `contents` are all sections of the report, to which the page leads; without them it
    leads to those that it has. `root` is the way from the page to the folder of the
    report, None of a page that lies elsewhere.
    """
    return page_from(
        filled(root).get_template("index.html.jinja"),
        [STYLE],
        SCRIPTS,
        study=report.study,
        measured=measured(report),
        sections=sections,
        contents=contents,
        errors=range(1, MOST_ERRORS + 1),
    )


@cache
def filled(root: str | None = None) -> Environment:
    """Return what fills the report's templates: each is compiled once for all pages.

    `root` stands before every link to another page; without it, long tables have no
    pages.
    """

    def linked(href: str) -> str:
        return href if href.startswith("#") else f"{root or ''}{href}"

    environment = environment_of("report")
    environment.filters |= {"inline": inline, "drawn": Markup}
    environment.filters["table_cell"] = partial(table_cell, linked=linked)
    environment.filters["linked"] = linked
    environment.globals["long_tables"] = root is not None
    return environment


def table_cell(cell: Cell, linked: Callable[[str], str] = str) -> Markup:
    """Return a cell of a table as HTML; pages have tens of thousands. `linked`
    completes links.
    """
    parts = [f'<td class="{escape(cell.style)}"']
    parts += [f' data-{name}="{escape(number)}"' for name, number in cell.exact]
    parts.append(f' title="{escape(cell.title)}">' if cell.title else ">")
    text = escape(cell.text)
    if cell.href:
        text = Markup('<a href="{}">{}</a>').format(linked(cell.href), text)
    parts.append(text)
    parts.append(f"<sup>{escape(cell.mark)}</sup>" if cell.mark else "")
    parts += [
        f"<small>{escape(small)}</small>"
        for small in (cell.interval, *cell.notes)[not cell.interval :]
    ]
    return Markup("".join([*parts, "</td>"]))


def inline(text: str) -> Markup:
    """Return our own sentences as HTML: `code` in ticks, the scores with their index
    below.

    Everything is escaped first, so that quoted text stays text.
    """
    with_code = TICKS.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(
        SCORE.sub(
            lambda at: f"<var>{at[1]}</var><sub>{at[2].replace('_', ' ')}</sub>",
            with_code,
        )
    )


# --- parts of the report --------------------------------------------------------------


def write_parts(
    report: Report, sections: Iterable[Section], figures: Path, pages: Path
) -> None:
    """Write `<section>/<number>-<title>.svg` into one folder, `<section>.html` into
    another.
    """
    figures.mkdir(parents=True, exist_ok=True)
    for section in sections:
        write_text(pages / f"{section.id}.html", unlinked(render(report, [section])))
        for number, figure in enumerate(figures_of(section.blocks), 1):
            name = f"{number:02d}-{slug(figure.title)}.svg"
            write_text(figures / section.id / name, alone(figure))


def write_pages(report: Report, sections: Sequence[Section], folder: Path) -> None:
    """Write the first page, and a page for each other section and each long table."""
    by_id = {section.id: section for section in sections}
    front = [by_id[name] for name in FRONT if name in by_id]
    front.insert(1, gallery(sections))
    write_text(folder / "index.html", render(report, front, sections, ""))
    (folder / SECTIONS).mkdir(parents=True, exist_ok=True)
    for section in sections:
        if section.id not in FRONT:
            page = render(report, [section], sections, "../")
            write_text(folder / section.href, page)
        for table in every_block(section.blocks):
            if isinstance(table, Table) and table.too_long:
                whole = replace(section, lead="", blocks=[replace(table, whole=True)])
                write_text(
                    folder / table.page, render(report, [whole], sections, "../")
                )


def gallery(sections: Iterable[Section]) -> Section:
    """Return the section of the first page that shows each other section at a
    glance.
    """
    groups: dict[str, list[elements.Picture]] = {}
    for section in sections:
        if section.id not in FRONT:
            figure = next(figures_of(section.blocks), None)
            line = SENTENCE.split(figure.summary if figure else section.lead)[0]
            drawn = figure.svg if figure else ""
            picture = elements.Picture(section.title, section.href, drawn, line)
            groups.setdefault(section.group, []).append(picture)
    pictures = elements.Gallery([*groups.items()])
    return Section("pictures", "Evidence", GALLERY_LEAD, [pictures])


def every_block(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks and those within them: of folds, of the first screen, and tables of
    figures.
    """
    for block in blocks:
        yield block
        if isinstance(block, elements.Fold):
            yield from every_block(block.blocks)
        elif isinstance(block, elements.Overview) and block.figure:
            yield from every_block([block.figure])
        elif isinstance(block, Figure):
            yield block.table


def unlinked(page: str) -> str:
    """Return a page without links to the report's neighbours: its parts lie
    elsewhere.
    """
    return BESIDE.sub(r"\1", page)


def figures_of(blocks: Iterable[Block]) -> Iterator[Figure]:
    """Yield the figures among blocks, also those that are shown on demand."""
    return (block for block in every_block(blocks) if isinstance(block, Figure))


def alone(figure: Figure) -> str:
    """Return a figure as a whole file: on white, with its title, its summary and its
    legend.
    """
    size = SIZE.search(figure.svg)
    assert size, "our own charts say how large they are"
    template = filled().get_template("figure.svg.jinja")
    width, height = map(float, size.groups())
    titles = wrap(figure.title, ACROSS)
    values = {"figure": figure, "titles": titles, "width": width, "height": height}
    return coded(template.render(**values, ink=INK, colours=COLOURS))


def title_of(path: str | Path) -> str:
    """Return the title of a figure's or a section's file, as a label of Snakemake's
    report.
    """
    found = TITLE.search(Path(path).read_text(encoding="utf-8"))
    return unescape(found[1]).translate(PLAIN) if found else Path(path).stem


def report(spec: ReportSpec) -> None:
    """Write the pages of the report, and its figures and sections as files of their
    own.
    """
    contents = Report.load(spec)
    sections = sections_of(contents)
    tables = Path(next(iter(spec.tables.values()))).parent
    delete_stale(
        [*tables.glob("*.csv"), *tables.glob("*.parquet")], spec.tables, "table"
    )
    output = Path(spec.output)
    if not spec.texts:  # pages of an earlier state of the study, too
        output.with_name("texts.html").unlink(missing_ok=True)
    write_pages(contents, sections, output.parent)
    write_parts(contents, sections, Path(spec.figures), Path(spec.sections))


def delete_stale(paths: Iterable[Path], names: Collection[str], what: str) -> None:
    """Delete files that an earlier state of the study left: they would pass for this
    one's.
    """
    for path in sorted(path for path in paths if path.stem not in names):
        print(f"deleted, because the study no longer has this {what}: {path}")
        path.unlink()
