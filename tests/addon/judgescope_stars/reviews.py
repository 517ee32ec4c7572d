"""Reviews with stars: JSONL, one text a line. Fields: doc, model, text, stars."""

from judgescope.data.draft import Draft, FilesByRole
from judgescope.data.rows import FileRow
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the reviews; the source of an item is also its reference."""
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: FileRow) -> None:
    source = draft.pick(row, "doc")
    item = draft.item(source, [("Document", source)], [draft.pick(row, "best")])
    output = draft.output(item, draft.pick(row, "model"), draft.pick(row, "text"))
    for aspect, column in draft.columns.items():
        draft.rating(output, aspect, "expert", draft.pick(row, column))


FORMAT = Format(name="star_lines", read=read, parts=("Document",))
