"""The statistics of the result tables on arrays, Series and DataFrames.

The functions convert what they are given and call `judgescope.statistics`, where the
arithmetic is. Every value comes with its n and, where one exists, a 95 % interval over
sources (jackknife-t); `note` says why a value or an interval is missing. Missing scores
and ratings are NaN. A source is what several texts were written for: texts of one
source are not independent, and without sources each text counts as its own source.
"""

import warnings
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.api import plain_signature
from judgescope.api.arguments import (
    check_choice,
    check_indexes,
    check_lengths,
    column_names,
    estimates_frame,
    label_codes,
    mean_of_raters,
    read_column,
    read_columns,
    source_deletions,
    text_codes,
)
from judgescope.api.labels import are_words, labels
from judgescope.methods.discernment import (
    SCORES,
    PerturbedPairs,
    aspect_estimates,
    combined_scores,
    with_tail_note,
)
from judgescope.methods.measures import WITHIN_SOURCE
from judgescope.statistics import discernment as discernments
from judgescope.statistics import reliability as alphas
from judgescope.statistics import signed_rank
from judgescope.statistics.accuracy import soft_pairwise_accuracy
from judgescope.statistics.alt_test import Closeness, alternative_annotator
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.comparison import difference, on_shared_sources
from judgescope.statistics.correlation import CorrelationLevel, correlations
from judgescope.statistics.permutation import (
    PERMUTATIONS,
    Permute,
    flips_of,
    permutation_tests,
    within_sources_test,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Resamples
from judgescope.statistics.within_sources import STATISTIC, within_sources

Compared = Coefficient | Literal["normal_scores"]
ComparedAt = CorrelationLevel | Literal["within_source"]


class PairedComparison(NamedTuple):
    """The difference of two judges; p: two-sided; p_greater: null that the first is not
    better.
    """

    difference: Estimate
    p: float
    p_greater: float


class AltTestResult(NamedTuple):
    """The share of raters whom the judge may replace, and how often it is as close as
    they are.
    """

    winning_rate: Estimate
    advantage: Estimate


@plain_signature
def agreement(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike | None = None,
    system: ArrayLike | None = None,
) -> pd.DataFrame:
    """Return the correlations of a judge's scores with people's ratings, at four
    levels.

    r = sum (x - mean x)(y - mean y) / sqrt(sum (x - mean x)² sum (y - mean y)²)
    (`pearson`), the same of midranks (`spearman`), and (concordant - discordant) /
    sqrt(untied pairs of x times those of y) (`kendall_b`). Level `pooled` takes all
    texts, `by_source` is the mean over sources of the value within each, `by_system`
    that of systems' means. `normal_scores` at level `within_source` decides verdicts: r
    of the normal scores of the ranks of all texts, minus the mean of their source.

    judge: (texts,); human: (texts,) or (texts, raters), whose mean is taken; source and
    system: (texts,), any labels. Returns a DataFrame indexed by statistic and level;
    values from -1 to 1. ValueError: lengths or indexes differ, a value is infinite, a
    label is missing. Words are labels: a warning says so, and the numbers are those of
    `labels`.

    Kendall 1945; van der Waerden 1952; levels as in (Kartáč et al. 2025).

    >>> judge = [1, 2, 2, 3, 1, 3, 2, 4, 4, 3, 2, 4]
    >>> human = [1, 3, 2, 3, 2, 3, 1, 4, 3, 3, 2, 5]
    >>> result = agreement(judge, human)
    >>> columns = ["value", "ci_low", "ci_high", "n"]
    >>> result.loc[[("kendall_b", "pooled")], columns].round(3)
                      value  ci_low  ci_high   n
    statistic level
    kendall_b pooled  0.781   0.471    0.919  12
    >>> result.loc[("kendall_b", "by_system"), "note"]
    'fewer than 3 systems'
    """
    check_indexes(judge, human, source, system)
    labels_instead = (
        "words have no place on a scale of numbers: these are the numbers of "
        "judgescope.labels, for which systems do not count"
    )
    if are_words(judge) and are_words(human):
        warnings.warn(labels_instead, stacklevel=2)
        return labels(judge, human, source=source).numbers
    judged = read_column(judge, "judge")
    rated = mean_of_raters(human)
    n = judged.size
    sources, systems = text_codes(source, system, n, judge=n, human=rated.size)
    weights = source_deletions(sources)
    estimates: dict[tuple[str, str], Estimate] = {}
    results = correlations(judged, rated, sources, systems, weights=weights)
    for key, result in results.items():
        estimates[key] = result.estimate
    within = within_sources(judged, rated, sources, len(weights))
    estimates[STATISTIC, WITHIN_SOURCE] = within.estimate
    return estimates_frame(estimates, ["statistic", "level"])


@plain_signature
def alpha(
    ratings: ArrayLike,
    *,
    level: alphas.Measurement = "ordinal",
    source: ArrayLike | None = None,
) -> Estimate:
    """Return Krippendorff's alpha of any number of raters, with gaps.

    alpha = 1 - D_o / D_e: the disagreement within texts over that of all ratings mixed.
    Squared distances are 1 (`nominal`), of numbers (`interval`) or of ranks
    (`ordinal`).

    ratings: (texts, raters), a judge may be one of them; source: (texts,), any labels.
    1 is full agreement, 0 chance; `n` counts texts with two ratings or more.
    ValueError: an unknown level, ratings that are not a table, lengths that differ, a
    missing label.

    Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; (Chaudhary et al.
    2024).

    >>> ratings = [[1, 1], [2, 2], [3, 2], [3, 3], [1, 2], [4, 4]] * 2
    >>> result = alpha(ratings)
    >>> round(result.value, 3), result.n
    (0.824, 12)
    >>> round(result.ci_low, 3), round(result.ci_high, 3)
    (0.577, 1.0)
    """
    check_indexes(ratings, source)
    table = read_columns(ratings, "ratings").T
    sources = label_codes(source, table.shape[1], "source")
    check_lengths(ratings=table.shape[1], source=sources.size)
    return alphas.krippendorff_alpha(
        table,
        level=level,
        domain=np.unique(table[~np.isnan(table)]).tolist(),
        source=sources,
        weights=source_deletions(sources),
    ).estimate


@plain_signature
def paired_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike | None = None,
    system: ArrayLike | None = None,
    statistic: Compared = "kendall_b",
    level: ComparedAt | None = None,
    permute: Permute = "inputs",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> PairedComparison:
    """Return how much better one judge correlates with people than another, and its
    p-values.

    p = (k + 1) / (B + 1), k of B permutations being at least as extreme: under the null
    hypothesis the judges' scores may be swapped, all of a source (`inputs`), all of a
    system (`systems`) or of any text (`both`). At levels `pooled` and `by_system` both
    judges are standardised for the test. Statistic `normal_scores`, which decides
    verdicts, has level `within_source` alone; its test swaps the judges' normal scores
    minus the mean of their source.

    first, second: (texts,); human, source, system as in `agreement`; level: `pooled`
    unless given. Only texts with both scores and a rating count. The interval is that
    of the paired deletions of sources. ValueError as in `agreement`, for no
    permutations, an unknown statistic, level or unit of permutation, and a level that
    the statistic does not have.

    Deutsch, Dror, Roth 2021, "A Statistical Analysis of Summarization Evaluation
    Metrics".

    >>> human = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    >>> result = paired_test([1, 2, 3, 4, 4] * 2, [3, 1, 2, 5, 4, 2, 3, 1, 4, 5], human)
    >>> gap = result.difference
    >>> round(gap.value, 3), gap.n, result.p < 0.05
    (0.474, 10, True)
    >>> round(gap.ci_low, 3), round(gap.ci_high, 3)
    (-0.058, 1.005)
    """
    if permutations < 1:
        raise ValueError(f"permutations must be 1 or greater, not {permutations}")
    check_choice("statistic", statistic, (*get_args(Coefficient), STATISTIC))
    within = statistic == STATISTIC
    levels = (WITHIN_SOURCE,) if within else get_args(CorrelationLevel)
    level = level or ("within_source" if within else "pooled")
    check_choice(f"level of {statistic}", level, levels)
    check_choice("permute", permute, get_args(Permute))
    check_indexes(first, second, human, source, system)
    judged_1 = read_column(first, "first")
    judged_2 = read_column(second, "second")
    rated = mean_of_raters(human)
    n = rated.size
    lengths = {"first": judged_1.size, "second": judged_2.size, "human": n}
    sources, systems = text_codes(source, system, n, **lengths)
    unit = _swapped_units(permute, sources, systems)
    unit_count = int(unit.max(initial=-1)) + 1
    flips = flips_of(np.random.default_rng(seed), unit_count, permutations)
    weights = source_deletions(sources)
    # A text counts only with both scores.
    lost = np.isnan(judged_1) | np.isnan(judged_2)
    shared_1 = np.where(lost, np.nan, judged_1)
    shared_2 = np.where(lost, np.nan, judged_2)
    if statistic == "normal_scores" or level == "within_source":
        test = within_sources_test(judged_1, judged_2, rated, sources, unit, flips)
        result_1 = within_sources(shared_1, rated, sources, len(weights))
        result_2 = within_sources(shared_2, rated, sources, len(weights))
    else:
        columns = (judged_1, judged_2, rated, sources, systems)
        tests = permutation_tests(
            *columns, flips, level=level, permute=permute, statistics=[statistic]
        )
        test = tests[statistic]
        of_texts = (rated, sources, systems, weights)
        result_1 = _correlation(shared_1, *of_texts, statistic, level)
        result_2 = _correlation(shared_2, *of_texts, statistic, level)
    if level == "by_source":
        result_1, result_2 = on_shared_sources(result_1, result_2)
    gap = difference(result_1, result_2).estimate
    return PairedComparison(gap, test.p, test.p_greater)


def _swapped_units(permute: Permute, sources: Codes, systems: Codes) -> Codes:
    """The codes of what a permutation swaps together, (texts,)."""
    if permute == "inputs":
        return sources
    if permute == "systems":
        return systems
    return np.arange(sources.size)


def _correlation(
    judged: Floats,
    rated: Floats,
    sources: Codes,
    systems: Codes,
    weights: Resamples,
    statistic: Coefficient,
    level: CorrelationLevel,
) -> Replicated:
    results = correlations(
        judged,
        rated,
        sources,
        systems,
        weights=weights,
        statistics=[statistic],
        levels=[level],
    )
    return results[statistic, level]


@plain_signature
def soft_pairwise(
    judge: ArrayLike, human: ArrayLike, *, source: ArrayLike, system: ArrayLike
) -> Estimate:
    """Return the soft pairwise accuracy: does the judge tell systems apart as surely as
    people?

    SPA = mean over pairs of systems of 1 - |p_x - p_y|, p the one-sided p-value that
    the first system of a pair is better, by flipping the signs of its differences from
    the second.

    judge, human, source, system as in `agreement`. From 0 to 1; `n` counts systems, at
    least 3. ValueError as in `agreement`.

    Thompson et al. 2024, "Improving Statistical Significance in Human Evaluation".

    >>> system, source = ["a", "b", "c"] * 4, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    >>> human = [1, 2, 4, 2, 2, 5, 1, 3, 4, 2, 1, 3]
    >>> judge = [2, 2, 3, 1, 2, 4, 2, 3, 5, 3, 1, 4]
    >>> result = soft_pairwise(judge, human, source=source, system=system)
    >>> round(result.value, 3), result.n
    (0.917, 3)
    """
    check_indexes(judge, human, source, system)
    judged = read_column(judge, "judge")
    rated = mean_of_raters(human)
    n = judged.size
    sources, systems = text_codes(source, system, n, judge=n, human=rated.size)
    return soft_pairwise_accuracy(
        judged, rated, sources, systems, weights=source_deletions(sources)
    ).estimate


@plain_signature
def alt_test(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    source: ArrayLike | None = None,
    closeness: Closeness = "rmse",
    epsilon: float = 0.1,
) -> AltTestResult:
    """Return whether the judge may replace raters: winning rate and average advantage.

    Each rater in turn is left out, and judge and rater are compared in how close they
    are to the others: by the share of them who gave the same rating (`accuracy`), or by
    minus the root mean squared difference (`rmse`). The judge wins if a t-test over
    sources rejects, after Benjamini-Yekutieli at .05, that the rater is closer on a
    share of texts that is `epsilon` greater.

    judge: (texts,); ratings: (texts, raters), at least 3 raters; source: (texts,). Both
    values from 0 to 1; `n` counts raters (winning rate) or pairs of text and rater
    (advantage). ValueError as in `agreement`.

    Calderon, Reichart, Dror 2025, "The Alternative Annotator Test".

    >>> ratings = [[1, 1, 2], [3, 3, 3], [2, 3, 2], [4, 4, 5], [5, 5, 4], [1, 2, 1]]
    >>> result = alt_test([1, 3, 2, 4, 5, 1], ratings, epsilon=0.2)
    >>> round(result.advantage.value, 3), result.advantage.n, result.winning_rate.n
    (1.0, 18, 3)
    """
    check_indexes(judge, ratings, source)
    check_choice("closeness", closeness, get_args(Closeness))
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be at least 0 and below 1, not {epsilon:g}")
    judged = read_column(judge, "judge")
    table = read_columns(ratings, "ratings").T
    sources = label_codes(source, judged.size, "source")
    check_lengths(judge=judged.size, ratings=table.shape[1], source=sources.size)
    result = alternative_annotator(
        judged,
        table,
        sources,
        weights=source_deletions(sources),
        closeness=closeness,
        epsilon=epsilon,
    )
    return AltTestResult(*result)


@plain_signature
def discernment(
    original: ArrayLike,
    perturbed: ArrayLike,
    *,
    source: ArrayLike | None = None,
    weights: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return how surely a judge scores perturbed texts lower than their originals.

    D = -log_20 p, 1 at p = .05, of a p that combines the aspects' one-sided Wilcoxon
    p_j: of 1 / sum_j 1/p_j (`D`, as published), of 1 / sum_j w_j/p_j (`D_ew`, as
    published; `D_hmp` from exact p_j), and of the p-value of that harmonic mean
    (`D_exact`, which holds its level). Zero differences are dropped, ties have
    midranks.

    original, perturbed: (pairs,) or (pairs, aspects), a DataFrame's columns naming
    aspects, scores of pairs row by row; source: (pairs,), any labels; weights: aspect
    -> weight, which sum to 1, uniform by default. Returns a DataFrame indexed by aspect
    ("": over aspects) and statistic, with `rank_biserial` (from -1 to 1), `mean_drop`
    (in points) and `p_wilcoxon` of each aspect. ValueError: shapes or aspects differ,
    weights that do not fit, a missing label.

    Wang et al. 2024, section 3.3; Wilson 2019; Kerby 2014.

    >>> result = discernment([5, 4, 5, 3, 4, 5], [3, 3, 4, 3, 2, 2])
    >>> result.loc[("", "D_exact"), "value"].round(3).item()
    1.157
    >>> result.loc[("0", "rank_biserial"), ["value", "n_tied"]].tolist()
    [1.0, 1.0]
    """
    check_indexes(original, perturbed, source)
    before, after = _paired_tables(original, perturbed)
    aspects = [str(name) for name in before]
    shares = _aspect_weights(aspects, weights)
    sources = label_codes(source, len(before), "source")
    check_lengths(original=len(before), source=sources.size)
    source_weights = source_deletions(sources)
    method = signed_rank.table_method(len(before))
    rows: dict[tuple[str, str], Estimate] = {}
    pairs = []
    tests = []
    columns = zip(aspects, before.to_numpy().T, after.to_numpy().T, strict=True)
    no_pairs = "no pair of texts has both scores"
    for name, judged, judged_perturbed in columns:
        both = ~(np.isnan(judged) | np.isnan(judged_perturbed))
        if not both.any():
            nothing = Estimate.undefined(no_pairs, n_missing=both.size)
            rows[name, "p_wilcoxon"] = nothing
            continue
        columns_of_both = (judged[both], judged_perturbed[both], sources[both])
        of_aspect = PerturbedPairs(*columns_of_both, source_weights, both.size)
        test = of_aspect.tests(method)
        pairs.append(of_aspect)
        tests.append(test)
        estimates = aspect_estimates({name: of_aspect}, {name: test}, method)
        for _, statistic, estimate in estimates:
            if statistic in ("rank_biserial", "mean_drop", "p_wilcoxon"):
                rows[name, statistic] = estimate
    if len(pairs) == len(aspects):
        combined = combined_scores(pairs, tests, shares, method)
        for statistic, result in combined.items():
            estimate = with_tail_note(statistic, result.estimate, method)
            rows["", statistic] = estimate
    else:
        for statistic in SCORES:
            rows["", statistic] = Estimate.undefined(no_pairs)
    return estimates_frame(rows, ["aspect", "statistic"])


def _aspect_weights(aspects: list[str], weights: Mapping[str, float] | None) -> Floats:
    """Return the weight of each aspect; ValueError for weights of other aspects."""
    if weights is None:
        shares = [1 / len(aspects)] * len(aspects)
    elif set(weights) == set(aspects):
        shares = [weights[name] for name in aspects]
    else:
        raise ValueError(f"weights of {sorted(weights)} for the aspects {aspects}")
    return discernments.checked_weights(shares, len(aspects))


def _paired_tables(
    original: ArrayLike, perturbed: ArrayLike
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the scores of texts and of perturbed texts, by aspect; ValueError if they
    differ.
    """
    before = pd.DataFrame(
        read_columns(original, "original"), columns=column_names(original)
    )
    after = pd.DataFrame(
        read_columns(perturbed, "perturbed"), columns=column_names(perturbed)
    )
    if before.shape != after.shape or list(before) != list(after):
        raise ValueError(
            f"original has {before.shape[0]} rows of {list(before)}, "
            f"perturbed {after.shape[0]} of {list(after)}"
        )
    return before, after
