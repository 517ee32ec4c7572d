# What models write: sets of texts, what these are built from, and what judges are shown. A job is
# known by the file of its replies, made/<dataset>/<made>.parquet; plan/dag.py knows the rest.


# Sets of texts.
rule write_api:
    input:
        lambda wildcards: JOBS.inputs(**wildcards),
    output:
        f"{OUT}/targets/{{dataset}}/{{made}}.parquet",
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    log:
        f"{OUT}/logs/made/{{dataset}}/{{made}}.log",
    wildcard_constraints:
        made=JOBS.made("api", "texts", "originals", "new"),
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python=PYTHON["core"],
        home=str(HOME),
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),
    params:
        spec=lambda wildcards: JOBS.spec(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py {resources.job} --spec - {resources.access} > {log:q} 2>&1"


use rule write_api as write_gpu with:
    wildcard_constraints:
        made=JOBS.made("gpu", "texts", "originals", "new"),
    conda:
        "../../envs/vllm.yaml"
    resources:
        python=PYTHON["vllm"],
        home=str(HOME),
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),


# References that a model writes: those that differ most of many are kept, for more texts.
use rule write_api as write_references_api with:
    output:
        f"{OUT}/targets/{{dataset}}/{{made}}.parquet",
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("api", "references"),


use rule write_gpu as write_references_gpu with:
    output:
        f"{OUT}/targets/{{dataset}}/{{made}}.parquet",
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("gpu", "references"),


# What sets of every rating are built from, candidates and their comparisons with anchors, and why
# demonstrations have their ratings, for judges that are shown it.
use rule write_api as construct_api with:
    output:
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("api", "candidates", "comparisons", "analyses"),


use rule write_gpu as construct_gpu with:
    output:
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("gpu", "candidates", "comparisons", "analyses"),


# What several judges found wrong in a text, as one list: all that an ensemble asks.
use rule write_api as merge_api with:
    output:
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("api", "merges"),


use rule write_gpu as merge_gpu with:
    output:
        f"{OUT}/made/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("gpu", "merges"),


# What a judge says of rated texts is asked before the texts are there that its own job waits for;
# that job finds these replies in the store.
use rule write_api as rate_api with:
    output:
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("api", "rated"),


use rule write_gpu as rate_gpu with:
    output:
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("gpu", "rated"),


let_card_decide(
    JOBS.writer_machine,
    "write_gpu",
    "write_references_gpu",
    "construct_gpu",
    "merge_gpu",
    "rate_gpu",
)


use rule write_api as rate_cpu with:
    output:
        f"{OUT}/construction/{{dataset}}/{{made}}.parquet",
    wildcard_constraints:
        made=JOBS.made("cpu", "rated"),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),


# Texts of every rating: candidates with more or fewer errors, rated by their number or by
# comparisons with anchors, and as many of every rating chosen as can be.
rule candidates:
    input:
        lambda wildcards: JOBS.candidates(**wildcards),
    output:
        f"{OUT}/construction/{{dataset}}/{{name}}.{{part}}.parquet",
    log:
        f"{OUT}/logs/construction/{{dataset}}/{{name}}.{{part}}.log",
    wildcard_constraints:
        name=JOBS.by_rule(),
        part=any_of([ALL, TRIAL, REST]),
    localrule: True
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.candidates(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py candidates --spec - > {log:q} 2>&1"


rule anchors:
    input:
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        lambda wildcards: JOBS.rated(**wildcards),
    output:
        f"{OUT}/construction/{{dataset}}/{{name}}.anchors.parquet",
    log:
        f"{OUT}/logs/construction/{{dataset}}/{{name}}.anchors.log",
    wildcard_constraints:
        name=any_of(graded(PLAN)),
    localrule: True
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.anchors(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py choose_anchors --spec - > {log:q} 2>&1"


rule grade:
    input:
        lambda wildcards: JOBS.graded_from(**wildcards),
    output:
        f"{OUT}/targets/{{dataset}}/{{name}}.single.parquet",
        f"{OUT}/graded/{{dataset}}/{{name}}.single.parquet",
    log:
        f"{OUT}/logs/construction/{{dataset}}/{{name}}.log",
    wildcard_constraints:
        name=any_of(graded(PLAN)),
    localrule: True
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.grade(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py grade --spec - > {log:q} 2>&1"
