"""The jobs of the rules: which jobs exist, what they read, and which resources they
need.

A rule is a stage and an executor (`write_api`, `write_gpu`); its wildcards say what a
job is about, and this module says the rest. Paths are relative to the working
directory.
"""

import re
import shlex
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from judgescope.core import names
from judgescope.core.canonical import canonical
from judgescope.core.cells import DERIVED
from judgescope.distill.specs import WriteNewSpec
from judgescope.engines.computing import ReplaySpec
from judgescope.perturb import specs
from judgescope.perturb.rules import RULES
from judgescope.plan import generators
from judgescope.plan.checks.study import caps_of
from judgescope.plan.inputs import Files
from judgescope.plan.specs import graded_sets, judging, results, texts, training
from judgescope.plan.specs.pages import annotated, perturbed_sets
from judgescope.plan.study import Cell, Plan
from judgescope.replies.specs import AnalyseSpec, AskSpec
from judgescope.schema.cards import AskedModel, RecordedModel, VllmModel
from judgescope.scoring.supervising import MergeSpec

Executor = Literal["api", "gpu", "cpu"]
"""Where a model answers: behind an endpoint, loaded by the job, or in the job's own
process."""
WritingSpec = (
    specs.MakeTextsSpec
    | specs.WriteReferencesSpec
    | WriteNewSpec
    | specs.CandidatesSpec
    | specs.CompareAnchorsSpec
    | AnalyseSpec
    | MergeSpec
    | AskSpec
    | ReplaySpec
)
Machine = dict[str, int | str]
"""Resource -> the amount that a job needs."""


def any_of(allowed: Iterable[str]) -> str:
    """Return a wildcard constraint that allows only these names."""
    return "|".join(sorted(map(re.escape, set(allowed)))) or "none"


class Dag:
    """The jobs of a study's rules, by their wildcards."""

    def __init__(self, plan: Plan, files: Files) -> None:
        self.plan, self.paths, self.files = plan, plan.paths, files
        # In a study that trains, no request is sent before its model is known to be
        # trainable.
        self.first = [self.paths.student()] if self.plan.taught else []

    # ---- which jobs there are --------------------------------------------------------

    @cached_property
    def writings(self) -> dict[tuple[str, str], generators.Writing]:
        """Return (dataset, name of a file) -> the job in which a model writes it."""
        return {
            (dataset, made): writing
            for dataset in self.plan.datasets
            for made, writing in generators.writings(self.plan, dataset).items()
        }

    def executor(self, model: str) -> Executor:
        """Return where a model answers."""
        engines: dict[str, Executor] = {"openai": "api", "vllm": "gpu"}
        return engines.get(self.plan.models[model].engine, "cpu")

    def made(self, on: Executor, *jobs: generators.WritingJob) -> str:
        """Return the constraint of the wildcard `made` for these jobs on an executor.

        The model that writes a dataset's originals depends on the dataset, so the
        pattern also looks back at the name of the dataset's folder.
        """
        found = [
            f"(?<=/{dataset}/){re.escape(made)}"
            for (dataset, made), one in self.writings.items()
            if one.job in jobs and self.executor(one.model) == on
        ]
        return "|".join(found) or "none"

    # ---- what a job of these rules is ------------------------------------------------

    def model(self, dataset: str, made: str) -> str:
        """Return the model that writes."""
        return self.writings[dataset, made].model

    def job(self, dataset: str, made: str) -> str:
        """Return the job in which a model writes, by its name on the command line."""
        writing = self.writings[dataset, made]
        return writing.job if self.plan.is_asked(writing.model) else "replay"

    def spec(self, dataset: str, made: str) -> WritingSpec:
        """Return the spec of a job in which a model writes."""
        plan, writing = self.plan, self.writings[dataset, made]
        match writing.job:
            case "write_texts":
                return texts.make_texts(
                    plan, dataset, writing.name, writing.part or None
                )
            case "write_references":
                return texts.write_references(plan, dataset)
            case "write_new":
                return training.write_new(plan, dataset, writing.model)
            case "candidates":
                return graded_sets.candidates(plan, dataset, writing.name, writing.part)
            case "compare_anchors":
                return graded_sets.compare(plan, dataset, writing.name, writing.part)
            case "analyse":
                return texts.analyse(plan, dataset, writing.model)
            case "merge":
                return judging.merge(plan, dataset, writing.model)
            case "ask":
                return graded_sets.rate(plan, dataset, writing.name)

    def inputs(self, dataset: str, made: str) -> list[str]:
        """Return the files that a job in which a model writes reads, or must wait
        for.
        """
        writing, paths = self.writings[dataset, made], self.paths
        name, part = writing.name, writing.part
        items, ratings = paths.items(dataset), paths.ratings(dataset)
        systems = paths.targets(dataset, names.SYSTEMS)
        match writing.job:
            case "write_texts" if name != names.ORIGINAL:
                files = [items, paths.targets(dataset, names.ORIGINAL)]
            case "write_texts" | "write_references":
                files = [items, paths.targets(dataset, names.REFERENCES)]
            case "write_new":
                files = [items, *self.learnt(dataset, writing.model)]
            case "candidates":
                files = self.candidates(dataset, name, part) + self._before(
                    dataset, writing
                )
            case "compare_anchors":  # a bad comparator is stopped at the anchors only
                files = [items, systems, paths.set_part(dataset, name, "anchors")]
                if part != names.REFEREE:
                    files += [paths.set_part(dataset, name, part)]
                    files += [paths.compared(dataset, name, names.REFEREE)]
                files += self._before(dataset, writing)
            case "analyse":
                files = [items, ratings, systems]
            case "merge":
                return self._merged(dataset, writing.model)
            case "ask":
                files = [items, ratings, systems]
                files += [
                    *self.files_of(writing.model),
                    *self._before(dataset, writing),
                ]
        return [*files, *self.first]

    def candidates(self, dataset: str, name: str, part: str) -> list[str]:
        """Return the files from which a part of a graded set's candidates is made.

        Candidates after the trial depend on those of the trial and on their ratings.
        """
        spec = graded_sets.candidates(self.plan, dataset, name, part)
        files = [spec.items, spec.input, spec.written, spec.tried, spec.compared]
        return [path for path in files if path]

    def _before(self, dataset: str, writing: generators.Writing) -> list[str]:
        """Return the files of the previous graded set with the same model and aspect,
        if any.

        Requests that both sets need are then sent only once.
        """
        plan, paths, cards = self.plan, self.paths, generators.graded(self.plan)
        sets = generators.graded_sets_of(plan, dataset)

        def asked(name: str) -> tuple[str | None, str]:
            """Return the writer, the comparator or the judge of possible anchors; the
            aspect.
            """
            anchors = cards[name].anchors
            model = cards[name].model if writing.job == "candidates" else None
            if anchors and writing.job != "candidates":
                model = anchors.judge if writing.job == "ask" else anchors.model
            return model, plan.lowered(dataset, name)

        before = sets[: sets.index(writing.name)]
        same = [name for name in before if asked(name) == asked(writing.name)][-1:]
        if writing.job == "compare_anchors":
            return [paths.compared(dataset, name, writing.part) for name in same]
        if writing.job == "ask":
            return [paths.set_part(dataset, name, "rated") for name in same]
        parts = (
            (name, part) for name in same for part in generators.parts_of(cards[name])
        )
        return [paths.set_part(dataset, name, part) for name, part in parts]

    def graded_from(self, dataset: str, name: str) -> list[str]:
        """Return the candidates of a graded set, and their comparisons with anchors if
        any.
        """
        spec = graded_sets.grade(self.plan, dataset, name)
        return [*spec.candidates, *spec.compared]

    def rated(self, dataset: str, name: str) -> list[str]:
        """Return the file of a judge's ratings of possible anchors, if there is such a
        judge.
        """
        judge = graded_sets.anchoring(self.plan, name).judge
        return [self.paths.set_part(dataset, name, "rated")] if judge else []

    # ---- judging ---------------------------------------------------------------------

    def asked(self, *executors: Executor, parts: bool = False) -> str:
        """Return the constraint of the models asked on executors, in one job or in
        parts.
        """
        return any_of(
            name
            for name in self._judging
            if isinstance(card := self.plan.models[name], AskedModel)
            if self.executor(name) in executors and (card.parts > 1) == parts
        )

    def unasked(self, *, computes: bool, recorded: bool) -> str:
        """Return the constraint of the models whose jobs compute scores, or replay
        replies.
        """
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
        cells_of, datasets = self.plan.cells_of, self.plan.datasets
        return [
            name
            for name in self.plan.models
            if any(cells_of(data, name) for data in datasets)
        ]

    def judged_from(self, dataset: str, model: str) -> list[str]:
        """Return the files of the job that asks a model about a dataset, or computes
        its scores.
        """
        plan, paths = self.plan, self.paths
        recorded = isinstance(plan.models[model], RecordedModel)
        read = {
            names.SYSTEMS,
            names.ORIGINAL,
            *(cell.perturbation for cell in plan.cells_of(dataset, model)),
        }
        sets = [name for name in plan.target_sets(dataset) if name in read]
        return [
            *self.files_of(model),
            paths.items(dataset),
            paths.ratings(dataset),
            *(paths.targets(dataset, name) for name in sets),
            *([paths.ingested(dataset)] if recorded else []),
            *self.analyses(dataset, model),
            *self.learnt(dataset, model),
            *self.first,
        ]

    def parts(self, dataset: str, model: str) -> list[str]:
        """Return the files that record the parts in which a model is asked about a
        dataset.
        """
        card = self.plan.models[model]
        assert isinstance(card, AskedModel)
        parts = [f"{number}-of-{card.parts}" for number in range(1, card.parts + 1)]
        return [self.paths.part(dataset, model, part) for part in parts]

    def answered(self, dataset: str) -> list[str]:
        """Return the files of hashes of a dataset's replies and computed scores."""
        return [
            judging.hashes_file(self.plan, dataset, name)
            for name in self._judging
            if self.plan.cells_of(dataset, name)
        ]

    def judged(self, dataset: str) -> list[str]:
        """Return the files of hashes of a dataset's scores, and the cells of derived
        judges.
        """
        cells = self.plan.cells_of(dataset)
        return list(
            dict.fromkeys(path for cell in cells for path in self._cell_files(cell))
        )

    def _cell_files(self, cell: Cell) -> list[str]:
        """Return a derived cell's judgments and scores, or the hashes of a model's
        scores.
        """
        model = self.plan.model_of(cell.judge)
        if model != DERIVED:
            return [self.paths.hashes("scores", cell.dataset, model)]
        return [
            self.plan.file(self.plan.results, kind, cell)
            for kind in ("judgments", "scores")
        ]

    def scored_from(self, dataset: str, model: str) -> list[str]:
        """Return the files of a model's scores: replies, and texts to locate errors
        in.
        """
        cells = self.plan.cells_of(dataset, model)
        located = [
            cell.perturbation for cell in cells if self.plan.annotates(cell.judge)
        ]
        sets = [self.paths.targets(dataset, name) for name in dict.fromkeys(located)]
        return [self.paths.hashes("replies", dataset, model), *sets]

    def derived_from(self, dataset: str, perturbation: str, judge: str) -> list[str]:
        """Return the files of a derived judge's cell: its members' scores, and their
        errors.
        """
        cell = Cell(dataset, perturbation, judge)
        errors = judging.listed_errors(self.plan, cell)
        others = [errors.targets, errors.merged] if errors else []
        return [*self._members(cell), *(path for path in others if path)]

    def _members(self, cell: Cell) -> list[str]:
        """Return the hashes of the judgments and scores of a derived judge's
        members.
        """
        models = map(self.plan.model_of, self.plan.derived[cell.judge].members)
        return [
            self.paths.hashes("scores", cell.dataset, name)
            for name in dict.fromkeys(models)
        ]

    def _merged(self, dataset: str, model: str) -> list[str]:
        """Return the files from which a supervisor's lists of errors are made."""
        ensembles = generators.supervisors(self.plan, dataset)[model]
        cells = [
            cell for cell in self.plan.cells_of(dataset) if cell.judge in ensembles
        ]
        files = [path for cell in cells for path in self._members(cell)]
        sets = [self.paths.targets(dataset, cell.perturbation) for cell in cells]
        return list(dict.fromkeys([*files, *sets]))

    # ---- files -----------------------------------------------------------------------

    def files_of(self, name: str) -> list[str]:
        """Return the data files of a dataset or model."""
        return self.files.get(name, [])

    def targets(self, dataset: str, *, written: bool = True) -> list[str]:
        """Return the files of a dataset's targets, with or without those to be
        `written`.
        """
        left = [] if written else generators.waiting(self.plan, dataset)
        return [
            self.paths.targets(dataset, name)
            for name in self.plan.target_sets(dataset)
            if name not in left
        ]

    def made_files(self, dataset: str) -> list[str]:
        """Return the files of the replies from which a dataset's written texts are
        made.
        """
        return [
            self.paths.made(dataset, name)
            for name in generators.made_of(self.plan, dataset)
        ]

    def replies(self, dataset: str) -> list[str]:
        """Return these files, and a judge's ratings of possible anchors.

        They are targets: if `judgescope replies retry` deletes such a file, it is made
        again.
        """
        rated = [
            self.paths.construction(dataset, made)
            for (of, made), writing in self.writings.items()
            if of == dataset and writing.job == "ask"
        ]
        return [*self.made_files(dataset), *rated]

    def spotchecked(self, dataset: str) -> list[str]:
        """Return the files of replies for the sets of targets that models write text by
        text.
        """
        return [
            self.paths.made(dataset, name)
            for (of, name), writing in self.writings.items()
            if of == dataset and writing.job in {"write_texts", "write_references"}
        ]

    def meta(self, dataset: str, perturbation: str) -> list[str]:
        """Return the items' file for a rule that needs the items' metadata."""
        card = self.plan.perturbations[perturbation]
        needs = card.method == "rule" and RULES[card.rule].meta
        return [self.paths.items(dataset)] if needs else []

    def analyses(self, dataset: str, model: str) -> list[str]:
        """Return the files of analyses in the prompts of a model's judges."""
        judges = {cell.judge for cell in self.plan.cells_of(dataset, model)}
        shown = {
            one.model
            for one in (generators.analyses_of(self.plan, name) for name in judges)
            if one
        }
        return [
            self.paths.construction(dataset, f"{names.ANALYSES}{name}")
            for name in sorted(shown)
        ]

    def learnt(self, dataset: str, model: str) -> list[str]:
        """Return the adapter to train first, and the sample of a dataset for
        training.
        """
        trained = judging.adapter_folder(self.plan, model)
        sample = self.sample() if dataset in self.plan.taught else []
        return [*sample, *(training.adapter_files(self.plan) if trained else [])]

    def sample(self) -> list[str]:
        """Return the file with the sample of texts for training, if the study
        trains.
        """
        return [self.paths.sample()] if self.plan.taught else []

    @property
    def teacher_files(self) -> list[str]:
        """Return the files on which the teacher's judgments depend, if the study
        trains.
        """
        if not self.plan.taught:
            return []
        cells = [cell for name in self.plan.taught for cell in self.plan.cells_of(name)]
        teacher = self.plan.distillation.teacher
        return [
            path
            for cell in cells
            if cell.judge == teacher
            for path in self._cell_files(cell)
        ]

    # ---- results ---------------------------------------------------------------------

    def statistics_from(self, table: str, dataset: str) -> list[str]:
        """Return the files from which a dataset's part of a result table is
        computed.
        """
        paths = self.paths
        found = [paths.items(dataset), paths.ingested(dataset), paths.ratings(dataset)]
        found += [
            paths.collected(dataset, name) for name in ("scores", "draws", "statuses")
        ]
        return [
            *found,
            *self.targets(dataset),
            *results.own_files(self.plan, table, dataset),
        ]

    def reported(self) -> list[str]:
        """Return the files that the report reads in addition to the result tables."""
        plan = self.plan
        found = [
            path
            for dataset in plan.datasets
            for path in judging.joined_files(plan, dataset)
        ]
        for files in annotated(plan).values():
            found += [
                path for path in (files.marked, files.targets, files.gold) if path
            ]
        return found + ([self.paths.distill("training.parquet")] if plan.taught else [])

    @property
    def judge_cards(self) -> list[str]:
        """Return the pages of all judges."""
        return [
            self.paths.judge_card(name)
            for name in [*self.plan.judges, *self.plan.derived]
        ]

    @property
    def texts_page(self) -> list[str]:
        """Return the page of perturbed texts, if the study has any."""
        return [self.paths.report("texts.html")] if self.perturbed else []

    @cached_property
    def perturbed(self) -> list[str]:
        """The datasets with perturbed texts."""
        return list(perturbed_sets(self.plan))

    # ---- constraints of wildcards ----------------------------------------------------

    def without_model(self) -> str:
        """Return the constraint of perturbations that need no model."""
        cards = self.plan.perturbations.items()
        return any_of(name for name, card in cards if card.method in {"rule", "attack"})

    def given(self, role: str) -> str:
        """Return the constraint of the sets of texts of a role that datasets
        contain.
        """
        cards = self.plan.perturbations.items()
        return any_of(
            name for name, card in cards if getattr(card, "role", None) == role
        )

    def by_rule(self) -> str:
        """Return the constraint of the graded sets whose candidates need no model."""
        return any_of(
            name
            for name, card in generators.graded(self.plan).items()
            if not card.model
        )

    # ---- machines --------------------------------------------------------------------

    def machine(self, attempt: int, model: str, **_: str) -> Machine:
        """Return the resources that the card of a model names for a job that loads it.

        These are `gpu` (number), `gpu_model`, `runtime` (minutes) and `mem_mb` (times
        the number of the attempt). Only the model of the job's wildcards is used.
        """
        card = self.plan.models.get(model)
        if not isinstance(card, VllmModel):
            return {}
        return {
            **card.machine,
            **({"mem_mb": attempt * card.mem_mb} if card.mem_mb else {}),
        }

    def writer_machine(self, attempt: int, dataset: str, made: str) -> Machine:
        """Return the resources for the model that writes."""
        return self.machine(attempt, self.model(dataset, made))

    @cached_property
    def of_machine(self) -> list[str]:
        """Return the resources that some card of the study names."""
        return sorted(
            {name for model in self.plan.models for name in self.machine(1, model)}
        )

    def access(self, model: str) -> str:
        """Return options with an asked model's card, the reply store and the caps.

        No output depends on these options.
        """
        if not self.plan.is_asked(model):
            return ""
        study = self.plan.study
        budget = canonical({"study": study.ledger, "caps": caps_of(study)})
        options = [
            "--card",
            self.card(model),
            "--store",
            study.store,
            "--budget",
            budget,
        ]
        return shlex.join(options)

    def card(self, model: str) -> str:
        """Return the file of a model's card."""
        return f"{self.plan.folders['model', model]}/{model}.yaml"

    def trainee_access(self, *, checkpoints: bool = False) -> str:
        """Return options with the trained model's card and, with `checkpoints`, their
        folder.
        """
        if not self.plan.taught:
            return ""
        place = (
            ["--checkpoints", self.plan.distillation.checkpoints] if checkpoints else []
        )
        return shlex.join(["--card", self.card(self.plan.student[1].model), *place])

    def trainee_machine(self, attempt: int) -> Machine:
        """Return the resources for the model that is trained: one GPU, if any."""
        if not self.plan.taught or self.plan.distillation.recipe.device != "cuda":
            return {}
        return {**self.machine(attempt, self.plan.student[1].model), "gpu": 1}
