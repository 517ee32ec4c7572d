"""Checks of judges' cards against their models, the datasets and each other."""

from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from judgescope.core.errors import UserError, check_known
from judgescope.parsing.judgment import PARSERS
from judgescope.plan.applicable import compares, computes, replays
from judgescope.plan.checks.confidence import check_confidence
from judgescope.plan.checks.decisions import check_decisions
from judgescope.plan.checks.likelihood import check_scoring
from judgescope.plan.checks.study import check_rated
from judgescope.plan.judges import scale_of
from judgescope.plan.study import Plan
from judgescope.prompts import Templates, shows
from judgescope.schema import cards
from judgescope.schema.cards.annotations import OVERALL
from judgescope.schema.cards.base import check_read_as
from judgescope.schema.cards.engines import ENGINES

RatedAspects = Sequence[tuple[str, cards.Dataset, str, cards.RatedAspect]]
"""What a judge may rate: (dataset and aspect in errors, dataset, aspect, scale)."""


def _leave_out(key: str, problem: str, where: str, got: object = None) -> UserError:
    """Return the error for a key that the card of a judge must leave out."""
    return UserError(
        problem, where=f"{where}, key {key}", got=got, todo=f"leave `{key}` out"
    )


def check_judge(
    judge: cards.Judge,
    model: cards.Model,
    datasets: Mapping[str, cards.Dataset],
    methods: Iterable[str] = (),
    forms: Mapping[str, Templates] = MappingProxyType({}),
) -> None:
    """Check a judge's form, scale, aspects and columns against its model and the
    datasets; `forms`: form -> its templates, for prompts.

    With the method perspectives any scale is allowed, because the method reads only the
    order of texts.
    """
    where = f"judges/{judge.judge}.yaml"
    pairs = compares(judge, model, forms)
    rated = list[tuple[str, cards.Dataset, str, cards.RatedAspect]]()
    for dataset in datasets.values():
        for name, aspect in dataset.aspects.items():
            if not judge.aspects or name in judge.aspects:
                rated.append((f"{dataset.dataset}, {name}", dataset, name, aspect))
    check_scoring(judge, model, [(title, dataset) for title, dataset, *_ in rated])
    scales = {title: scale for title, _, _, scale in rated}
    check_decisions(judge, model, scales, forms.get(judge.form), pairs=pairs)
    problem = f"unknown form for the engine {model.engine}"
    known = ENGINES[model.engine].forms or [judge.form]
    check_known([judge.form], known, problem, where=f"{where}, key form")
    _check_pairs(judge, model, where, pairs=pairs)
    _check_reference(judge, model, where, forms.get(judge.form))
    _check_recorded(judge, model, where)
    _check_function(judge, model, where, pairs=pairs)
    if judge.hint is not None and (not ENGINES[model.engine].reads_prompts or pairs):
        problem = (
            "a hint needs a model that reads prompts, and a form that rates one text"
        )
        raise _leave_out("hint", problem, where, f"{judge.model}, form {judge.form}")
    _check_prompted(judge, model, where)
    _check_parser(judge, model, where)
    check_rated(judge.aspects, datasets, f"{where}, key aspects")
    if not pairs:
        _check_direction(judge, model, rated, where)
        _check_preferences(judge, model, rated, where)
    _check_shots(judge, model, datasets, where, pairs=pairs)
    _check_labels(judge, model, rated, where)
    _check_estimator(judge, model, rated, where, pairs=pairs)
    check_confidence(judge, model, scales, pairs=pairs)
    if isinstance(judge.scale, dict):
        check_rated(judge.scale, datasets, f"{where}, key scale")
    if "perspectives" not in methods:
        for scale in judge.scales:
            _check_scale(
                scale, datasets, where, thresholded=judge.threshold is not None
            )


def _check_reference(
    judge: cards.Judge, model: cards.Model, where: str, form: Templates | None
) -> None:
    """Check the key `use_reference`: what a text is compared with; `form`: the
    templates of a prompt.
    """
    prompted = form is not None and ENGINES[model.engine].reads_prompts
    if prompted and judge.against is not None and not shows(form or {}, "reference"):
        raise UserError(
            f"the form {judge.form} shows no reference",
            where=f"{where}, key use_reference",
            got=judge.use_reference,
            todo="leave `use_reference` out, or use the form rubric or your own that "
            "prints `reference`",
        )
    if isinstance(model, cards.ProgramModel) and judge.against not in {
        None,
        *model.sees,
    }:
        raise UserError(
            "`use_reference` is not for programs: the model's card lists what a "
            "program reads",
            where=f"{where}, key use_reference",
            got=judge.use_reference,
            todo="leave `use_reference` out, and add `references` to `inputs` of "
            f"models/{model.model}.yaml, or to the arguments of its function",
        )
    if judge.against == "original" and not ENGINES[model.engine].reads_prompts:
        raise UserError(
            "`use_reference: original` needs a model that reads prompts",
            where=f"{where}, key use_reference",
            got=f"{judge.model} (engine {model.engine})",
            allowed=["true", "false"],
        )


def _check_function(
    judge: cards.Judge, model: cards.Model, where: str, *, pairs: bool
) -> None:
    """Check that a function receives the second text of a comparison, and only
    then.
    """
    if not isinstance(model, cards.PythonModel) or pairs == ("text_b" in model.sees):
        return
    problem = "the function has the argument text_b, but the judge does not compare"
    todo = f"write `form: {cards.COMPARE}`, or remove text_b from the function"
    if pairs:
        problem = "a judge that compares needs a function with the argument text_b"
        todo = "add text_b to the function, or leave `form` out"
    raise UserError(
        problem,
        where=f"{where}, key form",
        got=f"{judge.form} (models/{model.model}.yaml: {model.function})",
        todo=todo,
    )


def _check_pairs(
    judge: cards.Judge, model: cards.Model, where: str, *, pairs: bool
) -> None:
    """Check the keys that only judges of one text, or only judges of two, can have."""
    if judge.orders == "one" and not pairs:
        raise _leave_out("orders", "`orders` is for judges that compare texts", where)
    if judge.annotation is not None and pairs:
        problem = (
            f"an annotation is about one text, but the form {judge.form} shows two"
        )
        raise _leave_out("annotation", problem, where)
    if pairs and judge.against is not None and ENGINES[model.engine].reads_prompts:
        problem = (
            f"the form {judge.form} compares two texts with each other, not with a "
            "reference"
        )
        raise _leave_out("use_reference", problem, where)


def _check_recorded(judge: cards.Judge, model: cards.Model, where: str) -> None:
    """Check that only the model's card defines which recorded texts were compared, and
    how.
    """
    if not isinstance(model, cards.RecordedModel):
        return
    problem = "the rows of a recorded model determine which texts are compared"
    if judge.form == cards.COMPARE and not model.rows.compares:
        raise UserError(
            problem,
            where=f"{where}, key form",
            got=cards.COMPARE,
            todo="map `system_b` or `text_b` under `rows` in "
            f"models/{model.model}.yaml",
        )
    for key in sorted({"pairs", "orders"} & judge.model_fields_set):
        raise _leave_out(key, problem, where, getattr(judge, key))


def _check_parser(judge: cards.Judge, model: cards.Model, where: str) -> None:
    name = judge.parser
    if name is not None and not (name in PARSERS and PARSERS[name].in_cards):
        from judgescope.parsing.parsers import card_parsers  # an audit has no parser

        raise UserError(
            "unknown parser",
            where=f"{where}, key parser",
            got=name,
            allowed=card_parsers(),
        )
    if computes(model) and judge.parser not in {None, "number"}:
        raise UserError(
            "this judge returns numbers, which need no parser",
            where=f"{where}, key parser",
            got=judge.parser,
            todo="leave `parser` out; if the recorded replies are words, map their "
            f"column as `rows.reply` in models/{model.model}.yaml",
        )


def _check_prompted(judge: cards.Judge, model: cards.Model, where: str) -> None:
    """Check the keys that set how a prompt is filled, and where a reply ends."""
    for key in ("spotlight", "stop", "system", "cut_parts"):
        if getattr(judge, key) and not ENGINES[model.engine].reads_prompts:
            problem = f"`{key}` needs a model that reads prompts"
            raise _leave_out(
                key, problem, where, f"{judge.model} (engine {model.engine})"
            )
    if judge.stop and "stop" in getattr(model, "extra_body", {}):
        raise UserError(
            "the judge's card and the model's card both set stop strings",
            where=f"{where}, key stop; models/{model.model}.yaml, key extra_body.stop",
            todo="leave one of the two keys out",
        )


def check_hint(
    judge: cards.Judge, judges: Mapping[str, cards.Judge], comparing: Set[str]
) -> None:
    """Check that a judge with a hint has a baseline: a judge of the same model without
    a hint.
    """
    if judge.hint is None:
        return
    if judge.scale is not None:
        raise UserError(
            "a judge with a hint must rate on people's scale, because the hint is such "
            "a rating",
            where=f"judges/{judge.judge}.yaml, key scale",
            got=", ".join(map(_shown, judge.scales)),
            todo="leave `scale` or `hint` out",
        )
    base = judges.get(judge.hint.baseline)
    same = base is not None and base.hint is None and base.model == judge.model
    if (
        base is None
        or not same
        or base.own_scale != judge.scale
        or base.judge in comparing
        or base.scores_texts
    ):
        raise UserError(
            "the baseline must be a judge of the study with the same model and scale, "
            "and no hint",
            where=f"judges/{judge.judge}.yaml, key hint.baseline",
            got=judge.hint.baseline,
            allowed=[
                name
                for name, rater in judges.items()
                if (rater.model, rater.own_scale, rater.hint)
                == (judge.model, judge.scale, None)
                and not rater.scores_texts
            ],
            todo="name such a judge, and list it under the study's `judges` too",
        )


def _check_direction(
    judge: cards.Judge, model: cards.Model, rated: RatedAspects, where: str
) -> None:
    """Check that the card of a judge gives its direction if people's lowest rating is
    the best.
    """
    if not ENGINES[model.engine].asked or judge.scores_texts:
        return
    for title, _, name, scale in rated:
        if judge.own_scale_on(name) is None and scale.best == "min":
            raise UserError(
                "the card does not say whether the judge's highest or lowest value is "
                "the best",
                where=f"{where}, key scale",
                got=f"{title}: best: min",
                todo="give the judge its own `scale`: without `best` for the shipped "
                "prompts, in which higher is better; with `best: min` if its "
                "prompt says the opposite",
            )


def _check_preferences(
    judge: cards.Judge, model: cards.Model, rated: RatedAspects, where: str
) -> None:
    """Check that a judge has its own scale if it rates texts that people only chose
    between.
    """
    if not (ENGINES[model.engine].asked or replays(model)):
        return
    if judge.scores_texts:
        return
    for title, dataset, name, _ in rated:
        if dataset.prefers and judge.own_scale_on(name) is None:
            raise UserError(
                "people chose between the texts, so the dataset has no scale to rate "
                "them on",
                where=f"{where}, key scale",
                got=title,
                todo="give the judge its own `scale`, or write `form: compare`",
            )


def _check_shots(
    judge: cards.Judge,
    model: cards.Model,
    datasets: Mapping[str, cards.Dataset],
    where: str,
    *,
    pairs: bool,
) -> None:
    """Check that demonstrations have a prompt, people's ratings, and no other scale
    than theirs.
    """
    if judge.shots is None:
        return
    if not ENGINES[model.engine].reads_prompts or pairs:
        problem = (
            "demonstrations need a model that reads prompts, and a form that "
            "rates one text"
        )
        got = judge.model
    elif judge.scale is not None:
        problem = (
            "demonstrations show people's ratings, so the judge must rate on "
            "people's scale"
        )
        got = "a scale of its own"
    else:
        unrated = []
        for name, card in datasets.items():
            if not card.is_rated:
                unrated.append(name)
        if not unrated:
            return
        problem = "demonstrations need ratings, and this dataset has none"
        got = unrated[0]
    raise _leave_out("shots", problem, where, got)


def _check_estimator(
    judge: cards.Judge,
    model: cards.Model,
    rated: RatedAspects,
    where: str,
    *,
    pairs: bool,
) -> None:
    """Check that `logprob_mean` and `structured` are used for ratings on a scale with
    steps.

    A comparison can also be restricted to its three choices.
    """
    special = {
        "estimator": judge.estimator == "logprob_mean",
        "structured": judge.structured,
    }
    if pairs and judge.structured == "choice" and ENGINES[model.engine].reads_prompts:
        del special["structured"]
    for key in (key for key, used in special.items() if used):
        if not ENGINES[model.engine].reads_prompts or pairs:
            needs = "needs a model that reads prompts, and a form that rates one text"
            raise _leave_out(key, f"this `{key}` {needs}", where, getattr(judge, key))
        for title, _, name, scale in rated:
            own_scale = judge.scale_on(name) or scale
            if own_scale.step is None:
                raise UserError(
                    f"this `{key}` needs a scale with steps",
                    where=f"{where}, key {key}",
                    got=f"{title}: {_shown(own_scale)}",
                    todo="give the judge its own `scale` with a `step`",
                )


def _check_labels(
    judge: cards.Judge, model: cards.Model, rated: RatedAspects, where: str
) -> None:
    """Check a judge's keys for aspects with labels and no numbers: threshold, scale,
    read_as.
    """
    labelled = [
        (title, name, scale) for title, _, name, scale in rated if scale.categorical
    ]
    _check_threshold(judge, [scale for _, _, scale in labelled], where)
    reads_labels = labelled or any(scale.categorical for scale in judge.scales)
    if judge.read_as and not reads_labels:
        problem = (
            "`read_as` needs an aspect with labels and no numbers: this judge has none"
        )
        raise _leave_out("read_as", problem, where)
    for title, name, people in labelled:
        _check_labels_of(judge, model, title, name, people, where)


def _check_threshold(
    judge: cards.Judge, labelled: Sequence[cards.RatedAspect], where: str
) -> None:
    """Check that a threshold divides the judge's scale for an aspect of two labels."""
    threshold = judge.threshold
    if threshold is not None and not any(len(scale.labels) == 2 for scale in labelled):
        problem = (
            "a threshold needs an aspect that people rate with two labels: this judge "
            "has none"
        )
        raise _leave_out("threshold", problem, where, threshold)
    for judge_scale in judge.scales:
        if (
            isinstance(threshold, float)
            and not judge_scale.min <= threshold <= judge_scale.max
        ):
            raise UserError(
                "a threshold outside the judge's scale gives every text the same label",
                where=f"{where}, key threshold",
                got=threshold,
                allowed=_shown(judge_scale),
            )


def _check_labels_of(
    judge: cards.Judge,
    model: cards.Model,
    title: str,
    aspect: str,
    people: cards.RatedAspect,
    where: str,
) -> None:
    """Check a judge of an aspect that people rate with labels; `title`: dataset and
    aspect in errors.
    """
    labels = ", ".join(people.labels)
    scale = judge.scale_on(aspect)
    if scale is not None and scale.categorical and scale.labels != people.labels:
        raise UserError(
            "the judge's labels differ from those that people used",
            where=f"{where}, key scale",
            got=", ".join(scale.labels),
            allowed=f"{title}: {labels}",
            todo="leave `scale` out; map other words in its replies to labels with "
            "`read_as`",
        )
    asked = ENGINES[model.engine].reads_prompts and judge.estimator != "logprob_mean"
    asked = asked and not isinstance(model, cards.SystemOneModel)
    if scale is None and judge.threshold is not None and asked:
        raise UserError(
            "a judge with a threshold must give numbers, but would be asked for "
            "labels here",
            where=f"{where}, key threshold",
            got=f"{title}: {labels}",
            todo="give it its own `scale`, such as {min: 1, max: 5, step: 1}",
        )
    try:
        if scale is None and judge.threshold is None:
            check_read_as(judge.read_as, people.labels)
    except ValueError as error:
        raise UserError(str(error), where=f"{where}, key read_as; {title}") from None
    for key in ("hint", "shots"):
        if not people.ordered and getattr(judge, key) is not None:
            raise UserError(
                f"`{key}` needs labels that are ordered from worst to best",
                where=f"{where}, key {key}",
                got=f"{title}: ordered: false",
                todo=f"leave `{key}` out, or exclude the aspect with `aspects`",
            )


def _check_scale(
    scale: cards.RatingScale,
    datasets: Mapping[str, cards.Dataset],
    where: str,
    *,
    thresholded: bool,
) -> None:
    """Check that a judge's own scale has the ends of some aspect's scale; its step may
    differ.
    """
    rated = list[cards.RatedAspect]()
    for dataset in datasets.values():
        rated += dataset.aspects.values()
    if any((scale.min, scale.max) == (aspect.min, aspect.max) for aspect in rated):
        return
    if thresholded and any(aspect.categorical for aspect in rated):
        return
    if any(dataset.prefers for dataset in datasets.values()):
        return  # people chose between texts: any scale orders them
    raise UserError(
        "no aspect of the study's datasets has a scale with these ends",
        where=f"{where}, key scale",
        got=_shown(scale),
        allowed={_shown(aspect) for aspect in rated},
        todo="set `threshold`, the lowest score that counts as the last label"
        if any(aspect.categorical and len(aspect.labels) == 2 for aspect in rated)
        else "leave `scale` out to use each aspect's scale; the method perspectives "
        "allows any",
    )


def _shown(scale: cards.RatingScale) -> str:
    if scale.categorical:
        return ", ".join(scale.labels)
    step = "continuous"
    if scale.step is not None:
        step = f"step {scale.step:g}"
    return f"{scale.min:g} to {scale.max:g} ({step})"


def check_derived(plan: Plan, card: cards.DerivedJudge) -> None:
    """Check that every member is a judge of the study that gives scores, or errors to
    merge.

    Outlying annotators are found by differences on the scale from 1 to 5, so all
    annotators of an ensemble must use that scale.
    """
    where = f"judges/{card.judge}.yaml, key members"
    check_known(
        card.members,
        [name for name in plan.judges if not plan.compares(name)],
        "a member must be a judge of the study that scores single texts",
        where=where,
        todo="list it under the study's `judges` too, or name another judge",
    )
    annotators = []
    for name in plan.judges:
        if plan.annotates(name):
            annotators.append(name)
    check_known(
        card.members if card.supervisor else [],
        annotators,
        "a supervisor merges lists of errors, and this member lists no errors",
        where=where,
        todo="name judges with the key `annotation`, or write `combine: mean`",
    )
    check_known(
        [name for name in card.members if name in annotators],
        [name for name in annotators if plan.judges[name].own_scale == OVERALL],
        "annotators of an ensemble must score from 1 to 5: a member's errors are left "
        "out if its score is a point of that scale away from the others'",
        where=where,
        todo="name annotators whose `annotation.score` is categories or integers",
    )
    for dataset in plan.datasets:
        for aspect in plan.rated_by(card.judge, dataset):
            _check_votes(plan, card, dataset, aspect)


def _check_votes(
    plan: Plan, card: cards.DerivedJudge, dataset: str, aspect: str
) -> None:
    """Check that the members' scores of an aspect are all labels, or all numbers."""
    scales = {name: scale_of(plan, dataset, name, aspect) for name in card.members}
    labels = []
    for name, scale in scales.items():
        if scale and scale.categorical:
            labels.append(name)
    numbers = [name for name in card.members if name not in labels]
    if labels and numbers:
        raise UserError(
            "some members give labels, others numbers: these have no common majority "
            "or mean",
            where=f"judges/{card.judge}.yaml, key members",
            got=f"{dataset}, {aspect}: labels by {', '.join(labels)}; numbers by "
            f"{', '.join(numbers)}",
            todo="name members that all give labels, or all numbers (as with "
            "`threshold`)",
        )
