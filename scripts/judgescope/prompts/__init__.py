"""Prompts: templates of config/prompts, filled with the texts that a judge or a writer
may see.

Texts of datasets and models are values, never templates: markup in them stays text.
Templates run in Jinja's sandbox and fail on an undefined name. Marks around untrusted
texts (`Spotlight`) contain a tag derived from all texts of the request. So equal
requests stay equal and are sent once, and no author can write the tag into a text,
because a changed text changes the tag.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, convert, to_builtins

from judgescope.prompts.material import SourceParts as SourceParts
from judgescope.prompts.material import TextWords as TextWords
from judgescope.prompts.material import cut as cut
from judgescope.prompts.material import material as material
from judgescope.prompts.material import of_second as of_second
from judgescope.prompts.material import unnamed as unnamed
from judgescope.prompts.spotlight import SHOWN as SHOWN
from judgescope.prompts.spotlight import Spotlight as Spotlight
from judgescope.prompts.templates import SUFFIX as SUFFIX
from judgescope.prompts.templates import Templates as Templates
from judgescope.prompts.templates import load as load
from judgescope.prompts.templates import needed_names as needed_names
from judgescope.prompts.templates import shows as shows
from judgescope.prompts.templates import stated_tokens as stated_tokens
from judgescope.schema.cards import AnnotationKeys, Aspect, RatingScale
from judgescope.schema.cards.annotations import (
    HUNDREDTHS,
    MOST_ERRORS,
    NUMBERS,
    SEVERITIES,
    VERDICTS,
)

PARTS = "sub_aspects"
DRAFTING = {
    "aspect": "draft-steps",
    "perturbation": "draft-instructions",
    PARTS: "draft-sub-aspects",
}
"""Missing part of a card (its steps, an aspect's parts) -> the prompt form that drafts
it."""
SECOND = "text_b"
"""The name of the second text; a form that uses it compares two texts."""


def rated(aspect: Aspect, scale: RatingScale) -> dict[str, Any]:
    """Return the names `aspect` and `scale` of a prompt; whole numbers have no decimal
    point.

    `aspect.steps` is a numbered list, `aspect.unlike` a list of qualities,
    `aspect.worst` and `aspect.best` describe the ends of the scale. Names that the card
    does not set are undefined: a form that uses them fails before any request. A scale
    that has only labels has no numbers, but `scale.choices`, its labels in words: `fail
    or pass`. `scale.agreement` has each value with how far one agrees, the best first,
    for scales of 2, 3 or 5 values.
    """
    names: dict[str, object] = {
        "name": aspect.name,
        "definition": aspect.definition,
        "steps": numbered(aspect.steps) or None,
        "unlike": aspect.unlike or None,
        "worst": aspect.worst,
        "best": aspect.best,
    }
    known = {}
    for name, value in names.items():
        if value is not None:
            known[name] = value
    values: dict[str, object] = {}
    if scale.categorical:
        *others, last = scale.labels
        values["choices"] = f"{', '.join(others)} or {last}"
    else:
        values["min"] = plain(scale.min)
        values["max"] = plain(scale.max)
        values["step"] = plain(scale.step)
        agreement = _agreement(scale.values() or [])
        if agreement:
            values["agreement"] = agreement
    return {"aspect": known, "scale": {**values, "labels": scale.labels}}


AGREEMENT: dict[int, list[str]] = {
    2: ["you strongly disagree", "you strongly agree"],
    3: [
        "you strongly disagree",
        "you neither agree nor disagree",
        "you strongly agree",
    ],
    5: [
        "you strongly disagree",
        "you mostly disagree",
        "you neither agree nor disagree",
        "you mostly agree",
        "you strongly agree",
    ],
}
"""Number of values of a scale -> how far one agrees with each, the worst first."""


def _agreement(values: Sequence[float]) -> list[dict[str, object]]:
    """Return each value of a scale with how far one agrees, the best first; [] for a
    scale whose values have no such words.
    """
    agreement = list[dict[str, object]]()
    if len(values) in AGREEMENT:
        for value, words in zip(values, AGREEMENT[len(values)], strict=True):
            agreement.insert(0, {"value": plain(value), "words": words})
    return agreement


def annotating(annotation: AnnotationKeys) -> dict[str, Any]:
    """Return the name `annotation` of an annotator's prompt.

    Both of its scales are words, the lowest first.
    """
    scores = {"categories": VERDICTS, "integers": NUMBERS, "percent": HUNDREDTHS}
    names = annotation.model_dump(include={"rules", "categories"})
    names["scores"] = scores[annotation.score]
    names["severities"] = NUMBERS if annotation.severity == "integers" else SEVERITIES
    names["most"] = MOST_ERRORS
    return {"annotation": names}


def numbered(steps: Sequence[str]) -> str:
    """Return steps as a numbered list, one a line."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


class AspectPart(Struct, frozen=True):
    """A part of an aspect."""

    name: str
    definition: str


class LoweredAspect(Struct, frozen=True):
    """An aspect that a change makes worse, and its parts."""

    name: str
    definition: str
    sub_aspects: list[AspectPart]


class WriterChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The change that a writer makes, as its card describes it."""

    reply: str = "whole"
    """Whether the reply is the entire text, or (`appended`) a continuation of it."""
    adjustment: str | None = None
    instructions: list[str] = []
    demonstrations: list[dict[str, str]] = []
    aspect: LoweredAspect | None = None


NO_CHANGE = WriterChange()
"""The default, for writers that make a text only from its source, or improve one."""


def change_of(card: Mapping[str, object]) -> WriterChange:
    """Return the change that a writer's card describes; the card's other keys are
    ignored.
    """
    return convert(card, WriterChange)


def to_write(
    about: TextWords,
    degree: Mapping[str, int | str | None],
    change: WriterChange,
    parts: SourceParts = (),
    **shown: str | None,
) -> dict[str, object]:
    """Return the names of a writer's prompt: what the text is, the number of edits, the
    parts of its source, `text` and `problem` (why an earlier attempt is unusable).

    Names that the change does not set are undefined: a form that uses them fails before
    any request. `instructions` are numbered.
    """
    names: dict[str, object] = {"problem": None, "reply": change.reply}
    names |= {name: value for name, value in to_builtins(change).items() if value}
    if change.instructions:
        names["instructions"] = numbered(change.instructions)
    return {**about.names, **material(parts), **degree, **names, **shown}


def to_merge_names(
    about: TextWords, text: str, lists: Sequence[Sequence[Mapping[str, object]]]
) -> dict[str, object]:
    """Return the names of a supervisor's prompt: what the text is, the text, and
    annotators' lists of errors in it.

    An error has a location, explanation, severity and category, each None if missing;
    `categories` is true if any error has a category, `most` is the number of errors to
    keep.
    """
    has_categories = False
    for errors in lists:
        for error in errors:
            has_categories = has_categories or bool(error["category"])
    return {
        **about.names,
        "text": text,
        "lists": lists,
        "categories": has_categories,
        "most": MOST_ERRORS,
    }


def plain(value: float | None) -> float | None:
    """Return a whole number without its decimal point."""
    if value is not None and value == int(value):
        return int(value)
    return value
