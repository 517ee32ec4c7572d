"""The cards a user writes, as typed models: the only source of what a card may say.

The JSON schemas in workflow/schemas are generated from here (`make generated`).
"""

from typing import Annotated, Any

from pydantic import Field

from judgescope.core.reserved_names import INJECT_ERRORS, ORACLE, WRONG_ENDING
from judgescope.schema.cards.annotation import Annotation
from judgescope.schema.cards.base import Card, Hub, Scale
from judgescope.schema.cards.data import (
    GIVEN_ROLES,
    Aspect,
    AspectInTask,
    Criterion,
    Dataset,
    Mapping,
    RatedAspect,
    Select,
    Wording,
)
from judgescope.schema.cards.distillation import Distillation, NewTexts, Recipe
from judgescope.schema.cards.expectations import Expectations, Expected
from judgescope.schema.cards.improvement import Improvement, References
from judgescope.schema.cards.judges import (
    Analyses,
    AnyJudge,
    Decoding,
    DerivedJudge,
    Hint,
    Judge,
    Severities,
    Shots,
    Supervisor,
)
from judgescope.schema.cards.models import (
    ASPECT,
    COMPARE,
    CONTROL_FORMS,
    LEXICAL_FORMS,
    NULL_FORMS,
    CommandModel,
    ControlModel,
    LexicalModel,
    Limits,
    OpenAIModel,
    Price,
    RecordedModel,
    RecordedRows,
)
from judgescope.schema.cards.perturbations import (
    Anchoring,
    AnyPerturbation,
    AttackPerturbation,
    Damage,
    DamageKind,
    Degree,
    Degrees,
    Demonstration,
    GivenPerturbation,
    GradedPerturbation,
    MadePerturbation,
    Perturbation,
    RulePerturbation,
)
from judgescope.schema.cards.study import PILOT, Caps, Comparison, Confusion, Study
from judgescope.schema.cards.vllm import TRAINED, Adapter, VllmModel
from judgescope.schema.cards.weights import Weights

__all__ = [
    "ASPECT",
    "COMPARE",
    "CONTROL_FORMS",
    "FOLDERS",
    "GIVEN_ROLES",
    "INJECT_ERRORS",
    "KINDS",
    "LEXICAL_FORMS",
    "NULL_FORMS",
    "ORACLE",
    "PILOT",
    "TRAINED",
    "WRONG_ENDING",
    "Adapter",
    "Analyses",
    "Anchoring",
    "Annotation",
    "AnyJudge",
    "AnyPerturbation",
    "AskedModel",
    "Aspect",
    "AspectInTask",
    "AttackPerturbation",
    "Caps",
    "Card",
    "CommandModel",
    "Comparison",
    "Confusion",
    "ControlModel",
    "Criterion",
    "Damage",
    "DamageKind",
    "Dataset",
    "Decoding",
    "Degree",
    "Degrees",
    "Demonstration",
    "DerivedJudge",
    "Distillation",
    "Expectations",
    "Expected",
    "GivenPerturbation",
    "GradedPerturbation",
    "Hint",
    "Hub",
    "Improvement",
    "Judge",
    "LexicalModel",
    "Limits",
    "MadePerturbation",
    "Mapping",
    "Model",
    "NewTexts",
    "OpenAIModel",
    "Perturbation",
    "Price",
    "PromptedModel",
    "RatedAspect",
    "Recipe",
    "RecordedModel",
    "RecordedRows",
    "References",
    "RulePerturbation",
    "Scale",
    "Select",
    "Severities",
    "Shots",
    "Study",
    "Supervisor",
    "VllmModel",
    "Weights",
    "Wording",
]

PromptedModel = OpenAIModel | VllmModel
"""Models that read prompts."""
AskedModel = PromptedModel | CommandModel
Model = Annotated[
    LexicalModel | ControlModel | RecordedModel | AskedModel, Field(discriminator="engine")
]

KINDS: dict[str, Any] = {
    "study": Study,
    "dataset": Dataset,
    "model": Model,
    "judge": AnyJudge,
    "aspect": Aspect,
    "criterion": Criterion,
    "perturbation": Perturbation,
    "weights": Weights,
    "expectations": Expectations,
}
"""Card kind -> its model."""

FOLDERS = {kind: f"{kind}s" for kind in KINDS}
FOLDERS |= {"study": "studies", "criterion": "criteria"}
FOLDERS |= {kind: kind for kind in ("weights", "expectations")}
