"""Checks of a study's own keys and of its datasets."""

from collections.abc import Collection, Iterable, Mapping

from judgescope.core.errors import UserError, check_known
from judgescope.methods.registry import METHODS
from judgescope.parsing.judgment import Scale, zero_stands_in
from judgescope.perturb.rules import RULES
from judgescope.plan.extending import study_extensions
from judgescope.plan.generators import addition
from judgescope.plan.judges import annotators, engine_of, scale_of
from judgescope.plan.study import Plan
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES
from judgescope.statistics.registry import STATISTICS, has_bar, statistic

BILLION = 10**9


def check_method_names(study: cards.Study, source: str) -> None:
    """Raise UserError for a method that does not exist, or that has no texts to use."""
    working = METHODS.working()
    selectable = [name for name, method in working.items() if method.selectable]
    for number, name in enumerate(study.methods):
        where = f"{source}, key methods.{number}"
        if name not in METHODS or not METHODS[name].selectable:
            check_known([name], selectable, "unknown value", where=where)
        if "once" in METHODS[name].texts and not study.perturbations:
            raise UserError(
                f"the method {name} needs `perturbations`",
                where=f"{source}, key perturbations",
                todo="name perturbations, or leave the method out",
            )


def check_study(plan: Plan, source: str) -> None:
    """Check that every aspect of the study is rated and every dataset and judge is
    used.
    """
    study = plan.study
    datasets = plan.datasets
    check_caps(study, plan.models, source)
    check_rated(study.aspects, datasets, f"{source}, key aspects")
    for name, dataset in datasets.items():
        if study.aspects and not set(study.aspects) & set(dataset.aspects):
            raise UserError(
                "this dataset rates none of the study's aspects",
                where=f"{source}, key datasets",
                got=name,
                allowed=dataset.aspects,
                todo="add one of its aspects, or leave the dataset out",
            )
    _check_best(study, datasets, source)
    check_known(
        study.comparison.judges,
        {*plan.judges, *plan.derived},
        "no judge of the study has this id",
        where=f"{source}, key comparison.judges",
    )
    for perturbation in plan.perturbations.values():
        _check_read(perturbation, study, source)
    for model in plan.models.values():
        if not isinstance(model, cards.RecordedModel):
            continue
        if model.dataset not in {None, *datasets}:
            raise UserError(
                "this recorded model is for a dataset that is not in the study",
                where=f"{source}, key judges",
                got=f"{model.model} (recorded for {model.dataset})",
                allowed=datasets,
            )
    check_bars(study, _aspects_of(datasets), source)
    _check_slices(study, datasets, source)
    _check_rubrics(study, datasets, source)


def _check_best(
    study: cards.Study, datasets: Mapping[str, cards.Dataset], source: str
) -> None:
    """Check that every method supports aspects of which the lowest value is the
    best.
    """
    unread = [name for name in study.methods if METHODS[name].unturned]
    for dataset in datasets.values():
        for aspect, scale in dataset.aspects.items():
            if scale.best == "min" and unread and aspect in (study.aspects or [aspect]):
                raise UserError(
                    "this method does not support scales whose lowest value is the "
                    "best",
                    where=f"{source}, key methods",
                    got=f"{unread[0]} (dataset {dataset.dataset}, aspect {aspect}: "
                    "best: min)",
                    todo="leave the method or the aspect out, or reverse the ratings "
                    "in the data (min + max - value)",
                )


def _check_slices(
    study: cards.Study, datasets: Mapping[str, cards.Dataset], source: str
) -> None:
    """Check that the items of some dataset have each column of slices."""
    known = list[str]()
    for dataset in datasets.values():
        known += dataset.meta
    columns = list(dict.fromkeys(known))
    for number, name in enumerate(study.slices.columns):
        where = f"{source}, key slices.columns.{number}"
        if not columns:
            raise UserError(
                "no dataset of the study keeps a column with its items",
                where=where,
                got=name,
                todo="name the column under `columns.meta` in the dataset's card",
            )
        check_known([name], columns, "unknown column of the items", where=where)


def _check_rubrics(
    study: cards.Study, datasets: Mapping[str, cards.Dataset], source: str
) -> None:
    """Check that the criteria with points, or a theme, are aspects of two labels."""
    criteria = list[str]()
    for dataset in datasets.values():
        for aspect, scale in dataset.aspects.items():
            if scale.labels and len(scale.labels) == 2:
                criteria.append(aspect)
    what = "no aspect with two labels has this name: it is not a criterion"
    rubrics = study.rubrics
    check_known(rubrics.points, criteria, what, where=f"{source}, key rubrics.points")
    check_known(rubrics.themes, criteria, what, where=f"{source}, key rubrics.themes")
    stated = [*rubrics.points.values()]
    if stated and max(stated) <= 0:
        raise UserError(
            "no criterion has positive points: a score is a share of these",
            where=f"{source}, key rubrics.points",
            got=", ".join(f"{name}: {w:g}" for name, w in rubrics.points.items()),
            allowed="at least one number above 0; negative points are for faults",
            todo="give points to what a good response does",
        )


def _check_read(
    perturbation: cards.AnyPerturbation, study: cards.Study, source: str
) -> None:
    """Check that some method of the study uses what a perturbation makes."""
    kind = perturbation.kind
    # Kind of perturbation -> the error if no method of the study uses such texts.
    unread_keys = {
        "graded": "no method of the study uses graded sets (texts of every rating)",
        "attack": "no method of the study uses attacked texts",
        "once": "no method of the study uses this perturbation",
    }
    if kind not in unread_keys:
        return
    methods = set()
    for name, method in METHODS.working().items():
        if kind in method.texts:
            methods.add(name)
    if not methods & set(study.methods):
        raise UserError(
            unread_keys[kind],
            where=f"{source}, key perturbations",
            got=perturbation.perturbation,
            todo=f"add the method {' or '.join(sorted(methods, reverse=True))}, or "
            "leave the perturbation out",
        )


def check_rated(
    aspects: Iterable[str], datasets: Mapping[str, cards.Dataset], where: str
) -> None:
    """Check that every aspect belongs to some dataset of the study."""
    rated = _aspects_of(datasets)
    check_known(aspects, rated, "no dataset of the study has this aspect", where=where)


def _aspects_of(datasets: Mapping[str, cards.Dataset]) -> set[str]:
    aspects = set[str]()
    for dataset in datasets.values():
        aspects.update(dataset.aspects)
    return aspects


# ---- bars and caps -------------------------------------------------------------------


def check_bars(study: cards.Study, aspects: Collection[str], source: str) -> None:
    """Check the statistic, level, aspects and values of every required minimum
    (bar).
    """
    # What may follow a statistic's name and a dot in the key `require`.
    levels = (
        "by_source",
        "by_system",
        "direct",
        "global",
        "local",
        "pooled",
        "traditional",
    )
    # Statistics with levels of their own.
    only_levels = {
        **dict.fromkeys(("normal_scores", "pdp_pairs"), ("within_source",)),
        "partial_by_system_pearson": ("pooled",),
        "partial_by_system_spearman": ("pooled",),
    }
    for key, bar in study.require.items():
        name, _, level = key.partition(".")
        where = f"{source}, key require"
        if not has_bar(name):
            raise UserError(
                "a required minimum (bar) needs a statistic with a confidence interval",
                where=where,
                got=name,
                allowed=[statistic for statistic in STATISTICS if has_bar(statistic)],
                todo="docs/reference/statistics.md lists all statistics",
            )
        check_known(
            [level] if level else [],
            only_levels.get(name, levels),
            "this statistic is not computed at this level",
            where=f"{where}.{key}",
            todo=f"write `{name}`, or `{name}.` followed by one of these levels",
        )
        check_known(
            bar if isinstance(bar, dict) else (),
            [*aspects, "average"],
            "no dataset of the study rates this aspect",
            where=f"{where}.{key}",
        )
        low, high = statistic(name).scale.ends
        for value in bar.values() if isinstance(bar, dict) else (bar,):
            if not low <= value <= high:
                raise UserError(
                    "this required minimum (bar) is outside the range of its statistic",
                    where=f"{where}.{key}",
                    got=value,
                    allowed=f"{low:g} to {high:g}",
                    todo="write 80 % as 0.8" if (low, high) == (0, 1) else "",
                )


def caps_of(study: cards.Study) -> list[Cap]:
    """Return the caps of a study and of single models in it."""
    owners: list[tuple[str, cards.Caps, str | None]] = [("", study, None)]
    owners += [(f"caps.{name}.", caps, name) for name, caps in study.caps.items()]
    limits = []
    for prefix, caps, model in owners:
        if caps.max_usd is not None:
            limit = round(caps.max_usd * BILLION)
            limits.append(Cap(f"{prefix}max_usd", NANOS, limit, model))
        if caps.max_requests is not None:
            limits.append(
                Cap(f"{prefix}max_requests", REQUESTS, caps.max_requests, model)
            )
    return limits


def check_caps(
    study: cards.Study, models: Mapping[str, cards.Model], source: str
) -> None:
    """Check that every cap is on a model that is asked, and every cost cap on a known
    price.

    A drafter may have a cap even if no judge uses it: its price is needed when it
    drafts.
    """
    asked = {name: card for name, card in models.items() if ENGINES[card.engine].asked}
    for name in study.caps:
        if name not in [*asked, study.drafter]:
            raise UserError(
                "`caps` may only name models of the study that receive requests",
                where=f"{source}, key caps",
                got=name,
                allowed=asked,
            )
    for key, unit, _, only in caps_of(study):
        for name, card in asked.items():
            bound = unit == NANOS and only in (None, name)
            if bound and isinstance(card, cards.TokenModel) and card.price is None:
                raise UserError(
                    f"{key} needs the price of every model that it covers",
                    where=f"models/{name}.yaml",
                    todo="give the card a `price` (input and output 0 if it costs "
                    "nothing), or cap `max_requests`",
                )


# ---- what needs the plan -------------------------------------------------------------


def check_uses(plan: Plan, source: str) -> None:
    """Check that methods, weights, extensions and datasets have what they need in other
    cards.
    """
    _check_methods(plan, source)
    _check_weights(plan, source)
    _check_expectations(plan, source)
    _check_extensions(plan, source)
    _check_unread(plan, source)
    for dataset in plan.datasets.values():
        _check_dataset(plan, dataset, source)


def _check_extensions(plan: Plan, source: str) -> None:
    """Check the keys that extensions read, and that these are there."""
    extensions = study_extensions()
    present = {extension.key for extension in extensions}
    for key in cards.EXTENSION_KEYS:
        if getattr(plan.study, key) is not None and key not in present:
            raise UserError(
                "the installed judgescope lacks the extension that reads this key",
                where=f"{source}, key {key}",
                got=f"no folder judgescope/extensions/{key}",
                todo="install judgescope again, with all of its package",
            )
    for extension in extensions:
        extension.check(plan, source)


def _check_dataset(plan: Plan, dataset: cards.Dataset, source: str) -> None:
    """Check that a dataset has texts to judge, and what its perturbations need."""
    sets = plan.target_sets(dataset.dataset)
    if not sets:
        raise UserError(
            "no method of the study uses this dataset",
            where=f"{source}, key datasets",
            got=dataset.dataset,
            todo="add the method perspectives, or leave the dataset out"
            if dataset.gives_texts
            else "add the method discernment and a perturbation for its task, or leave "
            "the dataset out",
        )
    engines = {
        name: plan.models[judge.model].engine for name, judge in plan.judges.items()
    }
    reading = [
        name
        for name, engine in engines.items()
        if engine not in {"control", "recorded"}
    ]
    # Lengths in place of texts say that the texts are missing on purpose: such judges
    # are left to the datasets that have texts.
    elsewhere = any(other.has_texts for other in plan.datasets.values())
    meant = dataset.has_lengths and elsewhere
    if dataset.columns and not dataset.has_texts and reading and not meant:
        raise UserError(
            "these judges read texts, but no column of the dataset contains texts",
            where=f"datasets/{dataset.dataset}.yaml, key columns.text",
            got=", ".join(reading),
            todo="map `columns.text`, or leave these judges out",
        )
    for name, degree in plan.perturbed(dataset.dataset, "attack"):
        addition(plan, dataset.dataset, name, degree)  # raises UserError
    lacking = dataset.select.original == "none" and plan.study.references is None
    if "original" in sets and lacking:
        raise UserError(
            "the study perturbs originals, and this dataset has none",
            where=f"{source}, key datasets",
            got=f"{dataset.dataset} (select.original: none)",
            todo="let a model write references (`references: {model: …}` in the "
            "study), choose another `select.original` in your own card, or set "
            "`tasks` in the perturbations' cards so that they exclude the dataset",
        )
    for name in dict(plan.perturbed(dataset.dataset)):
        card = plan.perturbations[name]
        needs = None
        if isinstance(card, cards.RulePerturbation):
            needs = RULES[card.rule].meta
        if needs is not None and needs not in dataset.meta:
            raise UserError(
                f"this perturbation needs items with the metadata `{needs}`",
                where=f"{source}, key perturbations",
                got=f"{card.perturbation} of the dataset {dataset.dataset}",
                allowed=f"format story_cloze_csv, or a table with {needs} in "
                "`columns.meta`",
                todo="exclude the dataset by `tasks` in the perturbation's card, or "
                "leave it out",
            )


def _check_weights(plan: Plan, source: str) -> None:
    """Check that every aspect with a weight is judged, for each of the study's
    perturbations.
    """
    if plan.weights is None:
        return
    for dataset, card in plan.datasets.items():
        aspects = plan.plain_aspects(dataset)
        of_task = plan.weights.tasks.get(card.task, {})
        for perturbation in {
            name for name, _ in plan.perturbed(dataset)
        } & of_task.keys():
            check_known(
                of_task[perturbation],
                aspects,
                f"the weights name an aspect that is not judged on {dataset}",
                where=f"weights/{plan.weights.weights}.yaml, key "
                f"tasks.{card.task}.{perturbation}",
                todo=f"add it to `aspects` in {source}, or use weights without it",
            )


def _check_expectations(plan: Plan, source: str) -> None:
    """Check that the card has an expectation for a perturbation of every perturbed
    dataset.
    """
    if plan.expectations is None:
        return
    known = plan.expectations.perturbations
    for dataset in plan.datasets:
        perturbations = {name for name, _ in plan.perturbed(dataset)}
        aspects = set(plan.plain_aspects(dataset))
        expected = [known[name] for name in perturbations & known.keys()]
        if perturbations and not any(
            aspects & {*card.drop, *card.same} for card in expected
        ):
            raise UserError(
                "the expectations have no aspect in common with the perturbations of "
                f"{dataset}",
                where=f"{source}, key confusion.expectations",
                got=plan.expectations.expectations,
                allowed=known,
                todo="use perturbations and aspects of the card, or write a card that "
                "has yours",
            )


def _check_methods(plan: Plan, source: str) -> None:
    """Check that the methods ensemble and spans have judges for them."""
    if "ensemble" in plan.study.methods and not plan.derived:
        raise UserError(
            "the method ensemble needs a judge with `members`",
            where=f"{source}, key judges",
            got=plan.study.judges,
            todo="name a judge card with `members`, or leave the method out",
        )
    if "spans" in plan.study.methods and not annotators(plan):
        raise UserError(
            "no judge of the study lists errors with their positions",
            where=f"{source}, key methods",
            got="spans",
            todo="add a judge with `annotation` or `parser: annotation`, or leave the "
            "method out",
        )


def _check_unread(plan: Plan, source: str) -> None:
    """Check that 0 is a value of every scale on which it would replace a missing
    judgment.

    On other scales it would be a rating outside the scale, or the best one.
    """
    if plan.study.unread != "zero":
        return
    for cell in plan.cell_aspects:
        if cell.judge in plan.derived or engine_of(plan, cell.judge) == "control":
            continue
        scale = scale_of(plan, cell.dataset, cell.judge, cell.aspect, cell.perturbation)
        if scale is None:
            continue
        read = Scale(scale.min, scale.max, scale.step, best=scale.best)
        if not zero_stands_in(read):
            problem = "not a value"
            if read.ends[1] == 0:
                problem = "the best value"
            raise UserError(
                f"0 is {problem} of this scale, so it cannot replace a missing "
                "judgment",
                where=f"{source}, key unread",
                got=f"zero (judge {cell.judge}, dataset {cell.dataset}, aspect "
                f"{cell.aspect}: {scale.min:g} to {scale.max:g})",
                allowed=["missing", "wrong", "worst", "mid", "random"],
            )
