# What judges say: one job for each dataset and model. What is asked is kept in the store; the job
# writes a file for each cell, and one with the hashes of all. Jobs wait for that one: a folder has no
# content for Snakemake, only a time, which a copy changes.


rule ask_api:
    input:
        lambda wildcards: JOBS.judged_from(**wildcards),
    output:
        directory(PATHS.cells("replies")),
        PATHS.hashes("replies"),
    log:
        PATHS.log("ask/{dataset}/{model}"),
    wildcard_constraints:
        model=JOBS.asked("api"),
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(wildcards.model),
    params:
        **spec_params(judging.ask, PLAN),
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


# First: a model on this machine takes longer than all that does not wait for it.
use rule ask_api as ask_cpu with:
    wildcard_constraints:
        model=JOBS.asked("cpu"),
    priority: 1
    resources:
        python="JUDGESCOPE_PYTHON",
        access=lambda wildcards: JOBS.access(wildcards.model),


# What is too much for one job (`parts` in the model's card): the parts ask, each with a journal of
# its own, and the job that writes the reply files finds everything in the store.
rule part_api:
    input:
        lambda wildcards: JOBS.judged_from(wildcards.dataset, wildcards.model),
    output:
        PATHS.part(),
    log:
        PATHS.log("ask/{dataset}/{model}.{part}"),
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
        **spec_params(judging.ask, PLAN),
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
        lambda wildcards: JOBS.judged_from(**wildcards),
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


let_card_decide(rules, ["ask_gpu", "part_gpu"], JOBS.of_machine, JOBS.machine)


# Measures and controls: no reply, and no parser.
rule compute:
    input:
        lambda wildcards: JOBS.judged_from(**wildcards),
    output:
        directory(PATHS.cells("judgments")),
        directory(PATHS.cells("scores")),
        PATHS.hashes("scores"),
    log:
        PATHS.log("ask/{dataset}/{model}"),
    wildcard_constraints:
        model=JOBS.unasked(computes=True, recorded=False),
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(judging.compute, PLAN),
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


# Replies that are recorded: they are parsed as those that were asked for.
rule replay:
    input:
        lambda wildcards: JOBS.judged_from(**wildcards),
    output:
        directory(PATHS.cells("replies")),
        PATHS.hashes("replies"),
        PATHS.joined(),
    log:
        PATHS.log("ask/{dataset}/{model}"),
    wildcard_constraints:
        model=JOBS.unasked(computes=False, recorded=True),
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(judging.replay, PLAN),
    shell:
        command("replay")
