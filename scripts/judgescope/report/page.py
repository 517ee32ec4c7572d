"""HTML pages from sections: those of the report, and its parts for Snakemake's own
report.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from html import unescape
from pathlib import Path
from textwrap import wrap

from jinja2 import Environment
from markupsafe import Markup, escape

from judgescope.core.errors import coded
from judgescope.core.files import write_text
from judgescope.core.names import SENTENCES, slug
from judgescope.report import elements
from judgescope.report.cells import ReportCell
from judgescope.report.charts import COLOURS, PALETTE
from judgescope.report.contents import sections_of
from judgescope.report.elements import (
    FRONT,
    SECTIONS,
    PageBlock,
    PageFigure,
    PageTable,
    Section,
)
from judgescope.report.html import environment_of, page_from
from judgescope.report.report import Report
from judgescope.report.sections.first import other_pages
from judgescope.report.sections.judges import foot, measured
from judgescope.report.sections.sentences import sentences
from judgescope.report.sections.spans import MOST_ERRORS
from judgescope.report.specs import ReportSpec

STYLES = ("report/style.css", "report/matrix.css")
"""The style sheets of a page of the report."""
SORTED = ("report/sort.js",)
"""The script of a page whose tables are sorted and not saved."""
SCRIPTS = (*SORTED, "report/csv.js")
"""The files of a page with tables: they are sorted, saved, and show their notes."""


@dataclass(frozen=True)
class _Patterns:
    """What is looked for in texts of ours and in finished pages."""

    ticks: re.Pattern[str] = re.compile(r"`([^`]*)`")
    score: re.Pattern[str] = re.compile(
        r"\b(D(?=_[a-z])|S(?=_[A-Z]))_(avg_exact|avg_ew|avg|min_exact|min_ew|min|ew|hmp|"
        r"exact|[TF])\b"
    )
    """A discernment score or a mean of drops, and its index."""
    size: re.Pattern[str] = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
    outward_link: re.Pattern[str] = re.compile(
        r'<a href="[^"#][^"]*">(.*?)</a>', re.DOTALL
    )
    """A link to another page, and its text."""
    title: re.Pattern[str] = re.compile(r"<title>(.*?)</title>", re.DOTALL)


_FIND = _Patterns()


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
        (*STYLES, "report/marked.css"),
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
        if href.startswith("#"):
            return href
        return f"{root or ''}{href}"

    environment = environment_of("report")
    environment.filters |= {"inline": inline, "drawn": Markup, "answered": answered}
    environment.filters["table_cell"] = partial(table_cell, linked=linked)
    environment.filters["linked"] = linked
    environment.globals["long_tables"] = root is not None
    return environment


def table_cell(cell: ReportCell, linked: Callable[[str], str] = str) -> Markup:
    """Return a cell of a table as HTML; pages have tens of thousands. `linked`
    completes links.
    """
    parts = [f'<td class="{escape(cell.style)}"' if cell.style else "<td"]
    for name, number in cell.exact:
        parts.append(f' data-{name}="{escape(number)}"')
    parts.append(f' title="{escape(cell.title)}">' if cell.title else ">")
    text = escape(cell.text)
    if cell.href:
        text = Markup('<a href="{}">{}</a>').format(linked(cell.href), text)
    parts.append(text)
    if cell.mark:
        parts.append(f"<sup>{escape(cell.mark)}</sup>")
    smalls = [cell.interval, *cell.notes] if cell.interval else cell.notes
    for small in smalls:
        parts.append(f"<small>{escape(small)}</small>")
    parts.append("</td>")
    return Markup("".join(parts))


def inline(text: str) -> Markup:
    """Return our own sentences as HTML: `code` in ticks, the scores with their index
    below.

    Everything is escaped first, so that quoted text stays text.
    """

    def with_index(score: re.Match[str]) -> str:
        index = score[2].replace("_", " ")
        return f"<var>{score[1]}</var><sub>{index}</sub>"

    with_code = _FIND.ticks.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(_FIND.score.sub(with_index, with_code))


def answered(text: str) -> Markup:
    """Return the sentence of a page as HTML: judges in ticks stand out."""
    return Markup(_FIND.ticks.sub(r"<em>\1</em>", str(escape(text))))


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
    write_text(folder / "index.html", first_page(report, sections))
    (folder / SECTIONS).mkdir(parents=True, exist_ok=True)
    for section in sections:
        shown = fitted(section)
        if section.id not in FRONT:
            page = render(report, [shown], sections, "../")
            write_text(folder / section.href, page)
        for table in every_block(shown.blocks):
            alone_fits = isinstance(table, PageTable) and not table.elsewhere
            if alone_fits and isinstance(table, PageTable) and table.too_long:
                complete = replace(table, whole=True)
                of_table = replace(section, lead="", blocks=[complete])
                page = render(report, [of_table], sections, "../")
                write_text(folder / table.page, page)


@dataclass(frozen=True)
class PageBudget:
    """How large a page may be, and what its parts weigh, in bytes."""

    section: int = 300_000
    frame: int = 45_000
    """Style, script and head."""
    cell: int = 240
    line: int = 130
    block: int = 400

    def table(self, table: PageTable) -> int:
        """Return what a table weighs."""
        lines = sum(len(body.lines) for body in table.bodies)
        return self.cell * table.cells + self.line * lines


BUDGET = PageBudget()


def fitted(section: Section) -> Section:
    """Return a section whose page is not too long: its largest tables are left to their
    files.
    """
    spare = BUDGET.section - BUDGET.frame
    blocks = list(section.blocks)
    for block in every_block(section.blocks):
        # A table that would make a page of its own too long is left to its file, too.
        if isinstance(block, PageTable) and BUDGET.table(block) > spare:
            blocks = [without(each, block) for each in blocks]
    # A table with fewer cells is never left out.
    most_kept = 60
    while True:
        every = list(every_block(blocks))
        drawn = sum(len(b.svg) for b in every if isinstance(b, PageFigure))
        tables = []
        for b in every:
            if isinstance(b, PageTable) and not b.too_long:
                tables.append(b)
        weight = drawn + BUDGET.block * len(every)
        weight += sum(map(BUDGET.table, tables))
        largest = max(tables, key=BUDGET.table, default=None)
        if weight <= spare or largest is None or largest.cells < most_kept:
            return replace(section, blocks=blocks)
        blocks = [without(block, largest) for block in blocks]


def without(block: PageBlock, table: PageTable) -> PageBlock:
    """Return a block in which a table only says where it is."""
    if block is table:
        return replace(table, elsewhere=True)
    if isinstance(block, elements.Fold):
        parts = [without(part, table) for part in block.blocks]
        return replace(block, blocks=parts)
    if isinstance(block, elements.Beside):
        left = [without(part, table) for part in block.left]
        right = [without(part, table) for part in block.right]
        return replace(block, left=left, right=right)
    if isinstance(block, PageFigure) and block.table is table:
        return replace(block, table=replace(table, elsewhere=True))
    return block


def first_page(report: Report, sections: Sequence[Section]) -> str:
    """Return the page that answers first, with the list of the other pages."""
    [front] = [section for section in sections if section.id in FRONT]
    answer, *details = front.blocks
    others = [section for section in sections if section.id not in FRONT]
    return page_from(
        filled("").get_template("first.html.jinja"),
        STYLES,
        SCRIPTS,
        study=report.study,
        answer=answer,
        found=details,
        more=[other_pages(report, others)],
        foot=foot(report),
    )


def every_block(blocks: Iterable[PageBlock]) -> Iterator[PageBlock]:
    """Yield blocks and those within them: of folds, beside others, and tables of
    figures.
    """
    for block in blocks:
        yield block
        if isinstance(block, elements.Fold):
            yield from every_block(block.blocks)
        elif isinstance(block, elements.Beside):
            yield from every_block([*block.left, *block.right])
        elif isinstance(block, PageFigure):
            yield block.table


def unlinked(page: str) -> str:
    """Return a page without links to the report's neighbours: its parts lie
    elsewhere.
    """
    return _FIND.outward_link.sub(r"\1", page)


def figures_of(blocks: Iterable[PageBlock]) -> Iterator[PageFigure]:
    """Yield the figures among blocks, also those that are shown on demand."""
    return (block for block in every_block(blocks) if isinstance(block, PageFigure))


def alone(figure: PageFigure, line_characters: int = 90) -> str:
    """Return a figure as a whole file: on white, with its title, its summary and its
    legend.

    Its title is broken into lines of so many characters.
    """
    size = _FIND.size.search(figure.svg)
    assert size, "our own charts say how large they are"
    template = filled().get_template("figure.svg.jinja")
    file = template.render(
        figure=figure,
        titles=wrap(figure.title, line_characters),
        width=float(size[1]),
        height=float(size[2]),
        ink=PALETTE.ink,
        colours=COLOURS,
    )
    return coded(file)


def title_of(path: str | Path) -> str:
    """Return the title of a figure's or a section's file, as a label of Snakemake's
    report.
    """
    title = _FIND.title.search(Path(path).read_text(encoding="utf-8"))
    # Characters that a label may not have: Snakemake fills braces and writes labels
    # into a script.
    plain_signs = str.maketrans({"<": "‹", ">": "›", "{": "(", "}": ")", "\n": " "})
    if title:
        return unescape(title[1]).translate(plain_signs)
    return Path(path).stem


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
    verdicts = json.dumps(sentences(contents), ensure_ascii=False, indent=2)
    write_text(output.with_name(SENTENCES), f"{verdicts}\n")
    write_parts(contents, sections, Path(spec.figures), Path(spec.sections))


def delete_stale(paths: Iterable[Path], names: Collection[str], what: str) -> None:
    """Delete files that an earlier state of the study left: they would pass for this
    one's.
    """
    for path in sorted(paths):
        if path.stem in names:
            continue
        print(f"deleted, because the study no longer has this {what}: {path}")
        path.unlink()
