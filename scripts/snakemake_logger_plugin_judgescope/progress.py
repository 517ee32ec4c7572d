"""The progress of the jobs that ask models, read from their logs."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

BEGINS = b"replies: "
"""The beginning of a line of progress (replies/asking.py)."""
OF = b" of "
"""Stands in such a line between the replies that came and all that are asked for."""
STOPPED = b"stopped: "
"""The beginning of the line about interrupted requests (engines/openai/run.py)."""
FAILED = b"attempts failed: "
"""The beginning of a line about failed attempts (engines/openai/run.py)."""
UNUSABLE = b"unusable: "
"""The beginning of a line with the number of unusable texts (perturb/writing.py)."""
WARNS = b"warning: "
"""The beginning of a line in the log of a job that asks, to show when the job has
ended; lines that begin with two blanks continue it."""
UNREAD = ".unread"
"""The suffix of the file beside a log that counts unreadable replies
(cli/unread_replies.py)."""
TAIL = 8192
"""Bytes at a log's end in which the lines are looked for."""
QUIET = 10.0
"""Seconds between two lines of progress where lines cannot be written over."""
STALLED = 2
"""Lines about failed attempts since the last progress that are shown: one attempt may
fail and succeed a second later, two lines are seconds without a reply."""
ASKING = ("ask_", "construct_", "merge_", "part_", "rate_", "write_")
"""The beginnings of the names of rules whose jobs ask a model."""
BAR = 20
"""Characters of a bar."""
MAX_MODELS = 3
"""Models that are named; more are counted."""
COUNTS = re.compile(
    r"(\d+) of (\d+), (\d+) refused(?:, ([\d.]+) US\$)?(?:, ([\d.e+-]+)/s)?|"
    r"\d+ in the store, (\d+) to request"
)


class JobProgress(NamedTuple):
    """How far a job is: replies that came, out of those that it asks for in this
    run.
    """

    done: int = 0
    total: int = 0
    refused: int = 0
    dollars: float | None = None
    """None: the model has no price."""
    rate: float = 0.0
    """Replies a second."""
    unread: int = 0
    unusable: int = 0
    """Texts that the model wrote and that cannot be used."""


@dataclass
class _Job:
    model: str
    log: Path
    asks: bool = True
    """Whether it is a job of a rule that asks a model."""
    unusable: int = 0
    """The last count: its line may be too far from the log's end to be found again."""

    def progress(self) -> JobProgress | None:
        """Return the job's progress; None if its log says nothing of it yet."""
        count = unusable_in(_tail(self.log))
        self.unusable = self.unusable if count is None else count
        found = progress_of(self.log)
        return found and found._replace(unusable=self.unusable)


class Asking:
    """The jobs under way, and one line for the whole run about those that ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._jobs: dict[int, _Job] = {}
        self._ended: list[tuple[str, JobProgress]] = []
        self._warned: set[str] = set()
        self._waiting = 0
        self._shown, self._shown_at = "", clock()

    def expect(self, jobs: Mapping[str, int]) -> None:
        """Note how many jobs of each rule will run."""
        self._waiting = sum(n for rule, n in jobs.items() if rule.startswith(ASKING))

    def begin(self, job: int, model: str, logs: Sequence[str], rule: str = "") -> None:
        """Note a job that was started."""
        self._waiting = max(0, self._waiting - rule.startswith(ASKING))
        if logs:
            Path(logs[0]).with_suffix(UNREAD).unlink(
                missing_ok=True
            )  # of an earlier run
            self._shown_at = self._shown_at if self._jobs else self._clock()
            asks = rule.startswith(ASKING)
            self._jobs[job] = _Job(model, Path(logs[0]), asks)

    def end(self, job: int) -> str | None:
        """Forget a job; return the line of all if it was the last one that asked for
        anything.
        """
        ended = self._jobs.pop(job, None)
        progress = ended.progress() if ended else None
        if ended is None or progress is None:
            return None
        self._ended.append((ended.model, progress._replace(rate=0.0)))
        return (
            None
            if self.line()
            else self._line(*zip(*self._ended, strict=True), verb="asked")
        )

    def line(self, *, drawn: bool = False) -> str | None:
        """Return the progress of the whole run, with a bar if it is `drawn`; None if
        none asks.

        It names every model whose replies it counts, also those that have all theirs.
        """
        running = [
            (job, progress)
            for job in list(self._jobs.values())
            if (progress := job.progress()) is not None
        ]
        if not running:
            return None
        every = [*self._ended, *((job.model, progress) for job, progress in running)]
        line = self._line(*zip(*every, strict=True), drawn=drawn)
        stalled = (
            f"; {job.model}: {text}"
            for job, _ in running
            if (text := stalled_in(job.log))
        )
        return line + "".join(stalled)

    def _line(
        self,
        models: Sequence[str],
        parts: Sequence[JobProgress],
        *,
        verb: str = "asking",
        drawn: bool = False,
    ) -> str:
        models = list(dict.fromkeys(models))
        names = (
            ", ".join(models) if len(models) <= MAX_MODELS else f"{len(models)} models"
        )
        done = sum(one.done for one in parts)
        total = sum(one.total for one in parts)
        refused = sum(one.refused for one in parts)
        rate = sum(one.rate for one in parts)
        n_unread = sum(one.unread for one in parts)
        n_unusable = sum(one.unusable for one in parts)
        facts = [f"{done} of {total} replies", f"{refused} refused"]
        if n_unusable:
            facts.append(f"{n_unusable} unusable")
        prices = [one.dollars for one in parts if one.done]
        if dollars := sum(filter(None, prices)):  # nothing of models that are free
            rest = " and models without a price" if None in prices else ""
            facts.append(f"{dollars:.4f} US${rest}")
        if rate and done < total:
            left = round((total - done) / rate)
            hours, minutes = left // 3600, left // 60
            time_left = (
                f"{hours} h {minutes % 60} min"
                if hours
                else f"{minutes} min {left % 60} s"
            )
            facts += [
                f"{rate:.0f}/s" if rate >= 10 else f"{rate:.2g}/s",
                f"{time_left} left",
            ]
        if self._waiting:  # what they ask for is not known yet
            facts.append(
                f"{self._waiting} more "
                f"{'job asks' if self._waiting == 1 else 'jobs ask'} later"
            )
        if n_unread:
            facts.append(f"{n_unread} unread")
        filled = int(BAR * done // total) if total else 0
        bar = f"[{'#' * filled}{'.' * (BAR - filled)}] " if drawn else ""
        return f"   {verb} {names}: {bar}{', '.join(facts)}"

    def news(self, more: str = "") -> str | None:
        """Return the line, with `more`, if it changed and QUIET seconds have passed."""
        if self._clock() - self._shown_at < QUIET or not (line := self.line()):
            return None
        if line == self._shown:
            return None
        self._shown_at, self._shown = self._clock(), line
        return line + more

    def cut(self) -> Iterator[str]:
        """Forget all jobs; yield the lines of stopped ones about requests under way."""
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            for line in _tail(job.log):
                if line.startswith(STOPPED):
                    yield f"   {job.model}: {line.decode('utf-8', 'replace')}"

    def warnings(self) -> Iterator[str]:
        """Yield each warning once: that most replies of a judge cannot be read."""
        for job in list(self._jobs.values()):
            for warning in unread(job.log)[1]:
                if warning not in self._warned:
                    self._warned.add(warning)
                    yield warning

    def warned_by(self, job: int) -> Iterator[str]:
        """Yield the warnings that a job that asked has written to its log."""
        ended = self._jobs.get(job)
        if ended is not None and ended.asks:
            yield from warnings_in(ended.log)


def unread(log: Path) -> tuple[int, list[str]]:
    """Return how many replies of a job cannot be read, and the warnings about them."""
    try:
        counts = json.loads(log.with_suffix(UNREAD).read_text(encoding="utf-8"))
        return int(counts["unread"]), [str(warning) for warning in counts["warnings"]]
    except (OSError, ValueError, KeyError, TypeError):
        return 0, []


def progress_of(log: Path) -> JobProgress | None:
    """Return the progress by the last complete line in a log that says it, None without
    any.
    """
    lines = _tail(log)
    unusable = unusable_in(lines) or 0
    for line in reversed(lines):
        text = line.decode("utf-8", "replace")
        if line.startswith(BEGINS) and (
            match := COUNTS.match(text.removeprefix(BEGINS.decode()))
        ):
            done, total, refused, dollars, rate, planned = match.groups()
            if planned is not None:
                if not int(planned) and not unusable:
                    return None
                return JobProgress(total=int(planned), unusable=unusable)
            return JobProgress(
                int(done),
                int(total),
                int(refused),
                None if dollars is None else float(dollars),
                float(rate or 0),
                unread(log)[0],
                unusable,
            )
    return None


def unusable_in(lines: Sequence[bytes]) -> int | None:
    """Return the last count of unusable texts in lines of a log; None without one."""
    counts = [line for line in lines if line.startswith(UNUSABLE)]
    return int(counts[-1].removeprefix(UNUSABLE)) if counts else None


def warnings_in(log: Path) -> Iterator[str]:
    """Yield the warnings in the log of a job that asks, each with its further lines."""
    try:
        lines = log.read_bytes().splitlines()
    except OSError:
        return
    warning: list[str] = []
    for line in [*lines, b""]:
        text = line.decode("utf-8", "replace")
        if warning and line.startswith(b"  "):
            warning.append(text)
            continue
        if warning:
            yield "\n".join(warning)
        warning = [text] if line.startswith(WARNS) else []


def stalled_in(log: Path) -> str:
    """Return the last line about failed attempts if nothing was answered yet, or
    lately.
    """
    failed, failures, answered = "", 0, False
    for line in _tail(log):
        if line.startswith(BEGINS) and OF in line:
            failed, failures, answered = "", 0, True
        elif line.startswith(FAILED):
            failures += 1
            shown = failures >= STALLED or not answered
            failed = line.decode("utf-8", "replace") if shown else ""
    return failed


def _tail(log: Path) -> list[bytes]:
    """Return the last complete lines of a log, none if it cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL))
            return file.read().rpartition(b"\n")[0].splitlines()
    except OSError:
        return []
