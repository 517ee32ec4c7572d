"""What several tests of ensemble rows share."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from dataset_in_memory import Floats, Row
from judgescope.methods import ensemble
from judgescope.statistics.correlation import COEFFICIENTS, LEVELS
from judgescope.statistics.ensemble import subset_scores
from methods_setup import (
    ASPECTS,
    FAIR,
    GOOD,
    NOISY,
    study,
)

Scores = Mapping[str, Mapping[str, Floats]]


THREE: Scores = {"fair": FAIR, "good": GOOD, "noisy": NOISY}


WHOLE = "fair+good+noisy"
PLACES = [(statistic, level) for level in LEVELS for statistic in COEFFICIENTS]


def mean_of(members: Scores, least: int = 1) -> dict[str, Floats]:
    """Return the scores of the derived judge, as its cells have them."""
    every = tuple(range(len(members)))
    return {
        aspect: subset_scores(
            np.stack([member[aspect] for member in members.values()]), every, least
        )
        for aspect in ASPECTS
    }


def rows(
    members: Scores = THREE,
    *,
    least: int = 1,
    mixed: tuple[str, ...] = (),
    card: Mapping[str, Any] | None = None,
    student: Mapping[str, Floats] | None = None,
    share: float = 1.0,
    **spec: Any,
) -> list[Row]:
    """Return the rows of an ensemble `all` of some judges, and of the judge
    `taught`.
    """
    fields = {"members": sorted(members), "min_members": least, "mixed": [*mixed]}
    keys = {"all": fields | ({"student": "taught"} if student else {})}
    cards = {"all": {"engine": "derived", "discrete": False} | dict(card or {})}
    scores = {**members, "all": mean_of(members, least)}
    if student:
        scores["taught"] = student
        cards["taught"] = {"ends": dict.fromkeys(ASPECTS, (0.0, 100.0)), "share": share}
    spec = {"ensembles": keys, "excluded": []} | spec
    return [dict(row) for row in ensemble.rows(study(scores, cards=cards, **spec))]


@cache
def ensemble_rows() -> list[Row]:
    return rows()


TAUGHT = {
    aspect: 5 * np.round(5 * (NOISY[aspect] + GOOD[aspect]) / 2 - 5)
    for aspect in ASPECTS
}
"""On 0 to 100 in steps of 5."""
