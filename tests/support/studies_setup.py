"""What several tests of studies share."""

from pathlib import Path
from typing import Any

import trusting
from running import HOME, SHARED, snakemake

Found = dict[tuple[str, str, str, str], dict[str, Any]]


def run_study(name: str, folder: Path, *tables: str) -> Path:
    """Run a shipped study as far as the tables named, hold its claims and return its results."""
    out = f"results/{name}"
    study = str(HOME / "config" / "studies" / f"{name}.yaml")
    wanted = [f"{out}/tables/{table}.csv" for table in (*tables, "verdicts")]
    data = f"data={SHARED}"
    done = snakemake("--configfile", study, "--config", data, "--", *wanted, cwd=folder)
    assert done.returncode == 0, done.stdout[-4000:]
    assert sum(trusting.held(folder, study, data=str(SHARED)).values())
    return folder / out


def by_name(found: list[dict[str, Any]]) -> Found:
    """Return (judge, aspect, statistic, level) -> row, for rows of no perturbation."""
    return {
        (row["judge"], row["aspect"], row["statistic"], row["level"]): row
        for row in found
        if row["perturbation"] is None
    }
