"""The short table that ends a run in the terminal."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.engines.recorded import join_lines, read_joins
from judgescope.methods.claims.base import BAR, VERDICT
from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY
from judgescope.plan.generators import made_of, spender
from judgescope.schema.tables import read_table
from judgescope.statistics.verdict import Outcome

if TYPE_CHECKING:
    from judgescope.plan import Plan

Rows = list[dict[str, Any]]
VIEWS = {
    ("kappa_linear", "direct"): "linear κ, people",
    ("accuracy_adjacent_half", "direct"): "ordered, people",
    ("kappa_linear", "global"): "linear κ, every rating",
    ("accuracy_adjacent_half", "local"): "ordered, in a row",
    ("alpha_pair", ""): "alpha with people",
    ("sway", ""): "swayed by the hint",
    ("error_correlation_mean", "pooled"): "error correlation",
    ("effective_judges", "pooled"): "effective judges",
}
"""Statistic and level of perspectives, robustness or ensemble -> the heading of its column."""
OF_PEOPLE = {
    *(("kappa_linear", "direct"), ("accuracy_adjacent_half", "direct"), ("alpha_pair", "")),
}
"""Those that say how well a judge agrees with people."""
SUMS = {"D_avg_exact": "D_avg (exact)", "confusion_index": "confusion index"}
"""Statistic of a judge as a whole -> the heading of its column."""


ON_BAR = {
    Outcome.MEETS: "met",
    Outcome.MISSES: "missed",
    Outcome.CANNOT_TELL: "not known",
    Outcome.NO_CLAIM: "no claim",
}
"""Outcome of a stated bar -> how the judges that have it are listed."""
RATED = "Spearman correlation with the ratings, {}; "
LEVELS = {"by_source": "mean over sources", "pooled": "all targets pooled"}
AVERAGE = "average"
"""The aspect of means over aspects."""
FEWEST = 10
"""Of fewer a correlation prints no number."""
MISSING = 0.05
"""Where more is missing, n stands beside the number."""
HINTED = "hint"
"""What stands for a number of agreement of a judge that is given a rating of the very text."""


def summary(out: Path, warnings: Sequence[str] = ()) -> str:
    """Return per dataset the agreement that decides each judge's claim, its sums, and the report.

    Values stand with their 95 % interval; `-` is an undefined one, whose reason is in the tables.
    `warnings` stand before the report's place.
    """
    verdicts = [row for row in _rows(out, "verdicts") if row["form"] == "agreement"]
    hinted = {
        (row["dataset"], row["judge"])
        for row in verdicts
        if row["statistic"] == "verdict" and "hinted" in row["note"].split("; ")
    }
    sums = [row for table in ("discernment", "confusion") for row in _rows(out, table)]
    headline = [row for row in sums if row["statistic"] in SUMS]
    shown = [row for row in verdicts if row["statistic"] == "spearman"]
    parts = [
        _table(dataset, [row for row in shown + headline if row["dataset"] == dataset], hinted)
        for dataset in sorted({row["dataset"] for row in shown + headline})
    ]
    for table in ("perspectives", "robustness", "ensemble"):
        views = [
            {**row, "aspect": VIEWS[row["statistic"], row["level"]]}
            for row in _rows(out, table)
            if row["aspect"] == AVERAGE and (row["statistic"], row["level"]) in VIEWS
        ]
        for dataset in sorted({row["dataset"] for row in views}):
            own = [row for row in views if row["dataset"] == dataset]
            about = f"{table}, means over aspects; "
            parts.append(_table(dataset, own, hinted, about))
    if hinted:
        names = ", ".join(sorted({judge for _, judge in hinted}))
        parts.append(
            f"\n{HINTED}: {names} is given a rating of the very text, so its agreement says nothing"
        )
    parts += _unjoined(out, coverage := _rows(out, "coverage"))
    parts += _bars(_rows(out, "verdicts"))
    parts += _between_steps(coverage)
    parts += warnings
    return "\n".join([*parts, f"\nreport: {out / 'report' / 'index.html'}"])


def _unjoined(out: Path, coverage: Rows) -> list[str]:
    """Return a warning for recorded models of which few rows, or rows of few texts, were joined."""
    judges = {(row["dataset"], row["judge"]) for row in coverage}
    return [
        f"\n{path.parent.name}: {line}"
        for path in sorted((out / "joined").glob("*/*.json"))
        for line in join_lines(
            [join for join in read_joins(path) if (path.parent.name, join.judge) in judges],
            poor=True,
        )
    ]


def _between_steps(coverage: Rows) -> list[str]:
    """Return a warning for each judge whose values lie between the steps of its scale."""
    counts = Counter[str]()
    for row in coverage:
        if row["statistic"] == f"count_{OFF_GRID}":
            counts[row["judge"]] += round(row["value"])
    return [
        f"\nwarning: {count:,} values of {judge} lie between the steps of its scale and are "
        f"missing: {OFF_GRID_REMEDY}"
        for judge, count in sorted(counts.items())
    ]


def _bars(verdicts: Rows) -> list[str]:
    """Return a line for each bar that the study states: which judges meet it, and which do not."""
    bars: dict[tuple[str, ...], dict[str, list[str]]] = {}
    limits: dict[tuple[str, ...], str] = {}
    for row in verdicts:
        kind, _, statistic = (row["form"] or "").partition(" ")
        if kind != BAR or not statistic:
            continue
        aspect = ".".join(filter(None, (row["aspect"], row["criterion"])))
        place = (row["dataset"], statistic, row["level"] or "", aspect)
        if row["statistic"] == BAR:
            limits[place] = f"{row['note']} {row['value']:g}"
        if row["statistic"] == VERDICT:
            outcome = Outcome(row["note"].split("; ")[0])
            bars.setdefault(place, {}).setdefault(outcome, []).append(row["judge"])
    lines = []
    for bar, judges in bars.items():
        dataset, statistic, level, aspect = bar
        what = " ".join(
            filter(None, (statistic, level, limits.get(bar), aspect and f"on {aspect}"))
        )
        told = "; ".join(
            f"{ON_BAR[one]}: {', '.join(judges[one])}" for one in ON_BAR if one in judges
        )
        lines.append(f"  {dataset}, {what}: {told}")
    return ["\nbars that the study states:", *lines] if lines else []


def unpriced(out: Path, plan: Callable[[], "Plan"]) -> list[str]:
    """Return a warning for each model without a price: its card, and what it was asked for.

    `plan` returns the study's plan; it is called only where a price lacks.
    """
    costs = _rows(out, "cost")
    prices = [row for row in costs if row["statistic"] == "usd" and row["value"] is None]
    names = sorted({row["judge"] or row["perturbation"] for row in prices})
    if not names:
        return []
    cards: dict[str, list[str]] = {}
    for name in names:
        for model in models_of(plan(), name):
            cards.setdefault(model, []).append(name)
    return [
        f"\nwarning: models/{model}.yaml has no `price`: what {', '.join(asked)} cost is not known"
        for model, asked in sorted(cards.items())
    ]


def models_of(plan: "Plan", name: str) -> set[str]:
    """Return the models without a price behind a judge, an ensemble or a writer of texts."""
    made = {
        spender(made): model
        for dataset in plan.datasets
        for made, model in made_of(plan, dataset).items()
    }
    judges = plan.derived[name].members if name in plan.derived else [name]
    models = {plan.judges[judge].model for judge in judges if judge in plan.judges}
    models |= {model for writer, model in made.items() if writer == name}
    if name in plan.derived and (supervisor := plan.derived[name].supervisor):
        models.add(supervisor.model)
    return {model for model in models if getattr(plan.models.get(model), "price", 0) is None}


def _rows(out: Path, table: str) -> Rows:
    path = out / "tables" / f"{table}.parquet"
    return read_table("results", path).to_pylist() if path.is_file() else []


def _table(dataset: str, rows: Rows, hinted: set[tuple[str, str]], about: str = "") -> str:
    judges = sorted({row["judge"] for row in rows})
    cells = {(row["judge"], _column(row)): _shown(row, hinted) for row in rows}
    columns = sorted({column for _, column in cells}, key=_place)
    levels = {row["level"] for row in rows if row["statistic"] == "spearman"} & {*LEVELS}
    told = about or (RATED.format(" or ".join(LEVELS[one] for one in sorted(levels))))
    told = told if levels or about else ""
    lines = [f"\n{dataset}: {told}95 % intervals"]
    lines.append(f"  {'judge':<18}" + "".join(f"  {title:>20}" for title in columns))
    for judge in judges:
        values = [(cells.get((judge, name), "-"), max(20, len(name))) for name in columns]
        lines.append(f"  {judge:<18}" + "".join(f"  {value:>{width}}" for value, width in values))
    return "\n".join(lines)


def _place(column: str) -> tuple[bool, str]:
    """Return by what columns are sorted: aspects, then sums."""
    return column.partition(",")[0] in SUMS.values(), column


def _column(row: dict[str, Any]) -> str:
    """Return the heading of a row's column: the aspect or the sum, and the wording if any."""
    name = str(row["aspect"] or SUMS[row["statistic"]])
    return f"{name}, {row['criterion']}" if row["criterion"] else name


def _shown(row: dict[str, Any], hinted: set[tuple[str, str]]) -> str:
    """Return a number as the table has it: with its interval, and n where much is missing."""
    agrees = row["form"] == "agreement" or (row["statistic"], row["level"]) in OF_PEOPLE
    if agrees and (row["dataset"], row["judge"]) in hinted:
        return HINTED
    if row["value"] is None:
        return "-"
    n, missing = row["n"] or 0, row["n_missing"] or 0
    if row["statistic"] == "spearman" and n < FEWEST:
        return f"n = {n}"
    beside = f" n = {n}" if missing > MISSING * (n + missing) else ""
    if row["lo"] is None:
        return f"{row['value']:.2f}{beside}"
    return f"{row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]{beside}"
