"""The specs of jobs from scores to result tables: a study's tables, and what each of
them reads.

The declarations of the methods (methods/base.py) determine both.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from judgescope.core.cells import split
from judgescope.core.names import ORIGINAL, FilePrefix
from judgescope.methods import base
from judgescope.methods.claims.registry import CLAIMS
from judgescope.methods.registry import METHODS
from judgescope.plan.add_ons import declarations, packages_behind
from judgescope.plan.code import computing
from judgescope.plan.generators import attacks_of, made_of, spender
from judgescope.plan.judges import (
    annotators,
    card_hash,
    confidence_of,
    facts_of,
    scale_of,
    turned,
)
from judgescope.plan.specs.graded_sets import anchored_sets, graded_texts
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    AskedModel,
    MadePerturbation,
    ProgramModel,
    RecordedModel,
)


def _has_draws(plan: Plan) -> bool:
    return any(judge.draws > 1 for judge in plan.judges.values())


def _has_votes(plan: Plan) -> bool:
    compares = any(plan.compares(name) for name in plan.judges)
    if compares:
        return True
    return any(card.prefers for card in plan.datasets.values())


def _constructs(plan: Plan) -> bool:
    """Return whether texts with errors or of every rating are made from originals."""
    for name, card in plan.datasets.items():
        if not card.gives_texts and plan.perturbed(name, "chain", "graded"):
            return True
    return False


def _has_labels(plan: Plan) -> bool:
    for name in plan.evaluated:
        if "systems" not in plan.target_sets(name):
            continue
        for aspect in plan.plain_aspects(name):
            if plan.scale_of(name, aspect).categorical:
                return True
    return False


def _has_prices(plan: Plan) -> bool:
    """Return whether a choice between judges is one of money, too."""
    if len(plan.judges) < 2:
        return False
    for judge in plan.judges.values():
        card = plan.models.get(judge.model)
        if (stated := _stated(plan, judge.judge)) and stated.usd_per_1000:
            return True
        price = card.price if isinstance(card, AskedModel) else None
        if price is not None and any(price.model_dump().values()):
            return True
    return False


WHEN: dict[str, Callable[[Plan], object]] = {
    "draws": _has_draws,
    "votes": _has_votes,
    "constructed": _constructs,
    "annotated": annotators,
    "distilled": lambda plan: plan.taught,
    "labels": _has_labels,
    "priced": _has_prices,
    "confident": lambda plan: any(confidence_of(plan, name) for name in plan.judges),
    "always": lambda plan: True,
}
"""Condition -> whether a study meets it; tables that a study does not name depend on
these."""


def tables_of(plan: Plan) -> list[str]:
    """Return the result tables of a study."""
    tables = list[str]()
    for name in plan.study.methods:
        tables += [name, *METHODS[name].tables]
    for state, holds in WHEN.items():
        named = [
            name for name, method in METHODS.working().items() if method.when == state
        ]
        if named and holds(plan):
            tables += named
    return list(dict.fromkeys(tables))


def without_data(plan: Plan) -> Iterator[str]:
    """Yield a line about each method that the study names and that has nothing to
    compute.
    """
    # Condition of a method -> what meets it.
    needs = {
        "labels": "an aspect with labels",
        "votes": "people's choices between two texts, or a judge of the form `compare`",
        "annotated": "a judge that lists errors",
        "confident": "a judge whose card, or whose model's card, says where its "
        "confidence is",
    }
    for name in plan.study.methods:
        when = METHODS[name].when
        if when in needs and not WHEN[when](plan):
            yield (
                f"warning: the method {name} has nothing to compute: it needs "
                f"{needs[when]}"
            )


def datasets_of(plan: Plan, table: str) -> list[str]:
    """Return the datasets of a result table; judges are not evaluated on training
    data.
    """
    datasets = {
        "all": [*plan.datasets],
        "distilled": plan.taught,
        "evaluated": plan.evaluated,
    }
    return datasets[METHODS[table].datasets]


def statistics(plan: Plan, table: str, dataset: str) -> base.StatisticsSpec:
    """Compute one dataset's part of a result table."""
    card = plan.datasets[dataset]
    improved = plan.improved(dataset)
    method = METHODS[table]
    facts = {}
    for name in plan.judges_of(dataset):
        if plan.compares(name) and not method.votes:
            continue
        if plan.is_oracle(name) and not method.oracles:
            continue
        facts[name] = facts_of(plan, dataset, name)
        if "bought" in method.parts:
            price = _price(plan, plan.model_of(name))
            facts[name] = replace(facts[name], price=price, stated=_stated(plan, name))
    judges = list(facts)
    sets = plan.target_sets(dataset)
    perturbed = list[tuple[str, str, str]]()
    for name, degree in plan.perturbed(dataset):
        if f"{name}.{degree}" in sets:
            perturbed.append((name, degree, plan.perturbations[name].level))
    modules = [METHODS.target(table)]
    if "verdicts" in method.parts:
        modules += _claims(plan)
        modules += declarations()
    # Keys of a dataset's card that statistics depend on.
    of_dataset = {"ratings", "fault_free_system", "families", "reference_systems"}
    spec = base.StatisticsSpec(
        **computing("statistics", *modules),
        table=table,
        method=METHODS.target(table),
        add_ons=packages_behind(plan, table),
        dataset=dataset,
        seed=plan.study.seed,
        **card.model_dump(include=of_dataset),
        aspects=_aspect_scales(plan, dataset, method),
        judges=facts,
        turned=turned_sums(plan, dataset, judges),
        excluded=_excluded(plan, dataset, judges),
        perturbed=perturbed,
        language=card.language,
        checks=_checks_of(plan, dataset),
        allow_missing=plan.study.allow_missing,
        gold_rule=plan.study.gold,
        orders=plan.study.orders,
        unread=plan.study.unread,
        anonymous_systems=card.has_unknown_systems,
        improved=card_hash(improved) if improved else None,
        exclude_reference_systems=plan.study.exclude_reference_systems,
        targets=sets,
        files=_files_of(plan, dataset),
        output=plan.paths.statistics(table, dataset),
    )
    return replace(spec, **_part_of(plan, table, dataset))


def _aspect_scales(
    plan: Plan, dataset: str, method: base.Method
) -> dict[str, base.AspectScale]:
    """Return the scales of the aspects for which a method computes anything."""
    scales = {}
    for aspect in plan.aspects_of(dataset):
        scale = plan.scale_of(dataset, aspect)
        if scale.ordered or method.unordered != "no":
            scales[aspect] = base.AspectScale(
                values=scale.values(),
                ends=(scale.min, scale.max),
                labels=scale.labels if scale.categorical else [],
                ordered=scale.ordered,
            )
    return scales


def _excluded(
    plan: Plan, dataset: str, judges: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Return (judge, set of texts, reason) for sets that judges do not judge."""
    excluded = []
    for judge in judges:
        for name in plan.target_sets(dataset):
            reason = plan.excluded(dataset, judge, name)
            if reason is not None:
                excluded.append((judge, name, reason))
    return excluded


def _files_of(plan: Plan, dataset: str) -> base.DatasetFiles:
    """Return the tables of a dataset that every method reads."""
    paths = plan.paths
    sets = plan.target_sets(dataset)
    return base.DatasetFiles(
        items=paths.items(dataset),
        ingested=paths.ingested(dataset),
        ratings=paths.ratings(dataset),
        targets={name: paths.targets(dataset, name) for name in sets},
        scores=paths.collected(dataset, "scores"),
        draws=paths.collected(dataset, "draws"),
        statuses=paths.collected(dataset, "statuses"),
    )


def turned_sums(plan: Plan, dataset: str, judges: Sequence[str]) -> base.Turned | None:
    """Return min + max, from which ratings and scores are subtracted if the lowest is
    best.
    """
    people = dict[str, float]()
    for name in plan.aspects_of(dataset):
        turn = plan.scale_of(dataset, name).turn
        if turn is not None:
            people[split(name)[0]] = turn
    scores = {}
    for name in judges:
        sums = {}
        if not plan.compares(name):
            sums = turned(plan, dataset, name)
        if sums:
            scores[name] = sums
    if people or scores:
        return base.Turned(ratings=people, scores=scores)
    return None


# ---- parts of the spec that some tables read -----------------------------------------


def _checks_of(plan: Plan, dataset: str) -> dict[str, list[str]]:
    """Return the checks of a dataset's perturbations that a model makes."""
    named = dict[str, list[str]]()
    for name, _ in plan.perturbed(dataset):
        card = plan.perturbations[name]
        if isinstance(card, MadePerturbation):
            named[name] = list(card.checks)
    return named


def _part_of(plan: Plan, table: str, dataset: str) -> dict[str, object]:
    """Return all parts that a table reads; the verdicts read those of all tables with
    claims.
    """
    methods = [METHODS[table]]
    if "verdicts" in methods[0].parts:
        methods += [METHODS[name] for name in tables_of(plan) if name in CLAIMS]
    parts = dict[str, None]()
    keys = set[str]()
    inputs = dict[str, None]()
    for method in methods:
        parts |= dict.fromkeys(method.parts)
        inputs |= dict.fromkeys(method.inputs)
        if method.settings:
            keys.add(method.settings)
    fields: dict[str, object] = {}
    for name in parts:
        fields |= PARTS[name](plan, dataset)
    if keys:
        settings = {}
        for key in sorted(keys):
            settings[key] = getattr(plan.study, key).model_dump(mode="json")
        fields["settings"] = settings
    if inputs:
        files = [path.format(dataset=dataset) for path in inputs]
        fields["inputs"] = [plan.paths.further(file) for file in files]
    return fields


def _claims(plan: Plan) -> list[str]:
    """The targets of the claims that rest on the tables of the study."""
    return [CLAIMS.target(name) for name in tables_of(plan) if name in CLAIMS]


def _as_rater(plan: Plan, dataset: str) -> dict[str, object]:
    raters = plan.datasets[dataset].raters
    return {"as_rater": base.AsRater(margin=plan.study.as_rater_margin, raters=raters)}


def _alt_test(plan: Plan, dataset: str) -> dict[str, object]:
    card = plan.study.alt_test
    epsilon = card.epsilon_of(dataset)
    return {
        "alt_test": base.AltTestSettings(
            epsilon=epsilon, unit=card.unit, ordered=card.ordered
        )
    }


def _bought(plan: Plan, dataset: str) -> dict[str, object]:
    """The replies bought for a dataset and for those before it, and the prices of the
    writers.
    """
    names = list(plan.datasets)
    so_far = names[: names.index(dataset) + 1]
    bought = [plan.paths.collected(name, "bought") for name in so_far]
    writers = {spender(name): model for name, model in made_of(plan, dataset).items()}
    members = {}
    for name, card in plan.derived.items():
        supervised = card.supervisor is not None
        members[name] = base.Members(members=card.members, supervised=supervised)
    prices = {name: _price(plan, writers[name]) for name in sorted(writers)}
    return {"bought": bought, "writers": prices, "made_of": members}


def _stated(plan: Plan, judge: str) -> base.PriceStated | None:
    """Return the price that the card of a recorded model states for a judge."""
    card = plan.judges.get(judge)
    model = None
    if card:
        model = plan.models.get(card.model)
    if card is None or not isinstance(model, RecordedModel):
        return None
    price = model.price_of(card.form)
    if price:
        return base.PriceStated(**price.model_dump())
    return None


def _price(plan: Plan, model: str) -> base.TokenPrices | None:
    """Return the price of a million of a model's tokens, or None if it is unknown."""
    card = plan.models.get(model)  # None for derived judges
    free: base.TokenPrices = {"input": 0.0, "output": 0.0}
    if not isinstance(card, AskedModel):
        return free
    if card.price is None:
        if isinstance(card, ProgramModel):
            return free
        return None
    return card.price.model_dump()


def _compared(plan: Plan, dataset: str) -> dict[str, object]:
    return {"compared": plan.study.comparison.judges}


def _comparison(plan: Plan, dataset: str) -> dict[str, object]:
    card = plan.study.comparison
    named = not card.model_fields_set.isdisjoint({"statistics", "levels"})
    settings = base.ComparisonSettings(**card.model_dump(), all_tested=named)
    return {"comparison": settings}


def _construction(plan: Plan, dataset: str) -> dict[str, object]:
    """The steps in which models built a dataset's texts, and the files that show their
    quality.
    """
    names = {ORIGINAL: "references"}
    for name, _ in plan.perturbed(dataset, "chain"):
        names[name] = "errors, one after the other"
    for name, _ in plan.perturbed(dataset, "graded"):
        names[name] = "errors, all at once"
    writers = {spender(name): model for name, model in made_of(plan, dataset).items()}
    steps = []
    for writer, model in writers.items():
        step = names.get(writer)
        if step is None and writer.startswith(FilePrefix.COMPARED):
            step = "comparisons with anchors"
        if step is not None:
            steps.append(
                base.WritingStep(
                    step=step, writer=writer, model=model, price=_price(plan, model)
                )
            )
    return {
        "bought": [plan.paths.collected(dataset, "bought")],
        "steps": steps,
        "anchored": anchored_sets(plan, dataset),
    }


def _ensembles(plan: Plan, dataset: str) -> dict[str, object]:
    """The members of derived judges, and how many of them must score a text."""
    judges = plan.judges_of(dataset)
    distill = plan.study.distill
    ensembles = {}
    for name, card in plan.derived.items():
        if name not in judges:
            continue
        student = None
        if distill and distill.teacher == name and distill.judge in judges:
            student = distill.judge
        mixed = []
        for aspect in plan.rated_by(name, dataset):
            ends = {_ends(plan, dataset, member, aspect) for member in card.members}
            if len(ends) > 1:
                mixed.append(aspect)
        ensembles[name] = base.EnsembleMembers(
            members=sorted(card.members),
            min_members=card.min_annotators,
            mixed=mixed,
            student=student,
        )
    return {"ensembles": ensembles}


def _ends(
    plan: Plan, dataset: str, judge: str, aspect: str
) -> tuple[float, float] | None:
    scale = scale_of(plan, dataset, judge, aspect)
    if scale is None:
        return None
    return (scale.min, scale.max)


def _expected(plan: Plan, dataset: str) -> dict[str, object]:
    card = plan.expectations
    assert card is not None, "the method confusion has expectations"
    changes = {}
    for name, change in card.perturbations.items():
        changes[name] = base.ExpectedChange(drop=change.drop, same=change.same)
    expected = base.Expected(
        id=f"{card.expectations}@{card_hash(card)}",
        changes=changes,
        margin=plan.study.confusion.margin,
    )
    return {"expected": expected, "criteria": plan.study.criteria}


def _graded(plan: Plan, dataset: str) -> dict[str, object]:
    sets = []
    for name, _ in plan.perturbed(dataset, "graded"):
        sets.append(graded_texts(plan, dataset, name))
    return {"graded": sets}


def _robust(plan: Plan, dataset: str) -> dict[str, object]:
    """The judges with a hint, the judges that are forms of one model, and the
    attacks.
    """
    forms: dict[str, list[str]] = {}
    hinted = {}
    for name in plan.judges_of(dataset):
        card = plan.judges.get(name)
        if card is None or plan.compares(name) or not plan.is_prompted(card.model):
            continue
        hint = card.hint
        if hint is not None:
            hinted[name] = base.Hinted(rating=hint.rating, baseline=hint.baseline)
        elif card.own_scale is None:
            forms.setdefault(card.model, []).append(name)
    rationales = plan.paths.collected(dataset, "rationales")
    return {
        "hinted": hinted,
        "forms": forms,
        "rationales": rationales,
        "attacks": attacks_of(plan, dataset),
    }


def _spans(plan: Plan, dataset: str) -> dict[str, object]:
    marked = plan.paths.collected(dataset, "marked")
    gold = None
    if plan.datasets[dataset].gives_spans:
        gold = plan.paths.spans(dataset)
    return {"marked": marked, "gold": gold}


def _confidences(plan: Plan, dataset: str) -> dict[str, object]:
    return {"confidences": plan.paths.collected(dataset, "confidences")}


def _training(plan: Plan, dataset: str) -> dict[str, object]:
    card = plan.distillation
    training = base.TrainedJudge(
        judge=card.judge,
        teacher=card.teacher,
        losses=plan.paths.distill("losses.parquet"),
        export=plan.paths.distill("export.json"),
    )
    return {"training": training}


def _verdicts(plan: Plan, dataset: str) -> dict[str, object]:
    """The functions of claims; the study's bars, and the parts of tables that decide on
    them.
    """
    if not plan.study.require:
        return {"claims": _claims(plan)}
    deciding = [name for name in tables_of(plan) if METHODS[name].bars]
    parts = [plan.paths.statistics(table, dataset) for table in deciding]
    required = base.Required(bars=bars_of(plan.study.require), parts=parts)
    return {"claims": _claims(plan), "required": required}


def bars_of(require: dict[str, float | dict[str, float]]) -> list[base.Bar]:
    """Return the bars of a study's key `require`."""
    required = []
    for key, bar in require.items():
        name, _, level = key.partition(".")
        bars = bar.items() if isinstance(bar, dict) else [(None, bar)]
        for aspect, value in bars:
            required.append(
                base.Bar(statistic=name, level=level or None, aspect=aspect, bar=value)
            )
    return required


def _weights(plan: Plan, dataset: str) -> dict[str, object]:
    card = plan.weights
    if card is None:
        return {"weights": None}
    by_perturbation = card.tasks.get(plan.datasets[dataset].task, {})
    weights = base.AspectWeights(
        id=f"{card.weights}@{card_hash(card)}", by_perturbation=by_perturbation
    )
    return {"weights": weights}


def _decided(plan: Plan, dataset: str) -> dict[str, object]:
    """The dataset's verdicts, on which further numbers rest."""
    return {"verdicts": plan.paths.statistics("verdicts", dataset)}


PARTS: dict[str, Callable[[Plan, str], dict[str, object]]] = {
    "alt_test": _alt_test,
    "as_rater": _as_rater,
    "bought": _bought,
    "compared": _compared,
    "confidences": _confidences,
    "comparison": _comparison,
    "construction": _construction,
    "decided": _decided,
    "ensembles": _ensembles,
    "expected": _expected,
    "graded": _graded,
    "chains": lambda plan, name: {"chains": plan.perturbed(name, "chain")},
    "rating_price": lambda plan, _: {"rating_price": plan.study.price_per_rating},
    "robust": _robust,
    "spans": _spans,
    "training": _training,
    "verdicts": _verdicts,
    "weights": _weights,
}
"""Part of the spec -> the function that builds it for a dataset; methods declare their
parts."""
