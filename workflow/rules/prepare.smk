# From files to items, targets and ratings.


rule preflight:
    input:
        cards=card_files(PLAN),
        files=[path for name in JOBS.files for path in JOBS.files_of(name)],
    output:
        PATHS.preflight(),
    log:
        PATHS.log("preflight"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(study.preflight, PLAN),
    shell:
        command("preflight")


# Not part of a check: the texts from which a judge learns are known only once all
# exist.
UNREAD = list(dict.fromkeys([*UNFETCHED, *PLAN.taught])) if UNFETCHED else []


# Reads every dataset and perturbs it by rule, so that requests can be counted. It sends
# and downloads nothing: a dataset on a hub is read only after a run has downloaded it.
rule check:
    input:
        rules.preflight.output,
        [
            path
            for dataset in DATASETS
            if dataset not in UNREAD
            for path in [
                PATHS.items(dataset),
                *JOBS.targets(dataset, written=False),
            ]
        ],
        [] if UNFETCHED else JOBS.sample(),
    log:
        PATHS.log("check"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(study.check, PLAN, config, SOURCE, UNREAD),
    shell:
        command("check", log="2> {log:q}")


rule ingest:
    input:
        lambda wildcards: JOBS.files_of(wildcards.dataset),
    output:
        PATHS.items(),
        PATHS.ingested(),
        PATHS.ratings(),
        PATHS.targets(name=SYSTEMS),
        PATHS.spans(),
        PATHS.targets(name=ORIGINAL),
    log:
        PATHS.log("ingest/{dataset}"),
    wildcard_constraints:
        dataset=any_of(set(DATASETS) - set(improvements(PLAN))),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(texts.ingest, PLAN),
    shell:
        command("ingest")


# If a model improves the references, they are not the originals.
use rule ingest as ingest_references with:
    output:
        PATHS.items(),
        PATHS.ingested(),
        PATHS.ratings(),
        PATHS.targets(name=SYSTEMS),
        PATHS.spans(),
        PATHS.targets(name=REFERENCES),
    wildcard_constraints:
        dataset=any_of(improvements(PLAN)),


rule perturb:
    input:
        PATHS.targets(name=ORIGINAL),
        lambda wildcards: JOBS.meta(wildcards.dataset, wildcards.perturbation),
    output:
        PATHS.targets(name="{perturbation}.{degree}"),
    log:
        PATHS.log("perturb/{dataset}/{perturbation}.{degree}"),
    wildcard_constraints:
        perturbation=JOBS.without_model(),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(texts.perturb, PLAN),
    shell:
        command("perturb")


# Texts that come with a dataset exist as soon as it is read.
rule take:
    input:
        lambda wildcards: JOBS.files_of(wildcards.dataset),
        PATHS.items(),
    output:
        PATHS.targets(name="{given}.single"),
    log:
        PATHS.log("take/{dataset}/{given}"),
    wildcard_constraints:
        given=JOBS.given("local"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(texts.take, PLAN),
    shell:
        command("take")


use rule take as take_rated with:
    output:
        PATHS.targets(name="{given}.single"),
        PATHS.graded(name="{given}"),
    wildcard_constraints:
        given=JOBS.given("global"),
