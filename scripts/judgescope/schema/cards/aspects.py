"""Cards of aspects and criteria: what is judged."""

from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import (
    Asking,
    Card,
    RatingScale,
    Slug,
    alternatives,
    check_read_as,
    same,
)

Noun = Annotated[str, Field(pattern=r"^\S(.*\S)?$", max_length=40)]
"""What a text is called, without an article."""


Description = Annotated[str, Field(pattern=r"^(\S.*\S)?$", max_length=300)]
"""One sentence in one line."""


class SubAspectCard(Card):
    """A part of an aspect: what an error can be about."""

    name: str = Field(min_length=1)
    """The name of the sub-aspect."""
    definition: str = Field(min_length=1)
    """What a text without such errors is like."""


class AspectInTask(Card):
    """The wording of an aspect in one task, in place of its general wording."""

    definition: str | None = None
    """The definition for this task."""
    steps: list[str] = Field([])
    """Evaluation steps for this task."""
    unlike: list[str] = Field([])
    """Qualities that are confused with the aspect in this task."""
    worst: str | None = None
    """What the worst text of this task is like."""
    best: str | None = None
    """What the best text of this task is like."""
    sub_aspects: list[SubAspectCard] = Field([])
    """Sub-aspects for this task, for models that inject errors of the aspect."""


class Wording(Card):
    """Another wording of an aspect in prompts; a key that is left out keeps the
    aspect's own.
    """

    name: str | None = None
    """The aspect's name in the prompt; "" omits it."""
    definition: str | None = None
    """The definition in the prompt; "" omits it."""
    note: str | None = None
    """A sentence after the definition."""


class Criterion(Wording):
    """A wording for every aspect whose card does not define this criterion, such as for
    an ablation."""

    criterion: Slug
    """The id, equal to the file's name."""


def _as_wording(value: object) -> object:
    if isinstance(value, str):
        return {"definition": value}
    return value


class Aspect(Card):
    """An aspect: one quality of a text, and its wording in prompts."""

    aspect: Asking[Slug]
    """The id, equal to the file's name."""
    name: Asking[str]
    """The name in the report."""
    definition: Asking[str]
    """The definition that judges see."""
    parent: Slug | None = None
    """The parent in the hierarchy of aspects."""
    steps: Asking[list[str]] = Field([])
    """Evaluation steps, for forms that show steps."""
    unlike: Asking[list[str]] = Field([])
    """Qualities, in plain words, that are often confused with the aspect."""
    worst: Asking[str | None] = None
    """Completes `the text is …` for the worst text; for forms that show it, such as
    `annotate`. If more of the aspect is worse, this describes a text with much of
    it."""
    best: Asking[str | None] = None
    """Completes `the text is …` for the best text."""
    tasks: dict[Slug, AspectInTask] = Field({})
    """Task -> the aspect's wording for that task."""

    criteria: dict[
        Slug, Annotated[Wording, alternatives(_as_wording, str | Wording)]
    ] = Field({})
    """Criterion -> an alternative wording: a definition, or a mapping with the keys
    below."""

    def in_task(self, task: str) -> "Aspect":
        """Return the aspect with its wording for a task."""
        in_task = self.tasks.get(task, AspectInTask())
        keys = ("definition", "steps", "unlike", "worst", "best")
        values = {key: getattr(in_task, key) or getattr(self, key) for key in keys}
        return self.model_copy(update={**values, "tasks": {}})

    def worded(self, wording: Wording) -> "Aspect":
        """Return the aspect in another wording; its steps do not change.

        Neither do its ends (`worst`, `best`) and `unlike`, unless the wording withholds
        what the aspect means: it has no definition, or the same one for every aspect.
        Then the prompt says nothing of the ends ("").
        """
        name = self.name if wording.name is None else wording.name
        meaning = self.definition if wording.definition is None else wording.definition
        definition = " ".join(filter(None, [meaning, wording.note]))
        values: dict[str, object] = {
            "name": name,
            "definition": definition,
            "criteria": {},
        }
        general = isinstance(wording, Criterion) and wording.definition is not None
        if general or not meaning:
            values |= {
                "unlike": [],
                "worst": self.worst and "",
                "best": self.best and "",
            }
        return self.model_copy(update=values)


class RatedAspect(RatingScale):
    """How a dataset rates an aspect."""

    source_visible: bool = True
    """Whether raters and judges see the source."""
    column: str | None = None
    """The aspect's name in the data, if it differs from the aspect's id."""
    read_as: dict[str, str] = Field({}, exclude_if=same({}))
    """For labels without numbers: other words in the data -> labels, such as `{"yes":
    pass, "1": pass}`."""

    @model_validator(mode="after")
    def _translated(self) -> Self:
        if self.read_as and not self.categorical:
            raise ValueError(
                "`read_as` needs labels without numbers: leave min, max and step out"
            )
        check_read_as(self.read_as, self.labels)
        return self

    @cached_property
    def codes(self) -> dict[str, int]:
        """Return word in the data -> position of its label, as `Scale.words`."""
        return self.words(self.read_as)
