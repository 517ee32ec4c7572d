"""What the machine does to a job: limits, clocks, cut files, lines of a newer version.

Whole runs meet such faults in test_run_faults.py; a full disk under a store is in
test_store.py.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.exceptions import LockException

import programs
from jobs import Job
from judgescope.core.errors import UserError
from judgescope.engines.factory import asking
from judgescope.engines.requests import Reply, Work
from judgescope.plan.jobs import of_machine
from judgescope.replies.compaction import compact
from judgescope.replies.inspection import verify
from judgescope.replies.journal import line_of, sealed
from judgescope.replies.shard import CompactedLine, write_compacted
from judgescope.replies.store import DAY, Store
from judgescope.schema.tables import SCHEMAS, read_table, table_of, write_table
from running import HOME
from scripted import Body, Endpoint, Said, reply, serve
from snakemake_logger_plugin_judgescope import reasons
from waiting import patience

KEY = "0" * 64


# --- limits ---


def rate(_: Body) -> Said:
    return reply("Rating: 4")


def small_files() -> None:
    """Let no file of this process grow beyond a megabyte."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))


def asked(folder: Path, limit: Callable[[], None] | None) -> tuple[int, str, Endpoint]:
    """Run an asking job under a limit; return its status, what it said, and who was
    asked.
    """
    with serve(rate) as endpoint:
        job = Job(
            folder, 40, base_url=endpoint.url, limits={"concurrency": 4, "attempts": 1}
        )
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        process = job.start(job.spec(), preexec_fn=limit, **streams)
        out, _ = process.communicate(timeout=patience(120))
    return process.returncode, str(out, "utf-8"), endpoint


@pytest.mark.heavy
def test_replies_that_could_not_be_kept_are_not_asked_for(tmp_path: Path) -> None:
    """No room for a journal: by a limit on files, or with a file where the store should
    be.
    """
    status, result, endpoint = asked(tmp_path, small_files)
    assert status == 1 and "Traceback" not in result and not endpoint.asked
    assert (
        "larger than the limit of this machine (ulimit -f)" in result
        and "run again" in result
    )
    (tmp_path / "store").rename(tmp_path / "there")
    (tmp_path / "store").write_text("no folder")
    status, result, endpoint = asked(tmp_path, None)
    assert status == 1 and "Traceback" not in result and not endpoint.asked
    assert "where a folder should be" in result and str(tmp_path / "store") in result
    (tmp_path / "store").unlink()
    status, result, endpoint = asked(tmp_path, None)
    assert status == 0 and len(endpoint.asked) == 40


def test_a_job_that_asked_for_nothing_in_vain_leaves_no_journal(tmp_path: Path) -> None:
    with Store(tmp_path, "m") as store:
        store.ready()
        assert len(list(tmp_path.glob("m/*.jsonl"))) == 1
    assert not list(tmp_path.glob("m/*"))


GREEDY = """
import resource, sys
from judgescope.plan.jobs import run
from msgspec import Struct
class Spec(Struct):
    pass
def main(spec: Spec):
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
    bytearray(1 << 30)
run(main)
"""


@pytest.mark.heavy
def test_no_memory_is_stated_in_a_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GREEDY, "--spec", "-"],
        input=b"{}",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(HOME / "scripts")},
        check=False,
    )
    text = done.stderr.decode()
    assert (
        done.returncode == 1
        and text.startswith("out of memory")
        and "--cores 1" in text
    )


def test_what_is_no_fault_of_the_machines_keeps_its_traceback() -> None:
    assert of_machine(ConnectionResetError(104, "reset by peer")) is None
    assert of_machine(OSError("no number")) is None


# --- clocks ---


def test_whatever_the_clocks_do_no_reply_is_lost_to_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that slept for two days, then a clock that is set: forth, back, and
    forth again.
    """
    clock = {"monotonic": 100.0, "time": time.time()}
    ticking = SimpleNamespace(**{name: lambda name=name: clock[name] for name in clock})
    monkeypatch.setattr("judgescope.replies.store.time", ticking)
    with Store(tmp_path, "m") as store:
        for draw, jump in enumerate((0, 2 * DAY, -9 * DAY, 30 * DAY)):
            clock["monotonic"], clock["time"] = (
                clock["monotonic"] + 1,
                clock["time"] + jump,
            )
            compact(tmp_path / "m", now=clock["time"])
            store.append(Reply(KEY, draw, f"reply {draw}"))
    result = Store(tmp_path, "m").read({KEY: 4})
    assert [each.text for each in result.values()] == [
        f"reply {draw}" for draw in range(4)
    ]


# --- cut files ---


def row(name: str) -> dict[str, Any]:
    """Return a row of a table with something in every column of text."""
    texts = [column.name for column in SCHEMAS[name] if str(column.type) == "string"]
    return dict.fromkeys(texts, "some text of a column")


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_table_that_was_cut_anywhere_is_named_with_what_to_do(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "table.parquet"
    write_table(name, table_of(name, [row(name)]), path)
    content = path.read_bytes()
    assert read_table(name, path).num_rows == 1
    for size in {
        *range(0, len(content), 97),
        0,
        3,
        4,
        8,
        len(content) - 1,
        len(content) - 9,
    }:
        path.write_bytes(content[:size])
        with pytest.raises(UserError) as error:
            read_table(name, path)
        assert error.value.where == str(path) and "run again" in error.value.todo


def test_a_compacted_file_that_was_cut_anywhere_stops_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m" / "a.parquet"
    lines = (
        CompactedLine("m", bytes(32), draw, line_of(Reply(KEY, draw, "4")))
        for draw in range(50)
    )
    assert write_compacted(path, lines) == 50
    content = path.read_bytes()
    for size in {*range(0, len(content), 41), len(content) - 1}:
        path.write_bytes(content[:size])
        with pytest.raises(UserError, match="cannot be read") as error:
            Store(tmp_path, "m").read({KEY: 50})
        assert error.value.where == str(path) and "backup" in error.value.todo


@pytest.mark.heavy
def test_a_full_disk_while_a_program_answers_is_a_plain_error(tmp_path: Path) -> None:
    model = programs.card(tmp_path, batch=1, workers=2)
    work = [Work(request, (0,)) for request in programs.requests(model, "a", "b")]

    def full(_: Reply) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError) as error:
        asking(model)(work, False, full)
    assert str(of_machine(error.value)).startswith("the disk is full")


@pytest.mark.heavy
def test_a_table_that_finds_no_room_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        assert list(tmp_path.iterdir())  # the file is open, and has its first bytes
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("judgescope.schema.tables.pq.ParquetWriter.write_table", full)
    with pytest.raises(OSError) as error:
        write_table(
            "items", table_of("items", [row("items")]), tmp_path / "items.parquet"
        )
    message = str(of_machine(error.value))
    assert (
        message.startswith("the disk is full")
        and str(tmp_path / "items.parquet") in message
    )
    assert not list(tmp_path.iterdir())


# --- what a newer version wrote ---

NEWER = {
    "why": sealed({"key": KEY, "draw": 0, "forget": 1, "why": "x"}),
    "format": sealed({"key": KEY, "draw": 0, "format": 2, "body": "4"}),
    "signed": sealed(json.loads(line_of(Reply(KEY, 0, "4"))) | {"signed": True}),
}


@pytest.mark.parametrize(("field", "line"), NEWER.items())
def test_a_reply_of_a_newer_version_is_refused_and_neither_misread_nor_removed(
    tmp_path: Path, field: str, line: bytes
) -> None:
    with Store(tmp_path, "m") as store:
        store.append(Reply("1" * 64, 0, "5"))
    newer = tmp_path / "m" / "newer.jsonl"
    newer.write_bytes(line)
    with pytest.raises(UserError, match="newer version of Judgescope") as error:
        Store(tmp_path, "m").read({KEY: 1})
    assert field in str(error.value.got) and "no request was sent" in error.value.todo
    [finding] = verify(tmp_path / "m")
    assert finding.wrong and field in finding.message and finding.where == f"{newer}:1"
    assert set(Store(tmp_path, "m").read({"1" * 64: 1})) == {("1" * 64, 0)}, (
        "other keys are ours"
    )
    compact(tmp_path / "m", now=time.time() + 9 * DAY)
    assert newer.read_bytes() == line


def test_a_compacted_file_of_a_newer_version_is_not_to_be_deleted(
    tmp_path: Path,
) -> None:
    rows = table_of("items", [row("items")])
    write_table("items", rows, tmp_path / "m" / "newer.parquet")
    with pytest.raises(UserError, match="of this version") as error:
        Store(tmp_path, "m").read({KEY: 1})
    assert "the version of Judgescope that wrote it" in error.value.todo


# --- what Snakemake says ---

CLOCK = (
    "WorkflowError in rule ingest:\nOutput out.parquet has older modification time "
    "(2026-11-23 02:57:39) than input data/a.jsonl (2026-12-03 02:57:37). This could "
    "indicate a clock skew"
)


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        (
            str(LockException()),
            ["already running in this folder", "killed", "--unlock"],
        ),
        (CLOCK, ["data/a.jsonl is newer", "2026-12-03", "touch"]),
        (
            "Traceback …\nRuntimeError: can't start new thread",
            ["memory or processes", "ulimit"],
        ),
        (
            "Error recording metadata ([Errno 28] No space left on device).",
            ["the disk is full"],
        ),
        (
            "Traceback …\nNotADirectoryError: [Errno 20] Not a directory: 'results'",
            ["'results'"],
        ),
        (
            "PermissionError: [Errno 13] Permission denied: 'results/x'",
            ["no permission to read or write", "grant the permission"],
        ),
    ],
)
def test_what_snakemake_says_of_the_machine_is_a_cause_and_a_remedy(
    message: str, parts: list[str]
) -> None:
    result = reasons.reason(message)
    assert "Traceback" not in result and "  do:" in result
    assert not [part for part in parts if part not in result], result


def test_the_mistakes_of_a_study_are_reported_as_they_are() -> None:
    text = 'WorkflowError\nthe study cannot run\n\n[Errno 13] of a card\n  File "x.smk"'
    assert reasons.reason(text) == "the study cannot run\n\n[Errno 13] of a card"
    assert reasons.reason("something else") == "something else"
