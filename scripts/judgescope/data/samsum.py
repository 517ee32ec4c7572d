"""SAMSum as its authors publish it: a JSON list of dialogues, each with a summary by people.

Fields: id, dialogue (one turn per line, `name: text`) and summary.
"""

from judgescope.data.draft import Draft, Files, trimmed
from judgescope.data.rated import Rated
from judgescope.data.rows import Row
from judgescope.schema.cards import Dataset, Format


def read(card: Dataset, files: Files) -> Rated:
    """Return the dataset: the dialogue is the source, its summary the reference."""
    return Draft(card).add_rows(files["data"], _add).finish()


def _add(draft: Draft, row: Row) -> None:
    name, dialogue, summary = (draft.pick(row, key) for key in ("id", "dialogue", "summary"))
    if isinstance(dialogue, str):
        dialogue = "\n".join(line.rstrip() for line in dialogue.strip().splitlines())
    draft.item(name, [dialogue], [trimmed(summary)])


FORMAT = Format(name="samsum", gives="originals")
