"""Agreement of a judge's classes with people's over the full scale: weighted kappa and CEM-ORD."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, Weights, dot
from judgescope.statistics.declared import agreement, correlation, declare
from judgescope.statistics.intervals import Scale
from judgescope.statistics.resampling import Replicated, Sample
from judgescope.statistics.result import FEW_PAIRS, NO_VARIATION

ORDER: Final = 2
DECLARED: Final = declare(
    agreement(
        "kappa_linear",
        "Linear κ",
        "agreement on ratings beyond chance",
        "Cohen 1968; Hu et al. 2025",
    ),
    agreement(
        "kappa_quadratic", "Quadratic κ", "as linear κ, larger errors weigh more", "Cohen 1968"
    ),
    correlation(
        "cem_ord",
        "CEM-ORD",
        "closeness of classes, rare ones weigh more",
        "Amigó et al. 2020",
        range="from the floor in the note to 1",
        scaled=Scale("plain", 0.0, 1.0),
    ),
)


ROUND_OFF: Final = 1e-9
"""A value this near to a class belongs to it: tenths are not exact."""
CEM_ORD: Final = "cem_ord"
ON_CLASSES: Final = ("kappa_linear", "kappa_quadratic", CEM_ORD)


def on_classes(
    gold: Floats, predicted: Floats, classes: Sequence[float], source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """Return kappa_linear, kappa_quadratic and cem_ord, all from one table of counts per source.

    kappa = 1 - sum d O / sum d E, where O are the counts of (gold, predicted) pairs, E those
    expected from the margins alone, and d is |i - j| or (i - j)² of the places i, j in `classes`;
    up to 1, 0 = chance (Cohen 1968; Hu et al. 2025, global view). CEM-ORD = sum prox(p,
    g) / sum prox(g, g), prox(p, g) = -log2 of the share of gold that lies from p to g, that of p
    counted half; from `cem_floor` to 1 (Amigó et al. 2020; printed by the code of Hu et al.
    2025).

    gold and predicted (targets,), NaN = missing: a target without both counts in `n_missing`;
    classes: the whole ordered scale, used or not, since a class left out moves its neighbours
    together; source (targets,) and weights (resamples, sources) as in `correlations`. `n` counts
    pairs; `n_tied` stays 0: equal classes are agreement here, not ties. Undefined below 2 pairs;
    kappa also where both are constant in the same class. ValueError for a value that is no class.
    """
    complete = ~(np.isnan(gold) | np.isnan(predicted))
    sample = Sample.of(complete, source, weights)
    people, judge, n_sources = gold[complete], predicted[complete], sample.rows.shape[1]
    counts = confusion_counts(people, judge, classes, sample.source, n_sources)
    if sample.source.size < 2:
        return dict.fromkeys(ON_CLASSES, sample.undefined(FEW_PAIRS))
    tables = dot(sample.rows, counts)
    values = (kappas(tables), kappas(tables, power=2), _cem_ord(tables))
    by_name = {
        name: sample.result(name, own, NO_VARIATION)
        for name, own in zip(ON_CLASSES, values, strict=True)
    }
    by_name[CEM_ORD] = by_name[CEM_ORD].with_note(f"floor {cem_floor(people, classes):.3f}")
    return by_name


def cem_floor(gold: Floats, classes: Sequence[float]) -> float:
    """Return the least CEM-ORD that any classes given to these gold ones can reach.

    The sum falls apart by gold class, so each takes the class of least proximity. gold (targets,),
    NaN = missing, at least one given. Range [0, 1].
    """
    counts = np.bincount(class_codes(gold[~np.isnan(gold)], classes), minlength=len(classes))
    proximity = _proximity(counts[None].astype(np.float64))[0]
    used = counts > 0
    result = dot(counts[used], proximity.min(axis=0)[used])
    return float(result / dot(counts[used], np.diag(proximity)[used]))


def confusion_counts(
    gold: Floats, predicted: Floats, classes: Sequence[float], source: Codes, n_sources: int
) -> Codes:
    """Return how often each source has each (gold, predicted) pair: (sources, classes, classes).

    gold, predicted and source (targets,), nothing missing. ValueError for a value that is no class.
    """
    k = len(classes)
    cell = class_codes(gold, classes) * k + class_codes(predicted, classes)
    counts = np.bincount(source * k * k + cell, minlength=n_sources * k * k)
    return counts.reshape(n_sources, k, k)


def class_codes(values: Floats, classes: Sequence[float]) -> Codes:
    """Return the place of each value (n,) in `classes`; ValueError names one that is not there."""
    result, wrong = _places(values, classes)
    if wrong.any():
        raise ValueError(f"value {values[wrong][0]:g} is not one of {list(classes)}")
    return result


def equal_width(values: Floats, scale: Sequence[float], classes: Sequence[float]) -> Floats:
    """Return the class of each value of another scale: number floor((i + 1/2) K / L), from 0.

    i is the place of the value among the L values of its scale, K the number of classes; both in
    ascending order. values (targets,), NaN stays; 1 to 10 on classes 1 to 5 are 1, 1, 2, 2, …, 5. A
    scale of as many values keeps every place. ValueError for a value that is not on the scale.
    (Hu et al. 2025, appendix A.4): other scales are rescaled uniformly.
    """
    complete = ~np.isnan(values)
    place = class_codes(values[complete], sorted(scale))
    classes_of = np.full(values.shape, np.nan)
    classes_of[complete] = np.sort(classes)[(2 * place + 1) * len(classes) // (2 * len(scale))]
    return classes_of


def are_classes(values: Floats, classes: Sequence[float]) -> bool:
    """Return whether every value is one of `classes`; NaN is passed over."""
    return not _places(values[~np.isnan(values)], classes)[1].any()


def _places(values: Floats, classes: Sequence[float]) -> tuple[Codes, Flags]:
    scale = np.asarray(classes, dtype=np.float64)
    order = np.argsort(scale)
    near = np.searchsorted(scale[order], values - ROUND_OFF).clip(max=scale.size - 1)
    return order[near], np.abs(scale[order[near]] - values) > ROUND_OFF


def kappas(counts: Floats, *, power: int = 1) -> Floats:
    """Return kappa of each table of gold by predicted: (rows, k, k) -> (rows,).

    1 - sum d O / sum d E as in `on_classes`, d the distance of two classes to the `power` 1
    (linear), 2 (quadratic; Cohen 1968) or 0 (1 for any two classes; Cohen 1960). NaN where no
    disagreement is expected. Up to the last division all numbers are whole, so no round-off hides
    a zero.
    """
    place = np.arange(counts.shape[1])
    steps = np.abs(place[:, None] - place)
    distance = steps**power * (steps > 0)
    observed = np.einsum("rij,ij->r", counts, distance) * counts.sum(axis=(1, 2))
    expected = np.einsum("ri,ij,rj->r", counts.sum(axis=2), distance, counts.sum(axis=1))
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: without expectation nothing is observed
        result: Floats = 1 - observed / expected
    return result


def _cem_ord(counts: Floats) -> Floats:
    """Return CEM-ORD of each table of gold by predicted: (rows, k, k) -> (rows,)."""
    gold = counts.sum(axis=2)
    proximity = _proximity(gold)
    reached = np.sum(counts * np.swapaxes(proximity, 1, 2), axis=(1, 2))
    whole = np.sum(gold * np.einsum("rkk->rk", proximity), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(reached / whole)


def _proximity(gold: Floats) -> Floats:
    """Return prox(p, g) of each row of gold counts: (rows, k) -> (rows, k, k).

    It is 0 where nothing lies from p to g: g is a class without gold, and nothing is weighed by it.
    """
    upto = np.cumsum(gold, axis=1)
    above = upto[:, None, :] - upto[:, :, None]  # gold from p, without it, up to g
    below = (upto - gold)[:, :, None] - (upto - gold)[:, None, :]
    between = np.where(np.tri(gold.shape[1], k=-1, dtype=bool), below, above)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (gold[:, :, None] / 2 + between) / gold.sum(axis=1)[:, None, None]
        return np.where(share > 0, -np.log2(share), 0.0)
