"""Statistics of agreement of a judge's scores with people's ratings, on one set of
texts.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from hashlib import sha256
from types import EllipsisType
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods.base import present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import GoldRating, number_rule, why_no_classes
from judgescope.schema.rows import ResultRow
from judgescope.statistics import alt_test, raters
from judgescope.statistics.accuracy import acc_eq, soft_pairwise_accuracy
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.bias import (
    length_slope,
    partial_correlation,
    self_preference,
)
from judgescope.statistics.classes import (
    CEM_ORD,
    ON_CLASSES,
    are_classes,
    cem_floor,
    on_classes,
)
from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.correlation import (
    COEFFICIENTS,
    LEVELS,
    CorrelationLevel,
    correlations,
)
from judgescope.statistics.intervals import FEWEST_SOURCES
from judgescope.statistics.raters import RaterDifference
from judgescope.statistics.reliability import Measurement, krippendorff_alpha
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate, clauses
from judgescope.statistics.source_rows import Weights
from judgescope.statistics.within_sources import (
    STATISTIC,
    partial_by_system,
    texts_that_count,
    varies,
    within_sources,
)

LevelStatistic = tuple[str, str]
"""(statistic, level)."""
AVERAGE = "average"
"""The aspect of rows that hold the mean over all aspects."""
NamedEstimates = Iterator[tuple[LevelStatistic, Estimate]]
POOLED = "pooled"
BY_SOURCE = "by_source"
BY_SYSTEM = "by_system"
WITHIN_SOURCE = "within_source"
DECIDES: Final = {WITHIN_SOURCE: STATISTIC, POOLED: "spearman"}
"""Level of a claim of agreement -> the statistic that decides it."""
LARGEST_CEILING = 50
"""With more raters (crowds who rated little each) pairs are too many and rest on too
few texts."""


def level_of(x: Floats, y: Floats, source: Codes, n_sources: int) -> str:
    """The level at which scores x are compared with people's values y.

    Within sources if at least half of the texts with both values count there (their
    source has two such texts) and 10 sources have two different ratings; else over all
    texts (docs/methods.md, "Agreement"). x, y, source (texts,), NaN = missing.
    """
    both, counting = texts_that_count(x, y, source, n_sources)
    differing = varies(np.where(counting, y, np.nan), source, n_sources)
    is_majority = 2 * int(counting.sum()) >= int(both.sum())
    enough = int(differing.sum()) >= FEWEST_SOURCES
    return WITHIN_SOURCE if is_majority and enough else POOLED


def correlated(
    targets: TargetSet,
    x: Floats,
    y: Floats,
    *,
    statistics: Collection[Coefficient] = COEFFICIENTS,
    levels: Collection[CorrelationLevel] = LEVELS,
    weights: Weights = None,
    chosen: Flags | EllipsisType = ...,
) -> dict[LevelStatistic, Replicated]:
    """Return correlations of two scores of a set's targets, or of the `chosen` ones.

    x, y (targets,), NaN = missing. With their deletions, or the rows of other
    `weights`.
    """
    results = correlations(
        x[chosen],
        y[chosen],
        targets.source[chosen],
        targets.system[chosen],
        weights=targets.study.weights if weights is None else weights,
        statistics=statistics,
        levels=levels,
    )
    known = dict[LevelStatistic, Replicated](list(results.items()))
    return _without_unknown_systems(targets, known)


def _without_unknown_systems(
    targets: TargetSet, results: dict[LevelStatistic, Replicated]
) -> dict[LevelStatistic, Replicated]:
    """Results that are undefined at system level where nobody knows the systems."""
    if not targets.study.spec.anonymous_systems:
        return results
    unknown_systems = "nobody knows which system wrote a text"
    undefined = Estimate.undefined(unknown_systems)
    kept = {}
    for (statistic, level), result in results.items():
        if level == BY_SYSTEM:
            rows = np.full_like(result.rows, np.nan)
            result = result._replace(estimate=undefined, rows=rows)
        kept[statistic, level] = result
    return kept


def pearson(targets: TargetSet, x: Floats, y: Floats) -> Estimate:
    """Return the pooled Pearson correlation of two scores of a set's targets.

    x, y (targets,), NaN = missing.
    """
    results = correlated(targets, x, y, statistics=["pearson"], levels=["pooled"])
    return results["pearson", POOLED].estimate


def ranked(
    targets: TargetSet, x: Floats, y: Floats
) -> dict[LevelStatistic, Replicated]:
    """Return statistics that need no common scale: correlations, acc_eq and spa, with
    deletions.

    x, y (targets,), NaN = missing.
    """
    return correlated(targets, x, y) | beside_correlations(targets, x, y)


def beside_correlations(
    targets: TargetSet, x: Floats, y: Floats
) -> dict[LevelStatistic, Replicated]:
    """Return acc_eq, spa, correlations of pairs within sources and, of named systems,
    those with systems held constant.

    x, y (targets,), NaN = missing.
    """
    weights = targets.study.weights
    results = dict[LevelStatistic, Replicated]()
    accuracy, epsilon = acc_eq(x, y, targets.source, weights=weights)
    if epsilon is not None:
        note = (
            f"score differences up to {epsilon:.4g} count as ties; chosen on the "
            "other sources"
        )
        accuracy = accuracy.with_note(note)
    results["acc_eq", BY_SOURCE] = accuracy
    by_source = x, y, targets.source
    n_sources = len(targets.study.item_order)
    results[STATISTIC, WITHIN_SOURCE] = within_sources(*by_source, n_sources)
    pairs = within_sources(*by_source, n_sources, by_pairs=True)
    results["pdp_pairs", WITHIN_SOURCE] = pairs
    results["spa", BY_SYSTEM] = soft_pairwise_accuracy(
        x, y, targets.source, targets.system, weights=weights
    )
    if not targets.study.spec.anonymous_systems and np.unique(targets.system).size > 1:
        partial = partial_by_system(*by_source, targets.system, n_sources)
        results |= {(name, POOLED): estimate for name, estimate in partial.items()}
    return _without_unknown_systems(targets, results)


def categorical(
    targets: TargetSet, judge: str, aspect: str, x: Floats, people: GoldRating
) -> NamedEstimates:
    """Yield kappas, CEM-ORD and alpha of a judge against people's class.

    x (targets,), NaN = missing.
    """
    gold = people.values
    classes, reason = classes_with(targets.study, judge, aspect, gold, x)
    if classes is None:
        for name in (*ON_CLASSES, "alpha_pair"):
            yield (name, POOLED), Estimate.undefined(reason)
        return
    results = on_classes(gold, x, classes, targets.source, targets.study.weights)
    results["alpha_pair"] = alpha(targets, np.stack([gold, x]), classes)
    for name, result in results.items():
        yield (name, POOLED), people.named(result).estimate


def with_hint_note(data: EvaluationData, row: ResultRow) -> ResultRow:
    """Note that a judge that is given a rating of the text does not show agreement."""
    card = data.spec.judges.get(row["judge"])
    if card and card.hint:
        row["note"] = clauses(row["note"], f"hint: {card.hint}; {REASONS.no_agreement}")
    return row


def against(result: Replicated, which: str) -> Replicated:
    """Name in `method` the raters' value that a judge is compared with."""
    return result.with_method(f"against the raters' {which}")


def with_floor_note(statistic: str, mean: Estimate) -> Estimate:
    """Note that a mean of CEM-ORD is over numbers with different floors."""
    if statistic != CEM_ORD or mean.value is None:
        return mean
    return mean.with_note(
        "mean of values with different floors, which the notes of their rows give"
    )


def classes_of(data: EvaluationData, judge: str, aspect: str) -> list[float] | None:
    """Return the values that judge and people can give, None where either gives any
    number.

    A judge may give halves where people give whole points; on a scale of its own it
    gives others.
    """
    values = data.spec.aspects[aspect].values
    grid = data.spec.judges[judge].grid[aspect]
    if values is None or grid is None or not is_discrete(data, judge, aspect):
        return None
    if on_their_scale(data, judge, aspect):
        return sorted({*values, *grid})
    return None


def is_discrete(data: EvaluationData, judge: str, aspect: str) -> bool:
    """Return whether a score is a value of one reply, or the label of most, and no
    mean.
    """
    card = data.spec.judges[judge]
    people = data.spec.aspects[aspect]
    if card.discrete:
        return True
    return bool(people.labels and card.grid[aspect] == people.values)


def on_their_scale(data: EvaluationData, judge: str, aspect: str) -> bool:
    """Return whether a judge's scale, if it has one, has the ends of people's."""
    ends = data.spec.judges[judge].ends[aspect]
    return ends is None or ends == data.spec.aspects[aspect].ends


def classes_with(
    data: EvaluationData, judge: str, aspect: str, gold: Floats, scores: Floats
) -> tuple[list[float] | None, str]:
    """Return the classes of a judge's scores and gold ratings, or None and why there
    are none.

    gold and scores: any shape, NaN = missing. Scores off the judge's scale, which a
    parser without a range check gives, belong to no class.
    """
    classes = classes_of(data, judge, aspect)
    if classes is None:
        return None, REASONS.continuous if on_their_scale(
            data, judge, aspect
        ) else "the judge's scale differs from people's"
    if why := why_no_classes(data, gold, classes):
        return None, why
    if not are_classes(scores, classes):
        return None, REASONS.off_judge_scale
    return classes, ""


def alpha(
    targets: TargetSet,
    ratings: Floats,
    classes: list[float] | None,
    measurement: Measurement = "ordinal",
) -> Replicated:
    """Return the alpha of raters; classes None: of numbers, interval alone.

    ratings (raters, targets), NaN = missing.
    """
    source = targets.source
    weights = targets.study.weights
    return krippendorff_alpha(
        ratings, level=measurement, domain=classes, source=source, weights=weights
    )


def replacement(
    targets: TargetSet, judge: str, aspect: str, x: Floats, ratings: Floats
) -> NamedEstimates:
    """Yield the alternative-annotator test of a judge that rates on people's scale.

    x (targets,), ratings (raters, targets), NaN = missing.
    """
    study = targets.study
    has_scale = study.spec.judges[judge].ends[aspect] is not None
    if not (
        has_scale
        and on_their_scale(study, judge, aspect)
        and study.spec.ratings == "people"
    ):
        return
    rule = study.spec.alt_test
    discrete = classes_of(study, judge, aspect) is not None
    by_distance = not discrete if rule.ordered is None else rule.ordered
    by_distance = by_distance and study.spec.aspects[aspect].ordered
    rate, advantage = alt_test.alternative_annotator(
        x,
        ratings,
        targets.source,
        weights=study.weights,
        closeness="rmse" if by_distance else "accuracy",
        epsilon=rule.epsilon,
        unit=rule.unit,
    )
    if rule.ordered is not None:
        how = "closeness by equal ratings"
        if by_distance:
            how = "closeness by RMSE"
        rate = rate.with_method(how)
        advantage = advantage.with_method(how)
    yield ("alt_test_winrate", POOLED), rate
    yield ("alt_test_advantage", POOLED), advantage


def too_many_raters(targets: TargetSet, aspect: str) -> int:
    """Return the number of people who rated, 0 if a judge is compared with each."""
    raters = len(targets.study.systems.ratings(aspect))
    of_people = targets.study.spec.ratings == "people"
    if of_people and raters > LARGEST_CEILING:
        return raters
    return 0


def rater_tables(targets: TargetSet, aspect: str) -> list[Floats]:
    """Return people's ratings of targets as one table of raters or several, as the
    card says.

    The raters are determined from all rated texts: a judge of a share meets the same
    raters. Empty where nobody rated, or more raters than LARGEST_CEILING did.
    """
    study = targets.study
    systems = targets.study.systems
    ratings = systems.ratings(aspect)
    if study.spec.ratings != "people" or too_many_raters(targets, aspect):
        return []
    slots = {"slots": True, "persons": False}.get(present(study.spec.as_rater).raters)

    def shuffle() -> np.random.Generator:
        # Without the dataset's name: a claim's numbers do not depend on a file's name.
        return stream(study.spec.seed, "as rater", split(aspect)[0])

    chosen = np.isin(systems.targets, targets.targets)
    return [
        table[:, chosen]
        for table in raters.rating_tables(ratings, systems.source, slots, shuffle)
    ]


def as_raters(
    targets: TargetSet, judge: str, aspect: str, x: Floats, ratings: Floats
) -> NamedEstimates:
    """Yield the agreement of a judge as one more rater, at the levels of its
    statistics.

    x (targets,), ratings (raters, targets), NaN = missing.
    """
    study = targets.study
    tables = rater_tables(targets, aspect)
    if not tables:
        return
    cache = study.rater_correlations

    def correlate(a: Floats, b: Floats) -> Mapping[LevelStatistic, Replicated]:
        key = sha256(
            b"".join((targets.source.tobytes(), a.tobytes(), b.tobytes()))
        ).digest()
        if key not in cache:  # people's correlations are the same beside many judges
            cache[key] = correlated(
                targets,
                a,
                b,
                statistics=["pearson", "spearman"],
                levels=["pooled", "by_source"],
            )
        return cache[key]

    results = raters.as_rater(correlate, x, tables, against=number_rule(study))
    classes, _ = classes_with(study, judge, aspect, raters.lower_median(ratings), x)
    if classes is not None and are_classes(ratings, classes):

        def classify(a: Floats, b: Floats) -> Mapping[LevelStatistic, Replicated]:
            each = on_classes(b, a, classes, targets.source, study.weights)
            return {
                (name, POOLED): each[name]
                for name in ("kappa_linear", "kappa_quadratic")
            }

        results |= raters.as_rater(classify, x, tables, against="each")
    yield from decided_beside_raters(study, results)


def decided_beside_raters(
    data: EvaluationData, results: Mapping[LevelStatistic, RaterDifference]
) -> NamedEstimates:
    """Yield the differences from one more rater, with what the margin decides, and the
    shares.
    """
    margin = present(data.spec.as_rater).margin
    for (name, level), (difference, share, _) in results.items():
        noted = difference.estimate.with_note(raters.decided(difference, margin))
        yield (f"as_rater_{name}", level), noted
        yield (f"as_rater_share_{name}", level), share


def biases(
    targets: TargetSet, judge: str, aspect: str, x: Floats, y: Floats
) -> NamedEstimates:
    """Yield the effects of the texts' length and family on a judge's scores.

    x, y (targets,), NaN = missing.
    """
    study = targets.study
    length = targets.lengths
    source = targets.source
    weights = targets.study.weights
    card = study.spec.judges[judge]
    people_scale = study.spec.aspects[aspect].ends
    if targets.has_lengths:
        for statistic in ("pearson", "spearman"):
            partial = partial_correlation(
                x, y, length, source, statistic=statistic, weights=weights
            )
            yield (f"partial_{statistic}", POOLED), partial.estimate
    judge_scale = card.ends[aspect]
    if judge_scale is None:
        return
    scales = judge_scale, people_scale
    if targets.has_lengths:
        slope = length_slope(x, y, length, source, weights=weights, scales=scales)
        yield ("length_slope", POOLED), slope.estimate
    families = study.spec.families
    if card.family and families:
        own_family = np.array(
            [families.get(name) == card.family for name in targets.systems]
        )
        preference = self_preference(
            x, y, own_family, source, weights=weights, scales=scales
        )
        yield ("self_preference", POOLED), preference.estimate


def human_agreement(targets: TargetSet, aspect: str) -> NamedEstimates:
    """Yield the agreement of people with each other: alpha, and every statistic's
    ceiling.
    """
    study = targets.study
    ratings = targets.ratings(aspect)
    classes = study.spec.aspects[aspect].values
    no_agreement = unrated(study, ratings)
    measurements: tuple[Measurement, ...] = ("nominal", "ordinal", "interval")
    for measurement in measurements:
        interval = measurement == "interval"
        why = no_agreement or (
            REASONS.continuous if classes is None and not interval else ""
        )
        domain = None if interval else classes
        if why:
            agreement = study.undefined(why)
        else:
            agreement = alpha(targets, ratings, domain, measurement)
        yield (f"alpha_{measurement}", POOLED), agreement.estimate
    if no_agreement or len(ratings) > LARGEST_CEILING:
        return

    compared = number_rule(study)
    yield from raters.ceilings(
        partial(ranked, targets), ratings, against=compared
    ).items()
    if classes is None:
        return

    def classify(x: Floats, y: Floats) -> Mapping[LevelStatistic, Replicated]:
        results = on_classes(y, x, classes, targets.source, study.weights)
        return {(name, POOLED): result for name, result in results.items()}

    floor = np.mean(
        [cem_floor(rating, classes) for rating in ratings if np.isfinite(rating).any()]
    )
    for measure, ceiling in raters.ceilings(classify, ratings, against="each").items():
        note = ""
        if measure[0] == CEM_ORD:
            note = f"floor {floor:.3f}, mean over the raters"
        yield measure, ceiling.with_note(note)


def unrated(data: EvaluationData, ratings: Floats) -> str:
    """Return why ratings (raters, targets) do not show people's agreement, "" if they
    do.
    """
    not_of_people = why_not_of_people(data)
    if not_of_people:
        return not_of_people
    if len(ratings) < 2:
        return "one rater"
    return ""


def why_not_of_people(data: EvaluationData) -> str:
    """Return why ratings are nobody's: planned, or a model's; "" if people gave them.

    Ratings that differ are no sign of people: a model that rates twice differs, too.
    """
    whose = {"people": "", "model": "a model's"}.get(
        data.spec.ratings, data.spec.ratings
    )
    return f"ratings are {whose}, not people's" if whose else ""
