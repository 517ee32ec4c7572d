# From replies to scores: cheap, one job per cell, no request.


rule score:
    input:
        lambda wildcards: JOBS.scored_from(**wildcards),
    output:
        f"{OUT}/judgments/{{dataset}}/{{model}}/{{perturbation}}/{{judge}}.parquet",
        f"{OUT}/scores/{{dataset}}/{{model}}/{{perturbation}}/{{judge}}.parquet",
    log:
        f"{OUT}/logs/score/{{dataset}}/{{model}}/{{perturbation}}/{{judge}}.log",
    wildcard_constraints:
        model=JOBS.replied,
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.score(
            wildcards.dataset, wildcards.perturbation, wildcards.judge
        ),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py score --spec - > {log:q} 2>&1"


# A judge made from others: its cell is made from their cells.
rule derive:
    input:
        lambda wildcards: JOBS.derived_from(**wildcards),
    output:
        f"{OUT}/judgments/{{dataset}}/{DERIVED}/{{perturbation}}/{{judge}}.parquet",
        f"{OUT}/scores/{{dataset}}/{DERIVED}/{{perturbation}}/{{judge}}.parquet",
    log:
        f"{OUT}/logs/derive/{{dataset}}/{{perturbation}}/{{judge}}.log",
    wildcard_constraints:
        judge=any_of(PLAN.derived),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.derive(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py derive --spec - > {log:q} 2>&1"


rule collect:
    input:
        lambda wildcards: JOBS.judged(wildcards.dataset),
        lambda wildcards: JOBS.made_files(wildcards.dataset),
    output:
        f"{OUT}/collected/{{dataset}}/scores.parquet",
        f"{OUT}/collected/{{dataset}}/draws.parquet",
        f"{OUT}/collected/{{dataset}}/rationales.parquet",
        f"{OUT}/collected/{{dataset}}/marked.parquet",
        f"{OUT}/collected/{{dataset}}/statuses.parquet",
        f"{OUT}/collected/{{dataset}}/bought.parquet",
        f"{OUT}/collected/{{dataset}}/cells.sha256",
    log:
        f"{OUT}/logs/collect/{{dataset}}.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.collect(wildcards.dataset),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py collect --spec - > {log:q} 2>&1"
