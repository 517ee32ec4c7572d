"""The store where things go wrong: foreign lines, torn ends, forgetting by two,
closing.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.requests import Failure, Reply, Request, Work
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.compaction import drop_answers
from judgescope.replies.journal import CRC, SEAL, forgetting, sealed
from judgescope.replies.lookup import KeyTable
from judgescope.replies.store import Store
from judgescope.schema.tables import table_of, write_table

KEY = "0" * 64
Synced = list[tuple[int, int]]


def line(folder: Path, reply: Reply) -> bytes:
    """Return the line of a reply, as a store writes it elsewhere."""
    with Store(folder / "elsewhere", "m") as store:
        store.append(reply)
    [written] = (folder / "elsewhere" / "m").glob("*.jsonl")
    return written.read_bytes()


def resealed(line: bytes) -> bytes:
    """Return a line with the checksum of what it has become."""
    body = (
        line[:-SEAL]
        if line[-SEAL:].startswith(CRC)
        else line[:-2].replace(CRC, b',"was":"')
    )
    return b'%b%b%08x"}\n' % (body, CRC, zlib.crc32(body))


def journal(folder: Path, content: bytes, name: str = "a") -> Store:
    (folder / "m").mkdir(exist_ok=True)
    (folder / "m" / f"{name}.jsonl").write_bytes(content)
    return Store(folder, "m")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"}\n", b"}"),  # whole, yet its end of line never came
        (b'{"key":"', b'{ "key":"'),  # another program's spelling
        (b'"status":', b'"state":'),
        (b'"draw":0', b'"draw":"0"'),
        (b'"draw":0', b'"drawn":0'),
        (KEY.encode() + b'"', KEY.encode() + b'0"'),
        (b"}\n", b',"attempt":null}\n'),
        (b"}\n", b',"forget":"x"}\n'),
    ],
)
def test_a_line_that_is_no_complete_reply_is_passed_over(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    complete = line(tmp_path, Reply(KEY, 0, "4"))
    assert journal(tmp_path, complete).read({KEY: 1})
    changed = complete.replace(before, after)
    if changed.endswith(b"\n"):  # its checksum is right: not by that it is no reply
        changed = resealed(changed)
    store = journal(tmp_path, changed)
    stored = store.find(KeyTable.from_counts({KEY: 1}))
    assert (stored.count, stored.skipped) == (0, 1)


def test_a_short_key_is_not_ours(tmp_path: Path) -> None:
    complete = line(tmp_path, Reply(KEY, 0, "HTTP 400", status="error"))
    store = journal(tmp_path, complete.replace(KEY.encode(), b"abc"))
    assert store.errors() == {}


def test_what_follows_half_a_line_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails takes a part of one line; the next one is not glued to it."""
    write = os.write

    def full(file: int, content: bytes) -> int:
        if content.startswith(b'{"key'):
            return write(file, content[:20])
        raise OSError(5, "Input/output error")

    with Store(tmp_path, "m") as store:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(OSError, match="Input/output"):
                store.append(Reply(KEY, 0, "4"))
        store.append(Reply(KEY, 1, "5"))
    assert [row.text for row in Store(tmp_path, "m").read({KEY: 2}).values()] == ["5"]


def test_lines_are_counted_for_the_last_reading_alone(tmp_path: Path) -> None:
    stored = journal(tmp_path, b'{"a":1}\nnot ours\n').find(
        KeyTable.from_counts({KEY: 1})
    )
    for _ in range(2):
        stored.scan()
        assert stored.skipped == 2


def test_a_models_shard_is_a_single_folder_whatever_its_name(tmp_path: Path) -> None:
    with Store(tmp_path, "Org/Model 7B") as store:
        store.append(Reply(KEY, 0, "4"))
    assert [path.name for path in tmp_path.iterdir()] == ["org-model-7b"]
    assert Store(tmp_path, "Org/Model 7B").read({KEY: 1})


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_last_forgetting_counts_in_whatever_order_it_is_read(
    tmp_path: Path, names: str
) -> None:
    for name, attempt in zip(names, (1, 2), strict=True):
        journal(tmp_path, forgetting(KEY, 0, attempt), name)
    again = line(tmp_path, Reply(KEY, 0, "HTTP 400", status="error"))
    store = journal(tmp_path, sealed(json.loads(again) | {"attempt": 2}), "c")
    assert (store.read({KEY: 1}), store.forgotten) == ({}, {(KEY, 0): 2})


def test_errors_of_every_draw_are_detected(tmp_path: Path) -> None:
    with Store(tmp_path, "m") as store:
        for draw in range(3):
            store.append(Reply(KEY, draw, "HTTP 400", status="error" if draw else "ok"))
    assert set(Store(tmp_path, "m").errors()) == {(KEY, 1), (KEY, 2)}


# --- what reaches the disk ---


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> Synced:
    """Return (file, its size) at every fsync, while a clock counts quarter seconds."""
    collected: Synced = []
    clock = iter(range(8, 999))
    monkeypatch.setattr(
        os, "fsync", lambda file: collected.append((file, os.fstat(file).st_size))
    )
    ticking = SimpleNamespace(monotonic=lambda: next(clock) / 4, time=lambda: 0.0)
    monkeypatch.setattr("judgescope.replies.store.time", ticking)
    return collected


def test_the_disk_gets_lines_about_once_a_second(
    tmp_path: Path, synced: Synced
) -> None:
    with Store(tmp_path, "m") as store:
        for draw in range(20):
            store.append(Reply(KEY, draw, "4"))
        assert 3 <= len(synced) <= 6


@pytest.mark.parametrize("crash", [False, True])
def test_closing_brings_all_to_the_disk_whatever_happened(
    tmp_path: Path, synced: Synced, crash: bool
) -> None:
    try:
        with Store(tmp_path, "m") as store:
            store.append(Reply(KEY, 0, "4"))
            store.append(Reply(KEY, 1, "5"))
            if crash:
                raise RuntimeError("the engine broke")
    except RuntimeError:
        pass
    [written] = tmp_path.glob("m/*.jsonl")
    file, size = synced[-1]
    assert size == written.stat().st_size
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_a_closed_store_writes_a_new_journal(tmp_path: Path) -> None:
    store = Store(tmp_path, "m")
    for draw in range(2):
        with store:
            store.append(Reply(KEY, draw, "4"))
    assert len(list(tmp_path.glob("m/*.jsonl"))) == 2
    assert len(store.read({KEY: 2})) == 2


# --- obtain and retry ---


def fails(
    missing: Iterable[Work], _: bool, __: Callable[[Reply], None]
) -> list[Failure]:
    return [Failure(request.about, "HTTP 500") for request, _ in missing]


def test_equal_prompts_are_asked_in_a_single_order_and_five_failures_are_named(
    tmp_path: Path,
) -> None:
    """Roles make two requests of one prompt: the order must not be that of the
    cells.
    """
    requests = [
        Request({"messages": [{"role": role, "content": "Rate."}]}, about=role)
        for role in ("user", "system", "assistant", "tool", "developer", "critic")
    ]
    collected = []
    for order in (requests, requests[::-1]):
        with Store(tmp_path, "m") as store, pytest.raises(UserError) as error:
            obtain(order, AskingJob(store, fails))
        collected.append(error.value.where)
    assert collected[0] == collected[1] and len(set(collected[0].split(", "))) == 5


def test_passed_over_lines_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    obtain([], AskingJob(journal(tmp_path, b"not ours\n"), fails))
    assert "skipped" in capsys.readouterr().out
    obtain([], AskingJob(journal(tmp_path, b""), fails))
    assert "skipped" not in capsys.readouterr().out


def test_files_with_an_error_are_dropped_wherever_they_are(tmp_path: Path) -> None:
    paths = [
        tmp_path / text for text in ("replies/d/a", "replies/d/b", "made/a", "scores/a")
    ]
    for path, status in zip(paths, ("error", "ok", "error", "error"), strict=True):
        rows = [
            {"judge": "j", "draw": 0, "status": "ok"},
            {"judge": "j", "draw": 1, "status": status},
        ]
        write_table("answers", table_of("answers", rows), path.with_suffix(".parquet"))
    assert drop_answers(tmp_path) == 2
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.parquet")}
    assert left == {"replies/d/b.parquet", "scores/a.parquet"}
    assert drop_answers(tmp_path) == 0
