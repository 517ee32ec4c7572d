"""Which models write texts for a study: of damage, and of references that are improved first."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from metajudge.plan.checks import check_writer
from metajudge.schema.cards import Dataset, Improvement, MadePerturbation, Perturbation

if TYPE_CHECKING:
    from metajudge.plan.study import Plan

Writer = MadePerturbation | Improvement
ORIGINAL, SYSTEMS = "original", "systems"
REFERENCES = "references"
"""The file of the texts that an improvement starts from, beside the sets of targets."""


def writers(
    datasets: Mapping[str, Dataset], perturbations: Mapping[str, Perturbation]
) -> dict[str, Writer]:
    """Return every card that names a model that writes, under the place of its keys."""
    damage = {
        f"perturbation {name}, key ": card
        for name, card in perturbations.items()
        if isinstance(card, MadePerturbation)
    }
    improved = {
        f"dataset {name}, key improve.": card.improve
        for name, card in datasets.items()
        if card.improve and perturbations
    }
    return damage | improved


def improvements(plan: "Plan") -> dict[str, Improvement]:
    """Return dataset -> how its references are improved, for those whose are."""
    found = {name: plan.improved(name) for name in plan.datasets}
    return {name: card for name, card in found.items() if card is not None}


def check_improvements(plan: "Plan") -> None:
    """Check that the models that improve references can write."""
    for name, card in improvements(plan).items():
        check_writer(plan.models[card.model], f"datasets/{name}.yaml, key improve.model")


def waiting(plan: "Plan", dataset: str) -> list[str]:
    """Return the sets of targets that are not there before a model has written something."""
    if plan.improved(dataset) is None:
        return plan.written(dataset)
    return [name for name in plan.target_sets(dataset) if name != SYSTEMS]


def writer_of(plan: "Plan", dataset: str, name: str) -> Writer:
    """Return the card by which a set of targets is written, or the originals that it waits for."""
    card = plan.perturbations.get(name.partition(".")[0])
    if isinstance(card, MadePerturbation):
        return card
    return improvements(plan)[dataset]


def made_files(plan: "Plan") -> Iterator[tuple[str, Writer]]:
    """Yield every writer with the pattern of its files in the study's folder `made`."""
    for name, card in plan.perturbations.items():
        if isinstance(card, MadePerturbation):
            yield f"*/{name}.*.parquet", card
    for dataset, improved in improvements(plan).items():
        yield f"{dataset}/{ORIGINAL}.parquet", improved
