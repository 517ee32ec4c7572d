"""Numbers of the rows of a table: choices by place, repeated draws of one judge, its
confidence.

A row is a pair of texts in the order in which it was shown, or a text with several
draws. A study has the same numbers in the tables `pairwise` and `repeatability`, for
judges that it asks itself.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from judgescope.schema.rows import EstimateColumns
from judgescope.statistics import confidence as stated_confidence
from judgescope.statistics import confidence_bins
from judgescope.statistics.arrays import Codes
from judgescope.statistics.confidence import Calibration, Stated
from judgescope.statistics.confidence_bins import Bin
from judgescope.statistics.first_choices import first_choices
from judgescope.statistics.intervals import deletions
from judgescope.statistics.reliability import repeatability
from judgescope.statistics.result import Estimate
from judgescope.statistics.selective import Guarantee, confidence_from

NamedNumbers = dict[str, EstimateColumns]
"""Statistic -> its number."""


def numbers_of(estimate: Estimate) -> EstimateColumns:
    """Return an estimate as columns of a row."""
    return {
        "value": estimate.value,
        "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high,
        "n": estimate.n,
        "n_missing": estimate.n_missing,
        "n_tied": estimate.n_tied,
        "method": estimate.method,
        "note": estimate.note,
    }


def choices_by_place(
    judge: Sequence[float], people: Sequence[float], sources: Sequence[Hashable]
) -> tuple[NamedNumbers, NamedNumbers]:
    """The share of first choices of a judge, with its difference from people; people's.

    A value a row: 1 for the first text, -1 for the second, 0 for neither, or between.

    >>> of_judge, of_people = choices_by_place([1, 1, 1, 0], [1, -1, -1, 1], range(4))
    >>> of_judge["first_choices"]["value"], of_people["first_choices"]["value"]
    (0.875, 0.5)
    """
    shares = first_choices(
        np.array(judge, np.float64), np.array(people, np.float64), _codes(sources)
    )
    of_judge, of_people, gap = map(numbers_of, shares)
    return (
        {"first_choices": of_judge, "first_choices_gap": gap},
        {"first_choices": of_people},
    )


def agreement_of_draws(
    draws: Sequence[Sequence[float]],
    sources: Sequence[Hashable],
    *,
    scale: Sequence[float] | None,
    labels: bool,
    ordered: bool = True,
) -> NamedNumbers:
    """How well the draws of one judge agree: alpha, share of texts whose draws differ.

    draws: a list for each text, NaN where a draw is missing; sources: the source of
    each text; scale: the judge's values, None for any number.

    >>> numbers = agreement_of_draws([[1, 1], [2, 3]], "ab", scale=None, labels=False)
    >>> numbers["flip_rate"]["value"]
    0.5
    """
    draw_count = max(map(len, draws), default=0)
    table = np.full((draw_count, len(draws)), np.nan)
    for text, values in enumerate(draws):
        table[: len(values), text] = values
    codes = _codes(sources)
    results = repeatability(
        table,
        codes,
        deletions(int(codes.max(initial=-1)) + 1),
        scale=scale,
        labels=labels,
        ordered=ordered,
    )
    names = ("alpha_draws", "flip_rate")
    return {name: numbers_of(results[name]) for name in names}


class ConfidenceNumbers(NamedTuple):
    """What a judge's confidence is worth: its numbers, what gap and slope show, the
    point of the highest confidence (None below 100 verdicts), and from which confidence
    on at most a tenth of the verdicts are wrong.
    """

    numbers: NamedNumbers
    shown: Calibration
    surest: Bin | None
    accepted: Guarantee


def calibration_of(
    confidence: Sequence[float],
    right: Sequence[float],
    sources: Sequence[Hashable],
    rng: np.random.Generator,
) -> ConfidenceNumbers:
    """Gap, slope, Brier score, AUROC and calibration error of a judge's confidence.

    A value a row: confidence from 0 to 1; right: 1 where the verdict is people's, 0
    where it is another one; NaN = missing. See docs/guide/confidence.md.

    >>> rng = np.random.default_rng(1)
    >>> found = calibration_of([0.9] * 20, [1.0, 0.0] * 10, range(20), rng)
    >>> round(found.numbers["confidence_gap"]["value"], 3), found.shown.value
    (0.4, 'over-confident')
    """
    codes = _codes(sources)
    given = Stated.select(np.array(confidence), np.array(right), codes)
    weights = deletions(int(codes.max(initial=-1)) + 1)
    gap = stated_confidence.confidence_gap(given, weights)
    slope = stated_confidence.confidence_slope(given, weights)
    auroc = stated_confidence.auroc_right(given)
    numbers = {
        "confidence_gap": numbers_of(gap.estimate),
        "confidence_slope": numbers_of(slope.estimate),
        "brier": numbers_of(stated_confidence.brier(given, weights).estimate),
        "auroc_right": numbers_of(auroc.estimate),
    }
    errors = confidence_bins.calibration_errors(given, rng)
    for name, estimate in errors.items():
        numbers[name] = numbers_of(estimate)
    points = confidence_bins.diagram(given, weights)
    return ConfidenceNumbers(
        numbers,
        stated_confidence.calibration(gap, slope),
        points[-1] if points else None,
        confidence_from(given),
    )


def _codes(sources: Sequence[Hashable]) -> Codes:
    """A number for each different source, in the order of the rows."""
    known: dict[Hashable, int] = {}
    codes = [known.setdefault(source, len(known)) for source in sources]
    return np.array(codes, np.int64)
