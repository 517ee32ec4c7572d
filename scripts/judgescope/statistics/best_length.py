"""Best length: does agreement remain when any function of length is taken out?

A judge that likes texts of a middling length beats both "longer" and "shorter". Where
people like that length as well, it agrees with them and reads nothing. Beating an
estimated curve would not do: a judge that is the true curve has no error of estimation.
So length is taken out of both sides:

    e_x = x - ĝ_x(l),   e_y = y - ĝ_y(l),   R²_l = 1 - Σ e_x² / Σ (x - x̄)²

x and y are normal scores, ĝ a natural cubic spline of the normal score of length,
fitted without the source's fold. The null: e_x and e_y are not correlated within
sources. A judge whose R²_l reaches FUNCTION_OF_LENGTH is a function of length.
See docs/methods.md, "Rules of the verdicts".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.coefficients import ratio
from judgescope.statistics.declared import ValueRange, correlation, declare, percent
from judgescope.statistics.intervals import CORRELATION
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.within_sources import normal_scores

DECLARED: Final = declare(
    "length",
    without_length=correlation(
        "Correlation without length",
        "the deciding number of what a curve of the texts' length leaves of judge and "
        "people",
        ties="midranks",
    ),
    length_r2=percent(
        "Explained by length",
        "share of the variance of the judge's scores that a curve of the texts' "
        "length, fitted on other sources, predicts",
        range=ValueRange.UP_TO_1,
    ),
)
FUNCTION_OF_LENGTH: Final = 0.8
"""From this R²_l on, the judge's scores are a function of the texts' length."""
EQUALLY_LONG: Final = "all texts are equally long"
FEW_TEXTS_FOR_A_CURVE: Final = "fewer than 30 texts for a curve of length"


@dataclass(frozen=True)
class Spline:
    """The curve of length, and how it is fitted."""

    knots: int = 8
    few_knots: int = 4
    few_texts: int = 80
    """Fewer texts have `few_knots`."""
    many_knots: int = 16
    many_texts: int = 400
    """So many texts, or more, have `many_knots`: what 8 knots miss of a preference with
    a kink (minus the distance from the best length) is common to judge and people, a
    correlation of .01, which a large table takes for agreement."""
    fewest_texts: int = 30
    """With fewer, no curve is fitted."""
    outer_quantile: float = 0.03
    """The first knot's quantile of length, and the distance of the last one from 1."""
    folds: int = 20
    """Sources are left out in so many parts, or each alone if they are fewer."""
    in_parts: int = 20_000
    """More texts are fitted from sums of each fold: the same least squares, in one
    pass instead of one for each fold. What is left differs by rounding, up to 3e-12 of
    a standard deviation."""


SPLINE: Final = Spline()


@dataclass(frozen=True, eq=False)
class LengthRemoved:
    """What length leaves of a judge and of people; (cases,) each.

    `judge_r2`, `people_r2`: the shares that length predicts, negative where the curve
    is worse than the mean.
    """

    judge: Floats
    people: Floats
    judge_r2: float
    people_r2: float

    @property
    def is_length(self) -> bool:
        """Whether the judge's scores are a function of length."""
        return self.judge_r2 >= FUNCTION_OF_LENGTH

    @property
    def quality_is_length(self) -> bool:
        """Whether people's ratings are one, too."""
        return self.people_r2 >= FUNCTION_OF_LENGTH


def knots_of(values: Floats) -> Floats:
    """Knots at equal quantiles of values (texts,), equal ones once.

    >>> knots_of(np.arange(101.0)).round(1)
    array([ 3. , 16.4, 29.9, 43.3, 56.7, 70.1, 83.6, 97. ])
    """
    number = SPLINE.knots
    if values.size < SPLINE.few_texts:
        number = SPLINE.few_knots
    elif values.size >= SPLINE.many_texts:
        number = SPLINE.many_knots
    outer = SPLINE.outer_quantile
    knots = np.quantile(values, np.linspace(outer, 1 - outer, number))
    return np.unique(np.round(knots, 12))


def natural_spline(values: Floats, knots: Floats) -> Floats:
    """The basis of a natural cubic spline without its constant: (n,) -> (n, k - 1).

    Linear beyond the outer knots: l, and d_j(l) - d_{k-1}(l) with d_j(l) = ((l - t_j)³₊
    - (l - t_k)³₊) / (t_k - t_j). Hastie, Tibshirani, Friedman 2009, equation 5.4. Of
    one knot or two, a line.

    >>> natural_spline(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0])).ravel()
    array([0., 1., 2.])
    """
    columns = [values]
    if knots.size > 2:
        beyond = np.maximum(values - knots[-1], 0.0) ** 3
        last = _cubic(values, knots, knots.size - 2, beyond)
        for number in range(knots.size - 2):
            columns.append(_cubic(values, knots, number, beyond) - last)
    return np.stack(columns, axis=1)


def _cubic(values: Floats, knots: Floats, number: int, beyond: Floats) -> Floats:
    above = np.maximum(values - knots[number], 0.0) ** 3
    return np.asarray((above - beyond) / (knots[-1] - knots[number]))


def folds_of(source: Codes, *values: Floats) -> Codes:
    """The fold of each case, (cases,): sources dealt out in the order of their means.

    source, values (cases,). Sorted by the source's mean of the first of `values`, ties
    by the next, so that the order of sources in a file changes nothing.

    >>> folds_of(np.array([0, 0, 1, 2]), np.array([5.0, 5.0, 9.0, 1.0])).tolist()
    [1, 1, 2, 0]
    """
    codes = np.unique(source, return_inverse=True)[1]
    counts = np.bincount(codes)
    means = []
    for each in values:
        means.append(np.bincount(codes, weights=each) / counts)
    order = np.lexsort(means[::-1])
    folds = np.empty(counts.size, dtype=np.int64)
    folds[order] = np.arange(counts.size) % min(SPLINE.folds, counts.size)
    return folds[codes]


def _left(values: Floats, design: Floats, fold: Codes) -> Floats:
    """Values minus the fit of the other folds; values (n,), design (n, columns)."""
    residual = np.empty_like(values)
    for number in np.unique(fold):
        mine = fold == number
        fitted, *_ = np.linalg.lstsq(design[~mine], values[~mine], rcond=None)
        residual[mine] = values[mine] - design[mine] @ fitted
    return residual


def _left_of_parts(
    values: Floats, design_of: Callable[[Flags], Floats], fold: Codes
) -> Floats:
    """Values minus the fits of the other folds, from sums of each fold.

    values (n, sides); design_of(texts) is the design of some texts, (texts, columns).
    The sums are of orthogonal columns, since sums of products of cubes would lose half
    of the digits. As in `_left`, columns that say the same count once.
    """
    numbers = np.unique(fold)
    designs = [design_of(fold == number) for number in numbers]
    parts = [np.linalg.qr(design, mode="r") for design in designs]
    _, sizes, directions = np.linalg.svd(np.concatenate(parts), full_matrices=False)
    kept = sizes > np.finfo(np.float64).eps * fold.size * sizes[0]
    orthogonal = directions[kept].T / sizes[kept]
    products = []
    moments = []
    for part, number in enumerate(numbers):
        designs[part] = designs[part] @ orthogonal
        products.append(designs[part].T @ designs[part])
        moments.append(designs[part].T @ values[fold == number])
    all_products = np.sum(products, axis=0)
    all_moments = np.sum(moments, axis=0)
    residual = np.empty_like(values)
    for part, number in enumerate(numbers):
        others = all_products - products[part]
        fitted, *_ = np.linalg.lstsq(others, all_moments - moments[part], rcond=None)
        mine = fold == number
        residual[mine] = values[mine] - designs[part] @ fitted
    return residual


def _share_explained(values: Floats, residual: Floats, middle: float) -> float:
    size = float(np.sum((values - middle) ** 2))
    if size:
        return 1 - float(np.sum(residual**2)) / size
    return 0.0


def without_length(
    x: Floats, y: Floats, lengths: Floats, source: Codes
) -> LengthRemoved | str:
    """What length leaves of x and y, or why there is no curve.

    x, y, lengths, source (texts,), nothing missing; x and y as they shall be correlated
    (normal scores, or codes of two labels). See docs/methods.md, "Rules of the
    verdicts".

    >>> lengths = np.arange(40.0)
    >>> removed = without_length(lengths, lengths, lengths, np.arange(40))
    >>> removed.judge_r2 > 0.99, removed.is_length
    (True, True)
    >>> without_length(lengths[:5], lengths[:5], lengths[:5], np.arange(5))
    'fewer than 30 texts for a curve of length'
    """
    if np.ptp(lengths) == 0:
        return EQUALLY_LONG
    if lengths.size < SPLINE.fewest_texts or np.unique(source).size < 2:
        return FEW_TEXTS_FOR_A_CURVE
    scores = normal_scores(lengths)
    knots = knots_of(scores)
    fold = folds_of(source, scores, y, x)

    def design_of(texts: Flags) -> Floats:
        basis = natural_spline(scores[texts], knots)
        return np.concatenate([np.ones((len(basis), 1)), basis], axis=1)

    return _removed(x, y, design_of, fold, centre=True)


def pairs_without_length(
    x: Floats, y: Floats, first: Floats, second: Floats, source: Codes
) -> LengthRemoved | str:
    """The same of pairs: x, y are verdicts 1, 0, -1 for the first of two texts.

    first, second: both texts' lengths; all (pairs,). The basis is that of the first
    text minus that of the second, without a constant: to swap a pair changes nothing.

    >>> verdict = np.array([1.0, -1.0])
    >>> same = np.array([5.0, 5.0])
    >>> pairs_without_length(verdict, verdict, same, same, np.array([0, 1]))
    'all texts are equally long'
    """
    every = np.concatenate([first, second])
    if np.ptp(every) == 0 or np.array_equal(first, second):
        return EQUALLY_LONG
    if x.size < SPLINE.fewest_texts or np.unique(source).size < 2:
        return FEW_TEXTS_FOR_A_CURVE
    scores = normal_scores(every)
    knots = knots_of(scores)
    near, far = np.split(scores, 2)
    sizes = np.abs(near - far)

    def design_of(pairs: Flags) -> Floats:
        return natural_spline(near[pairs], knots) - natural_spline(far[pairs], knots)

    fold = folds_of(source, sizes, x * y)
    return _removed(x, y, design_of, fold, centre=False)


def _removed(
    x: Floats,
    y: Floats,
    design_of: Callable[[Flags], Floats],
    fold: Codes,
    *,
    centre: bool,
) -> LengthRemoved:
    if x.size > SPLINE.in_parts:
        both = _left_of_parts(np.stack([x, y], axis=1), design_of, fold)
        judge, people = np.ascontiguousarray(both.T)
    else:
        design = design_of(np.ones(x.size, dtype=bool))
        judge = _left(x, design, fold)
        people = _left(y, design, fold)
    middle_x = 0.0
    if centre:
        middle_x = float(x.mean())
    middle_y = 0.0
    if centre:
        middle_y = float(y.mean())
    return LengthRemoved(
        judge,
        people,
        _share_explained(x, judge, middle_x),
        _share_explained(y, people, middle_y),
    )


def _sums_by_source(
    judge: Floats, people: Floats, source: Codes, n_sources: int
) -> dict[str, Floats]:
    """The sums of each source: of both sides, their squares and their product."""
    columns = {
        "ab": judge * people,
        "aa": judge**2,
        "bb": people**2,
        "a": judge,
        "b": people,
    }
    sums: dict[str, Floats] = {}
    for name, values in columns.items():
        by_source = np.bincount(source, weights=values, minlength=n_sources)
        sums[name] = by_source.astype(np.float64)
    return sums


def correlation_of_rest(
    rest: LengthRemoved,
    source: Codes,
    n_sources: int,
    *,
    within: bool,
    centre: bool = True,
    differing: Flags | None = None,
) -> Replicated:
    """r of what length leaves, and r without each source.

    `within`: of deviations from each source's mean, else from the mean of all (pairs:
    from 0, `centre` False). source (cases,); differing (n_sources,): sources with two
    different ratings, for the degrees of freedom. What is left stays as it is when a
    source is deleted.

    >>> rest = LengthRemoved(np.array([1.0, -1.0]), np.array([2.0, -2.0]), 0.0, 0.0)
    >>> result = correlation_of_rest(rest, np.array([0, 0]), 1, within=True)
    >>> round(result.estimate.value, 6)
    1.0
    """
    judge = rest.judge
    people = rest.people
    sizes = np.bincount(source, minlength=n_sources).astype(np.float64)
    sums = _sums_by_source(judge, people, source, n_sources)
    if within:
        n = np.maximum(sizes, 1)
        kept = [
            _leave_one_out(sums["ab"] - sums["a"] * sums["b"] / n),
            _leave_one_out(sums["aa"] - sums["a"] ** 2 / n),
            _leave_one_out(sums["bb"] - sums["b"] ** 2 / n),
        ]
    else:
        total = {name: _leave_one_out(values) for name, values in sums.items()}
        # Without a constant nothing is subtracted: as of infinitely many cases.
        cases = _leave_one_out(sizes) if centre else np.full(1 + n_sources, np.inf)
        n = np.maximum(cases, 1)
        kept = [
            total["ab"] - total["a"] * total["b"] / n,
            total["aa"] - total["a"] ** 2 / n,
            total["bb"] - total["b"] ** 2 / n,
        ]
    ab, aa, bb = kept
    nothing = (aa <= 1e-12 * judge.size) | (bb <= 1e-12 * judge.size)
    rows = np.where(nothing, np.nan, ratio(ab, aa, bb))
    return replicated(
        rows,
        "length explains all of the judge or of people",
        sizes=sizes,
        scale=CORRELATION,
        ends=CORRELATION.ends,
        varied=None if differing is None else int(differing.sum()),
        n=judge.size,
    )


def _leave_one_out(sums: Floats) -> Floats:
    """The total, then the total without each source: (n,) -> (1 + n,)."""
    total = sums.sum()
    return np.append(total, total - sums)
