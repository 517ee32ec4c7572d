"""What a dry run shows: the jobs that would run, grouped by rule and by why they would."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PARAMS = re.compile(
    r"Params have changed since last execution: .*?before: (?P<specs>.*?) *"
    r"(?:; Software environment definition has changed since last execution)?$",
    re.DOTALL,
)
NOW = " now: "
"""Between the params before and now, and perhaps in one."""
REASONS = {
    "Missing output files": "not there yet",
    "Incomplete output files": "was not finished",
    "Input files updated by another job": "after other jobs",
}
"""How a reason of Snakemake's begins -> the reason here, which names no file."""
LONGEST = 60
"""Characters of a value that are shown."""
MOST = 4
"""Changed settings of a job that are shown."""
Reason = tuple[str, str]


class PlannedJobs:
    """The jobs of a dry run, as they are told of."""

    def __init__(self) -> None:
        self.jobs: dict[Reason, list[str]] = {}

    def add(self, rule: str, reason: str, outputs: Sequence[str]) -> None:
        """Take up a job: its rule, Snakemake's reason, and what it would write.

        One that writes nothing only stands for others.
        """
        if outputs:
            self.jobs.setdefault((rule, in_words(reason)), []).append(str(outputs[0]))

    def lines(self) -> Iterator[str]:
        """Yield a line for each rule and reason: how many jobs, why, and the first one's file."""
        if not self.jobs:
            yield "   nothing to be done"
            return
        for (rule, reason), files in self.jobs.items():
            more = "" if len(files) == 1 else f" and {len(files) - 1:,} more"
            yield f"   {rule}: {reason}\n      {files[0]}{more}"
        total = sum(map(len, self.jobs.values()))
        yield f"   {total:,} {'job' if total == 1 else 'jobs'} would run"


def in_words(reason: str) -> str:
    """Return Snakemake's reason for a job, short; of changed params what in them has changed."""
    parts = []
    if (params := PARAMS.search(reason)) is not None:
        parts.append(_of_params(params["specs"]))
        reason = reason[: params.start()]
    for part in filter(None, (one.strip() for one in reason.split("; "))):
        start, _, files = part.partition(": ")
        if start == "Updated input files":
            parts.append(f"newer input: {_first(files)}")
        else:
            parts.append(REASONS.get(start, part))
    return "; ".join(dict.fromkeys(parts)) or "it was asked for"


def _first(files: str) -> str:
    first, *others = files.split(", ")
    return f"{first} and {len(others)} more" if others else first


def _of_params(specs: str) -> str:
    """Return what has changed between the params that Snakemake prints: those that differ."""
    for match in re.finditer(NOW, specs):
        try:
            both = (specs[: match.start()], specs[match.end() :])
            before, now = (_joined(ast.literal_eval(f"[{params}]")) for params in both)
        except (ValueError, SyntaxError, TypeError, AttributeError):
            continue
        changes = list(changed(before, now))
        more = f", and {len(changes) - MOST} more" if len(changes) > MOST else ""
        return ", ".join(changes[:MOST]) + more
    return "its settings have changed"


def _joined(params: Sequence[str]) -> dict[str, Any]:
    """Return the keys and values of the params `code` and `spec`, whichever there are."""
    return {key: value for param in params for key, value in json.loads(param).items()}


def changed(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """Yield `key: old -> new` for every value that two JSON values do not share, by their keys."""
    if before == now:
        return
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in sorted(before.keys() | now.keys()):
            place = f"{name}.{key}" if name else str(key)
            if key not in now:
                yield f"{place} is gone"
            elif key not in before:
                yield f"{place} is new"
            else:
                yield from changed(before[key], now[key], place)
        return
    old, new = _short(before), _short(now)
    yield f"{name} has changed" if max(len(old), len(new)) > LONGEST else f"{name}: {old} -> {new}"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
