"""Ratings of new texts from comparisons with anchors, texts that are typical of a
rating.

The method of (Hu et al. 2025); methods.md 3.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, dot, quotient
from judgescope.statistics.declared import accuracy, amount, declare, percent, scale_of
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.resampling import Replicated, with_interval
from judgescope.statistics.result import Estimate

TABLE_8 = "Hu et al. 2025, table 8"
DECLARED: Final = declare(
    errors_mean=amount(
        "Errors", "mean number of errors inserted into a text", "Hu et al. 2025"
    ),
    anchors_above_lower=percent(
        "Better than lower anchors",
        "share of anchors one rating lower that are worse than the text",
        TABLE_8,
    ),
    anchors_above_same=percent(
        "Better than its anchors",
        "share of anchors of its own rating that are worse than the text",
        TABLE_8,
    ),
    anchors_below_same=percent(
        "Worse than its anchors",
        "share of anchors of its own rating that are better than the text",
        TABLE_8,
    ),
    anchors_below_higher=percent(
        "Worse than higher anchors",
        "share of anchors one rating higher that are better than the text",
        TABLE_8,
    ),
    ratings_tied=percent(
        "Several ratings",
        "share of rated texts whose comparisons with anchors support several ratings "
        "equally",
    ),
    comparator_accuracy=accuracy(
        "Comparator",
        "share of pairs of anchors whose better text the comparator names in both "
        "orders",
        "Hu et al. 2025, table 6",
    ),
)


class Rated(NamedTuple):
    """Ratings of texts from comparisons; (texts,) each.

    `rating` counts from the lowest, -1 (unresolved) where every comparison is a tie, or
    those with all anchors of a rating have no answer. `margin` is the objective of the
    best rating minus that of the next. `tied`: several ratings are best.
    """

    rating: Codes
    margin: Floats
    tied: Flags


def anchor_costs(
    human: Floats, judged: Floats | None, classes: Sequence[float]
) -> Floats:
    """Return mean|h - r| + mean|x - r| + |mean h - mean x| for every text and rating r.

    human (raters, texts) are people's ratings h, judged (draws, texts) a judge's x of
    the same texts, None without a judge: then the first term alone. NaN: missing.
    Returns (texts, classes), NaN for a text that people or the judge did not rate. (Hu
    et al. 2025, appendix C.1)
    """

    def mean_distance(values: Floats) -> Floats:
        return np.stack(
            [mean_rating(np.abs(values - rating)) for rating in classes], axis=1
        )

    if judged is None:
        return mean_distance(human)
    apart = np.abs(mean_rating(human) - mean_rating(judged))
    return mean_distance(human) + mean_distance(judged) + apart[:, None]


def choose_anchors(
    costs: Floats, source: Codes, order: Sequence[str], per_rating: int
) -> list[list[int]]:
    """Return for each rating the texts of least cost, each text for one rating only.

    costs (texts, classes); of equal ones a text goes first whose source has no anchor
    of that rating yet, then by `order` (texts,), a stable hash. A rating may get fewer
    where texts are few. Source: methods.md 3.
    """
    costs, classes = np.round(costs, 9), costs.shape[1]
    anchors: list[list[int]] = [[] for _ in range(classes)]
    free = set(np.flatnonzero(~np.isnan(costs).any(axis=1)).tolist())
    for cost in np.unique(costs[~np.isnan(costs)]):
        for rating in range(classes):
            places = np.flatnonzero(costs[:, rating] == cost).tolist()
            equal: list[int] = [text for text in places if text in free]
            while equal and len(anchors[rating]) < per_rating:
                taken = {int(source[text]) for text in anchors[rating]}
                best = min(
                    equal, key=lambda text: (int(source[text]) in taken, order[text])
                )
                anchors[rating].append(best)
                equal.remove(best)
                free.discard(best)
    return anchors


def rating_terms(outcomes: Floats, *, end: float = 1.0) -> tuple[Floats, Floats]:
    """Return -|sum over A_r of (F(t > a) - F(t < a))| / |A_r|, and that + mean F(t >
    A_r-1) + mean F(t < A_r+1), for every text t and rating r.

    outcomes (texts, classes, anchors): 1 where the text is better than the anchor of
    that rating, -1 where it is worse, 0 for a tie, NaN where there is no such anchor or
    no answer. Beyond an end of the scale there are no anchors: that term is `end`.
    Returns two arrays (texts, classes). (Hu et al. 2025, equation of section 4.2;
    methods.md 3 for the ends)
    """
    known = np.maximum(np.count_nonzero(~np.isnan(outcomes), axis=2), 1)
    above = np.count_nonzero(outcomes == 1, axis=2) / known
    below = np.count_nonzero(outcomes == -1, axis=2) / known
    first = -np.abs(above - below)
    beyond = np.full((len(outcomes), 1), end)
    lower = np.concatenate([beyond, above[:, :-1]], axis=1)
    higher = np.concatenate([below[:, 1:], beyond], axis=1)
    return first, first + lower + higher


def estimated_ratings(outcomes: Floats, distance: Floats, *, end: float = 1.0) -> Rated:
    """Return the rating r with the largest objective of `rating_terms`.

    Of equal ones that with the smaller |first term|, then the smaller distance (texts,
    classes) of the text's number of errors from what is usual for the rating, then the
    lower rating. (Hu et al. 2025, section 4.2; methods.md 3)
    """
    first, objective = (np.round(one, 9) for one in rating_terms(outcomes, end=end))
    unresolved = ~np.any(np.abs(np.nan_to_num(outcomes)) > 0, axis=(1, 2))
    unresolved |= np.any(np.all(np.isnan(outcomes), axis=2), axis=1)
    lowest = np.broadcast_to(np.arange(objective.shape[1]), objective.shape)
    best = np.lexsort((lowest, distance, -first, -objective), axis=1)[:, 0]
    ranked = -np.sort(-objective, axis=1)
    tied = (ranked[:, 0] == ranked[:, 1]) & ~unresolved
    margin = np.where(unresolved, 0.0, ranked[:, 0] - ranked[:, 1])
    return Rated(np.where(unresolved, -1, best), margin, tied)


def comparator_accuracy(
    outcomes: Floats,
    better: Floats,
    used: Flags,
    sources: Codes | None = None,
    weights: Codes | None = None,
) -> Estimate:
    """Return sum [outcome = better] / pairs: how often a comparator names the better
    anchor.

    outcomes (pairs,) as in `rating_terms`; better (pairs,): 1 or -1, whose rating is
    higher; used (pairs,) the pairs that count. A tie is wrong, and so is a missing
    answer. sources (2, pairs): those of both anchors; a deletion of weights (sources,
    sources) takes out the pairs with an anchor of that source, which count half to each
    of two. Without both there is no interval. (Hu et al. 2025, table 6; methods.md 3
    for neighbouring ratings alone)
    """
    right, n = (outcomes[used] == better[used]).astype(np.float64), int(used.sum())
    missing, tied = (
        int(np.isnan(outcomes[used]).sum()),
        int((outcomes[used] == 0).sum()),
    )
    if not n:
        return Estimate.undefined("no pair of anchors")
    result = Estimate(float(right.mean()), n=n, n_missing=missing, n_tied=tied)
    if sources is None or weights is None:
        return result
    first, second = sources[:, used]
    times = np.where(first == second, 1, weights[:, second]) * weights[:, first]
    deleted = quotient(
        dot(times.astype(np.float64), right), times.sum(axis=1)
    )  # none may be left
    rows = np.append(right.mean(), deleted)
    sizes = np.bincount(sources[:, used].ravel(), minlength=weights.shape[1]) / 2
    return with_interval(
        Replicated(result, rows, sizes, scale_of("comparator_accuracy"))
    ).estimate


def usual_counts(counts: Codes, rating: Codes, classes: int) -> Floats:
    """Return the mean number of errors of the texts of each rating: (classes,).

    counts and rating (texts,), -1 = unresolved. A rating that no text has lies on the
    line between its neighbours, or has the nearest one's. All NaN where no text is
    rated. (Hu et al. 2025, section 4.2: how many errors a rating corresponds to)
    """
    known = [r for r in range(classes) if np.any(rating == r)]
    if not known:
        return np.full(classes, np.nan)
    means = [float(counts[rating == r].mean()) for r in known]
    return np.interp(np.arange(classes), known, means)


def balanced(
    rating: Codes, margin: Floats, order: Sequence[str], count: int, first: int = 0
) -> list[int]:
    """Return `count` texts of one source with ratings as balanced as they can be.

    One text of each rating after the other, from the rating `first` on and round, while
    there are any; the largest margin first, equal ones by `order` (texts,). rating and
    margin (texts,); texts of rating -1 are left out. Sources that begin elsewhere share
    out what cannot be even. (Hu et al. 2025, appendix C.1)
    """
    waiting = {
        r: sorted(
            np.flatnonzero(rating == r).tolist(),
            key=lambda text: (-margin[text], order[text]),
        )
        for r in np.unique(rating[rating >= 0]).tolist()
    }
    chosen: list[int] = []
    while len(chosen) < count and any(waiting.values()):
        for _, texts in sorted(
            waiting.items(), key=lambda item: (item[0] < first, item[0])
        ):
            if texts and len(chosen) < count:
                chosen.append(texts.pop(0))
    return sorted(chosen)


def most_diverse(similarity: Floats, count: int, first: int | None = None) -> list[int]:
    """Return argmax over the others of min over the chosen of 1 - s, from the medoid on
    (max-min).

    similarity s (texts, texts) in [0, 1] is symmetric; the medoid is most similar to
    all others; `first` is chosen in its place. Of equal ones the first. Returns `count`
    places, or all, in the order in which they are chosen. (Hu et al. 2025, appendix
    C.1: references; methods.md 3)
    """
    apart = 1 - np.asarray(similarity, dtype=np.float64)
    np.fill_diagonal(apart, 0)
    medoid = int(np.argmin(np.round(apart.sum(axis=1), 9)))
    chosen = [medoid if first is None else first]
    while len(chosen) < min(count, len(apart)):
        nearest = np.round(apart[:, chosen].min(axis=1), 9)
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
    return chosen
