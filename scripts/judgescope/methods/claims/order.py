"""Does a judge see which text is better? Half credit on pairs of a known order.

The mean over sources of (right + half of the ties) / pairs with both scores, or with a reply. The
judge must beat chance (.5), both lengths on the same pairs and, where the texts come from named
systems, a taste for systems. On pairs that people rate it is held against one more rater; where all
raters agree, that is not known, as each of them is right.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
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
from judgescope.methods.claims.numbers import GAP, Number, compared_with_raters, mean_of_sources
from judgescope.methods.claims.tastes import Tastes
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats, TargetSet
from judgescope.methods.measures import POOLED, tables_of
from judgescope.methods.perspectives import Views
from judgescope.methods.specs import present
from judgescope.methods.views import DIRECT
from judgescope.statistics.jackknife import ACCURACY
from judgescope.statistics.nulls import half_credits, mean_credits
from judgescope.statistics.order import OrderedPairs, pairs_within
from judgescope.statistics.raters import as_rater
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
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


@dataclass(frozen=True, eq=False)
class Preferences:
    """Which of two texts of a source a judge prefers, and the pairs of a known order.

    votes (sources, columns, columns): 1 for the text of the first column, 0 for neither, -1, NaN
    without a verdict; source (texts,), column (texts + 1,): a text's place there, the last is that
    of no text; better, worse (pairs,): texts.
    """

    votes: Floats
    source: Codes
    column: Codes
    better: Codes
    worse: Codes

    @classmethod
    def of_votes(
        cls, verdict: Floats, asked: tuple[Codes, Codes], source: Codes, better: Codes, worse: Codes
    ) -> "Preferences":
        """Return those of votes, (asked pairs,), on the first of two texts; source (texts,)."""
        first, second = asked
        order = np.argsort(source, kind="stable")
        column = np.full(source.size + 1, -1)
        column[order] = np.arange(source.size) - np.searchsorted(source[order], source[order])
        width = int(column.max()) + 2  # the last column: of no text
        votes = np.full((int(source.max()) + 1, width, width), np.nan)
        votes[source[first], column[first], column[second]] = verdict
        votes[source[first], column[second], column[first]] = -verdict
        return cls(votes, source, column, better, worse)

    @classmethod
    def of_scores(cls, scores: Floats, source: Codes, better: Codes, worse: Codes) -> "Preferences":
        """Return those of a judge that scores texts, (texts,), on all pairs of a source."""
        first, second = pairs_within(source)
        verdict = np.sign(scores[first] - scores[second])
        return cls.of_votes(verdict, (first, second), source, better, worse)

    def moved(self, text: Codes) -> Floats:
        """Return the half credit of each row of `text`: whose votes stand in a text's place."""
        source = self.source[self.better]
        better, worse = (self.column[text[:, known]] for known in (self.better, self.worse))
        vote = self.votes[source, better, worse]
        return mean_credits(vote, -vote, source)

    def worst(self) -> "Preferences":
        """Return the same with each pair of a known order that has no verdict wrong."""
        votes, source = self.votes.copy(), self.source[self.better]
        better, worse = self.column[self.better], self.column[self.worse]
        vote = votes[source, better, worse]
        votes[source, better, worse] = np.where(np.isnan(vote), -1.0, vote)
        votes[source, worse, better] = -votes[source, better, worse]
        return replace(self, votes=votes)

    def tested(self, claim: Claim, tastes: Tastes) -> Claim:
        """Return the claim with the null of a taste for systems."""
        return tastes.tested(claim, self.moved, self.worst().moved, self.better.size)


def claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims on texts of one source that people rate differently, and on series."""
    losses = Losses(study)
    views: dict[str | None, Views] = {}
    for judge in study.spec.judges:
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
            rated = ~np.isnan(view.people.mean)
            tastes = Tastes(study, panel.source[rated], panel.system[rated])
            place = (np.cumsum(rated) - 1)[at]  # of the agreed texts among the rated ones
            for claim in _claim(own, judge, ORDER, DIRECT, aspect, lost, systems=systems):
                if claim.outcome:
                    yield claim
                    continue
                known = place[pairs.better], place[pairs.worse]
                votes = Preferences.of_scores(view.said.means[rated], tastes.source, *known)
                yield votes.tested(claim, tastes)
        yield from _sequences(study, losses, judge)


def _sequences(study: EvaluationData, losses: Losses, judge: str) -> Iterator[Claim]:
    for name, degree in study.spec.in_a_row:
        for aspect in study.spec.aspects:
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
        if name != "systems":
            yield from _claim(own, judge, SEQUENCE, POOLED, aspect, lost, **place)
            continue
        texts = np.unique([told.first, told.second])
        tastes = Tastes(study, panel.source[texts], panel.system[texts])
        first, second = (np.searchsorted(texts, one) for one in (told.first, told.second))
        known = np.where(sign > 0, (first, second), (second, first))[:, asked]
        preferred = Preferences.of_votes(told.verdict, (first, second), tastes.source, *known)
        for claim in _claim(own, judge, PAIRS, POOLED, aspect, lost):
            if claim.outcome:
                yield claim
                continue
            gap, p = _as_rater(study, panel, aspect, told) or (None, nan)
            yield preferred.tested(replace(claim, rater=gap, p_rater=p), tastes)


def _as_rater(
    study: EvaluationData, panel: TargetSet, aspect: str, told: pairwise.Judged
) -> tuple[Estimate, float] | None:
    """Return what a judge reaches on pairs less what one more rater does, and p of being worse."""
    raters = [
        table[:, told.first] - table[:, told.second] for table in tables_of(study, panel, aspect)
    ]
    if not raters:
        return None

    def value(mine: Floats, people: Floats) -> Mapping[str, Replicated]:
        ahead = np.sign(people)
        credit = np.where(ahead == 0, np.nan, np.sign(mine) * ahead)
        values, _ = half_credits(credit, -credit, told.source, len(study.item_order))
        return {STATISTIC: mean_of_sources(values, ACCURACY, why=NO_PAIR).replicated}

    gap = as_rater(value, told.verdict, raters, against="mean")[STATISTIC].difference
    return compared_with_raters(gap, present(study.spec.as_rater).margin)


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
