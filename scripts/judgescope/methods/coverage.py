"""The status of every planned judgment, so that no number hides missing judgments."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, set_columns
from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY, STATUSES
from judgescope.statistics.result import Estimate

MOST_NAMED = 6
"""The number of rules or reasons that a note names."""


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of coverage.csv: per cell the share parsed and the count of each
    status.
    """
    cells: dict[tuple[str, str, str], dict[str, Counter[str]]] = {}
    served: dict[str, set[str]] = defaultdict(set)
    for row in study.statuses.to_pylist():
        cell = cells.setdefault((row["judge"], row["aspect"], row["perturbation"]), {})
        cell.setdefault(row["status"], Counter())[row["rule"] or ""] = row["n"]
        served[row["judge"]].update(row["served"] or [])
    for (judge, aspect, perturbation), statuses in sorted(cells.items()):
        columns = set_columns(perturbation)
        share = share_parsed(statuses).with_note(study.share_note(judge))
        if len(served[judge]) > 1:
            names = ", ".join(sorted(served[judge]))
            share = share.with_note(f"replies of several servers: {names}")
        for statistic, estimate in (("coverage", share), *counts_by_status(statuses)):
            yield study.row(judge, aspect, statistic, "", estimate, **columns)
    for judge, perturbation, reason in study.spec.excluded:
        columns, nothing = set_columns(perturbation), Estimate.undefined(reason)
        yield study.row(judge, "", "coverage", "", nothing, **columns)


def share_parsed(statuses: dict[str, Counter[str]]) -> Estimate:
    """Return the share of judgments with a value; statuses: status -> rule ->
    number.
    """
    counts = {status: rules.total() for status, rules in statuses.items()}
    planned, ok = sum(counts.values()), counts.get("ok", 0)
    asked = planned - counts.get("not_applicable", 0)
    if not asked:
        reasons = _explained(statuses.get("not_applicable", Counter()))
        return Estimate.undefined(f"not applicable: {reasons}", n_missing=planned)
    method = "share of judgments with a usable score, of those that could be requested"
    return Estimate(ok / asked, n=asked, n_missing=planned - ok, method=method)


def counts_by_status(
    statuses: dict[str, Counter[str]],
) -> Iterator[tuple[str, Estimate]]:
    """Yield the count of each status; its note names the rules, and what would help."""
    planned = sum(rules.total() for rules in statuses.values())
    for status in STATUSES:
        if status in statuses:
            remedies = [OFF_GRID_REMEDY] if status == OFF_GRID else []
            note = "; ".join([_explained(statuses[status]), *remedies])
            yield (
                f"count_{status}",
                Estimate(float(statuses[status].total()), n=planned, note=note),
            )


def _explained(rules: Counter[str]) -> str:
    """Return the rules or reasons behind a count, the most frequent first."""
    ordered = sorted(rules.items(), key=lambda rule: (-rule[1], rule[0]))
    named = [f"{name} {count}" for name, count in ordered[:MOST_NAMED] if name]
    more = len(ordered) - MOST_NAMED
    return ", ".join(named) + (f", and {more} more" if more > 0 else "")


METHOD = Method(
    when="always", datasets="all", votes=True, oracles=True, unordered="yes"
)
