"""The reader of tables alone (tests/cases/tables): the order of rows and columns, the
case of headers and one more covariate change no role, and `init` reads as `audit`.
"""

import csv
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init import flags
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.exports import opened
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.schema.loading import Cards
from running import HOME
from tables_pack import CASES, FOLDER


@cache
def read_original(name: str) -> StudyDraft | None:
    """Return what an audit reads of a table of the pack; nothing changes it."""
    return read(FOLDER / name)


def read(file: Path) -> StudyDraft | None:
    """Return what an audit reads, None for a table that it refuses."""
    args = command_line().parse_args(["audit", str(file)])
    try:
        return draft_of(args, {})
    except (UserError, UserErrors):
        return None


def roles(draft: StudyDraft) -> tuple[object, ...]:
    """Return the columns of each role; headers may be in another case."""
    columns = draft.columns
    single = [columns.text, columns.system, columns.item, *columns.source]
    people = sorted(name.casefold() for name in columns.rated)
    judges = sorted(name.casefold() for name in columns.scored)
    return people, judges, [name and name.casefold() for name in single]


PLAIN_FILES = [
    name
    for name, case in CASES.items()
    if name.endswith(".csv") and case["kind"] != "file format"
]
COVARIATES: dict[str, Callable[[random.Random], str]] = {
    "latency_ms": lambda drawn: str(drawn.randint(90, 4000)),
    "n_tokens": lambda drawn: str(drawn.randint(5, 300)),
    "temperature": lambda drawn: drawn.choice(["0", "0.7", "1"]),
    "created": lambda drawn: f"2026-01-{drawn.randint(10, 28)}",
    "cost_usd": lambda drawn: f"{drawn.random() / 100:.5f}",
    "Dauer": lambda drawn: str(drawn.randint(1, 9)),
    "region": lambda drawn: drawn.choice(["north", "south", "west"]),
}
"""Columns that say nothing about the quality of a text -> how a cell is drawn."""


@dataclass(frozen=True)
class PlainTable:
    """The cells of a CSV file."""

    header: list[str]
    body: list[list[str]]

    @classmethod
    def of(cls, file: Path) -> "PlainTable":
        with file.open(encoding="utf-8", newline="") as lines:
            header, *body = [record for record in csv.reader(lines) if record]
        return cls(header, body)

    def shuffled(self, drawn: random.Random, *, exact: bool) -> "PlainTable":
        """Return the table with rows and columns in another order, headers in another
        case, and one more column.
        """
        cases: list[Callable[[str], str]] = [str, str.upper, str.capitalize]
        case = cases[0] if exact else drawn.choice(cases)
        header = [_in_other_case(name, case) for name in self.header]
        name = drawn.choice([each for each in COVARIATES if each not in header])
        header.append(name)
        body = [[*row, COVARIATES[name](drawn)] for row in self.body]
        order = list(range(len(header)))
        drawn.shuffle(order)
        # A last row of averages stays the last.
        last = body.pop()
        drawn.shuffle(body)
        body.append(last)
        rows = [[row[location] for location in order] for row in body]
        return PlainTable([header[location] for location in order], rows)

    def write(self, file: Path) -> None:
        with file.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow(self.header)
            writer.writerows(self.body)


def _in_other_case(name: str, case: Callable[[str], str]) -> str:
    """Return a header in another case, if capitals part none of its words and the case
    can be undone.
    """
    undone = case(name).casefold() == name.casefold()
    return case(name) if undone and name == name.lower() else name


def check_shuffled(file: str, draws: range, folder: Path) -> None:
    """Fail if another order of a table has other roles."""
    draft = read_original(file)
    table = PlainTable.of(FOLDER / file)
    # Keys of an export are exact, and its further columns may be parts of the source.
    exact = opened(FOLDER / file, Cards([])).known is not None
    for seed in draws:
        shuffled = folder / f"{seed}.csv"
        table.shuffled(random.Random(seed), exact=exact).write(shuffled)
        other = read(shuffled)
        shuffled.unlink()
        assert (draft is None) == (other is None), seed
        if draft and other:
            assert _without_covariates(other) == roles(draft), seed


def _without_covariates(draft: StudyDraft) -> tuple[object, ...]:
    """Return roles without the added column, which may be a part of the source."""
    source = [name for name in draft.columns.source if name not in COVARIATES]
    return roles(replace(draft, columns=replace(draft.columns, source=source)))


@pytest.mark.heavy
@pytest.mark.parametrize("file", PLAIN_FILES)
def test_the_order_of_rows_and_columns_changes_no_role(
    file: str, tmp_path: Path
) -> None:
    check_shuffled(file, range(1), tmp_path)


@pytest.mark.long(3)
@pytest.mark.parametrize("file", PLAIN_FILES)
def test_no_order_of_rows_and_columns_changes_a_role(file: str, tmp_path: Path) -> None:
    check_shuffled(file, range(1, 60), tmp_path)


@pytest.mark.parametrize("file", [name for name in CASES if "replies" not in name])
def test_init_reads_the_same_roles_as_audit(file: str) -> None:
    """Except that `init` leaves replies of a judge to its option `--recorded`."""
    draft = read_original(file)
    if draft is None:
        assert "3" in CASES[file]["exit"].split("|")
        return
    args = command_line().parse_args(["init", str(FOLDER / file), "--yes"])
    table = opened(FOLDER / file, Cards([HOME / "config"]))
    of_init = flags.draft_of(args, table).columns
    columns = draft.columns
    assert of_init.ratings == columns.ratings
    assert of_init.judges == columns.judges
    for role in ("text", "source", "system", "texts", "systems"):
        assert of_init.columns_of(role) == columns.columns_of(role)
