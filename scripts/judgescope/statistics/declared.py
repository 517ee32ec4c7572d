"""The record of a statistic, by which signatures, reports and bars know it.

A module declares the statistics that it computes: `DECLARED = declare(percent("tie_rate", …), …)`.
A declared name never changes its meaning. `registry` imports all modules of the package; a job
sees those that its method imports. In reports, statistics stand in the order of their modules'
`ORDER`, and of the modules' names.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, partial
from typing import Literal

from judgescope.statistics.jackknife import ACCURACY, CORRELATION, PLAIN, PROPORTION, Scale

Kind = Literal["correlation", "score", "percent", "p_value", "amount"]
"""How a value is written for people."""
SIGNED, SHARE, UP_TO_1, POSITIVE, ANY = "-1 to 1", "0 to 1", "up to 1", "0 and above", "any number"


@dataclass(frozen=True)
class Statistic:
    """What a statistic is called, how its value is written, and what it means.

    A name whose label has `{}` is a prefix: `rank` stands for the ranks by any other statistic,
    such as `rank_pearson`, whose label takes the place of `{}`.
    """

    name: str
    label: str
    meaning: str
    source: str = "this project"
    _: KW_ONLY
    kind: Kind
    range: str
    ties: str | None = None
    """What equal numbers count as, where it depends on that: a part of signatures."""
    scaled: Scale | None = None
    """The scale of intervals and tests, where `kind` and `range` do not decide it."""
    less_is_better: bool = False
    """A bar is then the most that is allowed, else the least."""
    complete: bool = False
    """Counted over all that was asked, of which nothing was sampled: a bar needs no interval."""
    keeps_kind: bool = False
    """Of a prefix: a value of the other statistic, written as that is if it is a correlation."""

    @property
    def scale(self) -> Scale:
        """Return the scale of its intervals and tests.

        A correlation from -1 to 1 is on atanh, a share of things is a binomial proportion, and all
        else is taken as it is and cut to its range.
        """
        if self.scaled is not None:
            return self.scaled
        if self.range == SIGNED:
            return CORRELATION if self.kind == "correlation" else Scale("plain", -1.0, 1.0)
        by_range = {
            SHARE: PROPORTION,
            UP_TO_1: Scale("plain", high=1.0),
            POSITIVE: Scale("plain", low=0.0),
        }
        return by_range.get(self.range, PLAIN)

    @property
    def is_proportion(self) -> bool:
        """Return whether it is a share of cases that are right or wrong."""
        return self.scale.kind == "binomial" or self.name.startswith("accuracy_")


correlation = partial(Statistic, kind="correlation", range=SIGNED)
agreement = partial(Statistic, kind="correlation", range=UP_TO_1)
score = partial(Statistic, kind="score", range=POSITIVE)
percent = partial(Statistic, kind="percent", range=SHARE)
accuracy = partial(percent, scaled=ACCURACY)
undesired = partial(percent, less_is_better=True)
p_value = partial(Statistic, kind="p_value", range=SHARE)
amount = partial(Statistic, kind="amount", range=POSITIVE)
signed_amount = partial(Statistic, kind="amount", range=ANY)

STATISTICS: dict[str, Statistic] = {}
PREFIXES: dict[str, Statistic] = {}


def declare(*statistics: Statistic) -> tuple[Statistic, ...]:
    """Make the statistics known by their names; ValueError for a name that is taken."""
    for one in statistics:
        known = PREFIXES if "{}" in one.label else STATISTICS
        if known.setdefault(one.name, one) != one:
            raise ValueError(f"two statistics are called {one.name}")
    statistic.cache_clear()
    return statistics


@cache
def statistic(name: str) -> Statistic:
    """Return what a name of a result table means; KeyError for a name that is not declared."""
    if name in STATISTICS:
        return STATISTICS[name]
    for prefix in sorted(PREFIXES, key=len, reverse=True):
        if name.startswith(f"{prefix}_"):
            rest = name.removeprefix(f"{prefix}_")
            derived, other = PREFIXES[prefix], STATISTICS.get(rest)
            label = derived.label.format(other.label if other else rest.replace("_", " "))
            if derived.keeps_kind and other is not None and other.kind == "correlation":
                return replace(derived, label=label, kind="correlation", ties=other.ties)
            return replace(derived, label=label, ties=other.ties if other else None)
    raise KeyError(name)


def scale_of(name: str) -> Scale:
    """Return the scale of a statistic's intervals and tests; KeyError as in `statistic`."""
    return statistic(name).scale


def tie_rule(name: str) -> str | None:
    """Return what ties count as in a statistic, or in that which its name is about."""
    return statistic(name).ties
