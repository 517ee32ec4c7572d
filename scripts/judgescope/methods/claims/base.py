"""Claims: what a judge's numbers on one dataset might show, with the p-values that decide it.

A claim is made where its statistic is computed, from arrays. `verdict_rows` corrects the claims of
one judge and kind by Holm and writes them as rows of table `verdicts`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any, Final

from judgescope.methods.evaluation_data import EvaluationData
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import STEPS, Evidence, Outcome, Verdict, verdicts

AGREEMENT, RATING, ORDER, PAIRS = "agreement", "rating", "order", "pairs"
GRADED, SEQUENCE, SPANS = "graded", "sequence", "spans"
DAMAGE, CRITERIA, HINTS, BAR = "damage", "criteria", "hints", "bar"
KINDS: Final = (
    *(AGREEMENT, RATING, ORDER, PAIRS, GRADED, SEQUENCE, SPANS),
    *(DAMAGE, CRITERIA, HINTS, BAR),
)
"""What claims are about; the column `form` of their rows begins with it, and names the statistic
of a bar behind it."""
WITH_PEOPLE: Final = frozenset({AGREEMENT, RATING, ORDER, PAIRS, SPANS, BAR})
"""Kinds that say how well a judge agrees with people: none of them for a judge that is given a
rating of the text (a hint)."""
CHANCE, LENGTH, BREVITY, SYSTEMS = "chance", "length", "brevity", "systems"
WITHIN, LOST = "within", "lost"
INDEX: Final = "index"
"""The null hypothesis that the confusion index is 1 or more."""
HINTED: Final = "hinted"
"""The reason of a judge that is given a rating of the very text."""
VERDICT, P_CLAIM, P_HOLM, LOST_SHARE = "verdict", "p_claim", "p_claim_holm", "lost_share"
AS_RATER: Final = "as_rater"
"""Begins the name of the difference from one more rater."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """One claim about a judge on a dataset.

    `aspect` is what a cell calls it (with its criterion), "" where a claim is of the whole;
    `estimate` is the deciding number, with its interval. `nulls` maps each null hypothesis to its
    one-sided p (see `Evidence`); empty: no claim is possible, and `reasons` say why. `rater` is
    the difference from one more rater with `p_rater`; `None` where that is not known. `lost` is
    the share of its planned judgments without a score. `reasons` are codes that the report words;
    `outcome` is set where a rule of its own decides (and is then not corrected). `beside` has
    further numbers that the verdict rests on, by statistic.
    """

    judge: str
    kind: str
    statistic: str
    level: str
    aspect: str
    estimate: Estimate
    nulls: Mapping[str, float]
    rater: Estimate | None = None
    p_rater: float = nan
    lost: float = 0.0
    reasons: tuple[str, ...] = ()
    outcome: Outcome | None = None
    perturbation: str | None = None
    degree: str | None = None
    systems: str | None = None
    beside: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def evidence(self) -> Evidence:
        """Return what the verdict is made from; no p where a rule of its own decides."""
        nulls = {} if self.outcome is not None else self.nulls
        if self.kind == CRITERIA:  # an AUC of few cells jumps: only the index can be worse
            return Evidence(nulls, below=(INDEX,))
        return Evidence(nulls, self.p_rater, bar=self.kind == BAR)


def verdict_rows(study: EvaluationData, claims: Iterable[Claim]) -> Iterator[Row]:
    """Yield the rows of all claims of a dataset: number, p-values, verdict."""
    families: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        families.setdefault((claim.judge, claim.kind), []).append(_hint_checked(study, claim))
    for family in families.values():
        told = verdicts([claim.evidence for claim in family])
        for claim, verdict in zip(family, told, strict=True):
            yield from _rows(study, claim, verdict)


def _hint_checked(study: EvaluationData, claim: Claim) -> Claim:
    """Return the claim, or no claim of agreement for a judge that is given a rating."""
    card = study.spec["judges"].get(claim.judge, {})
    if claim.kind not in WITH_PEOPLE or not card.get("hint"):
        return claim
    return replace(
        claim, nulls={}, rater=None, p_rater=nan, reasons=(HINTED,), outcome=Outcome.NO_CLAIM
    )


def _rows(study: EvaluationData, claim: Claim, verdict: Verdict) -> Iterator[Row]:
    n, missing = claim.estimate.n, claim.estimate.n_missing
    outcome = claim.outcome or verdict.outcome
    reasons = claim.reasons if claim.outcome else (*verdict.reasons, *claim.reasons)
    note = "; ".join(dict.fromkeys([outcome, *reasons]))
    said = Estimate(STEPS.get(outcome), n=n, n_missing=missing, note=note)
    if not isnan(verdict.adjusted):
        said = Estimate(
            said.value, n=n, n_missing=missing, method=f"Holm over {verdict.family}", note=note
        )
    numbers = {claim.statistic: claim.estimate, VERDICT: said}
    for name, p in claim.nulls.items():
        numbers[f"p_{name}"] = _p(p, n)
    numbers |= {P_CLAIM: _p(verdict.p, n), P_HOLM: _p(verdict.adjusted, n)}
    if claim.lost:
        numbers[LOST_SHARE] = Estimate(claim.lost, n=n, n_missing=missing)
    if claim.rater is not None:
        numbers[f"{AS_RATER}_{claim.statistic}"] = claim.rater
        numbers["p_rater"] = _p(claim.p_rater, n)
    where: Row = {
        "form": f"{BAR} {claim.statistic}" if claim.kind == BAR else claim.kind,
        "perturbation": claim.perturbation,
        "degree": claim.degree,
        "systems": claim.systems,
    }
    for name, one in {**claim.beside, **numbers}.items():
        yield study.row(claim.judge, claim.aspect, name, claim.level, one, **where)


def _p(value: float, n: int) -> Estimate:
    return Estimate.undefined("not tested", n=n) if isnan(value) else Estimate(value, n=n)
