"""The rules' jobs: which there are, what they read, and what they need of a machine.

A rule is a stage and an executor (`write_api`, `write_gpu`); what a job is about are its wildcards,
and these functions of the plan tell the rest. Paths are relative to the working directory.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from judgescope.core.cells import DERIVED
from judgescope.core.set_names import (
    ANALYSES,
    COMPARED,
    MERGES,
    ORIGINAL,
    REFEREE,
    REFERENCES,
    REST,
    SYSTEMS,
    TRIAL,
    WRITTEN,
)
from judgescope.perturb.rules import RULES
from judgescope.plan.distilling import student_of
from judgescope.plan.generators import (
    Maker,
    analyses_of,
    analysts,
    graded,
    made_of,
    parts_of,
    supervisors,
    waiting,
    writer_of,
)
from judgescope.plan.inputs import Files
from judgescope.plan.pages import annotated, damaged
from judgescope.plan.specs import Specs
from judgescope.plan.study import Cell, Plan
from judgescope.schema.cards import AskedModel, RecordedModel, References, VllmModel

Executor = Literal["api", "gpu", "cpu"]
"""Where a model answers: behind an endpoint, loaded by the job, or in the job's own processes."""
Kind = Literal[
    "texts",
    "originals",
    "references",
    "new",
    "candidates",
    "comparisons",
    "analyses",
    "merges",
    "rated",
]
"""What a job in which a model writes makes."""
JOBS: dict[Kind, str] = {
    "texts": "make_texts",
    "originals": "make_texts",
    "references": "write_references",
    "new": "write_new",
    "candidates": "candidates",
    "comparisons": "compare_anchors",
    "analyses": "analyse",
    "merges": "merge",
    "rated": "ask",
}
RATED = ".rated"
"""With the id of a graded set, what files call a judge's ratings of texts that may be anchors."""


class Writing(NamedTuple):
    """One job in which a model writes for a dataset: what it makes, and of which set and part."""

    kind: Kind
    model: str
    name: str = ""
    part: str = ""


Machine = dict[str, int | str]
"""Resource -> how much of it a job needs."""


def any_of(names: Iterable[str]) -> str:
    """Return a wildcard constraint that allows these names only."""
    return "|".join(sorted(map(re.escape, set(names)))) or "none"


class Dag:
    """The jobs of a study's rules, by their wildcards."""

    def __init__(self, specs: Specs, files: Files) -> None:
        self.specs, self.plan, self.paths, self.files = specs, specs.plan, specs.paths, files
        # Where a judge learns, nothing is asked before it is known that its model can be trained.
        self.first = [self.paths.student()] if self.plan.taught else []

    # ---- which jobs there are -------------------------------------------------------------------

    @cached_property
    def writings(self) -> dict[tuple[str, str], Writing]:
        """Return (dataset, name of the file) -> the job in which a model writes it."""
        return {
            (dataset, made): writing
            for dataset in self.plan.datasets
            for made, writing in self._writings(dataset)
        }

    def _writings(self, dataset: str) -> Iterator[tuple[str, Writing]]:
        plan = self.plan
        for name in plan.written(dataset):
            if isinstance(writer := writer_of(plan, dataset, name), Maker):
                yield name, _of_texts(writer, name)
        for name in plan.new_sets(dataset):
            yield name, Writing("new", name.removeprefix(WRITTEN))
        for model in analysts(plan, dataset):
            yield f"{ANALYSES}{model}", Writing("analyses", model)
        for model in supervisors(plan, dataset):
            yield f"{MERGES}{model}", Writing("merges", model)
        for name in self.graded(dataset):
            yield from self._of_graded(name)

    def _of_graded(self, name: str) -> Iterator[tuple[str, Writing]]:
        card = graded(self.plan)[name]
        for part in parts_of(card) if card.model else []:
            yield f"{name}.{part}", Writing("candidates", str(card.model), name, part)
        if (anchors := card.anchors) is None:
            return
        for part in (REFEREE, *parts_of(card)):
            yield f"{COMPARED}{name}.{part}", Writing("comparisons", anchors.model, name, part)
        if anchors.judge:
            model = self.plan.judges[anchors.judge].model
            yield f"{name}{RATED}", Writing("rated", model, name)

    def graded(self, dataset: str) -> list[str]:
        """Return the graded sets that a study builds of a dataset."""
        names = dict(self.plan.perturbed(dataset, "graded"))
        return [name for name in graded(self.plan) if name in names]

    def executor(self, model: str) -> Executor:
        """Return where a model answers."""
        return executor(self.plan, model)

    def made(self, on: Executor, *kinds: Kind) -> str:
        """Return the constraint of the wildcard `made` for jobs of these kinds on an executor.

        Which model writes a dataset's originals is a matter of the dataset: the name of its folder
        is looked back at.
        """
        found = [
            f"(?<=/{dataset}/){re.escape(made)}"
            for (dataset, made), one in self.writings.items()
            if one.kind in kinds and self.executor(one.model) == on
        ]
        return "|".join(found) or "none"

    # ---- what a job of these rules is -----------------------------------------------------------

    def model(self, dataset: str, made: str) -> str:
        """Return the model that writes."""
        return self.writings[dataset, made].model

    def job(self, dataset: str, made: str) -> str:
        """Return the job that lets a model write."""
        one = self.writings[dataset, made]
        asked = self.plan.is_asked(one.model)
        return JOBS[one.kind] if asked else "replay"

    def spec(self, dataset: str, made: str) -> str:
        """Return the spec of a job in which a model writes."""
        specs, one = self.specs, self.writings[dataset, made]
        match one.kind:
            case "texts":
                return specs.make_texts(dataset, one.name, one.part)
            case "originals" | "references":
                return specs.improve(dataset)
            case "new":
                return specs.write_new(dataset, one.model)
            case "candidates":
                return specs.candidates(dataset, one.name, one.part)
            case "comparisons":
                return specs.compare(dataset, one.name, one.part)
            case "analyses":
                return specs.analyse(dataset, one.model)
            case "merges":
                return specs.merge(dataset, one.model)
            case "rated":
                return specs.rate(dataset, one.name)

    def inputs(self, dataset: str, made: str) -> list[str]:
        """Return the files that a job in which a model writes reads, or has to wait for."""
        one, paths = self.writings[dataset, made], self.paths
        items, ratings = paths.items(dataset), paths.ratings(dataset)
        systems = paths.targets(dataset, SYSTEMS)
        match one.kind:
            case "texts":
                found = [items, paths.targets(dataset, ORIGINAL)]
            case "originals" | "references":
                found = [items, paths.targets(dataset, REFERENCES)]
            case "new":
                found = [items, *self.learnt(dataset, one.model)]
            case "candidates":
                found = self.candidates(dataset, one.name, one.part)
                found += self._before(dataset, one)
            case "comparisons":
                found = [items, systems, *self._compared(dataset, one)]
            case "analyses":
                found = [items, ratings, systems]
            case "merges":
                return self._merged(dataset, one.model)
            case "rated":
                found = [items, ratings, systems]
                found += [*self.files_of(one.model), *self._before(dataset, one)]
        return [*found, *self.first]

    def candidates(self, dataset: str, name: str, part: str) -> list[str]:
        """Return what a part of a graded set's candidates is made from.

        What is not on trial follows from what is, as it was rated.
        """
        tried = [
            self.specs.construction(dataset, name, TRIAL),
            self.specs.compared(dataset, name, TRIAL),
        ]
        return [
            self.paths.items(dataset),
            self.paths.targets(dataset, ORIGINAL),
            *self.references(dataset),
            *(tried if part == REST else []),
        ]

    def _compared(self, dataset: str, one: Writing) -> list[str]:
        """Return the texts that are compared; a bad comparator stops at the anchors alone."""
        found = [self.specs.construction(dataset, one.name, "anchors")]
        if one.part != REFEREE:
            found.append(self.specs.construction(dataset, one.name, one.part))
            found.append(self.specs.compared(dataset, one.name, REFEREE))
        return found + self._before(dataset, one)

    def _before(self, dataset: str, one: Writing) -> list[str]:
        """Return the same of the graded set before this one that asks the same model about the same
        aspect, if any: what both ask is asked once.
        """
        aspect, names = self.specs.lowered(dataset, one.name), self.graded(dataset)
        same = [
            name
            for name in names[: names.index(one.name)]
            if self._asks(name, one.kind) == self._asks(one.name, one.kind)
            and self.specs.lowered(dataset, name) == aspect
        ][-1:]
        if one.kind == "rated":
            return [self.specs.construction(dataset, name, "rated") for name in same]
        if one.kind == "candidates":
            parts = ((name, part) for name in same for part in parts_of(graded(self.plan)[name]))
            return [self.specs.construction(dataset, name, part) for name, part in parts]
        return [self.specs.compared(dataset, name, one.part) for name in same]

    def _asks(self, name: str, kind: Kind) -> str | None:
        """Return a graded set's writer, its comparator, or the judge of what may be anchors."""
        if kind == "candidates":
            return graded(self.plan)[name].model
        anchors = graded(self.plan)[name].anchors
        if anchors is None:
            return None
        return anchors.judge if kind == "rated" else anchors.model

    def graded_from(self, dataset: str, name: str) -> list[str]:
        """Return the candidates of a graded set, and their comparisons with anchors if any."""
        card = graded(self.plan)[name]
        found = [self.specs.construction(dataset, name, part) for part in parts_of(card)]
        compared = [self.specs.compared(dataset, name, part) for part in parts_of(card)]
        return found + (compared if card.anchors else [])

    def rated(self, dataset: str, name: str) -> list[str]:
        """Return the file of a judge's ratings of what may be anchors, if it is heard."""
        judge = self.specs.anchoring(name).judge
        return [self.specs.construction(dataset, name, "rated")] if judge else []

    # ---- judging --------------------------------------------------------------------------------

    def asked(self, *executors: Executor, parts: bool = False) -> str:
        """Return the constraint of the models that jobs ask, whole or in parts, on executors."""
        cards = ((name, self.plan.models[name]) for name in self._judging)
        return any_of(
            name
            for name, card in cards
            if isinstance(card, AskedModel)
            if self.executor(name) in executors and (card.parts > 1) == parts
        )

    def unasked(self, *, computes: bool, recorded: bool) -> str:
        """Return the constraint of the models whose jobs compute scores, or replay replies."""
        return any_of(
            name
            for name in self._judging
            if not self.plan.is_asked(name)
            and self.plan.computes(name) == computes
            and isinstance(self.plan.models[name], RecordedModel) == recorded
        )

    @cached_property
    def replied(self) -> str:
        """Return the constraint of the models whose judges' replies are parsed."""
        return any_of(name for name in self._judging if not self.plan.computes(name))

    @cached_property
    def _judging(self) -> list[str]:
        """Return the models that judge anything."""
        datasets = self.plan.datasets
        names = self.plan.models
        return [one for one in names if any(self.plan.cells_of(data, one) for data in datasets)]

    def judged_from(self, dataset: str, model: str) -> list[str]:
        """Return what the job reads that asks a model about a dataset, or computes."""
        names = [self.paths.ingested(dataset)] if self.specs.joined(dataset, model) else []
        return [
            *self.files_of(model),
            self.paths.items(dataset),
            self.paths.ratings(dataset),
            *self.targets(dataset),
            *names,
            *self.analyses(dataset, model),
            *self.learnt(dataset, model),
            *self.first,
        ]

    def parts(self, dataset: str, model: str) -> list[str]:
        """Return the notes of the parts in which a model is asked about a dataset."""
        card = self.plan.models[model]
        assert isinstance(card, AskedModel)
        parts = [f"{number}-of-{card.parts}" for number in range(1, card.parts + 1)]
        return [self.paths.part(dataset, model, part) for part in parts]

    def asked_machine(self, attempt: int, dataset: str, model: str, part: str = "") -> Machine:
        """Return what the card of a model that judges says of the machine of a job."""
        return self.machine(model, attempt)

    def answered(self, dataset: str) -> list[str]:
        """Return what stands for the replies about a dataset, and for what is computed."""
        names = (name for name in self._judging if self.plan.cells_of(dataset, name))
        return [self.specs.hashes(dataset, name) for name in names]

    def judged(self, dataset: str) -> list[str]:
        """Return a dataset's judgments and scores, or what stands for those that are computed."""
        cells, kinds = self.plan.cells_of(dataset), ("judgments", "scores")
        files = [self._file(kind, cell) for cell in cells for kind in kinds]
        return list(dict.fromkeys(files))

    def _file(self, kind: str, cell: Cell) -> str:
        """Return a cell's file of a kind, or what stands for all that its model's job writes."""
        model = self.plan.model_of(cell.judge)
        if model != DERIVED and self.plan.computes(model):
            return self.specs.hashes(cell.dataset, model)
        return self.plan.file(self.paths.results, kind, cell)

    def scored_from(self, dataset: str, model: str, perturbation: str, judge: str) -> list[str]:
        """Return what the scores of a cell are made of: replies, and texts to locate errors in."""
        texts = self.specs.located(dataset, perturbation, judge)
        return [self.specs.hashes(dataset, model), *([texts] if texts else [])]

    def derived_from(self, dataset: str, perturbation: str, judge: str) -> list[str]:
        """Return what a derived judge's cell is made of: its members' scores, and their errors."""
        cell = Cell(dataset, perturbation, judge)
        errors = self.specs.errors(cell)
        kinds = ("scores", "judgments") if errors else ("scores",)
        others = [errors.targets, errors.merged] if errors else []
        return [*self._members(cell, *kinds), *(path for path in others if path)]

    def _members(self, cell: Cell, *kinds: str) -> list[str]:
        names = self.plan.derived[cell.judge].members
        return [self._file(kind, cell._replace(judge=name)) for name in names for kind in kinds]

    def _merged(self, dataset: str, model: str) -> list[str]:
        """Return what the lists of errors are made of that a supervisor merges."""
        ensembles = supervisors(self.plan, dataset)[model]
        cells = [cell for cell in self.plan.cells_of(dataset) if cell.judge in ensembles]
        files = [path for cell in cells for path in self._members(cell, "judgments", "scores")]
        texts = [self.paths.targets(dataset, cell.perturbation) for cell in cells]
        return list(dict.fromkeys([*files, *texts]))

    # ---- files ----------------------------------------------------------------------------------

    def files_of(self, name: str) -> list[str]:
        """Return the data files of a dataset or model."""
        return [path for paths in self.files.get(name, {}).values() for path in paths]

    def targets(self, dataset: str, *, written: bool = True) -> list[str]:
        """Return the files of a dataset's targets, with or without those that wait for a model."""
        left = [] if written else waiting(self.plan, dataset)
        return [
            self.paths.targets(dataset, name)
            for name in self.plan.target_sets(dataset)
            if name not in left
        ]

    def made_files(self, dataset: str) -> list[str]:
        """Return the files of the replies behind what models write for a dataset."""
        return [self.paths.made(dataset, name) for name in made_of(self.plan, dataset)]

    def replies(self, dataset: str) -> list[str]:
        """Return the same with a judge's ratings of what may be anchors.

        They are targets: where `judgescope replies retry` deletes one, it is made again.
        """
        anchored = [name for name in self.graded(dataset) if graded(self.plan)[name].anchors]
        return self.made_files(dataset) + [
            path for name in anchored for path in self.rated(dataset, name)
        ]

    def spotchecked(self, dataset: str) -> list[str]:
        """Return the replies behind those sets of targets that models write text by text."""
        names = (
            name
            for (of, name), one in self.writings.items()
            if of == dataset
            if one.kind in {"texts", "originals", "references"}
        )
        return [self.paths.made(dataset, name) for name in names]

    def references(self, dataset: str) -> list[str]:
        """Return the file of the references that a model writes for a dataset, if it does."""
        path = self.specs.written_references(dataset)
        return [path] if path else []

    def meta(self, dataset: str, damage: str) -> list[str]:
        """Return the items' file for a rule that needs something of their meta."""
        card = self.plan.perturbations[damage]
        needs = card.method == "rule" and RULES[card.rule].meta
        return [self.paths.items(dataset)] if needs else []

    def analyses(self, dataset: str, model: str) -> list[str]:
        """Return the files of analyses that judges of a model are shown."""
        judges = {cell.judge for cell in self.plan.cells_of(dataset, model)}
        shown = {one.model for one in (analyses_of(self.plan, name) for name in judges) if one}
        return [self.specs.analysed(dataset, name) for name in sorted(shown)]

    def learnt(self, dataset: str, model: str) -> list[str]:
        """Return what a model learns first, or what says which texts a judge learns from."""
        sample = self.specs.sampled(dataset).values()
        return [*sample, *(self.specs.adapter if self.specs.trained(model) else [])]

    def sample(self) -> list[str]:
        """Return the file that says which texts a judge learns from, of a study where one does."""
        return list(
            {path for name in self.plan.taught for path in self.specs.sampled(name).values()}
        )

    # ---- results --------------------------------------------------------------------------------

    def statistics_from(self, table: str, dataset: str) -> list[str]:
        """Return the files that a dataset's part of a result table is computed from."""
        paths = self.paths
        found = [paths.items(dataset), paths.ingested(dataset), paths.ratings(dataset)]
        found += [paths.collected(dataset, name) for name in ("scores", "draws", "statuses")]
        return [*found, *self.targets(dataset), *self.specs.inputs(table, dataset)]

    def reported(self) -> list[str]:
        """Return the files that the report reads beside the result tables."""
        plan, out = self.plan, self.paths.results
        found = [path for dataset in plan.datasets for path in self.specs.joins(dataset)]
        for files in annotated(plan, out).values():
            found += [path for path in (files.marked, files.targets, files.gold) if path]
        return found + ([self.paths.distill("training.parquet")] if plan.taught else [])

    @property
    def judge_cards(self) -> list[str]:
        """Return the pages of all judges."""
        return [self.paths.judge_card(name) for name in [*self.plan.judges, *self.plan.derived]]

    @property
    def texts_page(self) -> list[str]:
        """Return the page of damaged texts, for a study that has any."""
        return [self.paths.report("texts.html")] if damaged(self.plan) else []

    # ---- constraints of wildcards ---------------------------------------------------------------

    def damage(self) -> str:
        """Return the constraint of what is damaged by rule."""
        cards = self.plan.perturbations.items()
        return any_of(name for name, card in cards if card.method in {"rule", "attack"})

    def given(self, role: str) -> str:
        """Return the constraint of the sets of texts of a role that datasets bring."""
        cards = self.plan.perturbations.items()
        return any_of(name for name, card in cards if getattr(card, "role", None) == role)

    def by_rule(self) -> str:
        """Return the constraint of the graded sets whose candidates need no model."""
        return any_of(name for name, card in graded(self.plan).items() if not card.model)

    # ---- machines -------------------------------------------------------------------------------

    def machine(self, model: str, attempt: int) -> Machine:
        """Return what the card of a model that a job loads says of its machine: `gpu` (how many),
        `gpu_model`, `runtime` (minutes) and `mem_mb` (as many again with every attempt).
        """
        card = self.plan.models.get(model)
        if not isinstance(card, VllmModel):
            return {}
        return {**card.machine, **({"mem_mb": attempt * card.mem_mb} if card.mem_mb else {})}

    def writer_machine(self, attempt: int, dataset: str, made: str) -> Machine:
        """Return the same of the model that writes."""
        return self.machine(self.model(dataset, made), attempt)

    @cached_property
    def of_machine(self) -> list[str]:
        """Return the resources of which a card of the study says something."""
        return sorted({name for model in self.plan.models for name in self.machine(model, 1)})

    def access(self, model: str) -> str:
        """Return where an asked model's endpoint and replies are, and what may be spent on it.

        These are options, which no output depends on.
        """
        if not self.plan.is_asked(model):
            return ""
        places = ["--card", self.card(model), "--store", self.plan.study.store]
        return shlex.join([*places, "--budget", self.specs.budget()])

    def card(self, model: str) -> str:
        """Return the file of a model's card."""
        return f"{self.plan.folders['model', model]}/{model}.yaml"

    @property
    def trainee(self) -> str:
        """Return the model that is trained, "" in a study that trains none."""
        return student_of(self.plan)[1].model if self.plan.taught else ""

    def trainee_access(self, *, checkpoints: bool = False) -> str:
        """Return where the model lies that is trained, and with `checkpoints` where it is saved."""
        if not self.trainee:
            return ""
        place = ["--checkpoints", self.plan.distillation.checkpoints] if checkpoints else []
        return shlex.join(["--card", self.card(self.trainee), *place])

    def trainee_machine(self, attempt: int) -> Machine:
        """Return the same of the model that is trained: on one GPU, if on any."""
        if not self.trainee or self.plan.distillation.recipe.device != "cuda":
            return {}
        return {**self.machine(self.trainee, attempt), "gpu": 1}


def executor(plan: Plan, model: str) -> Executor:
    """Return where a model answers."""
    of_engine: dict[str, Executor] = {"openai": "api", "vllm": "gpu"}
    return of_engine.get(plan.models[model].engine, "cpu")


def _of_texts(writer: Maker, name: str) -> Writing:
    """Return the job that writes a set of targets from another."""
    if name != ORIGINAL:
        return Writing("texts", writer.model, *name.split("."))
    return Writing("references" if isinstance(writer, References) else "originals", writer.model)
