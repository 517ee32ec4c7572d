from snakemake.utils import min_version

min_version("9.0")


# The demo is the default study. A study given with --configfile stands alone: Snakemake merges
# config files key by key, and no study may inherit a part of the demo.
BY_DEFAULT = "study" not in config
if BY_DEFAULT:

    configfile: workflow.source_path("config/config.yaml")


# The first page of `snakemake --report`.
report: "workflow/report/captions/study.rst"


# Drafts of steps are a workflow of their own, workflow/drafts.smk.
DRAFTING = False


include: "workflow/rules/common.smk"
include: "workflow/rules/prepare.smk"
include: "workflow/rules/write.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/distill.smk"
include: "workflow/rules/results.smk"


# Before the first job of a run, whatever was asked for. Not as an input of the jobs: once it had
# to run again, Snakemake 9.27 drops all jobs that have it as an ancient() input, even those whose
# output is missing.
onstart:
    guard()


# On a cluster only what asks is a job of its queue: all else takes seconds. A rule that a profile
# puts into a group is one nevertheless.
localrules:
    preflight,
    check,
    ingest,
    ingest_references,
    perturb,
    take,
    take_rated,
    score,
    derive,
    sample_distill,
    export_distill,
    collect,
    statistics,
    tables,
    report,
    judge_cards,
    spotcheck,
    explore,


rule all:
    default_target: True
    input:
        rules.preflight.output,
        f"{OUT}/report/index.html",
        f"{OUT}/report/explore.html",
        texts_page(),
        JUDGE_CARDS,
        [JOBS.replies(dataset) for dataset in DATASETS],


rule texts:
    input:
        expand(f"{OUT}/items/{{dataset}}.parquet", dataset=DATASETS),
        JOBS.sample(),
        [JOBS.targets(dataset) for dataset in DATASETS],


# Those for which no model is asked.
rule texts_unasked:
    input:
        expand(f"{OUT}/items/{{dataset}}.parquet", dataset=DATASETS),
        JOBS.sample(),
        [JOBS.targets(dataset, written=False) for dataset in DATASETS],


rule asked:
    input:
        [JOBS.answered(dataset) for dataset in DATASETS],
        [JOBS.replies(dataset) for dataset in DATASETS],
