"""The status of every planned judgment, so that no number hides missing judgments."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData, set_columns
from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY, STATUSES
from judgescope.parsing.unread_shapes import MANY, UNREAD, read_remedy
from judgescope.schema.rows import ResultRow
from judgescope.statistics.result import Estimate


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of coverage.csv: per cell the share parsed and the count of each
    status.
    """
    cells: dict[tuple[str, str, str], dict[str, Counter[str]]] = {}
    served: dict[str, set[str]] = defaultdict(set)
    again = Counter[tuple[str, str, str]]()
    shortened: dict[tuple[str, str, str], str] = {}
    for row in data.statuses.to_pylist():
        name = (row["judge"], row["aspect"], row["perturbation"])
        cell = cells.setdefault(name, {})
        again[name] += row["n_asked_again"] or 0
        cell.setdefault(row["status"], Counter())[row["rule"] or ""] = row["n"]
        if row["cut"]:
            parts = " or ".join(row["cut_parts"])
            texts = f"{row['cut']} of {row['n_shown']} texts"
            shortened[name] = f"saw {texts} with a shortened {parts}"
        served[row["judge"]].update(row["served"] or [])
    remedies = _read_remedies(data, cells)
    for (judge, aspect, perturbation), statuses in sorted(cells.items()):
        columns = set_columns(perturbation)
        share = share_parsed(statuses).with_note(data.share_note(judge))
        if seen := shortened.get((judge, aspect, perturbation)):
            share = share.with_note(seen)
        if len(served[judge]) > 1:
            names = ", ".join(sorted(served[judge]))
            share = share.with_note(f"replies of several servers: {names}")
        n_again = again[judge, aspect, perturbation]
        if n_again == 1:
            share = share.with_note("1 reply was requested again because it was empty")
        elif n_again:
            share = share.with_note(
                f"{n_again} replies were requested again because they were empty"
            )
        counts = counts_by_status(statuses, unread=remedies.get(judge, ""))
        for statistic, estimate in (("coverage", share), *counts):
            yield data.row(judge, aspect, statistic, "", estimate, **columns)
    for judge, perturbation, reason in data.spec.excluded:
        columns = set_columns(perturbation)
        nothing = Estimate.undefined(reason)
        yield data.row(judge, "", "coverage", "", nothing, **columns)


def _read_remedies(
    data: EvaluationData, cells: dict[tuple[str, str, str], dict[str, Counter[str]]]
) -> dict[str, str]:
    """Return judge -> what would help, if more than a tenth of its replies is
    unread.
    """
    replies = Counter[str]()
    unread = Counter[str]()
    for (judge, _, _), statuses in cells.items():
        for status, rules in statuses.items():
            if status not in ("error", "not_applicable"):
                replies[judge] += rules.total()
        unread[judge] += statuses.get(UNREAD, Counter[str]()).total()
    remedies = {}
    for judge, count in unread.items():
        facts = data.spec.judges.get(judge)
        if facts is not None and count > MANY * replies[judge]:
            remedies[judge] = read_remedy(facts.parser)
    return remedies


def share_parsed(statuses: dict[str, Counter[str]]) -> Estimate:
    """Return the share of judgments with a value; statuses: status -> rule ->
    number.
    """
    counts = {status: rules.total() for status, rules in statuses.items()}
    planned = sum(counts.values())
    ok = counts.get("ok", 0)
    asked = planned - counts.get("not_applicable", 0)
    if not asked:
        reasons = _explained(statuses.get("not_applicable", Counter()))
        return Estimate.undefined(f"not applicable: {reasons}", n_missing=planned)
    method = "share of judgments with a usable score, of those that could be requested"
    return Estimate(ok / asked, n=asked, n_missing=planned - ok, method=method)


def counts_by_status(
    statuses: dict[str, Counter[str]], *, unread: str = ""
) -> Iterator[tuple[str, Estimate]]:
    """Yield the count of each status; its note names the rules, and what would help.

    `unread`: what would help against unread replies.
    """
    planned = sum(rules.total() for rules in statuses.values())
    remedies = {OFF_GRID: OFF_GRID_REMEDY, UNREAD: unread}
    for status in STATUSES:
        if status in statuses:
            note = _explained(statuses[status])
            if remedy := remedies.get(status):
                note = f"{note}; {remedy}"
            count = float(statuses[status].total())
            yield f"count_{status}", Estimate(count, n=planned, note=note)


def _explained(rules: Counter[str]) -> str:
    """Return the rules or reasons behind a count, the most frequent first."""
    ordered = sorted(rules.items(), key=lambda rule: (-rule[1], rule[0]))
    most_named = 6
    named = [f"{name} {count}" for name, count in ordered[:most_named] if name]
    more = len(ordered) - most_named
    return ", ".join(named) + (f", and {more} more" if more > 0 else "")


METHOD = Method(
    name="coverage",
    rows=rows,
    when="always",
    datasets="all",
    votes=True,
    oracles=True,
    unordered="yes",
)
