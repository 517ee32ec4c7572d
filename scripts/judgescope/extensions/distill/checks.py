"""Checks of a study that trains a judge: teacher, student, and texts to learn from."""

from judgescope.core.errors import UserError, check_known
from judgescope.core.names import FilePrefix
from judgescope.plan.checks.writers import check_writer
from judgescope.plan.generators import writers
from judgescope.plan.judges import annotators
from judgescope.plan.study import Plan
from judgescope.schema import cards
from judgescope.schema.cards.annotations import OVERALL


def _trained_models(plan: Plan) -> list[str]:
    """Return the models whose adapter the study trains."""
    return [
        name
        for name, card in plan.models.items()
        if isinstance(card, cards.VllmModel) and card.adapter == cards.TRAINED
    ]


def check_distillation(plan: Plan, source: str) -> None:
    """Check teacher, student and texts of a study that trains; others may have no
    student.
    """
    if plan.study.distill is None:
        for name in _trained_models(plan):
            raise UserError(
                "the study must train this model's adapter, but it has no key "
                "`distill`",
                where=f"models/{name}.yaml, key adapter",
                got=cards.TRAINED,
                todo="add the key `distill`, or give path and sha256 of an existing "
                "adapter (`judgescope distill card` writes such a card)",
            )
        return
    _check_teacher(plan, f"{source}, key distill")
    _check_student(plan, f"{source}, key distill")
    _check_trained(plan)
    _check_texts(plan, f"{source}, key distill")


def _check_teacher(plan: Plan, where: str) -> None:
    distill = plan.distillation
    check_known(
        [distill.teacher],
        [name for name in annotators(plan) if name != distill.judge],
        "the teacher must be a judge of the study that annotates errors",
        where=f"{where}.teacher",
        todo="name a judge with the key `annotation`, or an ensemble of such judges",
    )
    if (
        distill.teacher in plan.judges
        and plan.judges[distill.teacher].own_scale != OVERALL
    ):
        raise UserError(
            "a teacher must score from 1 to 5",
            where=f"judges/{distill.teacher}.yaml, key annotation.score",
            got="percent",
            allowed="categories, integers",
        )
    if distill.judge in plan.teachers:
        raise UserError(
            "the student is a member of the ensemble that teaches it",
            where=f"judges/{distill.teacher}.yaml, key members",
            got=distill.judge,
        )


def _check_student(plan: Plan, where: str) -> None:
    distill = plan.distillation
    problem = "the student (the judge to train) must be a judge of the study"
    todo = "name it under the study's `judges` too"
    check_known(
        [distill.judge], plan.judges, problem, where=f"{where}.judge", todo=todo
    )
    judge = plan.judges[distill.judge]
    model = plan.models[judge.model]
    if not isinstance(model, cards.VllmModel) or model.adapter != cards.TRAINED:
        raise UserError(
            "the student's model has no adapter to train",
            where=f"models/{judge.model}.yaml, key adapter",
            got="another adapter, or none"
            if model.engine == "vllm"
            else f"engine {model.engine}",
            allowed=f"`adapter: {cards.TRAINED}`, engine vllm",
        )
    if model.quantization is not None:
        raise UserError(
            "quantised weights cannot be trained",
            where=f"models/{judge.model}.yaml, key quantization",
            got=model.quantization,
            todo="leave `quantization` out: the adapter works with the full weights",
        )
    if judge.annotation is None or judge.annotation.score != "percent":
        raise UserError(
            "the student must list errors and score from 0 to 100",
            where=f"judges/{distill.judge}.yaml, key annotation",
            got=judge.annotation and judge.annotation.score,
            allowed="annotation: {score: percent}",
            todo="see the shipped card `distilled`",
        )
    if judge.annotation.severity != "integers" or judge.annotation.categories:
        raise UserError(
            "the student must use severities from 1 to 5, and no categories",
            where=f"judges/{distill.judge}.yaml, key annotation",
            got=judge.annotation.model_dump(include={"severity", "categories"}),
            todo="leave `severity` and `categories` out",
        )
    if judge.against is not None:
        raise UserError(
            "the student cannot be shown references",
            where=f"judges/{distill.judge}.yaml, key use_reference",
            got=judge.use_reference,
            todo="leave `use_reference` out: training texts are shown with their "
            "source only",
        )


def _check_trained(plan: Plan) -> None:
    """Check that the model to train is only used as a judge, and not before its
    training.
    """
    trained = _trained_models(plan)
    trained_judges = {
        name for name, judge in plan.judges.items() if judge.model in trained
    }
    made = writers(
        plan.study, plan.datasets, plan.perturbations, plan.judges, plan.derived
    )
    uses = {f"{where}model": card.model for where, card in made.items()}
    new = plan.distillation.write
    uses |= {
        f"the study, key distill.write.models ({n})": n
        for n in (new.models if new else [])
    }
    uses |= {"the study, key drafter": plan.study.drafter} if plan.study.drafter else {}
    uses |= {
        f"judge {name}": plan.judges[name].model
        for name in plan.teachers & trained_judges
    }
    for where, model in uses.items():
        if model in trained:
            raise UserError(
                "a model that the study trains can only judge",
                where=where,
                got=model,
                todo="name another model",
            )
    for name in trained:
        if name != plan.judges[plan.distillation.judge].model:
            raise UserError(
                "a study can train only one model",
                where=f"models/{name}.yaml, key adapter",
                got=cards.TRAINED,
                allowed=plan.judges[plan.distillation.judge].model,
            )


def _unjudged(plan: Plan, teacher: str, dataset: str) -> str | None:
    """Return why a teacher cannot judge all texts drawn from a dataset, or None."""
    if teacher not in plan.judges_of(dataset):
        return "a recorded judge has results only for its own dataset"
    if not plan.rated_by(teacher, dataset):
        return "it judges none of the dataset's aspects"
    reasons = (
        plan.excluded(dataset, teacher, name) for name in plan.target_sets(dataset)
    )
    return next(filter(None, reasons), None)


def _check_texts(plan: Plan, where: str) -> None:
    distill = plan.distillation
    for name in distill.datasets:
        card = plan.datasets[name]
        if card.gives_texts or not card.has_texts:
            raise UserError(
                "this dataset has no texts by systems to train on",
                where=f"{where}.datasets",
                got=name,
            )
        if not plan.target_sets(name):
            raise UserError(
                "this dataset has no texts by systems",
                where=f"{where}.datasets",
                got=name,
                todo="let models write some: `write: {models: […]}`",
            )
        if (why := _unjudged(plan, distill.teacher, name)) is not None:
            raise UserError(
                "the teacher, or one of its members, cannot judge this dataset",
                where=f"{where}.datasets",
                got=f"{name}: {why}",
            )
    for model in distill.write.models if distill.write else []:
        check_writer(plan.models[model], f"{where}.write.models")
    if FilePrefix.WRITTEN.rstrip(".") in plan.perturbations:
        raise UserError(
            "this id is reserved for texts that models write for training",
            where="perturbations/written.yaml, key perturbation",
            todo="give the perturbation another id",
        )
