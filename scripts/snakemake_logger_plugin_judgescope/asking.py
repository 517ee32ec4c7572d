"""How far the jobs are that ask a model: the last line of progress in the log of each."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

BEGINS = b"replies: "
OF = b" of "
"""What a line of progress begins with and has in it: see replies/asking.py."""
STOPPED = b"stopped: "
"""What the line begins with about requests that were under way: see engines/openai/engine.py."""
FAILED = b"attempts failed: "
"""What a line about attempts begins with: see engines/openai/engine.py."""
TAIL = 8192
"""Bytes of a log's end in which the line is looked for."""
QUIET = 60.0
"""Seconds between two lines about one job where lines cannot be written over."""


UNREAD = ".unread"
"""The suffix of the file beside a log that counts unreadable replies: see cli/unread_replies.py."""


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return what a job is called on the screen: its rule, and what it is about."""
    return " ".join([rule.removeprefix("ask_"), *wildcards.values()])


class _Job(NamedTuple):
    name: str
    log: Path


class Asking:
    """The jobs under way, and what their logs say of replies; most jobs say nothing of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._jobs: dict[int, _Job] = {}
        self._told: dict[int, tuple[float, str]] = {}
        self._warned: set[str] = set()

    def begin(self, job: int, name: str, logs: Sequence[str]) -> None:
        """Note a job that was started."""
        if logs:
            Path(logs[0]).with_suffix(UNREAD).unlink(missing_ok=True)  # of an earlier run
            self._jobs[job] = _Job(name, Path(logs[0]))
            self._told[job] = (self._clock(), "")

    def end(self, job: int) -> str | None:
        """Forget a job; return its last line if it asked for anything."""
        found = self._jobs.pop(job, None)
        self._told.pop(job, None)
        return self._line(found) if found else None

    def lines(self) -> list[str]:
        """Return a line for each job that is asking."""
        return [line for job in list(self._jobs.values()) if (line := self._line(job))]

    def news(self) -> Iterator[str]:
        """Yield the lines that changed, of each job no more than one in QUIET seconds."""
        for number, job in list(self._jobs.items()):
            at, before = self._told[number]
            if self._clock() - at >= QUIET and (line := self._line(job)) and line != before:
                self._told[number] = (self._clock(), line)
                yield line

    def cut(self) -> Iterator[str]:
        """Forget all jobs; yield what those say that were stopped of requests under way."""
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            for line in _tail(job.log):
                if line.startswith(STOPPED):
                    yield f"   {job.name}: {line.decode('utf-8', 'replace')}"

    def warnings(self) -> Iterator[str]:
        """Yield each warning once: that most replies of a judge cannot be read."""
        for job in list(self._jobs.values()):
            for warning in unread(job.log)[1]:
                if warning not in self._warned:
                    self._warned.add(warning)
                    yield warning

    def _line(self, job: _Job) -> str | None:
        told = last_told(job.log)
        count, _ = unread(job.log)
        return f"   {job.name}: {told}{f', {count} unread' if count else ''}" if told else None


def unread(log: Path) -> tuple[int, list[str]]:
    """Return how many replies of a job cannot be read, and the warnings about them."""
    try:
        told = json.loads(log.with_suffix(UNREAD).read_text(encoding="utf-8"))
        return int(told["unread"]), [str(one) for one in told["warnings"]]
    except (OSError, ValueError, KeyError, TypeError):
        return 0, []


def last_told(log: Path) -> str | None:
    """Return what the last whole line of progress in a log says, None where there is none.

    With it comes what a later line, or the only one, says of attempts that failed.
    """
    far = failed = b""
    for line in _tail(log):
        if line.startswith(BEGINS) and OF in line:
            far, failed = line.removeprefix(BEGINS), b""
        elif line.startswith(FAILED):
            failed = line
    return b"; ".join(filter(None, (far, failed))).decode("utf-8", "replace") or None


def _tail(log: Path) -> list[bytes]:
    """Return the last whole lines of a log, none where it cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL))
            return file.read().rpartition(b"\n")[0].splitlines()
    except OSError:
        return []
