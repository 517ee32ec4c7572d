"""Holds what a report says of its judges against the tables: every claim is computed once more.

For every shipped study that a test runs, whole or in part, with a model that is a script.
"""

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from statsmodels.stats.multitest import multipletests

from metajudge.plan import load_plan
from metajudge.plan.specs import Specs
from metajudge.report import trust
from metajudge.report.report import Report
from metajudge.report.rows import Row
from metajudge.report.sections.trust import sentence
from metajudge.schema.loading import load_yaml
from running import HOME

PLACE = ("statistic", "aspect", "level", "criterion")
OTHERS = ("judge_b", "perturbation", "systems")
"""Rows of these are of something else."""
CHANCE = {"accuracy_adjacent": 0.5, "accuracy_comparison": 0.5, "confusion_auc": 0.5}
Ends = dict[str, tuple[float, float]]


def held(folder: Path, study: Path | str, **config: Any) -> dict[str, int]:
    """Return how many claims of each verdict a study's report makes; all of them must be true."""
    with contextlib.chdir(folder):
        told = load_yaml(Path(study))[0] | config
        plan = load_plan(told, HOME, source=str(study))
        spec = json.loads(Specs(plan, HOME, f"results/{told['study']}").report("metajudge run"))
        spec["tables"] = {n: path for n, path in spec["tables"].items() if Path(path).exists()}
        report = Report.load(spec)
        tables = {
            name: pq.read_table(Path(path).with_suffix(".parquet")).to_pylist()
            for name, path in spec["tables"].items()
        }
    counts = dict.fromkeys((trust.HOLDS, trust.FAILS, trust.OPEN), 0)
    for judge in report.judges:
        own = trust.claims(report, judge)
        if not judge.control:
            best = [claim for claim in own if claim.respect == trust.FIRST]
            assert ("being better than" in sentence(report, judge, own)) == bool(best)
        for claim in own:
            counts[claim.verdict] += not judge.control
            _check(report, tables, claim)
    return counts


def _check(report: Report, tables: dict[str, list[dict[str, Any]]], claim: trust.Claim) -> None:
    controls = {judge.id for judge in report.judges if judge.engine == "control"}
    every = [row for table in tables.values() for row in table if row["dataset"] == claim.dataset]
    row = claim.rows[-1]
    mine, ends = (row.lo, row.hi), _ends(every, row)
    at = (claim, mine, ends)
    if claim.respect == trust.DAMAGE:
        if claim.verdict == trust.HOLDS:
            assert _noticed(every, claim.judge, row), at
            assert not any(_noticed(every, name, row) for name in controls), at
    elif claim.respect == trust.FIRST:
        others = {judge.id for judge in report.judges if not judge.control} - {claim.judge}
        assert row.lo is not None and others & set(ends), at
        assert all(row.lo > ends[name][1] for name in others & set(ends)), at
    elif claim.verdict == trust.HOLDS:
        assert row.lo is not None and row.lo > CHANCE.get(row.statistic, 0), at
        assert all(row.lo > ends[name][1] for name in controls & set(ends)), at
    elif claim.verdict == trust.FAILS and claim.respect not in (trust.HINTS, trust.APART):
        low = row.hi is not None and row.hi < CHANCE.get(row.statistic, 0)
        below = [name for name in controls & set(ends) if ends[name][0] > (row.hi or math.inf)]
        assert low or below, at


def _ends(every: list[dict[str, Any]], row: Row) -> Ends:
    """Return judge -> its interval of the number in a row; a bare value is its own interval."""
    wanted = {name: getattr(row, name) or None for name in PLACE}
    same = [one for one in every if all((one.get(name) or None) == wanted[name] for name in PLACE)]
    plain = [one for one in same if not any(one.get(name) for name in OTHERS)]
    return {
        one["judge"]: (one["value"],) * 2 if one["lo"] is None else (one["lo"], one["hi"])
        for one in plain
        if one["value"] is not None
    }


def _noticed(every: list[dict[str, Any]], judge: str, row: Row) -> bool:
    """Return whether Holm's procedure over a dataset's cells, p = 0.05 ** D, finds this one."""
    own = [one for one in every if (one["judge"], one["statistic"]) == (judge, "D_exact")]
    known = [one for one in own if one["value"] is not None]
    if not known:
        return False
    significant = multipletests([min(0.05 ** one["value"], 1) for one in known], 0.05, "holm")[0]
    cells = [(one["perturbation"], one["degree"]) for one in known]
    return (row.perturbation, row.degree) in [
        cell for cell, yes in zip(cells, significant, strict=True) if yes
    ]
