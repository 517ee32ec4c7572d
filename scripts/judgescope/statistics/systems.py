"""Preferences for systems: is agreement more than a taste for the authors of texts?

A judge with fixed tastes for systems, unrelated to quality, agrees with people by luck
in many studies. Its columns (systems) are permuted jointly over the sources that share
them, and the deciding number is computed again; p is the share of permutations in which
it is at least as large. A test of few permutations can never pass a correction over
many claims: it is asked only where it could. See docs/methods.md, "Rules of the
verdicts".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import factorial
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, blocks, place_within
from judgescope.statistics.coefficients import midranks
from judgescope.statistics.intervals import CORRELATION
from judgescope.statistics.nulls import BLOCK, NEAR, PERMUTATIONS
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.within_sources import normal_scores, without_explained

LEVEL: Final = 0.025
"""The one-sided level of a claim, before Holm's correction."""


@dataclass(frozen=True)
class PermutationRule:
    """When the texts of a block of systems may be permuted."""

    fewest_sources: int = 10
    """A smaller block stays as it is."""
    most_fixed: float = 0.2
    """The test is not asked if blocks that stay hold a larger share of the texts."""
    least_filled: float = 0.5
    """The test is not asked if a block has a smaller share of its cells filled."""


RULE: Final = PermutationRule()


@dataclass(frozen=True, eq=False)
class SystemBlocks:
    """Systems by blocks of sources that share them.

    `column` (texts,) is the code of a system within its block; `permuted` has the
    columns of each block that may be permuted; `block` (texts,) is a text's block;
    `why_not` says why the blocks cannot be permuted, or "".
    """

    column: Codes
    block: Codes
    permuted: tuple[Codes, ...]
    why_not: str = ""

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.column.max(initial=-1)) + 1

    @property
    def permutations(self) -> int:
        """The number of permutations that a test takes, that of the data included."""
        return attainable([block.size for block in self.permuted])


def attainable(sizes: list[int]) -> int:
    """Permutations that a test of blocks of so many systems takes: Π m_b! or 5,000.

    >>> [attainable([m]) for m in (4, 5, 7, 8)], attainable([4, 5])
    ([24, 120, 5040, 5000], 2880)
    """
    most_exact = 5040  # the permutations of 7 systems are all taken
    total = 1
    for size in sizes:
        total *= factorial(size)
    if total <= most_exact:
        return total
    return PERMUTATIONS + 1


def can_be_asked(blocks_: SystemBlocks, family: int) -> bool:
    """Whether the least p, 1 / P, could pass Holm's first step over `family` claims.

    >>> blocks_ = system_blocks(np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20))
    >>> blocks_.permutations, can_be_asked(blocks_, 1)  # 1 / 24 is above .025
    (24, False)
    """
    if blocks_.why_not or not blocks_.permuted:
        return False
    return family / blocks_.permutations <= LEVEL


def largest_family(sizes: list[int]) -> int:
    """The most claims over which the test of such blocks can pass Holm's correction.

    >>> [largest_family([m]) for m in (4, 5, 6, 7, 8)], largest_family([4, 4])
    ([0, 3, 18, 126, 125], 14)
    """
    return int(LEVEL * attainable(sizes) + NEAR)


def system_blocks(source: Codes, system: Codes) -> SystemBlocks:
    """Blocks of systems: source, system (texts,), codes from 0.

    Two sources are linked if they share two systems (one, where no source has more than
    two); connected sources are a block. A system in two blocks is two columns.

    >>> source, system = np.repeat(np.arange(20), 2), np.tile([0, 1], 20)
    >>> system[20:] += 2  # two joined sets with systems of their own
    >>> [block.tolist() for block in system_blocks(source, system).permuted]
    [[0, 1], [2, 3]]
    """
    block = _connected(source, system)
    pairs = np.stack([block, system], axis=1)
    cells, column = np.unique(pairs, axis=0, return_inverse=True)
    column = column.ravel()
    permuted = []
    fixed = 0
    sparse = False
    for number in np.unique(block):
        mine = block == number
        columns = np.flatnonzero(cells[:, 0] == number)
        sources = np.unique(source[mine]).size
        if sources < RULE.fewest_sources:
            fixed += int(mine.sum())
            continue
        sparse = sparse or filled(source[mine], system[mine]) < RULE.least_filled
        if columns.size > 1:
            permuted.append(columns)
    why_not = ""
    if sparse:
        why_not = "fewer than half of the cells (source, system) have a text"
    elif fixed > RULE.most_fixed * source.size:
        why_not = "too many texts are in small blocks of systems"
    return SystemBlocks(column, block, tuple(permuted), why_not)


def _connected(source: Codes, system: Codes) -> Codes:
    """The block of each text, (texts,)."""
    rows, row_of = np.unique(source, return_inverse=True)
    names, column = np.unique(system, return_inverse=True)
    table = np.zeros((rows.size, names.size), dtype=bool)
    table[row_of, column] = True
    # Most sources have the same systems: a pattern of systems is linked once.
    patterns, pattern_of = np.unique(table, axis=0, return_inverse=True)
    pattern_of = pattern_of.ravel()
    numbers: dict[tuple[int, ...], int] = {}
    starts = []
    ends = []
    for pattern, link in _links(patterns):
        starts.append(pattern)
        ends.append(len(patterns) + numbers.setdefault(link, len(numbers)))
    labels = components(len(patterns) + len(numbers), starts, ends)
    block_of_pattern = np.unique(labels[: len(patterns)], return_inverse=True)[1]
    return np.asarray(block_of_pattern[pattern_of[row_of]], dtype=np.int64)


def components(nodes: int, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The lowest node that each node of a graph is connected to, by edges from
    `starts` to `ends`.

    scipy.sparse.csgraph has this, but takes longer to import than an audit may take.

    >>> components(5, [3, 4], [1, 3])
    [0, 1, 2, 1, 1]
    """
    lowest = list(range(nodes))

    def root_of(node: int) -> int:
        while lowest[node] != node:
            lowest[node] = lowest[lowest[node]]
            node = lowest[node]
        return node

    for start, end in zip(starts, ends, strict=True):
        first = root_of(start)
        second = root_of(end)
        lowest[max(first, second)] = min(first, second)
    return [root_of(node) for node in range(nodes)]


def _links(patterns: Flags) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (pattern, link): every two systems of a pattern, or each where none has
    more than two; patterns (patterns, systems).
    """
    single = int(patterns.sum(axis=1).max(initial=0)) <= 2
    for number, pattern in enumerate(patterns):
        members = np.flatnonzero(pattern).tolist()
        for link in combinations(members, 1 if single else 2):
            yield number, link


def permutations_of(design: SystemBlocks, rng: np.random.Generator) -> Codes:
    """Permutations of columns within blocks, the identity first: (permutations,
    columns).

    >>> blocks_ = system_blocks(np.repeat(np.arange(10), 2), np.tile([0, 1], 10))
    >>> permutations_of(blocks_, np.random.default_rng(1)).tolist()
    [[0, 1], [1, 0]]
    """
    identity = np.arange(design.columns)
    if design.permutations != PERMUTATIONS + 1:
        every = [list(permutations(block.tolist())) for block in design.permuted]
        rows = []
        for chosen in product(*every):
            row = identity.copy()
            for block, order in zip(design.permuted, chosen, strict=True):
                row[block] = order
            rows.append(row)
        return np.stack(rows)
    rows = [identity]
    for _ in range(PERMUTATIONS):
        row = identity.copy()
        for block in design.permuted:
            row[block] = block[rng.permutation(block.size)]
        rows.append(row)
    return np.stack(rows)


def filled(source: Codes, system: Codes) -> float:
    """Share of cells (source, system) that have a text.

    >>> filled(np.array([0, 0, 1]), np.array([0, 1, 0]))
    0.75
    """
    cells = np.unique(np.stack([source, system]), axis=1).shape[1]
    rows = np.unique(source).size
    columns = np.unique(system).size
    return float(cells / max(1, rows * columns))


def p_systems(
    x: Floats,
    y: Floats,
    source: Codes,
    design: SystemBlocks,
    perms: Codes,
    *,
    pooled: bool,
) -> float:
    """p of the null that the scores belong to systems at random.

    x, y, source (texts,), NaN = missing; `perms` by `permutations_of`. The judge's
    columns move jointly over the sources of a block, a missing cell with its column.
    The statistic is the correlation of normal scores within sources (`within_sources`;
    `pooled`: Spearman's rho of all texts) of the cells that have both after the
    permutation. One-sided.

    >>> source, system = np.repeat(np.arange(10), 2), np.tile([0, 1], 10)
    >>> people = system + source / 10
    >>> blocks_ = system_blocks(source, system)
    >>> both = permutations_of(blocks_, np.random.default_rng(1))
    >>> p_systems(people, people, source, blocks_, both, pooled=False)  # one of two
    0.5
    """
    scores = midranks if pooled else normal_scores
    if not pooled:
        lonely = ~_has_company(x, y, source)
        x = np.where(lonely, np.nan, x)
        y = np.where(lonely, np.nan, y)
    rows = np.unique(source, return_inverse=True)[1]
    table_x = _table(scores(x), rows, design.column, perms.shape[1])
    table_y = _table(scores(y), rows, design.column, perms.shape[1])
    block_of_row = np.zeros(len(table_x), dtype=np.int64)
    block_of_row[rows] = design.block
    sums = np.zeros((6, len(perms)))
    for number in np.unique(block_of_row):
        mine = block_of_row == number
        used = np.unique(design.column[design.block == number])
        part_x = table_x[mine][:, used]
        part_y = table_y[mine][:, used]
        local = np.searchsorted(used, perms[:, used])
        sums += _sums_after(part_x, part_y, local, pooled=pooled)
    values = _correlations(sums)
    return float(np.mean(values >= values[0] - NEAR))


def _has_company(x: Floats, y: Floats, source: Codes) -> Flags:
    """Which texts have a source with two texts that have both values, (texts,)."""
    both = ~(np.isnan(x) | np.isnan(y))
    n_sources = int(source.max(initial=0)) + 1
    counts = np.bincount(source[both], minlength=n_sources)
    return np.asarray(counts[source] >= 2)


def p_moved(
    statistic: Callable[[Codes], Floats],
    source: Codes,
    column: Codes,
    perms: Codes,
    cells: int = 0,
) -> float:
    """p of any statistic where a judge's columns (systems) are permuted.

    source, column (texts,); `perms` as in `p_systems`, whose rule this is. statistic:
    which text's score stands in each text's place, -1 for none, (rows, texts) ->
    (rows,); an undefined value counts as large; `cells`: how many numbers it makes of a
    row. One-sided. NaN where the statistic itself is undefined.

    >>> source, column = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> people = np.array([1.0, 2.0, 1.0, 2.0])
    >>> both = np.array([[0, 1], [1, 0]])
    >>> p_moved(lambda rows: (people[rows] * people).sum(axis=1), source, column, both)
    0.5
    """
    numbers = np.arange(source.size, dtype=np.float64)
    table = _table(numbers, source, column, perms.shape[1])
    table = np.where(np.isnan(table), -1, table).astype(np.int64)
    places = np.argwhere(table >= 0)
    rows, columns, depth = places[np.argsort(table[table >= 0])].T
    values = np.concatenate(
        [
            statistic(table[rows, perms[part][:, columns], depth])
            for part in blocks(len(perms), max(source.size, cells), BLOCK)
        ]
    )
    if np.isnan(values[0]):
        return float("nan")
    return float(np.mean(~(values < values[0] - NEAR)))


def _table(values: Floats, source: Codes, column: Codes, columns: int) -> Floats:
    """(sources, columns, texts of both) of values (texts,), NaN where there is none."""
    rows = np.unique(source, return_inverse=True)[1]
    depth = place_within(rows * columns + column)
    shape = int(rows.max()) + 1, columns, int(depth.max()) + 1
    table = np.full(shape, np.nan)
    table[rows, column, depth] = values
    return table


def _sums_after(
    scores: Floats, people: Floats, perms: Codes, *, pooled: bool
) -> Floats:
    """Σab, Σa², Σb², Σa, Σb and n after each permutation of `scores`, (6, perms).

    scores, people (sources, systems, texts of both), NaN = missing. Within sources
    values are deviations from their source's mean over the cells that have both, so
    that the last three are 0.
    """
    is_missing = np.isnan(scores) | np.isnan(people)
    is_partial = is_missing.any(axis=(1, 2))
    complete = ~is_partial
    sums = _sums_of_complete(scores[complete], people[complete], perms, pooled=pooled)
    if is_partial.any():
        # Sources with a missing cell are few and slow: which cells have both depends on
        # the permutation.
        part = scores[is_partial], people[is_partial]
        sums = sums + _sums_of_partial(*part, perms, pooled=pooled)
    return sums


def _sums_of_partial(
    scores: Floats, people: Floats, perms: Codes, *, pooled: bool
) -> Floats:
    """`_sums_after` of sources of which some cells are missing."""
    sums = np.zeros((6, len(perms)))
    axes = (2, 3)
    for part in blocks(len(perms), scores.size, BLOCK):
        a = np.moveaxis(scores[:, perms[part]], 1, 0)  # (perms, sources, m, depth)
        both = ~(np.isnan(a) | np.isnan(people))
        a = np.where(both, a, 0.0)
        b = np.where(both, people, 0.0)
        n = both.sum(axis=axes)
        total_a = a.sum(axis=axes)
        total_b = b.sum(axis=axes)
        products = [
            (a * b).sum(axis=axes),
            (a * a).sum(axis=axes),
            (b * b).sum(axis=axes),
        ]
        if pooled:
            for row, values in enumerate([*products, total_a, total_b, n]):
                sums[row, part] = values.sum(axis=1)
            continue
        means = [total_a * total_b, total_a * total_a, total_b * total_b]
        for row, (values, mean) in enumerate(zip(products, means, strict=True)):
            deviations = values - mean / np.maximum(n, 1)
            size = values + np.abs(mean)
            # What is left of equal values is round-off.
            deviations = np.where(np.abs(deviations) <= NEAR * size, 0.0, deviations)
            sums[row, part] = deviations.sum(axis=1)
    return sums


def _sums_of_complete(
    scores: Floats, people: Floats, perms: Codes, *, pooled: bool
) -> Floats:
    """`_sums_after` of a complete table: its products of columns hold all of them."""
    a = scores
    b = people
    if not pooled:
        a = _centred_or_zero(a)
        b = _centred_or_zero(b)
    products = np.einsum("sid,sjd->ij", a, b)
    n_perms, columns = perms.shape
    sums = np.zeros((6, n_perms))
    sums[0] = products[perms, np.arange(columns)].sum(axis=1)
    sums[1] = float(np.sum(a * a))
    sums[2] = float(np.sum(b * b))
    if pooled:
        sums[3] = float(np.sum(a))
        sums[4] = float(np.sum(b))
        sums[5] = float(a.size)
    return sums


def _centred_or_zero(table: Floats) -> Floats:
    """Values minus their source's mean, 0 where a source's are equal; sources first."""
    means = table.mean(axis=(1, 2), keepdims=True)
    differ = np.ptp(table, axis=(1, 2), keepdims=True) > 0
    return np.where(differ, table - means, 0.0)


def _correlations(sums: Floats) -> Floats:
    """Correlation of each column of sums, (6, k) -> (k,); 0 if a side is constant."""
    ab, aa, bb, total_a, total_b, n = sums
    count = np.maximum(n, 1)
    products = ab - total_a * total_b / count
    judge = aa - total_a**2 / count
    people = bb - total_b**2 / count
    varied = (judge > NEAR * np.maximum(aa, 1)) & (people > NEAR * np.maximum(bb, 1))
    size = np.sqrt(np.where(varied, judge * people, 1.0))
    return np.where(varied, products / size, 0.0)


def votes_beyond_systems(
    verdict: Floats,
    preferred: Floats,
    systems: tuple[Codes, Codes],
    source: Codes,
    n_sources: int,
) -> Replicated:
    """Correlation of two sides' preferences beyond the systems' own strengths.

    verdict, preferred: 1, 0 or -1 for the first of two texts, by judge and people;
    systems: of the first and of the second text; source; (pairs,) each, nothing
    missing. Each side's preference minus the difference of two effects, one a system,
    by least squares: does the judge prefer the text that people prefer among pairs of
    the same two systems? `within_sources.beyond_systems` for texts.

    >>> first, second = np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1])
    >>> people = np.array([1.0, -1.0, 1.0, 1.0])
    >>> result = votes_beyond_systems(people, people, (first, second), np.arange(4), 4)
    >>> round(result.estimate.value, 6)
    1.0
    """
    codes = np.unique(np.concatenate(systems), return_inverse=True)[1]
    first, second = np.split(codes, 2)
    design = np.zeros((verdict.size, int(codes.max()) + 1))
    pairs = np.arange(verdict.size)
    design[pairs, first] += 1.0
    design[pairs, second] -= 1.0
    rows, why = without_explained(verdict, preferred, design, source, n_sources)
    return replicated(
        rows,
        why,
        sizes=np.bincount(source, minlength=n_sources),
        scale=CORRELATION,
        ends=CORRELATION.ends,
        n=verdict.size,
    )
