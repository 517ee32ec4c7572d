"""All statistics of the result tables, for reports, bars and docs/statistics.md.

A job of one method looks its statistics up in `declared`: its code then reaches no
other method's.
"""

from typing import Final

from judgescope.core.declarations import import_all
from judgescope.statistics.declared import Statistic, scale_of, statistic

__all__ = ["PREFIXES", "STATISTICS", "Statistic", "has_bar", "scale_of", "statistic"]

_MODULES = import_all("judgescope.statistics")
_DECLARED: Final[list[Statistic]] = [
    each
    for module in sorted(_MODULES, key=lambda module: getattr(module, "ORDER", 99))
    for each in getattr(module, "DECLARED", ())
]
"""In the order of the report's columns."""
STATISTICS: Final = {one.name: one for one in _DECLARED if "{}" not in one.label}
PREFIXES: Final = {one.name: one for one in _DECLARED if "{}" in one.label}


def has_bar(name: str) -> bool:
    """Return whether a bar can be stated for a statistic: not for p-values."""
    try:
        return statistic(name).kind != "p_value"
    except KeyError:
        return False
