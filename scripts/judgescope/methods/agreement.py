"""How well each judge agrees with people, and people with each other."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods import measures
from judgescope.methods.base import HUMAN, Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_classes, gold_numbers, with_rule
from judgescope.methods.measures import (
    AVERAGE,
    BY_SOURCE,
    POOLED,
    LevelStatistic,
    with_hint_note,
)
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.correlation import COEFFICIENTS, LEVELS
from judgescope.statistics.means import mean_over
from judgescope.statistics.registry import statistic
from judgescope.statistics.resampling import Replicated, few_not_modal
from judgescope.statistics.result import Estimate, clauses


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of agreement.csv: people first, then every judge with scores."""
    aspects = []
    for name in data.spec.aspects:
        if len(data.systems.ratings(name)):
            aspects.append(name)
    result = [*_unordered_rows(data, aspects)]
    aspects = [name for name in aspects if data.spec.aspects[name].ordered]
    for plain, aspect in {split(name)[0]: name for name in aspects}.items():
        for measure, estimate in measures.human_agreement(data.systems, aspect):
            result.append(data.row(HUMAN, plain, *measure, estimate))
    for judge in data.spec.judges:
        for targets in data.rated(judge):
            result += _judge_rows(targets, judge, aspects)
    shares = {card.share for card in data.spec.judges.values()} - {1.0}
    controls = list[tuple[float, ResultRow]]()
    for share in sorted(shares):
        controls += _controls_of(data, share, aspects)
    for row in below_controls(data, result, controls):
        yield with_hint_note(data, row)


def _unordered_rows(data: EvaluationData, aspects: list[str]) -> Iterator[ResultRow]:
    """Yield a row per judge that says why labels without an order have no ranks."""
    nothing = Estimate.undefined("labels without an order; see table labels")
    unordered = []
    for name in aspects:
        if not data.spec.aspects[name].ordered:
            unordered.append(name)
    for aspect, judge in product(unordered, data.spec.judges):
        for targets in data.rated(judge):
            if targets.scores(judge, aspect) is not None:
                for measure in product(COEFFICIENTS, LEVELS):
                    yield targets.row(judge, aspect, *measure, nothing)


def _controls_of(
    data: EvaluationData, share: float, aspects: list[str]
) -> Iterator[tuple[float, ResultRow]]:
    """Yield (share, row) of the controls on a share of the items, to compare its judges
    with.
    """
    cards = data.spec.judges
    judge_of_share = next(name for name, card in cards.items() if card.share == share)
    for judge, card in cards.items():
        if card.engine == "control":
            for targets in data.rated(judge):
                for row in _judge_rows(targets.given(judge_of_share), judge, aspects):
                    yield share, row


def _judge_rows(
    targets: TargetSet, judge: str, aspects: list[str]
) -> Iterator[ResultRow]:
    over_aspects: dict[tuple[str | None, LevelStatistic], list[Replicated]] = (
        defaultdict(list)
    )
    for aspect in aspects:
        scores = targets.scores(judge, aspect)
        ratings = targets.ratings(aspect)
        if scores is None:
            continue
        people = gold_numbers(targets.study, ratings)
        mean = people.values
        degenerate = _degenerate(scores)
        rare = few_not_modal(mean, targets.source)
        estimates = list[tuple[LevelStatistic, Estimate]]()
        for measure, correlation in measures.ranked(targets, scores, mean).items():
            result = people.named(correlation)
            over_aspects[split(aspect)[1], measure].append(result)
            estimate = _with_thin_note(result.estimate, measure[1], targets)
            estimate = estimate.with_note(degenerate if measure[1] == POOLED else "")
            estimates.append((measure, estimate))
        estimates += measures.as_raters(targets, judge, aspect, scores, ratings)
        estimates += measures.categorical(
            targets, judge, aspect, scores, gold_classes(targets.study, ratings)
        )
        estimates += measures.replacement(targets, judge, aspect, scores, ratings)
        biases = measures.biases(targets, judge, aspect, scores, mean)
        for measure, estimate in biases:
            estimates.append((measure, with_rule(targets.study, estimate)))
        for measure, estimate in estimates:
            estimate = estimate.with_note(rare if estimate.ci_low is not None else "")
            yield targets.row(judge, aspect, *measure, estimate)
    for (criterion, measure), each in over_aspects.items():
        if len(each) > 1:
            average = mean_over(each, averaged="aspects").estimate
            yield targets.row(judge, joined(AVERAGE, criterion), *measure, average)


def _degenerate(scores: Floats) -> str:
    """Return a warning if nearly all scores are equal, "" if they are not (or all
    are).
    """
    values, counts = np.unique(scores[np.isfinite(scores)], return_counts=True)
    # Scores of which 95 % are equal carry almost no information.
    if values.size < 2 or counts.max() < 0.95 * counts.sum():
        return ""
    share = counts.max() / counts.sum()
    return f"degenerate: {share:.1%} of the scores are {values[counts.argmax()]:.4g}"


def _with_thin_note(estimate: Estimate, level: str, targets: TargetSet) -> Estimate:
    """Warn if a mean over sources leaves out more than a tenth of them."""
    planned = np.unique(targets.source).size
    if level != BY_SOURCE or estimate.value is None or estimate.n >= 0.9 * planned:
        return estimate
    return estimate.with_note(
        f"warning: based on {estimate.n / planned:.0%} of the sources"
    )


def below_controls(
    data: EvaluationData,
    judge_rows: list[ResultRow],
    share_controls: Sequence[tuple[float, ResultRow]] = (),
) -> list[ResultRow]:
    """Note on every judge's number which control ranks above it, with the control's
    value.

    By point estimate; the best control of each statistic on the same texts, the first
    of equals. `share_controls` are (share, row) of controls on a share of the items,
    which are not returned.
    """
    cards = data.spec.judges
    controls = set()
    for name, card in cards.items():
        if card.engine == "control":
            controls.add(name)
    best: dict[tuple[str | float | None, ...], tuple[float, str]] = {}

    def same_texts(
        row: ResultRow, share: float | None = None
    ) -> tuple[str | float | None, ...]:
        card = cards.get(row["judge"])
        share = share or (card.share if card else 1.0)
        return (
            row["aspect"],
            row.get("criterion"),
            row["statistic"],
            row["level"],
            row.get("system_subset"),
            share,
        )

    keyed = [(same_texts(row), row) for row in judge_rows]
    keyed_controls = [(same_texts(row, share), row) for share, row in share_controls]
    for key, row in keyed + keyed_controls:
        value = row["value"]
        highest = best.get(key, (-inf, ""))[0]
        if row["judge"] in controls and value is not None and value > highest:
            best[key] = value, row["judge"]
    for key, row in keyed:
        control = best.get(key)
        value = row["value"]
        is_bias = statistic(row["statistic"]).group == "bias"
        exempt = is_bias or row["judge"] in {*controls, HUMAN}
        if control and not exempt and value is not None and value < control[0]:
            note = f"warning: below control {control[1]} ({control[0]:.3f})"
            row["note"] = clauses(row["note"], note)
    return judge_rows


METHOD = Method(
    name="agreement",
    rows=rows,
    selectable=True,
    tables=("comparison", "criteria"),
    texts=("systems",),
    parts=("alt_test", "as_rater"),
    controls=True,
    unordered="noted",
)
