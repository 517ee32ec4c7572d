"""What the jobs that load the model to train need beside their specs."""

import shlex

from judgescope.plan.dag import Dag, Machine


def trainee_access(jobs: Dag, *, checkpoints: bool = False) -> str:
    """Options with the trained model's card and, with `checkpoints`, their folder."""
    plan = jobs.plan
    if not plan.taught:
        return ""
    options = ["--card", jobs.card(plan.student[1].model)]
    if checkpoints:
        options += ["--checkpoints", plan.distillation.checkpoints]
    return shlex.join(options)


def trainee_machine(jobs: Dag, attempt: int) -> Machine:
    """The resources for the model that is trained: one GPU, if any."""
    plan = jobs.plan
    if not plan.taught or plan.distillation.recipe.device != "cuda":
        return {}
    return {**jobs.machine(attempt, plan.student[1].model), "gpu": 1}
