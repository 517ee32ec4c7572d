"""What a study that trains a judge adds to its plan."""

from judgescope.core.names import FilePrefix
from judgescope.core.paths import Paths
from judgescope.extensions.distill import job_specs
from judgescope.extensions.distill.checks import check_distillation
from judgescope.extensions.distill.specs import WriteNewSpec
from judgescope.plan.extending import StudyExtension, Writing
from judgescope.plan.specs.judging import adapter_folder
from judgescope.plan.study import Plan

WRITE_NEW = "write_new"


def _writings(plan: Plan, dataset: str) -> dict[str, Writing]:
    """Set of new texts -> the job in which a model writes it."""
    models = {}
    for name in plan.new_sets(dataset):
        models[name] = name.removeprefix(FilePrefix.WRITTEN)
    return {name: Writing(WRITE_NEW, model) for name, model in models.items()}


def _writing_spec(plan: Plan, dataset: str, writing: Writing) -> WriteNewSpec:
    return job_specs.write_new(plan, dataset, writing.model)


def _before_requests(plan: Plan) -> list[str]:
    """The check of the model to train: no request is sent before it is trainable."""
    if plan.taught:
        return [plan.paths.student()]
    return []


def _before_judging(plan: Plan, model: str) -> list[str]:
    """The files of a model's adapter, if the study trains it."""
    is_trained = plan.taught and adapter_folder(plan, model)
    if is_trained:
        return job_specs.adapter_files(plan)
    return []


def _drawn(plan: Plan, dataset: str, paths: Paths) -> str | None:
    """The sample, for a dataset whose texts a judge is trained on."""
    if dataset in plan.taught:
        return paths.sample()
    return None


def _targets(plan: Plan) -> list[str]:
    """The sample of texts for training."""
    if plan.taught:
        return [plan.paths.sample()]
    return []


EXTENSION = StudyExtension(
    key="distill",
    check=check_distillation,
    writing_job=WRITE_NEW,
    writing_record=WriteNewSpec,
    writing_spec=_writing_spec,
    writings=_writings,
    before_requests=_before_requests,
    before_judging=_before_judging,
    drawn=_drawn,
    targets=_targets,
)
