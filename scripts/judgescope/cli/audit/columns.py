"""The columns of an audit, for programs."""

from typing import Any, Final

from judgescope.cli.init.cards import StudyDraft, aspect_title, recorded_id
from judgescope.cli.init.flags import EVERY
from judgescope.cli.init.readings import confidences, readings_of
from judgescope.cli.init.roles import PAIRED, Guess
from judgescope.data.column_rows import cells_of
from judgescope.data.rows import entries

JSON_ROLES: Final = (
    "text",
    "source",
    "references",
    "item",
    "system",
    "length",
    *PAIRED,
)


def columns_of_json(draft: StudyDraft) -> dict[str, Any]:
    """Return role -> columns, and the reading of each column."""
    table = draft.table
    columns = draft.columns
    each = []
    for reading in readings_of(draft):
        each.append(
            {
                "column": reading.column,
                "role": reading.role,
                "aspect": None if reading.aspect in ("", EVERY) else reading.aspect,
                "name": reading.name or None,
                "grade": reading.grade,
                "why": reading.why,
            }
        )
    of_judge = {}
    for column, judge in confidences(draft).items():
        of_judge[recorded_id(judge)] = column
    return {
        **{role: _shown(columns, role) for role in JSON_ROLES},
        "people": columns.ratings,
        "aspect_names": {name: aspect_title(draft, name) for name in columns.ratings},
        "judges": columns.judges,
        "draws": _draws(draft),
        "confidence": of_judge,
        "missing": table.missing_cells([*columns.rated, *columns.scored]),
        "not_used": [name for name in table.columns if name not in columns.used],
        "each": each,
    }


def _shown(columns: Guess, role: str) -> list[str]:
    """Return the columns of a role, without a number of answers that is ours."""
    if role == "system" and columns.anonymous:
        return []
    return columns.columns_of(role)


def _draws(draft: StudyDraft) -> dict[str, int]:
    """Return judge -> the draws of its scores, for judges that have several."""
    draws: dict[str, int] = {}
    for judge, scores in draft.columns.judges.items():
        most = 1
        for column in scores.values():
            for cell in cells_of(draft.table.rows, column):
                most = max(most, len(entries(cell)))
        if most > 1:
            draws[recorded_id(judge)] = most
    return draws
