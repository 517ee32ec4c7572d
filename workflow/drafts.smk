# Drafts of steps and sub-aspects that the study's cards lack: `judgescope draft <study>`. A workflow
# of its own, for a study whose forms show them cannot run, nor be planned, before its cards do.

from snakemake.utils import min_version

min_version("9.0")

DRAFTING = True
BY_DEFAULT = False


include: "rules/common.smk"


from judgescope.plan.drafts import DraftSpecs, drafts_of
from judgescope.plan.preflight import check_keys

try:
    DRAFTS = {f"{OUT}/{draft.file}": draft for draft in drafts_of(PLAN, SOURCE)}
except UserError as error:
    raise WorkflowError(f"the study cannot run\n\n{error}\n") from None
SPECS = DraftSpecs(PLAN, HOME, OUT)
DRAFTER = PLAN.study.drafter
WHERE = JOBS.executor(DRAFTER) if DRAFTS else None


# In place of the guard of a run: of all models only the drafter is asked.
onstart:
    try:
        if DRAFTS:
            check_keys(SPECS.keys())
            if not CONDA:
                check_vllm({DRAFTER: PLAN.models[DRAFTER]}, PYTHON["vllm"])
    except UserError as error:
        raise WorkflowError(f"the study cannot run\n\n{error}\n") from None


localrules:
    drafts,


rule drafts:
    default_target: True
    input:
        list(DRAFTS),


rule draft_api:
    output:
        f"{OUT}/drafts/{{draft}}.yaml",
    log:
        f"{OUT}/logs/drafts/{{draft}}.log",
    wildcard_constraints:
        draft=".+" if WHERE == "api" else "none",
    conda:
        "../envs/core.yaml"
    resources:
        api=1,
        python=PYTHON["core"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(DRAFTER),
    params:
        spec=lambda wildcards: SPECS.draft(
            DRAFTS[f"{OUT}/drafts/{wildcards.draft}.yaml"]
        ),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py draft --spec - {resources.access} > {log:q} 2>&1"


use rule draft_api as draft_gpu with:
    wildcard_constraints:
        draft=".+" if WHERE == "gpu" else "none",
    conda:
        "../envs/vllm.yaml"
    resources:
        python=PYTHON["vllm"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(DRAFTER),


let_card_decide(lambda attempt, draft: JOBS.machine(DRAFTER, attempt), "draft_gpu")
