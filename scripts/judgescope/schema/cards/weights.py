"""The card of expert weights: which aspects a kind of damage should lower, and how much each."""

from typing import Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Card, Slug

OfAspects = dict[Slug, float]
ROUND_OFF = 1e-9


class Weights(Card):
    """Weights of aspects by task and perturbation; what is not named is weighted uniformly."""

    weights: Slug = Field(description="The id, equal to the file's name.")
    name: str = Field(description="What the report calls them, and where they come from.")
    tasks: dict[Slug, dict[Slug, OfAspects]] = Field(
        description="Task -> perturbation -> aspect -> weight. The weights of a perturbation are "
        "0 or more and sum to 1; an aspect that is not named has weight 0."
    )
    voters: dict[Slug, int] = Field({}, description="Task -> how many people were asked.")
    agreement: dict[Slug, float | None] = Field(
        {}, description="Task -> nominal alpha of these people over the perturbations."
    )

    @model_validator(mode="after")
    def _sums(self) -> Self:
        for task, perturbations in self.tasks.items():
            for name, told in perturbations.items():
                if min(told.values(), default=-1) < 0 or abs(sum(told.values()) - 1) > ROUND_OFF:
                    raise ValueError(
                        f"tasks.{task}.{name}: weights are 0 or more and sum to 1, not to "
                        f"{sum(told.values()):g}"
                    )
        return self
