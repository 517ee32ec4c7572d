"""The report in parts: a file for each figure and each section, for Snakemake's own report."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from textwrap import wrap

from judgescope.core.slugs import slug
from judgescope.report.charts import COLOURS, INK
from judgescope.report.elements import Block, Figure, Fold, Key, Link, Section, Table, Verdict
from judgescope.report.html import writable
from judgescope.report.page import render
from judgescope.report.report import Report

SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
BESIDE = re.compile(r'<a href="[^"#][^"]*">(.*?)</a>', re.DOTALL)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
LINE, EDGE, ACROSS = 20, 10, 90
"""Pixels of a line of text and around a figure; characters of a title's line."""
PLAIN = str.maketrans({"<": "‹", ">": "›", "{": "(", "}": ")", "\n": " "})
"""What a label may not have: Snakemake fills braces, and writes it into a script as it is."""


def write_parts(
    report: Report, templates: Path, sections: Iterable[Section], figures: Path, pages: Path
) -> None:
    """Write `<section>/<number>-<title>.svg` into one folder, `<section>.html` into another."""
    for folder in (figures, pages):
        folder.mkdir(parents=True, exist_ok=True)
    for section in sections:
        _write(pages / f"{section.id}.html", unlinked(render(report, templates, [section])))
        for number, figure in enumerate(figures_of(section.blocks), 1):
            name = f"{number:02d}-{slug(figure.title)}.svg"
            _write(figures / section.id / name, alone(figure))


def write_long_tables(
    report: Report, templates: Path, sections: Iterable[Section], folder: Path
) -> None:
    """Write a page for each table that is too long to stand among others."""
    folder.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for table in long_tables(section.blocks):
            back = Link("The report", f"../index.html#{section.id}")
            alone = Section(section.id, section.title, "", [back, replace(table, whole=True)])
            page = render(report, templates, [alone])
            _write(folder / Path(table.page).name, page)


def long_tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """Yield the tables that are too long, wherever they stand."""
    for block in blocks:
        if isinstance(block, Fold):
            yield from long_tables(block.blocks)
        table = block.table if isinstance(block, Figure) else block
        table = table.evidence if isinstance(table, Verdict) else table
        if isinstance(table, Table) and table.too_long:
            yield table


def unlinked(page: str) -> str:
    """Return a page without the ways to pages that lie beside the report, not beside its parts."""
    return BESIDE.sub(r"\1", page)


def figures_of(blocks: Iterable[Block]) -> Iterator[Figure]:
    """Yield the figures among blocks, also those that are shown on demand."""
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Fold):
            yield from figures_of(block.blocks)


def alone(figure: Figure) -> str:
    """Return a figure as a whole file: on white, with its title, its summary and its legend."""
    found = SIZE.search(figure.svg)
    assert found, "our own charts say how large they are"
    width, height = (float(one) + 2 * EDGE for one in found.groups())
    titles = wrap(figure.title, ACROSS)
    top = LINE * len(titles) + EDGE
    whole = height + top + LINE * len(figure.keys)
    size = f'width="{width:g}" height="{whole:g}" viewBox="0 0 {width:g} {whole:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="sans-serif">',
        f"<title>{escape(figure.title)}</title>",
        f"<desc>{escape(figure.summary)}</desc>",
        f'<rect width="{width:g}" height="{whole:g}" fill="#ffffff"/>',
        *(_line(EDGE + LINE * at, one, bold=True) for at, one in enumerate(titles)),
        f'<g transform="translate({EDGE} {top + EDGE})">{figure.svg}</g>',
        *(_legend(top + height + LINE * at, key) for at, key in enumerate(figure.keys)),
        "</svg>",
    ]
    return writable("\n".join(lines)) + "\n"


def title_of(path: str | Path) -> str:
    """Return the title of a figure's or a section's file, as a label of Snakemake's report."""
    found = TITLE.search(Path(path).read_text(encoding="utf-8"))
    return unescape(found[1]).translate(PLAIN) if found else Path(path).stem


def _line(y: float, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{EDGE}" y="{y + EDGE:g}" font-size="13" fill="{INK}"'
    return f"<text {place}{weight}>{escape(text)}</text>"


def _legend(y: float, key: Key) -> str:
    sign = f'<tspan fill="{COLOURS.get(key.style, INK)}">{escape(key.sign)}</tspan>'
    place = f'x="{EDGE}" y="{y:g}" font-size="12" fill="{INK}"'
    return f"<text {place}>{sign} {escape(key.text)}</text>"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
