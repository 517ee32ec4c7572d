"""Story Cloze as its authors publish it: CSV, one story per row, with a right and a
wrong ending.

Columns: InputStoryid, InputSentence1 to 4, RandomFifthSentenceQuiz1 and 2 (the
endings), and AnswerRightEnding, 1 or 2. The test set of 2018 has no answers and cannot
be used.
"""

from judgescope.data.draft import Draft, Files, RowFault
from judgescope.data.rows import Row
from judgescope.schema.cards import WRONG_ENDING, Format

SENTENCES = [f"InputSentence{number}" for number in (1, 2, 3, 4)]
ENDINGS = {"1": "RandomFifthSentenceQuiz1", "2": "RandomFifthSentenceQuiz2"}
"""Value of AnswerRightEnding -> the column of the right ending."""


def read(draft: Draft, files: Files) -> None:
    """Add the items: four sentences are the source, the right ending is the
    reference.
    """
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: Row) -> None:
    answer = _cell(draft, row, "AnswerRightEnding")
    if answer not in ENDINGS:
        raise RowFault(
            "this is not the number of an ending", got=answer, allowed=ENDINGS
        )
    cells = {name: _cell(draft, row, name) for name in (*SENTENCES, *ENDINGS.values())}
    for name, text in cells.items():
        if not text:
            raise RowFault(f"`{name}` is empty", got=text)
    right = cells[ENDINGS[answer]]
    (wrong,) = (cells[column] for number, column in ENDINGS.items() if number != answer)
    source = " ".join(cells[name] for name in SENTENCES)
    draft.item(
        draft.pick(row, "InputStoryid"), [source], [right], {WRONG_ENDING: wrong}
    )


def _cell(draft: Draft, row: Row, column: str) -> str:
    return str(draft.pick(row, column)).strip()


FORMAT = Format(name="story_cloze_csv", gives="originals", meta=("wrong_ending",))
