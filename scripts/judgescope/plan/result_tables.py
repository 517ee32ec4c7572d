"""The result tables of a study, and what the job of each reads beside scores and ratings.

The declarations of the methods decide on both (methods/base.py).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from judgescope.methods.registry import METHODS
from judgescope.methods.specs import AsRater, Comparison
from judgescope.plan.attacks import attacks_of
from judgescope.plan.bars import bars_of
from judgescope.plan.distilled import DistilledSpecs
from judgescope.plan.ensembles import ensembles_of
from judgescope.plan.judges import (
    annotators,
    bought_of,
    expected_of,
    robust_of,
    steps_of,
    weights_of,
)
from judgescope.plan.study import Plan
from judgescope.schema.cards import COMPARE

WHEN: dict[str, Callable[[Plan], object]] = {
    "draws": lambda plan: any(judge.draws > 1 for judge in plan.judges.values()),
    "votes": lambda plan: any(judge.form == COMPARE for judge in plan.judges.values()),
    "constructed": lambda plan: any(
        plan.perturbed(name, "row", "graded")
        for name, card in plan.datasets.items()
        if not card.gives_texts
    ),
    "annotated": annotators,
    "distilled": lambda plan: plan.taught,
    "always": lambda plan: True,
}
"""What a study has -> whether it does; tables that a study does not name are computed by it."""


class Part(NamedTuple):
    """Fields of the spec of a table's job, and the files that these name."""

    fields: dict[str, Any]
    files: Sequence[str] = ()


def tables_of(plan: Plan) -> list[str]:
    """Return the result tables of a study."""
    found = [table for name in plan.study.methods for table in (name, *METHODS[name].tables)]
    for state, holds in WHEN.items():
        found += [name for name, method in METHODS.items() if method.when == state and holds(plan)]
    return list(dict.fromkeys(found))


def datasets_of(plan: Plan, table: str) -> list[str]:
    """Return the datasets of a result table: nobody is evaluated on what is learnt from."""
    datasets = {"all": [*plan.datasets], "distilled": plan.taught, "evaluated": plan.evaluated}
    return datasets[METHODS[table].datasets]


def part_of(specs: DistilledSpecs, table: str, dataset: str) -> Part:
    """Return what a table alone reads; the verdicts read all that the tables of claims read."""
    method = METHODS[table]
    parts = dict.fromkeys(method.parts)
    if "verdicts" in parts:
        for name in _claimed(specs.plan):
            parts |= dict.fromkeys(METHODS[name].parts)
    fields, files = dict[str, Any](), list[str]()
    for name in parts:
        part = PARTS[name](specs, dataset)
        fields |= part.fields
        files += part.files
    if method.settings:
        fields["settings"] = getattr(specs.plan.study, method.settings).model_dump(mode="json")
    files += [f"{specs.out}/{path.format(dataset=dataset)}" for path in method.inputs]
    return Part(fields, files)


def _claimed(plan: Plan) -> list[str]:
    return [name for name in tables_of(plan) if METHODS[name].claims]


def _as_rater(specs: DistilledSpecs, dataset: str) -> Part:
    margin, raters = specs.plan.study.as_rater_margin, specs.plan.datasets[dataset].raters
    return Part({"as_rater": AsRater(margin=margin, raters=raters)})


def _bought(specs: DistilledSpecs, dataset: str) -> Part:
    fields = bought_of(specs.plan, specs.out, dataset)
    return Part(fields, fields["bought"])


def _comparison(specs: DistilledSpecs, dataset: str) -> Part:
    return Part({"comparison": Comparison(**specs.plan.study.comparison.model_dump())})


def _construction(specs: DistilledSpecs, dataset: str) -> Part:
    bought = f"{specs.out}/collected/{dataset}/bought.parquet"
    sets = [specs.known(dataset, name) for name, _ in specs.plan.perturbed(dataset, "graded")]
    files = [path for one in sets for path in [one.anchors, *one.compared] if path]
    return Part({"bought": [bought], "steps": steps_of(specs.plan, dataset)}, [bought, *files])


def _expected(specs: DistilledSpecs, dataset: str) -> Part:
    return Part({"expected": expected_of(specs.plan), "criteria": specs.plan.study.criteria})


def _graded(specs: DistilledSpecs, dataset: str) -> Part:
    sets = [specs.known(dataset, name) for name, _ in specs.plan.perturbed(dataset, "graded")]
    return Part({"graded": sets}, [one.file for one in sets])


def _robust(specs: DistilledSpecs, dataset: str) -> Part:
    rationales = f"{specs.out}/collected/{dataset}/rationales.parquet"
    fields = robust_of(specs.plan, dataset) | {"attacks": attacks_of(specs.plan, dataset)}
    return Part(fields | {"rationales": rationales}, [rationales])


def _spans(specs: DistilledSpecs, dataset: str) -> Part:
    marked, gold = f"{specs.out}/collected/{dataset}/marked.parquet", specs.gold(dataset)
    return Part({"marked": marked, "gold": gold}, [marked, *([gold] if gold else [])])


def _training(specs: DistilledSpecs, dataset: str) -> Part:
    lessons = specs.lessons
    return Part({"training": lessons}, [lessons.losses, lessons.export])


def _verdicts(specs: DistilledSpecs, dataset: str) -> Part:
    plan = specs.plan
    deciding = [name for name in tables_of(plan) if METHODS[name].bars]
    required = bars_of(plan, specs.out, dataset, deciding)
    return Part(
        {"claimed": _claimed(plan), "required": required}, required.parts if required else []
    )


PARTS: dict[str, Callable[[DistilledSpecs, str], Part]] = {
    "as_rater": _as_rater,
    "bought": _bought,
    "compared": lambda specs, _: Part({"compared": specs.plan.study.comparison.judges}),
    "comparison": _comparison,
    "construction": _construction,
    "ensembles": lambda specs, name: Part({"ensembles": ensembles_of(specs.plan, name)}),
    "expected": _expected,
    "graded": _graded,
    "in_a_row": lambda specs, name: Part({"in_a_row": specs.plan.perturbed(name, "row")}),
    "robust": _robust,
    "spans": _spans,
    "training": _training,
    "verdicts": _verdicts,
    "weights": lambda specs, name: Part({"weights": weights_of(specs.plan, name)}),
}
"""Part of the spec -> what it consists of for a dataset; methods declare the parts they read."""
