"""Places at an endpoint: jobs of one machine share a card's concurrency, whatever
dies.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from engines_openai_setup import card, requests
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.rate import Places
from judgescope.engines.requests import Reply, Work
from scripted import Body, Endpoint, Said, prompt_of, reply, serve
from waiting import patience

URL = "http://127.0.0.1:1/v1"
Fork = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    return tmp_path


class Other:
    """Places of another process, which does what it is told."""

    def __init__(self, limit: int = 8, address: str = URL) -> None:
        self.pipe, theirs = Fork.Pipe()
        self.process = Fork.Process(target=self._serve, args=(theirs, address, limit))
        self.process.start()
        assert self.pipe.recv() == "ready"

    @staticmethod
    def _serve(pipe: Connection, address: str, limit: int) -> None:
        places = Places(address, limit)
        pipe.send("ready")
        while (result := pipe.recv()) is not None:
            pipe.send(places.balance(*result))

    def balance(self, under_way: int, wanted: int = 100) -> int:
        self.pipe.send((under_way, wanted))
        result: int = self.pipe.recv()
        return result

    def end(self) -> None:
        self.process.kill()
        self.process.join(patience(10))


@pytest.fixture
def other() -> Iterator[Callable[..., Other]]:
    started: list[Other] = []

    def start(*arguments: Any) -> Other:
        started.append(Other(*arguments))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_two_jobs_share_and_neither_is_ever_beside_the_bound(
    other: Callable[..., Other],
) -> None:
    mine, its = Places(URL, 8), other()
    assert mine.balance(0, 100) == 4  # the other is there, and may want them
    assert its.balance(0) == 4
    its.end()
    assert mine.balance(4, 100) == 8
    late = other()
    assert late.balance(0) == 0  # all are in use
    assert mine.balance(8, 100) == 4 and late.balance(0) == 0
    assert mine.balance(6, 100) == 4 and late.balance(0) == 2
    assert mine.balance(4, 100) == 4 and late.balance(2) == 4
    mine.close()


def test_a_job_near_its_end_leaves_what_it_does_not_need(
    other: Callable[..., Other],
) -> None:
    mine, its = Places(URL, 8), other()
    assert mine.balance(1, 1) == 1 and its.balance(0) == 4
    mine.close()
    assert its.balance(4) == 8


def test_other_endpoints_share_nothing_and_a_slash_makes_no_other(
    other: Callable[..., Other],
) -> None:
    mine = Places(URL, 8)
    other(8, "http://127.0.0.1:2/v1").balance(0)
    assert mine.balance(0, 100) == 8
    other(8, URL + "/").balance(0)
    assert mine.balance(0, 100) == 4
    mine.close()


def test_a_card_that_allows_fewer_gets_its_part(other: Callable[..., Other]) -> None:
    mine = Places(URL, 16)
    assert mine.balance(0, 100) == 16
    few = other(4)
    assert mine.balance(8, 100) == 8 and few.balance(0) == 2
    mine.close()


def test_a_folder_of_somebody_else_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    (folder / f"judgescope-{os.getuid()}").symlink_to(folder / "elsewhere")
    with pytest.raises(PermissionError):
        Places(URL, 1)


def asking(endpoint: Endpoint, name: str, begin: Barrier | None = None) -> None:
    """Ask 40 things, eight at once if nobody else does; `begin` when the others do."""
    model = card(endpoint, limits={"concurrency": 8, "timeout": 60})
    asked = requests(model, *(f"{name}{number}" for number in range(40)))
    came: list[Reply] = []
    if begin:
        begin.wait(patience(60))
    OpenAIEngine(model)([Work(each, (0,)) for each in asked], False, came.append)
    assert len(came) == 40


@pytest.mark.heavy
def test_two_asking_jobs_never_have_more_under_way_than_the_card_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("judgescope.engines.openai.run.BALANCE_SECONDS", 0.01)
    lock, now, peak, order = threading.Lock(), 0, 0, list[str]()

    def count(body: Body) -> Said:
        nonlocal now, peak
        with lock:
            now, peak = now + 1, max(peak, now + 1)
            order.append(prompt_of(body)[0])
        time.sleep(0.03)
        with lock:
            now -= 1
        return reply("4")

    with serve(count) as endpoint:
        begin = Fork.Barrier(2)
        jobs = [
            Fork.Process(target=asking, args=(endpoint, name, begin)) for name in "ab"
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join(patience(60))
            assert job.exitcode == 0
    assert peak <= 8 and len(order) == 80
    assert 5 <= order[:40].count("a") <= 35  # neither waits for the other's end


def test_where_files_cannot_be_locked_the_job_says_so_and_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr("judgescope.engines.openai.rate.fcntl.lockf", fail)
    with serve(lambda _: reply("4")) as endpoint:
        asking(endpoint, "a")
    assert "not shared" in capsys.readouterr().out
