"""The card of expectations: which aspects a kind of damage should lower, and which not."""

from typing import Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Card, Slug


class Expected(Card):
    """What a kind of damage does to aspects; of an aspect in neither list nothing is expected."""

    drop: list[Slug] = Field([], description="Aspects whose scores should drop.")
    same: list[Slug] = Field([], description="Aspects whose scores should stay as they are.")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if both := sorted(set(self.drop) & set(self.same)):
            raise ValueError(f"{', '.join(both)}: in `drop` and in `same`")
        for key in ("drop", "same"):
            names = getattr(self, key)
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{key} names {', '.join(twice)} twice")
        return self


class Expectations(Card):
    """Which aspects each kind of damage should lower, and which not."""

    expectations: Slug = Field(description="The id, equal to the file's name.")
    name: str = Field(description="What the report calls them, and where they come from.")
    perturbations: dict[Slug, Expected] = Field(
        min_length=1, description="Perturbation -> the aspects that should drop or stay."
    )
