# From files to items, targets and ratings.

PREFLIGHT = RuleJobs(study.preflight, PLAN)
INGEST = RuleJobs(JOBS.ingest)
RATINGS = RuleJobs(texts.read_ratings, PLAN)
PERTURB = RuleJobs(texts.perturb, PLAN)
TAKE = RuleJobs(texts.take, PLAN)
TAKE_PAIRS = RuleJobs(texts.take_pairs, PLAN)


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
        **PREFLIGHT.params,
    message:
        "Check the cards and files of the study"
    shell:
        command("preflight")


# Not part of a check: the texts from which a judge learns are known only once all
# exist.
UNREAD = list(dict.fromkeys([*UNFETCHED, *PLAN.taught])) if UNFETCHED else []
CHECK = RuleJobs(study.check, PLAN, config, SOURCE, UNREAD)


# Reads every dataset and perturbs it by rule, so that requests can be counted. It sends
# and downloads nothing: a dataset on a hub is read only after a run has downloaded it.
rule check:
    input:
        CHECK.inputs,
        [
            path
            for dataset in DATASETS
            if dataset not in UNREAD
            for path in [
                *JOBS.read(dataset),
                *JOBS.targets(dataset, written=False),
            ]
        ],
        [] if UNFETCHED else JOBS.before_texts(),
    log:
        PATHS.log("check"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **CHECK.params,
    message:
        "Report what a run would request"
    shell:
        command("check", log="2> {log:q}")


# Texts and ratings are often in the same file, and a corrected rating must not perturb,
# ask or write anything again. So the file is not an input of this rule: its params have
# a hash of the texts.
rule ingest:
    output:
        PATHS.items(),
        PATHS.names(),
        PATHS.targets(name=SYSTEMS),
        PATHS.targets(name=ORIGINAL),
    log:
        PATHS.log("ingest/{dataset}"),
    wildcard_constraints:
        dataset=any_of(set(DATASETS) - set(improvements(PLAN))),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **INGEST.params,
    message:
        "Read the texts of {wildcards.dataset}"
    shell:
        command("ingest")


# If a model improves the references, they are not the originals.
use rule ingest as ingest_references with:
    output:
        PATHS.items(),
        PATHS.names(),
        PATHS.targets(name=SYSTEMS),
        PATHS.targets(name=REFERENCES),
    wildcard_constraints:
        dataset=any_of(improvements(PLAN)),


# It waits for the texts, so that faults in the data are reported once.
rule read_ratings:
    input:
        PATHS.names(),
        lambda wildcards: JOBS.files_of(wildcards.dataset),
    output:
        PATHS.ratings(),
        PATHS.spans(),
        PATHS.ingested(),
    log:
        PATHS.log("ratings/{dataset}"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **RATINGS.params,
    message:
        "Read the ratings of {wildcards.dataset}"
    shell:
        command("read_ratings")


rule perturb:
    input:
        PERTURB.inputs,
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
        **PERTURB.params,
    message:
        "Perturb {wildcards.dataset}: {wildcards.perturbation}, {wildcards.degree}"
    shell:
        command("perturb")


rule take_pairs:
    input:
        TAKE_PAIRS.inputs,
        lambda wildcards: JOBS.files_of(wildcards.dataset),
    output:
        PATHS.targets(name="{perturbation}.{degree}"),
    log:
        PATHS.log("take/{dataset}/{perturbation}.{degree}"),
    wildcard_constraints:
        perturbation=JOBS.ready(),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **TAKE_PAIRS.params,
    message:
        "Read the texts {wildcards.perturbation} of {wildcards.dataset}"
    shell:
        command("take_pairs")


# Texts that come with a dataset exist as soon as it is read.
rule take:
    input:
        TAKE.inputs,
        lambda wildcards: JOBS.files_of(wildcards.dataset),
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
        **TAKE.params,
    message:
        "Read the texts {wildcards.given} of {wildcards.dataset}"
    shell:
        command("take")


use rule take as take_rated with:
    output:
        PATHS.targets(name="{given}.single"),
        PATHS.graded(name="{given}"),
    wildcard_constraints:
        given=JOBS.given("global"),
