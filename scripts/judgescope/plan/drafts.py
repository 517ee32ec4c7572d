"""The steps and sub-aspects that a study's cards lack, and the jobs in which a model
drafts them.

Drafts are for people to review: a study never uses one automatically.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from judgescope.core.errors import UserError
from judgescope.perturb.drafting import DraftSpec
from judgescope.plan.checks.writer_forms import lacks_parts
from judgescope.plan.code import computing
from judgescope.plan.generators import graded, lowered, lowered_by
from judgescope.plan.specs.texts import writer
from judgescope.plan.study import Plan
from judgescope.prompts import DRAFTING, PARTS
from judgescope.prompts.filling import messages
from judgescope.schema.cards import FOLDERS, Decoding, MadePerturbation
from judgescope.schema.cards.engines import ENGINES


class MissingDraft(NamedTuple):
    """What a card lacks for a task: steps or sub-aspects of an aspect, steps of a
    perturbation.
    """

    kind: str
    name: str
    task: str

    @property
    def card(self) -> str:
        """Return the card that the draft is for."""
        return (
            f"{FOLDERS['aspect' if self.kind == PARTS else self.kind]}/{self.name}.yaml"
        )

    @property
    def lacks(self) -> str:
        """Return what is drafted, in words."""
        if self.kind == PARTS:
            return "sub-aspects"
        return "steps"

    @property
    def file(self) -> str:
        """Return the draft's name in the folder of drafts."""
        folder = self.lacks if self.kind == PARTS else FOLDERS[self.kind]
        return f"{folder}/{self.name}.{self.task}"


def drafts_of(plan: Plan, source: str) -> list[MissingDraft]:
    """Return the drafts that a study needs; `source` names its file in errors.

    Raises UserError if there is no model to write them, or a prompt cannot be filled.
    """
    drafts = list(dict.fromkeys(_lacking(plan)))
    if drafts and plan.study.drafter is None:
        raise UserError(
            f"the study names no model to draft the missing {drafts[0].lacks}",
            where=f"{source}, key drafter",
            todo=f"add `drafter: <a model card>`, or write the {drafts[0].lacks} of "
            f"{drafts[0].card}",
        )
    for draft in drafts:
        form = DRAFTING[draft.kind]
        for problem in (None, "a sample problem"):
            messages(
                form, plan.templates[form], **shown_to(plan, draft), problem=problem
            )
    return drafts


def _lacking(plan: Plan) -> Iterator[MissingDraft]:
    for dataset, card in plan.datasets.items():
        for aspect in plan.plain_aspects(dataset):
            if not plan.aspect_of(dataset, aspect).steps:
                yield MissingDraft("aspect", aspect, card.task)
    written = []
    for dataset, card in plan.datasets.items():
        for name in dict(plan.perturbed(dataset, "once", "chain")):
            made = plan.perturbations[name]
            if isinstance(made, MadePerturbation):
                written.append((card, made))
    for card, made in written:
        if made.adjustment and not made.instructions:
            yield MissingDraft("perturbation", made.perturbation, card.task)
    for name, built in graded(plan).items():
        for dataset, card in plan.datasets.items():
            built_there = built.model and name in dict(
                plan.perturbed(dataset, "graded")
            )
            if built_there and not lowered(plan, dataset, built):
                yield MissingDraft(PARTS, plan.lowered(dataset, name), card.task)
    for card, made in written:
        if (part := lowered_by(plan, card.dataset, made)) and lacks_parts(
            plan, made, card
        ):
            yield MissingDraft(PARTS, part, card.task)


def shown_to(plan: Plan, draft: MissingDraft) -> dict[str, object]:
    """Return the variables of a draft's prompt, except `problem`: why an earlier draft
    is unusable.

    `amounts` are the numbers of changes of the perturbation's degrees, in all datasets
    of the task.
    """
    names = [name for name, card in plan.datasets.items() if card.task == draft.task]
    about = plan.about(names[0]).names
    if draft.kind in {"aspect", PARTS}:
        aspect = plan.aspect_of(names[0], draft.name)
        names_aspect = {"name": aspect.name, "definition": aspect.definition}
        return {**about, "aspect": names_aspect}
    card = plan.perturbations[draft.name]
    assert isinstance(card, MadePerturbation)
    amounts: list[dict[str, object]] = []
    for name in names:
        for degree in card.degrees_for(name).values():
            if degree.model_dump() not in amounts:
                amounts.append(degree.model_dump())
    return {**about, "adjustment": card.adjustment, "amounts": amounts}


def draft_spec(plan: Plan, drafts: Mapping[str, MissingDraft], draft: str) -> DraftSpec:
    """Return the spec of the job that writes a draft; `drafts` maps file names to
    drafts.
    """
    lacked = drafts[draft]
    drafter = plan.study.drafter
    assert drafter is not None  # drafts_of() checks it
    # Maximum number of tokens of a draft.
    most_tokens = 2048
    return DraftSpec(
        **computing("draft", ENGINES.target(plan.models[drafter].engine)),
        kind=lacked.kind,
        card=lacked.card,
        lacks=lacked.lacks,
        task=lacked.task,
        shown=shown_to(plan, lacked),
        drafter=writer(
            plan, drafter, DRAFTING[lacked.kind], Decoding(max_tokens=most_tokens)
        ),
        output=plan.paths.draft(draft),
    )
