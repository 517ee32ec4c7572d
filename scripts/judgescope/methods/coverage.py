"""What came of every judgment that was planned: no number hides what is missing behind it."""

from collections import defaultdict

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY, STATUSES
from judgescope.statistics.result import Estimate

EXPLAINED = 6
"""So many rules or reasons are named in a note."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of coverage.csv: per cell the share parsed and the count of each status."""
    cells: dict[tuple[str, str, str], dict[str, dict[str, int]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    served: dict[str, set[str]] = defaultdict(set)
    for row in study.statuses.to_pylist():
        cell = cells[row["judge"], row["aspect"], row["perturbation"]]
        cell[row["status"]][row["rule"] or ""] = row["n"]
        served[row["judge"]].update(row["served"] or [])
    found = []
    for (judge, aspect, perturbation), statuses in sorted(cells.items()):
        name, _, degree = perturbation.partition(".")
        place = {"perturbation": name, "degree": degree or None}
        for statistic, estimate in _estimates(statuses):
            if statistic == "coverage" and (told := study.told_share(judge)):
                estimate = estimate.with_note(told)
            if statistic == "coverage" and len(served[judge]) > 1:
                mixed = f"replies of several servers: {', '.join(sorted(served[judge]))}"
                estimate = estimate.with_note(mixed)
            found.append(study.row(judge, aspect, statistic, "", estimate, **place))
    for judge, perturbation, reason in study.spec.excluded:
        name, _, degree = perturbation.partition(".")
        nothing = Estimate.undefined(reason)
        place = {"perturbation": name, "degree": degree or None}
        found.append(study.row(judge, "", "coverage", "", nothing, **place))
    return found


def _estimates(statuses: dict[str, dict[str, int]]) -> list[tuple[str, Estimate]]:
    counts = {status: sum(rules.values()) for status, rules in statuses.items()}
    planned = sum(counts.values())
    asked = planned - counts.get("not_applicable", 0)
    if asked:
        share = Estimate(
            counts.get("ok", 0) / asked,
            n=asked,
            n_missing=planned - counts.get("ok", 0),
            method="share of judgments with a value, of those that could be asked",
        )
    else:
        reasons = _explained(statuses.get("not_applicable", {}))
        share = Estimate.undefined(f"not applicable: {reasons}", n_missing=planned)
    counted = [
        (
            f"count_{status}",
            Estimate(float(counts[status]), n=planned, note=_note(status, statuses[status])),
        )
        for status in STATUSES
        if status in counts
    ]
    return [("coverage", share), *counted]


def _note(status: str, rules: dict[str, int]) -> str:
    """Return the rules behind a count, and what to do where the judge's card can mend it."""
    return "; ".join([_explained(rules), *([OFF_GRID_REMEDY] if status == OFF_GRID else [])])


def _explained(rules: dict[str, int]) -> str:
    """Return the rules or reasons behind a count, the most frequent first."""
    ordered = sorted(rules.items(), key=lambda rule: (-rule[1], rule[0]))
    named = [f"{name} {count}" for name, count in ordered[:EXPLAINED] if name]
    more = len(ordered) - EXPLAINED
    return ", ".join(named) + (f", and {more} more" if more > 0 else "")


METHOD = Method(when="always", datasets="all", votes=True, oracles=True)
