"""Records with feedback of TruLens: `get_records_and_feedback`."""

from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.sides import (
    add_judges,
    add_people,
    is_persons,
    judge_column,
    may_be_score,
)
from judgescope.tables.words import split_header

CALLS = "_calls"


def _feedback(export: OpenedExport) -> list[str]:
    """The columns of feedback: each has a twin with its calls."""
    return [name for name in export.columns if f"{name}{CALLS}" in export.columns]


def _recognise(export: OpenedExport) -> bool:
    named = export.has_columns("app_name") or export.has_columns("app_id")
    return export.has_columns("record_id") and named and bool(_feedback(export))


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each record; the app and its version are the system."""
    export.check_columns("record_id", "input", "output")
    if not {"app_name", "app_id"} & export.columns.keys():
        export.check_columns("app_name")
    rows = []
    systems = set()
    for part in export.parts:
        # Traces of the feedback's calls are no scores.
        row = {
            name: cell
            for name, cell in part.content.items()
            if not name.endswith(CALLS)
        }
        for name in ("input", "output"):
            row[name] = text_of(row.get(name))
        app = row.get("app_name") or row.get("app_id")
        version = row.get("app_version")
        row["app"] = f"{app} {version}" if version else str(app)
        systems.add(row["app"])
        rows.append(row)
    table = PlatformTable(rows, source=["input"], text="output")
    if len(systems) > 1:
        table.system = "app"
    feedback = _feedback(export)
    if not feedback:
        export.check_columns(f"NAME{CALLS}")
    people = []
    own_fields = frozenset(
        {"record_id", "input", "output", "app_name", "app_id", "app_version"}
    )
    for name in export.columns:
        of_truth = {"ground", "truth"} <= set(split_header(name))
        free = name not in feedback and name not in own_fields
        if free and (is_persons(name) or of_truth) and may_be_score(rows, name):
            people.append(name)
    add_people(table, people)
    judged = [name for name in feedback if may_be_score(rows, name)]
    add_judges(table, [judge_column(name) for name in judged])
    return table


TRULENS = Platform(
    name="trulens",
    title="TruLens",
    version="2.16",
    link="https://www.trulens.org/reference/trulens/core/session/",
    found_by="`record_id`, `app_name` or `app_id`, columns `NAME` with `NAME_calls`",
    people="columns with a word for people, or ground truth",
    judge="columns with a twin `NAME_calls`",
    recognise=_recognise,
    read=_read,
)
