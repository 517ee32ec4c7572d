"""The specs of the jobs in which a judge learns from another."""

from typing import Any, Literal

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.replies.specs import ModelSpec, WriterSpec


class TaughtDataset(SpecPart, frozen=True, kw_only=True):
    """What prompts tell of a dataset that is learnt from, and its sets of texts."""

    task: str
    aspects: dict[str, dict[str, Any]]
    """Aspect -> the keys of its card that prompts can show; of aspects that both judges judge."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> the scale on which people rated it."""
    sets: list[str]
    """Sets of texts of the dataset."""
    new: list[str]
    """Sets of texts that models still have to write."""


class Student(SpecPart, frozen=True, kw_only=True):
    """All that makes the prompts from which a judge learns."""

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
    """How many texts of an item."""
    n_aspects: int
    """How many aspects of a text."""
    held_out: float
    """The share of the sources that are not trained on."""
    overlap: Literal["stop", "drop"]
    """What happens to items whose source is evaluated on."""
    room: int
    """How many tokens a new text may have."""
    taught: dict[str, float]
    """Dataset that is learnt from -> the share of its items that the teacher judges."""
    evaluated: list[str]
    """The datasets that judges are evaluated on."""
    student: Student
    results: str
    output: str


class WriteNewSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model writes texts to learn from."""

    dataset: str
    name: str
    """The set of texts, `written.<model>`."""
    seed: int
    task: str
    writer: WriterSpec
    items: str
    sample: str
    output: str
    replies: str


class ExampleFiles(SpecPart, frozen=True, kw_only=True):
    """The files of the examples of each split."""

    train: str
    held_out: str


class ExportSpec(JobSpec, frozen=True, kw_only=True):
    """The job that writes examples of what the teacher answered."""

    teacher: str
    model: str
    """The teacher's model, as it is in the paths of cells."""
    seed: int
    student: Student
    sample: str
    results: str
    examples: ExampleFiles
    output: str


class TraineeSpec(JobSpec, frozen=True, kw_only=True):
    """The model that is trained, and how."""

    model: ModelSpec
    recipe: dict[str, Any]
    """The keys of the study's `distill.recipe`."""
    max_tokens: int
    """The most tokens that a reply may have."""


class CheckStudentSpec(TraineeSpec, frozen=True, kw_only=True):
    """The job that checks whether the model can be trained, before anything is asked."""

    sample: str
    output: str


class TrainSpec(TraineeSpec, frozen=True, kw_only=True):
    """The job that trains a model on examples."""

    seed: int
    student: str
    """What the check of the student found."""
    train: str
    held_out: str
    adapter: str
    log: str
    losses: str
