"""A study with all its cards read, checked against each other, and unfolded into cells."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from metajudge.plan.applicability import not_applicable
from metajudge.plan.checks import check_judge, check_perturbation, check_study
from metajudge.schema.cards import Aspect, Dataset, Judge, Model, Perturbation, Study
from metajudge.schema.errors import UserError
from metajudge.schema.loading import Cards, validate_card
from metajudge.schema.slugs import slug


class Cell(NamedTuple):
    """The finest node of a study: one judge's scores of one set of targets on one aspect."""

    dataset: str
    perturbation: str
    judge: str
    aspect: str


@dataclass(frozen=True)
class Plan:
    """A study and everything its cards say, with the folder of every card that has files."""

    study: Study
    datasets: Mapping[str, Dataset]
    models: Mapping[str, Model]
    judges: Mapping[str, Judge]
    aspects: Mapping[str, Aspect]
    perturbations: Mapping[str, Perturbation]
    folders: Mapping[tuple[str, str], str]
    """(kind, id) -> the card's folder, relative to the working directory where possible."""

    def aspects_of(self, dataset: str) -> list[str]:
        """Return the aspects of a dataset that the study covers, in the card's order."""
        wanted = self.study.aspects
        return [name for name in self.datasets[dataset].aspects if not wanted or name in wanted]

    def perturbed(self, dataset: str) -> list[tuple[str, str]]:
        """Return (perturbation, degree) for all damage done to a dataset's originals."""
        task = self.datasets[dataset].task
        return [
            (name, degree)
            for name, card in self.perturbations.items()
            if not card.tasks or task in card.tasks
            for degree in card.degrees_for(dataset)
        ]

    def target_sets(self, dataset: str) -> list[str]:
        """Return the `<perturbation>` parts of the dataset's cells that the methods need."""
        sets = ["systems"] if {"agreement", "faults"} & set(self.study.methods) else []
        if "discernment" in self.study.methods:
            damaged = [f"{name}.{degree}" for name, degree in self.perturbed(dataset)]
            sets += ["original", *damaged] if damaged else []
        return sets

    def judges_of(self, dataset: str) -> list[str]:
        """Return the judges that can judge anything of a dataset."""
        return [
            name
            for name, judge in self.judges.items()
            if getattr(self.models[judge.model], "dataset", dataset) == dataset
        ]

    def excluded(self, dataset: str, judge: str, perturbation: str) -> str | None:
        """Return why a judge cannot judge a set of targets at all, or None."""
        card = self.judges[judge]
        return not_applicable(card, self.models[card.model], self.datasets[dataset], perturbation)

    def cards(self) -> Iterator[tuple[str, str, Any]]:
        """Yield (kind, id, card) of every card but the study's."""
        for kind in ("dataset", "model", "judge", "aspect", "perturbation"):
            for name, card in getattr(self, f"{kind}s").items():
                yield kind, name, card

    @cached_property
    def cells(self) -> list[Cell]:
        """Return every cell of the study."""
        return list(self._cells())

    def _cells(self) -> Iterator[Cell]:
        for dataset in self.datasets:
            for perturbation in self.target_sets(dataset):
                for judge in self.judges_of(dataset):
                    if self.excluded(dataset, judge, perturbation) is not None:
                        continue
                    only = self.judges[judge].aspects
                    for aspect in self.aspects_of(dataset):
                        if not only or aspect in only:
                            yield Cell(dataset, perturbation, judge, aspect)

    def cells_of(self, dataset: str, model: str | None = None) -> list[Cell]:
        """Return a dataset's cells, or those of them that one model answers."""
        return [
            cell
            for cell in self.cells
            if cell.dataset == dataset and model in (None, self.judges[cell.judge].model)
        ]


def load_plan(config: Mapping[str, Any], home: Path, *, source: str) -> Plan:
    """Read and check all cards of the study in `config`.

    Cards are looked for in ./config and then in `home`/config. `source` names the study's file in
    errors. Raises UserError or UserErrors; reads cards only, no data.
    """
    study: Study = validate_card("study", dict(config), source)
    cards = Cards(_card_folders(home))
    datasets = {
        name: cards.read("dataset", name, where=f"{source}, key datasets")
        for name in study.datasets
    }
    judges = _judges(cards, study, source)
    models = {
        judge.model: cards.read("model", judge.model, where=f"judge {judge.judge}, key model")
        for judge in judges.values()
    }
    plan = Plan(
        study=study,
        datasets=datasets,
        models=models,
        judges=judges,
        aspects=_aspects(cards, datasets),
        perturbations={
            name: cards.read("perturbation", name, where=f"{source}, key perturbations")
            for name in study.perturbations
        },
        folders=_folders(cards, datasets, models),
    )
    check_study(study, datasets, models, source)
    for judge in judges.values():
        check_judge(judge, models[judge.model], datasets)
    for perturbation in plan.perturbations.values():
        check_perturbation(perturbation, cards.names("dataset"))
    return plan


def _card_folders(home: Path) -> list[Path]:
    here, own = Path("config"), home / "config"
    return [here] if here.resolve() == own.resolve() else [here, own]


def _judges(cards: Cards, study: Study, source: str) -> dict[str, Judge]:
    """Read the judges; one with `columns` becomes a judge per column."""
    judges: dict[str, Judge] = {}
    for name in study.judges:
        card: Judge = cards.read("judge", name, where=f"{source}, key judges")
        each = [
            card.model_copy(update={"judge": slug(column), "form": column, "columns": []})
            for column in card.columns
        ] or [card]
        for judge in each:
            if judge.judge in judges or judge.judge == "human":
                raise UserError(
                    "two judges have one id", where=f"{source}, key judges", got=judge.judge
                )
            judges[judge.judge] = judge
    return judges


def _aspects(cards: Cards, datasets: Mapping[str, Dataset]) -> dict[str, Aspect]:
    return {
        aspect: cards.read("aspect", aspect, where=f"dataset {dataset.dataset}, key aspects")
        for dataset in datasets.values()
        for aspect in dataset.aspects
    }


def _folders(
    cards: Cards, datasets: Iterable[str], models: Iterable[str]
) -> dict[tuple[str, str], str]:
    wanted = [("dataset", name) for name in datasets] + [("model", name) for name in models]
    return {
        (kind, name): os.path.relpath(cards.path(kind, name, where="").parent)
        for kind, name in wanted
    }
