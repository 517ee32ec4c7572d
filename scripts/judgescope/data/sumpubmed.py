"""SumPubMed: JSONL, one pair of article and abstract per line.

Fields: id, text (the article) and abstract, both in sections. A section begins with a
line of capitals (BACKGROUND, RESULTS, CONCLUSIONS, …); these lower-cased texts have no
other such lines.
"""

import re

from judgescope.data.draft import Draft, Files, RowFault
from judgescope.data.rows import Row
from judgescope.schema.cards import Format

SECTION = "BACKGROUND"
"""The only section that is used, of article and abstract (Wang et al. 2024, appendix
A.1)."""
_HEADING = re.compile(r"^([A-Z](?:[A-Z &/-]*[A-Z])?)[ \t\r]*$", re.MULTILINE)


def read(draft: Draft, files: Files) -> None:
    """Add the items: the article's section is the source, the abstract's the
    reference.
    """
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: Row) -> None:
    source, reference = (_section(draft, row, name) for name in ("text", "abstract"))
    draft.item(draft.pick(row, "id"), [source], [reference])


def _section(draft: Draft, row: Row, column: str) -> str:
    """Return the text below the first heading BACKGROUND, or raise UserError."""
    text = draft.pick(row, column)
    _, *parts = _HEADING.split(text if isinstance(text, str) else "")
    sections = dict(reversed([*zip(parts[::2], parts[1::2], strict=True)]))
    if not sections.get(SECTION, "").strip():
        raise RowFault(
            f"`{column}` has no section {SECTION}",
            got=text,
            allowed=sections or "a heading in capitals on a separate line",
        )
    return sections[SECTION].strip()


FORMAT = Format(name="sumpubmed_jsonl", gives="originals")
