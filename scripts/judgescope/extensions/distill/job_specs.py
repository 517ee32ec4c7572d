"""The specs of jobs in which a judge is trained: its texts, its training, its
adapter.
"""

from msgspec.structs import asdict

from judgescope.core.names import SYSTEMS, FilePrefix
from judgescope.engines.subject_files import subject_files
from judgescope.extensions.distill import specs
from judgescope.plan.code import computing
from judgescope.plan.judges import prompt_aspects, rating_scales
from judgescope.plan.specs.judging import files_of_scores
from judgescope.plan.specs.texts import asked_model, model_identity, writer
from judgescope.plan.study import Plan
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.cards.vllm import ADAPTER_FILES


def adapter_files(plan: Plan) -> list[str]:
    """Return the files of the adapter that is trained."""
    return [plan.paths.adapter(name) for name in ADAPTER_FILES]


def _student(plan: Plan) -> specs.Student:
    """Return everything that determines the prompts on which the judge is trained."""
    judge, model = plan.student
    return specs.Student(
        model=model_identity(plan, model.model),
        judge=judge.model_dump(mode="json"),
        templates=plan.templates_of(judge.form, judge.system),
        seed=plan.study.seed,
        datasets={name: _taught(plan, name) for name in plan.taught},
    )


def _taught(plan: Plan, dataset: str) -> specs.TaughtDataset:
    """Return what prompts show about the aspects of both judges, and the sets of
    texts.
    """
    learnt = plan.rated_by(plan.distillation.judge, dataset)
    shared = []
    for name in plan.rated_by(plan.distillation.teacher, dataset):
        if name in learnt:
            shared.append(name)
    aspects = prompt_aspects(plan, dataset)
    return specs.TaughtDataset(
        about=plan.about(dataset),
        aspects={name: aspects[name] for name in shared},
        scales=rating_scales(plan, dataset),
        sets=[name for name in plan.target_sets(dataset) if name == SYSTEMS],
        new=plan.new_sets(dataset),
    )


def sample(plan: Plan) -> specs.SampleSpec:
    """Draw the texts and aspects for training."""
    card = plan.distillation
    members = []
    for name in plan.teachers:
        if name in plan.judges:
            members.append(plan.judges[name])
    return specs.SampleSpec(
        **computing("sample_distill"),
        seed=plan.study.seed,
        n_texts=card.systems,
        n_aspects=card.aspects,
        held_out=card.held_out,
        overlap=card.overlap,
        room=card.write.max_tokens if card.write else 0,
        taught=dict.fromkeys(plan.taught, min(judge.share for judge in members)),
        evaluated=[*plan.evaluated],
        student=_student(plan),
        items={name: plan.paths.items(name) for name in plan.datasets},
        subjects={
            name: subject_files(plan.paths, name, [SYSTEMS]) for name in plan.taught
        },
        output=plan.paths.sample(),
    )


def write_new(plan: Plan, dataset: str, model: str) -> specs.WriteNewSpec:
    """Let a model write training texts for a dataset's items."""
    name = f"{FilePrefix.WRITTEN}{model}"
    card = plan.distillation.write
    assert card is not None
    return specs.WriteNewSpec(
        **computing("write_new", ENGINES.target(plan.models[model].engine)),
        dataset=dataset,
        name=name,
        seed=plan.study.seed,
        about=plan.about(dataset),
        allow_missing=plan.study.allow_missing,
        writer=writer(plan, model, card.form, card),
        items=plan.paths.items(dataset),
        sample=plan.paths.sample(),
        output=plan.paths.targets(dataset, name),
        replies=plan.paths.made(dataset, name),
    )


def _trainee(plan: Plan, job: str) -> specs.TraineeSpec:
    """Return the model that is trained in a job, and how."""
    judge, model = plan.student
    return specs.TraineeSpec(
        code=computing(job)["code"],
        versions={},  # it runs in its own environment, whose versions the adapter names
        model=asked_model(plan, model.model),
        recipe=plan.distillation.recipe.model_dump(mode="json"),
        max_tokens=judge.max_tokens,
    )


def check_student(plan: Plan) -> specs.CheckStudentSpec:
    """Check whether the model can be trained, before any request is sent."""
    return specs.CheckStudentSpec(
        **asdict(_trainee(plan, "check_student")),
        sample=plan.paths.sample(),
        output=plan.paths.student(),
    )


def export(plan: Plan) -> specs.ExportSpec:
    """Write the teacher's answers as training examples."""
    teacher = plan.distillation.teacher
    paths = plan.paths
    return specs.ExportSpec(
        **computing("export_distill"),
        teacher=teacher,
        seed=plan.study.seed,
        student=_student(plan),
        sample=paths.sample(),
        subjects={
            name: subject_files(paths, name, plan.target_sets(name))
            for name in plan.taught
        },
        judged={name: _teacher_files(plan, name) for name in plan.taught},
        examples=specs.ExampleFiles(
            train=paths.distill("train.jsonl"), held_out=paths.distill("held_out.jsonl")
        ),
        output=paths.distill("export.json"),
    )


def _teacher_files(plan: Plan, dataset: str) -> specs.TeacherFiles:
    """Return the files of the teacher's judgments of a dataset."""
    teacher = plan.distillation.teacher
    model = plan.model_of(teacher)
    cells = []
    for cell in plan.cells_of(dataset):
        if cell.judge == teacher:
            cells.append(cell)
    return specs.TeacherFiles(
        judgments=plan.paths.cell_pattern("judgments", dataset, model),
        scores=plan.paths.cell_pattern("scores", dataset, model),
        cells=files_of_scores(plan, cells),
    )


def train(plan: Plan) -> specs.TrainSpec:
    """Train the model on the examples."""
    paths = plan.paths
    return specs.TrainSpec(
        **asdict(_trainee(plan, "train_judge")),
        seed=plan.study.seed,
        student=paths.student(),
        train=paths.distill("train.jsonl"),
        held_out=paths.distill("held_out.jsonl"),
        adapter=paths.distill("adapter"),
        adapter_files=adapter_files(plan),
        log=paths.distill("training.parquet"),
        losses=paths.distill("losses.parquet"),
    )
