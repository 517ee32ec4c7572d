"""Replies that were lost from a store, or that are there and not used, are noticed."""

import gzip
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply
from judgescope.replies.compaction import (
    compact,
    forget_empty,
    forget_errors,
    merge,
)
from judgescope.replies.inspection import StoreFinding, stats, verify
from judgescope.replies.journal import closed_count
from judgescope.replies.lookup import KeyTable
from judgescope.replies.shard import files_of
from judgescope.replies.store import DAY, Store

KEYS = [f"{number:064x}" for number in range(4)]


def write(folder: Path, *, days: float = 2) -> Path:
    """Write the journal of a job that ended so many days ago, and return it."""
    with Store(folder, "Org/m") as store:
        store.ready()
        for key in KEYS:
            path = store.append(Reply(key, 0, "Rating: 4")).path
    age(path, days)
    return path


def age(path: Path, days: float = 2) -> None:
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def findings(folder: Path) -> list[StoreFinding]:
    return list(verify(folder))


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_a_journal_ends_with_its_number_of_lines(tmp_path: Path) -> None:
    path = write(tmp_path)
    *replies, last = lines_of(path)
    assert len(replies) == closed_count(last) == 4
    stored = Store(tmp_path, "Org/m").find(KeyTable.from_counts(dict.fromkeys(KEYS, 1)))
    assert (stored.count, stored.skipped) == (4, 0)
    assert stats(path.parent).skipped == 0 and findings(path.parent) == []
    assert len(compact(path.parent).removed) == 1
    assert findings(path.parent) == []


@pytest.mark.parametrize("lost", [[0], [1, 2], [3], [0, 1, 2, 3]])
def test_lines_that_were_cut_out_are_an_error_of_verify_and_stop_no_run(
    tmp_path: Path, lost: list[int]
) -> None:
    path = write(tmp_path)
    lines = lines_of(path)
    left = [line for number, line in enumerate(lines) if number not in lost]
    path.write_bytes(b"".join(left))
    age(path)
    [finding] = findings(path.parent)
    assert finding.wrong and finding.where == str(path)
    assert finding.message.endswith(f"{len(lost)} lines were lost")
    Store(tmp_path, "Org/m").ready()
    assert path in compact(path.parent).left


def test_lines_that_were_added_are_an_error_of_verify(tmp_path: Path) -> None:
    path = write(tmp_path)
    *replies, last = lines_of(path)
    path.write_bytes(b"".join([*replies, replies[0], last]))
    [finding] = findings(path.parent)
    assert finding.wrong and finding.message.endswith("1 lines were added")
    path.write_bytes(b"".join([*replies, last, replies[0]]))
    [finding] = findings(path.parent)
    assert finding.wrong and finding.where == f"{path}:5"


@pytest.mark.parametrize("size", [0, 2])
def test_an_old_journal_without_its_end_is_noted(tmp_path: Path, size: int) -> None:
    """Cut at a line's end, or empty: what a killed job leaves looks the same."""
    path = write(tmp_path)
    path.write_bytes(b"".join(lines_of(path)[:size]))
    assert findings(path.parent) == []
    age(path)
    [finding] = findings(path.parent)
    assert not finding.wrong and "no closing line" in finding.message
    Store(tmp_path, "Org/m").ready()


def nuls_at_the_end(content: bytes) -> bytes:
    return content[:-100] + bytes(100)


def a_line_of_nuls(content: bytes) -> bytes:
    first, _, rest = content.partition(b"\n")
    return bytes(len(first)) + b"\n" + rest


def nuls_after_half_a_line(content: bytes) -> bytes:
    return content[:30] + bytes(30)


@pytest.mark.parametrize(
    "damage", [nuls_at_the_end, a_line_of_nuls, nuls_after_half_a_line]
)
def test_nul_bytes_are_damage(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = write(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    wrong = [each for each in findings(path.parent) if each.wrong]
    assert "NUL bytes" in wrong[0].message and wrong[0].where.startswith(f"{path}:")
    with pytest.raises(UserError, match="no request was sent") as error:
        Store(tmp_path, "Org/m").ready()
    assert wrong[0].where in error.value.where
    assert path in compact(path.parent, now=time.time() + 2 * DAY).left


def test_a_packed_journal_is_named_and_nothing_is_requested(tmp_path: Path) -> None:
    path = write(tmp_path)
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    [finding] = findings(path.parent)
    assert (
        finding.wrong and finding.where == str(packed) and "unpack" in finding.message
    )
    with pytest.raises(UserError, match="packed") as error:
        Store(tmp_path, "Org/m").ready()
    assert error.value.where == str(packed)
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    Store(tmp_path, "Org/m").ready()


def test_a_renamed_folder_is_named_and_nothing_is_requested(tmp_path: Path) -> None:
    path = write(tmp_path)
    renamed = path.parent.rename(tmp_path / "old")
    [finding] = findings(renamed)
    assert finding.wrong and finding.where == str(renamed)
    assert "Org/m" in finding.message and "rename it to org-m" in finding.message
    with pytest.raises(UserError, match="renamed") as error:
        Store(tmp_path, "Org/m").ready()
    assert error.value.where == str(renamed) and "org-m" in error.value.todo
    Store(tmp_path, "another").ready()  # its replies are in a folder of their own
    with pytest.raises(UserError, match="renamed"):
        Store(tmp_path, "old").ready()
    renamed.rename(path.parent)
    assert findings(path.parent) == []
    Store(tmp_path, "Org/m").ready()


def test_a_copy_of_a_folder_stops_no_run(tmp_path: Path) -> None:
    path = write(tmp_path)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in (path.name, "shard.json"):
        (copy / name).write_bytes((path.parent / name).read_bytes())
    assert [each.where for each in findings(copy)] == [str(copy)]
    Store(tmp_path, "Org/m").ready()


def test_a_damaged_name_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path)
    named = path.with_name("shard.json")
    named.write_text("{", "utf-8")
    [finding] = findings(path.parent)
    assert finding.wrong and finding.where == str(named)
    named.unlink()
    assert findings(path.parent) == []


def test_imported_replies_and_retries_end_with_a_closing_line(tmp_path: Path) -> None:
    path = write(tmp_path)
    compact(path.parent)
    [packed] = [path for path in files_of(path.parent) if path.suffix == ".parquet"]
    merge(packed, tmp_path / "other")
    [copy] = files_of(tmp_path / "other" / "org-m")
    assert closed_count(lines_of(copy)[-1]) == 4
    assert findings(copy.parent) == []


@pytest.mark.parametrize("empty", [True, False])
def test_marks_to_request_replies_again_end_with_a_closing_line(
    tmp_path: Path, *, empty: bool
) -> None:
    write(tmp_path)
    with Store(tmp_path, "Org/m") as store:
        if empty:
            forget_empty(store, [(KEYS[0], 0)])
        else:
            store.append(Reply(KEYS[1], 1, "HTTP 400: no", "error", "error"))
            forget_errors(store)
    last = [lines_of(path)[-1] for path in files_of(tmp_path / "org-m")]
    assert None not in map(closed_count, last) and len(last) == 2
    assert findings(tmp_path / "org-m") == []


def test_a_job_that_fails_leaves_no_closing_line(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Store(tmp_path, "Org/m") as store:
        store.ready()
        path = store.append(Reply(KEYS[0], 0, "Rating: 4")).path
        raise KeyboardInterrupt
    assert len(lines_of(path)) == 1


def test_a_full_disk_at_the_end_loses_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bytes = os.write

    def full(file: int, line: bytes) -> int:
        if closed_count(line) is None:
            return write_bytes(file, line)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    path = write(tmp_path)
    assert len(lines_of(path)) == 4
    [finding] = findings(path.parent)
    assert not finding.wrong and "no closing line" in finding.message
