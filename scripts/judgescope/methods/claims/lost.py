"""Planned judgments without a score: which share is lost, and what it could hide."""

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from judgescope.methods.claims.base import Claim
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.methods.undefined import ends
from judgescope.statistics.verdict import MOST_LOST, Outcome

TOO_MANY_LOST: Final = "too_many_lost"
"""The reason where more than a fifth of the planned judgments are lost."""
NOT_PLANNED: Final = "not_applicable"


class Losses:
    """How many of a dataset's planned judgments have no score."""

    def __init__(self, study: EvaluationData) -> None:
        self._ends = ends(study)

    def share(
        self, perturbation: str, judge: str, aspect: str, x: Floats, planned: Floats
    ) -> float:
        """Return the larger share: of the cell's replies, or of the texts that count.

        x (texts,): the scores; planned (texts,): NaN where no judgment counts (no rating). What
        the judge does not apply to is not planned.
        """
        cell = self._ends.get((perturbation, judge, aspect), Counter[tuple[str, str]]())
        counts = {"ok": 0, NOT_PLANNED: 0, "other": 0}
        for (status, _), n in cell.items():
            counts[status if status in counts else "other"] += n
        asked = counts["ok"] + counts["other"]
        of_replies = counts["other"] / asked if asked else 0.0
        if counts[NOT_PLANNED] and not counts["other"]:
            return 0.0
        rated = ~np.isnan(planned)
        of_texts = float(np.isnan(x[rated]).mean()) if rated.any() else 0.0
        return max(of_replies, of_texts)

    @staticmethod
    def checked(claim: Claim) -> Claim:
        """Return the claim, or none where more than a fifth is lost."""
        if claim.lost <= MOST_LOST:
            return claim
        return replace(claim, outcome=Outcome.NO_CLAIM, reasons=(TOO_MANY_LOST,))


def at_the_worst_end(x: Floats, y: Floats, source: Codes) -> Floats:
    """Return the scores with each missing one as wrong as can be, within the scores that occur.

    x, y, source (texts,). A text that people rate at or above the mean of its source's ratings gets
    the lowest score of the judge, the others the highest; texts without a rating stay missing.
    """
    rated = ~np.isnan(y)
    sums = np.bincount(source[rated], weights=y[rated], minlength=int(source.max()) + 1)
    n = np.bincount(source[rated], minlength=sums.size)
    middle = (sums / np.maximum(n, 1))[source]
    worst = np.where(y >= middle, np.nanmin(x), np.nanmax(x))
    return np.where(np.isnan(x) & rated, worst, x)
