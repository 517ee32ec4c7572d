"""The reply store: what is whole is kept, what is torn is passed over, nothing is asked
twice.
"""

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.requests import HOPELESS, Failure, Reply, Request, Work
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.compaction import forget_errors
from judgescope.replies.journal import CUT, is_damaged, sealed
from judgescope.replies.lookup import KeyTable
from judgescope.replies.store import DAY, Store

KEYS = [f"{number:064x}" for number in range(10)]


def reply(key: int, text: str = "4", *, draw: int = 0, status: str = "ok") -> Reply:
    return Reply(KEYS[key], draw, text, status=status)


def write(folder: Path, *replies: Reply, model: str = "m") -> None:
    """Write a journal of its own."""
    with Store(folder, model) as store:
        for reply in replies:
            store.append(reply)


def texts(folder: Path, **wanted: int) -> dict[tuple[int, int], str]:
    """Read the draws wanted, `k3=2`: two draws of key 3; (key, draw) -> text."""
    asked = {KEYS[int(name[1:])]: draws for name, draws in wanted.items()}
    result = Store(folder, "m").read(asked)
    return {(KEYS.index(key), draw): each.text for (key, draw), each in result.items()}


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
    complete = Reply(
        KEYS[0],
        0,
        text,
        "length",
        "ok",
        {"prompt": 7, "completion": 3},
        {"model": text},
    )
    write(tmp_path, complete)
    assert Store(tmp_path, "m").read({KEYS[0]: 1}) == {(KEYS[0], 0): complete}


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
    assert {each.text for _, each in stored.replies()} == {"whole", "whole too"}
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


def test_an_error_stands_until_it_is_forgotten_and_a_new_a_single_stands_again(
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


def test_a_line_is_complete_though_the_disk_takes_it_in_parts(
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


def test_a_disk_without_any_room_is_an_error_and_keeps_what_was_complete(
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
        for reply, draw in (
            (each, draw) for each, lacking in missing for draw in lacking
        ):
            self.asked.append((reply.prompt, draw))
            if self.fails(reply, draw):
                failures.append(Failure(reply.about, "HTTP 500"))
            else:
                keep(Reply(reply.key, draw, reply.prompt.upper()))
        return failures


def ask(folder: Path, model: Model, *requests: Request) -> dict[Any, Reply]:
    with Store(folder, "m") as store:
        return obtain(requests, AskingJob(store, model))


def test_only_what_is_missing_is_asked_in_the_order_of_prompts(tmp_path: Path) -> None:
    model = Model()
    ask(tmp_path, model, request("b"), request("c"), request("a"), request("b"))
    assert model.asked == [("a", 0), ("b", 0), ("c", 0)]
    replies = ask(tmp_path, model, request("a", 2), request("d"), request("b"))
    assert model.asked[3:] == [("a", 1), ("d", 0)]
    assert sorted(reply.text for reply in replies.values()) == ["A", "A", "B", "D"]
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
    broken = Model(fails=lambda request, _: request.prompt == "b")
    with pytest.raises(UserError, match="1 of 3 requests failed: HTTP 500") as error:
        ask(tmp_path, broken, request("a"), request("b"), request("c"))
    assert error.value.where == "b" and "other 2 replies are stored" in str(error.value)
    mended = Model()
    assert len(ask(tmp_path, mended, request("a"), request("b"), request("c"))) == 3
    assert mended.asked == [("b", 0)]


def test_what_came_before_a_crash_is_kept(tmp_path: Path) -> None:
    def crash(request: Request, _: int) -> bool:
        if request.prompt == "b":
            raise RuntimeError("the engine broke")
        return False

    with pytest.raises(RuntimeError):
        ask(tmp_path, Model(crash), request("a"), request("b"))
    mended = Model()
    ask(tmp_path, mended, request("a"), request("b"))
    assert mended.asked == [("b", 0)]
