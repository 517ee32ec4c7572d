"""HANNA's stories as its authors publish them: CSV, a row per story and rater.

Columns: Story ID, Prompt, Human (the story that a person wrote, the reference), Story,
Model, the six aspects, Worker ID. A prompt's number is Story ID mod 96; items are
hanna-001 to hanna-096, as in format `hanna_csv`, whose lists have the prompts in this
order. Raters are rater-1, -2, … in the order of a story's rows: a worker rated few
stories.
"""

from collections import Counter

from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.rows import FileRow
from judgescope.data.wording import numbered
from judgescope.schema.cards import Format


class _Stories:
    """Adds rows, and counts the raters of each story."""

    def __init__(self) -> None:
        self.raters = Counter[int]()

    def add(self, draft: Draft, row: FileRow) -> None:
        """Add a rater's row: the story with its prompt, and the ratings."""
        story = _story_id(draft, row)
        self.raters[story] += 1
        rater = f"rater-{self.raters[story]}"
        # The number of prompts, each of which has a story by every model.
        prompts = 96
        # What ids of items begin with, so that they agree with those of the scores.
        dataset = "hanna"
        name = numbered(dataset, story % prompts + 1, prompts)
        prompt, reference, text = (
            draft.pick(row, column) for column in ("Prompt", "Human", "Story")
        )
        item = draft.item(name, [("Prompt", prompt)], [reference])
        output = draft.output(item, draft.pick(row, "Model"), text, again=True)
        for aspect, column in draft.columns.items():
            with draft.caught():
                draft.rating(output, aspect, rater, draft.pick(row, column))


def _story_id(draft: Draft, row: FileRow) -> int:
    """Return the number of a row's story, or raise UserError."""
    story_column = "Story ID"
    cell = draft.pick(row, story_column)
    try:
        story = int(str(cell))
    except ValueError:
        story = -1
    if story < 0:
        raise RowFault(
            f"a {story_column} is not a number",
            got=cell,
            allowed="a whole number, 0 or above",
        )
    return story


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the stories with their prompts, references and ratings."""
    stories = _Stories()
    draft.add_rows(files["data"], stories.add)
    n_raters = Counter(stories.raters.values())
    if len(n_raters) > 1:
        [usual, *others] = [count for count, _ in n_raters.most_common()]
        differing = sum(n_raters[count] for count in others)
        draft.notes.append(f"stories with more or fewer than {usual} rows: {differing}")


FORMAT = Format(name="hanna_stories_csv", read=read, parts=("Prompt",))
