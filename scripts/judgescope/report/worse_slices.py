"""On which part of the texts a judge is shown to be worse, from the table slices."""

from typing import NamedTuple

import numpy as np

from judgescope.report.rows import ReportRow, ReportRows
from judgescope.statistics.slices import worst_slice

GAP = "slice_gap_"
P_HOLM = "slice_p_holm_"
SHRUNK = "slice_shrunk_"
SHOWN_FROM = "slice_shown_from_"


class WorseSlice(NamedTuple):
    """A slice that Holm shows to be below the rest: its number, the number without the
    luck of the worst, the gap, and p.
    """

    slice: str
    inside: ReportRow
    moved: ReportRow | None
    gap: ReportRow
    p_holm: float


def worse_slice(rows: ReportRows) -> WorseSlice | None:
    """The worst slice of a judge and aspect, whose rows these are; None: none is
    shown.
    """
    by_slice: dict[str, dict[str, ReportRow]] = {}
    for row in rows:
        if row.slice:
            by_slice.setdefault(row.slice, {})[_kind(row.statistic)] = row
    tested = [cells for cells in by_slice.values() if {GAP, P_HOLM} <= cells.keys()]
    gaps = [cells[GAP].value for cells in tested]
    p = [cells[P_HOLM].value for cells in tested]
    at = worst_slice(np.array(gaps, np.float64), np.array(p, np.float64))
    if at is None:
        return None
    cells = tested[at]
    gap = cells[GAP]
    p_holm = cells[P_HOLM].value
    return WorseSlice(gap.slice, cells[""], cells.get(SHRUNK), gap, p_holm or 0.0)


def _kind(statistic: str) -> str:
    """Which number of a slice a statistic is; "" for the slice's own."""
    for prefix in (GAP, P_HOLM, SHRUNK):
        if statistic.startswith(prefix):
            return prefix
    return ""
