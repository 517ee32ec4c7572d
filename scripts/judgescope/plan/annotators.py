"""What must hold between an annotator's card, its model and its form."""

from typing import TYPE_CHECKING

from judgescope.core.errors import UserError
from judgescope.engines import PROMPTED
from judgescope.prompts import SUFFIX, Templates, parsed, undeclared
from judgescope.schema.cards import Judge

if TYPE_CHECKING:
    from judgescope.plan.study import Plan

TOLD = "annotation"
"""The name under which a form is told what it asks for."""


def check_annotator(plan: "Plan", judge: Judge) -> None:
    """Raise UserError for a judge that cannot ask what its card says, or does not say what to ask.

    A form that prints `annotation` needs a card that has it, and the other way round.
    """
    where = f"judges/{judge.judge}.yaml, key {TOLD}"
    if not plan.is_prompted(judge.model):
        if judge.annotation is not None:
            raise UserError(
                "only a model that reads prompts can be asked for annotations",
                where=where,
                got=f"{judge.model} (engine {plan.models[judge.model].engine})",
                allowed=f"a model of engine {' or '.join(PROMPTED)}",
                todo="write `parser: annotation` to read annotations that were recorded",
            )
        return
    prints = TOLD in _names(plan.templates[judge.form])
    if prints and judge.annotation is None:
        raise UserError(
            f"the form {judge.form} asks for annotations, and this card does not say which",
            where=where,
            todo="add `annotation: {}`",
        )
    if judge.annotation is not None and not prints:
        raise UserError(
            "this prompt does not ask for annotations",
            where=f"prompts/{judge.form}{SUFFIX}",
            todo="print what the name `annotation` has, as the form annotate does; or leave "
            f"`annotation` out of judges/{judge.judge}.yaml",
        )


def _names(templates: Templates) -> set[str]:
    """Return the names that a form and all that it includes want to be told."""
    return set[str]().union(*(undeclared(parsed(one)) for one in templates.values()))
