"""The file of `audit --errors`: every row in which a judge and people disagree."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from judgescope.cli.audit.disagreements import Disagreement
from judgescope.cli.init.cards import StudyDraft
from judgescope.tables.opening import open_table

ADDED: Final = ("row", "judge", "aspect", "judge_says", "people_say", "distance")
"""The columns beside the user's own; underscores are added to a name that is taken."""


def write_errors(
    draft: StudyDraft, rows: Sequence[Disagreement], file: Path, *, texts: bool
) -> Iterator[str]:
    """Write the rows as CSV, the user's own columns first; yield lines on the file.

    Without `texts`, none of the user's columns is written.
    """
    cells_of = cells_by_row(draft) if texts else {}
    columns = list(dict.fromkeys(name for row in cells_of.values() for name in row))
    added = [_free(name, columns) for name in ADDED]
    runs = False
    begin_formulas = ("=", "+", "-", "@")
    with file.open("w", encoding="utf-8", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow([*columns, *added])
        for row in rows:
            cells = cells_of.get(row.row, {})
            written = [exact_text(cells.get(name)) for name in columns]
            judge = draft.judge_names.get(row.judge, row.judge)
            written += [str(row.row), judge, row.aspect, row.judged, row.rated]
            written.append(f"{row.distance:g}")
            table.writerow(written)
            runs = runs or any(cell.startswith(begin_formulas) for cell in written)
    yield f"rows in which a judge and people disagree: {len(rows):,}, written to {file}"
    formula_note = (
        "Cells are exactly those of the table: a spreadsheet may run those that begin "
        "with =, +, - or @."
    )
    if runs:
        yield formula_note


def cells_by_row(draft: StudyDraft) -> dict[int, Mapping[str, Any]]:
    """Return row number -> the cells as the user's file has them.

    A file of another tool has no rows: its texts are numbered.
    """
    of_another_tool = draft.table.known is not None and not draft.table.long
    if draft.table.file.is_file() and not of_another_tool:
        opened = open_table(draft.table.file)
        return dict(zip(opened.numbers, opened.rows, strict=True))
    return dict(zip(draft.table.numbers, draft.table.rows, strict=True))


def exact_text(cell: object) -> str:
    """Return a cell as text: words stay as they are, lists and objects become JSON.

    >>> exact_text("=1+1"), exact_text(None), exact_text([1, "a"])
    ('=1+1', '', '[1, "a"]')
    """
    if cell is None:
        return ""
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return str(cell)


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
