"""What a judge that learns is shown: to the letter what it is asked later."""

from collections.abc import Sequence

from judgescope.core.cells import split
from judgescope.distill.specs import Student
from judgescope.engines.base import Subject
from judgescope.replies.judging import Questions
from judgescope.schema.cards import Aspect, Judge, RatedAspect, VllmModel


def prompts(student: Student, dataset: str, aspect: str, subjects: Sequence[Subject]) -> list[str]:
    """Return the prompt about each text."""
    about = student.datasets[dataset]
    asked = Questions(
        VllmModel(**student.model),
        Judge(**student.judge),
        Aspect(**about.aspects[aspect]),
        RatedAspect(**about.scales[aspect]),
        [(one,) for one in subjects],
        student.templates,
        student.seed,
        split(aspect)[1],
        task=about.task,
    )
    return [asked.prompt(number) for number in range(len(asked))]
