# From replies to scores: cheap, one job per cell, no request.


rule score:
    input:
        lambda wildcards: JOBS.scored_from(**wildcards),
    output:
        PATHS.cell("judgments"),
        PATHS.cell("scores"),
    log:
        PATHS.log("score/{dataset}/{model}/{perturbation}/{judge}"),
    wildcard_constraints:
        model=JOBS.replied,
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(
            lambda dataset, model, perturbation, judge: SPECS.score(
                dataset, perturbation, judge
            )
        ),
    shell:
        command("score")


# A judge made from others: its cell is made from their cells.
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
        **spec_params(SPECS.derive),
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
        **spec_params(SPECS.collect),
    shell:
        command("collect")
