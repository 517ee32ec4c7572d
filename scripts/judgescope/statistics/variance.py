"""Where the variance of ratings sits: texts, raters and the rest; and how far it limits
any judge's correlation with them.

Columns are persons (a two-way design: each rates many texts) or only places (one-way:
who rated a text in which place is not known). Shrout, Fleiss 1979,
"Intraclass Correlations: Uses in Assessing Rater Reliability"; Brennan 2001,
"Generalizability Theory". (docs/methods.md, "How reliable people's ratings are")
"""

from dataclasses import replace
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.declared import (
    agreement,
    amount,
    correlation,
    declare,
)
from judgescope.statistics.intervals import TOLERANCE, IntervalScale
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import (
    Replicated,
    TargetSample,
    replicated,
    whole_and_resamples,
)
from judgescope.statistics.result import REASONS, clauses
from judgescope.statistics.source_rows import Weights

SHROUT: Final = "Shrout, Fleiss 1979"
DECLARED = declare(
    "variance",
    var_text=amount(
        "Variance of texts", "variance between texts' true ratings", SHROUT
    ),
    var_rater=amount(
        "Variance of raters",
        "variance between raters' means: some are milder than others",
        SHROUT,
    ),
    var_rest=amount(
        "Remaining variance",
        "variance of one rating that neither text nor rater explains; with unknown "
        "raters also that between them",
        SHROUT,
    ),
)
DECLARED += declare(
    "rater_reliability",
    reliability_people=agreement(
        "Reliability of ratings",
        "Eρ²(k): share of the variance of people's mean of k ratings, raters' mildness "
        "left out, that is between texts",
        SHROUT,
    ),
    dependability_people=agreement(
        "Dependability of ratings",
        "Φ(k): the same with raters' mildness as error",
        SHROUT,
    ),
    ceiling_true=agreement(
        "Ceiling",
        "highest correlation with people's mean that a judge can have: √Eρ²(k), √Φ(k) "
        "where raters are unknown",
        "Spearman 1904",
    ),
    correlation_people=correlation(
        "Pearson r with people's mean",
        "correlation of the judge with people's mean rating, for comparison with the "
        "ceiling",
    ),
    correlation_true=correlation(
        "r without raters' noise",
        "correlation of the judge with people's mean, divided by the ceiling",
        "Spearman 1904",
    ),
)
ONE_RATING: Final = "no two raters share two texts: what raters add is not known"
ONE_TEXT: Final = "no source has two texts with two ratings"


class Components(NamedTuple):
    """Variance components of ratings, (rows,) each: their value and that without each
    source.

    `rater` is None where raters are unknown or the texts of one source are compared,
    which a milder rater does not change. `k` is the number of ratings of a text (its
    harmonic mean); sizes (sources,) as in `Replicated`.
    """

    text: Floats
    rater: Floats | None
    rest: Floats
    k: float
    n: int
    n_missing: int
    sizes: Floats
    persons: bool
    within: bool

    @property
    def design(self) -> str:
        """How the ratings are taken, in words."""
        raters = "raters" if self.persons else "unknown raters"
        texts = "texts within sources" if self.within else "texts"
        return f"{texts} × {raters}"

    def _estimate(self, name: str, values: Floats, why: str) -> Replicated:
        """A statistic of its values (rows,); one below 0 is 0."""
        result = replicated(
            values,
            why,
            sizes=self.sizes,
            scale=scale_of(name),
            n=self.n,
            n_missing=self.n_missing,
            method=self.design,
        )
        return not_negative(result)

    def variances(self) -> dict[str, Replicated]:
        """The components that exist: var_text, var_rater, var_rest."""
        parts = {"var_text": self.text, "var_rater": self.rater, "var_rest": self.rest}
        return {
            name: self._estimate(name, values, REASONS.no_units)
            for name, values in parts.items()
            if values is not None
        }

    def reliability(self, k: float) -> Floats:
        """σ²_t / (σ²_t + σ²_e/k) in each row, NaN where nothing varies; Φ(k) where
        raters are unknown.

        >>> ratings = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
        >>> rated = person_components(ratings, np.arange(3), None)
        >>> rated.reliability(2).tolist()  # raters differ by a constant alone
        [1.0]
        """
        return share_of(self.text, self.rest / k)

    def dependability(self, k: float) -> Floats:
        """σ²_t / (σ²_t + (σ²_r + σ²_e)/k) in each row; a negative σ²_r is 0.

        >>> ratings = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
        >>> rated = person_components(ratings, np.arange(3), None)
        >>> round(float(rated.dependability(2)[0]), 3)  # 1 / (1 + .5 / 2)
        0.8
        """
        rater = 0.0 if self.rater is None else np.maximum(self.rater, 0)
        return share_of(self.text, (rater + self.rest) / k)

    def of_people(self, k: float) -> dict[str, Replicated]:
        """Eρ²(k), Φ(k) and the ceiling of people's mean of k ratings, those that the
        design has.
        """
        shares = {}
        if self.persons:
            shares["reliability_people"] = self.reliability(k)
        if not self.within:
            shares["dependability_people"] = self.dependability(k)
        if not self.persons:  # raters' mildness is part of the rest
            shares["dependability_people"] = self.reliability(k)
        shares["ceiling_true"] = np.sqrt(np.maximum(self.reliability(k), 0))
        return {
            name: self._estimate(name, values, REASONS.no_variation)
            for name, values in shares.items()
        }


def not_negative(result: Replicated) -> Replicated:
    """A variance, or share of one; the estimate below 0 is 0, its interval of what was
    estimated.

    >>> name = "var_text"
    >>> below = replicated(np.array([-0.1]), "", sizes=[], scale=scale_of(name), n=2)
    >>> not_negative(below).estimate.value
    0.0
    """
    estimate = result.estimate
    if estimate.value is None or estimate.value >= 0:
        return result
    low, high = (
        None if end is None else max(0.0, end)
        for end in (estimate.ci_low, estimate.ci_high)
    )
    zero = replace(estimate, value=0.0, ci_low=low, ci_high=high)
    negative = "estimate below 0, set to 0"
    return result._replace(estimate=zero.with_note(negative))


def share_of(part: Floats, rest: Floats) -> Floats:
    """part / (part + rest), 0 where their sum is below 0, NaN where nothing varies.

    part, rest: any one shape.

    >>> share_of(np.array([3.0, 0.0]), np.array([1.0, 0.0])).tolist()
    [0.75, nan]
    """
    total = part + rest
    share = quotient(part, np.where(total > TOLERANCE, total, 1))
    nothing = np.where(rest > TOLERANCE, 0.0, np.nan)
    return np.where(total > TOLERANCE, share, nothing)


def person_components(
    ratings: Floats, source: Codes, weights: Weights, *, within: bool = False
) -> Components | str:
    """Two-way components: σ²_t the mean covariance of two raters, σ²_e half the
    variance of their difference, σ²_r half its squared mean minus σ²_e/n.

    Means over pairs of raters, weighted by the texts that both rated: of a complete
    table (MS_t - MS_e)/k, MS_e and (MS_r - MS_e)/T of its analysis of variance.
    ratings (raters, texts), NaN = missing; source (texts,); weights: `deletions`, or
    None. `within`: of values minus the mean of their source, without σ²_r. A reason
    where no two raters share two texts (of a source). Shrout, Fleiss 1979.

    >>> ratings = np.array([[9.0, 6, 8, 7, 10, 6], [2.0, 1, 4, 1, 5, 2]])
    >>> parts = person_components(ratings, np.arange(6), None)
    >>> [round(float(part[0]), 3) for part in (parts.text, parts.rater, parts.rest)]
    [2.0, 13.233, 0.683]
    """
    n_sources = int(source.max(initial=-1)) + 1
    n_rows = 1
    if weights is not None:
        n_rows = 1 + len(weights)
    totals = np.zeros((4, n_rows))
    sizes = np.zeros(n_sources if weights is None else weights.shape[1])
    used = np.zeros(source.size, bool)
    for first, second in combinations(ratings, 2):
        both = np.isfinite(first) & np.isfinite(second)
        both &= _in_company(both, source) if within else True
        if both.sum() < 2:
            continue
        pair = first[both], second[both]
        sample = TargetSample.select(both, source, weights)
        totals += _of_pair(*pair, sample, within=within)
        used |= both
        sizes += np.bincount(sample.source, minlength=sizes.size)
    if not used.any():
        return ONE_TEXT if within else ONE_RATING
    shared, text, rater, rest = totals
    given = np.isfinite(ratings).sum(axis=0)
    return Components(
        text=quotient(text, shared),
        rater=None if within else quotient(rater, shared),
        rest=quotient(rest, shared),
        k=_harmonic(given),
        n=int(used.sum()),
        n_missing=int((given > 0).sum() - used.sum()),
        sizes=sizes,
        persons=True,
        within=within,
    )


def _of_pair(
    first: Floats, second: Floats, sample: TargetSample, *, within: bool
) -> Floats:
    """n, n σ²_t, n σ²_r and n σ²_e of two raters in each row, 0 where a row has too few
    texts: (4, rows).
    """
    ones = np.ones(first.size)
    if within:
        a, b = (_centred(values, sample.source) for values in (first, second))
        alone = 1 / np.bincount(sample.source)[sample.source]
        products = (ones, ones - alone, a * b, (a - b) ** 2)
        n, freedom, ab, dd = sample.sums(*products)
        text = quotient(ab, freedom)
        rest = quotient(dd, 2 * freedom)
        rater = np.zeros_like(n)
    else:
        a = first - first.mean()
        b = second - second.mean()
        moved = first.mean() - second.mean()
        d = a - b
        n, a1, b1, d1, ab, dd = sample.sums(ones, a, b, d, a * b, d * d)
        freedom = n - 1
        text = quotient(ab - quotient(a1 * b1, n), freedom)
        rest = quotient(dd - quotient(d1 * d1, n), 2 * freedom)
        rater = (quotient(d1, n) + moved) ** 2 / 2 - quotient(rest, n)
    enough = freedom > 0.5
    parts = np.stack([np.ones_like(n), text, rater, rest])
    return np.asarray(np.where(enough, n * parts, 0.0))


def _in_company(chosen: Flags, source: Codes) -> Flags:
    """Which of the chosen texts have another chosen one of their source."""
    counts = np.bincount(source[chosen], minlength=int(source.max(initial=-1)) + 1)
    return np.asarray(counts[source] > 1)


def _centred(values: Floats, source: Codes) -> Floats:
    """Values minus the mean of their source."""
    counts = np.bincount(source)
    means = quotient(np.bincount(source, weights=values), counts)
    return np.asarray(values - means[source])


def _harmonic(given: Codes) -> float:
    """The harmonic mean of the texts' numbers of ratings, of those that have any."""
    counts = given[given > 0]
    if counts.size:
        return float(counts.size / np.sum(1 / counts))
    return 0.0


def place_components(
    ratings: Floats, source: Codes, weights: Weights, *, within: bool = False
) -> Components | str:
    """One-way components: σ²_t = (MS_t - MS_e)/k₀, σ²_e = MS_e, with raters' mildness
    in it.

    k₀ = (N - ΣK²/N)/(T - 1) for K ratings of each of T texts, N in all; `within` of
    each source, summed over sources. ratings (places, texts), NaN = missing; source
    (texts,). A reason where no text has two ratings, or no two texts are compared.
    Shrout, Fleiss 1979.

    >>> ratings = np.array([[1.0, 3.0], [1.0, 5.0]])
    >>> parts = place_components(ratings, np.arange(2), None)
    >>> parts.text.tolist(), parts.rest.tolist()  # MS_t 9, MS_e 1, k₀ 2
    ([4.0], [1.0])
    """
    given = np.isfinite(ratings).sum(axis=0)
    used = given > 0
    used &= _in_company(used, source) if within else True
    if not (given[used] > 1).any() or used.sum() < 2:
        return ONE_TEXT if within else ONE_RATING
    sample = TargetSample(
        source[used], whole_and_resamples(source[used], weights), int((~used).sum())
    )
    sums = _within_sums if within else _pooled_sums
    size, freedom, square, rest, within_freedom = sums(ratings[:, used], sample)
    error = np.where(within_freedom > 0.5, quotient(rest, within_freedom), np.nan)
    mean_square = np.where(freedom > 0.5, quotient(square, freedom), np.nan)
    return Components(
        text=quotient(mean_square - error, quotient(size, freedom)),
        rater=None,
        rest=error,
        k=_harmonic(given),
        n=int(used.sum()),
        n_missing=int((given > 0).sum() - used.sum()),
        sizes=np.bincount(sample.source, minlength=sample.rows.shape[1]).astype(float),
        persons=False,
        within=within,
    )


def _pooled_sums(
    ratings: Floats, sample: TargetSample
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """N - ΣK²/N, T - 1, Σ K (mean - mean of all)², Σ (x - mean)² and N - T in each
    row; ratings (places, T).
    """
    k, mean, inside = _of_texts(ratings)
    parts = (np.ones(k.size), k, k * k, k * mean, k * mean * mean, inside)
    texts, total, squares, first, second, rest = sample.sums(*parts)
    size = total - quotient(squares, total)
    square = second - quotient(first * first, total)
    return size, texts - 1, square, rest, total - texts


def _within_sums(
    ratings: Floats, sample: TargetSample
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """The same of each source, summed over sources."""
    k, mean, inside = _of_texts(ratings)
    ones = np.ones(k.size)
    total = np.bincount(sample.source, weights=k)[sample.source]
    texts = np.bincount(sample.source)[sample.source]
    first = np.bincount(sample.source, weights=k * mean)[sample.source]
    between = k * np.square(mean - first / total)
    parts = (k - k * k / total, ones - 1 / texts, between, inside, k - ones)
    size, freedom, square, rest, within_freedom = sample.sums(*parts)
    return size, freedom, square, rest, within_freedom


def _of_texts(ratings: Floats) -> tuple[Floats, Floats, Floats]:
    """K, mean minus the mean of all ratings, and Σ (x - mean)² of each text."""
    k = np.isfinite(ratings).sum(axis=0).astype(np.float64)
    centred = ratings - np.nanmean(ratings)
    mean = np.nansum(centred, axis=0) / k
    return k, mean, np.nansum(np.square(centred - mean), axis=0)


def with_people(
    scores: Floats, people: Floats, source: Codes, parts: Components, weights: Weights
) -> dict[str, Replicated]:
    """r = Σ ab / √(Σ a² Σ b²) of scores and people's mean ratings, and r / ceiling.

    a and b are deviations from the mean of all texts, or (`parts.within`) from that of
    their source. scores, people (texts,), NaN = missing. A ratio beyond 1 is 1 with a
    note: judge and people's mean agree as far as these ratings can show. The jackknife
    is of the ratio itself; value and ends are cut to -1 … 1 afterwards. Undefined where
    one is constant, and the ratio where ratings do not tell texts apart.
    Spearman 1904, "The Proof and Measurement of Association between Two Things".

    >>> ratings = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])
    >>> parts = person_components(ratings, np.arange(3), None)
    >>> people = ratings.mean(axis=0)
    >>> found = with_people(people, people, np.arange(3), parts, None)
    >>> found["correlation_true"].estimate.value
    1.0
    """
    both = np.isfinite(scores) & np.isfinite(people)
    both &= _in_company(both, source) if parts.within else True
    sample = TargetSample.select(both, source, weights)
    x = scores[both]
    y = people[both]
    r = _correlation(x, y, sample, within=parts.within)
    why = REASONS.few_pairs
    if x.size > 1:
        constant = np.ptp(x) <= TOLERANCE
        why = REASONS.constant_judge if constant else REASONS.constant_ratings
    plain = sample.result("correlation_people", r, why)
    ceiling = parts.reliability(parts.k)
    reliable = ceiling[0] > TOLERANCE
    ratio = quotient(r, np.sqrt(np.where(ceiling > TOLERANCE, ceiling, np.nan)))
    not_reliable = "people's ratings do not tell texts apart"
    true = replicated(
        ratio,
        not_reliable if not np.isnan(r[0]) and not reliable else why,
        sizes=np.bincount(sample.source, minlength=sample.rows.shape[1]),
        scale=IntervalScale("plain", -1.0, 1.0),
        n=x.size,
        n_missing=sample.n_missing,
    )
    if abs(ratio[0]) > 1:
        sign = "≥ 1" if ratio[0] > 0 else "≤ −1"
        cut = replace(true.estimate, value=float(np.sign(ratio[0])))
        true = true._replace(estimate=cut).with_note(
            f"{sign}: {abs(r[0]):.3g} over {ceiling[0] ** 0.5:.3g}"
        )
    how = clauses(parts.design, f"{parts.k:.3g} ratings a text")
    return {
        "correlation_people": plain.with_method(parts.design),
        "correlation_true": true.with_method(how),
    }


def _correlation(x: Floats, y: Floats, sample: TargetSample, *, within: bool) -> Floats:
    """Pearson's r of deviations from the mean, or from that of the source, in each
    row; NaN where one is constant.
    """
    if within:
        a = _centred(x, sample.source)
        b = _centred(y, sample.source)
        aa, bb, ab = sample.sums(a * a, b * b, a * b)
    else:
        a = x - x.sum() / max(1, x.size)
        b = y - y.sum() / max(1, y.size)
        n, a1, b1, aa, bb, ab = sample.sums(np.ones(x.size), a, b, a * a, b * b, a * b)
        aa = aa - quotient(a1 * a1, n)
        bb = bb - quotient(b1 * b1, n)
        ab = ab - quotient(a1 * b1, n)
    product = np.sqrt(np.maximum(aa, 0) * np.maximum(bb, 0))
    flat = product <= TOLERANCE * max(1.0, float(product.max(initial=0.0)))
    r = np.where(flat, np.nan, quotient(ab, np.where(flat, 1, product)))
    return np.asarray(np.clip(r, -1, 1))
