# From replies to scores: cheap, one job per cell, no request.


rule score:
    input:
        f"{OUT}/replies/{{dataset}}/{{model}}.json",
        lambda wildcards: located_in(wildcards),
    output:
        f"{OUT}/judgments/{{dataset}}/{{model}}/{{perturbation}}/{{judge}}.parquet",
        f"{OUT}/scores/{{dataset}}/{{model}}/{{perturbation}}/{{judge}}.parquet",
    log:
        f"{OUT}/logs/score/{{dataset}}/{{model}}/{{perturbation}}/{{judge}}.log",
    wildcard_constraints:
        model=one_of(set(PLAN.models) - COMPUTING),
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
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/score.py --spec - > {log:q} 2>&1"


# What several judges found wrong in a text, as one list: the supervisor of an ensemble is all that
# it asks.
for _dataset in DATASETS:
    for _model in supervisors(PLAN, _dataset):

        rule:
            name:
                f"merge_{_dataset}_{_model}"
            input:
                merged_of(_dataset, _model),
            output:
                f"{OUT}/made/{_dataset}/{MERGES}{_model}.parquet",
            log:
                f"{OUT}/logs/merge/{_dataset}/{_model}.log",
            conda:
                f"../../envs/{stage(_model)}.yaml"
            resources:
                **needs(_model),
                python=PYTHON[stage(_model)],
                home=str(HOME),
                access=access(_model),
            params:
                spec=merge_spec(_dataset, _model),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/merge.py --spec - {resources.access} > {log:q} 2>&1"


# A judge made from others: its cell is made from their cells.
rule derive:
    input:
        lambda wildcards: of_members(cell_in(wildcards)),
    output:
        f"{OUT}/judgments/{{dataset}}/{DERIVED}/{{perturbation}}/{{judge}}.parquet",
        f"{OUT}/scores/{{dataset}}/{DERIVED}/{{perturbation}}/{{judge}}.parquet",
    log:
        f"{OUT}/logs/derive/{{dataset}}/{{perturbation}}/{{judge}}.log",
    wildcard_constraints:
        judge=one_of(PLAN.derived),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.derive(
            wildcards.dataset, wildcards.perturbation, wildcards.judge
        ),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/derive.py --spec - > {log:q} 2>&1"


rule collect:
    input:
        lambda wildcards: judged_of(wildcards.dataset),
        lambda wildcards: made_files(
            wildcards.dataset, made_of(PLAN, wildcards.dataset)
        ),
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
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/collect.py --spec - > {log:q} 2>&1"
