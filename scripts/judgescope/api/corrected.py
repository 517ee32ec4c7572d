"""What systems really score, from a judge's scores and ratings of a part."""

import math
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.api import plain_signature
from judgescope.api.arguments import (
    check_indexes,
    estimates_frame,
    mean_of_raters,
    read_column,
    text_codes,
)
from judgescope.statistics.corrected import (
    RatedSample,
    RatedTexts,
    corrected_mean,
    difference_of,
    judge_bias,
    people_alone,
    rating_worth,
    sample_of,
    uncorrected_mean,
)
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.recalibrated import recalibrated
from judgescope.statistics.result import Estimate


@plain_signature
def corrected(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike | None = None,
    system: ArrayLike | None = None,
    ends: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Return what systems really score: a judge's means, corrected by people's ratings.

    θ = λ mean_U f + mean_L(y - λ f), f the judge's scores and y people's ratings of
    sources, L the rated and U the other ones; λ is 0 where the judge does not help. A
    row for each difference of two systems, then for each system: corrected_difference
    or corrected_mean, the judge's own number (uncorrected_…), people's (rated_…), of
    means the judge's bias, and rating_worth, how many ratings without the judge say as
    much as one beside it. It assumes that the rated sources are a random sample.

    judge: (texts,), on people's scale (of labels 0 and 1); human: (texts,) or (texts,
    raters), whose mean counts, NaN where nobody rated; source, system: (texts,), any
    labels. ends: those of people's scale, to which intervals are cut; of ratings 0 and
    1 these. The judge's own numbers are undefined if one of its scores lies outside the
    ends. ValueError: lengths or indexes differ, a rating outside the ends.

    Angelopoulos et al. 2023; Chen et al. 2026 for scores of 3 to 20 values.

    >>> truth = np.arange(200) % 5 + 1.0
    >>> human = np.where(np.arange(200) < 50, truth, np.nan)  # a quarter is rated
    >>> result = corrected(truth + 0.5, human)  # a judge that is half a point too kind
    >>> result.loc[("corrected_mean", ""), ["value", "n"]].tolist()
    [3.0, 50.0]
    >>> result.loc[("uncorrected_mean", ""), "value"].item()
    3.5
    """
    check_indexes(judge, human, source, system)
    scores = read_column(judge, "judge")
    ratings = mean_of_raters(human)
    sources, systems = text_codes(
        source, system, scores.size, judge=scores.size, human=ratings.size
    )
    names = [""]
    if system is not None:
        names = [str(name) for name in sorted(pd.unique(pd.Series(system)))]
    known = ratings[np.isfinite(ratings)]
    two_values = bool(known.size) and bool(np.isin(known, (0.0, 1.0)).all())
    bounds = ends or ((0.0, 1.0) if two_values else (-math.inf, math.inf))
    if known.size and not bounds[0] <= known.min() <= known.max() <= bounds[1]:
        raise ValueError(f"human has ratings outside the ends {bounds}")
    texts = []
    for code in range(len(names)):
        mine = systems == code
        texts.append(RatedTexts(scores[mine], ratings[mine], sources[mine]))
    rows = _differences(names, texts, bounds)
    rows |= _means(names, texts, bounds, two_values=two_values)
    judged = scores[np.isfinite(scores)]
    # The numbers of the judge alone, which exist on people's scale only.
    judges_own = ("uncorrected_difference", "uncorrected_mean", "judge_bias")
    if np.any((judged < bounds[0]) | (judged > bounds[1])):
        for statistic, name in rows:
            if statistic in judges_own:
                nothing = Estimate.undefined(
                    "the judge has scores outside people's scale", n=judged.size
                )
                rows[statistic, name] = nothing
    return estimates_frame(rows, ["statistic", "system"])


RowsByName: TypeAlias = dict[tuple[str, str], Estimate]
"""Statistic, and system or pair of systems, -> its estimate."""


def _differences(
    names: list[str], texts: list[RatedTexts], bounds: Bounds
) -> RowsByName:
    """Return the numbers of the differences of every two systems."""
    span = bounds[1] - bounds[0]
    rows: RowsByName = {}
    for first, second in combinations(range(len(names)), 2):
        pair = texts[first], texts[second]
        raw = difference_of(*pair)
        sample = difference_of(*map(recalibrated, pair))
        estimates = _numbers(raw, sample, (-span, span), two_values=False)
        for statistic, estimate in estimates.items():
            rows[statistic, f"{names[first]}+{names[second]}"] = estimate
    return rows


def _means(
    names: list[str], texts: list[RatedTexts], bounds: Bounds, *, two_values: bool
) -> RowsByName:
    """Return the numbers of each system."""
    rows: RowsByName = {}
    for name, system_texts in zip(names, texts, strict=True):
        raw = sample_of(system_texts)
        sample = sample_of(recalibrated(system_texts))
        estimates = _numbers(raw, sample, bounds, two_values=two_values)
        estimates["judge_bias"] = judge_bias(raw, bounds)
        for statistic, estimate in estimates.items():
            rows[statistic, name] = estimate
    return rows


def _numbers(
    raw: RatedSample, sample: RatedSample, ends: Bounds, *, two_values: bool
) -> dict[str, Estimate]:
    """Return the numbers of a system, or of a difference of two."""
    kind = "difference" if raw.difference else "mean"
    corrected = corrected_mean(sample, ends, two_values=two_values).estimate
    people = people_alone(raw, ends, two_values=two_values).estimate
    return {
        f"corrected_{kind}": corrected,
        f"uncorrected_{kind}": uncorrected_mean(raw, ends),
        f"rated_{kind}": people,
        "rating_worth": rating_worth(sample),
    }
