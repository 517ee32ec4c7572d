"""What a score of few values means: the mean rating of texts with that score.

A judge's middle label may mean a bad text, which no weight of the score can say. The
mean rating of each score is the efficient choice: Chen et al. 2026, "Efficient
Inference for Noisy LLM-as-a-Judge Evaluation", arXiv 2601.05420. See docs/methods.md,
"What the systems really score".
"""

import numpy as np

from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.corrected import RatedTexts


def has_few_values(texts: RatedTexts) -> bool:
    """Whether scores are replaced: 3 to 20 different ones, at least 60 rated sources.

    Of two values the weight of the score says as much (`corrected.judge_weight`).

    >>> source = np.arange(60)
    >>> has_few_values(RatedTexts(source % 3.0, source % 5.0, source))
    True
    >>> has_few_values(RatedTexts(source % 2.0, source % 5.0, source))
    False
    """
    values = np.unique(texts.judged[np.isfinite(texts.judged)])
    rated = np.unique(texts.both.source).size
    # Rated sources from which on scores are replaced: at 40 the interval held the truth
    # in .90 of studies.
    fewest_rated = 60
    # A judge with more different scores gives numbers, which keep their places.
    most_values = 20
    return 2 < values.size <= most_values and rated >= fewest_rated


def joined_values(judged: Floats, source: Codes) -> list[list[float]]:
    """The groups of score values, ascending: each has at least 5 sources.

    judged, source (texts,), nothing missing. The group with the fewest sources (of
    several the lowest) is joined with the one whose nearest value is nearer, until all
    have enough or one is left.

    >>> judged = np.array([1.0] * 5 + [2.0] * 2 + [4.0] * 5)
    >>> joined_values(judged, np.arange(12))
    [[1.0, 2.0], [4.0]]
    """
    groups = [[float(value)] for value in np.unique(judged)]
    members = []
    for value in np.unique(judged):
        members.append(set(source[judged == value].tolist()))
    # A value with fewer rated sources is joined with the nearest one.
    fewest_of_value = 5
    while len(groups) > 1:
        sizes = [len(each) for each in members]
        small = int(np.argmin(sizes))
        if sizes[small] >= fewest_of_value:
            break
        below = above = np.inf
        if small > 0:
            below = groups[small][0] - groups[small - 1][-1]
        if small + 1 < len(groups):
            above = groups[small + 1][0] - groups[small][-1]
        first = small - 1 if below <= above else small
        groups[first] += groups.pop(first + 1)
        members[first] |= members.pop(first + 1)
    return groups


def recalibrated(texts: RatedTexts) -> RatedTexts:
    """g(f) = mean y of rated texts of other sources with that f, in place of f.

    Values with fewer than 5 rated sources are joined with the nearest; a value that no
    rated text has counts as the nearest that one has. The same texts where
    `has_few_values` is false.

    >>> source = np.arange(90)
    >>> judged = source % 3.0
    >>> rated = np.where(judged == 1, 0.0, 4.0)  # the middle label is the bad one
    >>> rated[60:] = np.nan
    >>> recalibrated(RatedTexts(judged, rated, source)).judged[[60, 61, 62]].tolist()
    [4.0, 0.0, 4.0]
    """
    if not has_few_values(texts):
        return texts
    both = texts.both
    groups = joined_values(both.judged, both.source)
    values = np.concatenate(groups)
    group_of_value = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    scored = np.isfinite(texts.judged)
    gaps = np.abs(texts.judged[scored][:, None] - values)
    group = np.full(texts.judged.size, -1, np.int64)
    group[scored] = group_of_value[np.argmin(gaps, axis=1)]
    kept = scored & np.isfinite(texts.rated)
    n_sources = int(texts.source.max(initial=-1)) + 1
    cell = group[kept] * n_sources + texts.source[kept]
    shape = len(groups), n_sources
    size = np.prod(shape)
    sums = np.bincount(cell, weights=texts.rated[kept], minlength=size).reshape(shape)
    counts = np.bincount(cell, minlength=size).reshape(shape)
    of_others = sums.sum(axis=1)[:, None] - sums
    n_others = counts.sum(axis=1)[:, None] - counts
    means = of_others / np.maximum(n_others, 1)
    replaced = np.full(texts.judged.size, np.nan)
    replaced[scored] = means[group[scored], texts.source[scored]]
    return texts._replace(judged=replaced)
