"""The page of an audit as Markdown, for the summary of a CI run or a pull request.

Names and texts come from the user's table. Each character of them that Markdown or HTML
could read as markup is written as a numeric entity.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from judgescope.cli.audit.findings import VERDICTS, AuditFindings
from judgescope.cli.audit.numbers import (
    claim_lines,
    draw_lines,
    further_lines,
    gap_lines,
    place_lines,
)
from judgescope.cli.audit.page import picture_lines, slice_lines
from judgescope.cli.audit.wording import (
    added,
    columns_read,
    supported,
    verdict_lines,
)
from judgescope.cli.terminal import plain, with_commas

MARKUP: Final = "\\`*_[<>&|~#$@!"
"""Characters that begin markup, an entity, a mention, mathematics or a picture."""
ENTITIES: Final = {ord(character): f"&#{ord(character)};" for character in MARKUP}


def escaped(text: object) -> str:
    """Return a text on one line that Markdown shows as it is, without links.

    >>> escaped("a|b <script>")
    'a&#124;b &#60;script&#62;'
    """
    line = with_commas(plain(text)).strip().translate(ENTITIES)
    # What begins a list at the beginning of a line.
    list_mark = re.compile(r"^(\d*)([-+.)])(?=\s|$)")
    line = list_mark.sub(lambda mark: f"{mark[1]}&#{ord(mark[2])};", line)
    return line.replace("://", "&#58;//").replace("www.", "www&#46;")


def as_markdown(findings: AuditFindings) -> str:
    """Return the page, with the rows to read; their texts only if texts are shown."""
    table = findings.draft.table
    lines = [
        f"## Judgescope: {escaped(table.file.name)}",
        "",
        f"{len(table.rows):,} rows, exit code {findings.status} "
        f"({VERDICTS[findings.status] if findings.draft.require else 'no bar'}).",
        "",
        *_listed(verdict_lines(findings)),
        *_picture(findings),
        *_numbers(findings),
        *_rows(findings),
        *_slices(findings),
        "### Columns",
        "",
        *_listed(_columns(findings)),
        "### This file supports",
        "",
        *_listed(supported(findings)),
        "### One more column would add",
        "",
        *_listed(added(findings)),
        escaped(findings.false_claims.sentence),
        "",
    ]
    return "\n".join(lines)


def _picture(findings: AuditFindings) -> Iterator[str]:
    """Yield the picture of the terminal; indented, so that its columns stay."""
    lines = picture_lines(findings)
    for line in lines:
        # Four spaces make code, which shows entities as they are written. A name in a
        # header must not look like a tag to whoever does not know that.
        shown = plain(with_commas(line)).replace("<", "‹").replace(">", "›")
        yield f"    {shown}"
    if lines:
        yield ""


def _numbers(findings: AuditFindings) -> Iterator[str]:
    """Yield the numbers of each judge, of judges beside each other, and further
    ones.
    """
    for judge in findings.judges:
        yield f"### Numbers: {escaped(findings.named(judge.id))}"
        yield ""
        yield from _listed(claim_lines(findings.report, findings.claims[judge.id]))
    further = [
        *gap_lines(findings),
        *place_lines(findings),
        *draw_lines(findings),
        *further_lines(findings),
    ]
    if further:
        yield "### Also in this file"
        yield ""
        yield from _listed(iter(further))


def _slices(findings: AuditFindings) -> Iterator[str]:
    for column, lines in slice_lines(findings).items():
        yield f"### By {escaped(column)}"
        yield ""
        yield from _listed(iter(lines))


def _columns(findings: AuditFindings) -> Iterator[str]:
    for name, value in columns_read(findings):
        yield f"{name}: {value}" if value else name


def _listed(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield f"* {escaped(text)}"
    yield ""


def _rows(findings: AuditFindings) -> Iterator[str]:
    """Yield a table of the rows in which a judge and people disagree most."""
    rows = findings.rows_to_read
    if not rows:
        return
    yield "### Rows to read"
    yield ""
    shown = findings.texts and any(row.text for row in rows)
    heads = ["Row", "Judge", "Aspect", "Judge says", "People say"]
    if shown:
        heads += ["Text"]
    yield _line(heads)
    yield _line(["---"] * len(heads))
    for row in rows:
        judge = findings.named(row.judge)
        aspect = findings.report.aspect(row.aspect)
        cells = [str(row.row), judge, aspect, row.judged, row.rated]
        if shown:
            cells += [row.text]
        yield _line([escaped(cell) for cell in cells])
    yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
