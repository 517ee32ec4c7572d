"""From raw replies to judgments: one named, versioned parser per kind of reply."""

from metajudge.parsing.judgment import (
    NO_VALUE,
    OFF_GRID,
    OFF_GRID_REMEDY,
    STATUSES,
    Judgment,
    OffGrid,
    Scale,
    Status,
)
from metajudge.parsing.parsers import NO_SETTINGS, PARSERS, Settings, parse
from metajudge.parsing.policy import POLICIES, apply_policy

__all__ = [
    "NO_SETTINGS",
    "NO_VALUE",
    "OFF_GRID",
    "OFF_GRID_REMEDY",
    "PARSERS",
    "POLICIES",
    "STATUSES",
    "Judgment",
    "OffGrid",
    "Scale",
    "Settings",
    "Status",
    "apply_policy",
    "parse",
]
