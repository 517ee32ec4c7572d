"""Every prompt of a study, filled once with sample texts before anything is asked."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from msgspec import to_builtins

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.plan.checks.judges import check_annotator
from judgescope.plan.generators import graded, lowered, lowered_by
from judgescope.plan.study import Plan
from judgescope.prompts import (
    NO_CHANGE,
    SUFFIX,
    annotating,
    change_of,
    messages,
    rated,
    to_merge_names,
    to_write,
)
from judgescope.schema.cards import (
    COMPARE,
    Analyses,
    Dataset,
    Degree,
    GradedPerturbation,
    Improvement,
    Judge,
    MadePerturbation,
    Shots,
    Supervisor,
)

Names = dict[str, object]

TEXTS = ("the first sample text", "the second sample text")
STEPS = "1. A sample step."
SAID = {"steps": STEPS, "worst": "a sample worst", "best": "a sample best"}
COULD_SAY = {
    "steps": ("steps", "write them, or let a model draft them: judgescope draft <study>"),
    "worst": ("what the worst text is like", "write it, there or for all tasks: the text is …"),
    "best": ("what the best text is like", "write it, there or for all tasks: the text is …"),
}
"""What a form may show of an aspect if its card has it -> in words, and what to do."""
ANALYSIS = "a sample analysis"
HINT = "4711"
SOURCE = "a sample source"
EXPLANATION = "a sample explanation"
SAMPLE_ERROR = {"location": "a sample place", "explanation": EXPLANATION, "severity": 3}
PARTED = {"name": "A", "definition": "B", "sub_aspects": [{"name": "C", "definition": "D"}]}


def rehearse(plan: Plan) -> None:
    """Fill the form of every judge and writer with each aspect, scale and kind of source it meets.

    Raises UserError for a form that cannot be filled, or that does not show a text it is about.
    """
    for judge in plan.judges.values():
        check_annotator(plan, judge)
        if plan.is_prompted(judge.model):
            _rehearse_judge(plan, judge)
    for ensemble in plan.derived.values():
        if ensemble.supervisor is not None:
            _rehearse_supervisor(plan, ensemble.supervisor)
    for card in plan.datasets.values():
        damage = {name for name, _ in plan.perturbed(card.dataset, "once", "row")}
        for made in plan.perturbations.values():
            if isinstance(made, MadePerturbation) and made.perturbation in damage:
                _rehearse_writer(plan, made, card)
        if (improved := plan.improved(card.dataset)) is not None:
            _rehearse_improver(plan, improved, card)
        for name, _ in plan.perturbed(card.dataset, "graded"):
            if (built := graded(plan).get(name)) is not None:
                _rehearse_graded(plan, built, card)
        if plan.new_sets(card.dataset):
            _rehearse_new(plan, card)


def _rehearse_judge(plan: Plan, judge: Judge) -> None:
    texts = TEXTS[: 1 + (judge.form == COMPARE)]
    for dataset, card in plan.shown(judge.judge).items():
        for aspect in plan.rated_by(judge.judge, dataset):
            scale = plan.scale_of(dataset, aspect)
            values = rated(
                plan.aspect_of(dataset, aspect), judge.scale_on(split(aspect)[0]) or scale
            )
            values["source"] = "a sample source" if scale.source_visible else None
            if judge.against == "references":
                values["reference"] = "a sample reference"
            if judge.hint is not None:
                values |= {"hint": HINT, "attributed": judge.hint.attributed}
            if judge.annotation is not None:
                values |= annotating(judge.annotation, card.task)
            lacks = f"aspects/{split(aspect)[0]}.yaml, key tasks.{card.task}"
            fill = partial(_fill_about, plan, judge.form, texts, lacks=lacks)
            if judge.shots is None:
                _check_hinted(judge, fill(values))
            else:
                _rehearse_shots(plan, judge, judge.shots, values, fill)


def _check_hinted(judge: Judge, prompt: str) -> None:
    """A judge that is told a rating has a form that shows it."""
    if judge.hint is not None and HINT not in prompt:
        raise UserError(
            "this prompt does not show the rating that the judge is told",
            where=f"prompts/{judge.form}{SUFFIX}",
            todo="write {{ hint }} where it belongs, or leave `hint` out of the judge's card",
        )


def _rehearse_shots(
    plan: Plan, judge: Judge, shots: Shots, values: Names, fill: Callable[[Names], str]
) -> None:
    """Fill a form with demonstrations; it shows analyses where there are any, and only there."""
    bare = {"source": values["source"], "text": "a rated text", "rating": 77.5}
    analysed = {**values, "shots": [{**bare, "analysis": ANALYSIS}] * shots.n}
    where = f"judges/{judge.judge}.yaml, key shots.analyses"
    if shots.analyses is None:
        try:
            fill({**values, "shots": [bare] * shots.n})
        except UserError:
            fill(analysed)  # raises what else is wrong
            raise UserError(
                f"the form {judge.form} shows analyses, and this card asks for none",
                where=where,
                todo="add `analyses: {model: …, form: analysis}`, or use the form score-shots",
            ) from None
    elif ANALYSIS not in fill(analysed):
        raise UserError(
            f"the form {judge.form} shows no analyses",
            where=where,
            todo="use analyze-shots, explain-shots or a form of yours that prints `shot.analysis`; "
            "or leave `analyses` out",
        )
    else:
        _rehearse_analyst(plan, shots.analyses, {**values, **bare})


def _rehearse_analyst(plan: Plan, told: Analyses, values: Names) -> None:
    """Fill a form that tells a rated text and the rating that an analysis must lead to."""
    for problem in (None, "a sample problem"):
        [message] = messages(told.form, plan.templates[told.form], **values, problem=problem)
        for name in ("text", "rating"):
            if str(values[name]) not in message["content"]:
                raise UserError(
                    f"this prompt does not show the {name} that is to be explained",
                    where=f"prompts/{told.form}{SUFFIX}",
                    todo=f"write {{{{ {name} }}}} where it belongs",
                )


def _rehearse_supervisor(plan: Plan, told: Supervisor) -> None:
    """Fill a form that shows what annotators found, in a list or in several."""
    for category in (None, "a sample category"):
        error = {**SAMPLE_ERROR, "category": category}
        for lists in ([[error]], [[error, {**error, "location": None}], [error]]):
            prompt = _fill(plan, told.form, TEXTS[:1], **to_merge_names(TEXTS[0], lists))
            if EXPLANATION not in prompt:
                raise UserError(
                    "this prompt does not show the errors that are to be merged",
                    where=f"prompts/{told.form}{SUFFIX}",
                    todo="go through {{ lists }}: each is a list of errors with location, "
                    "explanation, severity and category",
                )


def _rehearse_writer(plan: Plan, made: MadePerturbation, dataset: Dataset) -> None:
    change = change_of(made.model_dump() | lowered(plan, dataset.dataset, made))
    lacks = f"perturbations/{made.perturbation}.yaml, key instructions"
    for degree in made.degrees_for(dataset.dataset).values():
        for problem in (None, "a sample problem"):
            seen = {"source": "a sample source", "problem": problem}
            values = to_write(dataset.task, degree.model_dump(), change, **seen)
            steps: Names = {"instructions": STEPS}
            fill = partial(_fill_with_steps, plan, made.form, TEXTS[:1], steps=steps, lacks=lacks)
            try:
                fill(values)
            except UserError:
                fill({"aspect": PARTED, **values})  # raises what else is wrong
                raise _without_parts(plan, made, dataset) from None


def _without_parts(plan: Plan, made: MadePerturbation, dataset: Dataset) -> UserError:
    """Return what is wrong where a form shows the parts of an aspect, and there are none."""
    aspect, key = lowered_by(plan, dataset.dataset, made), f"tasks.{dataset.task}.sub_aspects"
    if aspect is None:
        return UserError(
            f"the form {made.form} shows the parts of an aspect, and this card lowers none",
            where=f"perturbations/{made.perturbation}.yaml, key aspects",
            got=", ".join(made.aspects) or "no aspects",
            todo=f"name one whose card has {key}",
        )
    return UserError(
        f"the form {made.form} shows the parts of an aspect, and this card has none",
        where=f"aspects/{aspect}.yaml, key {key}",
        todo="write them, or let a model draft them: judgescope draft <study>",
    )


def lacks_parts(plan: Plan, made: MadePerturbation, dataset: Dataset) -> bool:
    """Return whether only the parts of the aspect that it lowers keep a writer's form from use."""
    degree = next(iter(made.degrees_for(dataset.dataset).values()))
    card = made.model_dump() | {"instructions": [STEPS]} | lowered(plan, dataset.dataset, made)
    values = to_write(dataset.task, degree.model_dump(), change_of(card), source=SOURCE)
    return not _fills(plan, made.form, values) and _fills(
        plan, made.form, {"aspect": PARTED, **values}
    )


def _fills(plan: Plan, form: str, values: Names) -> bool:
    try:
        _fill(plan, form, TEXTS[:1], **values)
    except UserError:
        return False
    return True


def _rehearse_new(plan: Plan, dataset: Dataset) -> None:
    """Fill the form of texts to learn from: of the source alone are they made."""
    assert plan.distillation.write is not None
    form = plan.distillation.write.form
    values = to_write(dataset.task, {}, NO_CHANGE, source=SOURCE, text="")
    [message] = messages(form, plan.templates[form], **values)
    if SOURCE not in message["content"].lower():
        raise UserError(
            "this prompt does not show the source that a new text is about",
            where=f"prompts/{form}{SUFFIX}",
            todo="write {{ source }} where it belongs",
        )


def _rehearse_improver(plan: Plan, improved: Improvement, dataset: Dataset) -> None:
    """Fill a form that may show the source, the reference or both: what it writes is of them."""
    for problem in (None, "a sample problem"):
        seen = {"source": SOURCE, "text": TEXTS[0], "problem": problem}
        values = to_write(dataset.task, Degree().model_dump(), NO_CHANGE, **seen)
        [message] = messages(improved.form, plan.templates[improved.form], **values)
        if not any(text in message["content"].lower() for text in (SOURCE, TEXTS[0])):
            raise UserError(
                "this prompt shows neither the source nor the reference",
                where=f"prompts/{improved.form}{SUFFIX}",
                todo="write {{ source }} or {{ text }} where it belongs",
            )


def _fill_about(plan: Plan, form: str, texts: tuple[str, ...], values: Names, lacks: str) -> str:
    """Return the filled form; where it only wants for what an aspect's card could say, say so."""
    try:
        return _fill(plan, form, texts, **values)
    except UserError:
        card = cast(Names, values["aspect"])
        filled = {**values, "aspect": {**SAID, **card}}
        _fill(plan, form, texts, **filled)  # raises what else is wrong
        for name, (shown, todo) in COULD_SAY.items():
            others = {key: sample for key, sample in SAID.items() if key != name}
            try:
                _fill(plan, form, texts, **{**values, "aspect": {**others, **card}})
            except UserError:
                raise UserError(
                    f"the form {form} shows {shown}, and this card has none",
                    where=f"{lacks}.{name}",
                    todo=todo,
                ) from None
        raise


def _fill_with_steps(
    plan: Plan, form: str, texts: tuple[str, ...], values: Names, steps: Names, lacks: str
) -> str:
    """Return the filled form; where it only wants for steps that a card could have, say so."""
    try:
        return _fill(plan, form, texts, **values)
    except UserError:
        _fill(plan, form, texts, **values | steps)  # raises what else is wrong
        raise UserError(
            f"the form {form} shows steps, and this card has none",
            where=lacks,
            todo="write them, or let a model draft them: judgescope draft <study>",
        ) from None


def _fill(plan: Plan, form: str, texts: tuple[str, ...], **values: object) -> str:
    """Return the filled form, which must show its texts."""
    return _fill_all(plan, form, values, dict(zip(("text", "text_b"), texts, strict=False)))


# ---- graded sets --------------------------------------------------------------------------------

SHOWN = {
    "text": "the first sample text",
    "source": "the first sample source",
    "text_b": "the second sample text",
    "source_b": "the second sample source",
}


def _rehearse_graded(plan: Plan, card: GradedPerturbation, dataset: Dataset) -> None:
    """Fill the prompts that put errors in and that compare with anchors."""
    if card.model:
        _rehearse_errors(plan, card, dataset)
    if card.anchors:
        aspect = plan.lowered(dataset.dataset, card)
        scale = dataset.aspects[aspect]
        values = {"aspect": rated(plan.aspect_of(dataset.dataset, aspect), scale)["aspect"]}
        hidden = {} if scale.source_visible else {"source": None, "source_b": None}
        _fill_all(plan, card.anchors.form, values, {**SHOWN, **hidden})


def _rehearse_errors(plan: Plan, card: GradedPerturbation, dataset: Dataset) -> None:
    aspect = lowered(plan, dataset.dataset, card)
    if not aspect:
        raise UserError(
            "a model that puts errors in is told the parts of the aspect, and there are none",
            where=f"perturbations/{card.perturbation}.yaml, key aspects",
            got=plan.lowered(dataset.dataset, card),
            todo=f"name one whose card has tasks.{dataset.task}.sub_aspects: write them, or let a "
            "model draft them: judgescope draft <study>",
        )
    assert card.form is not None  # the card's own check
    change = change_of(card.model_dump() | aspect)
    assert change.aspect is not None
    for problem in (None, "a sample problem"):
        seen = {"source": SHOWN["source"], "text": SHOWN["text"], "problem": problem}
        values = to_write(dataset.task, {"k": 2}, change, **seen)
        values["errors"] = to_builtins(change.aspect.sub_aspects[:1]) * 2
        _fill_all(plan, card.form, values, {"text": SHOWN["text"]})


def _fill_all(plan: Plan, form: str, values: Names, shown: Mapping[str, str | None]) -> str:
    """Return the filled form, which must show its texts and their sources."""
    [message] = messages(form, plan.templates[form], **{**values, **shown})
    for name, text in shown.items():
        if text is not None and text not in message["content"].lower():
            raise UserError(
                f"this prompt does not show the {name} that it is about",
                where=f"prompts/{form}{SUFFIX}",
                todo=f"write {{{{ {name} }}}} where it belongs",
            )
    return message["content"]
