"""The specs of jobs from scores to result tables: a study's tables, and what each of
them reads.

The declarations of the methods (methods/base.py) determine both.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from judgescope.core.cells import split
from judgescope.core.names import COMPARED, ORIGINAL
from judgescope.methods import base
from judgescope.methods.registry import METHODS
from judgescope.plan.code import computing
from judgescope.plan.generators import attacks_of, made_of, spender
from judgescope.plan.judges import annotators, card_hash, facts_of, scale_of, turned
from judgescope.plan.specs.graded_sets import graded_texts
from judgescope.plan.study import Plan
from judgescope.schema.cards import COMPARE, AskedModel, CommandModel

OF_DATASET = {"ratings", "fault_free_system", "families", "reference_systems"}
"""Keys of a dataset's card that statistics depend on."""
FREE: Final[base.Prices] = {"input": 0.0, "output": 0.0}
WHEN: dict[str, Callable[[Plan], object]] = {
    "draws": lambda plan: any(judge.draws > 1 for judge in plan.judges.values()),
    "votes": lambda plan: (
        any(map(plan.compares, plan.judges))
        or any(one.prefers for one in plan.datasets.values())
    ),
    "constructed": lambda plan: any(
        plan.perturbed(name, "chain", "graded")
        for name, card in plan.datasets.items()
        if not card.gives_texts
    ),
    "annotated": annotators,
    "distilled": lambda plan: plan.taught,
    "labels": lambda plan: any(
        plan.scale_of(name, aspect).categorical
        for name in plan.evaluated
        if "systems" in plan.target_sets(name)
        for aspect in plan.plain_aspects(name)
    ),
    "always": lambda plan: True,
}
"""Condition -> whether a study meets it; tables that a study does not name depend on
these."""
NEEDS: Final = {
    "labels": "an aspect with labels",
    "votes": "people's choices between two texts, or a judge of the form `compare`",
    "annotated": "a judge that lists errors",
}
"""Condition of a method -> what meets it."""


def tables_of(plan: Plan) -> list[str]:
    """Return the result tables of a study."""
    found = [
        table for name in plan.study.methods for table in (name, *METHODS[name].tables)
    ]
    for state, holds in WHEN.items():
        found += [
            name
            for name, method in METHODS.items()
            if method.when == state and holds(plan)
        ]
    return list(dict.fromkeys(found))


def without_data(plan: Plan) -> Iterator[str]:
    """Yield a line about each method that the study names and that has nothing to
    compute.
    """
    for name in plan.study.methods:
        when = METHODS[name].when
        if when in NEEDS and not WHEN[when](plan):
            yield (
                f"warning: the method {name} has nothing to compute: it needs "
                f"{NEEDS[when]}"
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


def tables(plan: Plan) -> base.TablesSpec:
    """Join the datasets' parts of every result table."""
    names = tables_of(plan)
    across = [METHODS[name].across for name in names if METHODS[name].across]
    return base.TablesSpec(
        **computing("tables", *across),
        tables={
            plan.paths.table(name).removesuffix(".parquet"): base.JoinedTable(
                parts=[
                    plan.paths.statistics(name, each)
                    for each in datasets_of(plan, name)
                ],
                across=METHODS[name].across or None,
            )
            for name in names
        },
    )


def statistics(plan: Plan, table: str, dataset: str) -> base.StatisticsSpec:
    """Compute one dataset's part of a result table."""
    card, improved, method = (
        plan.datasets[dataset],
        plan.improved(dataset),
        METHODS[table],
    )
    sets = plan.target_sets(dataset)
    judges = [
        name
        for name in plan.judges_of(dataset)
        if (method.votes or not plan.compares(name))
        and (method.oracles or not plan.is_oracle(name))
    ]
    facts = {name: facts_of(plan, dataset, name) for name in judges}
    if "bought" in method.parts:
        prices = {name: _price(plan, plan.model_of(name)) for name in judges}
        facts = {name: replace(one, price=prices[name]) for name, one in facts.items()}
    loaded = [table]
    if "verdicts" in method.parts:
        loaded += [path.rpartition(".")[0] for path in _claims(plan)]
    modules = dict.fromkeys(f"judgescope.methods.{name}" for name in loaded)
    spec = base.StatisticsSpec(
        **computing("statistics", *modules),
        table=table,
        dataset=dataset,
        seed=plan.study.seed,
        **card.model_dump(include=OF_DATASET),
        aspects={
            aspect: base.AspectScale(
                values=scale.values(),
                ends=(scale.min, scale.max),
                labels=scale.labels if scale.categorical else [],
                ordered=scale.ordered,
            )
            for aspect in plan.aspects_of(dataset)
            for scale in [plan.scale_of(dataset, aspect)]
            if method.unordered != "no" or scale.ordered
        },
        judges=facts,
        turned=turned_sums(plan, dataset, judges),
        excluded=[
            (judge, name, reason)
            for judge in judges
            for name in sets
            if (reason := plan.excluded(dataset, judge, name)) is not None
        ],
        perturbed=[
            (name, degree, plan.perturbations[name].level)
            for name, degree in plan.perturbed(dataset)
            if f"{name}.{degree}" in sets
        ],
        allow_missing=plan.study.allow_missing,
        gold_rule=plan.study.gold,
        orders=plan.study.orders,
        unread=plan.study.unread,
        anonymous_systems=card.prefers
        and card.columns is not None
        and not card.columns.systems,
        improved=card_hash(improved) if improved else None,
        exclude_reference_systems=plan.study.exclude_reference_systems,
        targets=sets,
        results=plan.results,
        output=plan.paths.statistics(table, dataset),
    )
    return replace(spec, **_part_of(plan, table, dataset).fields)


def turned_sums(plan: Plan, dataset: str, judges: Sequence[str]) -> base.Turned | None:
    """Return min + max, from which ratings and scores are subtracted if the lowest is
    best.
    """
    scales = {name: plan.scale_of(dataset, name) for name in plan.aspects_of(dataset)}
    people = {
        split(name)[0]: one.turn for name, one in scales.items() if one.turn is not None
    }
    scores = {
        name: sums
        for name in judges
        if not plan.compares(name) and (sums := turned(plan, dataset, name))
    }
    return base.Turned(ratings=people, scores=scores) if people or scores else None


def own_files(plan: Plan, table: str, dataset: str) -> list[str]:
    """Return the files that a table reads in addition to those of all tables."""
    return list(_part_of(plan, table, dataset).files)


# ---- parts of the spec that some tables read -----------------------------------------


class Part(NamedTuple):
    """Fields of StatisticsSpec, and the files that they name."""

    fields: dict[str, object]
    files: Sequence[str] = ()


def _part_of(plan: Plan, table: str, dataset: str) -> Part:
    """Return all parts that a table reads; the verdicts read those of all tables with
    claims.
    """
    methods = [METHODS[table]]
    if "verdicts" in methods[0].parts:
        methods += [METHODS[name] for name in tables_of(plan) if METHODS[name].claims]
    parts = dict.fromkeys(name for each in methods for name in each.parts)
    fields, files = dict[str, object](), list[str]()
    for name in parts:
        part = PARTS[name](plan, dataset)
        fields |= part.fields
        files += part.files
    if keys := {each.settings for each in methods if each.settings}:
        fields["settings"] = {
            key: getattr(plan.study, key).model_dump(mode="json")
            for key in sorted(keys)
        }
    inputs = dict.fromkeys(path for each in methods for path in each.inputs)
    files += [f"{plan.results}/{path.format(dataset=dataset)}" for path in inputs]
    return Part(fields, files)


def _claims(plan: Plan) -> list[str]:
    """Return the functions of claims that the study's methods declare."""
    return [path for name in tables_of(plan) for path in METHODS[name].claims]


def _as_rater(plan: Plan, dataset: str) -> Part:
    margin, raters = plan.study.as_rater_margin, plan.datasets[dataset].raters
    return Part({"as_rater": base.AsRater(margin=margin, raters=raters)})


def _alt_test(plan: Plan, dataset: str) -> Part:
    card = plan.study.alt_test
    epsilon = card.epsilon_of(dataset)
    return Part(
        {
            "alt_test": base.AltTest(
                epsilon=epsilon, unit=card.unit, ordered=card.ordered
            )
        }
    )


def _bought(plan: Plan, dataset: str) -> Part:
    """The replies bought for a dataset and for those before it, and the prices of the
    writers.
    """
    names = list(plan.datasets)
    bought = [
        plan.paths.collected(name, "bought")
        for name in names[: names.index(dataset) + 1]
    ]
    writers = {spender(name): model for name, model in made_of(plan, dataset).items()}
    members = {
        name: base.Members(members=card.members, supervised=card.supervisor is not None)
        for name, card in plan.derived.items()
    }
    prices = {name: _price(plan, writers[name]) for name in sorted(writers)}
    return Part({"bought": bought, "writers": prices, "made_of": members}, bought)


def _price(plan: Plan, model: str) -> base.Prices | None:
    """Return the price of a million of a model's tokens, or None if it is unknown."""
    card = plan.models.get(model)  # None for derived judges
    if not isinstance(card, AskedModel):
        return FREE
    if card.price is None:
        return FREE if isinstance(card, CommandModel) else None
    return card.price.model_dump()


def _construction(plan: Plan, dataset: str) -> Part:
    """The steps in which models built a dataset's texts, and the files that show their
    quality.
    """
    names = {
        **{ORIGINAL: "references"},
        **{
            name: "errors, one after the other"
            for name, _ in plan.perturbed(dataset, "chain")
        },
        **{
            name: "errors, all at once" for name, _ in plan.perturbed(dataset, "graded")
        },
    }
    writers = {spender(name): model for name, model in made_of(plan, dataset).items()}
    steps = [
        base.Step(step=step, writer=writer, model=model, price=_price(plan, model))
        for writer, model in writers.items()
        for step in [
            names.get(
                writer,
                "comparisons with anchors" if writer.startswith(COMPARED) else None,
            )
        ]
        if step is not None
    ]
    bought = plan.paths.collected(dataset, "bought")
    sets = [
        graded_texts(plan, dataset, name)
        for name, _ in plan.perturbed(dataset, "graded")
    ]
    files = [path for one in sets for path in [one.anchors, *one.compared] if path]
    return Part({"bought": [bought], "steps": steps}, [bought, *files])


def _ensembles(plan: Plan, dataset: str) -> Part:
    """The members of derived judges, and how many of them must score a text."""
    judges, distill = set(plan.judges_of(dataset)), plan.study.distill
    student = (
        {distill.teacher: distill.judge} if distill and distill.judge in judges else {}
    )
    ensembles = {
        name: base.EnsembleMembers(
            members=sorted(card.members),
            min_members=card.min_annotators,
            mixed=[
                aspect
                for aspect in plan.rated_by(name, dataset)
                if len(
                    {_ends(plan, dataset, member, aspect) for member in card.members}
                )
                > 1
            ],
            student=student.get(name),
        )
        for name, card in plan.derived.items()
        if name in judges
    }
    return Part({"ensembles": ensembles})


def _ends(
    plan: Plan, dataset: str, judge: str, aspect: str
) -> tuple[float, float] | None:
    scale = scale_of(plan, dataset, judge, aspect)
    return None if scale is None else (scale.min, scale.max)


def _expected(plan: Plan, dataset: str) -> Part:
    card = plan.expectations
    assert card is not None, "the method confusion has expectations"
    expected = base.Expected(
        id=f"{card.expectations}@{card_hash(card)}",
        changes={
            name: base.ExpectedChange(drop=one.drop, same=one.same)
            for name, one in card.perturbations.items()
        },
        margin=plan.study.confusion.margin,
    )
    return Part({"expected": expected, "criteria": plan.study.criteria})


def _graded(plan: Plan, dataset: str) -> Part:
    sets = [
        graded_texts(plan, dataset, name)
        for name, _ in plan.perturbed(dataset, "graded")
    ]
    return Part({"graded": sets}, [one.file for one in sets])


def _robust(plan: Plan, dataset: str) -> Part:
    """The judges with a hint, the judges that are forms of one model, and the
    attacks.
    """
    cards = {
        name: card
        for name in plan.judges_of(dataset)
        if (card := plan.judges.get(name)) is not None
        if plan.is_prompted(card.model) and card.form != COMPARE
    }
    forms: dict[str, list[str]] = {}
    for name, card in cards.items():
        if card.hint is None and card.own_scale is None:
            forms.setdefault(card.model, []).append(name)
    hinted = {
        name: base.Hinted(rating=card.hint.rating, baseline=card.hint.baseline)
        for name, card in cards.items()
        if card.hint
    }
    rationales = plan.paths.collected(dataset, "rationales")
    fields: dict[str, object] = {
        "hinted": hinted,
        "forms": forms,
        "rationales": rationales,
    }
    return Part(fields | {"attacks": attacks_of(plan, dataset)}, [rationales])


def _spans(plan: Plan, dataset: str) -> Part:
    marked = plan.paths.collected(dataset, "marked")
    gold = plan.paths.spans(dataset) if plan.datasets[dataset].gives_spans else None
    return Part({"marked": marked, "gold": gold}, [marked, *([gold] if gold else [])])


def _training(plan: Plan, dataset: str) -> Part:
    losses, export = (
        plan.paths.distill("losses.parquet"),
        plan.paths.distill("export.json"),
    )
    card = plan.distillation
    training = base.Training(
        judge=card.judge, teacher=card.teacher, losses=losses, export=export
    )
    return Part({"training": training}, [losses, export])


def _verdicts(plan: Plan, dataset: str) -> Part:
    """The functions of claims; the study's bars, and the parts of tables that decide on
    them.
    """
    if not plan.study.require:
        return Part({"claims": _claims(plan)})
    deciding = [name for name in tables_of(plan) if METHODS[name].bars]
    parts = [plan.paths.statistics(table, dataset) for table in deciding]
    required = base.Required(bars=bars_of(plan.study.require), parts=parts)
    return Part({"claims": _claims(plan), "required": required}, parts)


def bars_of(require: dict[str, float | dict[str, float]]) -> list[base.Bar]:
    """Return the bars of a study's key `require`."""
    required = []
    for key, bar in require.items():
        name, _, level = key.partition(".")
        bars = bar.items() if isinstance(bar, dict) else [(None, bar)]
        required += [
            base.Bar(statistic=name, level=level or None, aspect=aspect, bar=value)
            for aspect, value in bars
        ]
    return required


def _weights(plan: Plan, dataset: str) -> Part:
    card = plan.weights
    if card is None:
        return Part({"weights": None})
    by_perturbation = card.tasks.get(plan.datasets[dataset].task, {})
    weights = base.AspectWeights(
        id=f"{card.weights}@{card_hash(card)}", by_perturbation=by_perturbation
    )
    return Part({"weights": weights})


PARTS: dict[str, Callable[[Plan, str], Part]] = {
    "alt_test": _alt_test,
    "as_rater": _as_rater,
    "bought": _bought,
    "compared": lambda plan, _: Part({"compared": plan.study.comparison.judges}),
    "comparison": lambda plan, _: Part(
        {"comparison": base.Comparison(**plan.study.comparison.model_dump())}
    ),
    "construction": _construction,
    "ensembles": _ensembles,
    "expected": _expected,
    "graded": _graded,
    "chains": lambda plan, name: Part({"chains": plan.perturbed(name, "chain")}),
    "robust": _robust,
    "spans": _spans,
    "training": _training,
    "verdicts": _verdicts,
    "weights": _weights,
}
"""Part of the spec -> the function that builds it for a dataset; methods declare their
parts."""
