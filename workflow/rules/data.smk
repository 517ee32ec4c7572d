# From files to items, targets and ratings.


rule preflight:
    input:
        cards=CARDS,
        files=[
            path
            for roles in FILES.values()
            for paths in roles.values()
            for path in paths
        ],
    output:
        f"{OUT}/preflight.json",
    log:
        f"{OUT}/logs/preflight.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.preflight(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/preflight.py --spec - > {log:q} 2>&1"


# Reads every dataset and damages it by rule, so that what is asked can be counted; asks nothing, and
# fetches nothing: a dataset on a hub is read once a run has fetched it.
rule check:
    input:
        rules.preflight.output,
        [
            path
            for dataset in DATASETS
            if dataset not in UNREAD
            for path in [
                f"{OUT}/items/{dataset}.parquet",
                *target_sets(dataset, written=False),
            ]
        ],
        [] if UNFETCHED else sampled(),
    log:
        f"{OUT}/logs/check.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.check(config, SOURCE, UNREAD),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/check.py --spec - 2>&1 | tee {log:q}"


rule ingest:
    input:
        lambda wildcards: sum(FILES[wildcards.dataset].values(), []),
    output:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        f"{OUT}/targets/{{dataset}}/original.parquet",
    log:
        f"{OUT}/logs/ingest/{{dataset}}.log",
    wildcard_constraints:
        dataset=one_of(set(DATASETS) - set(IMPROVED) - SPANNED),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.ingest(wildcards.dataset),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/ingest.py --spec - > {log:q} 2>&1"


# Where a model improves the references, they are not the originals.
use rule ingest as ingest_references with:
    output:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        f"{OUT}/targets/{{dataset}}/references.parquet",
    wildcard_constraints:
        dataset=one_of(IMPROVED),


# Where people marked the errors of texts, these are read along.
use rule ingest as ingest_spans with:
    output:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        f"{OUT}/targets/{{dataset}}/original.parquet",
        f"{OUT}/spans/{{dataset}}.parquet",
    wildcard_constraints:
        dataset=one_of(SPANNED),


for _name, _card in IMPROVED.items():

    rule:
        name:
            f"improve_{_name}"
        input:
            f"{OUT}/items/{_name}.parquet",
            f"{OUT}/targets/{_name}/references.parquet",
            FIRST,
        output:
            f"{OUT}/targets/{_name}/original.parquet",
            f"{OUT}/made/{_name}/original.parquet",
            references_for(_name),
        log:
            f"{OUT}/logs/made/{_name}/original.log",
        conda:
            f"../../envs/{stage(_card.model)}.yaml"
        resources:
            **needs(_card.model),
            python=PYTHON[stage(_card.model)],
            home=str(HOME),
            script="write_references.py" if references_for(_name) else "make_texts.py",
            access=access(_card.model),
        params:
            spec=improve_spec(_name),
        shell:
            "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/{resources.script} --spec - {resources.access} > {log:q} 2>&1"


rule perturb:
    input:
        f"{OUT}/targets/{{dataset}}/original.parquet",
        lambda wildcards: meta_of(wildcards.dataset, wildcards.damage),
    output:
        f"{OUT}/targets/{{dataset}}/{{damage}}.{{degree}}.parquet",
    log:
        f"{OUT}/logs/perturb/{{dataset}}/{{damage}}.{{degree}}.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.perturb(
            wildcards.dataset, wildcards.damage, wildcards.degree
        ),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/perturb.py --spec - > {log:q} 2>&1"


# What a dataset brings is there as soon as it is read.
rule take:
    input:
        lambda wildcards: sum(FILES[wildcards.dataset].values(), []),
        f"{OUT}/items/{{dataset}}.parquet",
    output:
        f"{OUT}/targets/{{dataset}}/{{given}}.single.parquet",
    log:
        f"{OUT}/logs/take/{{dataset}}/{{given}}.log",
    wildcard_constraints:
        given=given_in("local"),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.take(wildcards.dataset, wildcards.given),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/take.py --spec - > {log:q} 2>&1"


use rule take as take_rated with:
    output:
        f"{OUT}/targets/{{dataset}}/{{given}}.single.parquet",
        f"{OUT}/graded/{{dataset}}/{{given}}.single.parquet",
    wildcard_constraints:
        given=given_in("global"),


# One rule for each perturbation that a model writes: what a job needs depends on the model.
for _name, _card in PLAN.perturbations.items():
    if _card.method not in {"llm", "inject"}:
        continue

    rule:
        name:
            f"make_texts_{_name}"
        input:
            f"{OUT}/items/{{dataset}}.parquet",
            f"{OUT}/targets/{{dataset}}/original.parquet",
            FIRST,
        output:
            f"{OUT}/targets/{{dataset}}/{{writing}}.{{degree}}.parquet",
            f"{OUT}/made/{{dataset}}/{{writing}}.{{degree}}.parquet",
        log:
            f"{OUT}/logs/made/{{dataset}}/{{writing}}.{{degree}}.log",
        wildcard_constraints:
            writing=_name,
        conda:
            f"../../envs/{stage(_card.model)}.yaml"
        resources:
            **needs(_card.model),
            python=PYTHON[stage(_card.model)],
            home=str(HOME),
            access=access(_card.model),
        params:
            spec=lambda wildcards: SPECS.make_texts(
                wildcards.dataset, wildcards.writing, wildcards.degree
            ),
        shell:
            "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/make_texts.py --spec - {resources.access} > {log:q} 2>&1"
