"""The command `judgescope show`: the numbers of a study's tables in the terminal."""

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgescope.core.errors import CONTROL, UserError
from judgescope.schema.tables import RESULT_COLUMNS, read_table

Row = dict[str, Any]
NUMBERS = ("value", "lo", "hi", "n", "n_missing", "n_tied")
PLACES = [
    name
    for name in (*RESULT_COLUMNS.first, *RESULT_COLUMNS.optional)
    if name not in {*NUMBERS, "method", "note"}
]
"""The columns that say of what a number is."""
FILTERS = ("dataset", "judge", "aspect", "statistic", "level", "perturbation")
GAP = "  "
EXAMPLES = """examples:
  judgescope show config/config.yaml
  judgescope show config/config.yaml agreement --statistic pearson --level pooled
"""


def add_commands(commands: Any) -> None:
    """Add the command `show` to a parser's subcommands; it sets `act`, which does it."""
    parser = commands.add_parser(
        "show",
        help="the numbers of a study's tables, in the terminal",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", type=Path, help="the study's YAML file")
    parser.add_argument("table", nargs="?", help="a table; default: which tables there are")
    for name in FILTERS:
        parser.add_argument(f"--{name}", nargs="+", default=[], help=f"only of this {name}")
    parser.add_argument(
        "--rows", type=int, default=40, help="so many rows at most, 0: all; default: 40"
    )
    parser.add_argument("--notes", action="store_true", help="with each number's method and note")
    parser.set_defaults(act=show)


def show(told: argparse.Namespace) -> int:
    """Print a table's rows, or which tables a study has; they must be there."""
    there = tables_of(told.study)
    wanted = {name: getattr(told, name) for name in FILTERS if getattr(told, name)}
    if told.table is None and wanted:
        raise UserError(
            "no table is named",
            where=f"--{next(iter(wanted))}",
            allowed=there,
            todo=f"name it first, before any option: judgescope show {told.study} <table> --…",
        )
    if told.rows < 0:
        raise UserError("there are no fewer than 0 rows", where="--rows", got=told.rows)
    if told.table is None:
        print("\n".join(overview(there)))
        return 0
    rows = rows_of(there, told.table)
    print("\n".join(lines(told.table, rows, wanted, most=told.rows, notes=told.notes)))
    return 0


def tables_of(study: Path) -> dict[str, Path]:
    """Return name -> file of a study's tables; raise UserError where it has none yet."""
    from judgescope.cli.context import results_folder

    folder = results_folder(study) / "tables"
    there = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    if not there:
        raise UserError(
            "this study has no tables yet", where=str(folder), todo=f"judgescope run {study}"
        )
    return there


def rows_of(there: Mapping[str, Path], table: str) -> list[Row]:
    """Return the rows of a study's table; raise UserError where it has no such table."""
    if table not in there:
        folder = next(iter(there.values())).parent
        raise UserError("the study has no such table", where=str(folder), got=table, allowed=there)
    rows: list[Row] = read_table("results", there[table]).to_pylist()
    return rows


def overview(tables: Mapping[str, Path]) -> list[str]:
    """Return a line per table: how many numbers, and of which statistics."""
    found = []
    for name, path in tables.items():
        rows = read_table("results", path, ["statistic"]).to_pylist()
        statistics = sorted({row["statistic"] for row in rows})
        few = ", ".join(statistics[:4]) + (", …" if statistics[4:] else "")
        found.append([name, f"{len(rows):,} rows", few])
    return aligned(found)


def lines(
    table: str, rows: Sequence[Row], wanted: Mapping[str, Sequence[str]], *, most: int, notes: bool
) -> list[str]:
    """Return the rows that have the wanted values, as aligned lines.

    What is the same in all of them stands above, once. An undefined number is followed by its
    reason. Raises UserError for a value that no row has.
    """
    own = chosen(table, rows, wanted)
    shown = own[:most] if most else own
    same = {name: own[0][name] for name in PLACES if own and len({r[name] for r in own}) == 1}
    varied = [name for name in PLACES if name not in same]
    titles = [*varied, "value", "95 % interval", "n", "missing", *(["notes"] if notes else [""])]
    body = [[*(plain(row[name]) for name in varied), *_numbers(row, notes)] for row in shown]
    told = ", ".join(f"{name} {plain(value)}" for name, value in same.items() if plain(value))
    head = f"{table}: {len(own):,} of {len(rows):,} rows" + (f"; all: {told}" if told else "")
    left = len(own) - len(shown)
    more = f"… and {left:,} more rows: --rows 0 shows all, --statistic and others fewer"
    return [head, *aligned([titles, *body] if body else []), *([more] if left else [])]


def chosen(table: str, rows: Sequence[Row], wanted: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return the rows with the wanted values; raise UserError for a value that no row has."""
    check_wanted(table, wanted, lambda name: {row[name] for row in rows if row[name]})
    return [row for row in rows if all(row[name] in v for name, v in wanted.items())]


def check_wanted(
    table: str,
    wanted: Mapping[str, Sequence[str | int]],
    known: Callable[[str], Collection[str | int]],
) -> None:
    """Raise UserError for a wanted value that no row has; `known` gives those of a column."""
    for name, values in wanted.items():
        there = known(name)
        for value in values:
            if value not in there:
                raise UserError(
                    f"no row of {table} has this {name}",
                    where=f"--{name.replace('_', '-')}",
                    got=value,
                    allowed=map(str, there),
                )


def _numbers(row: Row, notes: bool) -> list[str]:
    said = "; ".join(filter(None, [row["method"], row["note"]])) if notes else ""
    if row["value"] is None:
        said = f"undefined: {row['note']}"
    return [*number(row), plain(row["n"]), plain(row["n_missing"]), plain(said)]


def number(row: Row) -> tuple[str, str]:
    """Return a row's value and its interval as they are shown."""
    value, lo, hi = (row[name] for name in ("value", "lo", "hi"))
    interval = "" if lo is None or hi is None else f"[{lo:.4g}, {hi:.4g}]"
    return "-" if value is None else f"{value:.4g}", interval


def plain(value: object) -> str:
    """Return a value on one line: names come from data, and may hold what moves a cursor."""
    text = "" if value is None else str(value)
    return "".join(one if one.isprintable() else " " for one in CONTROL.sub(" ", text))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of equally many cells as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
