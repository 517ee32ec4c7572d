"""AltTest as its authors publish it: JSON, rater -> {id of the rated thing -> rating or
label}.

An id has parts, joined by `__`: the first names the source, the others distinguish what
was rated, such as system and aspect. There is one scale for all ratings, and there are
no texts.
"""

from collections.abc import Iterator
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import ONLY_SYSTEM, Draft, FilesByRole
from judgescope.data.rows import FileRow, read_object
from judgescope.schema.cards import Format

ITEM = "#item"
"""The column of the first part of an id, which `annotations` adds."""
SYSTEM = "#system"
"""The column of the other parts of an id."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the ratings; the parts of an id after the source become the system."""
    if len(draft.columns) > 1:
        raise UserError(
            "this format has one rating per id and rater, so its card must have one "
            "aspect",
            where=f"datasets/{draft.card.dataset}.yaml, key aspects",
            got=", ".join(draft.columns),
        )
    # All files are read before a row is added: a fault in one ends the reading.
    rows = list[tuple[Path, int, FileRow]]()
    for path, _ in files["data"]:
        for number, row in annotations(path):
            rows.append((path, number, row))
    for path, number, row in rows:
        with draft.reading(path, number):
            output = draft.output(draft.item(row[ITEM], [], None), row[SYSTEM], None)
            for aspect in draft.columns:
                for rater in row.keys() - {ITEM, SYSTEM}:
                    with draft.caught():
                        name = draft.name(rater, "rater")
                        draft.rating(output, aspect, name, row[rater])


def annotations(path: Path) -> Iterator[tuple[int, FileRow]]:
    """Yield (position, row) of each id, in the order of their first occurrence.

    A row has ITEM, SYSTEM and a column of each rater who rated the id. Raises UserError
    for a file of another shape.
    """
    rows: dict[str, FileRow] = {}
    for rater, ratings in read_object(path).items():
        if not isinstance(ratings, dict) or rater in {ITEM, SYSTEM}:
            raise UserError(
                "this format maps the name of each rater to an object {id: rating}",
                where=f"{path}, {rater}",
                got=ratings,
            )
        for ident, value in ratings.items():
            item, _, rest = ident.partition("__")
            row = rows.setdefault(ident, {ITEM: item, SYSTEM: rest or ONLY_SYSTEM})
            row[rater] = value
    yield from enumerate(rows.values(), start=1)


FORMAT = Format(name="alttest_json", read=read, has_texts=False)
