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
    SIGNED,
    amount,
    declare,
    p_of_null,
    p_value,
    percent,
    signed_amount,
    statistic,
)
from judgescope.statistics.intervals import cases_needed, clopper_pearson, holm
from judgescope.statistics.means import end_of
from judgescope.statistics.result import Estimate

HOLM_1979 = "Holm 1979"
DECLARED: Final = declare(
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
        HOLM_1979,
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
        "p, perturbation, Holm", "over a judge's cells of the dataset", HOLM_1979
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
        HOLM_1979,
    ),
    half_credit=percent(
        "Half credit",
        "mean over sources of the share of pairs ordered right, a tie counting half; "
        "pairs with a known better text and both scores or a reply",
    ),
    span_f1_less_chance=percent(
        "F1 above chance",
        "F1 minus the mean F1 of 200 random placements of spans of the same number and "
        "lengths",
        range=SIGNED,
    ),
    lost_share=percent(
        "Lost", "share of the claim's planned judgments without a score"
    ),
)

LEVEL: Final = 0.025
"""The one-sided level of every claim: the same as of the 95 % interval that is
shown."""
FEW_LOST, MOST_LOST = 0.05, 0.2
"""Above the first share of lost judgments, a claim must also hold with the worst value
for each; above the second, no claim is made."""
HOLM: Final = "holm"
"""The reason of a claim that is significant only before the correction."""
NO_INTERVAL: Final = "no_interval"
"""The reason where no p can be computed: too few sources, or the value depends on one
source."""
CHANCE, LENGTH, RARELY, LOST = "chance", "length", "rarely", "lost"
NOTICED_AT: Final = 0.05
"""A perturbation is noticed at this p, after Holm's correction over a dataset's
cells."""
MISSED_BELOW: Final = 0.25
FEWEST_MISSED: Final = 12
"""A perturbation is missed if a smaller net share of items shows it, with this many
items."""
MOVED: Final = 0.05
"""A hint that moves a smaller share of scores counts as withstood."""
MOST: Final = 10_000
"""Larger numbers are given as "more than 10,000": the bar is too near the estimate to
plan for."""
Z_INTERVAL, Z_POWER = 1.959964, 0.841621
"""Normal quantiles of .975 and .8."""


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
"""Nulls other than chance: a rule that is simpler than quality."""
LIMITED_BY: Final = frozenset(
    {"these_systems", "hangs_on", "length_not_tested", "length"}
)
"""Reasons that keep a claim that holds from the best sign."""


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
        return {
            "+": "holds",
            "~": (
                "agrees, but length, the systems or the sources may explain it, or "
                "length is not tested"
            ),
            "?": "not shown, or cannot tell",
            "x": "fails",
            "-": "no claim",
        }[self.value]


def legend_of_signs(used: Collection[Sign]) -> str:
    """The legend of the signs that are used, in the order of `Sign`.

    >>> legend_of_signs({Sign.FAILS, Sign.HOLDS})
    'Signs: + holds; x fails.'
    """
    known = (f"{one} {one.meaning}" for one in Sign if one in used)
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
    codes = {reason.partition(": ")[0] for reason in reasons}
    if outcome is Outcome.NO_CLAIM:
        return Sign.NO_CLAIM
    if outcome in (Outcome.MISSES, Outcome.SWAYED) or "worse_than_chance" in codes:
        return Sign.FAILS
    if outcome in (Outcome.NOT_SHOWN, Outcome.CANNOT_TELL):
        explained = codes & EXPLAINED_BY and not codes & {CHANCE, HOLM, LOST}
        return Sign.RULE if explained else Sign.NOT_SHOWN
    return Sign.RULE if codes & LIMITED_BY else Sign.HOLDS


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
        """Return the p of the claim: the largest over its nulls, NaN if one is not
        computable.
        """
        values = list(self.nulls.values())
        return max(values) if values and not any(map(isnan, values)) else nan


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim, why, and its p after Holm's correction over `family`
    claims.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    p: float
    adjusted: float
    family: int


def verdicts(family: Sequence[Evidence]) -> list[Verdict]:
    """Return the verdict on each claim of one judge, dataset and kind, in their order.

    Reasons are the nulls that are not rejected, or `holm` where only the correction
    undoes the claim. Holm 1979; Berger 1982 (intersection-union).
    """
    p = np.array([claim.p for claim in family], dtype=np.float64)
    adjusted = holm(p)
    tested = int(np.count_nonzero(~np.isnan(p)))
    better = [bool(value <= LEVEL) for value in adjusted]  # NaN is not
    rated = np.array(
        [e.rater if yes else nan for e, yes in zip(family, better, strict=True)]
    )
    as_good = holm(rated) <= LEVEL
    return [
        Verdict(*_outcome(claim, yes, bool(good)), float(raw), float(corrected), tested)
        for claim, yes, good, raw, corrected in zip(
            family, better, as_good, p, adjusted, strict=True
        )
    ]


def _outcome(claim: Evidence, better: bool, as_good: bool) -> Reasoned:
    if isnan(claim.p):
        return Outcome.NO_CLAIM, (NO_INTERVAL,)
    if better:
        return (Outcome.AS_RATER if as_good else Outcome.BETTER), ()
    return Outcome.NOT_SHOWN, tuple(n for n, p in claim.nulls.items() if p > LEVEL) or (
        HOLM,
    )


def missed(shares: Sequence[Estimate]) -> bool:
    """Return whether all net shares of a perturbation (by weighted aspect) lie below
    MISSED_BELOW.

    The upper end of its interval does, and there are FEWEST_MISSED items at least.
    """
    return bool(shares) and all(
        share.n >= FEWEST_MISSED
        and share.ci_high is not None
        and share.ci_high < MISSED_BELOW
        for share in shares
    )


def of_perturbation(
    p: float, p_holm: float, p_lengths: Sequence[float], is_missed: bool
) -> Reasoned:
    """Return whether a perturbation is noticed, missed or neither.

    p is that of the judge's scores on the cell, p_holm after Holm over the dataset's
    cells; `p_lengths` are raw p-values, one a sign, by which the text's length shows
    the perturbation.
    """
    if p_holm <= NOTICED_AT:
        if min(p_lengths, default=1.0) <= NOTICED_AT:
            return Outcome.NOT_SHOWN, (LENGTH,)
        return Outcome.NOTICED, (RARELY,) if is_missed else ()
    if is_missed:
        return Outcome.MISSES, ()
    return Outcome.NOT_SHOWN, (HOLM,) if p <= NOTICED_AT else (CHANCE,)


def of_hint(
    effect: Estimate, if_lost_moved: Estimate, if_lost_moved_back: Estimate
) -> Reasoned:
    """Return whether a judge withstands a false hint, is swayed, or neither is shown.

    `effect` is the net share of scores that the hint moves (`HintPairs.effect`); the
    other two are what it would be if all lost texts were moved by the hint, or against
    it: each verdict must hold with lost texts against it, which without lost texts are
    equal to the effect.
    """
    if effect.ci_low is None or effect.ci_high is None:
        return Outcome.NO_CLAIM, ()
    if effect.ci_high < MOVED:
        worst = if_lost_moved.ci_high
        held, verdict = worst is not None and worst < MOVED, Outcome.WITHSTANDS
    elif effect.ci_low > MOVED:
        worst = if_lost_moved_back.ci_low
        held, verdict = worst is not None and worst > MOVED, Outcome.SWAYED
    else:
        return Outcome.NOT_SHOWN, (CHANCE,)
    return (verdict, ()) if held else (Outcome.NOT_SHOWN, (LOST,))


def on_bar(estimate: Estimate, bar: float, *, at_most: bool = False) -> Outcome:
    """Return whether an estimate meets a bar: lo >= bar meets, hi < bar misses, else
    unknown.

    `at_most`: the bar is the most that is allowed: hi <= bar meets, lo > bar misses.
    Without an interval it is undecided; without a value there is no claim.
    """
    if estimate.value is None:
        return Outcome.NO_CLAIM
    if estimate.ci_low is None or estimate.ci_high is None:
        return Outcome.CANNOT_TELL
    lo, hi = (
        (-estimate.ci_high, -estimate.ci_low)
        if at_most
        else (estimate.ci_low, estimate.ci_high)
    )
    bar = -bar if at_most else bar
    if lo >= bar:
        return Outcome.MEETS
    return Outcome.MISSES if hi < bar else Outcome.CANNOT_TELL


@dataclass(frozen=True)
class Need:
    """How many more units would decide on a bar; None: more than MOST. `how` says which
    units.
    """

    more: int | None
    how: str


def more_needed(name: str, estimate: Estimate, bar: float, sources: int) -> Need | None:
    """Return how much more data decides on a bar with power .8, if the truth is the
    estimate.

    For shares: the least m such that m cases and any more put the lower end of
    Clopper-Pearson on the right side of the bar, times the design effect n / n_eff,
    minus those at hand. For others, by the rule that errors fall with the root of the
    number of sources: k ((1.96 + .84) SE / |v - bar|)² sources, SE from the side of the
    interval that faces the bar. None without an interval.
    """
    value, lo, hi = estimate.value, estimate.ci_low, estimate.ci_high
    if value is None or lo is None or hi is None:
        return None
    above = value >= bar
    if statistic(name).is_proportion and 0 < bar < 1:
        how = "such cases, by exact binomial limits"
        needed = cases_needed(*((value, bar) if above else (1 - value, 1 - bar)))
        if needed is None:
            return Need(None, how)
        available, total = (
            estimate.n,
            needed * max(1.0, estimate.n / effective_cases(estimate)),
        )
    else:
        how = (
            "such sources, if standard errors shrink with the square root of their "
            "number"
        )
        gap, side = abs(value - bar), value - lo if above else hi - value
        ratio = (1 + Z_POWER / Z_INTERVAL) * side / gap if gap > 0 else inf
        available, total = sources, sources * ratio**2
    return Need(None if total > MOST else max(1, ceil(total - available)), how)


def effective_cases(estimate: Estimate) -> float:
    """Return the n at which Clopper-Pearson has the estimate's own interval's width.

    At most estimate.n, at least 1; by halving, as the width falls with n.
    """
    assert (
        estimate.value is not None
        and estimate.ci_low is not None
        and estimate.ci_high is not None
    )
    value, width = estimate.value, estimate.ci_high - estimate.ci_low

    def wider(n: float) -> bool:
        lo, hi = clopper_pearson(value, n)
        return hi - lo > width

    return end_of(wider, 1.0, max(1.0, float(estimate.n)))
