"""Which texts may pass without a person: table triage."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.labels import truth_of
from judgescope.methods.rated_systems import rated_aspects
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.raters import lower_median
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.triage import Passing, ScoredTexts, triage


@dataclass(frozen=True)
class Promise:
    """From which rating on a text is good, by aspect or for all; α and δ."""

    good_from: float | dict[str, float] | None
    error: float
    risk: float

    @classmethod
    def of(cls, data: EvaluationData) -> "Promise":
        """The study's key `triage`."""
        return cls(**data.spec.settings["triage"])  # type: ignore[arg-type]

    def bar(self, aspect: str) -> float | None:
        """The rating from which on a text is good in an aspect."""
        if isinstance(self.good_from, dict):
            return self.good_from.get(aspect)
        return self.good_from


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of triage.csv: per judge and aspect, thresholds, shares and
    bounds.

    Texts that people rated; those without a score are left to people. Controls have no
    rows.
    """
    promise = Promise.of(data)
    unrated = rated_aspects(data)
    pooled_level = "pooled"
    for judge, card in data.spec.judges.items():
        if card.engine == "control":
            continue
        targets = data.shared_targets(judge).given(judge)
        for aspect in data.spec.aspects:
            scores = targets.scores(judge, aspect)
            if scores is None:
                continue
            why = unrated[split(aspect)[0]]
            good = why or good_texts(data, targets, aspect, promise)
            if isinstance(good, str):
                nothing = Estimate.undefined(good)
                yield data.row(judge, aspect, "accept_from", pooled_level, nothing)
                continue
            for name, estimate in _numbers(data, judge, aspect, scores, good).items():
                yield targets.row(judge, aspect, name, pooled_level, estimate)


def good_texts(
    data: EvaluationData, targets: TargetSet, aspect: str, promise: Promise
) -> Floats | str:
    """Return 1 for each text whose lower median rating reaches the bar, 0 for other
    rated ones, NaN for unrated ones; of two labels 1 for the last. Or why there are
    none.
    """
    ratings = targets.ratings(aspect)
    scale = data.spec.aspects[aspect]
    no_bar = (
        "the study does not say from which rating on a text is good: key triage, "
        "good_from"
    )
    if scale.labels:
        good = truth_of(data, aspect)(ratings)
    else:
        bar = promise.bar(split(aspect)[0])
        if bar is None:
            return no_bar
        if not scale.ends[0] <= bar <= scale.ends[1]:
            return "good_from is not within people's scale"
        turned = data.spec.turned
        total = None
        if turned:
            total = turned.ratings.get(split(aspect)[0])
        values = lower_median(ratings)
        reached = values >= (bar if total is None else total - bar)
        good = np.where(np.isnan(values), np.nan, reached)
    known = good[np.isfinite(good)]
    one_kind = "all rated texts are {}"
    if known.size and np.ptp(known) == 0:
        return one_kind.format("good" if known[0] else "bad")
    return good


def _numbers(
    data: EvaluationData, judge: str, aspect: str, scores: Floats, good: Floats
) -> dict[str, Estimate]:
    """Return statistic -> its estimate: of what passes, of what is rejected, of the
    rest.
    """
    targets = data.shared_targets(judge).given(judge)
    promise = Promise.of(data)
    texts = ScoredTexts.select(scores, good, targets.source)
    sorted_texts = triage(texts, error=promise.error, risk=promise.risk)
    rated = np.isfinite(good)
    scored = rated & np.isfinite(scores)
    turned = data.spec.turned
    total = None
    if turned:
        total = turned.scores.get(judge, {}).get(aspect)
    like_these = "for texts like the rated ones"
    method = clauses(
        f"at most {promise.error:.0%} wrong with a chance of {1 - promise.risk:.0%}",
        like_these,
    )
    counted = Estimate(
        None,
        n=texts.score.size,
        n_missing=int(rated.sum() - scored.sum()),
        method=method,
        note="counted",
    )
    numbers = {}
    sides = (
        ("accept_from", "accepted_share", "accept_error", sorted_texts.accept),
        ("reject_up_to", "rejected_share", "reject_error", sorted_texts.reject),
    )
    for threshold, share, error, passing in sides:
        numbers[threshold] = _threshold(passing, total, counted)
        chosen = np.zeros(rated.size)
        chosen[scored] = passing.chosen
        numbers[share] = clustered_mean(
            chosen[rated], targets.source[rated], data.weights
        ).estimate
        if passing.error is not None and passing.bound is not None:
            n = int(passing.chosen.sum())
            numbers[error] = Estimate(passing.error, n=n)
            numbers[f"{error}_bound"] = Estimate(passing.bound, n=n, method=method)
    left = rated.astype(np.float64)
    left[scored] = sorted_texts.left
    numbers["left_share"] = clustered_mean(
        left[rated], targets.source[rated], data.weights
    ).estimate
    note = data.share_note(judge)
    return {name: estimate.with_note(note) for name, estimate in numbers.items()}


def _threshold(passing: Passing, total: float | None, counted: Estimate) -> Estimate:
    """Return a threshold on the judge's own scale; `total`: minimum plus maximum of one
    whose lowest value is the best; `counted` has the texts and the method.
    """
    if passing.threshold is None:
        return replace(counted, note=passing.why)
    if total is None:
        return replace(counted, value=passing.threshold, note="")
    note = "the lowest score is the best: on the other side of it"
    return replace(counted, value=total - passing.threshold, note=note)


METHOD = Method(
    name="triage",
    rows=rows,
    selectable=True,
    texts=("systems",),
    settings="triage",
    unordered="yes",
)
