"""A study with all its cards read, checked against each other, and unfolded into cells."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from metajudge.cells import joined, split
from metajudge.plan.applicability import not_applicable
from metajudge.plan.caps import check_caps
from metajudge.plan.checks import (
    check_dataset,
    check_derived,
    check_judge,
    check_perturbation,
    check_study,
    check_weights,
    check_writer,
)
from metajudge.plan.rehearsal import rehearse
from metajudge.plan.writers import check_improvements, writers
from metajudge.prompts import DRAFTING, Templates, load
from metajudge.schema.cards import (
    ASKED,
    ASPECT,
    COMPARE,
    CONTROL_FORMS,
    FOLDERS,
    PROMPTED,
    Aspect,
    CommandModel,
    Criterion,
    Dataset,
    DerivedJudge,
    Improvement,
    Judge,
    MadePerturbation,
    Model,
    Perturbation,
    RatedAspect,
    Study,
    Weights,
)
from metajudge.schema.errors import UserError
from metajudge.schema.loading import Cards, validate_card
from metajudge.schema.slugs import slug

CONTROLS = tuple(form.replace("_", "-") for form in CONTROL_FORMS)
"""The judge cards of the controls, which every study of agreement has."""


RESERVED = {"human", "all"}
"""Ids that tables use in the column `judge` for people, and for all judges together."""


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
    derived: Mapping[str, DerivedJudge]
    aspects: Mapping[str, Aspect]
    criteria: Mapping[str, Criterion]
    perturbations: Mapping[str, Perturbation]
    weights: Weights | None
    templates: Mapping[str, Templates]
    """Form -> its prompt, for judges and writers whose model reads prompts."""
    folders: Mapping[tuple[str, str], str]
    """(kind, id) -> the card's folder, relative to the working directory where possible."""

    def plain_aspects(self, dataset: str) -> list[str]:
        """Return the aspects of a dataset that the study covers, in the card's order."""
        wanted = self.study.aspects
        return [name for name in self.datasets[dataset].aspects if not wanted or name in wanted]

    def aspects_of(self, dataset: str) -> list[str]:
        """Return the same as cells call them: each in every criterion of the study."""
        criteria: list[str] | list[None] = self.study.criteria or [None]
        plain = self.plain_aspects(dataset)
        return [joined(name, criterion) for name in plain for criterion in criteria]

    def aspect_of(self, dataset: str, aspect: str) -> Aspect:
        """Return an aspect as it is told in a dataset's task, in the criterion of the cell."""
        name, criterion = split(aspect)
        told = self.aspects[name].in_task(self.datasets[dataset].task)
        if criterion is None:
            return told
        return told.worded(told.criteria.get(criterion) or self.criteria[criterion])

    def scale_of(self, dataset: str, aspect: str) -> RatedAspect:
        """Return how a dataset rates the aspect of a cell."""
        return self.datasets[dataset].aspects[split(aspect)[0]]

    def perturbed(self, dataset: str, *, chains: bool = False) -> list[tuple[str, str]]:
        """Return (perturbation, degree) for all damage done to a dataset's originals.

        `chains`: those that make a row of texts, each from the one before, or all others.
        """
        task = self.datasets[dataset].task
        return [
            (name, degree)
            for name, card in self.perturbations.items()
            if (not card.tasks or task in card.tasks) and (card.method == "inject") == chains
            for degree in card.degrees_for(dataset)
        ]

    def target_sets(self, dataset: str) -> list[str]:
        """Return the `<perturbation>` parts of the dataset's cells that the methods need."""
        rated = {"agreement", "faults"} & set(self.study.methods)
        sets = ["systems"] if rated and self.datasets[dataset].has_systems else []
        damaged = self.perturbed(dataset) if "discernment" in self.study.methods else []
        chains = self.perturbed(dataset, chains=True)
        sets += ["original"] if damaged or chains else []
        return sets + [f"{name}.{degree}" for name, degree in damaged + chains]

    def written(self, dataset: str) -> list[str]:
        """Return those target sets of a dataset whose texts a model writes."""
        made = {
            name for name, card in self.perturbations.items() if isinstance(card, MadePerturbation)
        } | ({"original"} if self.improved(dataset) else set())
        return [name for name in self.target_sets(dataset) if name.partition(".")[0] in made]

    def improved(self, dataset: str) -> Improvement | None:
        """Return how a model improves a dataset's references, None where nothing is damaged."""
        return self.datasets[dataset].improve if self.perturbations else None

    def judges_of(self, dataset: str) -> list[str]:
        """Return the judges that can judge anything of a dataset, the derived ones last."""
        own = [
            name
            for name, judge in self.judges.items()
            if getattr(self.models[judge.model], "dataset", None) in {None, dataset}
        ]
        return own + [name for name, card in self.derived.items() if set(card.members) <= set(own)]

    def compares(self, judge: str) -> bool:
        """Return whether a judge is asked about two texts at once: it has votes and no scores."""
        return judge in self.judges and self.judges[judge].form == COMPARE

    def repeats(self, judge: str) -> bool:
        """Return whether a judge says several things of one target or pair: draws or votes."""
        return judge in self.judges and (self.judges[judge].draws > 1 or self.compares(judge))

    def is_asked(self, model: str) -> bool:
        """Return whether a model's answers are requests, kept in the reply store."""
        return self.models[model].engine in ASKED

    def is_prompted(self, model: str) -> bool:
        """Return whether a model that is asked reads prompts."""
        return self.models[model].engine in PROMPTED

    def excluded(self, dataset: str, judge: str, perturbation: str) -> str | None:
        """Return why a judge cannot judge a set of targets at all, or None."""
        if judge in self.derived:
            reasons = (
                self.excluded(dataset, name, perturbation) for name in self.derived[judge].members
            )
            return next(filter(None, reasons), None)
        card = self.judges[judge]
        chain = perturbation.partition(".")[0] in {
            name for name, _ in self.perturbed(dataset, chains=True)
        }
        return not_applicable(
            card, self.models[card.model], self.datasets[dataset], perturbation, chain=chain
        )

    def rated_by(self, judge: str, dataset: str) -> list[str]:
        """Return the aspects of a dataset that a judge judges."""
        if judge in self.derived:
            each = [set(self.rated_by(name, dataset)) for name in self.derived[judge].members]
            return [name for name in self.aspects_of(dataset) if all(name in one for one in each)]
        only = self.judges[judge].aspects
        return [name for name in self.aspects_of(dataset) if not only or split(name)[0] in only]

    def cards(self) -> Iterator[tuple[str, str, Any]]:
        """Yield (kind, id, card) of every card but the study's."""
        for kind in ("dataset", "model", "judge", "aspect", "criterion", "perturbation"):
            for name, card in getattr(self, FOLDERS[kind]).items():
                yield kind, name, card
        for name, card in self.derived.items():
            yield "judge", name, card
        if self.weights is not None:
            yield "weights", self.weights.weights, self.weights

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
                    for aspect in self.rated_by(judge, dataset):
                        yield Cell(dataset, perturbation, judge, aspect)

    def cells_of(self, dataset: str, model: str | None = None) -> list[Cell]:
        """Return a dataset's cells, or those of them that one model answers."""
        return self._cells_by_model.get((dataset, model), [])

    @cached_property
    def _cells_by_model(self) -> dict[tuple[str, str | None], list[Cell]]:
        """Return (dataset, model) -> cells, and (dataset, None) -> all of its cells.

        Once for all rules: there is one for each dataset and model.
        """
        found: dict[tuple[str, str | None], list[Cell]] = {}
        for cell in self.cells:
            for model in (None, self._model_of(cell.judge)):
                found.setdefault((cell.dataset, model), []).append(cell)
        return found

    def _model_of(self, judge: str) -> str:
        return "" if judge in self.derived else self.judges[judge].model


def load_plan(
    config: Mapping[str, Any], home: Path, *, source: str, drafting: bool = False
) -> Plan:
    """Read and check all cards of the study in `config`.

    Cards are looked for in ./config and then in `home`/config. `source` names the study's file in
    errors. `drafting`: with the drafter and its prompts, but no rehearsal of those that still lack
    steps. Raises UserError or UserErrors; reads cards only, no data.
    """
    study: Study = validate_card("study", dict(config), source)
    cards = Cards(_card_folders(home))
    datasets = {
        name: cards.read("dataset", name, where=f"{source}, key datasets")
        for name in study.datasets
    }
    rated = any(dataset.ratings != "none" for dataset in datasets.values())
    study = _with_controls(study) if rated and "agreement" in study.methods else study
    judges, derived = _judges(cards, study, source)
    perturbations = {
        name: cards.read("perturbation", name, where=f"{source}, key perturbations")
        for name in study.perturbations
    }
    made = writers(datasets, perturbations)
    wanted = {judge.model: f"judge {judge.judge}, key model" for judge in judges.values()}
    wanted |= {card.model: f"{where}model" for where, card in made.items()}
    drafter = {study.drafter: f"{source}, key drafter"} if study.drafter else {}
    all_of = (drafter | wanted).items()
    known = {name: cards.read("model", name, where=where) for name, where in all_of}
    models = {name: known[name] for name in [*wanted, *(drafter if drafting else [])]}
    judges = {
        name: _shared(_compared(judge, models[judge.model]), models[judge.model], study.share)
        for name, judge in judges.items()
    }
    prompted = [judge for judge in judges.values() if models[judge.model].engine in PROMPTED]
    forms = {judge.form: f"judge {judge.judge}, key form" for judge in prompted}
    forms |= {card.form: f"{where}form" for where, card in made.items()}
    forms |= dict.fromkeys(DRAFTING.values(), f"{source}, key drafter") if drafting else {}
    plan = Plan(
        study=study,
        datasets=datasets,
        models=models,
        judges=judges,
        derived=derived,
        aspects=(aspects := _aspects(cards, datasets)),
        criteria=_criteria(cards, study, aspects, source),
        perturbations=perturbations,
        weights=cards.read("weights", study.weights, where=f"{source}, key weights")
        if study.weights
        else None,
        templates={form: load(form, cards.folders, where=where) for form, where in forms.items()},
        folders=_folders(cards, datasets, models),
    )
    check_caps(study, models, source)
    for name, where in drafter.items():
        check_writer(known[name], where)
    _check(plan, cards.names("dataset"), source)
    if not drafting:
        rehearse(plan)
    return plan


def _check(plan: Plan, datasets: Iterable[str], source: str) -> None:
    """Check the cards of a plan against each other; `datasets` are all that have a card."""
    judges, models, perturbations = plan.judges, plan.models, plan.perturbations
    names = [*judges, *plan.derived]
    check_study(plan.study, plan.datasets, models, perturbations, names, source)
    for judge in judges.values():
        check_judge(judge, models[judge.model], plan.datasets)
    for card in plan.derived.values():
        check_derived(card, judges)
    for perturbation in perturbations.values():
        check_perturbation(perturbation, models, datasets)
    check_improvements(plan)
    check_weights(plan, source)
    for name, dataset in plan.datasets.items():
        damage = [perturbations[each] for each in dict(plan.perturbed(name))]
        check_dataset(dataset, plan.target_sets(name), damage, source)


def _card_folders(home: Path) -> list[Path]:
    here, own = Path("config"), home / "config"
    return [here] if here.resolve() == own.resolve() else [here, own]


def _with_controls(study: Study) -> Study:
    """Return the study with every control: no measure is trusted that ranks one above a judge."""
    more = [name for name in CONTROLS if name not in study.judges]
    return study.model_copy(update={"judges": [*study.judges, *more]})


def _judges(
    cards: Cards, study: Study, source: str
) -> tuple[dict[str, Judge], dict[str, DerivedJudge]]:
    """Read the judges; one with `columns` becomes a judge per column."""
    judges: dict[str, Judge] = {}
    derived: dict[str, DerivedJudge] = {}
    for name in study.judges:
        card: Judge | DerivedJudge = cards.read("judge", name, where=f"{source}, key judges")
        if isinstance(card, DerivedJudge):
            derived[name] = card
            continue
        each = [_of_column(card, column) for column in card.columns] or [card]
        for judge in each:
            if judge.judge in judges or judge.judge in RESERVED:
                raise UserError(
                    "two judges have one id, or one that tables use otherwise",
                    where=f"{source}, key judges",
                    got=judge.judge,
                )
            judges[judge.judge] = judge
    return judges, derived


def _of_column(card: Judge, column: str) -> Judge:
    own = slug(column.replace(ASPECT, ""))
    return card.model_copy(update={"judge": own, "form": column, "columns": []})


def _compared(judge: Judge, model: Model) -> Judge:
    """Return the judge with what it compares a text with, where its card leaves that open."""
    sees = isinstance(model, CommandModel) and "references" in model.sees
    if sees or (judge.against is None and model.engine == "lexical"):
        return judge.model_copy(update={"against": "references"})
    return judge


def _shared(judge: Judge, model: Model, most: float) -> Judge:
    """Return a judge that is asked with no more than the study's share of the items."""
    if model.engine not in ASKED or judge.share <= most:
        return judge
    return judge.model_copy(update={"share": most})


def _aspects(cards: Cards, datasets: Mapping[str, Dataset]) -> dict[str, Aspect]:
    return {
        aspect: cards.read("aspect", aspect, where=f"dataset {dataset.dataset}, key aspects")
        for dataset in datasets.values()
        for aspect in dataset.aspects
    }


def _criteria(
    cards: Cards, study: Study, aspects: Mapping[str, Aspect], source: str
) -> dict[str, Criterion]:
    """Read the criteria that an aspect of the study has no wording of its own for."""
    judged = [card for name, card in aspects.items() if not study.aspects or name in study.aspects]
    found = {}
    for criterion in study.criteria:
        lacking = [card for card in judged if criterion not in card.criteria]
        if lacking:
            known = ", ".join(lacking[0].criteria) or "none"
            where = f"{source}, key criteria (aspects/{lacking[0].aspect}.yaml has {known})"
            found[criterion] = cards.read("criterion", criterion, where=where)
    return found


def _folders(
    cards: Cards, datasets: Iterable[str], models: Iterable[str]
) -> dict[tuple[str, str], str]:
    wanted = [("dataset", name) for name in datasets] + [("model", name) for name in models]
    return {
        (kind, name): os.path.relpath(cards.path(kind, name, where="").parent)
        for kind, name in wanted
    }
