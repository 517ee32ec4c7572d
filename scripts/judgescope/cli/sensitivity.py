"""`judgescope run --sensitivity`: how far missing judgments could move each main number."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from judgescope.cli.context import is_dry, plan_of_study, results_folder, snakemake, with_config
from judgescope.cli.summary import headlines
from judgescope.cli.terminal import aligned, plain
from judgescope.core.errors import UserError
from judgescope.parsing.judgment import Policy

KEY_COLUMNS = ("dataset", "judge", "aspect", "criterion", "statistic", "level")
"""The columns that identify a main number within its study."""
RESULT = ("value", "ci_low", "ci_high", "n", "n_missing", "note")
DROP: Policy = "drop"
OUTSIDE = "*"
Row = dict[str, Any]
Key = tuple[str | None, ...]
ByPolicy = Mapping[Policy, Mapping[Key, Row]]
"""Policy -> key of a number -> its row."""


def sensitivity(study: Path | None, passed: Sequence[str]) -> int:
    """Run a study with each policy, write the main numbers side by side, print what changes."""
    out, study_policy = results_folder(study, passed), plan_of_study(study, passed).study.missing
    tables = [path.name for path in (out / "tables").glob("*.csv")]
    if not tables:
        raise UserError(
            "the study has no results yet",
            where=str(out),
            todo="run it first, without --sensitivity",
        )
    by_policy: dict[Policy, dict[Key, Row]] = {}
    for policy in get_args(Policy):
        folder = out if policy == study_policy else out.with_name(f"{out.name}-missing-{policy}")
        changes = (f"study={folder.name}", f"missing={policy}", "max_requests=0")
        changed = with_config(passed, *changes)
        if policy == "zero":
            try:
                plan_of_study(study, changed)
            except UserError as error:
                print(f"policy zero is skipped: {error}", flush=True)
                continue
        if policy != study_policy:
            wanted = [str(folder / "tables" / name) for name in sorted(tables)]
            if status := snakemake(study, wanted, changed):
                return status
        by_policy[policy] = {
            tuple(row[name] for name in KEY_COLUMNS): row for row in headlines(folder)
        }
    if is_dry(passed):
        return 0
    path = out / "missing" / "sensitivity.csv"
    path.parent.mkdir(exist_ok=True)
    write(by_policy, path)
    print("\n".join(lines(by_policy)))
    print(f"\nall numbers: {path}")
    return 0


def write(by_policy: ByPolicy, path: Path) -> None:
    """Write a row for each number and policy; `moved` is the value minus that under `drop`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*KEY_COLUMNS, "policy", *RESULT, "moved", "outside"])
        for key in by_policy[DROP]:
            for policy, rows in by_policy.items():
                if (row := rows.get(key)) is not None:
                    gap = moved(row, by_policy[DROP][key])
                    numbers = [row[name] for name in RESULT]
                    table.writerow([*key, policy, *numbers, gap, is_outside(row, by_policy, key)])


def moved(row: Row, dropped: Row) -> float | None:
    """Return a number minus its value without the missing judgments (policy `drop`)."""
    if row["value"] is None or dropped["value"] is None:
        return None
    return float(row["value"] - dropped["value"])


def is_outside(row: Row, by_policy: ByPolicy, key: Key) -> bool | None:
    """Return whether a number is outside its interval under `drop`."""
    dropped = by_policy[DROP][key]
    if row["value"] is None or dropped["ci_low"] is None:
        return None
    return not dropped["ci_low"] <= row["value"] <= dropped["ci_high"]


def lines(by_policy: ByPolicy) -> Iterator[str]:
    """Yield the count of numbers that at least one policy changes, then a line for each of them."""
    dropped = by_policy[DROP]
    changed = [key for key in dropped if _changes(by_policy, key)]
    yield f"\n{len(changed)} of {len(dropped)} main numbers depend on how missing judgments count"
    if not changed:
        return
    titles = [*("dataset", "judge", "aspect", "statistic"), *by_policy]
    cells = [
        [
            *(
                plain(part)
                for part in (key[0], key[1], _aspect(key), ", ".join(filter(None, key[4:6])))
            ),
            *(_number(rows.get(key), by_policy, key) for rows in by_policy.values()),
        ]
        for key in changed
    ]
    yield from aligned([titles, *cells])
    yield (
        f"drop: 95 % interval; {OUTSIDE}: outside that interval, so the missing judgments could "
        "change the conclusion; -: undefined, with the reason in the table"
    )


def _changes(by_policy: ByPolicy, key: Key) -> bool:
    values = [row["value"] for rows in by_policy.values() if (row := rows.get(key)) is not None]
    return len(values) < len(by_policy) or any(value != values[0] for value in values)


def _aspect(key: Sequence[str | None]) -> str:
    return ".".join(filter(None, (key[2], key[3]))) or "all"


def _number(row: Row | None, by_policy: ByPolicy, key: Key) -> str:
    """Return a number: under `drop` with its interval, else with a mark if it is outside."""
    if row is None or row["value"] is None:
        return "-"
    if row is by_policy[DROP][key]:
        interval = "" if row["ci_low"] is None else f" [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
        return f"{row['value']:.2f}{interval}"
    return f"{row['value']:.2f}{OUTSIDE if is_outside(row, by_policy, key) else ''}"
