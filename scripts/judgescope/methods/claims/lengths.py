"""Claims that cannot be tested against the length of the texts, which then say so."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from judgescope.methods.claims.base import BREVITY, CRITERIA, LENGTH, Claim
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.statistics.result import NO_LENGTHS

LENGTH_NOT_TESTED: Final = "length_not_tested"
"""Reason: nobody knows the texts' lengths, or (its detail) all are equally long."""


def length_stated(study: EvaluationData, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the claims; those that length cannot explain away, for want of lengths,
    say so.

    Such a claim has the reason LENGTH_NOT_TESTED, and no p of either length. Claims on
    perturbed texts are unchanged, as these texts are always known.
    """
    why = study.systems.length_untested
    reason = LENGTH_NOT_TESTED if why == NO_LENGTHS else f"{LENGTH_NOT_TESTED}: {why}"
    for claim in claims:
        on_systems = claim.perturbation is None and claim.kind != CRITERIA
        if why and on_systems and LENGTH in claim.nulls:
            nulls = {
                name: p
                for name, p in claim.nulls.items()
                if name not in (LENGTH, BREVITY)
            }
            claim = replace(claim, nulls=nulls, reasons=(*claim.reasons, reason))
        yield claim
