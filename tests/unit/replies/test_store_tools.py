"""Tools of the store: compacting, looking it over, sharing, clearing out; no paid reply
is lost.
"""

import json
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply
from judgescope.replies.compaction import (
    Compacted,
    Imported,
    compact,
    export,
    forget_errors,
    merge,
)
from judgescope.replies.inspection import StoreFinding, stats, verify
from judgescope.replies.journal import KEY, Chosen, Keys
from judgescope.replies.ledger import FOLDER, Account, Ledger, SpentUnits
from judgescope.replies.lookup import KeyTable, having
from judgescope.replies.shard import files_of, shards
from judgescope.replies.store import DAY, Store

KEYS = [f"{number:062x}{number % 3:02x}" for number in range(12)]
"""Some end in NULs."""
LOGPROBS = [[("4", -0.25), ("5", -1.5)], [("\n", 0.0)]]


def reply(key: int, text: str = "4", draw: int = 0, status: str = "ok") -> Reply:
    return Reply(KEYS[key], draw, text, status=status)


def write(folder: Path, *replies: Reply, old: bool = True, model: str = "m") -> Path:
    """Write a journal of its own, as if two days ago, and return it."""
    with Store(folder, model) as store:
        for reply in replies:
            path = store.append(reply).path
    if old:
        os.utime(path, (time.time() - 2 * DAY,) * 2)
    return path


def read(folder: Path, draws: int = 3) -> dict[tuple[str, int], Reply]:
    return Store(folder, "m").read(dict.fromkeys(KEYS, draws))


def suffixes(folder: Path) -> list[str]:
    return [path.suffix for path in files_of(folder / "m")]


def all_sorts(folder: Path) -> None:
    """Write replies of every kind into three journals."""
    complete = Reply(
        KEYS[0],
        0,
        'é\n"\u2028',
        "length",
        "ok",
        {"prompt": 7},
        {"model": "m-1"},
        LOGPROBS,
    )
    write(folder, complete, reply(1, "one"), reply(2, "HTTP 400", status="error"))
    write(folder, reply(1, "another one"), reply(1, "drawn again", draw=2))
    with Store(folder, "m") as store:
        assert forget_errors(store) == 1
    write(
        folder,
        reply(3, "HTTP 422", status="error"),
        reply(4, "HTTP 400", status="error"),
    )
    write(folder, reply(4, "at last"))
    for path in files_of(folder / "m"):
        os.utime(path, (time.time() - 2 * DAY,) * 2)


# --- compacting ---


def test_a_compacted_shard_answers_as_before(tmp_path: Path) -> None:
    all_sorts(tmp_path)
    before = read(tmp_path)
    assert before[KEYS[0], 0].logprobs == LOGPROBS
    assert {key: each.text for key, each in before.items()} == {
        (KEYS[0], 0): 'é\n"\u2028',
        (KEYS[1], 0): "another one",
        (KEYS[1], 2): "drawn again",
        (KEYS[3], 0): "HTTP 422",
        (KEYS[4], 0): "at last",
    }
    done = compact(tmp_path / "m")
    assert (done.lines, len(done.removed), done.left) == (9, 5, {})
    assert suffixes(tmp_path) == [".parquet"]
    assert read(tmp_path) == before
    store = Store(tmp_path, "m")
    store.read(dict.fromkeys(KEYS, 1))
    assert store.forgotten == {(KEYS[2], 0): 1}, "an error that was forgotten stays so"
    assert set(store.errors()) == {(KEYS[3], 0)}


def test_compacting_again_joins_what_came_since(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path, reply(number, f"{number}"), reply(9, "the same"))
        compact(tmp_path / "m")
    assert suffixes(tmp_path) == [".parquet"]
    assert len(read(tmp_path)) == 4
    [only] = files_of(tmp_path / "m")
    assert compact(tmp_path / "m") == Compacted(0, [], {}, 0) and files_of(
        tmp_path / "m"
    ) == [only]


def test_the_file_is_the_same_whatever_the_journals(tmp_path: Path) -> None:
    replies = [
        reply(number, f"{number}.{draw}", draw)
        for number in range(9)
        for draw in range(3)
    ]
    for location, parts in (
        ("a", [replies]),
        ("b", [replies[::-2], replies[1:], replies[:1]]),
    ):
        for part in parts:
            write(tmp_path / location, *part)
        compact(tmp_path / location / "m")
    each, two = (
        files_of(tmp_path / location / "m")[0].read_bytes() for location in "ab"
    )
    assert each == two


def test_a_journal_of_today_is_left(tmp_path: Path) -> None:
    old, new = (
        write(tmp_path, reply(1, "old")),
        write(tmp_path, reply(2, "new"), old=False),
    )
    done = compact(tmp_path / "m")
    assert (done.removed, list(done.left)) == ([old], [new])
    assert {row.text for row in read(tmp_path).values()} == {"old", "new"}
    assert compact(tmp_path / "m", now=time.time() + 2 * DAY).removed != []
    assert suffixes(tmp_path) == [".parquet"] and len(read(tmp_path)) == 2


def test_a_journal_is_left_until_what_it_cost_is_booked(tmp_path: Path) -> None:
    """A killed job's spending is read from its journal by the next job of the study."""
    journal = write(tmp_path, reply(1, "paid for"))
    begun = f"m/{journal.name.partition('.')[0]}"
    account = Account("m", None, begun, "here", 1)
    ledger = Ledger(tmp_path / FOLDER / "study")
    ledger.change(lambda state: state.open.update(owner=account))
    assert compact(tmp_path / "m").left == {journal: "its cost is not in the ledger"}
    ledger.change(lambda state: state.close("owner", SpentUnits()))
    assert journal in compact(tmp_path / "m").removed and len(read(tmp_path)) == 1


@pytest.mark.parametrize(
    ("tail", "left"),
    [
        (b'{"key":"', False),  # the writer was killed
        (b"somebody else's\n", True),
        (b'{"key":"%s","draw":0,"new":1}\n' % KEYS[5].encode(), True),
        (b'{"key":"%s","draw":0}\n' % b"x" * 64, True),
    ],
)
def test_a_journal_with_lines_that_are_not_ours_is_left(
    tmp_path: Path, tail: bytes, left: bool
) -> None:
    path = write(tmp_path, reply(1, "whole"))
    path.write_bytes(path.read_bytes() + tail)
    os.utime(path, (0, 0))
    compact(tmp_path / "m")
    assert path.exists() == left
    assert [row.text for row in read(tmp_path).values()] == ["whole"]


def test_what_is_not_read_back_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that loses a line on the way costs nothing."""
    path = write(tmp_path, reply(1, "one"), reply(2, "two"))
    from judgescope.replies import compaction
    from judgescope.replies.shard import CompactedLine, write_compacted

    def lossy(path: Path, lines: Iterable[CompactedLine]) -> int:
        return write_compacted(path, list(lines)[:1])

    monkeypatch.setattr(compaction, "write_compacted", lossy)
    done = compact(tmp_path / "m")
    assert done.removed == [] and "lacks some of its lines" in done.left[path]
    assert len(read(tmp_path)) == 2


def test_a_crash_while_writing_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, reply(1, "one"), reply(2, "two"))
    before = sorted((tmp_path / "m").iterdir())

    def crash(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", crash)
        with pytest.raises(OSError, match="No space"):
            compact(tmp_path / "m")
    assert sorted((tmp_path / "m").iterdir()) == before
    assert len(read(tmp_path)) == 2


@pytest.mark.heavy
def test_compactions_and_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Two compactions and a writer, over and over; a journal is old as soon as it is
    closed.
    """
    count = 60
    failed: list[str] = []

    def compacting() -> None:
        while writing.is_alive():
            try:
                compact(tmp_path / "m")
            except UserError as error:
                failed.append(str(error))

    def write_all() -> None:
        for draw in range(count):
            write(tmp_path, *(reply(key, f"{key}.{draw}", draw) for key in range(12)))

    writing = threading.Thread(target=write_all)
    others = [threading.Thread(target=compacting) for _ in range(2)]
    for thread in (writing, *others):
        thread.start()
    for thread in (writing, *others):
        thread.join()
    assert all("another process is compacting" in message for message in failed)
    assert len(read(tmp_path, count)) == 12 * count
    compact(tmp_path / "m")
    assert (
        suffixes(tmp_path) == [".parquet"] and len(read(tmp_path, count)) == 12 * count
    )


def test_a_reader_whose_journal_was_compacted_finds_the_reply_elsewhere(
    tmp_path: Path,
) -> None:
    write(tmp_path, reply(1, "one"), reply(2, "two"))
    match = Store(tmp_path, "m").find(KeyTable.from_counts({KEYS[1]: 1, KEYS[2]: 1}))
    compact(tmp_path / "m")
    assert [match.reply(slot).text for slot in (0, 1)] == ["one", "two"]


def test_a_reply_that_was_taken_away_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, reply(1, "one"))
    match = Store(tmp_path, "m").find(KeyTable.from_counts({KEYS[1]: 1}))
    path.unlink()
    with pytest.raises(UserError, match="was removed"):
        match.reply(0)


def test_a_damaged_compacted_file_stops_before_anything_is_asked_again(
    tmp_path: Path,
) -> None:
    write(tmp_path, reply(1))
    compact(tmp_path / "m")
    [path] = files_of(tmp_path / "m")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="cannot be read") as error:
        read(tmp_path)
    assert error.value.where == str(path)


def test_a_journal_that_slept_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a compaction might remove it under its writer."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with Store(tmp_path, "m") as store:
        first = store.append(reply(1)).path
        clock[0] += 60
        assert store.append(reply(2)).path == first
        clock[0] += DAY
        assert store.append(reply(3)).path != first
    assert len(read(tmp_path)) == 3


# --- looking over ---


def test_stats_count_a_shard_also_when_half_of_it_is_compacted(tmp_path: Path) -> None:
    all_sorts(tmp_path)
    paid = Reply(KEYS[7], 0, "5", usage={"prompt": 10, "completion": 2, "cached": 4})
    path = write(tmp_path, paid, old=False)
    path.write_bytes(path.read_bytes() + b"torn")
    result = stats(tmp_path / "m")
    assert (result.journals, result.compacted, result.skipped) == (6, 0, 1)
    assert (result.replies, result.errors, result.forgotten, result.questions) == (
        6,
        3,
        1,
        6,
    )
    assert (
        result.tokens == {"prompt": 10, "completion": 2, "cached": 4}
        and result.unknown == 5
    )
    assert result.bytes == sum(file.stat().st_size for file in files_of(tmp_path / "m"))
    compact(tmp_path / "m")
    again = stats(tmp_path / "m")
    assert (again.journals, again.compacted) == (1, 1)
    assert (again.replies, again.errors, again.forgotten) == (6, 3, 1)
    assert again.tokens == result.tokens


def test_verify_names_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, reply(1, "one"), reply(2, "two"))
    assert list(verify(tmp_path / "m")) == [
        StoreFinding(
            str(path),
            (
                "this journal has no closing line: its job was stopped, "
                "an older version wrote it, or lines at its end were "
                "lost"
            ),
            False,
        )
    ]
    lines = path.read_bytes().splitlines(keepends=True)
    short = (
        json.dumps({"key": KEYS[3], "draw": 0}, separators=(",", ":")).encode() + b"\n"
    )
    upper = lines[0].replace(KEYS[1].encode(), b"A" * 64)
    path.write_bytes(
        b"".join([lines[0], b"not ours\n", short, upper, lines[1], lines[0][:-9]])
    )
    other = write(tmp_path, reply(2, "two, but differently"), reply(1, "one"))
    by_key = {
        (error.where, error.wrong): error.message
        for error in verify(tmp_path / "m")
        if error.message
        != (
            "this journal has no closing line: its job was stopped, "
            "an older version wrote it, or lines at its end were "
            "lost"
        )
    }
    wrong = {where for where, is_wrong in by_key if is_wrong}
    assert wrong == {f"{path}:{number}" for number in (2, 3, 4)}
    assert "incomplete line" in by_key[f"{path}:6", False]
    first, second = sorted(
        [f"{path}:5", f"{other}:1"], key=lambda each: (each, False) in by_key
    )
    assert first in by_key[second, False] and len(by_key) == 5


def test_verify_finds_a_damaged_compacted_file(tmp_path: Path) -> None:
    write(tmp_path, reply(1))
    compact(tmp_path / "m")
    assert list(verify(tmp_path / "m")) == []
    [path] = files_of(tmp_path / "m")
    path.write_bytes(b"PAR1")
    [finding] = verify(tmp_path / "m")
    assert finding.where == str(path) and finding.wrong


def test_what_is_no_shard_is_left_out(tmp_path: Path) -> None:
    assert shards(tmp_path / "nowhere") == []
    write(tmp_path, reply(1))
    for name in (".hidden", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / ".hidden" / "a.jsonl").write_text("not ours\n")
    (tmp_path / "m" / ".unfinished.parquet").write_text("half")
    assert shards(tmp_path) == [tmp_path / "m"] and suffixes(tmp_path) == [".jsonl"]


# --- sharing ---


def only(*numbers: int) -> dict[str, KeyTable]:
    return {"m": KeyTable.from_counts({KEYS[number]: 1 for number in numbers})}


def test_an_exported_store_is_the_same_elsewhere(tmp_path: Path) -> None:
    folder, home, file = (
        tmp_path / "here",
        tmp_path / "there",
        tmp_path / "shared.parquet",
    )
    all_sorts(folder)
    write(folder, reply(1, "of another model"), model="Other/Model")
    compact(folder / "other-model")
    assert export(folder, file) == 10
    done = merge(file, home)
    assert done == {"m": Imported(new=9, differs=1), "other-model": Imported(new=1)}
    assert read(home) == read(folder)
    assert Store(home, "Other/Model").read({KEYS[1]: 1})
    assert merge(file, home) == {
        "m": Imported(known=9),
        "other-model": Imported(known=1),
    }


def test_of_a_study_its_keys_alone_are_exported(tmp_path: Path) -> None:
    folder, file = tmp_path / "here", tmp_path / "shared.parquet"
    all_sorts(folder)
    write(folder, reply(1), model="other")
    chosen = {name: wanted.has for name, wanted in only(1, 4).items()}
    assert export(folder, file, chosen) == 5
    merge(file, tmp_path / "there")
    assert {key for key, _ in read(tmp_path / "there")} == {KEYS[1], KEYS[4]}
    nothing: list[dict[str, Chosen]] = [
        {"m": KeyTable.from_counts({KEYS[9]: 1}).has},
        {},
    ]
    for none in nothing:
        assert export(folder, tmp_path / "none.parquet", none) == 0
    assert not (tmp_path / "none.parquet").exists()


def test_all_who_exchange_replies_come_to_use_the_same(tmp_path: Path) -> None:
    for location, text in (("a", "5"), ("b", "3")):
        write(tmp_path / location, reply(1, text))
        export(tmp_path / location, tmp_path / f"{location}.parquet")
    for location, other in (("a", "b"), ("b", "a")):
        done = merge(tmp_path / f"{other}.parquet", tmp_path / location)
        assert done == {"m": Imported(new=1, differs=1)}
    assert [
        row.text for location in "ab" for row in read(tmp_path / location).values()
    ] == [
        "3",
        "3",
    ]


def test_foreign_lines_in_an_exported_file_are_skipped_and_stay_outside(
    tmp_path: Path,
) -> None:
    from judgescope.replies.shard import CompactedLine
    from judgescope.replies.shard import write_compacted as write_file

    path = write(tmp_path / "here", reply(1, "good"))
    [good] = path.read_bytes().splitlines(keepends=True)
    key = bytes.fromhex(KEYS[1])
    bad = [
        b"not ours\n",
        good[:-1],
        good + good,
        b'{\n"key"' + good[6:],
        b"",
        good[:-2] + b"\n}\n",
    ]
    lines = [CompactedLine("../../m", key, 0, line) for line in [good, *bad]]
    write_file(tmp_path / "shared.parquet", lines)
    done = merge(tmp_path / "shared.parquet", tmp_path / "store" / "inner")
    assert list(done.values()) == [Imported(new=1, skipped=6)]
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["inner"]
    assert [row.text for row in read(tmp_path / "store" / "inner").values()] == ["good"]


def test_a_file_that_is_none_of_ours_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("hello")
    with pytest.raises(UserError, match="cannot be read"):
        merge(tmp_path / "x.parquet", tmp_path / "store")
    assert not (tmp_path / "store").exists()


# --- clearing out ---


def test_what_is_not_kept_goes_and_a_journal_of_today_stays(tmp_path: Path) -> None:
    write(tmp_path, *(reply(number, f"{number}") for number in range(6)))
    new = write(tmp_path, reply(7, "today"), old=False)

    def keep(keys: Keys) -> np.ndarray:
        return KeyTable.from_counts({KEYS[2]: 1, KEYS[3]: 1}).has(keys)

    done = compact(tmp_path / "m", keep=keep)
    assert (done.lines, list(done.left)) == (2, [new])
    assert sorted(row.text for row in read(tmp_path).values()) == ["2", "3", "today"]
    compact(
        tmp_path / "m",
        keep=lambda keys: np.zeros(len(keys), bool),
        now=time.time() + 2 * DAY,
    )
    [left] = (tmp_path / "m").iterdir()
    assert left.name == "shard.json"


def test_keys_of_any_study_are_kept_and_without_a_study_none() -> None:
    first, second, every = (
        np.array([bytes.fromhex(KEYS[number]) for number in numbers], KEY)
        for numbers in ((0, 1), (1, 2), range(4))
    )
    assert having(first, second)(every).tolist() == [True, True, True, False]
    assert not having()(every).any()
