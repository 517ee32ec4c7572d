"""The parts of a page: sections of blocks. This module has no HTML and no methods."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import quote, urlencode

from markupsafe import Markup

from judgescope.core.names import slug
from judgescope.report.cells import NO_WIDTH_TOLD, ReportCell
from judgescope.report.marked import Piece
from judgescope.report.rows import RowPlace

LONGEST = 600
"""A table with more rows has a page of its own."""
FRONT = ("judges",)
"""The sections of the first page; each other one has a page of its own."""
NO_MARKUP = Markup()
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
    id: str = ""


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
    elsewhere: bool = False
    """Whether the page only says where the table is, because it would be too long."""

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
        long = rows > LONGEST and not self.whole
        if long or self.elsewhere:
            return rows
        return 0

    @property
    def cells(self) -> int:
        """Return how many cells the table has."""
        return sum(1 for _ in self._cells())

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
class MatrixCell:
    """A cell of the matrix of judges: a sign, a number, what is beside it, a picture.

    `hidden` says the same in words for screen readers; `href` leads to the evidence;
    `span` is the number of columns that it fills; `look` the class of its outcome;
    `sort` is what a column is sorted by.
    """

    value: str = ""
    more: str = ""
    below: str = ""
    hidden: str = ""
    href: str = ""
    sign: Markup = NO_MARKUP
    drawn: Markup = NO_MARKUP
    look: str = ""
    span: int = 1
    sort: float | None = None
    mark: str = ""
    """The sign as a character, for formats without pictures."""


def joined_empty(reasons: Sequence[str]) -> list[MatrixCell]:
    """Return one cell for each run of neighbouring columns with the same reason."""
    cells: list[MatrixCell] = []
    for reason in reasons:
        if cells and cells[-1].more == reason:
            last = cells.pop()
            cells.append(MatrixCell(more=reason, look="na", span=last.span + 1))
        else:
            cells.append(MatrixCell(more=reason, look="na"))
    return cells


@dataclass(frozen=True)
class MatrixLine:
    """A line of the matrix: people, a judge or a rule, with its cells."""

    head: str
    cells: Sequence[MatrixCell]
    about: str = ""
    href: str = ""


@dataclass(frozen=True)
class MatrixColumnHead:
    """A question: the group that it is in, its title, and where it leads.

    `note` is its number, where the columns of its group have several.
    """

    title: str
    group: str = ""
    href: str = ""
    look: str = ""
    note: str = ""


@dataclass(frozen=True)
class JudgeMatrix(PageBlock):
    """Judges by questions: people first, told judges last, rules that ignore quality
    below.

    `rest` are the lines of further judges with the words that fold them. `legend` are
    pictures and their words; `single` says that there is one judge, whose name is not
    repeated. `title` says what its judges were tested on, where there are several
    matrices.
    """

    kind: ClassVar[str] = "matrix"

    columns: Sequence[MatrixColumnHead]
    groups: Sequence[tuple[str, str, int]]
    """Heading above columns, small print beside it, and how many it spans."""
    people: Sequence[MatrixLine]
    lines: Sequence[MatrixLine]
    rest: Sequence[MatrixLine] = ()
    rest_words: str = ""
    rules: Sequence[MatrixLine] = ()
    legend: Sequence[tuple[Markup, str]] = ()
    foot: str = ""
    single: bool = False
    title: str = ""


@dataclass(frozen=True)
class NextStep:
    """One thing to do: its point, why, and the command for it."""

    point: str
    why: str
    command: str = ""


@dataclass(frozen=True)
class NextSteps(PageBlock):
    """What to do next, by rules from the numbers."""

    kind: ClassVar[str] = "next"

    steps: Sequence[NextStep]
    title: str = "What to do next"


@dataclass(frozen=True)
class AnswerBlock(PageBlock):
    """The sentence that a report or a judge's page opens with, and one line below it.

    Names of judges are in ticks; `href` leads to how the sentence came about. The
    first of `steps` stands there too, as the steps themselves are further down.
    """

    kind: ClassVar[str] = "answer"

    text: str
    deck: str = ""
    href: str = ""
    steps: NextSteps | None = None

    @property
    def more_steps(self) -> str:
        """What the link to the steps says, "" without any."""
        if self.steps is None:
            return ""
        others = len(self.steps.steps) - 1
        return f"Why, and {others} more" if others else "Why"


@dataclass(frozen=True)
class DrawnPanel:
    """One of several small pictures: a sign, a name, a number, the picture.

    `heads` and `rows` have the counts that are drawn, and `corner` says which way they
    run.
    """

    name: str
    value: str
    drawn: Markup
    sign: Markup = NO_MARKUP
    href: str = ""
    corner: str = ""
    heads: Sequence[str] = ()
    rows: Sequence[tuple[str, Sequence[int]]] = ()


@dataclass(frozen=True)
class SmallMultiples(PageBlock):
    """Pictures of one kind beside each other, and what their axes are."""

    kind: ClassVar[str] = "panels"

    title: str
    lead: str
    panels: Sequence[DrawnPanel]
    axes: str


@dataclass(frozen=True)
class DamageCell:
    """A share noticed: as text, its shade, and more in words; where it leads."""

    text: str
    look: str
    hidden: str
    href: str = ""
    bold: bool = False


@dataclass(frozen=True)
class DamageTable(PageBlock):
    """Kinds of damage by judges, as shades that can be read, copied and heard.

    `judges` are (name, whether it is a control); `bodies` are titles and their lines,
    each (name of the kind, example, cells).
    """

    kind: ClassVar[str] = "damage"

    title: str
    lead: str
    caption: str
    judges: Sequence[tuple[str, bool]]
    bodies: Sequence[tuple[str, Sequence[tuple[str, str, Sequence[DamageCell]]]]]


@dataclass(frozen=True)
class Beside(PageBlock):
    """Blocks beside others: on a phone the second ones come first if `second_first`."""

    kind: ClassVar[str] = "beside"

    left: Sequence[PageBlock]
    right: Sequence[PageBlock]
    second_first: bool = False


@dataclass(frozen=True)
class PageList(PageBlock):
    """Other pages: their title, where they are, and how much is there."""

    kind: ClassVar[str] = "pages"

    title: str
    pages: Sequence[tuple[str, str, str]]


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
    id: str = ""


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
class CaseBlock(PageBlock):
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
class FailingText:
    """A text on which a judge fails: what it is written for, its words, its score.

    `sources` are names and texts; `reason` has the judge's words; `scale` is a picture
    of people's ratings and the score, `how` says how the score came about, and `bars`
    are values and their shares.
    """

    title: str
    sources: Sequence[tuple[str, str]]
    excerpt: Excerpt
    reason: str
    scale: Markup
    how: str
    bars: Sequence[tuple[str, str, int]] = ()
    href: str = ""


@dataclass(frozen=True)
class Failures(PageBlock):
    """The texts on which a judge fails first, and how they were chosen."""

    kind: ClassVar[str] = "failures"

    lead: str
    texts: Sequence[FailingText]
    title: str = "Where it fails first"


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
    if section in FRONT:
        return f"index.html#{section}"
    return f"{SECTIONS}/{section}.html"


def judgments_page(**where: str) -> str:
    """Return where judgments can be looked through, from the folder of the report.

    `where` says which ones: `report/explore.py` lists the keys.
    """
    return f"explore.html#{urlencode(where, quote_via=quote)}"
