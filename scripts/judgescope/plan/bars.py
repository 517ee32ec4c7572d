"""The bars that a study states (`require`): checked, and as the verdicts' job reads them."""

from collections.abc import Collection, Iterator, Mapping

from judgescope.core.errors import UserError
from judgescope.core.paths import Paths
from judgescope.methods.specs import Bar, Required
from judgescope.plan.study import Plan
from judgescope.schema.cards import Study
from judgescope.statistics.registry import STATISTICS, has_bar

LEVELS = (*("by_source", "by_system", "direct", "global", "local", "pooled", "traditional"),)
"""What may stand behind a statistic's name and a dot."""


def check_bars(study: Study, aspects: Collection[str], source: str) -> None:
    """Check that every bar is for a statistic of the registry, at a level, and for an aspect."""
    for key, bar in study.require.items():
        name, _, level = key.partition(".")
        where = f"{source}, key require"
        if not has_bar(name):
            raise UserError(
                "no statistic with this name has an interval that could be held against a bar",
                where=where,
                got=name,
                allowed=[one for one in STATISTICS if has_bar(one)],
                todo="docs/reference/statistics.md lists all statistics",
            )
        if level and level not in LEVELS:
            raise UserError(
                "a statistic is not computed at this level",
                where=f"{where}.{key}",
                got=level,
                allowed=LEVELS,
                todo=f"write `{name}`, or `{name}.` and one of these",
            )
        for aspect in bar if isinstance(bar, dict) else ():
            if aspect not in {*aspects, "average"}:
                raise UserError(
                    "no dataset of the study rates this aspect",
                    where=f"{where}.{key}",
                    got=aspect,
                    allowed=[*aspects, "average"],
                )


def bars_of(plan: Plan, out: str, dataset: str, tables: Collection[str]) -> Required | None:
    """Return the study's bars, and the parts of the tables that decide on them; None: no bars."""
    if not plan.study.require:
        return None
    parts = [Paths(out).statistics(table, dataset) for table in tables]
    return Required(bars=list(_bars(plan.study.require)), parts=parts)


def _bars(require: Mapping[str, float | dict[str, float]]) -> Iterator[Bar]:
    for key, bar in require.items():
        name, _, level = key.partition(".")
        of = bar if isinstance(bar, dict) else {None: bar}
        for aspect, value in of.items():
            yield Bar(statistic=name, level=level or None, aspect=aspect, bar=value)
