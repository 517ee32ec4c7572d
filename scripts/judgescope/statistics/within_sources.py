"""Agreement within sources: does a judge order the texts of one source as people do?

r = Σ a b / √(Σ a² Σ b²) over all texts that count: those with a score and a rating
whose source has at least two such texts. a and b are normal scores of the judge's
scores and of people's ratings, minus the mean of the source's texts. The normal score
of a text is Φ⁻¹(k / (n + 1)), where k is its midrank among the n texts that count.

Over the pairs of texts of one source, Σ Δa Δb = k_s Σ a b. So r is the correlation of
the judge's difference with people's difference over all pairs of texts of a source: the
pairwise-difference Pearson correlation of normal scores (DiIanni, Deutsch 2025), where
every source has the same number of texts. With unequal numbers r counts every text
once; `pdp_pairs` counts every pair once, as published.

No source is left out. A source whose texts people rate alike adds to Σ a², never to
Σ a b: a judge that invents differences there pays for it.

Normal scores: van der Waerden 1952. Deviations from the source's mean: the
repeated-measures correlation of Bland and Altman 1995. See docs/methods.md,
"Agreement".
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, blocks, dot
from judgescope.statistics.coefficients import midranks, ratio
from judgescope.statistics.correlation import shared, why_undefined
from judgescope.statistics.declared import correlation, declare
from judgescope.statistics.intervals import CORRELATION
from judgescope.statistics.resampling import (
    Replicated,
    replicated,
    whole_and_resamples,
)
from judgescope.statistics.source_rows import Resamples

STATISTIC: Final = "normal_scores"
DECLARED: Final = declare(
    "within_sources",
    normal_scores=correlation(
        "Pairwise correlation",
        "judge's difference with people's difference over the pairs of texts of a "
        "source, normal scores of all texts, every text counted once",
        "DiIanni, Deutsch 2025; van der Waerden 1952",
        ties="midranks",
    ),
    pdp_pairs=correlation(
        "Pairwise correlation, pairs weighed",
        "the same with every pair of texts counted once, so that a source weighs by "
        "its pairs",
        "DiIanni, Deutsch 2025; van der Waerden 1952",
        ties="midranks",
    ),
    beyond_systems=correlation(
        "Pairwise correlation beyond systems",
        "the same of normal scores minus the effects of source and system: agreement "
        "among texts of one system",
        "this project",
        ties="midranks",
    ),
    partial_by_system_pearson=correlation(
        "Partial r by system",
        "Pearson r of values minus the means of their systems, over all texts",
        "Pagnoni et al. 2021",
    ),
    partial_by_system_spearman=correlation(
        "Partial ρ by system",
        "Spearman ρ of values minus the means of their systems, over all texts",
        "Pagnoni et al. 2021",
        ties="midranks",
    ),
)
ROUND_OFF: Final = 1e-12
"""A sum of squares below this share of its whole is rounding: nothing varies."""
ALONE: Final = "no source has two texts with a score and a rating"


def normal_scores(values: Floats) -> Floats:
    """Φ⁻¹(midrank / (n + 1)) of each of n values, in their shape; NaN has no rank.

    >>> normal_scores(np.array([3.0, 1.0, 3.0])).round(3) + 0.0
    array([ 0.319, -0.674,  0.319])
    """
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    n = np.count_nonzero(~np.isnan(values))
    return np.asarray(ndtri(midranks(values) / (n + 1)))


def varies(values: Floats, source: Codes, n_sources: int) -> Flags:
    """Which sources have two different values: values, source (texts,) ->
    (n_sources,).

    >>> varies(np.array([1.0, 2.0, 3.0, 3.0]), np.array([0, 0, 1, 1]), 2)
    array([ True, False])
    """
    low = np.full(n_sources, np.inf)
    high = np.full(n_sources, -np.inf)
    given = ~np.isnan(values)
    np.minimum.at(low, source[given], values[given])
    np.maximum.at(high, source[given], values[given])
    return np.asarray(high > low)


def texts_that_count(
    x: Floats, y: Floats, source: Codes, n_sources: int
) -> tuple[Flags, Flags]:
    """Texts with both values, and those of them whose source has two such texts.

    x, y, source (texts,), NaN = missing; (texts,) each. See docs/methods.md,
    "Agreement".

    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 2.0])
    >>> [flags.tolist() for flags in texts_that_count(x, y, np.array([0, 0, 1]), 2)]
    [[True, True, True], [True, True, False]]
    """
    both = ~(np.isnan(x) | np.isnan(y))
    texts = np.bincount(source[both], minlength=n_sources)
    return both, both & (texts[source] >= 2)


@dataclass(frozen=True)
class Centred:
    """Normal scores of the texts that count, minus the mean of their source.

    `judge`, `people`, `source` (n,); `counting` says which of all texts these are.
    """

    judge: Floats
    people: Floats
    source: Codes
    counting: Flags
    n_sources: int

    @property
    def texts(self) -> Floats:
        """The number of texts of each source, (n_sources,)."""
        counts = np.bincount(self.source, minlength=self.n_sources)
        return counts.astype(np.float64)

    def products(self) -> tuple[Floats, Floats, Floats]:
        """Σ a b, Σ a² and Σ b² of each source, (n_sources,) each."""
        return (
            self._sums(self.judge * self.people),
            self._sums(self.judge**2),
            self._sums(self.people**2),
        )

    def _sums(self, values: Floats) -> Floats:
        sums = np.bincount(self.source, weights=values, minlength=self.n_sources)
        return sums.astype(np.float64)


def centred(x: Floats, y: Floats, source: Codes, n_sources: int) -> Centred:
    """Normal scores of judge and people, centred by source, of the texts that count.

    x, y, source (texts,), NaN = missing; source: codes below n_sources.

    >>> x = np.array([1.0, 2.0, 9.0])
    >>> both = centred(x, x, np.array([0, 0, 1]), 2)
    >>> both.judge.round(3).tolist(), both.counting.tolist()
    ([-0.431, 0.431], [True, True, False])
    """
    _, counting = texts_that_count(x, y, source, n_sources)
    codes = source[counting]
    return Centred(
        _deviations(x[counting], codes, n_sources),
        _deviations(y[counting], codes, n_sources),
        codes,
        counting,
        n_sources,
    )


def _deviations(values: Floats, source: Codes, n_sources: int) -> Floats:
    """Normal scores minus their source's mean, (texts,); 0 where all are equal."""
    scores = normal_scores(values)
    n = np.bincount(source, minlength=n_sources)
    sums = np.bincount(source, weights=scores, minlength=n_sources)
    mean = sums / np.maximum(n, 1)
    # Without this, round-off of the mean would be taken for a difference.
    different = varies(values, source, n_sources)[source]
    return np.where(different, scores - mean[source], 0.0)


def within_sources(
    x: Floats, y: Floats, source: Codes, n_sources: int, *, by_pairs: bool = False
) -> Replicated:
    """r of a judge's scores x and people's ratings y, and r without each source.

    x, y, source (texts,), NaN = missing; source: codes below n_sources. `by_pairs`: a
    source weighs by its pairs (`pdp_pairs`), else by its texts. `n` counts the texts
    that count, `n_missing` those without both values; the note counts texts that are
    alone in their source, and sources whose texts have one rating. Ranks stay as they
    are when a source is deleted. The interval is jackknife-t with min(I, K) - 1 degrees
    of freedom, I the sources with two different ratings, K = (Σk)² / Σk² of the k texts
    of a source; none for I < 10 or K < 8. Range [-1, 1]; 0 where the judge scores the
    texts of every source alike; undefined where judge or people are constant.

    DiIanni, Deutsch 2025, "Don't Sweat the Small Stuff", equation 3; docs/methods.md,
    "Agreement".

    >>> x = np.array([1.0, 2.0, 2.0, 1.0])
    >>> y = np.array([1.0, 2.0, 3.0, 3.0])
    >>> result = within_sources(x, y, np.array([0, 0, 1, 1]), 2)
    >>> round(result.estimate.value, 3)  # the second source lowers it: 1 / √2
    0.707
    """
    both, counting = texts_that_count(x, y, source, n_sources)
    n = int(counting.sum())
    n_missing = int((~both).sum())
    rows = np.full(1 + n_sources, np.nan)
    why = why_undefined(x[counting], y[counting])
    if not n and both.sum() >= 2:
        why = ALONE
    if why:
        return replicated(
            rows, why, sizes=np.zeros(n_sources), scale=CORRELATION, n=n,
            n_missing=n_missing,
        )  # fmt: skip
    scores = centred(x, y, source, n_sources)
    weight = scores.texts if by_pairs else np.ones(n_sources)
    differing = varies(np.where(counting, y, np.nan), source, n_sources)
    result = replicated(
        _without_each(*(weight * sums for sums in scores.products())),
        "people rate the texts of every source alike",
        sizes=scores.texts,
        scale=CORRELATION,
        ends=CORRELATION.ends,
        varied=int(differing.sum()),
        n=n,
        n_missing=n_missing,
        n_tied=shared(x[counting]),
    )
    return _with_counts(result, both, counting, source, differing)


def _without_each(ab: Floats, aa: Floats, bb: Floats) -> Floats:
    """r of all sources, then without each: sums by source (n_sources,) -> (1 + n,).

    0 where the judge does not vary, NaN where people do not.
    """
    kept = []
    for sums in (ab, aa, bb):
        total = sums.sum()
        kept.append(np.append(total, total - sums))
    return of_sums(*kept)


def over_resamples(x: Floats, y: Floats, source: Codes, weights: Resamples) -> Floats:
    """r of all sources, then of every resample of sources: (1 + resamples,).

    x, y, source (texts,), NaN = missing; weights (resamples, sources), how often each
    source is drawn. Ranks stay as they are. NaN where `within_sources` is undefined.

    >>> x = np.array([1.0, 2.0, 2.0, 1.0])
    >>> y = np.array([1.0, 2.0, 3.0, 3.0])
    >>> twice = np.array([[2, 0], [0, 2]])
    >>> over_resamples(x, y, np.array([0, 0, 1, 1]), twice).round(3)
    array([0.707, 1.   ,   nan])
    """
    scores = centred(x, y, source, weights.shape[1])
    if why_undefined(x[scores.counting], y[scores.counting]):
        return np.full(1 + len(weights), np.nan)
    rows = whole_and_resamples(scores.source, weights)
    sums = rows.sums(np.stack(scores.products(), axis=1))
    return of_sums(*sums.T)


def of_sums(products: Floats, judge: Floats, people: Floats) -> Floats:
    """r of Σ a b, Σ a² and Σ b², (rows,) each; the first row is that of all sources.

    0 where the judge does not vary, NaN where people do not.

    >>> of_sums(np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([2.0, 1.0]))
    array([0.5, 0. ])
    """
    judge_constant = judge <= ROUND_OFF * max(1.0, judge[0])
    people_constant = people <= ROUND_OFF * max(1.0, people[0])
    rows = np.where(judge_constant, 0.0, ratio(products, judge, people))
    return np.where(people_constant, np.nan, rows)


def _with_counts(
    result: Replicated, both: Flags, counting: Flags, source: Codes, differing: Flags
) -> Replicated:
    """Add a note for each reason why texts or sources say nothing of an order."""
    alone = int((both & ~counting).sum())
    if alone:
        result = result.with_note(
            f"{alone} of {int(both.sum())} texts are alone in their source: left out"
        )
    sources = np.unique(source[counting]).size
    alike = sources - int(differing.sum())
    if alike:
        result = result.with_note(
            f"{alike} of {sources} sources have texts with one rating: kept, they say "
            "nothing of an order"
        )
    return result


# --- beyond systems -------------------------------------------------------------------


def beyond_systems(
    x: Floats, y: Floats, source: Codes, system: Codes, n_sources: int
) -> Replicated:
    """r of normal scores minus the effects of source and system, and without each
    source.

    x, y, source, system (texts,), NaN = missing. a and b are residuals of least squares
    on sources and systems; in a complete table a_ij - a_i. - a_.j + a.. . Systems'
    effects are estimated again without each source. Does the judge order texts of one
    system as people do? Undefined with fewer than two systems, and where nothing is
    left of the judge's scores or people's ratings. `n`, interval and range as in
    `within_sources`. See docs/methods.md, "Agreement".

    >>> source, system = np.repeat(np.arange(3), 2), np.tile([0, 1], 3)
    >>> author = np.where(system == 1, 5.0, 1.0)
    >>> people = np.array([1.0, 5.0, 2.0, 4.0, 1.0, 4.0])
    >>> beyond_systems(author, people, source, system, 3).estimate.note
    'systems and sources explain all of the judge'
    """
    both, counting = texts_that_count(x, y, source, n_sources)
    n = int(counting.sum())
    n_missing = int((~both).sum())
    rows = np.full(1 + n_sources, np.nan)
    why = ALONE
    if n:
        why = why_undefined(x[counting], y[counting])
    systems, column = np.unique(system[counting], return_inverse=True)
    if not why and systems.size < 2:
        why = "texts of one system"
    if not why:
        scores = centred(x, y, source, n_sources)
        design = _systems_of(scores, column, systems.size)
        rows, why = without_explained(
            scores.judge, scores.people, design, scores.source, n_sources
        )
    sizes = np.bincount(source[counting], minlength=n_sources)
    differing = varies(np.where(counting, y, np.nan), source, n_sources)
    return replicated(
        rows,
        why,
        sizes=sizes,
        scale=CORRELATION,
        ends=CORRELATION.ends,
        varied=int(differing.sum()),
        n=n,
        n_missing=n_missing,
    )


def _systems_of(scores: Centred, column: Codes, systems: int) -> Floats:
    """Indicators of systems minus their mean in each source, (n, systems)."""
    indicators = np.zeros((column.size, systems))
    indicators[np.arange(column.size), column] = 1.0
    for number in range(systems):
        sums = np.bincount(
            scores.source, weights=indicators[:, number], minlength=scores.n_sources
        )
        means = sums / np.maximum(scores.texts, 1)
        indicators[:, number] -= means[scores.source]
    return indicators


def without_explained(
    a: Floats, b: Floats, design: Floats, source: Codes, n_sources: int
) -> tuple[Floats, str]:
    """Correlation of what a design leaves of a and b, of all and without each source.

    a, b, source (n,), design (n, columns); shape (1 + n_sources,). Residuals of least
    squares without an intercept have the sums of products Σ ab - (Dᵀa)ᵀ (DᵀD)⁺ (Dᵀb).
    Each of the three is a sum over sources, so leaving one out subtracts its part. The
    second value says why the correlation of all is undefined, or "".

    >>> a = np.array([1.0, -1.0, 2.0, -2.0])
    >>> values, why = without_explained(a, a, np.ones((4, 1)), np.arange(4), 4)
    >>> round(float(values[0]), 6), why
    (1.0, '')
    """
    before = np.empty((3, 1 + n_sources))
    for number, values in enumerate((a * b, a * a, b * b)):
        sums = np.bincount(source, weights=values, minlength=n_sources)
        total = sums.sum()
        before[number] = np.append(total, total - sums)
    residual = before - _explained_without_each(a, b, design, source, n_sources)
    # A source without texts changes nothing.
    absent = np.setdiff1d(np.arange(n_sources), source)
    residual[:, 1 + absent] = residual[:, :1]

    products, judge, people = residual
    no_judge = judge <= ROUND_OFF * before[1, 0]
    no_people = people <= ROUND_OFF * before[2, 0]
    correlations = ratio(products, judge, people)
    values = np.where(no_judge | no_people, np.nan, correlations)
    explained_people = "systems and sources explain all of people's ratings"
    if no_people[0]:
        return values, explained_people
    explained_judge = "systems and sources explain all of the judge"
    return values, explained_judge if no_judge[0] else ""


def _explained_without_each(
    a: Floats, b: Floats, design: Floats, source: Codes, n_sources: int
) -> Floats:
    """Sums of products that a design explains, of all and without each source.

    The arguments of `without_explained`; (3, 1 + n_sources), 0 without a source that
    has no texts.
    """
    order = np.argsort(source, kind="stable")
    present, starts = np.unique(source[order], return_index=True)
    bounds = np.append(starts, order.size)
    columns = design.shape[1]
    rows = design[order]
    sides = np.stack([a, b], axis=1)[order]
    by_text = rows[:, :, None] * sides[:, None, :]
    projections = np.zeros((n_sources, columns, 2))
    projections[present] = np.add.reduceat(by_text, starts, axis=0)
    total_gram = dot(rows.T, rows)
    total_projection = projections.sum(axis=0)

    explained = np.zeros((3, 1 + n_sources))
    explained[:, 0] = _explained(total_gram[None], total_projection[None])[:, 0]
    texts_of_a_source = order.size // present.size + 1
    size = texts_of_a_source * columns * columns
    # A stack of matrices has so many numbers, one matrix a source that is left out.
    chunk = 2_000_000
    for part in blocks(present.size, size, chunk):
        first_text = bounds[part.start]
        block = rows[first_text : bounds[part.stop]]
        squares = block[:, :, None] * block[:, None, :]
        of_sources = np.add.reduceat(squares, starts[part] - first_text, axis=0)
        left_out = present[part]
        kept = total_projection - projections[left_out]
        explained[:, 1 + left_out] = _explained(total_gram - of_sources, kept)
    return explained


def _explained(gram: Floats, projection: Floats) -> Floats:
    """Sums of products that systems explain: (k, m, m) and (k, m, 2) -> (3, k).

    The rows are those of judge × people, judge and people.
    """
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    judge = projection[..., 0]
    people = projection[..., 1]
    inverse_judge = np.einsum("kij,kj->ki", inverse, judge)
    inverse_people = np.einsum("kij,kj->ki", inverse, people)
    return np.stack(
        [
            np.sum(people * inverse_judge, axis=1),
            np.sum(judge * inverse_judge, axis=1),
            np.sum(people * inverse_people, axis=1),
        ]
    )


# --- minus systems' means -------------------------------------------------------------


def partial_by_system(
    x: Floats, y: Floats, source: Codes, system: Codes, n_sources: int
) -> dict[str, Replicated]:
    """Pearson r and Spearman rho of values minus their system's mean, over all texts.

    The partial correlation of benchmarks of factuality, systems held constant: does a
    judge follow people where it cannot know it from the system? Unlike
    `beyond_systems` it keeps differences between sources. By statistic,
    `partial_by_system_pearson` and `partial_by_system_spearman`.

    x, y, source, system (texts,), NaN = missing; source: codes below n_sources. Range
    [-1, 1]; `n` counts texts with both values, `n_missing` the others. For the
    interval, systems' means and ranks stay as they are when a source is deleted.
    Undefined with one system, and where all texts of every system have one value.

    Pagnoni et al. 2021, "Understanding Factuality in Abstractive Summarization with
    FRANK", arXiv 2104.13346.

    >>> system = np.array([0, 0, 1, 1, 0, 1])
    >>> author = np.where(system == 1, 5.0, 1.0)
    >>> x = author + np.array([0.0, 1.0, 0.0, 1.0, 2.0, 0.5])
    >>> y = author - np.array([0.0, 1.0, 0.0, 1.0, 2.0, 0.5])
    >>> partial = partial_by_system(x, y, np.arange(6), system, 6)
    >>> round(partial["partial_by_system_pearson"].estimate.value, 3)
    -1.0
    """
    both = ~(np.isnan(x) | np.isnan(y))
    n_missing = int((~both).sum())
    names, column = np.unique(system[both], return_inverse=True)
    why = why_undefined(x[both], y[both])
    if not why and names.size < 2:
        why = "texts of one system"
    judge = _minus_means(x[both], column, names.size)
    people = _minus_means(y[both], column, names.size)
    if not why and not (judge.any() and people.any()):
        why = "no text differs from the mean of its system"
    results = {}
    for name, a, b in (
        ("partial_by_system_pearson", judge, people),
        ("partial_by_system_spearman", midranks(judge), midranks(people)),
    ):
        rows = np.full(1 + n_sources, np.nan)
        if not why:
            rows = _pooled_without_each(a, b, source[both], n_sources)
        results[name] = replicated(
            rows,
            why,
            sizes=np.bincount(source[both], minlength=n_sources),
            scale=CORRELATION,
            n=int(both.sum()),
            n_missing=n_missing,
            n_tied=shared(judge),
        )
    return results


def _minus_means(values: Floats, group: Codes, groups: int) -> Floats:
    """Values minus the mean of their group, (n,); round-off of the mean is 0."""
    sums = np.bincount(group, weights=values, minlength=groups)
    sizes = np.bincount(group, minlength=groups)
    means = sums / np.maximum(sizes, 1)
    rest = values - means[group]
    largest = float(np.abs(values).max(initial=0.0))
    is_round_off = np.abs(rest) <= ROUND_OFF * max(1.0, largest)
    # Rounding makes texts with one distance from their systems' means tied, too.
    return np.where(is_round_off, 0.0, np.round(rest, 10))


def _pooled_without_each(a: Floats, b: Floats, source: Codes, n_sources: int) -> Floats:
    """Pearson r of a and b, (n,), and that without each source: (1 + n_sources,)."""
    a = a - a.mean()
    b = b - b.mean()
    kept = []
    for values in (np.ones(a.size), a, b, a * b, a * a, b * b):
        sums = np.bincount(source, weights=values, minlength=n_sources)
        kept.append(np.append(sums.sum(), sums.sum() - sums))
    n, sum_a, sum_b, ab, aa, bb = kept
    n = np.maximum(n, 1)
    spread_a = aa - sum_a**2 / n
    spread_b = bb - sum_b**2 / n
    constant_a = spread_a <= ROUND_OFF * aa[0]
    constant_b = spread_b <= ROUND_OFF * bb[0]
    rows = ratio(ab - sum_a * sum_b / n, spread_a, spread_b)
    return np.where(constant_a | constant_b, np.nan, rows)
