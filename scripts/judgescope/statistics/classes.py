"""Agreement on ratings as classes of an ordered scale: weighted kappas and CEM-ORD."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, dot, quotient
from judgescope.statistics.declared import agreement, correlation, declare
from judgescope.statistics.intervals import IntervalScale
from judgescope.statistics.resampling import (
    Replicated,
    TargetSample,
)
from judgescope.statistics.result import REASONS
from judgescope.statistics.source_rows import Weights

DECLARED = declare(
    "classes",
    kappa_linear=agreement(
        "Linear κ", "agreement on ratings beyond chance", "Cohen 1968; Hu et al. 2025"
    ),
    kappa_quadratic=agreement(
        "Quadratic κ", "as linear κ, but larger errors weigh more", "Cohen 1968"
    ),
    cem_ord=correlation(
        "CEM-ORD",
        "closeness of classes; rare classes weigh more",
        "Amigó et al. 2020",
        range="from the floor in the note to 1",
        scaled=IntervalScale("plain", 0.0, 1.0),
    ),
)


CEM_ORD: Final = "cem_ord"
ON_CLASSES: Final = ("kappa_linear", "kappa_quadratic", CEM_ORD)


def on_classes(
    gold: Floats,
    predicted: Floats,
    classes: Sequence[float],
    source: Codes,
    weights: Weights,
) -> dict[str, Replicated]:
    """kappa_linear, kappa_quadratic and cem_ord, all from one table of counts
    per source.

    kappa = 1 - sum d O / sum d E, where O are the counts of (gold, predicted) pairs, E
    those expected from the margins alone, and d is |i - j| or (i - j)² of the places i,
    j in `classes`; up to 1, 0 = chance (Cohen 1968; Hu et al. 2025, global view).
    CEM-ORD = sum prox(p, g) / sum prox(g, g), prox(p, g) = -log2 of the share of gold
    that lies from p to g, that of p counted half; from `cem_floor` to 1 (Amigó et al.
    2020; printed by the code of Hu et al. 2025).

    gold and predicted (targets,), NaN = missing: a target without both counts in
    `n_missing`; classes: the whole ordered scale, used or not, since a class left out
    moves its neighbours together; source (targets,) and weights (resamples, sources) as
    in `correlations`. `n` counts pairs; `n_tied` stays 0: equal classes are agreement
    here, not ties. Undefined below 2 pairs; kappa also where both are constant in the
    same class. ValueError for other values.

    >>> people = np.array([1.0, 2.0, 3.0, 3.0])
    >>> judge = np.array([1.0, 2.0, 3.0, 2.0])
    >>> results = on_classes(people, judge, [1, 2, 3], np.arange(4), None)
    >>> {name: round(result.estimate.value, 3) for name, result in results.items()}
    {'kappa_linear': 0.714, 'kappa_quadratic': 0.8, 'cem_ord': 0.868}
    """
    complete = ~(np.isnan(gold) | np.isnan(predicted))
    sample = TargetSample.select(complete, source, weights)
    people = gold[complete]
    judge = predicted[complete]
    n_sources = sample.rows.shape[1]
    counts = confusion_counts(people, judge, classes, sample.source, n_sources)
    if sample.source.size < 2:
        return dict.fromkeys(ON_CLASSES, sample.undefined(REASONS.few_pairs))
    tables = sample.rows.sums(counts)
    of_gold = tables.sum(axis=2)
    proximity = _proximity(of_gold)
    reached = np.sum(tables * np.swapaxes(proximity, 1, 2), axis=(1, 2))
    reachable = np.sum(of_gold * np.einsum("rkk->rk", proximity), axis=1)
    why = REASONS.no_variation
    closeness = sample.result("cem_ord", quotient(reached, reachable), why)
    floor = f"floor {cem_floor(people, classes):.3f}"
    return {
        "kappa_linear": sample.result("kappa_linear", kappas(tables), why),
        "kappa_quadratic": sample.result(
            "kappa_quadratic", kappas(tables, power=2), why
        ),
        "cem_ord": closeness.with_note(floor),
    }


def cem_floor(gold: Floats, classes: Sequence[float]) -> float:
    """The least CEM-ORD that any classes given to these gold ones can reach.

    The sum falls apart by gold class, so each takes the class of least proximity. gold
    (targets,), NaN = missing, at least one given. Range [0, 1].

    >>> round(cem_floor(np.array([1.0, 1.0, 2.0]), [1, 2]), 3)
    0.193
    """
    counts = np.bincount(
        class_codes(gold[~np.isnan(gold)], classes), minlength=len(classes)
    )
    proximity = _proximity(counts[None].astype(np.float64))[0]
    used = counts > 0
    result = dot(counts[used], proximity.min(axis=0)[used])
    return float(result / dot(counts[used], np.diag(proximity)[used]))


def confusion_counts(
    gold: Floats,
    predicted: Floats,
    classes: Sequence[float],
    source: Codes,
    n_sources: int,
) -> Codes:
    """How often each source has each (gold, predicted) pair: (sources, classes,
    classes).

    gold, predicted and source (targets,), nothing missing. ValueError for other values.

    >>> people = np.array([1.0, 2.0, 2.0])
    >>> judge = np.array([1.0, 1.0, 2.0])
    >>> confusion_counts(people, judge, [1, 2], np.array([0, 0, 0]), 1).tolist()
    [[[1, 0], [1, 1]]]
    """
    k = len(classes)
    cell = class_codes(gold, classes) * k + class_codes(predicted, classes)
    counts = np.bincount(source * k * k + cell, minlength=n_sources * k * k)
    return counts.reshape(n_sources, k, k)


def class_codes(values: Floats, classes: Sequence[float]) -> Codes:
    """The place of each value (n,) in `classes`; ValueError names one that is
    not there.

    >>> class_codes(np.array([0.5, 1.5]), [0.5, 1.0, 1.5]).tolist()
    [0, 2]
    """
    codes, wrong = _nearest_classes(values, classes)
    if wrong.any():
        raise ValueError(f"value {values[wrong][0]:g} is not one of {list(classes)}")
    return codes


def equal_width(
    values: Floats, scale: Sequence[float], classes: Sequence[float]
) -> Floats:
    """The class of each value of another scale: number floor((i + 1/2) K / L),
    from 0.

    i is the place of the value among the L values of its scale, K the number of
    classes; both in ascending order. values (targets,), NaN stays; 1 to 10 on classes 1
    to 5 are 1, 1, 2, 2, …, 5. A scale of as many values keeps every place. ValueError
    for a value that is not on the scale. (Hu et al. 2025, appendix A.4): other scales
    are rescaled uniformly.

    >>> scale = range(1, 11)
    >>> equal_width(np.array([1.0, 2.0, 3.0, 10.0]), scale, [1, 2, 3, 4, 5]).tolist()
    [1.0, 1.0, 2.0, 5.0]
    """
    complete = ~np.isnan(values)
    position = class_codes(values[complete], sorted(scale))
    classes_of = np.full(values.shape, np.nan)
    classes_of[complete] = np.sort(classes)[
        (2 * position + 1) * len(classes) // (2 * len(scale))
    ]
    return classes_of


def are_classes(values: Floats, classes: Sequence[float]) -> bool:
    """Whether every value is one of `classes`; NaN is passed over.

    >>> are_classes(np.array([1.0, np.nan]), [1, 2])
    True
    >>> are_classes(np.array([1.5]), [1, 2])
    False
    """
    return not _nearest_classes(values[~np.isnan(values)], classes)[1].any()


def _nearest_classes(values: Floats, classes: Sequence[float]) -> tuple[Codes, Flags]:
    """The class of each value (n,), and whether the value is too far from it."""
    scale = np.asarray(classes, dtype=np.float64)
    order = np.argsort(scale)
    # A value this near to a class belongs to it: tenths are not exact.
    near = 1e-9
    at = np.searchsorted(scale[order], values - near).clip(max=scale.size - 1)
    codes = order[at]
    return codes, np.abs(scale[codes] - values) > near


def kappas(counts: Floats, *, power: int = 1) -> Floats:
    """kappa of each table of gold by predicted: (rows, k, k) -> (rows,).

    1 - sum d O / sum d E as in `on_classes`, d the distance of two classes to the
    `power` 1 (linear), 2 (quadratic; Cohen 1968) or 0 (1 for any two classes; Cohen
    1960). NaN where no disagreement is expected. Up to the last division all numbers
    are whole, so no round-off hides a zero.

    >>> kappas(np.array([[[2.0, 0.0], [1.0, 1.0]]])).tolist()  # 1 - 1 · 4 / (2·1 + 2·3)
    [0.5]
    """
    position = np.arange(counts.shape[1])
    steps = np.abs(position[:, None] - position)
    distance = steps**power * (steps > 0)
    observed = np.einsum("rij,ij->r", counts, distance) * counts.sum(axis=(1, 2))
    expected = np.einsum(
        "ri,ij,rj->r", counts.sum(axis=2), distance, counts.sum(axis=1)
    )
    # NaN: nothing expected, nothing observed.
    return np.asarray(1 - quotient(observed, expected))


def _proximity(gold: Floats) -> Floats:
    """prox(p, g) of each row of gold counts: (rows, k) -> (rows, k, k).

    It is 0 where nothing lies from p to g: g is a class without gold, and nothing is
    weighed by it.
    """
    upto = np.cumsum(gold, axis=1)
    before = upto - gold
    above = upto[:, None, :] - upto[:, :, None]  # gold after p up to g
    below = before[:, :, None] - before[:, None, :]
    is_below = np.tri(gold.shape[1], k=-1, dtype=bool)
    between = np.where(is_below, below, above)
    total = gold.sum(axis=1)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (gold[:, :, None] / 2 + between) / total
        return np.where(share > 0, -np.log2(share), 0.0)
