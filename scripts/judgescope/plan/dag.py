"""What rules need beside the specs of jobs: which jobs a rule has, what they wait for,
and which resources they need.

A rule is a stage and an executor (`write_api`, `write_gpu`); its wildcards say what a
job is about. A job's spec names the files that it reads and writes. Paths are relative
to the working directory.
"""

import re
import shlex
from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from judgescope.core import names
from judgescope.core.canonical import canonical
from judgescope.data.specs import IngestSpec
from judgescope.engines.computing import ReplaySpec
from judgescope.perturb import specs
from judgescope.plan import extending, generators
from judgescope.plan.checks.study import caps_of
from judgescope.plan.extending import Writing
from judgescope.plan.inputs import InputFiles, hash_of_texts
from judgescope.plan.specs import graded_sets, judging, texts
from judgescope.plan.specs.page_facts import perturbed_sets
from judgescope.plan.study import Plan
from judgescope.replies.specs import AnalyseSpec, AskSpec
from judgescope.schema.cards import (
    AskedModel,
    ProgramModel,
    RecordedModel,
    VllmModel,
)
from judgescope.schema.cards.engines import ENGINES, Executor
from judgescope.scoring.merge_specs import MergeSpec

WRITING_RECORDS: tuple[type[Struct], ...] = (
    specs.MakeTextsSpec,
    specs.WriteReferencesSpec,
    specs.CandidatesSpec,
    specs.CompareAnchorsSpec,
    AnalyseSpec,
    MergeSpec,
    AskSpec,
    ReplaySpec,
)
"""The types of the specs of jobs in which a model writes; extensions have others."""
Machine = dict[str, int | str]
"""Resource -> the amount that a job needs."""


def any_of(allowed: Iterable[str]) -> str:
    """Return a wildcard constraint that allows only these names."""
    return "|".join(sorted(map(re.escape, set(allowed)))) or "none"


class Dag:
    """The jobs of a study's rules, by their wildcards."""

    def __init__(self, plan: Plan, files: InputFiles) -> None:
        self.plan = plan
        self.paths = plan.paths
        self.files = files
        self._first = extending.before_requests(plan)

    # ---- jobs in which a model writes ------------------------------------------------

    @cached_property
    def writings(self) -> dict[tuple[str, str], Writing]:
        """Return (dataset, name of a file) -> the job in which a model writes it."""
        writings = {}
        for dataset in self.plan.datasets:
            for made, writing in generators.writings(self.plan, dataset).items():
                writings[dataset, made] = writing
        return writings

    def executor(self, model: str) -> Executor:
        """Return where a model answers."""
        return ENGINES[self.plan.models[model].engine].executor

    @property
    def writing_records(self) -> list[type[Struct]]:
        """Return the types of the specs of jobs in which a model writes."""
        of_extensions = [each.writing_record for each in extending.study_extensions()]
        return [*WRITING_RECORDS, *of_extensions]

    @property
    def text_jobs(self) -> list[str]:
        """Return the jobs in which a model writes a set of texts and nothing else."""
        of_extensions = [each.writing_job for each in extending.study_extensions()]
        return ["write_texts", *of_extensions]

    def made(self, on: Executor, *jobs: str) -> str:
        """Return the constraint of the wildcard `made` for these jobs on an executor.

        The model that writes a dataset's originals depends on the dataset, so the
        pattern also looks back at the name of the dataset's folder.
        """
        patterns = []
        for (dataset, made), writing in self.writings.items():
            if writing.job in jobs and self.executor(writing.model) == on:
                patterns.append(f"(?<=/{dataset}/){re.escape(made)}")
        return "|".join(patterns) or "none"

    def model(self, dataset: str, made: str) -> str:
        """Return the model that writes."""
        return self.writings[dataset, made].model

    def job(self, dataset: str, made: str) -> str:
        """Return the job in which a model writes, by its name on the command line."""
        writing = self.writings[dataset, made]
        if self.plan.is_asked(writing.model):
            return writing.job
        return "replay"

    def spec(self, dataset: str, made: str) -> Struct:
        """Return the spec of a job in which a model writes."""
        plan = self.plan
        writing = self.writings[dataset, made]
        name = writing.name
        part = writing.part
        match writing.job:
            case "write_texts":
                return texts.make_texts(plan, dataset, name, part or None)
            case "write_references":
                return texts.write_references(plan, dataset)
            case "candidates":
                return graded_sets.candidates(plan, dataset, name, part)
            case "compare_anchors":
                return graded_sets.compare(plan, dataset, name, part)
            case "analyse":
                return texts.analyse(plan, dataset, writing.model)
            case "merge":
                return judging.merge(plan, dataset, writing.model)
            case "ask":
                return graded_sets.rate(plan, dataset, name)
        extensions = extending.study_extensions()
        [extension] = [each for each in extensions if each.writing_job == writing.job]
        return extension.writing_spec(plan, dataset, writing)

    def before_writing(self, dataset: str, made: str) -> list[str]:
        """Return the files that a job in which a model writes waits for, beside those
        that it reads.
        """
        writing = self.writings[dataset, made]
        match writing.job:
            case "merge":
                # Its members' requests have waited already.
                return []
            case "candidates":
                files = self._same_requests(dataset, writing)
            case "compare_anchors":
                files = self._same_requests(dataset, writing)
                if writing.part != names.GradedPart.REFEREE:
                    # A bad comparator is stopped when it compares anchors alone.
                    files.append(
                        self.paths.compared(
                            dataset, writing.name, names.GradedPart.REFEREE
                        )
                    )
            case "ask":
                files = self._same_requests(dataset, writing)
                files += self.files_of(writing.model)
            case _:
                files = []
        return [*files, *self._first]

    def _same_requests(self, dataset: str, writing: Writing) -> list[str]:
        """Return the files of the previous graded set with the same model and aspect,
        if any.

        Requests that both sets need are then sent only once.
        """
        sets = generators.graded_sets_of(self.plan, dataset)
        earlier_sets = sets[: sets.index(writing.name)]
        wanted = self._asked_for(dataset, writing.name, writing.job)
        for name in reversed(earlier_sets):
            if self._asked_for(dataset, name, writing.job) == wanted:
                return self._files_of_set(dataset, name, writing)
        return []

    def _asked_for(self, dataset: str, name: str, job: str) -> tuple[str | None, str]:
        """Return the writer, the comparator or the judge of a set, and its aspect."""
        card = generators.graded(self.plan)[name]
        aspect = self.plan.lowered(dataset, name)
        if job == "candidates":
            return card.model, aspect
        if card.anchors is None:
            return None, aspect
        model = card.anchors.judge if job == "ask" else card.anchors.model
        return model, aspect

    def _files_of_set(self, dataset: str, name: str, writing: Writing) -> list[str]:
        """Return the files that the same job, or the same stage, writes for a set."""
        if writing.job == "compare_anchors":
            return [self.paths.compared(dataset, name, writing.part)]
        if writing.job == "ask":
            return [self.paths.set_part(dataset, name, "rated")]
        parts = generators.parts_of(generators.graded(self.plan)[name])
        return [self.paths.set_part(dataset, name, part) for part in parts]

    # ---- reading and judging ---------------------------------------------------------

    def ingest(self, dataset: str) -> IngestSpec:
        """Return the spec of the job that reads a dataset's texts, with their hash."""
        spec = texts.ingest(self.plan, dataset)
        return replace(spec, texts=hash_of_texts(self.plan, dataset, spec))

    def asked(self, *executors: Executor, parts: bool = False) -> str:
        """Return the constraint of the models asked on executors, in one job or in
        parts.
        """
        asked = []
        for name in self._judging:
            card = self.plan.models[name]
            if not isinstance(card, AskedModel) or (card.parts > 1) != parts:
                continue
            if self.executor(name) in executors:
                asked.append(name)
        return any_of(asked)

    def unasked(self, *, computes: bool, recorded: bool) -> str:
        """Return the constraint of the models whose jobs compute scores, or replay
        replies.
        """
        unasked = []
        for name in self._judging:
            is_recorded = isinstance(self.plan.models[name], RecordedModel)
            if self.plan.is_asked(name) or is_recorded != recorded:
                continue
            if self.plan.computes(name) == computes:
                unasked.append(name)
        return any_of(unasked)

    @cached_property
    def replied(self) -> str:
        """Return the constraint of the models whose judges' replies are parsed."""
        return any_of(name for name in self._judging if not self.plan.computes(name))

    @cached_property
    def _judging(self) -> list[str]:
        """Return the models that judge anything."""
        judging_models = dict[str, None]()
        for dataset in self.plan.datasets:
            for model in self.plan.models:
                if self.plan.cells_of(dataset, model):
                    judging_models[model] = None
        return [name for name in self.plan.models if name in judging_models]

    def before_judging(self, dataset: str, model: str) -> list[str]:
        """Return the files that a model's judges wait for, beside those that their job
        reads: files that the model's card names, and those of extensions.
        """
        files = [*self.files_of(model)]
        files += extending.before_judging(self.plan, model)
        return [*files, *self._first]

    def parts(self, dataset: str, model: str) -> list[str]:
        """Return the files that record the parts in which a model is asked about a
        dataset.
        """
        card = self.plan.models[model]
        assert isinstance(card, AskedModel)
        parts = [f"{number}-of-{card.parts}" for number in range(1, card.parts + 1)]
        return [self.paths.part(dataset, model, part) for part in parts]

    # ---- files -----------------------------------------------------------------------

    def files_of(self, name: str) -> list[str]:
        """Return the data files of a dataset or model, which its card names."""
        return self.files.get(name, [])

    def read(self, dataset: str) -> list[str]:
        """Return the files with all that is read of a dataset."""
        return [
            self.paths.items(dataset),
            self.paths.ratings(dataset),
            self.paths.ingested(dataset),
        ]

    def targets(self, dataset: str, *, written: bool = True) -> list[str]:
        """Return the files of a dataset's targets, with or without those to be
        `written`.
        """
        left = []
        if not written:
            left = generators.waiting(self.plan, dataset)
        sets = []
        for name in self.plan.target_sets(dataset):
            if name not in left:
                sets.append(name)
        return [self.paths.targets(dataset, name) for name in sets]

    def answered(self, dataset: str) -> list[str]:
        """Return the files of hashes of a dataset's replies and computed scores."""
        models = []
        for name in self._judging:
            if self.plan.cells_of(dataset, name):
                models.append(name)
        return [judging.hashes_file(self.plan, dataset, name) for name in models]

    def replies(self, dataset: str) -> list[str]:
        """Return the files of the replies from which a dataset's written texts are
        made, and a judge's ratings of possible anchors.

        They are targets: if `judgescope replies retry` deletes such a file, it is made
        again.
        """
        made = generators.made_of(self.plan, dataset)
        files = [self.paths.made(dataset, name) for name in made]
        for (of_dataset, name), writing in self.writings.items():
            if of_dataset == dataset and writing.job == "ask":
                files.append(self.paths.construction(dataset, name))
        return files

    def before_texts(self) -> list[str]:
        """Return the files of extensions that are made before models write texts."""
        files = []
        for each in extending.study_extensions():
            files += each.targets(self.plan)
        return files

    @property
    def judge_cards(self) -> list[str]:
        """Return the pages of all judges."""
        judges = [*self.plan.judges, *self.plan.derived]
        return [self.paths.judge_card(name) for name in judges]

    @property
    def texts_page(self) -> list[str]:
        """Return the page of perturbed texts, if the study has any."""
        if perturbed_sets(self.plan):
            return [self.paths.report("texts.html")]
        return []

    # ---- constraints of wildcards ----------------------------------------------------

    def without_model(self) -> str:
        """Return the constraint of perturbations that need no model.

        Texts that a dataset has already are not made: the pattern looks back at the
        name of the dataset's folder.
        """
        patterns = []
        for name, card in self.plan.perturbations.items():
            if card.method in {"rule", "attack"}:
                ready = "".join(
                    f"(?<!/{re.escape(dataset)}/)" for dataset in self._ready(name)
                )
                patterns.append(f"{ready}{re.escape(name)}")
        return "|".join(sorted(patterns)) or "none"

    def ready(self) -> str:
        """Return the constraint of perturbations whose texts datasets have already."""
        patterns = []
        for name in self.plan.perturbations:
            for dataset in self._ready(name):
                patterns.append(f"(?<=/{re.escape(dataset)}/){re.escape(name)}")
        return "|".join(sorted(patterns)) or "none"

    def _ready(self, perturbation: str) -> list[str]:
        """Return the datasets that have the texts of a perturbation already."""
        return [
            name
            for name, card in self.plan.datasets.items()
            if perturbation in card.perturbed
        ]

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
        cards = generators.graded(self.plan).items()
        return any_of(name for name, card in cards if not card.model)

    # ---- machines --------------------------------------------------------------------

    def machine(self, attempt: int, model: str, **_: str) -> Machine:
        """Return the resources that the card of a model names for a job that loads it.

        These are `gpu` (number), `gpu_model`, `cpus_per_task` (of the whole job, which
        is one task), `runtime` (minutes) and `mem_mb` (times the number of the
        attempt). Only the model of the job's wildcards is used.
        """
        card = self.plan.models.get(model)
        if isinstance(card, ProgramModel) and card.gpus:
            return {"gpu": card.gpus}
        if not isinstance(card, VllmModel):
            return {}
        machine: Machine = {**card.machine}
        if card.mem_mb:
            machine["mem_mb"] = attempt * card.mem_mb
        return machine

    def writer_machine(self, attempt: int, dataset: str, made: str) -> Machine:
        """Return the resources for the model that writes."""
        return self.machine(attempt, self.model(dataset, made))

    @cached_property
    def of_machine(self) -> list[str]:
        """Return the resources that some card of the study names."""
        resources = set[str]()
        for model in self.plan.models:
            resources.update(self.machine(1, model))
        return sorted(resources)

    def access(self, model: str) -> str:
        """Return options with an asked model's card, the reply store and the caps.

        No output depends on these options.
        """
        if not self.plan.is_asked(model):
            return ""
        study = self.plan.study
        budget = canonical({"study": study.ledger, "caps": caps_of(study)})
        card = ["--card", self.card(model)]
        return shlex.join([*card, "--store", study.store, "--budget", budget])

    def card(self, model: str) -> str:
        """Return the file of a model's card."""
        return f"{self.plan.folders['model', model]}/{model}.yaml"
