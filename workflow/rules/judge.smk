# What judges say: one job for each dataset and model. What is asked is kept in the store; the job
# writes a file for each cell, and one with the hashes of all. Jobs wait for that one: a folder has no
# content for Snakemake, only a time, which a copy changes.


rule ask_api:
    input:
        lambda wildcards: JOBS.judged_from(**wildcards),
    output:
        directory(f"{OUT}/replies/{{dataset}}/{{model}}"),
        f"{OUT}/replies/{{dataset}}/{{model}}.json",
    log:
        f"{OUT}/logs/ask/{{dataset}}/{{model}}.log",
    wildcard_constraints:
        model=JOBS.asked("api"),
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python=PYTHON["core"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(wildcards.model),
    params:
        spec=lambda wildcards: SPECS.ask(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py ask --spec - {resources.access} > {log:q} 2>&1"


use rule ask_api as ask_gpu with:
    wildcard_constraints:
        model=JOBS.asked("gpu"),
    conda:
        "../../envs/vllm.yaml"
    resources:
        python=PYTHON["vllm"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(wildcards.model),


use rule ask_api as ask_cpu with:
    wildcard_constraints:
        model=JOBS.asked("cpu"),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(wildcards.model),


# What is too much for one job (`parts` in the model's card): the parts ask, each with a journal of
# its own, and the job that writes the reply files finds everything in the store.
rule part_api:
    input:
        lambda wildcards: JOBS.judged_from(wildcards.dataset, wildcards.model),
    output:
        f"{OUT}/asked/{{dataset}}/{{model}}/{{part}}.json",
    log:
        f"{OUT}/logs/ask/{{dataset}}/{{model}}.{{part}}.log",
    wildcard_constraints:
        model=JOBS.asked("api", parts=True),
        part=r"\d+-of-\d+",
    conda:
        "../../envs/core.yaml"
    resources:
        api=1,
        python=PYTHON["core"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(wildcards.model),
    params:
        spec=lambda wildcards: SPECS.ask(wildcards.dataset, wildcards.model),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py ask --spec - {resources.access} --part {wildcards.part} > {log:q} 2>&1"


use rule part_api as part_gpu with:
    wildcard_constraints:
        model=JOBS.asked("gpu", parts=True),
        part=r"\d+-of-\d+",
    conda:
        "../../envs/vllm.yaml"
    resources:
        python=PYTHON["vllm"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(wildcards.model),


use rule part_api as part_cpu with:
    wildcard_constraints:
        model=JOBS.asked("cpu", parts=True),
        part=r"\d+-of-\d+",
    resources:
        python=PYTHON["core"],
        home=str(HOME),
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
        python=PYTHON["vllm"],
        home=str(HOME),
        access=lambda wildcards: JOBS.access(wildcards.model),


let_card_decide(JOBS.asked_machine, "ask_gpu", "part_gpu")


# Measures and controls: no reply, and no parser.
rule compute:
    input:
        lambda wildcards: JOBS.judged_from(**wildcards),
    output:
        directory(f"{OUT}/judgments/{{dataset}}/{{model}}"),
        directory(f"{OUT}/scores/{{dataset}}/{{model}}"),
        f"{OUT}/scores/{{dataset}}/{{model}}.json",
    log:
        f"{OUT}/logs/ask/{{dataset}}/{{model}}.log",
    wildcard_constraints:
        model=JOBS.unasked(computes=True, recorded=False),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.ask(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py compute --spec - > {log:q} 2>&1"


use rule compute as compute_recorded with:
    output:
        directory(f"{OUT}/judgments/{{dataset}}/{{model}}"),
        directory(f"{OUT}/scores/{{dataset}}/{{model}}"),
        f"{OUT}/scores/{{dataset}}/{{model}}.json",
        f"{OUT}/joined/{{dataset}}/{{model}}.json",
    wildcard_constraints:
        model=JOBS.unasked(computes=True, recorded=True),


# Replies that are recorded: they are parsed as those that were asked for.
rule replay:
    input:
        lambda wildcards: JOBS.judged_from(**wildcards),
    output:
        directory(f"{OUT}/replies/{{dataset}}/{{model}}"),
        f"{OUT}/replies/{{dataset}}/{{model}}.json",
        f"{OUT}/joined/{{dataset}}/{{model}}.json",
    log:
        f"{OUT}/logs/ask/{{dataset}}/{{model}}.log",
    wildcard_constraints:
        model=JOBS.unasked(computes=False, recorded=True),
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.ask(**wildcards),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py replay --spec - > {log:q} 2>&1"
