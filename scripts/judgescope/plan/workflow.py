"""What the Snakefile needs besides the plan: messages, interpreters, commands,
resources of jobs.

Only the Snakefile imports this module, because it needs Snakemake.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from inspect import Parameter, signature
from pathlib import Path
from types import UnionType
from typing import Protocol, get_args, get_type_hints

from msgspec import Struct, to_builtins
from msgspec.structs import fields
from snakemake.exceptions import WorkflowError
from snakemake.resources import Resource

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME, WORKFLOW
from judgescope.engines import llama as llama
from judgescope.plan import access
from judgescope.plan.dag import Dag, Machine
from judgescope.plan.inputs import data_files, read_all
from judgescope.plan.loading import load_plan
from judgescope.plan.preflight import verified
from judgescope.plan.specs import study
from judgescope.schema.cards import TRAINED, LlamaModel, Model, VllmModel
from judgescope.schema.loading import load_yaml

DEMO = "config/config.yaml"
"""The study that is run by default."""
SCALARS = {str, int, float, bool, type(None)}
"""Types of the fields that the param `spec` contains."""


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a user's error into one that Snakemake shows without a traceback."""
    try:
        yield
    except (UserError, UserErrors) as error:
        raise WorkflowError(f"the study cannot run\n\n{error}\n") from None


def source_of(files: Sequence[str | Path], *, default: bool) -> str:
    """Return the name of a study's file in messages: the last of the config files.

    The default study has another name, because Snakemake keeps it in a different folder
    each time.
    """
    if default:
        return DEMO
    return (
        os.path.relpath(files[-1]) if files else "the config of the importing workflow"
    )


def read_study(
    config: Mapping[str, object],
    files: Sequence[str | Path],
    source: str,
    *,
    drafting: bool,
) -> Dag:
    """Return the jobs of the study in `config`, which Snakemake has read from
    `files`.
    """
    if not (WORKFLOW / "rules").is_dir():
        raise UserError(
            "the installed package does not contain the cards and rules of the "
            "workflow",
            where=f"judgescope in {Path(sys.prefix).name}",
            todo="install it from a clone: pip install --editable <clone>",
        )
    for path in map(Path, files):
        if path.suffix in {".yaml", ".yml"}:
            load_yaml(path)  # raises UserError for numbers that YAML 1.1 misreads
    plan = load_plan(config, HOME, source=source, drafting=drafting)
    return Dag(plan, data_files(plan))


# ---- the machine ---------------------------------------------------------------------


def export_places(*, conda: bool) -> None:
    """Set variables that name interpreters and the workflow for the shell commands of
    jobs.

    Snakemake neither tracks nor prints variables: another interpreter or a move re-runs
    no job, and no path of the machine is in a log. With conda, the interpreter is that
    of the environment that Snakemake has built from envs/ and activated.
    """
    pythons = {
        "JUDGESCOPE_PYTHON": sys.executable,
        "JUDGESCOPE_PYTHON_VLLM": str(HOME / ".venv-vllm" / "bin" / "python"),
        "JUDGESCOPE_PYTHON_TRAIN": str(HOME / ".venv-train" / "bin" / "python"),
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


def guard(jobs: Dag, *, conda: bool, sends: bool) -> None:
    """Stop before any job runs if a file is not the one that its card describes.

    If the study sends requests, also stop if data cannot be read or, with `sends`, a
    key or an environment is missing; without `sends`, such an environment is only
    reported.
    """
    with refusing():
        verified(study.preflight(jobs.plan))
        if sends:
            access.check_keys(jobs.plan, jobs.plan.models)
            for key in study.key_sources(jobs.plan, jobs.plan.models):
                key.check()
        try:
            if not conda:
                check_interpreters(jobs.plan.models, os.environ)
        except UserError as error:
            if sends:
                raise
            print(f"  before a run: {error}", flush=True)
        read_all(jobs.plan)


# ---- directives of rules -------------------------------------------------------------


def command(
    job: str,
    *options: str,
    python: str = "JUDGESCOPE_PYTHON",
    log: str = "> {log:q} 2>&1",
) -> str:
    """Return the shell command of a job, which reads its spec from standard input.

    `python` is the name of the variable with its interpreter.
    """
    script = '"$JUDGESCOPE_HOME"/scripts/job.py'
    words = [f'"${{{{{python}}}}}"', script, job, "--spec", "-", *options, log]
    return f"printf '%s\\n' {{params:q}} | {' '.join(words)}"


def spec_params(
    spec: Callable[..., Struct], *known: object
) -> dict[str, Callable[..., str]]:
    """Return the params of a rule: JSON objects that together are the spec of a job.

    `spec` takes `known`, then the rule's wildcards by the names of its positional
    parameters. Snakemake prints only the params that differ, so there are several:
    `code` identifies the code, `spec` has the single values, and every other field of
    the record is a param of its own.
    """
    parameters = list(signature(spec).parameters.values())[len(known) :]
    names = [one.name for one in parameters if one.kind is not Parameter.KEYWORD_ONLY]
    param_of = _params_of(get_type_hints(spec)["return"])

    @lru_cache(maxsize=1)  # Snakemake asks for the params of a job one by one
    def texts(*wildcards: str) -> dict[str, str]:
        parts: dict[str, dict[str, object]] = {param: {} for param in param_of.values()}
        for name, value in to_builtins(spec(*known, *wildcards)).items():
            parts[param_of[name]][name] = value
        # Snakemake's report holds params in a <script> element, which a "<" could close
        # early.
        return {
            param: canonical(part).replace("<", "\\u003c")
            for param, part in parts.items()
        }

    def text(wildcards: Mapping[str, str], *, param: str) -> str:
        return texts(*(wildcards[name] for name in names))[param]

    return {
        param: partial(text, param=param) for param in dict.fromkeys(param_of.values())
    }


def _params_of(records: type[Struct] | UnionType) -> dict[str, str]:
    """Return field -> the param that contains it, for one type of record or several."""
    param_of = {}
    for record in get_args(records) or (records,):
        for field in fields(record):
            union = isinstance(field.type, UnionType)
            types = set(get_args(field.type)) if union else {field.type}
            if field.name in {"code", "versions"}:
                param_of[field.name] = "code"
            else:
                param_of[field.name] = (
                    "spec" if types <= SCALARS else f"spec_{field.name}"
                )
    return param_of


def title_label(path: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """Return a function that labels a part of `snakemake --report` by its title."""

    def label(wildcards: Mapping[str, str]) -> dict[str, str]:
        from judgescope.report.page import title_of

        return {"title": title_of(path.format(**wildcards))}

    return label


class Rules(Protocol):
    """The `rules` of a Snakefile; each is an attribute."""

    def has(self, name: str) -> bool:
        """Return whether there is a rule of this name."""


def let_card_decide(
    rules: Rules,
    names: Iterable[str],
    resources: Iterable[str],
    machine: Callable[..., Machine],
) -> None:
    """Let the resources in a model's card override those of a profile and the command
    line.

    Without a card, a rule has what `set-resources` names for it, or else
    `default-resources`. `machine` returns the card's resources for an attempt and the
    job's wildcards. A workflow that imports this one may have left a rule out.
    """
    for name in filter(rules.has, names):
        values = getattr(rules, name).rule.resources
        for resource in resources if values is not None else ():
            values[resource] = _card_first(resource, values.get(resource), machine)


def _card_first(
    resource: str, otherwise: Resource, machine: Callable[..., Machine]
) -> Callable[..., object]:
    """Return a resource as in the card, or `otherwise` if the card does not name it."""

    # Snakemake passes only arguments that the signature names.
    def value(
        wildcards: Mapping[str, str],
        input: object,
        attempt: int,
        threads: int,
        rulename: str,
        async_run: object,
    ) -> object:
        of_card = machine(attempt, **wildcards).get(resource)
        if of_card is not None:
            return of_card
        context = {"input": input, "attempt": attempt, "threads": threads}
        context |= {"rulename": rulename, "async_run": async_run}
        return otherwise.evaluate(wildcards, **context).value

    return value
