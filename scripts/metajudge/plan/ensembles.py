"""Judges that are made from others: what the method ensemble needs of them."""

from typing import Any

from metajudge.plan.judges import scale_of
from metajudge.plan.study import Plan
from metajudge.schema.errors import UserError


def ensembles_of(plan: Plan, dataset: str) -> dict[str, Any]:
    """Return derived judge -> its members, and how many of them have to score a target.

    `mixed` are the aspects on which the members have different scales.
    """
    named = set(plan.judges_of(dataset))
    return {
        name: {
            "members": sorted(card.members),
            "least": card.min_annotators,
            "mixed": [
                aspect
                for aspect in plan.rated_by(name, dataset)
                if len({_ends(plan, dataset, member, aspect) for member in card.members}) > 1
            ],
        }
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
