"""The reply store: what is whole is kept, what is torn is passed over, nothing is asked
twice.
"""

import io
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from logging import ERROR, INFO, Handler, LogRecord
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_judgescope as plugin
from judgescope.core.errors import UserError
from judgescope.engines.openai import run
from judgescope.engines.requests import HOPELESS, Failure, Reply, Request, Work
from judgescope.replies import asking as module
from judgescope.replies.asking import AskingJob, Progress, obtain
from judgescope.replies.compaction import forget_errors
from judgescope.replies.journal import CUT, is_damaged, sealed
from judgescope.replies.lookup import KeyTable
from judgescope.replies.store import DAY, Store
from judgescope.schema.cards import Price
from snakemake_logger_plugin_judgescope.progress import (
    QUIET,
    Asking,
    JobProgress,
    progress_of,
    stalled_in,
)

KEYS = [f"{number:064x}" for number in range(10)]


def reply(key: int, text: str = "4", *, draw: int = 0, status: str = "ok") -> Reply:
    return Reply(KEYS[key], draw, text, status=status)


def write(folder: Path, *replies: Reply, model: str = "m") -> None:
    """Write a journal of its own."""
    with Store(folder, model) as store:
        for one in replies:
            store.append(one)


def texts(folder: Path, **wanted: int) -> dict[tuple[int, int], str]:
    """Read the draws wanted, `k3=2`: two draws of key 3; (key, draw) -> text."""
    asked = {KEYS[int(name[1:])]: draws for name, draws in wanted.items()}
    found = Store(folder, "m").read(asked)
    return {(KEYS.index(key), draw): one.text for (key, draw), one in found.items()}


def test_a_changed_line_is_damaged_and_a_cut_or_empty_line_is_not() -> None:
    line = sealed({"key": KEYS[0], "draw": 0, "reply": "4"})
    assert not is_damaged(line) and not is_damaged(b"\n")
    assert is_damaged(line.replace(b"4", b"5", 1))
    assert not is_damaged(line[:-5]) and not is_damaged(line[:-5] + CUT)


def test_what_was_written_is_read_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, reply(1, "one"), reply(2, "two"), reply(1, "again", draw=1))
    write(tmp_path, reply(1, "of another model"), model="other")
    assert texts(tmp_path, k1=1, k3=1) == {(1, 0): "one"}
    assert texts(tmp_path, k1=2, k2=5) == {
        (1, 0): "one",
        (1, 1): "again",
        (2, 0): "two",
    }


@pytest.mark.parametrize(
    "text", ["", "line\nline", "\u2028\u2029\x85", "\0", "é\U0001f600", '"}']
)
def test_any_text_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    whole = Reply(
        KEYS[0],
        0,
        text,
        "length",
        "ok",
        {"prompt": 7, "completion": 3},
        {"model": text},
    )
    write(tmp_path, whole)
    assert Store(tmp_path, "m").read({KEYS[0]: 1}) == {(KEYS[0], 0): whole}


def test_no_journal_before_the_first_reply_and_one_for_each_start(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    assert not list(tmp_path.rglob("*"))
    write(tmp_path, reply(1))
    write(tmp_path, reply(2))
    journals = list(tmp_path.glob("m/*.jsonl"))
    assert len(journals) == 2 and all(
        len(j.read_bytes().splitlines()) == 1 for j in journals
    )


def test_torn_and_foreign_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    write(tmp_path, reply(1, "whole"), reply(2, "whole too"))
    [journal] = tmp_path.glob("m/*.jsonl")
    first, second = journal.read_bytes().splitlines(keepends=True)
    short = json.dumps(
        {"key": KEYS[3], "draw": 0, "text": "no status"}, separators=(",", ":")
    )
    garbled = first.replace(b'"draw":0', b'"draw":0"')
    torn = second[:-9]
    lines = [first, b"not ours\n", short.encode() + b"\n", garbled, second, torn]
    journal.write_bytes(b"".join(lines))
    store = Store(tmp_path, "m")
    stored = store.find(KeyTable.from_counts({KEYS[number]: 1 for number in (1, 2, 3)}))
    assert {one.text for _, one in stored.replies()} == {"whole", "whole too"}
    assert stored.skipped == 4


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_journals_the_same_reply_wins_whatever_their_order(
    tmp_path: Path, order: int
) -> None:
    """Two processes that asked at once may both have a reply: every later reader takes
    one.
    """
    for name, text in [("a", "5"), ("b", "3")][::order]:
        write(tmp_path, reply(1, text))
        [new] = [path for path in tmp_path.glob("m/*.jsonl") if len(path.name) > 10]
        new.rename(tmp_path / "m" / f"{name}{order}.jsonl")
    assert texts(tmp_path, k1=1) == {(1, 0): "3"}


def test_a_reply_goes_before_an_error(tmp_path: Path) -> None:
    write(tmp_path, reply(1, "A refusal comes first by its bytes", status="error"))
    write(tmp_path, reply(1, "the reply"))
    assert texts(tmp_path, k1=1) == {(1, 0): "the reply"}


def test_an_error_stands_until_it_is_forgotten_and_a_new_one_stands_again(
    tmp_path: Path,
) -> None:
    write(tmp_path, reply(1, "HTTP 400", status="error"), reply(2))
    assert set(Store(tmp_path, "m").errors()) == {(KEYS[1], 0)}
    with Store(tmp_path, "m") as store:
        assert forget_errors(store) == 1
    assert texts(tmp_path, k1=1, k2=1) == {(2, 0): "4"}
    with Store(tmp_path, "m") as store:
        assert not store.read({KEYS[1]: 1})
        store.append(reply(1, "HTTP 400 again", status="error"))
    assert texts(tmp_path, k1=1) == {(1, 0): "HTTP 400 again"}
    with Store(tmp_path, "m") as store:
        assert forget_errors(store) == 1
    assert texts(tmp_path, k1=1) == {}


def test_a_line_is_whole_though_the_disk_takes_it_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    synced: list[int] = []
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:10]))
    monkeypatch.setattr(os, "fsync", synced.append)
    write(tmp_path, reply(1, "a long reply"))
    assert texts(tmp_path, k1=1) == {(1, 0): "a long reply"}
    assert synced, "what is written reaches the disk before the store is closed"


def fill(folder: Path, monkeypatch: pytest.MonkeyPatch, *, room: bool = True) -> None:
    """Let the disk be full from the second reply on, until the reserve is given up."""
    real = os.write

    def full(file: int, data: bytes) -> int:
        taken = not room or any(folder.glob("m/.*.reserve"))
        if b"second" not in data or not taken:
            return real(file, data)
        if data.startswith(b'{"key'):  # the last block has room for a part
            return real(file, data[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)


def test_a_full_disk_ends_the_job_and_what_is_under_way_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, monkeypatch)
    with Store(tmp_path, "m") as store:
        store.append(reply(1, "first"))
        for number in (2, 3):
            with pytest.raises(
                UserError, match="disk is full: every received reply is stored"
            ):
                store.append(reply(number, "second"))
    assert texts(tmp_path, k1=1, k2=1, k3=1) == {
        (1, 0): "first",
        (2, 0): "second",
        (3, 0): "second",
    }
    assert not list(tmp_path.glob("m/.*"))


def test_a_reserve_goes_a_day_after_the_last_reply_of_its_job(tmp_path: Path) -> None:
    day_before_yesterday = (time.time() - 2 * DAY,) * 2
    with Store(tmp_path, "m") as store:
        journal = store.append(reply(1)).path
        [reserve] = tmp_path.glob("m/.*.reserve")
        os.utime(reserve, day_before_yesterday)
        write(tmp_path, reply(2))
        assert reserve.exists()
        os.utime(journal, day_before_yesterday)
        write(tmp_path, reply(3))
        assert not reserve.exists()


def test_a_disk_without_any_room_is_an_error_and_keeps_what_was_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, monkeypatch, room=False)
    with pytest.raises(UserError, match="the last replies could not be written"):
        write(tmp_path, reply(1, "first"), reply(2, "second"))
    assert texts(tmp_path, k1=1, k2=1) == {(1, 0): "first"}


def test_without_room_for_a_journal_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(UserError, match="no request was sent"):
        write(tmp_path, reply(1, "first"))
    assert not list(tmp_path.glob("m/*"))


# --- obtain ---


def request(prompt: str, draws: int = 1) -> Request:
    return Request({"messages": [{"role": "user", "content": prompt}]}, draws, prompt)


class Model:
    """Answers with the prompt in capitals; counts what it is asked."""

    def __init__(
        self, fails: Callable[[Request, int], bool] = lambda *_: False
    ) -> None:
        self.asked: list[tuple[str, int]] = []
        self.proven: list[bool] = []
        self.fails = fails

    def __call__(
        self, missing: Iterable[Work], proven: bool, keep: Callable[[Reply], None]
    ) -> list[Failure]:
        self.proven.append(proven)
        failures = []
        for one, draw in ((one, draw) for one, lacking in missing for draw in lacking):
            self.asked.append((one.prompt, draw))
            if self.fails(one, draw):
                failures.append(Failure(one.about, "HTTP 500"))
            else:
                keep(Reply(one.key, draw, one.prompt.upper()))
        return failures


def ask(folder: Path, model: Model, *requests: Request) -> dict[Any, Reply]:
    with Store(folder, "m") as store:
        return obtain(requests, AskingJob(store, model))


def test_only_what_is_missing_is_asked_in_the_order_of_prompts(tmp_path: Path) -> None:
    model = Model()
    ask(tmp_path, model, request("b"), request("c"), request("a"), request("b"))
    assert model.asked == [("a", 0), ("b", 0), ("c", 0)]
    found = ask(tmp_path, model, request("a", 2), request("d"), request("b"))
    assert model.asked[3:] == [("a", 1), ("d", 0)]
    assert sorted(one.text for one in found.values()) == ["A", "A", "B", "D"]
    ask(tmp_path, model, request("a", 2), request("b"))
    assert len(model.asked) == 5 and model.proven == [False, True]


def test_a_few_requests_are_refused_for_good_if_the_model_has_answered_others(
    tmp_path: Path,
) -> None:
    model = Model()
    write(tmp_path, reply(1, "HTTP 400", status="error"))
    ask(tmp_path, model, request("a"))
    ask(tmp_path, model, request("b"))
    ask(
        tmp_path, model, *map(request, [f"c{number}" for number in range(HOPELESS - 1)])
    )
    ask(tmp_path, model, *map(request, [f"d{number}" for number in range(HOPELESS)]))
    assert model.proven == [False, True, True, False]


def test_who_wants_nothing_asks_nothing_of_a_full_store(tmp_path: Path) -> None:
    write(tmp_path, reply(1), reply(2))
    model = Model()
    assert ask(tmp_path, model) == {} and model.proven == []


def test_of_equal_requests_the_one_with_most_draws_is_asked(tmp_path: Path) -> None:
    model = Model()
    ask(tmp_path, model, request("a"), request("a", 3), request("a", 2))
    assert model.asked == [("a", 0), ("a", 1), ("a", 2)]


def test_what_fails_is_named_what_came_is_kept_and_only_the_rest_is_asked(
    tmp_path: Path,
) -> None:
    broken = Model(fails=lambda one, _: one.prompt == "b")
    with pytest.raises(UserError, match="1 of 3 requests failed: HTTP 500") as error:
        ask(tmp_path, broken, request("a"), request("b"), request("c"))
    assert error.value.where == "b" and "other 2 replies are stored" in str(error.value)
    mended = Model()
    assert len(ask(tmp_path, mended, request("a"), request("b"), request("c"))) == 3
    assert mended.asked == [("b", 0)]


def test_what_came_before_a_crash_is_kept(tmp_path: Path) -> None:
    def crash(one: Request, _: int) -> bool:
        if one.prompt == "b":
            raise RuntimeError("the engine broke")
        return False

    with pytest.raises(RuntimeError):
        ask(tmp_path, Model(crash), request("a"), request("b"))
    mended = Model()
    ask(tmp_path, mended, request("a"), request("b"))
    assert mended.asked == [("b", 0)]


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
    told = (
        "10 of 100, 1 refused, 0.0027 US$, 1.7/s, 0 min 54 s left, tokens/s 150 in, "
        "30 out"
    )
    assert capsys.readouterr().out == f"replies: {told}\n"


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


def test_lines_grow_rarer_and_the_last_one_always_comes(
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


def test_the_last_whole_line_of_a_log_says_the_progress(tmp_path: Path) -> None:
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


def test_failed_attempts_are_told_at_once_then_seldom_and_move_no_cursor(
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


def test_one_line_for_the_whole_run_comes_every_ten_seconds_if_it_is_new(
    tmp_path: Path,
) -> None:
    clock = Clock()
    asking = Asking(clock)
    asking.begin(1, "m", [str(log(tmp_path, SOME))])
    told = "3 of 9 replies, 0 refused, 0.0010 US$, 1.5/s, 0 min 4 s left"
    assert asking.line(drawn=True) == f"   asking m: [{'#' * 6}{'.' * 14}] {told}"
    assert asking.news() is None and QUIET == 10
    clock.now += QUIET
    assert asking.news("; 1 of 2 jobs") == f"   asking m: {told}; 1 of 2 jobs"
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


def event(kind: LogEvent, level: int = INFO, **told: Any) -> LogRecord:
    record = LogRecord("", level, "", 0, "", None, None)
    record.__dict__.update(told, event=kind)
    return record


def test_a_terminal_shows_one_line_for_replies_and_jobs(
    handler: plugin.LogHandler, screen: Terminal, tmp_path: Path
) -> None:
    one = str(log(tmp_path, START, SOME))
    handler.emit(
        event(
            LogEvent.JOB_INFO, jobid=1, rule_name="ask_api", wildcards=ABOUT, log=[one]
        )
    )
    handler.look()
    log(tmp_path, MORE)
    handler.look()
    told = "5 of 9 replies, 1 refused, 0.0020 US$"
    line = f"   asking m: [{'#' * 11}{'.' * 9}] {told}, 2/s, 0 min 2 s left"
    assert screen.rows() == [line]
    handler.emit(event(LogEvent.PROGRESS, done=3, total=4))
    handler.look()
    assert screen.rows() == [f"{line}; 3 of 4 jobs"]
    handler.emit(event(LogEvent.JOB_FINISHED, job_id=1))
    handler.emit(event(LogEvent.PROGRESS, done=4, total=4))
    first, last = screen.rows()
    assert first == f"   asked m: {told}" and last.startswith("   4 of 4 jobs")
    assert screen.getvalue().endswith("ask api 1 of 1\n")


def test_without_a_terminal_there_are_few_lines_and_none_is_written_over(
    handler: plugin.LogHandler, screen: Terminal, tmp_path: Path
) -> None:
    screen.tty = False
    one = str(log(tmp_path, SOME))
    handler.emit(
        event(
            LogEvent.JOB_INFO, jobid=1, rule_name="ask_api", wildcards=ABOUT, log=[one]
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
    one = str(log(tmp_path, SOME, "the endpoint is down\n"))
    handler.emit(
        event(
            LogEvent.JOB_INFO, jobid=1, rule_name="ask_api", wildcards=ABOUT, log=[one]
        )
    )
    handler.look()
    told = {"jobid": 1, "rule_name": "ask_api", "wildcards": ABOUT, "log": [one]}
    handler.emit(event(LogEvent.JOB_ERROR, ERROR, **told))
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
