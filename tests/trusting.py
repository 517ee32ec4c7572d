"""Holds what a report says of its judges against the tables: every claim is computed once more.

For every shipped study that a test runs, whole or in part, with a model that is a script.
"""

import contextlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from statsmodels.stats.multitest import multipletests

from metajudge.plan import load_plan
from metajudge.plan.specs import Specs
from metajudge.report import trust
from metajudge.report.report import Report
from metajudge.report.sections.trust import sentence
from metajudge.schema.loading import load_yaml
from running import HOME

PLACE = ("statistic", "aspect", "level", "criterion")
OTHERS = ("judge_b", "perturbation", "systems")
"""Rows of these are of something else."""
CHANCE = {"accuracy_adjacent": 0.5, "accuracy_comparison": 0.5, "confusion_auc": 0.5}
Ends = dict[str, tuple[float, float]]
Place = tuple[str | None, ...]
Cell = tuple[str, str]


def held(folder: Path, study: Path | str, **config: Any) -> dict[str, int]:
    """Return how many claims of each verdict a study's report makes; all of them must be true."""
    with contextlib.chdir(folder):
        told = load_yaml(Path(study))[0] | config
        plan = load_plan(told, HOME, source=str(study))
        spec = json.loads(Specs(plan, HOME, f"results/{told['study']}").report("metajudge run"))
        spec["tables"] = {n: path for n, path in spec["tables"].items() if Path(path).exists()}
        report = Report.load(spec)
        rows = [
            row
            for path in spec["tables"].values()
            for row in pq.read_table(Path(path).with_suffix(".parquet")).to_pylist()
        ]
    known = {
        one.id: Known(report, [r for r in rows if r["dataset"] == one.id])
        for one in report.datasets
    }
    counts = dict.fromkeys((trust.HOLDS, trust.FAILS, trust.OPEN), 0)
    for judge in report.judges:
        own = trust.claims(report, judge)
        if not judge.control:
            best = [claim for claim in own if claim.respect == trust.FIRST]
            assert ("being better than" in sentence(report, judge, own)) == bool(best)
        for claim in own:
            counts[claim.verdict] += not judge.control
            known[claim.dataset].check(claim)
    return counts


class Known:
    """What the tables say of the judges on a dataset."""

    def __init__(self, report: Report, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.controls = {judge.id for judge in report.judges if judge.engine == "control"}
        self.others = {judge.id for judge in report.judges if not judge.control}
        self.ends: dict[Place, Ends] = defaultdict(dict)
        for row in rows:
            if row["value"] is not None and not any(row.get(name) for name in OTHERS):
                bare = (row["value"],) * 2
                ends = bare if row["lo"] is None else (row["lo"], row["hi"])
                self.ends[place_of(row)][row["judge"]] = ends
        self._noticed: dict[str, set[Cell]] = {}

    def check(self, claim: trust.Claim) -> None:
        """Fail if a claim is not what the tables say."""
        row = claim.rows[-1]
        ends = self.ends[place_of(asdict(row))]
        at = (claim, (row.lo, row.hi), ends)
        if claim.respect == trust.DAMAGE:
            if claim.verdict == trust.HOLDS:
                cell = (row.perturbation, row.degree)
                assert cell in self.noticed(claim.judge), at
                assert not any(cell in self.noticed(name) for name in self.controls), at
        elif claim.respect == trust.FIRST:
            others = (self.others - {claim.judge}) & set(ends)
            assert row.lo is not None and others, at
            assert all(row.lo > ends[name][1] for name in others), at
        elif claim.verdict == trust.HOLDS:
            assert row.lo is not None and row.lo > CHANCE.get(row.statistic, 0), at
            assert all(row.lo > ends[name][1] for name in self.controls & set(ends)), at
        elif claim.verdict == trust.FAILS and claim.respect not in (trust.HINTS, trust.APART):
            low = row.hi is not None and row.hi < CHANCE.get(row.statistic, 0)
            high = math.inf if row.hi is None else row.hi
            assert low or any(ends[name][0] > high for name in self.controls & set(ends)), at

    def noticed(self, judge: str) -> set[Cell]:
        """Return the cells that Holm's procedure over all of them finds, p = 0.05 ** D."""
        if judge not in self._noticed:
            own = [r for r in self.rows if (r["judge"], r["statistic"]) == (judge, "D_exact")]
            found = {(r["perturbation"], r["degree"]): r["value"] for r in own}
            cells = {cell: min(0.05**d, 1) for cell, d in found.items() if d is not None}
            told = multipletests(list(cells.values()), 0.05, "holm")[0] if cells else []
            self._noticed[judge] = {cell for cell, yes in zip(cells, told, strict=True) if yes}
        return self._noticed[judge]


def place_of(row: Mapping[str, Any]) -> Place:
    """Return what a number is of, whichever judge's it is."""
    return tuple(row.get(name) or None for name in PLACE)
