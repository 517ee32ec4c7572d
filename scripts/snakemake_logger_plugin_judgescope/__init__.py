"""What `judgescope` shows of a Snakemake run: how far it is, and why jobs failed.

On a terminal that is one line for all jobs and one for each that is asking a model, written over
again and again; elsewhere, as in CI, few lines.

Snakemake finds the plugin by its name (`--logger judgescope`); its own log under .snakemake/log
keeps everything.
"""

import logging
import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from logging import WARNING, LogRecord
from pathlib import Path
from types import FrameType

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_judgescope.asking import Asking, job_name
from snakemake_logger_plugin_judgescope.planned import PlannedJobs
from snakemake_logger_plugin_judgescope.reasons import end_of, killed, reason

LOOK = 1.0
"""Seconds between two looks at the logs of jobs that ask."""
SECONDS = 5.0
"""Between two lines of progress where lines cannot be written over."""
MOST_FAILURES = 5
"""Failed jobs whose log is shown."""


class LogHandler(LogHandlerBase):
    """Write progress and failures to standard error."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Start with nothing shown; where Snakemake's own log finds no room, that is no news."""
        logging.raiseExceptions = False
        self.planned = PlannedJobs() if self.common_settings.dryrun else None
        self.jobs: dict[str, int] = {}
        self.rules: dict[int, str] = {}
        self.finished: dict[str, int] = {}
        self.latest = ""
        self.failures = 0
        self.killed: set[str] = set()
        self.begun = self.shown = time.monotonic()
        self.status, self.drawn = "", 0
        self.stopped = False
        self.asking, self.writing, self.over = Asking(), threading.RLock(), threading.Event()
        self.interrupt = signal.signal(signal.SIGINT, self._stop)
        threading.Thread(target=self._watch, daemon=True).start()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Note that what fails from now on was stopped; then do what was done before.

        Once: jobs heed a second one themselves, and Snakemake would no longer tidy up. Not when the
        run is over: then nothing is left to stop, and the interpreter would show a traceback.
        """
        before, self.stopped = self.stopped, True
        if not before and not self.over.is_set() and callable(self.interrupt):
            self.interrupt(number, frame)

    def _watch(self) -> None:
        while not self.over.wait(LOOK):
            self.look()

    def look(self) -> None:
        """Show how far the jobs are that ask."""
        with self.writing:
            for warning in self.asking.warnings():
                self._say(warning)
            if sys.stderr.isatty():
                if lines := self.asking.lines():
                    self._draw([*lines, self.status])
            else:
                for line in self.asking.news():
                    print(line, file=sys.stderr, flush=True)

    def emit(self, record: LogRecord) -> None:
        """Show what the record means to a person; nothing for most."""
        with self.writing:
            self._emit(record)

    def _emit(self, record: LogRecord) -> None:
        event = getattr(record, "event", None)
        told = record.__dict__
        if self.planned is not None:
            self._plan(self.planned, record, event)
        elif event == LogEvent.RUN_INFO:
            self.jobs = told["stats"]
        elif event == LogEvent.JOB_INFO:
            self.rules[told["jobid"]] = told["rule_name"]
            name = job_name(told["rule_name"], told.get("wildcards") or {})
            self.asking.begin(told["jobid"], name, told["log"] or [])
        elif event == LogEvent.JOB_FINISHED:
            self.latest = self.rules.get(told["job_id"], "")
            self.finished[self.latest] = self.finished.get(self.latest, 0) + 1
            if line := self.asking.end(told["job_id"]):
                self._say(line)
        elif event == LogEvent.PROGRESS:
            self._progress(told["done"], told["total"])
        elif event == LogEvent.JOB_ERROR:
            if not self.stopped:
                self.asking.end(told["jobid"])
            self._failure(told["rule_name"], told["log"])
        elif dead := killed(record.getMessage()):
            self.killed.update(dead)
        elif self._is_news(record, event) and not self.stopped:
            self._say(reason(record.getMessage()))

    def _plan(self, planned: PlannedJobs, record: LogRecord, event: LogEvent | None) -> None:
        """Take up a job of a dry run, or show what is wrong."""
        told = record.__dict__
        if event == LogEvent.JOB_INFO:
            planned.add(told["rule_name"], told["reason"], told["output"] or [])
        elif event == LogEvent.SHELLCMD and self.common_settings.printshellcmds:
            self._say(f"{told['shellcmd']}")
        elif self._is_news(record, event):
            self._say(reason(record.getMessage()))
            self.failures = 1

    def _is_news(self, record: LogRecord, event: LogEvent | None) -> bool:
        """Tell whether it is a warning or an error, and not one whose job's log tells more."""
        echo = (
            self.failures or self.stopped or getattr(record, "exception", None) == "RuleException"
        )
        return record.levelno >= WARNING and event in (None, LogEvent.ERROR) and not echo

    def _progress(self, done: int, total: int) -> None:
        """Write `done of total`, over the line before it on a terminal."""
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if done < total and now - self.shown < (0.1 if terminal else SECONDS):
            return
        self.shown = now
        stage = f"{self.latest} {self.finished[self.latest]} of {self.jobs.get(self.latest, '?')}"
        self.status = f"   {done} of {total} jobs, {now - self.begun:.0f} s: {stage}"
        if terminal:
            self._draw([*self.asking.lines(), self.status])
        else:
            print(self.status, file=sys.stderr, flush=True)
        if done == total:
            self._end_line()

    def _draw(self, lines: Sequence[str]) -> None:
        """Write lines over those that were drawn last."""
        width = shutil.get_terminal_size().columns - 1
        told = "\n".join(line[:width] for line in lines)
        print(f"{self._back()}{told}", end="", file=sys.stderr, flush=True)
        self.drawn = len(lines)

    def _back(self) -> str:
        """Return what takes a terminal back to before the lines that were drawn last."""
        up = f"\x1b[{self.drawn - 1}A" if self.drawn > 1 else ""
        erase = f"\r{up}\x1b[J" if self.drawn else ""
        self.drawn = 0
        return erase

    def _failure(self, rule: str, logs: list[str]) -> None:
        if self.stopped:
            return
        self.failures += 1
        if self.failures <= MOST_FAILURES:
            for log in logs:
                self._say(
                    f"\n{rule} failed ({log}):\n{end_of(Path(log), killed=log in self.killed)}\n"
                )

    def _say(self, text: str) -> None:
        """Say something that stays; what was drawn is drawn again below it."""
        print(f"{self._back()}{text}", file=sys.stderr, flush=True)

    def _end_line(self) -> None:
        """Leave what was drawn as it is: what follows stands below."""
        if self.drawn:
            print(file=sys.stderr)
            self.drawn = 0

    def close(self) -> None:
        """Say how many jobs failed."""
        self.over.set()
        self._end_line()
        if self.stopped:
            for line in self.asking.cut():
                self._say(line)
        if self.planned is not None:
            if not self.failures and not self.common_settings.quiet:
                self._say("\n".join(self.planned.lines()))
            self.planned, self.failures = None, 0
        if self.failures:
            more = ", the first of them above" if self.failures > MOST_FAILURES else ""
            self._say(f"failed jobs: {self.failures}{more}")
            self.failures = 0
        super().close()
