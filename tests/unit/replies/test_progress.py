"""The progress of a run: lines in logs, and what a terminal shows of them."""

import io
import signal
from collections.abc import Iterator
from logging import ERROR, INFO, Handler, LogRecord
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_judgescope as plugin
from judgescope.engines.openai import run
from judgescope.engines.requests import Reply
from judgescope.replies import asking as module
from judgescope.replies.asking import Progress
from judgescope.schema.cards import Price
from snakemake_logger_plugin_judgescope.progress import (
    QUIET,
    Asking,
    JobProgress,
    progress_of,
    stalled_in,
)


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "monotonic", made)
    return made


def drawn(draw: int, status: str = "ok") -> Reply:
    return Reply("k", draw, "4", status=status, usage={"prompt": 100, "completion": 20})


def test_a_line_tells_count_refusals_money_speed_and_time_left(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(100, Price(input=1, output=10))
    for draw in range(9):
        progress.count(drawn(draw))
    clock.now += 6
    progress.count(Reply("k", 9, "no", status="error"))
    text = (
        "10 of 100, 1 refused, 0.0027 US$, 1.7/s, 0 min 54 s left, tokens/s 150 in, "
        "30 out"
    )
    assert capsys.readouterr().out == f"replies: {text}\n"


def test_a_job_that_asks_in_rounds_counts_all_of_them(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress()
    for more in (2, 3):
        progress.expect(more)
        for draw in range(more):
            progress.count(drawn(draw))
        clock.now += 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        "replies: 2 of 2",
        "replies: 2 of 5",
        "replies: 5 of 5",
    ]


def test_lines_grow_rarer_and_the_last_a_single_always_comes(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(40_000)
    for draw in range(40_000):
        progress.count(drawn(draw))
        clock.now += 1
    lines = capsys.readouterr().out.splitlines()
    assert 200 < len(lines) < 500 and lines[-1].startswith(
        "replies: 40000 of 40000, 0 refused"
    )
    assert "US$" not in lines[0] and "10 h " in "".join(lines[:60])


def log(folder: Path, *lines: str) -> Path:
    path = folder / "m.log"
    path.write_text("".join(lines), encoding="utf-8")
    return path


START, SOME, MORE = (
    "replies: 2 in the store, 9 to request\n",
    "replies: 3 of 9, 0 refused, 0.0010 US$, 1.5/s, 0 min 4 s left, tokens/s 10 in, 2 "
    "out\n",
    "replies: 5 of 9, 1 refused, 0.0020 US$, 2/s, 0 min 2 s left, tokens/s 10 in, 2 "
    "out\n",
)


def test_the_last_complete_line_of_a_log_says_the_progress(tmp_path: Path) -> None:
    assert progress_of(tmp_path / "none.log") is None
    assert progress_of(log(tmp_path, "replies: 9 in the store, 0 to request\n")) is None
    assert progress_of(log(tmp_path, START)) == JobProgress(total=9)
    some = JobProgress(3, 9, 0, 0.001, 1.5)
    assert (
        progress_of(log(tmp_path, START, SOME, "something else\n", MORE[:-9])) == some
    )
    bare = log(tmp_path, "x" * 20_000, "\n", SOME, "replies: 5 of 9, 1 refused\n")
    assert progress_of(bare) == JobProgress(5, 9, 1)


def test_unusable_texts_are_counted_in_the_progress_of_a_writer(
    tmp_path: Path,
) -> None:
    written = log(tmp_path, START, "unusable: 2\n", "unusable: 4\n", MORE)
    assert progress_of(written) == JobProgress(5, 9, 1, 0.002, 2.0, unusable=4)
    asking = Asking()
    asking.begin(1, "m", [str(written)], "write_api")
    assert "5 of 9 replies, 1 refused, 4 unusable" in (asking.line() or "")
    # in a long round its line is too far from the end, and still counts
    log(tmp_path, START, "unusable: 4\n", "x" * 20_000, "\n", MORE)
    assert "1 refused, 4 unusable" in (asking.line() or "")


def test_warnings_of_a_job_that_asks_are_shown_when_it_has_ended(
    tmp_path: Path,
) -> None:
    warning = (
        "warning: 3 of 4 texts of x are unusable: it is a refusal\n  example: 'No.'"
    )
    written = log(tmp_path, START, f"{warning}\n", "warning: second\n", MORE)
    asking = Asking()
    asking.begin(1, "m", [str(written)], "write_api")
    asking.begin(2, "m", [str(written)], "score")
    assert [*asking.warned_by(1)] == [warning, "warning: second"]
    assert [*asking.warned_by(2)] == []


def test_failed_attempts_are_reported_at_once_then_seldom_and_move_no_cursor(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "monotonic", clock)
    failed = run.RetryLog()
    for _ in range(12):
        failed.add("HTTP 503: \x1b[2Jdown")
        clock.now += 1
    assert capsys.readouterr().out.splitlines() == [
        f"attempts failed: {count}, the last with: HTTP 503:  [2Jdown"
        for count in (1, 6, 11)
    ]


def test_failed_attempts_are_no_alarm_while_replies_come(tmp_path: Path) -> None:
    """One line about them may be of an attempt that succeeded since; two are seconds of
    nothing.
    """
    failed = "attempts failed: 2, the last with: HTTP 503\n"
    assert stalled_in(log(tmp_path, START, failed)) == failed.strip()
    assert stalled_in(log(tmp_path, failed, SOME, failed)) == ""
    path = log(tmp_path, failed, SOME, failed, failed)
    assert stalled_in(path) == failed.strip()
    asking = Asking()
    asking.begin(1, "m", [str(path)])
    assert str(asking.line()).endswith(f"0 min 4 s left; m: {failed.strip()}")
    assert stalled_in(log(tmp_path, SOME, failed, failed, MORE, failed)) == ""


def test_a_new_line_for_the_run_comes_every_ten_seconds(
    tmp_path: Path,
) -> None:
    clock = Clock()
    asking = Asking(clock)
    asking.begin(1, "m", [str(log(tmp_path, SOME))])
    text = "3 of 9 replies, 0 refused, 0.0010 US$, 1.5/s, 0 min 4 s left"
    assert asking.line(drawn=True) == f"   asking m: [{'#' * 6}{'.' * 14}] {text}"
    assert asking.news() is None and QUIET == 10
    clock.now += QUIET
    assert asking.news("; 1 of 2 jobs") == f"   asking m: {text}; 1 of 2 jobs"
    clock.now += QUIET
    assert asking.news() is None
    other = tmp_path / "other.log"
    other.write_text(
        "replies: 10 of 20, 2 refused, 0.5/s, 0 min 20 s left\n", encoding="utf-8"
    )
    asking.begin(2, "n", [str(other)])
    both = (
        "13 of 29 replies, 2 refused, 0.0010 US$ and models without a price, 2/s, 0 "
        "min 8 s left"
    )
    assert asking.news() == f"   asking m, n: {both}"
    log(tmp_path, MORE.replace("5 of 9", "9 of 9"))
    assert asking.end(1) is None  # the other one is still asking
    assert "asking m, n: 19 of 29 replies, 3 refused" in str(
        asking.line()
    )  # m's replies count
    priced = "0.0020 US$ and models without a price"
    assert asking.end(2) == f"   asked m, n: 19 of 29 replies, 3 refused, {priced}"
    assert asking.end(1) is None and asking.line() is None
    other.write_text("replies: 2 of 2, 0 refused, 0.0000 US$\n", encoding="utf-8")
    free = Asking(clock)
    free.begin(3, "n", [str(other)])
    assert free.end(3) == "   asked n: 2 of 2 replies, 0 refused"


class Terminal(io.StringIO):
    """A standard error that is a terminal, or is none."""

    tty = True

    def isatty(self) -> bool:
        return self.tty

    def rows(self) -> list[str]:
        """Return what a screen shows of what was written: \\r, up, and erase below."""
        screen, row = [""], 0
        text = self.getvalue()
        while text:
            if text.startswith("\x1b["):
                end = next(at for at in range(2, len(text)) if text[at].isalpha())
                if text[end] == "A":
                    row -= int(text[2:end])
                else:
                    screen = [*screen[:row], ""]
                text = text[end + 1 :]
                continue
            if text[0] == "\n":
                row += 1
                screen += [""] * (row + 1 - len(screen))
            elif text[0] != "\r":
                screen[row] += text[0]
            text = text[1:]
        return [line for line in screen if line]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal()
    monkeypatch.setattr(plugin, "sys", SimpleNamespace(stderr=made))
    monkeypatch.setenv("COLUMNS", "120")
    return made


@pytest.fixture
def handler(screen: Terminal) -> Iterator[plugin.LogHandler]:
    before = signal.getsignal(signal.SIGINT)
    made = plugin.LogHandler.__new__(plugin.LogHandler)
    Handler.__init__(made)
    made.common_settings = SimpleNamespace(dryrun=False)  # type: ignore[assignment]
    made.__post_init__()
    made.over.set()  # a test looks by itself
    made.emit(event(LogEvent.RUN_INFO, stats={"ask_api": 1, "table": 3}))
    yield made
    signal.signal(signal.SIGINT, before)


ABOUT = {"dataset": "d", "model": "m"}


def event(kind: LogEvent, level: int = INFO, **parts: Any) -> LogRecord:
    record = LogRecord("", level, "", 0, "", None, None)
    record.__dict__.update(parts, event=kind)
    return record


def test_a_terminal_shows_a_single_line_for_replies_and_jobs(
    handler: plugin.LogHandler, screen: Terminal, tmp_path: Path
) -> None:
    text = str(log(tmp_path, START, SOME))
    handler.emit(
        event(
            LogEvent.JOB_INFO, jobid=1, rule_name="ask_api", wildcards=ABOUT, log=[text]
        )
    )
    handler.look()
    log(tmp_path, MORE)
    handler.look()
    words = "5 of 9 replies, 1 refused, 0.0020 US$"
    line = f"   asking m: [{'#' * 11}{'.' * 9}] {words}, 2/s, 0 min 2 s left"
    assert screen.rows() == [line]
    handler.emit(event(LogEvent.PROGRESS, done=3, total=4))
    handler.look()
    assert screen.rows() == [f"{line}; 3 of 4 jobs"]
    handler.emit(event(LogEvent.JOB_FINISHED, job_id=1))
    handler.emit(event(LogEvent.PROGRESS, done=4, total=4))
    first, last = screen.rows()
    assert first == f"   asked m: {words}" and last.startswith("   4 of 4 jobs")
    assert screen.getvalue().endswith("ask api 1 of 1\n")


def test_without_a_terminal_there_are_few_lines_and_none_is_written_over(
    handler: plugin.LogHandler, screen: Terminal, tmp_path: Path
) -> None:
    screen.tty = False
    text = str(log(tmp_path, SOME))
    handler.emit(
        event(
            LogEvent.JOB_INFO, jobid=1, rule_name="ask_api", wildcards=ABOUT, log=[text]
        )
    )
    for _ in range(50):
        handler.look()
    assert screen.getvalue() == ""
    handler.emit(event(LogEvent.JOB_FINISHED, job_id=1))
    assert screen.getvalue() == "   asked m: 3 of 9 replies, 0 refused, 0.0010 US$\n"


def test_a_failed_job_shows_its_log_and_is_no_longer_asking(
    handler: plugin.LogHandler, screen: Terminal, tmp_path: Path
) -> None:
    text = str(log(tmp_path, SOME, "the endpoint is down\n"))
    handler.emit(
        event(
            LogEvent.JOB_INFO, jobid=1, rule_name="ask_api", wildcards=ABOUT, log=[text]
        )
    )
    handler.look()
    fields = {"jobid": 1, "rule_name": "ask_api", "wildcards": ABOUT, "log": [text]}
    handler.emit(event(LogEvent.JOB_ERROR, ERROR, **fields))
    handler.look()
    assert "the endpoint is down" in screen.rows() and not handler.asking.line()


def test_an_interrupt_after_the_end_stops_nothing(handler: plugin.LogHandler) -> None:
    heard: list[int] = []
    handler.interrupt = lambda number, frame: heard.append(number)
    handler.over.clear()
    handler._stop(signal.SIGINT, None)
    handler._stop(signal.SIGINT, None)
    assert heard == [signal.SIGINT]  # once
    handler.stopped = False
    handler.over.set()
    handler._stop(signal.SIGINT, None)
    assert heard == [signal.SIGINT]
