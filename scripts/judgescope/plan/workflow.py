"""What the Snakefile needs beside the plan: messages, interpreters, commands, resources of jobs.

Only the Snakefile imports this module: it needs Snakemake.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.json import decode
from snakemake.exceptions import WorkflowError

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME, WORKFLOW
from judgescope.plan.dag import Dag, Machine
from judgescope.plan.inputs import data_files
from judgescope.plan.interpreters import check_interpreters
from judgescope.plan.loading import load_plan
from judgescope.plan.preflight import PreflightSpec, preflight
from judgescope.plan.reading import read_all
from judgescope.plan.specs import Specs
from judgescope.schema.loading import load_yaml

DEMO = "config/config.yaml"
"""The study that is run where none is named."""
COMPUTES = ("code", "versions")
"""Keys of a spec that say what computes; the others say what is computed."""


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a user's error into one that Snakemake shows without a traceback."""
    try:
        yield
    except (UserError, UserErrors) as error:
        raise WorkflowError(f"the study cannot run\n\n{error}\n") from None


def source_of(files: Sequence[str | Path], *, default: bool) -> str:
    """Return how messages name the file of a study: the last of the config files.

    The default study lies in a folder of Snakemake's, another one in each process.
    """
    if default:
        return DEMO
    return os.path.relpath(files[-1]) if files else "the config of the importing workflow"


def read_study(
    config: Mapping[str, Any], files: Sequence[str | Path], source: str, *, drafting: bool
) -> Dag:
    """Return the jobs of the study in `config`, which Snakemake has read from `files`."""
    if not (WORKFLOW / "rules").is_dir():
        raise UserError(
            "the installed package has no cards and no rules beside it",
            where=f"judgescope in {Path(sys.prefix).name}",
            todo="install it from a clone: pip install --editable <clone>",
        )
    for path in map(Path, files):
        if path.suffix in {".yaml", ".yml"}:
            load_yaml(path)  # refuses what YAML 1.1 reads as another value
    plan = load_plan(config, HOME, source=source, drafting=drafting)
    return Dag(Specs(plan, HOME, f"results/{plan.study.study}"), data_files(plan))


# ---- the machine --------------------------------------------------------------------------------


def export_places(*, conda: bool) -> None:
    """Tell the shell commands of jobs, by variables, where interpreters and the workflow are.

    Snakemake neither tracks nor prints variables: another interpreter or a move re-runs no job, and
    no path of the machine is in a log. With conda the interpreter is that of the environment that
    Snakemake has built from envs/ and activated.
    """
    pythons = {
        "JUDGESCOPE_PYTHON": sys.executable,
        "JUDGESCOPE_PYTHON_VLLM": str(HOME / ".venv-vllm" / "bin" / "python"),
        "JUDGESCOPE_PYTHON_TRAIN": str(HOME / ".venv-train" / "bin" / "python"),
    }
    for name, path in pythons.items():
        os.environ[name] = "python" if conda else os.environ.get(name, path)
    os.environ["JUDGESCOPE_HOME"] = str(HOME)
    # A job is one thread to Snakemake, so it is to NumPy: starting idle threads costs 0.1 s a job.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def guard(jobs: Dag, *, conda: bool) -> None:
    """Stop before anything is run or asked if a file is not the one its card describes.

    So too, where anything is asked, if data cannot be read.
    """
    with refusing():
        preflight(decode(jobs.specs.preflight(), type=PreflightSpec))
        if not conda:
            check_interpreters(jobs.plan, os.environ)
        read_all(jobs.plan, jobs.paths.results)


# ---- directives of rules ------------------------------------------------------------------------


def command(
    job: str, *options: str, python: str = "JUDGESCOPE_PYTHON", log: str = "> {log:q} 2>&1"
) -> str:
    """Return the shell command of a job, which reads its spec from standard input.

    `python` is the variable that holds its interpreter.
    """
    script = '"$JUDGESCOPE_HOME"/scripts/job.py'
    words = [f'"${{{{{python}}}}}"', script, job, "--spec", "-", *options, log]
    return f"printf '%s\\n' {{params.code:q}} {{params.spec:q}} | {' '.join(words)}"


def spec_params(spec: Callable[..., str]) -> dict[str, Callable[[Any], str]]:
    """Return the params `code` and `spec` of a rule; `spec` takes the rule's wildcards.

    Snakemake prints only the params that differ: after a change of code, two lines, not the spec.
    """

    @lru_cache(maxsize=1)
    def both(**wildcards: str) -> tuple[str, str]:
        fields = msgspec.json.decode(spec(**wildcards), type=dict[str, msgspec.Raw])
        code = {key: fields.pop(key) for key in COMPUTES if key in fields}
        return msgspec.json.encode(code).decode(), msgspec.json.encode(fields).decode()

    return {
        "code": lambda wildcards: both(**wildcards)[0],
        "spec": lambda wildcards: both(**wildcards)[1],
    }


def title_label(path: str) -> Callable[[Any], dict[str, str]]:
    """Return what labels a part of the report by its title, in `snakemake --report`."""

    def label(wildcards: Any) -> dict[str, str]:
        from judgescope.report.page import title_of

        return {"title": title_of(path.format(**wildcards))}

    return label


def let_card_decide(
    rules: Any, names: Iterable[str], resources: Iterable[str], machine: Callable[..., Machine]
) -> None:
    """Let what a model's card says of a job's machine go before a profile and the command line.

    A rule has what `set-resources` says of it, else what `default-resources` says. `machine` is
    what the card says, of an attempt and the job's wildcards. A workflow that imports this one may
    have left a rule out.
    """
    for name in filter(rules.has, names):
        values = getattr(rules, name).rule.resources
        for resource in resources if values is not None else ():
            values[resource] = _card_first(resource, values.get(resource), machine)


def _card_first(
    resource: str, otherwise: Any, machine: Callable[..., Machine]
) -> Callable[..., Any]:
    """Return a resource as the card has it, and `otherwise` where the card does not say."""

    # Snakemake passes by name only what the signature has.
    def value(
        wildcards: Any, input: Any, attempt: int, threads: int, rulename: str, async_run: Any
    ) -> Any:
        of_card = machine(attempt, **wildcards).get(resource)
        if of_card is not None:
            return of_card
        context = {"input": input, "attempt": attempt, "threads": threads}
        context |= {"rulename": rulename, "async_run": async_run}
        return otherwise.evaluate(wildcards, **context).value

    return value
