"""Which rows of a result table are exported, and how they lie: judges below, the rest across."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from judgescope.cli.show import check_wanted
from judgescope.core.errors import UserError
from judgescope.report.report import Report
from judgescope.report.rows import Row, Rows

Wanted = Mapping[str, Sequence[str | int]]
"""Column -> the values of it that are wanted."""

FILTERS = (
    *("dataset", "judge", "aspect", "statistic", "level"),
    *("perturbation", "degree", "criterion", "judge_b", "k"),
)
"""By what rows can be chosen."""
APART = (*FILTERS, "form", "aspect_b", "criterion_b", "k_b", "systems")
"""In what two numbers of one cell can differ."""
COLUMNS = ("aspect", "perturbation")


@dataclass(frozen=True)
class Grid:
    """One statistic of one dataset at one level: a row per judge, a column per aspect or damage.

    `controls` are the judges behind `judges` that nobody could use; `letters` those of the groups
    that a test cannot tell apart, by judge and column.
    """

    table: str
    dataset: str
    statistic: str
    level: str
    judges: Sequence[str]
    controls: Sequence[str]
    columns: Mapping[str, str]
    """Column -> its heading."""
    rows: Mapping[tuple[str, str], Row]
    letters: Mapping[tuple[str, str], str]


def grids(report: Report, table: str, wanted: Wanted, across: str | None = None) -> list[Grid]:
    """Return a grid for every dataset, statistic and level of the rows that are wanted.

    `across` is one of COLUMNS; without it aspects, or damage where all rows have one aspect.
    Raises UserError for a table or a value that is not there, without a statistic where there are
    several, where no row has all that is wanted, and where two rows would share a cell.
    """
    if table not in report.tables:
        raise UserError(
            "the study has no such table", where="table", got=table, allowed=report.tables
        )
    rows = list(report.tables[table])
    check_wanted(table, wanted, lambda name: {getattr(row, name) for row in rows} - {"", 0})
    known = {row.statistic for row in rows}
    if "statistic" not in wanted and len(known) > 1:
        raise UserError(
            f"{table} has several statistics", where="--statistic", allowed=known, todo="name one"
        )
    chosen = [row for row in rows if all(getattr(row, n) in v for n, v in wanted.items())]
    if not chosen:
        _refuse(table, rows, wanted)
    return list(_grids(report, table, chosen, across, wanted.get("statistic", ())))


def _refuse(table: str, rows: Sequence[Row], wanted: Wanted) -> NoReturn:
    """Raise UserError; it tells of each column what goes with all else that is wanted."""
    fitting = {
        _option(name): {getattr(row, name) for row in rows if _has(row, wanted, but=name)} - {"", 0}
        for name in wanted
    }
    told = [f"{name} {', '.join(sorted(map(str, v)))}" for name, v in fitting.items() if v]
    raise UserError(
        f"no row of {table} has all of that",
        where=f"table {table}",
        got=" ".join(f"{_option(name)} {' '.join(map(str, v))}" for name, v in wanted.items()),
        allowed="; or ".join(told) or None,
        todo="leave one of them out, or name another",
    )


def _has(row: Row, wanted: Wanted, but: str) -> bool:
    return all(getattr(row, name) in v for name, v in wanted.items() if name != but)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _grids(
    report: Report,
    table: str,
    rows: Sequence[Row],
    across: str | None,
    statistics: Sequence[str | int],
) -> Iterator[Grid]:
    order = {name: at for at, name in enumerate(statistics)}
    places = dict.fromkeys((row.dataset, row.statistic, row.level) for row in rows)
    for dataset, statistic, level in sorted(places, key=lambda at: order.get(at[1], 0)):
        here = {"dataset": dataset, "statistic": statistic, "level": level}
        own = list(Rows(rows).where(**here))
        by = across or _across(own)
        ranks = _ranks(report, table, here)
        cells = _cells(table, own, by)
        headings = _headings(report, dataset, own, by)
        judges = _ordered([judge.id for judge in report.judges], [row.judge for row in own])
        useless = {judge.id for judge in report.judges if judge.control}
        yield Grid(
            **here,
            table=table,
            judges=[name for name in judges if name not in useless],
            controls=[name for name in judges if name in useless],
            columns=headings,
            rows=cells,
            letters={at: ranks[key] for at, row in cells.items() if (key := _rank(row)) in ranks},
        )


def _across(rows: Sequence[Row]) -> str:
    aspects, damage = {row.judged for row in rows}, {row.cell for row in rows}
    return "perturbation" if len(aspects) == 1 and len(damage) > 1 else "aspect"


def _column(row: Row, across: str) -> str:
    return row.cell if across == "perturbation" else row.judged


def _cells(table: str, rows: Sequence[Row], across: str) -> dict[tuple[str, str], Row]:
    """Return (judge, column) -> row."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        at = row.judge, _column(row, across)
        other = found.setdefault(at, row)
        if other is not row:
            apart = [name for name in APART if getattr(row, name) != getattr(other, name)]
            raise UserError(
                f"several numbers of {table} would stand in one cell",
                where=f"judge {at[0]}, {across} {at[1]!r}, statistic {row.statistic}",
                got=f"rows that differ in {', '.join(apart)}",
                todo="choose one by "
                + " or ".join(_option(name) for name in apart if name in FILTERS)
                + f"; or name the columns: --columns {' or '.join(COLUMNS)}",
            )
    return found


def _headings(report: Report, dataset: str, rows: Sequence[Row], across: str) -> dict[str, str]:
    """Return column -> heading, in the study's order."""
    names = [_column(row, across) for row in rows]
    if across == "aspect":
        of_set = next((one.aspects for one in report.datasets if one.id == dataset), [])
        return {name: report.aspect(name) or "all" for name in _ordered(of_set, names)}
    told = {one.cell: f"{one.name} {one.degree}".strip() for one in report.damages}
    return {name: told.get(name, name) for name in _ordered(list(told), names)}


def _ordered(order: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names, each once: those of the order in it, then the others as they come."""
    seen = dict.fromkeys(names)
    return [*(name for name in order if name in seen), *(n for n in seen if n not in order)]


def _rank(row: Row) -> tuple[str, str, str]:
    return row.judge, row.judged, row.cell


def _ranks(report: Report, table: str, here: Mapping[str, str]) -> dict[tuple[str, str, str], str]:
    """Return the letters of the statistic's ranks, from the table itself or from comparison."""
    wanted = {**here, "statistic": f"rank_{here['statistic']}"}
    tables = (table, "comparison") if table == "agreement" else (table,)
    return {
        _rank(row): row.group
        for name in tables
        for row in report.rows(name).where(**wanted)
        if row.group
    }
