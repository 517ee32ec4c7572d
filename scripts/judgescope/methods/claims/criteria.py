"""Does a judge keep criteria apart: does damage to one lower the scores of that one alone?

AUC above .5 and above that of both lengths, and a confusion index below 1, with items deleted one
by one; a claim for each wording of the aspects.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.core.cells import joined
from judgescope.methods.claims.base import BREVITY, CHANCE, CRITERIA, INDEX, LENGTH, LOST, Claim
from judgescope.methods.claims.damage import NOT_JUDGED, items_made, shortened
from judgescope.methods.claims.lost import Losses
from judgescope.methods.claims.numbers import GAP, Number, number
from judgescope.methods.confusion import Confusing
from judgescope.methods.drops import DROP, SAME, Drops
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.undefined import Ends, ends, excluded
from judgescope.statistics.confusion import confusion, mean_drops
from judgescope.statistics.jackknife import ACCURACY, PLAIN, deletions
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import FEW_LOST, Outcome

METHOD: Final = "probability that a wanted drop exceeds an unwanted one"
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Apart:
    """AUC, wanted drop and its excess over the unwanted one, each without one item after another.

    values (items, cells): the drops, NaN where there are none; wanted, unwanted (cells,).
    """

    values: Floats
    wanted: Flags
    unwanted: Flags

    @property
    def sizes(self) -> Floats:
        """Return how many drops each item has, (items,)."""
        return np.asarray(np.isfinite(self.values).sum(axis=1), dtype=np.float64)

    def auc(self) -> Number:
        """Return the AUC with its jackknife interval on the logit."""
        n = int(np.isfinite(self.values).sum(axis=0).min())
        return number(self._summed[3], self.sizes, ACCURACY, n=n, method=METHOD)

    def p_index(self) -> float:
        """Return the p of an index below 1: S_T > 0 and S_T > S_F, the larger of both p."""
        s_t, s_f, *_ = self._summed
        tests = [number(rows, self.sizes, PLAIN, n=0) for rows in (s_t, s_t - s_f)]
        return float(np.max([one.p_above(0) for one in tests]))

    @property
    def _summed(self) -> list[Floats]:
        items = len(self.values)
        rows = np.vstack([np.ones((1, items)), deletions(items)])
        return list(confusion(mean_drops(self.values, rows), self.wanted, self.unwanted))

    def nulls(self, lengths: Floats) -> dict[str, float]:
        """Return the p of each null hypothesis; lengths (items, cells): characters taken away."""
        own = self.auc()
        other = np.where(np.isfinite(self.values), lengths, np.nan)
        longer, shorter = (
            Apart(sign * other, self.wanted, self.unwanted).auc() for sign in (1.0, -1.0)
        )
        return {
            CHANCE: own.p_above(0.5),
            INDEX: self.p_index(),
            LENGTH: own.less(longer, GAP).p_above(0),
            BREVITY: own.less(shorter, GAP).p_above(0),
        }

    def at_the_worst_end(self, lost: Flags) -> "Apart":
        """Return the same with lost drops as bad as can be, within the drops that occur.

        A wanted one is as far below 0 as the largest drop is above, an unwanted one is as large.
        """
        most = float(np.nanmax(np.abs(self.values)))
        worst = np.where(self.wanted, -most, most)
        return Apart(np.where(lost, worst, self.values), self.wanted, self.unwanted)


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control) and wording."""
    if not study.spec["perturbed"]:
        return
    never, known = excluded(study), ends(study)
    for judge, card in study.spec["judges"].items():
        if card["engine"] == "control" or judge in never:
            continue
        for criterion in study.spec["criteria"] or [None]:
            yield Losses.checked(_claim(study, known, judge, criterion))


def _claim(study: EvaluationData, known: Ends, judge: str, criterion: str | None) -> Claim:
    drops = Confusing(study, known, judge, criterion).drops
    where = (judge, CRITERIA, "confusion_auc", "", joined("", criterion))
    if isinstance(drops, Estimate):
        return Claim(*where, drops, {}, outcome=Outcome.NO_CLAIM, reasons=(NOT_JUDGED,))
    wanted, unwanted = (
        np.array([place.expected == expected for place in drops.places], dtype=bool)
        for expected in (DROP, SAME)
    )
    own = Apart(drops.values, wanted, unwanted)
    found, lost = own.auc().estimate, _lost(study, judge, drops)
    planned = int(lost.sum() + np.isfinite(drops.values).sum())
    share = float(lost.sum()) / planned
    if found.value is None:
        return Claim(*where, found, {}, outcome=Outcome.NO_CLAIM, reasons=(NOT_JUDGED,))
    nulls = own.nulls(_lengths(study, drops))
    if share > FEW_LOST:
        worst = own.at_the_worst_end(lost)
        nulls[LOST] = max(worst.auc().p_above(0.5), worst.p_index())
    return Claim(*where, found, nulls, lost=share)


def _lost(study: EvaluationData, judge: str, drops: Drops) -> Flags:
    """Return which drops should be there and are not, (items, cells): the text could be made."""
    made = {}
    for place in drops.places:
        name = f"{place.perturbation}.{place.degree}"
        if name not in made:
            there = items_made(study, name, judge)
            made[name] = np.array([item in there for item in study.item_order])
    planned = np.stack([made[f"{one.perturbation}.{one.degree}"] for one in drops.places], axis=1)
    return planned & ~np.isfinite(drops.values)


def _lengths(study: EvaluationData, drops: Drops) -> Floats:
    """Return the characters that each damage took away, (items, cells)."""
    found = {}
    for place in drops.places:
        name = f"{place.perturbation}.{place.degree}"
        if name not in found:
            cut = shortened(study, name)
            found[name] = np.array([float(cut.get(item, np.nan)) for item in study.item_order])
    return np.stack([found[f"{one.perturbation}.{one.degree}"] for one in drops.places], axis=1)
