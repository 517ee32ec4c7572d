"""Choices between two texts: of people, of judges that compare, and of scores.

Consistency over orders, position bias, agreement with people, strengths of systems.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN, AppliesTo, Method, Orders, Row
from judgescope.methods.differences import compared as compared_judges
from judgescope.methods.evaluation_data import EvaluationData, TargetSet, set_columns
from judgescope.methods.gold import gold_numbers
from judgescope.methods.measures import BY_SYSTEM, POOLED
from judgescope.statistics import preferences
from judgescope.statistics.arrays import Codes, Flags, Floats, place_within
from judgescope.statistics.bias import side_chosen, side_excess
from judgescope.statistics.classes import NO_LABEL, on_labels
from judgescope.statistics.comparison import grouped_ranks
from judgescope.statistics.intervals import holm
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.order import (
    WRONG_VERDICT,
    against_truth,
    best_of_n,
    comparison_accuracy,
    first_position_rate,
    joined_orders,
    nontransitive_share,
    order_consistency,
    ordered_systems,
    right_in_both_orders,
)
from judgescope.statistics.preferences import Comparisons, majority
from judgescope.statistics.result import Estimate, clauses

Pair = tuple[str, str]
Votes = Mapping[Pair, list[float]]
"""(first text shown, second) -> the votes of all draws: 1, -1, 0 or NaN."""
VotesByCell = dict[tuple[str, str, str], dict[Pair, list[float]]]
"""(perturbation, judge, aspect) -> votes."""
LISTED, SWAPPED = "as_listed", "swapped"
LISTED_BY_SYSTEM = f"{LISTED}_{BY_SYSTEM}"
ACCURACY, KAPPA = "accuracy_comparison", "kappa_nominal"
HALF_CREDIT = f"{ACCURACY}_half"
MCNEMAR = "mcnemar"
P_OF_TWO = f"p_{MCNEMAR}"
CHOICES = 3
"""The first text, the second, neither."""


class Pairs:
    """Pairs of a panel's texts, each in the order in which it is listed first.

    people (raters, pairs): 1 for the first text, -1 for the second, 0 for neither, NaN
    = missing; shown (raters, pairs): 1 where the rater saw the first text first, -1
    where the second; places: those of each pair's texts in the panel, (pairs,) each;
    source (pairs,).
    """

    def __init__(
        self, panel: TargetSet, aspect: str, more: Iterable[Pair] = ()
    ) -> None:
        """Read the pairs of a panel that people compared on an aspect, and more."""
        raters = panel.study.preferences.get(split(aspect)[0], {})
        known, listed = set(panel.targets), dict[frozenset[str], Pair]()
        for pair in [*(pair for votes in raters.values() for pair in votes), *more]:
            if known.issuperset(pair):
                listed.setdefault(frozenset(pair), pair)
        self.names = [*listed.values()]
        self.people, self.shown = np.full((2, len(raters), len(self.names)), np.nan)
        for row, rater in enumerate(sorted(raters)):
            for column, pair in enumerate(self.names):
                for order, sign in ((pair, 1.0), (pair[::-1], -1.0)):
                    if (choice := raters[rater].get(order)) is not None:
                        self.people[row, column], self.shown[row, column] = (
                            sign * choice,
                            sign,
                        )
        self.places = places_in(panel, self.names)
        self.source = panel.source[self.places[0]]

    def side(self, of_texts: Floats) -> Floats:
        """Return 1 where the first text of a pair has more of something, -1 less, 0 as
        much, or where it is unknown (NaN) of one.
        """
        first, second = self.places
        return np.nan_to_num(np.sign(of_texts[first] - of_texts[second]))

    def votes_on(self, pairs: Iterable[Pair]) -> Floats:
        """Return each rater's votes for the first text of some of the pairs, in either
        order.
        """
        column = {pair: (number, 1.0) for number, pair in enumerate(self.names)}
        column |= {(b, a): (number, -sign) for (a, b), (number, sign) in column.items()}
        places = [column[pair] for pair in pairs]
        return np.array([sign * self.people[:, number] for number, sign in places]).T


def places_in(panel: TargetSet, pairs: Sequence[Pair]) -> tuple[Codes, Codes]:
    """Return the places of each pair's texts in a panel; (pairs,) each."""
    place = {target: place for place, target in enumerate(panel.targets)}
    first, second = (
        np.array([place[pair[k]] for pair in pairs], np.int64) for k in (0, 1)
    )
    return first, second


def verdicts_on(pairs: Sequence[Pair], votes: Votes, *orders: int) -> Floats:
    """Return whom votes favour, all draws by `majority`: orders are 1 (as listed), -1
    or both.
    """
    each = [
        [
            order * vote
            for order in orders
            for vote in votes.get((first, second) if order > 0 else (second, first), ())
        ]
        for first, second in pairs
    ]
    table = np.full((max(map(len, each), default=0), len(each)), np.nan)
    for column, values in enumerate(each):
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


def pair_verdicts(
    panel: TargetSet, judge: str, aspect: str, pairs: Sequence[Pair], votes: Votes
) -> PairVerdicts:
    """Return a judge's verdicts on pairs, each in the order listed.

    By default the votes of both orders count together (`verdicts_on`; Hu et al. 2025).
    With another rule each order has a verdict, of which at least half of the draws must
    be read. An unread order makes the pair unread: the other one alone would favour a
    judge that prefers a position. A pair that was asked in one order only has that
    verdict.
    """
    study, spec = panel.study, panel.study.spec
    choice = verdicts_on(pairs, votes, 1, -1)
    listed, swapped = (verdicts_on(pairs, votes, order) for order in (1, -1))
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
    wrong = study.wrong_verdicts.get((panel.perturbation, judge, aspect), set())
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


def asked_in_both(pairs: Sequence[Pair], votes: Votes) -> Flags:
    """Return which pairs a judge was asked in both orders; (pairs,)."""
    return np.array([(a, b) in votes and (b, a) in votes for a, b in pairs], bool)


def _by_rule(
    plain: PairVerdicts, pairs: Sequence[Pair], votes: Votes, rule: Orders
) -> PairVerdicts:
    """Return the verdicts of `joined_orders` on the pairs asked in both orders."""
    swapped_pairs = [(b, a) for a, b in pairs]
    listed, swapped = (
        np.where(_half_read(shown, votes), verdict, np.nan)
        for shown, verdict in ((pairs, plain.listed), (swapped_pairs, plain.swapped))
    )
    joined = joined_orders(listed, swapped, rule)
    verdict = np.where(asked_in_both(pairs, votes), joined, plain.verdict)
    choice = np.where(verdict == WRONG_VERDICT, 0.0, verdict)
    return plain._replace(verdict=verdict, choice=choice, policy=f"orders: {rule}")


def _half_read(shown: Sequence[Pair], votes: Votes) -> Flags:
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


def of_people(study: EvaluationData, aspect: str) -> Iterator[Row]:
    """Yield the statistics of people's choices: agreement, biases, strengths of
    systems.
    """
    row = partial(study.row, HUMAN, aspect)
    pairs, weights = Pairs(study.systems, aspect), study.weights
    for name, one in preferences.agreement_of_people(
        pairs.people, pairs.source, weights
    ).items():
        yield row(name, POOLED, one.estimate)
    people, given = pairs.people, np.isfinite(pairs.people)
    if len(people) > 1:  # how often a rater chooses as most of the others do
        each = (np.delete(people, rater, axis=0) for rater in range(len(people)))
        others = np.array([np.sign(net_votes(other)) for other in each])
        source = np.broadcast_to(pairs.source, people.shape)[given]
        like_others = comparison_accuracy(people[given], others[given], source, weights)
        for name, estimate in like_others.items():
            yield row(name, POOLED, estimate)
    votes, shown, pair = pairs.people[given], pairs.shown[given], np.nonzero(given)[1]
    source = pairs.source[pair]
    position = first_position_rate(votes * shown, source, weights)
    yield row("first_position_rate", POOLED, position)
    longer = pairs.side(study.systems.lengths)[pair]
    yield row("longer_chosen", POOLED, side_chosen(votes, longer, source, weights))
    if not study.spec.anonymous_systems:
        first, second = (study.systems.system[place[pair]] for place in pairs.places)
        compared = Comparisons(first, second, votes, shown.astype(np.int64), source)
        yield from _strengths(study.systems, HUMAN, aspect, compared)


def of_judge(panel: TargetSet, judge: str, aspect: str, votes: Votes) -> Iterator[Row]:
    """Yield how a judge's votes go with people, by order, its biases, and strengths of
    systems.

    Of a judge that scores, the votes are in one order of no meaning: see
    `scored_votes`.
    """
    study, weights = panel.study, panel.study.weights
    row, pairs = partial(study.row, judge, aspect), Pairs(panel, aspect, votes)
    source, people = pairs.source, pairs.people
    each_pair = pair_verdicts(panel, judge, aspect, pairs.names, votes)
    verdict, choice, listed, swapped, policy = each_pair
    quality = gold_numbers(study, panel.ratings(aspect)).values
    first, second = pairs.places
    ahead = net_votes(people) if people.size else quality[first] - quality[second]
    if people.size:
        for name, one in preferences.vote_agreement(
            verdict, people, source, weights
        ).items():
            yield row(name, POOLED, one.estimate.with_method(policy))
    both = bool(np.isfinite(listed).any() and np.isfinite(swapped).any())
    levels = [(POOLED, verdict)]
    levels += [(LISTED, listed), (SWAPPED, swapped)] if both else []
    for level, each in levels:
        if level != POOLED:
            accuracies = comparison_accuracy(each, np.sign(ahead), source, weights)
            yield row(ACCURACY, level, accuracies[ACCURACY].with_method(policy))
        kappa = _kappa(np.sign(ahead), each, source, weights)
        yield row(KAPPA, level, kappa.with_method(policy))
    if both:
        right = right_in_both_orders(listed, swapped, np.sign(ahead), source, weights)
        yield row("accuracy_both_orders", POOLED, right)
        in_one, in_other = (verdicts_on(pairs.names, votes, order) for order in (1, -1))
        yield row("kappa_orders", POOLED, _kappa(in_one, in_other, source, weights))
    settled = against_truth(verdict, ahead)
    best = best_of_n(settled, ahead, pairs.places, source, weights)
    if best.n or best.n_missing or best.n_tied:
        yield row("best_of_n", POOLED, best.with_method(policy))
    family = study.spec.judges[judge].family
    own = [
        float(bool(family) and study.spec.families.get(name) == family)
        for name in panel.systems
    ]
    sides = {
        "longer": pairs.side(panel.lengths),
        "own_family": pairs.side(np.array(own)),
    }
    for name, side in sides.items():
        if side.any():
            chosen = side_chosen(choice, side, source, weights)
            yield row(f"{name}_chosen", POOLED, chosen.with_method(policy))
            excess = side_excess(choice, np.sign(ahead), side, source, weights)
            yield row(f"{name}_excess", POOLED, excess.with_method(policy))
    if study.spec.anonymous_systems:
        return
    systems = [panel.system[place] for place in pairs.places]
    listed = against_truth(listed, ahead)
    for level, each in ((BY_SYSTEM, settled), (LISTED_BY_SYSTEM, listed))[: 1 + both]:
        ordered = ordered_systems(each, ahead, *systems)
        yield row(ACCURACY, level, ordered.with_method(policy))
    compared = _comparisons(panel, votes, study.spec.judges[judge].compares)
    yield from _strengths(panel, judge, aspect, compared)


def of_two(
    panel: TargetSet, aspect: str, votes_of_two: Mapping[str, Votes]
) -> Iterator[tuple[str, Estimate]]:
    """Yield how two judges differ in their half credit by people's majority, and its
    p.

    `votes_of_two`: judge -> its votes.
    """
    pairs, weights = Pairs(panel, aspect), panel.study.weights
    (one, other), policy = half_credits(panel, aspect, pairs, votes_of_two)
    gap = clustered_mean(one - other, pairs.source, weights, ends=(-1.0, 1.0)).estimate
    yield f"difference_{HALF_CREDIT}", gap.with_method(policy)
    test = preferences.mcnemar(one, other, pairs.source)
    yield P_OF_TWO, test.with_method(policy)


def half_credits(
    panel: TargetSet, aspect: str, pairs: Pairs, votes: Mapping[str, Votes]
) -> tuple[list[Floats], str]:
    """Each judge's credit by people's majority, (pairs,) each: 1, ½ for neither, 0.

    votes: judge -> its votes. NaN without a vote, and where people's votes are equal.
    The second value names the study's policies behind the verdicts.
    """
    better = np.sign(net_votes(pairs.people))
    better[better == 0] = np.nan
    credits = list[Floats]()
    policies = list[str]()
    for judge, of_judge in votes.items():
        found = pair_verdicts(panel, judge, aspect, pairs.names, of_judge)
        credits.append((1 + against_truth(found.verdict, better) * better) / 2)
        policies.append(found.policy)
    return credits, clauses(*dict.fromkeys(policies))


def of_several(
    study: EvaluationData, aspect: str, votes: Mapping[str, Votes]
) -> Iterator[Row]:
    """Yield the judges' ranks by half credit, and the tests of every two of them.

    votes: judge -> its votes. Judges that share a letter do not differ at .05 after
    Holm's correction over all pairs of the aspect.
    """
    tested = [
        pair for pair in compared_judges(study, "systems") if votes.keys() >= {*pair}
    ]
    if not tested:
        return
    results = [
        dict(
            of_two(
                study.systems.given(*pair),
                aspect,
                {name: votes[name] for name in pair},
            )
        )
        for pair in tested
    ]
    p = np.array([each[P_OF_TWO].value for each in results], dtype=np.float64)
    corrected = dict(zip(tested, holm(p).tolist(), strict=True))

    compared = {name for pair in tested for name in pair}
    names = [name for name in votes if name in compared]
    panel = study.systems.given(*names)
    pairs = Pairs(panel, aspect)
    of_names = {name: votes[name] for name in names}
    credits, policy = half_credits(panel, aspect, pairs, of_names)
    values = [clustered_mean(x, pairs.source, study.resamples).rows for x in credits]
    sources = np.unique(pairs.source).size
    ranks = grouped_ranks(names, np.stack(values), sources, corrected)
    for name, rank in zip(names, ranks, strict=True):
        noted = rank.with_note(study.share_note(*names)).with_method(policy)
        yield study.row(name, aspect, f"rank_{HALF_CREDIT}", POOLED, noted)

    for (judge, other), estimates in zip(tested, results, strict=True):
        estimates[f"p_holm_{MCNEMAR}"] = replace(
            estimates[P_OF_TWO], value=corrected[judge, other]
        )
        for name, estimate in estimates.items():
            yield study.row(judge, aspect, name, POOLED, estimate, judge_b=other)


def _kappa(people: Floats, verdict: Floats, source: Codes, weights: Codes) -> Estimate:
    codes = np.where(verdict == WRONG_VERDICT, NO_LABEL, verdict + 1)
    return on_labels(people + 1, codes, CHOICES, source, weights)[KAPPA].estimate


def _comparisons(panel: TargetSet, votes: Votes, compares: bool) -> Comparisons:
    """Return each vote as a comparison of two systems; scores have no text that is
    shown first.
    """
    first, second = places_in(
        panel, [pair for pair, each in votes.items() for _ in each]
    )
    values = np.array(
        [vote for each in votes.values() for vote in each], dtype=np.float64
    )
    systems, shown = (
        (panel.system[first], panel.system[second]),
        np.full(len(first), compares),
    )
    return Comparisons(*systems, values, shown.astype(np.int64), panel.source[first])


def _strengths(
    panel: TargetSet, judge: str, aspect: str, votes: Comparisons
) -> Iterator[Row]:
    """Yield the strength of each compared system, the odds of a tie, the effect of the
    position.
    """
    codes, code = np.unique(np.stack([votes.first, votes.second]), return_inverse=True)
    first, second = code.reshape(2, -1)
    votes = votes._replace(first=first, second=second)
    fitted = preferences.strengths(votes, codes.size, panel.study.weights)
    names, row = sorted(set(panel.systems)), partial(panel.study.row, judge, aspect)
    for at, one in zip(codes.tolist(), fitted.systems, strict=True):
        yield row("strength", BY_SYSTEM, one.estimate, system_subset=names[at])
    yield row("strength_ties", BY_SYSTEM, fitted.ties.estimate)
    if fitted.position is not None:
        yield row("strength_position", BY_SYSTEM, fitted.position.estimate)


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of pairwise.csv, per judge, aspect and set of texts."""
    votes_by_cell = votes_of(study)
    for (perturbation, judge, aspect), votes in votes_by_cell.items():
        panel = study.panel(perturbation).given(judge)
        columns: AppliesTo = (
            {} if perturbation == "systems" else set_columns(perturbation)
        )
        for statistic, distance, estimate in _estimates(panel, judge, aspect, votes):
            yield study.row(
                judge, aspect, statistic, POOLED, estimate, **columns | distance
            )
    yield from _choice_rows(study, votes_by_cell)


def _choice_rows(study: EvaluationData, votes_by_cell: VotesByCell) -> Iterator[Row]:
    """Yield the rows of people's choices and of recorded comparisons, of texts by
    systems.
    """
    for aspect in study.preferences:
        yield from of_people(study, aspect)
    scored, known = scored_votes(study), dict[tuple[str, str], Votes]()
    compared = {**votes_by_cell, **scored}
    for judge, aspect in product(study.spec.judges, study.spec.aspects):
        card, chosen = study.spec.judges[judge], split(aspect)[0] in study.preferences
        panel = study.systems.given(judge)
        votes: Votes = compared.get(("systems", judge, aspect), {})
        if ("systems", judge, aspect) in scored:
            pairs = judged(panel, judge, aspect, votes)
            accuracy = comparison_accuracy(
                pairs.verdict, np.sign(pairs.ahead), pairs.source, study.weights
            )
            for statistic, one in accuracy.items():
                yield study.row(judge, aspect, statistic, POOLED, one)
        if votes and (chosen or card.engine == "recorded"):
            yield from of_judge(panel, judge, aspect, votes)
        if votes and chosen:
            known[judge, aspect] = votes
    for aspect in study.spec.aspects:
        of_aspect = {
            judge: votes for (judge, on), votes in known.items() if on == aspect
        }
        yield from of_several(study, aspect, of_aspect)


def scored_votes(study: EvaluationData) -> VotesByCell:
    """Return the same of judges that score, on the pairs that people compared.

    The vote is for the text of the higher score.
    """
    table: VotesByCell = {}
    for judge, aspect in product(study.spec.judges, study.spec.aspects):
        panel = study.systems.given(judge)
        scores, pairs = panel.scores(judge, aspect), Pairs(panel, aspect)
        if scores is not None and pairs.names and not study.spec.judges[judge].compares:
            signs = zip(pairs.names, pairs.side(scores).tolist(), strict=True)
            table["systems", judge, aspect] = {pair: [sign] for pair, sign in signs}
    return table


def votes_of(study: EvaluationData) -> VotesByCell:
    """Return (perturbation, judge, aspect) -> the votes of judges that compare two
    texts.
    """
    table: VotesByCell = defaultdict(lambda: defaultdict(list))
    names = ("perturbation", "judge", "aspect", "target", "target_b", "value")
    columns = (study.draws[name].to_pylist() for name in names)
    for perturbation, judge, aspect, target, target_b, value in zip(
        *columns, strict=True
    ):
        if target_b is not None and judge in study.spec.judges:
            vote = np.nan if value is None else value
            table[perturbation, judge, aspect][target, target_b].append(vote)
    return {cell: dict(votes) for cell, votes in sorted(table.items())}


class JudgedPairs(NamedTuple):
    """The pairs of a set that a judge was asked, its verdict on each, and which text is
    better.

    first, second (pairs,) index the panel's texts; `votes` are the verdicts of both
    orders; ahead (pairs,): how much better the first is, NaN if unknown; `in_chain`: by
    the number of errors; `rated`: whether the quality of some text is known.
    """

    pairs: list[tuple[str, str]]
    first: Codes
    second: Codes
    source: Codes
    votes: PairVerdicts
    ahead: Floats
    in_chain: bool
    rated: bool

    @property
    def verdict(self) -> Floats:
        """Return the verdicts, of wrong ones that against people."""
        return against_truth(self.votes.verdict, self.ahead)


def judged(panel: TargetSet, judge: str, aspect: str, votes: Votes) -> JudgedPairs:
    """Return a judge's verdicts on the pairs of a panel that it was asked."""
    pairs = sorted(
        {(min(pair), max(pair)) for pair in votes}
    )  # targets are sorted by id
    first, second = places_in(panel, pairs)
    steps = panel.rows["step"].to_pylist()
    in_chain = len({*steps}) > 1
    quality = gold_numbers(panel.study, panel.ratings(aspect)).values
    if in_chain:  # each error lowers the quality by one
        quality = -np.array(steps, dtype=np.float64)
    ahead = quality[first] - quality[second]
    if split(aspect)[0] in panel.study.preferences:
        ahead = net_votes(Pairs(panel, aspect, pairs).votes_on(pairs))
        in_chain = False
    found = pair_verdicts(panel, judge, aspect, pairs, votes)
    rated = bool(np.isfinite(ahead).any() or np.isfinite(quality).any())
    source = panel.source[first]
    return JudgedPairs(pairs, first, second, source, found, ahead, in_chain, rated)


def _estimates(
    panel: TargetSet, judge: str, aspect: str, votes: Votes
) -> Iterator[tuple[str, AppliesTo, Estimate]]:
    """Yield (statistic, the column k if it has one, estimate) of a judge's votes on a
    set.
    """
    weights, judged_pairs = panel.study.weights, judged(panel, judge, aspect, votes)
    _, _, _, source, found, ahead, in_chain, rated = judged_pairs
    verdict, policy = found.verdict, found.policy
    if in_chain:
        for k in np.unique(np.abs(ahead)).tolist():
            chosen = np.abs(ahead) == k
            accuracy = comparison_accuracy(
                verdict[chosen], np.sign(ahead[chosen]), source[chosen], weights
            )["accuracy_comparison"]
            noted = accuracy.with_method(policy)
            yield "accuracy_comparison_by_distance", {"k": int(k)}, noted
    source_of = dict(zip(panel.targets, panel.source.tolist(), strict=True))
    shown = [
        (source_of[a], vote) for (a, _), each in sorted(votes.items()) for vote in each
    ]
    estimates = {
        "order_consistency": order_consistency(
            found.listed, found.swapped, source, weights
        ),
        "first_position_rate": first_position_rate(
            np.array([vote for _, vote in shown]),
            np.array([code for code, _ in shown], dtype=np.int64),
            weights,
        ),
        "nontransitive_share": _nontransitive_share(panel, judged_pairs),
    }
    if rated:
        right = comparison_accuracy(verdict, np.sign(ahead), source, weights)
        for name, accuracy in right.items():
            estimates[name] = accuracy.with_method(policy)
    for name, estimate in estimates.items():
        yield name, {}, estimate


def _nontransitive_share(panel: TargetSet, judged_pairs: JudgedPairs) -> Estimate:
    """Return the share of circles, where an item's texts are compared with each
    other.
    """
    items, row = np.unique(panel.source, return_inverse=True)
    column, (first, second) = (
        place_within(panel.source),
        (judged_pairs.first, judged_pairs.second),
    )
    width = int(column.max(initial=-1)) + 1
    table = np.full((items.size, width, width), np.nan)
    table[row[first], column[first], column[second]] = judged_pairs.votes.choice
    table[row[first], column[second], column[first]] = -judged_pairs.votes.choice
    return nontransitive_share(table, items, panel.study.weights)


METHOD = Method(
    selectable=True,
    controls=True,
    when="votes",
    texts=("systems",),
    votes=True,
    unordered="yes",
    parts=("compared",),
    claims=("claims.ratings.pair_claims",),
)
