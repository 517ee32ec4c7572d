"""UniEval's files: JSON, one text per entry, with the mean rating of each aspect.

Fields: source, context (a fact or document in addition to the source) and reference if
the task has them, system_id, system_output, scores {aspect: mean}. Equal source and
context are one item.
"""

from collections import Counter

from judgescope.data.draft import MEAN, Draft, FilesByRole
from judgescope.data.rows import FileRow, all_rows
from judgescope.data.wording import trimmed
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the texts; their only rater is `mean`.

    If no system is named, the texts of an item are numbered.
    """
    nameless: Counter[str] = Counter()
    rows = all_rows(files["data"])
    for path, number, row in rows:
        with draft.reading(path, number):
            _add(draft, row, len(rows), nameless)
    if nameless:
        draft.notes.append("no system names: the texts of each item are numbered")


def _add(draft: Draft, row: FileRow, count: int, nameless: Counter[str]) -> None:
    source = [(draft.only_part, draft.pick(row, "source"))]
    if "context" in row:
        name = "Fact" if draft.card.task == "dialogue" else "Context"
        source.append((name, row["context"]))
    references = [row["reference"]] if "reference" in row else None
    item = draft.item(
        draft.number([text for _, text in source], count), source, references
    )
    if "system_id" in row:
        system = row["system_id"]
    else:
        nameless[item] += 1
        system = f"text-{nameless[item]}"
    output = draft.output(item, system, trimmed(draft.pick(row, "system_output")))
    for aspect, column in draft.columns.items():
        with draft.caught():
            draft.rating(output, aspect, MEAN, draft.pick(row, f"scores.{column}"))


FORMAT = Format(name="unieval_json", read=read, means=True, parts=("Fact", "Context"))
