"""The specs of jobs that let a judge learn from another: its texts, its training, its adapter."""

from typing import Any

from judgescope.core.paths import Paths
from judgescope.core.set_names import SYSTEMS, WRITTEN
from judgescope.distill.specs import (
    CheckStudentSpec,
    ExampleFiles,
    ExportSpec,
    SampleSpec,
    Student,
    TaughtDataset,
    TrainSpec,
    WriteNewSpec,
)
from judgescope.methods.specs import Training
from judgescope.plan.combining import EnsembleSpecs
from judgescope.plan.distilling import student_of
from judgescope.plan.judges import aspects_told, scales_told
from judgescope.plan.study import Plan
from judgescope.schema.cards import TRAINED, Recipe, VllmModel
from judgescope.schema.cards.models import ADAPTER_FILES


class DistilledSpecs(EnsembleSpecs):
    """The specs of a study that trains; `distill/` in its results is their place."""

    def _at(self, name: str) -> str:
        return Paths(self.out).distill(name)

    @property
    def adapter(self) -> list[str]:
        """Return the files of the adapter that is trained."""
        return [self._at(f"adapter/{name}") for name in ADAPTER_FILES]

    def sampled(self, dataset: str) -> dict[str, str]:
        """Return where the sample is of a dataset's texts that are judged, if not all are."""
        return {"sample": Paths(self.out).sample()} if dataset in self.plan.taught else {}

    def trained(self, model: str) -> dict[str, str]:
        """Return the folder of the adapter that a model is asked with, if the study trains it."""
        card = self.plan.models[model]
        own = isinstance(card, VllmModel) and card.adapter == TRAINED
        return {"trained": self._at("adapter")} if own else {}

    def _student(self) -> Student:
        """Return all that makes the prompts from which the judge learns."""
        judge, model = student_of(self.plan)
        return Student(
            model=self._identity(model.model),
            judge=judge.model_dump(mode="json"),
            templates=dict(self.plan.templates[judge.form]),
            seed=self.plan.study.seed,
            datasets={name: _taught(self.plan, name) for name in self.plan.taught},
        )

    def sample(self) -> str:
        """Return the spec that draws what is learnt from."""
        plan, card = self.plan, self.plan.distillation
        members = [plan.judges[name] for name in plan.teachers if name in plan.judges]
        return self._record(
            SampleSpec,
            "sample_distill",
            seed=plan.study.seed,
            n_texts=card.systems,
            n_aspects=card.aspects,
            held_out=card.held_out,
            overlap=card.overlap,
            room=card.write.max_tokens if card.write else 0,
            taught=dict.fromkeys(plan.taught, min(one.share for one in members)),
            evaluated=[*plan.evaluated],
            student=self._student(),
            results=self.out,
            output=Paths(self.out).sample(),
        )

    def write_new(self, dataset: str, model: str) -> str:
        """Return the spec of the texts that a model writes about a dataset's items."""
        card, name = self.plan.distillation.write, f"{WRITTEN}{model}"
        assert card is not None
        return self._record(
            WriteNewSpec,
            "write_new",
            self._engine(model),
            dataset=dataset,
            name=name,
            seed=self.plan.study.seed,
            task=self.plan.datasets[dataset].task,
            writer=self._writer(model, card.form, card),
            items=self._items(dataset),
            sample=Paths(self.out).sample(),
            output=self._targets(dataset, name),
            replies=f"{self.out}/made/{dataset}/{name}.parquet",
        )

    def _trainee(self) -> dict[str, Any]:
        """Return the fields of a spec that tell the model that learns, and how."""
        judge, model = student_of(self.plan)
        recipe: Recipe = self.plan.distillation.recipe
        return {
            "model": self._asked(model.model),
            "recipe": recipe.model_dump(mode="json"),
            "max_tokens": judge.max_tokens,
        }

    def check_student(self) -> str:
        """Return the spec that looks whether the model can be trained, before anything is asked."""
        files = {"sample": Paths(self.out).sample(), "output": Paths(self.out).student()}
        return self._record(CheckStudentSpec, "check_student", **self._trainee(), **files)

    def export(self) -> str:
        """Return the spec that writes examples of what the teacher said."""
        teacher = self.plan.distillation.teacher
        return self._record(
            ExportSpec,
            "export_distill",
            teacher=teacher,
            model=self.plan.model_of(teacher),
            seed=self.plan.study.seed,
            student=self._student(),
            sample=Paths(self.out).sample(),
            results=self.out,
            examples=ExampleFiles(
                train=self._at("train.jsonl"), held_out=self._at("held_out.jsonl")
            ),
            output=self._at("export.json"),
        )

    @property
    def lessons(self) -> Training:
        """Return who learnt from whom, and where it stands what came of it."""
        told = self.plan.distillation
        return Training(
            judge=told.judge,
            teacher=told.teacher,
            losses=self._at("losses.parquet"),
            export=self._at("export.json"),
        )

    def taught_cells(self) -> list[str]:
        """Return the scores and judgments of the teacher that examples are made of."""
        teacher = self.plan.distillation.teacher
        return [
            self.plan.file(self.out, kind, cell)
            for dataset in self.plan.taught
            for cell in self.plan.cells_of(dataset)
            if cell.judge == teacher
            for kind in ("scores", "judgments")
        ]

    def train(self) -> str:
        """Return the spec of the training."""
        return self._record(
            TrainSpec,
            "train_judge",
            **self._trainee(),
            seed=self.plan.study.seed,
            student=Paths(self.out).student(),
            train=self._at("train.jsonl"),
            held_out=self._at("held_out.jsonl"),
            adapter=self._at("adapter"),
            log=self._at("training.parquet"),
            losses=self._at("losses.parquet"),
        )


def _taught(plan: Plan, dataset: str) -> TaughtDataset:
    """Return what prompts tell of what both judges judge, and which sets of texts are there."""
    learner = plan.rated_by(plan.distillation.judge, dataset)
    judged = [name for name in plan.rated_by(plan.distillation.teacher, dataset) if name in learner]
    aspects = aspects_told(plan, dataset)
    return TaughtDataset(
        task=plan.datasets[dataset].task,
        aspects={name: aspects[name] for name in judged},
        scales=scales_told(plan, dataset),
        sets=[name for name in plan.target_sets(dataset) if name == SYSTEMS],
        new=plan.new_sets(dataset),
    )
