# Judging: one job per dataset and model. Replies are kept in the store; the job writes
# one file per cell, and a file with the hashes of all of them. Later jobs depend on the
# file of hashes: to Snakemake, a folder has no content, only a time, which copying
# changes.

ASK = RuleJobs(judging.ask, PLAN)
COMPUTE = RuleJobs(judging.compute, PLAN)
REPLAY = RuleJobs(judging.replay, PLAN)


rule ask_api:
    input:
        ASK.inputs,
        lambda wildcards: JOBS.before_judging(**wildcards),
    output:
        directory(PATHS.cells("replies")),
        PATHS.hashes("replies"),
    log:
        PATHS.log("ask/{dataset}/{model}"),
    benchmark:
        PATHS.benchmark("ask/{dataset}/{model}")
    wildcard_constraints:
        model=JOBS.asked("api"),
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(wildcards.model),
    params:
        **ASK.params,
    message:
        "Ask {wildcards.model} about {wildcards.dataset}"
    shell:
        command("ask", "{resources.access}", python="{resources.python}")


use rule ask_api as ask_gpu with:
    wildcard_constraints:
        model=JOBS.asked("gpu"),
    conda:
        "../../envs/vllm.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_VLLM",
        access=lambda wildcards: JOBS.access(wildcards.model),


# Starts first: a model on this machine takes longer than all jobs that do not depend on
# it.
use rule ask_api as ask_cpu with:
    wildcard_constraints:
        model=JOBS.asked("cpu"),
    priority: 1
    resources:
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(wildcards.model),


# For requests that are too many for one job (`parts` in the model's card): the parts
# ask, each with its own journal, and the job that writes the reply files then finds all
# replies in the store.
rule part_api:
    input:
        ASK.inputs,
        lambda wildcards: JOBS.before_judging(wildcards.dataset, wildcards.model),
    output:
        PATHS.part(),
    log:
        PATHS.log("ask/{dataset}/{model}.{part}"),
    benchmark:
        PATHS.benchmark("ask/{dataset}/{model}.{part}")
    wildcard_constraints:
        model=JOBS.asked("api", parts=True),
        part=r"\d+-of-\d+",
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(wildcards.model),
    params:
        **ASK.params_of_part,
    message:
        "Ask {wildcards.model} about {wildcards.dataset}, part {wildcards.part}"
    shell:
        command(
            "ask",
            "{resources.access} --part {wildcards.part}",
            python="{resources.python}",
        )


use rule part_api as part_gpu with:
    wildcard_constraints:
        model=JOBS.asked("gpu", parts=True),
        part=r"\d+-of-\d+",
    conda:
        "../../envs/vllm.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_VLLM",
        access=lambda wildcards: JOBS.access(wildcards.model),


use rule part_api as part_cpu with:
    wildcard_constraints:
        model=JOBS.asked("cpu", parts=True),
        part=r"\d+-of-\d+",
    priority: 1
    resources:
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(wildcards.model),


use rule ask_cpu as gather with:
    input:
        ASK.inputs,
        lambda wildcards: JOBS.before_judging(**wildcards),
        lambda wildcards: JOBS.parts(**wildcards),
    wildcard_constraints:
        model=JOBS.asked("api", "cpu", parts=True),


use rule gather as gather_gpu with:
    wildcard_constraints:
        model=JOBS.asked("gpu", parts=True),
    conda:
        "../../envs/vllm.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_VLLM",
        access=lambda wildcards: JOBS.access(wildcards.model),


let_card_decide(
    rules,
    ["ask_gpu", "part_gpu", "ask_cpu", "part_cpu"],
    JOBS.of_machine,
    JOBS.machine,
)


# Measures and controls, which have no replies and no parser.
rule compute:
    input:
        COMPUTE.inputs,
        lambda wildcards: JOBS.before_judging(**wildcards),
    output:
        directory(PATHS.cells("judgments")),
        directory(PATHS.cells("scores")),
        PATHS.hashes("scores"),
    log:
        PATHS.log("ask/{dataset}/{model}"),
    benchmark:
        PATHS.benchmark("ask/{dataset}/{model}")
    wildcard_constraints:
        model=JOBS.unasked(computes=True, recorded=False),
    conda:
        "../../envs/core.yaml"
    params:
        **COMPUTE.params,
    message:
        "Compute the scores of {wildcards.model} on {wildcards.dataset}"
    shell:
        command("compute")


use rule compute as compute_recorded with:
    output:
        directory(PATHS.cells("judgments")),
        directory(PATHS.cells("scores")),
        PATHS.hashes("scores"),
        PATHS.joined(),
    wildcard_constraints:
        model=JOBS.unasked(computes=True, recorded=True),


# Recorded replies, which are parsed like requested ones.
rule replay:
    input:
        REPLAY.inputs,
        lambda wildcards: JOBS.before_judging(**wildcards),
    output:
        directory(PATHS.cells("replies")),
        PATHS.hashes("replies"),
        PATHS.joined(),
    log:
        PATHS.log("ask/{dataset}/{model}"),
    benchmark:
        PATHS.benchmark("ask/{dataset}/{model}")
    wildcard_constraints:
        model=JOBS.unasked(computes=False, recorded=True),
    conda:
        "../../envs/core.yaml"
    params:
        **REPLAY.params,
    message:
        "Read the recorded replies of {wildcards.model} on {wildcards.dataset}"
    shell:
        command("replay")
