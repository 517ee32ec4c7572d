"""Rehearsal of the forms of judges and supervisors: each is filled once with sample
texts for every aspect, scale and kind of source that it meets.
"""

import re
from typing import NamedTuple

from msgspec import to_builtins

from judgescope import prompts
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.plan.checks.filled_forms import (
    PROBLEMS,
    MissingValues,
    PromptValues,
    fill,
    fill_or_name,
)
from judgescope.plan.checks.likelihood import check_seen
from judgescope.plan.checks.sample_texts import SAMPLE, sample_source
from judgescope.plan.study import Plan
from judgescope.prompts.filling import messages, system_message
from judgescope.prompts.likelihood import HIDDEN
from judgescope.replies.decision_questions import shown_decision
from judgescope.schema import cards


class OptionalKey(NamedTuple):
    """A key of an aspect's card that some forms need."""

    name: str
    sample: str
    words: str
    todo: str


OPTIONAL_KEYS = (
    OptionalKey(
        name="steps",
        sample="1. A sample step.",
        words="evaluation steps",
        todo="write them, or let a model draft them: judgescope draft <study>",
    ),
    OptionalKey(
        name="worst",
        sample="a sample worst",
        words="a description of the worst text",
        todo="write one, for this task or for all; it completes `the text is …`",
    ),
    OptionalKey(
        name="best",
        sample="a sample best",
        words="a description of the best text",
        todo="write one, for this task or for all; it completes `the text is …`",
    ),
)


def rehearse_judge(plan: Plan, judge: cards.Judge) -> None:
    """Fill the form of a judge that reads prompts for all that it rates.

    Raises UserError for a form that cannot be filled, or that does not print a text
    that it is about.
    """
    _check_annotation(plan, judge)
    if judge.scores_texts:
        _rehearse_scoring(plan, judge)
        return
    for dataset in plan.shown(judge.judge).values():
        for aspect in plan.rated_by(judge.judge, dataset.dataset):
            _rehearse_rating(plan, judge, dataset, aspect)


def _check_annotation(plan: Plan, judge: cards.Judge) -> None:
    """Check that a form prints `annotation` if and only if the judge's card has this
    key.
    """
    prints = prompts.shows(plan.templates[judge.form], "annotation")
    if prints and judge.annotation is None:
        raise UserError(
            f"the form {judge.form} asks for annotations, and this card has no "
            "`annotation`",
            where=f"judges/{judge.judge}.yaml, key annotation",
            todo="add `annotation: {}`",
        )
    if judge.annotation is not None and not prints:
        raise UserError(
            "this prompt does not ask for annotations",
            where=f"prompts/{judge.form}{prompts.SUFFIX}",
            todo="print the variable `annotation`, as the form annotate does, or leave "
            f"`annotation` out of judges/{judge.judge}.yaml",
        )


# --- ratings --------------------------------------------------------------------------


def _rehearse_rating(
    plan: Plan, judge: cards.Judge, dataset: cards.Dataset, aspect: str
) -> None:
    name, _ = split(aspect)
    scale = judge.scale_on(name) or plan.scale_of(dataset.dataset, aspect)
    _check_kind_of_scale(plan, judge, f"{dataset.dataset}, {name}", scale)
    values = _rating_values(plan, judge, dataset, aspect, scale)
    templates = plan.templates_of(judge.form, judge.system)
    system_message(judge.system, templates, values)
    task = f"aspects/{name}.yaml, key tasks.{dataset.task}"
    if judge.shots is not None:
        _rehearse_shots(plan, judge, judge.shots, values, task)
        return
    prompt = _fill_rating(plan, judge, values, task)
    if judge.hint is not None and SAMPLE.hint not in prompt:
        raise UserError(
            "this prompt does not print the judge's hint, the variable `hint`",
            where=f"prompts/{judge.form}{prompts.SUFFIX}",
            todo="add {{ hint }} to the prompt form, or leave `hint` out of the "
            "judge's card",
        )


def _check_kind_of_scale(
    plan: Plan, judge: cards.Judge, rated: str, scale: cards.RatingScale
) -> None:
    """Check that a form asks for numbers if the scale has numbers, and otherwise for
    labels.
    """
    where = f"judges/{judge.judge}.yaml, key form"
    sources = "\n".join(plan.templates[judge.form].values())
    if scale.categorical and re.search(r"\bscale\.(?:min|max|step)\b", sources):
        raise UserError(
            f"the form {judge.form} asks for a number, but the scale has labels",
            where=where,
            got=f"{rated}: {', '.join(scale.labels)}",
            todo="use the form verdict, reason-verdict or your own that prints "
            "`scale.choices`; or give the judge its own `scale` and a `threshold`",
        )
    count = len(scale.values() or ())
    asks_agreement = re.search(r"\bscale\.agreement\b", sources) is not None
    if asks_agreement and count not in prompts.AGREEMENT:
        raise UserError(
            f"the form {judge.form} asks how far one agrees, and has no words for this "
            "scale",
            where=where,
            got=f"{rated}: {count or 'no'} values",
            allowed=f"{' or '.join(map(str, prompts.AGREEMENT))} values",
            todo="give the judge its own `scale`, or use the form analyze-rate",
        )
    if not scale.categorical and re.search(r"\bscale\.choices\b", sources):
        raise UserError(
            f"the form {judge.form} asks for a label, but the scale has numbers",
            where=where,
            got=f"{rated}: {scale.min:g} to {scale.max:g}",
            todo="use the form score-only, analyze-rate or another that prints "
            "`scale.min`",
        )


def _rating_values(
    plan: Plan,
    judge: cards.Judge,
    dataset: cards.Dataset,
    aspect: str,
    scale: cards.RatingScale,
) -> PromptValues:
    """Return what a judge's prompt about an aspect prints, besides the texts."""
    name = dataset.dataset
    source = list[SourcePart]()
    if plan.scale_of(name, aspect).source_visible:
        source = sample_source(plan, dataset)
    values: PromptValues = prompts.rated(plan.aspect_of(name, aspect), scale)
    values |= plan.about(name).names
    values |= prompts.material(source)
    if judge.against is not None:
        values["reference"] = SAMPLE.reference
    if judge.hint is not None:
        values["hint"] = SAMPLE.hint
        values["attributed"] = judge.hint.attributed
    if judge.annotation is not None:
        values |= prompts.annotating(judge.annotation)
    if isinstance(plan.models[judge.model], cards.SystemOneModel):
        pairs = plan.compares(judge.judge)
        values["decision"] = shown_decision(judge, scale, pairs=pairs)
    return values


def _fill_rating(
    plan: Plan, judge: cards.Judge, values: PromptValues, task: str
) -> str:
    """Return a judge's filled form; `task`: the place of the aspect's optional keys."""
    shown = {"text": SAMPLE.text}
    if plan.compares(judge.judge):
        shown["text_b"] = SAMPLE.second_text
    aspect = to_builtins(values["aspect"])
    missing = list[MissingValues]()
    for key in OPTIONAL_KEYS:
        error = UserError(
            f"the form {judge.form} prints {key.words}, and the aspect's card has none",
            where=f"{task}.{key.name}",
            todo=key.todo,
        )
        missing.append(MissingValues({key.name: key.sample}, error))

    def fill_with(more: PromptValues) -> str:
        completed = {**values, "aspect": {**more, **aspect}}
        return fill(plan, judge.form, completed, shown)

    return fill_or_name(fill_with, missing)


# --- demonstrations -------------------------------------------------------------------


def _rehearse_shots(
    plan: Plan, judge: cards.Judge, shots: cards.Shots, values: PromptValues, task: str
) -> None:
    """Fill a form with demonstrations; it must print analyses if and only if the card
    has any.
    """
    analysis = "a sample analysis"
    demonstration = {name: values[name] for name in prompts.material(())}
    demonstration |= {"text": "a rated text", "rating": 77.5}
    plain: PromptValues = {"shots": [demonstration] * shots.n}
    analysed: PromptValues = {
        "shots": [{**demonstration, "analysis": analysis}] * shots.n
    }
    where = f"judges/{judge.judge}.yaml, key shots.analyses"
    if shots.analyses is None:
        needless = UserError(
            f"the form {judge.form} prints analyses, and this judge's card has no "
            "`analyses`",
            where=where,
            todo="add `analyses: {model: …, form: analysis}`, or use the form "
            "score-shots",
        )

        def fill_with(more: PromptValues) -> str:
            return _fill_rating(plan, judge, {**values, **plain, **more}, task)

        fill_or_name(fill_with, [MissingValues(analysed, needless)])
        return
    if analysis not in _fill_rating(plan, judge, {**values, **analysed}, task):
        raise UserError(
            f"the form {judge.form} does not print the analyses that this card asks "
            "for",
            where=where,
            todo="use the form analyze-shots, explain-shots or your own with "
            "`shot.analysis`; or leave `analyses` out",
        )
    # The form that asks for analyses shows a rated text, and the rating to explain.
    shown = {key: demonstration[key] for key in ("text", "rating")}
    for problem in PROBLEMS:
        named = {**values, **demonstration, "problem": problem}
        fill(plan, shots.analyses.form, named, shown, "which is to be explained")


# --- the probability of a text --------------------------------------------------------


def _rehearse_scoring(plan: Plan, judge: cards.Judge) -> None:
    """Fill a form whose continuation is scored, with and without a source.

    Raises UserError if it shows a text, or with pmi if it does not show the source.
    """
    where = f"prompts/{judge.form}{prompts.SUFFIX}"
    templates = plan.templates[judge.form]
    shown = prompts.needed_names(templates) & HIDDEN
    if shown:
        first = min(shown)
        raise UserError(
            f"this prompt shows the variable `{first}`, but the text is scored as its "
            "continuation",
            where=where,
            todo=f"leave {{{{ {first} }}}} out, or use the form likelihood",
        )
    for dataset in plan.shown(judge.judge).values():
        name = dataset.dataset
        for aspect in plan.rated_by(judge.judge, name):
            scale = plan.scale_of(name, aspect)
            check_seen(judge, f"{name}, {split(aspect)[0]}", scale)
            values = prompts.rated(plan.aspect_of(name, aspect), scale)
            values |= plan.about(name).names
            filled = []
            for source in (sample_source(plan, dataset), []):
                material = prompts.material(source)
                filled.append(messages(judge.form, templates, **values, **material))
            if judge.estimator == "pmi" and filled[0] == filled[1]:
                raise UserError(
                    "this prompt is the same without the source, so every pmi would "
                    "be 0",
                    where=where,
                    todo="print each part of `parts`, as the form likelihood does",
                )


# --- supervisors ----------------------------------------------------------------------


def rehearse_supervisor(
    plan: Plan, supervisor: cards.Supervisor, about: prompts.TextWords
) -> None:
    """Fill a form that prints the errors that annotators found, in one list or in
    several.

    Raises UserError for a form that cannot be filled, or that does not print them.
    """
    for category in (None, "a sample category"):
        error = {
            "location": "a sample place",
            "explanation": SAMPLE.explanation,
            "severity": 3,
            "category": category,
        }
        nowhere = {**error, "location": None}
        for lists in ([[error]], [[error, nowhere], [error]]):
            values = prompts.to_merge_names(about, SAMPLE.text, lists)
            prompt = fill(plan, supervisor.form, values, {"text": SAMPLE.text})
            if SAMPLE.explanation not in prompt:
                raise UserError(
                    "this prompt does not print the errors to merge",
                    where=f"prompts/{supervisor.form}{prompts.SUFFIX}",
                    todo="loop over the variable `lists`: each is a list of errors "
                    "with location, explanation, severity and category",
                )
