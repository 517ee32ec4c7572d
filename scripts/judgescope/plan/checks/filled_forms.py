"""Filling one prompt form with sample values, and naming what it lacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from judgescope.core.errors import UserError
from judgescope.plan.checks.sample_texts import SAMPLE
from judgescope.plan.study import Plan
from judgescope.prompts import SUFFIX
from judgescope.prompts.filling import messages

PromptValues = dict[str, object]
"""The values that fill a prompt form, by name."""
PROBLEMS = (None, SAMPLE.problem)
"""Why an earlier reply could not be used; None for the first request."""


class MissingValues(NamedTuple):
    """Values that a card can give and does not."""

    samples: PromptValues
    error: UserError
    """The error for a form that needs these values."""


def fill(
    plan: Plan,
    form: str,
    values: PromptValues,
    shown: Mapping[str, object],
    purpose: str = "which it is about",
) -> str:
    """Return the filled form, which must print what is in `shown`: name -> text, None:
    hidden.

    A name that is in `values` too has that value in the form.
    """
    [message] = messages(form, plan.templates[form], **{**shown, **values})
    prompt = message["content"]
    for name, text in shown.items():
        if text is not None and str(text) not in prompt.lower():
            raise UserError(
                f"this prompt does not print the variable `{name}`, {purpose}",
                where=f"prompts/{form}{SUFFIX}",
                todo=f"add {{{{ {name} }}}} to the prompt form",
            )
    return prompt


def fill_or_name(
    fill_with: Callable[[PromptValues], str], missing: Sequence[MissingValues]
) -> str:
    """Return a filled form, or raise the error for the only values that it lacks.

    `fill_with` fills the form with additional values.
    """
    try:
        return fill_with({})
    except UserError:
        # Raises what none of the missing values mends.
        fill_with(_together(missing))
        for lack in missing:
            others = [each for each in missing if each is not lack]
            try:
                fill_with(_together(others))
            except UserError:
                raise lack.error from None
        raise


def _together(missing: Sequence[MissingValues]) -> PromptValues:
    values: PromptValues = {}
    for lack in missing:
        values |= lack.samples
    return values
