"""`judgescope run --sensitivity`: how far unread judgments could move each main
number.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import get_args

from judgescope.cli.context import (
    is_dry,
    plan_of_study,
    results_folder,
    snakemake,
    with_config,
)
from judgescope.cli.summary import UNDEFINED, main_rows, with_interval
from judgescope.cli.terminal import aligned, plain
from judgescope.core.errors import UserError
from judgescope.parsing.judgment import Policy
from judgescope.plan.notices import unread_without_effect
from judgescope.report.rows import ReportRow

KEY = ("dataset", "judge", "aspect", "criterion", "statistic", "level")
"""The columns that identify a main number within its study."""
LEFT_OUT: Policy = "missing"
"""The policy with which the numbers of the others are compared."""
NumbersByPolicy = Mapping[Policy, Mapping[tuple[str, ...], ReportRow]]
"""Policy -> key of a number -> its row."""


def sensitivity(study: Path | None, passed: Sequence[str]) -> int:
    """Run a study with each policy, write the main numbers side by side, print what
    changes.
    """
    out = results_folder(study, passed)
    study_policy = plan_of_study(study, passed).study.unread
    tables = [path.name for path in (out / "tables").glob("*.csv")]
    if not tables:
        raise UserError(
            "the study has no results yet",
            where=str(out),
            todo="run it first, without --sensitivity",
        )
    by_policy: dict[Policy, dict[tuple[str, ...], ReportRow]] = {}
    for policy in get_args(Policy):
        folder = out
        if policy != study_policy:
            folder = out.with_name(f"{out.name}-unread-{policy}")
            changed = with_config(
                passed, f"study={folder.name}", f"unread={policy}", "max_requests=0"
            )
            reason = _skipped(study, changed, policy)
            if reason:
                print(f"policy {policy} is skipped: {reason}", flush=True)
                continue
            wanted = [str(folder / "tables" / name) for name in sorted(tables)]
            status = snakemake(study, wanted, changed)
            if status:
                return status
        rows = chain.from_iterable(main_rows(folder).values())
        key_of = attrgetter(*KEY)
        by_policy[policy] = {key_of(row): row for row in rows}
    if is_dry(passed):
        return 0
    path = out / "unread" / "sensitivity.csv"
    path.parent.mkdir(exist_ok=True)
    _write(by_policy, path)
    print("\n".join(_lines(by_policy)))
    print(f"\nall numbers: {path}")
    return 0


def _skipped(study: Path | None, changed: Sequence[str], policy: Policy) -> str:
    """Return why a policy cannot be used for a study or changes nothing, "" if it can.

    `changed`: Snakemake's options with the policy.
    """
    try:
        plan = plan_of_study(study, changed)
    except UserError as error:
        return str(error)
    return unread_without_effect(plan, policy)


def _write(by_policy: NumbersByPolicy, path: Path) -> None:
    """Write a row for each number and policy; `moved` is the value minus that under
    `missing`.
    """
    results = ("value", "ci_low", "ci_high", "n", "n_missing", "note")
    results_of = attrgetter(*results)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*KEY, "policy", *results, "moved", "outside"])
        for key, dropped in by_policy[LEFT_OUT].items():
            for policy, rows in by_policy.items():
                row = rows.get(key)
                if row is None:
                    continue
                moved = None
                if row.value is not None and dropped.value is not None:
                    moved = row.value - dropped.value
                outside = _is_outside(row, dropped)
                table.writerow([*key, policy, *results_of(row), moved, outside])


def _is_outside(row: ReportRow, dropped: ReportRow) -> bool | None:
    """Return whether a number is outside its interval under `missing`."""
    if row.value is None or dropped.ci_low is None or dropped.ci_high is None:
        return None
    return not dropped.ci_low <= row.value <= dropped.ci_high


def _lines(by_policy: NumbersByPolicy) -> Iterator[str]:
    """Yield the count of numbers that at least one policy changes, then a line for each
    of them.
    """
    table = [["dataset", "judge", "aspect", "statistic", *by_policy]]
    for key, dropped in by_policy[LEFT_OUT].items():
        rows = [of_policy.get(key) for of_policy in by_policy.values()]
        if all(row is not None and row.value == dropped.value for row in rows):
            continue
        statistic = ", ".join(filter(None, (dropped.statistic, dropped.level)))
        about = (dropped.dataset, dropped.judge, dropped.judged or "all", statistic)
        line = list(map(plain, about))
        line += [_with_mark(row, dropped) for row in rows]
        table.append(line)
    changed = len(table) - 1
    total = len(by_policy[LEFT_OUT])
    yield f"\n{changed} of {total} main numbers depend on how unread judgments count"
    if changed:
        yield from aligned(table)
        yield (
            "missing: 95 % interval; *: outside that interval, so the unread "
            "judgments could change the conclusion; -: undefined, with the reason in "
            "the table"
        )


def _with_mark(row: ReportRow | None, dropped: ReportRow) -> str:
    """Return a number: under `missing` with its interval, else with a mark if it is
    outside.
    """
    if row is None or row.value is None:
        return UNDEFINED
    if row is dropped:
        return with_interval(row)
    mark = "*" if _is_outside(row, dropped) else ""
    return f"{row.value:z.2f}{mark}"
