"""The end of a pilot in the terminal: which judges differ, and which may be dropped."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from judgescope.cli.summary import table_rows
from judgescope.cli.terminal import aligned, undefined
from judgescope.methods.cost import FREE
from judgescope.methods.measures import DECIDES, POOLED, WITHIN_SOURCE
from judgescope.report.rows import ReportRow
from judgescope.statistics.comparison import sources_needed

AgreementLevel = tuple[str, str]
"""A statistic of agreement and its level."""


def conclusions(out: Path) -> str:
    """Return which judges differ in a pilot's tables, and which may be dropped."""
    asked = set()
    for row in table_rows(out, "cost").where(statistic="usd"):
        if row.judge not in ("", "all") and FREE not in row.note:
            asked.add(row.judge)
    differences = []
    prefix = "difference_"
    rows = table_rows(out, "comparison")
    for row in rows:
        if row.judge_b and row.statistic.startswith(prefix):
            statistic = row.statistic.removeprefix(prefix), row.level
            differences.append((statistic, row))
    name, level = _chosen(differences)
    # Keys: dataset, aspect and the two judges.
    gaps: dict[tuple[str, str, str, str], ReportRow] = {}
    detectable: dict[tuple[str, str, str, str], ReportRow] = {}
    for kind, by_pair in ((prefix, gaps), ("detectable_", detectable)):
        for row in rows.where(statistic=f"{kind}{name}", level=level):
            if row.judge_b and not asked.isdisjoint((row.judge, row.judge_b)):
                by_pair[row.dataset, row.aspect, row.judge, row.judge_b] = row
    if all(gap.value is None for gap in gaps.values()):
        if not asked:
            reason = "no judge of the study sends requests"
        elif differences:
            reason = "no difference is defined for so few items, try a larger --share"
        else:
            reason = "it needs two judges, and the method agreement"
        return f"\nThe pilot compares no judges: {reason}."
    what = f"{name} ({level}) with people's ratings"
    lines = [f"\nDifferences between judges in {what}, with 95 % intervals"]
    for dataset, aspect in sorted({key[:2] for key in gaps}):
        lines.append(f"  {dataset}, {aspect}")
        table = []
        for key, gap in gaps.items():
            if key[:2] == (dataset, aspect):
                table.append(_gap(gap, detectable.get(key)))
        lines += [f"    {line}" for line in aligned(table, titled=False)]
    lines.append("")
    lines += _droppable(gaps.values(), asked)
    return "\n".join(lines)


def _chosen(
    differences: Sequence[tuple[AgreementLevel, ReportRow]],
) -> AgreementLevel:
    """Return the statistic by which a pilot compares judges.

    It is the first that decides claims and whose differences have an interval; without
    intervals, the first that decides claims, or else the first in the table.
    """
    decisive = [(DECIDES[level], level) for level in (WITHIN_SOURCE, POOLED)]
    present = [statistic for statistic, _ in differences]
    with_interval = {
        statistic for statistic, row in differences if row.ci_low is not None
    }
    for statistics in (with_interval, present):
        for statistic in decisive:
            if statistic in statistics:
                return statistic
    if present:
        return present[0]
    return ("", "")


def _gap(gap: ReportRow, detectable: ReportRow | None) -> list[str]:
    """Return two judges; and their difference, its interval, and the items needed to
    detect it.

    That is with power .8 at level .05, as `detectable` is computed.
    """
    judges = f"{gap.judge} - {gap.judge_b}"
    if gap.value is None:
        return [judges, undefined(gap.note)]
    shown = f"{gap.value:+z.2f} "
    if gap.ci_low is None:
        shown += "no interval: too few items, run the pilot with a larger --share"
    else:
        shown += f"[{gap.ci_low:+z.2f}, {gap.ci_high:+z.2f}]"
    if detectable and detectable.value is not None and gap.value:
        items = sources_needed(detectable.n, detectable.value, abs(gap.value))
        shown += f", {items:,} items are needed to detect it"
    return [judges, shown]


def _droppable(gaps: Iterable[ReportRow], asked: set[str]) -> Iterator[str]:
    """Yield the rule for dropping judges, and the judges that may be dropped.

    An undefined difference shows nothing: it counts as not beaten.
    """
    beaten: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for gap in gaps:
        is_lower = gap.ci_high is not None and gap.ci_high < 0
        is_higher = gap.ci_low is not None and gap.ci_low > 0
        beaten[gap.judge, gap.judge_b].append(is_lower)
        beaten[gap.judge_b, gap.judge].append(is_higher)
    better: dict[str, list[str]] = defaultdict(list)
    for (judge, other), everywhere in beaten.items():
        if judge in asked and all(everywhere):
            better[judge].append(other)
    yield (
        "Judges that may be dropped (another judge or control is better on every "
        "aspect of every dataset, by an interval that excludes 0):"
    )
    for judge, others in sorted(better.items()):
        yield f"  {judge}: worse than {', '.join(sorted(others))}"
    if not better:
        yield "  none"
