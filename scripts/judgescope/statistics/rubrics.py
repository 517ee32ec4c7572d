"""Rubrics: does a grader mark criteria as experts do, and what does its score say?

A case is one criterion of one response: experts say that it is met or not, and so does
a grader. Points of a criterion are negative for a fault. Arora et al. 2025,
"HealthBench", arXiv 2505.08775. See docs/methods.md, "Rubrics".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.declared import (
    correlation,
    declare,
    percent,
    signed_amount,
    undesired,
)
from judgescope.statistics.intervals import IntervalScale
from judgescope.statistics.labels import on_labels
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights

HEALTHBENCH: Final = "Arora et al. 2025"
UNIT: Final = IntervalScale("plain", 0.0, 1.0)
DECLARED = declare(
    "rubrics",
    rubric_balanced_accuracy=percent(
        "Balanced accuracy on criteria",
        "mean of the two shares found; a case is a verdict with one expert's label",
        HEALTHBENCH,
    ),
    rubric_f1=percent(
        "Macro F1 on criteria",
        "mean F1 of met and unmet; a case is a verdict with one expert's label",
        HEALTHBENCH,
        scaled=UNIT,
    ),
    rubric_tpr=percent(
        "Met found", "share of experts' labels `met` for which the verdict is met"
    ),
    rubric_tnr=percent(
        "Unmet found", "share of experts' labels `unmet` for which the verdict is unmet"
    ),
    rubric_kappa=correlation(
        "κ on a criterion",
        "agreement of two labels of one case beyond chance",
        "Cohen 1960",
        scaled=IntervalScale("plain", -1.0, 1.0),
    ),
    rubric_score=percent(
        "Rubric score",
        "mean over responses of points met / positive points, cut to 0 to 1; verdicts "
        "that were not read are in neither sum",
        HEALTHBENCH,
        scaled=UNIT,
    ),
    rubric_score_unmet=percent(
        "Rubric score, unread as unmet",
        "the same where a verdict that was not read counts as unmet",
        scaled=UNIT,
    ),
    rubric_unread=undesired(
        "Criteria not read", "share of cases without a verdict of the judge"
    ),
    rubric_error=signed_amount(
        "Error of the score",
        "judge's score of a response minus experts', on the criteria that both marked",
    ),
    rubric_order=percent(
        "Systems in experts' order",
        "share of pairs of systems whose mean scores are in the order of experts'",
        ties="half",
    ),
    rubric_order_plain=percent(
        "Order without points",
        "share of pairs of systems whose order stays if every criterion has one point, "
        "a fault minus one",
        ties="half",
    ),
    criterion_met=percent("Met", "share of labels, or of verdicts, that are met"),
    criterion_phi=correlation(
        "φ of two criteria",
        "correlation of experts' majority labels on two criteria of a response",
        "Yule 1912",
    ),
)
ON_LABELS: Final = {
    "rubric_balanced_accuracy": "balanced_accuracy",
    "rubric_f1": "f1_macro",
    "rubric_tpr": "tpr",
    "rubric_tnr": "tnr",
    "rubric_kappa": "kappa_nominal",
}
"""Statistic of this module -> the one of labels that it is of the cases."""
NO_POINTS: Final = "no criterion has positive points"


class LabelPairs(NamedTuple):
    """Two labels of a case: one is the truth, the other is compared; (pairs,) each.

    `case` is the place of the case among the cases.
    """

    truth: Floats
    verdict: Floats
    case: Codes


@dataclass(frozen=True, eq=False)
class RubricCases:
    """The criteria of responses, a case each.

    response, criterion (cases,): codes from 0. points (cases,): negative for a fault.
    experts (experts, cases), grader (cases,): 1 met, 0 unmet, NaN without a label; of a
    grader it was not read. source, system (responses,): codes from 0.
    """

    response: Codes
    criterion: Codes
    points: Floats
    experts: Floats
    grader: Floats
    source: Codes
    system: Codes

    @cached_property
    def case_source(self) -> Codes:
        """The source of each case, (cases,)."""
        return self.source[self.response]

    @cached_property
    def expert_labels(self) -> Floats:
        """The mean label of a case, NaN without one; (cases,)."""
        known = np.isfinite(self.experts)
        return quotient(np.nansum(self.experts, axis=0), known.sum(axis=0))

    @cached_property
    def marked(self) -> Flags:
        """Which cases both sides marked."""
        return np.isfinite(self.expert_labels) & np.isfinite(self.grader)

    @cached_property
    def grader_pairs(self) -> LabelPairs:
        """The grader's verdict with each expert's label: HealthBench's cases."""
        _, case = np.nonzero(np.isfinite(self.experts))
        truth = self.experts[np.isfinite(self.experts)]
        return LabelPairs(truth, self.grader[case], case)

    @cached_property
    def expert_pairs(self) -> LabelPairs:
        """Each expert's label with each *other* expert's label of the same case."""
        truths = [np.empty(0)]
        verdicts = [np.empty(0)]
        cases = [np.empty(0, dtype=np.int64)]
        for number, truth in enumerate(self.experts):
            for other, verdict in enumerate(self.experts):
                both = np.flatnonzero(np.isfinite(truth) & np.isfinite(verdict))
                if other != number:
                    truths.append(truth[both])
                    verdicts.append(verdict[both])
                    cases.append(both)
        return LabelPairs(
            np.concatenate(truths), np.concatenate(verdicts), np.concatenate(cases)
        )

    def scores(self, labels: Floats) -> Floats:
        """`rubric_scores` of labels (cases,) on these responses; (responses,)."""
        return rubric_scores(labels, self.points, self.response, self.source.size)

    def with_points(self, points: Floats) -> "RubricCases":
        """The same cases with other points, (cases,)."""
        return replace(self, points=points)


def rubric_scores(
    met: Floats, points: Floats, response: Codes, responses: int
) -> Floats:
    """Σ w met / Σ_{w > 0} w over the criteria of each response; (responses,).

    met (cases,): 0 to 1, NaN = not read, in neither sum; points w and response
    (cases,). Not cut: faults alone make it negative, and the mean over responses is
    what HealthBench cuts. NaN where no positive points are left.

    >>> met = np.array([1.0, 0.0, 1.0, np.nan])
    >>> points = np.array([5.0, 3.0, -2.0, 4.0])
    >>> rubric_scores(met, points, np.array([0, 0, 0, 0]), 1)  # (5 - 2) / (5 + 3)
    array([0.375])
    """
    read = np.isfinite(met)
    won = np.where(read, met, 0.0) * points
    possible = np.where(read, np.maximum(points, 0.0), 0.0)
    of_response = np.bincount(response, weights=won, minlength=responses)
    positive = np.bincount(response, weights=possible, minlength=responses)
    return np.asarray(quotient(of_response, np.where(positive > 0, positive, np.nan)))


def mean_score(scores: Floats, source: Codes, weights: Weights) -> Replicated:
    """The mean of responses' scores, cut to 0 to 1, with its interval by source.

    scores, source (responses,), NaN = undefined; weights: `deletions`, or None.

    >>> mean_score(np.array([1.0, -3.0]), np.array([0, 1]), None).estimate.value
    0.0
    """
    mean = clustered_mean(
        scores, source, weights, averaged="mean over responses", ends=None,
        why=NO_POINTS,
    )  # fmt: skip
    estimate = mean.estimate
    if estimate.value is None:
        return mean
    low = estimate.ci_low
    high = estimate.ci_high
    return mean._replace(
        estimate=replace(
            estimate,
            value=_cut(estimate.value),
            ci_low=None if low is None else _cut(low),
            ci_high=None if high is None else _cut(high),
        )
    )


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))


def on_pairs(
    pairs: LabelPairs, source: Codes, weights: Weights, chosen: Flags | None = None
) -> dict[str, Replicated]:
    """The statistics of two labels of the same cases, by name; see `ON_LABELS`.

    source (cases,); chosen (cases,): which cases count, default all. A verdict that was
    not read counts in `n_missing`. Intervals by source, as those of labels.

    >>> truth, verdict = np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 0, 0])
    >>> pairs = LabelPairs(truth, verdict, np.arange(4))
    >>> found = on_pairs(pairs, np.arange(4), None)
    >>> found["rubric_balanced_accuracy"].estimate.value
    0.75
    """
    verdict = pairs.verdict
    if chosen is not None:
        kept = chosen[pairs.case]
        pairs = LabelPairs(pairs.truth[kept], verdict[kept], pairs.case[kept])
    results = on_labels(pairs.truth, pairs.verdict, 2, source[pairs.case], weights)
    return {name: results[of_labels] for name, of_labels in ON_LABELS.items()}


def order_kept(first: Floats, second: Floats) -> Estimate:
    """The share of pairs of systems that two sets of means put in the same order.

    first, second (systems,), NaN = no mean. A pair that one side ties is a half, one
    that both tie is in the same order; `n` counts pairs. Undefined without a pair.

    >>> order_kept(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.5, 0.4])).value
    0.6666666666666666
    """
    known = np.flatnonzero(np.isfinite(first + second))
    same = 0.0
    ties = 0
    pairs = 0
    for at, text in enumerate(known):
        for other in known[at + 1 :]:
            signs = []
            for values in (first, second):
                signs.append(np.sign(round(float(values[text] - values[other]), 9)))
            pairs += 1
            tied = 0 in signs and signs[0] != signs[1]
            ties += tied
            same += 0.5 if tied else float(signs[0] == signs[1])
    if not pairs:
        return Estimate.undefined("fewer than two systems have a score")
    return Estimate(same / pairs, n=pairs, n_tied=ties)


class CriterionPair(NamedTuple):
    """Two criteria, their φ, and on how many responses it rests."""

    first: int
    second: int
    phi: float
    n: int


def redundant_pairs(
    labels: Floats, cases: RubricCases, criteria: int
) -> Iterator[CriterionPair]:
    """Yield the pairs of criteria whose labels correlate by more than .9.

    labels (cases,): 0, 1 or NaN. φ is Pearson's r of two-valued labels, on responses
    that have both; pairs on fewer than 10 sources are left out.

    >>> both = np.tile([0.0, 1.0], 10)
    >>> cases = RubricCases(
    ...     np.repeat(np.arange(10), 2), np.tile([0, 1], 10), np.ones(20),
    ...     np.ones((1, 20)), np.ones(20), np.arange(10), np.zeros(10, int),
    ... )
    >>> labels = np.repeat(both[:10], 2)
    >>> [pair.phi for pair in redundant_pairs(labels, cases, 2)]
    [1.0]
    """
    fewest_sources = 10
    redundant_from = 0.9
    table = np.full((criteria, cases.source.size), np.nan)
    table[cases.criterion, cases.response] = labels
    for first in range(criteria):
        for second in range(first + 1, criteria):
            both = np.isfinite(table[first] + table[second])
            x = table[first][both]
            y = table[second][both]
            if np.unique(cases.source[both]).size < fewest_sources:
                continue
            if np.ptp(x) == 0 or np.ptp(y) == 0:
                continue
            phi = round(float(np.corrcoef(x, y)[0, 1]), 12)
            if phi > redundant_from:
                yield CriterionPair(first, second, phi, int(both.sum()))


def says_nothing(by_experts: float, by_grader: float) -> bool:
    """Whether experts *and* grader find a criterion met in more than 95 % of its cases,
    or in fewer than 5 %.

    >>> says_nothing(0.97, 0.99), says_nothing(0.97, 0.9), says_nothing(0.01, 0.0)
    (True, False, True)
    """
    always = 0.95
    never = 0.05
    if min(by_experts, by_grader) > always:
        return True
    return max(by_experts, by_grader) < never


def only_grader_understands(
    kappa: float | None, doubly_labelled: int, repeatability: float | None
) -> bool:
    """Whether experts hardly agree on a criterion on which the grader repeats itself.

    κ among experts below .2 on at least 30 cases with two labels, and a repeatability
    (α over the grader's draws) of at least .8.

    >>> only_grader_understands(0.1, 40, 0.9), only_grader_understands(0.1, 20, 0.9)
    (True, False)
    """
    least_kappa = 0.2
    fewest_cases = 30
    least_repeatability = 0.8
    if kappa is None or repeatability is None or doubly_labelled < fewest_cases:
        return False
    return kappa < least_kappa and repeatability >= least_repeatability
