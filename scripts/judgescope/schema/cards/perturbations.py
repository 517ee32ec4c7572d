"""Cards of perturbations, and of what people expect of them."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    model_validator,
)

from judgescope.core.names import INJECT_ERRORS
from judgescope.schema.cards.base import Card, Slug, repeated
from judgescope.schema.cards.judges import Decoding, RetriedDecoding


def _as_count(value: object) -> object:
    """Return a number of edits; raises one error if it is wrong, where pydantic has
    two.
    """
    most_digits = 10
    if isinstance(value, str) and value.isdecimal() and len(value) < most_digits:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or (
        not isinstance(value, int | None) and value != "all"
    ):
        raise ValueError("this value must be a whole number or all")
    return value


class Degree(Card):
    """How strongly a perturbation changes a text."""

    k: Annotated[int | Literal["all"] | None, BeforeValidator(_as_count)] = None
    """Number of edits."""
    min_edits: int | None = Field(None, ge=1)
    """Minimum number of edits; for texts that a model makes, in place of k."""

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        if self.k is not None and self.min_edits is not None:
            raise ValueError(
                "`k` is the number of edits, `min_edits` the minimum: give one of them"
            )
        return self


PerturbationKind = Literal["once", "chain", "graded", "attack"]
"""`once`: one text per original; `chain`: texts of an original, each with one more
error; `graded`: texts of every rating; `attack`: the original with an addition that is
meant for the judge."""
SINGLE = "single"
"""The degree of a perturbation that has only one."""
ATTACKS: Final = ("attack", "inert")
"""The degrees of an attack: the attack itself, and a meaningless note of the same
length."""


def _checked(degrees: dict[str, Degree]) -> dict[str, Degree]:
    """Return degrees whose names are free and can occur together."""
    # The most degrees of a perturbation.
    most_degrees = 12
    if taken := sorted(degrees.keys() & {*ATTACKS}):
        raise ValueError(f"the degree {taken[0]} is that of attacks: choose another")
    if SINGLE in degrees and len(degrees) > 1:
        raise ValueError(
            f"the degree {SINGLE} stands alone: give each degree a name of its own"
        )
    if len(degrees) > most_degrees:
        raise ValueError(f"a perturbation has at most {most_degrees} degrees")
    return degrees


Degrees = Annotated[dict[Slug, Degree], AfterValidator(_checked)]
"""Degree -> how strong it is, the weakest first."""


class BasePerturbation(Card):
    """The keys of all perturbations."""

    perturbation: Slug
    """The id, equal to the file's name."""
    name: str
    """The name in the report."""
    level: Literal["character", "word", "sentence"]
    """The unit of text that it changes; all levels have the same weight in D_avg."""
    degrees: Degrees = Field(min_length=1)
    """Degree -> its options, such as k, the weakest first: any names but `attack` and
    `inert`, at most 12; `single` stands alone."""
    datasets: dict[Slug, Degrees] = Field({})
    """Dataset -> degrees that replace `degrees` for it; {}: do not perturb it."""
    tasks: list[Slug] = Field([])
    """Perturb only datasets of these tasks; default: all."""
    steps: int = Field(1, ge=1, le=100)
    """Length of a chain, in which each text is made from the one before and all are
    judged; for the method inject or the rule inject_errors."""
    aspects: list[Slug] = Field([])
    """Chains: only these aspects are judged; default: all. Graded sets: the first of
    these aspects that the dataset has is used."""
    issue: str | None = None
    """What is wrong with such a text, in one sentence for reports and for the survey of
    experts."""

    @model_validator(mode="after")
    def _of_a_row(self) -> Self:
        if self.aspects and self.kind == "once":
            raise ValueError("`aspects` are for chains (give `steps`) and graded sets")
        return self

    always: ClassVar[PerturbationKind | None] = None
    """The fixed `kind` of all cards of a class."""

    @property
    def kind(self) -> PerturbationKind:
        """Return what kind of texts it makes from an original."""
        return self.always or ("chain" if self.steps > 1 else "once")

    def degrees_for(self, dataset: str) -> Degrees:
        """Return the degrees in which `dataset` is perturbed."""
        return self.datasets.get(dataset, self.degrees)


class Demonstration(Card):
    """A text before and after a change, as a prompt shows them.

    Demonstrations are in the perturbation's card, next to its steps, so that a change
    is one file.
    """

    topic: str = Field(min_length=1)
    """What the text is about; no prompt shows it."""
    task: Slug
    """The task that such a text belongs to; no prompt shows it."""
    text: str = Field(min_length=1)
    """The text before the change."""
    changed: str = Field(min_length=1)
    """The text with the change; with `reply: appended` only the new sentence."""


class RulePerturbation(BasePerturbation):
    """A way to perturb a text by rule."""

    method: Literal["rule"]
    """The method that makes the texts."""
    rule: str
    """The rule; the list is below."""
    errors: list[str] = Field([])
    """Rule inject_errors: the kinds of error; each step draws one."""

    @model_validator(mode="after")
    def _with_errors(self) -> Self:
        if len({self.rule == INJECT_ERRORS, self.steps > 1, bool(self.errors)}) > 1:
            raise ValueError(
                f"the rule {INJECT_ERRORS}, `errors` and `steps` need each other: set "
                "all or none"
            )
        return self


class MadePerturbation(BasePerturbation, RetriedDecoding):
    """A way to perturb a text by a model: once, or step by step, each text from the one
    before.
    """

    method: Literal["llm", "inject"]
    """How texts are made: `llm`: in one step; `inject`: in several steps, each of which
    is judged."""
    model: Slug
    """The card of the model that writes."""
    form: Slug
    """The instruction, a file of config/prompts."""
    adjustment: str | None = Field(None, min_length=1)
    """The kind of change in one sentence; for adjust-steps and adjust-examples."""
    instructions: list[str] = Field([])
    """How to make the change, step by step; for adjust-steps and adjust-examples."""
    demonstrations: list[Demonstration] = Field([])
    """Texts with the change already made; for the form adjust-examples."""
    reply: Literal["whole", "appended"] = "whole"
    """What the model returns: `whole`: the text with its change; `appended`: only the
    new part, which is appended to the text."""
    degrees: Degrees = Field({"single": Degree()}, min_length=1)
    """Degree -> its options, which the prompt gets."""
    checks: list[str] = Field(["differs", "not_refusal", "length"])
    """Checks that a text must pass. `changes`: words differ in as many positions as the
    degree states; `insertions`: all sentences remain, plus as many new ones; others:
    the change is of the kind that the check is named after (docs/validators.md)."""

    @model_validator(mode="after")
    def _stepped(self) -> Self:
        if (self.method == "inject") != (self.steps > 1):
            raise ValueError("`steps` above 1 needs the method inject, and the reverse")
        return self


class Anchoring(Decoding):
    """How texts are rated by comparing them with anchors, texts that people rated."""

    model: Slug
    """The card of the model that compares (the comparator)."""
    form: Slug = "analyze-compare-anchors"
    """The question, a file of config/prompts."""
    max_tokens: int = Field(1024, ge=1)
    """Maximum number of tokens of a reply: an analysis, and the choice."""
    judge: Slug | None = None
    """A judge of the study whose ratings of anchors must agree with people's; default:
    only people's ratings are used."""
    per_rating: int = Field(5, ge=1, le=50)
    """Number of anchors for each rating."""
    max_errors: int = Field(ge=1, le=100)
    """Maximum number of errors in a text."""
    calibration_share: float = Field(0.1, gt=0, le=1)
    """The share of items used to calibrate how many errors a rating has, with one text
    per number of errors."""
    oversample: float = Field(1.3, ge=1, le=5)
    """The factor by which more texts are made and rated than are required."""
    least_accuracy: float = Field(0.7, ge=0, le=1)
    """Minimum accuracy of the comparator on pairs of anchors with adjacent ratings
    (correct in both orders), below which the construction stops; 0: never."""


class GradedPerturbation(BasePerturbation, RetriedDecoding):
    """Texts of every rating, made by putting more or fewer errors into references at
    once.
    """

    method: Literal["graded"]
    """The method that makes the texts."""
    targets: int = Field(ge=1, le=1000)
    """Number of texts per item, balanced over ratings as far as possible."""
    references: int = Field(1, ge=1)
    """Number of references of an item that get errors; the most diverse are chosen."""
    rating: Literal["errors", "anchors"] = "errors"
    """What determines a text's rating: its number of `errors`, or comparisons with
    `anchors`."""
    errors_per_rating: int = Field(1, ge=1, le=20)
    """With `rating: errors`: number of errors that lower the rating by one class."""
    anchors: Anchoring | None = None
    """With `rating: anchors`: the settings of anchors and comparisons."""
    errors: list[str] = Field([])
    """The kinds of error that rules inject; alternative to `model`."""
    model: Slug | None = None
    """The card of the model that injects errors."""
    form: Slug = "inject-errors"
    """The model's instruction, a file of config/prompts."""
    degrees: Degrees = Field({"single": Degree()})
    """A graded set has one degree."""
    always: ClassVar[PerturbationKind | None] = "graded"

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.errors) == (self.model is not None):
            raise ValueError(
                "errors are made by rule (`errors`) or by a `model`: give one"
            )
        if (self.rating == "anchors") != (self.anchors is not None):
            raise ValueError(
                "`rating: anchors` and `anchors` need each other: set both or neither"
            )
        if not self.aspects:
            raise ValueError("a graded set is about an aspect: name it in `aspects`")
        if self.steps > 1:
            raise ValueError("a graded set is not made in steps: leave `steps` out")
        if self.degrees.keys() != {"single"}:
            raise ValueError("a graded set has one degree, `single`")
        return self


class AttackPerturbation(BasePerturbation):
    """A note for the judge that is added to every original and claims the top score."""

    method: Literal["attack"]
    """The method that makes the texts."""
    level: Literal["character", "word", "sentence"] = "sentence"
    text: str = Field(min_length=1)
    """The text that is added. It must claim that the text deserves the highest rating,
    in words or with `{top}`, which is replaced by that number."""
    position: Literal["start", "end"] = "end"
    """Position of the addition: before or after the text."""
    degrees: dict[Literal["attack", "inert"], Degree] = dict.fromkeys(ATTACKS, Degree())  # type: ignore[assignment]
    """Always both: the attack, and a meaningless note of the same length in its
    place."""
    always: ClassVar[PerturbationKind | None] = "attack"

    @model_validator(mode="after")
    def _no_degrees(self) -> Self:
        if self.degrees != dict.fromkeys(ATTACKS, Degree()) or self.steps > 1:
            raise ValueError("an attack has no degrees and no steps: leave them out")
        if any(self.datasets.values()):
            raise ValueError(
                "an attack has no degrees: give `{}` for a dataset to exclude it"
            )
        return self


class GivenPerturbation(BasePerturbation):
    """Texts of known quality in a dataset, with ratings or in order; nothing is
    perturbed.

    Users write no such card: a study has one for each aspect and role of the dataset's
    files.
    """

    method: Literal["given"] = "given"
    level: Literal["character", "word", "sentence"] = "sentence"
    degrees: Degrees = Field({"single": Degree()})
    dataset: Slug
    role: Literal["global", "local"]

    @property
    def kind(self) -> PerturbationKind:
        """Return what set of texts it is."""
        if self.role == "global":
            return "graded"
        return "chain"


class ReadyPerturbation(BasePerturbation):
    """Perturbed texts that come with datasets; nothing is perturbed.

    Users write no such card: it is made from the key `perturbed` of datasets' cards,
    for an id that no dataset of the study is perturbed by otherwise.
    """

    method: Literal["ready"] = "ready"
    by: list[str]
    """The datasets that have such texts."""

    def degrees_for(self, dataset: str) -> dict[str, Degree]:
        """Return the degrees that `dataset` has, none if it has no such texts."""
        return self.datasets.get(dataset, {})


_FromCard = (
    RulePerturbation | MadePerturbation | GradedPerturbation | AttackPerturbation
)
Perturbation = Annotated[_FromCard, Discriminator("method")]
"""Any perturbation that a card can define."""
AnyPerturbation = _FromCard | GivenPerturbation | ReadyPerturbation
"""Any perturbation that a study can have."""


class PerturbedTexts(Card):
    """Texts of a dataset that somebody has perturbed already."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    named: str | None = Field(None, alias="as", min_length=1)
    """The perturbation's name in the data; default: the id."""
    level: Literal["character", "word", "sentence"]
    """The unit of text that was changed; all levels have the same weight in D_avg."""
    degrees: dict[str, Slug] = Field({})
    """Name in the column `degree` -> the degree's id, the weakest first; default: one
    degree, `single`."""
    name: str = ""
    """The name in the report; default: the id."""
    issue: str | None = None
    """What is wrong with such a text, in one sentence for reports."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if twice := repeated(self.degrees.values()):
            raise ValueError(f"two names in the data are the same degree: {twice}")
        _checked(self.doses)
        return self

    @property
    def doses(self) -> dict[str, Degree]:
        """Return the degrees of a perturbation's card, in which nobody knows the
        amounts.
        """
        return dict.fromkeys(self.degrees.values() or [SINGLE], Degree())

    def degree_of(self, name: str) -> str | None:
        """Return the degree of a name in the data; None for other names."""
        if self.degrees:
            return self.degrees.get(name)
        return SINGLE


class ExpectedEffect(Card):
    """The expected effect of a perturbation; aspects in neither list have no
    expectation.
    """

    drop: list[Slug] = Field([])
    """Aspects whose scores should drop."""
    same: list[Slug] = Field([])
    """Aspects whose scores should not change."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if both := sorted(set(self.drop) & set(self.same)):
            raise ValueError(f"`drop` and `same` both name {', '.join(both)}")
        for key, names in (("drop", self.drop), ("same", self.same)):
            if twice := repeated(names):
                raise ValueError(f"{key} names {twice} twice")
        return self


class Expectations(Card):
    """Which aspects each perturbation should lower, and which not."""

    expectations: Slug
    """The id, equal to the file's name."""
    name: str
    """The name in the report, with the source."""
    perturbations: dict[Slug, ExpectedEffect] = Field(min_length=1)
    """Perturbation -> the aspects that should drop or stay."""


class TaskWeights(Card):
    """Weights of aspects by task and perturbation; perturbations not named have uniform
    weights.
    """

    weights: Slug
    """The id, equal to the file's name."""
    name: str
    """The name in the report, with the source."""
    tasks: dict[Slug, dict[Slug, dict[Slug, float]]]
    """Task -> perturbation -> aspect -> weight. The weights of a perturbation are 0 or
    more and sum to 1; an aspect that is not named has weight 0."""
    voters: dict[Slug, int] = Field({})
    """Task -> number of people who were asked."""
    agreement: dict[Slug, float | None] = Field({})
    """Task -> Krippendorff's nominal alpha of these people over the perturbations."""

    @model_validator(mode="after")
    def _sums(self) -> Self:
        round_off = 1e-9
        for task, perturbations in self.tasks.items():
            for name, weights in perturbations.items():
                total = sum(weights.values())
                if min(weights.values(), default=-1) < 0 or abs(total - 1) > round_off:
                    raise ValueError(
                        f"tasks.{task}.{name}: weights must be 0 or more and sum to 1: "
                        f"{total:g}"
                    )
        return self
