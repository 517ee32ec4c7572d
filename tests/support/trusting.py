"""Holds what a report says of its judges against the tables: every claim is computed
once more.

For every shipped study that a test runs, whole or in part, with a model that is a
script.
"""

import contextlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec.structs import replace

import trusting
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import pages
from judgescope.report.claims import GOOD, claims
from judgescope.report.report import Report
from judgescope.schema.loading import load_yaml
from running import HOME, SHARED, snakemake

PLACE = ("aspect", "level", "criterion", "perturbation", "degree", "system_subset")
DERIVED = {
    *("p_claim", "p_claim_holm", "p_rater"),
    *("p_noticed", "p_noticed_holm", "p_shorter", "p_longer"),
    *("p_beyond_systems", "p_beyond_systems_holm"),
}
"""What is no null hypothesis of the first step."""
Row = dict[str, Any]
Place = tuple[Any, ...]


def held(folder: Path, study: Path | str, **config: Any) -> dict[bool, int]:
    """Return how many claims of a study's report speak for a judge, and how many do
    not.

    All of them must be what their p-values say.
    """
    with contextlib.chdir(folder):
        result = load_yaml(Path(study))[0] | config
        plan = load_plan(result, HOME, source=str(study))
        spec = pages.report(plan, "judgescope run")
        tables = {
            name: path for name, path in spec.tables.items() if Path(path).exists()
        }
        spec = replace(spec, tables=tables)
        report = Report.load(spec)
        rows = [
            row
            for path in tables.values()
            for row in pq.read_table(Path(path).with_suffix(".parquet")).to_pylist()
        ]
    rows = [
        row
        for row in rows
        if row["statistic"].startswith(("verdict", "p_")) and row["form"]
    ]
    families: dict[Place, dict[Place, dict[str, Row]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows:
        family = families[row["dataset"], row["judge"], row["form"]]
        family[tuple(row[name] for name in PLACE)][row["statistic"]] = row
    for each in families.values():
        check(each)
    counts = {True: 0, False: 0}
    for judge in report.judges:
        own_part = claims(report, judge)
        if judge.control:
            continue
        for claim in own_part:
            counts[claim.outcome in GOOD] += 1
    return counts


def of_claims(path: Path) -> list[Row]:
    """Return a table's rows of claims and their tests, which are few of its rows."""
    table = pq.read_table(path)
    named = pc.match_substring_regex(table["statistic"], "^(verdict|p_)")
    with_form = pc.not_equal(pc.fill_null(table["form"], ""), "")
    rows: list[Row] = table.filter(pc.and_(named, with_form)).to_pylist()
    return rows


def check(family: Mapping[Place, Mapping[str, Row]]) -> None:
    """Fail if the verdicts on the claims of a judge and kind are not what their
    p-values say.
    """
    claims = [each for each in family.values() if "verdict" in each]
    tested = [claim for claim in claims if value(claim, "p_claim_holm") is not None]
    raw: list[float] = []
    for each in tested:
        nulls = [
            value(each, name)
            for name in each
            if name.startswith("p_") and name not in DERIVED
        ]
        largest = max(p for p in nulls if p is not None)
        assert value(each, "p_claim") == largest, each
        raw.append(largest)
    adjusted = holm(raw)
    for each, p in zip(tested, adjusted, strict=True):
        assert math.isclose(p, value(each, "p_claim_holm") or 0, rel_tol=1e-9), each
        outcome = each["verdict"]["note"].partition("; ")[0]
        better = outcome in {"better", "as_rater", "meets"}
        if outcome != "no_claim":
            assert better == (p <= 0.025), each


def holm(raw: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction (1979), in the order given.

    statsmodels has the same, but collects garbage each time: half a second with a
    report in memory.
    """
    order = np.argsort(raw)
    factors = np.arange(len(raw), 0, -1)
    adjusted = np.empty(len(raw))
    adjusted[order] = np.maximum.accumulate(np.asarray(raw)[order] * factors)
    values: list[float] = np.minimum(adjusted, 1.0).tolist()
    return values


def value(claim: Mapping[str, Row], name: str) -> float | None:
    """Return a number of a claim, None where it has none."""
    return claim[name]["value"] if name in claim else None


Found = dict[tuple[str, str, str, str], dict[str, Any]]


def run_study(name: str, folder: Path, *tables: str) -> Path:
    """Run a shipped study as far as the tables named, hold its claims and return its
    results.
    """
    out = f"results/{name}"
    study = str(HOME / "config" / "studies" / f"{name}.yaml")
    wanted = [f"{out}/tables/{table}.csv" for table in (*tables, "verdicts")]
    data = f"data={SHARED}"
    done = snakemake("--configfile", study, "--config", data, "--", *wanted, cwd=folder)
    assert done.returncode == 0, done.stdout[-4000:]
    assert sum(trusting.held(folder, study, data=str(SHARED)).values())
    return folder / out


def by_name(expected: list[dict[str, Any]]) -> Found:
    """Return (judge, aspect, statistic, level) -> row, for rows of no perturbation."""
    return {
        (row["judge"], row["aspect"], row["statistic"], row["level"]): row
        for row in expected
        if row["perturbation"] is None
    }
