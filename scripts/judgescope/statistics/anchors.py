"""Ratings of new texts from comparisons with anchors, texts that are typical of a
rating.

The method of (Hu et al. 2025); docs/methods.md, "Perspectives".
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.declared import accuracy, amount, declare, percent
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, with_interval
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Deletions

DECLARED: Final = declare(
    "anchors",
    errors_mean=amount(
        "Errors", "mean number of errors inserted into a text", "Hu et al. 2025"
    ),
    anchors_above_lower=percent(
        "Better than lower anchors",
        "share of anchors one rating lower that are worse than the text",
        "Hu et al. 2025, table 8",
    ),
    anchors_above_same=percent(
        "Better than its anchors",
        "share of anchors of its own rating that are worse than the text",
        "Hu et al. 2025, table 8",
    ),
    anchors_below_same=percent(
        "Worse than its anchors",
        "share of anchors of its own rating that are better than the text",
        "Hu et al. 2025, table 8",
    ),
    anchors_below_higher=percent(
        "Worse than higher anchors",
        "share of anchors one rating higher that are better than the text",
        "Hu et al. 2025, table 8",
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


class AnchoredRatings(NamedTuple):
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
    """mean|h - r| + mean|x - r| + |mean h - mean x| for every text and rating r.

    human (raters, texts) are people's ratings h, judged (draws, texts) a judge's x of
    the same texts, None without a judge: then the first term alone. NaN: missing.
    Returns (texts, classes), NaN for a text that people or the judge did not rate. (Hu
    et al. 2025, appendix C.1)

    >>> people = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> anchor_costs(people, None, [1, 5]).tolist()
    [[1.0, 3.0], [4.0, 0.0]]
    """
    of_people = _mean_distances(human, classes)
    if judged is None:
        return of_people
    disagreement = np.abs(mean_rating(human) - mean_rating(judged))
    return of_people + _mean_distances(judged, classes) + disagreement[:, None]


def _mean_distances(values: Floats, classes: Sequence[float]) -> Floats:
    """The mean distance of a text's ratings from each class: (n, texts) -> (texts,
    classes).
    """
    distances = [mean_rating(np.abs(values - rating)) for rating in classes]
    return np.stack(distances, axis=1)


def choose_anchors(
    costs: Floats, source: Codes, order: Sequence[str], per_rating: int
) -> list[list[int]]:
    """For each rating the texts of least cost, each text for one rating only.

    costs (texts, classes); of equal ones a text goes first whose source has no anchor
    of that rating yet, then by `order` (texts,), a stable hash. A rating may get fewer
    where texts are few. Source: docs/methods.md, "Perspectives".

    >>> costs = np.array([[0.0, 4.0], [1.0, 3.0], [4.0, 0.0]])
    >>> choose_anchors(costs, np.array([0, 1, 2]), ["a", "b", "c"], per_rating=1)
    [[0], [2]]
    """
    rounded = np.round(costs, 9)
    anchors: list[list[int]] = [[] for _ in range(rounded.shape[1])]
    free = set(np.flatnonzero(~np.isnan(rounded).any(axis=1)).tolist())
    for cost in np.unique(rounded[~np.isnan(rounded)]):
        for rating, chosen in enumerate(anchors):
            texts = np.flatnonzero(rounded[:, rating] == cost).tolist()
            equal: list[int] = [text for text in texts if text in free]
            while equal and len(chosen) < per_rating:
                taken = {int(source[text]) for text in chosen}
                equal.sort(key=lambda text: (int(source[text]) in taken, order[text]))
                best = equal.pop(0)
                chosen.append(best)
                free.discard(best)
    return anchors


def rating_terms(outcomes: Floats, *, end: float = 1.0) -> tuple[Floats, Floats]:
    """-|sum over A_r of (F(t > a) - F(t < a))| / |A_r|, and that + mean F(t >
    A_r-1) + mean F(t < A_r+1), for every text t and rating r.

    outcomes (texts, classes, anchors): 1 where the text is better than the anchor of
    that rating, -1 where it is worse, 0 for a tie, NaN where there is no such anchor or
    no answer. Beyond an end of the scale there are no anchors: that term is `end`.
    Returns two arrays (texts, classes). (Hu et al. 2025, equation of section 4.2;
    docs/methods.md, "Perspectives" for the ends)

    >>> outcomes = np.array([[[1.0], [-1.0]]])  # a text between the anchors
    >>> first, objective = rating_terms(outcomes)
    >>> first.tolist(), objective.tolist()
    ([[-1.0, -1.0]], [[1.0, 1.0]])
    """
    known = np.maximum(np.count_nonzero(~np.isnan(outcomes), axis=2), 1)
    above = np.count_nonzero(outcomes == 1, axis=2) / known
    below = np.count_nonzero(outcomes == -1, axis=2) / known
    first = -np.abs(above - below)
    beyond = np.full((len(outcomes), 1), end)
    than_lower = np.concatenate([beyond, above[:, :-1]], axis=1)
    than_higher = np.concatenate([below[:, 1:], beyond], axis=1)
    return first, first + than_lower + than_higher


def estimated_ratings(
    outcomes: Floats, distance: Floats, *, end: float = 1.0
) -> AnchoredRatings:
    """The rating r with the largest objective of `rating_terms`.

    Of equal ones that with the smaller |first term|, then the smaller distance (texts,
    classes) of the text's number of errors from what is usual for the rating, then the
    lower rating. (Hu et al. 2025, section 4.2; docs/methods.md, "Perspectives")

    >>> outcomes = np.array([[[1.0], [0.0]], [[0.0], [-1.0]]])
    >>> estimated_ratings(outcomes, np.zeros((2, 2))).rating.tolist()
    [1, 0]
    """
    terms = rating_terms(outcomes, end=end)
    first = np.round(terms[0], 9)
    objective = np.round(terms[1], 9)
    all_tied = ~np.any(np.abs(np.nan_to_num(outcomes)) > 0, axis=(1, 2))
    without_answer = np.any(np.all(np.isnan(outcomes), axis=2), axis=1)
    unresolved = all_tied | without_answer
    lowest = np.broadcast_to(np.arange(objective.shape[1]), objective.shape)
    best = np.lexsort((lowest, distance, -first, -objective), axis=1)[:, 0]
    ranked = -np.sort(-objective, axis=1)
    lead = ranked[:, 0] - ranked[:, 1]
    tied = (lead == 0) & ~unresolved
    margin = np.where(unresolved, 0.0, lead)
    return AnchoredRatings(np.where(unresolved, -1, best), margin, tied)


def comparator_accuracy(
    outcomes: Floats,
    better: Floats,
    used: Flags,
    sources: Codes | None = None,
    weights: Deletions | None = None,
) -> Estimate:
    """sum [outcome = better] / pairs: how often a comparator names the better
    anchor.

    outcomes (pairs,) as in `rating_terms`; better (pairs,): 1 or -1, whose rating is
    higher; used (pairs,) the pairs that count. A tie is wrong, and so is a missing
    answer. sources (2, pairs): those of both anchors; a deletion of weights (sources,
    sources) takes out the pairs with an anchor of that source, which count half to each
    of two. Without both there is no interval. (Hu et al. 2025, table 6;
    docs/methods.md, "Perspectives" for neighbouring ratings alone)

    >>> outcomes = np.array([1.0, -1.0, 0.0])
    >>> better = np.array([1.0, 1.0, 1.0])
    >>> result = comparator_accuracy(outcomes, better, np.array([True, True, True]))
    >>> round(result.value, 3), result.n_tied
    (0.333, 1)
    """
    right = (outcomes[used] == better[used]).astype(np.float64)
    n = int(used.sum())
    missing = int(np.isnan(outcomes[used]).sum())
    tied = int((outcomes[used] == 0).sum())
    if not n:
        return Estimate.undefined("no pair of anchors")
    result = Estimate(float(right.mean()), n=n, n_missing=missing, n_tied=tied)
    if sources is None or weights is None:
        return result
    first, second = sources[:, used]
    n_sources = len(weights)
    other = second[first != second]
    of_source = np.concatenate([first, other])
    hits = np.concatenate([right, right[first != second]])
    lost_hits = np.bincount(of_source, weights=hits, minlength=n_sources)
    lost_pairs = np.bincount(of_source, minlength=n_sources)
    # None may be left.
    deleted = quotient(right.sum() - lost_hits, n - lost_pairs)
    rows = np.append(right.mean(), deleted)
    sizes = np.bincount(sources[:, used].ravel(), minlength=n_sources) / 2
    return with_interval(
        Replicated(result, rows, sizes, scale_of("comparator_accuracy"))
    ).estimate


def usual_counts(counts: Codes, rating: Codes, classes: int) -> Floats:
    """The mean number of errors of the texts of each rating: (classes,).

    counts and rating (texts,), -1 = unresolved. A rating that no text has lies on the
    line between its neighbours, or has the nearest one's. All NaN where no text is
    rated. (Hu et al. 2025, section 4.2: how many errors a rating corresponds to)

    >>> usual_counts(np.array([4, 2, 0]), np.array([0, 0, 2]), classes=3).tolist()
    [3.0, 1.5, 0.0]
    """
    known = []
    for r in range(classes):
        if np.any(rating == r):
            known.append(r)
    if not known:
        return np.full(classes, np.nan)
    means = [float(counts[rating == r].mean()) for r in known]
    return np.interp(np.arange(classes), known, means)


def balanced(
    rating: Codes, margin: Floats, order: Sequence[str], count: int, first: int = 0
) -> list[int]:
    """`count` texts of one source with ratings as balanced as they can be.

    One text of each rating after the other, from the rating `first` on and round, while
    there are any; the largest margin first, equal ones by `order` (texts,). rating and
    margin (texts,); texts of rating -1 are left out. Sources that begin elsewhere share
    out what cannot be even. (Hu et al. 2025, appendix C.1)

    >>> margin = np.array([0.1, 0.3, 0.2])
    >>> balanced(np.array([0, 0, 1]), margin, ["a", "b", "c"], count=2)
    [1, 2]
    """
    waiting: dict[int, list[int]] = {}
    for value in np.unique(rating[rating >= 0]).tolist():
        texts = np.flatnonzero(rating == value).tolist()
        texts.sort(key=lambda text: (-margin[text], order[text]))
        waiting[value] = texts
    turns = sorted(waiting, key=lambda value: (value < first, value))
    chosen: list[int] = []
    while len(chosen) < count and any(waiting.values()):
        for value in turns:
            if waiting[value] and len(chosen) < count:
                chosen.append(waiting[value].pop(0))
    return sorted(chosen)


def most_diverse(similarity: Floats, count: int, first: int | None = None) -> list[int]:
    """argmax over the others of min over the chosen of 1 - s, from the medoid on.

    similarity s (texts, texts) in [0, 1] is symmetric; the medoid is most similar to
    all others; `first` is chosen in its place. Of equal ones the first. Returns the
    numbers of `count` texts, or of all, in the order in which they are chosen
    (max-min). (Hu et al. 2025, appendix C.1: references; docs/methods.md,
    "Perspectives")

    >>> similarity = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> most_diverse(similarity, 2)
    [1, 2]
    """
    distance = 1 - np.asarray(similarity, dtype=np.float64)
    np.fill_diagonal(distance, 0)
    medoid = int(np.argmin(np.round(distance.sum(axis=1), 9)))
    chosen = [medoid if first is None else first]
    while len(chosen) < min(count, len(distance)):
        nearest = np.round(distance[:, chosen].min(axis=1), 9)
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
    return chosen
