"""Verdicts on every judge of a dataset: its claims and their p-values.

The claims of a method are computed if the method is part of the study.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from judgescope.methods.base import Method, Row
from judgescope.methods.claims import agreement, bars, perturbations, ratings
from judgescope.methods.claims.base import Claim, verdict_rows
from judgescope.methods.evaluation_data import EvaluationData

MAKERS: Final[dict[str, tuple[Callable[[EvaluationData], Iterable[Claim]], ...]]] = {
    "agreement": (agreement.claims,),
    "perspectives": (ratings.rating_claims, ratings.order_claims),
    "pairwise": (ratings.pair_claims,),
    "spans": (agreement.span_claims,),
    "discernment": (perturbations.damage_claims,),
    "confusion": (perturbations.criteria_claims,),
    "robustness": (perturbations.hint_claims,),
}
"""Table whose inputs a claim needs -> the functions that make its claims."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of verdicts.csv: of every claim its number, its p-values and its verdict."""
    people = agreement.people_rows(study) if "agreement" in study.spec.claimed else ()
    return [*people, *verdict_rows(study, _claims(study))]


def _claims(study: EvaluationData) -> Iterator[Claim]:
    for table, makers in MAKERS.items():
        if table in study.spec.claimed:
            for make in makers:
                yield from make(study)
    if study.spec.required:
        yield from bars.claims(study)


METHOD = Method(when="always", parts=("as_rater", "verdicts"), votes=True, bars=False)
