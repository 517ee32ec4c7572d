"""Votes on pairs of texts: people's, those of judges that compare, and of scores."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import Orders
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.order import (
    WRONG_VERDICT,
    against_truth,
    joined_orders,
)
from judgescope.statistics.preferences import majority
from judgescope.statistics.result import clauses

TargetPair = tuple[str, str]
Votes = Mapping[TargetPair, list[float]]
"""(first text shown, second) -> the votes of all draws: 1, -1, 0 or NaN."""
VotesByCell = dict[tuple[str, str, str], dict[TargetPair, list[float]]]
"""(perturbation, judge, aspect) -> votes."""


class PanelPairs:
    """Pairs of a set's texts, each in the order in which it is listed first.

    people (raters, pairs): 1 for the first text, -1 for the second, 0 for neither, NaN
    = missing; shown (raters, pairs): 1 where the rater saw the first text first, -1
    where the second; places: those of each pair's texts in the set, (pairs,) each;
    source (pairs,).
    """

    def __init__(
        self, targets: TargetSet, aspect: str, more: Iterable[TargetPair] = ()
    ) -> None:
        """Read the pairs of targets that people compared on an aspect, and more."""
        raters = targets.study.preferences.get(split(aspect)[0], {})
        known = set(targets.targets)
        listed = dict[frozenset[str], TargetPair]()
        for pair in chain(*raters.values(), more):
            if known.issuperset(pair):
                listed.setdefault(frozenset(pair), pair)
        self.names = [*listed.values()]
        self.people, self.shown = np.full((2, len(raters), len(self.names)), np.nan)
        for row, rater in enumerate(sorted(raters)):
            for column, pair in enumerate(self.names):
                for order, sign in ((pair, 1.0), (pair[::-1], -1.0)):
                    choice = raters[rater].get(order)
                    if choice is not None:
                        self.people[row, column] = sign * choice
                        self.shown[row, column] = sign
        self.places = places_in(targets, self.names)
        self.source = targets.source[self.places[0]]

    def side(self, of_texts: Floats) -> Floats:
        """Return 1 where the first text of a pair has more of something, -1 less, 0 as
        much, or where it is unknown (NaN) of one.
        """
        first, second = self.places
        return np.nan_to_num(np.sign(of_texts[first] - of_texts[second]))

    def votes_on(self, pairs: Iterable[TargetPair]) -> Floats:
        """Return each rater's votes for the first text of some of the pairs, in either
        order; shape (raters, pairs).
        """
        column_of = {pair: column for column, pair in enumerate(self.names)}
        votes = list[Floats]()
        for first, second in pairs:
            if (first, second) in column_of:
                votes.append(self.people[:, column_of[first, second]])
            else:
                votes.append(-self.people[:, column_of[second, first]])
        return np.array(votes).T


def places_in(targets: TargetSet, pairs: Sequence[TargetPair]) -> tuple[Codes, Codes]:
    """Return the places of each pair's texts in a set of targets; (pairs,) each."""
    place_of = {target: number for number, target in enumerate(targets.targets)}
    first = np.array([place_of[target] for target, _ in pairs], np.int64)
    second = np.array([place_of[target] for _, target in pairs], np.int64)
    return first, second


def verdicts_on(pairs: Sequence[TargetPair], votes: Votes, *orders: int) -> Floats:
    """Return whom votes favour, all draws by `majority`: orders are 1 (as listed), -1
    or both; shape (pairs,).
    """
    votes_of_pairs = list[list[float]]()
    for first, second in pairs:
        for_first = list[float]()
        for order in orders:
            shown = (first, second) if order > 0 else (second, first)
            for_first += [order * vote for vote in votes.get(shown, ())]
        votes_of_pairs.append(for_first)
    most_votes = max(map(len, votes_of_pairs), default=0)
    table = np.full((most_votes, len(pairs)), np.nan)
    for column, values in enumerate(votes_of_pairs):
        table[: len(values), column] = values
    return majority(table)


class PairVerdicts(NamedTuple):
    """A judge's verdicts on pairs, (pairs,) each, by the study's keys `orders`,
    `unread`.

    1: the first text, -1: the second, 0: neither, NaN: missing. `verdict` has
    WRONG_VERDICT where a pair is wrong whatever the truth; `choice` is what the judge
    chose: there for neither, or missing if it was not read. `listed` and `swapped` are
    those in each order. `policy` names the keys that are not the default.
    """

    verdict: Floats
    choice: Floats
    listed: Floats
    swapped: Floats
    policy: str

    @property
    def in_both_orders(self) -> bool:
        """Whether some verdict of each order is known."""
        return bool(np.isfinite(self.listed).any() and np.isfinite(self.swapped).any())


def pair_verdicts(
    targets: TargetSet,
    judge: str,
    aspect: str,
    pairs: Sequence[TargetPair],
    votes: Votes,
) -> PairVerdicts:
    """Return a judge's verdicts on pairs, each in the order listed.

    By default the votes of both orders count together (`verdicts_on`; Hu et al. 2025).
    With another rule each order has a verdict, of which at least half of the draws must
    be read. An unread order makes the pair unread: the other one alone would favour a
    judge that prefers a position. A pair that was asked in one order only has that
    verdict.
    """
    study = targets.study
    spec = targets.study.spec
    choice = verdicts_on(pairs, votes, 1, -1)
    listed = verdicts_on(pairs, votes, 1)
    swapped = verdicts_on(pairs, votes, -1)
    if not spec.judges[judge].compares:
        return PairVerdicts(choice, choice, listed, swapped, "")
    both = asked_in_both(pairs, votes)
    half_read = both & (np.isnan(listed) | np.isnan(swapped))
    choice = np.where(half_read, np.nan, choice)
    plain = PairVerdicts(choice, choice, listed, swapped, "")
    if spec.orders != "both":
        plain = _by_rule(plain, pairs, votes, spec.orders)
    if spec.unread != "wrong":
        return plain
    wrong = study.wrong_verdicts.get((targets.perturbation, judge, aspect), set())
    unread = np.array([pair in wrong for pair in pairs], dtype=bool)
    unread_swapped = np.array([(b, a) in wrong for a, b in pairs], dtype=bool)
    either = unread | unread_swapped
    return PairVerdicts(
        np.where(either, WRONG_VERDICT, plain.verdict),
        np.where(either, np.nan, plain.choice),
        np.where(unread, WRONG_VERDICT, listed),
        np.where(unread_swapped, WRONG_VERDICT, swapped),
        clauses(plain.policy, f"unread: wrong ({either.sum()} pairs)"),
    )


def asked_in_both(pairs: Sequence[TargetPair], votes: Votes) -> Flags:
    """Return which pairs a judge was asked in both orders; (pairs,)."""
    return np.array([(a, b) in votes and (b, a) in votes for a, b in pairs], bool)


def _by_rule(
    plain: PairVerdicts, pairs: Sequence[TargetPair], votes: Votes, rule: Orders
) -> PairVerdicts:
    """Return the verdicts of `joined_orders` on the pairs asked in both orders."""
    swapped_pairs = [(b, a) for a, b in pairs]
    listed = np.where(_half_read(pairs, votes), plain.listed, np.nan)
    swapped = np.where(_half_read(swapped_pairs, votes), plain.swapped, np.nan)
    joined = joined_orders(listed, swapped, rule)
    verdict = np.where(asked_in_both(pairs, votes), joined, plain.verdict)
    choice = np.where(verdict == WRONG_VERDICT, 0.0, verdict)
    return plain._replace(verdict=verdict, choice=choice, policy=f"orders: {rule}")


def _half_read(shown: Sequence[TargetPair], votes: Votes) -> Flags:
    """Return of which pairs, in the order shown, at least half of the draws were read.

    One draw at least; shape (pairs,).
    """
    drawn = [np.isfinite(votes.get(pair, ())) for pair in shown]
    return np.array([any(read) and 2 * read.sum() >= read.size for read in drawn], bool)


def net_votes(people: Floats) -> Floats:
    """Return people's net votes for the first text, NaN where there is none: (raters,
    pairs).
    """
    return np.where(np.isfinite(people).any(axis=0), np.nansum(people, axis=0), np.nan)


def scored_votes(data: EvaluationData) -> VotesByCell:
    """Return the same of judges that score, on the pairs that people compared.

    The vote is for the text of the higher score.
    """
    table: VotesByCell = {}
    for judge, aspect in product(data.spec.judges, data.spec.aspects):
        targets = data.systems.given(judge)
        scores = targets.scores(judge, aspect)
        pairs = PanelPairs(targets, aspect)
        if scores is not None and pairs.names and not data.spec.judges[judge].compares:
            signs = zip(pairs.names, pairs.side(scores).tolist(), strict=True)
            table["systems", judge, aspect] = {pair: [sign] for pair, sign in signs}
    return table


def votes_of(data: EvaluationData) -> VotesByCell:
    """Return (perturbation, judge, aspect) -> the votes of judges that compare two
    texts.
    """
    table: VotesByCell = defaultdict(lambda: defaultdict(list))
    names = ("perturbation", "judge", "aspect", "target", "target_b", "value")
    columns = (data.draws[name].to_pylist() for name in names)
    for perturbation, judge, aspect, target, target_b, value in zip(
        *columns, strict=True
    ):
        if target_b is not None and judge in data.spec.judges:
            vote = np.nan if value is None else value
            table[perturbation, judge, aspect][target, target_b].append(vote)
    return {cell: dict(votes) for cell, votes in sorted(table.items())}


class JudgedPairs(NamedTuple):
    """The pairs of a set that a judge was asked, its verdict on each, and which text is
    better.

    first, second (pairs,) index the set's texts; `verdicts` are those of both
    orders; ahead (pairs,): how much better the first is, NaN if unknown; `in_chain`: by
    the number of errors; `rated`: whether the quality of some text is known.
    """

    pairs: list[tuple[str, str]]
    first: Codes
    second: Codes
    source: Codes
    verdicts: PairVerdicts
    ahead: Floats
    in_chain: bool
    rated: bool

    @property
    def verdict(self) -> Floats:
        """Return the verdicts, of wrong ones that against people."""
        return against_truth(self.verdicts.verdict, self.ahead)


def judged(targets: TargetSet, judge: str, aspect: str, votes: Votes) -> JudgedPairs:
    """Return a judge's verdicts on the pairs of a set of targets that it was asked."""
    # A set's targets are sorted by id, and so are those of a pair.
    pairs = sorted({(min(pair), max(pair)) for pair in votes})
    first, second = places_in(targets, pairs)
    steps = targets.rows["step"].to_pylist()
    in_chain = len({*steps}) > 1
    quality = gold_numbers(targets.study, targets.ratings(aspect)).values
    if in_chain:  # each error lowers the quality by one
        quality = -np.array(steps, dtype=np.float64)
    ahead = quality[first] - quality[second]
    if split(aspect)[0] in targets.study.preferences:
        ahead = net_votes(PanelPairs(targets, aspect, pairs).votes_on(pairs))
        in_chain = False
    verdicts = pair_verdicts(targets, judge, aspect, pairs, votes)
    rated = bool(np.isfinite(ahead).any() or np.isfinite(quality).any())
    source = targets.source[first]
    return JudgedPairs(pairs, first, second, source, verdicts, ahead, in_chain, rated)
