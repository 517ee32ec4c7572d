"""Judges that compare two texts: consistency over orders, position bias, agreement with people."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN, AppliesTo, Method, Row
from judgescope.methods.choices import (
    Pair,
    Pairs,
    Votes,
    net_votes,
    of_judge,
    of_people,
    of_two,
    votes_of_scores,
)
from judgescope.methods.differences import compared as compared_judges
from judgescope.methods.evaluation_data import (
    Codes,
    EvaluationData,
    Floats,
    TargetSet,
    set_columns,
)
from judgescope.methods.measures import POOLED
from judgescope.statistics.order import (
    comparison_accuracy,
    first_position_rate,
    nontransitive_share,
    order_consistency,
    verdicts,
)
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import Estimate


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of pairwise.csv, per judge, aspect and set of texts."""
    result = []
    for (perturbation, judge, aspect), votes in votes_of(study).items():
        panel = study.panel(perturbation).given(judge)
        columns: AppliesTo = {} if perturbation == "systems" else set_columns(perturbation)
        for statistic, distance, estimate in _estimates(panel, aspect, votes):
            row = study.row(judge, aspect, statistic, POOLED, estimate, **columns | distance)
            result.append(row)
    return [*result, *_choice_rows(study)]


def _choice_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of people's choices and of recorded comparisons, of texts by systems."""
    for aspect in study.preferences:
        for name, level, columns, estimate in of_people(study, aspect):
            yield study.row(HUMAN, aspect, name, level, estimate, **columns)
    scored, known = scored_votes(study), dict[tuple[str, str], Votes]()
    compared = votes_of(study) | scored
    for judge, aspect in product(study.spec.judges, study.spec.aspects):
        card, chosen = study.spec.judges[judge], split(aspect)[0] in study.preferences
        panel = study.systems.given(judge)
        votes: Votes = compared.get(("systems", judge, aspect), {})
        if ("systems", judge, aspect) in scored:
            pairs = judged(panel, aspect, votes)
            accuracy = comparison_accuracy(
                pairs.verdict, np.sign(pairs.ahead), pairs.source, study.weights
            )
            for statistic, one in accuracy.items():
                yield study.row(judge, aspect, statistic, POOLED, one)
        if votes and (chosen or card.engine == "recorded"):
            for name, level, columns, estimate in of_judge(panel, judge, aspect, votes):
                yield study.row(judge, aspect, name, level, estimate, **columns)
        if votes and chosen:
            known[judge, aspect] = votes
    for (judge, other), aspect in product(compared_judges(study, "systems"), study.spec.aspects):
        if (judge, aspect) in known and (other, aspect) in known:
            panel = study.systems.given(judge, other)
            both = known[judge, aspect], known[other, aspect]
            for name, estimate in of_two(panel, aspect, *both):
                yield study.row(judge, aspect, name, POOLED, estimate, judge_b=other)


def scored_votes(study: EvaluationData) -> dict[tuple[str, str, str], dict[Pair, list[float]]]:
    """Return the same of judges that score, on the pairs that people compared: see choices.py."""
    return {
        ("systems", judge, aspect): votes
        for judge, aspect in product(study.spec.judges, study.spec.aspects)
        if split(aspect)[0] in study.preferences and not study.spec.judges[judge].compares
        if (votes := votes_of_scores(study.systems.given(judge), judge, aspect))
    }


def votes_of(study: EvaluationData) -> dict[tuple[str, str, str], dict[Pair, list[float]]]:
    """Return (perturbation, judge, aspect) -> the votes of judges that compare two texts."""
    table: dict[tuple[str, str, str], dict[Pair, list[float]]]
    table = defaultdict(lambda: defaultdict(list))
    names = ("perturbation", "judge", "aspect", "target", "target_b", "value")
    columns = (study.draws[name].to_pylist() for name in names)
    for perturbation, judge, aspect, target, target_b, value in zip(*columns, strict=True):
        if target_b is not None and judge in study.spec.judges:
            vote = np.nan if value is None else value
            table[perturbation, judge, aspect][target, target_b].append(vote)
    return {cell: dict(votes) for cell, votes in sorted(table.items())}


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """The pairs of a set that a judge was asked, its verdict on each, and which text is better.

    first, second (pairs,) index the panel's texts; verdict (pairs,) as `verdicts` has it; ahead
    (pairs,): how much better the first is, NaN if unknown; `in_chain`: by the number of errors;
    `rated`: whether the quality of some text is known.
    """

    pairs: list[tuple[str, str]]
    first: Codes
    second: Codes
    source: Codes
    verdict: Floats
    ahead: Floats
    in_chain: bool
    rated: bool


def judged(panel: TargetSet, aspect: str, votes: Votes) -> JudgedPairs:
    """Return a judge's verdicts on the pairs of a panel that it was asked."""
    index = {target: number for number, target in enumerate(panel.targets)}
    pairs = sorted({(a, b) if index[a] < index[b] else (b, a) for a, b in votes})
    first, second = (np.array([index[pair[k]] for pair in pairs], np.int64) for k in (0, 1))
    steps = panel.rows["step"].to_pylist()
    in_chain = len({*steps}) > 1
    quality = mean_rating(panel.ratings(aspect))
    if in_chain:  # one error more is worse by one
        quality = -np.array(steps, dtype=np.float64)
    ahead = quality[first] - quality[second]
    if split(aspect)[0] in panel.study.preferences:
        ahead = net_votes(Pairs.of(panel, aspect, pairs).votes_on(pairs))
        in_chain = False
    verdict = verdicts(*_counts(votes, pairs))
    rated = bool(np.isfinite(ahead).any() or np.isfinite(quality).any())
    source = panel.source[first]
    return JudgedPairs(pairs, first, second, source, verdict, ahead, in_chain, rated)


def _counts(votes: Votes, pairs: list[tuple[str, str]]) -> Codes:
    """Return the votes for the first text of each pair, for the second and for neither.

    Of both orders and all draws; shape (3, pairs).
    """
    both = [
        np.append(votes.get((first, second), []), np.negative(votes.get((second, first), [])))
        for first, second in pairs
    ]
    counts = [[np.count_nonzero(given == vote) for given in both] for vote in (1, -1, 0)]
    return np.array(counts, dtype=np.int64)


def _estimates(
    panel: TargetSet, aspect: str, votes: Votes
) -> Iterator[tuple[str, AppliesTo, Estimate]]:
    """Yield (statistic, the column k if it has one, estimate) of a judge's votes on a set."""
    weights, judged_pairs = panel.study.weights, judged(panel, aspect, votes)
    pairs, source, verdict = judged_pairs.pairs, judged_pairs.source, judged_pairs.verdict
    ahead = judged_pairs.ahead
    if judged_pairs.in_chain:
        for k in np.unique(np.abs(ahead)).tolist():
            chosen = np.abs(ahead) == k
            accuracy = comparison_accuracy(
                verdict[chosen], np.sign(ahead[chosen]), source[chosen], weights
            )["accuracy_comparison"]
            yield "accuracy_comparison_by_distance", {"k": int(k)}, accuracy
    straight = np.array([_mean(votes.get(pair, [])) for pair in pairs])
    swapped = np.array([_mean(votes.get((b, a), [])) for a, b in pairs])
    source_of = dict(zip(panel.targets, panel.source.tolist(), strict=True))
    shown = [(source_of[a], vote) for (a, _), each in sorted(votes.items()) for vote in each]
    estimates = {
        "order_consistency": order_consistency(
            np.sign(straight), -np.sign(swapped), source, weights
        ),
        "first_position_rate": first_position_rate(
            np.array([vote for _, vote in shown]),
            np.array([code for code, _ in shown], dtype=np.int64),
            weights,
        ),
        "nontransitive_share": _nontransitive_share(panel, judged_pairs),
    }
    if judged_pairs.rated:
        estimates |= comparison_accuracy(verdict, np.sign(ahead), source, weights)
    for name, estimate in estimates.items():
        yield name, {}, estimate


def _mean(votes: list[float]) -> float:
    known = [vote for vote in votes if not np.isnan(vote)]
    return float(np.mean(known)) if known else float("nan")


def _nontransitive_share(panel: TargetSet, judged_pairs: JudgedPairs) -> Estimate:
    """Return the share of circles, where an item's texts are compared with each other."""
    texts: dict[str, list[str]] = defaultdict(list)
    for target, item in zip(panel.targets, panel.items, strict=True):
        texts[item].append(target)
    width = max(map(len, texts.values()), default=0)
    table = np.full((len(texts), width, width), np.nan)
    cell_of = {
        target: (row, column)
        for row, item in enumerate(sorted(texts))
        for column, target in enumerate(sorted(texts[item]))
    }
    for (first, second), vote in zip(judged_pairs.pairs, judged_pairs.verdict, strict=True):
        (row, i), (_, j) = cell_of[first], cell_of[second]
        table[row, i, j], table[row, j, i] = vote, -vote
    source = np.array([panel.study.item_order[item] for item in sorted(texts)], dtype=np.int64)
    return nontransitive_share(table, source, panel.study.weights)


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
