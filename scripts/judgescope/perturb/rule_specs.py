"""The spec of the job that perturbs without a model, which reads no card and no prompt."""

from typing import Literal

from judgescope.core.job_spec import JobSpec, SpecPart

AdditionPlace = Literal["start", "end"]


class Addition(SpecPart, frozen=True, kw_only=True, tag="addition"):
    """What an attack, or its harmless counterpart, adds to a text, and where."""

    text: str
    position: AdditionPlace


class RuleUse(SpecPart, frozen=True, kw_only=True, tag="rule"):
    """How a rule is used; `errors` and `steps` are of a rule that makes a chain of texts."""

    rule: str
    options: dict[str, int | str]
    errors: list[str]
    steps: int
    seed: int
    items: str
    """The items, for a rule that needs their meta."""


class PerturbSpec(JobSpec, frozen=True, kw_only=True):
    """The job that perturbs a dataset's originals without a model."""

    dataset: str
    perturbation: str
    degree: str
    change: Addition | RuleUse
    input: str
    output: str
