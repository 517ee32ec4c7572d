"""Checks of perturbations: their datasets, aspects, rules, degrees and checks."""

from collections.abc import Iterable, Mapping

from judgescope.core.errors import UserError, check_known
from judgescope.perturb.inject import ERRORS
from judgescope.perturb.rules import RULES, check_options
from judgescope.perturb.validation import CHECKS
from judgescope.schema import cards


def check_perturbation(
    card: cards.Perturbation, datasets: Iterable[str], used: Mapping[str, cards.Dataset]
) -> None:
    """Check a perturbation's datasets and aspects, and its rule with its degrees.

    `datasets` are all that have a card, `used` those of the study.
    """
    where = f"perturbations/{card.perturbation}.yaml"
    rated = set[str]()
    for dataset in used.values():
        rated.update(dataset.aspects)
    if card.aspects and rated.isdisjoint(card.aspects):
        raise UserError(
            "no dataset of the study has an aspect that this perturbation names",
            where=f"{where}, key aspects",
            got=card.aspects[0],
            allowed=sorted(rated),
            todo="name one of them, or leave the perturbation out of the study",
        )
    problem = "unknown dataset card"
    check_known(card.datasets, datasets, problem, where=f"{where}, key datasets")
    if isinstance(card, cards.RulePerturbation):
        _check_rule(card, where)
    elif isinstance(card, cards.MadePerturbation):
        check_known(card.checks, CHECKS, "unknown check", where=f"{where}, key checks")
    if isinstance(card, cards.RulePerturbation | cards.GradedPerturbation):
        problem = "unknown kind of error"
        check_known(card.errors, ERRORS, problem, where=f"{where}, key errors")


def _check_rule(card: cards.RulePerturbation, where: str) -> None:
    check_known([card.rule], RULES, "unknown rule", where=f"{where}, key rule")
    problem = f"the rule {card.rule} does not work on this level"
    check_known(
        [card.level], [RULES[card.rule].level], problem, where=f"{where}, key level"
    )
    for owner in [None, *card.datasets]:
        degrees = card.degrees
        if owner:
            degrees = card.datasets[owner]
        for degree, options in degrees.items():
            key = f"{where}, key {f'datasets.{owner}' if owner else 'degrees'}.{degree}"
            check_options(card.rule, options.model_dump(exclude_none=True), where=key)
