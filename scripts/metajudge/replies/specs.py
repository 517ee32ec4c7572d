"""What the job is told that asks a model."""

from typing import Any

from msgspec import field
from msgspec.json import decode

from metajudge.cells import Block
from metajudge.schema.specs import JobSpec


class AskSpec(JobSpec, frozen=True, kw_only=True):
    """All that a study wants to know of one model about one dataset."""

    dataset: str
    model: dict[str, Any]
    """What of the model's card changes its replies."""
    folder: str
    """The folder of the model's card, which its files are relative to."""
    data: str
    seed: int
    templates: dict[str, dict[str, str]]
    """Form -> file -> template; of a model that reads prompts."""
    aspects: dict[str, dict[str, Any]]
    """Aspect -> what prompts can tell of it."""
    judges: dict[str, dict[str, Any]]
    """Id -> what of the judge's card changes its requests."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> how people rated it."""
    cells: list[Block]
    output: str
    """The folder of the study's results."""
    replies: str
    """Where a cell's file lies; `{}` stands for its set of texts and judge."""
    analysts: dict[str, str] = field(default_factory=dict)
    """Judge -> the model that wrote the analyses that it is shown, if it is shown any."""
    task: str = ""
    """The dataset's task, where a judge is told it."""
    sample: str | None = None
    """The file of those texts that are judged, where it is not all."""
    trained: str | None = None
    """The folder of the model's adapter, where the study trains it."""
    hashes: str | None = None
    """Where the hashes of the files are written."""


def ask_spec(text: str) -> AskSpec:
    """Return the record in the JSON of a spec."""
    return decode(text, type=AskSpec)
