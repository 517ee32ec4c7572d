"""What a judge that learns is shown: to the letter what it is asked later."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgescope.core.cells import split
from judgescope.engines.base import Subject
from judgescope.replies.judging import Questions
from judgescope.schema.cards import Aspect, Judge, RatedAspect, VllmModel


def prompts(
    student: Mapping[str, Any], dataset: str, aspect: str, subjects: Sequence[Subject]
) -> list[str]:
    """Return the prompt about each text.

    `student` has `model, judge, templates, seed, datasets {id: {task, aspects, scales}}`.
    """
    told = student["datasets"][dataset]
    asked = Questions(
        VllmModel(**student["model"]),
        Judge(**student["judge"]),
        Aspect(**told["aspects"][aspect]),
        RatedAspect(**told["scales"][aspect]),
        [(one,) for one in subjects],
        student["templates"],
        student["seed"],
        split(aspect)[1],
        task=told["task"],
    )
    return [asked.prompt(number) for number in range(len(asked))]
