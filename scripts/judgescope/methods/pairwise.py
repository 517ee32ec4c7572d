"""Choices between two texts: of people, of judges that compare, and of scores.

Consistency over orders, position bias, agreement with people, strengths of systems.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, product

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN, Method
from judgescope.methods.differences import compared as compared_judges
from judgescope.methods.evaluation_data import EvaluationData, TargetSet, set_columns
from judgescope.methods.gold import gold_numbers
from judgescope.methods.measures import BY_SYSTEM, POOLED
from judgescope.methods.pair_verdicts import (
    JudgedPairs,
    PairVerdicts,
    PanelPairs,
    TargetPair,
    Votes,
    VotesByCell,
    judged,
    net_votes,
    pair_verdicts,
    places_in,
    scored_votes,
    verdicts_on,
    votes_of,
)
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics import preferences
from judgescope.statistics.arrays import Codes, Floats, place_within
from judgescope.statistics.bias import side_chosen, side_excess
from judgescope.statistics.comparison import grouped_ranks
from judgescope.statistics.intervals import holm
from judgescope.statistics.labels import NO_LABEL, on_labels
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.order import (
    WRONG_VERDICT,
    against_truth,
    best_of_n,
    comparison_accuracy,
    first_position_rate,
    nontransitive_share,
    order_consistency,
    ordered_systems,
    right_in_both_orders,
)
from judgescope.statistics.preferences import Comparisons
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.source_rows import Weights

LevelEstimate = tuple[str, str, Estimate]
"""(statistic, level, its value)."""
LISTED = "as_listed"
ACCURACY = "accuracy_comparison"
KAPPA = "kappa_nominal"
HALF_CREDIT = f"{ACCURACY}_half"
MCNEMAR = "mcnemar"
P_OF_TWO = f"p_{MCNEMAR}"


def of_people(data: EvaluationData, aspect: str) -> Iterator[ResultRow]:
    """Yield the statistics of people's choices: agreement, biases, strengths of
    systems.
    """
    row = partial(data.row, HUMAN, aspect)
    pairs = PanelPairs(data.systems, aspect)
    weights = data.weights
    people = pairs.people
    agreement = preferences.agreement_of_people(people, pairs.source, weights)
    for name, result in agreement.items():
        yield row(name, POOLED, result.estimate)
    given = np.isfinite(people)
    if len(people) > 1:  # how often a rater chooses as most of the others do
        majorities = list[Floats]()
        for rater in range(len(people)):
            of_others = np.delete(people, rater, axis=0)
            majorities.append(np.sign(net_votes(of_others)))
        others = np.array(majorities)
        source = np.broadcast_to(pairs.source, people.shape)[given]
        like_others = comparison_accuracy(people[given], others[given], source, weights)
        for name, estimate in like_others.items():
            yield row(name, POOLED, estimate)
    votes = people[given]
    shown = pairs.shown[given]
    pair = np.nonzero(given)[1]
    source = pairs.source[pair]
    position = first_position_rate(votes * shown, source, weights)
    yield row("first_position_rate", POOLED, position)
    longer = pairs.side(data.systems.lengths)[pair]
    yield row("longer_chosen", POOLED, side_chosen(votes, longer, source, weights))
    if not data.spec.anonymous_systems:
        first, second = pairs.places
        system = data.systems.system
        compared = Comparisons(
            system[first[pair]],
            system[second[pair]],
            votes,
            shown.astype(np.int64),
            source,
        )
        yield from _strengths(data.systems, HUMAN, aspect, compared)


def of_judge(
    targets: TargetSet, judge: str, aspect: str, votes: Votes
) -> Iterator[ResultRow]:
    """Yield how a judge's votes go with people, by order, its biases, and strengths of
    systems.

    Of a judge that scores, the votes are in one order of no meaning: see
    `scored_votes`.
    """
    study = targets.study
    pairs = PanelPairs(targets, aspect, votes)
    verdicts = pair_verdicts(targets, judge, aspect, pairs.names, votes)
    if pairs.people.size:
        ahead = net_votes(pairs.people)
    else:
        quality = gold_numbers(study, targets.ratings(aspect)).values
        first, second = pairs.places
        ahead = quality[first] - quality[second]
    estimates = chain(
        _agreement_with_people(study, pairs, verdicts, ahead),
        _agreement_of_orders(study, pairs, verdicts, ahead, votes),
        _best_of_n(study, pairs, verdicts, ahead),
        _side_biases(targets, judge, pairs, verdicts, ahead),
        _order_of_systems(targets, pairs, verdicts, ahead),
    )
    for name, level, estimate in estimates:
        yield study.row(judge, aspect, name, level, estimate)
    if not study.spec.anonymous_systems:
        compared = _comparisons(targets, votes, study.spec.judges[judge].compares)
        yield from _strengths(targets, judge, aspect, compared)


def _agreement_with_people(
    data: EvaluationData, pairs: PanelPairs, verdicts: PairVerdicts, ahead: Floats
) -> Iterator[LevelEstimate]:
    """Yield agreement with people's votes, over both orders and in each; ahead
    (pairs,).
    """
    weights = data.weights
    source = pairs.source
    if pairs.people.size:
        agreement = preferences.vote_agreement(
            verdicts.verdict, pairs.people, source, weights
        )
        for name, result in agreement.items():
            yield name, POOLED, result.estimate.with_method(verdicts.policy)
    verdict_of_level = {POOLED: verdicts.verdict}
    swapped = "swapped"
    if verdicts.in_both_orders:
        verdict_of_level |= {LISTED: verdicts.listed, swapped: verdicts.swapped}
    for level, verdict in verdict_of_level.items():
        if level != POOLED:
            accuracies = comparison_accuracy(verdict, np.sign(ahead), source, weights)
            accuracy = accuracies[ACCURACY].with_method(verdicts.policy)
            yield ACCURACY, level, accuracy
        kappa = _kappa(np.sign(ahead), verdict, source, weights)
        yield KAPPA, level, kappa.with_method(verdicts.policy)


def _agreement_of_orders(
    data: EvaluationData,
    pairs: PanelPairs,
    verdicts: PairVerdicts,
    ahead: Floats,
    votes: Votes,
) -> Iterator[LevelEstimate]:
    """Yield whether a judge is right in both orders, and their agreement."""
    if not verdicts.in_both_orders:
        return
    source = pairs.source
    right = right_in_both_orders(
        verdicts.listed, verdicts.swapped, np.sign(ahead), source, data.weights
    )
    yield "accuracy_both_orders", POOLED, right
    listed = verdicts_on(pairs.names, votes, 1)
    swapped = verdicts_on(pairs.names, votes, -1)
    kappa = _kappa(listed, swapped, source, data.weights)
    yield "kappa_orders", POOLED, kappa


def _best_of_n(
    data: EvaluationData, pairs: PanelPairs, verdicts: PairVerdicts, ahead: Floats
) -> Iterator[LevelEstimate]:
    """Yield how good the text is that the judge prefers to all others of its source."""
    settled = against_truth(verdicts.verdict, ahead)
    best = best_of_n(settled, ahead, pairs.places, pairs.source, data.weights)
    if best.n or best.n_missing or best.n_tied:
        yield "best_of_n", POOLED, best.with_method(verdicts.policy)


def _side_biases(
    targets: TargetSet,
    judge: str,
    pairs: PanelPairs,
    verdicts: PairVerdicts,
    ahead: Floats,
) -> Iterator[LevelEstimate]:
    """Yield how often the longer text is chosen, and that of the judge's family."""
    study = targets.study
    family = study.spec.judges[judge].family
    same_family = list[float]()
    for system in targets.systems:
        is_same = bool(family) and study.spec.families.get(system) == family
        same_family.append(float(is_same))
    sides = {
        "longer": pairs.side(targets.lengths),
        "own_family": pairs.side(np.array(same_family)),
    }
    for name, side in sides.items():
        if not side.any():
            continue
        chosen = side_chosen(verdicts.choice, side, pairs.source, study.weights)
        yield f"{name}_chosen", POOLED, chosen.with_method(verdicts.policy)
        excess = side_excess(
            verdicts.choice, np.sign(ahead), side, pairs.source, study.weights
        )
        yield f"{name}_excess", POOLED, excess.with_method(verdicts.policy)


def _order_of_systems(
    targets: TargetSet, pairs: PanelPairs, verdicts: PairVerdicts, ahead: Floats
) -> Iterator[LevelEstimate]:
    """Yield how many pairs of systems the verdicts order as people do."""
    if targets.study.spec.anonymous_systems:
        return
    first, second = pairs.places
    verdict_of_level = {BY_SYSTEM: verdicts.verdict}
    if verdicts.in_both_orders:
        verdict_of_level[f"{LISTED}_{BY_SYSTEM}"] = verdicts.listed
    for level, verdict in verdict_of_level.items():
        settled = against_truth(verdict, ahead)
        ordered = ordered_systems(
            settled, ahead, targets.system[first], targets.system[second]
        )
        yield ACCURACY, level, ordered.with_method(verdicts.policy)


def of_two(
    targets: TargetSet, aspect: str, votes_of_two: Mapping[str, Votes]
) -> Iterator[tuple[str, Estimate]]:
    """Yield how two judges differ in their half credit by people's majority, and its
    p.

    `votes_of_two`: judge -> its votes.
    """
    pairs = PanelPairs(targets, aspect)
    weights = targets.study.weights
    (first, second), policy = half_credits(targets, aspect, pairs, votes_of_two)
    gap = clustered_mean(
        first - second, pairs.source, weights, ends=(-1.0, 1.0)
    ).estimate
    yield f"difference_{HALF_CREDIT}", gap.with_method(policy)
    test = preferences.mcnemar(first, second, pairs.source)
    yield P_OF_TWO, test.with_method(policy)


def half_credits(
    targets: TargetSet, aspect: str, pairs: PanelPairs, votes: Mapping[str, Votes]
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
        verdicts = pair_verdicts(targets, judge, aspect, pairs.names, of_judge)
        credits.append((1 + against_truth(verdicts.verdict, better) * better) / 2)
        policies.append(verdicts.policy)
    return credits, clauses(*dict.fromkeys(policies))


def of_several(
    data: EvaluationData, aspect: str, votes: Mapping[str, Votes]
) -> Iterator[ResultRow]:
    """Yield the judges' ranks by half credit, and the tests of every two of them.

    votes: judge -> its votes. Judges that share a letter do not differ at .05 after
    Holm's correction over all pairs of the aspect.
    """
    tested = [
        pair for pair in compared_judges(data, "systems") if votes.keys() >= {*pair}
    ]
    if not tested:
        return
    results = list[dict[str, Estimate]]()
    for pair in tested:
        votes_of_two = {name: votes[name] for name in pair}
        targets_of_two = data.systems.given(*pair)
        results.append(dict(of_two(targets_of_two, aspect, votes_of_two)))
    p = np.array([result[P_OF_TWO].value for result in results], dtype=np.float64)
    corrected = dict(zip(tested, holm(p).tolist(), strict=True))

    compared = set(chain(*tested))
    names = [name for name in votes if name in compared]
    targets = data.systems.given(*names)
    pairs = PanelPairs(targets, aspect)
    of_names = {name: votes[name] for name in names}
    credits, policy = half_credits(targets, aspect, pairs, of_names)
    values = [clustered_mean(x, pairs.source, data.resamples).rows for x in credits]
    sources = np.unique(pairs.source).size
    ranks = grouped_ranks(names, np.stack(values), sources, corrected)
    for name, rank in zip(names, ranks, strict=True):
        noted = rank.with_note(data.share_note(*names)).with_method(policy)
        yield data.row(name, aspect, f"rank_{HALF_CREDIT}", POOLED, noted)

    for (judge, other), estimates in zip(tested, results, strict=True):
        estimates[f"p_holm_{MCNEMAR}"] = replace(
            estimates[P_OF_TWO], value=corrected[judge, other]
        )
        for name, estimate in estimates.items():
            yield data.row(judge, aspect, name, POOLED, estimate, judge_b=other)


def _kappa(
    people: Floats, verdict: Floats, source: Codes, weights: Weights
) -> Estimate:
    choices = 3  # the first text, the second, neither
    codes = np.where(verdict == WRONG_VERDICT, NO_LABEL, verdict + 1)
    return on_labels(people + 1, codes, choices, source, weights)[KAPPA].estimate


def _comparisons(targets: TargetSet, votes: Votes, compares: bool) -> Comparisons:
    """Return each vote as a comparison of two systems; scores have no text that is
    shown first.
    """
    pairs = list[TargetPair]()
    values = list[float]()
    for pair, of_pair in votes.items():
        pairs += [pair] * len(of_pair)
        values += of_pair
    first, second = places_in(targets, pairs)
    return Comparisons(
        targets.system[first],
        targets.system[second],
        np.array(values, dtype=np.float64),
        np.full(len(first), compares).astype(np.int64),
        targets.source[first],
    )


def _strengths(
    targets: TargetSet, judge: str, aspect: str, votes: Comparisons
) -> Iterator[ResultRow]:
    """Yield the strength of each compared system, the odds of a tie, the effect of the
    position.
    """
    codes, code = np.unique(np.stack([votes.first, votes.second]), return_inverse=True)
    first, second = code.reshape(2, -1)
    votes = votes._replace(first=first, second=second)
    fitted = preferences.strengths(votes, codes.size, targets.study.weights)
    names = sorted(set(targets.systems))
    row = partial(targets.study.row, judge, aspect)
    for system, strength in zip(codes.tolist(), fitted.systems, strict=True):
        name = names[system]
        yield row("strength", BY_SYSTEM, strength.estimate, system_subset=name)
    yield row("strength_ties", BY_SYSTEM, fitted.ties.estimate)
    if fitted.position is not None:
        yield row("strength_position", BY_SYSTEM, fitted.position.estimate)


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of pairwise.csv, per judge, aspect and set of texts."""
    votes_by_cell = votes_of(data)
    for (perturbation, judge, aspect), votes in votes_by_cell.items():
        targets = data.target_set(perturbation).given(judge)
        columns: AppliesTo = {}
        if perturbation != "systems":
            columns = set_columns(perturbation)
        for statistic, distance, estimate in _estimates(targets, judge, aspect, votes):
            yield data.row(
                judge, aspect, statistic, POOLED, estimate, **columns | distance
            )
    yield from _choice_rows(data, votes_by_cell)


def _choice_rows(
    data: EvaluationData, votes_by_cell: VotesByCell
) -> Iterator[ResultRow]:
    """Yield the rows of people's choices and of recorded comparisons, of texts by
    systems.
    """
    for aspect in data.preferences:
        yield from of_people(data, aspect)
    scored = scored_votes(data)
    known = dict[tuple[str, str], Votes]()
    compared = {**votes_by_cell, **scored}
    for judge, aspect in product(data.spec.judges, data.spec.aspects):
        card = data.spec.judges[judge]
        chosen = split(aspect)[0] in data.preferences
        targets = data.systems.given(judge)
        votes: Votes = compared.get(("systems", judge, aspect), {})
        if ("systems", judge, aspect) in scored:
            pairs = judged(targets, judge, aspect, votes)
            accuracy = comparison_accuracy(
                pairs.verdict, np.sign(pairs.ahead), pairs.source, data.weights
            )
            for statistic, estimate in accuracy.items():
                yield data.row(judge, aspect, statistic, POOLED, estimate)
        if votes and (chosen or card.engine == "recorded"):
            yield from of_judge(targets, judge, aspect, votes)
        if votes and chosen:
            known[judge, aspect] = votes
    for aspect in data.spec.aspects:
        of_aspect = {
            judge: votes for (judge, on), votes in known.items() if on == aspect
        }
        yield from of_several(data, aspect, of_aspect)


def _estimates(
    targets: TargetSet, judge: str, aspect: str, votes: Votes
) -> Iterator[tuple[str, AppliesTo, Estimate]]:
    """Yield (statistic, the column k if it has one, estimate) of a judge's votes on a
    set.
    """
    weights = targets.study.weights
    pairs = judged(targets, judge, aspect, votes)
    verdict = pairs.verdicts.verdict
    ahead = pairs.ahead
    source = pairs.source
    policy = pairs.verdicts.policy
    if pairs.in_chain:
        for k in np.unique(np.abs(ahead)).tolist():
            chosen = np.abs(ahead) == k
            accuracy = comparison_accuracy(
                verdict[chosen], np.sign(ahead[chosen]), source[chosen], weights
            )[ACCURACY]
            noted = accuracy.with_method(policy)
            yield f"{ACCURACY}_by_distance", {"k": int(k)}, noted
    source_of = dict(zip(targets.targets, targets.source.tolist(), strict=True))
    votes_for_shown_first = list[float]()
    sources_of_votes = list[int]()
    for (target, _), of_pair in sorted(votes.items()):
        votes_for_shown_first += of_pair
        sources_of_votes += [source_of[target]] * len(of_pair)
    estimates = {
        "order_consistency": order_consistency(
            pairs.verdicts.listed, pairs.verdicts.swapped, source, weights
        ),
        "first_position_rate": first_position_rate(
            np.array(votes_for_shown_first),
            np.array(sources_of_votes, dtype=np.int64),
            weights,
        ),
        "nontransitive_share": _nontransitive_share(targets, pairs),
    }
    if pairs.rated:
        right = comparison_accuracy(verdict, np.sign(ahead), source, weights)
        for name, accuracy in right.items():
            estimates[name] = accuracy.with_method(policy)
    for name, estimate in estimates.items():
        yield name, {}, estimate


def _nontransitive_share(targets: TargetSet, judged_pairs: JudgedPairs) -> Estimate:
    """Return the share of circles, where an item's texts are compared with each
    other.
    """
    items, row = np.unique(targets.source, return_inverse=True)
    column = place_within(targets.source)
    first = judged_pairs.first
    second = judged_pairs.second
    width = int(column.max(initial=-1)) + 1
    table = np.full((items.size, width, width), np.nan)
    table[row[first], column[first], column[second]] = judged_pairs.verdicts.choice
    table[row[first], column[second], column[first]] = -judged_pairs.verdicts.choice
    return nontransitive_share(table, items, targets.study.weights)


METHOD = Method(
    name="pairwise",
    rows=rows,
    selectable=True,
    controls=True,
    when="votes",
    texts=("systems",),
    votes=True,
    unordered="yes",
    parts=("compared",),
)
