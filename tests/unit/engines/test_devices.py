"""GPUs: a job takes as many as its model needs, all or none, and frees them by ending.

No GPU is needed: CUDA_VISIBLE_DEVICES, or a program that stands in for the driver's,
says which there are.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import running
from judgescope.core.errors import UserError
from judgescope.engines import devices
from judgescope.engines.command import CommandEngine
from judgescope.engines.devices import DeviceNeed, parsed, take, take_for
from judgescope.schema.cards import CommandModel, VllmModel
from waiting import patience

SECONDS = 60.0
"""More than anything here takes."""
LISTING = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaa1111-0000)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbb2222-0000)
  MIG 3g.20gb     Device  0: (UUID: MIG-cccc3333-0000)
  MIG 3g.20gb     Device  1: (UUID: MIG-dddd4444-0000)
GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-eeee5555-0000)
"""
JOB = """
import os, subprocess, sys
from judgescope.engines.devices import DeviceNeed, locks, take
from judgescope.engines.process_reaper import Guard

take(DeviceNeed(int(sys.argv[1]), "models/it.yaml", sys.argv[1]))
print("took", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
{then}
input()
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without GPUs; returns a folder of its PATH."""
    for name in list(os.environ):
        if name.startswith(("SLURM", "CUDA")):
            monkeypatch.delenv(name)
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/bin")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    locks: list[int] = []
    monkeypatch.setattr(devices, "_taken", locks)
    yield programs
    for lock in locks:
        os.close(lock)
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        os.environ.pop(name, None)


def driver(programs: Path, listing: str = LISTING) -> None:
    """Let the machine have a driver that lists these GPUs."""
    program = programs / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{listing}END\n", encoding="utf-8")
    program.chmod(0o700)


def need(count: int) -> DeviceNeed:
    return DeviceNeed(count, "models/it.yaml, key tensor_parallel", str(count))


def taken(count: int) -> str | None:
    """Take GPUs after those taken before are free; return what this process sees."""
    while devices._taken:
        os.close(devices._taken.pop())
    take(need(count))
    return os.environ.get("CUDA_VISIBLE_DEVICES")


class Job:
    """A process that takes GPUs and ends when it is told to."""

    def __init__(self, count: int, visible: str, then: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", JOB.format(then=then), str(count)],
            env={**running.environment(), "CUDA_VISIBLE_DEVICES": visible},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.communicate("\n", timeout=patience(SECONDS))
        assert self.process.returncode == 0


@pytest.fixture
def jobs() -> Iterator[Callable[..., Job]]:
    started: list[Job] = []

    def start(count: int, visible: str, then: str = "") -> Job:
        started.append(Job(count, visible, then))
        return started[-1]

    yield start
    for job in started:
        job.process.kill()
        job.process.communicate()


def test_jobs_take_different_gpus(jobs: Callable[..., Job]) -> None:
    first = jobs(2, "0,1,2,3")
    assert first.line() == "took 0,1"
    second = jobs(1, "0,1,2,3")
    assert second.line() == "took 2"
    first.end()
    third = jobs(3, "3,0,1,2")
    assert third.line() == "took 3,0,1"


def test_a_job_waits_for_all_its_gpus_and_holds_none_meanwhile(
    jobs: Callable[..., Job],
) -> None:
    first = jobs(1, "0,1,2")
    assert first.line() == "took 0"
    large = jobs(3, "0,1,2")
    number = first.process.pid
    assert large.line() == f"waiting for 3 GPUs: 0 is taken by process {number}"
    small = jobs(2, "0,1,2")
    assert small.line() == "took 1,2"
    taken_by = f"0 is taken by process {number}; 1, 2 are taken by process"
    expected = f"waiting for 3 GPUs: {taken_by} {small.process.pid}"
    assert large.line() == expected
    first.end()
    small.end()
    lines = [large.line()]
    while lines[-1].startswith("waiting"):
        lines.append(large.line())
    assert lines[-1] == "took 0,1,2"


def test_kill_9_frees_the_gpus(jobs: Callable[..., Job]) -> None:
    first = jobs(2, "0,1")
    assert first.line() == "took 0,1"
    second = jobs(1, "0,1")
    number = first.process.pid
    assert second.line() == f"waiting for 1 GPU: 0, 1 are taken by process {number}"
    first.process.send_signal(signal.SIGKILL)
    assert second.line() == "took 0"


def test_gpus_stay_taken_while_processes_of_a_killed_job_use_them(
    jobs: Callable[..., Job], tmp_path: Path
) -> None:
    """Their memory is not free before they have ended."""
    child = tmp_path / "child.py"
    child.write_text(STUBBORN, encoding="utf-8")
    then = f"""
    guard = Guard(patience=3, locks=locks())
    environment = dict(os.environ, **guard.environment)
    subprocess.Popen([sys.executable, {str(child)!r}], env=environment)
    """
    first = jobs(1, "0", textwrap.dedent(then))
    assert first.line() == "took 0"
    assert first.line() == "up"
    second = jobs(1, "0")
    assert second.line().startswith("waiting for 1 GPU: 0 is taken by process")
    killed = time.monotonic()
    first.process.send_signal(signal.SIGKILL)
    assert second.line() == "took 0"
    assert time.monotonic() - killed > 2


def test_a_number_and_a_uuid_of_a_single_gpu_are_a_single_gpu(
    machine: Path, jobs: Callable[..., Job]
) -> None:
    driver(machine)
    first = jobs(1, "GPU-aaaa1111-0000")
    assert first.line() == "took GPU-aaaa1111-0000"
    second = jobs(1, "0,2")
    assert second.line() == "took 2"
    third = jobs(1, "GPU-ee,MIG-dd")
    assert third.line() == "took MIG-dd"


@pytest.mark.parametrize(
    ("visible", "count", "seen"),
    [
        ("GPU-aaaa1111-0000,GPU-eeee5555-0000", 2, "GPU-aaaa1111-0000,GPU-eeee5555"),
        ("MIG-dddd4444-0000,MIG-cccc3333-0000", 1, "MIG-dddd4444-0000"),
        (" 2 , 0", 2, "2,0"),
        ("2,2,0", 2, "2,0"),
    ],
)
def test_gpus_are_taken_by_the_names_that_are_inherited(
    visible: str, count: int, seen: str, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert str(taken(count)).startswith(seen)  # without a driver that can be asked
    driver(machine)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert str(taken(count)).startswith(seen)
    assert "CUDA_DEVICE_ORDER" not in os.environ


def test_without_the_variable_the_driver_lists_the_gpus(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A divided GPU is its partitions."""
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    driver(machine)
    assert taken(3) == "0,MIG-cccc3333-0000,MIG-dddd4444-0000"
    assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert [gpu.number for gpu in parsed(LISTING)] == ["0", "1", "2"]


def test_a_machine_without_gpus_is_left_as_it_is(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM has a build for CPUs."""
    assert taken(1) is None
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert taken(1) == ""
    program = machine / "nvidia-smi"
    program.write_text("#!/bin/sh\necho No devices were found\nexit 6\n", "utf-8")
    program.chmod(0o700)
    assert taken(1) == ""
    assert not list(machine.parent.glob("judgescope-*"))


@pytest.mark.parametrize(
    ("visible", "shown"),
    [
        ("0", "at most 1 (visible: 0)"),
        ("0,-1,2", "at most 1 (visible: 0)"),
        ("0,7,2", "at most 1 (visible: 0)"),
        ("", "at most 0 (visible: none)"),
        ("NoDevFiles", "at most 0 (visible: none)"),
    ],
)
def test_too_few_gpus_are_a_fault_of_the_card(
    visible: str, shown: str, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(machine)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    card = VllmModel(
        model="it",
        engine="vllm",
        name="org/it",
        mode="served",
        tensor_parallel=2,
        data_parallel=2,
    )
    with pytest.raises(UserError) as caught:
        take_for(card)
    message = str(caught.value)
    assert "the model needs more GPUs than this job may use" in message
    assert "models/it.yaml, keys tensor_parallel and data_parallel" in message
    assert "tensor_parallel 2 × data_parallel 2 = 4 GPUs" in message
    assert shown in message
    assert not devices._taken


def test_a_slurm_job_with_devices_locks_nothing(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert taken(1) == "0"  # no devices are assigned
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("SLURM_STEP_GPUS", "4,5")
    assert taken(2) == "0,1"
    assert taken(1) == "0,1"
    assert devices._taken == []
    with pytest.raises(UserError, match="more GPUs than this job may use"):
        take(need(3))
    assert [path.name for path in machine.parent.glob("judgescope-*/gpu-*")] == [
        "gpu-0"
    ]


def test_a_driver_that_hangs_is_named(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = machine / "nvidia-smi"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setattr(devices, "LISTING_SECONDS", 0.2)
    with pytest.raises(UserError, match="the GPU driver does not answer"):
        take(need(1))


def test_a_folder_of_another_user_is_refused(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    (machine.parent / f"judgescope-{os.getuid()}").symlink_to(machine)
    with pytest.raises(UserError, match=r"GPUs cannot be locked: .* another user"):
        take(need(1))


def test_a_program_sees_the_gpus_of_its_card_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    keys: dict[str, Any] = {"model": "it", "engine": "command", "argv": ["cat"]}
    CommandEngine(CommandModel(**keys))([], True, lambda reply: None)
    assert devices._taken == []
    engine = CommandEngine(CommandModel(**keys, gpus=1))
    assert devices._taken == []  # nothing is to be asked yet
    engine([], True, lambda reply: None)
    assert len(devices._taken) == 1
    assert engine.environment["CUDA_VISIBLE_DEVICES"] == "0"
