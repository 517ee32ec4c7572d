"""Cascades that end at a person: their price, and what they leave to people.

Rows of frontier.csv, where the study says what a rating costs. A person is the
standard here, so such a cascade is in no choice for a price: it is listed with the
guarantee of its thresholds. Each guarantee is on its own: of a cascade picked after a
look at several it is weaker. (docs/methods.md, "What to buy")
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

from judgescope.methods.candidates import THEN, AspectCandidates, Candidate, Sellers
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.statistics.escalation import Cascade, cascade_from
from judgescope.statistics.frontier import MOST_CASCADING
from judgescope.statistics.result import Estimate


class Escalation(NamedTuple):
    """The judges of a cascade that ends at a person, and what it does."""

    judges: tuple[str, ...]
    cascade: Cascade

    @property
    def name(self) -> str:
        """The names of those who are asked, in order, and the judges' thresholds.

        >>> cascade = Cascade((0.9, 0.75), (1.0, 0.4), 0.1, 0.0, 0.05)
        >>> Escalation(("a", "b"), cascade).name
        'a>b>people@0.9,0.75'
        """
        # Whom a cascade asks last, in its name.
        people_id = "people"
        asked = THEN.join([*self.judges, people_id])
        thresholds = self.cascade.thresholds
        if thresholds is None:
            return asked
        return f"{asked}@{','.join(f'{each:.4g}' for each in thresholds)}"


@dataclass(frozen=True)
class CascadePromise:
    """How many verdicts of a cascade may be wrong, and how seldom the promise breaks:
    the study's key `cascades`.
    """

    error: float = 0.1
    risk: float = 0.05

    @classmethod
    def of(cls, data: EvaluationData) -> "CascadePromise":
        """The promise that the study states."""
        return cls(**data.spec.settings.get("cascades", {}))  # type: ignore[arg-type]


def escalations_of(
    sellers: Sellers, part: AspectCandidates, promise: CascadePromise | None = None
) -> Iterator[Escalation]:
    """Yield each judge with a confidence before a person, then each with a dearer one
    between them.
    """
    stated = promise or CascadePromise()
    limits = {"error": stated.error, "risk": stated.risk}
    if part.sure is None:
        return
    source, sure = part.sure
    for judge in sure:
        yield Escalation((judge,), cascade_from([sure[judge]], source, **limits))
    if len(sure) > MOST_CASCADING:
        return
    prices = {judge: sellers.price(Candidate((judge,))) for judge in sure}
    for cheap, dear in permutations(sure, 2):
        if prices[cheap] < prices[dear]:
            cascade = cascade_from([sure[cheap], sure[dear]], source, **limits)
            yield Escalation((cheap, dear), cascade)


def rows_of(
    data: EvaluationData, sellers: Sellers, part: AspectCandidates
) -> Iterator[ResultRow]:
    """Yield price, share left to people and error of each cascade on an aspect; none if
    the study does not say what a rating costs.
    """
    per_rating = data.spec.rating_price
    if per_rating is None or part.sure is None:
        return
    stated = f"a person's rating costs US$ {per_rating:g}"
    promise = CascadePromise.of(data)
    for escalation in escalations_of(sellers, part, promise):
        name = escalation.name
        k = len(escalation.judges) + 1
        cascade = escalation.cascade
        n = part.sure.source.size
        if cascade.thresholds is None or cascade.error is None:
            nothing = Estimate.undefined(cascade.why, n=n)
            yield data.row(name, part.aspect, "left_to_people", "", nothing, k=k)
            continue
        prices = [sellers.price(Candidate((judge,))) for judge in escalation.judges]
        chance = f"{100 * (1 - promise.risk):.3g} %"
        at_most = f"at most {cascade.bound:.1%} wrong with a chance of {chance}"
        bound = f"{at_most}, of this cascade on its own"
        numbers = {
            "left_to_people": Estimate(cascade.left, n=n),
            "cascade_error": Estimate(
                cascade.error, n=round(n * (1 - cascade.left)), note=bound
            ),
            "usd_per_1000": Estimate(
                cascade.price(prices, per_rating), n=n, note=stated
            ),
        }
        for statistic, estimate in numbers.items():
            yield data.row(name, part.aspect, statistic, "", estimate, k=k)
