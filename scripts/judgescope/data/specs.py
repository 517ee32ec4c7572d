"""The specs of the jobs that read a dataset's files."""

from typing import Any, Literal

from msgspec import field

from judgescope.core.job_spec import JobSpec, SpecPart


class IngestFiles(SpecPart, frozen=True, kw_only=True):
    """Where the tables of a dataset are written."""

    items: str
    systems: str
    original: str | None
    """Of the texts that are damaged; None: there are none."""
    ratings: str
    spans: str
    report: str


class _DatasetSpec(JobSpec, frozen=True, kw_only=True):
    """A dataset's card; `folder` and `data` only say where its files lie."""

    dataset: dict[str, Any]
    folder: str
    """The folder of the card; the paths in it are relative to it."""
    data: str
    """The folder that `{data}` stands for in paths."""

    @property
    def card_file(self) -> str:
        """Return how errors name the card."""
        return f"{self.folder}/{self.dataset.get('dataset')}.yaml"


class IngestSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that reads a dataset, checks it and writes its tables."""

    seed: int
    output: IngestFiles


class TakeSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that takes the texts that a dataset brings for one aspect."""

    perturbation: str
    degree: str
    role: Literal["local", "global"]
    aspect: str
    items: str
    output: str
    classes: list[float] = field(default_factory=list)
    """The ratings of the aspect, the lowest first; of role `global` only."""
    graded: str | None = None
    """Where the texts' ratings are written; of role `global` only."""
