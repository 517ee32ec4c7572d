"""What the Snakefile needs besides the plan: messages, interpreters, commands,
resources of jobs.

Only the Snakefile imports this module, because it needs Snakemake.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from inspect import Parameter, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, NamedTuple, Protocol, get_args, get_origin, get_type_hints

from msgspec import Struct, to_builtins
from msgspec.structs import fields
from snakemake.exceptions import WorkflowError
from snakemake.resources import Resource
from snakemake.settings.types import StorageSettings

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.job_files import job_files
from judgescope.core.paths import HOME, WORKFLOW
from judgescope.methods.registry import sentence_of
from judgescope.plan.dag import Dag, Machine
from judgescope.plan.guard import check_before_jobs
from judgescope.plan.inputs import data_files
from judgescope.plan.loading import load_plan
from judgescope.schema.loading import load_yaml


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
    # The study that is run by default.
    demo = "config/config.yaml"
    if default:
        return demo
    if files:
        return os.path.relpath(files[-1])
    return "the config of the importing workflow"


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


def refuse_storage(settings: StorageSettings | None) -> None:
    """Raise WorkflowError if results are to be kept by a storage plugin."""
    provider = settings and settings.default_storage_provider
    if provider:
        raise WorkflowError(
            "this workflow needs a file system that all jobs see; the storage plugin "
            f"`{provider}` is not supported; do: leave out --default-storage-provider; "
            "in a cloud use one machine or a SLURM cluster (docs/guide/slurm.md)"
        )


# ---- the machine ---------------------------------------------------------------------


def guard(jobs: Dag, *, conda: bool, sends: bool) -> None:
    """Stop before any job runs, as `check_before_jobs` does."""
    with refusing():
        check_before_jobs(jobs.plan, conda=conda, sends=sends)


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


class RuleJobs:
    """The jobs of a rule: their specs, and what follows from these.

    `spec` takes `known`, then the rule's wildcards by the names of its positional
    parameters. `records` are the types of the specs, if the signature names none.
    """

    def __init__(
        self,
        spec: Callable[..., Struct],
        *known: object,
        records: Iterable[type[Struct]] = (),
    ) -> None:
        self._spec = spec
        self._known = known
        parameters = list(signature(spec).parameters.values())[len(known) :]
        self._wildcards = [
            parameter.name
            for parameter in parameters
            if parameter.kind is not Parameter.KEYWORD_ONLY
        ]
        returned = get_type_hints(spec)["return"]
        self._param_of = _params_of(records or get_args(returned) or [returned])
        # Snakemake asks for the inputs of a job, then for its params one by one.
        self._job = cache(self._described)

    def inputs(self, wildcards: Mapping[str, str]) -> list[str]:
        """Return the files that a job's spec says it reads."""
        return self._of(wildcards).inputs

    @property
    def params(self) -> dict[str, Callable[..., str]]:
        """Return the params of the rule: JSON objects that together are a job's spec.

        Snakemake prints only the params that differ, so there are several: `code`
        identifies the code, `spec` has the single values, and every other field of the
        record is a param of its own. Raises WorkflowError for a job whose rule declares
        other outputs than its spec names: Snakemake would miss them, or never make
        them.
        """
        # A param of its own: Snakemake does not compare those that depend on outputs.
        return self.params_of_part | {"checked": self._checked}

    @property
    def params_of_part(self) -> dict[str, Callable[..., str]]:
        """Return the params of a rule whose jobs do a part of what their spec says."""
        names = dict.fromkeys(self._param_of.values())
        return {param: partial(self._text, param=param) for param in names}

    def _text(self, wildcards: Mapping[str, str], *, param: str) -> str:
        return self._of(wildcards).params[param]

    def _checked(self, wildcards: Mapping[str, str], output: Iterable[str]) -> str:
        """Return an empty part of the spec, if the rule's outputs are the job's."""
        job = self._of(wildcards)
        declared = sorted(map(str, output))
        if declared != sorted(job.outputs):
            raise WorkflowError(
                f"a rule declares the outputs {declared}, but the spec of its job "
                f"names {sorted(job.outputs)}"
            )
        return "{}"

    def _of(self, wildcards: Mapping[str, str]) -> "_Job":
        return self._job(*(wildcards[name] for name in self._wildcards))

    def _described(self, *wildcards: str) -> "_Job":
        spec = self._spec(*self._known, *wildcards)
        parts: dict[str, dict[str, object]] = {
            param: {} for param in self._param_of.values()
        }
        for name, value in to_builtins(spec).items():
            parts[self._param_of[name]][name] = value
        # Snakemake's report holds params in a <script> element, which a "<" could close
        # early.
        params = {}
        for param, part in parts.items():
            params[param] = canonical(part).replace("<", "\\u003c")
        files = job_files(spec)
        return _Job(files.inputs, files.outputs, params)


class _Job(NamedTuple):
    """The files that a job reads and writes, and its spec as params."""

    inputs: list[str]
    outputs: list[str]
    params: dict[str, str]


def _params_of(records: Iterable[type[Struct]]) -> dict[str, str]:
    """Return field -> the param that contains it, for one type of record or several."""
    param_of = {}
    # Types of the fields that the param `spec` contains.
    scalars = {str, int, float, bool, type(None)}
    for record in records:
        for field in fields(record):
            if field.name in {"code", "versions"}:
                param_of[field.name] = "code"
            elif _types_of(field.type) <= scalars:
                param_of[field.name] = "spec"
            else:
                param_of[field.name] = f"spec_{field.name}"
    return param_of


def _types_of(hint: object) -> set[object]:
    """Return the types in a union, or a single type; without marks of its files."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if isinstance(hint, UnionType):
        return set(get_args(hint))
    return {hint}


def table_label(table: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """Return a function that labels a result table in `snakemake --report`: its name,
    and a sentence on what it says.
    """

    def label(_: Mapping[str, str]) -> dict[str, str]:
        return {"table": table, "contents": sentence_of(table)}

    return label


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
