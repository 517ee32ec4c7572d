# A judge that learns from another judge: its examples and its training.


from functools import partial

from judgescope.extensions.distill import job_specs
from judgescope.extensions.distill.trainee import trainee_access, trainee_machine

SAMPLE = RuleJobs(job_specs.sample, PLAN)
CHECK_STUDENT = RuleJobs(job_specs.check_student, PLAN)
EXPORT = RuleJobs(job_specs.export, PLAN)
TRAIN = RuleJobs(job_specs.train, PLAN)


# A study that trains nothing has no targets that request these rules.
rule sample_distill:
    input:
        SAMPLE.inputs,
    output:
        PATHS.sample(),
    log:
        PATHS.log("distill/sample"),
    localrule: True
    conda:
        f"{HOME}/envs/core.yaml"
    params:
        **SAMPLE.params,
    message:
        "Draw the texts on which a judge is trained"
    shell:
        command("sample_distill")


# Checks the training environment on its machine, before the teacher is asked anything.
rule check_student:
    input:
        CHECK_STUDENT.inputs,
    output:
        PATHS.student(),
    log:
        PATHS.log("distill/student"),
    conda:
        f"{HOME}/envs/train.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_TRAIN",
        access=trainee_access(JOBS),
    params:
        **CHECK_STUDENT.params,
    message:
        "Check that the model can be trained here"
    shell:
        command("check_student", "{resources.access}", python="{resources.python}")


rule export_distill:
    input:
        EXPORT.inputs,
    output:
        PATHS.distill("train.jsonl"),
        PATHS.distill("held_out.jsonl"),
        PATHS.distill("export.json"),
    log:
        PATHS.log("distill/export"),
    localrule: True
    conda:
        f"{HOME}/envs/core.yaml"
    params:
        **EXPORT.params,
    message:
        "Write the examples for training"
    shell:
        command("export_distill")


rule train_judge:
    input:
        TRAIN.inputs,
    output:
        job_specs.adapter_files(PLAN),
        PATHS.distill("training.parquet"),
        PATHS.distill("losses.parquet"),
    log:
        PATHS.log("distill/train"),
    benchmark:
        PATHS.benchmark("distill/train")
    conda:
        f"{HOME}/envs/train.yaml"
    resources:
        python="JUDGESCOPE_PYTHON_TRAIN",
        access=trainee_access(JOBS, checkpoints=True),
    params:
        **TRAIN.params,
    message:
        "Train the judge"
    shell:
        command("train_judge", "{resources.access}", python="{resources.python}")


let_card_decide(
    rules,
    ["check_student", "train_judge"],
    JOBS.of_machine,
    partial(trainee_machine, JOBS),
)
