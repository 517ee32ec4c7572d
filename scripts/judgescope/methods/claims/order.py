"""Does a judge see which text is better? Half credit on pairs of a known order.

The mean over sources of (right + half of the ties) / pairs with both scores, or with a reply. The
judge must beat chance (.5) and both lengths on the same pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from judgescope.methods import local_view, pairwise
from judgescope.methods.claims.base import (
    BREVITY,
    CHANCE,
    LENGTH,
    LOST,
    ORDER,
    PAIRS,
    SEQUENCE,
    Claim,
)
from judgescope.methods.claims.lost import Losses
from judgescope.methods.claims.numbers import GAP, Number, mean_of_sources
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.methods.measures import POOLED
from judgescope.methods.perspectives import Views
from judgescope.methods.views import DIRECT
from judgescope.statistics.jackknife import ACCURACY
from judgescope.statistics.nulls import half_credits
from judgescope.statistics.order import OrderedPairs
from judgescope.statistics.verdict import FEW_LOST, Outcome

STATISTIC: Final = "half_credit"
NO_PAIR: Final = "no pair with a known order has both scores"


@dataclass(frozen=True, eq=False)
class Ordered:
    """Pairs of a known order: the judge's scores of both texts, and their lengths; (pairs,) each.

    Votes are scores, too: 1 and 0, or .5 for neither; NaN is a pair without a reply.
    """

    better: Floats
    worse: Floats
    length_better: Floats
    length_worse: Floats
    source: Codes
    n_sources: int

    @property
    def known(self) -> Any:
        """Return which pairs the judge answered; (pairs,)."""
        return ~(np.isnan(self.better) | np.isnan(self.worse))

    def credit(self, better: Floats, worse: Floats) -> Number:
        """Return the mean over sources of the half credit of the pairs that have both values."""
        values, pairs = half_credits(better, worse, self.source, self.n_sources)
        ties = int(np.sum(better == worse))
        missing = int(self.source.size - pairs.sum())
        how = f"mean over sources of {int(pairs.sum())} pairs, a tie counts half"
        return mean_of_sources(
            values, ACCURACY, n_missing=missing, n_tied=ties, method=how, why=NO_PAIR
        )

    def nulls(self) -> tuple[Number, dict[str, float]]:
        """Return the half credit, and the p of each of its nulls."""
        found = self.credit(self.better, self.worse)
        nulls = {CHANCE: found.p_above(0.5)}
        known = self.known
        for name, sign in ((LENGTH, 1.0), (BREVITY, -1.0)):
            pair = (sign * v for v in (self.length_better, self.length_worse))
            other = self.credit(*(np.where(known, v, np.nan) for v in pair))
            nulls[name] = found.less(other, GAP).p_above(0.0)
        return found, nulls

    def worst(self) -> "Ordered":
        """Return the same with each pair without a verdict wrong."""
        known = self.known
        return replace(
            self,
            better=np.where(known, self.better, 0.0),
            worse=np.where(known, self.worse, 1.0),
        )


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims on texts of one source that people rate differently, and on series."""
    losses = Losses(study)
    views: dict[str | None, Views] = {}
    for judge in study.spec["judges"]:
        systems, panel = study.fair(judge, whole=True)
        field = views.setdefault(systems, Views(study, panel))
        for aspect in field.people:
            view = field.view(aspect, judge)
            if view is None or view.people.why:
                continue
            at = view.agreed
            x, lengths, source = view.said.means[at], panel.lengths[at], panel.source[at]
            pairs = view.people.pairs(panel, at).apart(1)
            own = _of_texts(study, x, lengths, source, pairs)
            lost = losses.share("systems", judge, aspect, x, view.people.shared[at])
            yield from _claim(own, judge, ORDER, DIRECT, aspect, lost, systems=systems)
        yield from _sequences(study, losses, judge)


def _sequences(study: EvaluationData, losses: Losses, judge: str) -> Iterator[Claim]:
    for name, degree in study.spec.get("in_a_row", ()):
        for aspect in study.spec["aspects"]:
            own = local_view.in_a_row(study, f"{name}.{degree}", judge, aspect)
            if own is None:
                continue
            pairs = own.pairs.apart(1)
            told = _of_texts(study, own.scores, own.lengths, own.source, pairs)
            lost = losses.share(f"{name}.{degree}", judge, aspect, own.scores, own.scores * 0)
            place = {"perturbation": name, "degree": degree}
            yield from _claim(told, judge, SEQUENCE, local_view.LOCAL, aspect, lost, **place)


def _of_texts(
    study: EvaluationData, x: Floats, lengths: Floats, source: Codes, pairs: OrderedPairs
) -> Ordered:
    """Return pairs of texts: x, lengths and source are (texts,), which `pairs` index."""
    better, worse = pairs.better, pairs.worse
    sides = (x[better], x[worse], lengths[better], lengths[worse])
    return Ordered(*sides, source[better], len(study.item_order))


def compared(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims of judges that choose the better of two texts."""
    for (perturbation, judge, aspect), votes in pairwise.votes_of(study).items():
        panel = study.panel(perturbation).given(judge)
        told = pairwise.judged(panel, aspect, votes)
        sign = np.sign(told.ahead)
        asked = np.isfinite(sign) & (sign != 0)
        if not asked.any():
            continue
        credit = told.verdict[asked] * sign[asked]  # 1 right, 0 neither, -1 wrong, NaN no reply
        first, second = (panel.lengths[at][asked] for at in (told.first, told.second))
        longer = sign[asked] > 0
        own = Ordered(
            credit,
            -credit,
            np.where(longer, first, second),
            np.where(longer, second, first),
            told.source[asked],
            len(study.item_order),
        )
        lost = float(np.isnan(credit).mean())
        name, _, degree = perturbation.partition(".")
        place: dict[str, Any] = {"perturbation": name, "degree": degree or None}
        kind = SEQUENCE if name != "systems" else PAIRS
        place = place if name != "systems" else {}
        yield from _claim(own, judge, kind, POOLED, aspect, lost, **place)


def _claim(
    own: Ordered, judge: str, kind: str, level: str, aspect: str, lost: float, **place: Any
) -> Iterator[Claim]:
    if not own.source.size:
        return
    found, nulls = own.nulls()
    claim = Claim(judge, kind, STATISTIC, level, aspect, found.estimate, nulls, lost=lost, **place)
    if found.estimate.value is None:
        yield replace(claim, nulls={}, outcome=Outcome.NO_CLAIM, reasons=(found.estimate.note,))
        return
    if lost > FEW_LOST and not own.known.all():
        claim = replace(claim, nulls=nulls | {LOST: max(own.worst().nulls()[1].values())})
    yield Losses.checked(claim)
