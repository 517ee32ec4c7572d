"""Answer Equivalence as its authors publish it: JSONL, one rated candidate answer per
line.

These fields are used: qid, question, context, reference. A question is in many lines,
with different candidates and references; here it has all these references, in order of
appearance.
"""

from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.rows import FileRow, all_rows
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: question and context are the source, an item's id is its qid."""
    rows = all_rows(files["data"])
    references: dict[str, dict[str, None]] = {}
    for path, number, row in rows:
        with draft.reading(path, number):
            references.setdefault(_qid(draft, row), {})[_reference(draft, row)] = None
    for path, number, row in rows:
        with draft.reading(path, number):
            qid = _qid(draft, row)
            source = [
                ("Question", draft.pick(row, "question")),
                ("Passage", draft.pick(row, "context")),
            ]
            draft.item(qid, source, list(references.get(qid, ())) or None)
    draft.notes.append(
        f"{len(rows)} rows: the candidate answers and their ratings are ignored"
    )


def _qid(draft: Draft, row: FileRow) -> str:
    return draft.name(draft.pick(row, "qid"), "item")


def _reference(draft: Draft, row: FileRow) -> str:
    text = draft.pick(row, "reference")
    if not (isinstance(text, str) and text.strip()):
        raise RowFault("a reference is empty or not a string", got=text)
    return text


FORMAT = Format(
    name="answer_equivalence_jsonl",
    read=read,
    gives="originals",
    parts=("Question", "Passage"),
)
