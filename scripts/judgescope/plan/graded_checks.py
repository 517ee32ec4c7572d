"""What must hold for graded sets before anything is asked: their cards, and their prompts."""

from typing import TYPE_CHECKING, Any

from judgescope.core.errors import UserError
from judgescope.core.set_names import SYSTEMS
from judgescope.plan.checks import check_writer
from judgescope.plan.generators import graded, lowered
from judgescope.prompts import SUFFIX, change_of, messages, rated, to_write
from judgescope.schema.cards import Anchoring, GradedPerturbation, Judge

if TYPE_CHECKING:
    from judgescope.plan.study import Plan

SHOWN = {
    "text": "the first sample text",
    "source": "the first sample source",
    "text_b": "the second sample text",
    "source_b": "the second sample source",
}


def check_graded(plan: "Plan") -> None:
    """Check the models, the aspect's scale, the anchors and the prompts of every graded set."""
    for name, card in graded(plan).items():
        where = f"perturbations/{name}.yaml"
        if card.model:
            check_writer(plan.models[card.model], f"{where}, key model")
        if card.anchors:
            check_writer(plan.models[card.anchors.model], f"{where}, key anchors.model")
        for dataset in plan.datasets:
            if name not in dict(plan.perturbed(dataset, "graded")):
                continue
            _check_scale(plan, card, dataset, where)
            if card.anchors:
                _check_anchors(plan, card, card.anchors, dataset, where)
            _rehearse(plan, card, dataset)


def _check_scale(plan: "Plan", card: GradedPerturbation, dataset: str, where: str) -> None:
    """Ratings are classes, and there are at least two."""
    aspect = plan.lowered(dataset, card)
    values = plan.datasets[dataset].aspects[aspect].values()
    if values is None or len(values) < 2:
        raise UserError(
            "texts of every rating need a scale with steps",
            where=f"{where}, key aspects",
            got=f"{aspect} of the dataset {dataset}, any number",
            todo=f"give datasets/{dataset}.yaml, aspects.{aspect}, a `step`",
        )


def _check_anchors(
    plan: "Plan", card: GradedPerturbation, anchors: Anchoring, dataset: str, where: str
) -> None:
    """Anchors are rated texts; a judge that agrees with people must rate them on their scale."""
    aspect = plan.lowered(dataset, card)
    data = plan.datasets[dataset]
    if not data.has_systems or not data.has_texts or data.ratings == "none":
        raise UserError(
            "anchors are texts that people rated, and this dataset has none",
            where=f"{where}, key rating",
            got=dataset,
            todo="use `rating: errors`, or name `tasks` that leave the dataset out",
        )
    if anchors.judge is None:
        return
    judge = plan.judges.get(anchors.judge)
    if judge is None or not _rates_anchors(plan, judge, dataset, aspect):
        raise UserError(
            "no judge of the study with this id rates the anchors' aspect, on its own scale",
            where=f"{where}, key anchors.judge",
            got=anchors.judge,
            allowed=list(plan.judges),
            todo="name a judge that is no control, has no `scale`, `hint` or analyses, in a study "
            "without `criteria`; or leave it out",
        )


def _rates_anchors(plan: "Plan", judge: Judge, dataset: str, aspect: str) -> bool:
    """Return whether a judge says on people's scale, and by itself, how good rated texts are."""
    plain = judge.own_scale is None and judge.hint is None and not plan.compares(judge.judge)
    analysed = judge.shots is not None and judge.shots.analyses is not None
    return (
        plain
        and not analysed
        and plan.models[judge.model].engine != "control"
        and judge.judge in plan.judges_of(dataset)
        and plan.excluded(dataset, judge.judge, SYSTEMS) is None
        and aspect in plan.rated_by(judge.judge, dataset)
    )


def _rehearse(plan: "Plan", card: GradedPerturbation, dataset: str) -> None:
    """Fill the prompts that put errors in and that compare with anchors."""
    data, aspect = plan.datasets[dataset], plan.lowered(dataset, card)
    if card.model:
        _rehearse_writer(plan, card, dataset)
    if card.anchors:
        scale = data.aspects[aspect]
        told = {"aspect": rated(plan.aspect_of(dataset, aspect), scale)["aspect"]}
        sources = SHOWN if scale.source_visible else {**SHOWN, "source": None, "source_b": None}
        _fill(plan, card.anchors.form, {**told, **sources}, sources)


def _rehearse_writer(plan: "Plan", card: GradedPerturbation, dataset: str) -> None:
    told = lowered(plan, dataset, card)
    task = plan.datasets[dataset].task
    if not told:
        raise UserError(
            "a model that puts errors in is told the parts of the aspect, and there are none",
            where=f"perturbations/{card.perturbation}.yaml, key aspects",
            got=plan.lowered(dataset, card),
            todo=f"name one whose card has tasks.{task}.sub_aspects: write them, or let a model "
            "draft them: judgescope draft <study>",
        )
    for problem in (None, "a sample problem"):
        seen = {"source": SHOWN["source"], "text": SHOWN["text"], "problem": problem}
        values = to_write(task, {"k": 2}, change_of(card.model_dump() | told), **seen)
        values["errors"] = told["aspect"]["sub_aspects"][:1] * 2
        _fill(plan, card.form, values, {"text": SHOWN["text"]})


def _fill(plan: "Plan", form: str, values: dict[str, Any], shown: dict[str, Any]) -> None:
    """Fill a form, which must show its texts and their sources."""
    [message] = messages(form, plan.templates[form], **values)
    for name, text in shown.items():
        if text is not None and text not in message["content"].lower():
            raise UserError(
                f"this prompt does not show the {name} that it is about",
                where=f"prompts/{form}{SUFFIX}",
                todo=f"write {{{{ {name} }}}} where it belongs",
            )
