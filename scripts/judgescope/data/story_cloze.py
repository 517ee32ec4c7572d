"""Story Cloze as its authors publish it: CSV, one story per row, with a right and a
wrong ending.

Columns: InputStoryid, InputSentence1 to 4, RandomFifthSentenceQuiz1 and 2 (the
endings), and AnswerRightEnding, 1 or 2. The test set of 2018 has no answers and cannot
be used.
"""

from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.rows import FileRow
from judgescope.schema.cards import WRONG_ENDING, Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: four sentences are the source, the right ending is the
    reference.
    """
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: FileRow) -> None:
    """Add the item of a row, with the wrong ending in its `meta`."""
    endings = {"1": "RandomFifthSentenceQuiz1", "2": "RandomFifthSentenceQuiz2"}
    answer = _cell(draft, row, "AnswerRightEnding")
    if answer not in endings:
        raise RowFault(
            "this is not the number of an ending", got=answer, allowed=endings
        )
    sentences = [f"InputSentence{number}" for number in (1, 2, 3, 4)]
    cells: dict[str, str] = {}
    for name in [*sentences, *endings.values()]:
        cells[name] = _cell(draft, row, name)
    for name, text in cells.items():
        if not text:
            raise RowFault(f"`{name}` is empty", got=text)
    right = cells[endings.pop(answer)]
    [wrong_column] = endings.values()
    source = " ".join(cells[name] for name in sentences)
    draft.item(
        draft.pick(row, "InputStoryid"),
        [("Beginning", source)],
        [right],
        {WRONG_ENDING: cells[wrong_column]},
    )


def _cell(draft: Draft, row: FileRow, column: str) -> str:
    return str(draft.pick(row, column)).strip()


FORMAT = Format(
    name="story_cloze_csv",
    read=read,
    gives="originals",
    meta=("wrong_ending",),
    parts=("Beginning",),
)
