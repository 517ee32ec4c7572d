# Texts that models write: sets of texts, their building blocks, and texts for judges'
# prompts. A job is identified by the file of its replies,
# made/<dataset>/<made>.parquet; plan/dag.py has the rest.

WRITE = RuleJobs(JOBS.spec, records=JOBS.writing_records)
CANDIDATES = RuleJobs(graded_sets.candidates, PLAN)
ANCHORS = RuleJobs(graded_sets.anchors, PLAN)
GRADE = RuleJobs(graded_sets.grade, PLAN)


# Sets of texts.
rule write_api:
    input:
        WRITE.inputs,
        lambda wildcards: JOBS.before_writing(**wildcards),
    output:
        PATHS.targets(name="{made}"),
        PATHS.made(name="{made}"),
    log:
        PATHS.log("made/{dataset}/{made}"),
    benchmark:
        PATHS.benchmark("made/{dataset}/{made}")
    wildcard_constraints:
        made=JOBS.made("api", *JOBS.text_jobs),
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python="JUDGESCOPE_PYTHON",
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),
    params:
        **WRITE.params,
    message:
        "Ask a model for {wildcards.made} of {wildcards.dataset}"
    shell:
        command("{resources.job}", "{resources.access}", python="{resources.python}")


use rule write_api as write_gpu with:
    wildcard_constraints:
        made=JOBS.made("gpu", *JOBS.text_jobs),
    conda:
        "../../envs/vllm.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_VLLM",
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),


# References that a model writes: of many, the most diverse are kept, to make more
# texts.
use rule write_api as write_references_api with:
    output:
        PATHS.targets(name="{made}"),
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "write_references"),


use rule write_gpu as write_references_gpu with:
    output:
        PATHS.targets(name="{made}"),
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "write_references"),


# The building blocks of graded sets (candidates and their comparisons with anchors),
# and the explanations of demonstrations' ratings, for judges whose prompts show them.
use rule write_api as construct_api with:
    output:
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "candidates", "compare_anchors", "analyse"),


use rule write_gpu as construct_gpu with:
    output:
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "candidates", "compare_anchors", "analyse"),


# The errors that several judges found in a text, merged into one list: an ensemble's
# only requests.
use rule write_api as merge_api with:
    output:
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "merge"),


use rule write_gpu as merge_gpu with:
    output:
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "merge"),


# A judge's scores of rated texts are requested before the texts exist that its own job
# waits for; that job later finds these replies in the store.
use rule write_api as rate_api with:
    output:
        PATHS.construction(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "ask"),


use rule write_gpu as rate_gpu with:
    output:
        PATHS.construction(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "ask"),


let_card_decide(
    rules,
    [
        "write_gpu",
        "write_references_gpu",
        "construct_gpu",
        "merge_gpu",
        "rate_gpu",
    ],
    JOBS.of_machine,
    JOBS.writer_machine,
)


# Models that this machine serves without a GPU, and programs, which can only rate.
use rule write_api as write_cpu with:
    wildcard_constraints:
        made=JOBS.made("cpu", *JOBS.text_jobs),
    resources:
        python="JUDGESCOPE_PYTHON",
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),


use rule write_cpu as write_references_cpu with:
    output:
        PATHS.targets(name="{made}"),
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "write_references"),


use rule write_cpu as construct_cpu with:
    output:
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "candidates", "compare_anchors", "analyse"),


use rule write_cpu as merge_cpu with:
    output:
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "merge"),


use rule write_cpu as rate_cpu with:
    output:
        PATHS.construction(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "ask"),


# Graded sets: candidates with more or fewer errors are rated by the number of errors or
# by comparisons with anchors; then equally many of every rating are chosen, as far as
# possible.
rule candidates:
    input:
        CANDIDATES.inputs,
    output:
        PATHS.construction(name="{name}.{part}"),
    log:
        PATHS.log("construction/{dataset}/{name}.{part}"),
    wildcard_constraints:
        name=JOBS.by_rule(),
        part=any_of([GradedPart.ALL, GradedPart.TRIAL, GradedPart.REST]),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **CANDIDATES.params,
    message:
        "Make candidates for the set {wildcards.name} of {wildcards.dataset}"
    shell:
        command("candidates")


rule anchors:
    input:
        ANCHORS.inputs,
    output:
        PATHS.construction(name="{name}.anchors"),
    log:
        PATHS.log("construction/{dataset}/{name}.anchors"),
    wildcard_constraints:
        name=any_of(graded(PLAN)),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **ANCHORS.params,
    message:
        "Choose the anchors of the set {wildcards.name} of {wildcards.dataset}"
    shell:
        command("anchors")


rule grade:
    input:
        GRADE.inputs,
    output:
        PATHS.targets(name="{name}.single"),
        PATHS.graded(),
    log:
        PATHS.log("construction/{dataset}/{name}"),
    wildcard_constraints:
        name=any_of(graded(PLAN)),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **GRADE.params,
    message:
        "Choose the texts of the set {wildcards.name} of {wildcards.dataset}"
    shell:
        command("grade")
