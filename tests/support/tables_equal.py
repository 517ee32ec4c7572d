"""Are the result tables of two revisions the same, value by value?

`python tests/support/tables_equal.py BASE [--map renames.csv] [--studies "demo usr"]
[--relative 1e-12]` runs the studies of tables_studies.py with the revision BASE and
with the working tree, and compares their tables: which rows there are, every float to
the bit (or up to a relative difference), counts and notes. It exits with 1 where they
differ.

The map is a CSV file with the columns kind, old, new. kind: `table`, `column`,
`statistic`, or `value` (of any other cell that holds a name); `key` (of a card) and
`command` are in no table. Without `old`, `new` is an addition that is wanted; without
`new`, `old` may go.
"""

import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow.parquet as pq

HOME = Path(__file__).resolve().parents[2]
KINDS = Literal["table", "column", "statistic", "value", "key", "command"]
VALUES = {
    *(
        "value",
        "lo",
        "hi",
        "ci_low",
        "ci_high",
        "n",
        "n_missing",
        "n_tied",
        "method",
        "note",
    ),
}
"""Columns of a result table that say what was found; all others say of what."""
UNCOMPARED = {"signature"}
"""A signature names the version of Judgescope."""
SHOWN = 5
"""So many rows of a difference are shown."""

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Renames:
    """What is called otherwise, by kind: old name -> new name; and what may come or
    go.
    """

    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    added: frozenset[tuple[str, str]] = frozenset()
    removed: frozenset[tuple[str, str]] = frozenset()

    def new(self, kind: str, name: str) -> str:
        """Return what a name of the old revision is called now."""
        return self.names.get(kind, {}).get(name, name)


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same: what, in which table and column, and of which
    row.
    """

    table: str
    column: str
    what: Literal["changed", "gone", "new"]
    row: Key = ()
    before: str = ""
    after: str = ""


def read_renames(lines: Iterable[str]) -> Renames:
    """Return what a map says, of the lines of its CSV file. Raises ValueError for
    another kind.
    """
    names: dict[str, dict[str, str]] = {}
    added, removed = set(), set()
    for number, row in enumerate(csv.DictReader(lines), start=2):
        kind, old, new = (
            str(row.get(key) or "").strip() for key in ("kind", "old", "new")
        )
        if kind not in get_args(KINDS) or not (old or new):
            allowed = ", ".join(get_args(KINDS))
            raise ValueError(
                f"line {number} of the map: kind is one of {allowed}; got {row}"
            )
        if not old:
            added.add((kind, new))
        elif not new:
            removed.add((kind, old))
        else:
            names.setdefault(kind, {})[old] = new
    return Renames(names, frozenset(added), frozenset(removed))


NO_RENAMES = Renames()


def differences(
    before: Tables,
    after: Tables,
    renames: Renames = NO_RENAMES,
    relative: float = 0.0,
) -> list[Difference]:
    """Return everything in which the tables of two revisions differ; rows have no
    order. Numbers may differ by the share `relative`.
    """
    old = {renames.new("table", name): rows for name, rows in before.items()}
    collected: list[Difference] = []
    for name in sorted(old.keys() | after.keys()):
        if name not in after:
            if ("table", name) not in renames.removed:
                collected.append(Difference(name, "", "gone"))
        elif name not in old:
            if ("table", name) not in renames.added:
                collected.append(Difference(name, "", "new"))
        else:
            renamed = [_renamed(row, renames) for row in old[name]]
            collected += _of_table(name, renamed, after[name], relative)
    return [each for each in collected if not _wanted(each, renames)]


def _renamed(row: Row, renames: Renames) -> dict[str, Any]:
    """Return a row of the old revision in the names of the new one."""
    renamed = {}
    for column, value in row.items():
        kind = "statistic" if column == "statistic" else "value"
        if isinstance(value, str) and column not in VALUES:
            value = renames.new(kind, value)
        renamed[renames.new("column", column)] = value
    return renamed


def _of_table(
    table: str, before: Sequence[Row], after: Sequence[Row], relative: float
) -> Iterator[Difference]:
    columns = [_columns(rows) for rows in (before, after)]
    for column in sorted(columns[0] ^ columns[1]):
        yield Difference(table, column, "gone" if column in columns[0] else "new")
    shared = columns[0] & columns[1]
    old, new = (_by_key(rows, shared - VALUES) for rows in (before, after))
    for key in sorted(old.keys() | new.keys()):
        ours, theirs = old.get(key, []), new.get(key, [])
        if len(ours) != len(theirs):
            what: Literal["gone", "new"] = "gone" if len(ours) > len(theirs) else "new"
            yield Difference(table, "", what, key, str(len(ours)), str(len(theirs)))
            continue
        for column in sorted(shared & VALUES):
            values = [
                sorted((row.get(column) for row in rows), key=exact)
                for rows in (ours, theirs)
            ]
            collected = [list(map(exact, side)) for side in values]
            if collected[0] != collected[1] and not _are_near(
                values[0], values[1], relative
            ):
                yield Difference(
                    table,
                    column,
                    "changed",
                    key,
                    *(" ".join(each) for each in collected),
                )


def _are_near(before: list[Any], after: list[Any], relative: float) -> bool:
    """Return whether all are numbers that differ by no more than a share of theirs.

    Two numbers below 1e-12 are round-off of 0. Without a share, bits count.
    """
    zero = 1e-12
    return relative > 0 and all(
        isinstance(each, float)
        and isinstance(other, float)
        and math.isclose(each, other, rel_tol=relative, abs_tol=zero)
        for each, other in zip(before, after, strict=True)
    )


def _columns(rows: Sequence[Row]) -> set[str]:
    """Return the columns that have a value in some row."""
    return {
        name for row in rows for name, value in row.items() if value is not None
    } - UNCOMPARED


def _by_key(rows: Sequence[Row], columns: set[str]) -> dict[Key, list[Row]]:
    """Return what rows are about -> the rows."""
    keyed: dict[Key, list[Row]] = {}
    for row in rows:
        names = sorted(name for name in columns if row.get(name) is not None)
        keyed.setdefault(tuple((name, str(row[name])) for name in names), []).append(
            row
        )
    return keyed


def exact(value: Any) -> str:
    """Return a value as text that is the same only of the same bits."""
    return f"{value!r} ({value.hex()})" if isinstance(value, float) else repr(value)


def _wanted(error: Difference, renames: Renames) -> bool:
    """Return whether the map says that something comes or goes."""
    allowed = {"new": renames.added, "gone": renames.removed, "changed": frozenset()}[
        error.what
    ]
    if not error.row:
        return ("column", error.column) in allowed
    return any(
        ("statistic" if column == "statistic" else "value", value) in allowed
        for column, value in error.row
    )


def report(study: str, expected: Sequence[Difference]) -> Iterator[str]:
    """Yield the lines that tell of a study's differences: by table and column, the
    first rows.
    """
    if not expected:
        yield f"{study}: equal"
        return
    counts = Counter((error.table, error.column, error.what) for error in expected)
    yield f"{study}: {len(expected)} differences"
    for (table, column, what), count in sorted(counts.items()):
        kind = f"column {column}" if column else "rows"
        yield f"  {table}, {kind} {what}: {count}"
        errors = [
            error
            for error in expected
            if (error.table, error.column, error.what) == (table, column, what)
        ]
        for problem in errors[:SHOWN]:
            values = (
                f": {problem.before} -> {problem.after}"
                if problem.before or problem.after
                else ""
            )
            row = " ".join(f"{column}={value}" for column, value in problem.row)
            yield f"    {row or 'all of it'}{values}"


def read_tables(results: Path) -> dict[str, list[Row]]:
    """Return the result tables in a folder of results, by name."""
    return {
        path.stem: pq.read_table(path).to_pylist()
        for path in results.glob("tables/*.parquet")
    }


class Checkout:
    """A revision, checked out in a folder of its own, or the working tree."""

    def __init__(self, home: Path) -> None:
        self.home = home
        places = (
            home / "tests" / "support",
            home / "tests",
        )  # the latter: of an older revision
        self.tests = next(
            location for location in places if (location / "tables_studies.py").exists()
        )

    def run(self, study: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a study in a folder; the exit status is that of tables_studies.py."""
        paths = [str(self.home / "scripts"), str(self.tests)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, str(self.tests / "tables_studies.py"), study]
        return subprocess.run(
            [*command, str(folder)],
            env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


def compare(
    base: Checkout, study: str, folder: Path, renames: Renames, relative: float
) -> bool:
    """Run a study with both revisions and print what differs; return whether all is
    equal.
    """
    tables: list[dict[str, list[Row]]] = []
    for side, checkout in (("before", base), ("after", Checkout(HOME))):
        location = folder / study / side
        done = checkout.run(study, location)
        if done.returncode == 3:
            print(f"{study}: skipped, {done.stdout.strip()}", flush=True)
            return True
        if done.returncode:
            print(
                f"{study}: the run of `{side}` failed\n{done.stdout[-4000:]}",
                flush=True,
            )
            return False
        [results] = (location / "results").iterdir()
        tables.append(read_tables(results))
    result = differences(tables[0], tables[1], renames, relative)
    print(*report(study, result), sep="\n", flush=True)
    rows = sum(map(len, tables[1].values()))
    print(f"  {rows:,} rows of {len(tables[1])} tables", flush=True)
    return not result


def main() -> int:
    """Compare the studies that are asked for; return the exit status."""
    parser = argparse.ArgumentParser(
        description="Compare result tables of two revisions."
    )
    parser.add_argument("base", help="a revision of this repository")
    parser.add_argument("--map", type=Path, help="CSV file: kind, old, new")
    parser.add_argument(
        "--relative",
        type=float,
        default=0.0,
        help="numbers may differ by this share of theirs; default: to the bit",
    )
    parser.add_argument("--studies", default="", help="their names; default: all")
    options = parser.parse_args()
    # what runs is the revision's; this list is ours
    from tables_studies import STUDIES

    names = options.studies.split() or list(STUDIES)
    if unknown := sorted(set(names) - set(STUDIES)):
        parser.error(
            f"no such study: {', '.join(unknown)}; there are {', '.join(STUDIES)}"
        )
    lines = options.map.read_text(encoding="utf-8").splitlines() if options.map else []
    renames = read_renames(lines)
    with tempfile.TemporaryDirectory(prefix="tables-equal-") as folder:
        home = Path(folder) / "base"
        git = ["git", "-C", str(HOME), "worktree"]
        subprocess.run(
            [*git, "add", "--quiet", "--detach", str(home), options.base], check=True
        )
        try:
            if (shared := HOME.parent / "shared").exists():
                (Path(folder) / "shared").symlink_to(shared.resolve())
            runs = Path(folder) / "runs"
            equal = [
                compare(Checkout(home), name, runs, renames, options.relative)
                for name in names
            ]
        finally:
            subprocess.run([*git, "remove", "--force", str(home)], check=True)
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
