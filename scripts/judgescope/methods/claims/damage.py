"""Does a judge notice damage, or miss it? One claim for each damage of a dataset.

Noticed: exact p-values of all weighted aspects combined, Holm over the dataset's cells. Missed: on
every weighted aspect fewer than a quarter of the items show it, net (Tango's interval).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log, nan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.methods.claims.base import DAMAGE, Claim
from judgescope.methods.claims.lost import Losses
from judgescope.methods.discernment import aspect_weights
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.pairs import Pairs, pairs_of
from judgescope.methods.undefined import MADE, Ends, ends, excluded, reasons
from judgescope.statistics.discernment import (
    WilcoxonMethod,
    discernment,
    discernment_score,
    log_p_asymptotic,
    log_p_exact,
    table_method,
)
from judgescope.statistics.multiple import holm
from judgescope.statistics.result import Estimate
from judgescope.statistics.tango import net_share
from judgescope.statistics.verdict import FEW_LOST, Outcome, missed, of_damage

NOT_JUDGED: Final = "not_judged"
"""The reason where an aspect has no pair of scores, or the judge is left out of the dataset."""
Place = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Cell:
    """One damage as a judge scores it: pairs of every weighted aspect, or why there are none.

    lost: pairs of texts that were made and have not both scores, by aspect.
    """

    place: Place
    weights: Floats
    pairs: Sequence[Pairs]
    lost: Sequence[int]
    absent: Estimate | None

    @property
    def n(self) -> int:
        """Return the pairs of the aspect that has the fewest."""
        return min(len(one.differences) for one in self.pairs)

    @property
    def lost_share(self) -> float:
        """Return the largest share of lost pairs of an aspect."""
        told = zip(self.pairs, self.lost, strict=True)
        return max(lost / (len(one.differences) + lost) for one, lost in told)

    def log_p(self, method: WilcoxonMethod, *, worst: bool = False) -> float:
        """Return ln p of all aspects; `worst`: as if lost pairs scored the damage far higher."""
        test = log_p_exact if method == "exact" else log_p_asymptotic
        logs = [
            test(self._with(one, lost, -1) if worst else one.differences)
            for one, lost in zip(self.pairs, self.lost, strict=True)
        ]
        found = discernment(np.zeros(len(logs)), np.array(logs), self.weights)
        return min(-float(found.d_exact) * log(20), 0.0)

    def shares(self, *, worst: bool = False) -> list[Estimate]:
        """Return the net share of every aspect; `worst`: as if lost pairs showed the damage."""
        told = []
        for one, lost in zip(self.pairs, self.lost, strict=True):
            source = one.source
            if worst:
                source = np.append(source, source.max() + 1 + np.arange(lost))
            d = self._with(one, lost, 1) if worst else one.differences
            told.append(net_share(d, source))
        return told

    @staticmethod
    def _with(pairs: Pairs, lost: int, sign: int) -> NDArray[np.int64]:
        """Return the differences and those of lost pairs, each as large as the largest is."""
        d = pairs.differences
        most = max(1, int(np.abs(d).max(initial=0)))
        return np.append(d, np.full(lost, sign * most, dtype=d.dtype))


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control) and damage."""
    if not study.spec.perturbed:
        return
    found, never = ends(study), excluded(study)
    lengths = {
        (name, degree): _length_p(study, f"{name}.{degree}")
        for name, degree, _ in study.spec.perturbed
    }
    for judge, card in study.spec.judges.items():
        if card.engine != "control" and judge not in never:
            yield from _of_judge(study, found, judge, lengths)


def _of_judge(
    study: EvaluationData, found: Ends, judge: str, lengths: dict[Place, tuple[float, float]]
) -> Iterator[Claim]:
    method = table_method(len(study.item_order))
    cells = [_cell(study, found, judge, (name, degree)) for name, degree, _ in study.spec.perturbed]
    logs = np.array([nan if cell.absent else _tested(cell, method) for cell in cells])
    adjusted = holm(logs, log=True)
    for cell, log_p, log_holm in zip(cells, logs, adjusted, strict=True):
        yield _claim(judge, cell, float(log_p), float(log_holm), lengths[cell.place])


def _tested(cell: Cell, method: WilcoxonMethod) -> float:
    """Return the cell's ln p; where some pairs are lost, the larger of that with and without."""
    log_p = cell.log_p(method)
    return max(log_p, cell.log_p(method, worst=True)) if cell.lost_share > FEW_LOST else log_p


def _claim(
    judge: str, cell: Cell, log_p: float, log_holm: float, lengths: tuple[float, float]
) -> Claim:
    name, degree = cell.place
    if cell.absent is not None:
        return Claim(
            *(judge, DAMAGE, "D_exact", "", "", cell.absent, {}),
            outcome=Outcome.NO_CLAIM,
            reasons=(NOT_JUDGED,),
            perturbation=name,
            degree=degree,
        )
    shares = cell.shares()
    tried = cell.shares(worst=True) if cell.lost_share > FEW_LOST else shares
    outcome, why = of_damage(exp(log_p), exp(log_holm), lengths, missed(shares) and missed(tried))
    n, missing = cell.n, max(cell.lost)
    found = Estimate(
        float(discernment_score(log_p)), n=n, n_missing=missing, method="exact p of all aspects"
    )
    beside = {
        "net_share": max(shares, key=lambda one: 1.0 if one.hi is None else one.hi),
        "p_noticed": Estimate(exp(log_p), n=n),
        "p_noticed_holm": Estimate(exp(log_holm), n=n),
        "p_shorter": Estimate(lengths[0], n=n),
        "p_longer": Estimate(lengths[1], n=n),
    }
    return Losses.checked(
        Claim(
            *(judge, DAMAGE, "D_exact", "", "", found, {}),
            lost=cell.lost_share,
            outcome=outcome,
            reasons=why,
            beside=beside,
            perturbation=name,
            degree=degree,
        )
    )


def _cell(study: EvaluationData, found: Ends, judge: str, place: Place) -> Cell:
    """Return a judge's pairs of one damage on the aspects that weigh something."""
    name = ".".join(place)
    weights, _, _ = aspect_weights(study, place[0])
    aspects = [a for a, w in zip(study.spec.aspects, weights, strict=True) if w > 0]
    pairs = pairs_of(study, found, name, judge)
    lacking = [aspect for aspect in aspects if aspect not in pairs]
    absent = next(iter(reasons(study, found, name, judge, lacking).values()), None)
    used = [pairs[aspect] for aspect in aspects if aspect in pairs]
    made = len(items_made(study, name, judge))
    lost = [max(0, made - len(one.differences)) for one in used]
    return Cell(place, weights[weights > 0], used, lost, absent)


def items_made(study: EvaluationData, name: str, judge: str) -> set[str]:
    """Return the items that a judge was given of which a damaged text could be made."""
    panel = study.panel(name).given(judge)
    told = zip(panel.items, panel.rows["status"].to_pylist(), strict=True)
    return {item for item, status in told if status.partition(":")[0] in MADE}


def shortened(study: EvaluationData, name: str) -> dict[str, int]:
    """Return item -> by how many characters a damage made its text shorter."""
    original, damaged = study.panel("original"), study.panel(name)
    status = damaged.rows["status"].to_pylist()
    after = {
        item: length
        for item, length, how in zip(damaged.items, damaged.lengths, status, strict=True)
        if how.partition(":")[0] in MADE
    }
    told = zip(original.items, original.lengths, strict=True)
    return {item: int(before - after[item]) for item, before in told if item in after}


def _length_p(study: EvaluationData, name: str) -> tuple[float, float]:
    """Return the p-values that the damage makes texts shorter, and that it makes them longer."""
    d = np.array(list(shortened(study, name).values()), np.int64)
    test = log_p_exact if table_method(d.size) == "exact" else log_p_asymptotic
    return exp(test(d)), exp(test(-d))
