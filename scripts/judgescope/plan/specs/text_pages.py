"""The specs of the pages that show texts: perturbed ones, and every judgment."""

from collections.abc import Sequence

from judgescope.core.cells import pack, split
from judgescope.core.names import ORIGINAL
from judgescope.plan.add_ons import declarations
from judgescope.plan.code import computing
from judgescope.plan.judges import engine_of
from judgescope.plan.specs.page_facts import (
    UNPERTURBED,
    is_thresholded,
    look_of,
    perturbation_cards,
    perturbed_sets,
)
from judgescope.plan.specs.pages import judged_files
from judgescope.plan.specs.results import turned_sums
from judgescope.plan.study import CellAspect, Plan
from judgescope.report import specs
from judgescope.schema import cards


def spotcheck(plan: Plan) -> specs.SpotcheckSpec:
    """Show a sample of the perturbed texts."""
    sets = perturbed_sets(plan)
    shown = set[str]()
    datasets = {}
    for dataset, perturbed in sets.items():
        shown.update(name for name, _ in perturbed)
        datasets[dataset] = specs.PerturbedDataset(
            name=plan.datasets[dataset].name,
            originals=plan.paths.targets(dataset, ORIGINAL),
            sets=[_perturbed_set(plan, dataset, *each) for each in perturbed],
        )
    described = perturbation_cards(plan)
    return specs.SpotcheckSpec(
        **computing("spotcheck", *declarations()),
        study=plan.study.study,
        seed=plan.study.seed,
        templates=look_of("texts/*", "report/style.css"),
        order=list(sets),
        datasets=datasets,
        perturbations={name: described[name] for name in described if name in shown},
        output=plan.paths.report("texts.html"),
    )


def _perturbed_set(
    plan: Plan, dataset: str, perturbation: str, degree: str
) -> specs.PerturbedSet:
    """Return a set of perturbed texts, and its files."""
    name = f"{perturbation}.{degree}"
    written = isinstance(plan.perturbations[perturbation], cards.MadePerturbation)
    return specs.PerturbedSet(
        perturbation=perturbation,
        degree=degree,
        amount=plan.amount(dataset, perturbation, degree).model_dump(),
        targets=plan.paths.targets(dataset, name),
        replies=plan.paths.made(dataset, name) if written else None,
    )


def explore(plan: Plan) -> specs.ExploreSpec:
    """Show every judgment next to its text."""
    datasets = []
    for name in plan.datasets:
        cells = plan.cell_aspects_of(name)
        if cells:
            datasets.append(_explored(plan, name, cells))
    described = dict[str, str]()
    thresholded = []
    for name, judge in plan.judges.items():
        described[name] = f"{engine_of(plan, name)}, form {judge.form}"
        if is_thresholded(judge):
            thresholded.append(name)
    for name, ensemble in plan.derived.items():
        described[name] = f"made from {len(ensemble.members)} judges"
    return specs.ExploreSpec(
        **computing("explore", *declarations()),
        study=plan.study.study,
        templates=look_of("explore/*", "texts/style.css", "report/style.css"),
        datasets=datasets,
        judges=described,
        models={name: plan.model_of(name) for name in described},
        perturbations=perturbation_cards(plan),
        output=plan.paths.report("explore.html"),
        shards=plan.paths.report("explore"),
        thresholded=thresholded,
    )


def _explored(
    plan: Plan, name: str, cells: Sequence[CellAspect]
) -> specs.ExploredDataset:
    """Return a dataset with its sets of texts, aspects and cells, each in the study's
    order.
    """
    card = plan.datasets[name]
    judged = {cell.perturbation for cell in cells}
    sets = list[tuple[str, str]]()
    for each in plan.target_sets(name):
        if each in judged:
            sets.append((each, _set_name(plan, each)))
    aspects = plan.aspects_of(name)
    labels = {}
    for aspect in aspects:
        scale = plan.scale_of(name, aspect)
        if scale.categorical:
            labels[aspect] = (scale.labels, scale.ordered)
    return specs.ExploredDataset(
        id=name,
        name=card.name,
        ratings=card.ratings,
        sets=sets,
        aspects=[(each, _aspect_name(plan, each)) for each in aspects],
        cells=pack(cell[1:] for cell in cells),
        files=judged_files(plan, name),
        labels=labels,
        turned=turned_sums(plan, name, plan.judges_of(name)),
    )


def _set_name(plan: Plan, perturbation: str) -> str:
    if perturbation in UNPERTURBED:
        return UNPERTURBED[perturbation]
    name, _, degree = perturbation.partition(".")
    # Texts that a model writes for a student have no card.
    card = plan.perturbations.get(name)
    title = card.name if card else perturbation
    if degree in {"", "single"}:
        return title
    return f"{title}, {degree}"


def _aspect_name(plan: Plan, aspect: str) -> str:
    name, criterion = split(aspect)
    title = plan.aspects[name].name
    if criterion:
        return f"{title}, criterion {criterion}"
    return title
