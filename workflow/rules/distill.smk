# A judge that learns from another: the examples, the training.


# Of a study that trains nothing these have no way to be asked for.
rule sample_distill:
    input:
        expand(f"{OUT}/items/{{dataset}}.parquet", dataset=DATASETS),
        [f"{OUT}/targets/{dataset}/systems.parquet" for dataset in PLAN.taught],
    output:
        f"{OUT}/distill/sample.parquet",
    log:
        f"{OUT}/logs/distill/sample.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.sample(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py sample_distill --spec - > {log:q} 2>&1"


# Where it will train, and before the teacher is asked about anything.
rule check_student:
    input:
        f"{OUT}/distill/sample.parquet",
    output:
        student_file(OUT),
    log:
        f"{OUT}/logs/distill/student.log",
    conda:
        "../../envs/train.yaml"
    resources:
        python=PYTHON["train"],
        home=str(HOME),
        access=JOBS.trainee_access(),
    params:
        spec=lambda wildcards: SPECS.check_student(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py check_student --spec - {resources.access} > {log:q} 2>&1"


rule export_distill:
    input:
        f"{OUT}/distill/sample.parquet",
        [path for dataset in PLAN.taught for path in JOBS.targets(dataset)],
        SPECS.taught_cells() if PLAN.taught else [],
    output:
        f"{OUT}/distill/train.jsonl",
        f"{OUT}/distill/held_out.jsonl",
        f"{OUT}/distill/export.json",
    log:
        f"{OUT}/logs/distill/export.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.export(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py export_distill --spec - > {log:q} 2>&1"


rule train_judge:
    input:
        student_file(OUT),
        f"{OUT}/distill/train.jsonl",
        f"{OUT}/distill/held_out.jsonl",
    output:
        SPECS.adapter,
        f"{OUT}/distill/training.parquet",
        f"{OUT}/distill/losses.parquet",
    log:
        f"{OUT}/logs/distill/train.log",
    conda:
        "../../envs/train.yaml"
    resources:
        python=PYTHON["train"],
        home=str(HOME),
        access=JOBS.trainee_access(checkpoints=True),
    params:
        spec=lambda wildcards: SPECS.train(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py train_judge --spec - {resources.access} > {log:q} 2>&1"


let_card_decide(JOBS.trainee_machine, "check_student", "train_judge")
