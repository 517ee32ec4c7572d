"""Studies on a real SLURM: jobs, nodes and the master die, every request is answered
once.

Every table and the report are byte for byte those of the workstation.
"""

import contextlib
import re
import shlex
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import running
import slurm
from asking import FAST, AskedStudy, rate
from running import HOME, outputs
from scripted import Body, Said, prompt_of, serve
from slurm import Cluster, cluster, until
from vllm_study import with_vllm
from watchdog import members

pytestmark = pytest.mark.slurm

TEXTS = 120
WORKERS = int(FAST["concurrency"])
ASKING = "rule_ask_api_wildcards_demo-dialogue_loop"
ASKING_A_GPU = ASKING.replace("api", "gpu")
LIMITS = {**FAST, "timeout": 300}
"""Held requests wait, and are not sent again for that."""
ON_SLURM = (
    f"--workflow-profile={HOME / 'workflow' / 'profiles' / 'slurm'}",
    # what only this cluster needs: it has no accounting, and its jobs take seconds
    *(
        "--slurm-status-command",
        "squeue",
        "--slurm-init-seconds-before-status-checks",
        "5",
    ),
)


@pytest.fixture(scope="module")
def one_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    lacking = slurm.missing()
    assert not lacking, (
        f"not installed: {', '.join(lacking)}; `make test-slurm` installs them"
    )
    with cluster(tmp_path_factory.mktemp("slurm") / "one") as result:
        yield result


@pytest.fixture
def queue(one_node: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """The cluster without a job, for whatever the test starts."""
    for name, value in one_node.environment.items():
        monkeypatch.setenv(name, value)
    yield one_node
    left = one_node.jobs("pending,running")
    one_node("scancel", "--user", one_node.user)
    until(
        lambda: not one_node.jobs("pending,running,completing"), "the end of all jobs"
    )
    assert not left


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the study of these tests gives on a workstation."""
    with serve(rate) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("workstation"), endpoint)
        done = study.run()
        assert done.returncode == 0, done.stdout
        assert len(endpoint.asked) == TEXTS
        return cluster_outputs(study)


def cluster_outputs(study: AskedStudy) -> dict[str, bytes]:
    return outputs(study.folder / "results" / "asked")


class Gate:
    """Answers half of the requests and holds the others, until it is open."""

    def __init__(self) -> None:
        self.answered, self.held = 0, list[str]()
        self.lock, self.open = threading.Lock(), threading.Event()

    def __call__(self, body: Body) -> Said:
        with self.lock:
            free = self.answered < TEXTS // 2
            self.answered += free
            if not free:
                self.held.append(prompt_of(body))
        if not free:
            self.open.wait()
        return rate(body)


@pytest.fixture
def gate(study: AskedStudy) -> Iterator[Gate]:
    made = Gate()
    study.model(limits=LIMITS)
    study.endpoint.script = made
    yield made
    made.open.set()


def start(study: AskedStudy) -> "subprocess.Popen[bytes]":
    with (study.folder / "told.txt").open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "judgescope", "run", "study.yaml", *ON_SLURM],
            cwd=study.folder,
            env=running.environment(),
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def halfway(
    process: "subprocess.Popen[bytes]", study: AskedStudy, gate: Gate, held: int
) -> None:
    """Wait until so many requests are held; all that was answered is in the store
    then.
    """
    until(
        lambda: process.poll() is not None or len(gate.held) == held,
        f"{held} requests held",
    )
    assert process.poll() is None, (study.folder / "told.txt").read_text("utf-8")
    assert study.journalled() == TEXTS // 2


def end(process: "subprocess.Popen[bytes]", study: AskedStudy) -> None:
    assert process.wait() == 0, (study.folder / "told.txt").read_text("utf-8")


def doubles(study: AskedStudy) -> set[str]:
    """Return the prompts that were asked more than once; every text was asked about."""
    counts = Counter(study.endpoint.prompts)
    assert len(counts) == TEXTS
    assert max(counts.values()) <= 2
    return {prompt for prompt, count in counts.items() if count > 1}


def asking_jobs(queue: Cluster, state: str = "all", rule: str = ASKING) -> list[str]:
    return [number for number, about in queue.jobs(state).items() if about == rule]


@pytest.mark.long(150)
def test_the_demo_from_inside_a_job_is_that_of_a_workstation(
    queue: Cluster, tmp_path: Path
) -> None:
    """Where a login node is no place for the small jobs, the command itself is a
    job.
    """
    before = queue.jobs()
    folder, home = tmp_path / "here", tmp_path / "there"
    folder.mkdir()
    home.mkdir()
    command = ("-m", "judgescope", "run", str(HOME / "config" / "config.yaml"))
    running.copy_demo(folder)
    done = running.run(*command, cwd=folder)
    assert done.returncode == 0, done.stdout
    # small jobs are forked: how jobs are started and killed is for other tests
    variables = (
        f"PYTHONPATH={HOME / 'scripts'}",
        f"JUDGESCOPE_PYTHON={running.python()}",
    )
    line = shlex.join(["env", *variables, sys.executable, *command, *ON_SLURM])
    values = ("--chdir", str(home), "--output", str(home / "told.txt"))
    queue(
        "sbatch",
        "--wait",
        "--cpus-per-task",
        "2",
        "--mem",
        "4000",
        *values,
        "--wrap",
        line,
    )
    assert outputs(home / "results" / "demo") == outputs(folder / "results" / "demo")
    # beside it, a job for each engine of a dataset: measures of two datasets, controls
    # of three, recorded scores of one
    assert len(queue.jobs().keys() - before) == 1 + 2 + 3 + 1


def test_an_endpoint_is_asked_from_the_queue(
    queue: Cluster, study: AskedStudy, expected: dict[str, bytes]
) -> None:
    before = queue.jobs()
    done = study.run(*ON_SLURM)
    assert done.returncode == 0, done.stdout
    assert not doubles(study)
    assert cluster_outputs(study) == expected
    new = [about for number, about in queue.jobs().items() if number not in before]
    assert sorted(new) == [ASKING, "rule_compute_wildcards_demo-dialogue_control"]
    assert "no job ran" in study.run(*ON_SLURM).stdout
    assert len(study.endpoint.asked) == TEXTS


def test_statistics_are_submitted_if_the_profile_says_so(
    queue: Cluster, study: AskedStudy, expected: dict[str, bytes]
) -> None:
    """The lines that the profile offers as comments are all that it takes."""
    before = queue.jobs()
    profile = (HOME / "workflow" / "profiles" / "slurm" / "config.yaml").read_text()
    edited, count = re.subn(
        r"^( *)# (groups|statistics): ", r"\1\2: ", profile, flags=re.M
    )
    assert count == 2
    folder = study.folder / "profile"
    folder.mkdir()
    (folder / "config.yaml").write_text(edited, encoding="utf-8")
    done = study.run(f"--workflow-profile={folder}", *ON_SLURM[1:])
    assert done.returncode == 0, done.stdout
    assert cluster_outputs(study) == expected
    new = {}
    for number, about in queue.jobs().items():
        if number not in before:
            new[number] = about
    submitted = [number for number, about in new.items() if "statistics" in about]
    logs = list(study.folder.glob("results/asked/logs/statistics/*/*.log"))
    assert len(submitted) == len(logs) >= 3
    for number in submitted:
        facts = queue.facts(number)
        assert (facts["MinMemoryNode"], facts["TimeLimit"]) == ("8000M", "02:00:00")


def test_a_cancelled_job_is_tried_again_with_more_memory(
    queue: Cluster, study: AskedStudy, gate: Gate, expected: dict[str, bytes]
) -> None:
    process = start(study)
    halfway(process, study, gate, WORKERS)
    [first] = asking_jobs(queue, "running")
    queue("scancel", first)
    until(lambda: first in queue.jobs("cancelled"), "the end of the job")
    gate.open.set()
    end(process, study)
    assert doubles(study) <= set(
        gate.held[:WORKERS]
    )  # what came while the job ended is kept
    assert cluster_outputs(study) == expected
    second = asking_jobs(queue)[-1]
    memory = [queue.facts(job)["MinMemoryNode"] for job in (first, second)]
    assert memory == ["4000M", "8000M"]


def resumed(queue: Cluster) -> bool:
    """Bring the node back; one that answered meanwhile is back by itself."""
    state = ("sinfo", "--noheader", "--format", "%T")
    if "down" in queue(*state):
        queue("scontrol", "update", f"NodeName={slurm.NODE}", "State=RESUME")
    return "down" not in queue(*state)


def test_a_node_that_went_away_gets_its_job_again(
    queue: Cluster, study: AskedStudy, gate: Gate, expected: dict[str, bytes]
) -> None:
    process = start(study)
    halfway(process, study, gate, WORKERS)
    [job] = asking_jobs(queue, "running")
    queue("scontrol", "update", f"NodeName={slurm.NODE}", "State=DOWN", "Reason=test")
    until(lambda: job in queue.jobs("pending"), "the job back in the queue")
    gate.open.set()
    until(lambda: resumed(queue), "the node back")
    end(process, study)
    assert doubles(study) <= set(
        gate.held[:WORKERS]
    )  # what came while the job ended is kept
    assert cluster_outputs(study) == expected
    assert asking_jobs(queue)[-1] == job and queue.facts(job)["Restarts"] == "1"


def test_a_killed_master_and_two_copies_of_a_job(
    queue: Cluster, study: AskedStudy, gate: Gate, expected: dict[str, bytes]
) -> None:
    """Snakemake does not know a job that it did not submit: the same command starts
    another.
    """
    process = start(study)
    halfway(process, study, gate, WORKERS)
    running.kill_all(process.pid)
    process.wait()
    assert len(asking_jobs(queue, "running")) == 1
    assert "--unlock" in study.run(*ON_SLURM).stdout
    assert study.run("--unlock", *ON_SLURM).returncode == 0
    again = start(study)
    until(lambda: len(asking_jobs(queue, "running")) == 2, "the second copy")
    assert (
        len(gate.held) == WORKERS
    )  # on one machine the copies share what may be under way
    gate.open.set()
    end(again, study)
    until(lambda: not queue.jobs("running,completing"), "the end of the first copy")
    # what neither copy had an answer to when the second began
    early = set(study.endpoint.prompts[: TEXTS // 2])
    assert not doubles(study) & early
    assert len(study.endpoint.asked) <= TEXTS + TEXTS // 2
    assert cluster_outputs(study) == expected


def test_a_model_gets_the_gpu_and_the_cores_that_its_card_names(
    queue: Cluster, study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = {"gpu_model": slurm.GPU, "mem_mb": 1500, "runtime": 7, "cpus": 3}
    served = with_vllm(study, monkeypatch, **machine)
    done = study.run()
    assert done.returncode == 0, done.stdout
    current = cluster_outputs(study)
    assert served.devices_of_requests() == ["None"] * TEXTS
    served.forget()
    done = study.run(*ON_SLURM)
    assert done.returncode == 0, done.stdout
    assert served.devices_of_requests() == ["0"] * TEXTS
    assert cluster_outputs(study) == current
    facts = queue.facts(asking_jobs(queue, rule=ASKING_A_GPU)[-1])
    assert facts["TresPerJob"] == f"gres:gpu:{slurm.GPU}:1"
    assert (facts["MinMemoryNode"], facts["TimeLimit"]) == ("1500M", "00:07:00")
    assert facts["NumCPUs"] == "3"
    [start] = served.starts()
    assert start["slurm"]["SLURM_CPUS_ON_NODE"] == "3"
    assert start["slurm"]["SLURM_CPUS_PER_TASK"] == "3"
    assert start["slurm"]["SLURM_STEP_GPUS"] == "0"


@pytest.mark.parametrize(("keys", "gpus"), [({}, 1), ({"tensor_parallel": 2}, 2)])
def test_a_model_gets_the_cores_that_the_profile_names_for_each_gpu(
    keys: dict[str, int],
    gpus: int,
    queue: Cluster,
    study: AskedStudy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = with_vllm(study, monkeypatch, mem_mb=1500, **keys)
    done = study.run(*ON_SLURM)
    assert done.returncode == 0, done.stdout
    facts = queue.facts(asking_jobs(queue, rule=ASKING_A_GPU)[-1])
    assert facts["TresPerJob"] == f"gres:gpu:{gpus}"
    assert facts["NumCPUs"] == str(8 * gpus)
    [start] = served.starts()
    assert start["slurm"]["SLURM_CPUS_ON_NODE"] == str(8 * gpus)
    assert start["devices"] == ",".join(map(str, range(gpus)))


ANOTHER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from slurm import cluster, until
with cluster(Path({folder!r})) as queue:
    queue("sbatch", "--output", "{folder}/job.txt", "--wrap", "srun sleep 600")
    until(lambda: bool(queue.jobs("running")), "a job that runs")
    print("it runs", flush=True)
    time.sleep(600)
"""


RUNNING = {"munged", "slurmctld", "slurmd", "slurmstepd", "sleep"}


def names(folder: Path) -> set[str]:
    """Return what runs of the SLURM in a folder."""
    result = set()
    for process in members(folder):
        with contextlib.suppress(OSError):  # gone already
            result.add((Path("/proc") / str(process) / "comm").read_text().strip())
    return result


def test_nothing_outlives_a_killed_test(tmp_path: Path) -> None:
    folder = tmp_path / "another"
    code = ANOTHER.format(tests=str(HOME / "tests" / "support"), folder=str(folder))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, env=running.environment(), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        result = process.stdout.readline()
        try:
            until(lambda: names(folder) >= RUNNING, "a job that sleeps")
        finally:
            process.kill()
    until(lambda: not members(folder), "the end of everything")
    assert result == b"it runs\n"
