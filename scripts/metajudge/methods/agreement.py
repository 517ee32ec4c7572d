"""How well each judge agrees with people, and people with each other."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from metajudge.methods.study import DatasetStudy, Floats, Panel
from metajudge.statistics.alpha import krippendorff_alpha
from metajudge.statistics.correlation import correlations
from metajudge.statistics.estimate import CONTINUOUS, OFF_SCALE, Estimate
from metajudge.statistics.kappa import ON_CLASSES, cem_floor, on_classes


def rows(study: DatasetStudy) -> list[dict[str, Any]]:
    """Return the rows of agreement.csv: people first, then every judge with scores."""
    found: list[dict[str, Any]] = []
    for aspect in study.spec["aspects"]:
        ratings = study.systems.ratings(aspect)
        if not len(ratings):
            continue
        found += _human_rows(study, study.systems, aspect, ratings)
        for judge in study.spec["judges"]:
            for systems, panel in study.rated(judge).items():
                own = _judge_rows(study, panel, judge, aspect)
                found += [row | {"systems": systems} for row in own]
    return found


def _human_rows(
    study: DatasetStudy, panel: Panel, aspect: str, ratings: Floats
) -> Iterator[dict[str, Any]]:
    if study.spec["ratings"] != "human":
        alpha = Estimate.undefined(f"ratings are {study.spec['ratings']}, not human")
    elif len(ratings) < 2:
        alpha = Estimate.undefined("one rater")
    else:
        classes = study.spec["aspects"][aspect]["values"]
        alpha = Estimate.undefined(CONTINUOUS)
        if classes is not None:
            alpha = _alpha(study, panel, ratings, classes)
    yield study.row("human", aspect, "alpha_ordinal", "pooled", alpha)


def _judge_rows(
    study: DatasetStudy, panel: Panel, judge: str, aspect: str
) -> Iterator[dict[str, Any]]:
    scores, ratings = panel.scores(judge, aspect), panel.ratings(aspect)
    if scores is None:
        return
    mean = mean_rating(ratings)
    told = correlations(scores, mean, panel.source, panel.system, weights=study.weights)
    for (statistic, level), found in told.items():
        yield study.row(judge, aspect, statistic, level, found.estimate)
    gold = lower_median(ratings)
    for name, estimate in _categorical(study, panel, judge, aspect, scores, gold):
        yield study.row(judge, aspect, name, "pooled", estimate)


def _categorical(
    study: DatasetStudy, panel: Panel, judge: str, aspect: str, scores: Floats, gold: Floats
) -> Iterator[tuple[str, Estimate]]:
    """Yield kappas, CEM-ORD and alpha of the judge against the raters' lower median."""
    card, rated = study.spec["judges"][judge], study.spec["aspects"][aspect]["values"]
    grid = card["grid"][aspect]
    names = (*ON_CLASSES, "alpha_pair")
    if rated is None or grid is None or not card["discrete"]:
        yield from ((name, Estimate.undefined(CONTINUOUS)) for name in names)
        return
    classes = sorted({*rated, *grid})  # a judge may give halves where people give whole points
    if not np.isin(gold[np.isfinite(gold)], classes).all():
        yield from ((name, Estimate.undefined(OFF_SCALE)) for name in names)
        return
    for name, found in on_classes(gold, scores, classes, panel.source, study.weights).items():
        floor = f"floor {cem_floor(gold, classes):.3f}" if name == "cem_ord" else ""
        yield name, found.estimate.with_note(floor) if floor else found.estimate
    yield "alpha_pair", _alpha(study, panel, np.stack([gold, scores]), classes)


def _alpha(study: DatasetStudy, panel: Panel, ratings: Floats, classes: list[float]) -> Estimate:
    return krippendorff_alpha(
        ratings, level="ordinal", domain=classes, source=panel.source, weights=study.weights
    )


def mean_rating(ratings: Floats) -> Floats:
    """Return sum of a target's ratings / their number; NaN without any. (raters, n) -> (n,)."""
    given = np.isfinite(ratings).sum(axis=0)
    return np.where(given > 0, np.nansum(ratings, axis=0) / np.maximum(given, 1), np.nan)


def lower_median(ratings: Floats) -> Floats:
    """Return the middle rating of each target, of two the lower; NaN without any (methods.md 4)."""
    ordered = np.sort(ratings, axis=0)  # NaN last
    given = np.isfinite(ratings).sum(axis=0)
    middle = np.maximum((given - 1) // 2, 0)
    return np.asarray(np.take_along_axis(ordered, middle[None, :], axis=0)[0])
