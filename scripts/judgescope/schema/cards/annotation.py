"""The part of a judge's card that makes it an annotator: what it is asked to write."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Card, Scale

PARSER = "annotation"
"""The parser that reads what annotators write."""
VERDICTS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
"""The overall scores 1 to 5 in words. The parser has these words, severities and number of errors
of its own, as a job that asks must not depend on how replies are read; a test holds them equal."""
SEVERITIES = ("Neutral", "Minor", "Moderate", "Major", "Critical")
MOST_ERRORS = 8
NUMBERS = ("1", "2", "3", "4", "5")
OVERALL = Scale(min=1, max=5, step=1, labels=[*VERDICTS])
"""The scale of annotators that say a word or 1 to 5, whatever people's is."""
PERCENT = Scale(min=0, max=100, step=5)
"""The scale of the others, and of what is taught to a judge."""
HUNDREDTHS = tuple(str(score) for score in range(0, 101, 5))

Line = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]


class Annotation(Card):
    """What an annotator is asked for (paper 004): the errors of a text, and an overall score.

    Each error comes with its place, an explanation and a severity, the score with an explanation.
    """

    score: Literal["categories", "integers", "percent"] = Field(
        "categories",
        description="The overall score: a word from Unacceptable to Excellent, 1 to 5, or 0 to 100 "
        "in steps of 5.",
    )
    severity: Literal["integers", "categories"] = Field(
        "integers",
        description="How severe an error is: 1 to 5, or a word from Neutral to Critical.",
    )
    rules: bool = Field(
        True,
        description="Whether the form shows rules: one quality alone, nothing from outside, "
        "no score below the best without an error.",
    )
    categories: list[Line] = Field(
        [], description="Kinds of error, of which each error names one; default: it names none."
    )

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        if len({name.lower() for name in self.categories}) < len(self.categories):
            raise ValueError("a category of errors is named twice")
        return self

    @property
    def scale(self) -> Scale:
        """Return the scale of the overall score; a word and its number are the same on it."""
        return PERCENT if self.score == "percent" else OVERALL

    def told(self) -> dict[str, Any]:
        """Return the name `annotation` of a prompt; both scales are words, the lowest first."""
        scores = {"categories": VERDICTS, "integers": NUMBERS, "percent": HUNDREDTHS}
        return {
            "scores": scores[self.score],
            "severities": NUMBERS if self.severity == "integers" else SEVERITIES,
            "most": MOST_ERRORS,
            **self.model_dump(include={"rules", "categories"}),
        }
