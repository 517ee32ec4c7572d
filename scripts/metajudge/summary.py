"""The short table that ends a run in the terminal."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from metajudge.engines.joins import join_lines
from metajudge.parsing import OFF_GRID, OFF_GRID_REMEDY
from metajudge.schema.tables import read_table

Rows = list[dict[str, Any]]
VIEWS = {
    ("kappa_linear", "direct"): "linear κ, people",
    ("accuracy_adjacent", "direct"): "ordered, people",
    ("kappa_linear", "global"): "linear κ, every rating",
    ("accuracy_adjacent", "local"): "ordered, in a row",
    ("alpha_pair", ""): "alpha with people",
    ("sway", ""): "swayed by the hint",
    ("error_correlation_mean", "pooled"): "error correlation",
    ("effective_judges", "pooled"): "effective judges",
}
"""Statistic and level of perspectives, robustness or ensemble -> the heading of its column."""
SUMS = {"D_avg_exact": "D_avg (exact)", "confusion_index": "confusion index"}
"""Statistic of a judge as a whole -> the heading of its column."""


RATED = "Spearman correlation with the ratings, all targets pooled; "
AVERAGE = "average"
"""The aspect of means over aspects."""


def summary(out: Path) -> str:
    """Return per dataset each judge's pooled Spearman correlation and its sums, and the report.

    Values stand with their 95 % interval; `-` is an undefined one, whose reason is in the tables.
    """
    agreement = _rows(out, "agreement")
    sums = [row for table in ("discernment", "confusion") for row in _rows(out, table)]
    headline = [row for row in sums if row["statistic"] in SUMS]
    shown = [row for row in agreement if (row["statistic"], row["level"]) == ("spearman", "pooled")]
    parts = [
        _table(dataset, [row for row in shown + headline if row["dataset"] == dataset], RATED)
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
            parts.append(_table(dataset, own, f"{table}, means over aspects; "))
    parts += _unjoined(out, coverage := _rows(out, "coverage"))
    parts += _between_steps(coverage)
    parts += _unpriced(_rows(out, "cost"))
    return "\n".join([*parts, f"\nreport: {out / 'report' / 'index.html'}"])


def _unjoined(out: Path, coverage: Rows) -> list[str]:
    """Return a warning for recorded models of which few rows, or rows of few texts, were joined."""
    judges = {(row["dataset"], row["judge"]) for row in coverage}
    return [
        f"\n{path.parent.name}: {line}"
        for path in sorted((out / "joined").glob("*/*.json"))
        for line in join_lines(
            [
                join
                for join in json.loads(path.read_text(encoding="utf-8"))
                if (path.parent.name, join["judge"]) in judges
            ],
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


def _unpriced(cost: Rows) -> list[str]:
    """Return one warning for all judges and writers whose price is not known."""
    prices = [row for row in cost if row["statistic"] == "usd" and row["value"] is None]
    names = sorted({row["judge"] or row["perturbation"] for row in prices})
    warning = (
        f"\nwarning: the price of {', '.join(names)} is not known: give the model's card a `price`"
    )
    return [warning] if names else []


def _rows(out: Path, table: str) -> Rows:
    path = out / "tables" / f"{table}.parquet"
    return read_table("results", path).to_pylist() if path.is_file() else []


def _table(dataset: str, rows: Rows, about: str) -> str:
    judges = sorted({row["judge"] for row in rows})
    cells = {(row["judge"], _column(row)): _shown(row) for row in rows}
    columns = sorted({column for _, column in cells}, key=_place)
    heading = about if any(row["statistic"] not in SUMS for row in rows) else ""
    lines = [f"\n{dataset}: {heading}95 % intervals"]
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


def _shown(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    if row["lo"] is None:
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"
