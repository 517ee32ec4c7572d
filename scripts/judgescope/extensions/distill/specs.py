"""The specs of the jobs in which a judge learns from another."""

from typing import Annotated, Any, Literal

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.job_files import IN, OUT
from judgescope.engines.subject_files import SubjectFiles
from judgescope.prompts import TextWords
from judgescope.replies.specs import ModelSpec, WriterSpec


class TaughtDataset(SpecPart, frozen=True, kw_only=True):
    """What training prompts contain about a dataset, and its sets of texts."""

    about: TextWords
    aspects: dict[str, dict[str, Any]]
    """Aspect that both judges judge -> the keys of its card that prompts can show."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> the scale on which people rated it."""
    sets: list[str]
    """Sets of texts of the dataset."""
    new: list[str]
    """Sets of texts that models must write first."""


class Student(SpecPart, frozen=True, kw_only=True):
    """Everything that determines the prompts from which a judge learns."""

    model: dict[str, Any]
    """The keys of the model's card that its replies depend on."""
    judge: dict[str, Any]
    """The judge's card."""
    templates: dict[str, str]
    seed: int
    datasets: dict[str, TaughtDataset]


class SampleSpec(JobSpec, frozen=True, kw_only=True):
    """The job that draws the texts and aspects that a judge learns from."""

    seed: int
    n_texts: int
    """The number of texts drawn for each item."""
    n_aspects: int
    """The number of aspects drawn for each text."""
    held_out: float
    """The share of the sources that are held out of the training."""
    overlap: Literal["stop", "drop"]
    """What happens to training items whose source is also in the evaluation."""
    room: int
    """The most tokens that a new text may have."""
    taught: dict[str, float]
    """Training dataset -> the share of its items that the teacher judges."""
    evaluated: list[str]
    """The datasets that judges are evaluated on."""
    student: Student
    items: Annotated[dict[str, str], IN]
    """Dataset -> its items, for both kinds of datasets."""
    subjects: dict[str, SubjectFiles]
    """Training dataset -> its texts."""
    output: Annotated[str, OUT]


class WriteNewSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model writes texts for the training."""

    dataset: str
    name: str
    """The set of texts, `written.<model>`."""
    seed: int
    about: TextWords
    writer: WriterSpec
    allow_missing: bool
    """Whether the set may stay without texts if the first ones are unusable."""
    items: Annotated[str, IN]
    sample: Annotated[str, IN]
    output: Annotated[str, OUT]
    replies: Annotated[str, OUT]


class ExampleFiles(SpecPart, frozen=True, kw_only=True):
    """The files of the examples of each split."""

    train: Annotated[str, OUT]
    held_out: Annotated[str, OUT]


class TeacherFiles(SpecPart, frozen=True, kw_only=True):
    """The files of a teacher's judgments and scores of a dataset's texts.

    In the paths `{}` stands for `<perturbation>/<judge>`.
    """

    judgments: str
    scores: str
    cells: Annotated[list[str], IN]
    """The files that change with these."""


class ExportSpec(JobSpec, frozen=True, kw_only=True):
    """The job that writes training examples from the teacher's replies."""

    teacher: str
    seed: int
    student: Student
    sample: Annotated[str, IN]
    subjects: dict[str, SubjectFiles]
    """Training dataset -> its texts."""
    judged: dict[str, TeacherFiles]
    """Training dataset -> what the teacher said about its texts."""
    examples: ExampleFiles
    output: Annotated[str, OUT]


class TraineeSpec(JobSpec, frozen=True, kw_only=True):
    """The model to train, and the recipe."""

    model: ModelSpec
    recipe: dict[str, Any]
    """The keys of the study's `distill.recipe`."""
    max_tokens: int
    """The most tokens that a reply may have."""


class CheckStudentSpec(TraineeSpec, frozen=True, kw_only=True):
    """The job that checks whether the model can be trained, before requests are
    sent.
    """

    sample: Annotated[str, IN]
    output: Annotated[str, OUT]


class TrainSpec(TraineeSpec, frozen=True, kw_only=True):
    """The job that trains a model on examples."""

    seed: int
    student: Annotated[str, IN]
    """The file with the results of CheckStudentSpec's job."""
    train: Annotated[str, IN]
    held_out: Annotated[str, IN]
    adapter: str
    """The folder of `adapter_files`."""
    adapter_files: Annotated[list[str], OUT]
    log: Annotated[str, OUT]
    losses: Annotated[str, OUT]
