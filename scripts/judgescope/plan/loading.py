"""Reading a study: all its cards, checked against each other."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from judgescope.core.cells import DERIVED
from judgescope.core.errors import UserError, check_known
from judgescope.core.names import RESERVED_JUDGES, slug
from judgescope.methods.differences import OVERALL
from judgescope.methods.measures import AVERAGE
from judgescope.methods.registry import METHODS
from judgescope.plan.checks.judges import check_derived, check_hint, check_judge
from judgescope.plan.checks.rehearsal import rehearse
from judgescope.plan.checks.study import check_method_names, check_study, check_uses
from judgescope.plan.checks.writers import check_writer
from judgescope.plan.generators import WriterCard, writers
from judgescope.plan.study import Plan
from judgescope.prompts import DRAFTING, load, stated_tokens
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.loading import Cards, priced, read_tasks, validate_card


def load_plan(
    config: Mapping[str, object],
    home: Path,
    *,
    source: str,
    drafting: bool = False,
    first: Sequence[Path] = (),
    results: str | None = None,
) -> Plan:
    """Read and check all cards of the study in `config`.

    Cards are in the folders `first`, ./config or `home`/config. `source` names the
    study's file in errors, `results` the folder of its results (by default
    results/<study>). `drafting`: include the drafter and its prompts, and do not fill
    prompts that still lack steps. Raises UserError or UserErrors; reads only cards, no
    data.
    """
    study: cards.Study = validate_card("study", config, source)
    of_user = Path("config")
    shipped = home / "config"
    folders = [*first, of_user]
    if of_user.resolve() != shipped.resolve():
        folders.append(shipped)
    reader = Cards(folders, source)
    with reader.lines_in_errors():
        check_method_names(study, source)
        plan = _read_plan(
            study, reader, source, drafting, results or f"results/{study.study}"
        )
        if not drafting:
            rehearse(plan)
    return plan


def _read_plan(
    study: cards.Study, reader: Cards, source: str, drafting: bool, results: str
) -> Plan:
    """Read the cards that a study names, and check them against each other."""
    datasets = _datasets(reader, study, source)
    if len(study.datasets) > 1 and OVERALL in study.datasets:
        raise UserError(
            "this dataset id is reserved for means over datasets",
            where=f"{source}, key datasets",
            got=OVERALL,
            todo="give the dataset another id",
        )
    study = _with_controls(study, [datasets[name] for name in study.datasets])
    judges, derived = _judges(reader, study, source)
    perturbations = _perturbations(reader, study, datasets, source)
    made = writers(study, datasets, perturbations, judges, derived)
    models = _named_models(reader, study, source, judges, made, drafting=drafting)
    for name, judge in judges.items():
        judges[name] = _completed(judge, models[judge.model], study.share)
    forms = _forms(judges, models, made)
    if study.distill and study.distill.write:
        forms[study.distill.write.form] = f"{source}, key distill.write.form"
    if drafting:
        forms |= dict.fromkeys(DRAFTING.values(), f"{source}, key drafter")
    aspects = _aspects(reader, datasets)
    expectations = None
    if "confusion" in study.methods:
        expectations = study.confusion.expectations
    plan = Plan(
        study=study,
        datasets=datasets,
        models=models,
        judges=judges,
        derived=derived,
        aspects=aspects,
        criteria=_criteria(reader, study, aspects, source),
        perturbations=perturbations | _given_sets(datasets, perturbations, source),
        weights=reader.optional(
            "weights", study.weights, where=f"{source}, key weights"
        ),
        expectations=reader.optional(
            "expectations",
            expectations,
            where=f"{source}, key confusion.expectations",
        ),
        templates={
            form: load(form, reader.folders, where=where)
            for form, where in forms.items()
        },
        usual_tokens=stated_tokens(forms, reader.folders),
        folders=_folders(reader, datasets, models),
        results=results,
        tasks=read_tasks(reader.folders),
    )
    _check(plan, reader.names("dataset"), source)
    return plan


def _named_models(
    reader: Cards,
    study: cards.Study,
    source: str,
    judges: Mapping[str, cards.Judge],
    made: Mapping[str, WriterCard],
    *,
    drafting: bool,
) -> dict[str, cards.Model]:
    """Return the models that judge and write, and with `drafting` the one that drafts.

    Raises UserError for a writer that reads no prompts, also for a drafter that this
    command does not use.
    """
    drafter = {}
    if study.drafter:
        drafter[study.drafter] = f"{source}, key drafter"
    used = dict[str, str]()
    for judge in judges.values():
        used[judge.model] = f"judges/{judge.judge}.yaml, key model"
    for where, card in made.items():
        used[str(card.model)] = f"{where}model"
    if study.distill and study.distill.write:
        for name in study.distill.write.models:
            used[name] = f"{source}, key distill.write.models"
    known = _models(reader, drafter | used, Path(study.data))
    for where, card in made.items():
        check_writer(known[str(card.model)], f"{where}model")
    for name, where in drafter.items():
        check_writer(known[name], where)
    if drafting:
        used |= drafter
    return {name: known[name] for name in used}


def _folders(
    reader: Cards, datasets: Iterable[str], models: Iterable[str]
) -> dict[tuple[str, str], str]:
    """Return (kind, id) -> the folder of the card, of cards that may name files."""
    folders = {}
    for kind, names in {"dataset": datasets, "model": models}.items():
        for name in names:
            path = reader.path(kind, name, where="")
            folders[kind, name] = os.path.relpath(path.parent)
    return folders


def _models(
    reader: Cards, named: Mapping[str, str], data: Path
) -> dict[str, cards.Model]:
    """Return model -> its card; `named` gives the place where each is named.

    data: the folder that `{data}` stands for.
    """
    models = dict[str, cards.Model]()
    for name, where in named.items():
        card: cards.Model = reader.read("model", name, where=where)
        if isinstance(card, cards.EndpointModel):
            card = priced(card)
        completed = ENGINES[card.engine].completed
        if completed is not None:
            folder = reader.path("model", name, where=where).parent
            card = completed(card, folder, data)
        models[name] = card
    if DERIVED in models:
        raise UserError(
            "this model id is reserved for judges that are made from others",
            where=f"models/{DERIVED}.yaml, key model",
            got=DERIVED,
            todo="give the model card another id",
        )
    return models


def _datasets(
    reader: Cards, study: cards.Study, source: str
) -> dict[str, cards.Dataset]:
    """Read the datasets on which judges are evaluated, then the datasets for
    training.
    """
    named = dict.fromkeys(study.datasets, "datasets")
    named |= dict.fromkeys(
        study.distill.datasets if study.distill else [], "distill.datasets"
    )
    return {
        name: reader.read("dataset", name, where=f"{source}, key {key}")
        for name, key in named.items()
    }


def _check(plan: Plan, datasets: Iterable[str], source: str) -> None:
    """Check the cards of a plan against each other; `datasets` are all that have a
    card.
    """
    check_study(plan, source)
    comparing = set(filter(plan.compares, plan.judges))
    for judge in plan.judges.values():
        model = plan.models[judge.model]
        datasets_shown = plan.shown(judge.judge)
        check_judge(judge, model, datasets_shown, plan.study.methods, plan.templates)
        check_known(
            judge.perturbations or [],
            plan.perturbations,
            "this perturbation is not in the study",
            where=f"judges/{judge.judge}.yaml, key perturbations",
        )
        check_hint(judge, plan.judges, comparing)
        if judge.read is not None or judge.examples:
            # here: `audit` runs without
            from judgescope.plan.checks.reading import check_reading

            check_reading(plan, judge)
    for card in plan.derived.values():
        check_derived(plan, card)
    for perturbation in plan.perturbations.values():
        made_here = cards.GivenPerturbation | cards.ReadyPerturbation
        if not isinstance(perturbation, made_here):
            # here: `audit` runs without
            from judgescope.plan.checks.perturbations import check_perturbation

            # Nobody knows the amounts of texts that a dataset has already.
            made_for = {}
            for name, degrees in perturbation.datasets.items():
                if (
                    name not in plan.datasets
                    or perturbation.perturbation not in plan.datasets[name].perturbed
                ):
                    made_for[name] = degrees
            card_alone = perturbation.model_copy(update={"datasets": made_for})
            check_perturbation(card_alone, datasets, plan.datasets)
    check_uses(plan, source)


def _with_controls(
    study: cards.Study, datasets: Iterable[cards.Dataset]
) -> cards.Study:
    """Return the study with every control: no measure is trusted that ranks one above a
    judge.
    """
    known = any(card.ratings != "none" or card.gives_texts for card in datasets)
    if not known or not any(METHODS[name].controls for name in study.methods):
        return study
    # The judge cards of the controls, which are added to every study that uses
    # controls.
    control_names = tuple(form.replace("_", "-") for form in cards.NULL_FORMS)
    more = [name for name in control_names if name not in study.judges]
    return study.model_copy(update={"judges": [*study.judges, *more]})


def _judges(
    reader: Cards, study: cards.Study, source: str
) -> tuple[dict[str, cards.Judge], dict[str, cards.DerivedJudge]]:
    """Read the judges; one with `columns` or `models` becomes a judge for each of
    them.
    """
    judges: dict[str, cards.Judge] = {}
    derived: dict[str, cards.DerivedJudge] = {}
    for name in study.judges:
        card: cards.Judge | cards.DerivedJudge = reader.read(
            "judge", name, where=f"{source}, key judges"
        )
        changes: list[dict[str, object]] = [{}]
        if isinstance(card, cards.Judge) and card.models:
            changes = []
            for model in card.models:
                changes.append(
                    {"judge": f"{name}-{model}", "model": model, "models": []}
                )
        elif isinstance(card, cards.Judge) and card.columns:
            changes = []
            for column in card.columns:
                changes.append(
                    {
                        "judge": slug(column.replace(cards.ASPECT, "")),
                        "form": column,
                        "columns": [],
                    }
                )
        for judge in (card.model_copy(update=change) for change in changes):
            if judge.judge in {*judges, *derived, *RESERVED_JUDGES}:
                raise UserError(
                    "this judge id is reserved or used twice",
                    where=f"{source}, key judges",
                    got=judge.judge,
                )
            if isinstance(judge, cards.DerivedJudge):
                derived[judge.judge] = judge
            else:
                judges[judge.judge] = judge
    return judges, derived


def _completed(judge: cards.Judge, model: cards.Model, share: float) -> cards.Judge:
    """Return a judge with the defaults of its card: its reference and its share of
    items.
    """
    changes: dict[str, object] = {}
    sees = isinstance(model, cards.ProgramModel) and "references" in model.sees
    if sees or (judge.against is None and model.engine == "lexical"):
        changes["use_reference"] = True
    if ENGINES[model.engine].asked and judge.share > share:
        changes["share"] = share
    return judge.model_copy(update=changes)


def _aspects(
    reader: Cards, datasets: Mapping[str, cards.Dataset]
) -> dict[str, cards.Aspect]:
    for dataset in datasets.values():
        if AVERAGE in dataset.aspects:
            raise UserError(
                "this aspect id is reserved for means over aspects",
                where=f"datasets/{dataset.dataset}.yaml, key aspects",
                got=AVERAGE,
                todo="give the aspect another id",
            )
    aspects = {}
    for dataset in datasets.values():
        where = f"datasets/{dataset.dataset}.yaml, key aspects"
        for aspect in dataset.aspects:
            aspects[aspect] = reader.read("aspect", aspect, where=where)
    for card in aspects.values():
        _check_parents(reader, card)
    return aspects


def _forms(
    judges: Mapping[str, cards.Judge],
    models: Mapping[str, cards.Model],
    made: Mapping[str, WriterCard],
) -> dict[str, str]:
    """Return the prompt forms of judges and writers -> the key that names each.

    made: the place of its keys -> a card that names a model that writes.
    """
    prompted = []
    for judge in judges.values():
        if ENGINES[models[judge.model].engine].reads_prompts:
            prompted.append(judge)
    forms = {judge.form: f"judges/{judge.judge}.yaml, key form" for judge in prompted}
    for where, card in made.items():
        forms[card.form] = f"{where}form"
    for judge in prompted:
        if judge.system:
            forms[judge.system] = f"judges/{judge.judge}.yaml, key system"
    for where, card in made.items():
        if card.system:
            forms[card.system] = f"{where}system"
    return forms


def _check_parents(reader: Cards, aspect: cards.Aspect) -> None:
    """Check that all ancestors of an aspect have cards, and that they form a tree."""
    above = [aspect]
    while (parent := above[-1].parent) is not None:
        where = f"aspects/{above[-1].aspect}.yaml, key parent"
        if parent in (card.aspect for card in above):
            raise UserError(
                "an aspect is its own ancestor",
                where=where,
                got=parent,
                todo="remove the key `parent` from the highest of these aspects",
            )
        above.append(reader.read("aspect", parent, where=where))


def _criteria(
    reader: Cards, study: cards.Study, aspects: Mapping[str, cards.Aspect], source: str
) -> dict[str, cards.Criterion]:
    """Read the criteria for which some aspect of the study has no wording of its
    own.
    """
    judged_names = study.aspects or aspects
    judged = [card for name, card in aspects.items() if name in judged_names]
    worded = set[str]()
    for card in judged:
        worded.update(card.criteria)
    shared = set(reader.names("criterion"))
    criteria = {}
    for criterion in study.criteria:
        check_known(
            [criterion],
            worded | shared,
            "unknown criterion: neither a wording of an aspect nor a criterion card",
            where=f"{source}, key criteria",
            todo=f"write criteria/{criterion}.yaml, or add a wording to the aspects' "
            "cards",
        )
        if criterion in shared and any(
            criterion not in card.criteria for card in judged
        ):
            criteria[criterion] = reader.read("criterion", criterion, where=source)
    for card in judged:
        if study.criteria and not {*study.criteria} & {*card.criteria, *criteria}:
            raise UserError(
                "this aspect has none of the study's alternative wordings (criteria)",
                where=f"{source}, key criteria",
                got=card.aspect,
                allowed=sorted(card.criteria),
                todo="name a criterion that it has, or leave the aspect out",
            )
    return criteria


def _perturbations(
    reader: Cards,
    study: cards.Study,
    datasets: Mapping[str, cards.Dataset],
    source: str,
) -> dict[str, cards.AnyPerturbation]:
    """Read the perturbations that a study names; texts that come with all its datasets
    need no card.
    """
    where = f"{source}, key perturbations"
    known = reader.names("perturbation")
    perturbations: dict[str, cards.AnyPerturbation] = {}
    for name in study.perturbations:
        ready = [card for card in datasets.values() if name in card.perturbed]
        degrees = {card.dataset: card.perturbed[name].doses for card in ready}
        if len(ready) < len(datasets) and (name in known or not ready):
            card = reader.read("perturbation", name, where=where)
            if ready:
                card = _beside_ready(card, degrees)
            perturbations[name] = card
            continue
        first = ready[0].perturbed[name]
        for other in ready[1:]:
            if other.perturbed[name].level != first.level:
                raise UserError(
                    "two datasets give the same perturbation different levels",
                    where=f"datasets/{other.dataset}.yaml, key perturbed.{name}.level",
                    got=other.perturbed[name].level,
                    allowed=[first.level],
                    todo=f"use the level of datasets/{ready[0].dataset}.yaml, or give "
                    "the perturbation another id",
                )
        every_degree: dict[str, cards.Degree] = {}
        for each in degrees.values():
            every_degree |= each
        perturbations[name] = cards.ReadyPerturbation(
            perturbation=name,
            name=first.name or name,
            level=first.level,
            issue=first.issue,
            degrees=every_degree,
            datasets=degrees,
            by=[card.name for card in ready],
        )
    return perturbations


def _beside_ready(
    card: cards.Perturbation, degrees: Mapping[str, Mapping[str, cards.Degree]]
) -> cards.AnyPerturbation:
    """Return a perturbation's card for a study in which datasets have its texts
    already, in the degrees given by dataset.
    """
    if card.kind != "once":
        raise UserError(
            "a dataset has texts of this perturbation, one for each original, but the "
            "card makes other sets of texts",
            where=f"perturbations/{card.perturbation}.yaml",
            got=card.kind,
            todo="give the perturbation another id in the dataset's card",
        )
    return card.model_copy(update={"datasets": {**card.datasets, **degrees}})


def _given_sets(
    datasets: Mapping[str, cards.Dataset], named: Collection[str], source: str
) -> dict[str, cards.GivenPerturbation]:
    """Return the sets of texts that datasets contain, one for each role and aspect."""
    bringing = [card for card in datasets.values() if card.gives_texts]
    if named and len(bringing) == len(datasets):
        raise UserError(
            "all datasets of the study contain constructed texts: there is nothing to "
            "perturb",
            where=f"{source}, key perturbations",
            got=min(named),
            todo="leave the perturbations out, or add a dataset with references",
        )
    titles = {"global": "graded set", "local": "error-injection chains"}
    sets = []
    for card in bringing:
        for role in cards.GIVEN_ROLES:
            if role not in card.files:
                continue
            for aspect in card.aspects:
                given = {
                    "perturbation": slug(f"{card.dataset}-{role}-{aspect}"),
                    "name": f"{titles[role]} of {card.name}: {aspect}",
                    "dataset": card.dataset,
                    "role": role,
                    "aspects": [aspect],
                }
                sets.append(cards.GivenPerturbation.model_validate(given))
    given_sets: dict[str, cards.GivenPerturbation] = {}
    for given_set in sets:
        name = given_set.perturbation
        if name in named or name in given_sets:
            raise UserError(
                "two sets of texts have the same id",
                where=f"{source}, keys datasets and perturbations",
                got=name,
                todo="give the perturbation or the dataset another id",
            )
        given_sets[name] = given_set
    return given_sets
