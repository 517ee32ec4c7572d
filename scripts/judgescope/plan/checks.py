"""What must hold between cards, before any job is planned."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from judgescope.core.errors import UserError
from judgescope.engines import ASKED, PROMPTED
from judgescope.methods.registry import METHODS
from judgescope.plan.applicability import computes
from judgescope.plan.attacks import check_attacks
from judgescope.schema.cards import (
    COMPARE,
    CONTROL_FORMS,
    LEXICAL_FORMS,
    AnyPerturbation,
    CommandModel,
    Dataset,
    GradedPerturbation,
    Judge,
    MadePerturbation,
    Model,
    Perturbation,
    RulePerturbation,
    Scale,
    Study,
)

if TYPE_CHECKING:
    from judgescope.plan.study import Plan

FORMS = {"lexical": LEXICAL_FORMS, "control": CONTROL_FORMS}


UNREAD = {
    "graded": "no method of the study reads texts of every rating",
    "attack": "no method of the study reads attacked texts",
    "once": "nothing in the study needs this perturbation",
}
"""Kind of perturbation -> the error where no method of the study reads such texts."""


def check_methods(study: Study, source: str) -> None:
    """Raise UserError for a method that does not exist, or that has no texts to read."""
    selectable = [name for name, method in METHODS.items() if method.selectable]
    for number, name in enumerate(study.methods):
        if name not in selectable:
            where = f"{source}, key methods.{number}"
            raise UserError("this value is not known", where=where, got=name, allowed=selectable)
        if "once" in METHODS[name].texts and not study.perturbations:
            raise UserError(
                f"the method {name} needs `perturbations`",
                where=f"{source}, key perturbations",
                todo="name perturbations, or leave the method out",
            )


def check_study(
    study: Study,
    datasets: Mapping[str, Dataset],
    models: Mapping[str, Model],
    perturbations: Mapping[str, AnyPerturbation],
    judges: Iterable[str],
    source: str,
) -> None:
    """Check that every aspect of the study is rated and every dataset and judge is of use."""
    _check_aspects(study.aspects, datasets, source)
    for name, dataset in datasets.items():
        if study.aspects and not set(study.aspects) & set(dataset.aspects):
            raise UserError(
                "none of the study's aspects is rated by this dataset",
                where=f"{source}, key datasets",
                got=name,
                allowed=dataset.aspects,
                todo="add one of its aspects, or leave the dataset out",
            )
    _check_best(study, datasets, source)
    for judge in study.comparison.judges:
        if judge not in judges:
            raise UserError(
                "no judge of the study has this id",
                where=f"{source}, key comparison.judges",
                got=judge,
                allowed=judges,
            )
    for perturbation in perturbations.values():
        _check_read(perturbation, study, source)
    for model in models.values():
        if model.engine == "recorded" and model.dataset not in {None, *datasets}:
            raise UserError(
                "this recorded model belongs to a dataset that the study does not have",
                where=f"{source}, key judges",
                got=f"{model.model} (recorded for {model.dataset})",
                allowed=datasets,
            )


def _check_best(study: Study, datasets: Mapping[str, Dataset], source: str) -> None:
    """Check that no method reads values of its own of a scale whose best end is the lowest."""
    unread = [name for name in study.methods if METHODS[name].unturned]
    for dataset in datasets.values():
        for aspect, scale in dataset.aspects.items():
            if scale.best == "min" and unread and aspect in (study.aspects or [aspect]):
                raise UserError(
                    "this method does not know scales whose best end is the lowest",
                    where=f"{source}, key methods",
                    got=f"{unread[0]} (dataset {dataset.dataset}, aspect {aspect}: best: min)",
                    todo="leave the method or the aspect out, or turn the ratings in the data "
                    "(min + max - value)",
                )


def _check_read(perturbation: AnyPerturbation, study: Study, source: str) -> None:
    """Check that some method of the study reads what a perturbation makes."""
    kind = perturbation.kind
    if kind not in UNREAD:
        return
    methods = {name for name, method in METHODS.items() if kind in method.texts}
    if not methods & set(study.methods):
        raise UserError(
            UNREAD[kind],
            where=f"{source}, key perturbations",
            got=perturbation.perturbation,
            todo=f"add the method {' or '.join(sorted(methods, reverse=True))}, or leave the "
            "perturbation out",
        )


def _check_aspects(
    named: Iterable[str], datasets: Mapping[str, Dataset], where: str, key: str = "aspects"
) -> None:
    rated = {aspect for dataset in datasets.values() for aspect in dataset.aspects}
    for aspect in named:
        if aspect not in rated:
            raise UserError(
                "no dataset of the study has this aspect",
                where=f"{where}, key {key}",
                got=aspect,
                allowed=rated,
            )


def check_judge(
    judge: Judge, model: Model, datasets: Mapping[str, Dataset], methods: Iterable[str] = ()
) -> None:
    """Check a judge's form, scale, aspects and columns against its model and the datasets.

    For the method perspectives any scale will do: what it asks is the order of texts.
    """
    where = f"judges/{judge.judge}.yaml"
    forms = FORMS.get(model.engine)
    if forms and judge.form not in forms:
        raise UserError(
            f"the engine {model.engine} has no such form",
            where=f"{where}, key form",
            got=judge.form,
            allowed=forms,
        )
    if isinstance(model, CommandModel) and judge.against not in {None, *model.inputs}:
        raise UserError(
            "what a program is shown stands in its model's card",
            where=f"{where}, key use_reference",
            got=judge.use_reference,
            todo=f"leave it out and add `references` to `inputs` of models/{model.model}.yaml",
        )
    if model.engine == "recorded" and (judge.form == COMPARE or "pairs" in judge.model_fields_set):
        raise UserError(
            "recorded comparisons of two texts cannot be read",
            where=f"{where}, key {'form' if judge.form == COMPARE else 'pairs'}",
            got=judge.form if judge.form == COMPARE else judge.pairs,
            todo="record a score of each text, or call the form otherwise",
        )
    if judge.form == COMPARE and judge.against == "references" and model.engine in PROMPTED:
        raise UserError(
            "two texts are compared with each other, not with a reference",
            where=f"{where}, key use_reference",
            todo="leave `use_reference` out",
        )
    if judge.hint is not None and (model.engine not in PROMPTED or judge.form == COMPARE):
        raise UserError(
            "only a model that reads prompts and rates one text can be told a rating",
            where=f"{where}, key hint",
            got=f"{judge.model}, form {judge.form}",
            todo="leave `hint` out",
        )
    _check_spotlight(judge, model, where)
    _check_stop(judge, model, where)
    _check_parser(judge, model, where)
    _check_aspects(judge.aspects, datasets, where)
    _check_direction(judge, model, datasets, where)
    _check_shots(judge, model, datasets, where)
    _check_estimator(judge, model, datasets, where)
    if isinstance(judge.scale, dict):
        _check_aspects(judge.scale, datasets, where, "scale")
    if "perspectives" not in methods:
        for scale in judge.scales:
            _check_scale(scale, datasets, where)


def _check_parser(judge: Judge, model: Model, where: str) -> None:
    if judge.parser is not None:
        from judgescope.parsing.parsers import card_parsers

        if judge.parser not in card_parsers():
            raise UserError(
                "there is no such parser",
                where=f"{where}, key parser",
                got=judge.parser,
                allowed=card_parsers(),
            )
    if computes(model) and judge.parser not in {None, "number"}:
        raise UserError(
            "this judge gives numbers, which no parser reads",
            where=f"{where}, key parser",
            got=judge.parser,
            todo="leave `parser` out; of recorded replies in words, name the column under `rows` "
            f"(`reply`) in models/{model.model}.yaml",
        )


def _check_spotlight(judge: Judge, model: Model, where: str) -> None:
    if judge.spotlight and model.engine not in PROMPTED:
        raise UserError(
            "only what a model reads in a prompt can be marked there",
            where=f"{where}, key spotlight",
            got=f"{judge.model} (engine {model.engine})",
            todo="leave `spotlight` out",
        )


def _check_stop(judge: Judge, model: Model, where: str) -> None:
    if judge.stop and model.engine not in PROMPTED:
        raise UserError(
            "only a model that reads prompts ends its reply at a text",
            where=f"{where}, key stop",
            got=f"{judge.model} (engine {model.engine})",
            todo="leave `stop` out",
        )
    if judge.stop and "stop" in getattr(model, "extra_body", {}):
        raise UserError(
            "two cards say where replies end",
            where=f"{where}, key stop; models/{model.model}.yaml, key extra_body.stop",
            todo="leave one of them out",
        )


def check_hint(judge: Judge, judges: Mapping[str, Judge]) -> None:
    """Check that a judge that is told a rating is held against one of its model that is not."""
    if judge.hint is None:
        return
    if judge.scale is not None:
        raise UserError(
            "a hint is a rating on people's scale, and so is what a judge that is told it says",
            where=f"judges/{judge.judge}.yaml, key scale",
            got=", ".join(map(_shown, judge.scales)),
            todo="leave `scale` or `hint` out",
        )
    base = judges.get(judge.hint.baseline)
    same = base is not None and base.hint is None and base.model == judge.model
    if base is None or not same or base.own_scale != judge.scale or base.form == COMPARE:
        raise UserError(
            "no judge of the study with this id asks the same model, on the same scale, without "
            "a hint",
            where=f"judges/{judge.judge}.yaml, key hint.baseline",
            got=judge.hint.baseline,
            allowed=[
                name
                for name, one in judges.items()
                if (one.model, one.own_scale, one.hint) == (judge.model, judge.scale, None)
            ],
            todo="name one under the study's `judges` too",
        )


def _check_direction(
    judge: Judge, model: Model, datasets: Mapping[str, Dataset], where: str
) -> None:
    """No prompt says of people's scale that its lowest value is the best: the judge's card does."""
    if model.engine not in ASKED or judge.form == COMPARE:
        return
    for dataset in datasets.values():
        for name, scale in dataset.aspects.items():
            if judge.own_scale_on(name) is not None or name not in (judge.aspects or [name]):
                continue
            if scale.best == "min":
                raise UserError(
                    "it has to be clear whether this judge's highest or lowest value is the best",
                    where=f"{where}, key scale",
                    got=f"{dataset.dataset}, {name}: best: min",
                    todo="give the judge a `scale` of its own: as it is for shipped prompts, where "
                    "more is better; with `best: min` if its prompt says that less is",
                )


def _check_shots(judge: Judge, model: Model, datasets: Mapping[str, Dataset], where: str) -> None:
    """Demonstrations need prompts, people's ratings, and the scale of these."""
    if judge.shots is None:
        return
    if model.engine not in PROMPTED or judge.form == COMPARE:
        told, got = "only a model that reads prompts and rates one text is shown", judge.model
    elif judge.scale is not None:
        told, got = "demonstrations have people's ratings, on their scale", "a scale of its own"
    elif bare := [name for name, card in datasets.items() if card.ratings == "none"]:
        told, got = "a dataset without ratings has no demonstrations", bare[0]
    else:
        return
    raise UserError(told, where=f"{where}, key shots", got=got, todo="leave `shots` out")


def _check_estimator(
    judge: Judge, model: Model, datasets: Mapping[str, Dataset], where: str
) -> None:
    """Probabilities and structured replies need prompts that are rated, on a scale of steps."""
    special = {"estimator": judge.estimator == "logprob_mean", "structured": judge.structured}
    for key in (key for key, used in special.items() if used):
        if model.engine not in PROMPTED or judge.form == COMPARE:
            raise UserError(
                "only the ratings of a model that reads prompts can have this",
                where=f"{where}, key {key}",
                got=getattr(judge, key),
                todo="leave it out",
            )
        for dataset in datasets.values():
            for name, scale in dataset.aspects.items():
                own = judge.scale_on(name) or scale
                if own.step is None and name in (judge.aspects or [name]):
                    raise UserError(
                        "this needs a scale with steps",
                        where=f"{where}, key {key}",
                        got=f"{dataset.dataset}, {name}: {_shown(own)}",
                        todo="give the judge a `scale` of its own with a `step`",
                    )


def _check_scale(scale: Scale, datasets: Mapping[str, Dataset], where: str) -> None:
    """A judge's own scale has the ends of some aspect's; only its steps may differ."""
    rated = [aspect for dataset in datasets.values() for aspect in dataset.aspects.values()]
    if any((scale.min, scale.max) == (aspect.min, aspect.max) for aspect in rated):
        return
    raise UserError(
        "no aspect of the study's datasets has this scale",
        where=f"{where}, key scale",
        got=_shown(scale),
        allowed={_shown(aspect) for aspect in rated},
        todo="leave `scale` out to use each aspect's own; the method perspectives takes any",
    )


def _shown(scale: Scale) -> str:
    step = "continuous" if scale.step is None else f"step {scale.step:g}"
    return f"{scale.min:g} to {scale.max:g} ({step})"


def check_dataset(plan: "Plan", dataset: Dataset, source: str) -> None:
    """Check that there is something of a dataset to judge, and what its perturbations need."""
    from judgescope.perturb.rules import RULES

    sets = plan.target_sets(dataset.dataset)
    if not sets:
        raise UserError(
            "no method of the study judges anything of this dataset",
            where=f"{source}, key datasets",
            got=dataset.dataset,
            todo="add the method perspectives, or leave it out"
            if dataset.gives_texts
            else "add the method discernment and a perturbation of its task, or leave it out",
        )
    check_attacks(plan, dataset.dataset)
    if "original" in sets and dataset.select.original == "none":
        _check_originals(plan, dataset, source)
    for name in dict(plan.perturbed(dataset.dataset)):
        card = plan.perturbations[name]
        needs = RULES[card.rule].meta if isinstance(card, RulePerturbation) else None
        if needs is not None and needs not in dataset.meta:
            raise UserError(
                f"this perturbation needs the items' meta `{needs}`",
                where=f"{source}, key perturbations",
                got=f"{card.perturbation} of the dataset {dataset.dataset}",
                allowed=f"datasets of format story_cloze_csv, or a table that maps {needs}",
                todo="name tasks in the perturbation's card, or leave it out",
            )


def _check_originals(plan: "Plan", dataset: Dataset, source: str) -> None:
    """Texts can only be made of something: a reference, a system's text, or a model's."""
    if plan.study.references is None:
        raise UserError(
            "the study makes texts of originals, and this dataset has none",
            where=f"{source}, key datasets",
            got=f"{dataset.dataset} (select.original: none)",
            todo="let a model write references (`references: {model: …}` in the study), choose "
            "another `select.original` in a card of your own, or name `tasks` in the "
            "perturbations' cards that leave the dataset out",
        )


def check_perturbation(
    card: Perturbation,
    models: Mapping[str, Model],
    datasets: Iterable[str],
    used: Mapping[str, Dataset],
) -> None:
    """Check a perturbation's datasets and aspects, and its rule with its degrees or its model.

    `datasets` are all that have a card, `used` those of the study.
    """
    where = f"perturbations/{card.perturbation}.yaml"
    rated = {aspect for dataset in used.values() for aspect in dataset.aspects}
    if card.aspects and rated.isdisjoint(card.aspects):
        raise UserError(
            "no dataset of the study has an aspect on which these texts are judged",
            where=f"{where}, key aspects",
            got=card.aspects[0],
            allowed=sorted(rated),
            todo="name one of them, or leave the perturbation out of the study",
        )
    for dataset in card.datasets:
        if dataset not in datasets:
            raise UserError(
                "there is no dataset card of this name",
                where=f"{where}, key datasets",
                got=dataset,
                allowed=datasets,
            )
    if isinstance(card, RulePerturbation):
        _check_rule(card, where)
    elif isinstance(card, MadePerturbation):
        check_writer(models[card.model], f"{where}, key model")
        from judgescope.perturb.validation import CHECKS

        _check_names(card.checks, CHECKS, "check", f"{where}, key checks")
    if isinstance(card, RulePerturbation | GradedPerturbation):
        from judgescope.perturb.inject import ERRORS

        _check_names(card.errors, ERRORS, "kind of error", f"{where}, key errors")


def _check_names(names: Sequence[str], known: Collection[str], noun: str, where: str) -> None:
    for name in names:
        if name not in known:
            raise UserError(f"there is no such {noun}", where=where, got=name, allowed=known)


def check_writer(model: Model, where: str) -> None:
    """Check that a model reads prompts, and so can write."""
    if model.engine not in PROMPTED:
        raise UserError(
            "this model cannot write",
            where=where,
            got=f"{model.model} (engine {model.engine})",
            allowed=f"a model of engine {' or '.join(PROMPTED)}",
        )


def _check_rule(card: RulePerturbation, where: str) -> None:
    from judgescope.perturb.rules import RULES, check_options

    if card.rule not in RULES:
        raise UserError(
            "there is no such rule", where=f"{where}, key rule", got=card.rule, allowed=RULES
        )
    if card.level != RULES[card.rule].level:
        raise UserError(
            f"the rule {card.rule} works on another level",
            where=f"{where}, key level",
            got=card.level,
            allowed=[RULES[card.rule].level],
        )
    for owner in [None, *card.datasets]:
        degrees = card.datasets[owner] if owner else card.degrees
        for degree, options in degrees.items():
            place = f"{where}, key {f'datasets.{owner}' if owner else 'degrees'}.{degree}"
            check_options(card.rule, options.model_dump(exclude_none=True), where=place)


def check_weights(plan: "Plan", source: str) -> None:
    """Check that every aspect with a weight is judged, of every damage that the study does."""
    if plan.weights is None:
        return
    for dataset, card in plan.datasets.items():
        aspects = plan.plain_aspects(dataset)
        own = plan.weights.tasks.get(card.task, {})
        for perturbation in {name for name, _ in plan.perturbed(dataset)} & own.keys():
            for aspect in own[perturbation]:
                if aspect not in aspects:
                    raise UserError(
                        f"the weights name an aspect that is not judged on {dataset}",
                        where=f"weights/{plan.weights.weights}.yaml, "
                        f"key tasks.{card.task}.{perturbation}",
                        got=aspect,
                        allowed=aspects,
                        todo=f"add it to the aspects of {source}, or weigh without it",
                    )


def check_expectations(plan: "Plan", source: str) -> None:
    """Check that something is expected of some damage to every dataset that is damaged."""
    if plan.expectations is None:
        return
    known = plan.expectations.perturbations
    for dataset in plan.datasets:
        damages = {name for name, _ in plan.perturbed(dataset)}
        aspects = set(plan.plain_aspects(dataset))
        told = [known[name] for name in damages & known.keys()]
        if damages and not any(aspects & {*one.drop, *one.same} for one in told):
            raise UserError(
                f"nothing is expected of any damage to {dataset}",
                where=f"{source}, key confusion.expectations",
                got=plan.expectations.expectations,
                allowed=known,
                todo="name perturbations and aspects of the card, or a card that has yours",
            )
