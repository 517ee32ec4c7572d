"""Tables as people have them, each with the roles of its columns (tests/cases/tables).

A table is read right or refused with a message; none may be misread. The reader works
alone here: no statistics are computed.
"""

import csv
import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init import flags
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.exports import opened
from judgescope.cli.init.unread import unread
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.schema.loading import Cards
from judgescope.tables.spelling import is_missing
from running import HOME

FOLDER = HOME / "tests" / "cases" / "tables"
CASES = {
    row["file"]: row
    for row in csv.DictReader((FOLDER / "expected.csv").open(encoding="utf-8"))
}


class Reading(NamedTuple):
    """What became of a table: the study made from it, or an error; and what is said."""

    draft: StudyDraft | None
    said: str


def read(file: Path) -> Reading:
    args = command_line().parse_args(["audit", str(file)])
    try:
        draft = draft_of(args, {})
    except (UserError, UserErrors) as error:
        return Reading(None, str(error))
    unused = [str(column) for column in unread(draft.table, draft.columns)]
    return Reading(draft, "\n".join([*draft.table.notes, *unused]))


def plain(name: str) -> str:
    return re.sub(r"[^\w]+", "", name.casefold())


def one_of(wanted: str, columns: list[str]) -> bool:
    """Whether one of `a|b` is among columns, also as the key of an object."""
    for name in wanted.split("|"):
        for column in columns:
            begins = column.startswith((f"{name}.", f"{name}_"))
            if column == name or begins or column.endswith(f".{name}"):
                return True
    return False


def problems(case: dict[str, str], draft: StudyDraft) -> list[str]:
    """Return what is wrong with a reading."""
    found = []
    columns = draft.columns
    roles = {"reference": "references"}
    for role in ("item", "source", "system", "text", "reference"):
        got = columns.columns_of(roles.get(role, role))
        got = columns.compared if role == "text" and columns.compared else got
        if role == "system" and columns.anonymous:
            got = []
        if case[role] == "-" and got:
            found.append(f"{role}: {got}")
        for wanted in filter(None, case[role].split(" + ")):
            if wanted != "-" and not one_of(wanted.strip(), got):
                found.append(f"{role}: {wanted} is not in {got}")
    if case["people"]:
        wanted_people = []
        for part in case["people"].split(";"):
            wanted_people += part.partition(":")[2].split(",")
        for wanted in wanted_people:
            if not one_of(wanted.strip(), columns.rated):
                found.append(f"people: {wanted} is not in {columns.rated}")
        in_rows = case["mechanism"] in {"criterion in rows", "columns by system"}
        if len(columns.rated) != len(wanted_people) and not in_rows:
            found.append(f"people: {columns.rated}")
    if case["n_judges"] and len(columns.judges) != int(case["n_judges"]):
        found.append(f"judges: {columns.judges}")
    for part in filter(None, case["judges"].split(";")):
        names = [plain(name) for name in part.partition(":")[0].split("|")]
        if not any(name in plain(judge) for name in names for judge in columns.judges):
            found.append(f"judge {part}: {columns.judges}")
    for name in filter(None, case["never"].split(",")):
        if name.strip() in [*columns.rated, *columns.scored]:
            found.append(f"{name} is no rating and no score")
    if case["judgment"] == "labels" and not draft.labelled:
        found.append("these are labels")
    if case["n"] and _both(draft) != int(case["n"]):
        found.append(f"n: {_both(draft)}")
    return found


def _both(draft: StudyDraft) -> int:
    """Return how many rows have a rating and a score."""
    count = 0
    for row in draft.table.rows:
        rated = not all(is_missing(row.get(name)) for name in draft.columns.rated)
        scored = not all(is_missing(row.get(name)) for name in draft.columns.scored)
        count += rated and scored
    return count


@pytest.mark.parametrize("file", CASES)
def test_a_table_is_read_as_what_it_is(file: str) -> None:
    case = CASES[file]
    draft, said = read(FOLDER / file)
    if draft is None:
        assert "3" in case["exit"].split("|"), said
    else:
        assert problems(case, draft) == []
    if case["kind"] == "people only":
        return  # what their page says is tested where it is printed
    for told in filter(None, case["told"].split(" && ")):
        value = told.removeprefix("told:")
        if told.startswith("told:"):
            assert value in said
    for banned in filter(None, case["not_told"].split(" && ")):
        assert draft is not None or not re.search(banned, said)


def roles(draft: StudyDraft) -> tuple[object, ...]:
    columns = draft.columns
    return (
        sorted(columns.rated),
        sorted(columns.scored),
        columns.text,
        columns.source,
        columns.system,
        columns.item,
    )


PLAIN_FILES = [
    name
    for name, case in CASES.items()
    if name.endswith(".csv") and case["kind"] != "file format"
]


@pytest.mark.heavy
@pytest.mark.parametrize("file", PLAIN_FILES)
def test_the_order_of_rows_and_columns_changes_no_role(
    file: str, tmp_path: Path
) -> None:
    draft = read(FOLDER / file).draft
    with (FOLDER / file).open(encoding="utf-8", newline="") as lines:
        header, *body = [record for record in csv.reader(lines) if record]
    for seed in range(3):
        drawn = random.Random(seed)
        order = list(range(len(header)))
        drawn.shuffle(order)
        drawn.shuffle(body)
        shuffled = tmp_path / f"{seed}.csv"
        with shuffled.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow([header[place] for place in order])
            writer.writerows([[row[place] for place in order] for row in body])
        other = read(shuffled).draft
        assert (draft is None) == (other is None)
        if draft and other:
            assert roles(other) == roles(draft)


@pytest.mark.parametrize("file", [name for name in CASES if "replies" not in name])
def test_init_reads_the_same_roles_as_audit(file: str) -> None:
    """Except that `init` leaves replies of a judge to its option `--recorded`."""
    draft = read(FOLDER / file).draft
    if draft is None:
        pytest.skip("audit refuses this table")
    args = command_line().parse_args(["init", str(FOLDER / file), "--yes"])
    table = opened(FOLDER / file, Cards([HOME / "config"]))
    of_init = roles(flags.draft_of(args, table))
    # `audit` numbers rows without an item itself.
    assert of_init[:-1] == roles(draft)[:-1]
