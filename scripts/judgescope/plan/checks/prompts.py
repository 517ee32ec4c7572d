"""Every prompt of a study, filled once with sample texts before anything is asked."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

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
    Scale,
    Supervisor,
)

Names = dict[str, object]
"""What a form is filled with, by name."""

TEXT, TEXT_B = "the first sample text", "the second sample text"
SOURCE, SOURCE_B = "the first sample source", "the second sample source"
STEPS = "1. A sample step."
ENDS = {
    "steps": (STEPS, "steps", "write them, or let a model draft them: judgescope draft <study>"),
    "worst": (
        *("a sample worst", "what the worst text is like"),
        "write it, there or for all tasks: the text is …",
    ),
    "best": (
        *("a sample best", "what the best text is like"),
        "write it, there or for all tasks: the text is …",
    ),
}
"""What a form may show of an aspect if its card has it -> a sample, in words, and what to do."""
PROBLEMS = (None, "a sample problem")
"""Why an earlier reply could not be used: none at first."""
ANALYSIS = "a sample analysis"
HINT = "4711"
RATING = 77.5
EXPLANATION = "a sample explanation"
NUMBERS = re.compile(r"\bscale\.(?:min|max|step)\b")
CHOICES = re.compile(r"\bscale\.choices\b")
"""What a form prints of a scale of numbers, and of one of labels alone."""
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
        for name in dict(plan.perturbed(card.dataset, "once", "chain")):
            if isinstance(made := plan.perturbations[name], MadePerturbation):
                _rehearse_writer(plan, made, card)
        if (improved := plan.improved(card.dataset)) is not None:
            _rehearse_improver(plan, improved, card)
        for name in dict(plan.perturbed(card.dataset, "graded")):
            if (built := graded(plan).get(name)) is not None:
                _rehearse_graded(plan, built, card)
        if plan.new_sets(card.dataset) and (new := plan.distillation.write):
            values = to_write(card.task, {}, NO_CHANGE, text="")  # of the source alone
            _fill(plan, new.form, values, {"source": SOURCE}, "that a new text is about")


# ---- filling ------------------------------------------------------------------------------------


def _fill(
    plan: Plan,
    form: str,
    values: Names,
    shown: Mapping[str, object],
    purpose: str = "that it is about",
) -> str:
    """Return the filled form, which must show what is in `shown`: name -> text, None: hidden."""
    [message] = messages(form, plan.templates[form], **{**values, **shown})
    prompt = message["content"]
    for name, text in shown.items():
        if text is not None and str(text) not in prompt.lower():
            raise UserError(
                f"this prompt does not show the {name} {purpose}",
                where=f"prompts/{form}{SUFFIX}",
                todo=f"write {{{{ {name} }}}} where it belongs",
            )
    return prompt


def _fill_or_name(fill: Callable[[Names], str], lacks: Sequence[tuple[Names, UserError]]) -> str:
    """Return a filled form, or raise the error for the only thing that a card lacks for it."""
    try:
        return fill({})
    except UserError:
        fill({name: value for names, _ in lacks for name, value in names.items()})
        for names, error in lacks:
            others = [each for each, _ in lacks if each is not names]
            try:
                fill({name: value for each in others for name, value in each.items()})
            except UserError:
                raise error from None
        raise


# ---- judges -------------------------------------------------------------------------------------


def _rehearse_judge(plan: Plan, judge: Judge) -> None:
    for dataset, card in plan.shown(judge.judge).items():
        for aspect in plan.rated_by(judge.judge, dataset):
            scale = plan.scale_of(dataset, aspect)
            read_on = judge.scale_on(split(aspect)[0]) or scale
            _check_kind(plan, judge, f"{dataset}, {split(aspect)[0]}", read_on)
            values: Names = rated(plan.aspect_of(dataset, aspect), read_on)
            values["source"] = SOURCE if scale.source_visible else None
            if judge.against is not None:
                values["reference"] = "a sample reference"
            if judge.hint is not None:
                values |= {"hint": HINT, "attributed": judge.hint.attributed}
            if judge.annotation is not None:
                values |= annotating(judge.annotation, card.task)
            lacks = f"aspects/{split(aspect)[0]}.yaml, key tasks.{card.task}"
            if judge.shots is not None:
                _rehearse_shots(plan, judge, values, lacks)
            elif HINT not in _fill_judge(plan, judge, values, lacks) and judge.hint is not None:
                raise UserError(
                    "this prompt does not show the rating that is the judge's hint",
                    where=f"prompts/{judge.form}{SUFFIX}",
                    todo="write {{ hint }} where it belongs, or leave `hint` out of the judge's "
                    "card",
                )


def _check_kind(plan: Plan, judge: Judge, rated: str, scale: Scale) -> None:
    """Check that a form asks for numbers where the scale has these, and for labels elsewhere."""
    sources = "\n".join(plan.templates[judge.form].values())
    labels = ", ".join(scale.labels)
    if scale.categorical and NUMBERS.search(sources):
        raise UserError(
            f"the form {judge.form} asks for a number, and the scale has labels",
            where=f"judges/{judge.judge}.yaml, key form",
            got=f"{rated}: {labels}",
            todo="use verdict, reason-verdict or your own form that prints `scale.choices`; or "
            "give the judge a `scale` of its own and a `threshold`",
        )
    if not scale.categorical and CHOICES.search(sources):
        raise UserError(
            f"the form {judge.form} asks for a label, and the scale has numbers",
            where=f"judges/{judge.judge}.yaml, key form",
            got=f"{rated}: {scale.min:g} to {scale.max:g}",
            todo="use score-only, analyze-rate or another form that prints `scale.min`",
        )


def _fill_judge(plan: Plan, judge: Judge, values: Names, lacks: str) -> str:
    """Return a judge's filled form; `lacks` is the place of what an aspect's card could have."""
    shown = {"text": TEXT} | ({"text_b": TEXT_B} if judge.form == COMPARE else {})
    aspect = to_builtins(values["aspect"])

    def fill(more: Names) -> str:
        return _fill(plan, judge.form, {**values, "aspect": {**more, **aspect}}, shown)

    return _fill_or_name(
        fill,
        [
            (
                {name: sample},
                UserError(
                    f"the form {judge.form} shows {words}, and this card has none",
                    where=f"{lacks}.{name}",
                    todo=todo,
                ),
            )
            for name, (sample, words, todo) in ENDS.items()
        ],
    )


def _rehearse_shots(plan: Plan, judge: Judge, values: Names, lacks: str) -> None:
    """Fill a form with demonstrations; it shows analyses where there are any, and only there."""
    assert judge.shots is not None
    rated_text = {"source": values["source"], "text": "a rated text", "rating": RATING}
    bare = {"shots": [rated_text] * judge.shots.n}
    analysed: Names = {"shots": [{**rated_text, "analysis": ANALYSIS}] * judge.shots.n}
    where = f"judges/{judge.judge}.yaml, key shots.analyses"
    if judge.shots.analyses is None:
        needless = UserError(
            f"the form {judge.form} shows analyses, and this card asks for none",
            where=where,
            todo="add `analyses: {model: …, form: analysis}`, or use the form score-shots",
        )
        _fill_or_name(
            lambda more: _fill_judge(plan, judge, {**values, **bare, **more}, lacks),
            [(analysed, needless)],
        )
    elif ANALYSIS not in _fill_judge(plan, judge, {**values, **analysed}, lacks):
        raise UserError(
            f"the form {judge.form} shows no analyses",
            where=where,
            todo="use analyze-shots, explain-shots or your own form that prints `shot.analysis`; "
            "or leave `analyses` out",
        )
    else:
        _rehearse_analyst(plan, judge.shots.analyses, {**values, **rated_text})


def _rehearse_analyst(plan: Plan, analyses: Analyses, values: Names) -> None:
    """Fill a form that shows a rated text and the rating that an analysis must lead to."""
    shown = {name: values[name] for name in ("text", "rating")}
    for problem in PROBLEMS:
        named = {**values, "problem": problem}
        _fill(plan, analyses.form, named, shown, "that is to be explained")


def _rehearse_supervisor(plan: Plan, supervisor: Supervisor) -> None:
    """Fill a form that shows what annotators found, in a list or in several."""
    for category in (None, "a sample category"):
        error = {**SAMPLE_ERROR, "category": category}
        for lists in ([[error]], [[error, {**error, "location": None}], [error]]):
            values = to_merge_names(TEXT, lists)
            if EXPLANATION not in _fill(plan, supervisor.form, values, {"text": TEXT}):
                raise UserError(
                    "this prompt does not show the errors that are to be merged",
                    where=f"prompts/{supervisor.form}{SUFFIX}",
                    todo="go through {{ lists }}: each is a list of errors with location, "
                    "explanation, severity and category",
                )


# ---- writers ------------------------------------------------------------------------------------


def _rehearse_writer(plan: Plan, made: MadePerturbation, dataset: Dataset) -> None:
    change = change_of(made.model_dump() | lowered(plan, dataset.dataset, made))
    no_steps = UserError(
        f"the form {made.form} shows steps, and this card has none",
        where=f"perturbations/{made.perturbation}.yaml, key instructions",
        todo="write them, or let a model draft them: judgescope draft <study>",
    )
    lacks: list[tuple[Names, UserError]] = [
        ({"instructions": STEPS}, no_steps),
        ({"aspect": PARTED}, _without_parts(plan, made, dataset)),
    ]
    for degree in made.degrees_for(dataset.dataset).values():
        for problem in PROBLEMS:
            seen = {"source": SOURCE, "problem": problem}
            values = to_write(dataset.task, degree.model_dump(), change, **seen)

            def fill(more: Names, values: Names = values) -> str:
                return _fill(plan, made.form, {**more, **values}, {"text": TEXT})

            _fill_or_name(fill, lacks)


def _without_parts(plan: Plan, made: MadePerturbation, dataset: Dataset) -> UserError:
    """Return the error of a form that shows the parts of an aspect, where there are none."""
    aspect, key = lowered_by(plan, dataset.dataset, made), f"tasks.{dataset.task}.sub_aspects"
    if aspect is None:
        return UserError(
            f"the form {made.form} shows an aspect's sub-aspects, and this card names no aspect",
            where=f"perturbations/{made.perturbation}.yaml, key aspects",
            got=", ".join(made.aspects) or "no aspects",
            todo=f"name one whose card has {key}",
        )
    return UserError(
        f"the form {made.form} shows an aspect's sub-aspects, and this card has none",
        where=f"aspects/{aspect}.yaml, key {key}",
        todo="write them, or let a model draft them: judgescope draft <study>",
    )


def lacks_parts(plan: Plan, made: MadePerturbation, dataset: Dataset) -> bool:
    """Return whether only the parts of the aspect that it lowers keep a writer's form from use."""
    degree = next(iter(made.degrees_for(dataset.dataset).values()))
    card = made.model_dump() | {"instructions": [STEPS]} | lowered(plan, dataset.dataset, made)
    values = to_write(dataset.task, degree.model_dump(), change_of(card), source=SOURCE)
    with suppress(UserError):
        _fill(plan, made.form, values, {"text": TEXT})
        return False
    with suppress(UserError):
        _fill(plan, made.form, {"aspect": PARTED, **values}, {"text": TEXT})
        return True
    return False


def _rehearse_improver(plan: Plan, improved: Improvement, dataset: Dataset) -> None:
    """Fill a form that may show the source, the reference or both: what it writes is of them."""
    for problem in PROBLEMS:
        seen = {"source": SOURCE, "text": TEXT, "problem": problem}
        values = to_write(dataset.task, Degree().model_dump(), NO_CHANGE, **seen)
        prompt = _fill(plan, improved.form, values, {})
        if not any(text in prompt.lower() for text in (SOURCE, TEXT)):
            raise UserError(
                "this prompt shows neither the source nor the reference",
                where=f"prompts/{improved.form}{SUFFIX}",
                todo="write {{ source }} or {{ text }} where it belongs",
            )


def _rehearse_graded(plan: Plan, card: GradedPerturbation, dataset: Dataset) -> None:
    """Fill the prompts that put errors in and that compare with anchors."""
    if card.model:
        _rehearse_errors(plan, card, dataset)
    if card.anchors:
        aspect = plan.lowered(dataset.dataset, card)
        scale = dataset.aspects[aspect]
        values = {"aspect": rated(plan.aspect_of(dataset.dataset, aspect), scale)["aspect"]}
        sources = (SOURCE, SOURCE_B) if scale.source_visible else (None, None)
        shown = dict(zip(("source", "source_b"), sources, strict=True))
        _fill(plan, card.anchors.form, values, {"text": TEXT, "text_b": TEXT_B, **shown})


def _rehearse_errors(plan: Plan, card: GradedPerturbation, dataset: Dataset) -> None:
    aspect = lowered(plan, dataset.dataset, card)
    if not aspect:
        raise UserError(
            "a model that injects errors needs the aspect's sub-aspects, and its card has none",
            where=f"perturbations/{card.perturbation}.yaml, key aspects",
            got=plan.lowered(dataset.dataset, card),
            todo=f"name one whose card has tasks.{dataset.task}.sub_aspects: write them, or let a "
            "model draft them: judgescope draft <study>",
        )
    change = change_of(card.model_dump() | aspect)
    assert card.form is not None and change.aspect is not None
    for problem in PROBLEMS:
        seen = {"source": SOURCE, "problem": problem}
        values = to_write(dataset.task, {"k": 2}, change, **seen)
        values["errors"] = to_builtins(change.aspect.sub_aspects[:1]) * 2
        _fill(plan, card.form, values, {"text": TEXT})
