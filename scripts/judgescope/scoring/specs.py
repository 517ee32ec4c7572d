"""Specs of the jobs that turn replies, or other judges' scores, into judgments and scores."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.cells import Block
from judgescope.parsing.judgment import Policy, Scale

Pair = tuple[str, str | None]
"""An aspect, and the criterion in which it is worded, if any."""


class CellPart(NamedTuple):
    """A judge's part of a cell: its judgments of a set of texts on one aspect."""

    dataset: str
    perturbation: str
    judge: str
    aspect: str


class Reading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a judge's replies on some aspects are parsed, and its draws aggregated.

    `samples`: where the estimator is logprob_mean and a reply has no probabilities, what it says
    counts. `cut`: a reply that was cut counts where its first line is the verdict.
    """

    pairs: list[Pair]
    scale: Scale | None
    parser: str
    estimator: str
    settings: dict[str, float | str] = {}
    samples: bool = False
    cut: bool = False


class Missing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What counts in scores for a draw that was asked for and has no value."""

    policy: Policy
    seed: int


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell, and where its judgments and scores are written."""

    dataset: str
    perturbation: str
    judge: str
    judgments: str
    scores: str

    def part(self, aspect: str) -> CellPart:
        """Return the part of the cell on one aspect."""
        return CellPart(self.dataset, self.perturbation, self.judge, aspect)


class CellSpec(SpecPart, frozen=True, kw_only=True):
    """One cell whose replies are parsed and aggregated."""

    cell: Place
    replies: str
    readings: list[Reading]
    targets: str | None = None
    """The texts in which the errors that replies list are located, where they list any."""
    missing: Missing | None = None

    @property
    def ordered(self) -> list[tuple[Pair, Reading]]:
        """Return every aspect with how its replies are read, in the order of the cell's files."""
        pairs = [(pair, reading) for reading in self.readings for pair in reading.pairs]
        return sorted(pairs, key=lambda pair: (pair[0][0], pair[0][1] or ""))


class ScoredCells(SpecPart, frozen=True, kw_only=True):
    """Cells of one judge whose replies are read alike."""

    judge: str
    perturbations: list[str]
    readings: list[Reading]
    located: bool = False
    """Whether the replies list errors, which are located in the texts."""


class ScoreSpec(JobSpec, frozen=True, kw_only=True):
    """The job that parses and aggregates the replies of one model about a dataset.

    In paths `{}` stands for `<perturbation>/<judge>`, in `targets` for the set of texts.
    """

    dataset: str
    cells: list[ScoredCells]
    replies: str
    targets: str
    judgments: str
    scores: str
    hashes: str
    """The file for the hashes of all judgments and scores."""
    missing: Missing | None = None

    def each(self) -> Iterator[CellSpec]:
        """Yield every cell."""
        for cells in self.cells:
            for perturbation in cells.perturbations:
                name = f"{perturbation}/{cells.judge}"
                yield CellSpec(
                    cell=Place(
                        dataset=self.dataset,
                        perturbation=perturbation,
                        judge=cells.judge,
                        judgments=self.judgments.format(name),
                        scores=self.scores.format(name),
                    ),
                    replies=self.replies.format(name),
                    readings=cells.readings,
                    targets=self.targets.format(perturbation) if cells.located else None,
                    missing=self.missing,
                )


class Errors(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The files from which an ensemble's list of errors is made.

    `lists` are the members' judgments, `targets` the texts that they are about, `merged` the
    replies of a supervisor.
    """

    lists: list[str]
    targets: str
    merged: str | None = None


class DeriveSpec(JobSpec, frozen=True, kw_only=True):
    """The job that makes one cell of a judge from its members' cells, aspect by aspect."""

    cell: Place
    pairs: list[Pair]
    min_annotators: int
    members: list[str]
    """The members' scores."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """Aspect -> the labels among which the members vote; of other aspects scores have a mean."""
    errors: Errors | None = None


class CollectSpec(JobSpec, frozen=True, kw_only=True):
    """The job that puts a dataset's cells together."""

    dataset: str
    cells: list[Block]
    models: dict[str, str]
    """Judge -> the model in the paths of its cells."""
    asked: list[str]
    """The judges whose replies were asked for, and paid."""
    replied: list[str]
    """The judges that have reply files: these, and those whose replies are recorded."""
    made: dict[str, str]
    """File of replies behind what a model wrote -> what counts as its buyer."""
    explained: list[str]
    annotators: list[str]
    repeated: list[str]
    results: str
