"""What `metajudge` shows of a Snakemake run: one line of progress, and why jobs failed.

Snakemake finds the plugin by its name (`--logger metajudge`); its own log under .snakemake/log
keeps everything.
"""

import signal
import sys
import time
from logging import WARNING, LogRecord
from pathlib import Path
from types import FrameType

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

SECONDS = 5.0
"""Between two lines of progress where lines cannot be written over."""
MOST_FAILURES = 5
"""Failed jobs whose log is shown."""
MOST_LINES = 40
"""The end of a log that is shown."""


class LogHandler(LogHandlerBase):
    """Write progress and failures to standard error."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Start with nothing shown."""
        self.jobs: dict[str, int] = {}
        self.rules: dict[int, str] = {}
        self.finished: dict[str, int] = {}
        self.latest = ""
        self.failures = 0
        self.begun = self.shown = time.monotonic()
        self.open_line = False
        self.stopped = False
        self.interrupt = signal.signal(signal.SIGINT, self._stop)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Note that what fails from now on was stopped; then do what was done before."""
        self.stopped = True
        if callable(self.interrupt):
            self.interrupt(number, frame)

    def emit(self, record: LogRecord) -> None:
        """Show what the record means to a person; nothing for most."""
        event = getattr(record, "event", None)
        told = record.__dict__
        if event == LogEvent.RUN_INFO:
            self.jobs = told["stats"]
        elif event == LogEvent.JOB_INFO:
            self.rules[told["jobid"]] = told["rule_name"]
        elif event == LogEvent.JOB_FINISHED:
            self.latest = self.rules.get(told["job_id"], "")
            self.finished[self.latest] = self.finished.get(self.latest, 0) + 1
        elif event == LogEvent.PROGRESS:
            self._progress(told["done"], told["total"])
        elif event == LogEvent.JOB_ERROR:
            self._failure(told["rule_name"], told["log"])
        elif self._is_news(record, event):
            self._say(reason(record.getMessage()))

    def _is_news(self, record: LogRecord, event: LogEvent | None) -> bool:
        """Tell whether it is a warning or an error, and not one whose job's log tells more."""
        echo = self.failures or getattr(record, "exception", None) == "RuleException"
        return record.levelno >= WARNING and event in (None, LogEvent.ERROR) and not echo

    def _progress(self, done: int, total: int) -> None:
        """Write `done of total`, over the line before it on a terminal."""
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if done < total and now - self.shown < (0.1 if terminal else SECONDS):
            return
        self.shown = now
        stage = f"{self.latest} {self.finished[self.latest]} of {self.jobs.get(self.latest, '?')}"
        line = f"   {done} of {total} jobs, {now - self.begun:.0f} s: {stage}"
        print(
            f"\r\x1b[K{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr
        )
        sys.stderr.flush()
        self.open_line = terminal
        if done == total:
            self._end_line()

    def _failure(self, rule: str, logs: list[str]) -> None:
        if self.stopped:
            return
        self.failures += 1
        if self.failures <= MOST_FAILURES:
            for log in logs:
                self._say(f"\n{rule} failed ({log}):\n{_end(Path(log))}\n")

    def _say(self, text: str) -> None:
        self._end_line()
        print(text, file=sys.stderr, flush=True)

    def _end_line(self) -> None:
        if self.open_line:
            print(file=sys.stderr)
            self.open_line = False

    def close(self) -> None:
        """Say how many jobs failed."""
        if self.failures:
            more = ", the first of them above" if self.failures > MOST_FAILURES else ""
            self._say(f"failed jobs: {self.failures}{more}")
            self.failures = 0
        super().close()


def _end(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "it left no log"
    return "\n".join(text.rstrip().splitlines()[-MOST_LINES:])


def reason(message: str) -> str:
    """Return an error without the place in the workflow's own files that Snakemake adds."""
    _, begun, rest = message.partition("the study cannot run")
    return begun + rest.partition('\n  File "')[0].rstrip() if begun else message
