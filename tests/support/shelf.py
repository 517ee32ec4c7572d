"""Published figures: the shelf holds them, and tests hold results against it."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgescope.extensions.reproduce.compared_figures import CardOutcome
from judgescope.extensions.reproduce.reproduce import SHELF as SHELF
from judgescope.extensions.reproduce.reproduce import against, read_csv


def held(outcome: CardOutcome) -> None:
    """Hold that each figure is equal, or differs for its stated reason; no reason is
    idle.
    """
    assert not outcome.error and outcome.figures
    for figure in outcome.figures:
        assert figure.equal != bool(figure.reason), figure


def holds(
    name: str, rows: Sequence[Mapping[str, Any]], table: str = "agreement"
) -> None:
    """Hold the figures of a card of the shelf against the rows of a result table."""
    held(against(SHELF / f"{name}.yaml", [{**row, "table": table} for row in rows]))


def printed(name: str, **keys: str) -> float:
    """Return the only published figure of a card with these values in its columns."""
    rows = read_csv(SHELF / f"{name}.csv")
    [row] = [row for row in rows if not row.get("of") and keys.items() <= row.items()]
    return float(row["published"])
