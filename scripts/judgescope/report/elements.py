"""What a page is made of: sections of blocks, and the cells of tables. No HTML, no method."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from judgescope.core.slugs import slug
from judgescope.report import words
from judgescope.report.marked import Piece
from judgescope.report.rows import Place, Row
from judgescope.statistics.jackknife import CORRELATION, FEWEST_SOURCES
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import NO_WIDTH

LONGEST = 600
"""A table with more rows has a page of its own."""
LONG_TABLES = "long"
"""The folder of these pages, beside the report."""
FLAT = "°"
NO_WIDTH_TOLD = (
    f"{FLAT} No width: the value is the same without any one source, or differs in ties alone. "
    "That is no certainty: other sources may differ."
)
LONG = 1000
"""Characters of remarks on overlapping errors that need no scrolling."""
SHADE_STEPS = (0.1, 0.25, 0.5, 0.75)
"""Shares at which the next shade begins."""


@dataclass(frozen=True)
class Cell:
    """One cell: its text, the interval and small print below it, and a title with the counts.

    `sort` is the number by which a column is sorted; `style` a class of the style sheet, `mark` a
    sign whose meaning stands below the table. `row` is the estimate that is shown, if it is one.
    """

    text: str
    interval: str = ""
    notes: tuple[str, ...] = ()
    title: str = ""
    sort: float | None = None
    style: str = "number"
    mark: str = ""
    row: Row | None = None

    @property
    def exact(self) -> list[tuple[str, str]]:
        """Return the numbers behind the cell, unrounded, by the names of its attributes."""
        values = {"v": self.sort}
        if row := self.row:
            values |= {"lo": row.lo, "hi": row.hi, "n": row.n}
            values |= {"missing": row.n_missing or None, "tied": row.n_tied or None}
        return [(name, words.exact(value)) for name, value in values.items() if value is not None]

    @property
    def flat(self) -> bool:
        """Return whether its interval has no width."""
        return self.interval.endswith(FLAT)


NO_CELL = Cell("", style="none")
UNDEFINED = Cell(words.DASH, style="undefined")


@dataclass(frozen=True)
class Column:
    """A column's heading, small print below it, and the heading above that it shares.

    `statistic` and `place` say which numbers of a result table are in it.
    """

    text: str
    note: str = ""
    group: str = ""
    style: str = "number"
    statistic: str = field(default="", repr=False)
    place: Place = field(default_factory=Place, repr=False)


@dataclass(frozen=True)
class Line:
    """One row: its heading, which may lead to a page, small print below that, and its cells."""

    head: str
    cells: Sequence[Cell]
    about: str = ""
    badge: str = ""
    href: str = ""


@dataclass(frozen=True)
class Body:
    """Rows that belong together, under a heading of their own."""

    lines: Sequence[Line]
    title: str = ""
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption; `code` says that row headings are ids, `whole` that all are shown."""

    kind: ClassVar[str] = "table"
    caption: str
    corner: str
    columns: Sequence[Column]
    bodies: Sequence[Body]
    notes: Sequence[str] = ()
    code: bool = True
    source: str = ""
    whole: bool = False

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Return the shared headings and how many columns each spans; empty without any."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans if any(name for name, _ in spans) else []

    @property
    def all_notes(self) -> list[str]:
        """Return the notes, and what an interval without width is where there is one."""
        cells = (cell for body in self.bodies for line in body.lines for cell in line.cells)
        return [*self.notes, *([NO_WIDTH_TOLD] if any(cell.flat for cell in cells) else [])]

    @property
    def too_long(self) -> int:
        """Return the number of rows if they are too many to show and not `whole`, else 0."""
        rows = sum(len(body.lines) for body in self.bodies)
        return rows if rows > LONGEST and not self.whole else 0

    @property
    def page(self) -> str:
        """Return where the page lies that a table has for itself."""
        digest = hashlib.sha256(repr(self).encode()).hexdigest()[:8]
        return f"{LONG_TABLES}/{slug(self.caption)[:60].rstrip('-_')}-{digest}.html"


@dataclass(frozen=True)
class Key:
    """One entry of a figure's legend: a sign in a colour."""

    sign: str
    style: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A figure as SVG, the sentence that says what it shows, its legend and its numbers."""

    kind: ClassVar[str] = "figure"
    title: str
    svg: str
    summary: str
    keys: Sequence[Key]
    table: Table


@dataclass(frozen=True)
class Text:
    """A paragraph, or a list of sentences under it; `style` is "" or "warning" or "small"."""

    kind: ClassVar[str] = "text"
    text: str
    items: Sequence[str] = ()
    style: str = ""


@dataclass(frozen=True)
class Verdict:
    """A judge, the way to its card, the sentence about it, and its evidence."""

    kind: ClassVar[str] = "verdict"
    judge: str
    href: str
    sentence: str
    evidence: Table


@dataclass(frozen=True)
class Link:
    """A way to a page that lies beside this one."""

    kind: ClassVar[str] = "link"
    text: str
    href: str


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]
    code: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading within a section: a dataset."""

    kind: ClassVar[str] = "heading"
    text: str
    id: str


@dataclass(frozen=True)
class Part:
    """A part of a text: plain, a gap, or marked with a `shade`; `sign` stands behind it.

    `errors` are the positions of its remarks among those of its group; none if it is not marked.
    """

    text: str
    gap: bool = False
    shade: str = ""
    errors: Sequence[int] = ()
    sign: str = ""


@dataclass(frozen=True)
class Group:
    """Neighbouring parts of a text that share errors, and (id, remark) of each error."""

    parts: Sequence[Part]
    remarks: Sequence[tuple[str, str]] = ()

    @property
    def long(self) -> bool:
        """Return whether the remarks may have to be scrolled."""
        return sum(len(remark) for _, remark in self.remarks) > LONG


@dataclass(frozen=True)
class Marking:
    """A text as one marks it: who, what else they say, and the errors that are nowhere in it.

    `who` is the id of a judge, "" for people.
    """

    who: str
    about: str
    groups: Sequence[Group]
    nowhere: Sequence[str] = ()


@dataclass(frozen=True)
class Marked:
    """One text as several mark it."""

    kind: ClassVar[str] = "marked"
    title: str
    markings: Sequence[Marking]


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown on demand."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: Sequence["Block"]


@dataclass(frozen=True)
class Excerpt:
    """A text of data or models: what of it is shown, marked, and `whole` where that is not all."""

    label: str
    pieces: Sequence[Piece]
    whole: str = ""
    left: int = 0
    """Characters that even `whole` does not have."""


@dataclass(frozen=True)
class Case:
    """One judgment: which text and aspect, its numbers, its texts, and where there is more."""

    kind: ClassVar[str] = "case"
    title: str
    about: str
    facts: Sequence[tuple[str, str]]
    excerpts: Sequence[Excerpt]
    href: str = ""


Block: TypeAlias = "Table | Figure | Text | Verdict | Link | Facts | Heading | Marked | Case | Fold"


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    id: str
    title: str
    lead: str
    blocks: Sequence[Block] = ()


def estimate(row: Row | None, *, counts: bool = False, mark: str = "", style: str = "") -> Cell:
    """Return the cell of an estimate: value, interval, what is missing; a dash and the reason.

    With `counts` n and ties stand in the cell, otherwise in its title; a correlation of few texts
    or sources is then no number (`of_few`).
    """
    if row is None:
        return Cell(words.DASH, notes=("not planned",), style="undefined")
    if row.value is None:
        return Cell(words.DASH, notes=(words.spoken(row.note),), style="undefined")
    numbers = counts_of(row)
    if of_few(row) and not counts:
        return Cell(short(row), title=numbers, style="undefined", mark=mark)
    missing = () if counts or not row.n_missing else (f"{words.count(row.n_missing)} missing",)
    return Cell(
        words.written(row.statistic, row.value),
        interval=interval(row),
        notes=(numbers,) if counts else missing,
        title="; ".join(part for part in (numbers, row.method, row.note) if part),
        sort=row.value,
        style=f"number {style}".strip(),
        mark=mark,
        row=row,
    )


def counts_of(row: Row) -> str:
    """Return n, and how many are missing and tied where some are."""
    parts = [f"n = {words.count(row.n)}"]
    parts += [f"{words.count(row.n_missing)} missing"] if row.n_missing else []
    parts += [f"{words.count(row.n_tied)} tied"] if row.n_tied else []
    return ", ".join(parts)


def interval(row: Row) -> str:
    """Return "[lo, hi]", empty where there is none; one without width has a sign."""
    if row.lo is None or row.hi is None:
        return ""
    flat = FLAT if NO_WIDTH in row.note else ""
    lo, hi = (words.written(row.statistic, end) for end in (row.lo, row.hi))
    return f"[{lo}, {hi}]{flat}"


def of_few(row: Row) -> bool:
    """Return whether a number is a correlation of so few that it has no interval and says nothing.

    Its n stands in its place.
    """
    few = row.lo is None and row.n < FEWEST_SOURCES
    return few and row.value is not None and scale_of(row.statistic) == CORRELATION


def figures(row: Row) -> str:
    """Return an estimate as one text: value and interval."""
    if row.value is None:
        return f"{words.DASH} ({words.spoken(row.note)})"
    return f"{short(row)} {interval(row)}".strip()


def short(row: Row) -> str:
    """Return an estimate's value alone, n where a correlation is one of few."""
    if row.value is None:
        return words.DASH
    if of_few(row):
        return f"n = {words.count(row.n)}"
    return words.written(row.statistic, row.value)


def count_cell(number: int) -> Cell:
    """Return the cell of a count; 0 is shown faintly."""
    return Cell(words.count(number), sort=number, style="number" if number else "number none")


def heat(share: float, steps: Sequence[float] = SHADE_STEPS) -> str:
    """Return the style of a cell that is shaded, a step for each of `steps` that is reached."""
    return f"heat-{sum(share >= step for step in steps)}"


def dollars_cell(price: float | None) -> Cell:
    """Return a price in US dollars; None where it is not known."""
    return Cell(words.DASH) if price is None else Cell(words.dollars(price), sort=price)


def words_cell(text: str) -> Cell:
    """Return a cell of text."""
    return Cell(text, style="words")
