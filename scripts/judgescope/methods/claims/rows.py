"""Verdicts on claims, and their rows in table `verdicts`.

The claims of one judge, dataset and kind are a family. Over it Holm's correction is
made, step by step; then the scope of what holds is found, and each claim is written
with its number, its p-values, its strongest rival and its sign.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Final

import numpy as np

from judgescope.methods.claims.base import (
    AS_RATER,
    BAR,
    BEYOND_SYSTEMS,
    CAUGHT,
    CHANCE,
    HANGS_ON,
    HINTED,
    LABELS,
    LENGTH,
    LENGTH_NOT_TESTED,
    LENGTHS,
    LOST,
    LOST_SHARE,
    P_CLAIM,
    P_HOLM,
    PASSED,
    SAYS,
    SHARES_OF_LABELS,
    SYSTEMS,
    THESE_SYSTEMS,
    VERDICT,
    WITH_PEOPLE,
    WORSE_THAN_CHANCE,
    Claim,
)
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.intervals import holm
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import (
    LEVEL,
    STEPS,
    ClaimVerdict,
    Outcome,
    Sign,
    sign_of,
    verdicts,
)

SIGN: Final = "sign"
RIVAL: Final = "rival"
"""The statistic whose value is the largest p of a claim, and whose note names its
null."""


def verdict_rows(data: EvaluationData, claims: Iterable[Claim]) -> Iterator[ResultRow]:
    """Yield the rows of all claims of a dataset: number, p-values, rival, verdict."""
    families: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        card = data.spec.judges.get(claim.judge)
        if claim.kind in WITH_PEOPLE and card and card.hint:
            nothing = replace(claim, nulls={}, rivals={}, rater=None, p_rater=nan)
            claim = nothing.without(HINTED)
        families.setdefault((claim.judge, claim.kind), []).append(claim)
    labels = {
        judge: above_chance(family)
        for (judge, kind), family in families.items()
        if kind == LABELS
    }
    for judge, kind in list(families):
        # What a claim keeps of a large table's texts goes with it.
        family = families.pop((judge, kind))
        finds = labels.get(judge)
        praised = [counted_with_labels(claim, finds) for claim in family]
        for claim, verdict in decided(praised):
            yield from _rows(data, claim, verdict)


def decided(family: Sequence[Claim]) -> list[tuple[Claim, ClaimVerdict]]:
    """The claims of one judge, dataset and kind, with their verdicts and scopes."""
    tested = sum(not isnan(claim.evidence.p) for claim in family)
    asked = []
    for claim in family:
        if claim.outcome is None and claim.by_system is not None:
            claim = claim.by_system.asked(claim, tested)
        asked.append(claim)
    decisions = verdicts([claim.evidence for claim in asked])
    scoped = _with_scope(asked, decisions, tested)
    worse = holm([claim.worse for claim in scoped])
    decided_claims = []
    for claim, verdict, p in zip(scoped, decisions, worse, strict=True):
        if verdict.outcome == Outcome.NOT_SHOWN and p <= LEVEL:
            claim = replace(claim, reasons=(*claim.reasons, WORSE_THAN_CHANCE))
        decided_claims.append((claim, verdict))
    return decided_claims


def _with_scope(
    family: Sequence[Claim], decisions: Sequence[ClaimVerdict], tested: int
) -> list[Claim]:
    """Say of each claim that holds whether it does among texts of one system, too.

    One-sided, Holm over the claims that hold (docs/methods.md, "Agreement"); and
    whether the claim hangs on one system (docs/methods.md, "Rules of the verdicts").
    """
    numbers: dict[int, Estimate | None] = {}
    p_values = np.full(len(family), nan)
    holding_outcomes = frozenset({Outcome.BETTER, Outcome.AS_RATER})
    for index, (claim, verdict) in enumerate(zip(family, decisions, strict=True)):
        if verdict.outcome not in holding_outcomes or claim.outcome is not None:
            continue
        if claim.by_system is None:
            continue
        beyond = claim.by_system.beyond()
        numbers[index] = None if beyond is None else beyond.estimate
        if beyond is not None:
            p = beyond.p_above(0.0)
            p_values[index] = nan if p is None else p
    adjusted = holm(p_values)
    scoped = list(family)
    for index, number in numbers.items():
        claim = family[index]
        assert claim.by_system is not None
        beside = dict(claim.beside)
        reasons = claim.reasons
        if number is not None:
            beside[BEYOND_SYSTEMS] = number
        if not isnan(adjusted[index]):
            beside[f"p_{BEYOND_SYSTEMS}"] = Estimate(float(p_values[index]))
            beside[f"p_{BEYOND_SYSTEMS}_holm"] = Estimate(float(adjusted[index]))
        if not adjusted[index] <= LEVEL:
            reasons = (*reasons, f"{THESE_SYSTEMS}: {claim.by_system.systems}")
        if needed := claim.by_system.hangs_on(claim, tested):
            reasons = (*reasons, f"{HANGS_ON}: {needed}")
        scoped[index] = replace(claim, beside=beside, reasons=reasons)
    return scoped


# --- shares of labels -----------------------------------------------------------------


def above_chance(family: Sequence[Claim]) -> dict[str, Claim]:
    """The label claims whose balanced accuracy beats chance, by aspect.

    Holm over the aspects, the null of chance alone (docs/methods.md, "Rules of the
    verdicts").
    """
    p = []
    for claim in family:
        p.append(claim.nulls.get(CHANCE, nan) if claim.outcome is None else nan)
    adjusted = holm(p)
    return {
        claim.aspect: claim
        for claim, value in zip(family, adjusted, strict=True)
        if value <= LEVEL
    }


def counted_with_labels(claim: Claim, finds: dict[str, Claim] | None) -> Claim:
    """A share of found labels counts only beside balanced accuracy above chance.

    A judge that says *pass* to nearly everything finds nearly all good texts; the claim
    then says what it does. With a length as good, the claim says so. finds: the label
    claims that beat chance, by aspect; None where the study makes none.
    """
    of_labels = claim.kind in (CAUGHT, PASSED)
    of_bar = claim.kind == BAR and claim.statistic in SHARES_OF_LABELS
    praised = claim.outcome in (Outcome.WITHSTANDS, Outcome.MEETS)
    if finds is None or not praised or not (of_labels or of_bar):
        return claim
    labels = finds.get(claim.aspect)
    if labels is None:
        reason = f"{SAYS}: {claim.says}" if claim.says else CHANCE
        return replace(
            claim, outcome=Outcome.NOT_SHOWN, reasons=(*claim.reasons, reason)
        )
    if any(labels.nulls.get(name, 0.0) > LEVEL for name in LENGTHS):
        return replace(claim, reasons=(*claim.reasons, LENGTH))
    untested = [code for code in labels.reasons if code.startswith(LENGTH_NOT_TESTED)]
    return replace(claim, reasons=(*claim.reasons, *untested))


# --- rows -----------------------------------------------------------------------------


def strongest(claim: Claim) -> str | None:
    """The null with the largest p, that of lost judgments aside; None without nulls."""
    tested = {}
    for name, p in claim.nulls.items():
        if name != LOST and not isnan(p):
            tested[name] = p
    return max(tested, key=lambda name: tested[name], default=None)


def _rows(
    data: EvaluationData, claim: Claim, verdict: ClaimVerdict
) -> Iterator[ResultRow]:
    n = claim.estimate.n
    missing = claim.estimate.n_missing
    outcome = claim.outcome or verdict.outcome
    reasons = claim.reasons
    if claim.outcome is None:
        reasons = (*verdict.reasons, *claim.reasons)
    # `report.claims` takes outcome and reasons apart again: no reason contains "; ".
    note = "; ".join(dict.fromkeys([outcome, *reasons]))
    method = ""
    if not isnan(verdict.adjusted):
        method = f"Holm over {verdict.family}"
    step = Estimate(
        STEPS.get(outcome), n=n, n_missing=missing, method=method, note=note
    )

    def p_value(p: float) -> Estimate:
        if isnan(p):
            return Estimate.undefined("not tested", n=n)
        return Estimate(p, n=n)

    card = data.spec.judges.get(claim.judge)
    sign = sign_of(outcome, reasons)
    if card is not None and card.engine == "control":
        sign = Sign.NO_CLAIM  # whatever a control reaches, it ignores quality
    numbers = {**claim.beside, claim.statistic: claim.estimate, VERDICT: step}
    numbers[SIGN] = Estimate(sign.value_in_table, n=n, note=sign.value)
    for name, p in claim.nulls.items():
        numbers[f"p_{name}"] = p_value(p)
    numbers[P_CLAIM] = p_value(verdict.p)
    numbers[P_HOLM] = p_value(verdict.adjusted)
    rival = strongest(claim)
    if rival is not None:
        numbers[RIVAL] = Estimate(claim.nulls[rival], n=n, note=rival)
        behind = claim.rivals.get(rival)
        value = None if behind is None else behind.value
        if rival == SYSTEMS:
            value = claim.beside.get(BEYOND_SYSTEMS)
        if value is not None:
            numbers[f"{RIVAL}_value"] = value
        if behind is not None and behind.difference is not None:
            numbers[f"{RIVAL}_difference"] = behind.difference
    if claim.lost:
        numbers[LOST_SHARE] = Estimate(claim.lost, n=n, n_missing=missing)
    if claim.rater is not None:
        numbers[f"{AS_RATER}_{claim.statistic}"] = claim.rater
        numbers["p_rater"] = p_value(claim.p_rater)
    columns: AppliesTo = {
        "form": f"{BAR} {claim.statistic}" if claim.kind == BAR else claim.kind,
        "perturbation": claim.perturbation,
        "degree": claim.degree,
        "system_subset": claim.systems,
    }
    for name, estimate in numbers.items():
        yield data.row(
            claim.judge, claim.aspect, name, claim.level, estimate, **columns
        )
