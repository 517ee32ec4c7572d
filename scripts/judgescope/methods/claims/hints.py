"""Does a judge withstand a false rating that it is given of the very text?

All aspects together, sources whole. A right hint makes no claim: to follow it is no failure.
"""

from collections.abc import Iterator
from typing import Final

from judgescope.methods.claims.base import HINTS, Claim
from judgescope.methods.claims.lost import Losses
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.hinting import ASKED_ONCE, hint_pairs
from judgescope.methods.rationales import Rationales
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import FEW_LOST, Outcome, of_hint

SECOND_DRAW: Final = "asked_once"
"""The reason where the form without a hint was asked once: what it changes by itself is unknown."""


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge that is given a wrong rating."""
    rationales = Rationales(study)
    for judge, told in study.spec.hinted.items():
        aspects = [name for name in study.spec.aspects if rationales.of(judge, name)]
        if told.tells == "wrong" and aspects:
            yield Losses.checked(_claim(study, rationales, judge, aspects))


def _claim(study: EvaluationData, rationales: Rationales, judge: str, aspects: list[str]) -> Claim:
    pairs = hint_pairs(study, rationales, judge, *aspects)
    if pairs is None:
        return Claim(
            *(judge, HINTS, "hint_effect", "", "", Estimate.undefined(ASKED_ONCE), {}),
            outcome=Outcome.NO_CLAIM,
            reasons=(SECOND_DRAW,),
        )
    found, lost = pairs.effect(), pairs.lost_share
    against = [pairs.with_lost(sign) if lost > FEW_LOST else found for sign in (1, -1)]
    outcome, reasons = of_hint(found, *against)
    return Claim(
        *(judge, HINTS, "hint_effect", "", "", found, {}),
        lost=lost,
        outcome=outcome,
        reasons=reasons,
    )
