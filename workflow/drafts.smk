# Drafts of steps and sub-aspects that the study's cards lack: `judgescope draft
# <study>`. This is a separate workflow because a study that needs them cannot be run or
# planned without them.

from snakemake.utils import min_version

min_version("9.27")

DRAFTING = True
BY_DEFAULT = False


include: "rules/common.smk"


import os

from judgescope.plan.drafts import draft_spec, drafts_of
from judgescope.plan.specs.study import key_sources
from judgescope.plan.access import check_keys
from judgescope.plan.guard import check_interpreters

with refusing():
    DRAFTS = {draft.file: draft for draft in drafts_of(PLAN, SOURCE)}
DRAFTER = PLAN.study.drafter
EXECUTOR = JOBS.executor(DRAFTER) if DRAFTS else None


# Replaces the guard of a run: the drafter is the only model that is asked.
onstart:
    with refusing():
        if DRAFTS:
            check_keys(PLAN, [DRAFTER])
            for key in key_sources(PLAN, [DRAFTER]):
                key.check()
            if not CONDA:
                check_interpreters({DRAFTER: PLAN.models[DRAFTER]}, os.environ)


DRAFT = RuleJobs(draft_spec, PLAN, DRAFTS)


rule drafts:
    default_target: True
    input:
        [PATHS.draft(draft) for draft in DRAFTS],
    localrule: True


rule draft_api:
    output:
        PATHS.draft(),
    log:
        PATHS.log("drafts/{draft}"),
    wildcard_constraints:
        draft=".+" if EXECUTOR != "gpu" else "none",
    conda:
        "../envs/core.yaml"
    resources:
        api=1,
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(DRAFTER),
    params:
        **DRAFT.params,
    message:
        "Let a model draft {wildcards.draft}"
    shell:
        command("draft", "{resources.access}", python="{resources.python}")


use rule draft_api as draft_gpu with:
    wildcard_constraints:
        draft=".+" if EXECUTOR == "gpu" else "none",
    conda:
        "../envs/vllm.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_VLLM",
        access=lambda wildcards: JOBS.access(DRAFTER),


let_card_decide(
    rules,
    ["draft_gpu"],
    JOBS.of_machine,
    lambda attempt, draft: JOBS.machine(attempt, DRAFTER),
)
