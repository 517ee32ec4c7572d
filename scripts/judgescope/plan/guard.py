"""What is checked before the first job of a study runs: the machine, keys and data."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.engines import llama as llama
from judgescope.plan import access
from judgescope.plan.inputs import read_all
from judgescope.plan.preflight import verified
from judgescope.plan.specs import study
from judgescope.plan.study import Plan
from judgescope.schema.cards import TRAINED, LlamaModel, Model, VllmModel


def export_places(*, conda: bool) -> None:
    """Set variables that name interpreters and the workflow for the shell commands of
    jobs.

    Snakemake neither tracks nor prints variables: another interpreter or a move re-runs
    no job, and no path of the machine is in a log. With conda, the interpreter is that
    of the environment that Snakemake has built from envs/ and activated.
    """
    pythons = {
        "JUDGESCOPE_PYTHON": sys.executable,
        "JUDGESCOPE_PYTHON_VLLM": str(Path.cwd() / ".venv-vllm" / "bin" / "python"),
        "JUDGESCOPE_PYTHON_TRAIN": str(Path.cwd() / ".venv-train" / "bin" / "python"),
    }
    for name, path in pythons.items():
        os.environ[name] = "python" if conda else os.environ.get(name, path)
    os.environ["JUDGESCOPE_HOME"] = str(HOME)
    # A job is one thread to Snakemake, so it is to NumPy: starting idle threads costs
    # 0.1 s a job.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def check_interpreters(models: Mapping[str, Model], environ: Mapping[str, str]) -> None:
    """Check that what the models need is installed: vLLM, what trains a judge,
    llama.cpp's binding.

    `environ` has the paths of the interpreters of other environments.
    """
    for name, model in models.items():
        if isinstance(model, LlamaModel):
            llama.check_binding(model)
        if isinstance(model, VllmModel):
            _check(environ, "with vLLM", f"models/{name}.yaml, key engine", "vllm")
            if model.adapter == TRAINED:
                _check(
                    environ, "for training", f"models/{name}.yaml, key adapter", "train"
                )


def _check(environ: Mapping[str, str], purpose: str, where: str, stage: str) -> None:
    variable = f"JUDGESCOPE_PYTHON_{stage.upper()}"
    if not os.access(environ[variable], os.X_OK):
        raise UserError(
            f"the environment {purpose} is not installed",
            where=where,
            got=environ[variable],
            todo=f"run `make env-{stage}`, or name its interpreter: export "
            f"{variable}=…",
        )


def check_before_jobs(plan: Plan, *, conda: bool, sends: bool) -> None:
    """Raise UserError or UserErrors if a file is not the one that its card describes.

    If the study sends requests, also if data cannot be read or, with `sends`, a key or
    an environment is missing; without `sends`, such an environment is only reported.
    """
    verified(study.preflight(plan))
    if sends:
        access.check_keys(plan, plan.models)
        for key in study.key_sources(plan, plan.models):
            key.check()
    try:
        if not conda:
            check_interpreters(plan.models, os.environ)
    except UserError as error:
        if sends:
            raise
        print(f"  before a run: {error}", flush=True)
    read_all(plan)
