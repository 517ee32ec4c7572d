"""HealthBench's meta-evaluation: labels of physicians, and a grader's in a column."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.rows import FileRow
from judgescope.tables.platforms.base import OpenedExport, Platform, PlatformTable
from judgescope.tables.platforms.reading import kind_of, text_of, unpacked
from judgescope.tables.platforms.sides import JudgeColumn, add_judges
from judgescope.tables.profile import MOST_LABELS
from judgescope.tables.rows_of_texts import MOST_CRITERIA
from judgescope.tables.spelling import is_missing, simple

LABELS = "binary_labels"
PHYSICIANS = "anonymized_physician_ids"
FIELDS = frozenset(
    {
        LABELS,
        PHYSICIANS,
        "category",
        "completion",
        "completion_id",
        "prompt",
        "prompt_id",
        "rubric",
        "criterion",
        "points",
        "canary",
    }
)


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each answer if there are up to twelve criteria, which are aspects;
    else one for each answer and criterion, with the one aspect `met`.
    """
    export.check_columns(LABELS, PHYSICIANS, "completion", "prompt", "prompt_id")
    criterion = "rubric"
    if "criterion" in export.columns:
        criterion = "criterion"
    export.check_columns(criterion)
    graders = []
    for name in export.columns:
        if name not in FIELDS and _is_grader(export, name):
            graders.append(name)
    criteria = dict.fromkeys(str(part.need(criterion)) for part in export.parts)
    by_aspect = 1 < len(criteria) <= MOST_CRITERIA
    rows: dict[str, FileRow] = {}
    places: dict[str, int] = {}
    numbers: Counter[str] = Counter()
    number = "answer number"
    for index, part in enumerate(export.parts):
        prompt = str(part.need("prompt_id"))
        completion = text_of(part.need("completion"))
        answer = str([prompt, part.get("completion_id") or completion])
        key = answer if by_aspect else f"{index}"
        if key not in rows:
            numbers[prompt] += 1
            places[key] = index
            rows[key] = {
                "prompt_id": prompt,
                "prompt": text_of(part.need("prompt")),
                "completion": completion,
                "category": part.get("category"),
                number: str(numbers[prompt]),
            }
            if not by_aspect:
                rows[key][criterion] = part.get(criterion)
        end = f".{part.need(criterion)}" if by_aspect else ""
        rows[key][f"{LABELS}{end}"] = _entries(part.need(LABELS))
        for name in graders:
            rows[key][f"{name}{end}"] = part.get(name)
    table = PlatformTable(
        list(rows.values()),
        list(places.values()),
        item="prompt_id" if _is_id_of_prompts(rows.values()) else None,
        source=["prompt"],
        text="completion",
        system=number,
        anonymous=True,
    )
    _add_sides(table, list(criteria) if by_aspect else [], graders)
    if by_aspect:
        table.points = _points(export, criterion, list(criteria))
    return table


def _points(
    export: OpenedExport, criterion: str, criteria: list[str]
) -> dict[str, float]:
    """Aspect -> the points of its criterion, empty if the export has none.

    UserError for a criterion with no points, or with two numbers of them.
    """
    points: dict[str, float] = {}
    if "points" not in export.columns:
        return points
    aspects = {name: f"criterion-{at}" for at, name in enumerate(criteria, start=1)}
    for part in export.parts:
        aspect = aspects[str(part.need(criterion))]
        worth = simple(str(part.get("points")))
        if worth is None or points.setdefault(aspect, worth) != worth:
            raise UserError(
                "a criterion has one number of points in all rows",
                where=f"{part.where}, points",
                got=part.get("points"),
                allowed=f"{points[aspect]:g}" if aspect in points else "a number",
                todo="write the same points in all rows of the criterion, or leave "
                "the key points out of the file",
            )
    return points


def _is_id_of_prompts(rows: Iterable[FileRow]) -> bool:
    """Whether rows with the same `prompt_id` have the same prompt."""
    prompt_of: dict[Any, Any] = {}
    for row in rows:
        if prompt_of.setdefault(row["prompt_id"], row["prompt"]) != row["prompt"]:
            return False
    return True


def _is_grader(export: OpenedExport, name: str) -> bool:
    cells = {str(row.get(name)) for row in export.rows if not is_missing(row.get(name))}
    kind = kind_of(export.rows, name)
    return kind in {"label", "number"} and 1 <= len(cells) <= MOST_LABELS


def _entries(cell: Any) -> list[int]:
    """Labels as 1 for a criterion that is met, and 0."""
    values = unpacked(cell)
    if not isinstance(values, list):
        values = [values]
    return [int(str(value).lower() in {"true", "1", "1.0"}) for value in values]


def _add_sides(table: PlatformTable, criteria: list[str], graders: list[str]) -> None:
    prefixes = tuple(f"{name}." for name in graders)
    for row in table.rows:
        for column, cell in row.items():
            word = str(cell).lower()
            of_grader = column in graders or column.startswith(prefixes)
            if of_grader and word in {"true", "false"}:
                row[column] = int(word == "true")
    if not criteria:
        # The one aspect is whether the criterion is met.
        table.people = {"met": [LABELS]}
        add_judges(table, [JudgeColumn("", name, name, "met") for name in graders])
        return
    aspects = {}
    for number, criterion in enumerate(criteria, start=1):
        aspects[criterion] = f"criterion-{number}"
        table.notes.append(f"{aspects[criterion]}: {criterion}")
        table.people[aspects[criterion]] = [f"{LABELS}.{criterion}"]
    for grader in graders:
        judged = {aspect: f"{grader}.{name}" for name, aspect in aspects.items()}
        table.judges[slug(grader)] = judged


HEALTHBENCH = Platform(
    name="healthbench",
    title="HealthBench meta-evaluation",
    version="of 2025",
    link="https://github.com/openai/simple-evals",
    found_by="`binary_labels`, `anonymized_physician_ids`",
    people="`binary_labels`, a list by physician",
    judge="an added column of truth values; up to 12 criteria are aspects",
    recognise=lambda export: export.has_columns(LABELS, PHYSICIANS),
    read=_read,
)
