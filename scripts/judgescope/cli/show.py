"""The command `judgescope show`: the numbers of a study's tables in the terminal."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgescope.cli.commands import SHOWN, option
from judgescope.cli.context import command_on, plan_of_study, results_folder
from judgescope.cli.summary import summary
from judgescope.cli.terminal import aligned, plain, undefined
from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.names import RESERVED_JUDGES, SENTENCES
from judgescope.core.paths import Paths
from judgescope.methods.claims.base import VERDICT
from judgescope.methods.claims.rows import RIVAL, SIGN
from judgescope.plan.specs import results
from judgescope.report.cells import FLAT
from judgescope.schema.tables import RESULT_COLUMNS, frame_of, read_table
from judgescope.statistics.resampling import NO_WIDTH
from judgescope.statistics.result import REASONS

if TYPE_CHECKING:
    from pandas import DataFrame, Series

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
        return 0
    rows = rows_of(tables, args.table)
    if args.table == "verdicts":
        print("\n".join(sentences(results_folder(args.study), filters)))
    shown = lines(args.table, rows, filters, limit=args.rows, notes=args.notes)
    print("\n".join(shown))
    return 0


def sentences(results: Path, filters: Filters) -> list[str]:
    """Return the report's sentence on each judge, of those that `--judge` names.

    It is read from the report, so that both say the same.
    """
    path = Path(Paths(str(results)).report(SENTENCES))
    if not path.is_file():
        return [f"hint: no sentences: the report is not written yet ({path})", ""]
    by_judge: dict[str, str] = json.loads(path.read_text("utf-8"))
    wanted = filters.get("judge", list(by_judge))
    lines = []
    for judge, sentence in by_judge.items():
        if judge in wanted:
            lines.append(plain(f"{judge}: {sentence}"))
    if lines:
        return [*lines, ""]
    return []


def filters_of(args: argparse.Namespace, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the filters that are given on the command line."""
    filters = {}
    for name in names:
        values = getattr(args, name, None)
        if values:
            filters[name] = values
    return filters


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
        tables = {}
        for name in results.tables_of(plan):
            path = Path(plan.paths.table(name))
            if path.is_file():
                tables[name] = path
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
        return set(read[column].unique().drop_null().to_pylist())

    seeds: set[str] = set()
    for table in tables:
        for signature in values(table, "signature"):
            seeds.update(re.findall(r"\bseed:(-?\d+)", signature))
    if seeds - {str(seed)}:
        return True
    covered = values("coverage", "judge") if "coverage" in tables else set(judges)
    return covered - RESERVED_JUDGES != set(judges)


def rows_of(tables: Mapping[str, Path], table: str) -> "DataFrame":
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
    table: str, rows: "DataFrame", filters: Filters, *, limit: int, notes: bool
) -> list[str]:
    """Return the rows that pass the filters, as aligned lines, up to a limit (0: all).

    The first line has the values that all rows share. The reason follows an undefined
    number; its words follow the code of a verdict, a sign and a rival. Raises UserError
    if no row passes.
    """
    kept = chosen(table, turned_to(rows, filters.get("judge", [])), filters)
    shown = kept.head(limit or len(kept))
    varied, common = varied_columns(kept, RESULT_COLUMNS.places)
    with_notes = notes or shown["statistic"].isin(NOTED).any()
    titles = [*varied, "value", "95 % interval", "n", "missing"]
    titles.append("notes" if with_notes else "")
    columns = [shown[name] for name in varied]
    columns += numbers(shown)
    columns.append(shown["n_missing"].map(_short))
    counts = f"{table}: {len(kept):,} of {len(rows):,} rows"
    return [
        f"{counts}; all rows: {common}" if common else counts,
        *listed(titles, [*columns, _remarks(shown, notes=notes)]),
        *rows_left(len(kept) - len(shown), "--statistic and other filters show fewer"),
        *no_agreement(shown),
    ]


def _remarks(rows: "DataFrame", *, notes: bool) -> list[str]:
    """Return why a number is undefined, or else its method and note.

    Without `notes`, only those of statistics whose notes say what their numbers mean.
    """
    from pandas import isna  # here: `export` runs without

    columns = ["value", "statistic", "method", "note"]
    texts = rows[columns].fillna({"method": "", "note": ""})
    remarks = []
    for value, statistic, method, note in texts.itertuples(index=False, name=None):
        if isna(value):
            remarks.append(undefined(note))
        elif notes or statistic in NOTED:
            remarks.append("; ".join(filter(None, [method, note])))
        else:
            remarks.append("")
    return remarks


def numbers(rows: "DataFrame", suffix: str = "") -> list["Series"]:
    """Return the values, their intervals and their n, of columns with a suffix.

    An interval of no width that the note names is marked ° as in the report.
    """
    value = rows[f"value{suffix}"]
    low = rows[f"ci_low{suffix}"]
    high = rows[f"ci_high{suffix}"]
    n = rows[f"n{suffix}"]
    notes = rows[f"note{suffix}"].fillna("")
    flat = notes.map(lambda note: FLAT if NO_WIDTH in note else "")
    interval = "[" + low.map(_short) + ", " + high.map(_short) + "]" + flat
    return [
        value.map(_short).where(value.notna(), "-"),
        interval.where(low.notna() & high.notna()),
        n.map(_short, na_action="ignore"),
    ]


def _short(number: float) -> str:
    """Return a number with four digits, or a large one as a whole number with
    commas.
    """
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.4g}"


def listed(titles: Sequence[str], columns: Sequence["Series | list[str]"]) -> list[str]:
    """Return columns as aligned lines below their titles; none without rows."""
    from pandas import isna

    rows = [titles]
    for row in zip(*columns, strict=True):
        rows.append(["" if isna(cell) else plain(cell) for cell in row])
    if len(rows) > 1:
        return aligned(rows)
    return []


def varied_columns(rows: "DataFrame", columns: Iterable[str]) -> tuple[list[str], str]:
    """Return the columns in which rows differ, and the values of the others as text."""
    from pandas import isna

    varied = []
    common = []
    for name in columns:
        if rows[name].nunique(dropna=False) != 1:
            varied.append(name)
            continue
        value = rows[name].iloc[0]
        if not isna(value) and value != "":
            common.append(f"{name} {plain(value)}")
    return varied, ", ".join(common)


def rows_left(count: int, others: str) -> list[str]:
    """Return a line with the number of rows that are not shown, if any, and how to see
    them.
    """
    if count:
        return [f"… and {count:,} more rows: --rows 0 shows all; {others}"]
    return []


def no_agreement(rows: "DataFrame", second: str | None = None) -> list[str]:
    """Return a remark on judges whose agreement means nothing, if there are any.

    `second` is the suffix of the columns of another judge.
    """
    judges: set[str] = set()
    for end in ("", second) if second else ("",):
        noted = rows[f"note{end}"].str.contains(
            REASONS.no_agreement, regex=False, na=False
        )
        column = f"judge{end}" if f"judge{end}" in rows else "judge"
        judges.update(rows.loc[noted, column])
    if judges:
        return [f"hint: {', '.join(sorted(judges))}: {REASONS.no_agreement}"]
    return []


def of_two_judges(rows: "DataFrame") -> "Series":
    """Return which rows have a result on two judges, which is stored with the first of
    them.
    """
    has_second = rows["judge_b"].fillna("") != ""
    return has_second & rows["statistic"].str.startswith(OF_TWO_JUDGES)


def turned_to(rows: "DataFrame", judges: Collection[str | int]) -> "DataFrame":
    """Return the rows, with results on two judges as those of the one that is in
    `judges`.
    """
    first = rows["judge"]
    second = rows["judge_b"]
    turn = of_two_judges(rows) & second.isin(judges) & ~first.isin(judges)
    rows = rows.assign(judge=first.mask(turn, second), judge_b=second.mask(turn, first))
    minus = turn & rows["statistic"].str.startswith(DIFFERENCE)
    swapped = rows.loc[minus, ["value", "ci_high", "ci_low"]]
    # Not -x, which would turn 0 into -0.
    rows.loc[minus, ["value", "ci_low", "ci_high"]] = 0.0 - swapped.to_numpy()
    return rows


def chosen(table: str, rows: "DataFrame", filters: Filters) -> "DataFrame":
    """Return the rows that pass the filters; raise UserError if there are none."""
    check_filters(table, filters, partial(_values, rows))
    kept = _passing(rows, filters)
    if filters and not len(kept):
        raise no_match(table, filters, partial(_values_with, rows))
    return kept


def _passing(rows: "DataFrame", filters: Filters) -> "DataFrame":
    for name, values in filters.items():
        rows = rows[rows[name].isin(values)]
    return rows


def _values(rows: "DataFrame", name: str) -> set[str | int]:
    return set(rows[name].dropna()) - {"", 0}


def _values_with(rows: "DataFrame", name: str, filters: Filters) -> set[str | int]:
    return _values(_passing(rows, filters), name)


def no_match(
    table: str,
    filters: Filters,
    values_with: Callable[[str, Filters], Collection[str | int]],
) -> UserError:
    """Return the error of filters that no row passes.

    `values_with` gives a column's values among the rows that pass some filters: those
    that match all the other filters are named.
    """
    given = []
    fitting = []
    for name, wanted in filters.items():
        given.append(f"{option(name)} {' '.join(map(str, wanted))}")
        others = {other: values for other, values in filters.items() if other != name}
        values = values_with(name, others)
        if values:
            fitting.append(f"{option(name)} {', '.join(sorted(map(str, values)))}")
    return UserError(
        f"no row of {table} matches all filters",
        where=f"table {table}",
        got=" ".join(given),
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
        available = known(name)
        for value in values:
            if value not in available:
                raise UserError(
                    f"no row of {table} has this {name}",
                    where=option(name),
                    got=value,
                    allowed=map(str, available),
                )
