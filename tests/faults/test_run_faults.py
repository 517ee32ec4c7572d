"""A study meets one fault after the other, each is named, and it ends as one that met
none.

The faults are tests in this order, on one folder: each goes on where the one before it
ended.
"""

import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import running
from asking import FAST, AskedStudy
from judgescope.replies.caps import REQUESTS
from judgescope.replies.ledger import FOLDER, Ledger
from lives import DATA, STAGES, TOO_LONG, Life, endpoint, undisturbed, wait_for_jobs
from programs import gone
from running import HOME
from scripted import Body, Endpoint, Said, reply, serve
from waiting import patience

__all__ = ["endpoint", "undisturbed"]
pytestmark = pytest.mark.slow
PR_CAPBSET_DROP, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2


def bound() -> None:
    """Let permissions hold for what is started, though it be root's."""
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.fixture(scope="module")
def life(
    undisturbed: Life, tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint
) -> Life:
    """The life that meets every fault."""
    return Life(tmp_path_factory.mktemp("troubled"), endpoint)


def result_path(life: Life, name: str = "") -> Path:
    return life.study.folder / "results" / "asked" / name


def test_a_file_is_where_the_results_belong(life: Life) -> None:
    result_path(life).parent.write_text("mine", encoding="utf-8")
    fails = life.fails()
    assert "cannot be written" in fails and "'results'" in fails and "  do: " in fails
    result_path(life).parent.unlink()


@pytest.mark.long(80)
def test_nobody_may_write_to_the_results(life: Life) -> None:
    result_path(life).mkdir(parents=True, mode=0o555)
    fails = life.fails(preexec_fn=bound)
    assert "no permission to read or write" in fails and "results/asked" in fails
    assert "make a folder writable" in fails
    result_path(life).chmod(0o755)


@pytest.mark.long(80)
def test_the_data_come_from_a_machine_whose_clock_is_ahead(life: Life) -> None:
    """The ratings cannot be read; texts are asked about all the same."""
    data = life.study.folder / DATA["data"]
    os.utime(data, (time.time() + 9e5,) * 2)
    fails = life.fails()
    assert f"{data} is newer" in fails and "`touch` the file" in fails
    data.touch()
    # The tests below begin with no results and no replies.
    shutil.rmtree(result_path(life))
    shutil.rmtree(life.study.folder / "cache")
    life.endpoint.asked.clear()


MOUNTED = 'mount -t tmpfs -o size=4k none "$0" && exec "$@"'
"""A shell's words: a small disk in the place of a folder, and then a command."""


@pytest.mark.long(80)
def test_the_disk_of_the_store_is_full(life: Life, tmp_path: Path) -> None:
    """Nothing is asked that could not be kept."""
    small = ["unshare", "-rm", "sh", "-c", MOUNTED]
    if subprocess.run([*small, str(tmp_path), "true"], check=False).returncode:
        pytest.skip("a user may not mount a disk of his own here (unshare -rm)")
    store = life.study.folder / "cache" / "replies"
    store.mkdir(parents=True)
    fails = life.fails(*small, str(store))
    assert "the disk is full" in fails and "no request was sent" in fails
    assert not life.endpoint.asked


STAGE_FOLDERS = {
    "ingest": "items",
    "perturb": "targets",
    "inject": "made",
    "ask": "replies",
    "score": "scores",
    "collect": "collected",
    "statistics": "tables",
    "report": "report",
}
"""Where each stage writes, under the results, in the order of a run."""


@pytest.mark.long(60)
@pytest.mark.parametrize("folder", STAGE_FOLDERS.values(), ids=STAGE_FOLDERS)
def test_the_disk_is_full_in_a_stage(life: Life, tmp_path: Path, folder: str) -> None:
    small = ["unshare", "-rm", "sh", "-c", MOUNTED]
    if subprocess.run([*small, str(tmp_path), "true"], check=False).returncode:
        pytest.skip("a user may not mount a disk of his own here (unshare -rm)")
    result_path(life, folder).mkdir(parents=True, exist_ok=True)
    fails = life.fails(*small, str(result_path(life, folder)))
    assert "the disk is full" in fails and "run again" in fails
    assert f"results/asked/{folder}" in fails
    assert life.distinct == len(life.endpoint.asked) == life.study.journalled()


def wrapped(life: Life, before: str) -> str:
    """Return a Python that does something in the shell before it runs a script."""
    python = life.study.folder / "python"
    script = f'#!/bin/sh\n{before}\nexec {shlex.quote(running.python())} "$@"\n'
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    return str(python)


def test_the_system_kills_a_job_as_when_memory_runs_out(life: Life) -> None:
    killed = 'case "$1 $2" in *"/job.py collect") kill -9 $$ ;; esac'
    fails = life.fails(env={"JUDGESCOPE_PYTHON": wrapped(life, killed)})
    assert (
        "collect failed" in fails
        and "it was killed (signal 9)" in fails
        and "memory" in fails
    )


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        (
            "scores/demo-dialogue/loop/original/terse.parquet",
            "scores/demo-dialogue/loop",
        ),
        ("targets/demo-dialogue/random-typos.minor.parquet", ""),
    ],
)
def test_a_table_was_cut(life: Life, name: str, folder: str) -> None:
    """A job fills the `folder` as a whole: to delete one file in it does not help."""
    if not result_path(life, name.partition("/")[0]).is_dir():
        pytest.skip("only after the tests before it: there are no results yet")
    os.truncate(result_path(life, name), 200)
    fails = life.fails()
    assert f"results/asked/{name}" in fails
    if folder:
        assert f"delete the folder results/asked/{folder} and run again" in fails
        shutil.rmtree(result_path(life, folder))
    else:
        assert "delete the file, then run again" in fails
        result_path(life, name).unlink()


def test_a_second_run_names_the_first_and_both_end_undisturbed(
    life: Life, undisturbed: Life
) -> None:
    shutil.rmtree(result_path(life, "replies"), ignore_errors=True)
    go = life.study.folder / "go"
    held = (
        f'case "$1 $2" in *"/job.py ask") while [ ! -e "{go}" ]; do sleep 0.1; done '
        ";; esac"
    )
    with life.started(env={"JUDGESCOPE_PYTHON": wrapped(life, held)}) as first:
        wait_for_jobs(first, STAGES["ask"].names, 1)
        fails = life.fails()
        go.touch()
    assert (
        "already running in this folder" in fails and f"process {first.pid}," in fails
    )
    assert first.returncode == 0
    assert life.outputs == undisturbed.outputs
    kept = undisturbed.study.journalled()
    assert len(life.endpoint.asked) == life.study.journalled() == kept, (
        "asked once, through it all"
    )


ASK = ("snakemake", "-s", str(HOME / "workflow" / "Snakefile"), "asked")


@pytest.mark.long(14)
def test_two_studies_share_a_store_at_once(
    undisturbed: Life, tmp_path: Path, endpoint: Endpoint
) -> None:
    """Both ask the same: what they ask at the same moment is asked by both, nothing is
    lost.
    """
    life = Life(tmp_path, endpoint)
    card = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    (tmp_path / "other.yaml").write_text(
        card.replace("asked", "other"), encoding="utf-8"
    )
    ask = [
        *ASK,
        "--workflow-profile",
        str(HOME / "profiles" / "default"),
        "--configfile",
    ]
    with (
        life.started(command=ask) as each,
        life.started(command=ask, study="other.yaml") as other,
    ):
        assert each.wait(patience(TOO_LONG)) == 0
        assert other.wait(patience(TOO_LONG)) == 0
    for name in ("asked", "other"):
        assert replies(life, name) == replies(undisturbed, "asked")
    kept = undisturbed.study.journalled()
    assert life.distinct == kept
    assert len(endpoint.asked) == life.study.journalled() <= 2 * kept


def replies(life: Life, study: str) -> dict[str, bytes]:
    """Return the bytes of a study's reply files."""
    folder = life.study.folder / "results" / study / "replies"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*.parquet")
    }


TEXTS, CONCURRENCY = 120, 3
LONG = 90.0
"""Seconds within which a run has to end, also where others use the machine."""


class Pace:
    """An endpoint that answers at a pace until it is told to hold what comes."""

    def __init__(self) -> None:
        self.seconds, self.held, self.go_on = 0.2, 0, threading.Event()
        self.hold = False

    def __call__(self, _: Body) -> Said:
        if self.hold:
            self.held += 1
            self.go_on.wait(patience(LONG))
        time.sleep(self.seconds)
        return reply("Rating: 4")


@pytest.fixture
def pace() -> Iterator[Pace]:
    made = Pace()
    yield made
    made.go_on.set()


@pytest.fixture
def study(tmp_path: Path, pace: Pace) -> Iterator[AskedStudy]:
    with serve(pace) as endpoint:
        made = AskedStudy(tmp_path, endpoint)
        made.model(limits=FAST | {"concurrency": CONCURRENCY, "timeout": LONG})
        yield made
        pace.go_on.set()


@contextmanager
def started(study: AskedStudy, replies: int = 4) -> Iterator["subprocess.Popen[str]"]:
    """Run the study as a user does until it has some replies; nothing is left of it
    afterwards.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "judgescope", "run", "study.yaml"],
        cwd=study.folder,
        env=running.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while study.journalled() < replies:
                assert process.poll() is None, process.stdout and process.stdout.read()
                time.sleep(0.02)
            yield process
        finally:
            running.kill_all(process.pid)


def end(process: "subprocess.Popen[str]") -> str:
    """Wait for the end of a run; return what it said, which is no traceback."""
    result, _ = process.communicate(timeout=patience(LONG))
    assert "Traceback" not in result and "Fatal" not in result, result
    return result


def asks_only_the_rest(study: AskedStudy, pace: Pace) -> None:
    """The same command goes on as far as it asks, without --unlock, for what is not
    there.
    """
    pace.seconds, pace.hold, kept = 0, False, study.journalled()
    pace.go_on.set()
    study.endpoint.asked.clear()
    done = study.run("--until=ask_api")
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(study.endpoint.asked) == TEXTS - kept
    assert study.journalled() == TEXTS


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGHUP, marks=pytest.mark.long),
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
    ],
)
def test_a_signal_to_the_group_ends_the_run_and_its_number_is_the_status(
    study: AskedStudy, pace: Pace, number: int
) -> None:
    """As `timeout`, a terminal that closes, and Ctrl-C send it."""
    with started(study) as process:
        os.killpg(process.pid, number)
        result = end(process)
        assert process.returncode == 128 + number
        assert "Stopped" in result and "may be billed" not in result
        assert not running.in_session(process.pid)
    assert 4 <= study.journalled() == len(study.endpoint.asked) < TEXTS
    asks_only_the_rest(study, pace)


@pytest.mark.long(7)
def test_sigterm_to_every_process_twice_is_a_single_wish(study: AskedStudy) -> None:
    """As a service manager and a cluster send it; `timeout` sends it to the command
    twice.
    """
    with started(study) as process:
        for _ in range(2):
            for each in running.in_session(process.pid):
                os.kill(each, signal.SIGTERM)
        end(process)
        assert process.returncode == 128 + signal.SIGTERM
        assert not running.in_session(process.pid)
    assert study.journalled() == len(study.endpoint.asked) < TEXTS


@pytest.mark.long(8)
def test_a_command_that_is_killed_leaves_nothing_that_asks(
    study: AskedStudy, pace: Pace
) -> None:
    with started(study) as process:
        present = running.in_session(process.pid)
        process.kill()
        before = len(study.endpoint.asked)
        assert len(present) >= 4 and all(gone(each, seconds=LONG) for each in present)
        assert len(study.endpoint.asked) <= before + 3 * CONCURRENCY
    assert study.journalled() == len(study.endpoint.asked) < TEXTS
    asks_only_the_rest(study, pace)


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.long), 2])
def test_what_is_not_answered_is_counted_as_what_may_be_billed(
    study: AskedStudy, pace: Pace, times: int
) -> None:
    study.write(max_requests=1000)
    with started(study) as process:
        pace.hold = True
        while pace.held < CONCURRENCY:
            time.sleep(0.05)
        sent = len(study.endpoint.asked)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(1.5)
        result = end(process)
    assert process.returncode == 128 + signal.SIGINT
    assert re.search(rf"stopped: {CONCURRENCY} requests .* may be billed", result), (
        result
    )
    assert len(study.endpoint.asked) == sent
    ledger = Ledger(study.folder / "cache/replies" / FOLDER / "asked")
    assert ledger.state().used(REQUESTS) == (sent, 0)
    assert study.journalled() == sent - CONCURRENCY


@pytest.mark.long(19)
def test_no_lock_is_taken_away_from_a_run_that_lives(
    study: AskedStudy, pace: Pace
) -> None:
    pace.seconds = 3
    with started(study) as process:
        for options in ((), ("--unlock",)):
            done = study.run(*options)
            assert done.returncode == 1 and f"process {process.pid}," in done.stdout, (
                done.stdout
            )
            assert f"kill {process.pid}" in done.stdout
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        end(process)
    assert study.run("--unlock").returncode == 0
    assert study.journalled() == len(study.endpoint.asked) < TEXTS


@pytest.mark.long(12)
def test_the_lock_of_a_killed_run_can_be_removed(study: AskedStudy, pace: Pace) -> None:
    with started(study) as process:
        running.kill_all(process.pid)
    output = study.run().stdout
    assert "--unlock" in output and "process" not in output
    assert study.run("--unlock").returncode == 0
    time.sleep(1)  # what was on its way has arrived
    asks_only_the_rest(study, pace)
