"""A program that is forked behaves as one that was started: words, streams, signals,
status.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import running
from running import HOME
from waiting import patience
from warm import client

JOB = str(HOME / "scripts" / "job.py")
pytestmark = pytest.mark.heavy


def both(*words: str, cwd: Path, **streams: str) -> list[tuple[int, str, str]]:
    """Run the same, started and forked; return status, output and errors of each."""
    collected = []
    for python in (sys.executable, client()):
        done = subprocess.run(
            [python, *words],
            cwd=cwd,
            env=running.environment(),
            capture_output=True,
            text=True,
            check=False,
            **streams,  # type: ignore[call-overload]
        )
        collected.append((done.returncode, done.stdout, done.stderr))
    return collected


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["-m", "judgescope", "--help"], 0),
        (["-m", "judgescope", "run", "none.yaml"], 1),
        (["-m", "judgescope", "show", "--no-such-option"], 2),
        (["-c", "import sys; print(sys.argv, sys.flags.isolated)", "a b"], 0),
        ([JOB, "score", "--spec", "none.json"], 1),
    ],
)
def test_words_output_and_status_are_the_same(
    tmp_path: Path, words: list[str], status: int
) -> None:
    started, forked = both(*words, cwd=tmp_path)
    assert started == forked and started[0] == status


def test_standard_input_is_read_and_a_traceback_ends_in_status_1(
    tmp_path: Path,
) -> None:
    words = (JOB, "score", "--spec", "-")
    started, forked = both(*words, cwd=tmp_path, input="[1]")
    assert started == forked and "a spec must be a JSON object" in started[2]
    ends = [each[2].splitlines()[-1] for each in both(*words, cwd=tmp_path, input="{}")]
    assert ends[0] == ends[1] and "ValidationError" in ends[0]


def waiting(folder: Path) -> "subprocess.Popen[bytes]":
    """Start a job that waits for its spec."""
    return subprocess.Popen(
        [client(), JOB, "score", "--spec", "fifo"],
        cwd=folder,
        env=running.environment(),
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_reaches_the_program(tmp_path: Path, number: signal.Signals) -> None:
    os.mkfifo(tmp_path / "fifo")
    process = waiting(tmp_path)
    with open(
        tmp_path / "fifo", "wb", buffering=0
    ) as fifo:  # opened when the program reads
        process.send_signal(number)
        status = process.wait(patience(20))
        result = process.stderr.read() if process.stderr else b""
        if number == signal.SIGINT:
            assert (status, result) == (130, b"stopped by an interrupt\n")
        else:
            assert status == -number
        end = time.monotonic() + patience(20)
        with pytest.raises(
            BrokenPipeError
        ):  # nobody reads any more: the program has ended
            while time.monotonic() < end:
                fifo.write(b" ")
                time.sleep(0.01)


def test_a_checkout_elsewhere_is_run_by_the_interpreter(tmp_path: Path) -> None:
    """Its code is not what was imported."""
    home = running.copy_project(tmp_path / "there")
    init = home / "scripts" / "judgescope" / "__init__.py"
    init.write_text(
        init.read_text("utf-8") + "\nraise SystemExit('another one')\n", "utf-8"
    )
    done = subprocess.run(
        [client(), "-m", "judgescope", "--help"],
        env=running.environment(home),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "another one\n")


def test_snakemake_s_plugin_for_slurm_is_not_imported_beside_what_is_forked(
    tmp_path: Path,
) -> None:
    """It imports pandas, which jobs hide; it may be installed in the environment of the
    tests.
    """
    plugin = tmp_path / "snakemake_executor_plugin_slurm"
    plugin.mkdir()
    (plugin / "__init__.py").write_text(
        "raise SystemExit('imported')\n", encoding="utf-8"
    )
    environment = running.environment()
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(tmp_path), environment["PYTHONPATH"]]
    )
    command = [client(HOME, tmp_path), "-m", "snakemake", "--help"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--executor" in done.stdout
