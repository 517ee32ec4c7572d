"""The accuracy task on RotoWire as its organisers publish it: reports of games, and
their errors.

Columns of the role `games` (CSV, one report per row): TEXT_ID, GENERATED_TEXT, and more
about the game, which is kept in the item's `meta`; DETOKENIZED_GENERATED_TEXT is not
read. The role `spans` (CSV, one error per row) has TEXT_ID (with `.txt`), TYPE,
DOC_TOKEN_START and DOC_TOKEN_END (tokens separated by white space, from 1, the last one
included), and TOKENS, CORRECTION and COMMENT.
"""

import re

from judgescope.data.draft import ONLY_SYSTEM, Draft, FilesByRole, RowFault
from judgescope.data.rated import GoldSpan
from judgescope.data.rows import FileRow
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the reports with the marked errors; there are no ratings and no names of
    systems.
    """
    reading = _Reading()
    draft.add_rows(files["games"], reading.add_report)
    draft.check()
    draft.add_rows(files["spans"], reading.add_span)
    draft.spans = [
        ((span.target, ONLY_SYSTEM), span) for span in reading.spans.values()
    ]


class _Reading:
    def __init__(self) -> None:
        self.reports: dict[str, str] = {}
        self.spans: dict[tuple[str, int, int, str], GoldSpan] = {}

    def add_report(self, draft: Draft, row: FileRow) -> None:
        """Add a game and its report."""
        texts = {"TEXT_ID", "GENERATED_TEXT", "DETOKENIZED_GENERATED_TEXT"}
        meta = {name: cell for name, cell in row.items() if name not in texts}
        item = draft.item(draft.pick(row, "TEXT_ID"), [], None, meta)
        text = draft.pick(row, "GENERATED_TEXT")
        draft.output(item, ONLY_SYSTEM, text)
        self.reports.setdefault(item, text if isinstance(text, str) else "")

    def add_span(self, draft: Draft, row: FileRow) -> None:
        """Add an error by its position in characters; its target's id is set later."""
        name = draft.name(draft.pick(row, "TEXT_ID"), "item").removesuffix(".txt")
        if name not in self.reports:
            raise RowFault("unknown report", got=name, allowed=self.reports)
        start, end = _place(draft, row, self.reports[name])
        text = self.reports[name][start:end]
        tokens = str(row.get("TOKENS") or "")
        if tokens.strip() and tokens.split() != text.split():
            raise RowFault(
                f"the report {name} has different tokens at this position",
                got=tokens,
                allowed=text,
            )
        category = draft.text(draft.pick(row, "TYPE"), "category").strip()
        key = (name, start, end, category)
        if key in self.spans:
            raise RowFault("duplicate error", got=f"{name}: {tokens or text}")
        correction = row.get("CORRECTION") or None
        comment = row.get("COMMENT") or None
        self.spans[key] = GoldSpan(*key, text, correction, comment)


def _place(draft: Draft, row: FileRow, report: str) -> tuple[int, int]:
    """Return the start of a row's first token and the end of its last one, in
    characters.
    """
    first = _number(draft, row, "DOC_TOKEN_START")
    last = _number(draft, row, "DOC_TOKEN_END")
    tokens = [match.span() for match in re.finditer(r"\S+", report)]
    count = len(tokens)
    if not 1 <= first <= last <= count:
        raise RowFault(
            "token numbers out of range",
            got=f"{first} to {last}",
            allowed=f"1 to {count}, the first not after the last",
        )
    return tokens[first - 1][0], tokens[last - 1][1]


def _number(draft: Draft, row: FileRow, column: str) -> int:
    cell = str(draft.pick(row, column)).strip()
    if not re.fullmatch(r"\d{1,9}", cell, re.ASCII):
        raise RowFault(f"`{column}` is not a token number", got=cell)
    return int(cell)


FORMAT = Format(
    name="rotowire_gsml_csv", read=read, roles=("games", "spans"), gives="spans"
)
