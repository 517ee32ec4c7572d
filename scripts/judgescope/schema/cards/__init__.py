"""The cards a user writes, as typed models: the only definition of a card's keys.

The JSON schemas in workflow/schemas are generated from here (`make generated`).
"""

from typing import Annotated, Any

from pydantic import Field

from judgescope.core.names import ORACLE as ORACLE
from judgescope.core.names import WRONG_ENDING as WRONG_ENDING
from judgescope.schema.cards.annotations import AnnotationKeys as AnnotationKeys
from judgescope.schema.cards.aspects import Aspect as Aspect
from judgescope.schema.cards.aspects import AspectInTask as AspectInTask
from judgescope.schema.cards.aspects import Criterion as Criterion
from judgescope.schema.cards.aspects import RatedAspect as RatedAspect
from judgescope.schema.cards.aspects import Wording as Wording
from judgescope.schema.cards.base import Card as Card
from judgescope.schema.cards.base import Hub as Hub
from judgescope.schema.cards.base import ListedPrice as ListedPrice
from judgescope.schema.cards.base import Price as Price
from judgescope.schema.cards.base import PriceTable as PriceTable
from judgescope.schema.cards.base import Published as Published
from judgescope.schema.cards.base import RatingScale as RatingScale
from judgescope.schema.cards.base import Source as Source
from judgescope.schema.cards.base import SourceFile as SourceFile
from judgescope.schema.cards.columns import ColumnMapping as ColumnMapping
from judgescope.schema.cards.data import FORMATS as FORMATS
from judgescope.schema.cards.data import GIVEN_ROLES as GIVEN_ROLES
from judgescope.schema.cards.data import Dataset as Dataset
from judgescope.schema.cards.data import Format as Format
from judgescope.schema.cards.data import Improvement as Improvement
from judgescope.schema.cards.data import References as References
from judgescope.schema.cards.data import Select as Select
from judgescope.schema.cards.data import TaskTable as TaskTable
from judgescope.schema.cards.data import TaskWords as TaskWords
from judgescope.schema.cards.endpoint import EndpointModel as EndpointModel
from judgescope.schema.cards.judges import ASPECT as ASPECT
from judgescope.schema.cards.judges import COMPARE as COMPARE
from judgescope.schema.cards.judges import CONTROL_FORMS as CONTROL_FORMS
from judgescope.schema.cards.judges import LEXICAL_FORMS as LEXICAL_FORMS
from judgescope.schema.cards.judges import NULL_FORMS as NULL_FORMS
from judgescope.schema.cards.judges import PLANTED_FORMS as PLANTED_FORMS
from judgescope.schema.cards.judges import RETRY_TEMPERATURE as RETRY_TEMPERATURE
from judgescope.schema.cards.judges import Analyses as Analyses
from judgescope.schema.cards.judges import AnyJudge as AnyJudge
from judgescope.schema.cards.judges import Decoding as Decoding
from judgescope.schema.cards.judges import DerivedJudge as DerivedJudge
from judgescope.schema.cards.judges import ExampleReply as ExampleReply
from judgescope.schema.cards.judges import Hint as Hint
from judgescope.schema.cards.judges import Judge as Judge
from judgescope.schema.cards.judges import PartCut as PartCut
from judgescope.schema.cards.judges import ReadRule as ReadRule
from judgescope.schema.cards.judges import Severities as Severities
from judgescope.schema.cards.judges import Shots as Shots
from judgescope.schema.cards.judges import Supervisor as Supervisor
from judgescope.schema.cards.models import AddOnModel as AddOnModel
from judgescope.schema.cards.models import CommandModel as CommandModel
from judgescope.schema.cards.models import ControlModel as ControlModel
from judgescope.schema.cards.models import LexicalModel as LexicalModel
from judgescope.schema.cards.models import Limits as Limits
from judgescope.schema.cards.models import LlamaModel as LlamaModel
from judgescope.schema.cards.models import PlantedDefectName as PlantedDefectName
from judgescope.schema.cards.models import PlantedModel as PlantedModel
from judgescope.schema.cards.models import ProgramModel as ProgramModel
from judgescope.schema.cards.models import PythonModel as PythonModel
from judgescope.schema.cards.openai import OpenAIModel as OpenAIModel
from judgescope.schema.cards.perturbations import SINGLE as SINGLE
from judgescope.schema.cards.perturbations import Anchoring as Anchoring
from judgescope.schema.cards.perturbations import AnyPerturbation as AnyPerturbation
from judgescope.schema.cards.perturbations import (
    AttackPerturbation as AttackPerturbation,
)
from judgescope.schema.cards.perturbations import Degree as Degree
from judgescope.schema.cards.perturbations import Demonstration as Demonstration
from judgescope.schema.cards.perturbations import Expectations as Expectations
from judgescope.schema.cards.perturbations import ExpectedEffect as ExpectedEffect
from judgescope.schema.cards.perturbations import GivenPerturbation as GivenPerturbation
from judgescope.schema.cards.perturbations import (
    GradedPerturbation as GradedPerturbation,
)
from judgescope.schema.cards.perturbations import MadePerturbation as MadePerturbation
from judgescope.schema.cards.perturbations import Perturbation as Perturbation
from judgescope.schema.cards.perturbations import PerturbationKind as PerturbationKind
from judgescope.schema.cards.perturbations import ReadyPerturbation as ReadyPerturbation
from judgescope.schema.cards.perturbations import RulePerturbation as RulePerturbation
from judgescope.schema.cards.perturbations import TaskWeights as TaskWeights
from judgescope.schema.cards.recorded import RecordedModel as RecordedModel
from judgescope.schema.cards.recorded import RecordedRows as RecordedRows
from judgescope.schema.cards.study import EXTENSION_KEYS as EXTENSION_KEYS
from judgescope.schema.cards.study import PILOT as PILOT
from judgescope.schema.cards.study import REASONS as REASONS
from judgescope.schema.cards.study import Caps as Caps
from judgescope.schema.cards.study import Comparison as Comparison
from judgescope.schema.cards.study import Confusion as Confusion
from judgescope.schema.cards.study import Distillation as Distillation
from judgescope.schema.cards.study import NewTexts as NewTexts
from judgescope.schema.cards.study import Publication as Publication
from judgescope.schema.cards.study import Recipe as Recipe
from judgescope.schema.cards.study import Study as Study
from judgescope.schema.cards.systemone import QuestionType as QuestionType
from judgescope.schema.cards.systemone import SystemOneModel as SystemOneModel
from judgescope.schema.cards.vllm import TRAINED as TRAINED
from judgescope.schema.cards.vllm import Adapter as Adapter
from judgescope.schema.cards.vllm import VllmModel as VllmModel

ProbedModel = OpenAIModel | LlamaModel
"""Models whose server is probed before judges are asked."""
PromptedModel = ProbedModel | VllmModel | AddOnModel
"""Models that read prompts."""
TokenModel = PromptedModel | SystemOneModel
"""Models that are paid by the token."""
AskedModel = TokenModel | CommandModel | PythonModel
Model = LexicalModel | ControlModel | PlantedModel | RecordedModel | AskedModel
BuiltInModel = Annotated[
    LexicalModel
    | ControlModel
    | PlantedModel
    | RecordedModel
    | ProbedModel
    | VllmModel
    | SystemOneModel
    | CommandModel
    | PythonModel,
    Field(discriminator="engine"),
]
"""Models whose engine is in this package; the engine of an add-on names its card."""

KINDS: dict[str, Any] = {
    "study": Study,
    "dataset": Dataset,
    "model": BuiltInModel,
    "judge": AnyJudge,
    "aspect": Aspect,
    "criterion": Criterion,
    "perturbation": Perturbation,
    "weights": TaskWeights,
    "expectations": Expectations,
    "publication": Publication,
    "prices": PriceTable,
    "tasks": TaskTable,
}
"""Card kind -> its model."""

# The other kinds have one file each, config/<kind>.yaml.
FOLDERS = {kind: f"{kind}s" for kind in KINDS if kind not in ("prices", "tasks")}
FOLDERS |= {"study": "studies", "criterion": "criteria", "publication": "published"}
FOLDERS |= {kind: kind for kind in ("weights", "expectations")}
