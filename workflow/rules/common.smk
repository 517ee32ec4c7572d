# The plan of the study, and what every rule needs of it.

import gc
import json
import os
import sys
from pathlib import Path

# This file's place, not the Snakefile's: another workflow may import this one as a module.
HOME = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(HOME / "scripts"))

from metajudge.distillation.sampling import student_file
from metajudge.plan import load_plan
from metajudge.plan.dag import Dag, any_of, executor
from metajudge.plan.inputs import card_files, data_files, unfetched, without_folders
from metajudge.plan.interpreters import check_interpreters, check_vllm
from metajudge.plan.pages import annotated, damaged
from metajudge.plan.preflight import preflight
from metajudge.plan.reading import read_all
from metajudge.plan.specs import Specs
from metajudge.plan.writers import ALL, REST, TRIAL, graded, improvements
from metajudge.schema.errors import UserError, UserErrors
from metajudge.schema.loading import load_yaml
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# The jobs of a study are objects that stay to the end. Looking for garbage among them, again after
# every 700 new ones, took a tenth of the time of planning 10,000 cells.
gc.set_threshold(100_000)

# Which file a study came from, for messages: of the command line, or of a `configfile:`. The one
# that is taken by default lies in a folder of Snakemake's, another one in each process.
_files = workflow.overwrite_configfiles or workflow.configfiles
SOURCE = (
    "config/config.yaml"
    if BY_DEFAULT
    else (
        os.path.relpath(_files[-1])
        if _files
        else "the config of the importing workflow"
    )
)

try:
    for _file in _files:
        if Path(_file).suffix in {".yaml", ".yml"}:
            load_yaml(Path(_file))  # refuses what YAML reads otherwise than it looks
    PLAN = load_plan(config, HOME, source=SOURCE, drafting=DRAFTING)
    OUT = f"results/{PLAN.study.study}"
    SPECS = Specs(PLAN, HOME, OUT)
    FILES = data_files(PLAN)
    JOBS = Dag(SPECS, FILES)
    UNFETCHED = unfetched(PLAN)
    CARDS = card_files(PLAN, HOME)
except (UserError, UserErrors) as error:
    raise WorkflowError(f"the study cannot run\n\n{error}\n") from None

# Jobs are told in their specs where results lie, which a module's prefix does not reach.
if workflow.modifier.path_modifier.replace_prefix(OUT, "output") != OUT:
    raise WorkflowError(
        "a module's `prefix` and `replace_prefix` cannot move the results of this workflow: leave "
        f"them out, and its files lie in {OUT}, below the working directory"
    )

# Where a stage's interpreter and the workflow lie is nobody's business but the machine's:
# resources are not tracked, so that neither another interpreter nor a move re-runs a job. With
# `--sdm conda` it is that of the environment which Snakemake builds from envs/ and activates.
CONDA = "conda" in {str(one) for one in workflow.deployment_settings.deployment_method}
PYTHON = {
    "core": os.environ.get("METAJUDGE_PYTHON", sys.executable),
    "vllm": os.environ.get(
        "METAJUDGE_PYTHON_VLLM", str(HOME / ".venv-vllm" / "bin" / "python")
    ),
    "train": os.environ.get(
        "METAJUDGE_PYTHON_TRAIN", str(HOME / ".venv-train" / "bin" / "python")
    ),
}
if CONDA:
    PYTHON = dict.fromkeys(PYTHON, "python")
# A job is one thread to Snakemake, so it is to NumPy: starting idle threads costs 0.1 s a job.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

DATASETS = list(PLAN.datasets)
IMPROVED = improvements(PLAN)

JUDGE_CARDS = [
    f"{OUT}/report/judges/{name}.html" for name in [*PLAN.judges, *PLAN.derived]
]

# What a check cannot read: which texts a judge learns from is known once all are there.
UNREAD = list(dict.fromkeys([*UNFETCHED, *PLAN.taught])) if UNFETCHED else []

# For the rules of asking.smk.
FIRST = JOBS.first
target_sets, analyses_for, learnt, access = (
    JOBS.targets,
    JOBS.analyses,
    JOBS.learnt,
    JOBS.access,
)


def stage(model):
    """Return the environment in which a model answers or is asked."""
    return "vllm" if executor(PLAN, model) == "gpu" else "core"


def guard():
    """Stop before anything is run or asked if a file is not the one its card describes.

    So too, where anything is asked, if data cannot be read.
    """
    for name in workflow.resource_settings.overwrite_scatter:
        if name not in filter(PLAN.is_asked, PLAN.models):
            logger.warning(
                f"--set-scatter {name}: no model of this study that is asked"
            )
    try:
        preflight(json.loads(SPECS.preflight()))
        if not CONDA:
            check_interpreters(PLAN, PYTHON)
        read_all(PLAN, OUT)
    except (UserError, UserErrors) as error:
        raise WorkflowError(f"the study cannot run\n\n{error}\n") from None


def cells_of(folder, dataset):
    """Return a dataset's cell files in one folder of the results."""
    return [f"{OUT}/{folder}/{'/'.join(c)}.parquet" for c in PLAN.cells_of(dataset)]


def answers_of(dataset):
    """Return a dataset's reply files; a judge derived from others has none."""
    return [
        f"{OUT}/replies/{'/'.join(cell)}.parquet"
        for cell in PLAN.cells_of(dataset)
        if cell.judge not in PLAN.derived
    ]


def names_for(dataset, model):
    """Return the file of the names in the data, by which recorded rows are joined."""
    joined = SPECS.joined(dataset, model)
    return [f"{OUT}/items/{dataset}.json"] if joined else []


def joined_files():
    """Return the files that tell how many rows of each recorded model were joined."""
    return [path for dataset in DATASETS for path in SPECS.joins(dataset)]


def lessons_for(table):
    """Return what came of a judge's training, for the table of it."""
    return (
        [SPECS.lessons[name] for name in ("losses", "export")]
        if table == "training"
        else []
    )


def located_in(cell):
    """Return the file of the texts in which the errors of a cell's replies are located, if any."""
    return list(SPECS.located(cell.dataset, cell.perturbation, cell.judge).values())


def errors_for(cell):
    """Return what the list of errors of an ensemble's cell is made of, none if it has none."""
    told = SPECS.errors(cell.dataset, cell.perturbation, cell.judge, cell.aspect)
    merged = [told["merged"]] if "merged" in told else []
    return [*told["lists"], told["targets"], *merged] if told else []


def bought_before(table, dataset):
    """Return the replies of a dataset and those before it: what they share is bought once."""
    names = DATASETS[: DATASETS.index(dataset) + 1] if table == "cost" else []
    return [f"{OUT}/collected/{name}/bought.parquet" for name in names]


def claimed_by(table):
    """Return the tables whose inputs the verdicts need, none for another table."""
    return SPECS.claimed if table == "verdicts" else []


def decided_by(table, dataset):
    """Return the parts of tables that the study's bars are held against, for the verdicts."""
    names = SPECS.decided_by if table == "verdicts" else []
    return [f"{OUT}/statistics/{name}/{dataset}.parquet" for name in names]


def built_for(table, dataset):
    """Return what the statistics of graded sets are made from, beside their texts."""
    found = []
    sets = [SPECS.known(dataset, name) for name, _ in PLAN.perturbed(dataset, "graded")]
    if table in {"perspectives", "construction"} or "perspectives" in claimed_by(table):
        found += [one["file"] for one in sets]
    if table == "construction":
        found += [f"{OUT}/collected/{dataset}/bought.parquet"]
        found += [
            path for one in sets for path in [one["anchors"], *one["compared"]] if path
        ]
    return found


def marked_for(table, dataset):
    """Return the errors that judges list, and those that people marked, for their table."""
    if table != "spans" and "spans" not in claimed_by(table):
        return []
    gold = SPECS.gold(dataset)
    return [f"{OUT}/collected/{dataset}/marked.parquet", *([gold] if gold else [])]


def annotated_files():
    """Return the files of the texts that the report shows with the errors that judges list."""
    told = annotated(PLAN, OUT).values()
    return [one[k] for one in told for k in ("marked", "targets", "gold") if one[k]]


def labels_of(path):
    """Return what labels a part of the report by its title, in `snakemake --report`."""

    def told(wildcards):
        from metajudge.report.parts import title_of

        return {"title": title_of(path.format(**wildcards))}

    return told


def texts_page():
    """Return the page of damaged texts, for a study that has any."""
    return [f"{OUT}/report/texts.html"] if damaged(PLAN) else []


def needs(model, asks=True):
    """Return what a job that asks a model needs of its machine, beside a thread.

    A job whose parts have asked it all already (not `asks`) only computes.

    `set-resources` of a profile goes by rules' names, and those of asking jobs are made from cards:
    it says ask_gpu, ask_api or ask_cpu for all of a kind. What a model's own card says goes before.
    """
    card = PLAN.models[model]
    kinds = {"vllm": "ask_gpu", "openai": "ask_api"}
    kind = kinds.get(card.engine, "ask_cpu") if asks else "ask_cpu"
    told = workflow.resource_settings.overwrite_resources.get(kind, {})
    found = {name: from_profile(value) for name, value in told.items()}
    if kind == "ask_api":
        found["api"] = 1
    if kind == "ask_gpu":
        found |= card.machine
    if kind == "ask_gpu" and card.mem_mb:
        found["mem_mb"] = lambda wildcards, attempt: attempt * card.mem_mb
    return found


def from_profile(value):
    """Return a resource of a profile, a value or an expression, in the way a rule has it."""
    if not value.is_evaluable():
        return value.value
    return (
        lambda wildcards, input, attempt, threads, rulename, async_run: value.evaluate(
            wildcards,
            input=input,
            attempt=attempt,
            threads=threads,
            rulename=rulename,
            async_run=async_run,
        ).value
    )


def let_card_decide(machine, *names):
    """Let what a model's card says of a job's machine go before a profile and the command line.

    A rule has what `set-resources` says of it, else what `default-resources` says. `machine` is
    what the card says, of an attempt and the job's wildcards. A workflow that imports this one may
    have left a rule out.
    """
    for rule in filter(rules.has, names):
        resources = getattr(rules, rule).rule.resources
        for name in JOBS.of_machine if resources is not None else ():
            resources[name] = card_first(name, resources.get(name), machine)


def card_first(name, otherwise, machine):
    """Return a resource as the card has it, and as it was where the card does not say."""

    def value(wildcards, input, attempt, threads, rulename, async_run):
        told = {"input": input, "attempt": attempt, "threads": threads}
        told |= {"rulename": rulename, "async_run": async_run}
        said = machine(attempt, **wildcards).get(name)
        return otherwise.evaluate(wildcards, **told).value if said is None else said

    return value


wildcard_constraints:
    dataset=any_of(DATASETS),
    judge=any_of([*PLAN.judges, *PLAN.derived]),
    aspect=any_of(cell.aspect for cell in PLAN.cells),
    perturbation=any_of(
        f"{name}" for cell in PLAN.cells for name in [cell.perturbation]
    ),
    damage=JOBS.damage(),
    degree="minor|major|single|attack|inert",
    table=any_of(SPECS.tables),
