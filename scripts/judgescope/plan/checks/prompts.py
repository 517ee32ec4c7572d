"""Checks of prompts, each filled once with sample texts, of perturbations and of
writers.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import to_builtins

from judgescope import prompts
from judgescope.core.cells import split
from judgescope.core.errors import UserError, check_known
from judgescope.core.names import SYSTEMS
from judgescope.perturb.inject import ERRORS
from judgescope.perturb.rules import RULES, check_options
from judgescope.perturb.validation import CHECKS
from judgescope.plan.checks.likelihood import rehearse_scoring
from judgescope.plan.checks.sample_texts import SOURCE, sample_source
from judgescope.plan.generators import graded, lowered, lowered_by
from judgescope.plan.study import Plan
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES, prompted_engines

PromptValues = dict[str, object]
"""The values that fill a prompt form, by name."""

TEXT = "the first sample text"
TEXT_B = "the second sample text"
SOURCE_B = "the second sample source"
STEPS = "1. A sample step."
ENDS = {
    "steps": (
        STEPS,
        "evaluation steps",
        "write them, or let a model draft them: judgescope draft <study>",
    ),
    "worst": (
        "a sample worst",
        "a description of the worst text",
        "write one, for this task or for all; it completes `the text is …`",
    ),
    "best": (
        "a sample best",
        "a description of the best text",
        "write one, for this task or for all; it completes `the text is …`",
    ),
}
"""Optional key of an aspect -> a sample value, the key in words, and what to do without
it."""
PROBLEMS = (None, "a sample problem")
"""Why an earlier reply could not be used; None for the first request."""
ANALYSIS = "a sample analysis"
HINT = "4711"
RATING = 77.5
EXPLANATION = "a sample explanation"
NUMBERS = re.compile(r"\bscale\.(?:min|max|step)\b")
AGREEMENT = re.compile(r"\bscale\.agreement\b")
CHOICES = re.compile(r"\bscale\.choices\b")
"""Variables that a form prints for a scale of numbers, and for one of labels only."""
SAMPLE_ERROR = {"location": "a sample place", "explanation": EXPLANATION, "severity": 3}
SUB_ASPECT = {"name": "C", "definition": "D"}
PARTED: PromptValues = {"name": "A", "definition": "B", "sub_aspects": [SUB_ASPECT]}


def rehearse(plan: Plan) -> None:
    """Fill the form of every judge and writer with each aspect, scale and kind of
    source it meets.

    Raises UserError for a form that cannot be filled, or that does not print a text
    that it is about.
    """
    for judge in plan.judges.values():
        _check_annotator(plan, judge)
        if judge.scores_texts:
            rehearse_scoring(plan, judge)
        elif plan.is_prompted(judge.model):
            _rehearse_judge(plan, judge)
    for ensemble in plan.derived.values():
        for dataset in plan.datasets if ensemble.supervisor else ():
            assert ensemble.supervisor is not None
            _rehearse_supervisor(plan, ensemble.supervisor, plan.about(dataset))
    for card in plan.datasets.values():
        _check_parts(plan, card)
        for name in dict(plan.perturbed(card.dataset, "once", "chain")):
            if isinstance(made := plan.perturbations[name], cards.MadePerturbation):
                _rehearse_writer(plan, made, card)
        if (improved := plan.improved(card.dataset)) is not None:
            _rehearse_improver(plan, improved, card)
        for name in dict(plan.perturbed(card.dataset, "graded")):
            if (built := graded(plan).get(name)) is not None:
                _rehearse_graded(plan, built, card)
        if plan.new_sets(card.dataset) and (new := plan.distillation.write):
            about, source = plan.about(card.dataset), sample_source(plan, card)
            # from the source only
            values = prompts.to_write(about, {}, prompts.NO_CHANGE, source, text="")
            _fill(
                plan, new.form, values, {"source": SOURCE}, "which a new text is about"
            )


def _check_parts(plan: Plan, card: cards.Dataset) -> None:
    """Check that no part of a source has the heading of one of two texts."""
    noun = plan.words(card.dataset).noun
    taken = {f"{noun} {letter}".casefold() for letter in "ab"}
    names = card.columns.source if card.columns else []
    for name in names if isinstance(names, dict) else ():
        if name.casefold() in taken:
            raise UserError(
                "this name of a part is the heading of a text in prompts that compare",
                where=f"datasets/{card.dataset}.yaml, key columns.source",
                got=name,
                todo="give the part another name",
            )


# ---- filling -------------------------------------------------------------------------


def _fill(
    plan: Plan,
    form: str,
    values: PromptValues,
    shown: Mapping[str, object],
    purpose: str = "which it is about",
) -> str:
    """Return the filled form, which must print what is in `shown`: name -> text, None:
    hidden.

    A name that is in `values` too has that value in the form.
    """
    [message] = prompts.messages(form, plan.templates[form], **{**shown, **values})
    prompt = message["content"]
    for name, text in shown.items():
        if text is not None and str(text) not in prompt.lower():
            raise UserError(
                f"this prompt does not print the variable `{name}`, {purpose}",
                where=f"prompts/{form}{prompts.SUFFIX}",
                todo=f"add {{{{ {name} }}}} to the prompt form",
            )
    return prompt


def _fill_or_name(
    fill: Callable[[PromptValues], str], lacks: Sequence[tuple[PromptValues, UserError]]
) -> str:
    """Return a filled form, or raise the error for the only value that is missing for
    it.
    """
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


# ---- judges --------------------------------------------------------------------------


def _rehearse_judge(plan: Plan, judge: cards.Judge) -> None:
    for dataset, card in plan.shown(judge.judge).items():
        for aspect in plan.rated_by(judge.judge, dataset):
            scale = plan.scale_of(dataset, aspect)
            read_on = judge.scale_on(split(aspect)[0]) or scale
            _check_kind(plan, judge, f"{dataset}, {split(aspect)[0]}", read_on)
            values: PromptValues = prompts.rated(
                plan.aspect_of(dataset, aspect), read_on
            )
            source = sample_source(plan, card) if scale.source_visible else []
            values |= {**plan.about(dataset).names, **prompts.material(source)}
            if judge.against is not None:
                values["reference"] = "a sample reference"
            if judge.hint is not None:
                values |= {"hint": HINT, "attributed": judge.hint.attributed}
            if judge.annotation is not None:
                values |= prompts.annotating(judge.annotation)
            own = plan.templates_of(judge.form, judge.system)
            prompts.system_message(judge.system, own, values)
            lacks = f"aspects/{split(aspect)[0]}.yaml, key tasks.{card.task}"
            if judge.shots is not None:
                _rehearse_shots(plan, judge, values, lacks)
            elif (
                HINT not in _fill_judge(plan, judge, values, lacks)
                and judge.hint is not None
            ):
                raise UserError(
                    "this prompt does not print the judge's hint, the variable `hint`",
                    where=f"prompts/{judge.form}{prompts.SUFFIX}",
                    todo="add {{ hint }} to the prompt form, or leave `hint` out of "
                    "the judge's card",
                )


def _check_kind(
    plan: Plan, judge: cards.Judge, rated: str, scale: cards.RatingScale
) -> None:
    """Check that a form asks for numbers if the scale has numbers, and otherwise for
    labels.
    """
    sources = "\n".join(plan.templates[judge.form].values())
    labels = ", ".join(scale.labels)
    if scale.categorical and NUMBERS.search(sources):
        raise UserError(
            f"the form {judge.form} asks for a number, but the scale has labels",
            where=f"judges/{judge.judge}.yaml, key form",
            got=f"{rated}: {labels}",
            todo="use the form verdict, reason-verdict or your own that prints "
            "`scale.choices`; or give the judge its own `scale` and a `threshold`",
        )
    count = len(scale.values() or ())
    if AGREEMENT.search(sources) and count not in prompts.AGREEMENT:
        raise UserError(
            f"the form {judge.form} asks how far one agrees, and has no words for this "
            "scale",
            where=f"judges/{judge.judge}.yaml, key form",
            got=f"{rated}: {count or 'no'} values",
            allowed=f"{' or '.join(map(str, prompts.AGREEMENT))} values",
            todo="give the judge its own `scale`, or use the form analyze-rate",
        )
    if not scale.categorical and CHOICES.search(sources):
        raise UserError(
            f"the form {judge.form} asks for a label, but the scale has numbers",
            where=f"judges/{judge.judge}.yaml, key form",
            got=f"{rated}: {scale.min:g} to {scale.max:g}",
            todo="use the form score-only, analyze-rate or another that prints "
            "`scale.min`",
        )


def _fill_judge(
    plan: Plan, judge: cards.Judge, values: PromptValues, lacks: str
) -> str:
    """Return a judge's filled form; `lacks`: the place of the aspect's optional
    keys.
    """
    shown = {"text": TEXT} | ({"text_b": TEXT_B} if plan.compares(judge.judge) else {})
    aspect = to_builtins(values["aspect"])

    def fill(more: PromptValues) -> str:
        return _fill(plan, judge.form, {**values, "aspect": {**more, **aspect}}, shown)

    return _fill_or_name(
        fill,
        [
            (
                {name: sample},
                UserError(
                    f"the form {judge.form} prints {words}, and the aspect's card has "
                    "none",
                    where=f"{lacks}.{name}",
                    todo=todo,
                ),
            )
            for name, (sample, words, todo) in ENDS.items()
        ],
    )


def _rehearse_shots(
    plan: Plan, judge: cards.Judge, values: PromptValues, lacks: str
) -> None:
    """Fill a form with demonstrations; it must print analyses if and only if the card
    has any.
    """
    assert judge.shots is not None
    source = {name: values[name] for name in prompts.material(())}
    rated_text = {**source, "text": "a rated text", "rating": RATING}
    bare = {"shots": [rated_text] * judge.shots.n}
    analysed: PromptValues = {
        "shots": [{**rated_text, "analysis": ANALYSIS}] * judge.shots.n
    }
    where = f"judges/{judge.judge}.yaml, key shots.analyses"
    if judge.shots.analyses is None:
        needless = UserError(
            f"the form {judge.form} prints analyses, and this judge's card has no "
            "`analyses`",
            where=where,
            todo="add `analyses: {model: …, form: analysis}`, or use the form "
            "score-shots",
        )
        _fill_or_name(
            lambda more: _fill_judge(plan, judge, {**values, **bare, **more}, lacks),
            [(analysed, needless)],
        )
    elif ANALYSIS not in _fill_judge(plan, judge, {**values, **analysed}, lacks):
        raise UserError(
            f"the form {judge.form} does not print the analyses that this card asks "
            "for",
            where=where,
            todo="use the form analyze-shots, explain-shots or your own with "
            "`shot.analysis`; or leave `analyses` out",
        )
    # the form that asks for analyses shows a rated text, and the rating to explain
    else:
        shown = {key: rated_text[key] for key in ("text", "rating")}
        for problem in PROBLEMS:
            named = {**values, **rated_text, "problem": problem}
            _fill(
                plan,
                judge.shots.analyses.form,
                named,
                shown,
                "which is to be explained",
            )


def _rehearse_supervisor(
    plan: Plan, supervisor: cards.Supervisor, about: prompts.TextWords
) -> None:
    """Fill a form that prints the errors that annotators found, in one list or in
    several.
    """
    for category in (None, "a sample category"):
        error = {**SAMPLE_ERROR, "category": category}
        for lists in ([[error]], [[error, {**error, "location": None}], [error]]):
            values = prompts.to_merge_names(about, TEXT, lists)
            if EXPLANATION not in _fill(plan, supervisor.form, values, {"text": TEXT}):
                raise UserError(
                    "this prompt does not print the errors to merge",
                    where=f"prompts/{supervisor.form}{prompts.SUFFIX}",
                    todo="loop over the variable `lists`: each is a list of errors "
                    "with location, explanation, severity and category",
                )


# ---- writers -------------------------------------------------------------------------


def _rehearse_writer(
    plan: Plan, made: cards.MadePerturbation, dataset: cards.Dataset
) -> None:
    change = prompts.change_of(made.model_dump() | lowered(plan, dataset.dataset, made))
    no_steps = UserError(
        f"the form {made.form} prints steps, and this card has no `instructions`",
        where=f"perturbations/{made.perturbation}.yaml, key instructions",
        todo="write them, or let a model draft them: judgescope draft <study>",
    )
    lacks: list[tuple[PromptValues, UserError]] = [
        ({"instructions": STEPS}, no_steps),
        (
            {"aspect": PARTED, "error": SUB_ASPECT},
            _without_parts(plan, made, dataset),
        ),
    ]
    for degree in made.degrees_for(dataset.dataset).values():
        for problem in PROBLEMS:
            values = prompts.to_write(
                plan.about(dataset.dataset),
                degree.model_dump(),
                change,
                sample_source(plan, dataset),
                problem=problem,
            )
            if change.aspect is not None:
                values["error"] = to_builtins(change.aspect.sub_aspects[0])

            def fill(more: PromptValues, values: PromptValues = values) -> str:
                return _fill(plan, made.form, {**more, **values}, {"text": TEXT})

            _fill_or_name(fill, lacks)


def _without_parts(
    plan: Plan, made: cards.MadePerturbation, dataset: cards.Dataset
) -> UserError:
    """Return the error for a form that prints sub-aspects if the aspect has none."""
    aspect, key = (
        lowered_by(plan, dataset.dataset, made),
        f"tasks.{dataset.task}.sub_aspects",
    )
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
    degree = next(iter(made.degrees_for(dataset.dataset).values()))
    card = (
        made.model_dump()
        | {"instructions": [STEPS]}
        | lowered(plan, dataset.dataset, made)
    )
    about, source = plan.about(dataset.dataset), sample_source(plan, dataset)
    change = prompts.change_of(card)
    values = prompts.to_write(about, degree.model_dump(), change, source)
    if change.aspect is not None and change.aspect.sub_aspects:
        # One of them is drawn for each text.
        values["error"] = SUB_ASPECT
    with suppress(UserError):
        _fill(plan, made.form, values, {"text": TEXT})
        return False
    with suppress(UserError):
        parts = {"aspect": PARTED, "error": SUB_ASPECT}
        _fill(plan, made.form, {**parts, **values}, {"text": TEXT})
        return True
    return False


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
            text=TEXT,
            problem=problem,
        )
        prompt = _fill(plan, improved.form, values, {})
        if not any(text in prompt.lower() for text in (SOURCE, TEXT)):
            raise UserError(
                "this prompt prints neither the source nor the reference",
                where=f"prompts/{improved.form}{prompts.SUFFIX}",
                todo="add {{ source }} or {{ text }} (the reference) to the prompt "
                "form",
            )


def _rehearse_graded(
    plan: Plan, card: cards.GradedPerturbation, dataset: cards.Dataset
) -> None:
    """Check the scale and anchors of a graded set; fill prompts for its errors and
    comparisons.
    """
    aspect = plan.lowered(dataset.dataset, card.perturbation)
    scale, where = dataset.aspects[aspect], f"perturbations/{card.perturbation}.yaml"
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
        values: PromptValues = {
            **plan.about(dataset.dataset).names,
            "aspect": prompts.rated(plan.aspect_of(dataset.dataset, aspect), scale)[
                "aspect"
            ],
        }
        sources = (SOURCE, SOURCE_B) if scale.source_visible else (None, None)
        parts, parts_b = (
            sample_source(plan, dataset, first) if first else [] for first in sources
        )
        values |= prompts.material(parts) | prompts.of_second(parts_b)
        both = dict(zip(("source", "source_b"), sources, strict=True))
        _fill(plan, card.anchors.form, values, {"text": TEXT, "text_b": TEXT_B, **both})


def _check_anchors(
    plan: Plan,
    anchors: cards.Anchoring,
    dataset: cards.Dataset,
    aspect: str,
    where: str,
) -> None:
    """Check that there are rated texts for anchors, and that a judge of anchors can
    rate them.

    It must rate them on people's scale, without a hint or analyses.
    """
    if not dataset.has_systems or not dataset.has_texts or dataset.ratings == "none":
        raise UserError(
            "anchors are texts that people rated, and this dataset has none",
            where=f"{where}, key rating",
            got=dataset.dataset,
            todo="write `rating: errors`, or set `tasks` so that they exclude the "
            "dataset",
        )
    if anchors.judge is None:
        return
    judge, name = plan.judges.get(anchors.judge), dataset.dataset
    if (
        judge is None
        or (judge.own_scale, judge.hint) != (None, None)
        or (judge.shots is not None and judge.shots.analyses is not None)
        or plan.compares(judge.judge)
        or plan.models[judge.model].engine == "control"
        or judge.scores_texts
        or judge.judge not in plan.judges_of(name)
        or plan.excluded(name, judge.judge, SYSTEMS) is not None
        or aspect not in plan.rated_by(judge.judge, name)
    ):
        raise UserError(
            "a judge of anchors must be a judge of the study that rates their aspect "
            "on the aspect's own scale",
            where=f"{where}, key anchors.judge",
            got=anchors.judge,
            allowed=list(plan.judges),
            todo="name a judge that is not a control and has no `scale`, `hint` or "
            "analyses, in a study without `criteria`; or leave `anchors.judge` out",
        )


def _rehearse_errors(
    plan: Plan, card: cards.GradedPerturbation, dataset: cards.Dataset
) -> None:
    aspect = lowered(plan, dataset.dataset, card)
    if not aspect:
        raise UserError(
            "a model that injects errors needs sub-aspects, and this aspect's card has "
            "none",
            where=f"perturbations/{card.perturbation}.yaml, key aspects",
            got=plan.lowered(dataset.dataset, card.perturbation),
            todo=f"write tasks.{dataset.task}.sub_aspects there, or let a model draft "
            "them: judgescope draft <study>; or name another aspect",
        )
    change = prompts.change_of(card.model_dump() | aspect)
    assert card.form is not None and change.aspect is not None
    for problem in PROBLEMS:
        about, source = plan.about(dataset.dataset), sample_source(plan, dataset)
        values = prompts.to_write(about, {"k": 2}, change, source, problem=problem)
        values["errors"] = to_builtins(change.aspect.sub_aspects[:1]) * 2
        _fill(plan, card.form, values, {"text": TEXT})


def _check_annotator(plan: Plan, judge: cards.Judge) -> None:
    """Check that a judge's form prints `annotation` if and only if its card has this
    key.
    """
    where = f"judges/{judge.judge}.yaml, key annotation"
    if not plan.is_prompted(judge.model):
        if judge.annotation is not None:
            raise UserError(
                "`annotation` needs a model that reads prompts",
                where=where,
                got=f"{judge.model} (engine {plan.models[judge.model].engine})",
                allowed=f"a model of engine {' or '.join(prompted_engines())}",
                todo="to read recorded annotations, write `parser: annotation` instead",
            )
        return
    sources = plan.templates[judge.form].values()
    prints = any(
        "annotation" in prompts.undeclared(prompts.parsed(source)) for source in sources
    )
    if prints and judge.annotation is None:
        raise UserError(
            f"the form {judge.form} asks for annotations, and this card has no "
            "`annotation`",
            where=where,
            todo="add `annotation: {}`",
        )
    if judge.annotation is not None and not prints:
        raise UserError(
            "this prompt does not ask for annotations",
            where=f"prompts/{judge.form}{prompts.SUFFIX}",
            todo="print the variable `annotation`, as the form annotate does, or leave "
            f"`annotation` out of judges/{judge.judge}.yaml",
        )


# ---- what makes texts ----------------------------------------------------------------


def check_perturbation(
    card: cards.Perturbation, datasets: Iterable[str], used: Mapping[str, cards.Dataset]
) -> None:
    """Check a perturbation's datasets and aspects, and its rule with its degrees.

    `datasets` are all that have a card, `used` those of the study.
    """
    where = f"perturbations/{card.perturbation}.yaml"
    rated = {aspect for dataset in used.values() for aspect in dataset.aspects}
    if card.aspects and rated.isdisjoint(card.aspects):
        raise UserError(
            "no dataset of the study has an aspect that this perturbation names",
            where=f"{where}, key aspects",
            got=card.aspects[0],
            allowed=sorted(rated),
            todo="name one of them, or leave the perturbation out of the study",
        )
    problem = "unknown dataset card"
    check_known(card.datasets, datasets, problem, where=f"{where}, key datasets")
    if isinstance(card, cards.RulePerturbation):
        _check_rule(card, where)
    elif isinstance(card, cards.MadePerturbation):
        check_known(card.checks, CHECKS, "unknown check", where=f"{where}, key checks")
    if isinstance(card, cards.RulePerturbation | cards.GradedPerturbation):
        problem = "unknown kind of error"
        check_known(card.errors, ERRORS, problem, where=f"{where}, key errors")


def _check_rule(card: cards.RulePerturbation, where: str) -> None:
    check_known([card.rule], RULES, "unknown rule", where=f"{where}, key rule")
    problem = f"the rule {card.rule} does not work on this level"
    check_known(
        [card.level], [RULES[card.rule].level], problem, where=f"{where}, key level"
    )
    for owner in [None, *card.datasets]:
        degrees = card.datasets[owner] if owner else card.degrees
        for degree, options in degrees.items():
            place = (
                f"{where}, key {f'datasets.{owner}' if owner else 'degrees'}.{degree}"
            )
            check_options(card.rule, options.model_dump(exclude_none=True), where=place)


def check_writer(model: cards.Model, where: str) -> None:
    """Check that a model reads prompts, so that it can write."""
    if not ENGINES[model.engine].reads_prompts:
        raise UserError(
            "this model cannot write texts",
            where=where,
            got=f"{model.model} (engine {model.engine})",
            allowed=f"a model of engine {' or '.join(prompted_engines())}",
        )
