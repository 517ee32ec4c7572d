"""What a judge's scores on a panel say beside people's ratings: every statistic of agreement."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.specs import present
from judgescope.statistics.accuracy import acc_eq, soft_pairwise_accuracy
from judgescope.statistics.alpha import Measurement, krippendorff_alpha
from judgescope.statistics.bias import length_slope, partial_correlation, self_preference
from judgescope.statistics.correlation import correlations
from judgescope.statistics.kappa import CEM_ORD, ON_CLASSES, are_classes, cem_floor, on_classes
from judgescope.statistics.raters import (
    alternative_annotator,
    as_rater,
    ceilings,
    decided,
    rating_tables,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import (
    CONTINUOUS,
    NO_AGREEMENT,
    OFF_JUDGE_SCALE,
    OFF_SCALE,
    Estimate,
)

Place = tuple[str, str]
"""(statistic, level)."""
AVERAGE = "average"
"""The aspect of rows that hold the mean over all aspects."""
Named = Iterator[tuple[Place, Estimate]]
POOLED, BY_SOURCE, BY_SYSTEM = "pooled", "by_source", "by_system"
MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval")
OTHER_SCALE = "the judge has a scale of its own"
LARGEST_CEILING = 50
"""Of more raters (crowds, of whom each rated little), pairs would be too many and too thin."""


def ranked(
    study: EvaluationData, panel: TargetSet, x: Floats, y: Floats
) -> dict[Place, Replicated]:
    """Return what needs no common scale: correlations, acc_eq and spa, with their replicates."""
    place = (panel.source, panel.system)
    found: dict[Place, Replicated] = {
        (statistic, level): one
        for (statistic, level), one in correlations(x, y, *place, weights=study.weights).items()
    }
    accuracy, epsilon = acc_eq(x, y, panel.source, weights=study.weights)
    if epsilon is not None:
        told = f"ties up to {epsilon:.4g}, chosen leaving each source out"
        accuracy = accuracy._replace(estimate=accuracy.estimate.with_note(told))
    found["acc_eq", BY_SOURCE] = accuracy
    found["spa", BY_SYSTEM] = soft_pairwise_accuracy(x, y, *place, weights=study.weights)
    return {at: one._replace(estimate=against(one.estimate, "mean")) for at, one in found.items()}


def categorical(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, x: Floats, gold: Floats
) -> Named:
    """Yield kappas, CEM-ORD and alpha of a judge against the raters' lower median."""
    classes, reason = classes_with(study, judge, aspect, gold, x)
    if classes is None:
        yield from (
            ((name, POOLED), Estimate.undefined(reason)) for name in (*ON_CLASSES, "alpha_pair")
        )
        return
    for name, found in on_classes(gold, x, classes, panel.source, study.weights).items():
        yield (name, POOLED), against(found.estimate, "lower median")
    pair = alpha(study, panel, np.stack([gold, x]), classes)
    yield ("alpha_pair", POOLED), against(pair, "lower median")


def hinted(study: EvaluationData, row: dict[str, Any]) -> dict[str, Any]:
    """Say of a judge that is given a rating of the very text that this is no agreement."""
    card = study.spec.judges.get(row["judge"])
    if card is None or not card.hint:
        return row
    said = f"hint: {card.hint}; {NO_AGREEMENT}"
    return row | {"note": "; ".join(filter(None, [row["note"], said]))}


def against(estimate: Estimate, which: str) -> Estimate:
    """Say in `method` which of the raters' values a judge is held against."""
    told = "; ".join(filter(None, [f"against the raters' {which}", estimate.method]))
    return replace(estimate, method=told)


def floored(statistic: str, mean: Estimate) -> Estimate:
    """Return a mean over aspects, sets or datasets, of CEM-ORD with where its floors are told."""
    if statistic != CEM_ORD or mean.value is None:
        return mean
    return mean.with_note("a mean of numbers with floors of their own, which their rows tell")


def classes_of(study: EvaluationData, judge: str, aspect: str) -> list[float] | None:
    """Return the values that judge and people can give, None where either gives any number.

    A judge may give halves where people give whole points; on a scale of its own it gives others.
    """
    card, rated = study.spec.judges[judge], study.spec.aspects[aspect].values
    grid = card.grid[aspect]
    if rated is None or grid is None or not card.discrete:
        return None
    if not on_their_scale(study, judge, aspect):
        return None
    return sorted({*rated, *grid})


def on_their_scale(study: EvaluationData, judge: str, aspect: str) -> bool:
    """Return whether a judge's scale, if it has one, has the ends of people's."""
    ends = study.spec.judges[judge].ends[aspect]
    return ends is None or ends == study.spec.aspects[aspect].ends


def classes_with(
    study: EvaluationData, judge: str, aspect: str, gold: Floats, scores: Floats
) -> tuple[list[float] | None, str]:
    """Return the classes of a judge's scores and gold ratings, or None and why there are none.

    gold and scores: any shape, NaN = missing. Scores off the judge's scale, which a parser without
    a range check gives, belong to no class.
    """
    classes = classes_of(study, judge, aspect)
    if classes is None:
        return None, CONTINUOUS if on_their_scale(study, judge, aspect) else OTHER_SCALE
    if not are_classes(gold, classes):
        return None, OFF_SCALE
    if not are_classes(scores, classes):
        return None, OFF_JUDGE_SCALE
    return classes, ""


def alpha(
    study: EvaluationData,
    panel: TargetSet,
    ratings: Floats,
    classes: list[float] | None,
    measurement: Measurement = "ordinal",
) -> Estimate:
    """Return the alpha of raters on a panel; classes None: of numbers, interval alone."""
    return krippendorff_alpha(
        ratings, level=measurement, domain=classes, source=panel.source, weights=study.weights
    )


def replacement(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, x: Floats, ratings: Floats
) -> Named:
    """Yield the alternative-annotator test of a judge that rates on people's scale."""
    ends = study.spec.judges[judge].ends[aspect]
    own = ends is not None and on_their_scale(study, judge, aspect)
    if not own or study.spec.ratings != "human":
        return
    discrete = classes_of(study, judge, aspect) is not None
    rate, advantage = alternative_annotator(
        x,
        ratings,
        panel.source,
        weights=study.weights,
        closeness="accuracy" if discrete else "rmse",
    )
    yield ("alt_test_winrate", POOLED), rate
    yield ("alt_test_advantage", POOLED), advantage


def tables_of(study: EvaluationData, panel: TargetSet, aspect: str) -> list[Floats]:
    """Return people's ratings on a panel as one table of raters or several, as the card says.

    Who is a person is a fact of all rated texts: a judge of a share meets the same raters. Empty
    where nobody rated, or more raters than LARGEST_CEILING did.
    """
    every = study.systems
    ratings = every.ratings(aspect)
    if study.spec.ratings != "human" or len(ratings) > LARGEST_CEILING:
        return []
    slots = {"slots": True, "persons": False}.get(present(study.spec.as_rater).raters)

    def shuffle() -> np.random.Generator:
        return stream(study.spec.seed, "as rater", study.dataset, split(aspect)[0])

    chosen = np.isin(every.targets, panel.targets)
    return [table[:, chosen] for table in rating_tables(ratings, every.source, slots, shuffle)]


def as_raters(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, x: Floats, ratings: Floats
) -> Named:
    """Yield what a judge reaches as one more rater, at the levels of its statistics."""
    tables = tables_of(study, panel, aspect)
    if not tables:
        return
    place, weights = (panel.source, panel.system), study.weights

    def free(a: Floats, b: Floats) -> Mapping[Place, Replicated]:
        key = sha256(b"".join((panel.source.tobytes(), a.tobytes(), b.tobytes()))).digest()
        if key not in study.reached:  # what raters reach is the same beside many judges
            told = correlations(
                a,
                b,
                *place,
                weights=weights,
                statistics=["pearson", "spearman"],
                levels=["pooled", "by_source"],
            )
            study.reached[key] = {(*at,): one for at, one in told.items()}
        return study.reached[key]

    found = as_rater(free, x, tables, against="mean")
    classes, _ = classes_with(study, judge, aspect, lower_median(ratings), x)
    if classes is not None and are_classes(ratings, classes):

        def on_scale(a: Floats, b: Floats) -> Mapping[Place, Replicated]:
            each = on_classes(b, a, classes, panel.source, weights)
            return {(name, POOLED): each[name] for name in ("kappa_linear", "kappa_quadratic")}

        found |= as_rater(on_scale, x, tables, against="each")
    for (name, level), one in found.items():
        said = decided(one.difference, present(study.spec.as_rater).margin)
        yield (f"as_rater_{name}", level), one.difference.estimate.with_note(said)
        yield (f"as_rater_share_{name}", level), one.share


def swayed(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, x: Floats, y: Floats
) -> Named:
    """Yield what length and family of the judged texts do to a judge."""
    card, rated = study.spec.judges[judge], study.spec.aspects[aspect]
    keys: dict[str, Any] = {"weights": study.weights}
    length = panel.lengths
    if length.any():
        for statistic in ("pearson", "spearman"):
            left = partial_correlation(x, y, length, panel.source, statistic=statistic, **keys)
            yield (f"partial_{statistic}", POOLED), left.estimate
    if card.ends[aspect] is None:
        return
    keys |= {"judge_scale": card.ends[aspect], "people_scale": rated.ends}
    if length.any():
        yield (
            ("length_slope", POOLED),
            length_slope(x, y, length, panel.source, **keys).estimate,
        )
    families = study.spec.families
    if card.family and families:
        own = np.array([families.get(name) == card.family for name in panel.systems])
        found = self_preference(x, y, own, panel.source, **keys)
        yield ("self_preference", POOLED), found.estimate


def human(study: EvaluationData, panel: TargetSet, aspect: str) -> Named:
    """Yield what people reach among themselves: alpha, and the ceiling of every statistic."""
    ratings = panel.ratings(aspect)
    classes = study.spec.aspects[aspect].values
    reason = unrated(study, ratings)
    for measurement in MEASUREMENTS:
        numbers = measurement == "interval"
        why = reason or (CONTINUOUS if classes is None and not numbers else "")
        own = None if numbers else classes
        yield (
            (f"alpha_{measurement}", POOLED),
            Estimate.undefined(why) if why else alpha(study, panel, ratings, own, measurement),
        )
    if reason or len(ratings) > LARGEST_CEILING:
        return

    def free(x: Floats, y: Floats) -> Mapping[Place, Replicated]:
        return ranked(study, panel, x, y)

    yield from ceilings(free, ratings, against="mean").items()
    if classes is None:
        return

    def on_scale(x: Floats, y: Floats) -> Mapping[Place, Replicated]:
        found = on_classes(y, x, classes, panel.source, study.weights)
        return {(name, POOLED): one for name, one in found.items()}

    floor = np.mean([cem_floor(one, classes) for one in ratings if np.isfinite(one).any()])
    for at, found in ceilings(on_scale, ratings, against="each").items():
        told = f"floor {floor:.3f}, mean over the raters" if at[0] == CEM_ORD else ""
        yield at, found.with_note(told)


def unrated(study: EvaluationData, ratings: Floats) -> str:
    """Return why people's ratings (raters, targets) tell nothing of their agreement, else ""."""
    if study.spec.ratings != "human":
        return f"ratings are {study.spec.ratings}, not human"
    return "one rater" if len(ratings) < 2 else ""


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
