"""Does a judge give the right rating? Linear kappa on texts of which all raters agree, or on
graded sets.

The judge must beat chance (0), ratings dealt out at random within each source (a judge that knows
only the source has a kappa above 0), both lengths (people's sorted ratings dealt out in the order
of the texts' length) and, where the texts come from named systems, a taste for systems. How it
stands against one more rater is not known: where all raters agree, each of them is right.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods import global_view
from judgescope.methods.claims.base import (
    BREVITY,
    CHANCE,
    GRADED,
    LENGTH,
    LOST,
    RATING,
    WITHIN,
    Claim,
)
from judgescope.methods.claims.lost import Losses
from judgescope.methods.claims.numbers import DIFFERENCE, Number, number
from judgescope.methods.claims.tastes import Tastes
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.methods.perspectives import Views
from judgescope.methods.views import DIRECT
from judgescope.statistics.declared import scale_of
from judgescope.statistics.kappa import class_codes, confusion_counts, kappas
from judgescope.statistics.nulls import dealt, linear_kappas, p_within
from judgescope.statistics.result import NO_VARIATION
from judgescope.statistics.verdict import FEW_LOST, Outcome

STATISTIC: Final = "kappa_linear"


@dataclass(frozen=True, eq=False)
class Classified:
    """Known ratings of texts and a judge's classes of them; (texts,) each.

    `gold` has no missing value, `mine` NaN where the judge gave none; `classes` is the whole scale.
    """

    gold: Floats
    mine: Floats
    lengths: Floats
    source: Codes
    classes: list[float]
    n_sources: int
    rng: np.random.Generator

    def kappa(self, mine: Floats) -> Number:
        """Return linear kappa with the known ratings, and that without each source."""
        there = ~np.isnan(mine)
        counts = confusion_counts(
            self.gold[there], mine[there], self.classes, self.source[there], self.n_sources
        )
        total = counts.sum(axis=0, keepdims=True)
        rows = kappas(np.concatenate([total, total - counts]).astype(float))
        n, missing = int(there.sum()), int((~there).sum())
        scale, sizes = scale_of(STATISTIC), counts.sum(axis=(1, 2)).astype(float)
        return number(rows, sizes, scale, n=n, n_missing=missing, why=NO_VARIATION)

    def nulls(self) -> tuple[Number, dict[str, float]]:
        """Return kappa, and the p of each of its nulls."""
        found = self.kappa(self.mine)
        nulls = {CHANCE: found.p_above(0.0), WITHIN: self._within()}
        for name, sign in ((LENGTH, 1.0), (BREVITY, -1.0)):
            told = dealt(self.gold, sign * self.lengths, self.source)
            other = self.kappa(np.where(np.isnan(self.mine), np.nan, told))
            defined = other.estimate.value is not None
            gap = found.less(other, DIFFERENCE)
            nulls[name] = gap.p_above(0.0) if defined else nulls[CHANCE]
        return found, nulls

    def _within(self) -> float:
        there = ~np.isnan(self.mine)
        gold, mine = (class_codes(v[there], self.classes) for v in (self.gold, self.mine))
        place = np.arange(len(self.classes), dtype=float)
        distance = np.abs(place[:, None] - place)
        return p_within(gold, mine, self.source[there], self.rng, distance)

    def moved(self, mine: Floats, place: Codes, text: Codes) -> Floats:
        """Return kappa of each row of `text`: whose class, of `mine`, stands in a text's place.

        place (texts,): which of the texts that `text` has these are.
        """
        codes = np.full(mine.size + 1, -1)  # the last: of no text
        codes[:-1][~np.isnan(mine)] = class_codes(mine[~np.isnan(mine)], self.classes)
        gold = class_codes(self.gold, self.classes)
        return linear_kappas(gold, codes[text[:, place]], len(self.classes))

    def worst(self) -> "Classified":
        """Return the same with each missing class as far from the rating as can be."""
        places = class_codes(self.gold, self.classes)
        low, high = min(self.classes), max(self.classes)
        far = np.where(places * 2 >= len(self.classes) - 1, low, high)
        return replace(self, mine=np.where(np.isnan(self.mine), far, self.mine))


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge, rated aspect and graded set."""
    losses = Losses(study)
    yield from _direct(study, losses)
    yield from _graded(study, losses)


def _direct(study: EvaluationData, losses: Losses) -> Iterator[Claim]:
    """Yield the claims on texts of which all raters agree."""
    views: dict[str | None, Views] = {}
    for judge in study.spec.judges:
        systems, panel = study.fair(judge, whole=True)
        field = views.setdefault(systems, Views(study, panel))
        for aspect in field.people:
            view = field.view(aspect, judge)
            if view is None or view.people.why or view.said.classes is None:
                continue
            at = view.agreed
            if not at.any():
                continue
            own = Classified(
                view.people.shared[at],
                view.said.classes[at],
                panel.lengths[at],
                panel.source[at],
                view.people.classes,
                len(study.item_order),
                _rng(study, RATING, aspect),
            )
            lost = losses.share("systems", judge, aspect, own.mine, own.gold)
            claim = _claim(own, judge, RATING, DIRECT, aspect, lost, systems=systems)
            if claim.outcome:
                yield claim
                continue
            rated = ~np.isnan(view.people.mean)
            tastes = Tastes(study, panel.source[rated], panel.system[rated])
            place = (np.cumsum(rated) - 1)[at]  # of the agreed texts among the rated ones
            classes, worst = view.said.classes[rated], view.said.classes[rated]
            worst[place] = own.worst().mine
            yield tastes.tested(
                claim, partial(own.moved, classes, place), partial(own.moved, worst, place)
            )


def _graded(study: EvaluationData, losses: Losses) -> Iterator[Claim]:
    """Yield the claims on graded sets."""
    for one in global_view.sets_of(study):
        for judge in study.spec.judges:
            for aspect in study.spec.aspects:
                view = one.view(judge, aspect)
                if view is None or view.said.classes is None:
                    continue
                rated = ~np.isnan(view.ratings)
                own = Classified(
                    view.ratings[rated],
                    view.said.classes[rated],
                    view.panel.lengths[rated],
                    view.panel.source[rated],
                    view.classes,
                    len(study.item_order),
                    _rng(study, GRADED, view.panel.perturbation, aspect),
                )
                lost = losses.share(view.panel.perturbation, judge, aspect, own.mine, own.gold)
                level = global_view.GLOBAL
                yield _claim(own, judge, GRADED, level, aspect, lost, **one.place)


def _rng(study: EvaluationData, *names: str) -> np.random.Generator:
    """Return the generator of the permutations: the same for every judge."""
    return stream(study.spec.seed, "claims", study.dataset, *names)


def _claim(
    own: Classified, judge: str, kind: str, level: str, aspect: str, lost: float, **place: Any
) -> Claim:
    if np.isnan(own.mine).all():
        nothing = replace(own.kappa(own.mine).estimate, note="no text has a score")
        reasons = (nothing.note,)
        return Claim(
            judge, kind, STATISTIC, level, aspect, nothing, {}, lost=lost,
            reasons=reasons, outcome=Outcome.NO_CLAIM, **place,
        )  # fmt: skip
    found, nulls = own.nulls()
    claim = Claim(judge, kind, STATISTIC, level, aspect, found.estimate, nulls, lost=lost, **place)
    if found.estimate.value is None:
        reason = (found.estimate.note,)
        return replace(claim, nulls={}, outcome=Outcome.NO_CLAIM, reasons=reason)
    if lost > FEW_LOST and np.isnan(own.mine).any():
        claim = replace(claim, nulls=nulls | {LOST: max(own.worst().nulls()[1].values())})
    return Losses.checked(claim)
