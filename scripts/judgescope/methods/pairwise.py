"""What judges that compare two texts say: order, place, circles, and agreement with people."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats, TargetSet
from judgescope.methods.measures import mean_rating
from judgescope.statistics.order import (
    comparison_accuracy,
    first_position_rate,
    nontransitive_share,
    order_consistency,
    verdicts,
)
from judgescope.statistics.result import Estimate

Told = tuple[str, dict[str, int], Estimate]
Votes = dict[tuple[str, str], list[float]]
"""(first text shown, second) -> the votes of all draws: 1, -1, 0 or NaN."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of pairwise.csv, per judge, aspect and set of texts."""
    found = []
    for (perturbation, judge, aspect), votes in votes_of(study).items():
        panel = study.panel(perturbation).given(judge)
        name, _, degree = perturbation.partition(".")
        place = {} if name == "systems" else {"perturbation": name, "degree": degree or None}
        for statistic, where, estimate in _of_judge(study, panel, aspect, votes):
            found.append(study.row(judge, aspect, statistic, "pooled", estimate, **place, **where))
    return found


def votes_of(study: EvaluationData) -> dict[tuple[str, str, str], Votes]:
    """Return (perturbation, judge, aspect) -> the votes of judges that compare two texts."""
    table: dict[tuple[str, str, str], Votes] = defaultdict(lambda: defaultdict(list))
    names = ("perturbation", "judge", "aspect", "target", "target_b", "value")
    columns = (study.draws[name].to_pylist() for name in names)
    for perturbation, judge, aspect, target, other, value in zip(*columns, strict=True):
        if other is not None and judge in study.spec.judges:
            vote = np.nan if value is None else value
            table[perturbation, judge, aspect][target, other].append(vote)
    return {cell: dict(votes) for cell, votes in sorted(table.items())}


@dataclass(frozen=True, eq=False)
class Judged:
    """The pairs of a set that a judge was asked, its verdict on each, and which text is better.

    first, second (pairs,) index the panel's texts; verdict (pairs,) as `verdicts` has it; ahead
    (pairs,): how much better the first is, NaN where that is not known; `in_a_row`: by what was
    done to the texts.
    """

    pairs: list[tuple[str, str]]
    first: Codes
    second: Codes
    source: Codes
    verdict: Floats
    ahead: Floats
    in_a_row: bool


def judged(panel: TargetSet, aspect: str, votes: Votes) -> Judged:
    """Return a judge's verdicts on the pairs of a panel that it was asked."""
    place = {target: at for at, target in enumerate(panel.targets)}
    pairs = sorted({(a, b) if place[a] < place[b] else (b, a) for a, b in votes})
    first, second = (np.array([place[p[k]] for p in pairs], dtype=np.int64) for k in (0, 1))
    quality, in_a_row = _quality(panel, aspect)
    known = quality if quality.size else np.full(len(place), np.nan)
    ahead = known[first] - known[second]
    verdict = verdicts(*_counts(votes, pairs))
    return Judged(pairs, first, second, panel.source[first], verdict, ahead, in_a_row)


def _of_judge(study: EvaluationData, panel: TargetSet, aspect: str, votes: Votes) -> Iterator[Told]:
    """Yield what a judge's votes on a set of texts say, and where else in the table it belongs."""
    place = {target: at for at, target in enumerate(panel.targets)}
    own = judged(panel, aspect, votes)
    pairs, source, verdict = own.pairs, own.source, own.verdict
    straight, back = (
        np.array([_mean(votes.get(p, [])) for p in each])
        for each in (pairs, [(b, a) for a, b in pairs])
    )
    first, second = np.sign(straight), -np.sign(back)
    shown = [(place[one], vote) for (one, _), all_ in sorted(votes.items()) for vote in all_]
    where = np.array([panel.source[at] for at, _ in shown], dtype=np.int64)
    told = {
        "order_consistency": order_consistency(first, second, source, study.weights),
        "first_position_rate": first_position_rate(
            np.array([vote for _, vote in shown]), where, study.weights
        ),
    }
    told |= _circles(study, panel, pairs, verdict)
    if np.isfinite(_quality(panel, aspect)[0]).any():
        told |= comparison_accuracy(verdict, np.sign(own.ahead), source, study.weights)
        if own.in_a_row:
            yield from _apart(verdict, own.ahead, source, study)
    yield from ((name, {}, one) for name, one in told.items())


def _quality(panel: TargetSet, aspect: str) -> tuple[Floats, bool]:
    """Return how good each text is, by people or, of texts in a row, by what was done to it.

    One error more is worse by one; whether the texts are such a row is told beside.
    """
    steps = panel.rows["step"].to_pylist()
    if len({*steps}) > 1:
        return -np.array(steps, dtype=np.float64), True
    return mean_rating(panel.ratings(aspect)), False


def _apart(verdict: Floats, ahead: Floats, source: Codes, study: EvaluationData) -> Iterator[Told]:
    """Yield the accuracy on the pairs whose texts are k errors apart, of those that were asked.

    verdict, ahead and source (pairs,); `ahead` is how many errors fewer the first text has.
    """
    for k in np.unique(np.abs(ahead)).tolist():
        at = np.abs(ahead) == k
        found = comparison_accuracy(verdict[at], np.sign(ahead[at]), source[at], study.weights)
        yield "accuracy_comparison_apart", {"k": int(k)}, found["accuracy_comparison"]


def _mean(votes: list[float]) -> float:
    known = [vote for vote in votes if not np.isnan(vote)]
    return float(np.mean(known)) if known else float("nan")


def _counts(votes: Votes, pairs: list[tuple[str, str]]) -> Codes:
    """Return the votes for the first text of each pair, for the second and for neither.

    Of both orders and all draws; shape (3, pairs).
    """
    both = [
        np.append(votes.get((one, other), []), np.negative(votes.get((other, one), [])))
        for one, other in pairs
    ]
    counts = [[np.count_nonzero(given == vote) for given in both] for vote in (1, -1, 0)]
    return np.array(counts, dtype=np.int64)


def _circles(
    study: EvaluationData, panel: TargetSet, pairs: list[Any], verdict: Floats
) -> dict[str, Estimate]:
    """Return the share of circles, where an item's texts are compared with each other."""
    texts: dict[str, list[str]] = defaultdict(list)
    for target, item in zip(panel.targets, panel.items, strict=True):
        texts[item].append(target)
    most = max(map(len, texts.values()), default=0)
    table = np.full((len(texts), most, most), np.nan)
    at = {
        target: (row, column)
        for row, item in enumerate(sorted(texts))
        for column, target in enumerate(sorted(texts[item]))
    }
    for (one, other), vote in zip(pairs, verdict, strict=True):
        (row, i), (_, j) = at[one], at[other]
        table[row, i, j], table[row, j, i] = vote, -vote
    source = np.array([study.item_order[item] for item in sorted(texts)], dtype=np.int64)
    return {"nontransitive_share": nontransitive_share(table, source, study.weights)}


METHOD = Method(when="votes", votes=True, claims=True)
