"""One small study with every stage, and its life: killed in any, started again,
compared.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import running
from asking import DEMO, FAST, WRITING, AskedStudy
from scripted import Body, Endpoint, Said, prompt_of, reply, serve, text_in
from study import Study
from waiting import patience

ITEMS, STEPS, CONCURRENCY = 8, 2, 2
PACE = 0.04
"""Seconds of an answer, so that what asks lasts long enough to be killed in it."""
SETTLE = 0.5
"""Seconds until what was on its way has arrived, also where others use the machine."""
LONGEST = 1.5
"""Seconds of a job that are waited for at most; most jobs end before."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """One endpoint for all lives."""
    with serve(answer) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint) -> "Life":
    """Return a life without any fault: what was sent is what was asked for, and is
    kept.
    """
    life = Life(tmp_path_factory.mktemp("undisturbed"), endpoint)
    life.end()
    assert len(endpoint.asked) == life.distinct == life.study.journalled()
    return life


class Stage(NamedTuple):
    """The names of a stage's jobs, how many of these there are at least, and
    requests.
    """

    names: tuple[str, ...]
    jobs: int = 1
    requests: int = 0


STAGES = {
    "ingest": Stage(("ingest", "read_ratings"), 2),
    "perturb": Stage(("perturb",), 2),
    "inject": Stage(("write_texts",), requests=ITEMS * STEPS),
    "ask": Stage(("ask",), requests=ITEMS * (3 + STEPS)),
    "score": Stage(("score",)),
    "statistics": Stage(("collect", "statistics", "tables"), 8),
    "report": Stage(("report", "judge_card"), 2),
}
"""In the order of a run."""
RUN = ("judgescope", "run")
TOO_LONG = 300.0
"""Seconds after which a run that waits for something is no longer waited for."""
DATA = {"items": "dialogue_items.jsonl", "data": "dialogue_outputs.jsonl"}


def answer(body: Body) -> Said:
    """Add an error to a text, or rate one: the same to the same request, at a human
    pace.
    """
    time.sleep(PACE)
    prompt = prompt_of(body)
    if WRITING not in prompt:
        return reply(f"Rating: {1 + body['seed'] % 5}")
    return reply(text_in(prompt).split("\n\n")[0] + " Wrong!")


def small_study(folder: Path, endpoint: Endpoint) -> AskedStudy:
    """Write a study that ingests, perturbs by rule and by a model, asks, scores and
    reports.
    """
    study = AskedStudy(folder, endpoint)
    study.model(limits=FAST | {"concurrency": CONCURRENCY})
    for name in DATA.values():
        shutil.copy(DEMO / name, folder)
    files = {role: str(folder / name) for role, name in DATA.items()}
    Study(folder).change("datasets", "demo-dialogue", files=files, select={"n": ITEMS})
    made = {
        "level": "sentence",
        "method": "inject",
        "model": "loop",
        "form": "wrong-fact",
    }
    study.card("perturbations", "lies", name="Lies", steps=STEPS, **made)
    study.write(perturbations=["random-typos", "lies"], methods=["discernment"])
    return study


class Life:
    """A study in a folder of its own, run by the product's command line until it has
    ended.
    """

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self.study, self.endpoint = small_study(folder, endpoint), endpoint
        self.lost = 0
        endpoint.asked.clear()

    @property
    def outputs(self) -> dict[str, bytes]:
        """Return the bytes of tables and report."""
        return running.outputs(self.study.folder / "results" / "asked")

    @property
    def distinct(self) -> int:
        """Return how many different requests were sent."""
        return len({json.dumps(body, sort_keys=True) for body in self.endpoint.asked})

    def end(self) -> None:
        """Run to the end."""
        done = self.study.run()
        assert done.returncode == 0, done.stdout[-3000:]

    def fails(self, *options: str, **how: Any) -> str:
        """Run, see it fail without a traceback, and return what it said."""
        how["python"] = (
            sys.executable if options or "preexec_fn" in how else running.python()
        )
        with self.started(
            *options, stdout=subprocess.PIPE, text=True, **how
        ) as process:
            text = str(process.communicate(timeout=patience(TOO_LONG))[0])
        assert process.returncode == 1 and "Traceback" not in text, text[-3000:]
        return text

    def kill(self, stage: str, chance: random.Random) -> str:
        """Run, and kill all its processes at a random moment of a stage; unlock.

        The moment: so many jobs of the stage were seen, and some milliseconds more, or
        requests, unless the job ends before. Return it in words.
        """
        scripts, jobs, requests = STAGES[stage]
        wanted, limit = chance.randint(1, jobs), chance.randint(1, requests or 1)
        delay = chance.uniform(0, PACE if requests else LONGEST)
        with self.started() as process:
            number = wait_for_jobs(process, scripts, wanted)
            before, began = len(self.endpoint.asked), time.monotonic()

            def due() -> bool:
                if requests:
                    return len(self.endpoint.asked) >= before + limit
                return time.monotonic() >= began + delay

            while not due() and number in _jobs(process, scripts):
                time.sleep(0.002)
            time.sleep(delay if requests else 0)
            running.kill_all(process.pid)
            later = time.monotonic() - began
        time.sleep(SETTLE)
        came = len(self.endpoint.asked) - before
        self.lost = len(self.endpoint.asked) - self.study.journalled()
        unlocked = self.study.run("--unlock")
        assert unlocked.returncode == 0, unlocked.stdout
        asked = f" and {came} requests" if requests else ""
        return f"job {wanted} of {stage}, {1000 * later:.0f} ms{asked}"

    @contextmanager
    def started(
        self,
        *before: str,
        command: Sequence[str] = RUN,
        study: str = "study.yaml",
        env: Mapping[str, str] | None = None,
        python: str = sys.executable,
        **streams: Any,
    ) -> "Iterator[subprocess.Popen[Any]]":
        """Start the study and wait for its end; the words `before` the command say how
        it runs.
        """
        with subprocess.Popen(
            [*before, python, "-m", *command, study],
            cwd=self.study.folder,
            env=running.environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **{"stdout": subprocess.DEVNULL, **streams},
        ) as process:
            try:
                yield process
            except BaseException:  # a test that fails leaves nothing running
                running.kill_all(process.pid)
                raise


def wait_for_jobs(
    process: "subprocess.Popen[Any]", names: tuple[str, ...], count: int
) -> int:
    """Wait until so many jobs of a stage were there; return the last one's process."""
    seen: set[int] = set()
    end = time.monotonic() + patience(TOO_LONG)
    while True:
        assert process.poll() is None, f"the run ended before {count} jobs of {names}"
        assert time.monotonic() < end, f"no {count} jobs of {names}"
        for number in _jobs(process, names) - seen:
            seen.add(number)
            if len(seen) == count:
                return number
        time.sleep(0.005)


def _jobs(process: "subprocess.Popen[Any]", names: tuple[str, ...]) -> set[int]:
    """Return the processes of a run that work on a stage, from the system's list."""
    result = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            job = next((at for at in (1, 2) if words[at].endswith(b"/job.py")), None)
            if job is None:  # the second word, or the third where a shell holds it
                continue
            name = os.fsdecode(words[job + 1])
            session = int((path / "stat").read_text().rpartition(")")[2].split()[3])
        except (OSError, IndexError):  # it has ended
            continue
        if session == process.pid and name in names:
            result.add(int(path.name))
    return result
