"""Checks of a study in which a judge learns from another."""

from judgescope.core.errors import UserError
from judgescope.core.names import WRITTEN
from judgescope.plan.checks.texts import check_writer
from judgescope.plan.generators import writers
from judgescope.plan.study import Plan
from judgescope.schema.cards import TRAINED, VllmModel
from judgescope.schema.cards.judges import OVERALL


def _trained_models(plan: Plan) -> list[str]:
    """Return the models whose adapter is one that the study trains."""
    return [
        name
        for name, card in plan.models.items()
        if isinstance(card, VllmModel) and card.adapter == TRAINED
    ]


def check_distillation(plan: Plan, source: str) -> None:
    """Check teacher, student and texts of a study that trains, and that no other has a student."""
    if plan.study.distill is None:
        for name in _trained_models(plan):
            raise UserError(
                "a study has to train this model's adapter, and this study trains none",
                where=f"models/{name}.yaml, key adapter",
                got=TRAINED,
                todo="add the key `distill`, or give path and sha256 of an existing adapter "
                "(`judgescope distill card` writes such a card)",
            )
        return
    _check_teacher(plan, f"{source}, key distill")
    _check_student(plan, f"{source}, key distill")
    _check_uses(plan)
    _check_texts(plan, f"{source}, key distill")


def _check_teacher(plan: Plan, where: str) -> None:
    distill = plan.distillation
    able = [name for name in (*plan.judges, *plan.derived) if plan.annotates(name)]
    able = [name for name in able if name != distill.judge]
    if distill.teacher not in able:
        raise UserError(
            "the teacher must be a judge of the study that annotates errors",
            where=f"{where}.teacher",
            got=distill.teacher,
            allowed=able,
            todo="name a judge of the study whose card has `annotation`, or an ensemble of such",
        )
    if distill.teacher in plan.judges and plan.judges[distill.teacher].own_scale != OVERALL:
        raise UserError(
            "a teacher must score from 1 to 5",
            where=f"judges/{distill.teacher}.yaml, key annotation.score",
            got="percent",
            allowed="categories, integers",
        )
    if distill.judge in plan.teachers:
        raise UserError(
            "the student is one of its own teachers",
            where=f"judges/{distill.teacher}.yaml, key members",
            got=distill.judge,
        )


def _check_student(plan: Plan, where: str) -> None:
    distill = plan.distillation
    if distill.judge not in plan.judges:
        raise UserError(
            "the student must be a judge of the study whose model can be trained",
            where=f"{where}.judge",
            got=distill.judge,
            allowed=plan.judges,
            todo="name it under the study's `judges` too",
        )
    judge = plan.judges[distill.judge]
    model = plan.models[judge.model]
    if not isinstance(model, VllmModel) or model.adapter != TRAINED:
        raise UserError(
            "the student's model has no adapter to train",
            where=f"models/{judge.model}.yaml, key adapter",
            got="another adapter, or none" if model.engine == "vllm" else f"engine {model.engine}",
            allowed=f"`adapter: {TRAINED}`, engine vllm",
        )
    if model.quantization is not None:
        raise UserError(
            "quantised weights cannot be trained",
            where=f"models/{judge.model}.yaml, key quantization",
            got=model.quantization,
            todo="leave it out: the adapter works with the full weights",
        )
    if judge.annotation is None or judge.annotation.score != "percent":
        raise UserError(
            "the student must list errors and score from 0 to 100",
            where=f"judges/{distill.judge}.yaml, key annotation",
            got=judge.annotation and judge.annotation.score,
            allowed="annotation: {score: percent}",
            todo="as the shipped card `distilled` has it",
        )
    if judge.annotation.severity != "integers" or judge.annotation.categories:
        raise UserError(
            "the student must use severities from 1 to 5, and no categories",
            where=f"judges/{distill.judge}.yaml, key annotation",
            got=judge.annotation.model_dump(include={"severity", "categories"}),
            todo="leave `severity` and `categories` out",
        )


def _check_uses(plan: Plan) -> None:
    """Check that a model that is trained judges, and does nothing that comes before it is."""
    trained = _trained_models(plan)
    trained_judges = {name for name, judge in plan.judges.items() if judge.model in trained}
    made = writers(plan.study, plan.datasets, plan.perturbations, plan.judges, plan.derived)
    uses = {f"{where}model": card.model for where, card in made.items()}
    new = plan.distillation.write
    uses |= {f"the study, key distill.write.models ({n})": n for n in (new.models if new else [])}
    uses |= {"the study, key drafter": plan.study.drafter} if plan.study.drafter else {}
    uses |= {f"judge {name}": plan.judges[name].model for name in plan.teachers & trained_judges}
    for where, model in uses.items():
        if model in trained:
            raise UserError(
                "a model that the study trains can only judge",
                where=where,
                got=model,
                todo="name another model there",
            )
    for name in trained:
        if name != plan.judges[plan.distillation.judge].model:
            raise UserError(
                "a study can train only one model",
                where=f"models/{name}.yaml, key adapter",
                got=TRAINED,
                allowed=plan.judges[plan.distillation.judge].model,
            )


def _unjudged(plan: Plan, teacher: str, dataset: str) -> str | None:
    """Return why a teacher cannot judge all that is drawn of a dataset, or None."""
    if teacher not in plan.judges_of(dataset):
        return "a recorded judge knows only the texts of its own dataset"
    if not plan.rated_by(teacher, dataset):
        return "it judges other aspects"
    reasons = (plan.excluded(dataset, teacher, name) for name in plan.target_sets(dataset))
    return next(filter(None, reasons), None)


def _check_texts(plan: Plan, where: str) -> None:
    distill = plan.distillation
    for name in distill.datasets:
        card = plan.datasets[name]
        if card.gives_texts or not card.has_texts:
            raise UserError(
                "this dataset has no texts of systems to learn from",
                where=f"{where}.datasets",
                got=name,
            )
        if not plan.target_sets(name):
            raise UserError(
                "this dataset has no texts of systems",
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
    if WRITTEN.rstrip(".") in plan.perturbations:
        raise UserError(
            "this id is reserved for the texts to learn from",
            where="perturbations/written.yaml, key perturbation",
            todo="give the perturbation another id",
        )
