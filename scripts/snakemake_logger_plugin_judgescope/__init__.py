"""What `judgescope` shows of a Snakemake run: its progress, and why jobs failed.

On a terminal one line is updated in place: the replies of the whole run while a model
is asked, else the jobs; elsewhere, as in CI, it is printed every ten seconds. Snakemake
finds the plugin by its name (`--logger judgescope`); its own log under .snakemake/log
keeps everything.
"""

import logging
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from logging import WARNING, LogRecord
from pathlib import Path
from types import FrameType

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_judgescope.dry_run import PlannedJobs
from snakemake_logger_plugin_judgescope.progress import QUIET, Asking
from snakemake_logger_plugin_judgescope.reasons import end_of, killed, reason

LOOK_INTERVAL = 1.0
"""Seconds between two looks at the logs of jobs that ask."""
MAX_FAILURES = 5
"""Failed jobs whose log is shown."""


class LogHandler(LogHandlerBase):
    """Write progress and failures to standard error."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Start with nothing shown."""
        logging.raiseExceptions = (
            False  # Snakemake's own log may find no room on the disk
        )
        self.planned = PlannedJobs() if self.common_settings.dryrun else None
        self.jobs: dict[str, int] = {}
        self.rules: dict[int, str] = {}
        self.finished = Counter[str]()
        self.latest = ""
        self.failures = 0
        self.killed: set[str] = set()
        self.begun = self.shown = time.monotonic()
        self.counted, self.drawn = "", False
        self.stopped = False
        self.asking, self.writing, self.over = (
            Asking(),
            threading.RLock(),
            threading.Event(),
        )
        self.interrupt = signal.signal(signal.SIGINT, self._stop)
        threading.Thread(target=self._watch, daemon=True).start()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Note that jobs that fail from now on were stopped; call the previous handler.

        Once: jobs handle a second signal themselves, and Snakemake would no longer
        clean up. Not when the run is over: the interpreter would show a traceback.
        """
        before, self.stopped = self.stopped, True
        if not before and not self.over.is_set() and callable(self.interrupt):
            self.interrupt(number, frame)

    def _watch(self) -> None:
        while not self.over.wait(LOOK_INTERVAL):
            self.look()

    def look(self) -> None:
        """Show the progress of the jobs that ask."""
        with self.writing:
            for warning in self.asking.warnings():
                self._say(warning)
            if sys.stderr.isatty():
                if line := self.asking.line(drawn=True):
                    self._draw(line + self.counted)
            elif line := self.asking.news(self.counted):
                print(line, file=sys.stderr, flush=True)

    def emit(self, record: LogRecord) -> None:
        """Show what a user needs to know of a record, which for most is nothing."""
        with self.writing:
            if self.planned is None:
                self._show(record)
            else:
                self._plan(self.planned, record)

    def _show(self, record: LogRecord) -> None:
        fields = record.__dict__
        event = fields.get("event")
        if event == LogEvent.RUN_INFO:
            self.jobs = fields["stats"]
            self.asking.expect(self.jobs)
        elif event == LogEvent.JOB_INFO:
            rule = self.rules[fields["jobid"]] = fields["rule_name"]
            model = (fields.get("wildcards") or {}).get("model", "a model")
            self.asking.begin(fields["jobid"], model, fields["log"] or [], rule)
        elif event == LogEvent.JOB_FINISHED:
            self.latest = self.rules.get(fields["job_id"], "")
            self.finished[self.latest] += 1
            for warning in self.asking.warned_by(fields["job_id"]):
                self._say(warning)
            if line := self.asking.end(fields["job_id"]):
                self._say(line)
        elif event == LogEvent.PROGRESS:
            self._progress(fields["done"], fields["total"])
        elif event == LogEvent.JOB_ERROR and not self.stopped:
            self.asking.end(fields["jobid"])
            self._failure(fields["rule_name"], fields["log"])
        elif dead := killed(record.getMessage()):
            self.killed.update(dead)
        elif self._is_problem(record):
            self._say(reason(record.getMessage()))

    def _plan(self, planned: PlannedJobs, record: LogRecord) -> None:
        """Note a job of a dry run, or show a problem."""
        fields = record.__dict__
        event = fields.get("event")
        if event == LogEvent.JOB_INFO:
            planned.add(fields["rule_name"], fields["reason"], fields["output"] or [])
        elif event == LogEvent.SHELLCMD and self.common_settings.printshellcmds:
            self._say(f"{fields['shellcmd']}")
        elif self._is_problem(record):
            self._say(reason(record.getMessage()))
            self.failures = 1

    def _is_problem(self, record: LogRecord) -> bool:
        """Return whether a record is the first problem, or one that no job's log
        explains.
        """
        event, exception = (
            getattr(record, name, None) for name in ("event", "exception")
        )
        explained = self.failures or self.stopped or exception == "RuleException"
        return (
            record.levelno >= WARNING
            and event in (None, LogEvent.ERROR)
            and not explained
        )

    def _progress(self, done: int, total: int) -> None:
        """Print `done of total`; on a terminal, update the line."""
        self.counted = f"; {done} of {total} jobs"
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if done < total and now - self.shown < (0.1 if terminal else QUIET):
            return
        self.shown = now
        stage = (
            f"{self.latest} {self.finished[self.latest]} of "
            f"{self.jobs.get(self.latest, '?')}"
        )
        status = (
            f"   {done} of {total} jobs, {now - self.begun:.0f} s: "
            f"{stage.replace('_', ' ')}"
        )
        asking = self.asking.line(drawn=True)
        if terminal:
            self._draw(asking + self.counted if asking else status)
        elif done == total or not asking:
            print(status, file=sys.stderr, flush=True)
        if done == total:
            self._end_line()

    def _draw(self, line: str) -> None:
        """Draw a line in place of the one that was drawn last."""
        width = shutil.get_terminal_size().columns - 1
        print(f"{self._erase()}{line[:width]}", end="", file=sys.stderr, flush=True)
        self.drawn = True

    def _erase(self) -> str:
        """Return the control sequence that erases the line that was drawn last."""
        before, self.drawn = self.drawn, False
        return "\r\x1b[J" if before else ""

    def _failure(self, rule: str, logs: list[str]) -> None:
        self.failures += 1
        for log in logs if self.failures <= MAX_FAILURES else ():
            end = end_of(Path(log), killed=log in self.killed)
            self._say(f"\n{rule} failed ({log}):\n{end}\n")

    def _say(self, text: str) -> None:
        """Print a text that stays; progress is drawn again below it."""
        print(f"{self._erase()}{text}", file=sys.stderr, flush=True)

    def _end_line(self) -> None:
        """Leave what was drawn as it is, and go on below it."""
        if self.drawn:
            print(file=sys.stderr)
            self.drawn = False

    def close(self) -> None:
        """Print how many jobs failed, or would run."""
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
            more = ", the first of them above" if self.failures > MAX_FAILURES else ""
            self._say(f"failed jobs: {self.failures}{more}")
            self.failures = 0
        super().close()
