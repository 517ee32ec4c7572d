"""The command `judgescope show`: the numbers of a study's tables in the terminal."""

import argparse
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from pandas import DataFrame, Series, isna

from judgescope.cli.commands import SHOWN, option
from judgescope.cli.context import command_on, plan_of_study, results_folder
from judgescope.cli.summary import summary
from judgescope.cli.terminal import aligned, plain, undefined
from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.names import RESERVED_JUDGES
from judgescope.methods.claims.base import VERDICT
from judgescope.methods.claims.rows import RIVAL, SIGN
from judgescope.plan.specs import results
from judgescope.report.cells import FLAT
from judgescope.schema.tables import RESULT_COLUMNS, frame_of, read_table
from judgescope.statistics.resampling import NO_WIDTH
from judgescope.statistics.result import NO_AGREEMENT

Filters = Mapping[str, Sequence[str | int]]
"""Column -> the values to keep."""
NOTED = (VERDICT, SIGN, RIVAL)
"""Statistics of table `verdicts` whose notes say what their numbers stand for."""
DIFFERENCE = "difference_"
OF_TWO_JUDGES = (DIFFERENCE, "detectable_", "sources_needed_", "p_")
"""Prefixes of statistics on two judges, if there is a judge_b; only a difference has a
direction.
"""


def show(args: argparse.Namespace) -> int:
    """Print a table's rows, or a study's main results and the names of its tables."""
    tables = tables_of(args.study)
    filters = filters_of(args, SHOWN)
    if args.table is None and filters:
        raise UserError(
            "no table is named",
            where=f"--{next(iter(filters))}",
            allowed=tables,
            todo=f"name the table before the options: {command_on('show', args.study)} "
            "<table> --…",
        )
    check_rows(args.rows)
    note_earlier_state(args.study)
    if args.table is None:
        print(summary(results_folder(args.study)).strip())
        print("\ntables (add a name to the command to print one):\n")
        print("\n".join(overview(tables)))
    else:
        rows = rows_of(tables, args.table)
        print(
            "\n".join(
                lines(args.table, rows, filters, limit=args.rows, notes=args.notes)
            )
        )
    return 0


def filters_of(args: argparse.Namespace, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the filters that are given on the command line."""
    return {name: values for name in names if (values := getattr(args, name, None))}


def check_rows(rows: int) -> None:
    """Raise UserError for a negative `--rows`."""
    if rows < 0:
        raise UserError("--rows must be 0 or greater", where="--rows", got=rows)


def tables_of(study: Path) -> dict[str, Path]:
    """Return name -> file of a study's tables; raise UserError if it has none yet."""
    folder = results_folder(study) / "tables"
    tables = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    if not tables:
        raise UserError(
            "this study has no tables yet",
            where=str(folder),
            todo=command_on("run", study),
        )
    return tables


def note_earlier_state(study: Path) -> None:
    """Print a note if a study's tables are of an earlier state of it, and its cards can
    be read.
    """
    with suppress(UserError, UserErrors):
        plan = plan_of_study(study, drafting=True)
        paths = {name: Path(plan.paths.table(name)) for name in results.tables_of(plan)}
        tables = {name: path for name, path in paths.items() if path.is_file()}
        if is_earlier_state(plan.study.seed, [*plan.judges, *plan.derived], tables):
            print(
                "note: these results were computed with another seed or other judges; "
                f"`{command_on('run', study)}` renews them",
                file=sys.stderr,
            )


def is_earlier_state(
    seed: int, judges: Collection[str], tables: Mapping[str, str | Path]
) -> bool:
    """Return whether tables have results of another seed or other judges than the
    study's.
    """

    def values(table: str, column: str) -> set[str]:
        read = read_table("results", tables[table], [column])
        return {*read[column].unique().drop_null().to_pylist()}

    signatures = " ".join(text for name in tables for text in values(name, "signature"))
    other = {*re.findall(r"\bseed:(-?\d+)", signatures)} - {str(seed)}
    covered = values("coverage", "judge") if "coverage" in tables else {*judges}
    return bool(other) or covered - RESERVED_JUDGES != {*judges}


def rows_of(tables: Mapping[str, Path], table: str) -> DataFrame:
    """Return a study's table; raise UserError if it has no such table."""
    folder = next(iter(tables.values())).parent
    check_known(
        [table], tables, "the study does not have this table", where=str(folder)
    )
    return frame_of(read_table("results", tables[table]))


def overview(tables: Mapping[str, Path]) -> list[str]:
    """Return a line per table: its number of rows, and some of its statistics."""
    body = []
    for name, path in tables.items():
        column = read_table("results", path, ["statistic"])["statistic"].to_pylist()
        statistics = sorted(set(column))
        few = ", ".join(statistics[:4]) + (", …" if statistics[4:] else "")
        body.append([name, f"{len(column):,} rows", few])
    return aligned(body, titled=False)


def lines(
    table: str, rows: DataFrame, filters: Filters, *, limit: int, notes: bool
) -> list[str]:
    """Return the rows that pass the filters, as aligned lines, up to a limit (0: all).

    The first line has the values that all rows share. The reason follows an undefined
    number; its words follow the code of a verdict, a sign and a rival. Raises UserError
    if no row passes.
    """
    kept = chosen(table, turned_to(rows, filters.get("judge", [])), filters)
    shown = kept.head(limit or len(kept))
    varied, common = varied_columns(kept, RESULT_COLUMNS.places)
    texts = shown[["method", "note"]].fillna("")
    remarks = [
        undefined(note)
        if missing
        else "; ".join(filter(None, [method, note])) * (notes or statistic in NOTED)
        for missing, statistic, method, note in zip(
            shown["value"].isna(),
            shown["statistic"],
            texts["method"],
            texts["note"],
            strict=True,
        )
    ]
    columns = [
        *(shown[name] for name in varied),
        *numbers(shown),
        shown["n_missing"].map(_short),
        remarks,
    ]
    noted = notes or shown["statistic"].isin(NOTED).any()
    titles = [
        *varied,
        "value",
        "95 % interval",
        "n",
        "missing",
        "notes" if noted else "",
    ]
    return [
        f"{table}: {len(kept):,} of {len(rows):,} "
        f"rows{f'; all rows: {common}' if common else ''}",
        *listed(titles, columns),
        *rows_left(len(kept) - len(shown), "--statistic and other filters show fewer"),
        *no_agreement(shown),
    ]


def numbers(rows: DataFrame, suffix: str = "") -> list[Series]:
    """Return the values, their intervals and their n, of columns with a suffix.

    An interval of no width that the note names is marked ° as in the report.
    """
    value, low, high, n = (
        rows[f"{name}{suffix}"] for name in ("value", "ci_low", "ci_high", "n")
    )
    text, start, end = (column.map(_short) for column in (value, low, high))
    flat = (
        rows[f"note{suffix}"]
        .fillna("")
        .map(lambda note: FLAT if NO_WIDTH in note else "")
    )
    interval = ("[" + start + ", " + end + "]" + flat).where(low.notna() & high.notna())
    return [text.where(value.notna(), "-"), interval, n.map(_short, na_action="ignore")]


def _short(number: float) -> str:
    """Return a number with four digits, or a large one as a whole number with
    commas.
    """
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def listed(titles: Sequence[str], columns: Sequence[Series | list[str]]) -> list[str]:
    """Return columns as aligned lines below their titles; none without rows."""
    rows = [
        ["" if isna(cell) else plain(cell) for cell in row]
        for row in zip(*columns, strict=True)
    ]
    return aligned([titles, *rows]) if rows else []


def varied_columns(rows: DataFrame, columns: Iterable[str]) -> tuple[list[str], str]:
    """Return the columns in which rows differ, and the values of the others as text."""
    varied = [name for name in columns if rows[name].nunique(dropna=False) != 1]
    first = rows.head(1).drop(columns=varied)
    pairs = (
        (name, value)
        for name in columns
        if name in first
        for value in first[name].dropna()
    )
    return varied, ", ".join(
        f"{name} {plain(value)}" for name, value in pairs if value != ""
    )


def rows_left(count: int, others: str) -> list[str]:
    """Return a line with the number of rows that are not shown, if any, and how to see
    them.
    """
    return [f"… and {count:,} more rows: --rows 0 shows all; {others}"] if count else []


def no_agreement(rows: DataFrame, second: str | None = None) -> list[str]:
    """Return a remark on judges whose agreement means nothing, if there are any.

    `second` is the suffix of the columns of another judge.
    """
    judges = set()
    for end in ("", *filter(None, [second])):
        none = rows[f"note{end}"].str.contains(NO_AGREEMENT, regex=False, na=False)
        judges |= set(
            rows.loc[none, f"judge{end}" if f"judge{end}" in rows else "judge"]
        )
    return [f"hint: {', '.join(sorted(judges))}: {NO_AGREEMENT}"] if judges else []


def of_two_judges(rows: DataFrame) -> Series:
    """Return which rows have a result on two judges, which is stored with the first of
    them.
    """
    return (rows["judge_b"].fillna("") != "") & rows["statistic"].str.startswith(
        OF_TWO_JUDGES
    )


def turned_to(rows: DataFrame, judges: Collection[str | int]) -> DataFrame:
    """Return the rows, with results on two judges as those of the one that is in
    `judges`.
    """
    one, other = rows["judge"], rows["judge_b"]
    turn = of_two_judges(rows) & other.isin(judges) & ~one.isin(judges)
    rows = rows.assign(judge=one.mask(turn, other), judge_b=other.mask(turn, one))
    minus, ends = (
        turn & rows["statistic"].str.startswith(DIFFERENCE),
        ["value", "ci_low", "ci_high"],
    )
    swapped = rows.loc[minus, ["value", "ci_high", "ci_low"]]
    rows.loc[minus, ends] = 0.0 - swapped.to_numpy()
    return rows


def chosen(table: str, rows: DataFrame, filters: Filters) -> DataFrame:
    """Return the rows that pass the filters; raise UserError if there are none."""
    check_filters(table, filters, partial(_values, rows))
    kept = _passing(rows, filters)
    if filters and not len(kept):
        raise _no_match(table, rows, filters)
    return kept


def _passing(rows: DataFrame, filters: Filters) -> DataFrame:
    for name, values in filters.items():
        rows = rows[rows[name].isin(values)]
    return rows


def _values(rows: DataFrame, name: str) -> set[str | int]:
    return set(rows[name].dropna()) - {"", 0}


def _no_match(table: str, rows: DataFrame, filters: Filters) -> UserError:
    """Return the error, with the values of each column that match all the other
    filters.
    """
    fitting = []
    for name in filters:
        others = {other: values for other, values in filters.items() if other != name}
        if values := _values(_passing(rows, others), name):
            fitting.append(f"{option(name)} {', '.join(sorted(map(str, values)))}")
    return UserError(
        f"no row of {table} matches all filters",
        where=f"table {table}",
        got=" ".join(
            f"{option(name)} {' '.join(map(str, v))}" for name, v in filters.items()
        ),
        allowed="; or ".join(fitting) or None,
        todo="drop or change a filter",
    )


def check_filters(
    table: str,
    filters: Mapping[str, Sequence[str | int]],
    known: Callable[[str], Collection[str | int]],
) -> None:
    """Raise UserError for a filter's value that no row has; `known` gives those of a
    column.
    """
    for name, values in filters.items():
        for value in values:
            if value not in (available := known(name)):
                raise UserError(
                    f"no row of {table} has this {name}",
                    where=option(name),
                    got=value,
                    allowed=map(str, available),
                )
