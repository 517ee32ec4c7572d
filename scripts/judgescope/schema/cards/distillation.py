"""The part of a study's card that makes a small judge of what a large one says (paper 004)."""

from typing import Literal, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Card, Slug
from judgescope.schema.cards.judges import Decoding


class Recipe(Card):
    """How a model is trained: low-rank matrices beside its weights (LoRA), by AdamW."""

    rank: int = Field(16, ge=1, description="The rank of the matrices.")
    alpha: int = Field(32, ge=1, description="Their product counts alpha / rank times.")
    dropout: float = Field(0.0, ge=0, lt=1, description="The share of their input left out.")
    epochs: int = Field(1, ge=1, description="How often every example is seen.")
    learning_rate: float = Field(
        2e-4, gt=0, description="At its highest, after the warm-up; then it falls to 0 in a line."
    )
    weight_decay: float = Field(0.01, ge=0, description="Of AdamW.")
    warmup: float = Field(0.05, ge=0, lt=1, description="The share of the steps until then.")
    batch: int = Field(16, ge=1, description="Examples of a step.")
    device_batch: int = Field(
        1, ge=1, description="So many of them at once, for which the device must have the memory."
    )
    checkpoint_steps: int = Field(
        50, ge=1, description="After so many steps all is saved, and the held-out loss is taken."
    )
    device: Literal["cuda", "cpu"] = Field(
        "cuda", description="What trains; `cpu` is for models of toy size."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.batch % self.device_batch:
            raise ValueError(
                f"a batch of {self.batch} is no whole number of times {self.device_batch} "
                "(device_batch)"
            )
        return self


class NewTexts(Decoding):
    """Models that write texts to learn from, each a system beside those of the dataset."""

    models: list[Slug] = Field(min_length=1, description="Model cards.")
    form: Slug = Field("write-reference", description="The instruction, a file of config/prompts.")
    temperature: float = Field(1.0, ge=0, description="0: always the likeliest word.")


class Distillation(Card):
    """A judge's model is trained on what a teacher says of texts that nobody has to rate."""

    teacher: Slug = Field(
        description="A judge of the study that lists errors, such as an ensemble of annotators."
    )
    judge: Slug = Field(
        description="The judge that learns; its model's card has `adapter: trained`, its own "
        "`annotation: {score: percent}`."
    )
    datasets: list[Slug] = Field(
        min_length=1,
        description="The texts to learn from: datasets that the study does not evaluate on.",
    )
    systems: int = Field(4, ge=1, description="Of each item the texts of so many systems, drawn.")
    aspects: int = Field(3, ge=1, description="Of each text so many aspects, drawn.")
    held_out: float = Field(
        0.05,
        gt=0,
        le=0.5,
        description="The share of each dataset's items that are not trained on, to see what was "
        "learnt; at least one.",
    )
    overlap: Literal["stop", "drop"] = Field(
        "stop",
        description="What to do with items whose source is also in a dataset that is evaluated "
        "on: stop, or leave them out.",
    )
    write: NewTexts | None = Field(None, description="Let models write more texts to learn from.")
    recipe: Recipe = Field(Recipe(), description="How the model is trained; default: paper 004's.")
    checkpoints: str = Field(
        "cache/training",
        description="The folder where a training is kept, whole or begun: none is done twice.",
    )

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.teacher == self.judge:
            raise ValueError("a judge cannot be its own teacher")
        if len(set(self.datasets)) < len(self.datasets):
            raise ValueError("datasets names one twice")
        if self.write and len(set(self.write.models)) < len(self.write.models):
            raise ValueError("write.models names one twice")
        return self
