"""Kinds of damage that no judge is shown to notice, and whether length tells them."""

from collections.abc import Iterable
from dataclasses import dataclass

from judgescope.methods.claims import base
from judgescope.report.claims import ReportedClaim
from judgescope.statistics.verdict import Sign


@dataclass(frozen=True)
class UnnoticedDamage:
    """Kinds of damage that no judge is shown to notice, by their names."""

    of_any_length: list[str]
    """Kinds that the length of a text does not give away, on a dataset at least."""
    by_length: list[str]
    """Kinds that length gives away: noticing them shows no reading, so they are no
    test."""
    kinds: int
    """All kinds, those that are noticed included."""


def unnoticed_damage(claims: Iterable[ReportedClaim]) -> UnnoticedDamage:
    """Sort the kinds of damage that no judge is shown to notice.

    A claim has the sign of a rule where length gives the damage away. Length does so
    to all judges, but only a judge whose scores drop has that sign.
    """
    signs: dict[str, dict[str, set[Sign]]] = {}
    for claim in claims:
        if claim.kind == base.PERTURBATION and claim.sign is not Sign.NO_CLAIM:
            of_kind = signs.setdefault(claim.subject, {})
            of_kind.setdefault(claim.dataset, set()).add(claim.sign)
    of_any_length = []
    by_length = []
    for kind, of_dataset in signs.items():
        if any(Sign.HOLDS in each for each in of_dataset.values()):
            continue
        if all(Sign.RULE in each for each in of_dataset.values()):
            by_length.append(kind)
        else:
            of_any_length.append(kind)
    return UnnoticedDamage(of_any_length, by_length, len(signs))
