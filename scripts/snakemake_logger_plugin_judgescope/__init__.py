"""What `judgescope` shows of a Snakemake run: its progress, and why jobs failed.

On a terminal one line is updated in place: the replies of the whole run while a model
is asked, else the jobs; elsewhere, as in CI, it is printed every ten seconds. Snakemake
finds the plugin by its name (`--logger judgescope`); its own log under .snakemake/log
keeps everything.
"""

import ast
import json
import logging
import re
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from logging import WARNING, LogRecord
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# ---- why a run stopped, and what to do -----------------------------------------------

MAX_LINES = 40
"""The end of a log that is shown."""
LITTLE = 1 << 17
"""Bytes: with fewer left on the disk, a job may have found no room for its log."""
AGAIN = "finished files are kept, and no reply is requested twice"
_DO = "  do:      "
KILLED = (
    "it was killed (signal 9), most often because memory ran out.\n"
    f"{_DO}give it more memory, or run fewer jobs at once (--cores 1), and run again:\n"
    f"           {AGAIN}"
)
FULL = (
    f"the disk is full: no space was left for its log.\n{_DO}free some space and "
    f"run again: {AGAIN}"
)
LOCKED = (
    "this study is already running in this folder, or a run of it was killed\n"
    f"{_DO}let the other run end; if there is none, repeat the command once with "
    "--unlock,\n"
    f"           and then again: {AGAIN}"
)
RUNS = (
    "this study is already running in this folder: {0}\n"
    f"{_DO}let it end, or end it (kill {{1}}); {AGAIN}"
)
FROM_THE_FUTURE = (
    "{1} is newer than the file just made from it: the clock was set back, or the file "
    "comes\n"
    "from a machine whose clock is ahead\n"
    "  where:   {1}\n"
    "  got:     {2}\n"
    f"{_DO}set the clock right, `touch` the file and run again: {AGAIN}"
)
NO_ROOM = f"the disk is full\n{_DO}free some space and run again: {AGAIN}"
READ_ONLY = (
    f"a folder cannot be written to: {{}}\n{_DO}make it writable, or run in "
    f"another folder; {AGAIN}"
)
FORBIDDEN = (
    "no permission to read or write: {}\n"
    f"{_DO}grant the permission (make a folder writable), or run in another folder;\n"
    f"           {AGAIN}"
)
NO_THREADS = (
    "this run reached a limit of memory or processes (ulimit -v, -u)\n"
    f"{_DO}raise it, or run fewer jobs at once (--cores 1); {AGAIN}"
)

_KILLED = re.compile(r"> (\S+) 2>&1' returned non-zero exit status 137\.")
_FUTURE = re.compile(
    r"Output (.+) has older modification time .+? than input (.+) \((.+?)\)\. "
)
_SYSTEM = re.compile(r"\[Errno (28|122|13|17|20|30)\] (.+)")
_ERRNO = {"28": NO_ROOM, "122": NO_ROOM, "13": FORBIDDEN}


def killed(message: str) -> list[str]:
    """Return the logs of the jobs that were killed, by a message of Snakemake."""
    return _KILLED.findall(message)


def reason(message: str) -> str:
    """Return an error with its cause and remedy where they are known, without
    Snakemake's paths.
    """
    _, begun, rest = message.partition("the study cannot run")
    if begun:
        return begun + rest.partition('\n  File "')[0].rstrip()
    if "Directory cannot be locked" in message:
        from judgescope.cli.live_runs import living

        runs = living()
        return (
            RUNS.format("; ".join(map(str, runs)), runs[0].process) if runs else LOCKED
        )
    if match := _FUTURE.search(message):
        return FROM_THE_FUTURE.format(*match.groups())
    if "can't start new thread" in message:
        return NO_THREADS
    if match := _SYSTEM.search(message):
        return _ERRNO.get(match[1], READ_ONLY).format(match[2])
    return message


def end_of(log: Path, *, killed: bool) -> str:
    """Return the end of a job's log, and what the job could not write there itself."""
    text = (
        log.read_text(encoding="utf-8", errors="replace")
        if log.is_file()
        else "it left no log"
    )
    lines = text.rstrip().splitlines()[-MAX_LINES:]
    if killed:
        lines.append(KILLED)
    elif not lines and shutil.disk_usage(log.parent).free < LITTLE:
        lines.append(FULL)
    return "\n".join(lines)


# ---- the jobs of a dry run, by rule and reason ---------------------------------------

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


# ---- the progress of all that asks ---------------------------------------------------

BEGINS, OF = b"replies: ", b" of "
"""The beginning and a part of a line of progress (replies/asking.py)."""
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


class Progress(NamedTuple):
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

    def progress(self) -> Progress | None:
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
        self._ended: list[tuple[str, Progress]] = []
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
        parts: Sequence[Progress],
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


def progress_of(log: Path) -> Progress | None:
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
                return Progress(total=int(planned), unusable=unusable)
            return Progress(
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


# ---- what is shown -------------------------------------------------------------------

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
