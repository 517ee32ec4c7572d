"""Sample texts with which checks fill the prompts of a study."""

from judgescope.data.rated import SourcePart
from judgescope.plan.study import Plan
from judgescope.schema import cards

SOURCE = "the first sample source"
MOST_PARTS = 1_000
"""More parts than a source has."""


def sample_source(
    plan: Plan, card: cards.Dataset, first: str = SOURCE
) -> list[SourcePart]:
    """Return a sample of a dataset's source: the text of the first part, and others."""
    only = plan.words(card.dataset).part
    mapped = card.columns.part_names(only) if card.columns else []
    texts = [first, *(f"part {number} of {first}" for number in range(2, MOST_PARTS))]
    return list(map(SourcePart, mapped or [only], texts))
