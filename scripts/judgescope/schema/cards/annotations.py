"""What an annotator is asked for: a text's errors, and an overall score."""

from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    model_validator,
)

from judgescope.schema.cards.base import (
    Card,
    RatingScale,
)

PARSER = "annotation"
"""The parser that reads what annotators write."""


VERDICTS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
"""The overall scores 1 to 5 in words. The parser has its own copy of these words, of
the severities and of the number of errors, because jobs that send requests must not
depend on how replies are read; a test checks that they are equal."""


SEVERITIES = ("Neutral", "Minor", "Moderate", "Major", "Critical")


MOST_ERRORS = 8


NUMBERS = ("1", "2", "3", "4", "5")


OVERALL = RatingScale(min=1, max=5, step=1, labels=[*VERDICTS])
"""The scale of annotators that answer with a word or 1 to 5, whatever people's scale
is."""


PERCENT = RatingScale(min=0, max=100, step=5)
"""The scale of other annotators, and of judges that are trained."""


HUNDREDTHS = tuple(str(score) for score in range(0, 101, 5))


Line = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]


class AnnotationKeys(Card):
    """What an annotator is asked for (Kartáč et al. 2025): a text's errors, and an
    overall score.

    Each error comes with its place, an explanation and a severity, the score with an
    explanation.
    """

    score: Literal["categories", "integers", "percent"] = "categories"
    """The overall score: a word from Unacceptable to Excellent, 1 to 5, or 0 to 100 in
    steps of 5."""
    severity: Literal["integers", "categories"] = "integers"
    """The severity of an error: 1 to 5, or a word from Neutral to Critical."""
    rules: bool = True
    """Whether the prompt states rules: judge only this aspect, use no outside
    knowledge, give the best score if there is no error."""
    categories: list[Line] = Field([])
    """Kinds of error, one of which is assigned to each error; default: none."""

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        if len({name.lower() for name in self.categories}) < len(self.categories):
            raise ValueError("a category of errors is named twice")
        return self

    @property
    def scale(self) -> RatingScale:
        """Return the scale of the overall score, on which a word equals its number."""
        if self.score == "percent":
            return PERCENT
        return OVERALL
