"""The server that a job starts ends with the job; a program stands in for vLLM's."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import running
from judgescope.core.errors import UserError
from judgescope.engines.process_reaper import Guard
from judgescope.engines.requests import Failure, Reply, Request, Work, request_of
from judgescope.engines.served import ServedEngine
from judgescope.engines.vllm import Server
from judgescope.engines.vllm_scores import VllmScorer
from judgescope.schema.cards import Decoding, VllmModel
from waiting import patience

STAND_IN = running.HOME / "tests" / "support" / "vllm_stand_in.py"
CARD = {
    "model": "it",
    "engine": "vllm",
    "name": "it",
    "path": "weights",
    "mode": "served",
}
SECONDS = 30
"""More than anything here takes."""
ALL = 3
"""Processes of the stand-in: itself, a fork, and one in a session of its own."""

JOB = """
import sys, time
sys.path[:0] = {paths!r}
from test_served import ask, engine
print(ask(engine("well"))[0][0].text, flush=True)
{then}
"""
HOLD = "time.sleep(60)"


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "pids"
    folder.mkdir()
    monkeypatch.setenv("PIDS", str(folder))
    return folder


def engine(how: str, **keys: Any) -> ServedEngine:
    card = VllmModel.model_validate(CARD | {"start_timeout": SECONDS} | keys)
    return ServedEngine(
        card,
        lambda: Server(card, [sys.executable, str(STAND_IN), how]),
        scorer=VllmScorer,
    )


def running_server(served: ServedEngine) -> Server:
    assert isinstance(served.server, Server)
    return served.server


def ask(served: ServedEngine, draws: int = 1) -> tuple[list[Reply], list[Failure]]:
    messages = [{"role": "user", "content": "Rate it."}]
    request: Request = request_of(
        served.card, Decoding(temperature=1), messages, seed=0
    )
    collected: list[Reply] = []
    failures = served([Work(request, tuple(range(draws)))], True, collected.append)
    return collected, failures


def processes(folder: Path) -> set[int]:
    """Return the processes of the stand-in that still run."""
    noted = {int(path.name) for path in folder.glob("[0-9]*")}
    return {
        pid
        for pid in noted
        if (Path("/proc") / str(pid) / "environ").exists() and _runs(pid)
    }


def _runs(pid: int) -> bool:
    try:
        status = (Path("/proc") / str(pid) / "stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + patience(SECONDS)
    while not what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def job(then: str) -> subprocess.Popen[str]:
    """Start a job that asks its server something and goes on with `then`."""
    paths = [
        running.HOME / "scripts",
        running.HOME / "tests" / "support",
        Path(__file__).parent,
    ]
    code = JOB.format(paths=[str(path) for path in paths], then=then)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )


def test_a_server_is_started_once_and_asked_with_its_key(pids: Path) -> None:
    served = engine("well")
    assert not list(pids.iterdir())
    result, failures = ask(served, draws=3)
    assert [(reply.draw, reply.text) for reply in result] == [
        (0, "4"),
        (1, "4"),
        (2, "4"),
    ]
    assert not failures
    assert result[0].provenance == {"engine": "vllm", "model": "it", "version": "0.0"}
    until(lambda: len(processes(pids)) == ALL)
    before = processes(pids)
    ask(served)
    assert processes(pids) == before
    running_server(served)._guard.close()
    assert not processes(pids)


def test_a_server_receives_no_key_of_another(
    pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {
        "OPENAI_API_KEY": "planted-1",
        "DB_PASSWORD": "planted-2",
        "HF_TOKEN": "planted-3",
    }
    keys |= {
        "DATABASE": "planted://me:planted@here/db",
        "HTTPS_PROXY": "planted://me:it@here",
    }
    for name, value in {
        **keys,
        "CUDA_HOME": "planted-4",
        "VLLM_API_KEY": "planted-5",
    }.items():
        monkeypatch.setenv(name, value)
    served = engine("well")
    ask(served)
    until(lambda: len(processes(pids)) == ALL)
    for pid in processes(pids):
        seen = (Path("/proc") / str(pid) / "environ").read_bytes().split(b"\0")
        result = dict(line.split(b"=", 1) for line in seen if b"=" in line)
        assert {value for value in result.values() if value.startswith(b"planted")} == {
            b"planted-3",
            b"planted-4",
            b"planted://me:it@here",
        }
        assert result[b"VLLM_API_KEY"]
    running_server(served)._guard.close()


@pytest.mark.heavy
def test_copies_of_a_model_get_512_requests_each(
    pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setenv("CROWD", "1024")
    served = engine("crowded", data_parallel=2)
    work = []
    for number in range(1100):
        messages = [{"role": "user", "content": f"Rate text {number}."}]
        request = request_of(served.card, Decoding(temperature=1), messages, seed=0)
        work.append(Work(request, (0,)))
    replies: list[Reply] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))
    try:
        failures = served(work, True, replies.append)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not failures
    assert {reply.status for reply in replies} == {"ok"}
    assert len(replies) == 1100
    assert (pids / "most").read_text() == "1024"
    running_server(served)._guard.close()


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_job_leaves_no_process(pids: Path, number: int) -> None:
    """Nor one that has left its session and lost its parent."""
    with job(HOLD) as started:
        assert started.stdout is not None and started.stdout.readline() == "4\n"
        until(lambda: len(processes(pids)) == ALL)
        started.send_signal(number)
    until(lambda: not processes(pids))


@pytest.mark.heavy
@pytest.mark.parametrize(("then", "status"), [("pass", 0), ("raise SystemError", 1)])
def test_the_server_is_gone_when_the_job_is(pids: Path, then: str, status: int) -> None:
    """The next job may need its memory: the job waits for the end."""
    with job(then) as started:
        assert started.wait(patience(SECONDS)) == status
        assert list(pids.iterdir()) and not processes(pids)


@pytest.mark.heavy
def test_what_will_not_end_is_ended(pids: Path) -> None:
    guard = Guard(patience=0.5)
    line = ["--port", "0", "--served-model-name", "it", "--host", "x"]
    environment = {**os.environ, **guard.environment, "VLLM_API_KEY": "x"}
    subprocess.Popen(
        [sys.executable, str(STAND_IN), "stubborn", *line], env=environment
    )
    until(lambda: len(processes(pids)) == ALL)
    guard.close()
    assert not processes(pids)


@pytest.mark.heavy
def test_a_guard_ends_nothing_that_is_not_its_own(pids: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as other:
        Guard().close()
        assert other.poll() is None


@pytest.mark.heavy
def test_a_server_that_does_not_start_is_an_error_at_once(pids: Path) -> None:
    with pytest.raises(UserError, match="its exit status is 1"):
        ask(engine("broken"))


@pytest.mark.heavy
def test_a_server_that_is_never_ready_is_given_up(pids: Path) -> None:
    with pytest.raises(UserError, match="not ready after 2 s"):
        ask(engine("deaf", start_timeout=2))
    assert not processes(pids)


@pytest.mark.heavy
def test_a_port_that_was_lost_is_given_up_for_another(pids: Path) -> None:
    result, _ = ask(engine("late"))
    assert [each.text for each in result] == ["4"]


@pytest.mark.heavy
def test_a_server_that_dies_is_named_and_not_its_address(pids: Path) -> None:
    served = engine("well", limits={"attempts": 1, "backoff": 0.01})
    ask(served)
    running_server(served)._child.kill()
    running_server(served)._child.wait()
    with pytest.raises(
        UserError, match="the vLLM server is not running: its exit status is -9"
    ):
        ask(served)
    assert not processes(pids)
