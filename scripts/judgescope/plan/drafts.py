"""The steps and sub-aspects that a study's cards lack, and what a model is told to draft them.

A draft is for people to read: nothing of a study takes one by itself.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.perturb.drafting import DraftSpec
from judgescope.plan.generators import graded, lowered, lowered_by
from judgescope.plan.specs import Specs
from judgescope.plan.study import Plan
from judgescope.plan.template_checks import lacks_parts
from judgescope.prompts import DRAFTING, PARTS, messages
from judgescope.schema.cards import FOLDERS, Dataset, Decoding, MadePerturbation, OpenAIModel

MOST_TOKENS = 2048
"""Of a draft."""


class Draft(NamedTuple):
    """What a card lacks for a task: an aspect's steps or parts, the steps of a model's change."""

    kind: str
    name: str
    task: str

    @property
    def card(self) -> str:
        """Return the card that the draft is for."""
        return f"{FOLDERS['aspect' if self.kind == PARTS else self.kind]}/{self.name}.yaml"

    @property
    def lacks(self) -> str:
        """Return what is drafted, in words."""
        return "sub-aspects" if self.kind == PARTS else "steps"

    @property
    def file(self) -> str:
        """Return where the draft lies, below the study's results."""
        folder = self.lacks if self.kind == PARTS else FOLDERS[self.kind]
        return f"drafts/{folder}/{self.name}.{self.task}.yaml"


def drafts_of(plan: Plan, source: str) -> list[Draft]:
    """Return the drafts that a study needs; `source` names its file in errors.

    Raises UserError where there is no model to write them, or a prompt cannot be filled.
    """
    drafts = list(dict.fromkeys(_aspects(plan) + _perturbations(plan) + _parts(plan)))
    if drafts and plan.study.drafter is None:
        raise UserError(
            f"the study names no model that drafts {drafts[0].lacks}",
            where=f"{source}, key drafter",
            todo=f"add `drafter: <a model card>`, or write the {drafts[0].lacks} of "
            f"{drafts[0].card}",
        )
    for draft in drafts:
        form = DRAFTING[draft.kind]
        for problem in (None, "a sample problem"):
            messages(form, plan.templates[form], **shown_to(plan, draft), problem=problem)
    return drafts


def _aspects(plan: Plan) -> list[Draft]:
    return [
        Draft("aspect", aspect, card.task)
        for dataset, card in plan.datasets.items()
        for aspect in plan.plain_aspects(dataset)
        if not plan.aspect_of(dataset, aspect).steps
    ]


def _perturbations(plan: Plan) -> list[Draft]:
    return [
        Draft("perturbation", made.perturbation, card.task)
        for card, made in _writers(plan)
        if made.adjustment and not made.instructions
    ]


def _parts(plan: Plan) -> list[Draft]:
    told = [
        Draft(PARTS, plan.lowered(dataset, card), plan.datasets[dataset].task)
        for name, card in graded(plan).items()
        for dataset in plan.datasets
        if card.model and name in dict(plan.perturbed(dataset, "graded"))
        if not lowered(plan, dataset, card)
    ]
    return told + [
        Draft(PARTS, aspect, card.task)
        for card, made in _writers(plan)
        if (aspect := lowered_by(plan, card.dataset, made)) is not None
        if lacks_parts(plan, made, card)
    ]


def _writers(plan: Plan) -> Iterator[tuple[Dataset, MadePerturbation]]:
    """Yield every dataset with each perturbation that a model makes of it."""
    for dataset, card in plan.datasets.items():
        for name in dict(plan.perturbed(dataset, "once", "row")):
            made = plan.perturbations[name]
            if isinstance(made, MadePerturbation):
                yield card, made


def shown_to(plan: Plan, draft: Draft) -> dict[str, Any]:
    """Return the names of a draft's prompt, but for `problem`: why an earlier one cannot be used.

    `amounts` is how many changes the perturbation's degrees want, in all datasets of the task.
    """
    names = [name for name, card in plan.datasets.items() if card.task == draft.task]
    if draft.kind in {"aspect", PARTS}:
        aspect = plan.aspect_of(names[0], draft.name)
        told = {"name": aspect.name, "definition": aspect.definition}
        return {"task": draft.task, "aspect": told}
    card = plan.perturbations[draft.name]
    assert isinstance(card, MadePerturbation)
    amounts: list[dict[str, Any]] = []
    for degree in (one for name in names for one in card.degrees_for(name).values()):
        if degree.model_dump() not in amounts:
            amounts.append(degree.model_dump())
    return {"task": draft.task, "adjustment": card.adjustment, "amounts": amounts}


class DraftSpecs(Specs):
    """The specs of the jobs that draft, of a plan made for drafting."""

    def draft(self, draft: Draft) -> str:
        """Return the spec of a draft."""
        drafter, form = self.drafter, DRAFTING[draft.kind]
        return self._record(
            DraftSpec,
            "draft",
            self._engine(drafter),
            kind=draft.kind,
            card=draft.card,
            lacks=draft.lacks,
            task=draft.task,
            shown=shown_to(self.plan, draft),
            drafter=self._writer(drafter, form, Decoding(max_tokens=MOST_TOKENS)),
            output=f"{self.out}/{draft.file}",
        )

    @property
    def drafter(self) -> str:
        """Return the model that drafts."""
        assert self.plan.study.drafter is not None  # drafts_of says so
        return self.plan.study.drafter

    def keys(self) -> dict[str, str]:
        """Return the drafter -> the variable of its endpoint's key, where it needs one."""
        card = self.plan.models[self.drafter]
        variable = card.api_key_env if isinstance(card, OpenAIModel) else None
        return {self.drafter: variable} if variable else {}
