"""Cards of judges: how a model is asked, and how its replies become scores."""

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from metajudge.schema.cards.base import Card, Scale, Slug


class Decoding(Card):
    """How a model chooses its words; part of every request's key."""

    temperature: float = Field(0.0, ge=0, description="0: always the likeliest word.")
    top_p: float = Field(1.0, gt=0, le=1, description="Only the likeliest words of this mass.")
    max_tokens: int = Field(512, ge=1, description="A longer reply is cut, and no answer then.")
    seed: Literal["request", "study"] = Field(
        "request",
        description="Where a draw's seed comes from: `request`: the request alone, so that every "
        "study shares its replies; `study`: the study's seed too.",
    )


class Judge(Decoding):
    """A judge: a model, the form in which it is asked, and how its replies become a score.

    Temperature, top_p, max_tokens and seed are for models that are asked.
    """

    judge: Slug = Field(description="The id, equal to the file's name.")
    model: Slug = Field(description="The model card that answers.")
    form: str = Field(
        "",
        description="Lexical and control: what is computed. Recorded: a name for the report. "
        "Models that are asked: the prompt, a file of config/prompts.",
    )
    pairs: Literal["adjacent", "all"] = Field(
        "adjacent", description="Form compare: which texts of an item are compared, by step or id."
    )
    against: Literal["references", "source"] | None = Field(
        None,
        description="What a text is compared with. Default: references for lexical forms, nothing "
        "for other judges.",
    )
    scale: Scale | None = Field(None, description="The judge's own scale; default: the aspect's.")
    draws: int = Field(1, ge=1, description="How many replies per target are used.")
    estimator: Literal["mean", "mode"] = Field(
        "mean", description="How draws become a score; it needs half of them parsed."
    )
    parser: Literal["score", "number", "chiang-lee", "choice"] | None = Field(
        None,
        description="Default: number for engines that compute, choice for the form compare, "
        "score for other replies.",
    )
    columns: list[str] = Field(
        [],
        description="Recorded score columns: each becomes a judge by the slug of its name; "
        "{aspect} in a name stands for the aspect's entry in the model's `scores`.",
    )
    family: Slug | None = Field(
        None, description="The model's family, where its card does not say; see `families`."
    )
    aspects: list[Slug] = Field([], description="Only these aspects; default: all of the study.")


class DerivedJudge(Card):
    """A judge made from other judges of the study; it asks nothing."""

    judge: Slug = Field(description="The id, equal to the file's name.")
    members: list[Slug] = Field(min_length=2, description="Judges of the study.")
    combine: Literal["mean"] = Field("mean", description="How their scores become one.")
    min_annotators: int = Field(
        1, ge=1, description="Of so many members a target needs a score, or it has none."
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if len(set(self.members)) < len(self.members):
            raise ValueError("a member is named twice")
        if self.min_annotators > len(self.members):
            raise ValueError(f"min_annotators is above the {len(self.members)} members")
        return self


def _kind_of_judge(card: object) -> str:
    members = "members" in card if isinstance(card, dict) else hasattr(card, "members")
    return "derived" if members else "asked"


AnyJudge = Annotated[
    Annotated[Judge, Tag("asked")] | Annotated[DerivedJudge, Tag("derived")],
    Discriminator(_kind_of_judge),
]
