"""What all cards share."""

from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Slug = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80),
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _as_roles(value: object) -> object:
    return {"data": value} if isinstance(value, str) else value


Files = Annotated[dict[str, str], BeforeValidator(_as_roles)]
"""Role -> path; one path alone has the role `data`. See config/README.md for what a path may be."""
Hashes = Annotated[dict[str, Sha256], BeforeValidator(_as_roles)]
Columns = Annotated[list[str], BeforeValidator(_as_list)]


class Card(BaseModel):
    """What all cards share: unknown keys are errors, and a card does not change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Scale(Card):
    """The values a rating or a judge's score may take; no step means any value in between."""

    min: float = Field(description="The worst value.")
    max: float = Field(description="The best value.")
    step: float | None = Field(
        None, gt=0, description="From one value to the next; none: any value in between."
    )
    labels: list[str] = Field([], description="Category words, worst first, for the grid's values.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.max <= self.min:
            raise ValueError(f"max ({self.max}) must be above min ({self.min})")
        if self.step and abs((steps := (self.max - self.min) / self.step) - round(steps)) > 1e-9:
            raise ValueError(f"from min to max is no whole number of steps: {steps:g}")
        if self.labels and len(self.labels) != len(self.values() or []):
            raise ValueError(f"{len(self.labels)} labels for {len(self.values() or [])} values")
        return self

    def values(self) -> list[float] | None:
        """Return the grid from worst to best, or None for a continuous scale."""
        if self.step is None:
            return None
        count = int((self.max - self.min) / self.step + 1e-9) + 1
        return [round(self.min + index * self.step, 12) for index in range(count)]
