"""SumPubMed, a pair of article and abstract a line: JSONL.

Fields: id, text (the article) and abstract, both in sections. A section begins with a line of
capitals (BACKGROUND, RESULTS, CONCLUSIONS, …); nothing else in these lower-cased texts is one.
"""

import re
from collections.abc import Mapping

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft
from judgescope.data.files import Found, Row
from judgescope.data.rated import Rated
from judgescope.schema.cards import Dataset
from judgescope.schema.formats import Format

SECTION = "BACKGROUND"
"""The only section that is used, of both (paper 000, A.1)."""
_HEADING = re.compile(r"^([A-Z](?:[A-Z &/-]*[A-Z])?)[ \t\r]*$", re.MULTILINE)


def read(card: Dataset, files: Mapping[str, Found]) -> Rated:
    """Return the dataset: the article's section is the source, the abstract's the reference."""
    return Draft(card).add_rows(files["data"], _add).finish()


def _add(draft: Draft, row: Row) -> None:
    source, reference = (_section(draft, row, name) for name in ("text", "abstract"))
    draft.item(draft.pick(row, "id"), [source], [reference])


def _section(draft: Draft, row: Row, column: str) -> str:
    """Return what stands below the first heading BACKGROUND, or raise UserError."""
    text = draft.pick(row, column)
    _, *parts = _HEADING.split(text if isinstance(text, str) else "")
    sections = dict(reversed([*zip(parts[::2], parts[1::2], strict=True)]))
    if not sections.get(SECTION, "").strip():
        raise UserError(
            f"`{column}` has no section {SECTION}",
            where="",
            got=text,
            allowed=sections or "a heading in capitals on a line of its own",
        )
    return sections[SECTION].strip()


FORMAT = Format(name="sumpubmed_jsonl", gives="originals")
