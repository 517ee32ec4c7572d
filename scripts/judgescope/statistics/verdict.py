"""The verdict on each claim about a judge: steps beyond chance, bars, perturbations and
hints.

A claim holds a step only if it is significant against each of the step's null
hypotheses (an intersection-union test: its p is the largest), after Holm's correction
over the claims of one judge, dataset and kind. The next step is asked only of claims
that hold the one before.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, inf, isnan, nan
from typing import Final

import numpy as np

from judgescope.statistics.declared import (
    ValueRange,
    amount,
    declare,
    p_of_null,
    p_value,
    percent,
    signed_amount,
)
from judgescope.statistics.intervals import cases_needed, clopper_pearson, holm
from judgescope.statistics.means import end_of
from judgescope.statistics.registry import statistic
from judgescope.statistics.result import Estimate

DECLARED: Final = declare(
    "verdict",
    verdict=amount(
        "Verdict",
        "step reached: 0 fails (misses a required bar or a perturbation, or follows a "
        "hint), 1 not shown to be better, 2 better than chance, 3 as good as one more "
        "rater, 4 meets a required bar; the note gives outcome and reasons",
        range="0 to 4",
    ),
    p_chance=p_of_null("p, chance", "no better than chance"),
    p_length=p_of_null("p, length", "no better than the text's length"),
    p_brevity=p_of_null(
        "p, brevity", "no better than the negative of the text's length"
    ),
    p_best_length=p_of_null(
        "p, best length",
        "nothing is left of the agreement when a curve of the texts' length is taken "
        "out of judge and people",
    ),
    p_systems=p_of_null(
        "p, systems",
        "systems are exchangeable; the judge's columns are permuted jointly over the "
        "sources of a block of systems",
    ),
    p_beyond_systems=p_of_null(
        "p, beyond systems", "no agreement among texts of one system"
    ),
    p_beyond_systems_holm=p_value(
        "p, beyond systems, Holm",
        "over the claims of one judge, dataset and kind that hold",
        "Holm 1979",
    ),
    sign=amount(
        "Sign",
        "3 holds, 2 agrees but a simpler rule or the systems may explain it, 1 not "
        "shown, 0 fails; the note has the sign of the terminal",
        range="0 to 3",
    ),
    rival=p_value(
        "p of the strongest rival",
        "largest p over the null hypotheses except lost replies; the note names it",
    ),
    rival_value=signed_amount(
        "Strongest rival", "the rival's own value of the claim's number"
    ),
    rival_difference=signed_amount(
        "Above the strongest rival", "the claim's number minus the rival's"
    ),
    ceiling=signed_amount(
        "{} of one rater", "agreement of one rater with the others", keeps_kind=True
    ),
    sources_counted=amount(
        "Sources", "number of sources that the claim's number rests on", complete=True
    ),
    says_share=percent(
        "Most frequent label",
        "share of the judge's labels that are its most frequent one, which the note "
        "names",
    ),
    p_within=p_of_null(
        "p, within sources",
        "scores are exchangeable among the texts of a source, or of all where fewer "
        "than 10 sources have two ratings",
    ),
    p_lost=p_of_null(
        "p, lost replies", "no better with the lost judgments set to the worst value"
    ),
    p_rater=p_of_null("p, rater", "worse than one more rater by the margin"),
    p_index=p_of_null("p, index", "unwanted drops are no smaller than wanted drops"),
    p_noticed=p_of_null(
        "p, perturbation",
        "perturbed texts score no lower on any weighted aspect (equals 0.05 to the "
        "power D_exact)",
        "Wilson 2019",
    ),
    p_noticed_holm=p_value(
        "p, perturbation, Holm", "over a judge's cells of the dataset", "Holm 1979"
    ),
    p_shorter=p_of_null("p, shorter", "the perturbation does not shorten texts"),
    p_longer=p_of_null("p, longer", "the perturbation does not lengthen texts"),
    bar=signed_amount(
        "Bar",
        "value that the study requires; the note says whether it is a minimum or a "
        "maximum",
    ),
    more_needed=amount(
        "More needed",
        "additional units (the method names them) needed to decide on the bar with "
        "power .8",
        range="1 and above",
    ),
    p_claim=p_value(
        "p of the claim", "largest p over its null hypotheses", "Berger 1982"
    ),
    p_claim_holm=p_value(
        "p of the claim, Holm",
        "after Holm's correction over the claims of one judge, dataset and kind",
        "Holm 1979",
    ),
    half_credit=percent(
        "Accuracy, ties half",
        "mean over sources of the share of pairs ordered right, a tie counting half; "
        "pairs with a known better text and both scores or a reply",
    ),
    span_f1_less_chance=percent(
        "F1 above chance",
        "F1 minus the mean F1 of 200 random placements of spans of the same number and "
        "lengths",
        range=ValueRange.SIGNED,
    ),
    lost_share=percent(
        "Lost", "share of the claim's planned judgments without a score"
    ),
)

LEVEL: Final = 0.025
"""The one-sided level of every claim: the same as of the 95 % interval that is
shown."""


@dataclass(frozen=True)
class LossLimits:
    """Shares of a claim's planned judgments that may be lost."""

    worst_case: float = 0.05
    """Above it, the claim must also hold with the worst value for every lost
    judgment."""
    no_claim: float = 0.2
    """Above it, no claim is made."""


LOSS: Final = LossLimits()


@dataclass(frozen=True)
class NoticingLimits:
    """When a perturbation is noticed, and when it is missed."""

    level: float = 0.05
    """It is noticed at this p, after Holm's correction over a dataset's cells."""
    missed_below: float = 0.25
    """It is missed if a smaller net share of items shows it …"""
    fewest_items: int = 12
    """… with at least this many items."""


NOTICING: Final = NoticingLimits()


@dataclass(frozen=True)
class ReasonCodes:
    """Codes of reasons for an outcome."""

    holm: str = "holm"
    """The claim is significant only before the correction."""
    no_interval: str = "no_interval"
    """No p can be computed: too few sources, or the value depends on one source."""
    chance: str = "chance"
    length: str = "length"
    rarely: str = "rarely"
    lost: str = "lost"


CODES: Final = ReasonCodes()
MOST: Final = 10_000
"""Larger numbers are given as "more than 10,000": the bar is too near the estimate to
plan for."""


class Outcome(StrEnum):
    """The outcome of a claim; `STEPS` has those that lie on the way from chance to a
    bar.
    """

    NO_CLAIM = "no_claim"
    NOT_SHOWN = "not_shown"
    BETTER = "better"
    AS_RATER = "as_rater"
    MISSES = "misses"
    CANNOT_TELL = "cannot_tell"
    MEETS = "meets"
    NOTICED = "noticed"
    WITHSTANDS = "withstands"
    SWAYED = "swayed"


STEPS: Final = {
    Outcome.NOT_SHOWN: 1,
    Outcome.BETTER: 2,
    Outcome.AS_RATER: 3,
    Outcome.MISSES: 0,
    Outcome.CANNOT_TELL: 1,
    Outcome.MEETS: 4,
    Outcome.NOTICED: 2,
    Outcome.WITHSTANDS: 2,
    Outcome.SWAYED: 0,
}
"""Outcome -> the number of the step in the tables; none where there is no claim."""
EXPLAINED_BY: Final = frozenset(
    {"length", "brevity", "best_length", "systems", "within"}
)
"""Reasons by which a rule that is simpler than quality explains the judge."""


class Sign(StrEnum):
    """What is shown of a claim, as the terminal writes it."""

    HOLDS = "+"
    RULE = "~"
    NOT_SHOWN = "?"
    FAILS = "x"
    NO_CLAIM = "-"

    @property
    def value_in_table(self) -> float:
        """The number of the sign in table `verdicts`; -1 where no claim is made."""
        order = "x?~+"
        return float(order.find(self.value))

    @property
    def meaning(self) -> str:
        """What the sign says, for a legend."""
        meanings = {
            "+": "holds",
            "~": "agrees, but length, the systems or the sources may explain it, or "
            "length is not tested",
            "?": "not shown, or cannot tell",
            "x": "fails",
            "-": "no claim",
        }
        return meanings[self.value]


def legend_of_signs(used: Collection[Sign]) -> str:
    """The legend of the signs that are used, in the order of `Sign`.

    >>> legend_of_signs({Sign.FAILS, Sign.HOLDS})
    'Signs: + holds; x fails.'
    """
    known = (f"{sign} {sign.meaning}" for sign in Sign if sign in used)
    return f"Signs: {'; '.join(known)}."


def sign_of(outcome: Outcome, reasons: Sequence[str]) -> Sign:
    """The sign of an outcome and its reasons (codes, some with `: detail`).

    >>> sign_of(Outcome.BETTER, []), sign_of(Outcome.BETTER, ["these_systems: 6"])
    (<Sign.HOLDS: '+'>, <Sign.RULE: '~'>)
    >>> sign_of(Outcome.NOT_SHOWN, ["chance", "length"])
    <Sign.NOT_SHOWN: '?'>
    >>> sign_of(Outcome.NOT_SHOWN, ["length"])
    <Sign.RULE: '~'>
    """
    # A claim that holds is limited to these systems, or length may carry it.
    limiting = {"these_systems", "hangs_on", "length_not_tested", "length"}
    codes = {reason.partition(": ")[0] for reason in reasons}
    if outcome is Outcome.NO_CLAIM:
        return Sign.NO_CLAIM
    if outcome in (Outcome.MISSES, Outcome.SWAYED) or "worse_than_chance" in codes:
        return Sign.FAILS
    if outcome in (Outcome.NOT_SHOWN, Outcome.CANNOT_TELL):
        unexplained = {CODES.chance, CODES.holm, CODES.lost}
        explained = codes & EXPLAINED_BY and not codes & unexplained
        if explained:
            return Sign.RULE
        return Sign.NOT_SHOWN
    if codes & limiting:
        return Sign.RULE
    return Sign.HOLDS


Reasoned = tuple[Outcome, tuple[str, ...]]
"""An outcome and its reasons, as codes."""


@dataclass(frozen=True)
class Evidence:
    """The p-values of one claim, all one-sided and raw.

    `nulls` has a name for each null hypothesis of the first step -> its p (NaN: not
    computable); `rater` is the p of being worse than one more rater by the margin or
    more, NaN where that is not known.
    """

    nulls: Mapping[str, float]
    rater: float = nan

    @property
    def p(self) -> float:
        """The p of the claim: the largest over its nulls, NaN if one is not
        computable.
        """
        values = list(self.nulls.values())
        if values and not any(map(isnan, values)):
            return max(values)
        return nan


@dataclass(frozen=True)
class ClaimVerdict:
    """The outcome of a claim, why, and its p after Holm's correction over `family`
    claims.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    p: float
    adjusted: float
    family: int


def verdicts(family: Sequence[Evidence]) -> list[ClaimVerdict]:
    """The verdict on each claim of one judge, dataset and kind, in their order.

    Reasons are the nulls that are not rejected, or `holm` where only the correction
    undoes the claim. Holm 1979; Berger 1982 (intersection-union).

    >>> length = Evidence({"chance": 0.001, "length": 0.3})
    >>> better = Evidence({"chance": 0.001, "length": 0.01}, rater=0.2)
    >>> [(str(each.outcome), each.reasons) for each in verdicts([length, better])]
    [('not_shown', ('length',)), ('better', ())]
    """
    p = np.array([claim.p for claim in family], dtype=np.float64)
    adjusted = holm(p)
    tested = int(np.count_nonzero(~np.isnan(p)))
    better = [bool(value <= LEVEL) for value in adjusted]  # NaN is not
    p_rater = np.full(p.size, nan)
    for number, claim in enumerate(family):
        if better[number]:
            p_rater[number] = claim.rater
    as_good = holm(p_rater) <= LEVEL
    results = []
    for number, claim in enumerate(family):
        outcome, reasons = _outcome(claim, better[number], bool(as_good[number]))
        results.append(
            ClaimVerdict(
                outcome, reasons, float(p[number]), float(adjusted[number]), tested
            )
        )
    return results


def _outcome(claim: Evidence, better: bool, as_good: bool) -> Reasoned:
    if isnan(claim.p):
        return Outcome.NO_CLAIM, (CODES.no_interval,)
    if as_good and better:
        return Outcome.AS_RATER, ()
    if better:
        return Outcome.BETTER, ()
    kept = tuple(name for name, p in claim.nulls.items() if p > LEVEL)
    return Outcome.NOT_SHOWN, kept or (CODES.holm,)


def missed(shares: Sequence[Estimate]) -> bool:
    """Whether all net shares of a perturbation (by weighted aspect) are small.

    The upper end of each interval is below `missed_below`, and there are at least
    `fewest_items` items (`NoticingLimits`).

    >>> missed([Estimate(0.1, 0.0, 0.2, n=50)]), missed([Estimate(0.1, 0.0, 0.3, n=50)])
    (True, False)
    """
    for share in shares:
        if share.n < NOTICING.fewest_items or share.ci_high is None:
            return False
        if share.ci_high >= NOTICING.missed_below:
            return False
    return bool(shares)


def of_perturbation(
    p: float, p_holm: float, p_lengths: Sequence[float], is_missed: bool
) -> Reasoned:
    """Whether a perturbation is noticed, missed or neither.

    p is that of the judge's scores on the cell, p_holm after Holm over the dataset's
    cells; `p_lengths` are raw p-values, one a sign, by which the text's length shows
    the perturbation.

    >>> outcome, reasons = of_perturbation(0.001, 0.01, [0.6, 0.02], False)
    >>> str(outcome), reasons  # longer texts show the perturbation as well
    ('not_shown', ('length',))
    """
    if p_holm <= NOTICING.level:
        if min(p_lengths, default=1.0) <= NOTICING.level:
            return Outcome.NOT_SHOWN, (CODES.length,)
        return Outcome.NOTICED, (CODES.rarely,) if is_missed else ()
    if is_missed:
        return Outcome.MISSES, ()
    return Outcome.NOT_SHOWN, (CODES.holm,) if p <= NOTICING.level else (CODES.chance,)


def of_hint(
    effect: Estimate,
    if_lost_moved: Estimate,
    if_lost_moved_back: Estimate,
    *,
    moved: float = 0.05,
) -> Reasoned:
    """Whether a judge withstands a false hint, is swayed, or neither is shown.

    `effect` is the net share of scores that the hint moves (`HintPairs.effect`); the
    other two are what it would be if all lost texts were moved by the hint, or against
    it: each verdict must hold with lost texts against it, which without lost texts are
    equal to the effect. A hint that moves a smaller share of scores than `moved` counts
    as withstood.

    >>> effect = Estimate(0.01, -0.01, 0.03)
    >>> str(of_hint(effect, effect, effect)[0])
    'withstands'
    """
    if effect.ci_low is None or effect.ci_high is None:
        return Outcome.NO_CLAIM, ()
    if effect.ci_high < moved:
        worst = if_lost_moved.ci_high
        held = worst is not None and worst < moved
        verdict = Outcome.WITHSTANDS
    elif effect.ci_low > moved:
        worst = if_lost_moved_back.ci_low
        held = worst is not None and worst > moved
        verdict = Outcome.SWAYED
    else:
        return Outcome.NOT_SHOWN, (CODES.chance,)
    if held:
        return (verdict, ())
    return (Outcome.NOT_SHOWN, (CODES.lost,))


def on_bar(estimate: Estimate, bar: float, *, at_most: bool = False) -> Outcome:
    """Whether an estimate meets a bar: lo >= bar meets, hi < bar misses, else unknown.

    `at_most`: the bar is the most that is allowed: hi <= bar meets, lo > bar misses.
    Without an interval it is undecided; without a value there is no claim.

    >>> estimate = Estimate(0.8, 0.7, 0.9)
    >>> str(on_bar(estimate, 0.6)), str(on_bar(estimate, 0.6, at_most=True))
    ('meets', 'misses')
    """
    if estimate.value is None:
        return Outcome.NO_CLAIM
    if estimate.ci_low is None or estimate.ci_high is None:
        return Outcome.CANNOT_TELL
    low = estimate.ci_low
    high = estimate.ci_high
    if at_most:
        low, high = -high, -low
        bar = -bar
    if low >= bar:
        return Outcome.MEETS
    if high < bar:
        return Outcome.MISSES
    return Outcome.CANNOT_TELL


@dataclass(frozen=True)
class Need:
    """How many more units would decide on a bar; None: more than MOST. `how` says which
    units.
    """

    more: int | None
    how: str


def more_needed(name: str, estimate: Estimate, bar: float, sources: int) -> Need | None:
    """How much more data decides on a bar with power .8, if the truth is the
    estimate.

    For shares: the least m such that m cases and any more put the lower end of
    Clopper-Pearson on the right side of the bar, times the design effect n / n_eff,
    minus those at hand. For others, by the rule that errors fall with the root of the
    number of sources: k ((1.96 + .84) SE / |v - bar|)² sources, SE from the side of the
    interval that faces the bar. None without an interval.

    >>> need = more_needed("normal_scores", Estimate(0.5, 0.3, 0.7), 0.4, sources=20)
    >>> need.more  # 20 (2.8 SE / .1)² - 20
    144
    """
    value = estimate.value
    low = estimate.ci_low
    high = estimate.ci_high
    if value is None or low is None or high is None:
        return None
    above = value >= bar
    if statistic(name).is_proportion and 0 < bar < 1:
        how = "such cases, by exact binomial limits"
        share = value if above else 1 - value
        least = bar if above else 1 - bar
        needed = cases_needed(share, least)
        if needed is None:
            return Need(None, how)
        available = estimate.n
        total = needed * max(1.0, estimate.n / effective_cases(estimate))
    else:
        how = (
            "such sources, if standard errors shrink with the square root of their "
            "number"
        )
        z_interval = 1.959964  # the normal quantile of .975
        z_power = 0.841621  # and that of .8
        gap = abs(value - bar)
        side = value - low if above else high - value
        ratio = inf
        if gap > 0:
            ratio = (1 + z_power / z_interval) * side / gap
        available = sources
        total = sources * ratio**2
    if total > MOST:
        return Need(None, how)
    return Need(max(1, ceil(total - available)), how)


def effective_cases(estimate: Estimate) -> float:
    """The n at which Clopper-Pearson has the estimate's own interval's width.

    At most estimate.n, at least 1; by halving, as the width falls with n.

    >>> low, high = clopper_pearson(0.5, 20)
    >>> round(effective_cases(Estimate(0.5, low, high, n=40)), 3)
    20.0
    """
    value = estimate.value
    low = estimate.ci_low
    high = estimate.ci_high
    assert value is not None and low is not None and high is not None
    width = high - low

    def wider(n: float) -> bool:
        lower, upper = clopper_pearson(value, n)
        return upper - lower > width

    return end_of(wider, 1.0, max(1.0, float(estimate.n)))
