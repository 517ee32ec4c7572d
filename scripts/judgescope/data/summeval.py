"""SummEval as its authors publish it: JSONL, one summary per line, with all its
ratings.

Fields: id, text (the article), references, model_id, decoded (the summary), and
expert_annotations and turker_annotations, lists of {aspect: rating}.
"""

from judgescope.core.errors import check_known
from judgescope.data.draft import Draft, FilesByRole
from judgescope.data.rows import FileRow
from judgescope.schema.cards import Format

ANNOTATIONS = {
    "expert": "expert_annotations",
    "crowd": "turker_annotations",
    "turker": "turker_annotations",
}
"""Value of a card's `raters` -> the field with their ratings."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the texts; raters are expert-1, expert-2, … in the order of a row's list."""
    where = f"datasets/{draft.card.dataset}.yaml, key raters"
    check_known(
        [draft.card.raters], ANNOTATIONS, "unknown raters for SummEval", where=where
    )
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: FileRow) -> None:
    item = draft.item(
        draft.pick(row, "id"),
        [("Article", draft.pick(row, "text"))],
        draft.pick(row, "references[*]"),
    )
    output = draft.output(item, draft.pick(row, "model_id"), draft.pick(row, "decoded"))
    raters = draft.card.raters
    for aspect, column in draft.columns.items():
        with draft.caught():
            values = draft.pick(row, f"{ANNOTATIONS[raters]}[*].{column}")
            for index, value in enumerate(values, start=1):
                draft.rating(output, aspect, f"{raters}-{index}", value)


FORMAT = Format(name="summeval_jsonl", read=read, parts=("Article",))
