"""Values of targets in tables, put into the order of other targets without an object
for each of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judgescope.statistics.arrays import Codes, Floats


class TargetValues(NamedTuple):
    """Values of targets, NaN where one is missing; (rows,) each."""

    targets: pa.Array
    values: Floats

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """Return the values in the rows of a table."""
        values = table["value"].to_numpy().astype(np.float64)
        return cls(one_array(table["target"]), values)

    def aligned(self, targets: pa.Array) -> Floats:
        """Return the values in the order of `targets`, NaN where there is none.

        Of several values of a target the last one counts.

        >>> known = TargetValues(pa.array(["b", "a"]), np.array([2.0, 1.0]))
        >>> known.aligned(pa.array(["a", "b", "c"]))
        array([ 1.,  2., nan])
        """
        if self.targets.equals(targets):
            return self.values.copy()
        values = np.full(len(targets), np.nan)
        places = places_in(self.targets, targets)
        known = (places >= 0) & ~np.isnan(self.values)
        values[places[known]] = self.values[known]
        return values


def aligned(values: Mapping[str, float], targets: Iterable[str]) -> Floats:
    """Return the values in the order of `targets`, NaN where there is none."""
    return np.array(
        [values.get(target, np.nan) for target in targets], dtype=np.float64
    )


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = pa.concat_arrays(joined.chunks)
    return joined


def places_in(names: pa.Array, order: pa.Array) -> Codes:
    """Return the place of each name in an order, -1 where it is not there; (names,).

    >>> places_in(pa.array(["b", "x"]), pa.array(["a", "b"])).tolist()
    [1, -1]
    """
    import pyarrow.compute as pc  # not for planning

    indices = pc.index_in(names, value_set=order)
    return np.asarray(indices.fill_null(-1).to_numpy(), dtype=np.int64)


def rows_by(
    table: pa.Table, columns: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield the rows of each combination of some columns' texts, in the table's order.

    >>> table = pa.table({"judge": ["a", "b", "a"], "value": [1, 2, 3]})
    >>> [(key, rows["value"].to_pylist()) for key, rows in rows_by(table, ["judge"])]
    [(('a',), [1, 3]), (('b',), [2])]
    """
    names = list[list[str]]()
    codes: NDArray[np.int64] = np.zeros(len(table), dtype=np.int64)
    for column in columns:
        encoded = one_array(table[column]).dictionary_encode()
        different = [*encoded.dictionary.to_pylist(), None]
        own_codes = encoded.indices.fill_null(len(different) - 1).to_numpy()
        codes = codes * len(different) + own_codes
        names.append(different)
    several, first, places = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    for code in order.tolist():
        key = list[str]()
        rest = int(several[code])
        for different in reversed(names):
            rest, own_code = divmod(rest, len(different))
            key.append(different[own_code])
        rows = table
        if several.size > 1:
            rows = table.filter(pa.array(places == code))
        yield tuple(reversed(key)), rows
