"""What stands for several people's ratings of a text: the study's key `gold`.

By default (`auto`) it is their mean for correlations and their lower median for
classes. Labels without an order have neither: see `labels.truth_of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgescope.methods.evaluation_data import EvaluationData
from judgescope.statistics.arrays import Floats
from judgescope.statistics.classes import are_classes
from judgescope.statistics.raters import GOLD, GOLD_NAMES, GoldRule, majority_rating
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate


@dataclass(frozen=True)
class GoldRating:
    """People's value of each text, (targets,), NaN without a rating.

    `rule` makes it of several ratings; `note` counts texts without a majority, if the
    rule needs one.
    """

    values: Floats
    rule: GoldRule
    note: str = ""

    def named(self, result: Replicated) -> Replicated:
        """Return a judge's result with what it is compared with, as `method` says."""
        how = f"against the raters' {GOLD_NAMES[self.rule]}"
        return result.with_method(how).with_note(self.note)


def number_rule(data: EvaluationData) -> GoldRule:
    """Return the rule for correlations."""
    if data.spec.gold_rule == "auto":
        return "mean"
    return data.spec.gold_rule


def class_rule(data: EvaluationData) -> GoldRule:
    """Return the rule for classes of an ordered scale."""
    if data.spec.gold_rule == "auto":
        return "median"
    return data.spec.gold_rule


def gold_numbers(data: EvaluationData, ratings: Floats) -> GoldRating:
    """Return what a judge's scores are correlated with; ratings (raters, targets)."""
    return _gold(number_rule(data), ratings)


def gold_classes(data: EvaluationData, ratings: Floats) -> GoldRating:
    """Return what a judge's classes are compared with; ratings (raters, targets).

    Not every rule keeps to the values of the scale: see `why_no_classes`.
    """
    return _gold(class_rule(data), ratings)


def _gold(rule: GoldRule, ratings: Floats) -> GoldRating:
    note = ""
    if rule == "majority_else_mean":
        note = no_majority(ratings)
    return GoldRating(GOLD[rule](ratings), rule, note)


def no_majority(ratings: Floats) -> str:
    """Return the note on rated texts of which no rating has a majority.

    ratings (raters, targets), NaN = missing.
    """
    rated = np.isfinite(ratings).any(axis=0)
    without = int((rated & np.isnan(majority_rating(ratings))).sum())
    return f"no majority in {without} of {int(rated.sum())} texts: their mean counts"


def why_no_classes(data: EvaluationData, gold: Floats, classes: Sequence[float]) -> str:
    """Return why gold values, (targets,), have no statistics of classes, "" if they
    have.
    """
    if are_classes(gold, classes):
        return ""
    rule = class_rule(data)
    if rule == "median":
        return REASONS.off_scale
    known = gold[~np.isnan(gold)]
    off = sum(not are_classes(value, classes) for value in known[:, None])
    return (
        f"gold: {rule} is not a value of the scale in {off} of {known.size} rated texts"
    )


def with_rule(data: EvaluationData, estimate: Estimate) -> Estimate:
    """Return an estimate of people's values with the study's rule, unless it is the
    default.

    For tables whose `method` does not name what stands for several ratings.
    """
    rule = data.spec.gold_rule
    if rule == "auto":
        return estimate
    return estimate.with_note(f"gold: {rule}")
