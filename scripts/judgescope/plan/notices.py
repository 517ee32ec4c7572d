"""What a study names and does not use, since it judges other aspects."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgescope.plan.study import Plan


def unjudged(plan: "Plan") -> Iterator[str]:
    """Yield a line about each perturbation whose aspects are judged on no dataset that it is for.

    Those are texts in rows and graded sets: others are judged on all aspects.
    """
    judged = {name: {*plan.plain_aspects(name)} for name in plan.evaluated}
    for name, card in plan.perturbations.items():
        own = [
            judged[dataset]
            for dataset in plan.evaluated
            if not card.tasks or plan.datasets[dataset].task in card.tasks
            if card.degrees_for(dataset)
        ]
        if not own or not card.aspects or any(one & {*card.aspects} for one in own):
            continue
        elsewhere = any(one & {*card.aspects} for one in judged.values())
        where = " on the datasets that it is for" if elsewhere else ""
        aspects = " and ".join(card.aspects)
        yield f"left out: {name} is about {aspects}, which the study does not judge{where}"
