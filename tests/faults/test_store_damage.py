"""A byte of a stored reply that was changed is noticed, named, and never paid for in
silence.
"""

import os
import subprocess
import time
from pathlib import Path

import pytest

from jobs import Job
from judgescope.cli.commands import add_replies
from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply
from judgescope.replies.compaction import compact
from judgescope.replies.inspection import verify
from judgescope.replies.journal import is_damaged
from judgescope.replies.shard import files_of
from judgescope.replies.store import DAY, Store
from scripted import Body, Said, reply, serve
from waiting import patience

KEYS = [f"{number:064x}" for number in range(3)]
TEXTS = ["Rating: 4", "Rating: 5", "é"]


def journal(folder: Path) -> Path:
    with Store(folder, "m") as store:
        for key, text in zip(KEYS, TEXTS, strict=True):
            path = store.append(
                Reply(key, 0, text, usage={"prompt": 7, "completion": 3})
            ).path
    return path


def read(folder: Path) -> list[str]:
    return [
        row.text for row in Store(folder, "m").read(dict.fromkeys(KEYS, 1)).values()
    ]


@pytest.mark.simulation
@pytest.mark.parametrize("change", [1, 32, 128])
def test_changed_byte_of_a_journal_misreads_no_reply_and_its_line_is_named(
    tmp_path: Path, change: int
) -> None:
    path = journal(tmp_path)
    content = path.read_bytes()
    assert read(tmp_path) == TEXTS
    Store(tmp_path, "m").ready()
    for at in range(
        len(content) - 1
    ):  # without its last byte, a line is one that was cut short
        path.write_bytes(
            content[:at] + bytes([content[at] ^ change]) + content[at + 1 :]
        )
        line = content.count(b"\n", 0, at) + 1
        result = read(tmp_path)
        assert set(result) < set(TEXTS), at
        assert f"{path}:{line}" in {
            error.where for error in verify(tmp_path / "m") if error.wrong
        }, at
        with pytest.raises(UserError, match="no request was sent") as error:
            Store(tmp_path, "m").ready()
        assert f"{path}:{line}" in error.value.where, at


@pytest.mark.long(8)
@pytest.mark.heavy
def test_a_line_that_was_cut_short_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a process that was killed, or by a disk that failed for a moment."""
    content = journal(tmp_path).read_bytes()
    for size in range(len(content)):
        (tmp_path / "m" / "a.jsonl").write_bytes(content[:size])
        Store(tmp_path, "m").ready()
    write = os.write
    with Store(tmp_path, "m") as store:
        with monkeypatch.context() as patch:
            patch.setattr(
                os, "write", lambda file, line: write(file, line[:20]) and 1 / 0
            )
            with pytest.raises(ZeroDivisionError):
                store.append(Reply(KEYS[0], 1, "5"))
        store.append(Reply(KEYS[0], 1, "6"))
    assert Store(tmp_path, "m").read({KEYS[0]: 2})[KEYS[0], 1].text == "6"
    Store(tmp_path, "m").ready()
    assert not [each for each in verify(tmp_path / "m") if each.wrong]


def test_a_line_whose_rest_arrives_while_it_is_read_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    findings = verify(tmp_path / "m")
    assert not next(findings).wrong  # incomplete
    path.write_bytes(content)
    assert list(findings) == []

    def written_meanwhile(line: bytes) -> bool:
        path.write_bytes(content)
        return is_damaged(line)

    path.write_bytes(content[:-20])
    monkeypatch.setattr("judgescope.replies.inspection.is_damaged", written_meanwhile)
    Store(tmp_path, "m").ready()


def rate(_: Body) -> Said:
    return reply("Rating: 4")


@pytest.mark.heavy
def test_a_damaged_reply_is_asked_for_again_when_somebody_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(rate) as endpoint:
        job = Job(tmp_path, 20, base_url=endpoint.url)

        def ask() -> tuple[int, str]:
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            process = job.start(job.spec(), **streams)
            text = str(process.communicate(timeout=patience(120))[0], "utf-8")
            return process.returncode, text

        assert ask()[0] == 0 and len(endpoint.asked) == 20
        [path] = tmp_path.glob("store/static/*.jsonl")
        path.write_bytes(path.read_bytes().replace(b"Rating: 4", b"Rating: 5", 1))
        status, output = ask()
        assert status == 1 and "Traceback" not in output and len(endpoint.asked) == 20
        assert f"{path}:1" in output and "verify --drop" in output
        told_of = ["--store", str(tmp_path / "store")]
        assert (
            _command("verify", *told_of) == 1
            and f"{path}:1: " in capsys.readouterr().out
        )
        assert ask()[0] == 1 and len(endpoint.asked) == 20
        _command("verify", "--drop", *told_of)
        assert "1 damaged lines dropped" in capsys.readouterr().out
        assert ask()[0] == 0 and len(endpoint.asked) == 21


def _command(*words: str) -> int:
    """Do `judgescope replies …`."""
    import argparse

    parser = argparse.ArgumentParser()
    add_replies(parser.add_subparsers())
    result = parser.parse_args(["replies", *words])
    return int(result.act(result))


def test_a_compacted_file_that_was_cut_is_made_again_from_journals_that_exist(
    tmp_path: Path,
) -> None:
    journal(tmp_path)  # of today: it stays
    compact(tmp_path / "m")
    [made] = [path for path in files_of(tmp_path / "m") if path.suffix == ".parquet"]
    content = made.read_bytes()
    for size in (0, 4, len(content) // 2, len(content) - 1):
        made.write_bytes(content[:size])
        assert read(tmp_path) == TEXTS
        [finding] = verify(tmp_path / "m")
        assert (
            finding.wrong
            and finding.where == str(made)
            and "compact" in finding.message
        )
    compact(tmp_path / "m")
    [again] = [path for path in files_of(tmp_path / "m") if path.suffix == ".parquet"]
    assert again.read_bytes() == content and not made.exists()
    assert list(verify(tmp_path / "m")) == []


def test_a_compacted_file_whose_journals_are_gone_is_named(tmp_path: Path) -> None:
    journal(tmp_path)
    compact(tmp_path / "m")
    compact(tmp_path / "m", now=time.time() + 2 * DAY)
    [only] = files_of(tmp_path / "m")
    assert read(tmp_path) == TEXTS
    only.write_bytes(only.read_bytes()[:-9])
    with pytest.raises(UserError, match="cannot be read") as error:
        read(tmp_path)
    assert error.value.where == str(only) and "backup" in error.value.todo


@pytest.mark.heavy
def test_whatever_byte_of_a_compacted_file_is_changed_no_reply_is_misread(
    tmp_path: Path,
) -> None:
    journal(tmp_path)
    compact(tmp_path / "m", now=time.time() + 2 * DAY)
    [only] = files_of(tmp_path / "m")
    content = only.read_bytes()
    for at in range(0, len(content), 7):
        only.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            assert read(tmp_path) == TEXTS, at
        except UserError as error:
            assert error.where == str(only)
