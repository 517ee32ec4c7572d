"""USR as its authors publish it: JSON, one dialogue per entry, with all its rated
responses.

Fields: context, fact, annotators, and responses, each with response, model, and a list
of ratings under every aspect's name. There are no ids: an item's id is its file's name
and its position.
"""

from judgescope.data.draft import Draft, FilesByRole
from judgescope.data.rows import FileRow, read_rows
from judgescope.data.wording import numbered, trimmed
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the dialogues; item ids begin with the pattern's fields, the role or the
    dataset.
    """
    for role, role_files in sorted(files.items()):
        default = draft.card.dataset if role == "data" else role
        for path, fields in role_files:
            prefix = "-".join(fields.values()) or default
            rows = list(read_rows(path))
            for number, row in rows:
                with draft.reading(path, number):
                    _add(draft, row, numbered(prefix, number, len(rows)), fields)


def _add(draft: Draft, row: FileRow, name: str, fields: dict[str, str]) -> None:
    """Add a dialogue, and its responses with their ratings."""
    source = [
        ("Conversation", draft.pick(row, "context")),
        ("Fact", draft.pick(row, "fact")),
    ]
    item = draft.item(name, source, None, dict(fields))
    named = row.get("annotators")
    annotators = list[str]()
    if isinstance(named, list):
        annotators = [draft.name(annotator, "rater") for annotator in named]
    for response in draft.pick(row, "responses[*]"):
        with draft.caught():
            text = trimmed(draft.pick(response, "response"))
            output = draft.output(item, draft.pick(response, "model"), text)
            for aspect, column in draft.columns.items():
                with draft.caught():
                    values = draft.pick(response, f"{column}[*]")
                    raters = _raters(annotators, len(values))
                    for rater, value in zip(raters, values, strict=True):
                        draft.rating(output, aspect, rater, value)


def _raters(annotators: list[str], count: int) -> list[str]:
    """Return the annotators' names if they distinguish the ratings, otherwise
    numbers.
    """
    if len(set(annotators)) == len(annotators) == count:
        return annotators
    return [f"rater-{index}" for index in range(1, count + 1)]


FORMAT = Format(
    name="usr_json", read=read, any_role=True, parts=("Conversation", "Fact")
)
