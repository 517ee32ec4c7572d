# From replies to scores: cheap, without requests. One job per dataset and model writes
# one file per cell, because a job takes longer to start than to score a cell.


rule score:
    input:
        lambda wildcards: JOBS.scored_from(**wildcards),
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
        **spec_params(judging.score, PLAN),
    shell:
        command("score")


# A judge made from other judges: its cell is made from their cells.
rule derive:
    input:
        lambda wildcards: JOBS.derived_from(**wildcards),
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
        **spec_params(judging.derive, PLAN),
    shell:
        command("derive")


rule collect:
    input:
        lambda wildcards: JOBS.judged(wildcards.dataset),
        lambda wildcards: JOBS.made_files(wildcards.dataset),
    output:
        PATHS.collected(name="scores"),
        PATHS.collected(name="draws"),
        PATHS.collected(name="rationales"),
        PATHS.collected(name="marked"),
        PATHS.collected(name="statuses"),
        PATHS.collected(name="bought"),
        PATHS.cell_hashes(),
    log:
        PATHS.log("collect/{dataset}"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(judging.collect, PLAN),
    shell:
        command("collect")
