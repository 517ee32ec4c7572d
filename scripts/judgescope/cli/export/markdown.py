"""The report's blocks as Markdown, with all text from cards and data escaped."""

import re
from collections.abc import Iterable, Iterator, Sequence

from judgescope.core.errors import coded
from judgescope.report.cells import Cell
from judgescope.report.elements import (
    Block,
    Facts,
    Figure,
    Fold,
    Heading,
    Line,
    Link,
    Overview,
    Table,
    Text,
)

BREAKS = re.compile("[ \\t\\r\\n\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]+")
"""Spaces and line breaks; thin spaces within numbers are kept."""
SPECIAL = re.compile(r"([\\`*_\[\]{}|~#$])")
ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
BEGINS = re.compile(r"^(?:[-+](?=[\s-]|$)|\d+[.)](?=\s|$))")
"""The beginning that makes a line a list item or a rule."""
TICKS = re.compile(r"`([^`]*)`")


def one_line(text: str) -> str:
    """Return a text on one line, with a code instead of each invisible character."""
    return coded(BREAKS.sub(" ", text))


def escaped(text: str) -> str:
    """Return a text on one line that Markdown shows unchanged, also in a cell of a
    table.
    """
    return _no_list(_escaped_part(text))


def _escaped_part(text: str) -> str:
    """Return a part of a line; blanks at its ends separate it from the others."""
    return SPECIAL.sub(r"\\\1", one_line(text).translate(ENTITIES))


def _no_list(line: str) -> str:
    return BEGINS.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", line.strip())


def code(text: str) -> str:
    """Return a text as code, or as plain text if it contains a backtick or a bar."""
    flat = one_line(text).strip()
    return f"`{flat}`" if flat and not re.search(r"[`|]", flat) else escaped(flat)


def inline(text: str) -> str:
    """Return a sentence of the report, in which backticks enclose code."""
    parts = TICKS.split(text)
    parts[::2] = map(_escaped_part, parts[::2])
    parts[1::2] = map(code, parts[1::2])
    return _no_list("".join(parts))


def row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def blocks(report_blocks: Iterable[Block], level: int = 3) -> list[str]:
    """Return the lines of blocks; headings among them have this level."""
    return [line for block in report_blocks for line in (*_lines(block, level), "")]


def _lines(block: Block, level: int) -> list[str]:
    match block:
        case Table():
            return _table(block)
        case Text():
            text = inline(block.text)
            items = (
                ["", *(f"- {inline(item)}" for item in block.items)]
                if block.items
                else []
            )
            return [f"**{text}**" if block.style == "warning" else text, *items]
        case Overview():
            return list(_overview(block, level))
        case Facts():
            shown = code if block.code else escaped
            return [
                f"- **{escaped(name)}**: {shown(value)}" for name, value in block.pairs
            ]
        case Figure():
            title = f"**{inline(block.title)}.** {inline(block.summary)}"
            return [title, "", *_table(block.table)]
        case Heading():
            return [f"{'#' * level} {inline(block.text)}"]
        case Fold():
            title = f"{'#' * (level + 1)} {inline(block.summary)}"
            return [title, "", *blocks(block.blocks, level + 1)]
        case Link():  # links to pages that are not part of the card
            return []
    raise TypeError(f"a block of kind {block.kind} has no Markdown")


def _overview(block: Overview, level: int) -> Iterator[str]:
    """Yield bars and answers as lists, the matrix as a table, its legend, and the
    figure.
    """
    standings = [one for _, group in block.groups for one in group]
    yield from (f"- {inline(bar)}" for bar in block.bars)
    yield from (
        f"- {code(one.judge)}: {inline(one.answer)}" for one in standings if one.answer
    )
    if block.columns:
        heads = [inline(column.heading) for column in block.columns]
        yield from ("", row(["Judge", *heads]), row(["---"] * (len(heads) + 1)))
        for one in standings:
            marks = (escaped(f"{mark.sign} {mark.text}".strip()) for mark in one.marks)
            yield row([code(one.judge), *marks])
        yield from (
            "",
            "; ".join(f"{sign} {escaped(text)}" for _, sign, text in block.steps),
        )
    if block.figure:
        yield from ("", *_lines(block.figure, level))


def _table(block: Table) -> list[str]:
    """Return a table with its caption above and its notes below; a long one is only
    named.
    """
    caption = f"*{inline(block.caption)}*"
    if block.too_long:
        return [
            f"{caption} {block.too_long} rows: "
            f"{inline(block.source or 'the result tables')}"
        ]
    heads = [inline(column.heading) for column in block.columns]
    rows = [row([escaped(block.corner), *heads]), row(["---"] * (len(heads) + 1))]
    for body in block.bodies:
        if body.title:
            rows.append(row([f"**{inline(body.title)}**", *[""] * len(heads)]))
        as_code = block.code and body.style != "sums"
        rows += [
            row([_head(line, as_code), *map(_cell, line.cells)]) for line in body.lines
        ]
    notes = ["", " ".join(map(inline, block.all_notes))] if block.all_notes else []
    return [caption, "", *rows, *notes]


def _head(line: Line, as_code: bool) -> str:
    head = code(line.head) if as_code else escaped(line.head)
    about = "; ".join(filter(None, (line.badge, line.about)))
    return f"{head} ({escaped(about)})" if about else head


def _cell(cell: Cell) -> str:
    """Return text, mark, interval and notes of a cell."""
    notes = f"({escaped('; '.join(cell.notes))})" if cell.notes else ""
    parts = (escaped(cell.text), escaped(cell.mark), escaped(cell.interval), notes)
    return " ".join(filter(None, parts))
