# From files to items, targets and ratings.


rule preflight:
    input:
        cards=CARDS,
        files=[path for name in FILES for path in JOBS.files_of(name)],
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
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py preflight --spec - > {log:q} 2>&1"


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
                *JOBS.targets(dataset, written=False),
            ]
        ],
        [] if UNFETCHED else JOBS.sample(),
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
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py check --spec - 2>&1 | tee {log:q}"


rule ingest:
    input:
        lambda wildcards: JOBS.files_of(wildcards.dataset),
    output:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        f"{OUT}/spans/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/original.parquet",
    log:
        f"{OUT}/logs/ingest/{{dataset}}.log",
    wildcard_constraints:
        dataset=any_of(set(DATASETS) - set(IMPROVED)),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.ingest(wildcards.dataset),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py ingest --spec - > {log:q} 2>&1"


# Where a model improves the references, they are not the originals.
use rule ingest as ingest_references with:
    output:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        f"{OUT}/spans/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/references.parquet",
    wildcard_constraints:
        dataset=any_of(IMPROVED),


rule perturb:
    input:
        f"{OUT}/targets/{{dataset}}/original.parquet",
        lambda wildcards: JOBS.meta(wildcards.dataset, wildcards.damage),
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
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py perturb --spec - > {log:q} 2>&1"


# What a dataset brings is there as soon as it is read.
rule take:
    input:
        lambda wildcards: JOBS.files_of(wildcards.dataset),
        f"{OUT}/items/{{dataset}}.parquet",
    output:
        f"{OUT}/targets/{{dataset}}/{{given}}.single.parquet",
    log:
        f"{OUT}/logs/take/{{dataset}}/{{given}}.log",
    wildcard_constraints:
        given=JOBS.given("local"),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.take(wildcards.dataset, wildcards.given),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py take --spec - > {log:q} 2>&1"


use rule take as take_rated with:
    output:
        f"{OUT}/targets/{{dataset}}/{{given}}.single.parquet",
        f"{OUT}/graded/{{dataset}}/{{given}}.single.parquet",
    wildcard_constraints:
        given=JOBS.given("global"),
