"""The interpreters of environments that a study needs beside its own."""

import os
from collections.abc import Mapping

from judgescope.core.errors import UserError
from judgescope.plan.distilling import student_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import Model


def check_interpreters(plan: Plan, environ: Mapping[str, str]) -> None:
    """Check that there is an environment for models that vLLM loads, and for one that is trained.

    `environ` has the paths of their interpreters.
    """
    check_vllm(plan.models, environ)
    if plan.taught:
        card = student_of(plan)[1]
        where = f"models/{card.model}.yaml, key adapter"
        _check(environ, "that trains", where, "train")


def check_vllm(models: Mapping[str, Model], environ: Mapping[str, str]) -> None:
    """Check that there is an environment with vLLM if a model needs it."""
    needs = [name for name, model in models.items() if model.engine == "vllm"]
    if needs:
        _check(environ, "with vLLM", f"models/{needs[0]}.yaml, key engine", "vllm")


def _check(environ: Mapping[str, str], what: str, where: str, stage: str) -> None:
    variable = f"JUDGESCOPE_PYTHON_{stage.upper()}"
    if not os.access(environ[variable], os.X_OK):
        raise UserError(
            f"there is no environment {what}",
            where=where,
            got=environ[variable],
            todo=f"make env-{stage}, or name its interpreter: export {variable}=…",
        )
