"""SumPubMed: JSONL, one pair of article and abstract per line.

Fields: id, text (the article) and abstract, both in sections. A section begins with a
line of capitals (BACKGROUND, RESULTS, CONCLUSIONS, …); these lower-cased texts have no
other such lines.
"""

import re

from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.rows import FileRow
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: the article's section is the source, the abstract's the
    reference.
    """
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: FileRow) -> None:
    """Add the item of a row."""
    source = _section(draft, row, "text")
    reference = _section(draft, row, "abstract")
    draft.item(draft.pick(row, "id"), [("Article", source)], [reference])


def _section(draft: Draft, row: FileRow, column: str) -> str:
    """Return the text below the first heading BACKGROUND, or raise UserError.

    It is the only section that is used, of article and abstract (Wang et al. 2024,
    appendix A.1).
    """
    heading = re.compile(r"^([A-Z](?:[A-Z &/-]*[A-Z])?)[ \t\r]*$", re.MULTILINE)
    text = draft.pick(row, column)
    _, *parts = heading.split(text if isinstance(text, str) else "")
    sections: dict[str, str] = {}
    for title, content in zip(parts[::2], parts[1::2], strict=True):
        sections.setdefault(title, content)
    section = sections.get("BACKGROUND", "").strip()
    if not section:
        raise RowFault(
            f"`{column}` has no section BACKGROUND",
            got=text,
            allowed=sections or "a heading in capitals on a separate line",
        )
    return section


FORMAT = Format(
    name="sumpubmed_jsonl", read=read, gives="originals", parts=("Article",)
)
