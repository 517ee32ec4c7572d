"""The short table that ends a run in the terminal."""

from pathlib import Path
from typing import Any

from metajudge.schema.tables import read_table

Rows = list[dict[str, Any]]


def summary(out: Path) -> str:
    """Return per dataset each judge's pooled Spearman correlation and discernment, and the report.

    Values stand with their 95 % interval; `-` is an undefined one, whose reason is in the tables.
    """
    agreement = _rows(out, "agreement")
    headline = [row for row in _rows(out, "discernment") if row["statistic"] == "D_avg_exact"]
    shown = [row for row in agreement if (row["statistic"], row["level"]) == ("spearman", "pooled")]
    parts = [
        _table(dataset, [row for row in shown + headline if row["dataset"] == dataset])
        for dataset in sorted({row["dataset"] for row in shown + headline})
    ]
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


def _table(dataset: str, rows: Rows) -> str:
    judges = sorted({row["judge"] for row in rows})
    columns = sorted({row["aspect"] for row in rows if row["aspect"]})
    cells = {(row["judge"], row["aspect"]): _shown(row) for row in rows}
    discerning = any(not row["aspect"] for row in rows)
    names = columns + ([""] if discerning else [])
    titles = [*columns, *(["D_avg (exact)"] if discerning else [])]
    told = [
        *(["Spearman correlation with the ratings, all targets pooled"] if columns else []),
        *(["average D_exact over all damage"] if discerning else []),
    ]
    lines = [f"\n{dataset}: {', and '.join(told)}, with 95 % intervals"]
    lines.append(f"  {'judge':<18}" + "".join(f"{title:>22}" for title in titles))
    for judge in judges:
        values = (cells.get((judge, name), "-") for name in names)
        lines.append(f"  {judge:<18}" + "".join(f"{value:>22}" for value in values))
    return "\n".join(lines)


def _shown(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    if row["lo"] is None:
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"
