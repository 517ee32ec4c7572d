"""The specs of the jobs that read a dataset's files, and the record of what was
read.
"""

import hashlib
from typing import Annotated, Any, Literal

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart, canonical
from judgescope.core.job_files import IN, OUT
from judgescope.core.paths import located_folder

WARNING = "warning: "
"""The beginning of notices that a run prints, too."""
UNREAD = ("name", "licence", "citation")
"""Keys of a dataset's card that only pages show: no job that reads data depends on
them."""


class TextFiles(SpecPart, frozen=True, kw_only=True):
    """Where the texts of a dataset are written."""

    items: Annotated[str, OUT]
    systems: Annotated[str, OUT]
    original: Annotated[str | None, OUT]
    """The table of the texts that are perturbed; None: there are none."""
    names: Annotated[str, OUT]


class RatingFiles(SpecPart, frozen=True, kw_only=True):
    """Where the ratings of a dataset are written."""

    ratings: Annotated[str, OUT]
    spans: Annotated[str, OUT]
    report: Annotated[str, OUT]


class _DatasetSpec(JobSpec, frozen=True, kw_only=True):
    """A dataset's card; `folder` and `data` only say where its files are."""

    dataset: dict[str, Any]
    """The card without the keys UNREAD."""
    format: str
    """Where the format of the dataset is: `module:OBJECT`."""
    folder: str
    """The folder of the card; the paths in it are relative to it."""
    data: str
    """The folder that `{data}` stands for in paths."""

    @property
    def card_file(self) -> str:
        """Return the name of the card in errors."""
        return f"{located_folder(self.folder)}/{self.dataset.get('dataset')}.yaml"

    @property
    def keys(self) -> dict[str, Any]:
        """Return the card's keys, those that no job depends on with an empty text."""
        return dict.fromkeys(UNREAD, "") | self.dataset


class _ReadSpec(_DatasetSpec, frozen=True, kw_only=True):
    """A job that reads all files of a dataset."""

    seed: int
    part: str
    """The name of a source that has one part."""

    @property
    def how(self) -> str:
        """Return a hash of what decides, beside the files, what is read of them."""
        parts = [self.dataset, self.seed, self.code, self.part]
        return hashlib.sha256(canonical(parts).encode()).hexdigest()


class IngestSpec(_ReadSpec, frozen=True, kw_only=True):
    """The job that reads the texts of a dataset and writes their tables.

    The dataset's files are not inputs of the job: `texts` says when the texts change.
    """

    output: TextFiles
    texts: str = ""
    """A hash of the texts (`tables.hash_of_texts`); empty: they are in files on a hub,
    which the card pins."""


class ReadRatingsSpec(_ReadSpec, frozen=True, kw_only=True):
    """The job that reads the ratings and marked errors of a dataset and counts what is
    in its files."""

    output: RatingFiles
    original: bool = True
    """Whether the texts that are perturbed are counted."""
    perturbs: bool = False
    """Whether the study perturbs originals that the dataset must have."""


class TakeSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that reads the texts of known quality in a dataset, for one aspect."""

    perturbation: str
    degree: str
    role: Literal["local", "global"]
    aspect: str
    items: Annotated[str, IN]
    output: Annotated[str, OUT]
    classes: list[float] = field(default_factory=list)
    """The possible ratings of the aspect, lowest first; only for the role `global`."""
    graded: Annotated[str | None, OUT] = None
    """The output file of the texts' ratings; only for the role `global`."""


class TakePairsSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that reads the texts of one perturbation and degree that a dataset has
    already.
    """

    perturbation: str
    degree: str
    part: str
    """The name of a source that has one part."""
    items: Annotated[str, IN]
    input: Annotated[str, IN]
    """The originals."""
    output: Annotated[str, OUT]


class NamesFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The names that a dataset's own files use: the file items/<dataset>.names.json."""

    systems: dict[str, str]
    """System -> its name in the data."""
    same_names: bool = False
    """Whether names that differ only in blanks, case or Unicode form are the same."""


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
    raters_of_one: int = 0
    """The most raters that one aspect has; a table may have columns of raters for each
    of its aspects. Omitted if it is the number of `raters`."""
    systems: dict[str, str]
    """System -> its name in the data."""
    problems: list[str]
    """Notices that are not errors, as sentences."""
    ratings_kind: str
    """The kind of ratings: people, planned or none."""
    spans: int | None = None
    """Number of errors that people marked; None: the format has none."""
    texts: str
    """The hash of the texts (`tables.hash_of_texts`)."""
    how: str
    """The hash of what decided, beside the files, what was read of them."""
