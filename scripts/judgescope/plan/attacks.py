"""What a study's attacks add to texts, and what they claim."""

from typing import TYPE_CHECKING

from judgescope.core.errors import UserError
from judgescope.perturb.specs import Addition
from judgescope.perturb.targets import TOP, inert
from judgescope.prompts import plain
from judgescope.schema.cards import AttackPerturbation

if TYPE_CHECKING:
    from judgescope.plan.study import Plan


def attacks_of(plan: "Plan", dataset: str) -> dict[str, bool]:
    """Return attack -> whether it names a number; of those that are made on a dataset."""
    names = dict.fromkeys(name for name, _ in plan.perturbed(dataset, "attack"))
    return {name: TOP in _card(plan, name).text for name in names}


def addition(plan: "Plan", dataset: str, name: str, degree: str) -> Addition:
    """Return what is added to a dataset's originals, and where: the attack or its counterpart."""
    card = _card(plan, name)
    text = card.text
    if TOP in text:
        text = text.replace(TOP, _top(plan, dataset, name))
    return Addition(text=inert(text) if degree == "inert" else text, place=card.place)


def _card(plan: "Plan", name: str) -> AttackPerturbation:
    card = plan.perturbations[name]
    assert isinstance(card, AttackPerturbation)
    return card


def _top(plan: "Plan", dataset: str, name: str) -> str:
    """Return the top of the scale of the aspects that attacked texts are judged on."""
    tops = {plan.scale_of(dataset, one).max for one in plan.judged_on(dataset, name)}
    if len(tops) > 1:
        raise UserError(
            f"this attack names the top of the scale, and aspects of {dataset} have several",
            where=f"perturbations/{name}.yaml, key text",
            got=sorted(map(plain, tops)),  # type: ignore[type-var]
            todo=f"name `aspects` of one scale, or write no {TOP}",
        )
    return str(plain(tops.pop()))


def check_attacks(plan: "Plan", dataset: str) -> None:
    """Check that every attack on a dataset can be written."""
    for name, degree in plan.perturbed(dataset, "attack"):
        addition(plan, dataset, name, degree)
