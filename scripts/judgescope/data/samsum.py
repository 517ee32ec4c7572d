"""SAMSum as its authors publish it: a JSON list of dialogues, each with a summary by
people.

Fields: id, dialogue (one turn per line, `name: text`) and summary.
"""

from judgescope.data.draft import Draft, FilesByRole
from judgescope.data.rows import FileRow
from judgescope.data.wording import trimmed
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: the dialogue is the source, its summary the reference."""
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: FileRow) -> None:
    """Add the item of a row."""
    name = draft.pick(row, "id")
    dialogue = draft.pick(row, "dialogue")
    summary = draft.pick(row, "summary")
    if isinstance(dialogue, str):
        turns = dialogue.strip().splitlines()
        dialogue = "\n".join(turn.rstrip() for turn in turns)
    draft.item(name, [("Conversation", dialogue)], [trimmed(summary)])


FORMAT = Format(name="samsum", read=read, gives="originals", parts=("Conversation",))
