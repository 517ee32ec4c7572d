"""Sample texts with which checks fill the prompts of a study."""

from dataclasses import dataclass

from judgescope.data.rated import SourcePart
from judgescope.plan.study import Plan
from judgescope.schema import cards


@dataclass(frozen=True)
class SampleTexts:
    """What a rehearsed prompt shows where a request shows texts; in lower case, as the
    checks compare prompts in lower case.
    """

    source: str = "the first sample source"
    second_source: str = "the second sample source"
    text: str = "the first sample text"
    second_text: str = "the second sample text"
    reference: str = "a sample reference"
    hint: str = "4711"
    """A rating that no scale has, so that no other part of a prompt prints it."""
    explanation: str = "a sample explanation"
    problem: str = "a sample problem"
    """Why an earlier reply could not be used."""


SAMPLE = SampleTexts()


def sample_source(
    plan: Plan, card: cards.Dataset, first: str = SAMPLE.source
) -> list[SourcePart]:
    """Return a sample of a dataset's source: the text of the first part, and others."""
    only = plan.words(card.dataset).part
    mapped = []
    if card.columns:
        mapped = card.columns.part_names(only)
    names = mapped or [only]
    parts = [SourcePart(names[0], first)]
    for number, name in enumerate(names[1:], start=2):
        parts.append(SourcePart(name, f"part {number} of {first}"))
    return parts
