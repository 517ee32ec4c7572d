"""The jobs of a dry run, by rule and reason."""

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
"""Separates the params before and now; it may also be in one."""
REASONS = {
    "Missing output files": "missing",
    "Incomplete output files": "incomplete",
    "Input files updated by another job": "another job updates its input",
}
"""The beginning of a reason of Snakemake's -> the reason here, which names no file."""
MAX_LENGTH = 60
"""A longer value is not shown."""
MAX_CHANGES = 4
"""Changed settings of a job that are shown."""


class PlannedJobs:
    """The jobs of a dry run."""

    def __init__(self) -> None:
        self.jobs: dict[tuple[str, str], list[str]] = {}

    def add(self, rule: str, reason: str, outputs: Sequence[str]) -> None:
        """Note a job: its rule, Snakemake's reason, and the files it would write.

        A job that writes nothing only stands for others.
        """
        if outputs:
            self.jobs.setdefault((rule, in_words(reason)), []).append(str(outputs[0]))

    def lines(self) -> Iterator[str]:
        """Yield each rule and reason, with the first file and the number of jobs."""
        if not self.jobs:
            yield "   nothing to be done"
            return
        for (rule, reason), files in self.jobs.items():
            more = "" if len(files) == 1 else f" and {len(files) - 1:,} more"
            yield f"   {rule}: {reason}\n      {files[0]}{more}"
        total = sum(map(len, self.jobs.values()))
        yield f"   {total:,} {'job' if total == 1 else 'jobs'} would run"


def in_words(reason: str) -> str:
    """Return Snakemake's reason for a job, short; of changed params the changed
    settings.
    """
    parts = []
    if (params := PARAMS.search(reason)) is not None:
        parts.append(_of_params(params["specs"]))
        reason = reason[: params.start()]
    for part in filter(None, map(str.strip, reason.split("; "))):
        start, _, files = part.partition(": ")
        if start == "Updated input files":
            first, *others = files.split(", ")
            more = f" and {len(others)} more" if others else ""
            parts.append(f"newer input: {first}{more}")
        else:
            parts.append(REASONS.get(start, part))
    return "; ".join(dict.fromkeys(parts)) or "requested"


def _of_params(specs: str) -> str:
    """Return the changed settings in the params that Snakemake prints."""
    for match in re.finditer(NOW, specs):
        try:
            both = (specs[: match.start()], specs[match.end() :])
            before, now = (_joined(ast.literal_eval(f"[{params}]")) for params in both)
        except (ValueError, SyntaxError, TypeError, AttributeError):
            continue
        changes = list(changed(before, now))
        more = (
            f", and {len(changes) - MAX_CHANGES} more"
            if len(changes) > MAX_CHANGES
            else ""
        )
        return ", ".join(changes[:MAX_CHANGES]) + more
    return "changed settings"


def _joined(params: Sequence[str]) -> dict[str, Any]:
    """Return the keys and values of the params `code` and `spec`, if any."""
    return {key: value for param in params for key, value in json.loads(param).items()}


def changed(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """Yield `key: old -> new` for every difference between two JSON values."""
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
    old, new = (json.dumps(value, ensure_ascii=False) for value in (before, now))
    long = max(len(old), len(new)) > MAX_LENGTH
    yield f"{name} has changed" if long else f"{name}: {old} -> {new}"
