# From replies to scores: cheap, without requests. One job per dataset and model writes
# one file per cell, because a job takes longer to start than to score a cell.

SCORE = RuleJobs(judging.score, PLAN)
DERIVE = RuleJobs(judging.derive, PLAN)
COLLECT = RuleJobs(judging.collect, PLAN)


rule score:
    input:
        SCORE.inputs,
    output:
        directory(PATHS.cells("judgments")),
        directory(PATHS.cells("scores")),
        PATHS.hashes("scores"),
    log:
        PATHS.log("score/{dataset}/{model}"),
    wildcard_constraints:
        model=JOBS.replied,
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **SCORE.params,
    message:
        "Score the replies of {wildcards.model} on {wildcards.dataset}"
    shell:
        command("score")


# A judge made from other judges: its cell is made from their cells.
rule derive:
    input:
        DERIVE.inputs,
    output:
        PATHS.cell("judgments", model=DERIVED),
        PATHS.cell("scores", model=DERIVED),
    log:
        PATHS.log("derive/{dataset}/{perturbation}/{judge}"),
    wildcard_constraints:
        judge=any_of(PLAN.derived),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **DERIVE.params,
    message:
        "Derive {wildcards.judge} on {wildcards.dataset}, {wildcards.perturbation}"
    shell:
        command("derive")


rule collect:
    input:
        COLLECT.inputs,
    output:
        PATHS.collected(name="scores"),
        PATHS.collected(name="draws"),
        PATHS.collected(name="rationales"),
        PATHS.collected(name="marked"),
        PATHS.collected(name="confidences"),
        PATHS.collected(name="statuses"),
        PATHS.collected(name="bought"),
        PATHS.cell_hashes(),
    log:
        PATHS.log("collect/{dataset}"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **COLLECT.params,
    message:
        "Collect the scores of {wildcards.dataset}"
    shell:
        command("collect")
