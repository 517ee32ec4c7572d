"""The report's blocks as Markdown, with all text from cards and data escaped."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from judgescope.core.errors import coded
from judgescope.report.cells import ReportCell
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.elements import (
    AnswerBlock,
    Beside,
    DamageTable,
    Facts,
    Fold,
    Heading,
    JudgeMatrix,
    Link,
    MatrixCell,
    MatrixLine,
    NextStep,
    NextSteps,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    SmallMultiples,
    TableLine,
)
from judgescope.report.matrix_maker import CHARACTERS


class _Patterns:
    """What Markdown would interpret."""

    breaks = re.compile("[ \\t\\r\\n\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]+")
    """Spaces and line breaks; thin spaces within numbers are kept."""
    special = re.compile(r"([\\`*_\[\]{}|~#$])")
    begins = re.compile(r"^(?:[-+](?=[\s-]|$)|\d+[.)](?=\s|$))")
    """The beginning that makes a line a list item or a rule."""
    entities: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def one_line(text: str) -> str:
    """Return a text on one line, with a code instead of each invisible character."""
    return coded(_Patterns.breaks.sub(" ", text))


def escaped(text: str) -> str:
    """Return a text on one line that Markdown shows unchanged, also in a cell of a
    table.
    """
    return _no_list(_escaped_part(text))


def _escaped_part(text: str) -> str:
    """Return a part of a line; blanks at its ends separate it from the others."""
    return _Patterns.special.sub(r"\\\1", one_line(text).translate(_Patterns.entities))


def _no_list(line: str) -> str:
    """Return a line that does not begin a list."""
    return _Patterns.begins.sub(
        lambda match: f"{match[0][:-1]}\\{match[0][-1]}", line.strip()
    )


def code(text: str) -> str:
    """Return a text as code, or as plain text if it contains a backtick or a bar."""
    flat = one_line(text).strip()
    if flat and not re.search(r"[`|]", flat):
        return f"`{flat}`"
    return escaped(flat)


def inline(text: str) -> str:
    """Return a sentence of the report, in which backticks enclose code."""
    parts = []
    for number, part in enumerate(re.split(r"`([^`]*)`", text)):
        is_code = number % 2 == 1
        parts.append(code(part) if is_code else _escaped_part(part))
    return _no_list("".join(parts))


def row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def blocks(report_blocks: Iterable[PageBlock], level: int = 3) -> list[str]:
    """Return the lines of blocks; headings among them have this level."""
    lines = []
    for block in report_blocks:
        lines += _lines(block, level)
        lines.append("")
    return lines


def _lines(block: PageBlock, level: int) -> list[str]:
    match block:
        case PageTable():
            return _table(block)
        case Paragraph():
            text = inline(block.text)
            lines = [f"**{text}**" if block.style == "warning" else text]
            if block.items:
                lines.append("")
                lines += [f"- {inline(item)}" for item in block.items]
            return lines
        case AnswerBlock():
            return [f"**{inline(block.text)}**", "", escaped(block.deck)]
        case JudgeMatrix():
            return list(_matrix(block))
        case NextSteps():
            return [f"{'#' * level} {block.title}", "", *map(_step, block.steps)]
        case DamageTable():
            return list(_damage(block, level))
        case Beside():
            return blocks([*block.left, *block.right], level)
        case SmallMultiples():  # pictures have no Markdown; their numbers stand beside
            return []
        case Facts():
            shown = code if block.code else escaped
            return [
                f"- **{escaped(name)}**: {shown(value)}" for name, value in block.pairs
            ]
        case PageFigure():
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


def _matrix(block: JudgeMatrix) -> Iterator[str]:
    """Yield the matrix as a table, and the signs below it."""
    heads = []
    for column in block.columns:
        heads.append(escaped(": ".join(filter(None, (column.group, column.title)))))
    yield row(["Judge", *heads])
    yield row(["---"] * (len(heads) + 1))
    for line in (*block.people, *block.lines, *block.rest, *block.rules):
        yield row([_line_head(line), *_matrix_cells(line, len(heads))])
    yield ""
    signs = zip(CHARACTERS.values(), SIGN_WORDS.values(), strict=True)
    yield "; ".join(f"{sign} {escaped(words)}" for sign, words in signs)
    if block.foot:
        yield ""
        yield escaped(block.foot)


def _line_head(line: MatrixLine) -> str:
    if line.href:
        return code(line.head)
    return escaped(line.head)


def _matrix_cells(line: MatrixLine, width: int) -> list[str]:
    """The cells of a line; one that spans columns is followed by empty ones."""
    cells: list[str] = []
    for cell in line.cells:
        cells.append(_matrix_cell(cell))
        cells += [""] * (cell.span - 1)
    return [*cells, *[""] * (width - len(cells))]


def _matrix_cell(cell: MatrixCell) -> str:
    parts = (cell.mark, cell.value, cell.more, f"({cell.below})" if cell.below else "")
    return escaped(" ".join(filter(None, parts)))


def _step(step: NextStep) -> str:
    """One thing to do, as an item of a list."""
    command = f" {code(step.command)}" if step.command else ""
    return f"- **{escaped(step.point)}** {escaped(step.why)}{command}"


def _damage(block: DamageTable, level: int) -> Iterator[str]:
    """Yield the shares of damage noticed as a table."""
    yield f"{'#' * level} {escaped(block.title)}"
    yield ""
    yield escaped(block.lead)
    yield ""
    yield row(["Damage", *(code(name) for name, _ in block.judges)])
    yield row(["---"] * (len(block.judges) + 1))
    for title, lines in block.bodies:
        yield row([f"**{escaped(title)}**", *[""] * len(block.judges)])
        for name, _, cells in lines:
            yield row([escaped(name), *(escaped(cell.text) for cell in cells)])


def _table(block: PageTable) -> list[str]:
    """Return a table with its caption above and its notes below; a long one is only
    named.
    """
    caption = f"*{inline(block.caption)}*"
    if block.too_long:
        source = inline(block.source or "the result tables")
        return [f"{caption} {block.too_long} rows: {source}"]
    heads = [inline(column.heading) for column in block.columns]
    lines = [caption, "", row([escaped(block.corner), *heads])]
    lines.append(row(["---"] * (len(heads) + 1)))
    for body in block.bodies:
        if body.title:
            empty = [""] * len(heads)
            lines.append(row([f"**{inline(body.title)}**", *empty]))
        as_code = block.code and body.style != "sums"
        for line in body.lines:
            lines.append(row([_head(line, as_code), *map(_cell, line.cells)]))
    if block.all_notes:
        lines += ["", " ".join(map(inline, block.all_notes))]
    return lines


def _head(line: TableLine, as_code: bool) -> str:
    head = code(line.head) if as_code else escaped(line.head)
    about = "; ".join(filter(None, (line.badge, line.about)))
    return f"{head} ({escaped(about)})" if about else head


def _cell(cell: ReportCell) -> str:
    """Return text, mark, interval and notes of a cell."""
    notes = ""
    if cell.notes:
        notes = f"({escaped('; '.join(cell.notes))})"
    parts = (escaped(cell.text), escaped(cell.mark), escaped(cell.interval), notes)
    return " ".join(filter(None, parts))
