# The plan of the study, and what every rule needs of it.

import gc
import json
import os
import sys
from pathlib import Path

# This file's place, not the Snakefile's: another workflow may import this one as a module.
HOME = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(HOME / "scripts"))

from judgescope.core.cells import DERIVED
from judgescope.core.paths import student_file
from judgescope.core.set_names import ALL, REST, TRIAL
from judgescope.plan import load_plan
from judgescope.plan.dag import Dag, any_of
from judgescope.plan.inputs import card_files, data_files, unfetched, without_folders
from judgescope.plan.interpreters import check_interpreters, check_vllm
from judgescope.plan.pages import annotated, damaged
from judgescope.plan.preflight import preflight
from judgescope.plan.reading import read_all
from judgescope.plan.specs import Specs
from judgescope.plan.generators import graded, improvements
from judgescope.core.errors import UserError, UserErrors
from judgescope.schema.loading import load_yaml
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
    "core": os.environ.get("JUDGESCOPE_PYTHON", sys.executable),
    "vllm": os.environ.get(
        "JUDGESCOPE_PYTHON_VLLM", str(HOME / ".venv-vllm" / "bin" / "python")
    ),
    "train": os.environ.get(
        "JUDGESCOPE_PYTHON_TRAIN", str(HOME / ".venv-train" / "bin" / "python")
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


def guard():
    """Stop before anything is run or asked if a file is not the one its card describes.

    So too, where anything is asked, if data cannot be read.
    """
    try:
        preflight(json.loads(SPECS.preflight()))
        if not CONDA:
            check_interpreters(PLAN, PYTHON)
        read_all(PLAN, OUT)
    except (UserError, UserErrors) as error:
        raise WorkflowError(f"the study cannot run\n\n{error}\n") from None


def joined_files():
    """Return the files that tell how many rows of each recorded model were joined."""
    return [path for dataset in DATASETS for path in SPECS.joins(dataset)]


def lessons_for(table):
    """Return what came of a judge's training, for the table of it."""
    if table != "training":
        return []
    return [SPECS.lessons.losses, SPECS.lessons.export]


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
        found += [one.file for one in sets]
    if table == "construction":
        found += [f"{OUT}/collected/{dataset}/bought.parquet"]
        found += [path for one in sets for path in [one.anchors, *one.compared] if path]
    return found


def marked_for(table, dataset):
    """Return the errors that judges list, and those that people marked, for their table."""
    if table != "spans" and "spans" not in claimed_by(table):
        return []
    gold = SPECS.gold(dataset)
    return [f"{OUT}/collected/{dataset}/marked.parquet", *([gold] if gold else [])]


def annotated_files():
    """Return the files of the texts that the report shows with the errors that judges list."""
    sets = annotated(PLAN, OUT).values()
    return [path for one in sets for path in (one.marked, one.targets, one.gold) if path]


def labels_of(path):
    """Return what labels a part of the report by its title, in `snakemake --report`."""

    def told(wildcards):
        from judgescope.report.parts import title_of

        return {"title": title_of(path.format(**wildcards))}

    return told


def texts_page():
    """Return the page of damaged texts, for a study that has any."""
    return [f"{OUT}/report/texts.html"] if damaged(PLAN) else []


def let_card_decide(machine, *names):
    """Let what a model's card says of a job's machine go before a profile and the command line.

    A rule has what `set-resources` says of it, else what `default-resources` says. `machine` is
    what the card says, of an attempt and the job's wildcards. A workflow that imports this one may
    have left a rule out.
    """
    for each in filter(rules.has, names):
        resources = getattr(rules, each).rule.resources
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
    model=any_of(PLAN.models),
    perturbation=any_of(one.perturbation for one in PLAN.cell_aspects),
    damage=JOBS.damage(),
    degree="minor|major|single|attack|inert",
    table=any_of(SPECS.tables),
