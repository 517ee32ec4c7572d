"""How well each judge agrees with people, and people with each other."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.base import HUMAN, Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import (
    AVERAGE,
    BY_SOURCE,
    POOLED,
    Measure,
    as_raters,
    biases,
    categorical,
    human_agreement,
    lower_median,
    ranked,
    replacement,
    with_hint_note,
)
from judgescope.statistics.correlation import LEVELS, STATISTICS
from judgescope.statistics.means import mean_over
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.resampling import Replicated, few_not_modal
from judgescope.statistics.result import Estimate, clauses

THIN = 0.9
"""A mean over a smaller share of the sources than this has a warning."""
DEGENERATE = 0.95
"""If this share of a judge's scores is equal, they carry almost no information."""
BIASES = {"partial_pearson", "partial_spearman", "length_slope", "self_preference"}


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of agreement.csv: people first, then every judge with scores."""
    aspects = [name for name in study.spec.aspects if len(study.systems.ratings(name))]
    result = [*_unordered_rows(study, aspects)]
    aspects = [name for name in aspects if study.spec.aspects[name].ordered]
    for plain, aspect in {split(name)[0]: name for name in aspects}.items():
        for (statistic, level), estimate in human_agreement(study, study.systems, aspect):
            result.append(study.row(HUMAN, plain, statistic, level, estimate))
    for judge in study.spec.judges:
        for systems, panel in study.rated(judge).items():
            judge_rows = _judge_rows(study, panel, judge, aspects)
            result += [row | {"system_subset": systems} for row in judge_rows]
    shares = {card.share for card in study.spec.judges.values()} - {1.0}
    controls = [row for share in sorted(shares) for row in _controls_of(study, share, aspects)]
    return [with_hint_note(study, row) for row in below_controls(study, result, controls)]


def _unordered_rows(study: EvaluationData, aspects: list[str]) -> Iterator[Row]:
    """Yield a row per judge that says why labels without an order have no ranks."""
    measures = [(name, level) for name in STATISTICS for level in LEVELS]
    nothing = Estimate.undefined("labels without an order; see table labels")
    for aspect in (name for name in aspects if not study.spec.aspects[name].ordered):
        for judge in study.spec.judges:
            for systems, panel in study.rated(judge).items():
                if panel.scores(judge, aspect) is not None:
                    for statistic, level in measures:
                        row = study.row(judge, aspect, statistic, level, nothing)
                        yield row | {"system_subset": systems}


def _controls_of(
    study: EvaluationData, share: float, aspects: list[str]
) -> Iterator[tuple[float, Row]]:
    """Yield (share, row) of the controls on a share of the items, to compare its judges with."""
    cards = study.spec.judges
    judge_of_share = next(name for name, card in cards.items() if card.share == share)
    for judge, card in cards.items():
        if card.engine == "control":
            for systems, panel in study.rated(judge).items():
                for row in _judge_rows(study, panel.given(judge_of_share), judge, aspects):
                    yield share, row | {"system_subset": systems}


def _judge_rows(
    study: EvaluationData, panel: TargetSet, judge: str, aspects: list[str]
) -> Iterator[Row]:
    over_aspects: dict[tuple[str | None, Measure], list[Replicated]] = defaultdict(list)
    for aspect in aspects:
        scores, ratings = panel.scores(judge, aspect), panel.ratings(aspect)
        if scores is None:
            continue
        mean = mean_rating(ratings)
        degenerate, rare = _degenerate(scores), few_not_modal(mean, panel.source)
        for (statistic, level), result in ranked(panel, scores, mean).items():
            over_aspects[split(aspect)[1], (statistic, level)].append(result)
            estimate = _with_thin_note(result.estimate, level, panel)
            estimate = estimate.with_note(degenerate if level == POOLED else "")
            estimate = estimate.with_note(rare if estimate.ci_low is not None else "")
            yield study.row(judge, aspect, statistic, level, estimate)
        others = (
            *as_raters(study, panel, judge, aspect, scores, ratings),
            *categorical(study, panel, judge, aspect, scores, lower_median(ratings)),
            *replacement(study, panel, judge, aspect, scores, ratings),
            *biases(study, panel, judge, aspect, scores, mean),
        )
        for (statistic, level), estimate in others:
            estimate = estimate.with_note(rare if estimate.ci_low is not None else "")
            yield study.row(judge, aspect, statistic, level, estimate)
    for (criterion, (statistic, level)), each in over_aspects.items():
        if len(each) > 1:
            average = mean_over(each, averaged="aspects").estimate
            yield study.row(judge, joined(AVERAGE, criterion), statistic, level, average)


def _degenerate(scores: Floats) -> str:
    """Return a warning if nearly all scores are equal, "" if they are not (or all are)."""
    values, counts = np.unique(scores[np.isfinite(scores)], return_counts=True)
    if values.size < 2 or counts.max() < DEGENERATE * counts.sum():
        return ""
    share = counts.max() / counts.sum()
    return f"degenerate: {share:.1%} of the scores are {values[counts.argmax()]:.4g}"


def _with_thin_note(estimate: Estimate, level: str, panel: TargetSet) -> Estimate:
    """Warn if a mean over sources leaves out more than a tenth of them."""
    planned = np.unique(panel.source).size
    if level != BY_SOURCE or estimate.value is None or estimate.n >= THIN * planned:
        return estimate
    return estimate.with_note(f"warning: based on {estimate.n / planned:.0%} of the sources")


def below_controls(
    study: EvaluationData, judge_rows: list[Row], share_controls: Sequence[tuple[float, Row]] = ()
) -> list[Row]:
    """Note on every judge's number which control ranks above it, with the control's value.

    By point estimate; the best control of each statistic on the same texts, the first of equals.
    `share_controls` are (share, row) of controls on a share of the items, which are not returned.
    """
    cards = study.spec.judges
    controls = {name for name, card in cards.items() if card.engine == "control"}
    best: dict[tuple[str | float | None, ...], tuple[float, str]] = {}

    def share_of(row: Row) -> float:
        card = cards.get(row["judge"])
        return card.share if card else 1.0

    def same_texts(share: float, row: Row) -> tuple[str | float | None, ...]:
        measure = row["statistic"], row["level"]
        return row["aspect"], row.get("criterion"), *measure, row.get("system_subset"), share

    for share, row in (*((share_of(row), row) for row in judge_rows), *share_controls):
        key, value = same_texts(share, row), row["value"]
        if row["judge"] not in controls or value is None:
            continue
        if key not in best or value > best[key][0]:
            best[key] = value, row["judge"]
    noted = []
    for row in judge_rows:
        control, value = best.get(same_texts(share_of(row), row)), row["value"]
        exempt = row["judge"] in controls or row["judge"] == HUMAN or row["statistic"] in BIASES
        if control and not exempt and value is not None and value < control[0]:
            note = f"warning: below control {control[1]} ({control[0]:.3f})"
            row = row | {"note": clauses(row["note"], note)}
        noted.append(row)
    return noted


METHOD = Method(
    selectable=True,
    tables=("comparison", "criteria"),
    texts=("systems",),
    parts=("alt_test", "as_rater"),
    claims=("claims.agreement.people_rows", "claims.agreement.claims"),
    controls=True,
    unordered="noted",
)
