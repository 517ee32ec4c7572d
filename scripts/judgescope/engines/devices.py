"""GPUs of this machine: a job that loads or trains a model takes some for itself.

Two servers that see all GPUs both use the first one, and the second server finds no
memory. So a job locks as many GPUs as its model needs,
all or none, and sees only these. A lock is a file in the machine's temporary folder,
which the kernel unlocks when the job and its watchdog have ended, also after kill -9.
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.files import lock_folder
from judgescope.schema.cards import AskedModel, ProgramModel, VllmModel

VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"
LISTING_SECONDS = 60.0
"""A driver takes seconds to start on a machine where no other program uses it."""


class Device(NamedTuple):
    """A GPU, or a partition of one (MIG), that this process may use."""

    name: str
    """Its number or UUID, as in CUDA_VISIBLE_DEVICES."""
    ident: str
    """What identifies it, whether a job knows it by its number or its UUID."""


class DriverGpu(NamedTuple):
    """A GPU that the driver lists."""

    number: str
    uuid: str
    partitions: list[str]
    """The UUIDs of its partitions (MIG), if it has any."""


@dataclass(frozen=True)
class DeviceNeed:
    """The number of GPUs that a model needs, and the key of a card that says so."""

    count: int
    where: str
    got: str


class DeviceHolder(NamedTuple):
    """A GPU that another job has locked, and the process of that job."""

    name: str
    process: str


_taken: list[int] = []
"""The locks of this process, as file descriptors; open until the process ends."""


def take(need: DeviceNeed) -> None:
    """Take the GPUs of a job, wait until they are free, and make only these visible.

    The GPUs are chosen from those of CUDA_VISIBLE_DEVICES, else from those that the
    driver lists. Call this before anything imports torch. A process that has taken its
    GPUs keeps them; without an NVIDIA driver there is nothing to take. Inside a SLURM
    job to which devices are assigned nothing is locked: no other job has them, and
    their numbers begin at 0 in each job. Raises UserError if there are too few GPUs.
    """
    if need.count <= len(_taken):
        return
    assert not _taken, "a job loads one model"
    devices = visible(os.environ)
    if devices is None:
        return
    if len(devices) < need.count:
        raise _too_few(need, devices)
    if is_assigned(os.environ):
        return
    names = _lock(need, devices)
    if VISIBLE not in os.environ:
        # The driver numbers by bus, CUDA by speed: without this, 0 is another GPU.
        os.environ[ORDER] = "PCI_BUS_ID"
    os.environ[VISIBLE] = ",".join(names)


def take_for(card: AskedModel) -> None:
    """Take the GPUs that a card's model needs (see `take`)."""
    where = f"models/{card.model}.yaml"
    if isinstance(card, VllmModel):
        copies = card.data_parallel
        shown = f"tensor_parallel {card.tensor_parallel}"
        if copies > 1:
            shown += f" × data_parallel {copies} = {card.gpus} GPUs"
        keys = "key tensor_parallel"
        if copies > 1:
            keys = "keys tensor_parallel and data_parallel"
        take(DeviceNeed(card.gpus, f"{where}, {keys}", shown))
    elif isinstance(card, ProgramModel):
        take(DeviceNeed(card.gpus, f"{where}, key gpus", str(card.gpus)))


def locks() -> list[int]:
    """Return the locks of this process as file descriptors.

    A watchdog that inherits them keeps the GPUs locked until it has ended the processes
    that use them.
    """
    return list(_taken)


def is_assigned(environ: Mapping[str, str]) -> bool:
    """Return whether SLURM has assigned devices to this job."""
    # Variables of a SLURM job to which devices are assigned.
    assigned = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_GPUS_ON_NODE")
    if "SLURM_JOB_ID" not in environ:
        return False
    return any(environ.get(name) for name in assigned)


def visible(environ: Mapping[str, str]) -> list[Device] | None:
    """Return the GPUs that a process may use; None on a machine without NVIDIA GPUs.

    As CUDA does, this reads CUDA_VISIBLE_DEVICES up to the first invalid entry:
    `0,-1,1` is GPU 0 alone.
    """
    gpus = listed()
    if VISIBLE not in environ:
        names = list[str]()
        for gpu in gpus:
            names += gpu.partitions or [gpu.number]
    else:
        names = [name.strip() for name in environ[VISIBLE].split(",")]
    devices: dict[str, Device] = {}
    for name in names:
        ident = _identity(name, gpus)
        if ident is None:
            break
        devices.setdefault(ident, Device(name, ident))
    if not devices and not gpus:
        return None
    return list(devices.values())


def _identity(name: str, gpus: Sequence[DriverGpu]) -> str | None:
    """Return what identifies a device; None if there is no such device."""
    device_name = re.compile(r"\d+|(GPU|MIG)-.+")
    if not device_name.fullmatch(name):
        return None
    if not gpus:  # a driver that cannot be asked: the names are all that is known
        return name
    for gpu in gpus:
        # CUDA lets a UUID be cut short.
        if name == gpu.number or (name[0] == "G" and gpu.uuid.startswith(name)):
            # Of a GPU that is divided, CUDA uses the first partition.
            if gpu.partitions:
                return gpu.partitions[0]
            return gpu.uuid
        for partition in gpu.partitions:
            if name[0] == "M" and partition.startswith(name):
                return partition
    return None


def listed() -> list[DriverGpu]:
    """Return the GPUs that the driver lists, none on a machine without its program.

    Raises UserError if the driver does not answer.
    """
    try:
        done = subprocess.run(
            ["nvidia-smi", "-L"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LISTING_SECONDS,
        )
    except (FileNotFoundError, PermissionError):
        return []
    except subprocess.TimeoutExpired:
        raise UserError(
            "the GPU driver does not answer",
            where="this machine",
            got=f"`nvidia-smi -L` did not end within {LISTING_SECONDS:g} s",
            todo="repair the driver (often by a restart) and run again",
        ) from None
    return parsed(done.stdout)


def parsed(listing: str) -> list[DriverGpu]:
    """Return the GPUs in the output of `nvidia-smi -L`.

    >>> parsed("GPU 0: NVIDIA L4 (UUID: GPU-1a)")
    [DriverGpu(number='0', uuid='GPU-1a', partitions=[])]
    """
    gpus: list[DriverGpu] = []
    gpu_line = re.compile(r"GPU (\d+): .*\(UUID: (GPU-[^)]+)\)")
    partition_line = re.compile(r"\s+MIG .*\(UUID: (MIG-[^)]+)\)")
    for line in listing.splitlines():
        if match := gpu_line.match(line):
            gpus.append(DriverGpu(match[1], match[2], []))
        elif gpus and (match := partition_line.match(line)):
            gpus[-1].partitions.append(match[1])
    return gpus


def _too_few(need: DeviceNeed, devices: Sequence[Device]) -> UserError:
    names = ", ".join(device.name for device in devices) or "none"
    return UserError(
        "the model needs more GPUs than this job may use",
        where=need.where,
        got=need.got,
        allowed=f"at most {len(devices)} (visible: {names})",
        todo=f"lower it, or make more GPUs visible ({VISIBLE}; on a cluster, let the "
        "SLURM profile request them)",
    )


def _lock(need: DeviceNeed, devices: Sequence[Device]) -> list[str]:
    """Lock as many devices as needed, as soon as so many are free; return their
    names.
    """
    shown = ""
    poll_seconds = 1.0
    while True:
        try:
            locked, holders = _attempt(need.count, devices)
        except OSError as error:
            raise UserError(
                f"GPUs cannot be locked: {error.strerror or error}",
                where=str(error.filename or "the machine's temporary folder"),
                todo="set TMPDIR to a local folder in which you can write",
            ) from None
        if locked:
            _taken.extend(locked.values())
            return [device.name for device in locked]
        if (message := waiting(need.count, holders)) != shown:
            print(message, flush=True)
            shown = message
        time.sleep(poll_seconds)


def waiting(count: int, holders: Sequence[DeviceHolder]) -> str:
    """Return the message of a job that waits for GPUs."""
    names: dict[str, list[str]] = {}
    for holder in holders:
        names.setdefault(holder.process, []).append(holder.name)
    taken = []
    for process, devices in names.items():
        verb = "is" if len(devices) == 1 else "are"
        taken.append(f"{', '.join(devices)} {verb} taken by process {process}")
    gpus = "1 GPU" if count == 1 else f"{count} GPUs"
    return f"waiting for {gpus}: {'; '.join(taken)}"


def _attempt(
    count: int, devices: Sequence[Device]
) -> tuple[dict[Device, int], list[DeviceHolder]]:
    """Lock `count` devices, or none; also return the devices that other jobs have."""
    folder = lock_folder()
    locked: dict[Device, int] = {}
    holders: list[DeviceHolder] = []
    # One job at a time: two jobs that each lock one of two GPUs would both give up.
    with _alone(folder / "gpus"):
        for device in devices:
            if len(locked) == count:
                break
            path = folder / f"gpu-{re.sub(r'[^A-Za-z0-9-]', '_', device.ident)}"
            lock = _try_lock(path)
            if lock is None:
                process = path.read_text("utf-8").strip()
                holders.append(DeviceHolder(device.name, process))
            else:
                locked[device] = lock
        if len(locked) < count:
            for lock in locked.values():
                os.close(lock)
            locked = {}
    return locked, holders


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait for a lock, and hold it until the block ends."""
    import fcntl  # here: only POSIX has it, and `audit` runs without

    lock = _opened(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _try_lock(path: Path) -> int | None:
    """Return the lock on a file, which names this process; None if it is locked."""
    import fcntl  # here: only POSIX has it, and `audit` runs without

    lock = _opened(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)
