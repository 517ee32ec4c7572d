# The plan of the study, and the values from it that every rule needs.

import gc
import sys
from pathlib import Path

# A workflow on disk includes its package; a workflow from a repository uses the
# installed package.
_scripts = Path(str(workflow.current_basedir)).parents[1] / "scripts"
if (_scripts / "judgescope").is_dir():
    sys.path.insert(0, str(_scripts))

from judgescope import __version__
from snakemake.exceptions import WorkflowError

# The package has the plan of the jobs: with rules of another version, both may be right
# and not fit. `make release-check` holds the two equal.
RULES_VERSION = "0.2.0"
if __version__ != RULES_VERSION:
    raise WorkflowError(
        f"these rules are of judgescope {RULES_VERSION}, but the installed package is "
        f"{__version__}: install that version, or use the rules of version {__version__}"
    )

from judgescope.core.cells import DERIVED
from judgescope.core.extensions import extension_files
from judgescope.core.names import ORIGINAL, REFERENCES, SYSTEMS, GradedPart
from judgescope.core.paths import HOME
from judgescope.plan.dag import any_of
from judgescope.plan.generators import graded, improvements
from judgescope.plan.guard import export_places
from judgescope.plan.inputs import card_files, unfetched, without_folders
from judgescope.plan.specs import (
    graded_sets,
    judge_cards,
    judging,
    pages,
    results,
    study,
    text_pages,
    texts,
)
from judgescope.plan.specs.results import tables_of
from judgescope.plan.workflow import (
    RuleJobs,
    command,
    guard,
    let_card_decide,
    read_study,
    refuse_storage,
    refusing,
    source_of,
    table_label,
    title_label,
)

# The jobs of a study are objects that live to the end. Garbage collection among them,
# after every 700 new objects, took a tenth of the time to plan 10,000 cells.
gc.set_threshold(100_000)

_files = workflow.overwrite_configfiles or workflow.configfiles
SOURCE = source_of(_files, default=BY_DEFAULT)
with refusing():
    JOBS = read_study(config, _files, SOURCE, drafting=DRAFTING)
    UNFETCHED = unfetched(JOBS.plan)
PLAN, PATHS = JOBS.plan, JOBS.paths
DATASETS, TABLES = list(PLAN.datasets), tables_of(PLAN)

# Replies are appended to their file line by line, which a remote store cannot do.
refuse_storage(workflow.storage_settings)

# Specs contain the paths of results, which a module's prefix does not change.
if (
    workflow.modifier.path_modifier.replace_prefix(PATHS.results, "output")
    != PATHS.results
):
    raise WorkflowError(
        "a module's `prefix` and `replace_prefix` cannot move the results of this "
        f"workflow: remove them; the results are then in {PATHS.results}, below the working directory"
    )

CONDA = "conda" in map(str, workflow.deployment_settings.deployment_method)
export_places(conda=CONDA)


wildcard_constraints:
    dataset=any_of(DATASETS),
    judge=any_of([*PLAN.judges, *PLAN.derived]),
    model=any_of(PLAN.models),
    perturbation=any_of(cell.perturbation for cell in PLAN.cell_aspects),
    degree=any_of(PLAN.degrees),
    table=any_of(TABLES),
