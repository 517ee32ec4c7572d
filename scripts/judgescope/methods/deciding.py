"""The number that decides the claims about a judge, without the claims.

`rows` has it alone: for a part of the texts, such as one value of a column. `gaps`
compares it between judges, source by source. Both use the functions of the claims, so
that a number has one value wherever it stands.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from math import nan
from typing import Final, NamedTuple

import numpy as np

from judgescope.methods.claims import base
from judgescope.methods.claims.agreement import RatedTargets
from judgescope.methods.claims.labels import LabelledTexts
from judgescope.methods.claims.ordered import Ordered
from judgescope.methods.claims.ratings import HALF_CREDIT, judged_orders
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import label_aspects, labelled
from judgescope.methods.measures import POOLED, level_of
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.intervals import IntervalScale, holm
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

NUMBERS: Final = "deciding"
GAPS: Final = "deciding_gaps"
"""The tables of `rows` and `gaps`."""


class DecidingNumber(NamedTuple):
    """One judge's number on one aspect.

    values (cases,): its scores, labels or credits, NaN = missing; `number` computes the
    number of such values; `scale` is that of a difference of two numbers.
    """

    judge: str
    aspect: str
    statistic: str
    level: str
    values: Floats
    number: Callable[[Floats], Replicated]
    scale: IntervalScale
    source: Codes
    """The source of each case; (cases,)."""
    chance: float
    """The number of a judge that knows nothing."""
    texts: RatedTargets | LabelledTexts | None
    """The texts that the cases are; None: they are pairs of texts."""

    @property
    def given(self) -> Flags:
        """Which cases have a value; (cases,)."""
        return ~np.isnan(self.values)


def numbers(data: EvaluationData) -> Iterator[DecidingNumber]:
    """Yield the number of every judge on each aspect; those of pairs come last."""
    labels = label_aspects(data)
    for judge in data.spec.judges:
        targets = data.shared_targets(judge).given(judge)
        for aspect in data.spec.aspects:
            scores = targets.scores(judge, aspect)
            ratings = targets.ratings(aspect)
            if scores is None or not len(ratings):
                continue
            if aspect in labels:
                texts = LabelledTexts(targets, aspect)
                codes, _ = labelled(targets, judge, aspect, scores, texts.gold)
                if codes is not None:
                    yield DecidingNumber(
                        judge,
                        aspect,
                        texts.statistic,
                        POOLED,
                        codes,
                        texts.number,
                        base.SHARE_GAP,
                        targets.source,
                        texts.chance,
                        texts,
                    )
                continue
            people = gold_numbers(data, ratings).values
            level = level_of(scores, people, targets.source, len(data.item_order))
            rated = RatedTargets(targets, aspect, level)
            yield DecidingNumber(
                judge,
                aspect,
                rated.statistic,
                level,
                scores,
                rated.number,
                base.CORRELATION_GAP,
                targets.source,
                0.0,
                rated,
            )
    yield from _of_pairs(data)


def _of_pairs(data: EvaluationData) -> Iterator[DecidingNumber]:
    for cell in judged_orders(data):
        if cell.perturbation != "systems" or cell.judge not in data.spec.judges:
            continue
        yield DecidingNumber(
            cell.judge,
            cell.aspect,
            HALF_CREDIT,
            POOLED,
            cell.ordered.better,
            partial(_credit, cell.ordered),
            base.SHARE_GAP,
            cell.ordered.source,
            0.5,
            None,
        )


def _credit(ordered: Ordered, values: Floats) -> Replicated:
    """The half credit of votes for the text that people prefer: 1, 0 or -1."""
    return ordered.credit(values, -values)


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the deciding number of every judge and aspect."""
    for each in numbers(data):
        estimate = each.number(each.values).estimate
        yield data.row(each.judge, each.aspect, each.statistic, each.level, estimate)


def gaps(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the difference of every two judges, on the cases that both scored.

    p is two-sided, by the jackknife over sources; Holm over all pairs of judges on an
    aspect, so that the best may be chosen after the fact. Judges whose numbers differ
    in kind or level are not compared.
    """
    groups: dict[tuple[str, str, str], list[DecidingNumber]] = {}
    for each in numbers(data):
        key = each.aspect, each.statistic, each.level
        groups.setdefault(key, []).append(each)
    for (aspect, statistic, level), group in groups.items():
        pairs = [
            (first, second)
            for first, second in combinations(group, 2)
            if first.values.size == second.values.size
        ]
        differences = [_difference(first, second) for first, second in pairs]
        p_values = [_p_two_sided(difference) for difference in differences]
        adjusted = holm(p_values)
        for (first, second), difference, p, p_holm in zip(
            pairs, differences, p_values, adjusted.tolist(), strict=True
        ):
            estimates = {
                f"difference_{statistic}": difference.estimate,
                f"p_{statistic}": _p(p, difference),
                f"p_holm_{statistic}": _p(p_holm, difference),
            }
            for name, estimate in estimates.items():
                yield data.row(
                    first.judge, aspect, name, level, estimate, judge_b=second.judge
                )


def _difference(first: DecidingNumber, second: DecidingNumber) -> Replicated:
    both = first.given & second.given
    first_result = first.number(np.where(both, first.values, nan))
    second_result = second.number(np.where(both, second.values, nan))
    for result in (first_result, second_result):
        if result.estimate.value is None:
            nothing = Estimate.undefined(result.estimate.note, n=int(both.sum()))
            return result._replace(estimate=nothing)
    return base.less(first_result, second_result, first.scale)


def _p_two_sided(difference: Replicated) -> float:
    if difference.estimate.value is None:
        return nan
    smaller = min(base.p_above(difference, 0.0), base.p_below(difference, 0.0))
    return min(1.0, 2 * smaller)


def _p(p: float, difference: Replicated) -> Estimate:
    n = difference.estimate.n
    if np.isnan(p):
        return Estimate.undefined("not tested", n=n)
    return Estimate(p, n=n)
