"""A real SLURM with one node for tests: unprivileged, on loopback, in a folder of its
own.

Five things are not as on a cluster: no accounting; no cgroups; a node that claims the
processors and memory it is given here; GPUs that are /dev/null and /dev/zero, which is
enough to be allotted; a job whose node went away starts again after 5 seconds
(cred_expire), not after two minutes.
"""

import contextlib
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgescope.engines.vllm import free_port

SYSTEM: Final = ("/usr/sbin", "/sbin")
"""Where daemons lie that may not be on a user's PATH."""
WATCHDOG: Final = Path(__file__).with_name("watchdog.py")
NODE: Final = socket.gethostname().partition(".")[0]
GPU: Final = "fake"
"""The type of the node's two GPUs."""
PATIENCE: Final = 240.0
"""Seconds for what takes one or two on a machine without other work."""

CONFIGURATION: Final = """\
ClusterName=test
SlurmctldHost={node}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=3600
KillWait=2
GresTypes=gpu
NodeName={node} NodeAddr=127.0.0.1 CPUs=20 RealMemory=16000 Gres=gpu:{gpu}:2
PartitionName=main Nodes={node} Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes={node} MaxTime=INFINITE State=UP
"""
CLIENTS: Final = ("sbatch", "srun", "squeue", "scontrol", "sinfo", "scancel")
CLIENT: Final = """\
#!/bin/sh
# In jobs Snakemake drops all variables SLURM_*: a cluster has one /etc/slurm, a test \
has not.
export SLURM_CONF={folder}/slurm.conf
exec {program} "$@"
"""


def missing() -> list[str]:
    """Return which programs of SLURM are not installed here."""
    return [
        name
        for name in ("munged", "slurmctld", "slurmd", *CLIENTS)
        if _which(name) is None
    ]


def _which(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *SYSTEM]))


@dataclass(frozen=True)
class Cluster:
    """A running SLURM; `environment` is what its commands, and whatever uses them,
    need.
    """

    folder: Path
    environment: Mapping[str, str]
    user: str = getpass.getuser()

    def __call__(self, *command: str) -> str:
        """Run a command of SLURM and return what it says."""
        done = subprocess.run(
            command,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def jobs(self, state: str = "all") -> dict[str, str]:
        """Return SLURM's number of each job in a state -> what Snakemake says that it
        runs.
        """
        result = self(
            "squeue",
            "--noheader",
            "--states",
            state,
            "--sort",
            "i",
            "--format",
            "%i %k",
        )
        return dict(line.split(" ", 1) for line in result.splitlines())

    def facts(self, job: str) -> dict[str, str]:
        """Return what SLURM knows of a job."""
        result = self("scontrol", "--oneliner", "show", "job", job).split()
        return dict(fact.split("=", 1) for fact in result if "=" in fact)

    def is_idle(self) -> bool:
        """Return whether the node is there and has nothing to do."""
        return self("sinfo", "--noheader", "--format", "%T").split() == ["idle"]


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Run SLURM in a folder until the block ends; nothing of it outlives this
    process.
    """
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir(parents=True)
    _write(folder)
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"], *SYSTEM])
    content = {**os.environ, "PATH": path, "SLURM_CONF": str(folder / "slurm.conf")}
    result = Cluster(folder, content)
    watchdog = subprocess.Popen(
        [sys.executable, "-I", str(WATCHDOG), str(folder)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    daemons = []
    try:
        for command in _daemons(folder):
            daemons.append(_started(command, result))
        until(
            result.is_idle, f"a node that is idle; {folder}/*.log and *.out tell more"
        )
        yield result
    finally:
        watchdog.communicate()
        for daemon in daemons:
            daemon.wait()


def _write(folder: Path) -> None:
    """Write what SLURM reads."""
    ports = {"controller": free_port(), "daemon": free_port()}
    result = CONFIGURATION.format(
        folder=folder, node=NODE, user=getpass.getuser(), gpu=GPU, **ports
    )
    (folder / "slurm.conf").write_text(result, encoding="utf-8")
    gpus = [f"Name=gpu Type={GPU} File=/dev/{device}\n" for device in ("null", "zero")]
    (folder / "gres.conf").write_text("".join(gpus), encoding="utf-8")
    (folder / "cgroup.conf").touch()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    for name in CLIENTS:
        client = folder / "bin" / name
        client.write_text(
            CLIENT.format(folder=folder, program=_which(name)), encoding="utf-8"
        )
        client.chmod(0o700)


def _daemons(folder: Path) -> list[list[str]]:
    """Return the commands of the daemons, all in the foreground."""
    content = {"socket": "socket", "key-file": "key", "pid-file": "pid"}
    content |= {"log-file": "log", "seed-file": "seed"}
    munge = [f"--{option}={folder}/munge.{end}" for option, end in content.items()]
    return [
        ["munged", "--foreground", "--force", *munge],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    ]


def _started(command: list[str], location: Cluster) -> "subprocess.Popen[bytes]":
    environment = dict(location.environment)
    with (location.folder / f"{command[0]}.out").open("wb") as out:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )


def until(what: Callable[[], bool], named: str, patience: float = PATIENCE) -> None:
    """Wait for something; a command of SLURM that fails meanwhile is no end of it."""
    end = time.monotonic() + patience
    while True:
        with contextlib.suppress(AssertionError):
            if what():
                return
        assert time.monotonic() < end, f"waited in vain for {named}"
        time.sleep(0.1)
