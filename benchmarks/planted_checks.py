"""What the product says about a planted judge: the checks of its defects, as p-values.

Each check is a number of a result table. A judge's checks in one study are one family:
a defect is named where its p, after Holm's correction over the family, is at most .05.
"""

import sys
from collections.abc import Iterable, Mapping
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.methods import measures, repeatability
from judgescope.methods.claims.base import CORRELATION_GAP, less, p_above
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.pair_verdicts import votes_of
from judgescope.schema.rows import ResultRow
from judgescope.statistics.bias import length_slope, self_preference
from judgescope.statistics.intervals import holm
from judgescope.statistics.order import first_position_rate
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import Estimate

NAMED_AT = 0.05
"""Level of a family of checks."""
ONE_DRAW = 0.9025
"""The reliability from which on one draw has .95 of the attainable correlation."""
HELD = {"better", "as_rater", "withstands", "meets", "noticed"}
"""Outcomes that speak for a judge."""


class Check(NamedTuple):
    """A defect, the aspect or "", and the p of the judge not having it."""

    defect: str
    aspect: str
    p: float


def named(checks: Iterable[Check]) -> set[str]:
    """Return the defects that a family of checks names."""
    family = [one for one in checks if not isnan(one.p)]
    adjusted = holm(np.array([one.p for one in family]))
    pairs = zip(family, adjusted.tolist(), strict=True)
    return {one.defect for one, p in pairs if p <= NAMED_AT}


def checks_of_scores(data: EvaluationData, judge: str) -> list[Check]:
    """Return the checks of a judge that rates texts."""
    panel, card, spec = data.systems, data.spec.judges[judge], data.spec
    checks, of_judge, of_people = [], {}, {}
    own = [spec.families.get(name) == card.family for name in panel.systems]
    for aspect, scale in spec.aspects.items():
        x, y = panel.scores(judge, aspect), mean_rating(panel.ratings(aspect))
        assert x is not None
        of_judge[aspect], of_people[aspect] = x, y
        ends = card.ends[aspect] or scale.ends
        scales, weights = (ends, scale.ends), data.weights
        slope = length_slope(
            x, y, panel.lengths, panel.source, scales=scales, weights=weights
        )
        above = p_above(slope, 0.0)
        # Both signs are asked: each has half of the level.
        checks.append(Check("longer", aspect, min(1.0, 2 * above)))
        checks.append(Check("shorter", aspect, min(1.0, 2 * (1 - above))))
        if card.family:
            preference = self_preference(
                x, y, np.array(own), panel.source, scales=scales, weights=weights
            )
            checks.append(Check("own-family", aspect, p_above(preference, 0.0)))
    first, *others = spec.aspects
    for other in others:
        judges, people = (
            measures.correlated(
                panel,
                values[first],
                values[other],
                statistics=["pearson"],
                levels=["pooled"],
            )["pearson", "pooled"]
            for values in (of_judge, of_people)
        )
        gap = less(judges, people, CORRELATION_GAP)
        checks.append(Check("halo", other, p_above(gap, 0.0)))
    return checks


def checks_of_draws(data: EvaluationData) -> dict[str, list[Check]]:
    """Return judge -> the checks of its repeated draws."""
    checks = dict[str, list[Check]]()
    for row in repeatability.rows(data):
        if row["statistic"] == "reliability":
            p = p_of_interval(estimate_of(row), ONE_DRAW, above=False)
            checks.setdefault(row["judge"], []).append(Check("noisy", row["aspect"], p))
    return checks


def checks_of_votes(data: EvaluationData) -> dict[str, list[Check]]:
    """Return judge -> the checks of its votes on pairs."""
    checks = dict[str, list[Check]]()
    source_of = dict(
        zip(data.systems.targets, data.systems.source.tolist(), strict=True)
    )
    for (_, judge, aspect), votes in votes_of(data).items():
        shown = [
            (source_of[pair[0]], one) for pair, each in votes.items() for one in each
        ]
        source, values = (np.array(column) for column in zip(*shown, strict=True))
        rate = first_position_rate(
            values.astype(np.float64), source.astype(np.int64), data.weights
        )
        p = p_of_interval(rate, 0.5, above=True)
        checks.setdefault(judge, []).append(Check("first-position", aspect, p))
    return checks


def estimate_of(row: ResultRow) -> Estimate:
    """Return the number of a row with its interval."""
    return Estimate(
        row["value"], ci_low=row["ci_low"], ci_high=row["ci_high"], n=row["n"]
    )


def p_of_interval(estimate: Estimate, null: float, *, above: bool) -> float:
    """Return the one-sided p of a truth above (or below) a null, from a 95 % interval.

    It is .025 where the interval's end is at the null; other values are those of a
    normal number with the same distance from value to end. NaN without an interval.
    """
    if estimate.value is None or estimate.ci_low is None or estimate.ci_high is None:
        return nan
    end = estimate.ci_low if above else estimate.ci_high
    width = abs(estimate.value - end)
    distance = estimate.value - null if above else null - estimate.value
    if width == 0:
        return 0.0 if distance > 0 else 1.0
    return float(norm.sf(norm.isf(0.025) * distance / width))


def outcomes(rows: Iterable[ResultRow]) -> dict[tuple[str, str, str], list[str]]:
    """Return (judge, kind, aspect) -> the outcome of its claim and the reasons."""
    verdicts = [row for row in rows if row["statistic"] == "verdict"]
    return {
        (row["judge"], row.get("form") or "", row["aspect"]): row["note"].split("; ")
        for row in verdicts
    }


def held(
    claims: Mapping[tuple[str, str, str], list[str]], judge: str
) -> list[list[str]]:
    """Return the claims of a judge that hold, each as its outcome and reasons."""
    return [
        words
        for (name, _, _), words in claims.items()
        if name == judge and words[0] in HELD
    ]
