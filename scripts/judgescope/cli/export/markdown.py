"""The blocks of the report as Markdown.

Names, licences and notes come from cards and data: all of it is written as text, whatever it holds.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from judgescope.cli.export.text import one_line
from judgescope.report.cells import Cell
from judgescope.report.elements import (
    Block,
    Facts,
    Figure,
    Fold,
    Heading,
    Link,
    Table,
    Text,
    Verdict,
)

SPECIAL = re.compile(r"([\\`*_\[\]{}|~#$])")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ENTITY = re.compile("[&<>]")
BEGINS = re.compile(r"^(?:[-+](?=[\s-]|$)|\d+[.)](?=\s|$))")
"""What makes a list or a rule of a line that begins with it."""
TICKS = re.compile(r"`([^`]*)`")


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line, also in a cell."""
    return BEGINS.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _within(text).strip())


def _within(text: str) -> str:
    """Return a part of a line; blanks at its ends part it from the others."""
    flat = _ENTITY.sub(lambda found: ENTITIES[found[0]], one_line(text))
    return SPECIAL.sub(r"\\\1", flat)


def code(text: str) -> str:
    """Return a text in the letters of code; one with a backtick or a bar as plain text."""
    flat = one_line(text).strip()
    return f"`{flat}`" if flat and not re.search(r"[`|]", flat) else escaped(flat)


def inline(text: str) -> str:
    """Return a sentence of the report, in which what stands in ticks is code."""
    parts = [code(part) if at % 2 else _within(part) for at, part in enumerate(TICKS.split(text))]
    return BEGINS.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", "".join(parts).strip())


def blocks(found: Iterable[Block], level: int = 3) -> list[str]:
    """Return the lines of blocks; headings among them have this level."""
    return [line for block in found for line in (*WRITERS[block.kind](block, level), "")]


def table(block: Table, level: int = 3) -> list[str]:
    """Return a table with its caption above and its notes below; a long one is only named."""
    caption = f"*{inline(block.caption)}*"
    if block.too_long:
        return [f"{caption} {block.too_long} rows: {inline(block.source or 'the result tables')}"]
    heads = [": ".join(filter(None, (c.group, c.text))) for c in block.columns]
    rows = [row([escaped(block.corner), *map(inline, heads)]), row(["---"] * (len(heads) + 1))]
    for body in block.bodies:
        if body.title:
            rows.append(row([f"**{inline(body.title)}**", *[""] * len(heads)]))
        for line in body.lines:
            head = code(line.head) if block.code and body.style != "sums" else escaped(line.head)
            about = "; ".join(filter(None, (line.badge, line.about)))
            rows.append(
                row([head + (f" ({escaped(about)})" if about else ""), *map(cell, line.cells)])
            )
    notes = ["", " ".join(map(inline, block.all_notes))] if block.all_notes else []
    return [caption, "", *rows, *notes]


def row(cells: Sequence[str]) -> str:
    """Return the line of a row."""
    return f"| {' | '.join(cells)} |"


def cell(told: Cell) -> str:
    """Return a cell: text, mark, interval, and what stands below it."""
    notes = f"({escaped('; '.join(told.notes))})" if told.notes else ""
    text = escaped(told.text) + (f" {escaped(told.mark)}" if told.mark else "")
    return " ".join(filter(None, (text, escaped(told.interval), notes)))


def _text(block: Text, level: int) -> list[str]:
    lines = [f"**{inline(block.text)}**" if block.style == "warning" else inline(block.text)]
    return [*lines, *(["", *(f"- {inline(item)}" for item in block.items)] if block.items else [])]


def _verdict(block: Verdict, level: int) -> list[str]:
    return [f"- {code(block.judge)}: {inline(block.sentence)}"]


def _facts(block: Facts, level: int) -> list[str]:
    shown = code if block.code else escaped
    return [f"- **{escaped(name)}**: {shown(told)}" for name, told in block.pairs]


def _figure(block: Figure, level: int) -> list[str]:
    return [f"**{inline(block.title)}.** {inline(block.summary)}", "", *table(block.table)]


def _heading(block: Heading, level: int) -> list[str]:
    return [f"{'#' * level} {inline(block.text)}"]


def _fold(block: Fold, level: int) -> list[str]:
    return [f"{'#' * (level + 1)} {inline(block.summary)}", "", *blocks(block.blocks, level + 1)]


def _link(block: Link, level: int) -> list[str]:
    return []


WRITERS: dict[str, Callable[[Any, int], list[str]]] = {
    "table": table,
    "text": _text,
    "verdict": _verdict,
    "facts": _facts,
    "figure": _figure,
    "heading": _heading,
    "fold": _fold,
    "link": _link,
}
"""Kind of block -> its lines. Links lead to pages that do not lie beside a card."""
