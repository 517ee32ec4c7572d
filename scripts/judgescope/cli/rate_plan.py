"""The command `judgescope rate-plan`: ratings for a wished width, and their price."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from judgescope.cli.context import command_on
from judgescope.cli.planning import FILTERS
from judgescope.cli.show import filters_of, note_earlier_state, rows_of, tables_of
from judgescope.cli.terminal import aligned
from judgescope.core.errors import UserError, check_known
from judgescope.statistics.rate_plan import Prices, RatePlan
from judgescope.statistics.rate_plan import rate_plan as planned

if TYPE_CHECKING:
    from pandas import DataFrame

TABLE = "corrected"
GROUP = ["dataset", "judge", "aspect", "criterion"]
CELL = [*GROUP, "system_subset"]


@dataclass(frozen=True)
class PlannedCell:
    """A system, or a pair of systems: what its plan rests on."""

    spread: float
    correlation: float
    low: float
    high: float
    """The interval of the correlation, or the correlation twice."""
    total: int
    texts: float
    """Rated texts of a source."""


def rate_plan(args: argparse.Namespace) -> int:
    """Print the plans of a study's judges: differences of systems first, then means."""
    _check(args)
    tables = tables_of(args.study)
    if TABLE not in tables:
        raise UserError(
            "the study has no table corrected",
            where=f"{args.study}, key methods",
            allowed=tables,
            todo=f"add corrected to its methods, then {command_on('run', args.study)}",
        )
    note_earlier_state(args.study)
    rows = rows_of(tables, TABLE).fillna({"criterion": "", "system_subset": ""})
    for name, wanted in filters_of(args, FILTERS).items():
        check_known(
            wanted, sorted({*rows[name]}), "no row has this value", where=f"--{name}"
        )
        rows = rows[rows[name].isin(wanted)]
    costs = None
    if "cost" in tables:
        costs = rows_of(tables, "cost")
    print(f"95 % interval: value ± {args.half_width:g}\n")
    print("\n".join(aligned([*_lines(args, rows, costs)])))
    print(
        "\nsources to rate so that every difference or mean has this width; [with the "
        "ends of the\ninterval of the correlation of score and rating]. 'judgment = "
        "ratings': the judge pays if a\njudgment costs less than this share of a "
        "rating."
    )
    return 0


def _check(args: argparse.Namespace) -> None:
    """Raise UserError for numbers that no plan can have."""
    for name in ("half_width", "rating_price", "judgment_price", "sources"):
        value = getattr(args, name)
        least_is_allowed = name.endswith("price")
        fits = value is None or 0 < value < inf or (least_is_allowed and value == 0)
        if fits:
            continue
        option = f"--{name.replace('_', '-')}"
        allowed = "0 or more" if least_is_allowed else "more than 0"
        raise UserError(
            "no plan has this number", where=option, got=value, allowed=allowed
        )


def _lines(
    args: argparse.Namespace, rows: "DataFrame", costs: "DataFrame | None"
) -> Iterator[list[str]]:
    titles = ["dataset", "judge", "aspect", "of", "texts/source", "with the judge"]
    titles += ["without", "judgment = ratings", "price with", "price without"]
    yield titles
    n_plans = 0
    for group, part in rows.groupby(GROUP, sort=False):
        dataset, judge, aspect, criterion = group
        cells = _cells(part, args.sources)
        of_pairs = [cell for name, cell in cells.items() if "+" in name]
        of_systems = []
        for name, cell in cells.items():
            if "+" not in name:
                of_systems.append(cell)
        per_source = sum(cell.texts for cell in of_systems)
        price = _price(args, costs, dataset, judge)
        named = f"{aspect}.{criterion}" if criterion else aspect
        for what, chosen in (("differences", of_pairs), ("means", of_systems)):
            if chosen:
                n_plans += 1
                texts = per_source or max(cell.texts for cell in chosen)
                cost = _planned(args, chosen, texts, price)
                yield [dataset, judge, named, what, f"{texts:.3g}", *cost]
    if not n_plans:
        raise UserError(
            "no judge has a correlation with people's ratings to plan with",
            where=f"table {TABLE}",
            todo="rate 10 sources or more, and run the study again",
        )


def _cells(rows: "DataFrame", sources: int | None) -> dict[str, PlannedCell]:
    """Return system or pair -> what its plan rests on, where all of it is defined."""
    cells = {}
    needed = ("rating_correlation", "rating_spread", "rated_texts", "unrated_sources")
    for name, part in rows.groupby("system_subset", sort=False):
        of = {row["statistic"]: row for row in part.to_dict("records")}
        if any(_missing(of.get(statistic)) for statistic in needed[1:]):
            continue
        correlated = of["rating_correlation"]
        value = correlated["value"]
        r = 0.0 if _is_nan(value) else float(value)
        bounds = [correlated["ci_low"], correlated["ci_high"]]
        low, high = (r if _is_nan(end) else float(end) for end in bounds)
        n = int(of["rating_spread"]["n"])
        total = sources or n + int(of["unrated_sources"]["value"])
        texts = float(of["rated_texts"]["value"]) / n
        spread = float(of["rating_spread"]["value"])
        cells[str(name)] = PlannedCell(spread, r, low, high, total, texts)
    return cells


def _missing(row: dict[str, Any] | None) -> bool:
    return row is None or _is_nan(row["value"])


def _is_nan(value: float | None) -> bool:
    return value is None or value != value


def _planned(
    args: argparse.Namespace,
    cells: Sequence[PlannedCell],
    texts: float,
    judgment: float | None,
) -> list[str]:
    """Return the cells of a line: sources with the judge and without, and prices."""
    total = max(cell.total for cell in cells)
    plans = [_plan(args, cell, cell.correlation) for cell in cells]
    at_best = [_plan(args, cell, cell.high) for cell in cells]
    at_worst = [_plan(args, cell, cell.low) for cell in cells]
    beside = [_most(each, total) for each in (plans, at_best, at_worst)]
    alone = None
    if all(plan.alone is not None for plan in plans):
        alone = max(plan.alone or 0 for plan in plans)
    plan = RatePlan(beside[0], alone, total, texts)
    words = [f"> {total}" if n is None else str(n) for n in beside]
    share = plan.rating_per_judgment
    costs = ["", ""]
    if args.rating_price is not None:
        bounds = plan.cost(Prices(args.rating_price, judgment or 0.0))
        costs = ["-" if cost is None else f"{cost:,.2f}" for cost in bounds]
        if judgment is None:
            costs[0] += " + judgments (no price)"
    return [
        f"{words[0]} [{words[1]}, {words[2]}]",
        "> 100,000" if alone is None else str(alone),
        "-" if share is None else f"{share:.3g}",
        *costs,
    ]


def _plan(args: argparse.Namespace, cell: PlannedCell, r: float) -> RatePlan:
    return planned(cell.spread, r, cell.total, args.half_width, cell.texts)


def _most(plans: Sequence[RatePlan], total: int) -> int | None:
    """Return the sources that every plan needs, None where all are too few for one."""
    if any(plan.beside is None for plan in plans):
        return None
    return min(total, max(plan.beside or 0 for plan in plans))


def _price(
    args: argparse.Namespace, costs: "DataFrame | None", dataset: str, judge: str
) -> float | None:
    """Return the price of a judgment: as given, or as the study's replies cost."""
    if args.judgment_price is not None:
        return float(args.judgment_price)
    if costs is None:
        return None
    per_judgment = "usd_per_1000"
    chosen = costs[
        (costs["dataset"] == dataset)
        & (costs["judge"] == judge)
        & (costs["statistic"].isin([per_judgment, "usd"]))
    ]
    values = dict(zip(chosen["statistic"], chosen["value"], strict=True))
    if values.get("usd") == 0:
        return 0.0
    each = values.get(per_judgment)
    if each is None or _is_nan(each):
        return None
    return float(each) / 1000
