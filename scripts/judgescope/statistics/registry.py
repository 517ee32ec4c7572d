"""All statistics of the result tables, for reports, bars and docs/statistics.md.

A job of one method looks its statistics up in `declared`: its code then reaches no other method's.
"""

from itertools import chain
from typing import Final

from judgescope.statistics import (
    accuracy,
    alpha,
    anchors,
    bias,
    comparison,
    confusion,
    correlation,
    discernment,
    ensemble,
    hints,
    kappa,
    multiple,
    order,
    permutation,
    raters,
    repeatability,
    spans,
    tallies,
    tango,
    verdict,
)
from judgescope.statistics.declared import Statistic, scale_of, statistic

__all__ = ["PREFIXES", "STATISTICS", "Statistic", "has_bar", "scale_of", "statistic"]

_DECLARED: Final = tuple(
    chain.from_iterable(
        module.DECLARED
        for module in (
            correlation,
            kappa,
            accuracy,
            alpha,
            raters,
            bias,
            discernment,
            tango,
            multiple,
            confusion,
            repeatability,
            order,
            comparison,
            permutation,
            ensemble,
            anchors,
            hints,
            spans,
            verdict,
            tallies,
        )
    )
)
"""In the order of the report's columns."""
STATISTICS: Final = {one.name: one for one in _DECLARED if "{}" not in one.label}
PREFIXES: Final = {one.name: one for one in _DECLARED if "{}" in one.label}


def has_bar(name: str) -> bool:
    """Return whether a bar can be stated for a statistic: not for p-values."""
    try:
        return statistic(name).kind != "p_value"
    except KeyError:
        return False
