"""How well each judge agrees with people, and people with each other."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import (
    AVERAGE,
    Place,
    as_raters,
    categorical,
    hinted,
    human,
    lower_median,
    mean_rating,
    ranked,
    replacement,
    swayed,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated, few_not_modal
from judgescope.statistics.result import Estimate

THIN = 0.9
"""A value per source that stands for fewer of the sources than this is warned of."""
DEGENERATE = 0.95
"""A judge that gives one score to so many of the targets says next to nothing."""
BIASES = {"partial_pearson", "partial_spearman", "length_slope", "self_preference"}


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of agreement.csv: people first, then every judge with scores."""
    aspects = [name for name in study.spec.aspects if len(study.systems.ratings(name))]
    found: list[Row] = []
    for plain, aspect in {split(name)[0]: name for name in aspects}.items():
        for (statistic, level), estimate in human(study, study.systems, aspect):
            found.append(study.row("human", plain, statistic, level, estimate))
    for judge in study.spec.judges:
        for systems, panel in study.rated(judge).items():
            own = _judge_rows(study, panel, judge, aspects)
            found += [row | {"systems": systems} for row in own]
    shares = {card.share for card in study.spec.judges.values()} - {1.0}
    beside = [row for share in sorted(shares) for row in _controls_of(study, share, aspects)]
    return [hinted(study, row) for row in below_controls(study, found, beside)]


def _controls_of(study: EvaluationData, share: float, aspects: list[str]) -> Iterator[Row]:
    """Yield the rows of the controls on a share of the items, to hold its judges against."""
    cards = study.spec.judges
    named = next(name for name, card in cards.items() if card.share == share)
    for judge, card in cards.items():
        if card.engine == "control":
            for systems, panel in study.rated(judge).items():
                for row in _judge_rows(study, panel.given(named), judge, aspects):
                    yield row | {"systems": systems, "share": share}


def _judge_rows(
    study: EvaluationData, panel: TargetSet, judge: str, aspects: list[str]
) -> Iterator[Row]:
    over_aspects: dict[tuple[str | None, Place], list[Replicated]] = defaultdict(list)
    for aspect in aspects:
        scores, ratings = panel.scores(judge, aspect), panel.ratings(aspect)
        if scores is None:
            continue
        mean = mean_rating(ratings)
        told = ranked(study, panel, scores, mean)
        flag, rare = _degenerate(scores), few_not_modal(mean, panel.source)
        for (statistic, level), found in told.items():
            over_aspects[split(aspect)[1], (statistic, level)].append(found)
            one = _warned(found.estimate, level, panel)
            one = one.with_note(flag) if flag and level == "pooled" else one
            one = one.with_note(rare) if one.lo is not None else one
            yield study.row(judge, aspect, statistic, level, one)
        others = (
            *as_raters(study, panel, judge, aspect, scores, ratings),
            *categorical(study, panel, judge, aspect, scores, lower_median(ratings)),
            *replacement(study, panel, judge, aspect, scores, ratings),
            *swayed(study, panel, judge, aspect, scores, mean),
        )
        for (statistic, level), estimate in others:
            noted = estimate.with_note(rare) if estimate.lo is not None else estimate
            yield study.row(judge, aspect, statistic, level, noted)
    for (criterion, (statistic, level)), each in over_aspects.items():
        if len(each) > 1:
            average = mean_over(each, of="aspects")
            name = joined(AVERAGE, criterion)
            yield study.row(judge, name, statistic, level, average.estimate)


def _degenerate(scores: Floats) -> str:
    """Return a warning where nearly all scores are one, "" where they are not (or all are)."""
    values, counts = np.unique(scores[np.isfinite(scores)], return_counts=True)
    if values.size < 2 or counts.max() < DEGENERATE * counts.sum():
        return ""
    share = counts.max() / counts.sum()
    return f"degenerate: {share:.1%} of the scores are {values[counts.argmax()]:.4g}"


def _warned(estimate: Estimate, level: str, panel: TargetSet) -> Estimate:
    """Warn where a mean over sources leaves out more than a tenth of them."""
    planned = np.unique(panel.source).size
    if level != "by_source" or estimate.value is None or estimate.n >= THIN * planned:
        return estimate
    return estimate.with_note(f"warning: rests on {estimate.n / planned:.0%} of the sources")


def below_controls(
    study: EvaluationData, found: list[Row], beside: Sequence[Row] = ()
) -> list[Row]:
    """Note on every judge's number which control ranks above it, with the control's value.

    By point estimate; the best control of each statistic on the same texts, the first of equals.
    `beside` has rows of controls on a share of the items, which are not told themselves.
    """
    cards = study.spec.judges
    controls = {name for name, card in cards.items() if card.engine == "control"}
    best: dict[tuple[Any, ...], Row] = {}

    def of(row: Row) -> tuple[Any, ...]:
        share = row.get("share", card.share if (card := cards.get(row["judge"])) else 1.0)
        place = row["aspect"], row.get("criterion"), row["statistic"], row["level"]
        return *place, row.get("systems"), share

    for row in (*found, *beside):
        place = of(row)
        if row["judge"] not in controls or row["value"] is None:
            continue
        if place not in best or row["value"] > best[place]["value"]:
            best[place] = row
    told = []
    for row in found:
        over = best.get(of(row))
        apart = row["judge"] in controls or row["judge"] == "human" or row["statistic"] in BIASES
        if over and not apart and row["value"] is not None and row["value"] < over["value"]:
            said = f"warning: below control {over['judge']} ({over['value']:.3f})"
            row = row | {"note": "; ".join(filter(None, [row["note"], said]))}
        told.append(row)
    return told


METHOD = Method(
    selectable=True,
    tables=("comparison", "criteria"),
    texts=("systems",),
    parts=("as_rater",),
    claims=True,
    controls=True,
)
