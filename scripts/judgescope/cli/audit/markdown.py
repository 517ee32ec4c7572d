"""The page of an audit as Markdown, for the summary of a CI run or a pull request.

Names and texts come from the user's table. Each character of them that Markdown or HTML
could read as markup is written as a numeric entity.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from judgescope.cli.audit import page
from judgescope.cli.terminal import plain, with_commas

MARKUP: Final = "\\`*_[<>&|~#$@!"
"""Characters that begin markup, an entity, a mention, mathematics or a picture."""
ENTITIES: Final = {ord(character): f"&#{ord(character)};" for character in MARKUP}
LIST_MARK: Final = re.compile(r"^(\d*)([-+.)])(?=\s|$)")
"""What begins a list at the beginning of a line."""


def escaped(text: object) -> str:
    """Return a text on one line that Markdown shows as it is, without links.

    >>> escaped("a|b <script>")
    'a&#124;b &#60;script&#62;'
    """
    line = with_commas(plain(text)).strip().translate(ENTITIES)
    line = LIST_MARK.sub(lambda mark: f"{mark[1]}&#{ord(mark[2])};", line)
    return line.replace("://", "&#58;//").replace("www.", "www&#46;")


def as_markdown(findings: page.AuditFindings) -> str:
    """Return the page, with the rows to read; their texts only if texts are shown."""
    table = findings.draft.table
    lines = [
        f"## Judgescope: {escaped(table.file.name)}",
        "",
        f"{len(table.rows):,} rows, exit code {findings.status} "
        f"({page.VERDICTS[findings.status] if findings.draft.require else 'no bar'}).",
        "",
        *_listed(page.verdict_lines(findings)),
        *_rows(findings),
        "### Columns",
        "",
        *_listed(_columns(findings)),
        "### This file supports",
        "",
        *_listed(page.supported(findings)),
        "### One more column would add",
        "",
        *_listed(page.added(findings)),
    ]
    return "\n".join(lines)


def _columns(findings: page.AuditFindings) -> Iterator[str]:
    for name, value in page.columns_read(findings):
        yield f"{name}: {value}" if value else name


def _listed(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield f"* {escaped(text)}"
    yield ""


def _rows(findings: page.AuditFindings) -> Iterator[str]:
    """Yield a table of the rows in which a judge and people disagree most."""
    rows = findings.rows_to_read
    if not rows:
        return
    yield "### Rows to read"
    yield ""
    shown = findings.texts and any(row.text for row in rows)
    heads = ["Row", "Judge", "Aspect", "Judge says", "People say"]
    heads += ["Text"] if shown else []
    yield _line(heads)
    yield _line(["---"] * len(heads))
    for row in rows:
        cells = [str(row.row), row.judge, row.aspect, row.judged, row.rated]
        cells += [row.text] if shown else []
        yield _line([escaped(cell) for cell in cells])
    yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
