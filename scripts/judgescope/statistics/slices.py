"""Does a judge do worse on a part of the texts? A slice beside the rest.

The number of a slice and that of the rest lose the same sources, one at a time, so that
their difference has an interval by source. See docs/methods.md, "Where a judge is
worse".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.declared import declare, p_value, signed_amount
from judgescope.statistics.intervals import PLAIN, IntervalScale, holm, jackknife
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import Estimate

DECLARED = declare(
    "slices",
    slice_gap=signed_amount(
        "{}, slice minus rest",
        "number of the slice minus that of the rest",
        keeps_kind=True,
    ),
    slice_p_holm=p_value(
        "Holm-adjusted p of the slice's {}",
        "slice and rest differ, two-sided; over all slices of a judge and aspect",
        "Holm 1979",
    ),
    slice_shrunk=signed_amount(
        "{}, shrunk",
        "number of the slice, moved to the mean of slices by the share of their spread "
        "that is noise",
        keeps_kind=True,
    ),
    slice_shown_from=signed_amount(
        "Difference shown from, {}",
        "smallest difference from the rest that some slice would show with power .8",
        keeps_kind=True,
    ),
)
LEVEL: Final = 0.05


def plain_error(result: Replicated) -> float:
    """The jackknife's standard error of a value as it is, NaN where there is none.

    >>> from judgescope.statistics.result import Estimate
    >>> rows = np.append(5.5, (55 - np.arange(1, 11)) / 9)  # the mean of 1 to 10
    >>> round(plain_error(Replicated(Estimate(5.5), rows, np.ones(10))), 3)
    0.957
    """
    if result.estimate.value is None or result.rows.size != 1 + result.sizes.size:
        return float("nan")
    known = jackknife(result.rows, result.sizes, PLAIN, None, result.varied)
    if isinstance(known, str):
        return float("nan")
    return known.error


def shrunk(values: Floats, errors: Floats) -> Floats:
    """v̄ + τ²/(τ² + se²)(v - v̄), τ² = max(0, var(v) - mean se²): the worst of many is
    too bad.

    values, errors (slices,), NaN where there is none: these have no part in v̄ and stay
    NaN; var with ddof 1. Fewer than two values stay as they are.

    >>> shrunk(np.array([0.2, 0.4]), np.array([0.1, 0.1])).round(2).tolist()
    [0.25, 0.35]
    """
    known = np.isfinite(values) & np.isfinite(errors)
    moved = np.where(known, values, np.nan)
    if known.sum() < 2:
        return moved
    noise = np.square(errors[known])
    spread = max(0.0, float(values[known].var(ddof=1) - noise.mean()))
    total = spread + noise
    kept = np.divide(spread, total, out=np.ones_like(total), where=total > 0)
    middle = values[known].mean()
    moved[known] = middle + kept * (values[known] - middle)
    return moved


def shown_from(errors: Floats, freedoms: Floats) -> float:
    """The least over slices of (t(1 - .05/2F) + t(.8)) se: what Holm's first step shows
    with power .8.

    errors, freedoms (slices,): se of slice minus rest and its degrees of freedom, NaN
    of the slices that are not tested; F are those that are. NaN without one.

    >>> round(shown_from(np.array([0.1, 0.2]), np.array([30.0, 30.0])), 3)
    0.321
    """
    from scipy.special import stdtrit  # here: asking and parsing load no scipy

    tested = np.isfinite(errors) & np.isfinite(freedoms) & (errors > 0)
    if not tested.any():
        return float("nan")
    tail = 1 - LEVEL / (2 * int(tested.sum()))
    freedom = freedoms[tested]
    power = 0.8
    factors = stdtrit(freedom, tail) + stdtrit(freedom, power)
    return float(np.min(factors * errors[tested]))


def worst_slice(gaps: Floats, p_holm: Floats) -> int | None:
    """The slice with the lowest gap of those that Holm at .05 shows to be below the
    rest.

    gaps, p_holm (slices,): slice minus rest, its p after Holm, NaN where there is none.
    None: no slice is shown to be worse.

    >>> worst_slice(np.array([-0.3, -0.1, 0.2]), np.array([0.003, 0.06, 0.003]))
    0
    >>> worst_slice(np.array([-0.3, -0.1, 0.2]), np.array([0.06, 0.06, 0.003])) is None
    True
    """
    shown = (p_holm <= LEVEL) & (gaps < 0)
    if shown.any():
        return int(np.argmin(np.where(shown, gaps, np.inf)))
    return None


def all_point_away(pooled: float, values: Sequence[float], chance: float) -> bool:
    """Whether every slice of a column lies on the other side of chance than all texts
    (Simpson's paradox).

    values (slices,), NaN of a slice without a number, which has no part. Two slices are
    the least; a value at chance lies on neither side.

    >>> all_point_away(0.2, [-0.1, -0.3], 0.0), all_point_away(0.2, [-0.1, 0.3], 0.0)
    (True, False)
    """
    side = np.sign(pooled - chance)
    known = np.array(values, dtype=np.float64)
    of_slices = np.sign(known[np.isfinite(known)] - chance)
    return bool(side != 0 and of_slices.size > 1 and (of_slices == -side).all())


def settled_label(people: Floats, verdicts: Floats) -> int | None:
    """The first label whose texts are all judged right, or all wrong; None without one.

    people, verdicts (texts,): codes, NaN = missing. The jackknife of such a recall has
    no error, so that a difference from it would be shown too easily.

    >>> settled_label(np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 1, 1]))
    1
    >>> settled_label(np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 1, 0])) is None
    True
    """
    both = np.isfinite(people) & np.isfinite(verdicts)
    right = people[both] == verdicts[both]
    for label in np.unique(people[both]):
        mine = right[people[both] == label]
        if mine.all() or not mine.any():
            return int(label)
    return None


def thirds(values: Floats) -> Codes:
    """The third in which each value lies, 0, 1 or 2; -1 where it is missing.

    values (texts,), NaN = missing. The bounds are the values' quantiles 1/3 and 2/3; a
    value on a bound lies below it, so that thirds of few values may be empty.

    >>> thirds(np.array([1.0, 2.0, 3.0, np.nan, 9.0, 8.0, 7.0])).tolist()
    [0, 0, 1, -1, 2, 2, 1]
    """
    known: Flags = np.isfinite(values)
    codes = np.full(values.size, -1)
    if known.any():
        bounds = np.quantile(values[known], [1 / 3, 2 / 3])
        codes[known] = np.searchsorted(bounds, values[known])
    return codes


class SliceNumbers(NamedTuple):
    """The number of a slice and its difference from the rest, None without.

    `why`: why there is no number, or with what the slice is compared.
    """

    inside: Replicated | None
    gap: Replicated | None
    why: str = ""

    @property
    def value(self) -> float:
        """The number, NaN without one."""
        value = None
        if self.inside:
            value = self.inside.estimate.value
        return float("nan") if value is None else value


class SliceFamily(NamedTuple):
    """The slices of a judge and aspect together; p_holm, moved (slices,): Holm's p and
    the shrunk numbers, NaN where there are none; `least` is `shown_from`.
    """

    p_holm: Floats
    moved: Floats
    least: float
    tested: int


def against_rest(
    members: Mapping[str, Flags],
    number: Callable[[Flags], Replicated],
    why_not: Callable[[Flags], str],
    scale: IntervalScale,
    *,
    by_member: bool = False,
) -> dict[str, SliceNumbers]:
    """The number of each slice of a column, and slice minus rest without the same
    source in both.

    members: slice -> which cases are in it, (cases,) each; number(cases) is the number
    of some cases, why_not(cases) why they are too few, "" if they are not; scale: that
    of the difference. The rest are the other cases of the column; with `by_member` the
    mean of the other slices' own numbers, so that what differs between slices (systems)
    is in neither side. t has the degrees of freedom of the side with fewer sources.

    >>> from judgescope.statistics.means import clustered_mean
    >>> values, source = np.array([0.0] * 5 + [1.0] * 6 + [3.0] * 11), np.arange(22)
    >>> first = source < 11
    >>> made = against_rest(
    ...     {"a": first, "b": ~first},
    ...     lambda cases: clustered_mean(
    ...         np.where(cases, values, np.nan), source, np.ones((22, 22)) - np.eye(22),
    ...         ends=None,
    ...     ),
    ...     lambda cases: "",
    ...     PLAIN,
    ... )
    >>> round(made["a"].gap.estimate.value, 3)
    -2.455
    """
    inside: dict[str, Replicated] = {}
    few: dict[str, str] = {}
    for name, mine in members.items():
        few[name] = why_not(mine)
        if not few[name]:
            inside[name] = number(mine)
    every = np.logical_or.reduce([*members.values()])
    numbers = {}
    for name, mine in members.items():
        if few[name]:
            numbers[name] = SliceNumbers(None, None, few[name])
            continue
        others = [made for key, made in inside.items() if key != name]
        rest = _mean_of(others) if by_member else number(every & ~mine)
        gap = None
        if rest is not None and rest.estimate.value is not None:
            gap = _less(inside[name], rest, scale)
        numbers[name] = SliceNumbers(inside[name], gap)
    return numbers


def family(numbers: Sequence[SliceNumbers], kinds: Sequence[str]) -> SliceFamily:
    """Holm's p over all slices of a judge and aspect, and their numbers without the
    luck of the worst; kinds: the statistic of each, as only like numbers are moved to
    one mean.

    >>> family([SliceNumbers(None, None, "too few")], ["spearman"]).tested
    0
    """
    gaps = [each.gap for each in numbers]
    p = np.array([p_two_sided(gap) if gap else np.nan for gap in gaps], np.float64)
    errors = np.array([plain_error(gap) if gap else np.nan for gap in gaps])
    freedoms = np.array([_freedom(gap) if gap else np.nan for gap in gaps])
    values = np.array([each.value for each in numbers])
    errors_inside = np.array(
        [plain_error(each.inside) if each.inside else np.nan for each in numbers]
    )
    moved = np.full(len(numbers), np.nan)
    names = np.array(kinds, dtype=object)
    for kind in dict.fromkeys(kinds):
        mine = names == kind
        moved[mine] = shrunk(values[mine], errors_inside[mine])
    tested = int(np.isfinite(p).sum())
    return SliceFamily(holm(p), moved, shown_from(errors, freedoms), tested)


def p_two_sided(gap: Replicated) -> float:
    """The two-sided p of a difference of 0 by its jackknife-t; NaN where there is no
    test, 1 where no deletion changes the difference.

    >>> rows = np.append(5.5, (55 - np.arange(1, 11)) / 9)  # the mean of 1 to 10
    >>> round(p_two_sided(Replicated(Estimate(5.5), rows, np.ones(10))), 5)
    0.00028
    """
    known = gap.jackknifed
    if isinstance(known, str):
        return float("nan")
    if known.error == 0:
        return 1.0
    p = known.p_above(0.0)
    return 2 * min(p, 1 - p)


def _freedom(gap: Replicated) -> float:
    known = gap.jackknifed
    if isinstance(known, str):
        return float("nan")
    return known.freedom


def _less(first: Replicated, second: Replicated, scale: IntervalScale) -> Replicated:
    counts = []
    for each in (first, second):
        counts.append(int(np.count_nonzero(each.sizes)))
    counts += [each.varied for each in (first, second) if each.varied is not None]
    return replicated(
        first.rows - second.rows,
        first.estimate.note,
        sizes=first.sizes + second.sizes,
        scale=scale,
        n=first.estimate.n,
        varied=min(counts),
    )


def _mean_of(numbers: Sequence[Replicated]) -> Replicated | None:
    """The mean of several numbers, without the same source in all of them."""
    known = []
    for each in numbers:
        if each.estimate.value is not None:
            known.append(each)
    if not known:
        return None
    rows = np.mean([each.rows for each in known], axis=0)
    sizes = np.sum([each.sizes for each in known], axis=0)
    n = sum(each.estimate.n for each in known)
    return Replicated(Estimate(float(rows[0]), n=n), rows, sizes)
