"""Judges made of others: what they must be, and what tables need of them."""

from judgescope.core.errors import UserError
from judgescope.methods.specs import EnsembleMembers
from judgescope.plan.judges import scale_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import COMPARE, DerivedJudge
from judgescope.schema.cards.judges import OVERALL


def check_derived(plan: Plan, card: DerivedJudge) -> None:
    """Check that every member is a judge of the study that gives scores, or errors to merge.

    Whose errors are heard is decided in points of 1 to 5, which is the scale of all annotators of
    an ensemble therefore: their mean is on it too.
    """
    judges = plan.judges
    for member in card.members:
        if member not in judges or judges[member].form == COMPARE:
            raise UserError(
                "no judge of the study with this id gives scores",
                where=f"judges/{card.judge}.yaml, key members",
                got=member,
                allowed=[name for name, judge in judges.items() if judge.form != COMPARE],
                todo="name it under the study's `judges` too",
            )
        if card.supervisor and not plan.annotates(member):
            raise UserError(
                "this judge lists no errors that a supervisor could merge",
                where=f"judges/{card.judge}.yaml, key members",
                got=member,
                allowed=[name for name in judges if plan.annotates(name)],
                todo="name judges with the key `annotation`, or combine: mean",
            )
        if plan.annotates(member) and judges[member].own_scale != OVERALL:
            raise UserError(
                "an ensemble is of annotators that score from 1 to 5, as a member's errors are "
                "left out where its score is a point of that scale away from the others'",
                where=f"judges/{card.judge}.yaml, key members",
                got=member,
                allowed=[
                    name
                    for name, judge in judges.items()
                    if plan.annotates(name) and judge.own_scale == OVERALL
                ],
                todo="name annotators whose `score` is categories or integers",
            )


def ensembles_of(plan: Plan, dataset: str) -> dict[str, EnsembleMembers]:
    """Return derived judge -> its members, and how many of them have to score a target."""
    named, told = set(plan.judges_of(dataset)), plan.study.distill
    student = {told.teacher: told.judge} if told and told.judge in named else {}
    return {
        name: EnsembleMembers(
            members=sorted(card.members),
            min_members=card.min_annotators,
            mixed=[
                aspect
                for aspect in plan.rated_by(name, dataset)
                if len({_ends(plan, dataset, member, aspect) for member in card.members}) > 1
            ],
            student=student.get(name),
        )
        for name, card in plan.derived.items()
        if name in named
    }


def _ends(plan: Plan, dataset: str, judge: str, aspect: str) -> tuple[float, float] | None:
    scale = scale_of(plan, dataset, judge, aspect)
    return None if scale is None else (scale.min, scale.max)


def check_ensembles(plan: Plan, source: str) -> None:
    """Check that the method ensemble has an ensemble."""
    if "ensemble" in plan.study.methods and not plan.derived:
        raise UserError(
            "the method ensemble needs a judge that is made from others",
            where=f"{source}, key judges",
            got=plan.study.judges,
            todo="name a judge card with `members`, or leave the method out",
        )
