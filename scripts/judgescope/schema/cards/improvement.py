"""What a dataset's card says of references that a model improves before they are damaged."""

from typing import ClassVar, Literal

from pydantic import Field

from judgescope.schema.cards.base import Slug
from judgescope.schema.cards.judges import Decoding
from judgescope.schema.cards.perturbations import Degree


class Improvement(Decoding):
    """A model writes a better text for each original, from its source, its reference or both."""

    steps: ClassVar[int] = 1

    model: Slug = Field(description="The model card that writes.")
    form: Slug = Field(description="The instruction, a file of config/prompts.")
    checks: list[Literal["not_refusal", "length"]] = Field(
        ["not_refusal", "length"],
        description="What a text must pass; `length`: half to twice that of the reference.",
    )
    attempts: int = Field(
        2,
        ge=1,
        le=10,
        description="So often is a text asked for; from the second on with a reason.",
    )
    keep_failed: bool = Field(
        False,
        description="Use the reference where no text could be made; default: leave the item out.",
    )

    def degrees_for(self, _: str) -> dict[str, Degree]:
        """Return its only degree, which has no name and no amount."""
        return {"": Degree()}


class References(Improvement):
    """A model writes references for every item, of which the most diverse are kept."""

    form: Slug = Field("write-reference", description="The instruction, a file of config/prompts.")
    draws: int = Field(20, ge=1, le=1000, description="How many it writes of an item.")
    keep: int = Field(
        1,
        ge=1,
        description="So many of them are kept; the one most like all others is the original.",
    )
    temperature: float = Field(1.0, gt=0, description="They must differ.")
