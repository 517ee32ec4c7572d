"""SAMSum as its authors publish it: a JSON list of dialogues, each with a summary by
people.

Fields: id, dialogue (one turn per line, `name: text`) and summary.
"""

from judgescope.data.draft import Draft, Files, trimmed
from judgescope.data.rows import Row
from judgescope.schema.cards import Format


def read(draft: Draft, files: Files) -> None:
    """Add the items: the dialogue is the source, its summary the reference."""
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: Row) -> None:
    name, dialogue, summary = (
        draft.pick(row, key) for key in ("id", "dialogue", "summary")
    )
    if isinstance(dialogue, str):
        dialogue = "\n".join(line.rstrip() for line in dialogue.strip().splitlines())
    draft.item(name, [dialogue], [trimmed(summary)])


FORMAT = Format(name="samsum", gives="originals")
