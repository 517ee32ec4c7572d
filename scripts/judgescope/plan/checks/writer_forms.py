"""Rehearsal of the forms of models that write texts: each is filled once with sample
texts for every dataset, degree and kind of source that it meets.
"""

from contextlib import suppress

from msgspec import to_builtins

from judgescope import prompts
from judgescope.core.errors import UserError
from judgescope.core.names import SYSTEMS
from judgescope.data.rated import SourcePart
from judgescope.plan.checks.filled_forms import (
    PROBLEMS,
    MissingValues,
    PromptValues,
    fill,
    fill_or_name,
)
from judgescope.plan.checks.sample_texts import SAMPLE, sample_source
from judgescope.plan.generators import graded, lowered, lowered_by
from judgescope.plan.study import Plan
from judgescope.schema import cards


def rehearse_writers(plan: Plan, dataset: cards.Dataset) -> None:
    """Fill the forms of all models that write texts of a dataset.

    Raises UserError for a form that cannot be filled, or that does not print a text
    that it is about.
    """
    for name in dict(plan.perturbed(dataset.dataset, "once", "chain")):
        made = plan.perturbations[name]
        if isinstance(made, cards.MadePerturbation):
            _rehearse_writer(plan, made, dataset)
    improved = plan.improved(dataset.dataset)
    if improved is not None:
        _rehearse_improver(plan, improved, dataset)
    for name in dict(plan.perturbed(dataset.dataset, "graded")):
        card = graded(plan).get(name)
        if card is not None:
            _rehearse_graded(plan, card, dataset)
    if plan.new_sets(dataset.dataset):
        _rehearse_new_texts(plan, dataset)


# --- perturbed texts ------------------------------------------------------------------


def _rehearse_writer(
    plan: Plan, made: cards.MadePerturbation, dataset: cards.Dataset
) -> None:
    name = dataset.dataset
    change = prompts.change_of(made.model_dump() | lowered(plan, name, made))
    no_steps = UserError(
        f"the form {made.form} prints steps, and this card has no `instructions`",
        where=f"perturbations/{made.perturbation}.yaml, key instructions",
        todo="write them, or let a model draft them: judgescope draft <study>",
    )
    missing = [
        MissingValues({"instructions": _sample_steps()}, no_steps),
        MissingValues(_sample_parts(), _without_parts(plan, made, dataset)),
    ]
    for degree in made.degrees_for(name).values():
        for problem in PROBLEMS:
            values = prompts.to_write(
                plan.about(name),
                degree.model_dump(),
                change,
                sample_source(plan, dataset),
                problem=problem,
            )
            if change.aspect is not None:
                values["error"] = to_builtins(change.aspect.sub_aspects[0])

            def fill_with(more: PromptValues, values: PromptValues = values) -> str:
                return fill(plan, made.form, {**more, **values}, {"text": SAMPLE.text})

            fill_or_name(fill_with, missing)


def _without_parts(
    plan: Plan, made: cards.MadePerturbation, dataset: cards.Dataset
) -> UserError:
    """Return the error for a form that prints sub-aspects if the aspect has none."""
    aspect = lowered_by(plan, dataset.dataset, made)
    key = f"tasks.{dataset.task}.sub_aspects"
    if aspect is None:
        return UserError(
            f"the form {made.form} prints an aspect's sub-aspects, and this card names "
            "no aspect",
            where=f"perturbations/{made.perturbation}.yaml, key aspects",
            got=", ".join(made.aspects) or "no aspects",
            todo=f"name an aspect whose card has {key}",
        )
    return UserError(
        f"the form {made.form} prints an aspect's sub-aspects, and this card has none",
        where=f"aspects/{aspect}.yaml, key {key}",
        todo="write them, or let a model draft them: judgescope draft <study>",
    )


def lacks_parts(
    plan: Plan, made: cards.MadePerturbation, dataset: cards.Dataset
) -> bool:
    """Return whether a writer's form could be filled if only its aspect had
    sub-aspects.
    """
    name = dataset.dataset
    degree = next(iter(made.degrees_for(name).values()))
    # Missing steps are another draft.
    card = made.model_dump() | {"instructions": [_sample_steps()]}
    change = prompts.change_of(card | lowered(plan, name, made))
    source = sample_source(plan, dataset)
    values = prompts.to_write(plan.about(name), degree.model_dump(), change, source)
    if change.aspect is not None and change.aspect.sub_aspects:
        # One of them is drawn for each text.
        values["error"] = _sample_part()
    shown = {"text": SAMPLE.text}
    with suppress(UserError):
        fill(plan, made.form, values, shown)
        return False
    with suppress(UserError):
        fill(plan, made.form, {**_sample_parts(), **values}, shown)
        return True
    return False


def _sample_steps() -> str:
    return "1. A sample step."


def _sample_part() -> dict[str, str]:
    return {"name": "C", "definition": "D"}


def _sample_parts() -> PromptValues:
    """Return what a prompt prints about an aspect that has sub-aspects."""
    aspect = {"name": "A", "definition": "B", "sub_aspects": [_sample_part()]}
    return {"aspect": aspect, "error": _sample_part()}


# --- originals and new texts ----------------------------------------------------------


def _rehearse_improver(
    plan: Plan, improved: cards.Improvement, dataset: cards.Dataset
) -> None:
    """Fill a form that must print the source, the reference or both."""
    for problem in PROBLEMS:
        values = prompts.to_write(
            plan.about(dataset.dataset),
            cards.Degree().model_dump(),
            prompts.NO_CHANGE,
            sample_source(plan, dataset),
            text=SAMPLE.text,
            problem=problem,
        )
        prompt = fill(plan, improved.form, values, {}).lower()
        if SAMPLE.source not in prompt and SAMPLE.text not in prompt:
            raise UserError(
                "this prompt prints neither the source nor the reference",
                where=f"prompts/{improved.form}{prompts.SUFFIX}",
                todo="add {{ source }} or {{ text }} (the reference) to the prompt "
                "form",
            )


def _rehearse_new_texts(plan: Plan, dataset: cards.Dataset) -> None:
    """Fill the form of new texts for training, which are written from sources only."""
    new = plan.distillation.write
    assert new is not None  # else there are no sets of new texts
    about = plan.about(dataset.dataset)
    source = sample_source(plan, dataset)
    values = prompts.to_write(about, {}, prompts.NO_CHANGE, source, text="")
    fill(plan, new.form, values, {"source": SAMPLE.source}, "which a new text is about")


# --- texts of every rating ------------------------------------------------------------


def _rehearse_graded(
    plan: Plan, card: cards.GradedPerturbation, dataset: cards.Dataset
) -> None:
    """Check the scale and anchors of a graded set; fill prompts for its errors and
    comparisons.
    """
    aspect = plan.lowered(dataset.dataset, card.perturbation)
    scale = dataset.aspects[aspect]
    where = f"perturbations/{card.perturbation}.yaml"
    grid = scale.values()
    if grid is None or len(grid) < 2:
        raise UserError(
            "a graded set (texts of every rating) needs an aspect whose scale has "
            "steps",
            where=f"{where}, key aspects",
            got=f"{aspect} of the dataset {dataset.dataset} (continuous)",
            todo=f"add `step` to aspects.{aspect} in datasets/{dataset.dataset}.yaml",
        )
    if card.anchors:
        _check_anchors(plan, card.anchors, dataset, aspect, where)
    if card.model:
        _rehearse_errors(plan, card, dataset)
    if card.anchors:
        _rehearse_comparison(plan, card.anchors, dataset, aspect)


def _check_anchors(
    plan: Plan,
    anchors: cards.Anchoring,
    dataset: cards.Dataset,
    aspect: str,
    where: str,
) -> None:
    """Check that there are rated texts for anchors, and that a judge of anchors can
    rate them.
    """
    if not dataset.has_systems or not dataset.has_texts or dataset.ratings == "none":
        raise UserError(
            "anchors are texts that people rated, and this dataset has none",
            where=f"{where}, key rating",
            got=dataset.dataset,
            todo="write `rating: errors`, or set `tasks` so that they exclude the "
            "dataset",
        )
    if anchors.judge is None or _rates_anchors(plan, anchors.judge, dataset, aspect):
        return
    raise UserError(
        "a judge of anchors must be a judge of the study that rates their aspect "
        "on the aspect's own scale",
        where=f"{where}, key anchors.judge",
        got=anchors.judge,
        allowed=list(plan.judges),
        todo="name a judge that is not a control and has no `scale`, `hint` or "
        "analyses, in a study without `criteria`; or leave `anchors.judge` out",
    )


def _rates_anchors(plan: Plan, name: str, dataset: cards.Dataset, aspect: str) -> bool:
    """Return whether a judge rates an aspect of people's texts on people's scale,
    without a hint or analyses.
    """
    judge = plan.judges.get(name)
    if judge is None or judge.own_scale is not None or judge.hint is not None:
        return False
    if judge.shots is not None and judge.shots.analyses is not None:
        return False
    is_control = plan.models[judge.model].engine == "control"
    if is_control or plan.compares(name) or judge.scores_texts:
        return False
    if name not in plan.judges_of(dataset.dataset):
        return False
    if plan.excluded(dataset.dataset, name, SYSTEMS) is not None:
        return False
    return aspect in plan.rated_by(name, dataset.dataset)


def _rehearse_errors(
    plan: Plan, card: cards.GradedPerturbation, dataset: cards.Dataset
) -> None:
    """Fill the form by which a model injects errors into texts."""
    name = dataset.dataset
    aspect = lowered(plan, name, card)
    if not aspect:
        raise UserError(
            "a model that injects errors needs sub-aspects, and this aspect's card has "
            "none",
            where=f"perturbations/{card.perturbation}.yaml, key aspects",
            got=plan.lowered(name, card.perturbation),
            todo=f"write tasks.{dataset.task}.sub_aspects there, or let a model draft "
            "them: judgescope draft <study>; or name another aspect",
        )
    change = prompts.change_of(card.model_dump() | aspect)
    assert card.form is not None and change.aspect is not None
    errors = to_builtins(change.aspect.sub_aspects[:1]) * 2
    for problem in PROBLEMS:
        source = sample_source(plan, dataset)
        values = prompts.to_write(
            plan.about(name), {"k": 2}, change, source, problem=problem
        )
        values["errors"] = errors
        fill(plan, card.form, values, {"text": SAMPLE.text})


def _rehearse_comparison(
    plan: Plan, anchors: cards.Anchoring, dataset: cards.Dataset, aspect: str
) -> None:
    """Fill the form by which a model compares a text with an anchor."""
    name = dataset.dataset
    scale = dataset.aspects[aspect]
    shown: dict[str, str | None] = {
        "text": SAMPLE.text,
        "text_b": SAMPLE.second_text,
        "source": None,
        "source_b": None,
    }
    source = list[SourcePart]()
    second_source = list[SourcePart]()
    if scale.source_visible:
        shown |= {"source": SAMPLE.source, "source_b": SAMPLE.second_source}
        source = sample_source(plan, dataset)
        second_source = sample_source(plan, dataset, SAMPLE.second_source)
    rated = prompts.rated(plan.aspect_of(name, aspect), scale)
    values: PromptValues = {**plan.about(name).names, "aspect": rated["aspect"]}
    values |= prompts.material(source)
    values |= prompts.of_second(second_source)
    fill(plan, anchors.form, values, shown)
