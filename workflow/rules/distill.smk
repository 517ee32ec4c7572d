# A judge that learns from another judge: its examples and its training.


# A study that trains nothing has no targets that request these rules.
rule sample_distill:
    input:
        expand(PATHS.items(), dataset=DATASETS),
        [PATHS.targets(dataset, SYSTEMS) for dataset in PLAN.taught],
    output:
        PATHS.sample(),
    log:
        PATHS.log("distill/sample"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(training.sample, PLAN),
    shell:
        command("sample_distill")


# Checks the training environment on its machine, before the teacher is asked anything.
rule check_student:
    input:
        PATHS.sample(),
    output:
        PATHS.student(),
    log:
        PATHS.log("distill/student"),
    conda:
        "../../envs/train.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_TRAIN",
        access=JOBS.trainee_access(),
    params:
        **spec_params(training.check_student, PLAN),
    shell:
        command("check_student", "{resources.access}", python="{resources.python}")


rule export_distill:
    input:
        PATHS.sample(),
        [path for dataset in PLAN.taught for path in JOBS.targets(dataset)],
        JOBS.teacher_files,
    output:
        PATHS.distill("train.jsonl"),
        PATHS.distill("held_out.jsonl"),
        PATHS.distill("export.json"),
    log:
        PATHS.log("distill/export"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(training.export, PLAN),
    shell:
        command("export_distill")


rule train_judge:
    input:
        PATHS.student(),
        PATHS.distill("train.jsonl"),
        PATHS.distill("held_out.jsonl"),
    output:
        training.adapter_files(PLAN),
        PATHS.distill("training.parquet"),
        PATHS.distill("losses.parquet"),
    log:
        PATHS.log("distill/train"),
    conda:
        "../../envs/train.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_TRAIN",
        access=JOBS.trainee_access(checkpoints=True),
    params:
        **spec_params(training.train, PLAN),
    shell:
        command("train_judge", "{resources.access}", python="{resources.python}")


let_card_decide(
    rules, ["check_student", "train_judge"], JOBS.of_machine, JOBS.trainee_machine
)
