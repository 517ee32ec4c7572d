"""The parts of a page: sections of blocks. This module has no HTML and no methods."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import quote, urlencode

from judgescope.core.names import slug
from judgescope.report.cells import NO_WIDTH_TOLD, ReportCell
from judgescope.report.marked import Piece
from judgescope.report.rows import RowPlace

LONGEST = 600
"""A table with more rows has a page of its own."""
FRONT = ("judges", "reproduce")
"""The sections of the first page; each other one has a page of its own."""
SECTIONS = "sections"
"""The folder of these pages, and of those of long tables, beside the first page."""


class PageBlock:
    """A part of a section."""

    kind: ClassVar[str]
    """The name of the macro that writes it."""


@dataclass(frozen=True)
class TableColumn:
    """A column's heading, small print below it, and the heading above that it shares.

    `statistic` and `place` say which numbers of a result table are in it.
    """

    text: str
    note: str = ""
    group: str = ""
    style: str = "number"
    statistic: str = field(default="", repr=False)
    where: RowPlace = field(default_factory=RowPlace, repr=False)

    @property
    def heading(self) -> str:
        """Return both headings as one, for formats where columns share none."""
        return ": ".join(filter(None, (self.group, self.text)))


def columns_of(
    heads: Iterable[str], group: str = "", style: str = "number"
) -> list[TableColumn]:
    """Return columns with nothing but a heading, all under one group."""
    return [TableColumn(head, group=group, style=style) for head in heads]


@dataclass(frozen=True)
class TableLine:
    """One row: its heading, which may lead to a page, small print below that, and its
    cells.
    """

    head: str
    cells: Sequence[ReportCell]
    about: str = ""
    badge: str = ""
    href: str = ""


@dataclass(frozen=True)
class Body:
    """Rows that belong together, under a heading of their own, to which its `id`
    leads.
    """

    lines: Sequence[TableLine]
    title: str = ""
    style: str = ""
    id: str = ""


@dataclass(frozen=True)
class PageTable(PageBlock):
    """A table with a caption; `code` says that row headings are ids, `whole` that all
    are shown.
    """

    kind: ClassVar[str] = "table"

    caption: str
    corner: str
    columns: Sequence[TableColumn]
    bodies: Sequence[Body]
    notes: Sequence[str] = ()
    code: bool = True
    source: str = ""
    whole: bool = False

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Return the shared headings and how many columns each spans; empty without
        any.
        """
        spans: list[tuple[str, int]] = []
        named = False
        for column in self.columns:
            width = 1
            if spans and spans[-1][0] == column.group:
                _, before = spans.pop()
                width += before
            spans.append((column.group, width))
            named = named or column.group != ""
        return spans if named else []

    @property
    def all_notes(self) -> list[str]:
        """Return the notes of a table that stands alone, without the legend of the
        report.
        """
        notes = list(self.notes)
        if any(cell.flat for cell in self._cells()):
            notes.append(NO_WIDTH_TOLD)
        return notes

    def _cells(self) -> Iterator[ReportCell]:
        for body in self.bodies:
            for line in body.lines:
                yield from line.cells

    @property
    def too_long(self) -> int:
        """Return the number of rows if they are too many to show and not `whole`, else
        0.
        """
        rows = sum(len(body.lines) for body in self.bodies)
        return rows if rows > LONGEST and not self.whole else 0

    @property
    def page(self) -> str:
        """Return where the page lies that a table has for itself."""
        digest = hashlib.sha256(repr(self).encode()).hexdigest()[:8]
        return f"{SECTIONS}/{slug(self.caption)[:60].rstrip('-_')}-{digest}.html"


@dataclass(frozen=True)
class LegendKey:
    """One entry of a figure's legend: a sign in a colour."""

    sign: str
    style: str
    text: str


@dataclass(frozen=True)
class PageFigure(PageBlock):
    """A figure as SVG, the sentence that says what it shows, its legend and its
    numbers.
    """

    kind: ClassVar[str] = "figure"

    title: str
    svg: str
    summary: str
    keys: Sequence[LegendKey]
    table: PageTable


@dataclass(frozen=True)
class Paragraph(PageBlock):
    """A paragraph, or a list of sentences under it; `style` is "" or "warning" or
    "small".
    """

    kind: ClassVar[str] = "text"

    text: str
    items: Sequence[str] = ()
    style: str = ""


@dataclass(frozen=True)
class Mark:
    """A cell of the matrix: a number, the step it reaches, the meaning of both, and its
    evidence.

    Nothing was measured where `meaning` is "".
    """

    text: str = ""
    step: str = ""
    sign: str = ""
    meaning: str = ""
    href: str = ""


@dataclass(frozen=True)
class Standing:
    """A judge on the first screen: its answer in a sentence, and its line of the
    matrix.
    """

    judge: str
    href: str
    answer: str
    evidence: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Overview(PageBlock):
    """The first screen: stated bars, answers, the matrix judge x question, and a forest
    plot.

    `groups` are lines of the matrix under a title each; of controls there are no
    answers.
    """

    kind: ClassVar[str] = "overview"

    bars: Sequence[str]
    columns: Sequence[TableColumn]
    groups: Sequence[tuple[str, Sequence[Standing]]]
    steps: Sequence[tuple[str, str, str]]
    """Step, sign and meaning: the legend."""
    figure: PageFigure | None
    foot: str = ""
    """A line under the matrix."""

    @property
    def headings(self) -> list[tuple[str, int]]:
        """Return the shared headings and how many columns each spans."""
        return PageTable("", "", self.columns, ()).groups


@dataclass(frozen=True)
class Link(PageBlock):
    """A link to a page in the same folder."""

    kind: ClassVar[str] = "link"

    text: str
    href: str


@dataclass(frozen=True)
class Facts(PageBlock):
    """Names and their values."""

    kind: ClassVar[str] = "facts"

    pairs: Sequence[tuple[str, str]]
    code: bool = False


@dataclass(frozen=True)
class Heading(PageBlock):
    """A heading within a section: a dataset."""

    kind: ClassVar[str] = "heading"

    text: str
    id: str


@dataclass(frozen=True)
class MarkedPart:
    """A part of a text: plain, a gap, or marked with a `shade`; `sign` follows it.

    `errors` are the positions of its remarks among those of its group; none if it is
    not marked.
    """

    text: str
    gap: bool = False
    shade: str = ""
    errors: Sequence[int] = ()
    sign: str = ""


@dataclass(frozen=True)
class Group:
    """Neighbouring parts of a text that share errors, and (id, remark) of each
    error.
    """

    parts: Sequence[MarkedPart]
    remarks: Sequence[tuple[str, str]] = ()

    @property
    def long(self) -> bool:
        """Return whether the remarks may have to be scrolled."""
        characters = sum(len(remark) for _, remark in self.remarks)
        return characters > 1000


@dataclass(frozen=True)
class Marking:
    """A text as one marks it: who, what else they say, and the errors that are nowhere
    in it.

    `who` is the id of a judge, "" for people.
    """

    who: str
    about: str
    groups: Sequence[Group]
    nowhere: Sequence[str] = ()


@dataclass(frozen=True)
class Marked(PageBlock):
    """One text as several mark it."""

    kind: ClassVar[str] = "marked"

    title: str
    markings: Sequence[Marking]


@dataclass(frozen=True)
class Fold(PageBlock):
    """Blocks that are shown on demand."""

    kind: ClassVar[str] = "fold"

    summary: str
    blocks: Sequence[PageBlock]


@dataclass(frozen=True)
class Excerpt:
    """A text of data or models: its shown part, with marks, and `whole` if that is not
    all.
    """

    label: str
    pieces: Sequence[Piece]
    whole: str = ""
    left: int = 0
    """Characters that even `whole` does not have."""


@dataclass(frozen=True)
class Case(PageBlock):
    """One judgment: which text and aspect, its numbers, its texts, and where there is
    more.
    """

    kind: ClassVar[str] = "case"

    title: str
    about: str
    facts: Sequence[tuple[str, str]]
    excerpts: Sequence[Excerpt]
    href: str = ""


@dataclass(frozen=True)
class Picture:
    """A section at a glance: its first figure as SVG, "" without one, and a line about
    it.
    """

    title: str
    href: str
    svg: str
    line: str


@dataclass(frozen=True)
class Gallery(PageBlock):
    """A picture for each section of a group of the contents, each leading to its
    page.
    """

    kind: ClassVar[str] = "gallery"

    groups: Sequence[tuple[str, Sequence[Picture]]]


@dataclass(frozen=True)
class Section:
    """One section of the report, in a group of the table of contents."""

    id: str
    title: str
    lead: str
    blocks: Sequence[PageBlock] = ()
    group: str = ""

    @property
    def href(self) -> str:
        """Return where the section lies, from the folder of the report."""
        return page_of(self.id)


def page_of(section: str) -> str:
    """Return where a section lies, from the folder of the report."""
    return f"index.html#{section}" if section in FRONT else f"{SECTIONS}/{section}.html"


def judgments_page(**where: str) -> str:
    """Return where judgments can be looked through, from the folder of the report.

    `where` says which ones: `report/explore.py` lists the keys.
    """
    return f"explore.html#{urlencode(where, quote_via=quote)}"
