"""Rules that ignore quality: what a judge must do better than."""

from dataclasses import dataclass
from typing import Final

from judgescope.statistics.registry import statistic


@dataclass(frozen=True)
class Rule:
    """A rule that ignores quality: its control judge, and whether it is turned."""

    name: str
    about: str
    control: str
    """The form of the control judge, `constant` for both constant ones."""
    turned: bool = False
    drawn: bool = False
    """Whether its scores are drawn, so that its number lies about what is expected."""


RULES_OF: Final = (
    Rule("length", "longer is better", "length"),
    Rule("short", "shorter is better", "length", turned=True),
    Rule("random", "draws at random", "random", drawn=True),
    Rule("one label", "always the same", "most_frequent"),
)


def turned_value(name: str, value: float, *, turned: bool) -> float:
    """The number of a rule, or of the same rule turned round."""
    if not turned:
        return value
    if statistic(name).kind == "percent":
        return 1.0 - value
    return -value
