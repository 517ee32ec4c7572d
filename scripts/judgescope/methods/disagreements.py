"""How far a judge's values lie from people's, row by row, and in which order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import Floats


class RowsRatedByBoth(NamedTuple):
    """The rows that a judge and people have both rated, each an array (rows,)."""

    rows: NDArray[np.int64]
    judged: Floats
    rated: Floats
    distances: Floats
    """From 0 to 1, rounded to six digits; -1 where both have the same value."""


def rows_rated_by_both(
    scores: Sequence[float | None],
    of_people: Sequence[float | None],
    *,
    steps: float | None,
    ordered: bool,
) -> RowsRatedByBoth:
    """The rows with a value by both, and the distance of the two, 0 to 1.

    scores, of_people (all rows,), None = missing. steps: between the ends of a scale of
    labels or choices, None for scores, which are compared by ranks. ordered: whether
    labels have an order; without one different labels are 1 apart.

    >>> both = rows_rated_by_both([0, 1, None], [1, 1, 0], steps=1.0, ordered=True)
    >>> both.rows.tolist(), both.distances.tolist()
    ([0, 1], [1.0, -1.0])
    """
    all_judged = np.array(scores, dtype=np.float64)
    all_rated = np.array(of_people, dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(all_judged) & ~np.isnan(all_rated))
    judged = all_judged[rows]
    rated = all_rated[rows]
    if not ordered:
        exact = np.where(judged == rated, 0.0, 1.0)
    elif steps is not None:
        exact = np.abs(judged - rated) / steps
    else:
        exact = np.abs(_ranks(judged) - _ranks(rated))
        exact = np.where(judged == rated, 0.0, exact)
    distances, places = np.unique(exact, return_inverse=True)
    # NumPy rounds other digits than Python in the last place.
    rounded = np.array([round(each, 6) for each in distances.tolist()])
    if rounded.size:
        rounded = np.where(distances > 0, rounded, -1.0)[places]
    return RowsRatedByBoth(rows, judged, rated, rounded)


def largest_first(
    cells: Sequence[RowsRatedByBoth], numbers: Sequence[int]
) -> NDArray[np.int64]:
    """The cell and the place in it of each disagreement, the largest first, (n, 2).

    Of equal ones those that the judge puts above people come first, then by the number
    of the row; numbers (all rows,).
    """
    row_numbers = np.array(numbers, dtype=np.int64)
    places = [np.zeros((0, 2), dtype=np.int64)]
    keys = [np.zeros((3, 0))]
    for number, cell in enumerate(cells):
        differ = np.flatnonzero(cell.distances >= 0)
        places.append(np.stack([np.full(len(differ), number), differ], axis=1))
        judged = cell.judged[differ]
        rated = cell.rated[differ]
        # From the last key to the first one, as `lexsort` has them.
        rows = row_numbers[cell.rows[differ]]
        keys.append(np.stack([rows, judged <= rated, -cell.distances[differ]]))
    order = np.lexsort(np.concatenate(keys, axis=1))
    ranked: NDArray[np.int64] = np.concatenate(places)[order]
    return ranked


def _ranks(values: Floats) -> Floats:
    """The middle rank of each value as a share of all, 0 to 1.

    >>> _ranks(np.array([3.0, 1.0, 3.0, 5.0]))
    array([0.5  , 0.125, 0.5  , 0.875])
    """
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    ranks: Floats = (below + up_to) / max(1, 2 * len(values))
    return ranks
