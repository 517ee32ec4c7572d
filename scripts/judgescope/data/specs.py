"""The specs of the jobs that read a dataset's files, and the record of what was
read.
"""

from typing import Any, Literal

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart

WARNING = "warning: "
"""The beginning of notices that a run prints, too."""


class IngestFiles(SpecPart, frozen=True, kw_only=True):
    """Where the tables of a dataset are written."""

    items: str
    systems: str
    original: str | None
    """The table of the texts that are perturbed; None: there are none."""
    ratings: str
    spans: str
    report: str


class _DatasetSpec(JobSpec, frozen=True, kw_only=True):
    """A dataset's card; `folder` and `data` only say where its files are."""

    dataset: dict[str, Any]
    folder: str
    """The folder of the card; the paths in it are relative to it."""
    data: str
    """The folder that `{data}` stands for in paths."""

    @property
    def card_file(self) -> str:
        """Return the name of the card in errors."""
        return f"{self.folder}/{self.dataset.get('dataset')}.yaml"


class IngestSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that reads a dataset, checks it and writes its tables."""

    seed: int
    output: IngestFiles
    perturbs: bool = False
    """Whether the study perturbs originals that the dataset must have."""


class TakeSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that reads the texts of known quality in a dataset, for one aspect."""

    perturbation: str
    degree: str
    role: Literal["local", "global"]
    aspect: str
    items: str
    output: str
    classes: list[float] = field(default_factory=list)
    """The possible ratings of the aspect, lowest first; only for the role `global`."""
    graded: str | None = None
    """The output file of the texts' ratings; only for the role `global`."""


class IngestReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Numbers about what was read of a dataset: the file items/<dataset>.json."""

    dataset: str
    sha256: dict[str, str]
    """Role -> the hash of its files."""
    items: int
    targets: int
    originals: int
    ratings: int
    raters: list[str]
    systems: dict[str, str]
    """System -> its name in the data."""
    problems: list[str]
    """Notices that are not errors, as sentences."""
    licence: str
    citation: str
    ratings_kind: str
    """The kind of ratings: human, planned or none."""
    spans: int | None = None
    """Number of errors that people marked; None: the format has none."""
    same_names: bool = False
    """Whether names that differ only in blanks, case or Unicode form are the same."""
