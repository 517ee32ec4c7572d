"""Rows of weights of sources: what a statistic is computed on, row by row.

The first row takes each source once: the data as they are. The others leave out one
source each (a jackknife's), or take each as often as it was drawn (a bootstrap's). A
dense array of deletions has sources x sources numbers, 80 GB for 100,000 sources.
Here a row says what it leaves out, so that a sum takes memory in proportion to its
table.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import CELLS, Codes, Floats, blocks, dot

DENSE_CELLS = 8 * CELLS
"""Numbers of a block of drawn rows while they are floats."""


class Deletions:
    """The weights 1 - I: row s takes every source once but s.

    `weights[rows]` writes rows out, as whole numbers (rows, sources): for a block, not
    for all of many sources.

    >>> weights = Deletions(3)
    >>> weights.shape, weights[1].tolist(), weights[:2].tolist()
    ((3, 3), [1, 0, 1], [[0, 1, 1], [1, 0, 1]])
    """

    __slots__ = ("n_sources",)

    def __init__(self, n_sources: int) -> None:
        """One row for each of the sources."""
        self.n_sources = n_sources

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, sources), which are as many."""
        return self.n_sources, self.n_sources

    def __len__(self) -> int:
        """The number of rows."""
        return self.n_sources

    @overload
    def __getitem__(self, part: int) -> Codes: ...
    @overload
    def __getitem__(self, part: slice | Codes) -> Codes: ...
    def __getitem__(self, part: int | slice | Codes) -> Codes:
        """The rows of a number, a slice or an array of numbers, written out."""
        every = np.arange(self.n_sources)
        return np.asarray(every[part][..., None] != every, np.int64)


Resamples: TypeAlias = Deletions | NDArray[np.integer[Any]]
"""Deletions, or how often each resample takes each source, (resamples, sources)."""
Weights: TypeAlias = Resamples | None
"""The weights of rows, None for no interval."""


class SourceRows(ABC):
    """Rows of weights w_rs of sources; the first is that of all data."""

    shape: tuple[int, int]
    """(rows, sources)."""

    def __len__(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @abstractmethod
    def columns(self, used: Codes) -> Self:
        """The rows of the sources with these numbers, in their order."""

    @abstractmethod
    def block(self, part: slice | Codes) -> Floats:
        """Some rows written out, (rows of the part, sources)."""

    @abstractmethod
    def sums(self, table: NDArray[Any]) -> Floats:
        """sum_s w_rs c_s.. of a table (sources, ...): (rows, ...)."""

    @abstractmethod
    def counts(
        self, source: Codes, code: Codes, n_codes: int
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield how often each row takes each code, in blocks of rows.

        source and code (targets,). Each block is a slice of the rows and (rows of the
        block, n_codes).
        """


class DeletedRows(SourceRows):
    """A row of all sources, then rows that leave out one source each, or none.

    left_out (rows - 1,): the number of that source, -1 where a row leaves out none of
    the sources (one that `columns` did not select). The sum over all sources but one is
    the total minus its own for whole numbers, hence exact. Of other numbers it is the
    sum of those before plus the sum of those after: a difference would lose the digits
    of small numbers beside a large one.

    >>> rows = DeletedRows(np.array([0, 1, 2]), 3)
    >>> rows.sums(np.array([3, 1, 5])).tolist()
    [9.0, 6.0, 8.0, 4.0]
    >>> rows.sums(np.array([0.5, 0.25, 1.0])).tolist()
    [1.75, 1.25, 1.5, 0.75]
    """

    def __init__(self, left_out: Codes, n_sources: int) -> None:
        """The rows of these deletions of n sources."""
        self.left_out = left_out
        self.shape = 1 + left_out.size, n_sources

    def columns(self, used: Codes) -> "DeletedRows":
        """The rows of some sources; what deletes another one leaves out none."""
        index = np.full(self.shape[1] + 1, -1)  # the last is that of the number -1
        index[used] = np.arange(used.size)
        return DeletedRows(index[self.left_out], used.size)

    def block(self, part: slice | Codes) -> Floats:
        """Some rows written out: ones, and 0 at what a row leaves out."""
        left_out = np.append(-1, self.left_out)[part]
        rows = np.ones((left_out.size, self.shape[1]))
        at = np.flatnonzero(left_out >= 0)
        rows[at, left_out[at]] = 0.0
        return rows

    def sums(self, table: NDArray[Any]) -> Floats:
        """The sum over all sources, then that without each row's."""
        numbers = np.asarray(table, np.float64)
        # In the order of the sources, as the sums before each of them.
        total = numbers.sum(axis=0)
        if numbers.ndim == 1 and numbers.size:
            total = np.cumsum(numbers)[-1]
        sums = np.empty((len(self), *numbers.shape[1:]))
        sums[0] = total
        sums[1:] = _without_each(numbers, total)[self.left_out]
        sums[1:][self.left_out < 0] = total
        return sums

    def counts(
        self, source: Codes, code: Codes, n_codes: int
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield the counts of all targets minus those of what each row leaves out."""
        total = np.bincount(code, minlength=n_codes).astype(np.float64)
        row_of_source = np.zeros(self.shape[1], np.int64)
        at = np.flatnonzero(self.left_out >= 0)
        row_of_source[self.left_out[at]] = 1 + at
        row = row_of_source[source]
        order = np.argsort(row, kind="stable")
        row = row[order]
        code = code[order]
        # The first row leaves out nothing, and targets that none leaves out are there.
        first = int(np.searchsorted(row, 1))
        for part in blocks(len(self), n_codes, CELLS):
            start, end = np.searchsorted(row, [max(part.start, 1), part.stop])
            start = max(int(start), first)
            cell = (row[start:end] - part.start) * n_codes + code[start:end]
            n_rows = part.stop - part.start
            of_source = np.bincount(cell, minlength=n_rows * n_codes)
            yield part, total - of_source.reshape(n_rows, n_codes)


def _without_each(numbers: Floats, total: Floats) -> Floats:
    """The sum without each source: (sources, ...), and a last row that none asks for.

    The last row stands for the number -1 of `DeletedRows.left_out`.
    """
    without = np.zeros((len(numbers) + 1, *numbers.shape[1:]))
    if (numbers == np.rint(numbers)).all():
        np.subtract(total, numbers, out=without[:-1])
        return without
    np.cumsum(numbers[:-1], axis=0, out=without[1:-1])
    after = np.cumsum(numbers[:0:-1], axis=0)[::-1]
    without[: len(after)] += after
    return without


class DrawnRows(SourceRows):
    """Rows of any weights, (rows, sources): a bootstrap's, kept in their small type.

    >>> rows = DrawnRows(np.array([[1, 1], [0, 2]]))
    >>> rows.sums(np.array([3.0, 1.0])).tolist()
    [4.0, 2.0]
    """

    def __init__(self, weights: NDArray[Any]) -> None:
        """The rows as they are; the first is that of all data."""
        self.weights = weights
        self.shape = weights.shape[0], weights.shape[1]

    @classmethod
    def after_whole(cls, weights: NDArray[Any]) -> "DrawnRows":
        """A row of ones before the weights."""
        ones = np.ones((1, weights.shape[1]), weights.dtype)
        return cls(np.concatenate([ones, weights]))

    def columns(self, used: Codes) -> "DrawnRows":
        """The rows of some sources."""
        return DrawnRows(self.weights[:, used])

    def block(self, part: slice | Codes) -> Floats:
        """Some rows as floats."""
        return self.weights[part].astype(np.float64)

    def sums(self, table: NDArray[Any]) -> Floats:
        """The products of rows and table, block by block of rows."""
        numbers = np.asarray(table, np.float64)
        parts = blocks(len(self), self.shape[1], DENSE_CELLS)
        sums = [dot(self.block(part), numbers) for part in parts]
        return np.concatenate(sums)

    def counts(
        self, source: Codes, code: Codes, n_codes: int
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield the products of rows and the counts of each source."""
        n_sources = self.shape[1]
        cells = np.bincount(source * n_codes + code, minlength=n_sources * n_codes)
        table = cells.reshape(n_sources, n_codes).astype(np.float64)
        for part in blocks(len(self), max(n_codes, n_sources // 8), CELLS):
            yield part, dot(self.block(part), table)
