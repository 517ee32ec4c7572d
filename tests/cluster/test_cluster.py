"""The profile for clusters without one: what jobs ask for, and a run through a submit
script.

A real SLURM is in test_slurm.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import running
from asking import FAST, AskedStudy, rate
from running import HOME, outputs
from scripted import refusal

pytestmark = pytest.mark.slow
JOB = re.compile(
    r"^rule (\w\S+):\n(?:    .*\n)*?(?:    wildcards: .*=(\S+)\n)?"
    r"(?:    priority: .*\n)?    resources: (.*)\n",
    re.M,
)
"""What a dry run tells of a job: its rule, what it is about, what it needs."""
WORKSTATION = HOME / "profiles" / "default"
SLURM = HOME / "workflow" / "profiles" / "slurm" / "config.yaml"
BIG = {"engine": "vllm", "name": "org/big", "mode": "served"}
MADE = {"name": "Wrong", "level": "word", "method": "llm", "form": "wrong-fact"}


@pytest.fixture
def kinds(study: AskedStudy, monkeypatch: pytest.MonkeyPatch) -> AskedStudy:
    """A study with an asking job of every kind, and texts that a model writes."""
    monkeypatch.setenv("JUDGESCOPE_PYTHON_VLLM", "/bin/true")
    study.card("models", "big", **BIG)
    study.card("judges", "large", model="big", form="score-only")
    study.card("perturbations", "wrong", model="loop", **MADE)
    methods = ["agreement", "discernment"]
    study.write(
        judges=["terse", "large", "rules"], perturbations=["wrong"], methods=methods
    )
    return study


def profile(folder: Path, *, edited: bool = False) -> Path:
    """Copy the profile without what only SLURM's own plugin understands.

    `edited`: with all that it offers to edit, as if it had been.
    """
    text = SLURM.read_text(encoding="utf-8")
    text, count = re.subn(r"^(executor|slurm-\S+): .*\n", "", text, flags=re.M)
    assert count == 3
    if edited:
        text, count = re.subn(r"^( +)# (\w+: \w+)$", r"\1\2", text, flags=re.M)
        assert count == 6
    home = folder / "profile"
    home.mkdir()
    (home / "config.yaml").write_text(text, encoding="utf-8")
    return home


def resources(
    study: AskedStudy, folder: Path, *options: str
) -> dict[str, dict[str, str]]:
    """Return what every job that asks would be given."""
    values = ["--workflow-profile", str(folder), "--configfile", "study.yaml", *options]
    done = running.run(
        str(HOME / "tests" / "support" / "unworded.py"),
        "-n",
        "-s",
        str(HOME / "workflow" / "Snakefile"),
        *values,
        cwd=study.folder,
    )
    assert done.returncode == 0, done.stdout
    kept = {
        "api",
        "cpus_per_gpu",
        "cpus_per_task",
        "gpu",
        "gpu_model",
        "mem_mb",
        "runtime",
        "slurm_partition",
        "slurm_account",
    }
    return {
        about: {
            name: value
            for name, _, value in (name.partition("=") for name in key.split(", "))
            if name in kept
        }
        for rule, about, key in JOB.findall(done.stdout)
        if rule.startswith(("ask_", "compute", "write_"))
    }


PLAIN = {"mem_mb": "4000", "runtime": "240"}
ENDPOINT = {"api": "1", "mem_mb": "4000", "runtime": "1440"}
CORES = {"cpus_per_gpu": "8"}


def test_each_kind_of_asking_job_asks_for_its_own(kinds: AskedStudy) -> None:
    assert resources(kinds, profile(kinds.folder)) == {
        "loop": ENDPOINT,
        "wrong.single": ENDPOINT,
        "big": CORES | {"gpu": "1", "mem_mb": "64000", "runtime": "720"},
        "lexical": PLAIN,
        "control": PLAIN,
    }


def test_the_card_of_a_model_goes_before_the_profile(kinds: AskedStudy) -> None:
    machine = {"gpu_model": "h100", "cpus": 48, "mem_mb": 1500, "runtime": 7}
    kinds.card("models", "big", **BIG, **machine, tensor_parallel=2, data_parallel=4)
    result = resources(kinds, profile(kinds.folder))
    assert result["big"] == CORES | {
        "gpu": "8",
        "gpu_model": "h100",
        "cpus_per_task": "48",  # the plugin prefers it to the cores for each GPU
        "mem_mb": "1500",
        "runtime": "7",
    }
    assert result["loop"] == ENDPOINT


def test_each_rule_has_what_is_set_for_it_but_for_what_the_card_says(
    kinds: AskedStudy,
) -> None:
    """`set-resources` goes by the names of rules, and by no others; cards go before
    both.
    """
    kinds.card("models", "big", **BIG, mem_mb=1500)
    kinds.card("models", "plain", **BIG)
    kinds.card("perturbations", "wrong", **MADE | {"model": "big"})
    kinds.card("perturbations", "worse", **MADE | {"model": "plain"})
    methods = ["agreement", "discernment"]
    kinds.write(judges=["terse"], perturbations=["wrong", "worse"], methods=methods)
    values = [
        "write_gpu:mem_mb=9",
        "write_gpu:runtime=8",
        "write_gpu:gpu_model=a40",
        "write:runtime=7",
    ]
    result = resources(kinds, profile(kinds.folder), "--set-resources", *values)
    assert {name: result[name] for name in ("wrong.single", "worse.single")} == {
        "wrong.single": {
            "gpu": "1",
            "gpu_model": "a40",
            "mem_mb": "1500",
            "runtime": "8",
        },
        "worse.single": {"gpu": "1", "gpu_model": "a40", "mem_mb": "9", "runtime": "8"},
    }


def test_what_the_profile_invites_to_edit_can_be_edited(kinds: AskedStudy) -> None:
    all_of = {"slurm_account": "my_account", "slurm_partition": "cpu"}
    result = resources(kinds, profile(kinds.folder, edited=True))
    assert result["lexical"] == PLAIN | all_of
    assert result["loop"] == ENDPOINT | all_of
    on_gpus = {"gpu": "1", "gpu_model": "a100", "slurm_partition": "gpu"}
    assert result["big"] == CORES | all_of | on_gpus | {
        "mem_mb": "64000",
        "runtime": "720",
    }


@pytest.mark.long(17)
def test_a_workstation_limits_gpus_and_asks_for_nothing_else(kinds: AskedStudy) -> None:
    kinds.card("models", "big", **BIG, tensor_parallel=4)
    result = resources(kinds, WORKSTATION)
    assert result["big"] == {"gpu": "1"} and result["lexical"] == {}
    assert resources(kinds, WORKSTATION, "--resources", "gpu=4")["big"] == {"gpu": "4"}


def test_a_program_gets_the_gpus_of_its_card(kinds: AskedStudy) -> None:
    program = {"engine": "command", "argv": ["cat"]}
    kinds.card("models", "neural", **program, gpus=2)
    kinds.card("models", "plain", **program)
    kinds.card("judges", "first", model="neural")
    kinds.card("judges", "second", model="plain")
    kinds.write(judges=["first", "second", "large"], perturbations=[])
    result = resources(kinds, profile(kinds.folder))
    assert result["neural"] == PLAIN | {"gpu": "2"}
    assert result["plain"] == PLAIN


def on_cluster(study: AskedStudy) -> "subprocess.CompletedProcess[str]":
    """Run the study with the profile, but not with SLURM."""
    submit = f"{HOME / 'tests' / 'support' / 'submit.sh'} {{rule}} {{resources.mem_mb}}"
    values = [
        "--workflow-profile",
        str(profile(study.folder)),
        "--executor",
        "cluster-generic",
    ]
    values += [
        "--cluster-generic-submit-cmd",
        submit,
        "--seconds-between-status-checks",
        "1",
    ]
    return study.run(*values)


@pytest.mark.long(20)
def test_a_submit_script_is_enough(study: AskedStudy) -> None:
    """Only what asks is submitted; a job that fails is submitted again, with more
    memory.
    """
    study.card("perturbations", "wrong", model="loop", **MADE)
    study.write(perturbations=["wrong"], methods=["discernment"], allow_missing=True)
    study.endpoint.script = lambda body: (
        rate(body) if len(study.endpoint.asked) > 1 else refusal(401, "not yet")
    )
    study.model(limits=FAST | {"concurrency": 1})
    done = on_cluster(study)
    assert done.returncode == 0, done.stdout
    submitted = (study.folder / "submitted.txt").read_text("utf-8").splitlines()
    assert [line.rpartition(" ")[0] for line in submitted] == [
        "write_api 4000",
        "write_api 8000",
        "ask_api 4000",
    ]
    asked = len(study.endpoint.asked)
    present = outputs(study.folder / "results" / "asked")
    # on a workstation there is nothing left to do; and anew, it gives the same
    assert "no job ran" in study.run().stdout
    shutil.rmtree(study.folder / "results")
    assert study.run().returncode == 0
    assert outputs(study.folder / "results" / "asked") == present
    assert len(study.endpoint.asked) == asked
