"""What the jobs are told whose engines compute scores, or replay what is recorded."""

from typing import Any

from msgspec import Struct, field

from judgescope.core.cells import Block
from judgescope.core.job_spec import JobSpec


class Joined(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a file tells how many recorded rows were joined; `selected`: to a part of the texts."""

    path: str
    selected: bool


class EngineSpec(JobSpec, frozen=True, kw_only=True):
    """What one model that is not asked answers of a dataset."""

    dataset: str
    model: dict[str, Any]
    """The model's card."""
    judges: dict[str, dict[str, Any]]
    """Id -> what of the judge's card its engine reads."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> how people rated it."""
    cells: list[Block]
    seed: int
    folder: str
    """The folder of the model's card, which its files are relative to."""
    data: str
    results: str
    sample: str | None = None
    """The file of those texts that are judged, where it is not all."""
    counted: dict[str, dict[str, int]] = field(default_factory=dict)
    """Set of texts -> the `most` errors that one has, and whether they come `in_classes`."""
    joined: Joined | None = None
    hashes: str | None = None
    """Where the hashes of the files are written."""


class ReplaySpec(EngineSpec, frozen=True, kw_only=True):
    """The job that writes the answers of an engine as replies, a file for each cell."""

    replies: str
    """Where a cell's file lies; `{}` stands for its set of texts and judge."""
