"""The add-ons that a study uses: what other packages provide to it."""

from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint
from itertools import chain

from judgescope.core.registry import PACKAGE, add_ons, package_of
from judgescope.methods.registry import METHODS
from judgescope.parsing.judgment import PARSERS
from judgescope.perturb.rules import RULES
from judgescope.plan.judges import parser_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import FORMATS, RulePerturbation
from judgescope.schema.cards.engines import ENGINES
from judgescope.statistics.registry import STATISTICS

FOLLOWING = (f"{PACKAGE}.statistics", f"{PACKAGE}.sections")
"""Groups that no card names: a study uses them if it uses anything of their package."""


def data_add_ons(plan: Plan) -> list[EntryPoint]:
    """Return the add-ons that determine the texts and judgments of a study."""
    perturbations = plan.perturbations.values()
    rules = (card.rule for card in perturbations if isinstance(card, RulePerturbation))
    names = [
        _named(FORMATS.add_ons, (card.format for card in plan.datasets.values())),
        _named(ENGINES.add_ons, (card.engine for card in plan.models.values())),
        _named(PARSERS.add_ons, (parser_of(plan, name) for name in plan.judges)),
        _named(RULES.add_ons, rules),
    ]
    return [*chain.from_iterable(names)]


def used_add_ons(plan: Plan, tables: Iterable[str]) -> list[EntryPoint]:
    """Return all add-ons that a study with these result tables uses, also those that no
    card names.
    """
    named = [*data_add_ons(plan), *_named(METHODS.add_ons, tables)]
    packages = {package_of(point) for point in named}
    return named + [
        point
        for point in add_ons()
        if point.group in FOLLOWING and package_of(point) in packages
    ]


def report_targets(plan: Plan, tables: Iterable[str]) -> list[str]:
    """Return the targets of the statistics and sections that a report loads."""
    points = used_add_ons(plan, tables)
    return sorted(point.value for point in points if point.group in FOLLOWING)


def declarations() -> list[str]:
    """Return the targets of the built-in statistics, any of which a page or a bar may
    show.

    Their labels, ranges and scales are a part of the code of a job that looks them up
    by name: the import graph does not show it.
    """
    targets = (STATISTICS.target(name) for name in STATISTICS)
    return sorted({target for target in targets if target.startswith(f"{PACKAGE}.")})


def packages_behind(plan: Plan, table: str) -> list[str]:
    """Return the packages on which the numbers of a table depend, with versions."""
    points = [*data_add_ons(plan), *_named(METHODS.add_ons, [table])]
    return sorted({package_of(point).replace(" ", "@") for point in points})


def lines(plan: Plan, tables: Iterable[str]) -> Iterator[str]:
    """Yield a line for each package, with what the study uses of it."""
    used: dict[str, list[str]] = {}
    for point in used_add_ons(plan, tables):
        kind = point.group.removeprefix(f"{PACKAGE}.")
        used.setdefault(package_of(point), []).append(f"{point.name} ({kind})")
    for package, names in sorted(used.items()):
        yield f"add-on {package}: {', '.join(names)}"


def _named(points: dict[str, EntryPoint], names: Iterable[str]) -> list[EntryPoint]:
    used = dict.fromkeys(names)
    return [points[name] for name in used if name in points]
