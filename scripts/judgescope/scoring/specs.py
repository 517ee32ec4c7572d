"""Specs of the jobs that turn replies or other judges' scores into judgments and
scores.
"""

from typing import Annotated, Literal, NamedTuple

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.cells import CellBlock
from judgescope.core.job_files import IN, OUT
from judgescope.parsing.judgment import Policy, Scale

AspectPair = tuple[str, str | None]
"""An aspect, and the criterion with its wording, if any."""


class CellPart(NamedTuple):
    """The part of a cell on one aspect: a judge's judgments of a set of texts."""

    dataset: str
    perturbation: str
    judge: str
    aspect: str


class ReplyReading(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How a judge's replies on some aspects are parsed, and its draws aggregated.

    `samples`: with the estimator logprob_mean, a reply without probabilities has the
    value in its text. `cut`: a truncated reply is accepted if its first line is the
    verdict. `confidence`: where the confidence of a reply is, "" if it has none.
    """

    pairs: list[AspectPair]
    scale: Scale | None
    parser: str
    """Where the parser is: `module:OBJECT`."""
    estimator: str
    settings: dict[str, float | str | dict[str, str]] = {}
    samples: bool = False
    cut: bool = False
    confidence: Literal["", "logprobs", "stated"] = ""


class Unread(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a requested draw without a value counts in scores."""

    policy: Policy
    seed: int


class CellFiles(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell, and the paths of its judgments and scores."""

    dataset: str
    perturbation: str
    judge: str
    judgments: str
    scores: str

    def part(self, aspect: str) -> CellPart:
        """Return the part of the cell on one aspect."""
        return CellPart(self.dataset, self.perturbation, self.judge, aspect)


class WrittenCell(CellFiles, frozen=True, kw_only=True):
    """A cell, and the paths that a job writes its judgments and scores to."""

    judgments: Annotated[str, OUT]
    scores: Annotated[str, OUT]


class ScoredCells(SpecPart, frozen=True, kw_only=True):
    """Cells of one judge whose replies are read in the same way."""

    judge: str
    perturbations: list[str]
    readings: list[ReplyReading]
    located: bool = False
    """Whether the replies list errors, which are located in the texts."""

    @property
    def ordered(self) -> list[tuple[AspectPair, ReplyReading]]:
        """Return every aspect with its reading, in the order of the cell's files."""
        pairs = list[tuple[AspectPair, ReplyReading]]()
        for reading in self.readings:
            for pair in reading.pairs:
                pairs.append((pair, reading))
        return sorted(pairs, key=lambda pair: (pair[0][0], pair[0][1] or ""))


class ScoreSpec(JobSpec, frozen=True, kw_only=True):
    """The job that parses and aggregates the replies of one model about a dataset.

    In paths `{}` stands for `<perturbation>/<judge>`.
    """

    dataset: str
    cells: list[ScoredCells]
    replies: str
    replied: Annotated[str, IN]
    """The file of the hashes of all replies."""
    targets: Annotated[dict[str, str], IN]
    """Set of texts in which errors are located -> its file."""
    judgments: Annotated[str, OUT]
    scores: Annotated[str, OUT]
    hashes: Annotated[str, OUT]
    """The file for the hashes of all judgments and scores."""
    unread: Unread | None = None


class Errors(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The files from which an ensemble's list of errors is made.

    `targets` are the texts that the members judge, `merged` the replies of a
    supervisor.
    """

    targets: Annotated[str, IN]
    merged: Annotated[str | None, IN] = None


class DeriveSpec(JobSpec, frozen=True, kw_only=True):
    """The job that makes one cell of an ensemble from its members' cells, aspect by
    aspect.
    """

    cell: WrittenCell
    pairs: list[AspectPair]
    min_annotators: int
    members: list[CellFiles]
    """The members' cells."""
    judged: Annotated[list[str], IN]
    """The files of the hashes of the members' judgments and scores."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """Aspect -> the labels among which the members vote; on other aspects scores are
    averaged."""
    errors: Errors | None = None


class CollectedFiles(SpecPart, frozen=True, kw_only=True):
    """Where the tables of all cells of a dataset are written."""

    scores: Annotated[str, OUT]
    draws: Annotated[str, OUT]
    rationales: Annotated[str, OUT]
    marked: Annotated[str, OUT]
    confidences: Annotated[str, OUT]
    statuses: Annotated[str, OUT]
    bought: Annotated[str, OUT]
    cells: Annotated[str, OUT]
    """The file for a hash of all files of all cells."""


class CollectSpec(JobSpec, frozen=True, kw_only=True):
    """The job that joins a dataset's cells."""

    dataset: str
    cells: list[CellBlock]
    models: dict[str, str]
    """Judge -> the model in the paths of its cells."""
    asked: list[str]
    """The judges whose replies were requested, and paid for."""
    replied: list[str]
    """The judges that have reply files: those of `asked`, and those with recorded
    replies."""
    judged: Annotated[list[str], IN]
    """The files that change with the cells."""
    made: Annotated[dict[str, list[str]], IN]
    """Name to which the cost of a model's texts goes -> the files of replies from which
    they were made."""
    explained: list[str]
    annotators: list[str]
    repeated: list[str]
    confident: list[str]
    """The judges whose judgments have a confidence."""
    results: str
    """The folder of the study's results, which contains the cells."""
    output: CollectedFiles
