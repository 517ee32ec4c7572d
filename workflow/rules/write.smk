# What models write: sets of texts, what these are built from, and what judges are shown. A job is
# known by the file of its replies, made/<dataset>/<made>.parquet; plan/dag.py knows the rest.


# Sets of texts.
rule write_api:
    input:
        lambda wildcards: JOBS.inputs(**wildcards),
    output:
        PATHS.targets(name="{made}"),
        PATHS.made(name="{made}"),
    log:
        PATHS.log("made/{dataset}/{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "texts", "originals", "new"),
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python="JUDGESCOPE_PYTHON",
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),
    params:
        **spec_params(JOBS.spec),
    shell:
        command("{resources.job}", "{resources.access}", python="{resources.python}")


use rule write_api as write_gpu with:
    wildcard_constraints:
        made=JOBS.made("gpu", "texts", "originals", "new"),
    conda:
        "../../envs/vllm.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_VLLM",
        job=lambda wildcards: JOBS.job(**wildcards),
        access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),


# References that a model writes: those that differ most of many are kept, for more texts.
use rule write_api as write_references_api with:
    output:
        PATHS.targets(name="{made}"),
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "references"),


use rule write_gpu as write_references_gpu with:
    output:
        PATHS.targets(name="{made}"),
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "references"),


# What sets of every rating are built from, candidates and their comparisons with anchors, and why
# demonstrations have their ratings, for judges that are shown it.
use rule write_api as construct_api with:
    output:
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "candidates", "comparisons", "analyses"),


use rule write_gpu as construct_gpu with:
    output:
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "candidates", "comparisons", "analyses"),


# What several judges found wrong in a text, as one list: all that an ensemble asks.
use rule write_api as merge_api with:
    output:
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "merges"),


use rule write_gpu as merge_gpu with:
    output:
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "merges"),


# What a judge says of rated texts is asked before the texts are there that its own job waits for;
# that job finds these replies in the store.
use rule write_api as rate_api with:
    output:
        PATHS.construction(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("api", "rated"),


use rule write_gpu as rate_gpu with:
    output:
        PATHS.construction(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("gpu", "rated"),


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


# Models that this machine serves without a GPU; programs, which only rate.
use rule write_api as write_cpu with:
    wildcard_constraints:
        made=JOBS.made("cpu", "texts", "originals", "new"),
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
        made=JOBS.made("cpu", "references"),


use rule write_cpu as construct_cpu with:
    output:
        PATHS.construction(name="{made}"),
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "candidates", "comparisons", "analyses"),


use rule write_cpu as merge_cpu with:
    output:
        PATHS.made(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "merges"),


use rule write_cpu as rate_cpu with:
    output:
        PATHS.construction(name="{made}"),
    wildcard_constraints:
        made=JOBS.made("cpu", "rated"),


# Texts of every rating: candidates with more or fewer errors, rated by their number or by
# comparisons with anchors, and as many of every rating chosen as can be.
rule candidates:
    input:
        lambda wildcards: JOBS.candidates(**wildcards),
    output:
        PATHS.construction(name="{name}.{part}"),
    log:
        PATHS.log("construction/{dataset}/{name}.{part}"),
    wildcard_constraints:
        name=JOBS.by_rule(),
        part=any_of([ALL, TRIAL, REST]),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(graded_sets.candidates, PLAN),
    shell:
        command("candidates")


rule anchors:
    input:
        PATHS.ratings(),
        PATHS.targets(name=SYSTEMS),
        lambda wildcards: JOBS.rated(**wildcards),
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
        **spec_params(graded_sets.anchors, PLAN),
    shell:
        command("anchors")


rule grade:
    input:
        lambda wildcards: JOBS.graded_from(**wildcards),
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
        **spec_params(graded_sets.grade, PLAN),
    shell:
        command("grade")
