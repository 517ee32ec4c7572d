"""The cards a user writes, as typed models: the only source of what a card may say.

The JSON schemas in workflow/schemas are generated from here (`make generated`).
"""

from typing import Any

from metajudge.schema.cards.base import Card, Scale
from metajudge.schema.cards.data import Aspect, Dataset, Mapping, RatedAspect, Select
from metajudge.schema.cards.judges import AnyJudge, Decoding, DerivedJudge, Judge
from metajudge.schema.cards.models import (
    ASKED,
    ASPECT,
    COMPARE,
    CONTROL_FORMS,
    LEXICAL_FORMS,
    ControlModel,
    LexicalModel,
    Limits,
    Model,
    OpenAIModel,
    Price,
    RecordedModel,
    RecordedRows,
)
from metajudge.schema.cards.perturbations import (
    Damage,
    Degree,
    Degrees,
    MadePerturbation,
    Perturbation,
    RulePerturbation,
)
from metajudge.schema.cards.study import Comparison, Study

__all__ = [
    "ASKED",
    "ASPECT",
    "COMPARE",
    "CONTROL_FORMS",
    "FOLDERS",
    "KINDS",
    "LEXICAL_FORMS",
    "AnyJudge",
    "Aspect",
    "Card",
    "Comparison",
    "ControlModel",
    "Damage",
    "Dataset",
    "Decoding",
    "Degree",
    "Degrees",
    "DerivedJudge",
    "Judge",
    "LexicalModel",
    "Limits",
    "MadePerturbation",
    "Mapping",
    "Model",
    "OpenAIModel",
    "Perturbation",
    "Price",
    "RatedAspect",
    "RecordedModel",
    "RecordedRows",
    "RulePerturbation",
    "Scale",
    "Select",
    "Study",
]

KINDS: dict[str, Any] = {
    "study": Study,
    "dataset": Dataset,
    "model": Model,
    "judge": AnyJudge,
    "aspect": Aspect,
    "perturbation": Perturbation,
}
"""Card kind -> its model. Cards of a kind lie in config/<kind>s/ (studies: config/studies)."""

FOLDERS = {"study": "studies", **{kind: f"{kind}s" for kind in KINDS if kind != "study"}}
