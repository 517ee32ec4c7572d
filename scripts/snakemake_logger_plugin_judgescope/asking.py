"""The progress of jobs that ask a model: the last line about it in each job's log."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BEGINS, OF = b"replies: ", b" of "
"""The beginning and a part of a line of progress (replies/asking.py)."""
STOPPED = b"stopped: "
"""The beginning of the line about interrupted requests (engines/openai/engine.py)."""
FAILED = b"attempts failed: "
"""The beginning of a line about failed attempts (engines/openai/engine.py)."""
UNREAD = ".unread"
"""The suffix of the file beside a log that counts unreadable replies (cli/unread_replies.py)."""
TAIL = 8192
"""Bytes at a log's end in which the lines are looked for."""
QUIET = 10.0
"""Seconds between two lines about one job where lines cannot be written over."""
STALLED = 2
"""Lines about failed attempts since the last progress that are shown: one attempt may fail and
succeed a second later, two lines are seconds without a reply."""
BAR = 20
"""Characters of a bar."""
COUNTS = re.compile(r"(\d+) of (\d+)")


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return a job's name on the screen: its rule, and its wildcards."""
    return " ".join([rule.removeprefix("ask_"), *wildcards.values()])


@dataclass
class _Job:
    name: str
    log: Path
    shown_at: float
    shown: str = ""

    def line(self, *, drawn: bool = False) -> str | None:
        """Return the job's progress, with a bar if it is `drawn`; None if it asks for nothing."""
        progress, (count, _) = progress_of(self.log), unread(self.log)
        if progress is None:
            return None
        bar = bar_of(progress) if drawn else ""
        return f"   {self.name}: {bar}{progress}{f', {count} unread' if count else ''}"


class Asking:
    """The jobs under way, and the progress of those that ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._jobs: dict[int, _Job] = {}
        self._warned: set[str] = set()

    def begin(self, job: int, name: str, logs: Sequence[str]) -> None:
        """Note a job that was started."""
        if logs:
            Path(logs[0]).with_suffix(UNREAD).unlink(missing_ok=True)  # of an earlier run
            self._jobs[job] = _Job(name, Path(logs[0]), self._clock())

    def end(self, job: int) -> str | None:
        """Forget a job; return its last line if it asked for anything."""
        ended = self._jobs.pop(job, None)
        return ended.line() if ended else None

    def lines(self) -> list[str]:
        """Return a line for each job that is asking."""
        return [line for job in list(self._jobs.values()) if (line := job.line(drawn=True))]

    def news(self) -> Iterator[str]:
        """Yield the lines that changed, of each job no more than one in QUIET seconds."""
        for job in list(self._jobs.values()):
            due = self._clock() - job.shown_at >= QUIET
            if due and (line := job.line()) and line != job.shown:
                job.shown_at, job.shown = self._clock(), line
                yield line

    def cut(self) -> Iterator[str]:
        """Forget all jobs; yield the lines of stopped ones about requests under way."""
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


def unread(log: Path) -> tuple[int, list[str]]:
    """Return how many replies of a job cannot be read, and the warnings about them."""
    try:
        counts = json.loads(log.with_suffix(UNREAD).read_text(encoding="utf-8"))
        return int(counts["unread"]), [str(warning) for warning in counts["warnings"]]
    except (OSError, ValueError, KeyError, TypeError):
        return 0, []


def progress_of(log: Path) -> str | None:
    """Return the last complete line of progress in a log, None if there is none.

    The last line about failed attempts is added if nothing was answered yet, or lately.
    """
    progress = failed = b""
    failures = 0
    for line in _tail(log):
        if line.startswith(BEGINS) and OF in line:
            progress, failed, failures = line.removeprefix(BEGINS), b"", 0
        elif line.startswith(FAILED):
            failures += 1
            failed = line if failures >= STALLED or not progress else b""
    return b"; ".join(filter(None, (progress, failed))).decode("utf-8", "replace") or None


def bar_of(progress: str) -> str:
    """Return a bar of how many replies of those wanted are there, "" if that is not said."""
    counts = COUNTS.match(progress)
    if counts is None or not int(counts[2]):
        return ""
    filled = BAR * int(counts[1]) // int(counts[2])
    return f"[{'#' * filled}{'.' * (BAR - filled)}] "


def _tail(log: Path) -> list[bytes]:
    """Return the last complete lines of a log, none if it cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL))
            return file.read().rpartition(b"\n")[0].splitlines()
    except OSError:
        return []
