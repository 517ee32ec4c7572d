"""What may be said of every judge on a dataset: table `verdicts`.

Each maker computes claims of its kinds where its method is part of the study.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from judgescope.methods.base import Method, Row
from judgescope.methods.claims import agreement, bars, criteria, damage, hints, order, rating, spans
from judgescope.methods.claims.base import Claim, verdict_rows
from judgescope.methods.evaluation_data import EvaluationData

Maker = Callable[[EvaluationData], Iterable[Claim]]
MAKERS: Final[dict[str, tuple[Maker, ...]]] = {
    "agreement": (agreement.claims,),
    "perspectives": (rating.claims, order.claims),
    "pairwise": (order.compared,),
    "spans": (spans.claims,),
    "discernment": (damage.claims,),
    "confusion": (criteria.claims,),
    "robustness": (hints.claims,),
}
"""Table whose inputs a claim needs -> the functions that make its claims."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of verdicts.csv: of every claim its number, its p-values and its verdict."""
    people = agreement.people(study) if "agreement" in study.spec.claimed else ()
    return [*people, *verdict_rows(study, _claims(study))]


def _claims(study: EvaluationData) -> Iterator[Claim]:
    for table, makers in MAKERS.items():
        if table in study.spec.claimed:
            for maker in makers:
                yield from maker(study)
    if study.spec.required:
        yield from bars.claims(study)


METHOD = Method(when="always", parts=("as_rater", "verdicts"), votes=True, bars=False)
