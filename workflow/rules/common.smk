# The plan of the study, and what every rule needs of it.

import gc
import json
import os
import shlex
import sys
from pathlib import Path

# This file's place, not the Snakefile's: another workflow may import this one as a module.
HOME = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(HOME / "scripts"))

from metajudge.cells import DERIVED
from metajudge.distillation.sampling import student_file
from metajudge.perturb import RULES
from metajudge.plan import load_plan
from metajudge.plan.distilling import student_of
from metajudge.plan.inputs import card_files, data_files, unfetched, without_folders
from metajudge.plan.interpreters import check_interpreters, check_vllm
from metajudge.plan.pages import annotated, damaged
from metajudge.plan.preflight import preflight
from metajudge.plan.reading import read_all
from metajudge.plan.specs import Specs
from metajudge.plan.study import Cell
from metajudge.plan.writers import (
    MERGES,
    REFEREE,
    REST,
    WRITTEN,
    Maker,
    analyses_of,
    analysts,
    graded,
    improvements,
    made_of,
    parts_of,
    supervisors,
    waiting,
    writer_of,
)
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
COMPUTING = {name for name in PLAN.models if PLAN.computes(name)}
IMPROVED = improvements(PLAN)
SPANNED = {name for name, card in PLAN.datasets.items() if card.gives_spans}


JUDGE_CARDS = [
    f"{OUT}/report/judges/{name}.html" for name in [*PLAN.judges, *PLAN.derived]
]

# What a check cannot read: which texts a judge learns from is known once all are there.
UNREAD = list(dict.fromkeys([*UNFETCHED, *PLAN.taught])) if UNFETCHED else []

# Where a judge learns, nothing is asked before it is known that its model can be trained.
FIRST = [student_file(OUT)] if PLAN.taught else []


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


def judged_of(dataset):
    """Return the files of a dataset's judgments and scores, or the folders of computed ones."""
    kinds = ("judgments", "scores")
    files = [made_in(kind, cell) for cell in PLAN.cells_of(dataset) for kind in kinds]
    return list(dict.fromkeys(files))


def made_in(kind, cell):
    """Return what a job makes that holds a kind of file of a cell: it, or the model's folder."""
    model = PLAN.model_of(cell.judge)
    if model in COMPUTING:
        return f"{OUT}/{kind}/{cell.dataset}/{model}"
    return PLAN.file(OUT, kind, cell)


def answers_of(dataset):
    """Return what stands for a dataset's replies, and for what is computed."""
    models = [name for name in PLAN.models if PLAN.cells_of(dataset, name)]
    return [
        (
            f"{OUT}/scores/{dataset}/{name}"
            if name in COMPUTING
            else SPECS.hashes(dataset, name)
        )
        for name in models
    ]


def made_files(dataset, names):
    """Return the files of the replies behind what models wrote: texts, or analyses for judges."""
    return [f"{OUT}/made/{dataset}/{name}.parquet" for name in names]


def written_for(dataset):
    """Return the replies behind what was made for a dataset.

    They are targets: where `metajudge replies retry` deletes one, it is made again.
    """
    rated = [
        SPECS.construction(dataset, name, "rated")
        for name, _ in PLAN.perturbed(dataset, "graded")
        for card in [graded(PLAN).get(name)]
        if card and card.anchors and card.anchors.judge
    ]
    return made_files(dataset, made_of(PLAN, dataset)) + rated


def names_for(dataset, model):
    """Return the file of the names in the data, by which recorded rows are joined."""
    joined = SPECS.joined(dataset, model)
    return [f"{OUT}/items/{dataset}.json"] if joined else []


def joined_files():
    """Return the files that tell how many rows of each recorded model were joined."""
    return [path for dataset in DATASETS for path in SPECS.joins(dataset)]


def analyses_for(dataset, model):
    """Return the files of analyses that judges of a model are shown."""
    judges = {cell.judge for cell in PLAN.cells_of(dataset, model)}
    shown = {
        told.model for told in (analyses_of(PLAN, name) for name in judges) if told
    }
    return [f"{OUT}/analyses/{dataset}/{name}.parquet" for name in sorted(shown)]


def learnt(dataset, model):
    """Return what a judge's model learns first, or what says which texts a judge learns from."""
    sample = SPECS.sampled(dataset).values()
    return [*sample, *(SPECS.adapter if SPECS.trained(model) else [])]


def sampled():
    """Return the file that says which texts a judge learns from, of a study where one does."""
    return list(
        {path for dataset in PLAN.taught for path in SPECS.sampled(dataset).values()}
    )


def lessons_for(table):
    """Return what came of a judge's training, for the table of it."""
    return (
        [SPECS.lessons[name] for name in ("losses", "export")]
        if table == "training"
        else []
    )


def cell_in(wildcards):
    """Return the cell that wildcards name."""
    return Cell(wildcards.dataset, wildcards.perturbation, wildcards.judge)


def located_in(wildcards):
    """Return the file of the texts in which the errors of a cell's replies are located, if any."""
    path = SPECS.located(*cell_in(wildcards))
    return [path] if path else []


def of_members(cell):
    """Return what a derived judge's cell is made of: its members' scores, and what they list."""
    names = PLAN.derived[cell.judge].members
    errors = SPECS.errors(cell)
    kinds = ["scores", *(["judgments"] if errors else [])]
    members = [
        made_in(kind, cell._replace(judge=name)) for kind in kinds for name in names
    ]
    others = [errors.targets, errors.merged] if errors else []
    return [*members, *(path for path in others if path)]


def merged_of(dataset, model):
    """Return what the lists of errors are made of that a supervisor merges: members, and texts."""
    ensembles = supervisors(PLAN, dataset)[model]
    cells = [cell for cell in PLAN.cells_of(dataset) if cell.judge in ensembles]
    files = [
        made_in(kind, cell._replace(judge=name))
        for cell in cells
        for name in PLAN.derived[cell.judge].members
        for kind in ("judgments", "scores")
    ]
    texts = [f"{OUT}/targets/{dataset}/{cell.perturbation}.parquet" for cell in cells]
    return list(dict.fromkeys([*files, *texts]))


def merge_spec(dataset, model):
    """Return the spec of the lists that a supervisor merges, made when a job needs it."""
    return lambda wildcards: SPECS.merge(dataset, model)


def analyse_spec(dataset, model):
    """Return the spec of the analyses by a model, made when a job needs it."""
    return lambda wildcards: SPECS.analyse(dataset, model)


def new_spec(dataset, model):
    """Return the spec of the texts that a model writes to be learnt from."""
    return lambda wildcards: SPECS.write_new(dataset, model)


def improve_spec(dataset):
    """Return the spec of a dataset's improved originals, made when a job needs it."""
    return lambda wildcards: SPECS.improve(dataset)


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


def references_for(dataset):
    """Return the file of the references that a model writes for a dataset, if it does."""
    path = SPECS.written_references(dataset)
    return [path] if path else []


def meta_of(dataset, damage):
    """Return the items' file for a rule that needs something of their meta."""
    card = PLAN.perturbations[damage]
    needs = card.method == "rule" and RULES[card.rule].meta
    return [f"{OUT}/items/{dataset}.parquet"] if needs else []


def one_by_one(dataset):
    """Return those sets of a dataset's targets that models write text by text."""
    return [
        name
        for name in PLAN.written(dataset)
        if isinstance(writer_of(PLAN, dataset, name), Maker)
    ]


def texts_page():
    """Return the page of damaged texts, for a study that has any."""
    return [f"{OUT}/report/texts.html"] if damaged(PLAN) else []


def target_sets(dataset, written=True):
    """Return the files of a dataset's targets, with or without those that wait for a model."""
    left = [] if written else waiting(PLAN, dataset)
    return [
        f"{OUT}/targets/{dataset}/{name}.parquet"
        for name in PLAN.target_sets(dataset)
        if name not in left
    ]


def access(model):
    """Return where an asked model's endpoint and replies are, and what may be spent on it.

    These are options, which no output depends on.
    """
    if not PLAN.is_asked(model):
        return ""
    card = f"{PLAN.folders['model', model]}/{model}.yaml"
    places = ["--card", card, "--store", PLAN.study.store]
    return shlex.join([*places, "--budget", SPECS.budget()])


def stage(model):
    """Return the environment in which a model answers or is asked."""
    return "vllm" if PLAN.models[model].engine == "vllm" else "core"


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


def trainee_needs():
    """Return what the jobs need of their machine in which a model is trained: one GPU, if any."""
    if not PLAN.taught:
        return {}
    on_gpu = PLAN.distillation.recipe.device == "cuda"
    told = needs(student_of(PLAN)[1].model, asks=on_gpu)
    return {**told, "gpu": 1} if on_gpu else told


def trainee_access(checkpoints=False):
    """Return where the model lies that is trained, and with `checkpoints` where it is saved."""
    if not PLAN.taught:
        return ""
    model = student_of(PLAN)[1].model
    card = f"{PLAN.folders['model', model]}/{model}.yaml"
    place = ["--checkpoints", PLAN.distillation.checkpoints] if checkpoints else []
    return shlex.join(["--card", card, *place])


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


def one_of(names):
    """Return a wildcard constraint that allows these names only."""
    return "|".join(sorted(set(names))) or "none"


def given_in(role):
    """Return a wildcard constraint for the sets of texts of a role that datasets bring."""
    cards = PLAN.perturbations.items()
    return one_of(name for name, one in cards if getattr(one, "role", None) == role)


wildcard_constraints:
    dataset=one_of(DATASETS),
    judge=one_of([*PLAN.judges, *PLAN.derived]),
    model=one_of(PLAN.models),
    perturbation=one_of(one.perturbation for one in PLAN.cell_aspects),
    damage=one_of(
        name
        for name, card in PLAN.perturbations.items()
        if card.method in {"rule", "attack"}
    ),
    degree="minor|major|single|attack|inert",
    table=one_of(SPECS.tables),
