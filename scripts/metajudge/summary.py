"""The short table that ends a run in the terminal."""

from pathlib import Path
from typing import Any

from metajudge.schema.tables import read_table

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


def summary(out: Path) -> str:
    """Return per dataset the agreement that decides each judge's claim, its sums, and the report.

    Values stand with their 95 % interval; `-` is an undefined one, whose reason is in the tables.
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
    parts += _unpriced(_rows(out, "cost"))
    return "\n".join([*parts, f"\nreport: {out / 'report' / 'index.html'}"])


def _unpriced(cost: Rows) -> list[str]:
    """Return one warning for all judges and writers whose price is not known."""
    prices = [row for row in cost if row["statistic"] == "usd" and row["value"] is None]
    names = sorted({row["judge"] or row["perturbation"] for row in prices})
    told = (
        f"\nwarning: the price of {', '.join(names)} is not known: give the model's card a `price`"
    )
    return [told] if names else []


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
