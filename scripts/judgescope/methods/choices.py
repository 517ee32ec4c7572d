"""People's choices between two texts, and how a judge's verdicts go with them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import AppliesTo
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats, TargetSet
from judgescope.methods.measures import BY_SYSTEM, POOLED
from judgescope.statistics.bias import side_chosen, side_excess
from judgescope.statistics.labels import on_labels
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.order import (
    best_of_n,
    comparison_accuracy,
    first_position_rate,
    ordered_systems,
    right_in_both_orders,
    verdict_accuracy,
)
from judgescope.statistics.preferences import (
    Comparisons,
    agreement_of_people,
    majority,
    mcnemar,
    strengths,
    vote_agreement,
)
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import Estimate

Pair = tuple[str, str]
Votes = Mapping[Pair, list[float]]
"""(first text shown, second) -> the votes of all draws: 1, -1, 0 or NaN."""
Named = tuple[str, str, AppliesTo, Estimate]
"""Statistic, level, further columns, estimate."""
LISTED, SWAPPED = "as_listed", "swapped"
LISTED_BY_SYSTEM = f"{LISTED}_{BY_SYSTEM}"
ACCURACY, KAPPA = "accuracy_comparison", "kappa_nominal"
HALF_CREDIT = f"{ACCURACY}_half"
CHOICES = 3
"""The first text, the second, neither."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a panel's texts, each in the order in which it is listed first.

    people (raters, pairs): 1 for the first text, -1 for the second, 0 for neither, NaN = missing;
    shown (raters, pairs): 1 where the rater saw the first text first, -1 where the second.
    """

    panel: TargetSet
    names: list[Pair]
    people: Floats
    shown: Floats

    @classmethod
    def of(cls, panel: TargetSet, aspect: str, more: Iterable[Pair] = ()) -> "Pairs":
        """Return the pairs of a panel that people compared on an aspect, and more."""
        raters = panel.study.preferences.get(split(aspect)[0], {})
        known, listed = set(panel.targets), dict[frozenset[str], Pair]()
        for pair in [*(pair for votes in raters.values() for pair in votes), *more]:
            if known.issuperset(pair):
                listed.setdefault(frozenset(pair), pair)
        names = [*listed.values()]
        people, shown = (np.full((len(raters), len(names)), np.nan) for _ in range(2))
        for row, rater in enumerate(sorted(raters)):
            for column, pair in enumerate(names):
                for order, sign in ((pair, 1.0), (pair[::-1], -1.0)):
                    if (choice := raters[rater].get(order)) is not None:
                        people[row, column], shown[row, column] = sign * choice, sign
        return cls(panel, names, people, shown)

    @cached_property
    def places(self) -> tuple[Codes, Codes]:
        """Return the places of each pair's texts in the panel; (pairs,) each."""
        place = {target: place for place, target in enumerate(self.panel.targets)}
        each = ([place[pair[k]] for pair in self.names] for k in (0, 1))
        first, second = (np.array(places, dtype=np.int64) for places in each)
        return first, second

    @property
    def source(self) -> Codes:
        """Return each pair's source; (pairs,)."""
        return self.panel.source[self.places[0]]

    def side(self, of_texts: Floats) -> Floats:
        """Return 1 where the first text of a pair has more of something, -1 less, 0 as much."""
        first, second = self.places
        return np.sign(of_texts[first] - of_texts[second])

    def votes_on(self, pairs: Iterable[Pair]) -> Floats:
        """Return each rater's votes for the first text of some of the pairs, in either order."""
        column = {pair: (number, 1.0) for number, pair in enumerate(self.names)}
        column |= {(b, a): (number, -sign) for (a, b), (number, sign) in column.items()}
        places = [column[pair] for pair in pairs]
        return np.array([sign * self.people[:, number] for number, sign in places]).T

    def verdicts(self, votes: Votes, *orders: int) -> Floats:
        """Return whom a judge's votes in some orders favour: 1 as listed, -1 swapped; (pairs,)."""
        each = [
            [
                order * vote
                for order in orders
                for vote in votes.get((first, second) if order > 0 else (second, first), ())
            ]
            for first, second in self.names
        ]
        table = np.full((max(map(len, each), default=0), len(each)), np.nan)
        for column, values in enumerate(each):
            table[: len(values), column] = values
        return majority(table)


def net_votes(people: Floats) -> Floats:
    """Return people's net votes for the first text, NaN where there is none: (raters, pairs)."""
    return np.where(np.isfinite(people).any(axis=0), np.nansum(people, axis=0), np.nan)


def votes_of_scores(panel: TargetSet, judge: str, aspect: str) -> dict[Pair, list[float]]:
    """Return a vote for the text of the higher score of each pair that people compared."""
    scores, pairs = panel.scores(judge, aspect), Pairs.of(panel, aspect)
    if scores is None:
        return {}
    return {
        pair: [sign] for pair, sign in zip(pairs.names, pairs.side(scores).tolist(), strict=True)
    }


def of_people(study: EvaluationData, aspect: str) -> Iterator[Named]:
    """Yield what people's choices say of people: agreement, biases, strengths of systems."""
    pairs, weights = Pairs.of(study.systems, aspect), study.weights
    for name, one in agreement_of_people(pairs.people, pairs.source, weights).items():
        yield name, POOLED, {}, one.estimate
    for name, each in _left_out(pairs).items():
        yield name, POOLED, {}, each
    given = np.isfinite(pairs.people)
    votes, shown, pair = pairs.people[given], pairs.shown[given], np.nonzero(given)[1]
    source = pairs.source[pair]
    position = first_position_rate(votes * shown, source, weights)
    yield "first_position_rate", POOLED, {}, position
    longer = pairs.side(study.systems.lengths)[pair]
    yield "longer_chosen", POOLED, {}, side_chosen(votes, longer, source, weights)
    if not study.spec.anonymous_systems:
        first, second = (study.systems.system[place[pair]] for place in pairs.places)
        compared = Comparisons(first, second, votes, shown.astype(np.int64), source)
        yield from _strengths(study.systems, compared)


def _left_out(pairs: Pairs) -> dict[str, Estimate]:
    """Return how often a rater chooses as most of the others do, over all raters; empty of one."""
    people = pairs.people
    if len(people) < 2:
        return {}
    others = [np.sign(net_votes(np.delete(people, rater, axis=0))) for rater in range(len(people))]
    given = np.isfinite(people)
    source = np.broadcast_to(pairs.source, people.shape)[given]
    return comparison_accuracy(
        people[given], np.array(others)[given], source, pairs.panel.study.weights
    )


def of_judge(panel: TargetSet, judge: str, aspect: str, votes: Votes) -> Iterator[Named]:
    """Yield how a judge's votes go with people, by order, its biases, and strengths of systems.

    Of a judge that scores, the votes are in one order of no meaning: see `votes_of_scores`.
    """
    study, weights = panel.study, panel.study.weights
    pairs = Pairs.of(panel, aspect, votes)
    source, people = pairs.source, pairs.people
    verdict = pairs.verdicts(votes, 1, -1)
    ahead = net_votes(people) if people.size else _rated_ahead(pairs, aspect)
    if people.size:
        for name, one in vote_agreement(verdict, people, source, weights).items():
            yield name, POOLED, {}, one.estimate
    listed, swapped = (pairs.verdicts(votes, order) for order in (1, -1))
    both = bool(np.isfinite(listed).any() and np.isfinite(swapped).any())
    levels = [(POOLED, verdict)]
    levels += [(LISTED, listed), (SWAPPED, swapped)] if both else []
    for level, each in levels:
        if level != POOLED:
            yield ACCURACY, level, {}, verdict_accuracy(each, np.sign(ahead), source, weights)
        yield KAPPA, level, {}, _kappa(np.sign(ahead), each, source, weights)
    if both:
        right = right_in_both_orders(listed, swapped, np.sign(ahead), source, weights)
        yield "accuracy_both_orders", POOLED, {}, right
        yield "kappa_orders", POOLED, {}, _kappa(listed, swapped, source, weights)
    best = best_of_n(verdict, ahead, pairs.places, source, weights)
    if best.n or best.n_missing or best.n_tied:
        yield "best_of_n", POOLED, {}, best
    family = study.spec.judges[judge].family
    own = [
        float(bool(family) and study.spec.families.get(name) == family) for name in panel.systems
    ]
    sides = {"longer": pairs.side(panel.lengths), "own_family": pairs.side(np.array(own))}
    for name, side in sides.items():
        if side.any():
            yield f"{name}_chosen", POOLED, {}, side_chosen(verdict, side, source, weights)
            excess = side_excess(verdict, np.sign(ahead), side, source, weights)
            yield f"{name}_excess", POOLED, {}, excess
    if study.spec.anonymous_systems:
        return
    systems = [panel.system[place] for place in pairs.places]
    for level, each in ((BY_SYSTEM, verdict), (LISTED_BY_SYSTEM, listed))[: 1 + both]:
        yield ACCURACY, level, {}, ordered_systems(each, ahead, *systems)
    yield from _strengths(panel, _comparisons(panel, votes, study.spec.judges[judge].compares))


def of_two(
    panel: TargetSet, aspect: str, votes: Votes, others: Votes
) -> Iterator[tuple[str, Estimate]]:
    """Yield how two judges differ in their half credit by people's majority, and its p."""
    pairs, weights = Pairs.of(panel, aspect), panel.study.weights
    better = np.sign(net_votes(pairs.people))
    better[better == 0] = np.nan
    one, other = ((1 + pairs.verdicts(each, 1, -1) * better) / 2 for each in (votes, others))
    gap = clustered_mean(one - other, pairs.source, weights, ends=(-1.0, 1.0)).estimate
    yield f"difference_{HALF_CREDIT}", gap
    yield "p_mcnemar", mcnemar(one, other, pairs.source)


def _rated_ahead(pairs: Pairs, aspect: str) -> Floats:
    quality = mean_rating(pairs.panel.ratings(aspect))
    first, second = pairs.places
    return quality[first] - quality[second]


def _kappa(people: Floats, verdict: Floats, source: Codes, weights: Codes) -> Estimate:
    return on_labels(people + 1, verdict + 1, CHOICES, source, weights)[KAPPA].estimate


def _comparisons(panel: TargetSet, votes: Votes, compares: bool) -> Comparisons:
    """Return each vote as a comparison of two systems; scores have no text that is shown first."""
    place = {target: place for place, target in enumerate(panel.targets)}
    flat = [(place[a], place[b], vote) for (a, b), each in votes.items() for vote in each]
    first, second = (np.array([vote[k] for vote in flat], dtype=np.int64) for k in (0, 1))
    shown = np.full(len(flat), int(compares))
    values = np.array([vote for _, _, vote in flat], dtype=np.float64)
    return Comparisons(
        panel.system[first], panel.system[second], values, shown, panel.source[first]
    )


def _strengths(panel: TargetSet, votes: Comparisons) -> Iterator[Named]:
    """Yield the strength of each compared system, the odds of a tie, the effect of the place."""
    codes, code = np.unique(np.stack([votes.first, votes.second]), return_inverse=True)
    first, second = code.reshape(2, -1)
    votes = votes._replace(first=first, second=second)
    fitted = strengths(votes, codes.size, panel.study.weights)
    names = sorted(set(panel.systems))
    for at, one in zip(codes.tolist(), fitted.systems, strict=True):
        yield "strength", BY_SYSTEM, {"system_subset": names[at]}, one.estimate
    yield "strength_ties", BY_SYSTEM, {}, fitted.ties.estimate
    if fitted.position is not None:
        yield "strength_position", BY_SYSTEM, {}, fitted.position.estimate
